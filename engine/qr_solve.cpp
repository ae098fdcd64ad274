#include <mortise/engine/qr_solve.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include <mortise/assembly/system_graph.h>
#include <mortise/core/scaling.h>
#include <mortise/core/tolerances.h>
#include <mortise/engine/engine_kernels.h>

namespace mortise::engine {

namespace {

constexpr Index largest_part = 400000;  // entries of A of a part that is still decomposed

// x[i] := x[order[i]]
template <class V> void permute(V& x, const std::vector<int>& order) {
  const V old = x;
  for (std::size_t i = 0; i < order.size(); ++i) x[static_cast<Index>(i)] = old[static_cast<Index>(order[i])];
}
void permute(std::vector<int>& x, const std::vector<int>& order) {
  const std::vector<int> old = x;
  for (std::size_t i = 0; i < order.size(); ++i) x[i] = old[at(order[i])];
}

}  // namespace

QrSolve::QrSolve(const System& system, const Plan& plan, const double* A, const std::vector<bool>& implied,
                 double level)
    : level_(level) {
  // Constraints of the engine by connected parts, in the order of their first ones.
  const std::vector<unsigned>& component = system.graph().components().of_constraint;
  const std::vector<std::size_t>& constraints = plan.slots->constraints;
  std::vector<std::vector<int>> parts;
  std::unordered_map<unsigned, std::size_t> place;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const auto [it, fresh] = place.try_emplace(component[constraints[i]], parts.size());
    if (fresh) parts.emplace_back();
    parts[it->second].push_back(static_cast<int>(i));
  }
  for (const auto& nodes : parts) {
    Part part;
    if (!decompose(plan, A, nodes, implied, part)) return;
    parts_.push_back(std::move(part));
  }
  ready_ = true;
}

