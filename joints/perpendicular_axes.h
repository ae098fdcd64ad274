#pragma once
// Perpendicular axes: an axis of body A stays perpendicular to an axis of body B.
//
//   phi = z_A . z_B        1 row; reaction: the moment on A about z_A x z_B
//
// z is the unit direction of an axis.  Any length > 0 of the axes will do.  Regular on the constraint.

#include <array>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct PerpendicularAxes {
  Axis axis_a{1, 0, 0};
  Axis axis_b{0, 1, 0};

  static constexpr Summary summary{"perpendicular_axes", "an axis of A is perpendicular to an axis of B",
                                   "z_A . z_B = 0"};
  static constexpr std::tuple fields{Field{"axis_a", &PerpendicularAxes::axis_a, "", "the axis in the frame of A"},
                                     Field{"axis_b", &PerpendicularAxes::axis_b, "", "the axis in the frame of B"}};
  static constexpr std::array<RowInfo, 1> rows{{{"tilt", "rotation about the common normal", "moment", "N m"}}};

  template <class T> Vec<T, 1> phi(const auto& a, const auto& b, const T&) const {
    return Vec<T, 1>(a.direction(axis_a.along).dot(b.direction(axis_b.along)));
  }
  static PerpendicularAxes at_world(const Axis& axis_a, const Axis& axis_b, const auto& a, const auto& b) {
    return {axis_a.seen_from(a), axis_b.seen_from(b)};
  }
};

}  // namespace mortise
