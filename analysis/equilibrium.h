#pragma once
// equilibrium: a state in which a System rests, all forces in balance.
//
//   const Equilibrium found = equilibrium(system, system.state());
//   fmt::print("{}", found.text());               "rests after 6 steps, stable"
//   modes(system, found.state);
//
//   Q + C + A'lambda = 0,   phi(q, t) = 0,   v = 0,   t fixed: drives stand still where they are at this time
//
// By Newton's method with exact slopes; what has no mass takes part like everything else.  Directions that nothing
// decides (a wheel that may stand anywhere, reactions that redundant rows share) stay as near to the start as can be,
// and are counted.  Which of several equilibria is found depends on the start; unstable ones are found like stable
// ones, and told.

#include <string>
#include <vector>

#include <mortise/assembly/system.h>

namespace mortise {

struct EquilibriumOptions {
  std::vector<std::string> held = {};  // coordinates that stay as the start has them: "crank.theta"
  int steps = 200;
};

struct Equilibrium {
  State state;
  int steps = 0;
  double residual = 0;                       // the largest force out of balance, as a share of the largest force
  Index undecided = 0;                       // directions in which it would rest as well
  std::vector<std::string> undecided_names;  // variations that take part in these
  enum class Stability {
    stable,
    unstable,
    unknown
  } stability = Stability::unknown;  // unknown: its motion is not determined
  std::string text() const;
};

// Throws NotConverged, naming what is out of balance most, if none is found; InvalidModel for names that are none;
// NoDerivative, naming the part, for functions of double alone.
Equilibrium equilibrium(const System& system, const State& start, const EquilibriumOptions& options = {});

}  // namespace mortise
