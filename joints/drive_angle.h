#pragma once
// Driver of a joint angle in space: B turns against A about an axis they share, by a function of time.
//
//   phi = angle - f(t)        1 row; reaction: the moment on B about the axis
//
// The angle is counted from across_1 of axis_a to across_1 of axis_b (core/axis.h) and taken on the turn that is
// nearest to f(t), so that f may go on over many turns.  The axis itself is held by another joint, such as a Revolute
// with the same axes.  Any length > 0 of the axes will do.  Singular where across_1 of axis_b is parallel to axis_a.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/function.h>
#include <mortise/core/parts.h>

namespace mortise {

struct DriveAngle {
  Axis axis_a{0, 0, 1};
  Axis axis_b{0, 0, 1};
  Function f = 0.0;

  static constexpr Summary summary{"drive_angle", "the angle of B against A about an axis follows a function of time",
                                   "angle - f(t) = 0"};
  static constexpr std::tuple fields{Field{"axis_a", &DriveAngle::axis_a, "", "the axis in the frame of A"},
                                     Field{"axis_b", &DriveAngle::axis_b, "", "the axis in the frame of B"},
                                     Field{"f", &DriveAngle::f, "rad", "the angle"}};
  static constexpr std::array<RowInfo, 1> rows{{{"drive", "rotation about the axis", "moment", "N m"}}};

  template <class T> Vec<T, 1> phi(const auto& a, const auto& b, const T& t) const {
    const T target = f(t);
    return Vec<T, 1>(nearest_turn(angle_about(a, axis_a, b, axis_b), value(target)) - target);
  }
  // f is 0 as the bodies stand.
  static DriveAngle at_world(const Axis& axis, const Function& f, const auto& a, const auto& b) {
    return {axis.seen_from(a), axis.seen_from(b), f};
  }
};

}  // namespace mortise
