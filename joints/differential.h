#pragma once
// Differential: the cage C turns at the mean speed of the shafts A and B, all about one axis.
//
//   phi = angle_A + angle_B - phase, modulo 2 pi        1 row;  angles against C: 2 theta_C = theta_A + theta_B + const
//
// The shafts turn in the cage on revolute joints.  Exact without counting turns.  Any length > 0 of the axes will do.
// Reaction: lambda is the moment on A and also on B about the axis; -2 lambda acts on C: the torque is shared equally.
// In the plane: PlanarGear with equal radii and the cage as carrier.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct Differential {
  Axis axis_a{0, 0, 1};
  Axis axis_b{0, 0, 1};
  Axis axis_c{0, 0, 1};
  double phase = 0;

  static constexpr Summary summary{"differential", "a cage C turns at the mean speed of the shafts A and B",
                                   "angle_A + angle_B - phase = 0 modulo 2 pi, angles against C"};
  static constexpr std::tuple fields{Field{"axis_a", &Differential::axis_a, "", "the axis in the frame of A"},
                                     Field{"axis_b", &Differential::axis_b, "", "the axis in the frame of B"},
                                     Field{"axis_c", &Differential::axis_c, "", "the axis in the frame of C"},
                                     Field{"phase", &Differential::phase, "rad", "the sum at the start"}};
  static constexpr std::array<RowInfo, 1> rows{{{"mean", "turning of one shaft alone", "moment on A", "N m"}}};

  template <class T> Vec<T, 1> phi(const auto& a, const auto& b, const auto& c, const T&) const {
    const T sum = angle_about(c, axis_c, a, axis_a) + angle_about(c, axis_c, b, axis_b) - phase;
    return Vec<T, 1>(nearest_turn(sum, 0));
  }
  // As the bodies stand.
  static Differential at_world(const Axis& axis, const auto& a, const auto& b, const auto& c) {
    return {axis.seen_from(a), axis.seen_from(b), axis.seen_from(c), 0};
  }
};

}  // namespace mortise
