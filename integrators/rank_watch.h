#pragma once
// RankWatch: finds poses within steps where rows come to depend on each other, and the mechanism gains freedoms.

#include <optional>

#include <mortise/engine/row_independence.h>
#include <mortise/integrators/stepper.h>
#include <mortise/integrators/trajectory.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class RankWatch {
 public:
  // After a step from `from` to `now`.
  std::optional<Trajectory::Note> look(const Stepper& stepper, Flow& flow, const State& from, const State& now);

  // For checkpoints.
  double independence() const { return independence_; }
  double most_independent() const { return most_independent_; }
  void resume(double independence, double most) { independence_ = independence, most_independent_ = most; }

 private:
  State between_;
  std::optional<RowIndependence> rows_;
  double independence_ = 1, most_independent_ = 0;
};

}  // namespace mortise
#pragma GCC visibility pop
