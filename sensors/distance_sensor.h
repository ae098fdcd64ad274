#pragma once
// Distance sensor: how far a point of body A is from a point of body B, in D dimensions.
//
//   d = |p_A - p_B|        no rates where the two coincide
// Catalogue: DistanceSensor<3>

#include <array>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

template <int D> struct DistanceSensor {
  Vec<double, D> on_a = Vec<double, D>::Zero();
  Vec<double, D> on_b = Vec<double, D>::Zero();

  static constexpr Summary summary{"distance_sensor", "distance of two points", "d = |p_A - p_B|"};
  static constexpr std::tuple fields{Field{"on_a", &DistanceSensor::on_a, "m", "the point in the frame of A"},
                                     Field{"on_b", &DistanceSensor::on_b, "m", "the point in the frame of B"}};
  static constexpr std::array<QuantityInfo, 1> quantities{{{"", "m"}}};

  template <class T> T measure(const auto& a, const auto& b, const T&) const {
    const Vec<T, D> d = a.point(on_a) - b.point(on_b);
    return d.norm();
  }
};

}  // namespace mortise
