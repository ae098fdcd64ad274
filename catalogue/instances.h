#pragma once
// What the parts of the library are compiled from; for the files of this folder only.

#include <mortise/assembly/bind.h>

namespace mortise {

template <class J>
std::shared_ptr<const ConstraintModel> library_joint(const Label& label, const J& joint, BodyModels bodies) {
  return joint_on<J, part_dimension<J>()>(label, joint, bodies);
}
template <class F>
std::shared_ptr<const ForceModel> library_force(const Label& label, const F& force, BodyModels bodies) {
  return force_on<F, part_dimension<F>()>(label, force, bodies);
}
template <class S>
std::shared_ptr<const SensorModel> library_sensor(const Label& label, const S& sensor, BodyModels bodies) {
  return sensor_on<S, part_dimension<S>()>(label, sensor, bodies);
}
template <class B> std::shared_ptr<const BodyModel> library_body(const Label& label, const B& body) {
  return bind_body<B>(label, body);
}

}  // namespace mortise
