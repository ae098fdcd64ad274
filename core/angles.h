#pragma once
// Angles about an axis and their turns; friction of points that slide.

#include <cmath>
#include <numbers>

#include <mortise/core/axis.h>
#include <mortise/core/dual.h>

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

// What turns the axis of B, with its directions across, away from that of A: sin(angle) times the unit axis of the turn
// from B to A, in these directions (x, y, z).
//   ((y_A . z_B - z_A . y_B) / 2,  (z_A . x_B - x_A . z_B) / 2,  (x_A . y_B - y_A . x_B) / 2)
// Regular while the angle is below a right angle; after half a turn it is 0 too, and singular.
auto misalignment(const auto& a, const Axis& axis_a, const auto& b, const Axis& axis_b) {
  using T = Scalar<decltype(a.direction(axis_a.along))>;
  const Vec3<T> xa = a.direction(axis_a.across_1), ya = a.direction(axis_a.across_2), za = a.direction(axis_a.along);
  const Vec3<T> xb = b.direction(axis_b.across_1), yb = b.direction(axis_b.across_2), zb = b.direction(axis_b.along);
  return Vec3<T>(0.5 * (ya.dot(zb) - za.dot(yb)), 0.5 * (za.dot(xb) - xa.dot(zb)), 0.5 * (xa.dot(yb) - ya.dot(xb)));
}

// The angle of a planar body; 0 for a body without coordinates.
template <class T> T planar_angle(const auto& body) { return body.fixed() ? T(0.0) : T(body.coordinate("theta")); }

// Friction of a point of B that slides on a line through a point of A: grip(N, speed) acts on B, the opposite on A.  As
// the force acts along the line, it does not matter at which of its points.
void slide_along(auto& a, const auto& on_a, const auto& along_a, auto& b, const auto& on_b, double N,
                 const auto& grip) {
  const auto x = a.direction(along_a);
  const auto f = (grip(N, x.dot(b.point_velocity(on_b) - a.point_velocity(on_a))) * x).eval();
  b.apply_force(on_b, f);
  a.apply_force(on_a, (-f).eval());
}

// Friction of a point of B that slides on a plane of A: grip(N, velocity in the plane) acts on B at its point, the
// opposite on A at the same place of the world.
void slide_on(auto& a, const Vec3<double>& on_a, const Vec3<double>& normal_a, auto& b, const Vec3<double>& on_b,
              double N, const auto& grip) {
  const auto z = a.direction(normal_a);
  using T = Scalar<decltype(z)>;
  const Vec3<T> arm = b.point(on_b) - a.point(on_a);
  const Vec3<T> u = b.point_velocity(on_b) - a.point_velocity(on_a) - a.angular_velocity().cross(arm);
  const Vec3<T> f = grip(N, Vec3<T>(u - z.dot(u) * z));
  b.apply_force(on_b, f);
  a.apply_force(on_a, Vec3<T>(-f));
  a.apply_torque(Vec3<T>(-arm.cross(f)));
}

}  // namespace mortise
