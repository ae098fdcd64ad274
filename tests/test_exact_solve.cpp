// Elimination in quadruple precision: right to the last digit where doubles would have none.

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include <mortise/core/exact_solve.h>

#include "counts.h"
#include "random_equations.h"

using namespace mortise;
using namespace mortise::testing;

namespace {

VectorXd exact(Index n, const std::vector<ExactSolve::Entry>& entries, const VectorXd& b) {
  ExactSolve solve(n, entries);
  REQUIRE(solve.regular());
  VectorXd x;
  REQUIRE(solve.solve(b, x));
  return x;
}

}  // namespace

TEST_CASE("exact solve: the inverse of a Hilbert matrix, of condition number 5e17 and integer entries") {
  constexpr Index n = 12;
  // Multiplied by the least common multiple of 1..23, which makes every entry an integer below 2^53.
  constexpr double whole = 5354228880;
  std::vector<ExactSolve::Entry> entries;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) entries.push_back({i, j, whole / (i + j + 1)});
  const VectorXd x = exact(n, entries, whole * VectorXd::Unit(n, 0));
  // (H^-1)_i1 = (-1)^(i+1) n C(n+i-1, n-1) C(n, i) ... by its recursion: r_1 = n^2, r_{i+1} = -r_i (n+i)(n-i) / i(i+1)
  double known = static_cast<double>(n * n);
  for (Index i = 0; i < n; ++i) {
    CHECK(x[i] == doctest::Approx(known).epsilon(1e-13));
    const auto k = static_cast<double>(i + 1);
    known *= -(static_cast<double>(n) + k) * (static_cast<double>(n) - k) / (k * (k + 1));
  }
}

TEST_CASE("exact solve: random sparse systems over 24 decades, against the solution they were made from") {
  // x and K are small integers times powers of 2, so that b = K x is exact and x the solution.
  for (unsigned seed = 0; seed < many(200, 20); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Index n = random.integer(1, 60);
    VectorXd x(n), b = VectorXd::Zero(n), left(n), right(n);
    for (Index i = 0; i < n; ++i) {
      right[i] = std::exp2(random.integer(-40, 40));
      left[i] = std::exp2(random.integer(-40, 40));
      x[i] = random.integer(-9, 9) / right[i];
    }
    std::vector<ExactSolve::Entry> entries;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) {
        if (i != j && !random.chance(0.1)) continue;
        const double k = (i == j ? 17 : 0) + random.integer(-9, 9);
        entries.push_back({static_cast<int>(i), static_cast<int>(j), left[i] * k * right[j]});
        b[i] += left[i] * k * (right[j] * x[j]);
      }
    ExactSolve solve(n, entries);
    VectorXd y;
    if (!solve.regular() || !solve.solve(b, y)) continue;  // a draw may be singular
    for (Index i = 0; i < n; ++i) CHECK(y[i] == doctest::Approx(x[i]).epsilon(1e-14));
  }
}

TEST_CASE("exact solve: singular matrices are told, sums of entries at one place are summed") {
  CHECK_FALSE(ExactSolve(2, {{0, 0, 1.0}, {0, 1, 2.0}, {1, 0, 2.0}, {1, 1, 4.0}}).regular());
  CHECK_FALSE(ExactSolve(2, {{0, 0, 1.0}}).regular());
  const VectorXd x = exact(1, {{0, 0, 1.0}, {0, 0, 2.0}}, VectorXd::Constant(1, 6));
  CHECK(x[0] == 2);
  CHECK(exact(0, {}, VectorXd()).size() == 0);
}

TEST_CASE("exact solve: the sensitivity is the change of the solution, to its order of magnitude") {
  // x = (b_1 - b_2) / d, with entries known to 1e-15: about 1e-15 / d of x.
  for (const double d : {1.0, 1e-4, 1e-9}) {
    ExactSolve solve(2, {{0, 0, 1.0}, {0, 1, 1.0}, {1, 0, 1.0}, {1, 1, 1.0 + d}});
    VectorXd x;
    const VectorXd b = Eigen::Vector2d(1, 2);
    REQUIRE(solve.solve(b, x));
    const double moved =
        solve.sensitivity(b, VectorXd::Constant(b.size(), 1e-15), VectorXd::Zero(b.size()))[1] / std::abs(x[1]);
    CHECK(moved >= 0.1 * 1e-15 / d);
    CHECK(moved <= 20 * 1e-15 / d);
  }
}
