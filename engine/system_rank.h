#pragma once
// The rank verdict of core/rank.h on a System at one state, or on some of its parts: the one that check_rank, solve(),
// Solver and simulate() go by.

#include <mortise/assembly/system.h>
#include <mortise/core/sparse_rank.h>

#pragma GCC visibility push(hidden)

namespace mortise {

// The matrices of some parts, by their own coordinates and rows.  Throws InvalidMass.
SparseEquations sparse_equations(const System& system, const Evaluation& e, const System::Selection& parts);

// The verdict, by coordinates and rows of the system.  Throws InvalidMass.
SparseRank rank_of(const System& system, const Evaluation& e, const System::Selection& parts,
                   const RankOptions& options);
SparseRank rank_of(const System& system, const Evaluation& e, const RankOptions& options);
// As if some rows were not there: they count as redundant, each by itself.
SparseRank rank_without(const System& system, const Evaluation& e, const std::vector<Index>& rows,
                        const RankOptions& options);

}  // namespace mortise
#pragma GCC visibility pop
