#pragma once
// Belt, chain or pair of pulleys in the plane: wheels A and B turn alike, or against each other if the belt is crossed.
//
//   phi = R_A theta_A -+ R_B theta_B - offset        1 row; - open, + crossed
//
// The belt does not stretch or slip.  The axles are held by other joints.
// Reaction: lambda is the difference of the tensions of the two runs; it turns A by R_A lambda.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct Belt {
  double radius_a = 1;
  double radius_b = 1;
  bool crossed = false;
  double offset = 0;

  static constexpr int dimension = 2;
  static constexpr Summary summary{"belt", "a belt runs over wheels A and B, in the plane",
                                   "R_A theta_A - R_B theta_B - offset = 0 (crossed: +)"};
  static constexpr std::tuple fields{Field{"radius_a", &Belt::radius_a, "m", "of A", Range::positive},
                                     Field{"radius_b", &Belt::radius_b, "m", "of B", Range::positive},
                                     Field{"crossed", &Belt::crossed, "", "the wheels turn against each other"},
                                     Field{"offset", &Belt::offset, "m", "the difference (crossed: sum) at the start"}};
  static constexpr std::array<RowInfo, 1> rows{{{"belt", "turning of one wheel alone", "difference of tensions"}}};

  template <class T> Vec<T, 1> phi(const auto& a, const auto& b, const T&) const {
    return Vec<T, 1>(radius_a * planar_angle<T>(a) + (crossed ? radius_b : -radius_b) * planar_angle<T>(b) - offset);
  }
  // As the bodies stand.
  static Belt at_world(double radius_a, double radius_b, bool crossed, const auto& a, const auto& b) {
    Belt belt{radius_a, radius_b, crossed, 0};
    belt.offset = belt.phi(a, b, 0.0)[0];
    return belt;
  }
};

}  // namespace mortise
