#pragma once
// Gear in the plane: wheels A and B roll on each other by their angles, on fixed axles or on those of a carrier C.
//
//   phi = R_A (theta_A - theta_C) + R_B (theta_B - theta_C) - offset        1 row
//
// Connect A and B, or A, B and C.  A negative radius stands for an internal gear.  The axles are held by other joints.
// Reaction: lambda is the force between the teeth; it turns A by R_A lambda and B by R_B lambda.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct PlanarGear {
  double radius_a = 1;
  double radius_b = 1;
  double offset = 0;

  static constexpr int dimension = 2;
  static constexpr Summary summary{"planar_gear", "wheels A and B, on a carrier C if there is one, mesh",
                                   "R_A (theta_A - theta_C) + R_B (theta_B - theta_C) - offset = 0"};
  static constexpr std::tuple fields{
      Field{"radius_a", &PlanarGear::radius_a, "m", "of A; < 0: internal", Range::nonzero},
      Field{"radius_b", &PlanarGear::radius_b, "m", "of B; < 0: internal", Range::nonzero},
      Field{"offset", &PlanarGear::offset, "m", "the sum at the start"}};
  static constexpr std::array<RowInfo, 1> rows{{{"mesh", "rolling of one wheel alone", "tooth force"}}};

  template <class T> Vec<T, 1> phi(const auto& a, const auto& b, const T&) const {
    return Vec<T, 1>(radius_a * planar_angle<T>(a) + radius_b * planar_angle<T>(b) - offset);
  }
  template <class T> Vec<T, 1> phi(const auto& a, const auto& b, const auto& c, const T& t) const {
    return phi(a, b, t) - Vec<T, 1>((radius_a + radius_b) * planar_angle<T>(c));
  }
  // As the bodies stand.
  static PlanarGear at_world(double radius_a, double radius_b, const auto&... bodies) {
    PlanarGear gear{radius_a, radius_b, 0};
    gear.offset = gear.phi(bodies..., 0.0)[0];
    return gear;
  }
};

}  // namespace mortise
