#pragma once
// Joints from functors: rows that no joint of the library has, and non-ideal laws.
//
//   Holonomic{[](const auto& a, const auto& b, const auto& t) { return ...; }}       phi(bodies..., t) = 0
//   Nonholonomic{[](const auto& a, const auto& t) { return ...; }}                   psi(bodies..., t) = 0
//   Nonideal{Pin{}, [](auto& a, auto& b, const auto& t) { a.apply_torque(...); }}    a joint that carries C(q, v, t)
//   Reacting{Pin{}, [](auto& a, auto& b, double t, const auto& lambda) { ... }}      C(q, v, t, its own reaction)
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
template <class F> Holonomic(F) -> Holonomic<F>;

template <class F> struct Nonholonomic {
  F f;

  template <class... X>
  requires std::invocable<const F&, const X&...>
  auto psi(const X&... bodies_and_t) const { return f(bodies_and_t...); }
};
template <class F> Nonholonomic(F) -> Nonholonomic<F>;

namespace detail {
template <class J> struct RowsOf {};
template <class J>
requires requires { J::rows.size(); }
struct RowsOf<J> {
  static constexpr auto rows = J::rows;
};

// A joint inside another, which adds a law to it.
template <class J> struct Wrapped : RowsOf<J> {
  J joint;

  template <class... X>
  requires requires(const J& j, const X&... x) { j.phi(x...); }
  auto phi(const X&... bodies_and_t) const { return joint.phi(bodies_and_t...); }
  template <class... X>
  requires requires(const J& j, const X&... x) { j.psi(x...); }
  auto psi(const X&... bodies_and_t) const { return joint.psi(bodies_and_t...); }

  static constexpr bool counts_turns = requires { requires J::counts_turns; };
  auto angle(const auto&... bodies) const requires requires(const J& j) { j.angle(bodies...); }
  { return joint.angle(bodies...); }
  auto displacement(const auto&... bodies) const requires requires(const J& j) { j.displacement(bodies...); }
  { return joint.displacement(bodies...); }

  void require_joint(const Label& label, const auto&... bodies) const {
    require_fields(label, joint);
    if constexpr (requires { joint.validate(label, bodies...); })
      joint.validate(label, bodies...);
    else if constexpr (requires { joint.validate(label); })
      joint.validate(label);
  }
};
}  // namespace detail

template <class J, class F> struct Nonideal : detail::Wrapped<J> {
  F law;

  Nonideal(J j, F f) : detail::Wrapped<J>{{}, std::move(j)}, law(std::move(f)) {}

  template <class... X>
  requires std::invocable<const F&, X&...>
  void nonideal(X&... bodies_and_t) const {
    static_assert(!std::invocable<const F&, X...>,
                  "take the bodies by reference (auto& a): a copy would lose the force");
    law(bodies_and_t...);
  }
  void validate(const Label& label, const auto&... bodies) const { this->require_joint(label, bodies...); }
};

// A law that needs the joint's own reaction: law(bodies..., t, lambda), with a Vec<double, rows>.
template <class J, class F> struct Reacting : detail::Wrapped<J> {
  F law;

  Reacting(J j, F f) : detail::Wrapped<J>{{}, std::move(j)}, law(std::move(f)) {}

  template <class... X>
  requires std::invocable<const F&, X&...>
  void react(X&&... bodies_t_lambda) const { law(bodies_t_lambda...); }
  void validate(const Label& label, const auto&... bodies) const { this->require_joint(label, bodies...); }
};

}  // namespace mortise
