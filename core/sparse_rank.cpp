#include <mortise/core/sparse_rank.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <mortise/core/errors.h>
#include <mortise/core/tolerances.h>

namespace mortise {
namespace {

using SparseColumns = Eigen::SparseMatrix<double>;

double largest(const SparseList& x) {
  double out = 0;
  for (const auto& e : x) out = std::max(out, std::abs(e.value));
  return out;
}

// Do the rows of a set agree?  All in scaled rows and coordinates: y of the set, A, b, the size of b's terms, forces.
// A gap is judged against the terms of b and, for round-off alone, against the accelerations of what the rows touch and
// of all others.  `left`, the sum of |y'A|: rows that depend on each other nearly may disagree by that much of them.
struct Gap {
  double scaled;
  bool consistent;
};
Gap gap_of(const SparseList& y, double left, const SparseRows& A, const VectorXd& b, const VectorXd& b_size,
           const VectorXd& force, const RankOptions& options) {
  const double most = std::max(force.size() > 0 ? force.maxCoeff() : 0, b.cwiseAbs().maxCoeff());
  double accelerations = tolerance::same_b_of_forces / tolerance::same_b * most, terms = 0, sum = 0, length = 0;
  for (const auto& [i, value] : y) {
    terms += std::abs(value) * std::max(std::abs(b[i]), b_size[i]);
    sum += value * b[i];
    length += std::abs(value);
    for (SparseRows::InnerIterator x(A, i); x; ++x)
      if (x.value() != 0) accelerations = std::max(accelerations, force[x.col()]);
  }
  const double gap = std::abs(sum);
  return {terms > 0 ? gap / terms : 0,
          gap <= options.conflict * terms + tolerance::same_b * length * accelerations + left * most};
}

// The largest entries of each group of rows, or of columns, of |X|.
SparseRows largest_of_groups(const SparseRows& X, const std::vector<int>& groups, bool of_rows) {
  using Triplet = Eigen::Triplet<double>;
  const int count = groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end()) + 1;
  std::vector<Triplet> entries;
  entries.reserve(static_cast<std::size_t>(X.nonZeros()));
  for (Index i = 0; i < X.outerSize(); ++i)
    for (SparseRows::InnerIterator x(X, i); x; ++x) {
      const int group = groups[static_cast<std::size_t>(of_rows ? x.row() : x.col())];
      entries.emplace_back(of_rows ? group : static_cast<int>(x.row()), of_rows ? static_cast<int>(x.col()) : group,
                           std::abs(x.value()));
    }
  SparseRows out(of_rows ? count : X.rows(), of_rows ? X.cols() : count);
  out.setFromTriplets(entries.begin(), entries.end(), [](double a, double b) { return std::max(a, b); });
  return out;
}

// A N, with 0 for what is round-off of its terms; and what its entries are judged by, |A||N| of groups of coordinates:
// a row that touches a body's turns counts with all of them, however the axes of the body lie, so that one that
// touches a massless turn by round-off alone does not hold it.
std::pair<SparseRows, SparseRows> product_and_terms(const SparseRows& A, const SparseRows& N,
                                                    const std::vector<int>& groups) {
  SparseRows product(A.rows(), N.cols());
  if (N.cols() == 0) return {product, product};
  struct Sum {
    double value = 0, terms = 0;
    Index row = -1;
  };
  std::vector<Sum> sums(static_cast<std::size_t>(N.cols()));
  std::vector<Index> touched;
  for (Index i = 0; i < A.rows(); ++i) {
    touched.clear();
    for (SparseRows::InnerIterator a(A, i); a; ++a)
      for (SparseRows::InnerIterator n(N, a.col()); n; ++n) {
        Sum& sum = sums[static_cast<std::size_t>(n.col())];
        if (sum.row != i) sum = {0, 0, i}, touched.push_back(n.col());
        sum.value += a.value() * n.value();
        sum.terms += std::abs(a.value() * n.value());
      }
    std::sort(touched.begin(), touched.end());
    product.startVec(i);
    for (const Index j : touched) {
      const Sum& sum = sums[static_cast<std::size_t>(j)];
      product.insertBack(i, j) = std::abs(sum.value) <= tolerance::rounding * sum.terms ? 0 : sum.value;
    }
  }
  product.finalize();
  SparseRows terms = largest_of_groups(A, groups, false) * largest_of_groups(N, groups, true);
  return {std::move(product), std::move(terms)};
}

// What no rank can be: a report must not be made of it.
void require_possible(const SparseRank& r) {
  const bool possible = r.rank_A >= 0 && r.rank_A <= std::min(r.m, r.n) && r.rank_M <= r.rank_MA && r.rank_MA <= r.n &&
                        static_cast<Index>(r.N.size()) == r.n - r.rank_MA &&
                        static_cast<Index>(r.redundant.size()) == r.m - r.rank_A;
  if (!possible)
    Label{"matrix", "A"}.fail<NotDetermined>(
        fmt::format("its rank could not be found: {} of {} rows, {} coordinates; rank M {}, rank [M;A] {}", r.rank_A,
                    r.m, r.n, r.rank_M, r.rank_MA),
        "scale the model, or cut it into parts and check these");
}

}  // namespace

