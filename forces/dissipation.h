#pragma once
// Dissipation: forces from a function of the velocities, Rayleigh's or any other.
//
//   Q = -dD/dv,   D = f(bodies..., t)
//
//   Dissipation{[](const auto& a, const auto& b, const auto& t) {
//     const auto s = a.speed("x") - b.speed("x");
//     return 0.5 * c * s * s; }}
//
// f sees points, coordinates and velocities, is a template on the scalar and returns a number [W].  Where D is
// homogeneous of degree k in v, the bodies lose k D: 2 D for a quadratic D.
// Catalogue: Dissipation<Given>

#include <tuple>
#include <utility>

#include <mortise/core/buffer.h>
#include <mortise/core/fields.h>
#include <mortise/core/view.h>

namespace mortise {

template <class F> struct Dissipation {
  F f;

  static constexpr Summary summary{"dissipation", "forces from a function of the velocities", "Q = -dD/dv"};
  static constexpr std::tuple fields{Field{"f", &Dissipation::f, "W", "D(bodies..., t), a template on the scalar"}};

  // The arguments are bodies..., t.
  template <class... X>
  requires(sizeof...(X) > 1) void act(X&... bodies_and_t) const {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      const auto arguments = std::tie(bodies_and_t...);
      const auto& t = std::get<sizeof...(X) - 1>(arguments);
      // Velocities that vary: one after the other, along the slope of a scalar with one more derivative.
      using S = std::conditional_t<std::is_same_v<std::remove_cvref_t<decltype(t)>, double>, Taylor, TaylorDual>;
      std::tuple<Varied<S, std::remove_cvref_t<std::tuple_element_t<i, std::tuple<X...>>>>...> varied{
          std::get<i>(arguments)...};
      const auto add = [&](auto& body, auto& own) {
        for (Index k = 0; k < own.v.size(); ++k) {
          const S v = own.v[k];
          own.v[k] = towards(v);
          body.apply_to(k, -slope(S(f(std::get<i>(varied).view()..., S(t)))));
          own.v[k] = v;
        }
      };
      (add(std::get<i>(arguments), std::get<i>(varied)), ...);
    }
    (std::make_index_sequence<sizeof...(X) - 1>{});
  }

 private:
  static Taylor towards(const Taylor& v) { return Taylor(v.v, 0, 1); }
  static TaylorDual towards(const TaylorDual& v) { return TaylorDual(v.v, {Taylor(1)}); }
  static double slope(const Taylor& x) { return x.slope; }
  static Taylor slope(const TaylorDual& x) { return x.d[0]; }

  // A body of the same place and velocity in another scalar.
  template <class S, class View> struct Varied;
  template <class S, int D, class T> struct Varied<S, ForceView<D, T>> {
    static constexpr std::size_t few = 8;
    Buffer<S, few> q, v;
    detail::Access<S> from;

    Varied(const ForceView<D, T>& view) : q(view.q.size()), v(view.q.size()) {
      for (Index k = 0; k < q.size(); ++k) q[k] = S(view.q[k]), v[k] = S(view.v[k]);
      from = {&view.body(), q.data(), v.data(), nullptr};
    }
    Varied(const Varied&) = delete;
    VelocityView<D, S> view() const { return VelocityView<D, S>(from); }
  };
};
template <class F> Dissipation(F) -> Dissipation<F>;

}  // namespace mortise
