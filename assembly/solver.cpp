#include <mortise/assembly/solver.h>

#include <mortise/assembly/solve.h>

namespace mortise {

Solver::Solver(const System& system, const SolverOptions& options) : system_(system), options_(options) {}

const VectorXd& Solver::solve(const State& s) {
  a_ = mortise::solve(system_, s, options_.rank).a;
  return a_;
}

}  // namespace mortise
