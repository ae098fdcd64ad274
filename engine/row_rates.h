#pragma once
// Rates of rows: phi' of holonomic ones, psi of the others, of a few constraints and without a plan.

#include <set>

#include <mortise/assembly/system.h>

#pragma GCC visibility push(hidden)
namespace mortise {

// By rows of the system; 0 where nobody asks.
VectorXd row_rates(const System& system, const State& s, const std::set<std::size_t>& constraints);

}  // namespace mortise
#pragma GCC visibility pop
