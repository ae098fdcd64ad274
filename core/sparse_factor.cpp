#include <mortise/core/sparse_factor.h>

namespace mortise {

bool SparseFactor::compute(const Eigen::SparseMatrix<double>& S) {
  if (S.nonZeros() != entries_) {
    ldlt_.analyzePattern(S);
    entries_ = S.nonZeros();
  }
  ldlt_.factorize(S);
  if (ldlt_.info() != Eigen::Success) return false;
  pivots_ = ldlt_.vectorD();
  return true;
}

VectorXd SparseFactor::solve(const VectorXd& b) const { return ldlt_.solve(b); }
MatrixXd SparseFactor::solve(const MatrixXd& b) const { return ldlt_.solve(b); }

Index SparseFactor::row(Index pivot) const {
  return ldlt_.permutationPinv().size() > 0 ? ldlt_.permutationPinv().indices()[pivot] : pivot;
}

VectorXd SparseFactor::along(Index pivot) const {
  VectorXd x = VectorXd::Unit(pivots_.size(), pivot);
  ldlt_.matrixU().solveInPlace(x);
  return ldlt_.permutationPinv().size() > 0 ? VectorXd(ldlt_.permutationPinv() * x) : x;
}

}  // namespace mortise
