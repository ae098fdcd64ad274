#pragma once
// Pin: a point of body A and a point of body B, in the plane, coincide.
//
//   phi = p_A - p_B        2 rows; reaction: the force on A at the pin, in world axes
//
// Friction: N = |force|, u = radius times rate of turning.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct Pin {
  Vec2<double> on_a{0, 0};
  Vec2<double> on_b{0, 0};

  static constexpr Summary summary{"pin", "two points of the plane coincide", "p_A - p_B = 0"};
  static constexpr std::tuple fields{Field{"on_a", &Pin::on_a, "m", "the pin in the frame of A"},
                                     Field{"on_b", &Pin::on_b, "m", "the pin in the frame of B"}};
  static constexpr std::array<RowInfo, 2> rows{
      {{"x", "translation along x", "fx"}, {"y", "translation along y", "fy"}}};

  template <class T> Vec2<T> phi(const auto& a, const auto& b, const T&) const { return a.point(on_a) - b.point(on_b); }
  // Of B against A.
  static constexpr bool counts_turns = true;
  bool tells_angle(const auto& a, const auto& b) const { return a.turns() && b.turns(); }
  auto angle(const auto& a, const auto& b) const {
    using T = Scalar<decltype(a.point(on_a))>;
    return planar_angle<T>(b) - planar_angle<T>(a);
  }
  static Pin at_world(const Vec2<double>& point, const auto& a, const auto& b) {
    return {a.local_point(point), b.local_point(point)};
  }
  void rub(auto& a, auto& b, const Vec2<double>& lambda, const auto& grip) const {
    const auto torque = grip.radius * grip(lambda.norm(), grip.radius * (b.angular_velocity() - a.angular_velocity()));
    b.apply_torque(torque);
    a.apply_torque(-torque);
  }
};

}  // namespace mortise
