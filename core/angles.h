#pragma once
// Angles about an axis and their turns, and the angles and spins of bodies that may be the ground.

#include <cmath>
#include <numbers>

#include <mortise/core/axis.h>
#include <mortise/core/dual.h>
#include <mortise/core/parts.h>

namespace mortise {

// The angle of B against A about an axis that both carry, in (-pi, pi]:
//   x_B = x_A cos + y_A sin,   angle = atan2(y_A . x_B, x_A . x_B)
// x, y are across_1, across_2 of the axis.  Singular only where x_B is parallel to the axis of A.
auto angle_about(const auto& a, const Axis& axis_a, const auto& b, const Axis& axis_b) {
  using std::atan2;
  const auto x = b.direction(axis_b.across_1);
  return atan2(a.direction(axis_a.across_2).dot(x), a.direction(axis_a.across_1).dot(x));
}

// The angle plus the number of whole turns that brings it nearest to `to`.
template <class T> T nearest_turn(const T& angle, double to) {
  constexpr double turn = 2 * std::numbers::pi;
  return angle + turn * std::round((to - value(angle)) / turn);
}

// The angle of a planar body; 0 for a body without coordinates.
template <class T> T planar_angle(const auto& body) {
  if constexpr (size_of<std::remove_cvref_t<decltype(body.body)>> == 0)
    return T(0.0);
  else
    return body.coordinate("theta");
}

// The angular velocity of a body in space, in world axes; 0 for a body without coordinates.
template <class T> Vec3<T> spin(const auto& body) {
  if constexpr (size_of<std::remove_cvref_t<decltype(body.body)>> == 0)
    return Vec3<T>::Zero();
  else
    return body.angular_velocity();
}

}  // namespace mortise
