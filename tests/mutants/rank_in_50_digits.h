#pragma once
// The ranks of A and of [M; A] in 50 digits, from the same doubles that the library sees, scaled as docs/ENGINE.md
// tells (one factor per row, one per body and dimension), by QR with column pivoting.  A reference: nothing of it is
// shared with the library but the numbers.

#include <optional>

#include <mortise/assembly/system.h>

namespace mortise::testing {

struct ExactRanks {
  Index A = 0, MA = 0;
  bool certain = true;              // no pivot lies in the band of doubt
  std::optional<double> disagrees;  // A q'' = b: what is left of b at best, in shares of its terms; none without rows
};

ExactRanks exact_ranks(const System& system, const Evaluation& e);

}  // namespace mortise::testing
