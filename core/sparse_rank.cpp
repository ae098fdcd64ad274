#include <mortise/core/sparse_rank.h>

#include <algorithm>
#include <cmath>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseQR>

namespace mortise {
namespace {

using SparseColumns = Eigen::SparseMatrix<double>;
constexpr double round_off = 1e-9;  // of the largest entry of a vector: taken as 0

// X = Q [R S; 0 0] P': the columns that depend on others stand last.
struct Dependent {
  Eigen::SparseQR<SparseColumns, Eigen::COLAMDOrdering<int>> qr;
  Index columns, rank;

  Dependent(SparseColumns X, double threshold) : columns(X.cols()), rank(0) {
    if (X.rows() == 0 || X.cols() == 0) return;
    X.makeCompressed();
    qr.setPivotThreshold(threshold);
    qr.compute(X);
    rank = qr.rank();
  }
  Index column(Index k) const { return X_is_empty() ? k : qr.colsPermutation().indices()[k]; }
  bool X_is_empty() const { return qr.rows() == 0 || qr.cols() == 0; }

  // X x = 0 with 1 in the k-th dependent column and 0 in the other ones.
  std::vector<SparseRank::Entry> null(Index k) const { return combination(rank + k); }
  // The column of the smallest pivot kept, as others make it up as far as they can.
  std::optional<double> smallest(Index& where) const {
    std::optional<double> least;
    for (Index i = 0; i < rank; ++i)
      if (const double r = std::abs(qr.matrixR().coeff(i, i)); !least || r < *least) least = r, where = i;
    return least;
  }
  std::vector<SparseRank::Entry> combination(Index k) const {
    const Index r = std::min(k, rank);
    VectorXd x = VectorXd::Zero(r);
    if (r > 0) {
      for (SparseColumns::InnerIterator s(qr.matrixR(), k); s; ++s)
        if (s.row() < r) x[s.row()] = -s.value();
      x = qr.matrixR().topLeftCorner(r, r).triangularView<Eigen::Upper>().solve(x).eval();
    }
    const double largest = std::max(1.0, r > 0 ? x.cwiseAbs().maxCoeff() : 0);
    std::vector<SparseRank::Entry> out;
    for (Index i = 0; i < r; ++i)
      if (std::abs(x[i]) >= round_off * largest) out.push_back({column(i), x[i]});
    out.push_back({column(k), 1});
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.i < b.i; });
    return out;
  }
};

double largest(const std::vector<SparseRank::Entry>& x) {
  double out = 0;
  for (const auto& e : x) out = std::max(out, std::abs(e.value));
  return out;
}

}  // namespace

