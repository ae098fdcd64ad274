#pragma once
// S = P' L D L' P for sparse symmetric positive definite S, of which the lower triangle is given; compiled once.

#include <vector>

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
  // x with x = 1 in the row of this pivot and 0 in those of `others`, S x = 0 in all other rows eliminated before it,
  // but for the share of the pivots of `others`: by rows of S, without zeros.
  struct Entry {
    Index row;
    double value;
  };
  std::vector<Entry> along(Index pivot, const std::vector<bool>& others) const;

 private:
  // Eigen's, with the order found from the pattern alone: Eigen would copy S three times for that, and memory is what
  // costs most there.
  class Ldlt : public Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> {
   public:
    void analyze(const Eigen::SparseMatrix<double>& S);
  };
  Ldlt ldlt_;
  VectorXd pivots_;
  std::vector<Index> first_;  // of the pivots on which each depends
  mutable VectorXd work_;     // 0
  Index entries_ = -1;
};

}  // namespace mortise
#pragma GCC visibility pop
