#pragma once
// Knife edge in space: a point of a body does not move along a direction fixed in the body, the normal of a blade or
// the axle of a narrow wheel.
//
//   psi = n . p'        1 row; reaction: the force on the body along n at the point
//
// n is the unit direction of the normal.  Any length > 0 of it will do.

#include <array>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct SpatialKnifeEdge {
  Vec3<double> point{0, 0, 0};
  Axis normal{0, 1, 0};

  static constexpr Summary summary{"spatial_knife_edge", "a point does not move along the normal of a blade",
                                   "n . p' = 0"};
  static constexpr std::tuple fields{
      Field{"point", &SpatialKnifeEdge::point, "m", "of the blade in the frame of the body"},
      Field{"normal", &SpatialKnifeEdge::normal, "", "of the blade in the frame of the body"}};
  static constexpr std::array<RowInfo, 1> rows{{{"across", "sliding across the blade", "force"}}};

  template <class T> Vec<T, 1> psi(const auto& a, const T&) const {
    return Vec<T, 1>(a.direction(normal.along).dot(a.point_velocity(point)));
  }
};

}  // namespace mortise
