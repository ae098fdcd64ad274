#pragma once
// Screw joint: an axis of body A and an axis of body B coincide; B advances along it by one pitch per turn.
//
//   phi = (x_B . d,  y_B . d,  z_A . x_B,  z_A . y_B,  h angle - displacement)        5 rows
//   d = p_A - p_B,   displacement = -z_A . d,   h = pitch / 2 pi
//
// The angle is taken on the turn that is nearest to displacement / h, so that it counts turns.  z is the unit axis, x
// and y are its unit directions across.  Any length > 0 of the axes will do; a pitch < 0 is a left-handed thread.
// Reaction: the forces on A along x_B, y_B at p_A, the moments on A about y_B and -x_B, and the force lambda on A along
// the axis, with the moment -h lambda about it.  Singular only where the two axes are perpendicular; also met where
// they are opposite.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct Screw {
  Vec3<double> on_a{0, 0, 0};
  Vec3<double> on_b{0, 0, 0};
  Axis axis_a{0, 0, 1};
  Axis axis_b{0, 0, 1};
  double pitch = 1;

  static constexpr Aligned aligned = Aligned::axes;
  static constexpr Summary summary{"screw", "two axes coincide; B advances by one pitch per turn",
                                   "x_B . d = y_B . d = 0 (d = p_A - p_B), z_A . x_B = z_A . y_B = 0, "
                                   "pitch angle / 2 pi - displacement = 0"};
  static constexpr std::tuple fields{Field{"on_a", &Screw::on_a, "m", "a point of the axis in the frame of A"},
                                     Field{"on_b", &Screw::on_b, "m", "a point of the axis in the frame of B"},
                                     Field{"axis_a", &Screw::axis_a, "", "the axis in the frame of A"},
                                     Field{"axis_b", &Screw::axis_b, "", "the axis in the frame of B"},
                                     Field{"pitch", &Screw::pitch, "m", "advance of B per turn", Range::nonzero}};
  static constexpr std::array<RowInfo, 5> rows{{{"across_1", "translation across the axis", "f1"},
                                                {"across_2", "translation across the axis", "f2"},
                                                {"tilt_1", "rotation across the axis", "m1", "N m"},
                                                {"tilt_2", "rotation across the axis", "m2", "N m"},
                                                {"thread", "translation along the axis without turning", "f3"}}};

  template <class T> Vec<T, 5> phi(const auto& a, const auto& b, const T&) const {
    const Vec3<T> d = a.point(on_a) - b.point(on_b), z = a.direction(axis_a.along);
    const Vec3<T> x = b.direction(axis_b.across_1), y = b.direction(axis_b.across_2);
    return {x.dot(d), y.dot(d), z.dot(x), z.dot(y), advance() * angle(a, b) + z.dot(d)};
  }
  // Of B about the axis, seen from A, with all turns.
  static constexpr bool counts_turns = true;
  auto angle(const auto& a, const auto& b) const {
    return nearest_turn(angle_about(a, axis_a, b, axis_b), value(displacement(a, b)) / advance());
  }
  // Of B along the axis, seen from A.
  auto displacement(const auto& a, const auto& b) const {
    return a.direction(axis_a.along).dot(b.point(on_b) - a.point(on_a));
  }
  double advance() const { return pitch / (2 * std::numbers::pi); }  // [m/rad]

  static Screw at_world(const Vec3<double>& point, const Axis& axis, double pitch, const auto& a, const auto& b) {
    return {a.local_point(point), b.local_point(point), axis.seen_from(a), axis.seen_from(b), pitch};
  }
};

}  // namespace mortise
