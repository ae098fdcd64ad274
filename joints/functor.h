#pragma once
// Joints from functors: rows that no joint of the library has, and non-ideal laws.
//
//   Holonomic{[](const auto& a, const auto& b, const auto& t) { return ...; }}       phi(bodies..., t) = 0
//   Nonholonomic{[](const auto& a, const auto& t) { return ...; }}                   psi(bodies..., t) = 0
//   Nonideal{Pin{}, [](auto& a, auto& b, const auto& t) { a.apply_torque(...); }}    a joint that carries C(q, v, t)
//
// phi sees points, directions and coordinates; psi also velocities and may be nonlinear in them.  Both return a number
// or a Vec<T, rows>.  A law applies forces to the bodies; what it does under virtual displacements is v'C [US10, Eq.
// 6].

#include <concepts>
#include <utility>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

template <class F> struct Holonomic {
  F f;

  template <class... X>
  requires std::invocable<const F&, const X&...>
  auto phi(const X&... bodies_and_t) const { return f(bodies_and_t...); }
};

template <class F> struct Nonholonomic {
  F f;

  template <class... X>
  requires std::invocable<const F&, const X&...>
  auto psi(const X&... bodies_and_t) const { return f(bodies_and_t...); }
};

namespace detail {
template <class J> struct RowsOf {};
template <class J>
requires requires { J::rows.size(); }
struct RowsOf<J> {
  static constexpr auto rows = J::rows;
};
}  // namespace detail

template <class J, class F> struct Nonideal : detail::RowsOf<J> {
  J joint;
  F law;

  Nonideal(J j, F f) : joint(std::move(j)), law(std::move(f)) {}

  template <class... X>
  requires requires(const J& j, const X&... x) { j.phi(x...); }
  auto phi(const X&... bodies_and_t) const { return joint.phi(bodies_and_t...); }
  template <class... X>
  requires requires(const J& j, const X&... x) { j.psi(x...); }
  auto psi(const X&... bodies_and_t) const { return joint.psi(bodies_and_t...); }
  template <class... X>
  requires std::invocable<const F&, X&...>
  void nonideal(X&... bodies_and_t) const {
    static_assert(!std::invocable<const F&, X...>,
                  "take the bodies by reference (auto& a): a copy would lose the force");
    law(bodies_and_t...);
  }
  void validate(const Label& label, const auto&... bodies) const {
    require_fields(label, joint);
    if constexpr (requires { joint.validate(label, bodies...); })
      joint.validate(label, bodies...);
    else if constexpr (requires { joint.validate(label); })
      joint.validate(label);
  }
};

}  // namespace mortise
