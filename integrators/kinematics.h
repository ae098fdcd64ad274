#pragma once
// Motion without freedom: the rows alone say where everything is, so nothing is integrated.
//
//   phi(q, t) = 0,   A v = -phi_t,   A a = b          as many independent rows as coordinates
//
// Each step is as long as the polynomial through q, v and a at both ends meets the rows in the middle to the tolerance.
// It throws where the rows come to depend on each other: the way on is then not theirs to tell.

#include <mortise/integrators/controlled.h>
#include <mortise/integrators/error_scale.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class Kinematics final : public Controlled {
 public:
  explicit Kinematics(const StepOptions& options) : options_(options) {}

  void begin(Flow& flow, const State& s) override;
  void step(double end) override;
  void at(double t, State& s) const override;
  void go_on(const State& s, double h) override;
  std::string hardest() const override;

  // The holonomic rows that act and are not left out are as many as the coordinates.
  static bool serves(Flow& flow, const State& s);

 private:
  double try_step(double h);  // the error over the tolerance

  StepOptions options_;
  Flow* flow_ = nullptr;
  ErrorScale scale_, tried_scale_;
  State guess_, middle_;
  VectorXd a0_, a1_;
  double h_ = 0, independent_ = 0;
};

}  // namespace mortise
#pragma GCC visibility pop
