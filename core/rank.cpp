#include <mortise/core/rank.h>

#include <algorithm>
#include <cmath>

#include <mortise/core/decompositions.h>
#include <mortise/core/scaling.h>
#include <mortise/core/sparse_rank.h>

namespace mortise {
namespace {

void require_vector(const VectorXd& x, Index size, const std::string& name, const std::string& expected) {
  const Label label{"vector", name};
  if (x.size() != size)
    label.fail<WrongSize>(fmt::format("has {} entries", x.size()), fmt::format("give {} ({})", size, expected));
  for (Index i = 0; i < size; ++i)
    if (!std::isfinite(x[i])) label.fail<NonFinite>(fmt::format("entry {} is {}", i, x[i]), "give finite numbers");
}

Massless massless_of(const Equations& e) {
  if (e.massless) return *e.massless;
  const Label label{"matrix", "M"};
  if (e.blocks.empty()) return massless_directions(e.M, label);
  std::vector<Massless> blocks;
  Index first = 0;
  for (const int size : e.blocks) {
    blocks.push_back(massless_directions(e.M.block(first, first, size, size), label));
    first += size;
  }
  return stack(blocks);
}

}  // namespace

void require_valid(const Equations& e) {
  const Index n = e.M.rows(), m = e.A.rows();
  require_symmetric(e.M, {"matrix", "M"});
  require_vector(e.Q, n, "Q", "one per coordinate");
  if (e.A.cols() != n)
    Label{"matrix", "A"}.fail<WrongSize>(fmt::format("is {} x {}", m, e.A.cols()),
                                         fmt::format("give {} columns, one per coordinate", n));
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < m; ++i)
      if (!std::isfinite(e.A(i, j)))
        Label{"matrix", "A"}.fail<NonFinite>(fmt::format("entry ({}, {}) is {}", i, j, e.A(i, j)),
                                             "give finite numbers");
  require_vector(e.b, m, "b", "one per row of A");
  if (e.b_size.size() > 0) require_vector(e.b_size, m, "b_size", "one per row of A");
  if (e.C.size() > 0) require_vector(e.C, n, "C", "one per coordinate");
  Index covered = 0;
  for (const int size : e.blocks) {
    if (size < 1)
      Label{"list", "blocks"}.fail<WrongSize>(fmt::format("has a block of size {}", size), "give sizes >= 1");
    covered += size;
  }
  if (!e.blocks.empty() && covered != n)
    Label{"list", "blocks"}.fail<WrongSize>(fmt::format("the block sizes add up to {}", covered),
                                            fmt::format("they must add up to {}, the size of M", n));
  Index first = 0;
  for (const int size : e.blocks) {
    const auto below = e.M.block(first + size, first, n - first - size, size);
    if (!below.isZero(0))
      Label{"matrix", "M"}.fail<InvalidMass>(
          fmt::format("has an entry {} outside the diagonal block of coordinates {} to {}", below.cwiseAbs().maxCoeff(),
                      first, first + size - 1),
          "give the blocks of this M, or none");
    first += size;
  }
  if (!e.groups.empty() && static_cast<Index>(e.groups.size()) != n)
    Label{"list", "groups"}.fail<WrongSize>(fmt::format("has {} entries", e.groups.size()),
                                            fmt::format("give {} (one per coordinate)", n));
  for (const int group : e.groups)
    if (group < 0) Label{"list", "groups"}.fail<InvalidModel>(fmt::format("has the number {}", group), "number from 0");
  if (e.massless &&
      (e.massless->N0.rows() != n || e.massless->N0.cols() != static_cast<Index>(e.massless->pivot.size())))
    Label{"basis", "massless"}.fail<WrongSize>(fmt::format("is {} x {} with {} pivots", e.massless->N0.rows(),
                                                           e.massless->N0.cols(), e.massless->pivot.size()),
                                               fmt::format("give {} rows and one pivot per column", n));
  if (e.massless) {
    if (!e.massless->N0.allFinite())
      Label{"basis", "massless"}.fail<NonFinite>("has an entry that is NaN or Inf", "give finite numbers");
    for (const int pivot : e.massless->pivot)
      if (pivot < 0 || pivot >= n)
        Label{"basis", "massless"}.fail<InvalidModel>(fmt::format("has the pivot {}", pivot),
                                                      fmt::format("give coordinates from 0 to {}", n - 1));
  }
}

bool Rank::consistent() const {
  return std::all_of(redundant.begin(), redundant.end(), [](const RowSet& s) { return s.consistent; });
}

bool Rank::unique_reaction(Index row) const {
  return std::all_of(redundant.begin(), redundant.end(), [&](const RowSet& s) { return s.y[row] == 0; });
}

