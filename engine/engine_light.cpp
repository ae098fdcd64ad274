// Where refinement with the fronts does not get there: bodies far lighter than their neighbours, with rows that depend
// on each other and massless links.

#include <mortise/core/tolerances.h>
#include <mortise/engine/engine.h>
#include <mortise/engine/engine_kernels.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace mortise {

using engine::at, engine::Row;

// Which rows the others imply, once for a factor.
const Engine::Verdict& Engine::verdict() {
  if (derived_.verdict) return *derived_.verdict;
  Verdict& out = *(derived_.verdict = Verdict{});
  out.implied.assign(at(system_.rows()), false);
  if (!judge_) return out;
  Judgement judgement = judge_(evaluated_.at);
  out.implications = std::move(judgement.implied);
  out.units = std::move(judgement.units);
  out.unknown = 100 * tolerance::eps / judgement.smallest;
  out.conflicting = judgement.conflicting;
  exchange(out);
  for (const Implied& x : out.implications) out.implied[at(x.row)] = true;
  return out;
}

// The QR decomposition of the last factor() that leaves such rows out; nullptr if there is none.
const engine::QrSolve* Engine::qr_solve(double level) {
  if (!derived_.qr || derived_.qr->level() != level)
    derived_.qr.emplace(
        system_, *plan_, A_.data(),
        level == tolerance::dependent_row ? verdict().implied : std::vector<bool>(at(system_.rows()), false), level);
  return derived_.qr->ready() ? &*derived_.qr : nullptr;
}

// Which row of each set of dependent ones is left out is a matter of choice, and matters to round-off: the one that
// moves its bodies most, so that the others, which carry its reaction, do so with no more force on any body.  But only
// one that has a clear part in the set: without one that has hardly any, the others are nearly as dependent as before.
void Engine::exchange(Verdict& verdict) const {
  constexpr Index largest = 1000000;
  std::vector<Implied>& sets = verdict.implications;
  const Index m = system_.rows(), count = static_cast<Index>(sets.size());
  if (m * count > largest) return;
  MatrixXd Y = MatrixXd::Zero(m, count);
  for (Index k = 0; k < count; ++k)
    for (const auto& [i, y] : sets[at(k)].by) Y(i, k) = y;
  const VectorXd lengths = norm_of_row_.cwiseSqrt();
  for (Index k = 0; k < count; ++k) {
    Index row = 0;
    const VectorXd part = Y.col(k).cwiseAbs().cwiseQuotient(verdict.units);
    (part.array() >= tolerance::clear_part * part.maxCoeff())
        .select(Y.col(k).cwiseAbs().cwiseProduct(lengths), 0)
        .maxCoeff(&row);
    Y.col(k) /= Y(row, k);
    sets[at(k)].row = row;
    for (Index other = 0; other < count; ++other)
      if (const double y = Y(row, other); other != k && y != 0) Y.col(other) -= y * Y.col(k);
  }
  for (Index k = 0; k < count; ++k) {
    sets[at(k)].by.clear();
    const double size = Y.col(k).cwiseAbs().maxCoeff();
    for (Index i = 0; i < m; ++i)
      if (std::abs(Y(i, k)) > tolerance::no_factor_of_set * size) sets[at(k)].by.push_back({i, Y(i, k)});
  }
}

