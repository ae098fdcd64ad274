#include <mortise/core/scaling.h>
#include <mortise/core/tolerances.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace mortise {

std::vector<int> separate_groups(Index n) {
  std::vector<int> groups(static_cast<std::size_t>(n));
  std::iota(groups.begin(), groups.end(), 0);
  return groups;
}

void scale(SparseRows& X, const VectorXd& rows, const VectorXd& columns) {
  for (Index i = 0; i < X.rows(); ++i)
    for (SparseRows::InnerIterator x(X, i); x; ++x) x.valueRef() *= rows[i] * columns[x.col()];
}

namespace {

// The largest entry of each group of columns, for entry(j) >= 0.
template <class F> VectorXd group_maximum(const std::vector<int>& groups, int count, const F& entry) {
  VectorXd g = VectorXd::Zero(count);
  for (std::size_t j = 0; j < groups.size(); ++j) g[groups[j]] = std::max(g[groups[j]], entry(static_cast<Index>(j)));
  return g;
}

int group_count(const std::vector<int>& groups) {
  return groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end()) + 1;
}

}  // namespace

Balance balance(const MatrixXd& P, const std::vector<int>& groups) {
  return balance(SparseRows(P.sparseView(0, 0)), groups);
}

Balance balance(const SparseRows& P, const std::vector<int>& groups, double ignored) {
  // Max-norm equilibration by square roots: rows and columns change together, so no side is preferred.
  constexpr int rounds = 20;
  const int count = group_count(groups);
  // Of each row the largest entry in each group: columns of a group have one factor.
  struct Entry {
    int group;
    double largest;
  };
  std::vector<Entry> entries;
  std::vector<std::size_t> end(static_cast<std::size_t>(P.rows()), 0);
  entries.reserve(static_cast<std::size_t>(P.nonZeros()));
  std::vector<std::size_t> at(static_cast<std::size_t>(count), static_cast<std::size_t>(-1));  // last entry of a group
  for (Index i = 0; i < P.outerSize(); ++i) {
    const std::size_t first = entries.size();
    double of_row = 0;
    if (ignored > 0)
      for (SparseRows::InnerIterator x(P, i); x; ++x) of_row = std::max(of_row, std::abs(x.value()));
    for (SparseRows::InnerIterator x(P, i); x; ++x) {
      if (std::abs(x.value()) < ignored * of_row) continue;
      const int g = groups[static_cast<std::size_t>(x.col())];
      std::size_t& k = at[static_cast<std::size_t>(g)];
      if (k < first || k >= entries.size()) k = entries.size(), entries.push_back({g, 0});
      entries[k].largest = std::max(entries[k].largest, std::abs(x.value()));
    }
    end[static_cast<std::size_t>(i)] = entries.size();
  }
  Balance f{VectorXd::Ones(P.rows()), VectorXd::Ones(P.cols())};
  VectorXd c = VectorXd::Ones(count), of_group(count);
  for (int k = 0; k < rounds; ++k) {
    of_group.setZero();
    double off = 0;  // the largest entries from 1
    std::size_t x = 0;
    for (Index i = 0; i < P.rows(); ++i) {
      double of_row = 0;
      for (; x < end[static_cast<std::size_t>(i)]; ++x) {
        const double s = f.r[i] * entries[x].largest * c[entries[x].group];
        of_row = std::max(of_row, s);
        of_group[entries[x].group] = std::max(of_group[entries[x].group], s);
      }
      if (of_row > 0) off = std::max(off, std::abs(of_row - 1)), f.r[i] /= std::sqrt(of_row);
    }
    for (Index g = 0; g < count; ++g)
      if (of_group[g] > 0) off = std::max(off, std::abs(of_group[g] - 1)), c[g] /= std::sqrt(of_group[g]);
    if (off <= tolerance::balanced) break;
  }
  for (Index j = 0; j < P.cols(); ++j) f.c[j] = c[groups[static_cast<std::size_t>(j)]];
  return f;
}

