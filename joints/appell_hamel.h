#pragma once
// Constraint of Appell and Hamel, nonlinear in velocity: a point rises at a fixed share of its speed across an axis.
//
//   psi = ratio sqrt(u_1^2 + u_2^2) - w        1 row
//
// u_1, u_2 are the components of its velocity across a fixed axis of the world, w that along it.  Any length > 0 of the
// axis will do.  Reaction: the force on the point is lambda (ratio (direction of u) - axis).
// Singular at rest: where u = 0 the direction of the force is not defined.

#include <array>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct AppellHamel {
  Vec3<double> point{0, 0, 0};
  Axis axis{0, 0, 1};
  double ratio = 1;

  static constexpr Summary summary{"appell_hamel", "a point rises at a fixed share of its speed across an axis",
                                   "ratio sqrt(u_1^2 + u_2^2) - w = 0"};
  static constexpr std::tuple fields{Field{"point", &AppellHamel::point, "m", "in the frame of the body"},
                                     Field{"axis", &AppellHamel::axis, "", "in world axes"},
                                     Field{"ratio", &AppellHamel::ratio, "", "w / |u|"}};
  static constexpr std::array<RowInfo, 1> rows{{{"rise", "rising on its own", "force"}}};

  template <class T> Vec<T, 1> psi(const auto& a, const T&) const {
    const Vec3<T> v = a.point_velocity(point);
    const Vec2<T> u(axis.across_1.cast<T>().dot(v), axis.across_2.cast<T>().dot(v));
    return Vec<T, 1>(ratio * u.norm() - axis.along.cast<T>().dot(v));
  }
};

}  // namespace mortise
