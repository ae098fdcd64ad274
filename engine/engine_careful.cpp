// Where sweeps with the fronts do not get there: bodies far lighter than their neighbours, with rows that depend on
// each other and massless links.
//
// A A' squares the ratio of the slopes: with masses 1e12 apart, what holds a heavy body is 1e-12 of the entries there,
// as small as what a redundant row leaves.  A' itself shows both.  Its Householder QR decomposition with pivoting of
// columns and rows keeps each body's slopes to round-off of their own, however light or heavy it is (Powell and Reid
// 1969, Cox and Higham 1998).  Columns whose entries are all below `redundant` of their bodies' slopes depend on
// others.
//
//   A_s' P = Q_s [R_1 R_2]      rows that hold the massless unknowns, those of heavy bodies first, and the others
//   B = A_2' - A_1' G,  G = R_1^-1 R_2,    B P = Q [R; 0]
//   y_r = f_r + h + Q R^-T P'(b_2 - G'b_1 - B'(f_r + h)),    h = -A_1'R_1^-1 Q_s'f_s
//
// Forces of heavy bodies through a massless link do not mix with those of a light body on it, and y does not go through
// the forces, which may cancel to all digits on a light body.  Dense, by connected parts.

#include <mortise/engine/engine.h>
#include <mortise/engine/engine_kernels.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <unordered_map>

#include <mortise/assembly/system_graph.h>
#include <mortise/core/scaling.h>

