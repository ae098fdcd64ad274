#pragma once
// Eigen's decompositions of dense matrices, compiled once for all tests, which are dear to compile wherever they stand.

#include <mortise/core/types.h>

namespace mortise::testing {

Index rank(const MatrixXd& X);                               // by full pivoting
Index dense_rank(MatrixXd A);                                // singular values above 1e-9, of rows of unit length
VectorXd singular_values(const MatrixXd& X);                 // descending
MatrixXd pseudo_inverse(const MatrixXd& X);                  // singular values below 1e-10 are 0
MatrixXd root(const MatrixXd& X);                            // X^1/2, X symmetric
MatrixXd inverse_root(const MatrixXd& X);                    // X^-1/2
MatrixXd eigenvectors(const MatrixXd& X);                    // of a symmetric X, values ascending
VectorXd eigenvalues(const MatrixXd& K, const MatrixXd& M);  // of K x = value M x, ascending
MatrixXd solve_symmetric(const MatrixXd& K, const MatrixXd& right);  // K^-1 right

}  // namespace mortise::testing
