#pragma once
// Engine: the equations of a System in the unknowns of its bodies, factored and solved along the mechanism's graph.
//
//   y_r = f_r + A_r' lambda,   0 = f_s + A_s' lambda,   A_r y_r + A_s y_s = b
//
// y_r are the unknowns with mass, which is 1, and y_s those without (core/marker.h).  Three steps:
//   1. Every body with massless unknowns is condensed by a QR decomposition of the rows that hold it; neither masses
//   nor
//      penalties enter.  R is regular iff [M; A] has full column rank: its diagonal is the rank alarm of every step.
//   2. The rows that remain see only y_r:  (A_r A_r' + D) lambda = b - A_r f_r  by fronts.h.  D is 0, or a tiny
//      diag(A_r A_r') / 1e14 where pivots show that rows depend on each other.  Bodies with many joints (hubs) are not
//      eliminated beforehand but stand in the fronts themselves.
//   3. Refinement on the true residuals, until they are round-off.  Where it does not get there: a QR decomposition of
//   A_r'
//      that keeps light and heavy bodies apart, or, in large systems, flexible GMRES.

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mortise/assembly/system.h>
#include <mortise/core/exact_solve.h>
#include <mortise/core/row_rank.h>
#include <mortise/engine/fronts.h>
#include <mortise/engine/motions.h>
#include <mortise/engine/plan.h>
#include <mortise/engine/qr_solve.h>
#include <mortise/engine/rigid_groups.h>

namespace mortise {

class __attribute__((visibility("hidden"))) Engine {
 public:
  explicit Engine(const System& system, int threads = 1) : Engine(system, threads, nullptr) {}
  // With rigid groups as one body each, for states that meet their welds; results are those of all bodies and rows.
  explicit Engine(const RigidGroups& groups, int threads = 1) : Engine(groups.system(), threads, &groups) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void evaluate(const State& s);
  // The rows alone, unless that was done last, at the same state; and all but these.
  void evaluate_rows_if_needed(const State& s);
  void evaluate_if_needed(const State& s);
  bool is_at(const State& s) const;  // bodies were moved there last
  // Moves bodies there, for the evaluate_if_needed() that follows; how far those of rigid groups are apart.
  MotionsApart apart(const State& s);
  MotionsApart apart(const RigidGroups::Group& g) const { return groups_->apart(g, motions_.all()); }  // there
  // Values and rates of the welds of rigid groups where the bodies are; their multipliers for y and lambda found there.
  void find_weld_rows();
  void find_weld_reactions();
  const State& state() const { return evaluated_.at; }  // to which bodies were moved last
  // Changes with whatever changes y, lambda or the rows.
  unsigned long changes() const { return changes_; }
  // Adds what the caller has changed in Q, C and b of an evaluation; own: as it was, at the state of evaluate().
  void set_right_hand_side(const Evaluation& e, const Evaluation& own);
  // Rows of the system that evaluate() treats as if they were not there; only their value() and rate() are told.
  void leave_out(const std::vector<Index>& rows);
  // Rows that are off are drawn back by the rate w [1/s]; 0: they are not.
  void set_baumgarte_rate(double w) { baumgarte_rate_ = w, changed(); }
  // As if all unknowns had mass: what rows say of each other does not depend on it.  Before the first evaluate().
  void set_all_massive() { all_massive_ = true; }
  // positions: without nonholonomic rows, which do not restrict positions.
  void factor(bool positions = false);
  // The rows of evaluate_if_needed() are those of the last factor(), so that it need not be made again: a projection of
  // velocities leaves it.  Never after evaluate().
  bool factored() const { return factored_since_ == changes_; }

