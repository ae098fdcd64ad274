#pragma once
// Tells which joints pass their limits in a run, which nothing holds there:
//
//   LimitWatch watch(system, model.limits);
//   options.events.push_back(watch.event());
//   Trajectory run = simulate(system, start, options);
//   watch.tell(run);
//
// The event never happens: it looks at every step, and changes no digit of the run.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <mortise/integrators/events.h>
#include <mortise/integrators/trajectory.h>

namespace mortise {

class LimitWatch {
 public:
  // Limits by path of the joint, [rad] or [m], as of Model.
  LimitWatch(const System& system, const std::map<std::string, std::pair<double, double>>& limits);

  Event event() const;
  // Notes of the kind "limit", in the order of time; whether there are any.
  bool tell(Trajectory& run) const;

 private:
  struct Joint;
  struct Watched;
  std::shared_ptr<Watched> watched_;
};

}  // namespace mortise
