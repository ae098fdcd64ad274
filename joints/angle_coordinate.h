#pragma once
// AngleCoordinate: a coordinate of body C is the angle of body B against body A about an axis that both carry.
//
//   phi = angle - s        1 row; s the coordinate, the angle taken on the turn that is nearest to it
//
// So s counts turns, and what acts on s acts on the joint: springs, dampers, drives and couplings with other joints
// (mimic joints, gears of any ratio).  With inertia, C is a rotor that turns with the joint, the armature of a motor:
// lambda = (force on s) - I s''.  Without inertia it is a name for the angle and nothing else.
// The axis itself is held by another joint, such as a Revolute with the same axes; A, B and C may be any bodies, C one
// with coordinates of its own, such as States or Subsystem.
// Reaction: the moment on B about the axis.  Singular where across_1 of axis_b is parallel to axis_a.

#include <array>
#include <string>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct AngleCoordinate {
  Axis axis_a{0, 0, 1};
  Axis axis_b{0, 0, 1};
  std::string coordinate = "q";

  static constexpr Summary summary{"angle_coordinate", "a coordinate of C is the angle of B against A, with all turns",
                                   "angle - s = 0"};
  static constexpr std::tuple fields{Field{"axis_a", &AngleCoordinate::axis_a, "", "the axis in the frame of A"},
                                     Field{"axis_b", &AngleCoordinate::axis_b, "", "the axis in the frame of B"},
                                     Field{"coordinate", &AngleCoordinate::coordinate, "", "its name in C"}};
  static constexpr std::array<RowInfo, 1> rows{{{"turn", "rotation about the axis", "moment", "N m"}}};

  template <class T> Vec<T, 1> phi(const auto& a, const auto& b, const auto& c, const T&) const {
    const T s = c.coordinate(coordinate);
    return Vec<T, 1>(nearest_turn(angle_about(a, axis_a, b, axis_b), value(s)) - s);
  }
  void validate(const Label& label, const auto&, const auto&, const auto& c) const {
    label.require(c.find(coordinate) >= 0, fmt::format("the third body has no coordinate '{}'", coordinate),
                  "give a body with that coordinate");
  }
};

}  // namespace mortise
