// The five forms of the equation of motion: against each other, against KKT solutions, against the papers' examples.

#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <mortise/core/fundamental.h>

#include "counts.h"
#include "dense.h"
#include "random_equations.h"

using namespace mortise;
using namespace mortise::testing;
using doctest::Contains;

namespace {

// Condition of the KKT matrix <= 1e4 before units: refined forms may lose 1e4 eps, with a digit to spare.
constexpr double refined_tolerance = 1e-11;
// What is computed here by pseudo-inverses, not refined, has the square of that condition: 1e8 eps.
constexpr double random_tolerance = 1e-9;
// The papers' examples have conditions of order 1 to 100.
constexpr double exact = 1e-12;

const unsigned system_count = many(5000, 400);

using NamedMotion = std::pair<std::string, Motion>;

// Every form that applies.
std::vector<NamedMotion> all_forms(const Equations& e) {
  std::vector<NamedMotion> forms{{"udwadia_phohomsiri", udwadia_phohomsiri(e).smallest}};
  const Rank rank = numerical_rank(e);
  if (rank.determined()) {
    forms.emplace_back("udwadia_schutte", udwadia_schutte(e));
    forms.emplace_back("udwadia_mogharabin", udwadia_mogharabin(e));
  }
  if (rank.rank_M == rank.n) {
    forms.emplace_back("udwadia_kalaba", udwadia_kalaba(e));
    forms.emplace_back("extended_dalembert", extended_dalembert(e));
  }
  return forms;
}

VectorXd vec(std::initializer_list<double> x) {
  return Eigen::Map<const VectorXd>(x.begin(), static_cast<Index>(x.size()));
}
MatrixXd mat(std::initializer_list<std::initializer_list<double>> rows) {
  MatrixXd X(static_cast<Index>(rows.size()), static_cast<Index>(rows.begin()->size()));
  Index i = 0;
  for (const auto& row : rows) X.row(i++) = vec(row).transpose();
  return X;
}
MatrixXd diag(std::initializer_list<double> x) { return vec(x).asDiagonal(); }

double distance(const VectorXd& x, const VectorXd& expected) {
  REQUIRE(x.size() == expected.size());
  return (x - expected).norm() / (1 + expected.norm());
}

// Accelerations a and Qc = M a - Q by all forms, also with other alpha.
void check_example(const Equations& e, const VectorXd& a) {
  const VectorXd Qc = e.M * a - e.Q;
  const auto check = [&](const Motion& motion) {
    CHECK(distance(motion.a, a) < exact);
    CHECK(distance(motion.Qc, Qc) < exact);
    CHECK(distance(motion.Qc_ideal + motion.Qc_nonideal, Qc) < exact);
  };
  for (const auto& [name, motion] : all_forms(e)) {
    CAPTURE(name);
    check(motion);
  }
  for (const double alpha : {1e-3, 1e3}) {
    CAPTURE(alpha);
    check(udwadia_schutte(e, {.alpha = alpha}));
  }
}

}  // namespace

