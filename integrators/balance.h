#pragma once
// EnergyBalance: T + V less what forces and joints put in, along a run; it changes only by the errors of the method.

#include <vector>

#include <mortise/integrators/controlled.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class EnergyBalance {
 public:
  EnergyBalance(const System& system, Flow& flow, const State& start);

  void integrate_by(Stepper& stepper) const;  // what is put in, where it can do so
  void begin(const State& s);
  double step(const Stepper& stepper, const State& from, const State& now);  // by how much it is off now
  // And at a state within the last step; 0 if something was put in there: how much up to then is not known as well.
  double between(const State& s) const;
  void jump(double energy, const State& now);  // energy that an event has added

  // [J] The largest of kinetic energy, change of potential energy and work put in, together.
  double in_play() const { return in_play_; }
  // [J] What steps with errors of this tolerance may do to the balance: each so much of what is in play, and round-off.
  double explained(double tolerance) const;

  // For checkpoints.
  std::vector<double> memory() const { return {reference_, last_power_, begin_, potential_, in_play_, sum_, whole_}; }
  void resume(const std::vector<double>& memory);

 private:
  void count(const Energy& e);
  double power(const State& s) const;  // what is put in per second

  Flow& flow_;
  State between_;
  bool by_joints_ = false, needed_ = false;
  double reference_ = 0, last_power_ = 0;
  bool idle_ = false;                         // nothing was put in during the last step
  double begin_ = 0, potential_ = 0;          // [J] both at the start
  double in_play_ = 0, sum_ = 0, whole_ = 0;  // [J] that over all steps; the largest energy
};

}  // namespace mortise
#pragma GCC visibility pop
