#pragma once
// States: variables of first order, x' = f, as a body without mass: controllers, actuators, filters, wear.
//
//   const auto integral = a.add("integral", States{.coordinates = {"e"}});
//   a.connect("law", Rate{[](const auto& s, const auto& cart, const auto& t) { return 1.0 - cart.coordinate("x"); }},
//             integral, cart);                                                                 (joints/rate.h)
//
// The row e' - f = 0 needs no reaction because nothing with mass answers to it: the others feel the states only through
// forces that read them, a.coordinate("e").
// The solver works with x'' = df/dt, so start with x' = f: set it, or call Solver::project_velocities.

#include <string>
#include <tuple>
#include <vector>

#include <mortise/core/fields.h>
#include <mortise/core/types.h>

namespace mortise {

struct States {
  std::vector<std::string> coordinates;

  static constexpr Summary summary{"states", "variables of first order, for controllers and actuators",
                                   "no mass and no force; Rate gives x' = f"};
  static constexpr std::tuple fields{Field{"coordinates", &States::coordinates, "", "their names"}};
  static constexpr bool constant_mass = true;

  template <class T> Mat<T, dynamic> mass_matrix(const Vec<T, dynamic>& q, const T&) const {
    return Mat<T, dynamic>::Zero(q.size(), q.size());
  }
  template <class T> Vec<T, dynamic> force(const Vec<T, dynamic>& q, const Vec<T, dynamic>&, const T&) const {
    return Vec<T, dynamic>::Zero(q.size());
  }
  void validate(const Label& label) const {
    label.require(!coordinates.empty(), "it has no coordinates", "name at least one");
  }
};

}  // namespace mortise
