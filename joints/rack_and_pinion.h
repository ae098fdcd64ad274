#pragma once
// Rack and pinion in space: the pinion A turns and the rack B slides on a carrier C, and their teeth mesh.
//
//   phi = R angle_A - s - offset,   s = x_C . (p_B - p_C)        1 row
//
// angle_A is that of A against C about an axis they share, taken on the turn that is nearest to (s + offset) / R, so
// that it counts turns.  x_C is the unit direction of the rack.  Any length > 0 of the axes will do.  A and B are held
// to C by a revolute and a prismatic joint.  Reaction: lambda is the force between the teeth: the moment R lambda acts
// on A about its axis, the force -lambda on B along the rack.  In the plane: RollingWheel.

#include <array>

#include <mortise/core/angles.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct RackAndPinion {
  double radius = 1;
  Axis axis_a{0, 0, 1};
  Axis carrier_a{0, 0, 1};
  Axis carrier_b{1, 0, 0};
  Vec3<double> on_b{0, 0, 0};
  Vec3<double> on_c{0, 0, 0};
  double offset = 0;

  static constexpr Summary summary{"rack_and_pinion", "a pinion A and a rack B, on a carrier C, mesh",
                                   "R angle_A - x_C . (p_B - p_C) - offset = 0"};
  static constexpr std::tuple fields{
      Field{"radius", &RackAndPinion::radius, "m", "of the pinion; < 0: the rack moves back", Range::nonzero},
      Field{"axis_a", &RackAndPinion::axis_a, "", "the axis of the pinion in the frame of A"},
      Field{"carrier_a", &RackAndPinion::carrier_a, "", "the axis of the pinion in the frame of C"},
      Field{"carrier_b", &RackAndPinion::carrier_b, "", "the direction of the rack in the frame of C"},
      Field{"on_b", &RackAndPinion::on_b, "m", "a point of the rack in the frame of B"},
      Field{"on_c", &RackAndPinion::on_c, "m", "the point its way is counted from, in the frame of C"},
      Field{"offset", &RackAndPinion::offset, "m", "the difference at the start"}};
  static constexpr std::array<RowInfo, 1> rows{{{"mesh", "sliding of the rack alone", "tooth force"}}};

  template <class T> Vec<T, 1> phi(const auto& a, const auto& b, const auto& c, const T&) const {
    const T way = c.direction(carrier_b.along).dot(b.point(on_b) - c.point(on_c)) + offset;
    return Vec<T, 1>(radius * nearest_turn(angle_about(c, carrier_a, a, axis_a), value(way) / radius) - way);
  }
  // As the bodies stand; `point` is any point of the rack.
  static RackAndPinion at_world(const Axis& pinion, const Axis& rack, const Vec3<double>& point, double radius,
                                const auto& a, const auto& b, const auto& c) {
    return {
        radius, pinion.seen_from(a), pinion.seen_from(c), rack.seen_from(c), b.local_point(point), c.local_point(point),
        0};
  }
};

}  // namespace mortise
