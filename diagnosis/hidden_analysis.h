#pragma once
// HiddenAnalysis: which of the forces on a group of free directions decide what, at one state.

#include <vector>

#include <mortise/diagnosis/free_forces.h>
#include <mortise/diagnosis/hidden.h>

#pragma GCC visibility push(hidden)
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
  MatrixXd D, X;                                   // dh/dv N, f x f; L'dh/dq N, position rows x f
  Index position_rank = 0;
  bool mixed = false;    // a position-level row depends on velocities of others
  bool regular = false;  // velocity-level and position-level rows together decide all free directions
  std::vector<Stray> strays;

  HiddenAnalysis(const FreeForces& forces, const State& x, const FreeForces::Pivots& pivots,
                 const HiddenOptions& options);

  bool finite() const { return basis.N.allFinite() && s.h.allFinite() && s.dq.allFinite() && s.dv.allFinite(); }
  // Velocities and positions along the free directions that bring h to 0, to first order.
  struct Move {
    VectorXd q, v;
  };
  Move towards_balance() const;
};

}  // namespace mortise
#pragma GCC visibility pop
