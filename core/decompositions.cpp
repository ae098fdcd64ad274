#include <mortise/core/decompositions.h>

#include <algorithm>
#include <cmath>

namespace mortise {

Cholesky::Cholesky(const MatrixXd& X) : llt_(X) {}
void Cholesky::solve_into(const Eigen::Ref<const MatrixXd>& b, Eigen::Ref<MatrixXd> x) const { x = llt_.solve(b); }
MatrixXd Cholesky::upper() const { return llt_.matrixU(); }
MatrixXd Cholesky::over_lower(const MatrixXd& b) const { return llt_.matrixL().solve(b); }
MatrixXd Cholesky::over_upper(const MatrixXd& b) const { return llt_.matrixU().solve(b); }

Ldlt::Ldlt(const MatrixXd& X) : ldlt_(X) {}
void Ldlt::solve_into(const Eigen::Ref<const MatrixXd>& b, Eigen::Ref<MatrixXd> x) const { x = ldlt_.solve(b); }

Lu::Lu(const MatrixXd& X) : lu_(X) {}
void Lu::solve_into(const Eigen::Ref<const MatrixXd>& b, Eigen::Ref<MatrixXd> x) const { x = lu_.solve(b); }
MatrixXd Lu::solve_transposed(const MatrixXd& b) const { return lu_.transpose().solve(b); }

PivotedLu::PivotedLu(const MatrixXd& X) : lu_(X) {}
void PivotedLu::solve_into(const Eigen::Ref<const MatrixXd>& b, Eigen::Ref<MatrixXd> x) const { x = lu_.solve(b); }

PivotedQr::PivotedQr(const MatrixXd& X) : qr_(X) {}
void PivotedQr::solve_into(const Eigen::Ref<const MatrixXd>& b, Eigen::Ref<MatrixXd> x) const { x = qr_.solve(b); }
MatrixXd PivotedQr::basis(Index k) const { return qr_.householderQ() * MatrixXd::Identity(qr_.rows(), k); }

LeastSquares::LeastSquares(const MatrixXd& X, double zero) {
  if (zero > 0) cod_.setThreshold(zero);
  cod_.compute(X);
}
void LeastSquares::solve_into(const Eigen::Ref<const MatrixXd>& b, Eigen::Ref<MatrixXd> x) const { x = cod_.solve(b); }
MatrixXd LeastSquares::left_null_space() const {
  return MatrixXd(cod_.householderQ()).rightCols(cod_.rows() - cod_.rank());
}

void orthonormalise(MatrixXd& N) {
  if (N.cols() == 0) return;
  const MatrixXd R = N.householderQr().matrixQR().topRows(N.cols());
  R.triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(N);
}

MatrixXd orthonormal_basis(const MatrixXd& Y) {
  return Y.householderQr().householderQ() * MatrixXd::Identity(Y.rows(), Y.cols());
}
MatrixXd upper_triangle(const MatrixXd& Y) {
  const MatrixXd QR = Y.householderQr().matrixQR();
  return QR.topRows(std::min(Y.rows(), Y.cols())).triangularView<Eigen::Upper>();
}

SymmetricEigen::SymmetricEigen(const MatrixXd& X) {
  if (X.size() == 0) return;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(X);
  values = eigen.eigenvalues();
  vectors = eigen.eigenvectors();
}

Svd::Svd(const MatrixXd& X) {
  if (X.size() == 0) {
    U = MatrixXd::Identity(X.rows(), X.rows());
    V = MatrixXd::Identity(X.cols(), X.cols());
    s.resize(0);
    return;
  }
  // Not BDCSVD: that of Eigen 3.4.0 returns U diag(s) V' != X, wrong by O(1), for many block-diagonal X of more than 16
  // columns, and block-diagonal is what mass matrices are.
  const Eigen::JacobiSVD<MatrixXd> svd(X, Eigen::ComputeFullU | Eigen::ComputeFullV);
  U = svd.matrixU();
  V = svd.matrixV();
  s = svd.singularValues();
}

MatrixXd Svd::pseudo_inverse(Index rank) const {
  return V.leftCols(rank) * s.head(rank).cwiseInverse().asDiagonal() * U.leftCols(rank).transpose();
}

SquareRoot::SquareRoot(const MatrixXd& S) {
  if (S.size() == 0) {
    root = inverse_root = S;
    smallest = largest = 1;  // vacuously positive definite
    return;
  }
  const SymmetricEigen eigen(S);
  smallest = eigen.values.minCoeff();
  largest = eigen.values.maxCoeff();
  if (smallest <= 0) return;
  const VectorXd roots = eigen.values.cwiseSqrt();
  root = eigen.vectors * roots.asDiagonal() * eigen.vectors.transpose();
  inverse_root = eigen.vectors * roots.cwiseInverse().asDiagonal() * eigen.vectors.transpose();
}

ShortBasis::ShortBasis(const MatrixXd& basis, double round_off) : X(basis) {
  constexpr double stable = 0.3;  // a pivot row has at least this share of the longest one's length
  // By lengths of rows of an orthonormal basis, which are those of every other one of the same span.
  const MatrixXd Q = orthonormal_basis(basis);
  MatrixXd rest = Q;  // less what lies along the pivot rows
  for (Index k = 0; k < X.cols(); ++k) {
    const VectorXd lengths = rest.rowwise().norm();
    Index row = X.rows() - 1;
    for (const double longest = lengths.maxCoeff(); row > 0 && !(lengths[row] >= stable * longest);) --row;
    const VectorXd along = rest.row(row).transpose() / lengths[row];
    rest -= (rest * along).eval() * along.transpose();
    pivots.push_back(row);
  }
  if (X.cols() > 0) X = PivotedLu(Q(pivots, Eigen::all).transpose()).solve(Q.transpose()).transpose();
  for (std::size_t k = 0; k < pivots.size(); ++k)
    X.row(pivots[k]) = VectorXd::Unit(X.cols(), static_cast<Index>(k)).transpose();
  for (Index k = 0; k < X.cols(); ++k) {
    const double largest = X.col(k).cwiseAbs().maxCoeff();
    for (Index i = 0; i < X.rows(); ++i)
      if (std::abs(X(i, k)) < round_off * largest) X(i, k) = 0;
  }
}

}  // namespace mortise
