#pragma once
// Sensors from functors.
//
//   Measured{[](const auto& a, const auto& t) { return ...; }, "m"}          of places: value, rate and second rate
//   MeasuredMotion{[](const auto& a, const auto& t) { return ...; }, "W"}    of velocities too: value and rate
//
// Both are templates on the scalar, and return a number or a Vec<T, count>.  Without a unit it is a pure number.

#include <concepts>
#include <string>

#include <mortise/core/parts.h>

namespace mortise {

template <class F> struct Measured {
  F f;
  std::string unit = "";

  template <class... X>
  requires std::invocable<const F&, const X&...>
  auto measure(const X&... bodies_and_t) const { return f(bodies_and_t...); }
};
template <class F> Measured(F) -> Measured<F>;
template <class F> Measured(F, const char*) -> Measured<F>;

template <class F> struct MeasuredMotion {
  F f;
  std::string unit = "";

  template <class... X>
  requires std::invocable<const F&, const X&...>
  auto measure_motion(const X&... bodies_and_t) const { return f(bodies_and_t...); }
};
template <class F> MeasuredMotion(F) -> MeasuredMotion<F>;
template <class F> MeasuredMotion(F, const char*) -> MeasuredMotion<F>;

}  // namespace mortise
