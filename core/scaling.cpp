#include <mortise/core/scaling.h>

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
  // Max-norm equilibration by square roots: rows and columns change together, so no side is preferred.
  constexpr int rounds = 20;
  const int count = group_count(groups);
  Balance f{VectorXd::Ones(P.rows()), VectorXd::Ones(P.cols())};
  for (int k = 0; k < rounds; ++k) {
    const MatrixXd S = f.r.asDiagonal() * P.cwiseAbs() * f.c.asDiagonal();
    for (Index i = 0; i < S.rows(); ++i)
      if (const double s = S.cols() ? S.row(i).maxCoeff() : 0; s > 0) f.r[i] /= std::sqrt(s);
    const VectorXd g = group_maximum(groups, count, [&](Index j) { return S.rows() ? S.col(j).maxCoeff() : 0; });
    for (Index j = 0; j < S.cols(); ++j)
      if (const double s = g[groups[static_cast<std::size_t>(j)]]; s > 0) f.c[j] /= std::sqrt(s);
  }
  return f;
}

Scaling scaling(const VectorXd& diagonal_of_M, const MatrixXd& A_given, const std::vector<int>& groups,
                const VectorXd& force, const VectorXd& b) {
  const Index n = A_given.cols(), m = A_given.rows();
  // cos(90 deg) = 6e-17 beside 1 is no reason to scale anything.
  constexpr double round_off = 4e-16;  // of the row's largest entry
  MatrixXd A = A_given;
  for (Index i = 0; n > 0 && i < m; ++i) {
    const double largest = A.row(i).cwiseAbs().maxCoeff();
    for (Index j = 0; j < n; ++j)
      if (std::abs(A(i, j)) < round_off * largest) A(i, j) = 0;
  }
  const int count = group_count(groups);
  const auto group = [&](Index j) { return groups[static_cast<std::size_t>(j)]; };

  VectorXd d = VectorXd::Zero(count), t = VectorXd::Zero(m);  // 0: not scaled yet
  const VectorXd mass = group_maximum(groups, count, [&](Index j) { return diagonal_of_M[j]; });
  for (int g = 0; g < count; ++g)
    if (mass[g] > 0) d[g] = 1 / std::sqrt(mass[g]);

  const auto spread = [&] {  // from scaled coordinates to rows to coordinates, until nothing changes
    for (bool changed = true; changed;) {
      changed = false;
      for (Index i = 0; i < m; ++i) {
        if (t[i] > 0) continue;
        double s = 0;
        for (Index j = 0; j < n; ++j) s = std::hypot(s, A(i, j) * d[group(j)]);
        if (s > 0) t[i] = 1 / s, changed = true;
      }
      const VectorXd g =
          group_maximum(groups, count, [&](Index j) { return t.cwiseProduct(A.col(j).cwiseAbs()).maxCoeff(); });
      for (int k = 0; m > 0 && k < count; ++k)
        if (d[k] == 0 && g[k] > 0) d[k] = 1 / g[k], changed = true;
    }
  };
  if (m > 0) spread();

  // What is left has no mass anywhere.  Each such component starts from one of its coordinates, which makes its scales
  // follow the units but for one common factor, and is balanced from there.
  MatrixXd rest = A;
  for (Index i = 0; i < m; ++i)
    if (t[i] > 0) rest.row(i).setZero();
  VectorXd component_d = d, component_t = t;              // 0: not reached yet
  std::vector<std::pair<VectorXd, VectorXd>> components;  // 1 for the groups and rows in it, else 0
  for (Index j = 0; j < n; ++j) {
    if (d[group(j)] > 0 || rest.col(j).isZero(0)) continue;
    d[group(j)] = 1;
    spread();
    const auto fresh = [](const VectorXd& now, const VectorXd& before) -> VectorXd {
      return ((now.array() > 0) && (before.array() == 0)).cast<double>();
    };
    components.emplace_back(fresh(d, component_d), fresh(t, component_t));
    component_d = d, component_t = t;
  }
  Scaling s{VectorXd(n), t};
  for (Index j = 0; j < n; ++j) s.d[j] = d[group(j)] > 0 ? d[group(j)] : 1;
  for (Index i = 0; i < m; ++i)
    if (t[i] == 0) s.t[i] = 1;
  const Balance f = balance(s.t.asDiagonal() * rest * s.d.asDiagonal(), groups);
  s.d = s.d.cwiseProduct(f.c);
  s.t = s.t.cwiseProduct(f.r);
  for (const auto& [of_groups, of_rows] : components) {
    const VectorXd member = VectorXd::NullaryExpr(n, [&](Index j) { return of_groups[group(j)]; });
    const double largest_force = (member.array() * s.d.array() * force.array().abs()).maxCoeff();
    const double largest_b = (of_rows.array() * s.t.array() * b.array().abs()).maxCoeff();
    if (!(largest_force > 0) || !(largest_b > 0)) continue;
    const double ratio = std::sqrt(largest_b / largest_force);
    for (Index j = 0; j < n; ++j)
      if (member[j] > 0) s.d[j] *= ratio;
    for (Index i = 0; i < m; ++i)
      if (of_rows[i] > 0) s.t[i] /= ratio;
  }
  return s;
}

}  // namespace mortise