TEST_CASE("all forms agree with the KKT solution and with each other on 5000 random systems in random units") {
  Worst a, Qc, nonideal, sum, lambda, ideal;
  unsigned regular = 0, deficient = 0, refused = 0, compared = 0;
  for (unsigned seed = 0; compared < system_count; ++seed) {
    const RandomEquations s = random_equations(seed);
    deficient += s.F.cols() > 0;
    if (!s.moves) {
      CHECK_THROWS_WITH_AS(udwadia_phohomsiri(s.e), Contains("a force acts along a massless direction"), NoMotion);
      ++refused;
      continue;
    }
    ++compared;
    const auto forms = all_forms(s.e);
    regular += forms.size() == 5;
    for (const auto& [name, motion] : forms) {  // |form - reference| bounds what two forms differ by
      a.take(s.acceleration_error(motion.a), seed);
      Qc.take(s.force_error(motion.Qc, s.Qc), seed);
      nonideal.take(s.force_error(motion.Qc_nonideal, s.nonideal), seed);
      sum.take(s.force_error(motion.Qc_ideal + motion.Qc_nonideal, s.Qc), seed);
      lambda.take(s.force_error(s.e.A.transpose() * motion.lambda, s.Qc - s.C), seed);
      if (s.C.isZero(0)) ideal.take(motion.Qc_nonideal.cwiseAbs().maxCoeff(), seed);
    }
  }
  for (const auto& [what, worst] : {std::pair{std::string("a"), a},
                                    {"Qc", Qc},
                                    {"M M_s+ C", nonideal},
                                    {"ideal + nonideal", sum},
                                    {"A' lambda = Qc - C", lambda}}) {
    CAPTURE(what);
    CAPTURE(worst.seed);
    CHECK(worst.value < refined_tolerance);
  }
  CHECK(ideal.value == 0);  // exactly: C = 0 is not rounded
  // The kinds all occur.
  CHECK(regular > system_count / 5);
  CHECK(deficient > system_count / 10);
  CHECK(refused > system_count / 50);
}

TEST_CASE("udwadia_schutte: alpha in [0.1, 10] and any z change nothing") {
  Worst a, Qc;
  Random random(1);
  for (unsigned seed = 10000; seed < 10000 + system_count / 5; ++seed) {
    const RandomEquations s = random_equations(seed, {.deficient = 0});
    const double alpha = std::pow(10.0, random.uniform(-1, 1)) * (random.chance(0.5) ? 1 : -1);
    const VectorXd z = s.R.cwiseProduct(random.normal(s.R.size()));
    for (const Augmentation& augmentation : {Augmentation{alpha, {}}, Augmentation{1, z}, Augmentation{alpha, z}}) {
      const Motion motion = udwadia_schutte(s.e, augmentation);
      a.take(s.acceleration_error(motion.a), seed);
      Qc.take(s.force_error(motion.Qc, s.Qc), seed);
    }
  }
  CAPTURE(a.seed);
  CAPTURE(Qc.seed);
  CHECK(a.value < refined_tolerance);
  CHECK(Qc.value < refined_tolerance);
}

TEST_CASE("udwadia_schutte: a rank computed before gives the same motion") {
  const RandomEquations s = random_equations(77, {.deficient = 0});
  CHECK(udwadia_schutte(s.e, {}, numerical_rank(s.e)).a == udwadia_schutte(s.e).a);
}

TEST_CASE("wheel on an incline, and a virtual particle beside it [UP06, Eq. 5.17 and 5.23]") {
  const double m = 2, R = 0.3, Ic = 0.05, g = 9.81, slope = 0.4;
  const double theta = m * g * R * std::sin(slope) / (m * R * R + Ic), y = R * std::sin(slope) * theta;
  Equations e{
      .M = diag({m * R * R + Ic, 0}), .Q = vec({0, m * g}), .A = mat({{-R * std::sin(slope), 1}}), .b = vec({0})};
  check_example(e, vec({theta, y}));

  e.M = diag({m * R * R + Ic, 0, 0});
  e.Q = vec({0, m * g, 0});
  e.A = mat({{-R * std::sin(slope), 1, 0}});
  const Family family = udwadia_phohomsiri(e);
  REQUIRE(family.N.cols() == 1);
  CHECK(distance(family.N.col(0).cwiseAbs(), vec({0, 0, 1})) < exact);
  CHECK(distance(family.smallest.a, vec({theta, y, 0})) < exact);
  CHECK(distance(family.member(vec({5, -6, 7})), vec({theta, y, 7})) < exact);
  CHECK_THROWS_AS(udwadia_schutte(e), NotDetermined);
}

