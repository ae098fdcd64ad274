#include <mortise/analysis/minimal_motion.h>

#include <algorithm>
#include <cmath>

#include <mortise/core/rank.h>

namespace mortise {
namespace {

MatrixXd null_space(const MatrixXd& rows) {
  if (rows.rows() == 0 || rows.isZero(0)) return MatrixXd::Identity(rows.cols(), rows.cols());
  return LeastSquares(rows.transpose(), RankOptions{}.determined).left_null_space();
}

// As many rows of X as it has columns, independent: the preferred ones where they are, then always the longest beside
// those taken.
std::vector<Index> independent_rows(const MatrixXd& X, const std::vector<Index>& preferred,
                                    const std::vector<Index>& among) {
  constexpr double clearly = 0.01;
  MatrixXd rest = X;
  std::vector<Index> out;
  const auto take = [&](Index i) {
    const VectorXd along = rest.row(i).transpose().normalized();
    rest -= (rest * along).eval() * along.transpose();
    out.push_back(i);
  };
  for (const Index i : preferred)
    if (static_cast<Index>(out.size()) < X.cols() && rest.row(i).norm() > clearly) take(i);
  while (static_cast<Index>(out.size()) < X.cols()) {
    Index best = among.front();
    for (const Index i : among)
      if (rest.row(i).norm() > (1 + 1e-9) * rest.row(best).norm()) best = i;
    take(best);
  }
  return out;
}

struct ScaledRows {
  MatrixXd A;
  VectorXd d, t;
};
ScaledRows scaled_rows(const LinearMotion& motion) {
  std::vector<int> groups;
  for (const Variation& x : motion.variations) groups.push_back(x.group);
  SparseRows A = motion.A;
  const Scaling s = scale_without_masses(A, groups);
  return {MatrixXd(A), s.d, s.t};
}

}  // namespace

std::pair<Index, Index> ranks(const LinearMotion& motion) {
  const MatrixXd A = scaled_rows(motion).A;
  const Index k = motion.size();
  return {k - null_space(A).cols(), k - null_space(A.topRows(motion.holonomic)).cols()};
}

MinimalMotion::MinimalMotion(const LinearMotion& motion, const std::vector<Index>& preferred)
    : MinimalMotion(motion, Choice{preferred, nullptr, nullptr}) {}

MinimalMotion::MinimalMotion(const LinearMotion& motion, const std::vector<Index>& positions,
                             const std::vector<Index>& velocities)
    : MinimalMotion(motion, Choice{{}, &positions, &velocities}) {}

MinimalMotion::MinimalMotion(const LinearMotion& motion, const Choice& choice) : motion_(motion) {
  const ScaledRows scaled = scaled_rows(motion);
  const MatrixXd& A = scaled.A;
  const Index k = motion.size(), m = A.rows();
  d_ = scaled.d, row_scale_ = scaled.t;
  const MatrixXd V = null_space(A), V_h = null_space(A.topRows(motion.holonomic));
  rank_ = k - V.cols();

  std::vector<Index> all;
  for (Index i = 0; i < k; ++i) all.push_back(i);
  positions_ = choice.positions ? *choice.positions : independent_rows(V_h, choice.preferred, all);
  std::vector<Index> wanted;
  for (const Index i : choice.preferred)
    if (std::find(positions_.begin(), positions_.end(), i) != positions_.end()) wanted.push_back(i);
  velocities_ = choice.velocities ? *choice.velocities : independent_rows(V, wanted, positions_);
  if (static_cast<Index>(positions_.size()) != V_h.cols() || static_cast<Index>(velocities_.size()) != V.cols())
    Label{"linear motion", "states"}.fail<InvalidModel>(
        fmt::format("there are {} free positions and {} free velocities, but {} and {} are given", V_h.cols(), V.cols(),
                    positions_.size(), velocities_.size()),
        "the rank changes along this motion: take another state");

  const auto p = static_cast<Index>(positions_.size()), q = static_cast<Index>(velocities_.size());
  P_ = d_.asDiagonal() * V_h;
  if (p > 0) P_ = Lu(P_(positions_, Eigen::all).transpose()).solve(P_.transpose()).transpose();

  MatrixXd stack(m + q, k);
  stack.topRows(m) = A;
  stack.bottomRows(q).setZero();
  MatrixXd of_x = MatrixXd::Zero(m + q, p), of_w = MatrixXd::Zero(m + q, q);
  of_x.topRows(m) = -(row_scale_.asDiagonal() * MatrixXd(motion.N * P_));
  for (Index i = 0; i < q; ++i) {
    const Index at = velocities_[static_cast<std::size_t>(i)];
    stack(m + i, at) = 1;
    of_w(m + i, i) = 1 / d_[at];
  }
  W_ = MatrixXd::Zero(k, q), Z_ = MatrixXd::Zero(k, p);
  if (p > 0) {  // and then q or m is, too
    const LeastSquares rates(stack, RankOptions{}.determined);
    if (q > 0) W_ = d_.asDiagonal() * rates.solve(of_w);
    Z_ = d_.asDiagonal() * rates.solve(of_x);
  }

  if (m > 0) rows_.emplace(A, RankOptions{}.determined);
  V_ = d_.asDiagonal() * V;
  MatrixXd mass = V_.transpose() * MatrixXd(motion.M * V_);
  mass = (0.5 * (mass + mass.transpose())).eval();
  mass_scale_ = mass.diagonal().cwiseSqrt().cwiseInverse();
  if (q > 0) mass_.emplace(mass_scale_.asDiagonal() * mass * mass_scale_.asDiagonal());
}

MatrixXd MinimalMotion::accelerate(const MatrixXd& force, const MatrixXd& rows) const {
  MatrixXd out = MatrixXd::Zero(motion_.size(), force.cols());
  if (force.cols() == 0) return out;  // Eigen solves for no right side by looking at its first entry
  if (rows_) out = d_.asDiagonal() * rows_->solve(row_scale_.asDiagonal() * rows);
  const MatrixXd left = V_.transpose() * (force - motion_.M * out);
  if (V_.cols() > 0) out += V_ * (mass_scale_.asDiagonal() * mass_->solve(MatrixXd(mass_scale_.asDiagonal() * left)));
  return out;
}

MatrixXd MinimalMotion::accelerations(const MatrixXd& force) const {
  return accelerate(force, MatrixXd::Zero(motion_.A.rows(), force.cols()));
}

MatrixXd MinimalMotion::A() const {
  const auto p = static_cast<Index>(positions_.size()), q = static_cast<Index>(velocities_.size());
  const LinearMotion& l = motion_;
  const MatrixXd of_x = accelerate(-(l.K * P_ + l.D * Z_), -(l.H * P_ + l.G * Z_));
  const MatrixXd of_w = accelerate(-(l.D * W_), -(l.G * W_));
  MatrixXd out(p + q, p + q);
  out.topLeftCorner(p, p) = Z_(positions_, Eigen::all);
  out.topRightCorner(p, q) = W_(positions_, Eigen::all);
  out.bottomLeftCorner(q, p) = of_x(velocities_, Eigen::all);
  out.bottomRightCorner(q, q) = of_w(velocities_, Eigen::all);
  return out;
}

}  // namespace mortise
