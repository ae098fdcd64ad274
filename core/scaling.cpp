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

SparseRows scaled(SparseRows X, const VectorXd& rows, const VectorXd& columns) {
  for (Index i = 0; i < X.rows(); ++i)
    for (SparseRows::InnerIterator x(X, i); x; ++x) x.valueRef() *= rows[i] * columns[x.col()];
  return X;
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

Balance balance(const SparseRows& P, const std::vector<int>& groups) {
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
    for (SparseRows::InnerIterator x(P, i); x; ++x) {
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

Scaling scaling(const VectorXd& diagonal_of_M, const SparseRows& A_given, const std::vector<int>& groups,
                const VectorXd& force, const VectorXd& b) {
  const Index n = A_given.cols(), m = A_given.rows();
  // cos(90 deg) = 6e-17 beside 1 is no reason to scale anything.
  VectorXd largest = VectorXd::Zero(m);
  for (Index i = 0; i < m; ++i)
    for (SparseRows::InnerIterator x(A_given, i); x; ++x) largest[i] = std::max(largest[i], std::abs(x.value()));
  const auto counts = [&](Index i, double x) { return x != 0 && std::abs(x) >= tolerance::no_entry * largest[i]; };
  const SparseRows& A = A_given;

  const int count = group_count(groups);
  const auto group = [&](Index j) { return groups[static_cast<std::size_t>(j)]; };
  // The rows that touch each group, one after the other.
  std::vector<std::size_t> first(static_cast<std::size_t>(count) + 1, 0);
  std::vector<Index> touching, last(static_cast<std::size_t>(count), -1);
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
  each_touch([&](std::size_t g, Index) { ++first[g + 1]; });
  std::partial_sum(first.begin(), first.end(), first.begin());
  touching.resize(first.back());
  {
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    each_touch([&](std::size_t g, Index i) { touching[next[g]++] = i; });
  }

  VectorXd d = VectorXd::Zero(count), t = VectorXd::Zero(m);  // 0: not scaled yet
  const VectorXd mass = group_maximum(groups, count, [&](Index j) { return diagonal_of_M[j]; });
  std::vector<int> start;
  for (int g = 0; g < count; ++g)
    if (mass[g] > 0) d[g] = 1 / std::sqrt(mass[g]), start.push_back(g);

  // From scaled coordinates to rows to coordinates, wave by wave, until nothing changes; what it reaches.
  struct Reached {
    std::vector<int> groups;
    std::vector<Index> rows;
  };
  VectorXd slope = VectorXd::Zero(count);
  const auto spread = [&](std::vector<int> wave) {
    Reached reached{wave, {}};
    while (!wave.empty()) {
      std::vector<Index> rows;
      for (const int k : wave)
        for (std::size_t x = first[static_cast<std::size_t>(k)]; x < first[static_cast<std::size_t>(k) + 1]; ++x)
          if (t[touching[x]] == 0) rows.push_back(touching[x]);
      std::sort(rows.begin(), rows.end());
      rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
      wave.clear();
      for (const Index i : rows) {
        double s = 0;  // the largest, not the norm: along a chain norms would grow from body to body
        for (SparseRows::InnerIterator x(A, i); x; ++x)
          if (counts(i, x.value())) s = std::max(s, std::abs(x.value()) * d[group(x.col())]);
        if (s == 0) continue;
        t[i] = 1 / s;
        for (SparseRows::InnerIterator x(A, i); x; ++x) {
          const int k = group(x.col());
          if (d[k] > 0 || !counts(i, x.value())) continue;
          if (slope[k] == 0) wave.push_back(k);
          slope[k] = std::max(slope[k], t[i] * std::abs(x.value()));
        }
      }
      for (const int k : wave) d[k] = 1 / slope[k], slope[k] = 0;
      reached.groups.insert(reached.groups.end(), wave.begin(), wave.end());
      reached.rows.insert(reached.rows.end(), rows.begin(), rows.end());
    }
    return reached;
  };
  (void)spread(start);

  // What is left has no mass anywhere.  Each such component starts from one of its coordinates, which makes its scales
  // follow the units but for one common factor, and is balanced from there.
  SparseRows rest(m, n);
  rest.reserve(A.nonZeros());
  std::vector<bool> touched(static_cast<std::size_t>(n), false);
  for (Index i = 0; i < m; ++i) {
    rest.startVec(i);
    if (t[i] != 0) continue;
    for (SparseRows::InnerIterator x(A, i); x; ++x)
      if (counts(i, x.value()))
        rest.insertBack(i, x.col()) = x.value(), touched[static_cast<std::size_t>(x.col())] = true;
  }
  rest.finalize();
  std::vector<Reached> components;
  for (Index j = 0; j < n; ++j) {
    if (d[group(j)] > 0 || !touched[static_cast<std::size_t>(j)]) continue;
    d[group(j)] = 1;
    components.push_back(spread({group(j)}));
  }
  Scaling s{VectorXd(n), t};
  for (Index j = 0; j < n; ++j) s.d[j] = d[group(j)] > 0 ? d[group(j)] : 1;
  for (Index i = 0; i < m; ++i)
    if (t[i] == 0) s.t[i] = 1;
  if (components.empty()) return s;
  const Balance f = balance(scaled(std::move(rest), s.t, s.d), groups);
  s.d = s.d.cwiseProduct(f.c);
  s.t = s.t.cwiseProduct(f.r);
  std::vector<std::vector<Index>> members(static_cast<std::size_t>(force.isZero(0) ? 0 : count));
  for (Index j = 0; j < n && !members.empty(); ++j) members[static_cast<std::size_t>(group(j))].push_back(j);
  for (const Reached& c : components) {
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