// A gap is judged against the terms of b and, for round-off alone, against the accelerations of what the rows touch and
// of all others.
Gap gap_of(const VectorXd& y, const SparseRows& A, const VectorXd& b, const VectorXd& b_size, const VectorXd& force,
           const RankOptions& options) {
  constexpr double round_off = 1e-12, negligible = 1e-18;
  double accelerations = negligible / round_off * (force.size() > 0 ? force.maxCoeff() : 0), terms = 0;
  for (Index i = 0; i < y.size(); ++i) {
    if (y[i] == 0) continue;
    terms += std::abs(y[i]) * std::max(std::abs(b[i]), b_size[i]);
    for (SparseRows::InnerIterator x(A, i); x; ++x)
      if (x.value() != 0) accelerations = std::max(accelerations, force[x.col()]);
  }
  const double gap = std::abs(y.dot(b)), floor = round_off * y.cwiseAbs().sum() * accelerations;
  return {terms > 0 ? gap / terms : 0, gap <= options.conflict * terms + floor};
}

Rank numerical_rank(const Equations& e, const RankOptions& options) {
  require_valid(e);
  Rank r;
  r.options = options;
  r.n = e.M.rows();
  r.m = e.A.rows();
  const std::vector<int> groups = e.groups.empty() ? separate_groups(r.n) : e.groups;
  const VectorXd C = e.C.size() > 0 ? e.C : VectorXd::Zero(r.n);
  const Scaling scale = scaling(e.M.diagonal(), e.A, groups, e.Q.cwiseAbs() + C.cwiseAbs(), e.b);

  // Determined?  Start from the scales that follow the units, then forget the masses by balancing |A||N0|.
  const Massless massless = massless_of(e);
  const MatrixXd& N0 = massless.N0;
  r.rank_M = massless.rank();
  VectorXd c0(N0.cols());
  std::vector<int> column_groups;
  for (Index k = 0; k < N0.cols(); ++k) {
    const int pivot = massless.pivot[static_cast<std::size_t>(k)];
    c0[k] = scale.d[pivot];
    column_groups.push_back(groups[static_cast<std::size_t>(pivot)]);
  }
  const MatrixXd P = scale.t.asDiagonal() * (e.A.cwiseAbs() * N0.cwiseAbs()) * c0.asDiagonal();
  const Balance f = balance(P, column_groups);
  const VectorXd rows = f.r.cwiseProduct(scale.t), columns = f.c.cwiseProduct(c0);
  const Svd svd(rows.asDiagonal() * (e.A * N0) * columns.asDiagonal());
  r.values = VectorXd::Zero(N0.cols());
  r.values.head(svd.s.size()) = svd.s;
  const Index held = (r.values.array() > options.determined).count();
  r.rank_MA = r.rank_M + held;
  if (held > 0) r.kept = r.values[held - 1];
  if (held < N0.cols()) r.dropped = r.values[held];

  // Free directions N = N0 null(A N0), recombined to be short, in the user's coordinates.
  r.N = N0 * columns.asDiagonal() * ShortBasis(svd.null_space(held)).X;
  r.shares = scale.d.cwiseInverse().asDiagonal() * r.N.cwiseAbs();
  for (Index k = 0; k < r.N.cols(); ++k) {
    r.shares.col(k) /= r.shares.col(k).maxCoeff();
    Index first = 0;  // of the largest entries, so that round-off does not choose between equals
    while (r.shares(first, k) < 1 - 1e-9) ++first;
    r.N.col(k) /= r.N(first, k);
  }

  // Dependent rows, judged on A alone, without regard to masses.
  const Scaling even = scaling(VectorXd::Zero(r.n), e.A, groups, VectorXd::Zero(r.n), VectorXd::Zero(r.m));
  const MatrixXd Ae = even.t.asDiagonal() * e.A * even.d.asDiagonal();
  const Balance g = balance(Ae, groups);
  const Svd svd_A(g.r.asDiagonal() * Ae * g.c.asDiagonal());
  r.rank_A = svd_A.count_above(options.redundant);
  if (r.rank_A > 0) r.smallest_row = svd_A.s[r.rank_A - 1];
  if (r.rank_A > 0 && *r.smallest_row < options.nearly) r.nearly = svd_A.U.col(r.rank_A - 1).cwiseAbs();

  const VectorXd bs = scale.t.cwiseProduct(e.b), Qs = scale.d.cwiseProduct(e.Q.cwiseAbs() + C.cwiseAbs());
  const VectorXd terms = scale.t.cwiseProduct(e.b_size.size() ? e.b_size : VectorXd::Zero(r.m));
  const SparseRows sparse = r.rank_A < r.m ? SparseRows(e.A.sparseView(0, 0)) : SparseRows();
  const ShortBasis sets(svd_A.left_null_space(r.rank_A));
  for (Index k = 0; k < sets.X.cols(); ++k) {
    RowSet set;
    set.row = sets.pivots[static_cast<std::size_t>(k)];
    set.y = even.t.cwiseProduct(g.r.cwiseProduct(sets.X.col(k)));
    const VectorXd ys = set.y.cwiseQuotient(scale.t);
    const Gap gap = gap_of(ys, sparse, bs, terms, Qs, options);
    set.scaled_gap = gap.scaled;
    set.consistent = gap.consistent;
    set.y /= set.y.cwiseAbs().maxCoeff();
    set.gap = std::abs(set.y.dot(e.b));
    r.redundant.push_back(std::move(set));
  }
  std::sort(r.redundant.begin(), r.redundant.end(), [](const RowSet& a, const RowSet& b) { return a.row < b.row; });
  return r;
}

}  // namespace mortise
