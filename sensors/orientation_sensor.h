#pragma once
// Orientation sensor: how body B is turned against body A in space, as a unit quaternion.
//
//   R = R_A' R_B,   q = (w, x, y, z) = (cos(angle / 2), sin(angle / 2) axis),   w >= 0
//
// Of the two quaternions of an orientation it tells the one with w >= 0: after half a turn the sign changes.
// Against the ground, A, it is the orientation in the world.

#include <algorithm>
#include <array>
#include <cmath>

#include <mortise/core/dual.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

namespace detail {
// R_A' R_B:  column j is the direction j of B in the frame of A.
template <class T> Mat<T, 3, 3> seen_from(const auto& a, const auto& b) {
  Mat<T, 3, 3> R;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      R(i, j) = a.direction(Vec3<double>(Vec3<double>::Unit(i))).dot(b.direction(Vec3<double>(Vec3<double>::Unit(j))));
  return R;
}
}  // namespace detail

struct OrientationSensor {
  static constexpr int dimension = 3;
  static constexpr Summary summary{"orientation_sensor", "orientation of B against A, a unit quaternion",
                                   "R_A' R_B = R(w, x, y, z), w >= 0"};
  static constexpr std::tuple fields{};
  static constexpr std::array<QuantityInfo, 4> quantities{{{"w", ""}, {"x", ""}, {"y", ""}, {"z", ""}}};

  // From the largest of the four, so that nothing small is divided by [Shepperd, J. Guidance and Control 1 (1978) 223].
  template <class T> Vec<T, 4> measure(const auto& a, const auto& b, const T&) const {
    using std::sqrt;
    const Mat<T, 3, 3> R = detail::seen_from<T>(a, b);
    const T trace = R(0, 0) + R(1, 1) + R(2, 2);
    Vec<T, 4> q;
    int k = -1;
    for (int i = 0; i < 3; ++i)
      if (value(R(i, i)) > (k < 0 ? value(trace) : value(R(k, k)))) k = i;
    if (k < 0) {
      const T w = 0.5 * sqrt(1.0 + trace), f = 0.25 / w;
      q << w, f * (R(2, 1) - R(1, 2)), f * (R(0, 2) - R(2, 0)), f * (R(1, 0) - R(0, 1));
    } else {
      const int l = (k + 1) % 3, m = (k + 2) % 3;
      const T x = 0.5 * sqrt(1.0 + 2.0 * R(k, k) - trace), f = 0.25 / x;
      q[0] = f * (R(m, l) - R(l, m));
      q[1 + k] = x;
      q[1 + l] = f * (R(k, l) + R(l, k));
      q[1 + m] = f * (R(k, m) + R(m, k));
    }
    if (value(q[0]) < 0)
      for (int i = 0; i < 4; ++i) q[i] = -q[i];
    return q;
  }
};

}  // namespace mortise
