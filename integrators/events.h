#pragma once
// Events: functions of the state that pass through 0, found within steps.

#include <functional>
#include <string>

#include <mortise/core/state.h>

namespace mortise {

// Something to look for on the way: a function of the state that passes through 0.
struct Event {
  std::string name;
  std::function<double(const State&)> value;
  int direction = 0;  // 1: only upwards, -1: only downwards, 0: both
  bool stop = false;
  // May change the state: velocities, parameters (bodies/parameter.h), and which joints act (System::switch_off,
  // switch_on).  Velocities are then made consistent, by the impulse that the joints which act exert.  A joint can be
  // switched on only where its gap is small.
  std::function<void(State&)> change = {};
};

}  // namespace mortise
