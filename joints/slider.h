#pragma once
// Slider in the plane: a line of body A and a line of body B coincide; B slides along A without turning.
//
//   phi = (n_A . (p_A - p_B),  x_A . n_B)        2 rows
//
// x is the unit direction of a line, n is x turned left by a right angle.  Any length > 0 of the axes will do.
// Reaction: the force on A across the line at p_B, and the moment on A.
// Singular where the two lines are perpendicular; also met where they are opposite.
// Friction: N = |force|, u is the speed of p_B along the line, seen from A.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct Slider {
  Vec2<double> on_a{0, 0};
  Vec2<double> on_b{0, 0};
  PlanarAxis axis_a{1, 0};
  PlanarAxis axis_b{1, 0};

  static constexpr Summary summary{"slider", "a line of A and a line of B coincide, in the plane",
                                   "n_A . (p_A - p_B) = 0, x_A . n_B = 0"};
  static constexpr std::tuple fields{Field{"on_a", &Slider::on_a, "m", "a point of the line in the frame of A"},
                                     Field{"on_b", &Slider::on_b, "m", "a point of the line in the frame of B"},
                                     Field{"axis_a", &Slider::axis_a, "", "the line in the frame of A"},
                                     Field{"axis_b", &Slider::axis_b, "", "the line in the frame of B"}};
  static constexpr std::array<RowInfo, 2> rows{
      {{"across", "translation across the line", "force"}, {"turn", "rotation", "moment", "N m"}}};

  template <class T> Vec2<T> phi(const auto& a, const auto& b, const T&) const {
    const Vec2<T> d = a.point(on_a) - b.point(on_b);
    return {a.direction(axis_a.across).dot(d), a.direction(axis_a.along).dot(b.direction(axis_b.across))};
  }
  // Of B along the line, seen from A.
  auto displacement(const auto& a, const auto& b) const {
    return a.direction(axis_a.along).dot(b.point(on_b) - a.point(on_a));
  }
  static Slider at_world(const Vec2<double>& point, const PlanarAxis& axis, const auto& a, const auto& b) {
    return {a.local_point(point), b.local_point(point), axis.seen_from(a), axis.seen_from(b)};
  }
  void rub(auto& a, auto& b, const Vec2<double>& lambda, const auto& grip) const {
    slide_along(a, on_a, axis_a.along, b, on_b, std::abs(lambda[0]), grip);
  }
};

}  // namespace mortise
