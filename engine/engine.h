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
#include <mortise/engine/rigid_groups.h>

namespace mortise {

class __attribute__((visibility("hidden"))) Engine {
 public:
  explicit Engine(const System& system, int threads = 1) : Engine(system, threads, nullptr) {}
  // With rigid groups as one body each, for states that meet their welds; results are those of all bodies and rows.
  explicit Engine(const RigidGroups& groups, int threads = 1) : Engine(groups.system(), threads, &groups) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  void evaluate(const State& s);
  // Its rows alone, unless that was the last thing that was done, at the same state; and what is missing then.
  void look(const State& s);
  void evaluate_rest(const State& s);
  bool stands_at(const State& s) const;  // bodies were moved there last
  // Moves bodies there, for the evaluate_rest() that follows; how far those of rigid groups are apart.
  MotionsApart apart(const State& s);
  MotionsApart apart(const RigidGroups::Group& g) const { return groups_->apart(g, by_body_); }  // there
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
  const std::vector<std::size_t>& reacting() const { return reacting_; }
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
  bool has_massless() const { return !condensations_.empty(); }

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
  Index unknowns() const { return unknowns_; }
  Index fill() const { return tree_.values(); }
  bool finite() const;

  // The smallest share of itself that the others leave to a row, by the pivots of the factor; 1 without rows.
  double independence() const;

  // Unknowns of a body that have no mass at the state of the last evaluate().
  Index massless(std::size_t body) const { return bodies_[body].k - bodies_[body].massive; }

  // Rows that depend on each other at this state, or nearly, from the pivots of the factor:  A'y is small.
  // If there are more than `most`, one combination of all.
  struct Dependence {
    VectorXd y;   // by rows of the system, the largest of y_i |A_i| is 1
    double size;  // |A'y|
    Index main;   // the row where y_i |A_i| is 1
  };
  std::vector<Dependence> dependences(int most);

 private:
  struct BodySlot {
    const BodyModel* model;
    Index first;        // coordinate
    int y, k, massive;  // first unknown, their number, those with mass
    void* motion;
    int hub = -1;          // its node in the fronts, if it is one
    int touch, touches;    // in touches_: by constraints
    int hold, holds;       // in holds_: by nodes that are in the fronts
    Index references = 0;  // of its massless unknowns, in references_ (BodyModel::references)
    // In a rigid group: the body whose unknowns it shares, and has none of its own (k = 0); held: nobody's.
    static constexpr int held = -1;
    int root = held;
    bool weighs = true;  // its mass is not told by another one
  };
  // A node of rows: a constraint, or what a condensation leaves.
  struct Entry {
    int body, column;      // the body's unknowns with mass start at this column
    int massless;          // how many without mass follow
    int y;                 // the body's first unknown
    Index reference = -1;  // of a condensed node: what its slopes along them are sums of, rows x massless, in qr_
  };
  struct Node {
    int row, rows, columns;
    Index A;
    int entry, entries;
    int position = 0;    // in the order of elimination
    int stride = 0;      // of its block in the fronts
    Index place = 0;     // of this block
    Index norm = 0;      // of a constraint: in norms_
    int shape = 0;       // of a constraint: engine::shape_of
    bool whole = false;  // its block in the fronts is A A' over all its bodies at once
  };
  // How a body sees a node.
  struct Touch {
    unsigned A;
    int stride, rows, row;  // row: of the system, or for holds_ in the order of elimination
  };
  struct Condensation {
    int body, columns;    // massless unknowns
    int source, sources;  // in sources_
    int rows, target;     // stacked rows of the sources; the node that stays
    Index V, R, A1, t;    // Householder vectors and their factors, R, the upper rows, scales of rows
    Index move, moves;    // in moves_
  };
  struct Move {  // columns of a source to columns of the stacked rows
    int source_row, node, from, to, count;
  };
  struct Product {  // A_i A_k' over one body into the fronts
    Index to;
    unsigned left, right;
    int left_rows, right_rows, left_stride, right_stride, stride, columns;
    int shape;  // engine::shape_of two equal numbers of rows, else 0
  };
  struct Insert {  // A of a hub into the fronts
    Index A, to;
    int rows, columns, stride, to_stride;
    bool transposed;
  };
  struct Part {  // where what fills a front starts in front_nodes_, hubs_, products_, inserts_
    int node, hub, product, insert;
  };
  struct Hub {
    int position, size, stride;
    Index place;
  };
  struct Gap {  // columns of a body that is held
    int node, column, count;
  };

