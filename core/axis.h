#pragma once
// Axis: a direction in space, made unit length once, with two unit directions across it.
//
//   Axis z{0, 0, 2};      z.along = (0, 0, 1); z.across_1, z.across_2 and z.along are right-handed
//
// Any length > 0 will do; one of length 0 is refused when the part that holds it is added (fields.h).
// An angle about an axis is counted from across_1 of one body to across_1 of the other.  Two axes of the same three
// numbers have the same across_1; who needs another one gives it as the second direction.

#include <mortise/core/types.h>

namespace mortise {

struct Axis {
  Vec3<double> along, across_1, across_2;

  Axis();
  Axis(double x, double y, double z);
  Axis(const Vec3<double>& d);
  Axis(const Vec3<double>& d, const Vec3<double>& towards);  // across_1 is what `towards` has across d

  // This axis of the world in the frame of a body at its place.
  Axis seen_from(const auto& body) const { return {body.local_direction(along), body.local_direction(across_1)}; }
};

// What a joint with axis_a and axis_b holds together (`static constexpr Aligned aligned`): the two axes, or the axes
// with their directions across.
enum class Aligned { axes, frames };

// The same in the plane: across is along, turned left by a right angle.
struct PlanarAxis {
  Vec2<double> along, across;

  PlanarAxis();
  PlanarAxis(double x, double y);
  PlanarAxis(const Vec2<double>& d);

  PlanarAxis seen_from(const auto& body) const { return {body.local_direction(along)}; }
};

}  // namespace mortise
