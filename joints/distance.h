#pragma once
// Distance: a massless link of given length between a point of body A and a point of body B, in D dimensions.
//
//   phi = |p_A - p_B| - L,   L = length + rate t        1 row; reaction: the tension is -lambda
//
// Singular where the two points meet: the link then has no direction.
// Catalogue: Distance<3>

#include <array>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

template <int D> struct Distance {
  Vec<double, D> on_a = Vec<double, D>::Zero();
  Vec<double, D> on_b = Vec<double, D>::Zero();
  double length = 1;
  double rate = 0;

  static constexpr Summary summary{"distance", "two points keep a given distance",
                                   "|p_A - p_B| - (length + rate t) = 0"};
  static constexpr std::tuple fields{Field{"on_a", &Distance::on_a, "m", "end of the link in the frame of A"},
                                     Field{"on_b", &Distance::on_b, "m", "end of the link in the frame of B"},
                                     Field{"length", &Distance::length, "m", "at t = 0", Range::positive},
                                     Field{"rate", &Distance::rate, "m/s", "by which the length grows"}};
  static constexpr std::array<RowInfo, 1> rows{{{"length", "translation along the link", "thrust"}}};

  template <class T> Vec<T, 1> phi(const auto& a, const auto& b, const T& t) const {
    const Vec<T, D> d = a.point(on_a) - b.point(on_b);
    return Vec<T, 1>(d.norm() - (length + rate * t));
  }
  // From a point of A to a point of B, both given in the world.
  static Distance at_world(const Vec<double, D>& from, const Vec<double, D>& to, const auto& a, const auto& b) {
    return {a.local_point(from), b.local_point(to), (to - from).norm(), 0};
  }
};

}  // namespace mortise
