#pragma once
// The stages of a collocation method, found by a simplified Newton iteration.
//
// With Z_i = y_i - y_0 of the stages,  Z = h A F(y_0 + Z).  The eigenvectors l of A^-1, from the left, part the
// equations of Newton's method into one for each eigenvalue m, real or a pair of complex ones:
//
//   (m/h I - J) dW = l F - m/h W,   W = l Z           [Hairer, Wanner, Solving Ordinary Differential Equations II,
//   IV.8]

#include <complex>
#include <vector>

#include <mortise/integrators/flow.h>
#include <mortise/integrators/motion_slopes.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class ImplicitStages {
 public:
  explicit ImplicitStages(const VectorXd& nodes);

  void begin(Flow& flow, const State& s);
  MotionSlopes& slopes() { return slopes_; }  // to be taken, and then
  bool factor(double h);                      // false: singular
  // From q and v, one step of Newton's method, which is kept in dq and dv and added.  Throws what the solver throws.
  void sweep(const State& from, double h);

  const VectorXd& nodes() const { return nodes_; }
  const MatrixXd& inverse() const { return inverse_; }   // A^-1
  const MatrixXd& accelerations() const { return fv_; }  // at the stages, before the last change
  double least_independence() const { return least_; }   // of the rows, at the stages of the last sweep
  // x = (m/h I - J)^-1 x for the real eigenvalue m.
  void filter(VectorXd& q, VectorXd& v) const { real_factor_.solve(q, v); }
  double real_eigenvalue() const { return real_[0].value; }

  MatrixXd q, v;    // less those at the beginning of the step, one stage in a column
  MatrixXd dq, dv;  // their last change

 private:
  template <class S> struct Mode {
    S value;
    Vec<S, dynamic> left, right;
  };
  std::vector<Mode<double>> real_;
  std::vector<Mode<std::complex<double>>> complex_;  // one of each pair
  VectorXd nodes_;
  MatrixXd inverse_;
  Flow* flow_ = nullptr;
  MotionSlopes slopes_;
  MotionSlopes::Factor<double> real_factor_;
  MotionSlopes::Factor<std::complex<double>> complex_factor_;
  State stage_;
  MatrixXd fq_, fv_;  // y' at the stages
  double least_ = 1;
};

}  // namespace mortise
#pragma GCC visibility pop
