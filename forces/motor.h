#pragma once
// Motor: a torque about an axis on body B, and the opposite on body A, as a function of angle, speed and time.
//
//   torque on B = torque(angle, angle', t),   input = torque angle'
//
//   Motor{.about = PlanarTurn{}, .torque = [](const auto& angle, const auto& speed, const auto& t) {
//           return 5.0 - 0.1 * speed; }}
//
// angle and angle' are those of forces/turning.h; the functor is a template on the scalar.
// Catalogue: Motor<AxisTurn>

#include <mortise/core/functor.h>
#include <mortise/forces/turning.h>

namespace mortise {

template <class Turn, class F = TorqueLaw> struct Motor {
  Turn about;
  F torque;

  static constexpr Summary summary{"motor", "a torque between two bodies", "torque on B = torque(angle, angle', t)"};
  static constexpr std::tuple fields{
      Field{"about", &Motor::about, "", "PlanarTurn, or AxisTurn with axis_a and axis_b"},
      Field{"torque", &Motor::torque, "N m", "of angle, speed and time, a template on the scalar"}};

  static constexpr std::array<QuantityInfo, 1> quantities{{{"torque", "N m"}}};

  template <class T> T measure_motion(const auto& a, const auto& b, const T& t) const {
    return torque(T(about.angle(a, b, t)), T(about.rate(a, b, t)), t);
  }
  template <class T> void act(auto& a, auto& b, const T& t) const { about.apply(a, b, T(measure_motion(a, b, t))); }
  void validate(const Label& label) const {
    require_fields(label, about);
    if constexpr (std::is_same_v<F, TorqueLaw>)
      label.require(static_cast<bool>(torque), "it has no torque", "give .torque, a function of angle, speed and time");
  }
};
template <class Turn, class F> Motor(Turn, F) -> Motor<Turn>;  // compiled into the library

}  // namespace mortise
