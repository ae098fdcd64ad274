#pragma once
// Friction in a joint: the joint itself, and a non-ideal law that acts where its two bodies move against each other.
//
//   Coulomb{Pin{...}, {.coefficient = 0.2, .radius = 0.01}}      dry:      f = -mu N u / sqrt(|u|^2 + u_s^2)
//   Viscous{Slider{...}, {.coefficient = 3}}                     viscous:  f = -c u
//
// N is the length of the joint's own reaction, the multipliers of the constraint with friction acting: the solver
// repeats the solve until the two agree.  Of the reaction its forces count; moments are neglected.  u is the velocity
// of sliding, a number, or a vector where the joint slides in several directions: friction is opposite to it.  What
// turns slides on a bearing of the given radius.  The direction of dry friction is regularised: at the speed u_s it has
// reached 71 % of mu N, and below it is viscous, so that a body on a slope creeps instead of sticking.  Where redundant
// rows share the load the reaction is not unique, and dry friction is refused by name.
//
// A joint offers friction by  rub(a, b, lambda, grip):  it finds N and u and applies grip(N, u) to both bodies.
// docs/CATALOGUE.md says which joints do.  Universal does not: what loads its bearings is the moment that it hands on,
// not the force.

#include <cmath>

#include <mortise/core/fields.h>
#include <mortise/joints/functor.h>

namespace mortise {

namespace detail {
inline double squared(double u) { return u * u; }
template <int n> double squared(const Vec<double, n>& u) { return u.squaredNorm(); }
}  // namespace detail

struct DryGrip {
  double coefficient = 0;
  double radius = 1;
  double speed = 1e-3;

  static constexpr std::tuple fields{
      Field{"coefficient", &DryGrip::coefficient, "", "of friction", Range::not_negative},
      Field{"radius", &DryGrip::radius, "m", "of the bearing, of joints that turn", Range::positive},
      Field{"speed", &DryGrip::speed, "m/s", "of sliding, below which friction is nearly viscous", Range::positive}};

  template <class U> U operator()(double N, const U& u) const {
    return -coefficient * N * u / std::sqrt(detail::squared(u) + speed * speed);
  }
};

struct ViscousGrip {
  double coefficient = 0;
  double radius = 1;

  static constexpr std::tuple fields{
      Field{"coefficient", &ViscousGrip::coefficient, "N s/m", "force over speed", Range::not_negative},
      Field{"radius", &ViscousGrip::radius, "m", "of the bearing, of joints that turn", Range::positive}};

  template <class U> U operator()(double, const U& u) const { return -coefficient * u; }
};

// A joint that tells how its bodies rub.
template <class J>
concept Rubs = requires(const J& j, ForceView<part_dimension<J>(), double>& a,
                        const Vec<double, static_cast<int>(J::rows.size())>& lambda) {
  j.rub(a, a, lambda, DryGrip{});
};

template <class J> struct Coulomb : detail::Wrapped<J> {
  static_assert(Rubs<J>,
                "Coulomb takes joints that have friction: see docs/CATALOGUE.md, or write a law with Reacting");
  DryGrip grip;

  Coulomb(J j, const DryGrip& g) : detail::Wrapped<J>{{}, std::move(j)}, grip(g) {}

  void react(auto& a, auto& b, double, const auto& lambda) const { this->joint.rub(a, b, lambda, grip); }
  void validate(const Label& label, const auto&... bodies) const {
    require_fields(label, grip);
    this->require_joint(label, bodies...);
  }
};

template <class J> struct Viscous : detail::Wrapped<J> {
  static_assert(Rubs<J>,
                "Viscous takes joints that have friction: see docs/CATALOGUE.md, or write a law with Nonideal");
  ViscousGrip grip;

  Viscous(J j, const ViscousGrip& g) : detail::Wrapped<J>{{}, std::move(j)}, grip(g) {}

  void nonideal(auto& a, auto& b, const auto&) const {
    this->joint.rub(a, b, Vec<double, static_cast<int>(J::rows.size())>::Zero().eval(), grip);
  }
  void validate(const Label& label, const auto&... bodies) const {
    require_fields(label, grip);
    this->require_joint(label, bodies...);
  }
};

}  // namespace mortise
