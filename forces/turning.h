#pragma once
// How body B turns against body A, for torsion springs and motors: an angle, its rate, and a torque on both.
//
//   PlanarTurn{}                                     theta_B - theta_A; counts turns
//   AxisTurn{.axis_a = {0, 0, 1}, .axis_b = ...}     about an axis that both bodies share, as in a revolute joint
//
// AxisTurn: the angle from x_A to x_B about z_A,  atan2(z_A . (x_A x x_B), x_A . x_B), in (-pi, pi]; z and x are along
// and across_1 of each body's axis (core/axis.h), so that equal axes of parallel frames are at angle 0.  It jumps at
// half a turn: for motions beyond that, use coordinates that count turns.
// The ground may stand on either side; it does not turn.

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct PlanarTurn {
  static constexpr std::tuple<> fields{};
  static constexpr int dimension = 2;

  template <class T> T angle(const auto& a, const auto& b, const T&) const {
    return planar_angle<T>(b) - planar_angle<T>(a);
  }
  template <class T> T rate(const auto& a, const auto& b, const T&) const {
    return b.angular_velocity() - a.angular_velocity();
  }
  // Torque m about z on B, -m on A.
  template <class T> void apply(auto& a, auto& b, const T& m) const {
    a.apply_torque(T(-m));
    b.apply_torque(m);
  }
};

struct AxisTurn {
  Axis axis_a{0, 0, 1};
  Axis axis_b{0, 0, 1};

  static constexpr std::tuple fields{Field{"axis_a", &AxisTurn::axis_a, "", "the axis in the frame of A"},
                                     Field{"axis_b", &AxisTurn::axis_b, "", "the axis in the frame of B"}};

  template <class T> T angle(const auto& a, const auto& b, const T&) const { return angle_about(a, axis_a, b, axis_b); }
  template <class T> T rate(const auto& a, const auto& b, const T&) const {
    return a.direction(axis_a.along).dot(b.angular_velocity() - a.angular_velocity());
  }
  // Torque m about z_A on B, -m on A.
  template <class T> void apply(auto& a, auto& b, const T& m) const {
    const Vec3<T> torque = m * a.direction(axis_a.along);
    a.apply_torque(Vec3<T>(-torque));
    b.apply_torque(torque);
  }
};

}  // namespace mortise
