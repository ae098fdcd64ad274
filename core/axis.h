#pragma once
// Axis: a direction in space, made unit length once, with two unit directions across it.
//
//   Axis z{0, 0, 2};      z.along = (0, 0, 1); z.across_1, z.across_2 and z.along are right-handed
//
// Any length > 0 will do; one of length 0 is refused when the part that holds it is added (fields.h).

#include <mortise/core/types.h>

namespace mortise {

struct Axis {
  Vec3<double> along, across_1, across_2;

  Axis() : Axis(0, 0, 1) {}
  Axis(double x, double y, double z) : Axis(Vec3<double>(x, y, z)) {}
  Axis(const Vec3<double>& d) : along(d.stableNormalized()) {
    across_1 = along.unitOrthogonal();
    across_2 = along.cross(across_1);
  }
};

}  // namespace mortise
