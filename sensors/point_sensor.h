#pragma once
// Point sensor: where a point of a body is, in world axes, in D dimensions.
//
//   x = p        its rates are the velocity and the acceleration of the point
// Catalogue: PointSensor<3>

#include <array>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

template <int D> struct PointSensor {
  static_assert(D == 2 || D == 3, "points lie in the plane or in space");

  Vec<double, D> at = Vec<double, D>::Zero();

  static constexpr Summary summary{"point_sensor", "position, velocity and acceleration of a point", "x = p"};
  static constexpr std::tuple fields{Field{"at", &PointSensor::at, "m", "the point in the frame of the body"}};
  static constexpr std::array<QuantityInfo, D> quantities = [] {
    constexpr std::array<QuantityInfo, 3> xyz{{{"x", "m"}, {"y", "m"}, {"z", "m"}}};
    std::array<QuantityInfo, D> out;
    for (std::size_t i = 0; i < D; ++i) out[i] = xyz[i];
    return out;
  }();

  template <class T> Vec<T, D> measure(const auto& a, const T&) const { return a.point(at); }
};

}  // namespace mortise
