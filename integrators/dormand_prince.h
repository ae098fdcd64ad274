#pragma once
// The Runge-Kutta pair of Dormand and Prince, order 5 with an error estimate of order 4, steps of varying size, and a
// continuous output.  After each step the state is brought back onto the constraints.
// J. R. Dormand, P. J. Prince, J. Comput. Appl. Math. 6 (1980) 19-26.
//
// Between the ends places follow the polynomial of degree 5 through places, velocities and accelerations there, and
// velocities its slope, which is one order worse, but not in the middle.  sharpen() takes the acceleration there, too:
// degree 6, and both are of the order of the method.

#include <array>
#include <optional>

#include <mortise/engine/row_independence.h>
#include <mortise/integrators/bridge.h>
#include <mortise/integrators/controlled.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class DormandPrince final : public Controlled {
 public:
  explicit DormandPrince(const StepOptions& options) : options_(options) {}

  void begin(Flow& flow, const State& s) override;
  void step(double end) override;
  void at(double t, State& s) const override;
  bool stiff() const override { return stiff_; }
  void go_on(const State& s, double h) override;
  std::string hardest() const override;
  std::optional<double> work() const override;
  void sharpen() const override;

 private:
  void look_for_stiffness(double h);
  double first_step(double most);
  double try_step(double h);  // the error over the tolerance
  bool near_singular();       // rows come to depend on each other within the step tried last
  bool bridge(double most);
  void accept(double t, double independence);

  StepOptions options_;
  Flow* flow_ = nullptr;
  ErrorScale scale_, tried_scale_;  // of the states accepted; also of the end of the step tried
  State stage_, other_;
  std::array<VectorXd, 7> kq_, kv_;  // q' and v' at the stages
  std::array<double, 7> kw_{};       // power there
  VectorXd eq_, ev_, q5_, v5_;       // errors; the stage before the last
  VectorXd moved_q_, moved_v_;       // by bringing the end onto the constraints
  double h_ = 0, last_error_ = 1;
  double typical_ = 0;    // size of the last steps
  double moved_ = 0;      // the norm of what has brought the end of the step back onto the constraints
  double round_off_ = 0;  // of these, what does not shrink with the step
  // Of the rows: the largest so far; at the start of the step, and how fast it fell before; least in the step, at its
  // end.
  double independent_ = 0, independence_ = 0, falling_ = 0, least_ = 0, last_ = 0;
  // Light bodies alone make rows look dependent to the solver: where they do, this is asked.  It was `apart` where rows
  // were most independent.
  std::optional<RowIndependence> rows_;
  double apart_ = 0;
  State clearest_, lowest_;  // where the solver found rows most independent so far, and least in the step
  bool clearer_ = false;     // since apart_ was found
  std::optional<bool> near_singular_;
  Bridge bridge_;
  double too_long_ = 0;     // this was for a bridge
  bool bridged_ = false;    // the last step went over it
  bool elsewhere_ = false;  // the solver was at other states than the end of the step
  int suspicions_ = 0, doubts_ = 0;
  bool stiff_ = false;
  bool stepped_ = false;  // the last stage is the first of the next step
  mutable bool sharp_ = false;
  mutable State middle_;
  mutable VectorXd bend_;  // of the velocities in the last step, by the acceleration in its middle
};

}  // namespace mortise
#pragma GCC visibility pop
