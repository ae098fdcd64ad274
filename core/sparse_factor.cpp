#include <mortise/core/sparse_factor.h>

#include <algorithm>

namespace mortise {

bool SparseFactor::compute(const Eigen::SparseMatrix<double>& S) {
  if (S.nonZeros() != entries_) {
    ldlt_.analyzePattern(S);
    entries_ = S.nonZeros();
  }
  ldlt_.factorize(S);
  if (ldlt_.info() != Eigen::Success) return false;
  pivots_ = ldlt_.vectorD();
  // Columns of L are 0 but on the way from their row to the root of the elimination tree.
  const auto& L = ldlt_.matrixL().nestedExpression();
  const Index n = pivots_.size();
  first_.resize(static_cast<std::size_t>(n));
  for (Index j = 0; j < n; ++j) first_[static_cast<std::size_t>(j)] = j;
  for (Index j = 0; j < n; ++j)
    if (const Eigen::SparseMatrix<double>::InnerIterator parent(L, j); parent) {
      Index& first = first_[static_cast<std::size_t>(parent.row())];
      first = std::min(first, first_[static_cast<std::size_t>(j)]);
    }
  work_.setZero(n);
  return true;
}

VectorXd SparseFactor::solve(const VectorXd& b) const { return ldlt_.solve(b); }
MatrixXd SparseFactor::solve(const MatrixXd& b) const { return ldlt_.solve(b); }

Index SparseFactor::row(Index pivot) const {
  return ldlt_.permutationPinv().size() > 0 ? ldlt_.permutationPinv().indices()[pivot] : pivot;
}

std::vector<SparseFactor::Entry> SparseFactor::along(Index pivot, const std::vector<bool>& others) const {
  const auto& L = ldlt_.matrixL().nestedExpression();
  std::vector<Entry> out{{row(pivot), 1}};
  work_[pivot] = 1;
  std::vector<Index> touched{pivot};
  for (Index j = pivot; j-- > first_[static_cast<std::size_t>(pivot)];) {
    if (others[static_cast<std::size_t>(j)]) continue;
    double sum = 0;
    for (Eigen::SparseMatrix<double>::InnerIterator x(L, j); x; ++x) sum -= x.value() * work_[x.row()];
    if (sum == 0) continue;
    work_[j] = sum;
    touched.push_back(j);
    out.push_back({row(j), sum});
  }
  for (const Index j : touched) work_[j] = 0;
  return out;
}

}  // namespace mortise
