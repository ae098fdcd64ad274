#pragma once
// What the report is made of, inside assembly/.

#include <optional>
#include <vector>

#include <mortise/core/function_ref.h>
#include <mortise/diagnosis/rank_report.h>
#include <mortise/engine/system_rank.h>

#pragma GCC visibility push(hidden)
namespace mortise::report {

constexpr Index dense_at_most = 200;  // coordinates: what is told beside the ranks may use dense matrices

using Parts = System::Selection;

// Rows that depend on each other: names, loops, pairs, levels of conflict; and changes that would mend them.
void explain_redundant(const System& system, const Evaluation& e, const SparseRank& rank, RankReport& report);

// Where the rows of a redundant set contradict each other though their accelerations agree: in positions or velocities,
// and by how much.  `rate` by rows: phi' of holonomic ones; reach: sizes_of_rows.
struct Contradiction {
  RedundantRow::Level level;
  double gap;
};
std::optional<Contradiction> contradiction(const System& system, const Evaluation& e, const VectorXd& rate,
                                           const VectorXd& reach, const SparseRank::Set& set);
// All rows are met, in positions and velocities: then there is none.
bool met(const System& system, const Evaluation& e, const VectorXd& rate);
// Some set does, in these or in accelerations.
bool any_contradiction(const System& system, const Evaluation& e, const VectorXd& rate, const SparseRank& rank);

// A motion of the whole, in words: one sentence for bodies that move alike.  And the coordinates that take part, the
// largest share first.
std::vector<std::string> motions(const System& system, const State& s, const SparseList& direction);

// Sizes of coordinates, for what is relative: the largest length of the model for metres, else at least 1.
VectorXd sizes(const System& system, const VectorXd& q);
// Of rows: sums of their slopes times these.
VectorXd sizes_of_rows(const System& system, const Evaluation& e, const VectorXd& sizes);

// Parts that give no numbers, all of them, and the equations with something sensible in their place; none where the
// state itself is broken.
struct Sound {
  std::vector<BrokenPart> broken;
  std::string judged;  // "without force 'law'"
  std::optional<Evaluation> e;
};
Sound without_broken_parts(const System& system, const State& s);
Sound without_broken_masses(const System& system, const Evaluation& e);
std::vector<BrokenPart> broken_energies(const System& system, const State& s);  // of parts with finite forces

// Springs that are pressed together to a point, in words.
std::vector<std::string> springs_without_direction(const System& system, const State& s);

// A row whose gradient is zero at e: there only, everywhere, or wherever it is met.
RedundantRow::Flat flatness(const System& system, const Evaluation& e, Index row);
// A row by itself that is met only where its gradient vanishes; or that is not met where it does.
bool squared(const System& system, const Evaluation& e, const SparseRank::Set& set);
bool flat_and_unmet(const System& system, const Evaluation& e, const SparseRank::Set& set);

// Bodies that joints connect, and these joints.
struct Piece {
  Parts parts;
  std::vector<Index> at;  // of each body, where its coordinates begin among those of the piece
  Index size = 0;         // coordinates

  VectorXd part_of(const System& system, const VectorXd& q) const;  // of all coordinates those of the piece
  void add(const System& system, const VectorXd& part, VectorXd& q) const;
  // Its rows of A, in the sizes d of its coordinates; 0 where `without`.
  MatrixXd slopes(const System& system, const Evaluation& e, const VectorXd& d,
                  const FunctionRef<bool(std::size_t)>& without) const;
};
std::vector<Piece> pieces(const System& system);

// A state near s that meets the holonomic rows, of some pieces or of all, by steps of least change in the sizes d; none
// if it is not found.
std::optional<State> met_near(const System& system, State s, const VectorXd& d);
std::optional<State> met_near(const System& system, State s, const VectorXd& d, const std::vector<Piece>& pieces);
// Does the state meet the constraints, and is there one near that does?  Fills report.start.
void look_at_start(const System& system, const Evaluation& e, RankReport& report);
// Are there fewer free directions near this pose?  Fills report.free_near.
void look_around_free(const System& system, const Evaluation& e, RankReport& report, const RankOptions& options);
// Connected bodies that cannot move.  Fills report.locked.
void find_locked(const System& system, const Evaluation& e, RankReport& report, const RankOptions& options);
// Are there fewer dependent rows near this pose?  Fills report.singular.
void look_around(const System& system, const Evaluation& e, RankReport& report, const RankOptions& options);

}  // namespace mortise::report
#pragma GCC visibility pop
