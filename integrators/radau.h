#pragma once
// The implicit Runge-Kutta method of Radau, type IIA with three stages, order 5, for stiff systems: steps of varying
// size, as long as accuracy allows, however stiff springs and dampers are.
//
// What is integrated is q' = v, v' = a(q, v, t), a on the constraints by the solver; after each step the state is
// brought back onto them.  In this form, with rows differentiated to accelerations, nothing is lost of the order, and
// massless parts, redundant and nonholonomic rows are the solver's business.  The stages are found by a simplified
// Newton iteration (implicit_stages.h) with one real and one complex factor; slopes and factors are kept while it
// converges fast.  Errors, starts of the iteration and sizes of steps are those of the code RADAU5; so is the share of
// the tolerance that the estimate, of order 3, is held to: 0.1 tol^(2/3).
//
// Between steps: the cubic through the accelerations at the stages and at the end of the step before, integrated once
// and twice.
// E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, IV.8; K. Gustafsson, ACM Trans. Math. Softw. 20
// (1994) 496-517.

#include <mortise/integrators/controlled.h>
#include <mortise/integrators/error_scale.h>
#include <mortise/integrators/implicit_stages.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class Radau final : public Controlled {
 public:
  explicit Radau(const StepOptions& options);

  void begin(Flow& flow, const State& s) override;
  void step(double end) override;
  void at(double t, State& s) const override;
  void go_on(const State& s, double h) override;
  std::string hardest() const override;

 private:
  double first_step(double most);
  void take_slopes(double h);
  VectorXd extrapolated(const MatrixXd& z, double after) const;
  void predict(double h);
  bool solve(double h);    // the stages; false: to be tried with shorter_ of the step
  double error(double h);  // over the tolerance, before the end is brought onto the constraints
  void accept(double h, double t);

  StepOptions options_;
  double tolerance_, settled_;  // of errors; of Newton's iteration, in shares of it
  Flow* flow_ = nullptr;
  ImplicitStages stages_;
  MatrixXd powers_;                 // from values at 0 and the nodes to coefficients of the cubic
  ErrorScale scale_, tried_scale_;  // of the states accepted; also of the end of the step tried
  State end_, other_;
  VectorXd a0_, lambda0_;  // at the beginning of the step, by the solver
  VectorXd eq_, ev_;       // errors
  double h_ = 0, factored_h_ = 0;
  bool fresh_ = false;  // slopes are of the beginning of this step
  bool have_slopes_ = false;
  bool failed_ = false;                  // a try of this step failed
  double rate_ = 1;                      // of convergence, the worst of the last step
  double reach_ = 1;                     // rate / (1 - rate), for the first test of the next
  double keep_below_ = 0, kept_at_ = 0;  // slopes are kept where the rate is below; it was that when they were kept
  int sweeps_ = 0;
  double shorter_ = 0.5;
  double stalled_ = 0;  // about where the iteration does not converge with new slopes either; infinity: unknown
  double last_h_ = 0, last_error_ = 0;  // of the last step; 0: there was none
  VectorXd a_end_;                      // at the last stage of the last step
  MatrixXd q_, v_, a_;                  // of the last step: its stages; coefficients of a in shares of the step
  VectorXd off_q_, off_v_;              // what bringing its end onto the constraints has added
};

}  // namespace mortise
#pragma GCC visibility pop
