#pragma once
// Random constrained systems of known ranks, with their solution by another road than the library's.
//
// Before units: M block-diagonal, its nonzero eigenvalues and the nonzero singular values of A in [0.1, 1], massless
// directions turned at random, rows often dependent, b = A x0.  The solution comes from the bordered KKT system
//
//   [M  A1'  F] [ q''   ]   [Q + C]
//   [A1 0    0] [-lambda] = [b1   ]      A1: independent rows spanning those of A,  F: basis of null [M; A]
//   [F' 0    0] [ mu    ]   [0    ]
//
// in long double; draws whose KKT matrix has a condition above 1e4 are rejected.  Then every coordinate and every row
// gets a unit of its own:  M -> S M S, Q -> S Q, C -> S C, A -> R A S, b -> R b,  S and R diagonal.

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <mortise/core/rank.h>

namespace mortise::testing {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  bool chance(double probability) { return uniform(0, 1) < probability; }
  MatrixXd normal(Index rows, Index columns = 1);
  VectorXd uniform_vector(Index size, double low, double high);
  MatrixXd orthonormal(Index rows, Index columns) { return orthonormalised(normal(rows, columns)); }

  static MatrixXd orthonormalised(const MatrixXd& X);

 private:
  std::mt19937 engine_;
};

inline double ratio(double error, double size) { return error == 0 ? 0 : error / size; }

struct RandomOptions {
  int largest = 30;         // coordinates
  double decades = 6;       // units are 10^U(-decades, decades)
  double deficient = 0.25;  // chance that [M; A] lacks column rank (needs a massless direction)
  double regular = 0.25;    // chance of M > 0
  // Smallest nonzero M_jj.  A coordinate that is massless but for a little of a massive direction is scaled by that
  // little, which raises the scaled condition number beyond 1e4: with M_jj = 1e-7 a few draws in 10 000 are wrong by
  // 1e-8, as rounding in M alone makes them.  Ranks are right all the same.
  double thinnest = 1e-4;
};

struct RandomEquations {
  Equations e;       // what the library sees, in units
  VectorXd S, R;     // the units
  MatrixXd M, A, F;  // before units; F: orthonormal basis of null [M; A]
  VectorXd Q, b, C;  // C = 0 in some
  Index rank_M = 0, rank_A = 0, rank_MA = 0;
  bool moves = true;         // false: a force acts along F, no motion exists
  VectorXd a, Qc, nonideal;  // the solution before units, F'a = 0

  double acceleration_error(const VectorXd& user) const;  // modulo F
  double force_error(const VectorXd& user, const VectorXd& expected) const;
};

// A product that is 0 but for rounding is made 0: where a coordinate has no other entry, round-off is all that could
// scale it (with a sibling in its group it would not be, see test_rank.cpp).
inline constexpr double round_off = 1e-13;

// The system of this number: the same every time.
RandomEquations random_equations(unsigned seed, const RandomOptions& options = {});

// The largest of many errors and the system that made it.  NaN is the largest of all.
struct Worst {
  double value = 0;
  unsigned seed = 0;

  void take(double error, unsigned of) {
    if (!std::isnan(value) && !(error <= value)) value = error, seed = of;
  }
};

}  // namespace mortise::testing
