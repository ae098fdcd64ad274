#pragma once
// The mechanisms as models of mortise.

#include <mortise/assembly/assembly.h>
#include <mortise/solve/solver.h>

#include "mechanisms.h"

namespace bench {

mortise::Assembly assembly_of(const Chain& chain);
mortise::Assembly assembly_of(const FourBar& four_bar);

mortise::State state_of(const mortise::System& system, const Chain& chain);
mortise::State state_of(const mortise::System& system, const FourBar& four_bar);

// What can be compared: of each rod the angular acceleration and the acceleration of its centre, in world axes;
// of a four-bar theta'' of the rods, then of the couplers.
std::vector<double> accelerations_of(const Chain& chain, const mortise::VectorXd& a);
std::vector<double> accelerations_of(const FourBar& four_bar, const mortise::VectorXd& a);

}  // namespace bench
