#pragma once
// The implicit Runge-Kutta method of Gauss with two stages, order 4, in steps of a fixed size, with the symmetric
// projection of Hairer: the state is moved off the constraints before the step and back by the same amount after it,
//
//   y0~ = y0 + P(y0) r,   y1~ = step(y0~),   y1 = y1~ + P(y1) r   on the constraints,
//
// P(y) r: the shortest change, in the norm of M, that changes the rows by r.  So the method is the same forwards and
// backwards in time, also on the constraints, and energy does not drift over long times.  The stages are found by a
// simplified Newton iteration (implicit_stages.h), down to round-off of the model's own sizes; slopes are kept from
// step to step while it converges.  Where it does not it says so.  Steps next to singular poses go over a bridge
// (bridge.h). E. Hairer, BIT 40 (2000) 726-734; E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration,
// V.4.1.

#include <limits>

#include <mortise/integrators/bridge.h>
#include <mortise/integrators/fixed_steps.h>
#include <mortise/integrators/implicit_stages.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class Gauss final : public FixedSteps {
 public:
  explicit Gauss(const StepOptions& options);
  void begin(Flow& flow, const State& s) override;
  void at(double t, State& s) const override;

 private:
  // Whether an iteration has settled: its changes, in shares of the sizes of ErrorScale, vanish, or fell fast and do
  // not any more, which is round-off.
  class Settling {
   public:
    bool operator()(double change);
    double ratio() const { return ratio_; }  // of the last two changes; 0: there was one
    void again() { last_ = std::numeric_limits<double>::infinity(); }

   private:
    double last_ = std::numeric_limits<double>::infinity(), ratio_ = 0, least_ratio_ = 1;
  };
  double advance(double h, double most, State& s) override;
  void symmetric_step(double h, State& s);
  bool bridge(double length);
  double to_pose(double dt);
  double change(const VectorXd& dq, const VectorXd& dv, double h) const;  // in shares of the sizes
  bool take_slopes(double h);                                             // and factors; false: they are singular
  void stages(double h, const State& from, State& to);
  void shift(const State& at, State& s);  // s by P(at) r
  void add_gaps(const State& s);          // r less half of them

  State stage_, from_, to_;
  ImplicitStages stages_;
  VectorXd size_;                       // of coordinates
  Settling settling_;                   // of the stages, in all tries of a step
  double factored_h_ = 0;               // for which the stages have factors
  bool fresh_ = false;                  // their slopes are of this step
  VectorXd rq_, rv_;                    // r of positions and velocities, by rows
  VectorXd own_q_, own_v_;              // the same of rows that bodies meet by themselves (the norm of a quaternion)
  double independent_ = 0, least_ = 0;  // of the rows: the most so far, the least in this step
  Bridge bridge_;
  ErrorScale scale_;
  bool bridged_ = false;  // the last step went over it
};

}  // namespace mortise
#pragma GCC visibility pop
