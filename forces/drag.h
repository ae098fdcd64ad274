#pragma once
// Drag: aerodynamic resistance, quadratic in the speed of a point against the wind, in D dimensions.
//
//   f = -factor |u| u,   u = v_p - wind,   factor = rho c_d A / 2
//
// At u = 0 the force and its slopes are 0.  In still air, input = -factor |u|^3.
// Catalogue: Drag<3>

#include <cmath>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

template <int D> struct Drag {
  Vec<double, D> at = Vec<double, D>::Zero();
  double factor = 0;
  Vec<double, D> wind = Vec<double, D>::Zero();

  static constexpr Summary summary{"drag", "resistance of the air at a point", "f = -factor |u| u, u = v_p - wind"};
  static constexpr std::tuple fields{
      Field{"at", &Drag::at, "m", "the point in the frame of the body"},
      Field{"factor", &Drag::factor, "kg/m", "density c_d area / 2; 0 is allowed", Range::not_negative},
      Field{"wind", &Drag::wind, "m/s", "velocity of the air in the world"}};

  template <class T> void act(auto& body, const T&) const {
    using std::sqrt;
    const Vec<T, D> u = body.point_velocity(at) - wind.template cast<T>();
    const T u2 = u.squaredNorm();
    if (u2 > T(0.0)) body.apply_force(at, Vec<T, D>(T(-factor) * sqrt(u2) * u));
  }
};

}  // namespace mortise
