#include "mortise_side.h"

#include <functional>

#include "build.h"

namespace bench {

struct MortiseSide::Inside {
  mortise::System system;
  mortise::State state;
  mortise::Solver solver;
  const mortise::VectorXd* a = nullptr;
  std::function<std::vector<double>(const mortise::VectorXd&)> comparable;

  template <class Mechanism>
  explicit Inside(const Mechanism& mechanism)
      : system(assembly_of(mechanism)),
        state(state_of(system, mechanism)),
        solver(system),
        comparable([mechanism](const mortise::VectorXd& x) { return accelerations_of(mechanism, x); }) {}
};

MortiseSide::MortiseSide(const Chain& chain) : inside_(std::make_unique<Inside>(chain)) {}
MortiseSide::MortiseSide(const FourBar& four_bar) : inside_(std::make_unique<Inside>(four_bar)) {}
MortiseSide::~MortiseSide() = default;

void MortiseSide::solve() { inside_->a = &inside_->solver.solve(inside_->state); }
std::vector<double> MortiseSide::accelerations() const { return inside_->comparable(*inside_->a); }

}  // namespace bench
