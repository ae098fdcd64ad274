#pragma once
// Prismatic joint: an axis of body A and an axis of body B coincide; B slides along it without turning.
//
//   phi = (x_A . d,  y_A . d,  s),   d = p_A - p_B        5 rows
//
// z is the unit axis, x and y are its unit directions across (core/axis.h), which the joint holds together as well: for
// axes given by the same three numbers the frames of A and B stay parallel.  s is the sine of the angle between these
// directions times the axis of that turn (misalignment, core/angles.h).  Any length > 0 of the axes will do.
// Reaction: the forces on A along x, y at p_B and the moments on A about x, y, z.
// Regular while the frames are turned by less than a right angle; after half a turn the rows are 0 too, and singular.
// Friction: N = |(f1, f2)|, u is the speed of p_B along the axis, seen from A.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct Prismatic {
  Vec3<double> on_a{0, 0, 0};
  Vec3<double> on_b{0, 0, 0};
  Axis axis_a{0, 0, 1};
  Axis axis_b{0, 0, 1};

  static constexpr Aligned aligned = Aligned::frames;
  static constexpr Summary summary{"prismatic", "B slides along an axis of A without turning",
                                   "x_A . d = y_A . d = 0 (d = p_A - p_B), sin(angle) (axis of the turn) = 0"};
  static constexpr std::tuple fields{Field{"on_a", &Prismatic::on_a, "m", "a point of the axis in the frame of A"},
                                     Field{"on_b", &Prismatic::on_b, "m", "a point of the axis in the frame of B"},
                                     Field{"axis_a", &Prismatic::axis_a, "", "the axis in the frame of A"},
                                     Field{"axis_b", &Prismatic::axis_b, "", "the axis in the frame of B"}};
  static constexpr std::array<RowInfo, 5> rows{{{"across_1", "translation across the axis", "f1"},
                                                {"across_2", "translation across the axis", "f2"},
                                                {"tilt_1", "rotation across the axis", "m1", "N m"},
                                                {"tilt_2", "rotation across the axis", "m2", "N m"},
                                                {"twist", "rotation about the axis", "m3", "N m"}}};

  template <class T> Vec<T, 5> phi(const auto& a, const auto& b, const T&) const {
    const Vec3<T> d = a.point(on_a) - b.point(on_b);
    const Vec3<T> turn = misalignment(a, axis_a, b, axis_b);
    return {a.direction(axis_a.across_1).dot(d), a.direction(axis_a.across_2).dot(d), turn[0], turn[1], turn[2]};
  }
  // Of B along the axis, seen from A.
  auto displacement(const auto& a, const auto& b) const {
    return a.direction(axis_a.along).dot(b.point(on_b) - a.point(on_a));
  }
  static Prismatic at_world(const Vec3<double>& point, const Axis& axis, const auto& a, const auto& b) {
    return {a.local_point(point), b.local_point(point), axis.seen_from(a), axis.seen_from(b)};
  }
  void rub(auto& a, auto& b, const Vec<double, 5>& lambda, const auto& grip) const {
    slide_along(a, on_a, axis_a.along, b, on_b, lambda.template head<2>().norm(), grip);
  }
};

}  // namespace mortise
