#pragma once
// Angle sensor: by how much body B has turned against body A about an axis that both carry, in space.
//
//   angle = atan2(y_A . x_B, x_A . x_B)        Readings count the turns
//
// x and y are the directions across the axis.  Singular only where x_B is parallel to the axis of A.  Revolute,
// cylindrical and screw joints tell their angle by themselves, and in the plane theta is a coordinate.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct AngleSensor {
  Axis axis_a{0, 0, 1};
  Axis axis_b{0, 0, 1};

  static constexpr Summary summary{"angle_sensor", "turn of B against A about an axis",
                                   "angle = atan2(y_A . x_B, x_A . x_B)"};
  static constexpr std::tuple fields{Field{"axis_a", &AngleSensor::axis_a, "", "the axis in the frame of A"},
                                     Field{"axis_b", &AngleSensor::axis_b, "", "the axis in the frame of B"}};
  static constexpr std::array<QuantityInfo, 1> quantities{{{"", "rad", true}}};

  template <class T> T measure(const auto& a, const auto& b, const T&) const {
    return angle_about(a, axis_a, b, axis_b);
  }
};

}  // namespace mortise
