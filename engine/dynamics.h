#pragma once
// Accelerations of a System, and states on its constraints: the engine together with the verdict on its rank.  What is
// not found is told as data; diagnosis/failure.h has the words.

#include <optional>
#include <vector>

#include <mortise/core/function_ref.h>
#include <mortise/engine/engine.h>
#include <mortise/engine/system_rank.h>

#pragma GCC visibility push(hidden)
namespace mortise {

struct Failure {
  enum class Kind {
    none,
    free,             // no mass moves and no row holds some of `parts`
    conflicting,      // rows imply other values than others have
    not_finite,       // accelerations are NaN or Inf
    stalled,          // accelerations do not converge: `row` is off by `amount`, relative
    contradicting,    // `row` contradicts others by `amount` of its terms
    shared_reaction,  // a law of `constraint` needs its reaction, which `row` shares with others
    friction,         // laws of `joints` constraints do not come to agree with their reactions: `amount` is left
    no_response,      // to a force: `amount` of the motion is not known
    no_step,          // towards the constraints
    no_positions,     // that meet the constraints near those given: `row` (-1: none is worst) is off by `amount`
    no_velocities     // the same
  };
  Kind kind = Kind::none;
  double t = 0;
  Index row = -1;
  std::size_t constraint = 0, joints = 0;
  double amount = 0;
  int tries = 0;
  bool solved = true;  // no_positions, no_velocities: the equations of the last step were
  System::Selection parts = {};
  explicit operator bool() const { return kind != Kind::none; }
};

// The verdict on the rows at the state where the factor last had doubts, once somebody asks for it.
class RankJudge {
 public:
  explicit RankJudge(const RankOptions& options) : options_(options) {}
  void at(const State& s) { state_ = s, rank_.reset(), some_ = true; }
  void set(SparseRank rank) { rank_ = std::move(rank); }  // found by the caller, without the rows left out
  void none() { some_ = false; }
  bool some() const { return some_; }
  void leave_out(const std::vector<Index>& rows) { left_out_ = rows, rank_.reset(); }
  const SparseRank& rank(const System& system);
  Engine::Judgement judge(const System& system, const State& s);

 private:
  RankOptions options_;
  State state_;
  std::vector<Index> left_out_;
  std::optional<SparseRank> rank_;
  bool some_ = false;
};

// The bodies whose massless unknowns the alarm doubts, what holds them, and the bodies at its edge.
System::Selection alarmed_parts(const System& system, const Engine& engine);

// The row with the largest gap that the engine's last solve() left: Kind::none if all of it is round-off of the terms
// of b.  Rows that contradict each other by more than options.conflict are conflicting.
Failure find_gap(const System& system, const Engine& engine, const Evaluation& e, const std::vector<Index>& left_out,
                 bool stalled, const RankOptions& options);

// Laws that need their own reaction: solves again with the forces of the last multipliers, until these stay.  `unique`
// by rows: no redundant row shares its reaction.  `solve` solves for the forces on the unknowns that it is given.
Failure balance_friction(const System& system, Engine& engine, const State& s, const std::vector<bool>& unique,
                         const FunctionRef<Failure(const VectorXd&)>& solve, VectorXd& friction);

// What is round-off of a row is a share of this: the largest coordinate, or velocity, of its own bodies, and 1 at
// least.
VectorXd row_sizes(const System& system, const VectorXd& x);

// Steps towards rows that are met, until they stop coming nearer; x, the positions or velocities, ends where they came
// nearest.  off(): by how much each row is off.  step(careful): one correction of x, careful: without rows that nearly
// depend on others; and whether its equations were solved.
Failure approach(Failure::Kind kind, double t, VectorXd& x, const VectorXd& sizes,
                 const FunctionRef<const VectorXd&()>& off, const FunctionRef<bool(bool)>& step);

// Whether a state that approach() failed to bring nearer is on the constraints as far as they allow: all rows are met
// but some that depend on each other and agree by the verdict at s, though not to the last digits.  off: as above.
bool met_by_verdict(const System& system, const State& s, const Failure& failure, const VectorXd& off,
                    const VectorXd& sizes, const std::vector<Index>& left_out, const RankOptions& options);

// By how much the rows that act are off, where the engine has evaluated them: phi; or phi', psi.
void find_gaps(const System& system, const Engine& engine, const State& s, const std::vector<Index>& left_out,
               bool positions, VectorXd& out);

// What reports and completions ask of a system.  Throws for what is no model at a state only.
class Dynamics {
 public:
  explicit Dynamics(const System& system, const RankOptions& options = {});
  Dynamics(const Dynamics&) = delete;
  Dynamics& operator=(const Dynamics&) = delete;

  Failure solve(const State& s);
  const VectorXd& accelerations() const { return a_; }  // of the last solve()
  const VectorXd& lambda() const { return engine_.lambda(); }

  // The nearest state, in the norm of M, that meets the constraints.
  Failure project_positions(State& s);
  Failure project_velocities(State& s);

 private:
  void factor(const State& s, bool positions = false);
  Failure project(Failure::Kind kind, State& s);

  const System& system_;
  RankOptions options_;
  RankJudge judge_;
  Engine engine_;
  VectorXd a_;
};

}  // namespace mortise
#pragma GCC visibility pop
