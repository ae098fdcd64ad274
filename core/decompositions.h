#pragma once
// Singular value decomposition and what is read off it, with the rank decided by the caller.

#include <vector>

#include <mortise/core/types.h>

namespace mortise {

// X = U diag(s) V', U and V square, s descending.  Any size, also empty.
struct Svd {
  MatrixXd U, V;
  VectorXd s;

  explicit Svd(const MatrixXd& X);
  Index count_above(double threshold) const { return (s.array() > threshold).count(); }
  MatrixXd row_space(Index rank) const { return V.leftCols(rank); }               // orthonormal basis of range(X')
  MatrixXd null_space(Index rank) const { return V.rightCols(V.cols() - rank); }  // ... of null(X)
  MatrixXd left_null_space(Index rank) const { return U.rightCols(U.cols() - rank); }
  MatrixXd pseudo_inverse(Index rank) const;  // Moore-Penrose, with all but `rank` values taken as 0
};

// S^1/2 and S^-1/2 of a symmetric positive definite S.
struct SquareRoot {
  MatrixXd root, inverse_root;
  double smallest = 0, largest = 0;  // eigenvalues of S

  explicit SquareRoot(const MatrixXd& S);
};

// Columns recombined so that each has a pivot row of its own: 1 there and 0 in the other columns' pivot rows.
// Pivots are taken from the last rows where that is stable.  pivots[k] is the row of column k.
struct ShortBasis {
  MatrixXd X;
  std::vector<Index> pivots;

  explicit ShortBasis(const MatrixXd& basis);
};

}  // namespace mortise
