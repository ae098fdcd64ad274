#pragma once
// Revolute joint: a point of body A and a point of body B coincide, and so do an axis of A and an axis of B.
//
//   phi = (p_A - p_B,  z_A . x_B,  z_A . y_B)        5 rows
//
// z_A is the unit axis of A; x_B, y_B are unit and perpendicular to the axis of B and to each other.
// Reaction: the force on A at the joint in world axes, and the moments that hold the axes together.
// Regular everywhere near the constraint; singular only where the two axes are perpendicular.

#include <array>

#include <mortise/core/parts.h>
#include <mortise/core/words.h>

namespace mortise {

struct Revolute {
  Vec3<double> on_a{0, 0, 0};    // [m] a point of the axis in the frame of A
  Vec3<double> on_b{0, 0, 0};    // [m] the same point in the frame of B
  Vec3<double> axis_a{0, 0, 1};  // direction in the frame of A, any length > 0
  Vec3<double> axis_b{0, 0, 1};  // direction in the frame of B, any length > 0

  static constexpr std::array<RowInfo, 5> rows{{{"x", "translation along x", "fx"},
                                                {"y", "translation along y", "fy"},
                                                {"z", "translation along z", "fz"},
                                                {"tilt_1", "rotation across the axis", "m1"},
                                                {"tilt_2", "rotation across the axis", "m2"}}};

  template <class T> Vec<T, 5> phi(const auto& a, const auto& b, const T&) const {
    const Vec3<double> z = axis_b.normalized(), x = z.unitOrthogonal(), y = z.cross(x);
    const Vec3<T> d = a.point(on_a) - b.point(on_b);
    const Vec3<T> axis = a.direction(Vec3<double>(axis_a.normalized()));
    return {d[0], d[1], d[2], axis.dot(b.direction(x)), axis.dot(b.direction(y))};
  }
  void validate(const Label& label) const {
    require_finite(label, "on_a", on_a);
    require_finite(label, "on_b", on_b);
    require_direction(label, "axis_a", axis_a);
    require_direction(label, "axis_b", axis_b);
  }
};

}  // namespace mortise
