#pragma once
// MotionSlopes: the accelerations a(q, v, t) of a System linearised about a state, as implicit methods need them,
// sparse and without the inverse of anything:
//
//   da = a_q dq + a_v dv   is the solution of   M da + K dq + D dv - A'dlambda = 0,   A da + P dq + R dv = 0
//
//   K, D   slopes of  M a - Q - C - A'lambda  in q and v, for the a and lambda found there
//   P, R   slopes of  A a - b: phi'' of holonomic rows, psi' of the others
//
// They are differences, part by part, of what the parts tell of themselves in numbers of machine precision: a joint
// gives A and b by one pass each, so that its share costs as many passes as its bodies have coordinates.  (tangent.h
// is exact and takes a pass for every pair of coordinates: 10 times as long, and Newton's method, which these are for,
// needs no more than a few digits.)  Parts that are written for double only do as well.
//
// The shift s of  (s I - J) x = r  with J = [0 I; a_q a_v] makes it
//
//   [ M + D/s + K/s^2   -A' ] [ x_q      ]   [ M ]                     [ D ]
//   [ A + R/s + P/s^2    0  ] [ dlambda' ] = [ A ] (r_q/s + r_v/s^2) + [ R ] r_q/s^2,      x_v = s x_q - r_q
//
// for any real or complex s.  It is regular where [M; A] has full column rank and rows do not depend on each other, so
// massless directions need nothing special, and rows that are left out, or off, are not in it.

#include <complex>
#include <optional>
#include <vector>

#include <Eigen/SparseCore>

#include <mortise/assembly/system.h>
#include <mortise/integrators/kept_lu.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class MotionSlopes {
 public:
  // For states with the same joints off, and these rows left out.
  void begin(const System& system, const State& s, const std::vector<Index>& left_out);
  // At a state with its accelerations and multipliers.  size: of coordinates and velocities, that differences are
  // shares of; dt: the difference of time.
  void take(const State& s, const VectorXd& a, const VectorXd& lambda, const VectorXd& size_q, const VectorXd& size_v,
            double dt);

  Index unknowns() const { return n_ + rows_; }

  // The matrix above, and what stands on its right; rows of A, and multipliers, are scaled.
  const Eigen::SparseMatrix<double>& pattern() const { return pattern_; }  // its values do not matter
  template <class S> S value(std::size_t i, S shift) const {               // in the order of the pattern
    const S one = S(1) / shift;
    return constant_[i] + one * (first_[i] + one * second_[i]);
  }
  template <class S>
  void right_hand_side(S shift, const Vec<S, dynamic>& q, const Vec<S, dynamic>& v, Vec<S, dynamic>& out) const;
  VectorXd times_second(const VectorXd& q) const;  // [K; P] q
  double row_scale() const { return row_scale_; }

  // The matrix above for one shift, factored.
  template <class S> class Factor {
   public:
    bool compute(const MotionSlopes& slopes, S shift);  // false: it is singular
    // (s I - J) x = r, in place.
    void solve(Vec<S, dynamic>& q, Vec<S, dynamic>& v) const;

   private:
    const MotionSlopes* slopes_ = nullptr;
    S shift_{};
    Index pattern_ = -1;  // of the slopes, that was analysed
    KeptLU<S> lu_;
    std::vector<S> values_;
    mutable Vec<S, dynamic> x_;
  };

 private:
  template <class F> void each_block(const F& f) const;

  const System* system_ = nullptr;
  Index n_ = 0, rows_ = 0, patterns_ = 0;
  std::vector<Index> kept_;              // by rows: their place among those kept, or -1
  std::vector<bool> off_;                // by constraints
  Eigen::SparseMatrix<double> pattern_;  // of the whole matrix, values unused
  std::vector<Index> place_;  // of each entry of each block, one after the other, in the values; -1: it is not kept
  std::vector<double> constant_, first_, second_;  // values: of 1, 1/s, 1/s^2
  double row_scale_ = 1;
  std::optional<Evaluation> at_;
};

}  // namespace mortise
#pragma GCC visibility pop