bool QrSolve::decompose(const Plan& plan, const double* values, const std::vector<int>& nodes,
                        const std::vector<bool>& implied, Part& part) const {
  // Massless unknowns, massive ones, rows.
  std::map<int, std::pair<Index, Index>> column;  // of each body, massless and massive
  Index k = 0, n = 0;
  std::vector<int> massless_groups, groups;
  for (const int i : nodes) {
    for (int r = 0; r < plan.nodes[at(i)].rows; ++r)
      if (!implied[at(plan.nodes[at(i)].row + r)]) part.row.push_back(plan.nodes[at(i)].row + r);
    for (const Plan::Entry& x : plan.entries_of(plan.nodes[at(i)])) {
      const Plan::Body& b = plan.bodies[at(x.body)];
      if (!column.emplace(x.body, std::pair{k, n}).second) continue;
      const int group = static_cast<int>(column.size()) - 1;
      for (int j = 0; j < b.massive; ++j) part.massive.push_back(b.y + j), groups.push_back(group);
      for (int j = b.massive; j < b.k; ++j)
        part.massless.push_back(b.y + j), massless_groups.push_back(static_cast<int>(massless_groups.size()));
      n += b.massive;
      k += b.k - b.massive;
    }
  }
  const auto m = static_cast<Index>(part.row.size());
  if (m * (n + k) > largest_part) return false;
  MatrixXd S = MatrixXd::Zero(m, k), A = MatrixXd::Zero(m, n);
  Index row = 0;
  for (const int i : nodes) {
    const Plan::Node& node = plan.nodes[at(i)];
    for (int r = 0; r < node.rows; ++r) {
      if (implied[at(node.row + r)]) continue;
      for (const Plan::Entry& x : plan.entries_of(node)) {
        const Plan::Body& b = plan.bodies[at(x.body)];
        const auto [to_s, to_r] = column[x.body];
        const double* a = values + node.A + Index{r} * node.columns + x.column;
        A.block(row, to_r, 1, b.massive) += Row<-1>(a, b.massive).transpose();
        S.block(row, to_s, 1, b.k - b.massive) += Row<-1>(a + b.massive, b.k - b.massive).transpose();
      }
      ++row;
    }
  }
  // Massless unknowns: rows of heavy bodies, which have small entries, come first.
  part.scale.setOnes(m);
  if (k > 0) {
    const Balance f = balance(S, massless_groups);
    VectorXd strength(m);
    double heaviest = 0;
    for (Index i = 0; i < m; ++i) {
      const double entry = f.r[i] * A.row(i).norm();
      strength[i] = entry > 0 ? 1 / entry : 0;
      heaviest = std::max(heaviest, strength[i]);
    }
    for (Index i = 0; i < m; ++i)
      if (strength[i] == 0) strength[i] = heaviest > 0 ? heaviest : 1;
    part.scale = f.r.cwiseProduct(strength);
    part.massless_scale = f.c;
    part.hold.B = f.c.asDiagonal() * S.transpose() * part.scale.asDiagonal();
    part.hold.decompose(VectorXd::Ones(k), strength, tolerance::dependent_row);
    if (part.hold.rank < k) return false;
    permute(part.massless, part.hold.row);
    permute(part.massless_scale, part.hold.row);
    permute(part.row, part.hold.column);
    permute(part.scale, part.hold.column);
    const MatrixXd all = A;
    for (Index i = 0; i < m; ++i) A.row(i) = all.row(part.hold.column[at(i)]);
    part.G = part.hold.B.topRightCorner(k, m - k);
    part.hold.solve_R(part.G);
    permute(strength, part.hold.column);
    for (Index i = k; i < m; ++i)
      for (Index j = 0; j < k; ++j)
        if (double& g = part.G(j, i - k); std::abs(g) <= tolerance::no_factor * strength[i] / strength[j]) g = 0;
  }
  part.A1 = part.scale.head(k).asDiagonal() * A.topRows(k);
  part.A2 = part.scale.tail(m - k).asDiagonal() * A.bottomRows(m - k);
  MatrixXd terms = part.A2.cwiseAbs();  // what the rows that are left are sums of: they may cancel to round-off
  if (k > 0) {
    terms += part.G.cwiseAbs().transpose() * part.A1.cwiseAbs();
    part.A2 -= part.G.transpose() * part.A1;
  }
  const Balance f = balance(terms, groups);
  part.rest_scale = f.r;
  part.rest.B = part.A2.transpose() * f.r.asDiagonal();
  part.rest.decompose(f.c.cwiseInverse(), VectorXd::Ones(m - k), level_);
  return true;
}

// size: of the entries of each row, times that of its column.
void QrSolve::Triangle::decompose(VectorXd size, VectorXd column_size, double redundant) {
  const Index n = B.rows(), m = B.cols();
  const auto number = [](std::vector<int>& x, Index count) {
    x.resize(at(count));
    for (Index i = 0; i < count; ++i) x[at(i)] = static_cast<int>(i);
  };
  number(row, n);
  number(column, m);
  diagonal.setZero(std::min(n, m));
  tau.setZero(std::min(n, m));
  rank = 0;
  for (Index k = 0; k < std::min(n, m); ++k) {
    Index best = k;
    double longest = 0;
    for (Index c = k; c < m; ++c) {
      const auto x = B.col(c).tail(n - k);
      const double share = x.cwiseAbs().cwiseQuotient(size.tail(n - k)).maxCoeff() / column_size[c];
      if (const double norm = x.squaredNorm(); share > redundant && norm > longest) longest = norm, best = c;
    }
    if (longest == 0) break;
    if (best != k) {
      B.col(k).swap(B.col(best));
      std::swap(column[at(k)], column[at(best)]);
      std::swap(column_size[k], column_size[best]);
    }
    auto x = B.col(k).tail(n - k);
    Index largest = 0;
    x.cwiseAbs().maxCoeff(&largest);
    if (largest > 0) {
      B.row(k).swap(B.row(k + largest));
      std::swap(row[at(k)], row[at(k + largest)]);
      std::swap(size[k], size[k + largest]);
    }
    const double norm = x.norm(), alpha = x[0] >= 0 ? -norm : norm;
    x[0] -= alpha;
    diagonal[k] = alpha;
    tau[k] = 2 / x.squaredNorm();
    for (Index c = k + 1; c < m; ++c) {
      auto y = B.col(c).tail(n - k);
      y -= tau[k] * x.dot(y) * x;
    }
    ++rank;
  }
}

