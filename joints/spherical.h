#pragma once
// Spherical joint: a point of body A and a point of body B, in space, coincide.
//
//   phi = p_A - p_B        3 rows; reaction: the force on A at the joint, in world axes
//
// Friction: N = |force|, u = radius (w_B - w_A), a torque of radius times friction: as if the ball rubbed along the
// equator of its turn, whichever way the force points.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct Spherical {
  Vec3<double> on_a{0, 0, 0};
  Vec3<double> on_b{0, 0, 0};

  static constexpr Summary summary{"spherical", "two points in space coincide", "p_A - p_B = 0"};
  static constexpr std::tuple fields{Field{"on_a", &Spherical::on_a, "m", "the centre in the frame of A"},
                                     Field{"on_b", &Spherical::on_b, "m", "the centre in the frame of B"}};
  static constexpr std::array<RowInfo, 3> rows{
      {{"x", "translation along x", "fx"}, {"y", "translation along y", "fy"}, {"z", "translation along z", "fz"}}};

  template <class T> Vec3<T> phi(const auto& a, const auto& b, const T&) const { return a.point(on_a) - b.point(on_b); }
  static Spherical at_world(const Vec3<double>& point, const auto& a, const auto& b) {
    return {a.local_point(point), b.local_point(point)};
  }
  void rub(auto& a, auto& b, const Vec3<double>& lambda, const auto& grip) const {
    using T = Scalar<decltype(a.point(on_a))>;
    const Vec3<T> torque =
        grip.radius * grip(lambda.norm(), Vec3<T>(grip.radius * (b.angular_velocity() - a.angular_velocity())));
    b.apply_torque(torque);
    a.apply_torque(Vec3<T>(-torque));
  }
};

}  // namespace mortise
