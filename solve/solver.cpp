#include <mortise/solve/solver.h>

#include <algorithm>
#include <set>

#include <mortise/core/tolerances.h>
#include <mortise/diagnosis/failure.h>
#include <mortise/diagnosis/report.h>
#include <mortise/engine/dynamics.h>

namespace mortise {

struct [[gnu::visibility("hidden")]] Solver::OwnEngine : Engine {
  using Engine::Engine;
  struct {  // of a projection
    VectorXd rhs, small, dx, none;
  } work;
};
struct [[gnu::visibility("hidden")]] Solver::OwnJudge : RankJudge {
  using RankJudge::RankJudge;
  bool looked = false;  // for rows without a gradient, at the first state
  // Of the system, as the solver was made for it.
  std::shared_ptr<const CoordinateTable> names;
  Index rows = 0;
  bool evaluation = false;                                   // the last solve() was of an Evaluation, which is not kept
  unsigned long responded = static_cast<unsigned long>(-1);  // Engine::changes() after the last response
};

namespace {

// x - x is 0, or NaN where x is not finite; sums are faster than a test of each.
bool finite(const VectorXd& x) { return (x.array() - x.array()).sum() == 0; }

// Throws if the solver, or its system, was moved from, or the system became another one.
void require_kept(const System& system, const auto& engine, const auto& judge) {
  if (engine && system.names() == judge->names && system.rows() == judge->rows) return;
  Label{"solver of", system.name()}.fail<InvalidModel>(
      engine ? "its system was moved from, or became another one" : "it was moved from",
      engine ? "make a solver of the system that is there now" : "use the one it was moved to");
}

}  // namespace

// An engine with rigid groups, for joints that are off and rows that are left out.
struct [[gnu::visibility("hidden")]] Solver::Merged {
  std::vector<std::size_t> off;
  std::vector<Index> left_out;
  RigidGroups groups;
  std::unique_ptr<OwnEngine> engine;  // none: there is nothing to merge
  bool redundant = false;             // the last verdict on the rows: who knows the single rows must solve

