#pragma once
// Craig-Bampton reduction: a structure with the chosen interface dofs as they are and its interior by a few modes.
//
//   [q_b; q_i] = [I 0; Psi Phi] [q_b; eta],   Psi = -K_ii^-1 K_ib,   K_ii Phi = M_ii Phi W^2,   Phi' M_ii Phi = I
//
// Psi: how the interior follows the interface statically; Phi: its vibrations with the interface held, slowest first.
// M_ii may be singular: interior motions without mass follow statically and are condensed, exactly where C does not
// damp them (or is a M + b K).  K_ii must be regular: holding the interface must hold the interior.  With all modes the
// result is the full model.  Forces on the interior enter through the modes kept.
//
// Points: all nodes remain; those of the interior move with Psi and Phi.  The new coordinates are the interface dofs
// under their names, then mode1, mode2, ... [kg^1/2 m].

#include <string>
#include <vector>

#include <mortise/bodies/structure.h>

namespace mortise {

struct CraigBampton {
  Structure structure;
  VectorXd frequencies;  // [Hz] of the modes kept
  Index interior;        // dofs that were replaced
  Index condensed;       // of these, directions without mass; -1 where not all modes were computed
  double next;           // [Hz] of the slowest mode left out; 0 if none, NaN where it was not computed

  std::string text() const;  // "8 of 8 modes, up to 1.2 Hz, for 10 interior dofs; ..."
};

// Throws InvalidModel if an interface dof is unknown, if there are fewer modes, or if K_ii is singular, naming the dof.
// Small interiors are computed densely; beyond 600 dofs the slowest modes are found by subspace iteration.
CraigBampton craig_bampton(const Structure& s, const std::vector<std::string>& interface_dofs, Index modes);

}  // namespace mortise
