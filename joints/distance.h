#pragma once
// Distance: a massless link of given length between a point of body A and a point of body B, in D dimensions.
//
//   phi = |p_A - p_B| - L,   L = length + rate t        1 row; reaction: the tension is -lambda
//
// Singular where the two points meet: the link then has no direction.

#include <array>

#include <mortise/core/parts.h>
#include <mortise/core/words.h>

namespace mortise {

template <int D> struct Distance {
  Vec<double, D> on_a = Vec<double, D>::Zero();  // [m] in the frame of A
  Vec<double, D> on_b = Vec<double, D>::Zero();  // [m] in the frame of B
  double length = 1;                             // [m]   > 0, at t = 0
  double rate = 0;                               // [m/s]

  static constexpr std::array<RowInfo, 1> rows{{{"length", "translation along the link", "thrust"}}};

  template <class T> Vec<T, 1> phi(const auto& a, const auto& b, const T& t) const {
    const Vec<T, D> d = a.point(on_a) - b.point(on_b);
    return Vec<T, 1>(d.norm() - (length + rate * t));
  }
  void validate(const Label& label) const {
    require_finite(label, "on_a", on_a);
    require_finite(label, "on_b", on_b);
    require_positive(label, "length", length, "m");
    label.require(std::isfinite(rate), fmt::format("rate = {} m/s is not finite", rate), "give a finite number");
  }
};

}  // namespace mortise
