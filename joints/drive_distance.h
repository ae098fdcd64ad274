#pragma once
// Driver of a distance (an actuator), in D dimensions: a point of A and a point of B are a function of time apart.
//
//   phi = |p_A - p_B| - f(t)        1 row; reaction: the thrust of the actuator
//
// f stays > 0: singular where the two points meet.
// Catalogue: DriveDistance<3>

#include <array>

#include <mortise/core/fields.h>
#include <mortise/core/function.h>
#include <mortise/core/parts.h>

namespace mortise {

template <int D> struct DriveDistance {
  Vec<double, D> on_a = Vec<double, D>::Zero();
  Vec<double, D> on_b = Vec<double, D>::Zero();
  Function f = 1.0;

  static constexpr Summary summary{"drive_distance", "the distance of two points follows a function of time",
                                   "|p_A - p_B| - f(t) = 0"};
  static constexpr std::tuple fields{Field{"on_a", &DriveDistance::on_a, "m", "the end in the frame of A"},
                                     Field{"on_b", &DriveDistance::on_b, "m", "the end in the frame of B"},
                                     Field{"f", &DriveDistance::f, "m", "the distance, > 0"}};
  static constexpr std::array<RowInfo, 1> rows{{{"drive", "translation along the actuator", "thrust"}}};

  template <class T> Vec<T, 1> phi(const auto& a, const auto& b, const T& t) const {
    const Vec<T, D> d = a.point(on_a) - b.point(on_b);
    return Vec<T, 1>(d.norm() - f(t));
  }
};

}  // namespace mortise
