#pragma once
// Accelerations in 50 digits, from the same double M, A, Q, C, b that the library sees: dense KKT
//
//   [M_s  A_1'] [ q''_s ]   [Q_s + C_s]      scaled by core/scaling.h (exactly: D and T are doubles),
//   [A_1  0   ] [-lambda] = [b_1      ]      A_1: independent rows that span those of A_s
//
// Three things make this a reference and not a second opinion:
// * M of a body is singular only to round-off (4 E'JE), and its exact null directions N0 are known.  M_s is replaced by
//   P M_s P, P = I - N0 N0+, body by body in 50 digits: it has the rank it should have, and differs from M_s by round-off.
// * Rows that are dependent up to the rounding of their doubles would be independent in 50 digits, and their 1e-16 would
//   be solved for.  They are found on the balanced A, without masses: what others leave of them is below `dependent`.
//   A share between that and `doubtful` is nobody's certainty: such a draw has no reference.
// * K is factored in long double with full pivoting, or in 50 digits where its condition number asks for that, and
//   refined with residuals in 50 digits until the correction is below 1e-25.
//
// What M, A, Q, b themselves have lost when they were rounded (a small inertia beside m c^2, say) is lost to the
// reference, too: `distrust` tells how much that is.

#include <optional>

#include <mortise/assembly/system.h>

#include "random_equations.h"

namespace mortise::testing {

struct Reference {
  bool found = false;
  VectorXd a;        // q''
  VectorXd d;        // scale of each coordinate
  double kappa = 0;  // condition number of this matrix, by power iteration
  // Accelerations below this are as good as 0: 1e-3 of what the forces would give to free bodies; scaled and not.
  double floor = 0, plain_floor = 0;
  Index dependent = 0;  // rows left out
  double left = 0;      // the largest share that the rows kept leave of one of these, balanced
  double gap = 0;       // the largest |b - A q''| of those, scaled, in shares of |q''_s| + floor

  double distance(const VectorXd& x, const VectorXd& y) const {  // relative, in scaled coordinates
    return ratio((x - y).cwiseQuotient(d).norm(), a.cwiseQuotient(d).norm() + floor);
  }
  double error(const VectorXd& x) const { return distance(x, a); }
  // In the user's coordinates: where masses differ widely, light bodies do not show in the scaled norm.
  double plain_error(const VectorXd& x) const {
    return ratio((x - a).cwiseAbs().maxCoeff(), a.cwiseAbs().maxCoeff() + plain_floor);
  }
};

Reference quad_reference(const System& system, const Evaluation& e);
// With so many independent rows: what nearly depends on others counts as one or as the other.  None is found where no
// threshold gives this number.
Reference quad_reference(const System& system, const Evaluation& e, Index rank_A);
// By how much q'' moves when the entries of M, A, Q and b, which are results of several operations, change by 1e-15 of
// themselves; by coordinates.
VectorXd distrust(const System& system, const Evaluation& e, const Reference& reference,
                  std::optional<Index> rank_A = {});
Reference quad_reference(const Equations& e, std::optional<Index> rank_A = {});  // null(M) by blocks, as e knows it or as its blocks tell

// Singular values of X in quadruple precision, descending, and the right singular vectors, by one-sided Jacobi
// rotations.  They start from the vectors that doubles give, made orthonormal in quad, so that few sweeps are needed.
struct QuadSvd {
  VectorXd values;  // X.cols() of them
  MatrixXd V;       // rounded to doubles

  explicit QuadSvd(const MatrixXd& X);
};

}  // namespace mortise::testing
