#pragma once
// Driver of an angle in the plane: B turns against A by a function of time.
//
//   phi = theta_B - theta_A - f(t)        1 row; reaction: the moment on B
//
// A may be the ground.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/function.h>
#include <mortise/core/parts.h>

namespace mortise {

struct DrivePlanarAngle {
  Function f = 0.0;

  static constexpr int dimension = 2;
  static constexpr Summary summary{"drive_planar_angle", "the angle of B against A follows a function of time",
                                   "theta_B - theta_A - f(t) = 0"};
  static constexpr std::tuple fields{Field{"f", &DrivePlanarAngle::f, "rad", "the angle"}};
  static constexpr std::array<RowInfo, 1> rows{{{"drive", "rotation", "moment", "N m"}}};

  template <class T> Vec<T, 1> phi(const auto& a, const auto& b, const T& t) const {
    return Vec<T, 1>(planar_angle<T>(b) - planar_angle<T>(a) - f(t));
  }
};

}  // namespace mortise
