#pragma once
// Bridge: one step across a singular pose.
//
// Where rows come to depend on each other, what a state is off the constraints counts in the accelerations as if it
// were divided by the square of the distance from there.  The motion itself is smooth.  So accelerations are taken at
// eight Gauss points, four on either side of the pose and none next to it, each brought onto the constraints, and a
// polynomial goes through them: a method of order 16 [Hairer, Norsett, Wanner, Solving Ordinary Differential Equations
// I, II.7].

#include <mortise/integrators/error_scale.h>
#include <mortise/integrators/flow.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class Bridge {
 public:
  // From a state on the constraints, where the acceleration is a; the pose is to be near the middle.  The end is on the
  // constraints, too.  Returns the error of the end by `scale`; infinite if the points do not settle.
  double cross(Flow& flow, const State& from, const VectorXd& a, double h, const ErrorScale& scale, double tolerance);

  const State& end() const { return end_; }
  void at(double t, State& s) const;                  // anywhere on it
  double independence() const { return least_; }      // of the rows, the least at the points
  double last_independence() const { return last_; }  // at the last point
  // Shares of the length that are far from all points: good places for a pose, the best first.
  static constexpr double between_points[] = {0.5, 0.68, 0.83, 0.32, 0.94, 0.17, 0.06, 0.005};

 private:
  void settle_points(Flow& flow, const ErrorScale& scale, double tolerance);

  State from_, point_, end_;
  double h_ = 0, least_ = 0, last_ = 0;
  double blur_ = 0;  // round-off of the accelerations at the points, as it shows in places and velocities
  bool settled_ = false;
  MatrixXd a_;             // accelerations at the points, one in a column
  MatrixXd coefficients_;  // of Legendre's polynomials, whose sum they are
};

}  // namespace mortise
#pragma GCC visibility pop
