#include <mortise/solve/solver.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <mortise/core/decompositions.h>
#include <mortise/engine/engine.h>
#include <mortise/engine/system_rank.h>

namespace mortise {
namespace {

constexpr const char* remedy =
    "look for rows that nearly say the same, and for masses far smaller than those of their neighbours";

// The bodies whose massless unknowns hang together with those of `start`, what holds them, and the bodies at its edge.
System::Selection cluster(const System& system, const Engine& engine, const std::vector<std::size_t>& start) {
  std::vector<std::vector<std::size_t>> touching(system.bodies().size());
  for (std::size_t i = 0; i < system.constraints().size(); ++i)
    for (const std::size_t b : system.constraints()[i].bodies) touching[b].push_back(i);
  std::set<std::size_t> bodies(start.begin(), start.end()), constraints;
  std::vector<std::size_t> queue = start;
  while (!queue.empty()) {
    const std::size_t b = queue.back();
    queue.pop_back();
    for (const std::size_t i : touching[b])
      if (constraints.insert(i).second)
        for (const std::size_t k : system.constraints()[i].bodies)
          if (bodies.insert(k).second && engine.massless(k) > 0) queue.push_back(k);
  }
  for (const std::size_t b : bodies)
    for (const std::size_t i : touching[b])
      if (system.constraints()[i].own) constraints.insert(i);
  return {{bodies.begin(), bodies.end()}, {constraints.begin(), constraints.end()}};
}

std::string scope(const System& system, const System::Selection& parts) {
  if (parts.bodies.size() == system.bodies().size()) return "";
  return fmt::format("{} of {} bodies looked at", parts.bodies.size(), system.bodies().size());
}

}  // namespace

// The state at which the factor last had doubts, and the verdict there, once somebody asks for it.
class [[gnu::visibility("hidden")]] RankJudge {
 public:
  explicit RankJudge(const RankOptions& options) : options_(options) {}
  void at(const State& s) { state_ = s, rank_.reset(), some_ = true; }
  void none() { some_ = false; }
  bool some() const { return some_; }
  void leave_out(const std::vector<Index>& rows) { left_out_ = rows, rank_.reset(); }
  const SparseRank& rank(const System& system) {
    if (!rank_) rank_ = rank_without(system, system.evaluate(state_), left_out_, options_);
    return *rank_;
  }
  Engine::Judgement judge(const System& system, const State& s) {
    if (!some_) at(s);
    Engine::Judgement out{{}, rank(system).smallest_row.value_or(1)};
    for (const SparseRank::Set& set : rank(system).redundant) {
      out.implied.push_back({set.row, set.y});
      out.conflicting = out.conflicting || !set.consistent;
    }
    return out;
  }

 private:
  RankOptions options_;
  State state_;
  std::vector<Index> left_out_;
  std::optional<SparseRank> rank_;
  bool some_ = false;
};

// An engine with rigid groups, for joints that are off and rows that are left out.
struct [[gnu::visibility("hidden")]] Solver::Merged {
  std::vector<std::size_t> off;
  std::vector<Index> left_out;
  RigidGroups groups;
  std::unique_ptr<Engine> engine;  // none: there is nothing to merge
  bool redundant = false;          // the last verdict on the rows: who knows the single rows must solve

