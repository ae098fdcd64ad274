#pragma once
// Flow: a System as steppers see it, q' = v, v' = a(q, v, t) on its constraints.

#include <mortise/assembly/solver.h>

namespace mortise {

class Flow {
 public:
  explicit Flow(const System& system, const SolverOptions& options = {}) : system_(system), solver_(system, options) {}

  const System& system() const { return system_; }
  Solver& solver() { return solver_; }

  const VectorXd& acceleration(const State& s) {
    ++evaluations_;
    return solver_.solve(s);
  }
  // Back onto the constraints: the nearest positions, then velocities.
  void settle(State& s) {
    solver_.project_positions(s);
    solver_.project_velocities(s);
  }
  Index evaluations() const { return evaluations_; }
  void count_from(Index evaluations) { evaluations_ = evaluations; }

 private:
  const System& system_;
  Solver solver_;
  Index evaluations_ = 0;
};

}  // namespace mortise
