#pragma once
// A part on as many bodies as are given when the program runs.

#include <mortise/assembly/assembly.h>

namespace mortise {

namespace detail {

// f(On<P, N views of dimension D>) for the number of bodies.
template <class P, int D, std::size_t N = 1, class F>
auto by_count(const Label& label, std::size_t given, const F& f) -> decltype(f(OnSame<P, D, 1>{})) {
  if (given == N) {
    if (auto model = f(OnSame<P, D, N>{})) return model;
  } else if constexpr (N < library_bodies) {
    return by_count<P, D, N + 1>(label, given, f);
  }
  label.fail<InvalidModel>(fmt::format("it does not act on {} {}", given, given == 1 ? "body" : "bodies"),
                           "name as many bodies as it needs");
}

}  // namespace detail

// D: the dimension of the views.  Throw InvalidModel if the part does not take so many bodies.
template <class J, int D>
std::shared_ptr<const ConstraintModel> joint_on(const Label& label, const J& joint, BodyModels bodies) {
  return detail::by_count<J, D>(label, bodies.size(), [&]<class On>(On) -> std::shared_ptr<const ConstraintModel> {
    if constexpr (On::joint)
      return On::bind_joint(label, joint, bodies);
    else
      return nullptr;
  });
}
template <class F, int D>
std::shared_ptr<const ForceModel> force_on(const Label& label, const F& force, BodyModels bodies) {
  return detail::by_count<F, D>(label, bodies.size(), [&]<class On>(On) -> std::shared_ptr<const ForceModel> {
    if constexpr (On::force())
      return On::bind_force(label, force, bodies);
    else
      return nullptr;
  });
}
template <class S, int D>
std::shared_ptr<const SensorModel> sensor_on(const Label& label, const S& sensor, BodyModels bodies) {
  return detail::by_count<S, D>(label, bodies.size(), [&]<class On>(On) -> std::shared_ptr<const SensorModel> {
    if constexpr (On::sensor())
      return On::bind_sensor(label, sensor, bodies);
    else
      return nullptr;
  });
}

}  // namespace mortise
