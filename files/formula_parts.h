#pragma once
// Parts that a model file writes as formulas of coordinates, where C++ takes functors.

#include <tuple>

#include <mortise/files/formula.h>

namespace mortise::files {

// Joints: f(coordinates, t) = 0, and f(coordinates, velocities, t) = 0.
struct HolonomicFormula {
  Formula<0> f;
  static constexpr Summary summary{"holonomic", "an equation between coordinates", "f(q, t) = 0"};
  static constexpr std::tuple fields{
      Field{"f", &HolonomicFormula::f, "", "in the unit of the row; a.x is x of the first body"}};
  static constexpr std::array<RowInfo, 1> rows{{{"f", "a combination of its coordinates", "multiplier", ""}}};

  template <class... X> auto phi(const X&... bodies_and_t) const {
    using T = std::remove_cvref_t<std::tuple_element_t<sizeof...(X) - 1, std::tuple<X...>>>;
    return Vec<T, 1>(f(bodies_and_t...));
  }
};
struct NonholonomicFormula {
  Formula<0> f;
  static constexpr Summary summary{"nonholonomic", "an equation between coordinates and velocities", "f(q, v, t) = 0"};
  static constexpr std::tuple fields{
      Field{"f", &NonholonomicFormula::f, "", "in the unit of the row; a.x' is the rate of x of the first body"}};
  static constexpr std::array<RowInfo, 1> rows{{{"f", "a combination of its velocities", "multiplier", ""}}};

  template <class... X> auto psi(const X&... bodies_and_t) const {
    using T = std::remove_cvref_t<std::tuple_element_t<sizeof...(X) - 1, std::tuple<X...>>>;
    return Vec<T, 1>(f(bodies_and_t...));
  }
};

// Forces: from an energy V(coordinates, t), and on one coordinate of the first body.
struct PotentialFormula {
  Formula<0> f;
  static constexpr Summary summary{"potential", "forces from an energy of coordinates", "Q = -dV/dq"};
  static constexpr std::tuple fields{Field{"f", &PotentialFormula::f, "J", "V; a.x is x of the first body"}};

  template <class... X> auto potential(const X&... bodies_and_t) const { return f(bodies_and_t...); }
};
struct CoordinateForce {
  std::string coordinate;
  Formula<0> f;
  static constexpr Summary summary{"coordinate_force", "a force on one coordinate of the first body", "Q = f(q, v, t)"};
  static constexpr std::tuple fields{
      Field{"coordinate", &CoordinateForce::coordinate, "", "its name in the first body"},
      Field{"f", &CoordinateForce::f, "N or N m", "a.x is x, a.x' its rate of the first body"}};

  template <class A, class... X> void act(A& a, X&... others_and_t) const {
    a.apply_to(coordinate, f(a, others_and_t...));
  }
};

// Sensor: any number of coordinates and velocities.
struct MeasuredFormula {
  Formula<0> f;
  std::string unit;
  static constexpr Summary summary{"measured", "a formula of coordinates and velocities", "f(q, v, t)"};
  static constexpr std::tuple fields{
      Field{"f", &MeasuredFormula::f, "", "in the unit of the sensor; a.x is x of the first body"},
      Field{"unit", &MeasuredFormula::unit, "", "told with the numbers"}};

  template <class... X> auto measure_motion(const X&... bodies_and_t) const { return f(bodies_and_t...); }
};

}  // namespace mortise::files
