#pragma once
// Weld in the plane: a point and a direction of body A coincide with those of body B; the two move as one.
//
//   phi = (p_A - p_B,  x_A . n_B)        3 rows
//
// x is the unit direction, n is x turned left by a right angle.  Any length > 0 of the axes will do.
// Reaction: the force on A at the point in world axes, and the moment on A.
// Singular where the directions are perpendicular; also met where they are opposite.

#include <array>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>
#include <mortise/core/rigid_mass.h>

namespace mortise {

struct PlanarWeld {
  Vec2<double> on_a{0, 0};
  Vec2<double> on_b{0, 0};
  PlanarAxis axis_a{1, 0};
  PlanarAxis axis_b{1, 0};

  static constexpr Summary summary{"planar_weld", "two bodies of the plane move as one",
                                   "p_A - p_B = 0, x_A . n_B = 0"};
  static constexpr std::tuple fields{Field{"on_a", &PlanarWeld::on_a, "m", "the point in the frame of A"},
                                     Field{"on_b", &PlanarWeld::on_b, "m", "the point in the frame of B"},
                                     Field{"axis_a", &PlanarWeld::axis_a, "", "the direction in the frame of A"},
                                     Field{"axis_b", &PlanarWeld::axis_b, "", "the direction in the frame of B"}};
  static constexpr std::array<RowInfo, 3> rows{
      {{"x", "translation along x", "fx"}, {"y", "translation along y", "fy"}, {"turn", "rotation", "moment", "N m"}}};

  template <class T> Vec3<T> phi(const auto& a, const auto& b, const T&) const {
    const Vec2<T> d = a.point(on_a) - b.point(on_b);
    return {d[0], d[1], a.direction(axis_a.along).dot(b.direction(axis_b.across))};
  }
  // Two frames that coincide where the rows are met: the bodies can be taken as one.
  RigidFrame frame_a() const { return frame(on_a, axis_a); }
  RigidFrame frame_b() const { return frame(on_b, axis_b); }
  static PlanarWeld at_world(const Vec2<double>& point, const auto& a, const auto& b) {
    const PlanarAxis x(1, 0);
    return {a.local_point(point), b.local_point(point), x.seen_from(a), x.seen_from(b)};
  }

 private:
  static RigidFrame frame(const Vec2<double>& p, const PlanarAxis& x) {
    RigidFrame f{{p[0], p[1], 0}};
    f.axes.topLeftCorner<2, 2>() << x.along, x.across;
    return f;
  }
};

}  // namespace mortise
