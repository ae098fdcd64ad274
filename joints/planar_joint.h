#pragma once
// Planar joint: a plane of body A and a plane of body B coincide; B slides on it and turns about its normal.
//
//   phi = (z_A . (p_A - p_B),  z_A . x_B,  z_A . y_B)        3 rows
//
// z is the unit normal of a plane, x and y are unit directions in it.  Any length > 0 of the axes will do.
// Reaction: the force on A along z_A at p_B, and the moments on A about y_B and -x_B.
// Singular only where the two planes are perpendicular; also met where their normals are opposite.
// Friction acts at p_B: N = |f3|, also where the plane pulls; u is the velocity of p_B in the plane, seen from A.
// Moments and turning about the normal are neglected, as on a face that is small.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct PlanarJoint {
  Vec3<double> on_a{0, 0, 0};
  Vec3<double> on_b{0, 0, 0};
  Axis axis_a{0, 0, 1};
  Axis axis_b{0, 0, 1};

  static constexpr Aligned aligned = Aligned::axes;
  static constexpr Summary summary{"planar_joint", "two planes coincide",
                                   "z_A . (p_A - p_B) = 0, z_A . x_B = z_A . y_B = 0"};
  static constexpr std::tuple fields{Field{"on_a", &PlanarJoint::on_a, "m", "a point of the plane in the frame of A"},
                                     Field{"on_b", &PlanarJoint::on_b, "m", "a point of the plane in the frame of B"},
                                     Field{"axis_a", &PlanarJoint::axis_a, "", "the normal in the frame of A"},
                                     Field{"axis_b", &PlanarJoint::axis_b, "", "the normal in the frame of B"}};
  static constexpr std::array<RowInfo, 3> rows{{{"lift", "translation along the normal", "f3"},
                                                {"tilt_1", "rotation out of the plane", "m1", "N m"},
                                                {"tilt_2", "rotation out of the plane", "m2", "N m"}}};

  template <class T> Vec3<T> phi(const auto& a, const auto& b, const T&) const {
    const Vec3<T> z = a.direction(axis_a.along);
    return {z.dot(a.point(on_a) - b.point(on_b)), z.dot(b.direction(axis_b.across_1)),
            z.dot(b.direction(axis_b.across_2))};
  }
  static PlanarJoint at_world(const Vec3<double>& point, const Axis& axis, const auto& a, const auto& b) {
    return {a.local_point(point), b.local_point(point), axis.seen_from(a), axis.seen_from(b)};
  }
  void rub(auto& a, auto& b, const Vec3<double>& lambda, const auto& grip) const {
    slide_on(a, on_a, axis_a.along, b, on_b, std::abs(lambda[0]), grip);
  }
};

}  // namespace mortise