  enum class Status { solved, inconsistent, stalled };
  // Solves for y and lambda with the forces and right-hand side given; `size` of the terms of b for round-off.
  Status solve(const VectorXd& force, const VectorXd& rhs);
  Status solve() { return solve(f_, b_); }
  // The shortest y with A y = rhs, for steps towards the constraints: rows that nearly depend on others, as redundant
  // ones do off the constraints, are left to the next step.  False if the system is too large for that.
  bool correct(const VectorXd& rhs);
  // Also a y with A y = rhs, up to so much in each row and nearly the shortest, by the factor that is there: that of
  // these rows or of rows nearby.  False where it is not near enough, or of other rows, or in doubt.
  bool correct_by_last_factor(const VectorXd& rhs, const VectorXd& small);
  bool holonomic() const { return slots_->holonomic; }

  // Constraints whose law needs their own reaction (ConstraintModel::reacts), by index in the system; and force() with
  // what these laws give for the multipliers found last.
  const std::vector<std::size_t>& reacting() const { return slots_->reacting; }
  void react(const State& s, VectorXd& force);
  void set_lambda(const std::vector<Index>& rows, const VectorXd& values) { lambda_(rows) = values, ++changes_; }

  // Who judges the rows at the state of the last evaluate() where the factor cannot tell: which ones the others imply,
  // and the smallest singular value of the rest, which tells how many digits of the motion can be known.
  struct Implied {
    Index row;
    SparseList by;  // rows, this one included, and factors with which their sum is 0
  };
  struct Judgement {
    std::vector<Implied> implied;
    VectorXd units;  // factors y of rows, over these, are of one size
    double smallest = 1;
    bool conflicting = false;  // some imply another value
  };
  void set_judge(std::function<Judgement(const State&)> judge) { judge_ = std::move(judge); }
  // Pivots of the last factor() nearly vanish: rows may depend on each other.
  bool has_doubts() const { return regularised_; }
  bool has_flat_rows() const;  // rows that act and touch no unknown, where they were evaluated
  bool has_massless() const { return plan_->condenses(); }

  // Off: rows are balanced by their own entries and nobody is warned.  To measure what the alarm costs, no more.
  void set_alarm(bool on) { alarm_ = on; }
  // Bodies whose massless unknowns the alarm of the last factor() doubts; empty where all is well.
  const std::vector<std::size_t>& alarms() const { return alarms_; }

  // Bodies of whose motion the last solve() could not find all digits, and the share that is not known.
  struct Doubt {
    std::size_t body;
    double share;
    bool by_rows = false;  // which hardly tell it; else by the round-off of forces
  };
  const std::vector<Doubt>& doubts() const { return solved_.doubts; }

  const VectorXd& force() const { return f_; }  // on the unknowns
  const VectorXd& rhs() const { return b_; }    // by rows of the system; 0 for own rows that bodies meet themselves
  const VectorXd& value() const { return value_; }
  const VectorXd& rate() const { return rate_; }
  const VectorXd& y() const { return y_; }
  const VectorXd& lambda() const { return lambda_; }
  const VectorXd& gap() const { return gap_; }  // b - A y where rows are inconsistent, else 0
  double size_of_row(Index i) const { return std::sqrt(size_of_row_[i]); }  // of the terms of b - A y
  double worst() const { return solved_.error; }                            // relative size of the last correction
  int refinements() const { return solved_.refinements; }
  void accelerations(VectorXd& a) const;               // T y + z
  void expand(const VectorXd& y, VectorXd& dq) const;  // T y
  void normalise(State& s) const;
  Momentum momentum() const;
  // At a state, from the motions of the bodies and the forces that evaluate() finds: these are not computed again where
  // they are there.  Bodies with an own constraint are seen on it.
  Energy energy(const State& s);
  double input(const State& s);               // [W] sum of System::contributions, and what laws of joints put in
  double power_of_reactions(const State& s);  // [W] lambda . A w, after solve() there
  std::vector<Work> works(const State& s);    // as System::contributions lists them
  int factorisations() const { return factorisations_; }  // so far
  VectorXd on_unknowns(const VectorXd& Q) const;          // T'Q
  Index unknowns() const { return slots_->unknowns; }
  const std::shared_ptr<const engine::Plan>& plan() const { return plan_; }
  Index fill() const { return plan_->tree.values(); }
  bool finite() const;

