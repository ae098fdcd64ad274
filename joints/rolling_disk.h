#pragma once
// Rolling disk: a thin disk, body B, rolls without slip on a plane of body A.
//
//   phi = n . (p_A - p_B) + R |n x e|                                   contact
//   psi = t_k . (velocity of A - velocity of B at the contact), k = 1, 2   no slip        1 + 2 rows
//
// n is the unit normal of the plane, on the side of the disk; t_1, t_2 are unit directions in the plane; e is the unit
// axis of the disk.  The contact is at p_B - R m, m the unit direction of n - (n . e) e.  Any length > 0 of the axes
// will do.  Reaction: the force on A at the contact along n (negative where the disk presses), t_1, t_2.
// Singular where the disk lies flat, e parallel to n.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>
#include <mortise/core/rotation.h>

namespace mortise {

struct RollingDisk {
  double radius = 1;
  Vec3<double> on_a{0, 0, 0};
  Vec3<double> on_b{0, 0, 0};
  Axis axis_a{0, 0, 1};
  Axis axis_b{0, 1, 0};

  static constexpr Summary summary{"rolling_disk", "a thin disk B rolls on a plane of A",
                                   "n . (p_A - p_B) + R |n x e| = 0, no slip at the contact"};
  static constexpr std::tuple fields{
      Field{"radius", &RollingDisk::radius, "m", "of the disk", Range::positive},
      Field{"on_a", &RollingDisk::on_a, "m", "a point of the plane in the frame of A"},
      Field{"on_b", &RollingDisk::on_b, "m", "the centre of the disk in the frame of B"},
      Field{"axis_a", &RollingDisk::axis_a, "", "the normal of the plane in the frame of A"},
      Field{"axis_b", &RollingDisk::axis_b, "", "the axis of the disk in the frame of B"}};
  static constexpr std::array<RowInfo, 3> rows{{{"contact", "translation along the normal", "normal force"},
                                                {"slip_1", "sliding in the plane", "friction"},
                                                {"slip_2", "sliding in the plane", "friction"}}};

  template <class T> Vec<T, 1> phi(const auto& a, const auto& b, const T&) const {
    const Vec3<T> n = a.direction(axis_a.along), e = b.direction(axis_b.along);
    return Vec<T, 1>(n.dot(a.point(on_a) - b.point(on_b)) + radius * cross<T>(n, e).norm());
  }
  template <class T> Vec2<T> psi(const auto& a, const auto& b, const T&) const {
    const Vec3<T> n = a.direction(axis_a.along), e = b.direction(axis_b.along), m = n - n.dot(e) * e;
    const Vec3<T> from_b = T(-radius) / m.norm() * m;
    const Vec3<T> from_a = b.point(on_b) + from_b - a.point(on_a);
    const Vec3<T> slip = a.point_velocity(on_a) + cross<T>(a.angular_velocity(), from_a) - b.point_velocity(on_b) -
                         cross<T>(b.angular_velocity(), from_b);
    return {a.direction(axis_a.across_1).dot(slip), a.direction(axis_a.across_2).dot(slip)};
  }
};

}  // namespace mortise
