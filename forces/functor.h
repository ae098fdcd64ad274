#pragma once
// Forces from functors.
//
//   Force{[](auto& a, auto& b, const auto& t) { a.apply_force(r, f); b.apply_force(s, -f); }}     any force
//   Potential{[](const auto& a, const auto& b, const auto& t) { return V; }}                      Q = -dV/dq
//
// A force sees points, directions, coordinates and velocities, and applies forces, torques and generalised forces.

#include <concepts>

#include <mortise/core/parts.h>

namespace mortise {

template <class F> struct Force {
  F f;

  template <class... X>
  requires std::invocable<const F&, X&...>
  void act(X&... bodies_and_t) const {
    static_assert(!std::invocable<const F&, X...>,
                  "take the bodies by reference (auto& a): a copy would lose the force");
    f(bodies_and_t...);
  }
};
template <class F> Force(F) -> Force<F>;

template <class F> struct Potential {
  F f;

  template <class... X>
  requires std::invocable<const F&, const X&...>
  auto potential(const X&... bodies_and_t) const { return f(bodies_and_t...); }
};
template <class F> Potential(F) -> Potential<F>;

}  // namespace mortise