TEST_CASE("two masses and two springs, cut in two [UP06, Ex. 3]") {
  const double m1 = 1.5, m2 = 0.7, k1 = 20, k2 = 35, x1 = 0.1, q2 = -0.3;
  const MatrixXd connection = mat({{1, -1, 0}});
  const auto equations = [&](double mass1, double mass2, double x, double q) {
    return Equations{.M = mat({{mass1, 0, 0}, {0, mass2, mass2}, {0, mass2, mass2}}),
                     .Q = vec({-k1 * x, 0, -k2 * q}),
                     .A = connection,
                     .b = vec({0})};
  };
  const auto check_free = [&](const Equations& out_of_balance, const Equations& balanced, const VectorXd& direction) {
    for (const Equations& e : {out_of_balance, balanced}) {
      const Rank rank = numerical_rank(e);
      CHECK(rank.rank_MA == 2);
      REQUIRE(rank.N.cols() == 1);
      CHECK(std::abs(rank.N.col(0).normalized().dot(direction.normalized())) == doctest::Approx(1).epsilon(exact));
    }
    CHECK_THROWS_WITH_AS(udwadia_phohomsiri(out_of_balance), Contains("a force acts along a massless direction"),
                         NoMotion);
    const Family family = udwadia_phohomsiri(balanced);  // N'Q = 0
    CHECK(distance(balanced.M * family.smallest.a, balanced.Q + family.smallest.Qc) < exact);
  };
  SUBCASE("both masses [Eq. 5.39]") {
    const double a = (-k1 * x1 + k2 * q2) / m1;
    check_example(equations(m1, m2, x1, q2), vec({a, a, -a - k2 * q2 / m2}));
  }
  SUBCASE("m1 = 0: deficient, and determined once k1 x1 = k2 q2 is added [Eq. 5.47]") {
    const double q = k1 * x1 / k2, f = -k1 * k2 * (x1 + q) / (m2 * (k1 + k2) * (k1 + k2));
    Equations e = equations(0, m2, x1, q);
    check_free(equations(0, m2, x1, q2), e, vec({1, 1, -1}));
    e.A = mat({{1, -1, 0}, {k1, 0, -k2}});
    e.b = vec({0, 0});
    check_example(e, vec({f * k2, f * k2, f * k1}));
  }
  SUBCASE("m2 = 0: deficient, and determined once k2 q2 = 0 is added [Eq. 5.56]") {
    Equations e = equations(m1, 0, x1, 0);
    const MatrixXd A = mat({{1, -1, 0}, {0, 0, k2}});
    check_free(equations(m1, 0, x1, q2), e, vec({0, 0, 1}));
    e.A = A;
    e.b = vec({0, 0});
    check_example(e, vec({-k1 * x1 / m1, -k1 * x1 / m1, 0}));
  }
}

TEST_CASE("rigid body by unit quaternion, full inertia tensor [US10, Eq. 91, 116 and 121]") {
  const auto E = [](const VectorXd& u) {  // Eq. 80
    return mat({{-u[1], u[0], u[3], -u[2]}, {-u[2], -u[3], u[0], u[1]}, {-u[3], u[2], -u[1], u[0]}});
  };
  const MatrixXd J = mat({{2, 0.3, -0.2}, {0.3, 3, 0.4}, {-0.2, 0.4, 1.5}});
  const Eigen::Vector3d w(0.7, -1.1, 2.3), torque(0.5, 0.9, -0.4), Jw = J * w;
  const VectorXd u = vec({0.3, -0.5, 0.7, 0.2}).normalized(), v = 0.5 * E(u).transpose() * w;
  const VectorXd Gamma = 2 * E(u).transpose() * torque + 0.8 * u;  // also along u, where it only loads the constraint
  const MatrixXd Eu = E(u), Ev = E(v);                             // E is linear: dE/dt = E(u')
  const Equations e{.M = 4 * Eu.transpose() * J * Eu,
                    .Q = -8 * Ev.transpose() * J * Eu * v + Gamma,
                    .A = u.transpose(),
                    .b = vec({-v.squaredNorm()})};
  CHECK(numerical_rank(e).rank_M == 3);
  const VectorXd acceleration = -0.5 * Eu.transpose() * J.inverse() * w.cross(Jw) - 0.25 * w.squaredNorm() * u +
                                0.5 * Eu.transpose() * J.inverse() * torque;
  check_example(e, acceleration);
  CHECK(distance(udwadia_schutte(e).Qc, -(2 * w.dot(Jw) + u.dot(Gamma)) * u) < exact);
}