  // The smallest share of itself that the others leave to a row, by the pivots of the factor; 1 without rows.
  double independence() const;

  // Unknowns of a body that have no mass at the state of the last evaluate().
  Index massless(std::size_t body) const { return plan_->bodies[body].k - plan_->bodies[body].massive; }

  // Rows that depend on each other at this state, or nearly, from the pivots of the factor:  A'y is small.
  // If there are more than `most`, one combination of all.
  struct Dependence {
    VectorXd y;   // by rows of the system, the largest of y_i |A_i| is 1
    double size;  // |A'y|
    Index main;   // the row where y_i |A_i| is 1
  };
  std::vector<Dependence> dependences(int most);

 private:
  using Plan = engine::Plan;
  using Slots = engine::Slots;
  using Body = Plan::Body;
  using Node = Plan::Node;
  using Entry = Plan::Entry;
  using Touch = Plan::Touch;
  using Condensation = Plan::Condensation;

  Engine(const System& system, int threads, const RigidGroups* groups);
  double* unknowns_of(const Slots::Body& b, double* y) {
    return b.root == Slots::Body::held ? unheld_.data() : y + b.y;
  }
  Places see(std::size_t place) const { return {&slots_->firsts[place], &seen_[place]}; }
  BodyModel::Stored stored(std::size_t body, const State& s) const {
    return *slots_->bodies[body].model->stored(s, slots_->bodies[body].first);
  }
  void changed() { ++changes_; }
  void move(const State& s);
  void apply_forces(const State& s);
  void evaluate_rows(const State& s);
  void evaluate_motions_and_forces(const State& s);  // moves bodies and lets forces act, where they do not yet
  bool has_rows_at(const State& s) const { return rows_since_ == changes_ && is_at(s); }
  void add_baumgarte_terms();
  void follow(std::shared_ptr<const Plan> plan);
  bool condense(const Condensation& c, bool positions);
  void condense_rhs(const VectorXd& force, const VectorXd& rhs);
  void restore(VectorXd& dy);
  void expand_multipliers(bool forces);
  void find_references(std::size_t body);
  void references(const Condensation& c, int body, double* G);
  void assemble(int front);
  void assemble_rows(const Node& n);
  double squares(const Node& n, int r);
  void residual(const VectorXd& y, const VectorXd& rhs, VectorXd& rows, bool sizes);
  bool direct(const VectorXd& force, const VectorXd& rhs);
  void apply(const VectorXd& force, const VectorXd& rhs, VectorXd& dlambda, VectorXd& dy);
  bool refine(const VectorXd& force, const VectorXd& rhs);
  bool gmres(const VectorXd& force, const VectorXd& rhs);
  bool massless_only(const VectorXd& rhs);
  bool certain(const VectorXd& force, const VectorXd& rhs, double most);

  // engine_light.cpp
  struct Verdict {
    std::vector<bool> implied;          // by rows: others imply them
    std::vector<Implied> implications;  // how
    VectorXd units;                     // Judgement::units
    bool conflicting = false;           // Judgement::conflicting
    double unknown = 0;                 // share of the motion that round-off hides
  };
  const Verdict& verdict();
  const engine::QrSolve* qr_solve(double level);
  bool solve_by_qr(const VectorXd& force, const VectorXd& rhs);
  bool solve_exactly(const VectorXd& force, const VectorXd& rhs);
  void find_gap(const VectorXd& force, const VectorXd& rhs, double noise);
  void exchange(Verdict& verdict) const;
  VectorXd gaps_of_implied();
  VectorXd forces_of_implied();
  std::vector<const Node*> nodes_of_rows() const;
  void find_reasons(const VectorXd& by_rows);
  bool find_doubts(const VectorXd& force, const VectorXd* of_rows, const std::function<void()>& respond);
  void find_doubts(const VectorXd& unknown);
  void find_motions(const VectorXd& unknown);
  bool even();
  bool certified(const VectorXd& force, const std::vector<bool>& but = {});
  bool rows_met(const std::vector<bool>& but);
  double unevenness();
  double share(const VectorXd& motion);
  double size_of_joint(const Node& n, double whole) const;
  void find_force_terms(const VectorXd& force);

