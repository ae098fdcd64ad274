#pragma once
// Gear of any ratio between two shafts on any axes: the speeds of A and B against the carrier C are in a fixed ratio.
//
//   psi = z_1 . (w_A - w_C) + ratio z_2 . (w_B - w_C)        1 row, nonholonomic in form
//
// z_1, z_2 are the unit axes of the shafts, fixed in C.  Any length > 0 of the axes will do.  The angles themselves are
// not held, so that ratio may be any number, as for friction wheels; with teeth, Gear does not drift.
// Reaction: lambda is the moment on A about z_1; ratio lambda acts on B about z_2, the opposite of both on C.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct GearRatio {
  double ratio = 1;
  Axis carrier_a{0, 0, 1};
  Axis carrier_b{0, 0, 1};

  static constexpr Summary summary{"gear_ratio", "the speeds of A and B against a carrier C are in a fixed ratio",
                                   "z_1 . (w_A - w_C) + ratio z_2 . (w_B - w_C) = 0"};
  static constexpr std::tuple fields{
      Field{"ratio", &GearRatio::ratio, "", "turns of A back per turn of B", Range::nonzero},
      Field{"carrier_a", &GearRatio::carrier_a, "", "the axis of A in the frame of C"},
      Field{"carrier_b", &GearRatio::carrier_b, "", "the axis of B in the frame of C"}};
  static constexpr std::array<RowInfo, 1> rows{{{"mesh", "turning of one wheel alone", "moment on A", "N m"}}};

  template <class T> Vec<T, 1> psi(const auto& a, const auto& b, const auto& c, const T&) const {
    const Vec3<T> wa = a.angular_velocity() - c.angular_velocity(), wb = b.angular_velocity() - c.angular_velocity();
    return Vec<T, 1>(c.direction(carrier_a.along).dot(wa) + ratio * c.direction(carrier_b.along).dot(wb));
  }
  static GearRatio at_world(const Axis& axis_a, const Axis& axis_b, double ratio, const auto&, const auto&,
                            const auto& c) {
    return {ratio, axis_a.seen_from(c), axis_b.seen_from(c)};
  }
};

}  // namespace mortise
