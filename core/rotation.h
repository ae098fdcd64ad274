#pragma once
// Rotations.  Quaternions are u = (u0, u1, u2, u3), scalar first; R takes body axes to world axes.
//
//   w = 2 E(u) u'  in body axes [US10, Eq. 79-80],   u' = 1/2 E(u)' w

#include <cmath>
#include <string_view>

#include <mortise/core/errors.h>
#include <mortise/core/types.h>

namespace mortise {

template <class T> using Quaternion = Vec<T, 4>;

// [US10, Eq. 80]
template <class T> Mat<T, 3, 4> quaternion_E(const Quaternion<T>& u) {
  Mat<T, 3, 4> E;
  E << -u[1], u[0], u[3], -u[2],  //
      -u[2], -u[3], u[0], u[1],   //
      -u[3], u[2], -u[1], u[0];
  return E;
}

// R(u / |u|): homogeneous of degree 0, so its derivative has no component along u.
template <class T> Mat<T, 3, 3> rotation_matrix(const Quaternion<T>& u) {
  const T w = u[0], x = u[1], y = u[2], z = u[3];
  const T s = T(1.0) / (w * w + x * x + y * y + z * z);
  Mat<T, 3, 3> R;
  R << s * (w * w + x * x - y * y - z * z), 2.0 * s * (x * y - w * z), 2.0 * s * (x * z + w * y),  //
      2.0 * s * (x * y + w * z), s * (w * w - x * x + y * y - z * z), 2.0 * s * (y * z - w * x),   //
      2.0 * s * (x * z - w * y), 2.0 * s * (y * z + w * x), s * (w * w - x * x - y * y + z * z);
  return R;
}

// R(p q) = R(p) R(q)
template <class T> Quaternion<T> quaternion_product(const Quaternion<T>& p, const Quaternion<T>& q) {
  return {p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
          p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1], p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]};
}

template <class T> Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// Rotation by `angle` about `axis`, which need not have unit length.
Quaternion<double> quaternion_from_axis_angle(const Vec3<double>& axis, double angle);

// The rotation matrix nearest in the usual sense; R must be orthogonal with determinant 1 to 1e-6.
Quaternion<double> quaternion_from_matrix(const Mat<double, 3>& R);

// Three turns about body axes one after the other, `axes` such as "zyx" (yaw, pitch, roll) or "zxz" (Euler).
Quaternion<double> quaternion_from_euler(std::string_view axes, const Vec3<double>& angles);

// Inverse of the above: the first and third angle in (-pi, pi]; where they are not unique the first is 0.
Vec3<double> euler_from_quaternion(std::string_view axes, const Quaternion<double>& u);

// Angle in [0, pi] and unit axis; the axis is x where the angle is 0.
struct AxisAngle {
  Vec3<double> axis;
  double angle;
};
AxisAngle axis_angle_from_quaternion(const Quaternion<double>& u);

}  // namespace mortise
