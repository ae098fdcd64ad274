#pragma once
// Solver: accelerations of a System, state after state, in time and memory proportional to the mechanism's graph.
//
//   Solver solver(system);
//   const VectorXd& a = solver.solve(state);      q''; no heap allocation after the first call, dry friction apart
//
// What it solves is the augmented-mass equation [US10, Eq. 49-52] with sparse weights W > 0 in the place of alpha^2:
//
//   M_A = M + A'WA,   Q_z = Q + C + A'Wb,   a_Az = M_A^-1 Q_z;      M_A > 0 iff [M; A] has full column rank.
//
//   [ M   A' ] [   q''   ]   [ Q + C ]      M_A is one Schur complement of this matrix with D = W^-1,
//   [ A  -D  ] [ -lambda ] = [   b   ]      A M^-1 A' + D the other: factored along the graph, it gives a_Az, too.
//
// Refinement on b - A q'' adds the correction M_A^-1/2 B_A+ (b - A a_Az) term by term, whatever D.  Massless directions
// are condensed beforehand, since M^-1 does not exist there.  docs/ENGINE.md shows each step.
//
// A state that is not determined gives no numbers: solve() throws UnderModelled or ConflictingRows with the report.
// One Solver serves one thread; a System may have many.

#include <memory>
#include <string>
#include <vector>

#include <mortise/diagnosis/rank_report.h>

namespace mortise {

struct SolverOptions {
  RankOptions rank = {};
  int threads = 1;  // more speed up large systems; the results are the same to the last bit
  // Bodies that are welded together are solved as one where the welds are met; all results are those of single bodies.
  bool merge_welded = true;
};

class Solver {
 public:
  explicit Solver(const System& system, const SolverOptions& options = {});
  explicit Solver(const System&& system, const SolverOptions& options = {}) = delete;  // the system must live on

  Solver(Solver&&) noexcept;
  ~Solver();

  // Throws UnderModelled, ConflictingRows, NotConverged, or NonFinite naming the part.
  const VectorXd& solve(const State& s);
  const VectorXd& solve(const Evaluation& e);  // with its Q, C and b; throws if its M or A were changed
  // As solve(s), which is not repeated if it was the last thing that was done, at the same state.
  const VectorXd& accelerations(const State& s);

  // At any state, from what was evaluated for the last solve if that was there.  Where bodies have constraints of their
  // own, such as unit quaternions, these must be met.
  Energy energy(const State& s);
  double input(const State& s);             // [W] by forces, bodies and laws of joints: see Contribution
  std::vector<Work> works(const State& s);  // as System::contributions lists them
  double input_by_joints(const State& s);   // [W] of reactions and friction where joints are moved; solves

  // At the state last solved:
  const VectorXd& lambda() const;  // by rows; 0 for own rows that a body meets by itself (the norm of a quaternion)
  Momentum momentum() const;       // of the bodies that have positions
  const VectorXd& friction() const { return friction_; }  // on the coordinates: C of laws that need their own reaction
  VectorXd response(const VectorXd& force);  // accelerations that a force on the coordinates alone brings about
  VectorXd gap() const;                 // b - A q'' of rows that contradict each other within the tolerance, else 0
  std::vector<bool> unique();           // by rows: no redundant row shares its reaction
  std::vector<std::string> warnings();  // all that is doubtful at the state of the last solve()
  std::size_t merged() const;           // how many bodies it took as one with others
  std::vector<std::string> doubtful_bodies() const;  // of which bodies the accelerations are known badly, and how badly

  const VectorXd& phi() const;   // values of all rows, 0 where they are met; psi of nonholonomic ones
  const VectorXd& rate() const;  // and their rates

  double independence(const State& s);        // at another state
  double independence() const;                // the smallest share of itself that the others leave to a row
  std::vector<std::string> dependent_rows();  // names of rows that depend on each other, or nearly (below 3e-5)

  // Rows that depend on others at a state on the constraints need not be looked at near it: the others hold them, too.
  // Leaves out one row of each dependent set from now on, and returns those left out.  Off the constraints, where
  // integrators go, redundant rows contradict each other.  Throws ConflictingRows where they do so at s.
  const std::vector<Index>& leave_out_dependent(const State& s);
  void leave_out(std::vector<Index> rows);  // these and no others
  // From here on, near this state: bodies that are welded together here are taken to be where their welds put them, as
  // seen from the heaviest one, so that they are solved as one also at states a little off, where integrators go; and
  // normalise and project_* put them there.  Until leave_out or leave_out_dependent is called.
  void hold_welds(const State& s);
  const std::vector<Index>& left_out() const { return left_out_; }

  // Rows that are off are drawn back:  phi'' + 2 w phi' + w^2 phi = 0,  psi' + w psi = 0  (Baumgarte); 0: they are not.
  void stabilise(double w);

  // The shortest change of positions or velocities, in the norm of M, that changes the rows by so much, to first order.
  VectorXd shift_positions(const State& s, const VectorXd& rows);
  VectorXd shift_velocities(const State& s, const VectorXd& rows);
  // By how much the rows that act are off: phi; and phi', psi.
  struct Gaps {
    VectorXd positions, velocities;
  };
  Gaps gaps(const State& s);
  void normalise(State& s) const;  // bodies to their own constraints, as far as they meet them by themselves

  // The nearest state, in the norm of M, that meets the constraints: positions, then velocities at them.
  // Throws NotConverged if there is none near.
  void project_positions(State& s);
  void project_velocities(State& s);
  // Both, where the state solved last is near: its factor serves for positions, if it is near enough.  The last bits of
  // what is found then depend on that one, too.
  void project_nearby(State& s);
  int factorisations() const;  // made so far

 private:
  struct OwnEngine;  // Engine and RankJudge, which stay inside the library
  struct OwnJudge;
  struct Merged;
  const State& choose(const State& s);
  bool merge(const State& s);
  bool solve_merged(const State& s);
  OwnEngine& standing(const State& s);
  void require_solved(const char* what) const;  // throw InvalidModel before the first state
  void require_evaluated(const char* what) const;
  void recall() const;
  Gaps gaps(OwnEngine& engine, const State& s) const;
  void approach(State& s, bool positions, bool nearby);
  void project(State& s, bool positions, bool nearby);
  const VectorXd& finish(const State& s, const Evaluation* e);
  void require_determined(const Evaluation& e);
  void require_agreement(const Evaluation& e);
  void look_for_flat_rows(const State& s);
  std::vector<bool> unique_reactions(bool asked);  // by the rank where it is asked; else of rows left out alone
  VectorXd shift(const State& s, const VectorXd& rows, bool positions);
  void factor(const State& s, bool positions = false);

  const System& system_;
  SolverOptions options_;
  std::unique_ptr<OwnEngine> plain_;
  std::unique_ptr<Merged> merged_;  // the same with rigid groups as one body each, once it was needed
  OwnEngine *engine_ = nullptr, *solved_by_ = nullptr;  // that was used last, and for the last solve()
  bool holding_ = false, lost_ = false;                 // lost_: what the last solve() has left
  double baumgarte_rate_ = 0;
  State near_, solved_at_;  // of a merged solve: where welded bodies are put, and where it was
  std::unique_ptr<OwnJudge> doubted_;
  bool judged_ = false, agreed_ = false;  // the rank was, at one state at least; rows that depend on each other agree
  VectorXd a_, friction_;
  unsigned long solved_ = 0;  // Engine::changes() when a_ was found
  std::vector<Index> left_out_;
  std::vector<bool> shared_;  // by rows: it stands in a set of which one is left out
};

}  // namespace mortise