TEST_CASE("particle with non-ideal constraints [UM23, Eq. 28]") {
  const double mass = 3;
  const VectorXd a = vec({1, -2, 0.5}), d = vec({0.4, 0.7, -0.9});
  const Equations e{.M = mass * MatrixXd::Identity(3, 3),
                    .Q = mass * a,
                    .A = mat({{1, 2, -1}, {2, 4, -2}}),  // the same row twice
                    .b = vec({0.6, 1.2}),
                    .C = mass * d};
  const MatrixXd A_plus = pseudo_inverse(e.A), P = MatrixXd::Identity(3, 3) - A_plus * e.A;
  check_example(e, P * (a + d) + A_plus * e.b);
  CHECK(distance(udwadia_mogharabin(e).Qc_nonideal, P * e.C) < exact);  // M_s+ = (I - A+A) / m here
}

TEST_CASE("the split of Qc: the non-ideal part is M M_s+ C, neither C nor (I - A+A) C") {
  const Equations e{.M = diag({1, 4}), .Q = vec({0, 0}), .A = mat({{1, 1}}), .b = vec({0}), .C = vec({5, 0})};
  // null(A) = (1, -1): M_s+ C = (1, -1) 5 / (1 + 4)
  for (const auto& [name, motion] : all_forms(e)) {
    CAPTURE(name);
    CHECK(distance(motion.Qc_nonideal, vec({1, -4})) < exact);
    CHECK(distance(motion.Qc_ideal, vec({0, 0})) < exact);
  }
}

TEST_CASE("nothing but constraints: no mass at all, and no freedom at all") {
  const Equations massless{
      .M = MatrixXd::Zero(2, 2), .Q = vec({1e3, -2e3}), .A = mat({{1, 2}, {3, 4}}), .b = vec({5e-3, 11e-3})};
  for (const auto& [name, motion] : all_forms(massless)) {
    CAPTURE(name);
    CHECK((motion.a - vec({1e-3, 2e-3})).norm() < exact * 1e-3);  // forces 1e6 times larger do not blur it
    CHECK(distance(motion.Qc, -massless.Q) < exact);
  }
  const Equations unconstrained{.M = diag({2, 4}), .Q = vec({1, 2}), .A = MatrixXd(0, 2), .b = VectorXd(0)};
  check_example(unconstrained, vec({0.5, 0.5}));
}

TEST_CASE("udwadia_mogharabin: projections on null(A) and its complement, in the user's coordinates") {
  Worst worst;
  for (unsigned seed = 20000; seed < 20100; ++seed) {
    const RandomEquations s = random_equations(seed, {.largest = 8, .decades = 0.5, .deficient = 0});
    const ProjectedMotion p = udwadia_mogharabin(s.e);
    const Index n = s.e.M.rows();
    const MatrixXd A_plus = pseudo_inverse(s.e.A), P = MatrixXd::Identity(n, n) - A_plus * s.e.A;
    const VectorXd C = s.S.cwiseProduct(s.C);
    const MatrixXd Ms_plus = pseudo_inverse(P * s.e.M * P);
    const VectorXd Delta = s.e.Q + C - s.e.M * A_plus * s.e.b;
    worst.take(distance(p.a_complement, A_plus * s.e.b), seed);  // Eq. 30
    worst.take(distance(p.a_null, Ms_plus * Delta), seed);       // Eq. 29
    worst.take(distance(p.a_null + p.a_complement, p.a), seed);
    worst.take(distance(p.Qc_null, P * C), seed);                                                       // Eq. 34
    worst.take(distance(p.Qc_complement, s.e.M * Ms_plus * Delta - Delta + A_plus * s.e.A * C), seed);  // Eq. 33
    worst.take(distance(p.Qc_null + p.Qc_complement, p.Qc), seed);
    worst.take(distance(P * p.Qc, p.Qc_null), seed);  // Eq. 38
  }
  CAPTURE(worst.seed);
  CHECK(worst.value < random_tolerance);
}

