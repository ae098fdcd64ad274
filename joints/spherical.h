#pragma once
// Spherical joint: a point of body A and a point of body B, in space, coincide.
//
//   phi = p_A - p_B        3 rows; reaction: the force on A at the joint, in world axes

#include <array>

#include <mortise/core/parts.h>
#include <mortise/core/words.h>

namespace mortise {

struct Spherical {
  Vec3<double> on_a{0, 0, 0};  // [m] centre in the frame of A
  Vec3<double> on_b{0, 0, 0};  // [m] centre in the frame of B

  static constexpr std::array<RowInfo, 3> rows{
      {{"x", "translation along x", "fx"}, {"y", "translation along y", "fy"}, {"z", "translation along z", "fz"}}};

  template <class T> Vec3<T> phi(const auto& a, const auto& b, const T&) const { return a.point(on_a) - b.point(on_b); }
  void validate(const Label& label) const {
    require_finite(label, "on_a", on_a);
    require_finite(label, "on_b", on_b);
  }
};

}  // namespace mortise