Scaling scaling(const VectorXd& diagonal_of_M, const MatrixXd& A, const std::vector<int>& groups, const VectorXd& force,
                const VectorXd& b) {
  return scaling(diagonal_of_M, SparseRows(A.sparseView(0, 0)), groups, force, b);
}

namespace {

// Scales that go outwards along the rows from what has mass; and what no mass reaches, part by part, from one of its
// coordinates.
class Outward {
 public:
  struct Reached {
    std::vector<int> groups;
    std::vector<Index> rows;
  };
  Outward(const VectorXd& mass, const SparseRows& A, const std::vector<int>& groups);
  // Entries that touch: cos(90 deg) = 6e-17 beside 1 is no reason to scale anything.
  bool counts(Index i, double x) const { return x != 0 && std::abs(x) >= tolerance::no_entry * largest_[i]; }

  Scaling scale;                  // 1 where nothing touches
  std::vector<Reached> massless;  // the parts without mass

 private:
  int group(Index j) const { return groups_[static_cast<std::size_t>(j)]; }
  Reached spread(std::vector<int> wave);

  const SparseRows& A_;
  const std::vector<int>& groups_;
  VectorXd largest_;                // entry of each row
  std::vector<std::size_t> first_;  // the rows that touch each group, one after the other
  std::vector<Index> touching_;
  VectorXd d_, t_, slope_;  // 0: not scaled yet
};

Outward::Outward(const VectorXd& diagonal_of_M, const SparseRows& A, const std::vector<int>& groups)
    : A_(A), groups_(groups), largest_(VectorXd::Zero(A.rows())) {
  const Index n = A.cols(), m = A.rows();
  for (Index i = 0; i < m; ++i)
    for (SparseRows::InnerIterator x(A, i); x; ++x) largest_[i] = std::max(largest_[i], std::abs(x.value()));
  const int count = group_count(groups);
  first_.assign(static_cast<std::size_t>(count) + 1, 0);
  std::vector<Index> last(static_cast<std::size_t>(count), -1);
  const auto each_touch = [&](const auto& f) {
    std::fill(last.begin(), last.end(), -1);
    for (Index i = 0; i < m; ++i)
      for (SparseRows::InnerIterator x(A, i); x; ++x) {
        const auto g = static_cast<std::size_t>(group(x.col()));
        if (last[g] == i || !counts(i, x.value())) continue;
        last[g] = i;
        f(g, i);
      }
  };
  each_touch([&](std::size_t g, Index) { ++first_[g + 1]; });
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  touching_.resize(first_.back());
  {
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    each_touch([&](std::size_t g, Index i) { touching_[next[g]++] = i; });
  }

  d_ = slope_ = VectorXd::Zero(count);
  t_ = VectorXd::Zero(m);
  const VectorXd mass = group_maximum(groups, count, [&](Index j) { return diagonal_of_M[j]; });
  std::vector<int> start;
  for (int g = 0; g < count; ++g)
    if (mass[g] > 0) d_[g] = 1 / std::sqrt(mass[g]), start.push_back(g);
  (void)spread(std::move(start));
  // What is left has no mass anywhere.  Each such part starts from one of its coordinates, which makes its scales
  // follow the units but for one common factor.
  for (Index j = 0; j < n; ++j) {
    const auto g = static_cast<std::size_t>(group(j));
    if (d_[group(j)] > 0 || first_[g] == first_[g + 1]) continue;
    d_[group(j)] = 1;
    massless.push_back(spread({group(j)}));
  }
  scale.d.resize(n);
  for (Index j = 0; j < n; ++j) scale.d[j] = d_[group(j)] > 0 ? d_[group(j)] : 1;
  scale.t = (t_.array() == 0).select(1, t_);
}

// From scaled coordinates to rows to coordinates, wave by wave, until nothing changes; what it reaches.
Outward::Reached Outward::spread(std::vector<int> wave) {
  Reached reached{wave, {}};
  std::vector<Index> rows;
  while (!wave.empty()) {
    rows.clear();
    for (const int k : wave)
      for (std::size_t x = first_[static_cast<std::size_t>(k)]; x < first_[static_cast<std::size_t>(k) + 1]; ++x)
        if (t_[touching_[x]] == 0) rows.push_back(touching_[x]);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    wave.clear();
    for (const Index i : rows) {
      double s = 0;  // the largest, not the norm: along a chain norms would grow from body to body
      for (SparseRows::InnerIterator x(A_, i); x; ++x)
        if (counts(i, x.value())) s = std::max(s, std::abs(x.value()) * d_[group(x.col())]);
      if (s == 0) continue;
      t_[i] = 1 / s;
      for (SparseRows::InnerIterator x(A_, i); x; ++x) {
        const int k = group(x.col());
        if (d_[k] > 0 || !counts(i, x.value())) continue;
        if (slope_[k] == 0) wave.push_back(k);
        slope_[k] = std::max(slope_[k], t_[i] * std::abs(x.value()));
      }
    }
    for (const int k : wave) d_[k] = 1 / slope_[k], slope_[k] = 0;
    reached.groups.insert(reached.groups.end(), wave.begin(), wave.end());
    reached.rows.insert(reached.rows.end(), rows.begin(), rows.end());
  }
  return reached;
}

}  // namespace

