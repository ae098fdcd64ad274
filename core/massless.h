#pragma once
// Massless directions: a basis N0 of null(M) for one block M of a mass matrix, M symmetric positive semi-definite.
//
// They are directions, not zero diagonals: M = [m m; m m] has N0 = (-1, 1).  The other directions, R, are scaled so
// that R'M R = I; [R N0] is square and regular.

#include <vector>

#include <mortise/core/errors.h>
#include <mortise/core/types.h>

namespace mortise {

struct Massless {
  MatrixXd N0;             // n x k, M N0 = 0
  std::vector<int> pivot;  // the coordinate that stands for each column of N0

  // Directions with so little mass that the entries of M, each right to round-off, hardly tell it: the coordinate, and
  // the pivot of the block scaled to unit diagonal.  Accelerations along it are known to eps / pivot; where that is too
  // little, it counts as massless.
  struct Doubtful {
    int coordinate;
    bool counts;  // as mass
    double pivot;
  };
  std::vector<Doubtful> doubtful = {};

  // R, n x (n - k), by the factor of M = L D L' among the coordinates that were pivots, in their order; none where only
  // N0 is known.
  struct Factor {
    std::vector<int> coordinate;   // of each pivot
    std::vector<double> scale, d;  // to unit diagonal; roots of the pivots
    std::vector<int> start, row;   // columns of L below the diagonal, one after the other
    std::vector<double> value;
  } factor = {};
  Index rank() const { return N0.rows() - N0.cols(); }
  VectorXd R_times(const VectorXd& y) const;
  VectorXd R_transposed_times(const VectorXd& x) const;
  MatrixXd R() const;
};

// By LDL' with diagonal pivoting on the block scaled to unit diagonal, each of its connected parts by itself; pivots <=
// 64 n eps count as zero, n coordinates of the part; those above n eps, which may be more than round-off, are told.
// Throws NonFinite or InvalidMass, speaking as `label`; `coordinates` (may be empty) names rows in the message.
Massless massless_directions(const MatrixXd& M, const Label& label, const std::vector<std::string>& coordinates = {});

// Blocks side by side along the diagonal.
Massless stack(const std::vector<Massless>& blocks);

// Throws NonFinite or InvalidMass if M is not finite or not symmetric to 1e-12 of its scaled entries.
void require_symmetric(const MatrixXd& M, const Label& label, const std::vector<std::string>& coordinates = {});

}  // namespace mortise
