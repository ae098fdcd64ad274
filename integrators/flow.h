#pragma once
// Flow: a System as steppers see it, q' = v, v' = a(q, v, t) on its constraints.

#include <mortise/solve/solver.h>

namespace mortise {

class Flow {
 public:
  explicit Flow(const System& system, const SolverOptions& options = {})
      : system_(system), solver_(system, single(options)), merges_(options.merge_welded) {}

  const System& system() const { return system_; }
  Solver& solver() { return solver_; }

  const VectorXd& acceleration(const State& s) {
    ++evaluations_;
    return solver_.solve(s);
  }
  // Onto the constraints: the nearest positions, then velocities.
  void settle(State& s) {
    solver_.project_positions(s);
    solver_.project_velocities(s);
  }
  // From now on states are left as they are and drawn back with this rate [1/s], by Baumgarte; 0: they are settled.
  void stabilise(double rate) {
    pull_ = rate;
    solver_.stabilise(rate);
  }
  // Welded bodies are one from here on, near this state, if the options say so; see Solver::hold_welds.
  void hold_welds(const State& s) {
    if (merges_) solver_.hold_welds(s);
  }
  bool stabilised() const { return pull_ > 0; }
  // At the end of a step, with its last stage nearby.
  void keep_nearby(State& s) {
    if (pull_ > 0)
      solver_.normalise(s);
    else
      solver_.project_nearby(s);
  }
  // After a step, and between.
  void keep(State& s) {
    if (pull_ > 0)
      solver_.normalise(s);
    else
      settle(s);
  }
  Index evaluations() const { return evaluations_; }
  void count() { ++evaluations_; }
  void count_from(Index evaluations) { evaluations_ = evaluations; }

 private:
  // Else welded bodies would be merged at some of the states of a step, and not at others.
  static SolverOptions single(SolverOptions options) {
    options.merge_welded = false;
    return options;
  }

  const System& system_;
  Solver solver_;
  bool merges_;
  Index evaluations_ = 0;
  double pull_ = 0;
};

}  // namespace mortise
