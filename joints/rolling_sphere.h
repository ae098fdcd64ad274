#pragma once
// Rolling sphere: a sphere, body B, rolls without slip on a plane of body A, which may be a turntable.
//
//   phi = n . (p_A - p_B) + R                                                  contact
//   psi = t_k . (velocity of the plane - velocity of B at the contact), k = 1, 2   no slip        1 + 2 rows
//
// n is the unit normal of the plane, on the side of the sphere; t_1, t_2 are unit directions in the plane.  The plane
// turns against A by `rate` about the normal through p_A.  A turntable with a motion of its own is a body A that is
// driven. The sphere may spin about n.  Any length > 0 of the axis will do.
// Reaction: the force on A at the contact along n (negative where the sphere presses), t_1, t_2.  Regular everywhere.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>
#include <mortise/core/rotation.h>

namespace mortise {

struct RollingSphere {
  double radius = 1;
  Vec3<double> on_a{0, 0, 0};
  Vec3<double> on_b{0, 0, 0};
  Axis axis_a{0, 0, 1};
  double rate = 0;

  static constexpr Summary summary{"rolling_sphere", "a sphere B rolls on a plane of A, which may turn",
                                   "n . (p_A - p_B) + R = 0, no slip at the contact"};
  static constexpr std::tuple fields{
      Field{"radius", &RollingSphere::radius, "m", "of the sphere", Range::positive},
      Field{"on_a", &RollingSphere::on_a, "m", "the point of the plane it turns about, in the frame of A"},
      Field{"on_b", &RollingSphere::on_b, "m", "the centre of the sphere in the frame of B"},
      Field{"axis_a", &RollingSphere::axis_a, "", "the normal of the plane in the frame of A"},
      Field{"rate", &RollingSphere::rate, "rad/s", "at which the plane turns against A"}};
  static constexpr std::array<RowInfo, 3> rows{{{"contact", "translation along the normal", "normal force"},
                                                {"slip_1", "sliding in the plane", "friction"},
                                                {"slip_2", "sliding in the plane", "friction"}}};

  template <class T> Vec<T, 1> phi(const auto& a, const auto& b, const T&) const {
    return Vec<T, 1>(a.direction(axis_a.along).dot(a.point(on_a) - b.point(on_b)) + radius);
  }
  template <class T> Vec2<T> psi(const auto& a, const auto& b, const T&) const {
    const Vec3<T> n = a.direction(axis_a.along), from_b = T(-radius) * n;
    const Vec3<T> from_a = b.point(on_b) + from_b - a.point(on_a), w = a.angular_velocity() + T(rate) * n;
    const Vec3<T> slip =
        a.point_velocity(on_a) + cross<T>(w, from_a) - b.point_velocity(on_b) - cross<T>(b.angular_velocity(), from_b);
    return {a.direction(axis_a.across_1).dot(slip), a.direction(axis_a.across_2).dot(slip)};
  }
};

}  // namespace mortise
