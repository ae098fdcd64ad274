#pragma once
// Weld: a point and an axis with its directions across of body A coincide with those of body B; the two move as one.
//
//   phi = (p_A - p_B,  s)        6 rows
//
// s is the sine of the angle between the frames of the axes times the axis of that turn (misalignment, core/angles.h).
// A frame is x, y, z: z the unit axis, x and y its unit directions across (core/axis.h).  For axes given by the same
// three numbers the frames of A and B stay parallel.  Any length > 0 of the axes will do.
// Reaction: the force on A at the point in world axes, and the moments on A about x, y, z.
// Regular while the frames are turned by less than a right angle; after half a turn the rows are 0 too, and singular.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>
#include <mortise/core/rigid_mass.h>

namespace mortise {

struct Weld {
  Vec3<double> on_a{0, 0, 0};
  Vec3<double> on_b{0, 0, 0};
  Axis axis_a{0, 0, 1};
  Axis axis_b{0, 0, 1};

  static constexpr Aligned aligned = Aligned::frames;
  static constexpr Summary summary{"weld", "two bodies in space move as one",
                                   "p_A - p_B = 0, sin(angle) (axis of the turn) = 0"};
  static constexpr std::tuple fields{Field{"on_a", &Weld::on_a, "m", "the point in the frame of A"},
                                     Field{"on_b", &Weld::on_b, "m", "the point in the frame of B"},
                                     Field{"axis_a", &Weld::axis_a, "", "the axis in the frame of A"},
                                     Field{"axis_b", &Weld::axis_b, "", "the axis in the frame of B"}};
  static constexpr std::array<RowInfo, 6> rows{{{"x", "translation along x", "fx"},
                                                {"y", "translation along y", "fy"},
                                                {"z", "translation along z", "fz"},
                                                {"turn_1", "rotation about across_1", "m1", "N m"},
                                                {"turn_2", "rotation about across_2", "m2", "N m"},
                                                {"turn_3", "rotation about the axis", "m3", "N m"}}};

  template <class T> Vec<T, 6> phi(const auto& a, const auto& b, const T&) const {
    const Vec3<T> d = a.point(on_a) - b.point(on_b);
    const Vec3<T> turn = misalignment(a, axis_a, b, axis_b);
    return {d[0], d[1], d[2], turn[0], turn[1], turn[2]};
  }
  // Two frames that coincide where the rows are met: the bodies can be taken as one.
  RigidFrame frame_a() const { return frame(on_a, axis_a); }
  RigidFrame frame_b() const { return frame(on_b, axis_b); }
  // The moments are then about x, y, z of the world where the bodies stand.
  static Weld at_world(const Vec3<double>& point, const auto& a, const auto& b) {
    const Axis z({0, 0, 1}, {1, 0, 0});
    return {a.local_point(point), b.local_point(point), z.seen_from(a), z.seen_from(b)};
  }

 private:
  static RigidFrame frame(const Vec3<double>& p, const Axis& axis) {
    RigidFrame f{p, {}};
    f.axes << axis.across_1, axis.across_2, axis.along;
    return f;
  }
};

}  // namespace mortise
