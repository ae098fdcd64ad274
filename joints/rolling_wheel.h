#pragma once
// Rolling wheel in the plane: a wheel, body B, rolls without slip on a line of body A.  Also a rack and its pinion.
//
//   phi = (n_A . (p_A - p_B) + R,  x_A . (p_A - p_B) - R (theta_B - theta_A) + offset)        2 rows, holonomic
//
// x_A is the unit direction of the line; the wheel is on its left, where n_A points.  Any length > 0 of the axis will
// do.  Reaction: the force on A at the contact, along n_A (negative where the wheel presses) and along x_A (friction).
// A and B are planar bodies with a coordinate theta; A may be the ground.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct RollingWheel {
  Vec2<double> on_a{0, 0};
  Vec2<double> on_b{0, 0};
  PlanarAxis axis_a{1, 0};
  double radius = 1;
  double offset = 0;

  static constexpr Summary summary{"rolling_wheel", "a wheel B rolls on a line of A, in the plane",
                                   "n_A . (p_A - p_B) + R = 0, x_A . (p_A - p_B) - R (theta_B - theta_A) + offset = 0"};
  static constexpr std::tuple fields{
      Field{"on_a", &RollingWheel::on_a, "m", "a point of the line in the frame of A"},
      Field{"on_b", &RollingWheel::on_b, "m", "the centre of the wheel in the frame of B"},
      Field{"axis_a", &RollingWheel::axis_a, "", "the line in the frame of A"},
      Field{"radius", &RollingWheel::radius, "m", "of the wheel", Range::positive},
      Field{"offset", &RollingWheel::offset, "m", "way of the wheel from on_a where both angles are the same"}};
  static constexpr std::array<RowInfo, 2> rows{
      {{"contact", "translation across the line", "normal force"}, {"slip", "sliding along the line", "friction"}}};

  template <class T> Vec2<T> phi(const auto& a, const auto& b, const T&) const {
    const Vec2<T> d = a.point(on_a) - b.point(on_b);
    const T angle = planar_angle<T>(b) - planar_angle<T>(a);
    return {a.direction(axis_a.across).dot(d) + radius, a.direction(axis_a.along).dot(d) - radius * angle + offset};
  }
  // The wheel has its centre at `centre` and touches the line on the right of `axis`.
  static RollingWheel at_world(const Vec2<double>& centre, const PlanarAxis& axis, double radius, const auto& a,
                               const auto& b) {
    return {a.local_point(Vec2<double>(centre - radius * axis.across)), b.local_point(centre), axis.seen_from(a),
            radius, radius * (planar_angle<double>(b) - planar_angle<double>(a))};
  }
};

}  // namespace mortise
