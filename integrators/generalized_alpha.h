#pragma once
// The generalised-alpha method of Chung and Hulbert for stiff systems, order 2, with exact slopes of M a, Q, C,
// A'lambda and of the rows, steps of varying size, and damping of oscillations that are too fast for the step:
//
//   M a + ... = Q + C + A'lambda at the end of the step,  phi(q) = 0,  psi(q, v) = 0        by Newton's method
//   q = q0 + h v0 + h^2 ((1/2 - beta) w0 + beta w),   v = v0 + h ((1 - gamma) w0 + gamma w)
//   (1 - alpha_m) w + alpha_m w0 = (1 - alpha_f) a + alpha_f a0
//
// With StepOptions::step steps are of that size, shorter only where Newton's method does not converge.
// StepOptions::damping is rho, the share that one very long step leaves of an oscillation: 1 none is lost, 0 all.
// After each step velocities are brought onto the constraints, and a made to fit them.
//
// The steps are so many that their errors, held to the tolerance each, would add up to its power 2/3: so they are held
// to 30 times its power 3/2, and errors at the end are in proportion to it. J. Chung, G. M. Hulbert, J. Appl. Mech. 60
// (1993) 371-375; M. Arnold, O. Bruels, Multibody Syst. Dyn. 18 (2007) 185-202.

#include <optional>
#include <string>

#include <Eigen/SparseLU>

#include <mortise/engine/tangent.h>
#include <mortise/integrators/controlled.h>
#include <mortise/integrators/error_scale.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class GeneralizedAlpha final : public Controlled {
 public:
  explicit GeneralizedAlpha(const StepOptions& options);

  void begin(Flow& flow, const State& s) override;
  void step(double end) override;
  void at(double t, State& s) const override;
  void go_on(const State& s, double h) override;
  std::string hardest() const override;

 private:
  struct Equations {
    VectorXd forces, rows;  // what is left of them
  };
  bool solve(double h);           // the equations of one step; false: Newton's method does not converge
  const Evaluation& evaluated();  // at stage_, once
  Equations residual(double h);   // at stage_, a_, lambda_
  void place(double h);           // stage_ from a_
  void factor(double h);          // at stage_
  // Without what the step cannot follow; what rows ask for, such as the motion of a drive, stays.
  VectorXd smooth(const VectorXd& a);
  double error(double h);  // over the tolerance

  StepOptions options_;
  double tolerance_;  // of a step
  double alpha_m_, alpha_f_, beta_, gamma_;
  double beta_a_, gamma_a_;  // q and v change by beta_a h^2 and gamma_a h with a
  Flow* flow_ = nullptr;
  ErrorScale scale_, tried_scale_;  // of the states accepted; also of the end of the step tried
  State stage_;
  std::optional<Evaluation> evaluation_;
  bool evaluated_ = false;   // it is that at stage_
  std::vector<Index> kept_;  // by rows: their place among those kept, or -1
  Index rows_ = 0;           // kept
  VectorXd a_, a0_, a_before_, w_, w0_, lambda_;
  VectorXd eq_, ev_;  // errors
  double h_ = 0, last_h_ = 0, factored_h_ = 0;
  Index since_begin_ = 0;
  Eigen::SparseMatrix<double> K_, M_;
  Eigen::SparseLU<Eigen::SparseMatrix<double>> lu_;
  bool pattern_ = false;
};

}  // namespace mortise
#pragma GCC visibility pop
