#pragma once
// S = P' L D L' P for sparse symmetric positive definite S, compiled once.

#include <Eigen/SparseCholesky>

#include <mortise/core/types.h>

#pragma GCC visibility push(hidden)

namespace mortise {

class SparseFactor {
 public:
  // The pattern is analysed at the first call and where the number of entries changes.
  bool compute(const Eigen::SparseMatrix<double>& S);  // false: a pivot vanished
  VectorXd solve(const VectorXd& b) const;
  MatrixXd solve(const MatrixXd& b) const;
  const VectorXd& pivots() const { return pivots_; }  // D, in the order of elimination
  Index row(Index pivot) const;                       // of S, eliminated at this place
  VectorXd along(Index pivot) const;                  // P' L'^-1 e: S times it is that pivot's share only

 private:
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> ldlt_;
  VectorXd pivots_;
  Index entries_ = -1;
};

}  // namespace mortise
#pragma GCC visibility pop
