#pragma once
// The rank verdict of core/rank.h for systems too large for singular values: by sparse QR decompositions of the same
// balanced matrices.  Pivots of R stand for the singular values; thresholds and scales are the same.

#include <optional>
#include <vector>

#include <mortise/core/rank.h>
#include <mortise/core/scaling.h>

#pragma GCC visibility push(hidden)
namespace mortise {

struct SparseEquations {
  VectorXd mass;            // n, diagonal of M
  VectorXd force;           // n, |Q| + |C|
  SparseRows A;             // m x n
  VectorXd b;               // m
  VectorXd b_size;          // m, magnitude of the terms b is the sum of
  SparseRows N0;            // n x k, basis of null(M)
  std::vector<int> pivot;   // the coordinate that stands for each column of N0
  std::vector<int> groups;  // coordinates with the same number share one scale
};

struct SparseRank {
  struct Entry {
    Index i;
    double value;
  };
  struct Set {  // as RowSet
    std::vector<Entry> y;
    Index row;
    double gap, scaled_gap;
    bool consistent;
  };
  Index rank_M = 0, rank_A = 0, rank_MA = 0;
  std::optional<double> kept, dropped;
  std::vector<std::vector<Entry>> N, shares;  // free directions, of the same coordinates
  std::vector<Set> redundant;
  std::optional<double> smallest_row;
  std::vector<Entry> nearly;
};

SparseRank sparse_rank(const SparseEquations& e, const RankOptions& options = {});

// The verdict of core/rank.h in the same form.
SparseRank in_sparse_form(const Rank& rank);

// Do the rows of a set agree?  All in scaled rows and coordinates: y of the set, A, b, the size of b's terms, forces.
struct Gap {
  double scaled;
  bool consistent;
};
Gap gap_of(const VectorXd& y, const SparseRows& A, const VectorXd& b, const VectorXd& b_size, const VectorXd& force,
           const RankOptions& options);

}  // namespace mortise
#pragma GCC visibility pop
