#pragma once
// Cylindrical joint: an axis of body A and an axis of body B coincide; B turns about it and slides along it.
//
//   phi = (x_B . d,  y_B . d,  z_A . x_B,  z_A . y_B),   d = p_A - p_B        4 rows
//
// z is the unit axis, x and y are its unit directions across.  Any length > 0 of the axes will do.
// Reaction: the forces on A along x_B, y_B at p_A and the moments on A about y_B and -x_B.
// Singular only where the two axes are perpendicular; also met where they are opposite.
// Friction: N = |(f1, f2)|, moments neglected; u = (radius times rate of turning, rate of sliding).

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct Cylindrical {
  Vec3<double> on_a{0, 0, 0};
  Vec3<double> on_b{0, 0, 0};
  Axis axis_a{0, 0, 1};
  Axis axis_b{0, 0, 1};

  static constexpr Aligned aligned = Aligned::axes;
  static constexpr Summary summary{"cylindrical", "two axes coincide; B turns and slides",
                                   "x_B . d = y_B . d = 0 (d = p_A - p_B), z_A . x_B = z_A . y_B = 0"};
  static constexpr std::tuple fields{Field{"on_a", &Cylindrical::on_a, "m", "a point of the axis in the frame of A"},
                                     Field{"on_b", &Cylindrical::on_b, "m", "a point of the axis in the frame of B"},
                                     Field{"axis_a", &Cylindrical::axis_a, "", "the axis in the frame of A"},
                                     Field{"axis_b", &Cylindrical::axis_b, "", "the axis in the frame of B"}};
  static constexpr std::array<RowInfo, 4> rows{{{"across_1", "translation across the axis", "f1"},
                                                {"across_2", "translation across the axis", "f2"},
                                                {"tilt_1", "rotation across the axis", "m1", "N m"},
                                                {"tilt_2", "rotation across the axis", "m2", "N m"}}};

  template <class T> Vec<T, 4> phi(const auto& a, const auto& b, const T&) const {
    const Vec3<T> d = a.point(on_a) - b.point(on_b), z = a.direction(axis_a.along);
    const Vec3<T> x = b.direction(axis_b.across_1), y = b.direction(axis_b.across_2);
    return {x.dot(d), y.dot(d), z.dot(x), z.dot(y)};
  }
  // Of B about the axis, seen from A, in (-pi, pi]; nearest_turn() counts turns.
  auto angle(const auto& a, const auto& b) const { return angle_about(a, axis_a, b, axis_b); }
  // Of B along the axis, seen from A.
  auto displacement(const auto& a, const auto& b) const {
    return a.direction(axis_a.along).dot(b.point(on_b) - a.point(on_a));
  }
  static Cylindrical at_world(const Vec3<double>& point, const Axis& axis, const auto& a, const auto& b) {
    return {a.local_point(point), b.local_point(point), axis.seen_from(a), axis.seen_from(b)};
  }
  void rub(auto& a, auto& b, const Vec<double, 4>& lambda, const auto& grip) const {
    const auto z = a.direction(axis_a.along);
    using T = Scalar<decltype(z)>;
    const T turning = grip.radius * z.dot(b.angular_velocity() - a.angular_velocity());
    const T sliding = z.dot(b.point_velocity(on_b) - a.point_velocity(on_a));
    const Vec2<T> f = grip(lambda.template head<2>().norm(), Vec2<T>(turning, sliding));
    const Vec3<T> torque = grip.radius * f[0] * z, force = f[1] * z;
    b.apply_torque(torque);
    a.apply_torque(Vec3<T>(-torque));
    b.apply_force(on_b, force);
    a.apply_force(on_a, Vec3<T>(-force));
  }
};

}  // namespace mortise
