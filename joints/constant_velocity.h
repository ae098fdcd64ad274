#pragma once
// Constant-velocity joint (Rzeppa): a point of body A and a point of body B coincide, and shaft A turns shaft B at the
// same speed at every angle between them.
//
//   phi = (p_A - p_B,  (x_A . y_B - y_A . x_B) / 2)        4 rows
//
// z is the unit axis of a shaft, x and y are its unit directions across (core/axis.h).  The last row says that B is
// turned against A about an axis across both shafts, so (w_A - w_B) . (z_A + z_B) = 0.  Any length > 0 of the axes will
// do.
// Reaction: the force on A at the joint in world axes, and the moment lambda (z_A + z_B) / 2 on A.
// Singular only where the shafts are folded onto each other, z_A = -z_B.

#include <array>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct ConstantVelocity {
  Vec3<double> on_a{0, 0, 0};
  Vec3<double> on_b{0, 0, 0};
  Axis axis_a{0, 0, 1};
  Axis axis_b{0, 0, 1};

  static constexpr Summary summary{"constant_velocity", "two points coincide, two shafts turn at the same speed",
                                   "p_A - p_B = 0, (x_A . y_B - y_A . x_B) / 2 = 0"};
  static constexpr std::tuple fields{Field{"on_a", &ConstantVelocity::on_a, "m", "the centre in the frame of A"},
                                     Field{"on_b", &ConstantVelocity::on_b, "m", "the centre in the frame of B"},
                                     Field{"axis_a", &ConstantVelocity::axis_a, "", "the shaft in the frame of A"},
                                     Field{"axis_b", &ConstantVelocity::axis_b, "", "the shaft in the frame of B"}};
  static constexpr std::array<RowInfo, 4> rows{{{"x", "translation along x", "fx"},
                                                {"y", "translation along y", "fy"},
                                                {"z", "translation along z", "fz"},
                                                {"twist", "turning of one shaft alone", "moment", "N m"}}};

  template <class T> Vec<T, 4> phi(const auto& a, const auto& b, const T&) const {
    const Vec3<T> d = a.point(on_a) - b.point(on_b);
    return {d[0], d[1], d[2],
            0.5 * (a.direction(axis_a.across_1).dot(b.direction(axis_b.across_2)) -
                   a.direction(axis_a.across_2).dot(b.direction(axis_b.across_1)))};
  }
  static ConstantVelocity at_world(const Vec3<double>& point, const Axis& shaft_a, const Axis& shaft_b, const auto& a,
                                   const auto& b) {
    constexpr double round_off = 1e-12;
    const Vec3<double> normal = shaft_a.along.cross(shaft_b.along);
    const Vec3<double> x = normal.norm() > round_off ? normal : shaft_a.across_1;
    return {a.local_point(point), b.local_point(point), Axis(shaft_a.along, x).seen_from(a),
            Axis(shaft_b.along, x).seen_from(b)};
  }
};

}  // namespace mortise
