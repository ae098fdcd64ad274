#pragma once
// Padded bodies: dummy masses that models carry to please other programs.  Without its mass the motion is determined
// all the same, and no other body's acceleration changes: so it may as well be 0, which spares the digits and the short
// steps that light bodies cost.

#include <string>
#include <vector>

#include <mortise/assembly/system.h>
#include <mortise/core/rank.h>

namespace mortise {

// Indices of the padded bodies: those of at most 1e-4 of the heaviest body without which [M; A] keeps its rank at this
// state and near it, and without which, all together, no acceleration of another body changes by more than 1e-6 of the
// largest.  Computed, not guessed: a few solves where there are such light bodies, nothing where there are none.
std::vector<std::size_t> padded_bodies(const System& system, const State& s, const RankOptions& options = {});

// The same system with its padded bodies massless.  States, names and rows stay.
struct Unpadded {
  System system;
  std::vector<std::string> bodies;
  std::string text() const;  // what was done, in words; "" if nothing
};
Unpadded unpad(const System& system, const State& s, const RankOptions& options = {});

}  // namespace mortise
