#pragma once
// Angular velocity sensor: that of body B against body A in space, in world axes or in those of B, as a gyroscope on B
// tells it.
//
//   w = w_B - w_A        its rate is that of the components

#include <array>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct AngularVelocitySensor {
  bool in_body_axes = false;

  static constexpr int dimension = 3;
  static constexpr Summary summary{"angular_velocity_sensor", "angular velocity of B against A", "w = w_B - w_A"};
  static constexpr std::tuple fields{Field{"in_body_axes", &AngularVelocitySensor::in_body_axes, "",
                                           "components along the axes of B; else in world axes"}};
  static constexpr std::array<QuantityInfo, 3> quantities{{{"x", "rad/s"}, {"y", "rad/s"}, {"z", "rad/s"}}};

  template <class T> Vec<T, 3> measure_motion(const auto& a, const auto& b, const T&) const {
    const Vec<T, 3> w = b.angular_velocity() - a.angular_velocity();
    if (!in_body_axes) return w;
    Vec<T, 3> out;
    for (int i = 0; i < 3; ++i) out[i] = b.direction(Vec3<double>(Vec3<double>::Unit(i))).dot(w);
    return out;
  }
};

}  // namespace mortise
