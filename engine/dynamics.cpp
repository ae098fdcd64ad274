#include <mortise/engine/dynamics.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <mortise/assembly/system_graph.h>
#include <mortise/core/decompositions.h>
#include <mortise/core/tolerances.h>

namespace mortise {

const SparseRank& RankJudge::rank(const System& system) {
  if (!rank_) rank_ = rank_without(system, system.evaluate(state_), left_out_, options_);
  return *rank_;
}

Engine::Judgement RankJudge::judge(const System& system, const State& s) {
  if (!some_) at(s);
  Engine::Judgement out{{}, rank(system).row_units, rank(system).smallest_row.value_or(1)};
  for (const SparseRank::Set& set : rank(system).redundant) {
    out.implied.push_back({set.row, set.y});
    out.conflicting = out.conflicting || !set.consistent;
  }
  return out;
}

System::Selection alarmed_parts(const System& system, const Engine& engine) {
  return system.graph().around(engine.alarms(), [&](std::size_t body) { return engine.massless(body) > 0; });
}

Failure find_gap(const System& system, const Engine& engine, const Evaluation& e, const std::vector<Index>& left_out,
                 bool stalled, const RankOptions& options) {
  for (const SparseRank::Set& set : rank_without(system, e, left_out, options).redundant)
    if (!set.consistent) return {.kind = Failure::Kind::conflicting, .t = e.state.t};
  Failure out{.t = e.state.t, .row = 0};
  bool failed = stalled;
  for (const System::ConstraintInfo& c : system.constraints()) {
    const VectorXd terms = system.size_of_b(e, c);
    for (Index i = c.row; i < c.row + c.rows; ++i) {
      const double gap = std::abs(engine.gap()[i]), size = engine.size_of_row(i);
      if (gap / (size + tolerance::tiny) > out.amount) out.amount = gap / (size + tolerance::tiny), out.row = i;
      failed = failed || gap > options.conflict * (size + terms[i - c.row]);
    }
  }
  if (!failed) return {};
  out.kind = stalled ? Failure::Kind::stalled : Failure::Kind::contradicting;
  if (stalled) out.amount = std::max(out.amount, engine.worst());
  return out;
}

// The steps are those of Anderson: the combination of the last ones for which multipliers and forces would agree best.
Failure balance_friction(const System& system, Engine& engine, const State& s, const std::vector<bool>& unique,
                         const FunctionRef<Failure(const VectorXd&)>& solve, VectorXd& friction) {
  constexpr int most = 100, memory = 8;
  std::vector<std::size_t> joints = engine.reacting();
  std::erase_if(joints, [&](std::size_t i) { return std::binary_search(s.off.begin(), s.off.end(), i); });
  if (joints.empty()) {
    friction.setZero();
    return {};
  }
  std::vector<Index> rows;
  for (const std::size_t i : joints) {
    const auto& c = system.constraints()[i];
    for (Index r = c.row; r < c.row + c.rows; ++r) {
      if (!unique[static_cast<std::size_t>(r)])
        return {.kind = Failure::Kind::shared_reaction, .t = s.t, .row = r, .constraint = i};
      rows.push_back(r);
    }
  }
  const auto n = static_cast<Index>(rows.size());
  VectorXd force, x = engine.lambda()(rows), g(n), last_x, last_gap;
  MatrixXd steps(n, 0), changes(n, 0);  // of x and of the gap g - x
  double size = 0, off = 0, best = std::numeric_limits<double>::infinity();
  for (int k = 0; k < most; ++k) {
    engine.set_lambda(rows, x);
    engine.react(s, force);
    if (Failure failure = solve(force)) return failure;
    g = engine.lambda()(rows);
    const VectorXd gap = g - x;
    size = std::max({size, g.cwiseAbs().maxCoeff(), tolerance::tiny});
    off = gap.cwiseAbs().maxCoeff() / size;
    if (!std::isfinite(off)) break;
    best = std::min(best, off);
    if (off <= tolerance::friction_agrees || (k > 20 && off <= tolerance::friction_stuck)) {
      friction = VectorXd::Zero(system.size());
      for (const std::size_t i : joints) system.react(system.constraints()[i], s, engine.lambda(), friction);
      return {};
    }
    if (k > 0) {
      const Index keep = std::min<Index>(steps.cols(), memory - 1);
      const auto push = [&](MatrixXd& columns, const VectorXd& column) {
        MatrixXd next(n, keep + 1);
        next << columns.rightCols(keep), column;
        columns = std::move(next);
      };
      push(steps, x - last_x);
      push(changes, gap - last_gap);
    }
    last_x = x;
    last_gap = gap;
    x = g;
    if (changes.cols() > 0) {
      const VectorXd mix = LeastSquares(changes).solve(gap);
      x -= (steps + changes) * mix;
    }
  }
  return {.kind = Failure::Kind::friction,
          .t = s.t,
          .constraint = joints.front(),
          .joints = joints.size(),
          .amount = best,
          .tries = most};
}

VectorXd row_sizes(const System& system, const VectorXd& x) {
  VectorXd sizes(system.rows());
  for (const auto& c : system.constraints()) {
    double size = 1;
    for (const std::size_t k : c.bodies)
      if (const auto& b = system.bodies()[k]; b.size > 0)
        size = std::max(size, x.segment(b.first, b.size).cwiseAbs().maxCoeff());
    sizes.segment(c.row, c.rows).setConstant(size);
  }
  return sizes;
}

Failure approach(Failure::Kind kind, double t, VectorXd& x, const VectorXd& sizes,
                 const FunctionRef<const VectorXd&()>& off, const FunctionRef<bool(bool)>& step) {
  constexpr int most = 30;
  VectorXd best = x;
  double least = std::numeric_limits<double>::infinity(), last = least;
  Index worst = -1;
  bool found = true, careful = true;
  int steps = 0;
  for (; steps < most; ++steps) {
    const VectorXd& r = off();
    Index row = -1;
    const double now = r.size() ? r.cwiseQuotient(sizes).cwiseAbs().maxCoeff(&row) : 0;
    if (!std::isfinite(now)) break;
    const bool nearer = now < 0.5 * last;
    if (now < least) least = now, best = x, worst = row;
    if (least <= tolerance::on_constraints) break;
    if (careful && !nearer && least > tolerance::projected) {  // rows that nearly depend on others do matter
      careful = false;
      x = best;
      (void)off();
    } else if ((least <= tolerance::nearly_projected && !nearer) || (steps > 3 && now > 1e3 * last)) {
      break;
    }
    last = now;
    found = step(careful);
  }
  x = best;
  if (least <= tolerance::projected || (found && least <= tolerance::nearly_projected)) return {};
  return {.kind = kind, .t = t, .row = worst, .amount = least, .tries = steps, .solved = found};
}

bool met_by_verdict(const System& system, const State& s, const Failure& failure, const VectorXd& off,
                    const VectorXd& sizes, const std::vector<Index>& left_out, const RankOptions& options) {
  if (!(failure.amount <= options.conflict)) return false;
  VectorXd rest = off.cwiseQuotient(sizes).cwiseAbs();
  for (const SparseRank::Set& set : rank_without(system, system.evaluate(s), left_out, options).redundant)
    for (const auto& [i, _] : set.y)
      if (set.consistent) rest[i] = 0;
  return rest.maxCoeff() <= tolerance::nearly_projected;
}

void find_gaps(const System& system, const Engine& engine, const State& s, const std::vector<Index>& left_out,
               bool positions, VectorXd& out) {
  out = positions ? engine.value() : engine.rate();
  if (positions && !engine.holonomic())
    for (const auto& c : system.constraints()) out.segment(c.row + c.holonomic, c.rows - c.holonomic).setZero();
  for (const Index i : left_out) out[i] = 0;
  for (const std::size_t i : s.off) out.segment(system.constraints()[i].row, system.constraints()[i].rows).setZero();
}

Dynamics::Dynamics(const System& system, const RankOptions& options)
    : system_(system), options_(options), judge_(options), engine_(system) {
  engine_.set_judge([this](const State& s) { return judge_.judge(system_, s); });
}

void Dynamics::factor(const State& s, bool positions) {
  engine_.factor(positions);
  engine_.has_doubts() || engine_.has_massless() ? judge_.at(s) : judge_.none();
}

Failure Dynamics::solve(const State& s) {
  system_.require_state(s);
  engine_.evaluate(s);
  factor(s);
  if (engine_.has_massless()) {
    const System::Selection all = system_.all();
    if (!rank_of(system_, system_.evaluate(s), all, options_).N.empty())
      return {.kind = Failure::Kind::free, .t = s.t, .parts = all};
  }
  const auto checked = [&](Engine::Status status) -> Failure {
    if (!engine_.finite()) return {.kind = Failure::Kind::not_finite, .t = s.t};
    if (status == Engine::Status::solved) return {};
    return find_gap(system_, engine_, system_.evaluate(s), {}, status == Engine::Status::stalled, options_);
  };
  if (Failure failure = checked(engine_.solve())) return failure;
  if (!engine_.reacting().empty()) {
    std::vector<bool> unique(static_cast<std::size_t>(system_.rows()), true);
    if (engine_.has_doubts())
      for (const SparseRank::Set& set : judge_.rank(system_).redundant)
        for (const auto& [i, _] : set.y) unique[static_cast<std::size_t>(i)] = false;
    VectorXd friction = VectorXd::Zero(system_.size());
    const auto again = [&](const VectorXd& force) { return checked(engine_.solve(force, engine_.rhs())); };
    if (Failure failure = balance_friction(system_, engine_, s, unique, again, friction)) return failure;
  }
  engine_.accelerations(a_);
  return {};
}

Failure Dynamics::project(Failure::Kind kind, State& s) {
  system_.require_state(s);
  const bool positions = kind == Failure::Kind::no_positions;
  VectorXd dx, rhs;
  const VectorXd none = VectorXd::Zero(engine_.unknowns());
  const auto off = [&]() -> const VectorXd& {
    engine_.normalise(s);
    engine_.evaluate_rows_if_needed(s);
    find_gaps(system_, engine_, s, {}, positions, rhs);
    rhs = -rhs;
    return rhs;
  };
  VectorXd& x = positions ? s.q : s.v;
  const VectorXd sizes = row_sizes(system_, x);
  Failure out = approach(kind, s.t, x, sizes, off, [&](bool careful) {
    factor(s, positions);
    const bool found = (careful && engine_.correct(rhs)) || engine_.solve(none, rhs) != Engine::Status::stalled;
    engine_.expand(engine_.y(), dx);
    x += dx;
    return found;
  });
  if (out && met_by_verdict(system_, s, out, off(), sizes, {}, options_)) out = {};
  if (!out) engine_.normalise(s);
  return out;
}

Failure Dynamics::project_positions(State& s) { return project(Failure::Kind::no_positions, s); }
Failure Dynamics::project_velocities(State& s) { return project(Failure::Kind::no_velocities, s); }

}  // namespace mortise