  Merged(const System& system, const State& s, const std::vector<Index>& rows, int threads)
      : off(s.off), left_out(rows), groups(system, without(system)) {
    if (!groups.empty()) engine = std::make_unique<OwnEngine>(groups, threads);
  }
  // The joints that do not hold all their rows by themselves, ascending.
  std::vector<std::size_t> without(const System& system) const {
    std::set<std::size_t> joints(off.begin(), off.end());
    for (const Index row : left_out) joints.insert(system.constraint_of(row));
    return {joints.begin(), joints.end()};
  }
};

Solver::Solver(const System& system, const SolverOptions& options)
    : system_(system),
      options_(options),
      plain_(std::make_unique<OwnEngine>(system, options.threads)),
      engine_(plain_.get()),
      solved_by_(engine_),
      doubted_(std::make_unique<OwnJudge>(options.rank)),
      friction_(VectorXd::Zero(system.size())) {
  doubted_->names = system.names();
  doubted_->rows = system.rows();
  plain_->set_judge([&system = system_, &doubted = *doubted_](const State& s) { return doubted.judge(system, s); });
}
Solver::Solver(Solver&&) noexcept = default;
Solver::~Solver() = default;

// The engine with rigid groups, as they are with the joints that act and the rows that are left out; false: there are
// none.
bool Solver::merge(const State& s) {
  if (!merged_ || merged_->off != s.off || merged_->left_out != left_out_) {
    const OwnEngine* before = merged_ ? merged_->engine.get() : nullptr;
    if (engine_ == before) engine_ = plain_.get();
    if (solved_by_ == before) solved_by_ = plain_.get(), lost_ = true;
    merged_ = std::make_unique<Merged>(system_, s, left_out_, options_.threads);
    if (OwnEngine* e = merged_->engine.get()) {
      e->set_baumgarte_rate(baumgarte_rate_);
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
  engine_ = plain_.get();
  if ((!holding_ && (!options_.merge_welded || baumgarte_rate_ > 0)) || !merge(s)) return s;
  if (holding_) {
    engine_ = merged_->engine.get();
    near_ = s;
    merged_->groups.follow(near_);
    return near_;
  }
  const auto size = [](const VectorXd& x) { return std::max(1.0, x.size() ? x.cwiseAbs().maxCoeff() : 0); };
  const MotionsApart off = merged_->engine->apart(s);
  if (off.positions <= tolerance::weld_met * size(s.q) && off.velocities <= tolerance::weld_met * size(s.v))
    engine_ = merged_->engine.get();
  return s;
}

void Solver::hold_welds(const State& s) {
  require_kept(system_, plain_, doubted_);
  system_.require_state(s);
  holding_ = false;
  if (!merge(s)) return;
  // Rows can be met with the bodies turned by half a turn, too.
  const MotionsApart off = merged_->engine->apart(s);
  holding_ = off.positions <= tolerance::weld_far * std::max(1.0, s.q.cwiseAbs().maxCoeff());
}

const VectorXd& Solver::solve(const State& given) {
  require_kept(system_, plain_, doubted_);
  system_.require_state(given);
  const State& s = choose(given);
  engine_->evaluate_if_needed(s);
  if (!doubted_->looked) look_for_flat_rows(s);
  if (engine_ == plain_.get()) return finish(s, nullptr);
  if (solve_merged(s)) return a_;
  engine_ = plain_.get();
  engine_->evaluate_if_needed(s);
  return finish(s, nullptr);
}

// Rows that touch nothing are as if they were not there: the check says whether they may be.
void Solver::look_for_flat_rows(const State& s) {
  if (left_out_.empty() && engine_->has_flat_rows())
    mortise::require(check_rank(system_, system_.evaluate(s), options_.rank));
  doubted_->looked = true;
}

// False where anything is in doubt: then single bodies and rows have to be looked at.
bool Solver::solve_merged(const State& s) {
  if (!engine_->factored()) factor(s);
  if (!engine_->alarms().empty() || engine_->has_doubts()) return false;
  if (!judged_ && engine_->has_massless()) require_determined(system_.evaluate(s));
  merged_->redundant = false;
  if (engine_->solve() != Engine::Status::solved || !engine_->finite() || merged_->redundant) return false;
  if (!engine_->reacting().empty()) {
    const auto again = [&](const VectorXd& force) {
      const bool solved = engine_->solve(force, engine_->rhs()) == Engine::Status::solved;
      return solved ? Failure{} : Failure{.kind = Failure::Kind::stalled};
    };
    if (balance_friction(system_, *engine_, s, unique_reactions(engine_->has_doubts()), again, friction_)) return false;
  }
  engine_->accelerations(a_);
  if (!finite(a_)) return false;
  solved_ = engine_->changes();
  solved_by_ = engine_;
  lost_ = false;
  solved_at_ = s;
  doubted_->evaluation = false;
  return true;
}

const VectorXd& Solver::accelerations(const State& s) {
  require_kept(system_, plain_, doubted_);
  return solved_by_ == engine_ && solved_ == engine_->changes() && engine_->is_at(s) ? a_ : solve(s);
}

const VectorXd& Solver::solve(const Evaluation& e) {
  require_kept(system_, plain_, doubted_);
  system_.require_own(e);
  const Evaluation own = system_.evaluate(e.state);
  Label{"evaluation", system_.name()}.require(e.same_matrices(own),
                                              "its M or A are not those of the system at this state",
                                              "solve it by solve(system, evaluation), which takes it as it stands");
  engine_ = plain_.get();
  engine_->evaluate(e.state);
  engine_->set_right_hand_side(e, own);
  if (!doubted_->looked) look_for_flat_rows(e.state);
  return finish(e.state, &e);
}

const VectorXd& Solver::finish(const State& s, const Evaluation* e) {
  const auto evaluated = [&] { return e ? *e : system_.evaluate(s); };
  if (!engine_->factored()) factor(s);
  if (!engine_->alarms().empty() || (!judged_ && engine_->has_massless())) require_determined(evaluated());
  if (!agreed_ && left_out_.empty() && engine_->has_doubts()) require_agreement(evaluated());
  const auto checked = [&](Engine::Status status) {
    if (status == Engine::Status::solved) return;
    const Evaluation at = evaluated();
    const bool stalled = status == Engine::Status::stalled;
    require(system_, find_gap(system_, *engine_, at, left_out_, stalled, options_.rank), at, options_.rank);
  };
  // Where frames that a joint holds together are half a turn off its rows vanish, and would hold nothing.
  if (engine_->has_doubts() && !turned_joints(system_, s).empty())
    mortise::require(check_rank(system_, evaluated(), options_.rank));
  const Engine::Status status = engine_->solve();
  if (!engine_->finite()) {
    (void)system_.evaluate(s);  // throws, naming the part
    fail(system_, {.kind = Failure::Kind::not_finite, .t = s.t});
  }
  checked(status);
  if (!engine_->reacting().empty()) {
    const auto again = [&](const VectorXd& force) {
      checked(engine_->solve(force, engine_->rhs()));
      return Failure{};
    };
    if (const Failure f =
            balance_friction(system_, *engine_, s, unique_reactions(engine_->has_doubts()), again, friction_))
      fail(system_, f);
  }
  engine_->accelerations(a_);
  if (!finite(a_)) fail(system_, {.kind = Failure::Kind::not_finite, .t = s.t});  // on the way from the unknowns
  solved_ = engine_->changes();
  solved_by_ = engine_;
  lost_ = false;
  solved_at_ = s;
  doubted_->evaluation = e != nullptr;
  return a_;
}

void Solver::factor(const State& s, bool positions) {
  engine_->factor(positions);
  engine_->has_doubts() || engine_->has_massless() ? doubted_->at(s) : doubted_->none();
}

// The engine that is there already, or the one that takes any state.
Solver::OwnEngine& Solver::standing(const State& s) { return engine_->is_at(s) ? *engine_ : *plain_; }

Energy Solver::energy(const State& s) {
  require_kept(system_, plain_, doubted_);
  system_.require_state(s);
  return standing(s).energy(s);
}

double Solver::input(const State& s) {
  require_kept(system_, plain_, doubted_);
  system_.require_state(s);
  return standing(s).input(s);
}

std::vector<Work> Solver::works(const State& s) {
  require_kept(system_, plain_, doubted_);
  system_.require_state(s);
  return standing(s).works(s);
}

double Solver::input_by_joints(const State& s) {
  (void)accelerations(s);
  return engine_->power_of_reactions(s) + (engine_->reacting().empty() ? 0 : friction_.dot(s.v));
}

int Solver::factorisations() const {
  require_kept(system_, plain_, doubted_);
  return plain_->factorisations() + (merged_ && merged_->engine ? merged_->engine->factorisations() : 0);
}

// The alarm is only a suspicion, and no alarm, too, at the first state: the verdict is that of the rank check.
void Solver::require_determined(const Evaluation& e) {
  const System::Selection parts = judged_ ? alarmed_parts(system_, *engine_) : system_.all();
  judged_ = true;
  if (!rank_of(system_, e, parts, options_.rank).N.empty())
    require(system_, {.kind = Failure::Kind::free, .t = e.state.t, .parts = parts}, e, options_.rank);
}

// Rows that depend on each other and agree about accelerations may contradict each other in positions or velocities,
// where they are not met. That is a fault of the model, looked for where rows are first seen to depend on each other.
void Solver::require_agreement(const Evaluation& e) {
  if (!report::met(system_, e, rate()) && report::any_contradiction(system_, e, rate(), doubted_->rank(system_)))
    require(check_rank(system_, e, options_.rank));
  agreed_ = true;
}

void Solver::require_solved(const char* what) const {
  require_kept(system_, plain_, doubted_);
  if (a_.size() != system_.size())
    Label{"solver of", system_.name()}.fail<InvalidModel>(
        fmt::format("{} was asked for before any state was solved", what), "call solve() first");
}
void Solver::require_evaluated(const char* what) const {
  require_kept(system_, plain_, doubted_);
  if (engine_->state().q.size() != system_.size())
    Label{"solver of", system_.name()}.fail<InvalidModel>(fmt::format("{} was asked for before any state", what),
                                                          "call solve() first");
}
namespace {
void require_size(const System& system, const char* what, const VectorXd& x, Index count, const char* each) {
  const Label label{"solver of", system.name()};
  if (x.size() != count)
    label.fail<WrongSize>(fmt::format("{} has {} entries", what, x.size()),
                          fmt::format("give {}, one per {}", count, each));
  if (!x.allFinite()) label.fail<NonFinite>(fmt::format("{} is not finite", what), "give finite numbers");
}
}  // namespace

// Where the engine has gone on since, or is gone: it solves there again.
void Solver::recall() const {
  if (!lost_ && solved_ == solved_by_->changes() && (doubted_->evaluation || solved_by_->is_at(solved_at_))) return;
  if (doubted_->evaluation)
    Label{"solver of", system_.name()}.fail<InvalidModel>("it has gone on since it solved that evaluation",
                                                          "solve the evaluation again");
  const State there = solved_at_;
  (void)const_cast<Solver*>(this)->solve(there);
}
const VectorXd& Solver::lambda() const {
  require_solved("lambda");
  recall();
  solved_by_->find_weld_reactions();
  return solved_by_->lambda();
}
std::size_t Solver::merged() const {
  require_kept(system_, plain_, doubted_);
  std::size_t count = 0;
  if (solved_by_ != plain_.get())
    for (const RigidGroups::Group& g : merged_->groups.groups()) count += g.members.size();
  return count;
}
Momentum Solver::momentum() const {
  require_solved("the momentum");
  recall();
  return solved_by_->momentum();
}
VectorXd Solver::gap() const {
  require_solved("the gap");
  recall();
  return solved_by_->gap();
}

VectorXd Solver::response(const VectorXd& force) {
  require_solved("a response");
  require_size(system_, "the force", force, system_.size(), "coordinate");
  if (lost_ || doubted_->responded != solved_by_->changes()) recall();
  engine_ = solved_by_;
  const VectorXd on_y = engine_->on_unknowns(force), none = VectorXd::Zero(system_.rows());
  VectorXd a;
  const bool solved = engine_->solve(on_y, none) == Engine::Status::solved;
  doubted_->responded = engine_->changes();
  if (!solved) fail(system_, {.kind = Failure::Kind::no_response, .amount = engine_->worst()});
  engine_->expand(engine_->y(), a);
  if (!a.allFinite())
    Label{"solver of", system_.name()}.fail<NonFinite>("the response is beyond what doubles can hold",
                                                       "give a smaller force");
  return a;
}

const VectorXd& Solver::phi() const {
  require_evaluated("phi");
  engine_->find_weld_rows();
  return engine_->value();
}
const VectorXd& Solver::rate() const {
  require_evaluated("the rate of phi");
  engine_->find_weld_rows();
  return engine_->rate();
}

double Solver::independence() const {
  require_evaluated("the independence of rows");
  return engine_->independence();
}
double Solver::independence(const State& given) {
  require_kept(system_, plain_, doubted_);
  system_.require_state(given);
  const State& s = choose(given);
  engine_->evaluate_rows_if_needed(s);
  factor(s);
  return engine_->independence();
}

std::vector<std::string> Solver::dependent_rows() {
  require_evaluated("what depends on each other");
  std::set<Index> rows;
  for (const Engine::Dependence& d : engine_->dependences(20))
    for (Index i = 0; i < system_.rows(); ++i)
      if (d.y[i] != 0) rows.insert(i);
  std::vector<std::string> names;
  for (const Index i : rows) names.push_back(system_.row(i).name);
  return names;
}

void Solver::leave_out(std::vector<Index> rows) {
  require_kept(system_, plain_, doubted_);
  std::set<Index> seen;
  for (const Index i : rows)
    Label{"solver of", system_.name()}.require(i >= 0 && i < system_.rows() && seen.insert(i).second,
                                               fmt::format("row {} is to be left out, but is none, or named twice", i),
                                               fmt::format("give different ones from 0 below {}", system_.rows()));
  left_out_ = std::move(rows);
  shared_.clear();
  holding_ = false;
  plain_->leave_out(left_out_);
  doubted_->leave_out(left_out_);
}

const std::vector<Index>& Solver::leave_out_dependent(const State& s) {
  require_kept(system_, plain_, doubted_);
  system_.require_state(s);
  left_out_.clear();
  shared_.assign(static_cast<std::size_t>(system_.rows()), false);
  const Evaluation e = system_.evaluate(s);
  SparseRank rank = rank_of(system_, e, options_.rank);
  for (const SparseRank::Set& set : rank.redundant) {
    if (!set.consistent || report::squared(system_, e, set) || report::flat_and_unmet(system_, e, set))
      require(check_rank(system_, e, options_.rank));
    if (std::binary_search(s.off.begin(), s.off.end(), system_.constraint_of(set.row))) continue;  // not there anyway
    left_out_.push_back(set.row);
    for (const auto& [i, _] : set.y) shared_[static_cast<std::size_t>(i)] = true;
  }
  holding_ = false;
  plain_->leave_out(left_out_);
  doubted_->leave_out(left_out_);
  doubted_->at(s);
  if (left_out_.empty()) doubted_->set(std::move(rank));
  return left_out_;
}

std::vector<bool> Solver::unique() {
  require_kept(system_, plain_, doubted_);
  if (!doubted_->some() && engine_->state().q.size() == system_.size()) doubted_->at(engine_->state());
  return unique_reactions(doubted_->some());
}

std::vector<bool> Solver::unique_reactions(bool asked) {
  std::vector<bool> unique(static_cast<std::size_t>(system_.rows()), true);
  for (std::size_t i = 0; i < shared_.size(); ++i) unique[i] = !shared_[i];
  if (!asked) return unique;
  for (const SparseRank::Set& set : doubted_->rank(system_).redundant)
    for (const auto& [i, _] : set.y) unique[static_cast<std::size_t>(i)] = false;
  return unique;
}

std::vector<std::string> Solver::warnings() {
  require_kept(system_, plain_, doubted_);
  if (!doubted_->some() && engine_->state().q.size() != system_.size()) return {};  // there was none
  if (!doubted_->some()) doubted_->at(engine_->state());
  std::vector<std::string> out = doubts(system_, doubted_->rank(system_), options_.rank);
  std::vector<std::string> unknown = doubtful_bodies();
  out.insert(out.end(), std::make_move_iterator(unknown.begin()), std::make_move_iterator(unknown.end()));
  return out;
}

std::vector<std::string> Solver::doubtful_bodies() const {
  require_kept(system_, plain_, doubted_);
  return doubts(system_, solved_by_->doubts());
}

void Solver::stabilise(double w) {
  require_kept(system_, plain_, doubted_);
  Label{"solver of", system_.name()}.require(w >= 0 && std::isfinite(w), fmt::format("the rate of return is {} 1/s", w),
                                             "give a finite number >= 0");
  baumgarte_rate_ = w;
  plain_->set_baumgarte_rate(w);
  if (merged_ && merged_->engine) merged_->engine->set_baumgarte_rate(w);
}
void Solver::normalise(State& s) const {
  require_kept(system_, plain_, doubted_);
  if (s.q.size() != system_.size() || s.v.size() != system_.size()) system_.require_state(s);  // throws
  plain_->normalise(s);
  if (holding_) merged_->groups.follow(s);
}

Solver::Gaps Solver::gaps(const State& s) {
  require_kept(system_, plain_, doubted_);
  system_.require_state(s);
  engine_ = plain_.get();
  return gaps(*engine_, s);
}
Solver::Gaps Solver::gaps(OwnEngine& engine, const State& s) const {
  engine.evaluate_rows_if_needed(s);
  engine.find_weld_rows();
  Gaps out;
  find_gaps(system_, engine, s, left_out_, true, out.positions);
  find_gaps(system_, engine, s, left_out_, false, out.velocities);
  return out;
}

VectorXd Solver::shift(const State& s, const VectorXd& rows, bool positions) {
  require_kept(system_, plain_, doubted_);
  system_.require_state(s);
  require_size(system_, "the change of rows", rows, system_.rows(), "row");
  engine_ = plain_.get();
  engine_->evaluate_rows_if_needed(s);
  factor(s, positions);
  const VectorXd none = VectorXd::Zero(engine_->unknowns());
  if (!engine_->correct(rows) && engine_->solve(none, rows) == Engine::Status::stalled)
    fail(system_, {.kind = Failure::Kind::no_step, .t = s.t});
  VectorXd dq;
  engine_->expand(engine_->y(), dq);
  return dq;
}
VectorXd Solver::shift_positions(const State& s, const VectorXd& rows) { return shift(s, rows, true); }
VectorXd Solver::shift_velocities(const State& s, const VectorXd& rows) { return shift(s, rows, false); }

// With welded bodies as one while they are held; else, or where that does not lead there, with single ones.
void Solver::project(State& s, bool positions, bool nearby) {
  require_kept(system_, plain_, doubted_);
  system_.require_state(s);
  if (holding_ && merge(s)) {
    engine_ = merged_->engine.get();
    State near = s;
    try {
      approach(near, positions, nearby);
      s = std::move(near);
      return;
    } catch (const NotConverged&) {
    }
  }
  engine_ = plain_.get();
  approach(s, positions, nearby);
}
void Solver::project_positions(State& s) { project(s, true, false); }
void Solver::project_velocities(State& s) { project(s, false, false); }
void Solver::project_nearby(State& s) {
  project(s, true, true);
  project(s, false, true);
}

namespace {

// Whether a state that was not brought nearer is on the constraints by the verdict of the check: rows that are off
// depend on others and do not contradict them.
bool as_near_as_can_be(const System& system, const Engine& engine, const State& s, const Failure& f,
                       const VectorXd& off, const VectorXd& sizes, const std::vector<Index>& left_out,
                       const RankOptions& options) {
  if (!met_by_verdict(system, s, f, off, sizes, left_out, options)) return false;
  const Evaluation e = system.evaluate(s);
  return !report::any_contradiction(system, e, engine.rate(), rank_without(system, e, left_out, options));
}

}  // namespace

// The factor that is there may serve where it is near enough.  That of velocities serves the accelerations that follow,
// if it is made anew.
void Solver::approach(State& s, bool positions, bool nearby) {
  auto& [rhs, small, dx, none] = engine_->work;
  VectorXd& x = positions ? s.q : s.v;
  const VectorXd sizes = row_sizes(system_, x);
  small = 0.25 * tolerance::on_constraints * sizes;
  const auto off = [&, &rhs = rhs]() -> const VectorXd& {
    normalise(s);
    engine_->evaluate_rows_if_needed(s);
    engine_->find_weld_rows();
    find_gaps(system_, *engine_, s, left_out_, positions, rhs);
    rhs = -rhs;
    return rhs;
  };
  const auto correct = [&, &rhs = rhs, &small = small, &none = none](bool careful) {
    const bool old = nearby && positions == engine_->holonomic();
    if (careful && old && engine_->correct_by_last_factor(rhs, small)) return true;
    factor(s, positions);
    if (careful && engine_->correct_by_last_factor(rhs, small)) return true;
    none.setZero(engine_->unknowns());
    return (careful && engine_->correct(rhs)) || engine_->solve(none, rhs) != Engine::Status::stalled;
  };
  const auto step = [&, &dx = dx](bool careful) {
    const bool found = correct(careful);
    engine_->expand(engine_->y(), dx);
    x += dx;
    return found;
  };
  const auto kind = positions ? Failure::Kind::no_positions : Failure::Kind::no_velocities;
  if (const Failure f = mortise::approach(kind, s.t, x, sizes, off, step))
    if (!as_near_as_can_be(system_, *engine_, s, f, off(), sizes, left_out_, options_.rank)) fail(system_, f);
  normalise(s);
}

}  // namespace mortise
