#pragma once
// From a joint, force or sensor, a plain struct, to its model: what the three have in common.
//
// P is the part, D... the dimensions of the views of its bodies.  Nothing here knows the bodies' types.

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mortise/assembly/row_pass.h>
#include <mortise/core/breakpoints.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

namespace detail {

// The functions of parts, as objects.
namespace call {
inline constexpr auto phi = [](const auto& p, const auto&... x) -> decltype(p.phi(x...)) { return p.phi(x...); };
inline constexpr auto psi = [](const auto& p, const auto&... x) -> decltype(p.psi(x...)) { return p.psi(x...); };
inline constexpr auto potential = [](const auto& p, const auto&... x) -> decltype(p.potential(x...)) {
  return p.potential(x...);
};
inline constexpr auto measure = [](const auto& p, const auto&... x) -> decltype(p.measure(x...)) {
  return p.measure(x...);
};
inline constexpr auto measure_motion = [](const auto& p, const auto&... x) -> decltype(p.measure_motion(x...)) {
  return p.measure_motion(x...);
};
inline constexpr auto angle = [](const auto& p, const auto&... x) -> decltype(p.angle(x...)) { return p.angle(x...); };
inline constexpr auto tells_angle = [](const auto& p, const auto&... x) -> decltype(p.tells_angle(x...)) {
  return p.tells_angle(x...);
};
inline constexpr auto displacement = [](const auto& p, const auto&... x) -> decltype(p.displacement(x...)) {
  return p.displacement(x...);
};
inline constexpr auto act = [](const auto& p, auto&... x) -> decltype(p.act(x...)) { return p.act(x...); };
inline constexpr auto nonideal = [](const auto& p, auto&... x) -> decltype(p.nonideal(x...)) {
  return p.nonideal(x...);
};
inline constexpr auto react = [](const auto& p, auto&... x) -> decltype(p.react(x...)) { return p.react(x...); };
}  // namespace call

// Whether a part P can be called with views of dimensions D in the scalar T.
template <class P, class T, int... D>
inline constexpr bool has_phi = std::is_invocable_v<decltype(call::phi), const P&, const BodyView<D, T>&..., const T&>;
template <class P, class T, int... D>
inline constexpr bool has_psi =
    std::is_invocable_v<decltype(call::psi), const P&, const VelocityView<D, T>&..., const T&>;
template <class P, class T, int... D>
inline constexpr bool has_nonideal =
    std::is_invocable_v<decltype(call::nonideal), const P&, ForceView<D, T>&..., const T&>;
template <class P, class T, int... D>
inline constexpr bool has_act = std::is_invocable_v<decltype(call::act), const P&, ForceView<D, T>&..., const T&>;
template <class P, class T, int... D>
inline constexpr bool has_potential =
    std::is_invocable_v<decltype(call::potential), const P&, const BodyView<D, T>&..., const T&>;
template <class P, class T, int... D>
inline constexpr bool has_measure =
    std::is_invocable_v<decltype(call::measure), const P&, const BodyView<D, T>&..., const T&>;
template <class P, class T, int... D>
inline constexpr bool has_measure_motion =
    std::is_invocable_v<decltype(call::measure_motion), const P&, const VelocityView<D, T>&..., const T&>;
template <class P, class T, int... D>
inline constexpr bool has_angle = std::is_invocable_v<decltype(call::angle), const P&, const BodyView<D, T>&...>;
template <class P, class T, int... D>
inline constexpr bool has_displacement =
    std::is_invocable_v<decltype(call::displacement), const P&, const BodyView<D, T>&...>;
template <class P, class T, int... D>
inline constexpr bool has_tells_angle =
    std::is_invocable_v<decltype(call::tells_angle), const P&, const BodyView<D, T>&...>;

// How many numbers a functor returns: an Eigen vector of fixed size, or one scalar.
template <class R> constexpr int row_count() {
  if constexpr (requires { R::RowsAtCompileTime; }) {
    static_assert(R::RowsAtCompileTime != dynamic && R::ColsAtCompileTime == 1, "return a number or a Vec<T, rows>");
    static_assert(std::is_base_of_v<Eigen::PlainObjectBase<Vec<typename R::Scalar, R::RowsAtCompileTime>>, R>,
                  "this function returns an Eigen expression, which refers to dead temporaries: return a Vec<T, rows>");
    return R::RowsAtCompileTime;
  } else {
    return 1;
  }
}
const auto& row(const auto& rows, [[maybe_unused]] int i) {
  if constexpr (requires { rows[i]; })
    return rows[i];
  else
    return rows;
}
// All numbers of a result; their count.
template <class T, class R> int write_rows(const R& rows, T* out) {
  constexpr int n = row_count<R>();
  for (int i = 0; i < n; ++i) out[i] = T(row(rows, i));
  return n;
}

// f(views...) for views V<D, T>... of the bodies.
template <template <int, class> class V, int... D, class T, class F>
decltype(auto) with_views(const Access<T>* a, const F& f) {
  return [&]<std::size_t... i>(std::index_sequence<i...>)->decltype(auto) { return f(V<D, T>(a[i])...); }
  (std::make_index_sequence<sizeof...(D)>{});
}
// The same for views that can be acted on.
template <int... D, class T, class F> void with_force_views(const Access<T>* a, const F& f) {
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    std::tuple<ForceView<D, T>...> views{ForceView<D, T>(a[i])...};
    f(std::get<i>(views)...);
  }
  (std::make_index_sequence<sizeof...(D)>{});
}

