#pragma once
// What the papers call a sub-system: any number of named coordinates with the user's M q'' = Q, M possibly singular.
//
//   Subsystem{.coordinates = {"theta", "y"}, .M = M, .Q = [](const auto& q, const auto& v, const auto& t) { return
//   vec(...); }}
//
// M is a matrix, or a function M(q, t); Q is a function Q(q, v, t), or absent (no force).  Write functions as templates
// (generic lambdas): their derivatives then exist.  Functions of double only are accepted, and refused by name where a
// derivative is needed.  Gravity of the assembly does not act here: it knows no positions; put weights into Q.
// A run's balance of energy counts the power of Q; not where M is a function of double only.

#include <concepts>
#include <string>
#include <vector>

#include <mortise/core/dual.h>
#include <mortise/core/massless.h>
#include <mortise/core/types.h>

namespace mortise {

struct NoForce {
  template <class T> Vec<T, dynamic> operator()(const Vec<T, dynamic>& q, const Vec<T, dynamic>&, const T&) const {
    return Vec<T, dynamic>::Zero(q.size());
  }
};

namespace detail {
template <class F, class T>
inline constexpr bool gives_mass = std::is_invocable_v<const F&, const Vec<T, dynamic>&, const T&>;
template <class F, class T>
inline constexpr bool gives_force =
    std::is_invocable_v<const F&, const Vec<T, dynamic>&, const Vec<T, dynamic>&, const T&>;

// An Eigen expression refers to temporaries that are gone when it is used.
template <class R> inline constexpr bool plain = std::is_base_of_v<Eigen::PlainObjectBase<R>, R>;
}  // namespace detail

template <class MassFunction = MatrixXd, class ForceFunction = NoForce> struct Subsystem {
  std::vector<std::string> coordinates;
  MassFunction M;
  ForceFunction Q = {};

  static constexpr bool constant_mass = std::convertible_to<MassFunction, MatrixXd>;
  static_assert(!constant_mass || detail::plain<MassFunction>, "M is an Eigen expression: write (...).eval()");

  // clang-format off
  template <class T>
    requires(constant_mass || detail::gives_mass<MassFunction, T>)
  Mat<T, dynamic> mass_matrix(const Vec<T, dynamic>& q, const T& t) const {
    if constexpr (constant_mass) {
      return M.template cast<T>();
    } else {
      static_assert(detail::plain<decltype(M(q, t))>, "M(q, t) returns an Eigen expression: return (...).eval()");
      return M(q, t).template cast<T>();
    }
  }
  template <class T>
    requires(detail::gives_force<ForceFunction, T>)
  Vec<T, dynamic> force(const Vec<T, dynamic>& q, const Vec<T, dynamic>& v, const T& t) const {
    static_assert(detail::plain<decltype(Q(q, v, t))>, "Q(q, v, t) returns an Eigen expression: return (...).eval()");
    return Q(q, v, t).template cast<T>();
  }
  // Q stores no energy that is known here: all of its power counts as put in.
  template <class T>
    requires(!std::same_as<ForceFunction, NoForce> && (constant_mass || detail::gives_mass<MassFunction, FirstOrder>))
  T potential(const Vec<T, dynamic>&, const T&) const {
    return T(0.0);
  }
  // clang-format on

  void validate(const Label& label) const {
    if constexpr (constant_mass) (void)massless_directions(M, label, coordinates);
  }
};

}  // namespace mortise
