#pragma once
// One call tests every constraint of a System: A and b against central differences, at a seeded state off the
// constraint (phi != 0) and at t != 0.

#include <random>

#include <doctest/doctest.h>

#include <mortise/assembly/system.h>

inline mortise::State random_state(const mortise::System& system, unsigned seed, double t = 0.3) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  mortise::State s = system.state();
  for (double& x : s.q) x += 0.5 * normal(generator);  // quaternions lose their unit length
  for (double& x : s.v) x = normal(generator);
  s.t = t;
  return s;
}

inline void check_joints(const mortise::System& system, unsigned seed = 1) {
  using namespace mortise;
  const State s = random_state(system, seed);
  const Evaluation e = system.evaluate(s);
  const MatrixXd A = e.dense_A();
  const auto rows_at = [&](double dq, double dv, const VectorXd& direction, double dt) {
    State x = s;
    x.q += dq * direction;
    x.v += dv * direction;
    x.t += dt;
    return system.evaluate(x).phi;
  };
  REQUIRE(system.rows() > 0);
  constexpr double h = 1e-6, tolerance_A = 1e-7;  // central difference: error h^2 phi''' / 6 + eps / h
  for (Index j = 0; j < system.size(); ++j) {
    const VectorXd unit = VectorXd::Unit(system.size(), j);
    const VectorXd by_q = (rows_at(h, 0, unit, 0) - rows_at(-h, 0, unit, 0)) / (2 * h);
    const VectorXd by_v = (rows_at(0, h, unit, 0) - rows_at(0, -h, unit, 0)) / (2 * h);
    for (const auto& c : system.constraints())
      for (Index i = c.row; i < c.row + c.rows; ++i) {
        INFO("row ", system.row(i).name, ", column ", system.coordinate(j));
        const double slope = i < c.row + c.holonomic ? by_q[i] : by_v[i];
        CHECK(std::abs(A(i, j) - slope) < tolerance_A * (1 + std::abs(slope)));
        if (i < c.row + c.holonomic) CHECK(by_v[i] == 0);
      }
  }
  constexpr double k = 1e-4, tolerance_b = 1e-5;  // second difference: error k^2 phi'''' / 12 + eps / k^2
  const VectorXd ahead = rows_at(k, 0, s.v, k), behind = rows_at(-k, 0, s.v, -k);
  for (const auto& c : system.constraints())
    for (Index i = c.row; i < c.row + c.rows; ++i) {
      INFO("b of row ", system.row(i).name);
      const double b = i < c.row + c.holonomic ? -(ahead[i] - 2 * e.phi[i] + behind[i]) / (k * k)
                                               : -(ahead[i] - behind[i]) / (2 * k);
      CHECK(std::abs(e.b[i] - b) < tolerance_b * (1 + std::abs(b)));
    }
}

// Exact slopes of M a, Q and C against central differences.
inline void check_derivatives(const mortise::System& system, unsigned seed = 2) {
  using namespace mortise;
  const State s = random_state(system, seed);
  const VectorXd a = random_state(system, seed + 1).v;
  const VectorXd lambda = VectorXd::LinSpaced(system.rows(), 1, 2);
  const Derivatives d = system.derivatives(s, a, lambda);
  constexpr double h = 1e-6, tolerance = 1e-6;
  for (Index j = 0; j < system.size(); ++j) {
    INFO("column ", system.coordinate(j));
    State more = s, less = s;
    more.q[j] += h, less.q[j] -= h;
    const Evaluation p = system.evaluate(more), m = system.evaluate(less);
    const auto close = [&](const VectorXd& exact, const VectorXd& difference) {
      CHECK((exact - difference / (2 * h)).norm() < tolerance * (1 + exact.norm()));
    };
    close(d.dMa_dq.col(j), p.dense_M() * a - m.dense_M() * a);
    close(d.dQ_dq.col(j), p.Q - m.Q);
    close(d.dC_dq.col(j), p.C - m.C);
    close(d.dR_dq.col(j), p.dense_A().transpose() * lambda - m.dense_A().transpose() * lambda);
    more = less = s;
    more.v[j] += h, less.v[j] -= h;
    const Evaluation pv = system.evaluate(more), mv = system.evaluate(less);
    close(d.dQ_dv.col(j), pv.Q - mv.Q);
    close(d.dC_dv.col(j), pv.C - mv.C);
    close(d.dR_dv.col(j), pv.dense_A().transpose() * lambda - mv.dense_A().transpose() * lambda);
  }
}
