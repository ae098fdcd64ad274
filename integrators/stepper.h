#pragma once
// Stepper: one method of integration behind a small interface.
//
//   stepper->begin(flow, state);
//   while (stepper->state().t < end) stepper->step(end);       one step, at most to end
//   stepper->at(t, s);                                         anywhere within the last step

#include <memory>
#include <string>
#include <vector>

#include <mortise/integrators/flow.h>

namespace mortise {

struct StepOptions {
  double tolerance = 1e-8;  // of one step, relative to the largest coordinate or velocity of the same unit
  // [s] Of methods with fixed steps, which need it; of generalized_alpha, whose steps are then fixed, too; else the
  // first one.  0: found by itself.
  double step = 0;
  double largest = 0;    // [s] no step is longer; 0: no limit
  double damping = 0.8;  // of generalized_alpha: the share that long steps leave of fast oscillations, 0 to 1
  // [1/s] Rows that are off return at this rate by themselves, after Baumgarte, instead of being met anew after every
  // step; 0: they are met.  For dopri5 and rk4.
  double baumgarte = 0;
};

class Stepper {
 public:
  virtual ~Stepper() = default;

  // From a state on the constraints; forgets what was before.
  virtual void begin(Flow& flow, const State& s) = 0;
  // Throws NotConverged if steps get too short, or what Solver::solve throws there; the state is then that of the last
  // step.
  virtual void step(double end) = 0;
  // Within the last step, off the constraints by the error of the method.
  virtual void at(double t, State& s) const = 0;

  const State& state() const { return now_; }
  const State& before() const { return before_; }  // where the last step began
  Index steps() const { return steps_; }
  Index rejected() const { return rejected_; }
  // Counters of a run that is resumed.
  void count_from(Index steps, Index rejected, Index rough) { steps_ = steps, rejected_ = rejected, rough_ = rough; }
  virtual bool stiff() const { return false; }  // stability, not accuracy, has kept the last steps short
  Index rough() const { return rough_; }        // steps that were taken with an error above the tolerance

 protected:
  State now_, before_;
  Index steps_ = 0, rejected_ = 0, rough_ = 0;
};

//   dopri5              explicit, order 5, steps of varying size, singular poses crossed by bridge.h: the default
//   rk4                 explicit, order 4, fixed steps
//   radau5              implicit, order 5, steps of varying size: for stiff systems
//   gauss               symmetric in time, order 4, fixed steps: for long times
//   generalized_alpha   implicit, order 2, steps of varying size, damps what is fast: for structures
//   cvode_bdf, cvode_adams   of SUNDIALS, orders 1 to 5 and 1 to 12, where it was found (cvode.h)
// Throws InvalidModel with the names there are.
std::unique_ptr<Stepper> make_stepper(const std::string& name, const StepOptions& options = {});
std::vector<std::string> stepper_names();      // those of this build
std::vector<std::string> all_stepper_names();  // and those of CVODE where it was not found
// Why none of stepper_names() is this, and what to do; no fact if one is.
struct NoStepper {
  std::string fact, remedy;
};
NoStepper no_stepper(const std::string& name);

}  // namespace mortise