void require_count(const Label& label, std::size_t given, std::size_t needed);
// A part that was made for bodies of some types is not put on bodies of others.
void require_same_types(const Label& label, BodyModels before, BodyModels now);

}  // namespace detail

template <class Model, class P, int... D> class PartOf : public Model, public MadeFrom<P, typename Model::Interface> {
  static constexpr std::size_t N = sizeof...(D);
  static constexpr bool measures = detail::has_measure<P, Taylor, D...>;
  static constexpr bool measures_motion = detail::has_measure_motion<P, Taylor, D...>;
  static constexpr bool counts_turns = requires { requires P::counts_turns; };
  static constexpr bool angle = detail::has_angle<P, Taylor, D...>;
  static constexpr bool displacement = detail::has_displacement<P, Taylor, D...>;

 public:
  // Throws InvalidModel if the data of the part are out of range, or the bodies are not what it asks for.
  PartOf(const typename Model::Facts& facts, const Label& label, P part, BodyModels bodies)
      : Model(facts), part_(std::move(part)), bodies_(bodies.begin(), bodies.end()) {
    detail::require_count(label, bodies.size(), N);
    require_fields(label, part_);
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      if constexpr (requires { part_.validate(label, *bodies_[i]...); })
        part_.validate(label, *bodies_[i]...);
      else if constexpr (requires { part_.validate(label); })
        part_.validate(label);
    }
    (std::make_index_sequence<N>{});
  }

  std::string kind() const override { return kind_of<P>(); }
  Sketch sketch() const override { return sketch_of(part_); }
  const P& part() const override { return part_; }
  std::vector<double> breakpoints(double from, double to) const override { return breakpoints_of(part_, from, to); }

  std::vector<Quantity> quantities() const override {
    std::vector<Quantity> out;
    if constexpr (measures) list<measure_count()>(3, out);
    if constexpr (measures_motion) list<motion_count()>(2, out);
    if constexpr (angle)
      if (tells_angle()) out.push_back({"angle", "rad", !counts_turns, 3});
    if constexpr (displacement) out.push_back({"displacement", "m", false, 3});
    return out;
  }
  void read([[maybe_unused]] const State& s, [[maybe_unused]] const VectorXd& a, [[maybe_unused]] Firsts first,
            [[maybe_unused]] double* out) const override {
    if constexpr (measures || measures_motion || angle || displacement) {
      TaylorBodies bodies(bodies_, s, first, a);
      const auto* at = bodies.access();
      const Taylor t(s.t, 1, 0);
      const auto write = [&](const auto& numbers, bool second) {
        for (int i = 0; i < detail::row_count<std::remove_cvref_t<decltype(numbers)>>(); ++i) {
          const Taylor r(detail::row(numbers, i));
          *out++ = r.v;
          *out++ = r.d1;
          if (second) *out++ = r.d2;
        }
      };
      if constexpr (measures)
        write(detail::with_views<BodyView, D...>(at, [&](const auto&... b) { return part_.measure(b..., t); }), true);
      if constexpr (measures_motion)
        write(
            detail::with_views<VelocityView, D...>(at, [&](const auto&... b) { return part_.measure_motion(b..., t); }),
            false);
      if constexpr (angle)
        if (tells_angle())
          write(detail::with_views<BodyView, D...>(at, [&](const auto&... b) { return part_.angle(b...); }), true);
      if constexpr (displacement)
        write(detail::with_views<BodyView, D...>(at, [&](const auto&... b) { return part_.displacement(b...); }), true);
    }
  }

 protected:
  P part_;
  std::vector<std::shared_ptr<const BodyModel>> bodies_;

 private:
  // Bodies that do not turn have no angle.
  bool tells_angle() const {
    if constexpr (detail::has_tells_angle<P, double, D...>) {
      std::array<detail::Access<double>, N> at;
      for (std::size_t i = 0; i < N; ++i) at[i] = {bodies_[i].get(), nullptr, nullptr, nullptr};
      return detail::with_views<BodyView, D...>(at.data(), [&](const auto&... b) { return part_.tells_angle(b...); });
    }
    return true;
  }
  static constexpr int measure_count() {
    return detail::row_count<std::remove_cvref_t<std::invoke_result_t<decltype(detail::call::measure), const P&,
                                                                      const BodyView<D, Taylor>&..., const Taylor&>>>();
  }
  static constexpr int motion_count() {
    return detail::row_count<std::remove_cvref_t<std::invoke_result_t<
        decltype(detail::call::measure_motion), const P&, const VelocityView<D, Taylor>&..., const Taylor&>>>();
  }
  template <int count> void list(int orders, std::vector<Quantity>& out) const {
    if constexpr (requires { part_.quantities.size(); }) {
      static_assert(std::tuple_size_v<std::remove_cvref_t<decltype(part_.quantities)>> == count,
                    "one QuantityInfo per number that is measured");
      for (const QuantityInfo& x : part_.quantities)
        out.push_back({std::string(x.name), std::string(x.unit), x.angle, orders});
    } else {
      std::string unit;
      if constexpr (requires { std::string(part_.unit); }) unit = part_.unit;
      for (int i = 1; i <= count; ++i) out.push_back({count == 1 ? "" : std::to_string(i), unit, false, orders});
    }
  }
};

}  // namespace mortise
