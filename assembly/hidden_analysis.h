#pragma once
// HiddenAnalysis: which of the forces on a group of free directions decide what, at one state.

#include <vector>

#include <mortise/assembly/free_forces.h>
#include <mortise/assembly/hidden.h>

namespace mortise {

// A combination c'h of the forces on the free directions that no free direction changes.
struct Stray {
  VectorXd c;
  bool zero;        // it vanishes
  bool constant;    // all its slopes vanish
  bool influences;  // the direction acts on others
};

// Everything about one group at one state, for given pivots.
struct HiddenAnalysis {
  FreeForces::Numbers e;
  FreeForces::Basis basis;
  FreeForces::Slopes s;
  std::vector<Index> velocity, position, columns;  // rows of h; columns of D
  MatrixXd L;                                      // f x position rows
  Index position_rank = 0;
  bool mixed = false;    // a position-level row depends on velocities of others
  bool regular = false;  // velocity-level and position-level rows together decide all free directions
  std::vector<Stray> strays;

  HiddenAnalysis(const FreeForces& forces, const State& x, const FreeForces::Pivots& pivots,
                 const HiddenOptions& options);
};

}  // namespace mortise