namespace mortise {

using engine::at, engine::converged, engine::eps, engine::known, engine::round_off, engine::Row;

namespace {

constexpr double dependent = 1e-13;     // round-off: which rows the others imply is judged elsewhere
constexpr double nearly = 1e-4;         // rows off the constraints: more than a step leaves them off
constexpr Index largest_part = 400000;  // entries of A of a part that is still decomposed
constexpr double met = 1e-13;           // residual of a row, of the terms in its joint
constexpr double balanced = 1e-11;      // residual of a force, of its terms
constexpr double rounding = 4 * eps;    // of an entry of A or a force, which are results of several operations
constexpr double geometric = 1e-13;     // of G: round-off of what is 0

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

// Which rows the others imply, once for a factor.
void Engine::judge() {
  if (implied_known_) return;
  implied_known_ = true;
  implied_.assign(at(system_.rows()), false);
  implications_.clear();
  unknown_ = 0;
  conflicting_ = false;
  if (!judge_) return;
  Judgement judgement = judge_(at_);
  exchange(judgement.implied);
  implications_ = std::move(judgement.implied);
  for (const Implied& x : implications_) implied_[at(x.row)] = true;
  unknown_ = 100 * eps / judgement.smallest;
  conflicting_ = judgement.conflicting;
}

// Which row of each set of dependent ones is left out is a matter of choice, and matters to round-off: the one that
// moves its bodies most, so that the others, which carry its reaction, do so with no more force on any body.
void Engine::exchange(std::vector<Implied>& sets) const {
  constexpr Index largest = 1000000;
  constexpr double none = 1e-12;
  const Index m = system_.rows(), count = static_cast<Index>(sets.size());
  if (m * count > largest) return;
  MatrixXd Y = MatrixXd::Zero(m, count);
  for (Index k = 0; k < count; ++k)
    for (const auto& [i, y] : sets[at(k)].by) Y(i, k) = y;
  const VectorXd slope = norm_of_row_.cwiseSqrt();
  for (Index k = 0; k < count; ++k) {
    Index row = 0;
    Y.col(k).cwiseAbs().cwiseProduct(slope).maxCoeff(&row);
    Y.col(k) /= Y(row, k);
    sets[at(k)].row = row;
    for (Index other = 0; other < count; ++other)
      if (const double y = Y(row, other); other != k && y != 0) Y.col(other) -= y * Y.col(k);
  }
  for (Index k = 0; k < count; ++k) {
    sets[at(k)].by.clear();
    const double size = Y.col(k).cwiseAbs().maxCoeff();
    for (Index i = 0; i < m; ++i)
      if (std::abs(Y(i, k)) > none * size) sets[at(k)].by.push_back({i, Y(i, k)});
  }
}

// The connected parts, each decomposed.  False if one is too large or its massless unknowns are not held.
bool Engine::factor_carefully(double redundant) {
  if (careful_ != Careful::unknown && careful_level_ == redundant) return careful_ == Careful::ready;
  careful_ = Careful::impossible;
  careful_level_ = redundant;
  careful_parts_.clear();
  const std::vector<bool> none(at(system_.rows()), false);
  if (redundant == dependent) judge();
  // Constraints of the engine by connected parts, in the order of their first ones.
  const std::vector<unsigned>& component = system_.graph().components().of_constraint;
  std::vector<std::vector<int>> parts;
  std::unordered_map<unsigned, std::size_t> place;
  for (std::size_t i = 0; i < slots_->constraints.size(); ++i) {
    const auto [it, fresh] = place.try_emplace(component[slots_->constraints[i]], parts.size());
    if (fresh) parts.emplace_back();
    parts[it->second].push_back(static_cast<int>(i));
  }
  for (const auto& nodes : parts) {
    CarefulPart part;
    if (!gather(nodes, redundant, redundant == dependent ? implied_ : none, part)) return false;
    careful_parts_.push_back(std::move(part));
  }
  careful_ = Careful::ready;
  return true;
}

bool Engine::gather(const std::vector<int>& nodes, double redundant, const std::vector<bool>& implied,
                    CarefulPart& part) {
  // Massless unknowns, massive ones, rows.
  std::map<int, std::pair<Index, Index>> column;  // of each body, massless and massive
  Index k = 0, n = 0;
  std::vector<int> massless_groups, groups;
  for (const int i : nodes) {
    for (int r = 0; r < plan_->nodes[at(i)].rows; ++r)
      if (!implied[at(plan_->nodes[at(i)].row + r)]) part.row.push_back(plan_->nodes[at(i)].row + r);
    for (const Entry& x : plan_->entries_of(plan_->nodes[at(i)])) {
      const Body& b = plan_->bodies[at(x.body)];
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
    const Node& node = plan_->nodes[at(i)];
    for (int r = 0; r < node.rows; ++r) {
      if (implied[at(node.row + r)]) continue;
      for (const Entry& x : plan_->entries_of(node)) {
        const Body& b = plan_->bodies[at(x.body)];
        const auto [to_s, to_r] = column[x.body];
        const double* a = A_.data() + node.A + Index{r} * node.columns + x.column;
        A.block(row, to_r, 1, b.massive) += Row<-1>(a, b.massive).transpose();
        S.block(row, to_s, 1, b.k - b.massive) += Row<-1>(a + b.massive, b.k - b.massive).transpose();
      }
      ++row;
    }
  }
  // Massless unknowns: rows of heavy bodies, which have small slopes, come first.
  part.scale.setOnes(m);
  if (k > 0) {
    const Balance f = balance(S, massless_groups);
    VectorXd strength(m);
    double heaviest = 0;
    for (Index i = 0; i < m; ++i) {
      const double slope = f.r[i] * A.row(i).norm();
      strength[i] = slope > 0 ? 1 / slope : 0;
      heaviest = std::max(heaviest, strength[i]);
    }
    for (Index i = 0; i < m; ++i)
      if (strength[i] == 0) strength[i] = heaviest > 0 ? heaviest : 1;
    part.scale = f.r.cwiseProduct(strength);
    part.massless_scale = f.c;
    part.hold.B = f.c.asDiagonal() * S.transpose() * part.scale.asDiagonal();
    part.hold.decompose(VectorXd::Ones(k), strength, dependent);
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
        if (double& g = part.G(j, i - k); std::abs(g) <= geometric * strength[i] / strength[j]) g = 0;
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
  part.rest.decompose(f.c.cwiseInverse(), VectorXd::Ones(m - k), redundant);
  return true;
}

// size: of the entries of each row, times that of its column.
void Engine::Triangle::decompose(VectorXd size, VectorXd column_size, double redundant) {
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

void Engine::Triangle::solve_R(Eigen::Ref<MatrixXd> x) const {  // x := R^-1 x
  for (Index c = 0; c < x.cols(); ++c)
    for (Index j = rank; j-- > 0;) {
      x(j, c) /= diagonal[j];
      x.col(c).head(j) -= x(j, c) * B.col(j).head(j);
    }
}

void Engine::Triangle::solve_R_transposed(VectorXd& x) const {  // x := R^-T x
  for (Index j = 0; j < rank; ++j) x[j] = (x[j] - B.col(j).head(j).dot(x.head(j))) / diagonal[j];
}

void Engine::Triangle::turn(VectorXd& x, bool back) const {  // x := Q'x, or Q x
  for (Index i = 0; i < rank; ++i) {
    const Index k = back ? rank - 1 - i : i, n = B.rows() - k;
    const auto v = B.col(k).tail(n);
    x.tail(n) -= tau[k] * v.dot(x.tail(n)) * v;
  }
}

// dy and dlambda for forces on massless unknowns and a right-hand side.
void Engine::apply_carefully(const VectorXd& force, const VectorXd& rhs, VectorXd& dlambda, VectorXd& dy) {
  dlambda.setZero();
  dy.setZero();
  for (const CarefulPart& part : careful_parts_) {
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

// Sweeps on the true residuals of rows and forces.  What may be round-off of a force is left alone: on a light body
// between heavy ones it is more than the body feels.
bool Engine::solve_carefully(const VectorXd& force, const VectorXd& rhs) {
  constexpr int most = 8;
  constexpr double noise = 64 * eps;
  if (!factor_carefully(dependent)) return false;
  const auto each = [&](const auto& f) {
    for (const Body& b : plan_->bodies)
      for (int k = 0; k < b.k; ++k) f(b.y + k, k < b.massive);
  };
  y_.setZero();
  lambda_.setZero();
  g_ = force;  // residual of the forces
  double last = std::numeric_limits<double>::infinity();
  for (sweeps_ = 1; sweeps_ <= most; ++sweeps_) {
    w_ = g_;
    each([&](int k, bool massive) {
      if (!massive) w_[k] = 0;
    });
    y_ += w_;
    residual(y_, rhs, residual_, false);
    apply_carefully(g_, residual_, dlambda_, dy_);
    y_ += dy_;
    lambda_ += dlambda_;
    residual(y_, rhs, residual_, true);
    error_ = share(dy_ + w_);
    if (!std::isfinite(error_) || error_ <= round_off || error_ > 0.5 * last) break;
    last = error_;
    find_force_terms(force);
    g_ = force;
    add_reactions(lambda_, g_);
    each([&](int k, bool massive) {
      if (massive) g_[k] -= y_[k];
      if (std::abs(g_[k]) <= noise * terms_[k]) g_[k] = 0;
    });
  }
  if (!(error_ <= std::max(converged, unknown_) && certified(force, implied_))) return false;
  const bool certain = find_doubts(force, [&] { apply_carefully(g_, residual_, dlambda_, dy_); });
  if (!certain && doubts_.front().share > unknown_) return false;
  find_gap(force, rhs, 0);
  return gap_.isZero(0) && !conflicting_;
}

// By how much y misses the rows that others imply, where that is more than the round-off of all rows that imply them;
// noise: of the forces, that y holds.
void Engine::find_gap(const VectorXd& force, const VectorXd& rhs, double noise) {
  gap_.setZero();
  residual(y_, rhs, residual_, true);
  find_force_terms(force);
  VectorXd size(residual_.size());
  for (const Node& n : plan_->constraint_nodes())
    for (int r = 0; r < n.rows; ++r) {
      double forces = 0;
      for (int e = 0; e < n.entries; ++e) {
        const Entry& x = plan_->entries[at(n.entry + e)];
        forces += norms_[at(n.norm + r * n.entries + e)] * terms_.segment(x.y, plan_->bodies[at(x.body)].k).squaredNorm();
      }
      size[n.row + r] = met * size_of_row(n.row + r) + noise * std::sqrt(forces);
    }
  for (const Implied& x : implications_) {
    double sum = 0, own = 0;
    for (const auto& [i, y] : x.by) {
      sum += std::abs(y) * size[i];
      if (i == x.row) own = std::abs(y);
    }
    if (own * std::abs(residual_[x.row]) > sum) gap_[x.row] = residual_[x.row];
  }
}

// All equations as they stand, in quadruple precision, without the rows that others imply:
//
//   [1  0  -A_r'] [y_r   ]   [f_r]
//   [0  0  -A_s'] [y_s   ] = [f_s]
//   [A_r A_s  0 ] [lambda]   [b  ]
//
// What cannot be known of a body's motion is what the round-off of A and f does to it: where large forces cancel on a
// light body.
bool Engine::solve_exactly(const VectorXd& force, const VectorXd& rhs) {
  constexpr double cancelled = 1e-31;
  const auto n = static_cast<int>(slots_->unknowns);
  if (!exact_) {
    judge();
    std::vector<ExactSolve::Entry> entries;
    exact_rows_.clear();
    for (const Body& b : plan_->bodies)
      for (int k = 0; k < b.massive; ++k) entries.push_back({b.y + k, b.y + k, 1});
    for (const Node& x : plan_->constraint_nodes())
      for (int r = 0; r < x.rows; ++r) {
        if (implied_[at(x.row + r)] || squares(x, r) == 0) continue;
        const int row = n + static_cast<int>(exact_rows_.size());
        exact_rows_.push_back(x.row + r);
        for (const Entry& body : plan_->entries_of(x)) {
          const double* a = A_.data() + x.A + Index{r} * x.columns + body.column;
          for (int k = 0; k < plan_->bodies[at(body.body)].k; ++k) {
            if (a[k] == 0) continue;
            entries.push_back({row, body.y + k, a[k]});
            entries.push_back({body.y + k, row, -a[k]});
          }
        }
      }
    exact_ = std::make_unique<ExactSolve>(n + static_cast<Index>(exact_rows_.size()), entries);
  }
  if (!exact_->regular()) return false;
  VectorXd right(n + static_cast<Index>(exact_rows_.size())), x;
  right << force.head(n), rhs(exact_rows_);
  if (!exact_->solve(right, x)) return false;
  y_ = x.head(n);
  lambda_.setZero();
  lambda_(exact_rows_) = x.tail(x.size() - n);
  // What does not accelerate: its forces cancel to more digits than doubles have.
  find_force_terms(force);
  for (const Body& b : plan_->bodies)
    for (int k = b.y; k < b.y + b.massive; ++k)
      if (std::abs(y_[k]) <= cancelled * terms_[k]) y_[k] = 0;
  find_gap(force, rhs, cancelled);
  find_doubts(exact_->sensitivity(right, rounding).head(n));
  return true;
}

// Bodies of whose motion more than `known` is unknown, as seen by their joints, worst first; and whether that is for
// the numbers of the model to answer for, whose round-off alone hides as much, and not for this solve.  residual_,
// size_of_row_ and terms_ are those of y: what they may hide goes into the equations with signs at random, and
// `respond` tells by how much the bodies move.
bool Engine::find_doubts(const VectorXd& force, const std::function<void()>& respond) {
  constexpr int draws = 2;
  constexpr double as_much = 4;
  std::uint64_t random = 1;
  const auto sign = [&] {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (random >> 63) != 0 ? 1.0 : -1.0;
  };
  const auto respond_to_hidden = [&] {
    unknown_motion_.setZero(slots_->unknowns);
    for (int draw = 0; draw < draws; ++draw) {
      for (const Body& b : plan_->bodies)
        for (int k = 0; k < b.k; ++k) {
          g_[b.y + k] = sign() * hidden_force_[b.y + k];
          w_[b.y + k] = k < b.massive ? g_[b.y + k] : 0;
        }
      for (double& x : hidden_row_) x *= sign();
      residual(w_, hidden_row_, residual_, false);
      respond();
      for (Index k = 0; k < slots_->unknowns; ++k) unknown_motion_[k] = std::max(unknown_motion_[k], std::abs(dy_[k] + w_[k]));
    }
    find_doubts(unknown_motion_);
  };
  g_.setZero();
  add_reactions(lambda_, g_);
  hidden_force_ = force + g_;
  for (const Body& b : plan_->bodies) hidden_force_.segment(b.y, b.massive) -= y_.segment(b.y, b.massive);
  hidden_force_ = hidden_force_.cwiseAbs() + rounding * terms_;
  hidden_row_ = residual_.cwiseAbs() + rounding * size_of_row_.cwiseSqrt();
  respond_to_hidden();
  if (doubts_.empty()) return true;
  const std::vector<Doubt> all = doubts_;
  hidden_force_ = rounding * terms_;
  hidden_row_ = rounding * size_of_row_.cwiseSqrt();
  respond_to_hidden();
  const auto answered = [&](const Doubt& x) {
    return std::any_of(doubts_.begin(), doubts_.end(),
                       [&](const Doubt& d) { return d.body == x.body && x.share <= as_much * d.share; });
  };
  const bool out = std::all_of(all.begin(), all.end(), answered);
  doubts_ = all;
  return out;
}

void Engine::find_doubts(const VectorXd& unknown) {
  constexpr double still = 1e-3;  // of the largest motion: slower bodies are measured by it
  body_motion_.resize(static_cast<Index>(plan_->bodies.size()), 2);  // known and unknown
  for (std::size_t i = 0; i < plan_->bodies.size(); ++i) {
    const Body& b = plan_->bodies[i];
    double massive = 0, massless = 0;  // squares of slopes
    for (int k = b.touch; k < b.touch + b.touches; ++k)
      for (int r = 0; r < plan_->touches[at(k)].rows; ++r) {
        const double* a = A_.data() + plan_->touches[at(k)].A + r * plan_->touches[at(k)].stride;
        massive = std::max(massive, Row<-1>(a, b.massive).squaredNorm());
        massless = std::max(massless, Row<-1>(a + b.massive, b.k - b.massive).squaredNorm());
      }
    const auto of = [&](const VectorXd& y) {
      return std::sqrt(massive * y.segment(b.y, b.massive).squaredNorm() +
                       massless * y.segment(b.y + b.massive, b.k - b.massive).squaredNorm());
    };
    body_motion_(static_cast<Index>(i), 0) = of(y_);
    body_motion_(static_cast<Index>(i), 1) = of(unknown);
  }
  doubts_.clear();
  const double slow = plan_->bodies.empty() ? 0 : still * body_motion_.col(0).maxCoeff();
  for (std::size_t i = 0; i < plan_->bodies.size(); ++i) {
    const double size = body_motion_(static_cast<Index>(i), 0) + slow, hidden = body_motion_(static_cast<Index>(i), 1);
    if (!(hidden <= known * size)) doubts_.push_back({i, size > 0 ? hidden / size : 1});
  }
  std::sort(doubts_.begin(), doubts_.end(), [](const Doubt& a, const Doubt& b) { return a.share > b.share; });
}

bool Engine::correct(const VectorXd& rhs) {
  if (!regularised_ || !factor_carefully(nearly)) return false;
  ++changes_;
  g_.setZero();
  apply_carefully(g_, rhs, lambda_, y_);
  return true;
}

// Slopes go with the roots of masses.
void Engine::find_unevenness() {
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;
  for (const Body& b : plan_->bodies) {
    double slope = 0;
    for (int i = b.touch; i < b.touch + b.touches; ++i)
      for (int r = 0; r < plan_->touches[at(i)].rows; ++r)
        slope = std::max(slope,
                         Row<-1>(A_.data() + plan_->touches[at(i)].A + r * plan_->touches[at(i)].stride, b.massive).squaredNorm());
    if (slope > 0) smallest = std::min(smallest, slope), largest = std::max(largest, slope);
  }
  unevenness_ = largest > 0 ? std::sqrt(smallest / largest) : 1;
}

// The size of a joint's rows in units of the unknowns: the largest of its rows, and the least that shows on the
// lightest body.
double Engine::size_of_joint(const Node& n, double whole) const {
  double size = 0;
  for (int r = 0; r < n.rows; ++r) size = std::max(size, size_of_row_[n.row + r] / norm_of_row_[n.row + r]);
  return std::sqrt(size) + whole;
}

// How much some motion of the unknowns matters to the joints: its largest part in a row, of the terms in this joint.
// Bodies far lighter than others, which no norm over all shows, are seen here.
double Engine::share(const VectorXd& motion) const {
  const double whole = unevenness_ * std::sqrt(massive(y_));
  double largest = 0;
  for (const Node& n : plan_->constraint_nodes()) {
    const double size = size_of_joint(n, whole) + 1e-300;
    for (int e = 0; e < n.entries; ++e) {
      const Entry& x = plan_->entries[at(n.entry + e)];
      const double length = motion.segment(x.y, plan_->bodies[at(x.body)].k).squaredNorm();
      for (int r = 0; r < n.rows; ++r)
        largest = std::max(largest,
                           norms_[at(n.norm + r * n.entries + e)] * length / (norm_of_row_[n.row + r] * size * size));
    }
  }
  return std::sqrt(largest);
}

// Rows and forces are met by y and lambda, each to round-off of its own terms.  residual_ and size_of_row_ are those of
// y.  Some rows may be left out of it.
bool Engine::certified(const VectorXd& force, const std::vector<bool>& but) {
  if (!rows_met(but)) return false;
  find_force_terms(force);
  g_.setZero();
  add_reactions(lambda_, g_);
  const double whole = unevenness_ * std::sqrt(massive(y_));
  for (const Body& b : plan_->bodies)
    for (int k = 0; k < b.k; ++k) {
      const double y = k < b.massive ? y_[b.y + k] : 0, terms = terms_[b.y + k];
      if (!(std::abs(force[b.y + k] + g_[b.y + k] - y) <= balanced * terms + met * whole)) return false;
    }
  return true;
}

bool Engine::rows_met(const std::vector<bool>& but) const {
  const double whole = unevenness_ * std::sqrt(massive(y_));
  for (const Node& n : plan_->constraint_nodes()) {
    const double size = size_of_joint(n, whole);
    for (int r = 0; r < n.rows; ++r)
      if ((but.empty() || !but[at(n.row + r)]) &&
          !(std::abs(residual_[n.row + r]) <= met * size * std::sqrt(norm_of_row_[n.row + r])))
        return false;
  }
  return true;
}

// |f| + |A'| |lambda|
void Engine::find_force_terms(const VectorXd& force) {
  terms_ = force.cwiseAbs();
  for (const Body& b : plan_->bodies)
    for (int i = b.touch; i < b.touch + b.touches; ++i) {
      const Touch& t = plan_->touches[at(i)];
      for (int r = 0; r < t.rows; ++r)
        terms_.segment(b.y, b.k) +=
            std::abs(lambda_[t.row + r]) * Row<-1>(A_.data() + t.A + r * t.stride, b.k).cwiseAbs();
    }
}

}  // namespace mortise