void QrSolve::Triangle::solve_R(Eigen::Ref<MatrixXd> x) const {  // x := R^-1 x
  for (Index c = 0; c < x.cols(); ++c)
    for (Index j = rank; j-- > 0;) {
      x(j, c) /= diagonal[j];
      x.col(c).head(j) -= x(j, c) * B.col(j).head(j);
    }
}

void QrSolve::Triangle::solve_R_transposed(VectorXd& x) const {  // x := R^-T x
  for (Index j = 0; j < rank; ++j) x[j] = (x[j] - B.col(j).head(j).dot(x.head(j))) / diagonal[j];
}

void QrSolve::Triangle::turn(VectorXd& x, bool back) const {  // x := Q'x, or Q x
  for (Index i = 0; i < rank; ++i) {
    const Index k = back ? rank - 1 - i : i, n = B.rows() - k;
    const auto v = B.col(k).tail(n);
    x.tail(n) -= tau[k] * v.dot(x.tail(n)) * v;
  }
}

void QrSolve::solve(const VectorXd& force, const VectorXd& rhs, VectorXd& dlambda, VectorXd& dy) const {
  dlambda.setZero();
  dy.setZero();
  for (const Part& part : parts_) {
    const auto k = static_cast<Index>(part.massless.size()), n = static_cast<Index>(part.massive.size()),
               m = static_cast<Index>(part.row.size());
    VectorXd first = VectorXd::Zero(k), b(m), h = VectorXd::Zero(n);  // first: multipliers of the rows that hold
    for (Index i = 0; i < k; ++i) first[i] = -part.massless_scale[i] * force[part.massless[at(i)]];
    part.hold.turn(first, false);
    part.hold.solve_R(first);
    for (Index i = 0; i < m; ++i) b[i] = part.scale[i] * rhs[part.row[at(i)]];
    if (k > 0) h = part.A1.transpose() * first;
    VectorXd c = b.tail(m - k), second = VectorXd::Zero(m - k), z(part.rest.rank), d = VectorXd::Zero(n);
    if (k > 0) c -= part.G.transpose() * b.head(k);
    c = (c - part.A2 * h).cwiseProduct(part.rest_scale).eval();
    for (Index j = 0; j < z.size(); ++j) z[j] = c[part.rest.column[at(j)]];
    part.rest.solve_R_transposed(z);
    d.head(z.size()) = z;
    part.rest.turn(d, true);
    part.rest.solve_R(z);
    for (Index j = 0; j < z.size(); ++j) {
      const Index i = part.rest.column[at(j)];
      second[i] = part.rest_scale[i] * z[j];
    }
    for (Index j = 0; j < n; ++j) h[part.rest.row[at(j)]] += d[j];
    for (Index j = 0; j < n; ++j) dy[part.massive[at(j)]] = h[j];
    if (k > 0) {
      VectorXd s = b.head(k) - part.A1 * h;
      part.hold.solve_R_transposed(s);
      part.hold.turn(s, true);
      for (Index i = 0; i < k; ++i) dy[part.massless[at(i)]] = part.massless_scale[i] * s[i];
      first -= part.G * second;
    }
    for (Index i = 0; i < m; ++i) dlambda[part.row[at(i)]] = part.scale[i] * (i < k ? first[i] : second[i - k]);
  }
}

}  // namespace mortise::engine
