#pragma once
// The rank verdict: is the acceleration determined, and which rows are too many?
//
//   q'' is unique  iff  [M; A] has full column rank  iff  A N0 has,  N0 a basis of null(M)   [UP06, Lemma 3.1]
//
// The second test is used: no mass enters it.  A N0 is balanced by factors taken from |A||N0|, never from A N0 itself,
// and its singular values are judged absolutely; neither units nor the size of the model change them.
// Dependent rows are the left null vectors y of A:  y'A = 0;  consistent if y'b = 0, else no motion satisfies them.

#include <optional>
#include <vector>

#include <mortise/core/massless.h>
#include <mortise/core/types.h>

namespace mortise {

// One constrained system at one instant:  M q'' = Q + C + A' lambda,  A q'' = b.
struct Equations {
  MatrixXd M;       // n x n, symmetric, positive semi-definite
  VectorXd Q;       // n, given forces
  MatrixXd A;       // m x n, any rank
  VectorXd b;       // m
  VectorXd C = {};  // n, non-ideal constraint force as prescribed [US10, Eq. 6]; empty means 0

  VectorXd b_size = {};  // m, magnitude of the terms b is the sum of, for its round-off; empty: |b|

  std::vector<int> blocks = {};           // sizes of M's diagonal blocks; empty: one block
  std::vector<int> groups = {};           // coordinates with the same number share one scale; empty: each by itself
  std::optional<Massless> massless = {};  // null(M), where it is known better than M's entries tell
};

struct RankOptions {
  // Balanced singular values, of A N0 and of A alike: up to `determined` they count as zero, so that a direction is free
  // or a row redundant; up to `doubtful` they count, with a warning.
  double determined = 1e-9;
  double doubtful = 1e-6;
  double conflict = 1e-6;  // |y'b| above this share of the terms it is the sum of is a conflict
};

// A set of dependent rows, y'A = 0.
struct RowSet {
  VectorXd y;             // one entry per row, the largest is 1; 0 for rows outside the set
  Index row = 0;          // the row this set makes superfluous: y[row] != 0, and it is 0 in all other sets
  double gap = 0;         // |y'b|
  double scaled_gap = 0;  // ... in shares of the terms it is the sum of
  bool consistent = true;
};

struct Rank {
  Index n = 0, m = 0, rank_M = 0, rank_A = 0, rank_MA = 0;
  VectorXd values;                      // balanced singular values of A N0, descending; none of large systems
  std::optional<double> kept, dropped;  // those on both sides of the gap
  MatrixXd N;                           // n x (n - rank_MA): free directions, short, the largest entry of each is 1
  MatrixXd shares;                      // |N| in scaled coordinates: how much each coordinate takes part, at most 1
  std::vector<RowSet> redundant;        // m - rank_A sets
  std::optional<double> smallest_row;   // smallest kept balanced singular value of A
  VectorXd nearly;                      // rows of the nearly dependent set (weights), empty if there is none
  RankOptions options;

  bool determined() const { return rank_MA == n; }
  bool consistent() const;
  bool unique_reaction(Index row) const;  // lambda_row is unique iff y_row = 0 in all sets
};

Rank numerical_rank(const Equations& e, const RankOptions& options = {});

// Throws WrongSize, NonFinite or InvalidMass if e is not what Equations says.
void require_valid(const Equations& e);

}  // namespace mortise
