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
//   3. Sweeps on the true residuals, until they are round-off.  Where they do not get there: a QR decomposition of A_r'
//      that keeps light and heavy bodies apart, or, in large systems, flexible GMRES.

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <mortise/assembly/system.h>
#include <mortise/core/exact_solve.h>
#include <mortise/core/row_rank.h>
#include <mortise/engine/fronts.h>
#include <mortise/engine/motions.h>
#include <mortise/engine/plan.h>
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
  // Its rows alone, unless that was the last thing that was done, at the same state; and what is missing then.
  void look(const State& s);
  void evaluate_rest(const State& s);
  bool stands_at(const State& s) const;  // bodies were moved there last
  // Moves bodies there, for the evaluate_rest() that follows; how far those of rigid groups are apart.
  MotionsApart apart(const State& s);
  MotionsApart apart(const RigidGroups::Group& g) const { return groups_->apart(g, motions_.all()); }  // there
  // Values and rates of the welds of rigid groups where the bodies are; their multipliers for y and lambda found there.
  void find_weld_rows();
  void find_weld_reactions();
  const State& state() const { return at_; }  // to which bodies were moved last
  // Changes with whatever changes y, lambda or the rows.
  unsigned long changes() const { return changes_; }
  // Adds what the caller has changed in Q, C and b of an evaluation; own: as it was, at the state of evaluate().
  void take(const Evaluation& e, const Evaluation& own);
  // Rows of the system that evaluate() treats as if they were not there; only their value() and rate() are told.
  void leave_out(const std::vector<Index>& rows);
  // Rows that are off are drawn back by the rate w [1/s]; 0: they are not.
  void set_pull(double w) { pull_ = w, changed(); }
  // As if all unknowns had mass: what rows say of each other does not depend on it.  Before the first evaluate().
  void set_all_massive() { all_massive_ = true; }
  // positions: without nonholonomic rows, which do not restrict positions.
  void factor(bool positions = false);
  // The rows of evaluate_rest() are those of the last factor(), so that it need not be made again: a projection of
  // velocities leaves it.  Never after evaluate().
  bool factored() const { return factored_; }

  enum class Status { solved, inconsistent, stalled };
  // Solves for y and lambda with the forces and right-hand side given; `size` of the terms of b for round-off.
  Status solve(const VectorXd& force, const VectorXd& rhs);
  Status solve() { return solve(f_, b_); }
  // The shortest y with A y = rhs, for steps towards the constraints: rows that nearly depend on others, as redundant
  // ones do off the constraints, are left to the next step.  False if the system is too large for that.
  bool correct(const VectorXd& rhs);

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
    double smallest = 1;
    bool conflicting = false;  // some imply another value
  };
  void set_judge(std::function<Judgement(const State&)> judge) { judge_ = std::move(judge); }
  // Pivots of the last factor() nearly vanish: rows may depend on each other.
  bool has_doubts() const { return regularised_; }
  bool has_massless() const { return plan_->condenses(); }

  // Off: rows are balanced by their own entries and nobody is warned.  To measure what the alarm costs, no more.
  void set_alarm(bool on) { alarm_ = on; }
  // Bodies whose massless unknowns the alarm of the last factor() doubts; empty where all is well.
  const std::vector<std::size_t>& alarms() const { return alarms_; }

  // Bodies of whose motion the last solve() could not find all digits, and the share that is not known.
  struct Doubt {
    std::size_t body;
    double share;
  };
  const std::vector<Doubt>& doubts() const { return doubts_; }

  const VectorXd& force() const { return f_; }  // on the unknowns
  const VectorXd& rhs() const { return b_; }    // by rows of the system; 0 for own rows that bodies meet themselves
  const VectorXd& value() const { return value_; }
  const VectorXd& rate() const { return rate_; }
  const VectorXd& y() const { return y_; }
  const VectorXd& lambda() const { return lambda_; }
  const VectorXd& gap() const { return gap_; }  // b - A y where rows are inconsistent, else 0
  double size_of_row(Index i) const { return std::sqrt(size_of_row_[i]); }  // of the terms of b - A y
  double worst() const { return error_; }                                   // relative size of the last correction
  int sweeps() const { return sweeps_; }
  void accelerations(VectorXd& a) const;               // T y + z
  void spread(const VectorXd& y, VectorXd& dq) const;  // T y
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
  void changed() { looks_ = factored_ = false, ++changes_; }
  void move(const State& s);
  void act(const State& s);
  void evaluate_rows(const State& s);
  void stand(const State& s);  // moves bodies and lets forces act, where they do not yet
  bool looks_at(const State& s) const { return looks_ && stands_at(s); }
  void pull();
  void follow(std::shared_ptr<const Plan> plan);
  bool condense(const Condensation& c, bool positions);
  void condense_rhs(const VectorXd& force, const VectorXd& rhs);
  void restore(VectorXd& dy);
  void expand(bool forces);
  void find_references(std::size_t body);
  void references(const Condensation& c, int body, double* G);
  void assemble(int front);
  void assemble_rows(const Node& n);
  double squares(const Node& n, int r);
  void residual(const VectorXd& y, const VectorXd& rhs, VectorXd& rows, bool sizes);
  bool direct(const VectorXd& force, const VectorXd& rhs);
  void apply(const VectorXd& force, const VectorXd& rhs, VectorXd& dlambda, VectorXd& dy);
  bool sweep(const VectorXd& force, const VectorXd& rhs);
  bool gmres(const VectorXd& force, const VectorXd& rhs);
  bool massless_only(const VectorXd& rhs);
  bool certain(const VectorXd& force, const VectorXd& rhs, double most);

  // engine_careful.cpp
  struct Triangle {  // B = Q [R; 0] with rows and columns in another order
    MatrixXd B;      // R above the diagonal, Householder vectors from it on
    std::vector<int> row, column;
    VectorXd diagonal, tau;  // of R; of the Householder vectors
    Index rank = 0;
    void decompose(VectorXd size, VectorXd column_size, double redundant);
    void solve_R(Eigen::Ref<MatrixXd> x) const;
    void solve_R_transposed(VectorXd& x) const;
    void turn(VectorXd& x, bool back) const;
  };
  struct CarefulPart {  // connected bodies
    std::vector<int> massless, massive, row;
    VectorXd massless_scale, scale, rest_scale;  // of massless unknowns, of rows, of those that hold no massless ones
    Triangle hold, rest;
    MatrixXd G, A1, A2;
  };
  enum class Careful { unknown, ready, impossible };
  bool factor_carefully(double redundant);
  bool gather(const std::vector<int>& nodes, double redundant, const std::vector<bool>& implied, CarefulPart& part);
  void apply_carefully(const VectorXd& force, const VectorXd& rhs, VectorXd& dlambda, VectorXd& dy);
  bool solve_carefully(const VectorXd& force, const VectorXd& rhs);
  bool solve_exactly(const VectorXd& force, const VectorXd& rhs);
  void judge();
  void find_gap(const VectorXd& force, const VectorXd& rhs, double noise);
  void exchange(std::vector<Implied>& sets) const;
  bool find_doubts(const VectorXd& force, const std::function<void()>& respond);
  void find_doubts(const VectorXd& unknown);
  bool even();
  bool certified(const VectorXd& force, const std::vector<bool>& but = {});
  bool rows_met(const std::vector<bool>& but) const;
  void find_unevenness();
  double share(const VectorXd& motion) const;
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
  engine::Motions motions_;
  std::vector<double> unheld_;  // where forces on bodies that are held go
  // What parts see of their bodies, by Slots::on.
  std::vector<const void*> seen_;
  std::vector<double*> pushed_;
  mutable Workers workers_;
  std::vector<std::pair<std::size_t, int>> left_out_;  // node and row in it
  Fronts fronts_;
  bool ahead_ = false;  // bodies were moved by apart(), and nothing was done since

  std::vector<double> references_;
  std::vector<double> norms_;  // squares of the rows of constraints, body by body
  std::vector<double> A_, scratch_, qr_, diagonal_;
  VectorXd f_, b_, value_, rate_, y_, lambda_, gap_, met_, size_of_row_, norm_of_row_;
  VectorXd node_rhs_, node_lambda_, order_, w_, g_, dy_, h_, residual_, dlambda_, fs_, terms_;
  std::vector<std::size_t> alarms_;
  double error_ = 0, moved_ = 0, pull_ = 0;
  enum class Even { unknown, no, yes } even_ = Even::unknown;  // of the last factor()
  double unevenness_ = 1;  // smallest over largest slope of the bodies' unknowns with mass
  int sweeps_ = 0;
  bool alarm_ = true, regularised_ = false, all_massive_ = false;
  State at_;               // of the motions
  bool stands_ = false;    // bodies were moved to at_
  bool acted_ = false;     // forces were added to f_ there
  bool looks_ = false;     // rows were evaluated there, and nothing was done since
  bool factored_ = false;  // see factored()
  State factored_at_;      // of the last factor(), without velocities, where all rows are holonomic
  unsigned long changes_ = 0;
  int factorisations_ = 0;
  VectorXd own_, velocity_;                    // forces of bodies alone; velocities conjugate to y
  double potential_ = 0, potential_rate_ = 0;  // of the forces
  bool forwarded_ = false;                     // order_ holds L^-1 (b - A f) of the last factor()
  std::vector<CarefulPart> careful_parts_;
  Careful careful_ = Careful::unknown;  // of the last factor(), for careful_level_
  std::unique_ptr<ExactSolve> exact_;   // of the last factor(), once it was needed
  std::vector<Index> exact_rows_;       // rows in it
  std::vector<Doubt> doubts_;
  VectorXd hidden_force_, hidden_row_, unknown_motion_;  // of find_doubts()
  MatrixXd body_motion_;
  bool implied_known_ = false;         // judge() was called since the last factor()
  std::vector<bool> implied_;          // by rows: others imply them
  std::vector<Implied> implications_;  // how
  bool conflicting_ = false;           // Judgement::conflicting
  double unknown_ = 0;                 // share of the motion that round-off hides, with these parts
  std::function<Judgement(const State&)> judge_;
  double careful_level_ = 0;
};

}  // namespace mortise