SparseRank sparse_rank(const SparseEquations& e, const RankOptions& options, Index small) {
  SparseRank r;
  const Index n = e.A.cols(), m = e.A.rows(), k = e.N0.cols();
  r.n = n;
  r.m = m;
  // Without masses: what is balanced from there is not unique, and would remember them.
  SparseRows A = e.A;
  const Scaling even = scale_without_masses(A, e.groups);

  // Determined?  Start from given scales, then balance |A||N0|.
  struct Held {
    VectorXd columns;
    RowRank rank;
  };
  const auto products = product_and_terms(e.A, e.N0, e.groups);
  const auto judged = [&](const Scaling& from) {
    auto [product, terms] = products;
    VectorXd c0(k);
    std::vector<int> column_groups;
    for (Index j = 0; j < k; ++j) {
      const int pivot = e.pivot[static_cast<std::size_t>(j)];
      c0[j] = from.d[pivot];
      column_groups.push_back(e.groups[static_cast<std::size_t>(pivot)]);
    }
    scale(terms, from.t, c0);
    const Balance f = balance(terms, column_groups);
    const VectorXd rows = f.r.cwiseProduct(from.t), columns = f.c.cwiseProduct(c0);
    scale(product, rows, columns);
    return Held{columns, row_rank(SparseRows(product.transpose()), options.determined, options.doubtful, small)};
  };
  const Held verdict = judged(even);
  const RowRank& held = verdict.rank;
  r.rank_M = n - k;
  r.rank_MA = r.rank_M + held.rank;
  r.kept = held.kept;
  r.dropped = held.dropped;
  r.values = held.values;

  // Free directions N = N0 null(A N0), in the user's coordinates.  Which basis of them is chosen follows the scales of
  // masses, which follow the units exactly; the verdict does not.
  const SparseColumns N0 = SparseColumns(e.N0);
  std::optional<Held> told;
  Scaling massive;  // with masses, for what there is to tell
  const auto find_scale = [&] {
    if (massive.d.size() == 0) massive = scaling(e.mass, e.A, e.groups, e.force, e.b);
  };
  if (!held.sets.empty()) find_scale(), told = judged(massive);
  const bool same = told && told->rank.rank == held.rank;
  const VectorXd& columns = same ? told->columns : verdict.columns;
  for (const RowRank::Set& set : same ? told->rank.sets : held.sets) {
    SparseList direction;
    for (const auto& [j, value] : set.y)
      for (SparseColumns::InnerIterator x(N0, j); x; ++x)
        direction.push_back({x.row(), x.value() * columns[j] * value});
    std::stable_sort(direction.begin(), direction.end(), [](const auto& a, const auto& b) { return a.i < b.i; });
    SparseList sum;
    for (const auto& entry : direction)
      if (!sum.empty() && sum.back().i == entry.i)
        sum.back().value += entry.value;
      else
        sum.push_back(entry);
    std::erase_if(sum, [](const auto& entry) { return entry.value == 0; });
    if (sum.empty()) {  // scales beyond what doubles can hold: its largest part alone, unscaled
      const auto most_of = std::max_element(set.y.begin(), set.y.end(), [](const auto& x, const auto& y) {
        return std::abs(x.value) < std::abs(y.value);
      });
      const Index j = most_of == set.y.end() ? 0 : most_of->i;
      for (SparseColumns::InnerIterator x(N0, j); x; ++x) sum.push_back({x.row(), x.value()});
    }
    SparseList share;
    for (const auto& [i, value] : sum) share.push_back({i, std::abs(value) / massive.d[i]});
    const double most = largest(share);
    std::size_t first = 0;  // of the largest entries, so that round-off does not choose between equals
    while (first + 1 < share.size() && share[first].value * tolerance::clearly_larger < most) ++first;
    const double unit = sum[first].value;
    for (auto& entry : sum) entry.value /= unit;
    for (auto& entry : share) entry.value /= most;
    r.N.push_back(std::move(sum));
    r.shares.push_back(std::move(share));
  }

  // Dependent rows, judged on A alone.
  const RowRank sets = row_rank(A, options.determined, options.doubtful, small);
  r.rank_A = sets.rank;
  r.smallest_row = sets.kept;
  r.row_units = even.t;
  if (sets.kept && *sets.kept < options.doubtful) {
    r.nearly = sets.weakest;
    const double most = largest(r.nearly);
    for (auto& entry : r.nearly) entry.value = std::abs(entry.value) / most;
  }
  r.doubtful_masses = e.doubtful;
  if (sets.sets.empty()) {
    require_possible(r);
    return r;
  }
  find_scale();
  const VectorXd Qs = massive.d.cwiseProduct(e.force), bs = massive.t.cwiseProduct(e.b),
                 b_size = massive.t.cwiseProduct(e.b_size);
  for (const RowRank::Set& found : sets.sets) {
    SparseRank::Set set{found.y, found.row, 0, 0, true};
    SparseList ys = set.y;
    for (std::size_t j = 0; j < ys.size(); ++j) {
      const Index i = ys[j].i;
      set.y[j].value *= r.row_units[i];
      ys[j].value = set.y[j].value / massive.t[i];
    }
    std::map<Index, double> left;
    for (const auto& [i, y] : set.y)
      for (SparseRows::InnerIterator x(e.A, i); x; ++x) left[x.col()] += y * x.value() * massive.d[x.col()];
    double sum_left = 0;
    for (const auto& [_, x] : left) sum_left += std::abs(x);
    const Gap gap = gap_of(ys, sum_left, e.A, bs, b_size, Qs, options);
    set.scaled_gap = gap.scaled;
    set.consistent = gap.consistent;
    const double most = largest(set.y);
    double sum = 0;
    for (auto& entry : set.y) entry.value /= most, sum += entry.value * e.b[entry.i];
    set.gap = std::abs(sum);
    r.redundant.push_back(std::move(set));
  }
  require_possible(r);
  return r;
}

Rank in_dense_form(const SparseRank& from, const RankOptions& options) {
  Rank r;
  r.n = from.n, r.m = from.m, r.rank_M = from.rank_M, r.rank_A = from.rank_A, r.rank_MA = from.rank_MA;
  r.values = from.values;
  r.kept = from.kept, r.dropped = from.dropped, r.smallest_row = from.smallest_row;
  r.options = options;
  const auto dense = [](const SparseList& x, Index size) {
    VectorXd out = VectorXd::Zero(size);
    for (const auto& [i, value] : x) out[i] = value;
    return out;
  };
  const auto count = static_cast<Index>(from.N.size());
  r.N.resize(r.n, count);
  r.shares.resize(r.n, count);
  for (Index k = 0; k < count; ++k) {
    r.N.col(k) = dense(from.N[static_cast<std::size_t>(k)], r.n);
    r.shares.col(k) = dense(from.shares[static_cast<std::size_t>(k)], r.n);
  }
  for (const SparseRank::Set& s : from.redundant)
    r.redundant.push_back({dense(s.y, r.m), s.row, s.gap, s.scaled_gap, s.consistent});
  if (!from.nearly.empty()) r.nearly = dense(from.nearly, r.m);
  return r;
}

}  // namespace mortise
