#pragma once
// Parallel axes: an axis of body A stays parallel to an axis of body B.
//
//   phi = (z_A . x_B,  z_A . y_B)        2 rows; reaction: the moments on A about y_B and -x_B
//
// z is the unit axis, x and y are its unit directions across.  Any length > 0 of the axes will do.
// Singular only where the two axes are perpendicular; also met where they are opposite.

#include <array>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct ParallelAxes {
  Axis axis_a{0, 0, 1};
  Axis axis_b{0, 0, 1};

  static constexpr Aligned aligned = Aligned::axes;
  static constexpr Summary summary{"parallel_axes", "an axis of A is parallel to an axis of B",
                                   "z_A . x_B = z_A . y_B = 0"};
  static constexpr std::tuple fields{Field{"axis_a", &ParallelAxes::axis_a, "", "the axis in the frame of A"},
                                     Field{"axis_b", &ParallelAxes::axis_b, "", "the axis in the frame of B"}};
  static constexpr std::array<RowInfo, 2> rows{
      {{"tilt_1", "rotation across the axis", "m1", "N m"}, {"tilt_2", "rotation across the axis", "m2", "N m"}}};

  template <class T> Vec2<T> phi(const auto& a, const auto& b, const T&) const {
    const Vec3<T> z = a.direction(axis_a.along);
    return {z.dot(b.direction(axis_b.across_1)), z.dot(b.direction(axis_b.across_2))};
  }
  static ParallelAxes at_world(const Axis& axis, const auto& a, const auto& b) {
    return {axis.seen_from(a), axis.seen_from(b)};
  }
};

}  // namespace mortise
