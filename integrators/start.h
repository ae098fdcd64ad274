#pragma once
// Where runs start: a state on the constraints near a rough one, or one in which all forces are balanced.

#include <string>
#include <vector>

#include <mortise/solve/solver.h>

namespace mortise {

struct StartOptions {
  // Stay as given: coordinates ("rod.theta"), velocities ("rod.theta'"), or all of a body ("rod", "rod'").
  std::vector<std::string> held = {};
  SolverOptions solver = {};
};

// A state on the constraints near the one given: positions, then velocities, nearest in the norm of M.
// Throws NotConverged if none is found, naming the joints with the largest gaps, and saying whether they contradict
// each other: then all moves that bring some of them nearer take others away.
State consistent(const System& system, State s, const StartOptions& options = {});

// Static equilibrium near a guess: at rest and on the constraints, with  Q + C + A'lambda = 0.  By Newton's method with
// exact slopes, downhill where the equilibrium would be unstable.  Drives stand still where they are at the time of the
// guess; nonholonomic rows do not let the bodies pass; what has no mass takes part like everything else, and what
// nothing draws anywhere stays.  modes() at the state found tells whether it is stable.
// Throws NotConverged, naming the coordinate with the largest force that nothing balances; NoDerivative if a part is
// written for double only.
State equilibrium(const System& system, State guess, const StartOptions& options = {});

}  // namespace mortise
