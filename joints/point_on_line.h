#pragma once
// Point on a line in space: a point of body B stays on a line of body A.
//
//   phi = (x_A . (p_A - p_B),  y_A . (p_A - p_B))        2 rows; reaction: the forces on A along x_A, y_A at p_B
//
// x_A, y_A are unit directions across the line (core/axis.h).  Any length > 0 of the axis will do.
// Friction: N = |(f1, f2)|, u is the speed of p_B along the line, seen from A.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct PointOnLine {
  Vec3<double> on_a{0, 0, 0};
  Vec3<double> on_b{0, 0, 0};
  Axis axis_a{0, 0, 1};

  static constexpr Summary summary{"point_on_line", "a point of B stays on a line of A, in space",
                                   "x_A . (p_A - p_B) = y_A . (p_A - p_B) = 0"};
  static constexpr std::tuple fields{Field{"on_a", &PointOnLine::on_a, "m", "a point of the line in the frame of A"},
                                     Field{"on_b", &PointOnLine::on_b, "m", "the point in the frame of B"},
                                     Field{"axis_a", &PointOnLine::axis_a, "", "the line in the frame of A"}};
  static constexpr std::array<RowInfo, 2> rows{
      {{"across_1", "translation across the line", "f1"}, {"across_2", "translation across the line", "f2"}}};

  template <class T> Vec2<T> phi(const auto& a, const auto& b, const T&) const {
    const Vec3<T> d = a.point(on_a) - b.point(on_b);
    return {a.direction(axis_a.across_1).dot(d), a.direction(axis_a.across_2).dot(d)};
  }
  static PointOnLine at_world(const Vec3<double>& point, const Axis& axis, const auto& a, const auto& b) {
    return {a.local_point(point), b.local_point(point), axis.seen_from(a)};
  }
  void rub(auto& a, auto& b, const Vec2<double>& lambda, const auto& grip) const {
    slide_along(a, on_a, axis_a.along, b, on_b, lambda.norm(), grip);
  }
};

}  // namespace mortise
