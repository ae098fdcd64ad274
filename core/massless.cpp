#include <mortise/core/massless.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace mortise {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double doubtful_pivot = 1e-8;  // M may be off by eps: more than half of the digits are lost

std::string entry(const std::vector<std::string>& names, Index i, Index j) {
  if (static_cast<Index>(names.size()) <= std::max(i, j)) return fmt::format("({}, {})", i, j);
  return fmt::format("({}, {})", names[static_cast<std::size_t>(i)], names[static_cast<std::size_t>(j)]);
}

}  // namespace

void require_symmetric(const MatrixXd& M, const Label& label, const std::vector<std::string>& names) {
  constexpr double tolerance = 1e-12;  // of sqrt(M_ii M_jj) + the two entries
  if (M.rows() != M.cols())
    label.fail<WrongSize>(fmt::format("the mass matrix is {} x {}", M.rows(), M.cols()), "give a square matrix");
  for (Index j = 0; j < M.cols(); ++j)
    for (Index i = 0; i < M.rows(); ++i)
      if (!std::isfinite(M(i, j)))
        label.fail<NonFinite>(fmt::format("mass matrix entry {} is {}", entry(names, i, j), M(i, j)),
                              "give finite masses");
  for (Index j = 0; j < M.cols(); ++j)
    for (Index i = 0; i < j; ++i) {
      const double size = std::sqrt(std::abs(M(i, i) * M(j, j))) + std::abs(M(i, j)) + std::abs(M(j, i));
      if (std::abs(M(i, j) - M(j, i)) > tolerance * size)
        label.fail<InvalidMass>(fmt::format("the mass matrix is not symmetric: {} = {} but {} = {}", entry(names, i, j),
                                            M(i, j), entry(names, j, i), M(j, i)),
                                "give a symmetric matrix");
    }
}

Massless massless_directions(const MatrixXd& M, const Label& label, const std::vector<std::string>& names) {
  require_symmetric(M, label, names);
  const Index n = M.rows();
  const double tolerance = 64 * static_cast<double>(n) * eps;
  const auto indefinite = [&](const std::string& fact) {
    label.fail<InvalidMass>("the mass matrix is not positive semi-definite: " + fact,
                            "no motion may have negative kinetic energy; correct the masses");
  };

  // Scale to unit diagonal.  M_jj = 0 requires a zero row.
  VectorXd d = VectorXd::Zero(n);
  for (Index j = 0; j < n; ++j) {
    if (M(j, j) < 0) indefinite(fmt::format("{} = {} is negative", entry(names, j, j), M(j, j)));
    if (M(j, j) > 0) d[j] = 1 / std::sqrt(M(j, j));
    for (Index i = 0; M(j, j) == 0 && i < n; ++i)
      if (M(i, j) != 0) indefinite(fmt::format("{} is 0 but {} = {}", entry(names, j, j), entry(names, i, j), M(i, j)));
  }
  // Equal pivots go by their order, not by their rounding: the choice must not depend on units.
  constexpr double clearly = 1 + 1e-9;
  MatrixXd S = d.asDiagonal() * M * d.asDiagonal();  // becomes the Schur complement of the pivots taken so far
  MatrixXd L = MatrixXd::Zero(n, n);                 // unit lower triangular in the order of the pivots
  std::vector<Index> taken;
  std::vector<double> pivots;
  std::vector<Massless::Doubtful> doubtful;
  std::vector<bool> done(static_cast<std::size_t>(n), false);
  const auto left = [&](Index j) { return !done[static_cast<std::size_t>(j)]; };
  for (;;) {
    Index p = -1;
    for (Index j = 0; j < n; ++j)
      if (left(j) && (p < 0 || S(j, j) > clearly * S(p, p))) p = j;
    if (p < 0 || S(p, p) <= tolerance) break;
    done[static_cast<std::size_t>(p)] = true;
    const auto k = static_cast<Index>(taken.size());
    taken.push_back(p);
    pivots.push_back(S(p, p));
    if (S(p, p) < doubtful_pivot) doubtful.push_back({static_cast<int>(p), S(p, p)});
    L(p, k) = 1;
    for (Index i = 0; i < n; ++i)
      if (left(i)) L(i, k) = S(i, p) / S(p, p);
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i)
        if (left(i) && left(j)) S(i, j) -= L(i, k) * S(p, p) * L(j, k);
  }

  // What remains must vanish: a negative or an off-diagonal remainder is negative kinetic energy.
  std::vector<Index> rest;
  for (Index j = 0; j < n; ++j)
    if (left(j)) rest.push_back(j);
  const double negative = 100 * tolerance;
  for (const Index i : rest)
    for (const Index j : rest)
      if (S(i, i) < -negative || std::abs(S(i, j)) > std::sqrt(negative))
        indefinite(fmt::format("scaled to unit diagonal it has a pivot near {:.1e} at {}",
                               std::min(S(i, i), -std::abs(S(i, j))), entry(names, i, j)));

  // N0 = [-M_rr^-1 M_rs; I]:  L_rr' x = -L_sr', in scaled coordinates.
  const auto r = static_cast<Index>(taken.size()), s = static_cast<Index>(rest.size());
  Massless result{MatrixXd::Zero(n, s), {}, MatrixXd::Zero(n, r)};
  MatrixXd Lrr(r, r), Lsr(s, r);
  for (Index k = 0; k < r; ++k) {
    for (Index i = 0; i < r; ++i) Lrr(i, k) = L(taken[static_cast<std::size_t>(i)], k);
    for (Index i = 0; i < s; ++i) Lsr(i, k) = L(rest[static_cast<std::size_t>(i)], k);
  }
  MatrixXd X = -Lsr.transpose();
  if (X.size() > 0) Lrr.transpose().triangularView<Eigen::UnitUpper>().solveInPlace(X);
  for (Index c = 0; c < s; ++c) {
    const Index j = rest[static_cast<std::size_t>(c)];
    result.N0(j, c) = 1;
    for (Index i = 0; i < r; ++i) {
      const Index k = taken[static_cast<std::size_t>(i)];
      if (d[j] > 0) result.N0(k, c) = d[k] / d[j] * X(i, c);
    }
    result.pivot.push_back(static_cast<int>(j));
  }
  result.doubtful = std::move(doubtful);

  // M_rr = L_rr diag(pivots) L_rr' in scaled coordinates:  R = L_rr^-T diag(pivots)^-1/2.
  MatrixXd Y = MatrixXd::Identity(r, r);
  if (r > 0) Lrr.transpose().triangularView<Eigen::UnitUpper>().solveInPlace(Y);
  for (Index c = 0; c < r; ++c)
    for (Index i = 0; i < r; ++i) {
      const Index k = taken[static_cast<std::size_t>(i)];
      result.R(k, c) = d[k] * Y(i, c) / std::sqrt(pivots[static_cast<std::size_t>(c)]);
    }
  return result;
}

Massless stack(const std::vector<Massless>& blocks) {
  Index n = 0, k = 0;
  for (const Massless& b : blocks) n += b.N0.rows(), k += b.N0.cols();
  Massless all{MatrixXd::Zero(n, k), {}};
  n = k = 0;
  for (const Massless& b : blocks) {
    all.N0.block(n, k, b.N0.rows(), b.N0.cols()) = b.N0;
    for (const int p : b.pivot) all.pivot.push_back(static_cast<int>(n) + p);
    for (const auto& d : b.doubtful) all.doubtful.push_back({static_cast<int>(n) + d.coordinate, d.pivot});
    n += b.N0.rows(), k += b.N0.cols();
  }
  return all;
}

}  // namespace mortise