// Refinement on the true residuals of rows and forces.  What may be round-off of a force is left alone: on a light body
// between heavy ones it is more than the body feels.
bool Engine::solve_by_qr(const VectorXd& force, const VectorXd& rhs) {
  constexpr int most = 8;
  const engine::QrSolve* qr = qr_solve(tolerance::dependent_row);
  if (!qr) return false;
  const auto each = [&](const auto& f) {
    for (const Body& b : plan_->bodies)
      for (int k = 0; k < b.k; ++k) f(b.y + k, k < b.massive);
  };
  y_.setZero();
  lambda_.setZero();
  work_.g = force;  // residual of the forces
  double last = std::numeric_limits<double>::infinity();
  for (solved_.refinements = 1; solved_.refinements <= most; ++solved_.refinements) {
    work_.w = work_.g;
    each([&](int k, bool massive) {
      if (!massive) work_.w[k] = 0;
    });
    y_ += work_.w;
    residual(y_, rhs, work_.residual, false);
    qr->solve(work_.g, work_.residual, work_.dlambda, work_.dy);
    y_ += work_.dy;
    lambda_ += work_.dlambda;
    residual(y_, rhs, work_.residual, true);
    solved_.error = share(work_.dy + work_.w);
    if (!std::isfinite(solved_.error) || solved_.error <= tolerance::round_off || solved_.error > 0.5 * last) break;
    last = solved_.error;
    find_force_terms(force);
    work_.g = force;
    add_reactions(lambda_, work_.g);
    each([&](int k, bool massive) {
      if (massive) work_.g[k] -= y_[k];
      if (std::abs(work_.g[k]) <= tolerance::force_noise * work_.terms[k]) work_.g[k] = 0;
    });
  }
  const double unknown = verdict().unknown;
  if (!(solved_.error <= std::max(tolerance::converged, unknown) && certified(force, verdict().implied))) return false;
  work_.residual = work_.residual.cwiseAbs() + gaps_of_implied();
  const VectorXd of_rows = forces_of_implied();
  const bool certain =
      find_doubts(force, &of_rows, [&] { qr->solve(work_.g, work_.residual, work_.dlambda, work_.dy); });
  if (!certain && solved_.doubts.front().share > unknown) return false;
  find_gap(force, rhs, 0);
  return gap_.isZero(0) && !verdict().conflicting;
}

