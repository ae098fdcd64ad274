#pragma once
// Point on a plane: a point of body B stays on a plane of body A.
//
//   phi = z_A . (p_A - p_B)        1 row; reaction: the force on A along z_A at p_B
//
// z_A is the unit normal of the plane.  Any length > 0 of the axis will do.
// Friction: N = |force|, also where the plane pulls; u is the velocity of p_B in the plane, seen from A.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct PointOnPlane {
  Vec3<double> on_a{0, 0, 0};
  Vec3<double> on_b{0, 0, 0};
  Axis axis_a{0, 0, 1};

  static constexpr Summary summary{"point_on_plane", "a point of B stays on a plane of A", "z_A . (p_A - p_B) = 0"};
  static constexpr std::tuple fields{Field{"on_a", &PointOnPlane::on_a, "m", "a point of the plane in the frame of A"},
                                     Field{"on_b", &PointOnPlane::on_b, "m", "the point in the frame of B"},
                                     Field{"axis_a", &PointOnPlane::axis_a, "", "the normal in the frame of A"}};
  static constexpr std::array<RowInfo, 1> rows{{{"lift", "translation along the normal", "force"}}};

  template <class T> Vec<T, 1> phi(const auto& a, const auto& b, const T&) const {
    return Vec<T, 1>(a.direction(axis_a.along).dot(a.point(on_a) - b.point(on_b)));
  }
  static PointOnPlane at_world(const Vec3<double>& point, const Axis& normal, const auto& a, const auto& b) {
    return {a.local_point(point), b.local_point(point), normal.seen_from(a)};
  }
  void rub(auto& a, auto& b, const Vec<double, 1>& lambda, const auto& grip) const {
    slide_on(a, on_a, axis_a.along, b, on_b, std::abs(lambda[0]), grip);
  }
};

}  // namespace mortise
