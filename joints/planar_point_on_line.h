#pragma once
// Point on a line, in the plane (a pin in a slot): a point of body B stays on a line of body A.
//
//   phi = n_A . (p_A - p_B)        1 row; reaction: the force on A along n_A at p_B
//
// n_A is the unit direction of the line, turned left by a right angle.  Any length > 0 of the axis will do.
// Friction: N = |force|, u is the speed of p_B along the line, seen from A.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct PlanarPointOnLine {
  Vec2<double> on_a{0, 0};
  Vec2<double> on_b{0, 0};
  PlanarAxis axis_a{1, 0};

  static constexpr Summary summary{"planar_point_on_line", "a point of B stays on a line of A, in the plane",
                                   "n_A . (p_A - p_B) = 0"};
  static constexpr std::tuple fields{
      Field{"on_a", &PlanarPointOnLine::on_a, "m", "a point of the line in the frame of A"},
      Field{"on_b", &PlanarPointOnLine::on_b, "m", "the point in the frame of B"},
      Field{"axis_a", &PlanarPointOnLine::axis_a, "", "the line in the frame of A"}};
  static constexpr std::array<RowInfo, 1> rows{{{"across", "translation across the line", "force"}}};

  template <class T> Vec<T, 1> phi(const auto& a, const auto& b, const T&) const {
    return Vec<T, 1>(a.direction(axis_a.across).dot(a.point(on_a) - b.point(on_b)));
  }
  static PlanarPointOnLine at_world(const Vec2<double>& point, const PlanarAxis& axis, const auto& a, const auto& b) {
    return {a.local_point(point), b.local_point(point), axis.seen_from(a)};
  }
  void rub(auto& a, auto& b, const Vec<double, 1>& lambda, const auto& grip) const {
    slide_along(a, on_a, axis_a.along, b, on_b, std::abs(lambda[0]), grip);
  }
};

}  // namespace mortise