TEST_CASE("udwadia_phohomsiri: the smallest member has the least norm in the user's coordinates [UP06, Eq. 2.14]") {
  Worst least, equations, orthonormal;
  unsigned families = 0;
  Random random(2);
  for (unsigned seed = 30000; seed < 30400; ++seed) {
    const RandomEquations s = random_equations(seed, {.largest = 8, .decades = 0.5, .deficient = 1, .regular = 0});
    if (!s.moves || s.F.cols() == 0) continue;
    ++families;
    const Family family = udwadia_phohomsiri(s.e);
    const Index n = s.e.M.rows(), m = s.e.A.rows();
    MatrixXd Mbar(n + m, n);
    Mbar << s.e.M - pseudo_inverse(s.e.A) * s.e.A * s.e.M, s.e.A;
    VectorXd right(n + m);
    right << s.e.Q + s.S.cwiseProduct(s.C), s.e.b;
    least.take(distance(family.smallest.a, pseudo_inverse(Mbar) * right), seed);
    CHECK(family.N.cols() == s.F.cols());
    orthonormal.take((family.N.transpose() * family.N - MatrixXd::Identity(family.N.cols(), family.N.cols())).norm(),
                     seed);
    const VectorXd a = family.member(random.normal(n));
    equations.take(distance(s.e.M * a, s.e.Q + family.smallest.Qc), seed);
    equations.take(distance(s.e.A * a, s.e.b), seed);
  }
  CHECK(families > 100);
  CHECK(least.value < random_tolerance);
  CHECK(equations.value < random_tolerance);
  CHECK(orthonormal.value < exact);
}

TEST_CASE("udwadia_phohomsiri: members satisfy the equations in any units") {
  Worst worst;
  Random random(3);
  for (unsigned seed = 40000; seed < 40300; ++seed) {
    const RandomEquations s = random_equations(seed, {.deficient = 1, .regular = 0});
    if (!s.moves) continue;
    const Family family = udwadia_phohomsiri(s.e);
    const VectorXd x = s.S.cwiseProduct(family.member(random.normal(s.S.size()).cwiseQuotient(s.S)));
    const double size = 1 + s.Q.norm() + s.C.norm() + s.Qc.norm() + x.norm();
    worst.take((s.M * x - s.Q - s.Qc).norm() / size, seed);
    worst.take((s.A * x - s.b).norm() / size, seed);
  }
  CAPTURE(worst.seed);
  CHECK(worst.value < random_tolerance);
}

TEST_CASE("udwadia_phohomsiri refuses where no motion exists") {
  const Equations pushed{.M = diag({1, 0}), .Q = vec({0, 3}), .A = MatrixXd(0, 2), .b = VectorXd(0)};
  CHECK_THROWS_WITH_AS(udwadia_phohomsiri(pushed),
                       "equations 'M q'' = Q + Qc': a force acts along a massless direction that no row holds: scaled "
                       "residual 1.0e+00 > 1e-06; give that direction mass, hold it by a row, or remove the force",
                       NoMotion);
  Equations cancelled = pushed;  // but for rounding: Q + C = 4e-16
  cancelled.C = vec({0, -3 * (1 + std::numeric_limits<double>::epsilon())});
  CHECK(udwadia_phohomsiri(cancelled).N.cols() == 1);
}

