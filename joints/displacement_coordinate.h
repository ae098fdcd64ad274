#pragma once
// DisplacementCoordinate: a coordinate of body C is how far a point of body B stands along an axis of body A.
//
//   phi = z_A . (p_B - p_A) - s        1 row; s the coordinate
//
// What acts on s acts on the joint: springs, dampers, drives and couplings with other joints (mimic joints).  With the
// inertia I [kg], C is a rotor that the joint turns by a rack or a screw: Q_s = -I s''.  Without inertia it is a name
// for the displacement and nothing else.  The line itself is held by another joint, such as a Prismatic; C is a body
// with coordinates of its own, such as States or Subsystem.  Any length > 0 of the axis will do. Reaction: the force on
// B along the axis.

#include <array>
#include <string>

#include <mortise/core/axis.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct DisplacementCoordinate {
  Vec3<double> on_a{0, 0, 0};
  Vec3<double> on_b{0, 0, 0};
  Axis axis_a{0, 0, 1};
  std::string coordinate = "q";

  static constexpr Summary summary{"displacement_coordinate",
                                   "a coordinate of C is the displacement of B along an axis of A",
                                   "z_A . (p_B - p_A) - s = 0"};
  static constexpr std::tuple fields{
      Field{"on_a", &DisplacementCoordinate::on_a, "m", "where it is counted from, in the frame of A"},
      Field{"on_b", &DisplacementCoordinate::on_b, "m", "the point in the frame of B"},
      Field{"axis_a", &DisplacementCoordinate::axis_a, "", "the axis in the frame of A"},
      Field{"coordinate", &DisplacementCoordinate::coordinate, "", "its name in C"}};
  static constexpr std::array<RowInfo, 1> rows{{{"slide", "translation along the axis", "force"}}};

  template <class T> Vec<T, 1> phi(const auto& a, const auto& b, const auto& c, const T&) const {
    const T along = a.direction(axis_a.along).dot(b.point(on_b) - a.point(on_a));
    return Vec<T, 1>(along - c.coordinate(coordinate));
  }
  void validate(const Label& label, const auto&, const auto&, const auto& c) const {
    label.require(c.find(coordinate) >= 0, fmt::format("the third body has no coordinate '{}'", coordinate),
                  "give a body with that coordinate");
  }
};

}  // namespace mortise
