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

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

template <class F> struct Dissipation {
  F f;

  static constexpr Summary summary{"dissipation", "forces from a function of the velocities", "Q = -dD/dv"};
  static constexpr std::tuple fields{Field{"f", &Dissipation::f, "W", "D(bodies..., t), a template on the scalar"}};

  // The arguments are bodies..., t.
  template <class... X> void act(X&... bodies_and_t) const {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      const auto arguments = std::tie(bodies_and_t...);
      const auto& t = std::get<sizeof...(X) - 1>(arguments);
      using T = std::remove_cvref_t<decltype(t)>;
      auto views = std::tuple{raised<T>(std::get<i>(arguments))...};
      const auto add = [&](auto& body, auto& view) {
        for (Index k = 0; k < view.v.size(); ++k) {
          view.v[k] = Dual<T, 1>::variable(body.v[k], 0);
          body.Q[k] -= Dual<T, 1>(f(std::as_const(std::get<i>(views))..., Dual<T, 1>(t))).d[0];
          view.v[k] = Dual<T, 1>(body.v[k]);
        }
      };
      (add(std::get<i>(arguments), std::get<i>(views)), ...);
    }
    (std::make_index_sequence<sizeof...(X) - 1>{});
  }

 private:
  template <class T> static auto raised(const auto& view) {
    using B = std::remove_cvref_t<decltype(view.body)>;
    using S = Dual<T, 1>;
    Moving<B, S> out{{view.body, Coordinates<B, S>(view.q.size())}, Coordinates<B, S>(view.q.size())};
    for (Index k = 0; k < view.q.size(); ++k) {
      out.q[k] = S(view.q[k]);
      out.v[k] = S(view.v[k]);
    }
    return out;
  }
};
template <class F> Dissipation(F) -> Dissipation<F>;

}  // namespace mortise