  Engine(const System& system, int threads, const RigidGroups* groups);
  double* unknowns_of(const BodySlot& b, double* y) { return b.root == BodySlot::held ? unheld_.data() : y + b.y; }
  void changed() { looks_ = factored_ = false, ++changes_; }
  void move(const State& s);
  void act(const State& s);
  void evaluate_rows(const State& s);
  void stand(const State& s);  // moves bodies and lets forces act, where they do not yet
  bool looks_at(const State& s) const { return looks_ && stands_at(s); }
  void pull();
  void plan(const std::vector<Index>& massless);
  void condense();
  void plan_fronts();
  bool condense_numbers(Condensation& c, bool positions);
  void condense_rhs(const VectorXd& force, const VectorXd& rhs);
  void restore(VectorXd& dy);
  void expand(bool forces);
  void find_references(const BodySlot& b);
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

  std::span<const Node> constraint_nodes() const { return {nodes_.data(), constraint_.size()}; }
  void add_reactions(const VectorXd& lambda, VectorXd& g) const;  // g += A' lambda
  double relative_residual() const;
  double largest_residual() const;
  double massive(const VectorXd& y) const;
  VectorXd weights() const;

  const System& system_;
  const RigidGroups* groups_;
  std::vector<const void*> by_body_;  // motions, where there are groups
  std::vector<Gap> gaps_;
  std::vector<double> unheld_;  // where forces on bodies that are held go
  bool ahead_ = false;          // bodies were moved by apart(), and nothing was done since
  mutable Workers workers_;
  Index unknowns_ = 0;
  int rows_ = 0;  // of all nodes, condensed ones included
  std::vector<BodySlot> bodies_;
  std::vector<unsigned char> motions_;
  std::vector<std::size_t> constraint_;                // of the first nodes
  std::vector<const ConstraintModel*> joint_;          // the same
  std::vector<std::size_t> nonideal_;                  // among them
  std::vector<std::size_t> reacting_;                  // constraints of the system
  std::vector<std::pair<std::size_t, int>> left_out_;  // node and row in it
  std::vector<Node> nodes_;
  std::vector<Entry> entries_;
  std::vector<Touch> touches_, holds_;
  std::vector<Condensation> condensations_;
  std::vector<int> sources_;
  std::vector<Move> moves_;
  std::vector<Product> products_;
  std::vector<Insert> inserts_;
  std::vector<Part> parts_;       // one more than fronts
  std::vector<int> active_;       // nodes in the fronts
  std::vector<int> front_nodes_;  // the same, front by front
  std::vector<Hub> hubs_;
  FrontTree tree_;
  Fronts fronts_;

  // What parts see of their bodies.
  std::vector<Index> firsts_;
  std::vector<const void*> seen_;
  std::vector<double*> pushed_;
  std::vector<std::size_t> joint_place_, force_place_;

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
  bool planned_ = false, alarm_ = true, regularised_ = false, all_massive_ = false;
  State at_;               // of the motions
  bool stands_ = false;    // bodies were moved to at_
  bool acted_ = false;     // forces were added to f_ there
  bool looks_ = false;     // rows were evaluated there, and nothing was done since
  bool factored_ = false;  // see factored()
  bool holonomic_ = true;  // all rows are
  State factored_at_;      // of the last factor(), without velocities, where all rows are holonomic
  unsigned long changes_ = 0;
  int factorisations_ = 0;
  VectorXd own_, velocity_;                    // forces of bodies alone; velocities conjugate to y
  double potential_ = 0, potential_rate_ = 0;  // of the forces
  std::vector<std::size_t> storing_;           // bodies with an energy of their own
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
