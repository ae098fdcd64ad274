#pragma once
// Revolute joint: a point of body A and a point of body B coincide, and so do an axis of A and an axis of B.
//
//   phi = (p_A - p_B,  z_A . x_B,  z_A . y_B)        5 rows
//
// z_A is the unit axis of A; x_B, y_B are unit and perpendicular to the axis of B and to each other.
// Any length > 0 of the axes will do.
// Reaction: the force on A at the joint in world axes, and the moments on A about y_B and -x_B.
// Singular only where the two axes are perpendicular; also met where they are opposite.
// Friction: N = |force|, u = radius times rate of turning.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct Revolute {
  Vec3<double> on_a{0, 0, 0};
  Vec3<double> on_b{0, 0, 0};
  Axis axis_a{0, 0, 1};
  Axis axis_b{0, 0, 1};

  static constexpr Aligned aligned = Aligned::axes;
  static constexpr Summary summary{"revolute", "two points and two axes coincide",
                                   "p_A - p_B = 0, z_A . x_B = 0, z_A . y_B = 0"};
  static constexpr std::tuple fields{Field{"on_a", &Revolute::on_a, "m", "a point of the axis in the frame of A"},
                                     Field{"on_b", &Revolute::on_b, "m", "the same point in the frame of B"},
                                     Field{"axis_a", &Revolute::axis_a, "", "the axis in the frame of A"},
                                     Field{"axis_b", &Revolute::axis_b, "", "the axis in the frame of B"}};
  static constexpr std::array<RowInfo, 5> rows{{{"x", "translation along x", "fx"},
                                                {"y", "translation along y", "fy"},
                                                {"z", "translation along z", "fz"},
                                                {"tilt_1", "rotation across the axis", "m1", "N m"},
                                                {"tilt_2", "rotation across the axis", "m2", "N m"}}};

  template <class T> Vec<T, 5> phi(const auto& a, const auto& b, const T&) const {
    const Vec3<T> d = a.point(on_a) - b.point(on_b), z = a.direction(axis_a.along);
    return stack(d, z.dot(b.direction(axis_b.across_1)), z.dot(b.direction(axis_b.across_2)));
  }
  // Of B about the axis, seen from A, in (-pi, pi]; nearest_turn() counts turns.
  auto angle(const auto& a, const auto& b) const { return angle_about(a, axis_a, b, axis_b); }
  static Revolute at_world(const Vec3<double>& point, const Axis& axis, const auto& a, const auto& b) {
    return {a.local_point(point), b.local_point(point), axis.seen_from(a), axis.seen_from(b)};
  }
  void rub(auto& a, auto& b, const Vec<double, 5>& lambda, const auto& grip) const {
    const auto z = a.direction(axis_a.along);
    using T = Scalar<decltype(z)>;
    const T u = grip.radius * z.dot(b.angular_velocity() - a.angular_velocity());
    const Vec3<T> torque = grip.radius * grip(lambda.template head<3>().norm(), u) * z;
    b.apply_torque(torque);
    a.apply_torque(Vec3<T>(-torque));
  }
};

}  // namespace mortise
