#pragma once
// EnergyBalance: T + V less what forces and joints put in, along a run; it changes only by the errors of the method.

#include <mortise/integrators/stepper.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class EnergyBalance {
 public:
  EnergyBalance(const System& system, Flow& flow, const State& start, double duration);

  void begin(const State& s);
  double step(const Stepper& stepper, const State& from, const State& now);  // by how much it is off now
  void jump(double energy, const State& now);                                // energy that an event has added

  // For checkpoints.
  double reference() const { return reference_; }
  double last_power() const { return last_power_; }
  void resume(double reference, double last_power) { reference_ = reference, last_power_ = last_power; }

 private:
  double power(const State& s) const;  // what is put in per second

  Flow& flow_;
  State between_;
  bool by_joints_ = false, needed_ = false;
  double reference_ = 0, last_power_ = 0;
};

}  // namespace mortise
#pragma GCC visibility pop
