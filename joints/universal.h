#pragma once
// Universal joint (Cardan, Hooke): a point of body A and a point of body B coincide, and an axis of A stays
// perpendicular to an axis of B: the two arms of the cross.
//
//   phi = (p_A - p_B,  e_A . e_B)        4 rows
//
// e is the unit direction of an arm.  Any length > 0 of the axes will do.
// Reaction: the force on A at the joint in world axes, and the moment on A about e_A x e_B.
// Regular at every angle between the shafts.

#include <array>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct Universal {
  Vec3<double> on_a{0, 0, 0};
  Vec3<double> on_b{0, 0, 0};
  Axis axis_a{1, 0, 0};
  Axis axis_b{0, 1, 0};

  static constexpr Summary summary{"universal", "two points coincide, an axis of A is perpendicular to an axis of B",
                                   "p_A - p_B = 0, e_A . e_B = 0"};
  static constexpr std::tuple fields{Field{"on_a", &Universal::on_a, "m", "the centre in the frame of A"},
                                     Field{"on_b", &Universal::on_b, "m", "the centre in the frame of B"},
                                     Field{"axis_a", &Universal::axis_a, "", "the arm in the frame of A"},
                                     Field{"axis_b", &Universal::axis_b, "", "the arm in the frame of B"}};
  static constexpr std::array<RowInfo, 4> rows{{{"x", "translation along x", "fx"},
                                                {"y", "translation along y", "fy"},
                                                {"z", "translation along z", "fz"},
                                                {"twist", "rotation about the normal of the cross", "moment", "N m"}}};

  template <class T> Vec<T, 4> phi(const auto& a, const auto& b, const T&) const {
    const Vec3<T> d = a.point(on_a) - b.point(on_b);
    return {d[0], d[1], d[2], a.direction(axis_a.along).dot(b.direction(axis_b.along))};
  }
  static Universal at_world(const Vec3<double>& point, const Axis& arm_a, const Axis& arm_b, const auto& a,
                            const auto& b) {
    return {a.local_point(point), b.local_point(point), arm_a.seen_from(a), arm_b.seen_from(b)};
  }
};

}  // namespace mortise
