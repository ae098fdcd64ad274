#pragma once
// Which rows of a sparse matrix X depend on each other, by singular values, with the same numbers at every size.
//
// Rows that share columns, directly or through others, are a part; the singular values of X are those of its parts.
// Small parts: their singular value decomposition.  Large ones, by two bounds on the same number (after Foster and
// Davis, Algorithm 933):
//   * at least k values are <= zero:  |X'y| <= zero |y| for all y in the span of k vectors, computed from X itself;
//     the vectors come from the small pivots of X X' + delta I = L D L', and from inverse iteration with this factor;
//   * at most k are: without one row of each set found, inverse iteration from random starts finds no other.

#include <optional>
#include <vector>

#include <mortise/core/scaling.h>

#pragma GCC visibility push(hidden)

namespace mortise {

struct SparseEntry {
  Index i;
  double value;
};
using SparseList = std::vector<SparseEntry>;  // by ascending i

struct RowRank {
  struct Set {  // y'X = 0
    SparseList y;
    Index row;  // 1 in this y, and 0 in those of all other sets
  };
  Index rank = 0;
  std::vector<Set> sets;                // one for each singular value that counts as zero, by ascending row
  std::optional<double> kept, dropped;  // the singular values next to `zero` on both sides
  SparseList weakest;  // the left singular vector of `kept`, length 1; of large parts if it is doubtful
  VectorXd values;     // all singular values, descending, with 0 for rows beyond the columns;
                       // empty where a part is large
};

constexpr Index small_part = 16;  // rows of a part that is decomposed as it stands: more cost less by the bounds

// Singular values <= zero count as zero; of those up to `doubtful` every one is looked for.
RowRank row_rank(const SparseRows& X, double zero, double doubtful, Index small = small_part);

}  // namespace mortise
#pragma GCC visibility pop
