#pragma once
// TorsionSpring: a linear spring and damper against the turning of body B beside body A.
//
//   torque on B = -k (angle - rest) - c angle',  the opposite on A,   V = k/2 (angle - rest)^2,   input = -c angle'^2
//
//   TorsionSpring{.about = PlanarTurn{}, .stiffness = 10}                        in the plane, by theta
//   TorsionSpring{.about = AxisTurn{.axis_a = {0, 0, 1}}, .stiffness = 10}       in space, about a shared axis
//
// The angle of AxisTurn jumps at half a turn (forces/turning.h), and V with it.
// Catalogue: TorsionSpring<AxisTurn>

#include <mortise/forces/turning.h>

namespace mortise {

template <class Turn = PlanarTurn> struct TorsionSpring {
  Turn about = {};
  double stiffness = 0;
  double damping = 0;
  double rest = 0;

  static constexpr Summary summary{"torsion_spring", "a spring and damper between the turns of two bodies",
                                   "torque on B = -stiffness (angle - rest) - damping angle'"};
  static constexpr std::tuple fields{
      Field{"about", &TorsionSpring::about, "", "PlanarTurn, or AxisTurn with axis_a and axis_b"},
      Field{"stiffness", &TorsionSpring::stiffness, "N m/rad", "0 is allowed", Range::not_negative},
      Field{"damping", &TorsionSpring::damping, "N m s/rad", "0 is allowed", Range::not_negative},
      Field{"rest", &TorsionSpring::rest, "rad", "angle without torque"}};

  static constexpr std::array<QuantityInfo, 2> quantities{{{"angle", "rad"}, {"torque", "N m"}}};

  template <class T> Vec2<T> measure_motion(const auto& a, const auto& b, const T& t) const {
    const T angle = about.angle(a, b, t);
    return {angle, -stiffness * (angle - rest) - damping * about.rate(a, b, t)};
  }
  template <class T> T potential(const auto& a, const auto& b, const T& t) const {
    const T e = about.angle(a, b, t) - rest;
    return 0.5 * stiffness * e * e;
  }
  template <class T> void act(auto& a, auto& b, const T& t) const {
    if (damping != 0) about.apply(a, b, T(-damping * about.rate(a, b, t)));
  }
  void validate(const Label& label) const { require_fields(label, about); }
};

}  // namespace mortise
