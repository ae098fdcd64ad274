#pragma once
// Tangent: the slopes of the equations of motion at one state, exact and sparse, for implicit methods.
//
//   r(q, v) = M(q) a - Q(q, v) - C(q, v) - A(q, v)' lambda      for fixed a and lambda
//   phi(q), psi(q, v)                                           the rows
//
// Each matrix is a list of entries; those at the same place add up.

#include <vector>

#include <Eigen/SparseCore>

#include <mortise/assembly/system.h>

#pragma GCC visibility push(hidden)
namespace mortise {

struct Tangent {
  using Entries = std::vector<Eigen::Triplet<double>>;
  Entries M, A;                // at the state: n x n, m x n
  Entries force_dq, force_dv;  // of r, n x n
  Entries rows_dq;             // of phi and psi, m x n; the slopes of psi along v are rows of A
};

// Rows of joints that are switched off are empty.  Throws NoDerivative, naming the part, if one is written for double
// only or needs its own reaction.
Tangent tangent(const System& system, const Evaluation& e, const VectorXd& a, const VectorXd& lambda);
inline Tangent tangent(const System& system, const State& s, const VectorXd& a, const VectorXd& lambda) {
  return tangent(system, system.evaluate(s), a, lambda);
}

}  // namespace mortise
#pragma GCC visibility pop