SparseRank sparse_rank(const SparseEquations& e, const RankOptions& options) {
  SparseRank r;
  const Index n = e.A.cols(), m = e.A.rows(), k = e.N0.cols();
  const Scaling scale = scaling(e.mass, e.A, e.groups, e.force, e.b);

  // A N0, balanced by |A||N0|.
  VectorXd c0(k);
  std::vector<int> column_groups;
  for (Index j = 0; j < k; ++j) {
    const int pivot = e.pivot[static_cast<std::size_t>(j)];
    c0[j] = scale.d[pivot];
    column_groups.push_back(e.groups[static_cast<std::size_t>(pivot)]);
  }
  const SparseRows terms = SparseRows(e.A.cwiseAbs() * e.N0.cwiseAbs());
  const Balance f = balance(SparseRows(scale.t.asDiagonal() * terms * c0.asDiagonal()), column_groups);
  const VectorXd rows = f.r.cwiseProduct(scale.t), columns = f.c.cwiseProduct(c0);
  const SparseRows product = e.A * e.N0;
  const SparseColumns B = SparseColumns(SparseRows(rows.asDiagonal() * product * columns.asDiagonal()));
  const Dependent hold(B, options.determined);
  Index where = 0;
  r.rank_M = n - k;
  r.rank_MA = r.rank_M + hold.rank;
  r.kept = hold.smallest(where);
  const SparseColumns N0 = SparseColumns(e.N0);
  for (Index j = 0; j < k - hold.rank; ++j) {
    VectorXd x = VectorXd::Zero(k);
    for (const auto& entry : hold.null(j)) x[entry.i] = entry.value;
    const double residual = m > 0 ? (B * x).norm() / x.norm() : 0;
    r.dropped = std::max(r.dropped.value_or(0), residual);
    const VectorXd direction = N0 * columns.cwiseProduct(x), share = direction.cwiseAbs().cwiseQuotient(scale.d);
    const double most = share.maxCoeff();
    Index first = 0;  // of the largest entries, as in core/rank.cpp
    while (share[first] < most * (1 - 1e-9)) ++first;
    r.N.emplace_back();
    r.shares.emplace_back();
    for (Index i = 0; i < n; ++i)
      if (direction[i] != 0) {
        r.N.back().push_back({i, direction[i] / direction[first]});
        r.shares.back().push_back({i, share[i] / most});
      }
  }

  // Dependent rows are dependent columns of A'.
  const Scaling even = scaling(VectorXd::Zero(n), e.A, e.groups, VectorXd::Zero(n), VectorXd::Zero(m));
  const SparseRows Ae = even.t.asDiagonal() * e.A * even.d.asDiagonal();
  const Balance g = balance(Ae, e.groups);
  const Dependent sets(SparseColumns(SparseRows(g.r.asDiagonal() * Ae * g.c.asDiagonal()).transpose()),
                       options.redundant);
  r.rank_A = sets.rank;
  r.smallest_row = sets.smallest(where);
  if (r.smallest_row && *r.smallest_row < options.nearly) {
    r.nearly = sets.combination(where);
    const double most = largest(r.nearly);
    for (auto& entry : r.nearly) entry.value = std::abs(entry.value) / most;
  }
  const VectorXd Qs = scale.d.cwiseProduct(e.force);
  for (Index j = 0; j < m - sets.rank; ++j) {
    SparseRank::Set set{sets.null(j), 0, 0, 0, true};
    set.row = sets.column(sets.rank + j);
    VectorXd ys = VectorXd::Zero(m);
    for (auto& entry : set.y) {
      entry.value *= even.t[entry.i] * g.r[entry.i];
      ys[entry.i] = entry.value / scale.t[entry.i];
    }
    const Gap gap = gap_of(ys, e.A, scale.t.cwiseProduct(e.b), scale.t.cwiseProduct(e.b_size), Qs, options);
    set.scaled_gap = gap.scaled;
    set.consistent = gap.consistent;
    const double most = largest(set.y);
    double sum = 0;
    for (auto& entry : set.y) entry.value /= most, sum += entry.value * e.b[entry.i];
    set.gap = std::abs(sum);
    r.redundant.push_back(std::move(set));
  }
  std::sort(r.redundant.begin(), r.redundant.end(), [](const auto& a, const auto& b) { return a.row < b.row; });
  return r;
}

SparseRank in_sparse_form(const Rank& rank) {
  SparseRank r{rank.rank_M, rank.rank_A, rank.rank_MA, rank.kept, rank.dropped, {}, {}, {}, rank.smallest_row, {}};
  const auto entries = [](const VectorXd& x) {
    std::vector<SparseRank::Entry> out;
    for (Index i = 0; i < x.size(); ++i)
      if (x[i] != 0) out.push_back({i, x[i]});
    return out;
  };
  for (Index k = 0; k < rank.N.cols(); ++k) {
    r.N.push_back(entries(rank.N.col(k)));
    r.shares.push_back(entries(rank.shares.col(k)));
  }
  for (const RowSet& s : rank.redundant)
    r.redundant.push_back({entries(s.y), s.row, s.gap, s.scaled_gap, s.consistent});
  r.nearly = entries(rank.nearly);
  return r;
}

}  // namespace mortise
