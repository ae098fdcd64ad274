#pragma once
// Rate: the first body's coordinates change at the rates f of the bodies and of time.
//
//   psi = v_0 - f(bodies..., t)          one row per coordinate of the first body
//
//   Rate{[](const auto& lag, const auto& cart, const auto& t) { return 5.0 * (cart.coordinate("x") - lag.q[0]); }}
//
// Made for States (bodies/states.h), which have no mass: the multipliers are then 0 and f acts on nobody.  f sees
// points, coordinates and velocities, and returns a number or a Vec<T, n>.  On a body with mass it is a velocity driver
// and lambda is the force it needs.
// Catalogue: Rate<Given>

#include <type_traits>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

template <class F> struct Rate {
  F f;

  static constexpr Summary summary{"rate", "coordinates of a body change at given rates", "v - f(bodies, t) = 0"};
  static constexpr std::tuple fields{
      Field{"f", &Rate::f, "", "(bodies..., t) -> rates of the first body's coordinates, a template on the scalar"}};

  template <class A, class... X>
  requires std::is_invocable_v<const F&, const A&, const X&...>
  auto psi(const A& a, const X&... others_and_t) const {
    using T = std::remove_cvref_t<decltype(a.v[0])>;
    const auto rates = f(a, others_and_t...);
    if constexpr (requires { rates[0]; }) {
      constexpr int n = std::remove_cvref_t<decltype(rates)>::RowsAtCompileTime;
      static_assert(n != dynamic, "f must return a number or a Vec<T, n>");
      require_one_each(a.v.size(), n);
      Vec<T, n> out;
      for (int i = 0; i < n; ++i) out[i] = a.v[i] - rates[i];
      return out;
    } else {
      require_one_each(a.v.size(), 1);
      return Vec<T, 1>(a.v[0] - rates);
    }
  }

 private:
  static void require_one_each(Index coordinates, Index rates) {
    if (coordinates != rates)
      Label{"function", "f"}.fail<InvalidModel>(
          fmt::format("gives {} rates for {} coordinates of the first body", rates, coordinates), "give one for each");
  }
};
template <class F> Rate(F) -> Rate<F>;

}  // namespace mortise
