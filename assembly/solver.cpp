#include <mortise/assembly/solver.h>

#include <mortise/assembly/engine.h>
#include <mortise/assembly/solve.h>

namespace mortise {

Solver::Solver(const System& system, const SolverOptions& options)
    : system_(system), options_(options), engine_(std::make_unique<Engine>(system, options.threads)) {}
Solver::Solver(Solver&&) noexcept = default;
Solver::~Solver() = default;

const VectorXd& Solver::solve(const State& s) {
  engine_->evaluate(s);
  engine_->factor();
  const auto status = engine_->solve();
  if (!engine_->alarms().empty() || status != Engine::Status::solved) throw std::runtime_error(fmt::format("engine alarms {} status {} sweeps {} error {}", engine_->alarms().size(), int(status), engine_->sweeps(), engine_->worst()));
  engine_->accelerations(a_);
  return a_;
}

}  // namespace mortise
