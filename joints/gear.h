#pragma once
// Gear between two shafts on any axes: wheels A and B, each on a revolute joint in the carrier C, mesh by their teeth.
//
//   phi = (z_a angle_A + z_b angle_B - phase) / z_a,  the bracket modulo 2 pi        1 row
//
// The angles are those of A and B against C, about an axis that the wheel and the carrier share.  As the numbers of
// teeth are whole, the row is exact without counting turns.  A negative number stands for an internal gear; the
// directions of the axes decide the sense for bevel and worm gears.  Any length > 0 of the axes will do.
// Reaction: lambda is the moment on A about its axis; lambda z_b / z_a acts on B about its own, the opposite of both on
// C.
// Regular everywhere; of another ratio than one of whole numbers: GearRatio.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct Gear {
  int teeth_a = 1;
  int teeth_b = 1;
  Axis axis_a{0, 0, 1};
  Axis axis_b{0, 0, 1};
  Axis carrier_a{0, 0, 1};
  Axis carrier_b{0, 0, 1};
  double phase = 0;

  static constexpr Summary summary{"gear", "wheels A and B, on axes of a carrier C, mesh",
                                   "(z_a angle_A + z_b angle_B - phase) / z_a = 0, the bracket modulo 2 pi"};
  static constexpr std::tuple fields{Field{"teeth_a", &Gear::teeth_a, "", "of A; < 0: internal", Range::nonzero},
                                     Field{"teeth_b", &Gear::teeth_b, "", "of B; < 0: internal", Range::nonzero},
                                     Field{"axis_a", &Gear::axis_a, "", "the axis of A in the frame of A"},
                                     Field{"axis_b", &Gear::axis_b, "", "the axis of B in the frame of B"},
                                     Field{"carrier_a", &Gear::carrier_a, "", "the axis of A in the frame of C"},
                                     Field{"carrier_b", &Gear::carrier_b, "", "the axis of B in the frame of C"},
                                     Field{"phase", &Gear::phase, "rad", "the sum at the start"}};
  static constexpr std::array<RowInfo, 1> rows{{{"mesh", "turning of one wheel alone", "moment on A", "N m"}}};

  template <class T> Vec<T, 1> phi(const auto& a, const auto& b, const auto& c, const T&) const {
    const double za = teeth_a, zb = teeth_b;
    const T sum = za * angle_about(c, carrier_a, a, axis_a) + zb * angle_about(c, carrier_b, b, axis_b) - phase;
    return Vec<T, 1>(nearest_turn(sum, 0) / za);
  }
  // As the bodies stand.
  static Gear at_world(const Axis& axis_a, const Axis& axis_b, int teeth_a, int teeth_b, const auto& a, const auto& b,
                       const auto& c) {
    return {teeth_a, teeth_b, axis_a.seen_from(a), axis_b.seen_from(b), axis_a.seen_from(c), axis_b.seen_from(c), 0};
  }
};

}  // namespace mortise
