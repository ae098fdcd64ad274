#pragma once
// Applied forces and torques: given functions of one body's state and of time, without a reaction on another body.
//
//   AppliedForce{.at = Vec2<double>(1, 0), .force = [](const auto& body, const auto& t) { return vec(0.0, 3.0 * t); }}
//   AppliedTorque{.torque = [](const auto& body, const auto& t) { return -0.2 * body.angular_velocity(); }}
//
// Q = (dp/dq)'f  and  Q = (dw/dv)'m.  Functors see points, directions, coordinates and velocities of the body and are
// templates on the scalar.  A force is in world axes, or turns with the body (in_body_axes).  A torque is a number in
// the plane and a vector in world axes in space.
// Catalogue: AppliedForce<3, Given>, AppliedTorque<Given>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

template <int D, class F> struct AppliedForce {
  Vec<double, D> at = Vec<double, D>::Zero();
  F force;
  bool in_body_axes = false;

  static constexpr Summary summary{"applied_force", "a given force at a point of a body",
                                   "Q = (dp/dq)' force(body, t)"};
  static constexpr std::tuple fields{
      Field{"at", &AppliedForce::at, "m", "the point in the frame of the body"},
      Field{"force", &AppliedForce::force, "N", "of the body and t, a template on the scalar"},
      Field{"in_body_axes", &AppliedForce::in_body_axes, "", "the force turns with the body; else in world axes"}};

  template <class T> void act(auto& body, const T& t) const {
    const auto f = force(body, t);
    static_assert(std::remove_cvref_t<decltype(f)>::RowsAtCompileTime == D, "the force has as many components as `at`");
    Vec<T, D> world = Vec<T, D>::Zero();
    for (int k = 0; k < D; ++k) {
      if (in_body_axes)
        world += T(f[k]) * body.direction(Vec<double, D>(Vec<double, D>::Unit(k)));
      else
        world[k] = T(f[k]);
    }
    body.apply_force(at, world);
  }
};

template <class F> struct AppliedTorque {
  F torque;

  static constexpr Summary summary{"applied_torque", "a given torque on a body", "Q = (dw/dv)' torque(body, t)"};
  static constexpr std::tuple fields{
      Field{"torque", &AppliedTorque::torque, "N m", "of the body and t, a template on the scalar"}};

  template <class T> void act(auto& body, const T& t) const {
    const auto m = torque(body, t);
    if constexpr (requires { m[0]; })
      body.apply_torque(Vec3<T>(T(m[0]), T(m[1]), T(m[2])));
    else
      body.apply_torque(T(m));
  }
};
template <class F> AppliedTorque(F) -> AppliedTorque<F>;

}  // namespace mortise
