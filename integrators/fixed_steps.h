#pragma once
// Steps of a fixed size, brought back onto the constraints after each of them.
//
//   Rk4     the classic Runge-Kutta method of order 4 (rk4.h)
//   Gauss   symmetric, for long times (gauss.h)
//
// Between steps: the polynomial through places, velocities and accelerations at both ends (interpolate.h).

#include <mortise/integrators/stepper.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class FixedSteps : public Stepper {
 public:
  explicit FixedSteps(const char* name, const StepOptions& options);

  void begin(Flow& flow, const State& s) override;
  void step(double end) final;
  void at(double t, State& s) const override;

 protected:
  // From before_, with a0_ there, by h; or, if it must, by another length up to `most`, which it returns.
  virtual double advance(double h, double most, State& s) = 0;
  Flow* flow_ = nullptr;
  VectorXd a0_, a1_;
  double independence_ = 0;  // of the rows where a1_ is

 private:
  double h_;
};

class Rk4 final : public FixedSteps {
 public:
  explicit Rk4(const StepOptions& options) : FixedSteps("rk4", options) {}

 private:
  double advance(double h, double, State& s) override;
  State stage_;
  VectorXd a_;
};

}  // namespace mortise
#pragma GCC visibility pop
