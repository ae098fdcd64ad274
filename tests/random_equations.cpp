#include "random_equations.h"

#include <algorithm>

#include <Eigen/Dense>

namespace mortise::testing {

MatrixXd Random::normal(Index rows, Index columns) {
  std::normal_distribution<double> gauss;
  return MatrixXd::NullaryExpr(rows, columns, [&] { return gauss(engine_); });
}

VectorXd Random::uniform_vector(Index size, double low, double high) {
  return VectorXd::NullaryExpr(size, [&] { return uniform(low, high); });
}

MatrixXd Random::orthonormalised(const MatrixXd& X) {
  if (X.size() == 0) return X;
  return Eigen::HouseholderQR<MatrixXd>(X).householderQ() * MatrixXd::Identity(X.rows(), X.cols());
}

double RandomEquations::acceleration_error(const VectorXd& user) const {
  const VectorXd x = S.cwiseProduct(user), difference = x - a;
  return ratio((difference - F * (F.transpose() * difference)).norm(), x.norm());
}

double RandomEquations::force_error(const VectorXd& user, const VectorXd& expected) const {
  return ratio((user.cwiseQuotient(S) - expected).norm(), Q.norm() + C.norm() + Qc.norm());
}

namespace {

RandomEquations draw_equations(Random& random, const RandomOptions& options, bool& accepted) {
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

}  // namespace

RandomEquations random_equations(unsigned seed, const RandomOptions& options) {
  Random random(seed);
  for (;;) {
    bool accepted = false;
    RandomEquations s = draw_equations(random, options, accepted);
    if (accepted) return s;
  }
}

}  // namespace mortise::testing