  Merged(const System& system, const State& s, const std::vector<Index>& rows, int threads)
      : off(s.off), left_out(rows), groups(system, without(system)) {
    if (!groups.empty()) engine = std::make_unique<Engine>(groups, threads);
  }
  // The joints that do not hold all their rows by themselves, ascending.
  std::vector<std::size_t> without(const System& system) const {
    std::set<std::size_t> joints(off.begin(), off.end());
    for (const Index row : left_out) joints.insert(constraint_of(system, row));
    return {joints.begin(), joints.end()};
  }
};

Solver::Solver(const System& system, const SolverOptions& options)
    : system_(system),
      options_(options),
      plain_(std::make_unique<Engine>(system, options.threads)),
      engine_(plain_.get()),
      solved_by_(engine_),
      doubted_(std::make_unique<RankJudge>(options.rank)),
      friction_(VectorXd::Zero(system.size())) {
  plain_->set_judge([&system = system_, &doubted = *doubted_](const State& s) { return doubted.judge(system, s); });
}
Solver::Solver(Solver&&) noexcept = default;
Solver::~Solver() = default;

// The engine with rigid groups, as they are with the joints that act and the rows that are left out; false: there are none.
bool Solver::merge(const State& s) {
  if (!merged_ || merged_->off != s.off || merged_->left_out != left_out_) {
    const Engine* before = merged_ ? merged_->engine.get() : nullptr;
    if (engine_ == before) engine_ = plain_.get();
    if (solved_by_ == before) solved_by_ = plain_.get(), lost_ = true;
    merged_ = std::make_unique<Merged>(system_, s, left_out_, options_.threads);
    if (Engine* e = merged_->engine.get()) {
      e->set_pull(pull_);
      e->leave_out(left_out_);
      e->set_judge([&system = system_, &doubted = *doubted_, &redundant = merged_->redundant](const State& at) {
        Engine::Judgement out = doubted.judge(system, at);
        redundant = redundant || !out.implied.empty();
        out.implied.clear();
        return out;
      });
    }
  }
  return merged_->engine != nullptr;
}

// Chooses the engine for a state, and the state for the engine.
const State& Solver::choose(const State& s) {
  constexpr double met = 1e-13;  // of the largest coordinate or velocity
  engine_ = plain_.get();
  if ((!holding_ && (!options_.merge_welded || pull_ > 0)) || !merge(s)) return s;
  if (holding_) {
    engine_ = merged_->engine.get();
    near_ = s;
    merged_->groups.follow(near_);
    return near_;
  }
  const auto size = [](const VectorXd& x) { return std::max(1.0, x.size() ? x.cwiseAbs().maxCoeff() : 0); };
  const MotionsApart off = merged_->engine->apart(s);
  if (off.positions <= met * size(s.q) && off.velocities <= met * size(s.v)) engine_ = merged_->engine.get();
  return s;
}

void Solver::hold_welds(const State& s) {
  constexpr double far = 1e-6;
  holding_ = false;
  if (!merge(s)) return;
  // Rows can be met with the bodies turned by half a turn, too.
  const MotionsApart off = merged_->engine->apart(s);
  holding_ = off.positions <= far * std::max(1.0, s.q.cwiseAbs().maxCoeff());
}

const VectorXd& Solver::solve(const State& given) {
  system_.require_state(given);
  const State& s = choose(given);
  engine_->evaluate_rest(s);
  if (engine_ == plain_.get()) return finish(s, nullptr);
  if (solve_merged(s)) return a_;
  engine_ = plain_.get();
  engine_->evaluate_rest(s);
  return finish(s, nullptr);
}

// False where anything is in doubt: then single bodies and rows have to be looked at.
bool Solver::solve_merged(const State& s) {
  if (!engine_->factored()) factor(s);
  if (!engine_->alarms().empty() || engine_->has_doubts()) return false;
  if (!judged_ && engine_->has_massless()) require_determined(system_.evaluate(s));
  merged_->redundant = false;
  if (engine_->solve() != Engine::Status::solved || !engine_->finite() || merged_->redundant) return false;
  if (!engine_->reacting().empty()) balance(s, nullptr);
  engine_->accelerations(a_);
  solved_ = engine_->changes();
  solved_by_ = engine_;
  lost_ = false;
  solved_at_ = s;
  return true;
}

const VectorXd& Solver::accelerations(const State& s) {
  return solved_by_ == engine_ && solved_ == engine_->changes() && engine_->stands_at(s) ? a_ : solve(s);
}

const VectorXd& Solver::solve(const Evaluation& e) {
  system_.require_state(e.state);
  const Evaluation own = system_.evaluate(e.state);
  Label{"evaluation", system_.name()}.require(e.same_matrices(own),
                                              "its M or A are not those of the system at this state",
                                              "solve it by solve(system, evaluation), which takes it as it stands");
  engine_ = plain_.get();
  engine_->evaluate(e.state);
  engine_->take(e, own);
  return finish(e.state, &e);
}

const VectorXd& Solver::finish(const State& s, const Evaluation* e) {
  if (!engine_->factored()) factor(s);
  if (!engine_->alarms().empty() || (!judged_ && engine_->has_massless()))
    require_determined(e ? *e : system_.evaluate(s));
  const Engine::Status status = engine_->solve();
  if (!engine_->finite()) {
    (void)system_.evaluate(s);  // throws, naming the part
    Label{"state", system_.name()}.fail<NonFinite>(fmt::format("the accelerations at t = {} are not finite", s.t),
                                                   "check the masses and the formulas of the parts");
  }
  if (status != Engine::Status::solved) require_consistent(s, e, status == Engine::Status::stalled);
  if (!engine_->reacting().empty()) balance(s, e);
  engine_->accelerations(a_);
  solved_ = engine_->changes();
  solved_by_ = engine_;
  lost_ = false;
  return a_;
}

void Solver::factor(const State& s, bool positions) {
  engine_->factor(positions);
  engine_->has_doubts() || engine_->has_massless() ? doubted_->at(s) : doubted_->none();
}

// The engine that is there already, or the one that takes any state.
Engine& Solver::standing(const State& s) { return engine_->stands_at(s) ? *engine_ : *plain_; }

Energy Solver::energy(const State& s) {
  system_.require_state(s);
  return standing(s).energy(s);
}

double Solver::input(const State& s) {
  system_.require_state(s);
  return standing(s).input(s);
}

std::vector<Work> Solver::works(const State& s) {
  system_.require_state(s);
  return standing(s).works(s);
}

double Solver::input_by_joints(const State& s) {
  (void)accelerations(s);
  return engine_->power_of_reactions(s) + (engine_->reacting().empty() ? 0 : friction_.dot(s.v));
}

int Solver::factorisations() const {
  return plain_->factorisations() + (merged_ && merged_->engine ? merged_->engine->factorisations() : 0);
}

// Laws that need their own reaction: solves again with the forces of the last multipliers, until these stay.  The steps
// are those of Anderson: the combination of the last ones for which multipliers and forces would agree best.
void Solver::balance(const State& s, const Evaluation* e) {
  constexpr int most = 100, memory = 8;
  constexpr double agree = 1e-13, stuck = 1e-10;  // of the largest multiplier
  std::vector<std::size_t> joints = engine_->reacting();
  std::erase_if(joints, [&](std::size_t i) { return std::binary_search(s.off.begin(), s.off.end(), i); });
  if (joints.empty()) {
    friction_.setZero();
    return;
  }
  const std::vector<bool> known = unique();
  std::vector<Index> rows;
  for (const std::size_t i : joints) {
    const auto& c = system_.constraints()[i];
    for (Index r = c.row; r < c.row + c.rows; ++r) {
      if (!known[static_cast<std::size_t>(r)])
        Label{"joint", c.name}.fail<NotDetermined>(
            fmt::format("its friction needs its reaction, which is not unique: row '{}' shares its load",
                        system_.row(r).name),
            "remove redundant rows, or give it a law that does not need the reaction");
      rows.push_back(r);
    }
  }
  const auto n = static_cast<Index>(rows.size());
  VectorXd force, x = engine_->lambda()(rows), g(n), last_x, last_gap;
  MatrixXd steps(n, 0), changes(n, 0);  // of x and of the gap g - x
  double size = 0, off = 0, best = std::numeric_limits<double>::infinity();
  for (int k = 0; k < most; ++k) {
    engine_->set_lambda(rows, x);
    engine_->react(s, force);
    if (const auto status = engine_->solve(force, engine_->rhs()); status != Engine::Status::solved)
      require_consistent(s, e, status == Engine::Status::stalled);
    g = engine_->lambda()(rows);
    const VectorXd gap = g - x;
    size = std::max({size, g.cwiseAbs().maxCoeff(), 1e-300});
    off = gap.cwiseAbs().maxCoeff() / size;
    if (!std::isfinite(off)) break;
    best = std::min(best, off);
    if (off <= agree || (k > 20 && off <= stuck)) {
      friction_ = VectorXd::Zero(system_.size());
      for (const std::size_t i : joints) system_.react(system_.constraints()[i], s, engine_->lambda(), friction_);
      return;
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
  Label{"joint", system_.constraints()[joints.front()].name}.fail<NotConverged>(
      fmt::format("friction and reactions do not come to agree at t = {}: {} solves leave {:.1e} of the largest "
                  "multiplier, in this joint or another of the {} with friction",
                  s.t, most, best, joints.size()),
      "lower the coefficient of friction: with a large one there may be no motion, or several");
}

// The alarm is only a suspicion, and no alarm, too, at the first state: the verdict is that of the rank check.
void Solver::require_determined(const Evaluation& e) {
  const System::Selection parts = judged_ ? cluster(system_, *engine_, engine_->alarms()) : system_.all();
  judged_ = true;
  if (rank_of(system_, e, parts, options_.rank).N.empty()) return;
  RankReport report = check_rank(system_, e, parts, options_.rank);
  report.scope = scope(system_, parts);
  if (!report.determined()) throw UnderModelled(std::move(report));
}

// Rows that cannot be met: whether they contradict each other is for the rank check to say; else the solve failed,
// unless what is left is round-off of the terms of b.
void Solver::require_consistent(const State& s, const Evaluation* given, bool stalled) const {
  const Evaluation e = given ? *given : system_.evaluate(s);
  for (const SparseRank::Set& set : rank_without(system_, e, left_out_, options_.rank).redundant)
    if (!set.consistent) throw ConflictingRows(check_rank(system_, e, options_.rank));
  Index worst = 0;
  double largest = 0;
  bool failed = stalled;
  for (const System::ConstraintInfo& c : system_.constraints()) {
    const VectorXd terms = system_.size_of_b(e, c);
    for (Index i = c.row; i < c.row + c.rows; ++i) {
      const double gap = std::abs(engine_->gap()[i]), size = engine_->size_of_row(i);
      if (gap / (size + 1e-300) > largest) largest = gap / (size + 1e-300), worst = i;
      failed = failed || gap > options_.rank.conflict * (size + terms[i - c.row]);
    }
  }
  if (!failed) return;
  const std::string what =
      stalled ? fmt::format(
                    "the accelerations do not converge at t = {}; the largest relative residual left is {:.1e}, here",
                    e.state.t, std::max(largest, engine_->worst()))
              : fmt::format("it contradicts other rows by {:.1e} of its terms at t = {}", largest, e.state.t);
  Label{"row", system_.row(worst).name}.fail<NotConverged>(what, remedy);
}

// Where an engine with rigid groups has gone on since, or is gone: it solves there again.
void Solver::recall() const {
  if (!lost_ && (solved_by_ == plain_.get() || solved_ == solved_by_->changes())) return;
  const State there = solved_at_;
  (void)const_cast<Solver*>(this)->solve(there);
}
const VectorXd& Solver::lambda() const {
  recall();
  solved_by_->find_weld_reactions();
  return solved_by_->lambda();
}
std::size_t Solver::merged() const {
  std::size_t count = 0;
  if (solved_by_ != plain_.get())
    for (const RigidGroups::Group& g : merged_->groups.groups()) count += g.members.size();
  return count;
}
Momentum Solver::momentum() const {
  if (lost_) recall();
  return solved_by_->momentum();
}
VectorXd Solver::gap() const { return solved_by_->gap(); }

VectorXd Solver::response(const VectorXd& force) {
  const VectorXd on_y = engine_->on_unknowns(force), none = VectorXd::Zero(system_.rows());
  VectorXd a;
  if (engine_->solve(on_y, none) != Engine::Status::solved)
    Label{"system", system_.name()}.fail<NotConverged>(
        fmt::format("its response to a force was not found; {:.1e} of the motion is not known", engine_->worst()),
        remedy);
  engine_->spread(engine_->y(), a);
  return a;
}

const VectorXd& Solver::phi() const {
  engine_->find_weld_rows();
  return engine_->value();
}
const VectorXd& Solver::rate() const {
  engine_->find_weld_rows();
  return engine_->rate();
}

double Solver::independence() const { return engine_->independence(); }
double Solver::independence(const State& given) {
  system_.require_state(given);
  const State& s = choose(given);
  engine_->look(s);
  factor(s);
  return engine_->independence();
}

std::vector<std::string> Solver::dependent_rows() {
  std::set<Index> rows;
  for (const Engine::Dependence& d : engine_->dependences(20))
    for (Index i = 0; i < system_.rows(); ++i)
      if (d.y[i] != 0) rows.insert(i);
  std::vector<std::string> names;
  for (const Index i : rows) names.push_back(system_.row(i).name);
  return names;
}

void Solver::leave_out(std::vector<Index> rows) {
  left_out_ = std::move(rows);
  shared_.clear();
  holding_ = false;
  plain_->leave_out(left_out_);
  doubted_->leave_out(left_out_);
}

const std::vector<Index>& Solver::leave_out_dependent(const State& s) {
  system_.require_state(s);
  left_out_.clear();
  shared_.assign(static_cast<std::size_t>(system_.rows()), false);
  for (const SparseRank::Set& set : rank_of(system_, system_.evaluate(s), options_.rank).redundant) {
    if (std::binary_search(s.off.begin(), s.off.end(), constraint_of(system_, set.row))) continue;  // not there anyway
    left_out_.push_back(set.row);
    for (const auto& [i, _] : set.y) shared_[static_cast<std::size_t>(i)] = true;
  }
  holding_ = false;
  plain_->leave_out(left_out_);
  doubted_->leave_out(left_out_);
  doubted_->at(s);
  return left_out_;
}

std::vector<bool> Solver::unique() {
  std::vector<bool> unique(static_cast<std::size_t>(system_.rows()), true);
  for (std::size_t i = 0; i < shared_.size(); ++i) unique[i] = !shared_[i];
  if (!engine_->has_doubts()) return unique;
  for (const SparseRank::Set& set : doubted_->rank(system_).redundant)
    for (const auto& [i, _] : set.y) unique[static_cast<std::size_t>(i)] = false;
  return unique;
}

std::vector<std::string> Solver::warnings() {
  if (!doubted_->some() && engine_->state().q.size() != system_.size()) return {};  // there was none
  if (!doubted_->some()) doubted_->at(engine_->state());
  std::vector<std::string> out = doubts(system_, doubted_->rank(system_), options_.rank);
  std::vector<std::string> unknown = doubtful_bodies();
  out.insert(out.end(), std::make_move_iterator(unknown.begin()), std::make_move_iterator(unknown.end()));
  return out;
}

std::vector<std::string> Solver::doubtful_bodies() const {
  std::vector<std::string> out;
  for (const Engine::Doubt& d : solved_by_->doubts())
    out.push_back(fmt::format(
        "the acceleration of body '{}' is known to {:.1e} of itself only: it is so light that the round-off of the "
        "forces on it moves it; give it its true mass, or make it massless",
        system_.bodies()[d.body].name, d.share));
  return out;
}

namespace {

// Steps towards rows that are met, until they stop coming nearer; x, the positions or velocities, ends where they came
// nearest.  off(): by how much each row is off.  step(careful): one correction of x, careful: without rows
// that nearly depend on others; and whether its equations were solved.
template <class F, class G>
void approach(const System& system, const char* what, double t, VectorXd& x, const F& off, const G& step) {
  constexpr int most = 30;
  // In shares of the largest coordinate or velocity.  Nothing is better than round_off; where redundant rows are off
  // the constraints they contradict each other, and steps come no nearer than a thousand times that.
  // What is given within `there` is round-off, too, and stays as it is.
  constexpr double round_off = 1e-15, there = 4e-15, met = 1e-12, near = 1e-9;
  VectorXd best = x;
  double least = std::numeric_limits<double>::infinity(), last = least;
  Index worst = -1;
  bool found = true, careful = true;
  int steps = 0;
  for (; steps < most; ++steps) {
    const VectorXd& r = off();
    Index row = -1;
    const double now =
        (r.size() ? r.cwiseAbs().maxCoeff(&row) : 0) / std::max(1.0, x.size() ? x.cwiseAbs().maxCoeff() : 0);
    if (!std::isfinite(now)) break;
    const bool nearer = now < 0.5 * last;
    if (now < least) least = now, best = x, worst = row;
    if (least <= (steps == 0 ? there : round_off)) break;
    if (careful && !nearer && least > met) {  // rows that nearly depend on others do matter
      careful = false;
      x = best;
      (void)off();
    } else if ((least <= near && !nearer) || (steps > 3 && now > 1e3 * last)) {
      break;
    }
    last = now;
    found = step(careful);
  }
  x = best;
  if (least <= met || (found && least <= near)) return;
  Label{worst < 0 ? "system" : "row", worst < 0 ? system.name() : system.row(worst).name}.fail<NotConverged>(
      fmt::format("no {} that meet the constraints were found near those given at t = {}; this one is off by {:.1e} of "
                  "the largest{}",
                  what, t, least, found ? "" : ", and the equations of the last step were not solved"),
      found ? "start nearer, or check that the constraints can hold together" : remedy);
}

}  // namespace

void Solver::stabilise(double w) {
  pull_ = w;
  plain_->set_pull(w);
  if (merged_ && merged_->engine) merged_->engine->set_pull(w);
}
void Solver::normalise(State& s) const {
  plain_->normalise(s);
  if (holding_) merged_->groups.follow(s);
}

Solver::Gaps Solver::gaps(const State& s) {
  engine_ = plain_.get();
  return gaps(*engine_, s);
}
Solver::Gaps Solver::gaps(Engine& engine, const State& s) const {
  engine.look(s);
  engine.find_weld_rows();
  Gaps out{engine.value(), engine.rate()};
  for (const auto& c : system_.constraints())
    out.positions.segment(c.row + c.holonomic, c.rows - c.holonomic).setZero();
  const auto forget = [&](Index row, Index rows) {
    out.positions.segment(row, rows).setZero();
    out.velocities.segment(row, rows).setZero();
  };
  for (const Index i : left_out_) forget(i, 1);
  for (const std::size_t i : s.off) forget(system_.constraints()[i].row, system_.constraints()[i].rows);
  return out;
}

VectorXd Solver::shift(const State& s, const VectorXd& rows, bool positions) {
  system_.require_state(s);
  engine_ = plain_.get();
  engine_->look(s);
  factor(s, positions);
  const VectorXd none = VectorXd::Zero(engine_->unknowns());
  if (!engine_->correct(rows) && engine_->solve(none, rows) == Engine::Status::stalled)
    Label{"system", system_.name()}.fail<NotConverged>(
        fmt::format("a step towards its constraints was not found at t = {}", s.t), remedy);
  VectorXd dq;
  engine_->spread(engine_->y(), dq);
  return dq;
}
VectorXd Solver::shift_positions(const State& s, const VectorXd& rows) { return shift(s, rows, true); }
VectorXd Solver::shift_velocities(const State& s, const VectorXd& rows) { return shift(s, rows, false); }

// With welded bodies as one while they are held; else, or where that does not lead there, with single ones.
template <class F> void Solver::project(State& s, const F& approach) {
  system_.require_state(s);
  if (holding_ && merge(s)) {
    engine_ = merged_->engine.get();
    State near = s;
    try {
      approach(near);
      s = std::move(near);
      return;
    } catch (const NotConverged&) {
    }
  }
  engine_ = plain_.get();
  approach(s);
}
void Solver::project_positions(State& s) {
  project(s, [&](State& x) { approach_positions(x); });
}
void Solver::project_velocities(State& s) {
  project(s, [&](State& x) { approach_velocities(x); });
}

void Solver::approach_positions(State& s) {
  VectorXd dq, rhs(system_.rows());
  const VectorXd none = VectorXd::Zero(engine_->unknowns());
  const auto off = [&]() -> const VectorXd& {
    normalise(s);
    rhs = -gaps(*engine_, s).positions;
    return rhs;
  };
  approach(system_, "positions", s.t, s.q, off, [&](bool careful) {
    factor(s, true);
    const bool found = (careful && engine_->correct(rhs)) || engine_->solve(none, rhs) != Engine::Status::stalled;
    engine_->spread(engine_->y(), dq);
    s.q += dq;
    return found;
  });
  normalise(s);
}

void Solver::approach_velocities(State& s) {
  VectorXd dv, rhs;
  const VectorXd none = VectorXd::Zero(engine_->unknowns());
  const auto off = [&]() -> const VectorXd& {
    normalise(s);
    rhs = -gaps(*engine_, s).velocities;
    return rhs;
  };
  approach(system_, "velocities", s.t, s.v, off, [&](bool careful) {
    factor(s);
    const bool found = (careful && engine_->correct(rhs)) || engine_->solve(none, rhs) != Engine::Status::stalled;
    engine_->spread(engine_->y(), dv);
    s.v += dv;
    return found;
  });
  normalise(s);
}

}  // namespace mortise
