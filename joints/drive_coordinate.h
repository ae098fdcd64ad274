#pragma once
// Driver of a coordinate: it follows a function of time.
//
//   phi = q - f(t)        1 row; reaction: the generalised force on the coordinate
//
//   DriveCoordinate{.coordinate = "theta", .f = [](const auto& t) { return sin(2.0 * t); }}
//
// f is a functor templated on the scalar, a Spline, a Table or a number (core/function.h).

#include <array>
#include <string>

#include <mortise/core/fields.h>
#include <mortise/core/function.h>
#include <mortise/core/parts.h>

namespace mortise {

struct DriveCoordinate {
  std::string coordinate;
  Function f = 0.0;

  static constexpr Summary summary{"drive_coordinate", "a coordinate follows a function of time", "q - f(t) = 0"};
  static constexpr std::tuple fields{Field{"coordinate", &DriveCoordinate::coordinate, "", "its name in the body"},
                                     Field{"f", &DriveCoordinate::f, "", "in the unit of the coordinate"}};
  static constexpr std::array<RowInfo, 1> rows{{{"drive", "the coordinate", "force", ""}}};

  template <class T> Vec<T, 1> phi(const auto& a, const T& t) const {
    return Vec<T, 1>(a.coordinate(coordinate) - f(t));
  }
};

}  // namespace mortise
