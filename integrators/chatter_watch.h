#pragma once
// ChatterWatch: looks for motion that is thrown back and forth across a corner, where a row or a force has one value on
// one side of a velocity and another on the other: what comes to rest there stays, and no step is short enough.

#include <string>

#include <mortise/integrators/stepper.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class ChatterWatch {
 public:
  explicit ChatterWatch(double duration) : duration_(duration) {}

  // After a step, with the solver at its end: throws NotConverged, with the part that jumps, where it is no use to go
  // on.
  void look(Flow& flow, const State& from, const State& now);

 private:
  double duration_, flips_ = 0;
  VectorXd last_;  // accelerations; none: the step before was long
};

}  // namespace mortise
#pragma GCC visibility pop
