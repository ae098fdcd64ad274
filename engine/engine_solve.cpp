// Solving with the factor: one direct solve, refinement on the true residuals, and GMRES.

#include <mortise/engine/engine.h>
#include <mortise/engine/engine_kernels.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <mortise/core/decompositions.h>
#include <mortise/core/tolerances.h>

namespace mortise {

using engine::at, engine::add_transposed, engine::dot, engine::subtract_rows, engine::with_shape;

Engine::Status Engine::solve(const VectorXd& force, const VectorXd& rhs) {
  ++changes_;
  gap_.setZero();
  solved_.doubts.clear();
  const bool refined = refine(force, rhs), uneven = !even();
  if (refined && !uneven && !regularised_) return Status::solved;
  if (refined && certain(force, rhs, 0)) return Status::solved;
  if (!uneven && massless_only(rhs)) return Status::solved;
  // Rows that contradict each other leave a residual that no motion answers; nearly dependent rows leave one that
  // refinement answers slowly.
  const auto unanswered = [&] {
    return solved_.moved * solved_.moved <= largest_residual() &&
           (!uneven || solved_.moved <= tolerance::no_answer * std::sqrt(massive(y_)));
  };
  bool contradicts = unanswered();
  // A row that hardly touches the massless unknown it is condensed with outweighs the others in what remains of them,
  // which then look dependent.
  if (uneven || refined || plan_->condenses() || !contradicts) {
    if (solve_by_qr(force, rhs)) return Status::solved;
    if (solve_exactly(force, rhs)) return verdict().conflicting ? Status::inconsistent : Status::solved;
    if (refine(force, rhs) && (certain(force, rhs, tolerance::lost) || !uneven)) return Status::solved;
    contradicts = unanswered();
  }
  if (!contradicts && gmres(force, rhs) && certain(force, rhs, tolerance::lost)) return Status::solved;
  // The motion that comes nearest, with the reactions of its own right-hand side.
  VectorXd gap(rhs.size());
  residual(y_, rhs, gap, false);
  work_.met = rhs - gap;
  const bool again = (refine(force, work_.met) && (certain(force, work_.met, 0) || !uneven)) ||
                     (uneven && solve_by_qr(force, work_.met)) ||
                     (gmres(force, work_.met) && certain(force, work_.met, tolerance::lost));
  gap_ = gap;
  return contradicts && again ? Status::inconsistent : Status::stalled;
}

// Entries of A that are all of one size: no body is far lighter than others.
bool Engine::even() {
  if (derived_.even) return *derived_.even;
  const Eigen::Map<const Eigen::ArrayXd> all(norms_.data(), static_cast<Index>(norms_.size()));
  double least = all.size() > 0 ? all.minCoeff() : 0, most = all.size() > 0 ? all.maxCoeff() : 0;
  if (least == 0) {  // a row that does not touch one of its bodies here
    least = std::numeric_limits<double>::infinity();
    for (const double square : norms_)
      if (square > 0) least = std::min(least, square);
  }
  derived_.even = least >= tolerance::light * tolerance::light * most;
  return *derived_.even;
}

// Whether refinement has found what it should where rows may depend on each other or bodies are far lighter than
// others: what is left of all equations, and their round-off, moves no body by more than `known`, or by more than the
// numbers of the model hide, or by this share.
bool Engine::certain(const VectorXd& force, const VectorXd& rhs, double most) {
  if (even() && !regularised_) return true;
  residual(y_, rhs, work_.residual, true);
  if (even())
    find_force_terms(force);
  else if (!certified(force))
    return false;
  return find_doubts(force, nullptr, [&] { apply(work_.g, work_.residual, work_.dlambda, work_.dy); }) ||
         solved_.doubts.front().share <= most;
}

// Where hardly anything with mass accelerates, its corrections are the round-off of what has none: all rows are met,
// each to its own round-off, and the last correction was round-off of the accelerations in them.
bool Engine::massless_only(const VectorXd& rhs) {
  if (!plan_->condenses() || plan_->rows == 0) return false;
  residual(y_, rhs, work_.residual, true);
  const double largest = (size_of_row_.array() / norm_of_row_.array()).maxCoeff();
  return relative_residual() <= tolerance::row_solved &&
         solved_.moved * solved_.moved <= tolerance::round_off * tolerance::round_off * largest;
}

// rhs - A y by rows.  With sizes, also the square of the terms they are the sum of, body by body.
void Engine::residual(const VectorXd& y, const VectorXd& rhs, VectorXd& rows, bool sizes) {
  const Plan& plan = *plan_;
  const Slots& slots = *slots_;
  workers_.each(slots.constraints.size(), [&](std::size_t i) {
    const Node& n = plan.nodes[i];
    const Entry* entry = plan.entries.data() + n.entry;
    const double *A = A_.data() + n.A, *square = norms_.data() + n.norm;
    with_shape(n.shape, [&]<int R, int E, int K>() {
      if constexpr (R > 0) {
        double rest[R], size[R];
        for (int r = 0; r < R; ++r) rest[r] = rhs[n.row + r];
        for (int r = 0; r < R; ++r) size[r] = rest[r] * rest[r];
        subtract_rows<R, E, K>(
            A, [&](int e) { return y.data() + entry[e].y; }, rest);
        for (int e = 0; e < E && sizes; ++e) {
          const double *v = y.data() + entry[e].y, length = dot<K>(v, v, K);
          for (int r = 0; r < R; ++r) size[r] += square[r * E + e] * length;
        }
        for (int r = 0; r < R; ++r) rows[n.row + r] = rest[r];
        if (sizes)
          for (int r = 0; r < R; ++r) size_of_row_[n.row + r] = size[r];
      } else {
        for (int r = 0; r < n.rows; ++r) {
          double rest = rhs[n.row + r], size = rest * rest;
          for (int e = 0; e < n.entries; ++e) {
            const int k = K >= 0 ? K : plan.bodies[at(entry[e].body)].k;
            const double* v = y.data() + entry[e].y;
            rest -= dot<K>(A + Index{r} * n.columns + entry[e].column, v, k);
            if (sizes) size += square[r * n.entries + e] * dot<K>(v, v, k);
          }
          rows[n.row + r] = rest;
          if (sizes) size_of_row_[n.row + r] = size;
        }
      }
    });
  });
}

// Solves with massive forces of 0:  dlambda and dy for given forces on massless unknowns and a right-hand side.
void Engine::apply(const VectorXd& force, const VectorXd& rhs, VectorXd& dlambda, VectorXd& dy) {
  const Plan& plan = *plan_;
  const bool condensed = plan.condenses();
  if (condensed) condense_rhs(force, rhs);
  const double* given = condensed ? condensed_.rhs.data() : rhs.data();
  derived_.forwarded = false;
  for (const Plan::Hub& h : plan.hubs) std::fill_n(order_.data() + h.position, h.size, 0.0);
  for (const int i : plan.active) {
    const Node& n = plan.nodes[at(i)];
    double* to = order_.data() + n.position;
    for (int r = 0; r < n.rows; ++r) to[r] = given[n.row + r];
    if (condensed)
      for (const Entry& x : plan.entries_of(n)) {
        const Body& b = plan.bodies[at(x.body)];
        for (int r = 0; r < n.rows; ++r)
          to[r] -= dot<-1>(A_.data() + n.A + Index{r} * n.columns + x.column, condensed_.h.data() + b.y, b.massive);
      }
  }
  fronts_.solve(order_.data());
  double* found = condensed ? condensed_.lambda.data() : dlambda.data();
  for (const int i : plan.active) {
    const Node& n = plan.nodes[at(i)];
    const double* from = order_.data() + n.position;
    for (int r = 0; r < n.rows; ++r) found[n.row + r] = from[r];
  }
  if (condensed)
    dy = condensed_.h;
  else
    dy.setZero();
  workers_.each(plan.bodies.size(), [&](std::size_t i) {
    const Body& b = plan.bodies[i];
    add_transposed(plan.holds.data() + b.hold, plan.holds.data() + b.hold + b.holds, A_.data(), order_.data(),
                   b.massive, dy.data() + b.y, dy.data() + b.y);
  });
  if (!condensed) return;
  restore(dy);
  expand_multipliers(true);
  dlambda = condensed_.lambda.head(dlambda.size());
}

// Units of residuals: of forces on the unknowns, then of rows.
VectorXd Engine::weights() const {
  VectorXd weight = VectorXd::Ones(slots_->unknowns + system_.rows());
  weight.tail(system_.rows()) = norm_of_row_.cwiseSqrt().cwiseInverse();
  for (const Condensation& c : plan_->condensations) {
    const Body& b = plan_->bodies[at(c.body)];
    const auto v = c.in(condensed_.qr.data());
    for (int k = 0; k < c.columns; ++k) weight[b.y + b.massive + k] = v.c[k];
  }
  return weight;
}

// y and lambda by refinement on the true residuals from 0.  True when what is left is round-off.
bool Engine::refine(const VectorXd& force, const VectorXd& rhs) {
  constexpr int most = 8;
  const bool plain = !plan_->condenses();
  double last = 1, last_local = 1;
  solved_.refinements = 0;
  bool begun = false;  // work_.w and work_.residual are there
  if (plain) {
    if (direct(force, rhs)) return true;
    work_.g = y_ - force;
    work_.w = y_;
    begun = true;
  } else {
    work_.g.setZero();
    y_.setZero();
    lambda_.setZero();
  }
  const double all = massive(force);
  while (++solved_.refinements <= most) {
    if (!begun) {
      // What the forces alone would do, and the forces left on massless unknowns.
      work_.w = y_ + ((force + work_.g) - y_);
      for (const Condensation& c : plan_->condensations) {
        const Body& b = plan_->bodies[at(c.body)];
        for (int k = b.y + b.massive; k < b.y + b.k; ++k)
          work_.w[k] = y_[k], condensed_.force[k] = force[k] + work_.g[k];
      }
      residual(work_.w, rhs, work_.residual, solved_.refinements == 2);
      // Near a singular pose corrections may stay large, but no equation asks for them.
      if (plain && relative_residual() <= tolerance::row_solved) {
        y_ = work_.w;
        return true;
      }
    }
    begun = false;
    apply(condensed_.force, work_.residual, work_.dlambda, work_.dy);
    lambda_ += work_.dlambda;
    if (plain)
      work_.g += work_.dy;  // it is A'dlambda
    else
      add_reactions(work_.dlambda, work_.g);
    work_.w += work_.dy;
    y_ -= work_.w;
    const double moved = massive(y_), size = massive(work_.w);
    y_.swap(work_.w);
    solved_.moved = std::sqrt(moved);
    if (solved_.refinements == 1) continue;
    // The residual found and the correction made, relative to the whole: what is left is smaller than the correction by
    // the factor that this one was smaller than the last.
    solved_.error = std::sqrt(std::max(moved, largest_residual()) / (size + all + tolerance::tiny));
    // The same for each row relative to itself: followed as long as it shrinks, as far as round-off lets it.
    const double local = relative_residual();
    const bool done = solved_.error <= tolerance::round_off ||
                      solved_.error * solved_.error <= tolerance::uneven_rate * tolerance::round_off * last;
    if (done && (local * local <= tolerance::round_off * last_local || local > 0.5 * last_local)) return true;
    if (!done && solved_.refinements > 2 && solved_.error > 0.5 * last) return solved_.error <= tolerance::converged;
    last = solved_.error;
    last_local = local;
  }
  return solved_.error <= tolerance::converged;
}

// Without massless unknowns y = f + A'lambda holds by itself.  Where the rows hold too after one solve, each to its own
// round-off, refinement would change nothing.
bool Engine::direct(const VectorXd& force, const VectorXd& rhs) {
  const Plan& plan = *plan_;
  solved_.refinements = 1;
  if (!derived_.forwarded || &force != &f_ || &rhs != &b_) {
    residual(force, rhs, work_.residual, false);
    const auto begin = [&](int front) {
      for (const int i : plan.fillings[at(front)].nodes) {
        const Node& n = plan.nodes[at(i)];
        for (int r = 0; r < n.rows; ++r) order_[n.position + r] += work_.residual[n.row + r];
      }
    };
    fronts_.forward(begin, order_.data());
  }
  derived_.forwarded = false;
  fronts_.backward(order_.data());
  const auto add = [&](const VectorXd& to) {
    workers_.each(plan.bodies.size(), [&](std::size_t i) {
      const Body& b = plan.bodies[i];
      add_transposed(plan.holds.data() + b.hold, plan.holds.data() + b.hold + b.holds, A_.data(), order_.data(), b.k,
                     to.data() + b.y, y_.data() + b.y);
    });
  };
  add(force);
  for (const Node& n : plan.constraint_nodes())
    for (int r = 0; r < n.rows; ++r) lambda_[n.row + r] = order_[n.position + r];
  residual(y_, rhs, work_.residual, true);
  const double first = relative_residual();
  if (first <= tolerance::row_solved) return true;
  if (!(first <= tolerance::row_nearly_solved)) return false;
  // Forces that nearly cancel leave some rows a little off: one correction on the spot.
  ++solved_.refinements;
  for (const Plan::Hub& h : plan.hubs) std::fill_n(order_.data() + h.position, h.size, 0.0);
  for (const Node& n : plan.constraint_nodes())
    for (int r = 0; r < n.rows; ++r) order_[n.position + r] = work_.residual[n.row + r];
  fronts_.solve(order_.data());
  add(y_);
  for (const Node& n : plan.constraint_nodes())
    for (int r = 0; r < n.rows; ++r) lambda_[n.row + r] += order_[n.position + r];
  residual(y_, rhs, work_.residual, true);
  return relative_residual() <= tolerance::row_solved;
}

// y = A'lambda whatever the factor, but for massless unknowns: it decides how fast the rows come to be met, not what is
// found.
bool Engine::correct_by_last_factor(const VectorXd& rhs, const VectorXd& small) {
  constexpr int most = 4;
  constexpr double slow = 0.05;  // of the residual before: another factor is cheaper
  if (!serves_nearby_ || regularised_ || !alarms_.empty() || !even()) return false;
  ++changes_;
  y_.setZero();
  if (plan_->condenses()) condensed_.force.setZero();
  for (const Node& n : plan_->constraint_nodes())  // alone: welds of rigid groups are not among them
    work_.residual.segment(n.row, n.rows) = rhs.segment(n.row, n.rows);
  double last = std::numeric_limits<double>::infinity();
  for (int k = 0; k < most; ++k) {
    apply(condensed_.force, work_.residual, work_.dlambda, work_.dy);
    y_ += work_.dy;
    residual(y_, rhs, work_.residual, false);
    const double left = (work_.residual.array().abs() / small.array()).maxCoeff();
    if (left <= 1) return true;
    if (!(left <= slow * last)) return false;
    last = left;
  }
  return false;
}

// The square of the largest residual, in units of the unknowns.
double Engine::largest_residual() const {
  return work_.residual.size() == 0 ? 0 : (work_.residual.array().abs2() / norm_of_row_.array()).maxCoeff();
}

// The square of the length of the unknowns with mass; the others have other units.
double Engine::massive(const VectorXd& y) const {
  if (!plan_->condenses()) return y.squaredNorm();
  double sum = 0;
  for (const Body& b : plan_->bodies) sum += y.segment(b.y, b.massive).squaredNorm();
  return sum;
}

double Engine::relative_residual() const {
  return plan_->rows == 0 || work_.residual.size() == 0
             ? 0
             : std::sqrt((work_.residual.array().abs2() / (size_of_row_.array() + tolerance::tiny)).maxCoeff());
}

void Engine::add_reactions(const VectorXd& lambda, VectorXd& g) const {
  const Plan& plan = *plan_;
  workers_.each(plan.bodies.size(), [&](std::size_t i) {
    const Body& b = plan.bodies[i];
    add_transposed(plan.touches.data() + b.touch, plan.touches.data() + b.touch + b.touches, A_.data(), lambda.data(),
                   b.k, g.data() + b.y, g.data() + b.y);
  });
}

// Flexible GMRES on the whole system, from where refinement stopped, with the factor as preconditioner.
bool Engine::gmres(const VectorXd& force, const VectorXd& rhs) {
  constexpr int most = 30;
  const Index n = slots_->unknowns, m = rhs.size();
  const VectorXd weight = weights();
  const auto each_massless = [&](const auto& f) {
    for (const Body& b : plan_->bodies)
      for (int k = b.y + b.massive; k < b.y + b.k; ++k) f(k);
  };
  VectorXd r(n + m), rows = VectorXd::Zero(m), g(n), along(n), forces_size(n);
  const auto begin = [&] {  // the residual of the equations as they are
    g.setZero();
    add_reactions(lambda_, g);
    r.head(n) = (force + g) - y_;
    each_massless([&](Index k) { r[k] = force[k] + g[k]; });
    residual(y_, rhs, work_.residual, false);
    r.tail(m) = work_.residual;
    r = r.cwiseProduct(weight);
  };
  begin();
  std::vector<VectorXd> V, Z;
  for (int steps = 0; steps < most;) {
    const double beta = r.norm();
    if (!(beta > 0) || !std::isfinite(beta)) break;
    V.assign(1, r / beta);
    Z.clear();
    MatrixXd H = MatrixXd::Zero(most + 1, most);
    VectorXd c;
    double estimate = beta;
    while (steps < most && estimate > tolerance::krylov_residual * beta) {
      const auto k = static_cast<Index>(Z.size());
      const VectorXd v = V.back().cwiseQuotient(weight);
      VectorXd z(n + m);
      along = v.head(n);
      each_massless([&](Index i) { condensed_.force[i] = v[i], along[i] = 0; });
      residual(along, v.tail(m), rows, false);
      apply(condensed_.force, rows, work_.dlambda, work_.dy);
      z.head(n) = along + work_.dy;
      z.tail(m) = work_.dlambda;
      Z.push_back(z);
      // K z
      VectorXd Kz(n + m);
      g.setZero();
      add_reactions(work_.dlambda, g);
      Kz.head(n) = z.head(n) - g;
      each_massless([&](Index i) { Kz[i] = -g[i]; });
      along = z.head(n);
      residual(along, VectorXd::Zero(m), rows, false);
      Kz.tail(m) = -rows;
      Kz = Kz.cwiseProduct(weight);
      for (int pass = 0; pass < 2; ++pass)
        for (Index i = 0; i <= k; ++i) {
          const double h = Kz.dot(V[at(i)]);
          H(i, k) += h;
          Kz -= h * V[at(i)];
        }
      H(k + 1, k) = Kz.norm();
      ++steps;
      VectorXd e = VectorXd::Zero(k + 2);
      e[0] = beta;
      const MatrixXd Hk = H.topLeftCorner(k + 2, k + 1);
      c = PivotedQr(Hk).solve(e);
      estimate = (e - Hk * c).norm();
      if (!(H(k + 1, k) > tolerance::krylov_space * Hk.norm())) break;  // the space is exhausted
      V.push_back(Kz / H(k + 1, k));
    }
    for (std::size_t i = 0; i < Z.size(); ++i) {
      y_ += c[static_cast<Index>(i)] * Z[i].head(n);
      lambda_ += c[static_cast<Index>(i)] * Z[i].tail(m);
    }
    begin();
    forces_size = force.cwiseAbs() + g.cwiseAbs() + y_.cwiseAbs();
    solved_.error = std::max(std::sqrt(largest_residual()) / (y_.norm() + force.norm() + tolerance::tiny),
                             r.head(n).norm() / (forces_size.cwiseProduct(weight.head(n)).norm() + tolerance::tiny));
    if (solved_.error <= tolerance::krylov_solved) return true;
    if (r.norm() > 0.99 * beta) break;
  }
  return solved_.error <= tolerance::converged;
}

}  // namespace mortise
