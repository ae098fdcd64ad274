#pragma once
// MinimalMotion: a LinearMotion in as few numbers as it has freedoms.
//
//   eta = P x,   eta' = W w + Z x,   eta'' = Ww w + Wx x + (acceleration of a force)
//
// x: values of some variations, eta of which follow by the holonomic rows; w: rates of as many of these as all rows
// leave free.  V'(M eta'' + D eta' + K eta) = V'f with V a basis of null(A), V'M V > 0 since the motion is determined:
// V'M V is M_s of [UM23] in these coordinates.

#include <optional>
#include <vector>

#include <mortise/analysis/linear_motion.h>
#include <mortise/core/decompositions.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class MinimalMotion {
 public:
  // `preferred`: variations that are to be states if they can, in this order.
  MinimalMotion(const LinearMotion& motion, const std::vector<Index>& preferred);
  // With the states of another one.
  MinimalMotion(const LinearMotion& motion, const std::vector<Index>& positions, const std::vector<Index>& velocities);

  const std::vector<Index>& positions() const { return positions_; }    // variations
  const std::vector<Index>& velocities() const { return velocities_; }  // some of these
  const MatrixXd& P() const { return P_; }
  const MatrixXd& W() const { return W_; }
  const MatrixXd& Z() const { return Z_; }
  MatrixXd A() const;                                   // of the states (x, w)
  MatrixXd accelerations(const MatrixXd& force) const;  // eta'' that forces on the variations bring about
  const VectorXd& scale() const { return d_; }          // of the variations
  Index rank() const { return rank_; }                  // of A

 private:
  struct Choice {
    std::vector<Index> preferred;
    const std::vector<Index>*positions, *velocities;  // null: to be chosen
  };
  MinimalMotion(const LinearMotion& motion, const Choice& choice);
  MatrixXd accelerate(const MatrixXd& force, const MatrixXd& rows) const;  // M eta'' = force, A eta'' = rows

  const LinearMotion& motion_;
  VectorXd d_;
  Index rank_ = 0;
  std::vector<Index> positions_, velocities_;
  MatrixXd V_, P_, W_, Z_;
  VectorXd mass_scale_;
  std::optional<LeastSquares> rows_;  // none: nothing holds anything
  VectorXd row_scale_;
  std::optional<Cholesky> mass_;
};

// The rank of the rows of a motion: of all of them, and of the holonomic ones.
std::pair<Index, Index> ranks(const LinearMotion& motion);

}  // namespace mortise
#pragma GCC visibility pop