// By how much y misses the rows that others imply, where that is more than the round-off of all rows that imply them;
// noise: of the forces, that y holds.
void Engine::find_gap(const VectorXd& force, const VectorXd& rhs, double noise) {
  gap_.setZero();
  residual(y_, rhs, work_.residual, true);
  find_force_terms(force);
  VectorXd size(work_.residual.size());
  for (const Node& n : plan_->constraint_nodes())
    for (int r = 0; r < n.rows; ++r) {
      double forces = 0;
      for (int e = 0; e < n.entries; ++e) {
        const Entry& x = plan_->entries[at(n.entry + e)];
        forces += norms_[at(n.norm + r * n.entries + e)] *
                  work_.terms.segment(x.y, plan_->bodies[at(x.body)].k).squaredNorm();
      }
      size[n.row + r] = tolerance::row_of_joint * size_of_row(n.row + r) + noise * std::sqrt(forces);
    }
  for (const Implied& x : verdict().implications) {
    double sum = 0, own = 0;
    for (const auto& [i, y] : x.by) {
      sum += std::abs(y) * size[i];
      if (i == x.row) own = std::abs(y);
    }
    if (own * std::abs(work_.residual[x.row]) > sum) gap_[x.row] = work_.residual[x.row];
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
  const auto n = static_cast<int>(slots_->unknowns);
  if (!derived_.exact) {
    const std::vector<bool>& implied = verdict().implied;
    std::vector<Index> rows;
    std::vector<ExactSolve::Entry> entries;
    for (const Body& b : plan_->bodies)
      for (int k = 0; k < b.massive; ++k) entries.push_back({b.y + k, b.y + k, 1});
    for (const Node& x : plan_->constraint_nodes())
      for (int r = 0; r < x.rows; ++r) {
        if (implied[at(x.row + r)] || squares(x, r) == 0) continue;
        const int row = n + static_cast<int>(rows.size());
        rows.push_back(x.row + r);
        for (const Entry& body : plan_->entries_of(x)) {
          const double* a = A_.data() + x.A + Index{r} * x.columns + body.column;
          for (int k = 0; k < plan_->bodies[at(body.body)].k; ++k) {
            if (a[k] == 0) continue;
            entries.push_back({row, body.y + k, a[k]});
            entries.push_back({body.y + k, row, -a[k]});
          }
        }
      }
    ExactSolve equations(n + static_cast<Index>(rows.size()), entries);
    derived_.exact.emplace(std::move(equations), std::move(rows));
  }
  auto& [equations, rows] = *derived_.exact;
  if (!equations.regular()) return false;
  VectorXd right(n + static_cast<Index>(rows.size())), x;
  right << force.head(n), rhs(rows);
  if (!equations.solve(right, x)) return false;
  y_ = x.head(n);
  lambda_.setZero();
  lambda_(rows) = x.tail(x.size() - n);
  // What does not accelerate: its forces cancel to more digits than doubles have.
  find_force_terms(force);
  for (const Body& b : plan_->bodies)
    for (int k = b.y; k < b.y + b.massive; ++k)
      if (std::abs(y_[k]) <= tolerance::quad_cancelled * work_.terms[k]) y_[k] = 0;
  find_gap(force, rhs, tolerance::quad_cancelled);
  VectorXd relative = VectorXd::Constant(right.size(), tolerance::rounding), absolute(right.size());
  absolute << forces_of_implied(), gaps_of_implied()(rows);
  find_doubts(equations.sensitivity(right, relative, absolute).head(n));
  if (solved_.doubts.empty()) return true;
  relative.head(n).setZero();
  find_reasons(equations.sensitivity(right, relative, absolute).head(n));
  return true;
}

// Another row could have been left out of a set of dependent ones.  By how much the others would then have to differ:
// by what is left of the row that was, work_.residual, which is more than round-off where rows do not quite depend on
// each other.
VectorXd Engine::gaps_of_implied() {
  VectorXd out = VectorXd::Zero(system_.rows());
  const Verdict& v = verdict();
  for (const Implied& x : v.implications) {
    double own = 0, largest = 0;
    for (const auto& [i, y] : x.by) {
      if (i == x.row)
        own = std::abs(y);
      else
        largest = std::max(largest, std::abs(y) / v.units[i]);
    }
    for (const auto& [i, y] : x.by)
      if (!v.implied[at(i)] && std::abs(y) >= tolerance::clear_part * largest * v.units[i])
        out[i] = std::max(out[i], own * std::abs(work_.residual[x.row] / y));
  }
  return out;
}

// The same of the forces: the reaction of a row that could have been left out would be that of the row that was, which
// acts along what is left of the set, y'A, beside it.  lambda_ is that of the rows that are not left out.
VectorXd Engine::forces_of_implied() {
  VectorXd out = VectorXd::Zero(slots_->unknowns), left(slots_->unknowns), terms(slots_->unknowns);
  const Verdict& v = verdict();
  if (v.implications.empty()) return out;
  const std::vector<const Node*> nodes = nodes_of_rows();
  const auto each_slope = [&](const Implied& x, const auto& f) {
    for (const auto& [i, y] : x.by) {
      const Node& n = *nodes[at(i)];
      for (const Entry& body : plan_->entries_of(n)) {
        const double* a = A_.data() + n.A + (i - n.row) * n.columns + body.column;
        for (int k = 0; k < plan_->bodies[at(body.body)].k; ++k) f(body.y + k, y * a[k]);
      }
    }
  };
  left.setZero();
  terms.setZero();
  for (const Implied& x : v.implications) {
    double largest = 0, reaction = 0;
    for (const auto& [i, y] : x.by)
      if (i != x.row) largest = std::max(largest, std::abs(y) / v.units[i]);
    for (const auto& [i, y] : x.by)
      if (!v.implied[at(i)] && std::abs(y) >= tolerance::clear_part * largest * v.units[i])
        reaction = std::max(reaction, std::abs(lambda_[i] / y));
    each_slope(x, [&](int k, double slope) { left[k] += slope, terms[k] += std::abs(slope); });
    each_slope(x, [&](int k, double) {
      if (std::abs(left[k]) > tolerance::rounding * terms[k]) out[k] = std::max(out[k], reaction * std::abs(left[k]));
      left[k] = terms[k] = 0;
    });
  }
  return out;
}

// By rows of the system; nullptr where the engine has none.
std::vector<const Engine::Node*> Engine::nodes_of_rows() const {
  std::vector<const Node*> out(at(system_.rows()), nullptr);
  for (const Node& n : plan_->constraint_nodes())
    for (int r = 0; r < n.rows; ++r) out[at(n.row + r)] = &n;
  return out;
}

// Bodies of whose motion more than `known` is unknown, as seen by their joints, worst first; and whether that is for
// the numbers of the model to answer for, whose round-off alone hides as much, and not for this solve.  work_.residual,
// size_of_row_ and work_.terms are those of y: what they may hide, and forces of_rows that might as well act, if there
// are such, goes into the equations with signs at random, and `respond` tells by how much the bodies move.
bool Engine::find_doubts(const VectorXd& force, const VectorXd* of_rows, const std::function<void()>& respond) {
  constexpr int draws = 2;
  constexpr double as_much = 4;
  std::uint64_t random = 1;
  const auto sign = [&] {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (random >> 63) != 0 ? 1.0 : -1.0;
  };
  const auto respond_to_hidden = [&] {
    hidden_.motion.setZero(slots_->unknowns);
    for (int draw = 0; draw < draws; ++draw) {
      for (const Body& b : plan_->bodies)
        for (int k = 0; k < b.k; ++k) {
          work_.g[b.y + k] = sign() * hidden_.force[b.y + k];
          work_.w[b.y + k] = k < b.massive ? work_.g[b.y + k] : 0;
        }
      for (double& x : hidden_.row) x *= sign();
      residual(work_.w, hidden_.row, work_.residual, false);
      respond();
      for (Index k = 0; k < slots_->unknowns; ++k)
        hidden_.motion[k] = std::max(hidden_.motion[k], std::abs(work_.dy[k] + work_.w[k]));
    }
  };
  work_.g.setZero();
  add_reactions(lambda_, work_.g);
  hidden_.force = force + work_.g;
  for (const Body& b : plan_->bodies) hidden_.force.segment(b.y, b.massive) -= y_.segment(b.y, b.massive);
  hidden_.force = hidden_.force.cwiseAbs() + tolerance::rounding * work_.terms;
  if (of_rows) hidden_.force += *of_rows;
  hidden_.row = work_.residual.cwiseAbs() + tolerance::rounding * size_of_row_.cwiseSqrt();
  hidden_.rows = hidden_.row;
  respond_to_hidden();
  find_doubts(hidden_.motion);
  if (solved_.doubts.empty()) return true;
  const std::vector<Doubt> all = solved_.doubts;
  hidden_.force = tolerance::rounding * work_.terms;
  hidden_.row = tolerance::rounding * size_of_row_.cwiseSqrt();
  respond_to_hidden();
  find_doubts(hidden_.motion);
  const auto answered = [&](const Doubt& x) {
    return std::any_of(solved_.doubts.begin(), solved_.doubts.end(),
                       [&](const Doubt& d) { return d.body == x.body && x.share <= as_much * d.share; });
  };
  const bool out = std::all_of(all.begin(), all.end(), answered);
  solved_.doubts = all;
  hidden_.force.setZero();
  if (of_rows) hidden_.force = *of_rows;
  hidden_.row = hidden_.rows;
  respond_to_hidden();
  find_reasons(hidden_.motion);
  return out;
}

// hidden_.by_body: how fast bodies move, as seen by their joints, and slow ones as `still` of the fastest.
void Engine::find_motions(const VectorXd& unknown) {
  hidden_.by_body.resize(static_cast<Index>(plan_->bodies.size()), 2);
  for (std::size_t i = 0; i < plan_->bodies.size(); ++i) {
    const Body& b = plan_->bodies[i];
    double massive = 0, massless = 0;  // squares of entries of A
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
    hidden_.by_body(static_cast<Index>(i), 0) = of(y_);
    hidden_.by_body(static_cast<Index>(i), 1) = of(unknown);
  }
  if (!plan_->bodies.empty()) hidden_.by_body.col(0).array() += tolerance::still * hidden_.by_body.col(0).maxCoeff();
}

void Engine::find_doubts(const VectorXd& unknown) {
  find_motions(unknown);
  solved_.doubts.clear();
  for (std::size_t i = 0; i < plan_->bodies.size(); ++i) {
    const double size = hidden_.by_body(static_cast<Index>(i), 0), hidden = hidden_.by_body(static_cast<Index>(i), 1);
    if (!(hidden <= tolerance::known * size)) solved_.doubts.push_back({i, size > 0 ? hidden / size : 1});
  }
  std::sort(solved_.doubts.begin(), solved_.doubts.end(),
            [](const Doubt& a, const Doubt& b) { return a.share > b.share; });
}

// by_rows: what is unknown because of the rows alone.
void Engine::find_reasons(const VectorXd& by_rows) {
  find_motions(by_rows);
  for (Doubt& d : solved_.doubts) {
    const auto i = static_cast<Index>(d.body);
    d.by_rows = hidden_.by_body(i, 1) > 0.5 * d.share * hidden_.by_body(i, 0);
  }
}

bool Engine::correct(const VectorXd& rhs) {
  const engine::QrSolve* qr = regularised_ ? qr_solve(tolerance::nearly_dependent_row) : nullptr;
  if (!qr) return false;
  ++changes_;
  work_.g.setZero();
  qr->solve(work_.g, rhs, lambda_, y_);
  return true;
}

// Entries of A in the unknowns go with the inverse roots of masses.
double Engine::unevenness() {
  if (derived_.unevenness) return *derived_.unevenness;
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;
  for (const Body& b : plan_->bodies) {
    double entry = 0;
    for (int i = b.touch; i < b.touch + b.touches; ++i)
      for (int r = 0; r < plan_->touches[at(i)].rows; ++r)
        entry = std::max(
            entry,
            Row<-1>(A_.data() + plan_->touches[at(i)].A + r * plan_->touches[at(i)].stride, b.massive).squaredNorm());
    if (entry > 0) smallest = std::min(smallest, entry), largest = std::max(largest, entry);
  }
  derived_.unevenness = largest > 0 ? std::sqrt(smallest / largest) : 1;
  return *derived_.unevenness;
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
double Engine::share(const VectorXd& motion) {
  const double whole = unevenness() * std::sqrt(massive(y_));
  double largest = 0;
  for (const Node& n : plan_->constraint_nodes()) {
    const double size = size_of_joint(n, whole) + tolerance::tiny;
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

// Rows and forces are met by y and lambda, each to round-off of its own terms.  work_.residual and size_of_row_ are
// those of y.  Some rows may be left out of it.
bool Engine::certified(const VectorXd& force, const std::vector<bool>& but) {
  if (!rows_met(but)) return false;
  find_force_terms(force);
  work_.g.setZero();
  add_reactions(lambda_, work_.g);
  const double whole = unevenness() * std::sqrt(massive(y_));
  for (const Body& b : plan_->bodies)
    for (int k = 0; k < b.k; ++k) {
      const double y = k < b.massive ? y_[b.y + k] : 0, terms = work_.terms[b.y + k];
      if (!(std::abs(force[b.y + k] + work_.g[b.y + k] - y) <=
            tolerance::force_balanced * terms + tolerance::row_of_joint * whole))
        return false;
    }
  return true;
}

bool Engine::rows_met(const std::vector<bool>& but) {
  const double whole = unevenness() * std::sqrt(massive(y_));
  for (const Node& n : plan_->constraint_nodes()) {
    const double size = size_of_joint(n, whole);
    for (int r = 0; r < n.rows; ++r)
      if ((but.empty() || !but[at(n.row + r)]) &&
          !(std::abs(work_.residual[n.row + r]) <= tolerance::row_of_joint * size * std::sqrt(norm_of_row_[n.row + r])))
        return false;
  }
  return true;
}

// |f| + |A'| |lambda|
void Engine::find_force_terms(const VectorXd& force) {
  work_.terms = force.cwiseAbs();
  for (const Body& b : plan_->bodies)
    for (int i = b.touch; i < b.touch + b.touches; ++i) {
      const Touch& t = plan_->touches[at(i)];
      for (int r = 0; r < t.rows; ++r)
        work_.terms.segment(b.y, b.k) +=
            std::abs(lambda_[t.row + r]) * Row<-1>(A_.data() + t.A + r * t.stride, b.k).cwiseAbs();
    }
}

}  // namespace mortise