TEST_CASE("conflicting rows are refused by every form") {
  // x'' = 1 and 2 x'' = 3: the set is y = (1, -1/2), so that y'b = 1 - 3/2.
  const Equations e{.M = diag({1, 1}), .Q = vec({0, 0}), .A = mat({{1, 0}, {2, 0}}), .b = vec({1, 3})};
  const std::string text =
      "rows 'A q'' = b': contradict each other by 0.5, more than 1e-06 of their terms; remove or correct the "
      "conflicting rows, or weigh them by weighted_least_squares";
  CHECK_THROWS_WITH_AS(udwadia_kalaba(e), text.c_str(), NoMotion);
  CHECK_THROWS_WITH_AS(extended_dalembert(e), text.c_str(), NoMotion);
  CHECK_THROWS_WITH_AS(udwadia_phohomsiri(e), text.c_str(), NoMotion);
  CHECK_THROWS_WITH_AS(udwadia_schutte(e), text.c_str(), NoMotion);
  CHECK_THROWS_WITH_AS(udwadia_mogharabin(e), text.c_str(), NoMotion);
}

TEST_CASE("weighted least squares: weights change nothing where the data agree [UKH97, Eq. 38]") {
  Worst worst;
  Random random(4);
  for (unsigned seed = 50000; seed < 50100; ++seed) {
    RandomEquations s = random_equations(seed, {.largest = 8, .regular = 1});
    s.e.C.resize(0);
    const Motion motion = udwadia_kalaba(s.e);
    const VectorXd w =
        random.uniform_vector(s.e.b.size(), 0.1, 10).cwiseQuotient(s.R.cwiseAbs2());  // in units of the rows
    const Compromise c = weighted_least_squares(s.e, w.asDiagonal());
    worst.take(distance(s.S.cwiseProduct(c.a), s.S.cwiseProduct(motion.a)), seed);
    worst.take(distance(c.Qc.cwiseQuotient(s.S), motion.Qc.cwiseQuotient(s.S)), seed);
    if (w.size() > 0) worst.take(c.row_residual.cwiseQuotient(s.R).norm(), seed);
  }
  CAPTURE(worst.seed);
  CHECK(worst.value < random_tolerance);
}

TEST_CASE("weighted least squares: two measurements of one acceleration give their weighted mean") {
  const Equations e{.M = diag({2}), .Q = vec({7}), .A = mat({{1}, {1}}), .b = vec({1, 3})};
  const Compromise c = weighted_least_squares(e, diag({3, 1}));
  CHECK(c.a[0] == doctest::Approx(1.5).epsilon(exact));
  CHECK(c.Qc[0] == doctest::Approx(2 * 1.5 - 7).epsilon(exact));
  CHECK(distance(c.row_residual, vec({-0.5, 1.5})) < exact);
  // Trusted without limit: the mean goes to that row as 1 / weight.
  const double weight = 1e10;
  CHECK(weighted_least_squares(e, diag({weight, 1})).a[0] == doctest::Approx(1 + 2 / weight).epsilon(exact));
}

