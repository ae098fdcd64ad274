#pragma once
// What the report is made of, inside assembly/: ranks of a system or of some parts, by its own coordinates and rows.

#include <vector>

#include <mortise/assembly/rank_report.h>
#include <mortise/core/sparse_rank.h>

#pragma GCC visibility push(hidden)
namespace mortise::report {

constexpr Index dense_at_most = 200;  // coordinates: singular values; beyond, sparse QR

using Parts = System::Selection;

Index coordinates(const System& system, const Parts& parts);
std::size_t constraint_of(const System& system, Index row);

// The verdict on some parts, by coordinates and rows of the system.  Throws InvalidMass.
SparseRank rank_of(const System& system, const Evaluation& e, const Parts& parts, const RankOptions& options);

// From the numbers of the parts to those of the system.
SparseRank renamed(const System& system, const Parts& parts, SparseRank r);

// The verdict on a large system: the engine tells where to look, and rank_of() looks there.
// Only findings: ranks count what was found, kept and dropped are those of the parts looked at.
SparseRank rank_of_large(const System& system, const Evaluation& e, const RankOptions& options);

// Rows that depend on each other: names, loops, pairs, levels of conflict; and changes that would mend them.
void explain_redundant(const System& system, const Evaluation& e, const SparseRank& rank, RankReport& report);

// A motion of the whole, in words: one sentence for bodies that move alike.  And the coordinates that take part, the
// largest share first.
std::vector<std::string> motions(const System& system, const State& s, const std::vector<SparseRank::Entry>& direction);

// Sizes of coordinates, for what is relative: the largest length of the model for metres, else at least 1.
VectorXd sizes(const System& system, const VectorXd& q);
// Of rows: sums of their slopes times these.
VectorXd sizes_of_rows(const System& system, const Evaluation& e, const VectorXd& sizes);

// Parts that give no numbers at s, all of them.
std::vector<BrokenPart> broken_parts(const System& system, const State& s);
std::vector<BrokenPart> broken_masses(const System& system, const Evaluation& e);

// Does the state meet the constraints, and is there one near that does?  Fills report.start.
void look_at_start(const System& system, const Evaluation& e, RankReport& report);
// Are there fewer dependent rows near this pose?  Fills report.singular.
void look_around(const System& system, const Evaluation& e, RankReport& report, const RankOptions& options);

}  // namespace mortise::report
#pragma GCC visibility pop