  void add_reactions(const VectorXd& lambda, VectorXd& g) const;  // g += A' lambda
  double relative_residual() const;
  double largest_residual() const;
  double massive(const VectorXd& y) const;
  VectorXd weights() const;

  const System& system_;
  const RigidGroups* groups_;
  std::shared_ptr<const Slots> slots_;
  std::shared_ptr<const Plan> plan_;
  engine::BodyMotions motions_;
  std::vector<double> unheld_;  // where forces on bodies that are held go
  // What parts see of their bodies, by Slots::on.
  std::vector<const void*> seen_;
  std::vector<double*> pushed_;
  mutable Workers workers_;
  std::vector<std::pair<std::size_t, int>> left_out_;  // node and row in it
  Fronts fronts_;

  std::vector<double> A_, norms_, diagonal_;  // rows; their squares body by body, and along unknowns with mass
  VectorXd f_, b_, value_, rate_, y_, lambda_, gap_, size_of_row_, norm_of_row_;
  VectorXd order_;  // of the fronts
  struct {          // of massless unknowns
    std::vector<double> qr, scratch, references;
    VectorXd rhs, lambda;  // by rows of all nodes
    VectorXd h, force;     // by unknowns
  } condensed_;
  struct {  // while solving, by unknowns and by rows
    VectorXd w, g, dy, terms, residual, dlambda, met;
  } work_;
  struct {  // of find_doubts()
    VectorXd force, row, motion;
    VectorXd rows;     // what is left of them, and their round-off
    MatrixXd by_body;  // motion known and unknown
  } hidden_;
  struct {  // forces of bodies alone; velocities conjugate to y; of the forces
    VectorXd own, velocity;
    double potential = 0, potential_rate = 0;
  } power_;

  double baumgarte_rate_ = 0;
  bool alarm_ = true, all_massive_ = false;
  std::function<Judgement(const State&)> judge_;

  // Where bodies are, and what f_ holds of it: their own forces, or all.
  struct Evaluated {
    enum class Stage { none, motions, forces };
    State at;
    Stage stage = Stage::none;
  } evaluated_;
  // changes() when evaluate_rows_if_needed() evaluated the rows at evaluated_, and when they were found to be those of
  // the last factor(): what was done since has changed it.
  unsigned long changes_ = 0, rows_since_ = never, factored_since_ = never;
  static constexpr unsigned long never = static_cast<unsigned long>(-1);
  // Where the last factor() was made, if its rows depend on nothing else.
  struct Pose {
    double t;
    VectorXd q;
    std::vector<std::size_t> off;
  };
  std::optional<Pose> factored_at_;
  int factorisations_ = 0;
  bool regularised_ = false;    // D is not 0
  bool serves_nearby_ = false;  // the last factor() is of all rows that there are now
  std::vector<std::size_t> alarms_;
  // What follows from the last factor(), found when it is asked for.
  struct {
    bool forwarded = false;  // order_ holds L^-1 (b - A f)
    std::optional<bool> even;
    std::optional<double> unevenness;  // smallest over largest entries of the bodies' unknowns with mass
    std::optional<Verdict> verdict;
    std::optional<engine::QrSolve> qr;
    std::optional<std::pair<ExactSolve, std::vector<Index>>> exact;  // and the rows in it
  } derived_;
  struct {
    double error = 0, moved = 0;  // relative size of the last correction, and its length
    int refinements = 0;
    std::vector<Doubt> doubts;
  } solved_;
};

}  // namespace mortise