TEST_CASE("weighted least squares equals (L'WL)^-1 L'W s, whatever weighs the other equations [UKH97, Eq. 24 and 38]") {
  Worst literal;
  Random random(5);
  for (unsigned seed = 60000; seed < 60050; ++seed) {
    RandomEquations s = random_equations(seed, {.largest = 6, .decades = 0.2, .regular = 1});
    Equations& e = s.e;
    e.C.resize(0);
    e.b += random.normal(e.b.size());  // the rows now contradict each other if some are dependent
    const Index n = e.M.rows(), m = e.b.size();
    const MatrixXd X = random.normal(n, n), Y = random.normal(m, m);
    const MatrixXd w = Y * Y.transpose() + MatrixXd::Identity(m, m);
    const MatrixXd root = testing::root(e.M), inverse_root = testing::inverse_root(e.M), B = e.A * inverse_root;
    const Index k = n - s.rank_A;
    const MatrixXd V = eigenvectors(B.transpose() * B).leftCols(k);
    MatrixXd L = MatrixXd::Zero(n + m + k, 2 * n), W = MatrixXd::Zero(n + m + k, n + m + k);
    L << MatrixXd::Identity(n, n), -MatrixXd::Identity(n, n), B, MatrixXd::Zero(m, n), MatrixXd::Zero(k, n),
        V.transpose();
    W.topLeftCorner(n, n) = X * X.transpose() + MatrixXd::Identity(n, n);
    W.block(n, n, m, m) = w;
    W.bottomRightCorner(k, k) = 2.5 * MatrixXd::Identity(k, k);
    VectorXd right(n + m + k);
    right << inverse_root * e.Q, e.b, VectorXd::Zero(k);
    const VectorXd r = solve_symmetric(L.transpose() * W * L, L.transpose() * W * right);
    const Compromise c = weighted_least_squares(e, w);
    literal.take(distance(c.a, inverse_root * r.head(n)), seed);
    literal.take(distance(c.Qc, root * r.tail(n)), seed);
    literal.take(distance(c.row_residual, e.b - e.A * c.a), seed);
  }
  CAPTURE(literal.seed);
  CHECK(literal.value < random_tolerance);  // L'WL squares the condition of L here, not in the library
}

TEST_CASE("forms that need M > 0 or a determined motion say so") {
  const Equations singular{.M = mat({{2, 2}, {2, 2}}), .Q = vec({0, 0}), .A = mat({{1, 0}}), .b = vec({0})};
  const std::string remedy = "; use udwadia_schutte, udwadia_mogharabin or udwadia_phohomsiri";
  const auto text = [&](const std::string& form) {
    return "matrix 'M': is singular: rank 1 of 2, but " + form + " needs M > 0" + remedy;
  };
  CHECK_THROWS_WITH_AS(udwadia_kalaba(singular), text("udwadia_kalaba").c_str(), SingularMass);
  CHECK_THROWS_WITH_AS(extended_dalembert(singular), text("extended_dalembert").c_str(), SingularMass);
  CHECK_THROWS_WITH_AS(weighted_least_squares(singular, {}), text("weighted_least_squares").c_str(), SingularMass);

  Equations open = singular;
  open.A = mat({{1, 1}});
  const char* not_determined =
      "matrix '[M; A]': has rank 1 of 2 (balanced singular value 0.0e+00 <= 1e-09); add mass or rows, or ask "
      "udwadia_phohomsiri for the family of motions";
  CHECK_THROWS_WITH_AS(udwadia_schutte(open), not_determined, NotDetermined);
  CHECK_THROWS_WITH_AS(udwadia_mogharabin(open), not_determined, NotDetermined);
}

