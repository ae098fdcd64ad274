#pragma once
// The rank verdict of core/rank.h on sparse matrices: the one that every door uses.

#include <optional>
#include <vector>

#include <mortise/core/rank.h>
#include <mortise/core/row_rank.h>
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
  std::vector<Massless::Doubtful> doubtful = {};
};

struct SparseRank {
  struct Set {  // as RowSet
    SparseList y;
    Index row;
    double gap, scaled_gap;
    bool consistent;
  };
  Index n = 0, m = 0, rank_M = 0, rank_A = 0, rank_MA = 0;
  VectorXd values;  // as Rank; empty where a part is large
  std::optional<double> kept, dropped;
  std::vector<SparseList> N, shares;  // free directions, of the same coordinates
  std::vector<Set> redundant;
  std::optional<double> smallest_row;
  VectorXd row_units;  // in which rows were judged: of the selected ones, in their order
  SparseList nearly;
  std::vector<Massless::Doubtful> doubtful_masses;
};

SparseRank sparse_rank(const SparseEquations& e, const RankOptions& options = {}, Index small = small_part);

// The same as dense vectors.
Rank in_dense_form(const SparseRank& rank, const RankOptions& options);

}  // namespace mortise
#pragma GCC visibility pop
