#include <mortise/core/sparse_factor.h>

#include <algorithm>
#include <numeric>

namespace mortise {

void SparseFactor::Ldlt::analyze(const Eigen::SparseMatrix<double>& S) {
  // Both triangles, and the room that the ordering needs beside them.
  const Index n = S.cols();
  Eigen::SparseMatrix<char> pattern(n, n);
  int* const first = pattern.outerIndexPtr();
  const auto each = [&](const auto& f) {
    for (Index j = 0; j < n; ++j)
      for (Eigen::SparseMatrix<double>::InnerIterator x(S, j); x; ++x) {
        f(x.row(), j);
        if (x.row() != j) f(j, x.row());
      }
  };
  each([&](Index, Index column) { ++first[column + 1]; });
  std::partial_sum(first, first + n + 1, first);
  const Index entries = first[n];
  pattern.reserve(entries + entries / 5 + 2 * n);
  pattern.resizeNonZeros(entries);
  std::vector<int> next(first, first + n);
  each([&](Index row, Index column) {
    pattern.innerIndexPtr()[next[static_cast<std::size_t>(column)]++] = static_cast<int>(row);
  });
  Eigen::internal::minimum_degree_ordering(pattern, m_Pinv);
  m_P = m_Pinv.inverse();
  CholMatrixType ordered(S.rows(), S.cols());
  ordered.selfadjointView<Eigen::Upper>() = S.selfadjointView<Eigen::Lower>().twistedBy(m_P);
  analyzePattern_preordered(ordered, true);
}

bool SparseFactor::compute(const Eigen::SparseMatrix<double>& S) {
  if (S.nonZeros() != entries_) {
    ldlt_.analyze(S);
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