Scaling scale_without_masses(SparseRows& A, const std::vector<int>& groups) {
  Scaling s = Outward(VectorXd::Zero(A.cols()), A, groups).scale;
  scale(A, s.t, s.d);
  const Balance f = balance(A, groups, tolerance::no_entry);
  scale(A, f.r, f.c);
  s.d = s.d.cwiseProduct(f.c);
  s.t = s.t.cwiseProduct(f.r);
  return s;
}

Scaling scaling(const VectorXd& diagonal_of_M, const SparseRows& A, const std::vector<int>& groups,
                const VectorXd& force, const VectorXd& b) {
  const Outward outward(diagonal_of_M, A, groups);
  Scaling s = outward.scale;
  if (outward.massless.empty()) return s;
  const Index n = A.cols(), m = A.rows();
  // What has no mass is balanced.
  std::vector<bool> of_massless(static_cast<std::size_t>(m), false);
  for (const Outward::Reached& c : outward.massless)
    for (const Index i : c.rows) of_massless[static_cast<std::size_t>(i)] = true;
  SparseRows rest(m, n);
  rest.reserve(A.nonZeros());
  for (Index i = 0; i < m; ++i) {
    rest.startVec(i);
    if (!of_massless[static_cast<std::size_t>(i)]) continue;
    for (SparseRows::InnerIterator x(A, i); x; ++x)
      if (outward.counts(i, x.value())) rest.insertBack(i, x.col()) = x.value();
  }
  rest.finalize();
  scale(rest, s.t, s.d);
  const Balance f = balance(rest, groups);
  s.d = s.d.cwiseProduct(f.c);
  s.t = s.t.cwiseProduct(f.r);
  std::vector<std::vector<Index>> members(static_cast<std::size_t>(force.isZero(0) ? 0 : group_count(groups)));
  for (Index j = 0; j < n && !members.empty(); ++j)
    members[static_cast<std::size_t>(groups[static_cast<std::size_t>(j)])].push_back(j);
  for (const Outward::Reached& c : outward.massless) {
    if (members.empty()) break;  // without forces nothing has to be weighed
    double largest_force = 0, largest_b = 0;
    for (const int g : c.groups)
      for (const Index j : members[static_cast<std::size_t>(g)])
        largest_force = std::max(largest_force, s.d[j] * std::abs(force[j]));
    for (const Index i : c.rows) largest_b = std::max(largest_b, s.t[i] * std::abs(b[i]));
    if (!(largest_force > 0) || !(largest_b > 0)) continue;
    const double ratio = std::sqrt(largest_b / largest_force);
    for (const int g : c.groups)
      for (const Index j : members[static_cast<std::size_t>(g)]) s.d[j] *= ratio;
    for (const Index i : c.rows) s.t[i] /= ratio;
  }
  return s;
}

}  // namespace mortise
