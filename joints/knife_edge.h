#pragma once
// Knife edge in the plane (skate, sleigh): a point of a body moves only along a blade fixed in the body.
//
//   psi = n . p'        1 row; reaction: the force on the body along n at the point
//
// n is the unit direction of the blade, turned left by a right angle.  Any length > 0 of the axis will do.

#include <array>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct KnifeEdge {
  Vec2<double> point{0, 0};
  PlanarAxis axis{1, 0};

  static constexpr Summary summary{"knife_edge", "a point moves only along a blade, in the plane", "n . p' = 0"};
  static constexpr std::tuple fields{Field{"point", &KnifeEdge::point, "m", "of the blade in the frame of the body"},
                                     Field{"axis", &KnifeEdge::axis, "", "the blade in the frame of the body"}};
  static constexpr std::array<RowInfo, 1> rows{{{"across", "sliding across the blade", "force"}}};

  template <class T> Vec<T, 1> psi(const auto& a, const T&) const {
    return Vec<T, 1>(a.direction(axis.across).dot(a.point_velocity(point)));
  }
};

}  // namespace mortise
