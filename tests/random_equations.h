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
  MatrixXd normal(Index rows, Index columns = 1) {
    std::normal_distribution<double> gauss;
    return MatrixXd::NullaryExpr(rows, columns, [&] { return gauss(engine_); });
  }
  VectorXd uniform_vector(Index size, double low, double high) {
    return VectorXd::NullaryExpr(size, [&] { return uniform(low, high); });
  }
  MatrixXd orthonormal(Index rows, Index columns) { return orthonormalised(normal(rows, columns)); }

  static MatrixXd orthonormalised(const MatrixXd& X) {
    if (X.size() == 0) return X;
    return Eigen::HouseholderQR<MatrixXd>(X).householderQ() * MatrixXd::Identity(X.rows(), X.cols());
  }

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

  double acceleration_error(const VectorXd& user) const {  // modulo F
    const VectorXd x = S.cwiseProduct(user), difference = x - a;
    return ratio((difference - F * (F.transpose() * difference)).norm(), x.norm());
  }
  double force_error(const VectorXd& user, const VectorXd& expected) const {
    return ratio((user.cwiseQuotient(S) - expected).norm(), Q.norm() + C.norm() + Qc.norm());
  }
};

// A product that is 0 but for rounding is made 0: where a coordinate has no other entry, round-off is all that could
// scale it (with a sibling in its group it would not be, see test_rank.cpp).
inline constexpr double round_off = 1e-13;

inline RandomEquations draw_equations(Random& random, const RandomOptions& options, bool& accepted) {
  RandomEquations s;  // half-filled if not accepted
  const Index n = random.integer(1, options.largest);
  const bool regular = random.chance(options.regular);

  s.M = MatrixXd::Zero(n, n);
  MatrixXd N0 = MatrixXd::Zero(n, n);
  Index nullity = 0;
  std::vector<int> blocks;
  for (Index first = 0; first < n; first += blocks.back()) {
    const int size = std::min(random.integer(1, 6), static_cast<int>(n - first));
    const int rank = regular ? size : random.chance(0.15) ? 0 : random.integer(1, size);
    const MatrixXd V = random.orthonormal(size, size);
    const MatrixXd G = V.leftCols(rank) * random.uniform_vector(rank, 0.1, 1).cwiseSqrt().asDiagonal();
    s.M.block(first, first, size, size) = G * G.transpose();
    N0.block(first, nullity, size, size - rank) = V.rightCols(size - rank);
    nullity += size - rank;
    blocks.push_back(size);
  }
  const double thinnest = (s.M.diagonal().array() > 0).select(s.M.diagonal(), 1).minCoeff();
  const Index free = nullity > 0 && random.chance(options.deficient) ? random.integer(1, static_cast<int>(nullity)) : 0;
  s.F = N0.leftCols(nullity) * random.orthonormal(nullity, free);
  s.rank_M = n - nullity;
  s.rank_MA = n - free;
  s.rank_A = random.integer(static_cast<int>(nullity - free), static_cast<int>(n - free));

  // A = U diag W', its rows orthogonal to F; A1 = diag W'.
  const Index m = s.rank_A + (random.chance(0.5) ? random.integer(0, 5) : 0);
  MatrixXd W = random.normal(n, s.rank_A);
  W = Random::orthonormalised(W - s.F * (s.F.transpose() * W));
  const MatrixXd A1 = random.uniform_vector(s.rank_A, 0.1, 1).asDiagonal() * W.transpose();
  s.A = random.orthonormal(m, s.rank_A) * A1;
  s.A = (s.A.array().abs() < round_off).select(0, s.A);

  const VectorXd x0 = random.normal(n);
  s.b = s.A * x0;
  s.Q = random.normal(n);
  s.C = random.chance(0.8) ? VectorXd(random.normal(n)) : VectorXd::Zero(n);
  s.C -= s.F * (s.F.transpose() * s.C);
  s.C = (s.C.array().abs() < round_off).select(0, s.C);
  s.moves = free == 0 || random.chance(0.75);
  if (s.moves) s.Q -= s.F * (s.F.transpose() * (s.Q + s.C));
  s.Q = (s.Q.array().abs() < round_off).select(0, s.Q);

  const Index size = n + s.rank_A + free;  // of the bordered KKT matrix
  MatrixXd K = MatrixXd::Zero(size, size);
  K.topLeftCorner(n, n) = s.M;
  K.block(n, 0, s.rank_A, n) = A1;
  K.bottomLeftCorner(free, n) = s.F.transpose();
  K.topRightCorner(n, size - n) = K.bottomLeftCorner(size - n, n).transpose();
  const VectorXd values = Eigen::SelfAdjointEigenSolver<MatrixXd>(K, Eigen::EigenvaluesOnly).eigenvalues().cwiseAbs();
  accepted = values.maxCoeff() <= 1e4 * values.minCoeff() && thinnest >= options.thinnest;
  if (!accepted) return s;

  using Long = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  Long right = Long::Zero(size, 2);
  right.col(0).head(n) = (s.Q + s.C).cast<long double>();
  right.col(0).segment(n, s.rank_A) = A1.cast<long double>() * x0.cast<long double>();
  right.col(1).head(n) = s.C.cast<long double>();
  const Long x = Long(K.cast<long double>()).partialPivLu().solve(right).topRows(n);
  const Long force = s.M.cast<long double>() * x;
  s.a = x.col(0).cast<double>();
  s.nonideal = force.col(1).cast<double>();
  s.Qc = (force.col(0) - s.Q.cast<long double>()).cast<double>();

  const auto units = [&](Index count) -> VectorXd {
    return random.uniform_vector(count, -options.decades, options.decades).unaryExpr([](double power) {
      return std::pow(10.0, power);
    });
  };
  s.S = units(n);
  s.R = units(m);
  s.e.M = s.M.cwiseProduct(s.S * s.S.transpose());
  s.e.A = s.R.asDiagonal() * s.A * s.S.asDiagonal();
  s.e.Q = s.S.cwiseProduct(s.Q);
  s.e.b = s.R.cwiseProduct(s.b);
  if (!s.C.isZero(0) || random.chance(0.5)) s.e.C = s.S.cwiseProduct(s.C);
  if (random.chance(0.5)) s.e.blocks = blocks;
  return s;
}

// The system of this number: the same every time.
inline RandomEquations random_equations(unsigned seed, const RandomOptions& options = {}) {
  Random random(seed);
  for (;;) {
    bool accepted = false;
    RandomEquations s = draw_equations(random, options, accepted);
    if (accepted) return s;
  }
}

// The largest of many errors and the system that made it.  NaN is the largest of all.
struct Worst {
  double value = 0;
  unsigned seed = 0;

  void take(double error, unsigned of) {
    if (!std::isnan(value) && !(error <= value)) value = error, seed = of;
  }
};

}  // namespace mortise::testing
