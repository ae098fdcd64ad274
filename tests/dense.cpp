#include "dense.h"

#include <Eigen/Dense>

namespace mortise::testing {

Index rank(const MatrixXd& X) { return X.size() ? Eigen::FullPivLU<MatrixXd>(X).rank() : 0; }

Index dense_rank(MatrixXd A) {
  for (Index i = 0; i < A.rows(); ++i)
    if (const double length = A.row(i).norm(); length > 0) A.row(i) /= length;
  return (Eigen::BDCSVD<MatrixXd>(A).singularValues().array() > 1e-9).count();
}

VectorXd singular_values(const MatrixXd& X) { return Eigen::JacobiSVD<MatrixXd>(X).singularValues(); }

MatrixXd pseudo_inverse(const MatrixXd& X) {
  if (X.size() == 0 || X.norm() < 1e-10) return MatrixXd::Zero(X.cols(), X.rows());
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> decomposition;
  decomposition.setThreshold(1e-10);
  return decomposition.compute(X).pseudoInverse();
}

MatrixXd root(const MatrixXd& X) { return Eigen::SelfAdjointEigenSolver<MatrixXd>(X).operatorSqrt(); }
MatrixXd inverse_root(const MatrixXd& X) { return Eigen::SelfAdjointEigenSolver<MatrixXd>(X).operatorInverseSqrt(); }
MatrixXd eigenvectors(const MatrixXd& X) { return Eigen::SelfAdjointEigenSolver<MatrixXd>(X).eigenvectors(); }

VectorXd eigenvalues(const MatrixXd& K, const MatrixXd& M) {
  return Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd>(K, M).eigenvalues();
}

MatrixXd solve_symmetric(const MatrixXd& K, const MatrixXd& right) { return K.ldlt().solve(right); }

}  // namespace mortise::testing