TEST_CASE("wrong input is refused by name") {
  const Equations good{.M = diag({1, 2}), .Q = vec({1, 1}), .A = mat({{1, 1}}), .b = vec({1}), .C = vec({0, 1})};
  CHECK_NOTHROW(udwadia_schutte(good));
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const auto with = [&](const auto& change) {
    Equations e = good;
    change(e);
    return e;
  };
  const auto solve = [&](const auto& change) { return udwadia_schutte(with(change)); };

  CHECK_THROWS_WITH_AS(solve([](Equations& e) { e.M = MatrixXd::Ones(2, 3); }),
                       "matrix 'M': the mass matrix is 2 x 3; give a square matrix", WrongSize);
  CHECK_THROWS_WITH_AS(solve([](Equations& e) { e.Q = vec({1}); }),
                       "vector 'Q': has 1 entries; give 2 (one per coordinate)", WrongSize);
  CHECK_THROWS_WITH_AS(solve([](Equations& e) {
                         e.A = mat({{1, 1, 1}});
                       }),
                       "matrix 'A': is 1 x 3; give 2 columns, one per coordinate", WrongSize);
  CHECK_THROWS_WITH_AS(solve([](Equations& e) {
                         e.b = vec({1, 2});
                       }),
                       "vector 'b': has 2 entries; give 1 (one per row of A)", WrongSize);
  CHECK_THROWS_WITH_AS(solve([](Equations& e) {
                         e.C = vec({1, 2, 3});
                       }),
                       "vector 'C': has 3 entries; give 2 (one per coordinate)", WrongSize);
  CHECK_THROWS_WITH_AS(solve([&](Equations& e) { e.M(1, 1) = inf; }),
                       "matrix 'M': mass matrix entry (1, 1) is inf; give finite masses", NonFinite);
  CHECK_THROWS_WITH_AS(solve([&](Equations& e) { e.Q[1] = nan; }), "vector 'Q': entry 1 is nan; give finite numbers",
                       NonFinite);
  CHECK_THROWS_WITH_AS(solve([&](Equations& e) { e.A(0, 1) = nan; }),
                       "matrix 'A': entry (0, 1) is nan; give finite numbers", NonFinite);
  CHECK_THROWS_WITH_AS(solve([&](Equations& e) { e.b[0] = -inf; }), "vector 'b': entry 0 is -inf; give finite numbers",
                       NonFinite);
  CHECK_THROWS_WITH_AS(solve([&](Equations& e) { e.C[0] = nan; }), "vector 'C': entry 0 is nan; give finite numbers",
                       NonFinite);
  CHECK_THROWS_WITH_AS(
      solve([](Equations& e) { e.M(0, 1) = 0.5; }),
      "matrix 'M': the mass matrix is not symmetric: (0, 1) = 0.5 but (1, 0) = 0; give a symmetric matrix",
      InvalidMass);
  CHECK_THROWS_WITH_AS(
      solve([](Equations& e) { e.M(0, 0) = -1; }),
      "matrix 'M': the mass matrix is not positive semi-definite: (0, 0) = -1 is negative; no motion may "
      "have negative kinetic energy; correct the masses",
      InvalidMass);

  CHECK_THROWS_WITH_AS(udwadia_schutte(good, {.alpha = 0}), "number 'alpha': is 0; give a finite alpha != 0",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(udwadia_schutte(good, {.alpha = nan}), "number 'alpha': is nan; give a finite alpha != 0",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(udwadia_schutte(good, {.alpha = 1, .z = vec({1, 2})}),
                       "vector 'z': has 2 entries; give 1 (one per row of A), or none", WrongSize);
  CHECK_THROWS_WITH_AS(udwadia_schutte(good, {.alpha = 1, .z = vec({nan})}),
                       "vector 'z': has an entry that is NaN or Inf; give finite numbers", NonFinite);
}

TEST_CASE("wrong weights are refused by name") {
  Equations e{.M = diag({1, 2}), .Q = vec({1, 1}), .A = mat({{1, 1}, {1, 0}}), .b = vec({1, 2})};
  const auto solve = [&](const MatrixXd& W) { return weighted_least_squares(e, W); };
  CHECK_NOTHROW(solve(diag({1, 2})));
  CHECK_THROWS_WITH_AS(solve(mat({{1, 1}})), "weights 'W': is 1 x 2; give a 2 x 2 matrix", WrongSize);
  CHECK_THROWS_WITH_AS(solve(mat({{1, 0.5}, {0, 1}})),
                       "weights 'W': is not symmetric: entries differ by 0.5; give a symmetric matrix", InvalidModel);
  CHECK_THROWS_WITH_AS(solve(diag({1, -2})), "weights 'W': is not positive definite; every weight must be > 0",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(solve(diag({1, std::numeric_limits<double>::infinity()})),
                       "weights 'W': has an entry that is NaN or Inf; give finite weights", NonFinite);
  e.C = vec({0, 3});
  CHECK_THROWS_WITH_AS(
      solve(diag({1, 2})),
      "vector 'C': is not zero (largest entry 3); weighted_least_squares knows ideal constraints only; leave C empty",
      InvalidModel);
}
