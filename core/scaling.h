#pragma once
// Scaling: the choice of units in which a mechanism's matrices are well balanced.
//
//   M_s = D M D,   A_s = T A D,   Q_s = D Q,   b_s = T b,   q'' = D q''_s,   Qc = D^-1 Qc_s
//
// D and T follow the user's units exactly (metres to millimetres, kilograms to tonnes), so what is computed in scaled
// coordinates does not depend on them.  Coordinates of one group (the translations of one body, say) share one scale: a
// coordinate whose only entry is cos(90 deg) = 6e-17 must not be blown up to 1.

#include <vector>

#include <Eigen/SparseCore>

#include <mortise/core/types.h>

#pragma GCC visibility push(hidden)
namespace mortise {

using SparseRows = Eigen::SparseMatrix<double, Eigen::RowMajor>;

struct Scaling {
  VectorXd d;  // per coordinate
  VectorXd t;  // per row
};

// d = M_jj^-1/2 where there is mass; from there outwards along the rows, each row in the units of the coordinates it
// touches, each massless coordinate in the units of its rows.  A component without any mass is equilibrated by itself;
// the ratio of forces to accelerations, which masses set elsewhere, is chosen there so that the largest force (|Q| +
// |C|, per coordinate) and the largest b come out equal: else one would drown in the round-off of the other.
Scaling scaling(const VectorXd& diagonal_of_M, const SparseRows& A, const std::vector<int>& groups,
                const VectorXd& force, const VectorXd& b);
Scaling scaling(const VectorXd& diagonal_of_M, const MatrixXd& A, const std::vector<int>& groups, const VectorXd& force,
                const VectorXd& b);

// The same without masses, found from A alone: each connected part from one of its coordinates outwards, then balanced.
// A becomes the scaled one.
Scaling scale_without_masses(SparseRows& A, const std::vector<int>& groups);

// Factors r, c that bring the largest entry of every row and of every group of columns of |P| near 1, geometrically.
// Empty rows and columns get 1.  Entries below this share of the largest of their row do not count.
struct Balance {
  VectorXd r, c;
};
Balance balance(const MatrixXd& P, const std::vector<int>& groups);
Balance balance(const SparseRows& P, const std::vector<int>& groups, double ignored = 0);

// X becomes diag(rows) X diag(columns).
void scale(SparseRows& X, const VectorXd& rows, const VectorXd& columns);

// groups = {0, 1, 2, ...}: every coordinate by itself.
std::vector<int> separate_groups(Index n);

}  // namespace mortise
#pragma GCC visibility pop
