// What the papers say of a motion besides the motion itself: against closed forms, literal formulas and as properties
// of random mechanisms.

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/joints/friction.h>
#include <mortise/joints/functor.h>
#include <mortise/joints/pin.h>
#include <mortise/solve/principles.h>

#include "counts.h"
#include "dense.h"
#include "random_mechanisms.h"

using namespace mortise;
using namespace mortise::testing;
using doctest::Contains;

namespace {

constexpr double exact = 1e-12;  // closed forms with conditions of order 1 to 100
// Masses within 100 of each other, in metres and radians: roots and pseudo-inverses of M_A, written out here, have some
// 1e5 eps, with a digit to spare.
constexpr double literal_tolerance = 1e-9;

const unsigned mechanism_count = many(200, 20);

double distance(const VectorXd& x, const VectorXd& expected) {
  REQUIRE(x.size() == expected.size());
  return (x - expected).norm() / (1 + expected.norm());
}

// Random mechanisms of mild masses that are determined, with all that is asked of them.
struct Drawn {
  Model model;
  Evaluation e;
  Solution s;
  Equations equations;
};
template <class F> void each_mechanism(unsigned first, const F& f) {
  unsigned found = 0;
  for (unsigned seed = first; found < mechanism_count; ++seed) {
    CAPTURE(seed);
    Model model = build(random_mechanism(seed, {.decades = 1, .doubled = 0.1, .large = false}));
    const Evaluation e = model.system.evaluate(model.state);
    if (!check_rank(model.system, e).ok()) continue;
    ++found;
    const Solution s = solve(model.system, e);
    const Equations equations = model.system.equations(e);
    f(seed, Drawn{std::move(model), e, s, equations});
  }
}

// A particle on two rows, one of which says the same again, and a law that does work on it.
struct RoughParticle {
  double m = 3;
  Vec3<double> force{3, -6, 1.5}, d{0.4, 0.7, -0.9};
  MatrixXd A = (MatrixXd(2, 3) << 1, 2, -1, 2, 4, -2).finished();
  VectorXd b = Vec2<double>(0.6, 1.2);
  System system;
  Evaluation e;

  RoughParticle() : system(assembled(m * d)), e(system.evaluate(system.state())) {
    e.Q = force;
    e.b = b;
  }
  static Assembly assembled(const Vec3<double>& C) {
    const auto rows = Holonomic{[](const auto& p, const auto& t) {
      using T = std::remove_cvref_t<decltype(t)>;
      const T x = p.coordinate("x") + 2.0 * p.coordinate("y") - p.coordinate("z");
      return Vec2<T>(x, 2.0 * x);
    }};
    const auto law = [C](auto& p, const auto&) {
      p.apply_to("x", C[0]);
      p.apply_to("y", C[1]);
      p.apply_to("z", C[2]);
    };
    Assembly assembly("particle");
    const auto p = assembly.add("p", Particle<3>{.mass = 3});
    assembly.connect("plane", Nonideal(rows, law), p);
    return assembly;
  }
};

}  // namespace

TEST_CASE(
    "particle with non-ideal constraints: free motion, deviation, Gauss' function and projections [UM23, Eq. 28]") {
  const RoughParticle p;
  REQUIRE(distance(Eigen::Map<const VectorXd>(p.e.dense_A().data(), 6), Eigen::Map<const VectorXd>(p.A.data(), 6)) <
          exact);
  const Solution s = solve(p.system, p.e);
  const VectorXd a = p.force / p.m, d = p.d;
  const MatrixXd A_plus = pseudo_inverse(p.A), P = MatrixXd::Identity(3, 3) - A_plus * p.A;
  CHECK(distance(s.a, P * (a + d) + A_plus * p.b) < exact);

  const Unconstrained u = unconstrained(p.system, p.e, s);
  const VectorXd deviation = A_plus * (p.b - p.A * a) + P * d;
  CHECK(distance(u.a, a) < exact);
  CHECK(distance(u.e, p.b - p.A * a) < exact);
  CHECK(distance(u.deviation, deviation) < exact);
  CHECK(u.gauss == doctest::Approx(p.m * deviation.squaredNorm()).epsilon(exact));

  const Projections projected = projections(p.system, p.e, s);
  CHECK(distance(projected.a_null, P * (a + d)) < exact);
  CHECK(distance(projected.a_complement, A_plus * p.b) < exact);
  CHECK(distance(projected.Qc_null, p.m * P * d) < exact);
  CHECK(distance(projected.Qc_complement, p.m * A_plus * (p.b - p.A * a)) < exact);

  // M_A = m I + alpha^2 A+A:  M_A^-1 = P / m + A+A / (m + alpha^2).
  const Vec2<double> z(0.3, -0.8);  // contradicts itself, and changes nothing
  const Auxiliary x = auxiliary(p.system, p.e, s, {.alpha = 2, .z = z});
  CHECK(distance(x.a, P * a + A_plus * (p.A * VectorXd(p.force) + z) / (p.m + 4)) < exact);
  CHECK(distance(x.Qc, s.Qc + 4 * A_plus * p.b - A_plus * z) < exact);
}

TEST_CASE("rigid body by unit quaternion: the auxiliary system in closed form [US10, Eq. 116 and 121]") {
  Mat<double, 3> J;
  J << 2, 0.3, -0.2, 0.3, 3, 0.4, -0.2, 0.4, 1.5;
  const Vec3<double> w(0.7, -1.1, 2.3), torque(0.5, 0.9, -0.4);
  const double mass = 5, alpha = 1.7;
  Assembly assembly("top");
  assembly.set_gravity({0, 0, -9.81});
  assembly.add("body", RigidBody{.mass = mass, .inertia = J});
  const System system(assembly);
  State state = system.state();
  const Vec<double, 7> q = RigidBody::pose({1, 2, 3}, {0.3, -0.5, 0.7, 0.2});
  state.set("body", {q[0], q[1], q[2], q[3], q[4], q[5], q[6]});
  state.v = RigidBody::rates(q, {0.1, 0.2, 0.3}, w);
  Evaluation e = system.evaluate(state);
  const Vec<double, 4> u = q.tail<4>();
  const Mat<double, 3, 4> E = quaternion_E<double>(u);
  e.Q.tail<4>() += 2 * E.transpose() * torque;

  const Solution s = solve(system, e);
  CHECK(distance(s.Qc.tail<4>(), -2 * w.dot(J * w) * u) < exact);
  CHECK_THROWS_WITH_AS(unconstrained(system, e, s),
                       "body 'body': its mass matrix is singular in 1 of 7 directions, so that M^-1 Q does not exist; "
                       "ask auxiliary() or gauss(), which need no M^-1",
                       SingularMass);

  // M_A = 4 E'JE + alpha^2 u u',  M_A^-1 = E'J^-1E / 4 + u u' / alpha^2
  const MatrixXd A = e.dense_A();
  REQUIRE(A.rows() == 1);
  const double factor = u.dot(A.row(0).tail<4>());  // A = factor u'
  const Auxiliary x = auxiliary(system, e, s, {.alpha = alpha});
  CHECK(x.alpha == alpha);
  CHECK(distance(x.z, alpha * alpha * e.b) < exact);
  CHECK((x.M_A.bottomRightCorner<4, 4>() - 4 * E.transpose() * J * E - alpha * alpha * u * u.transpose()).norm() <
        exact);
  CHECK((x.M_A.topLeftCorner<3, 3>() - mass * MatrixXd::Identity(3, 3)).norm() < exact);
  const Vec<double, 4> Q_z = e.Q.tail<4>() + alpha * alpha * e.b[0] / factor * u;
  CHECK(distance(x.Q_z.tail<4>(), Q_z) < exact);
  CHECK(distance(x.a.tail<4>(), 0.25 * E.transpose() * J.inverse() * E * Q_z + u * (u.dot(Q_z) / (alpha * alpha))) <
        exact);
  CHECK(distance(x.a.head<3>(), Vec3<double>(0, 0, -9.81)) < exact);
  CHECK(distance(x.e, e.b - A * x.a) < exact);
  CHECK(distance(x.deviation, s.a - x.a) < exact);
  CHECK(distance(x.Qc, s.Qc) < exact);  // z = alpha^2 b, Eq. 67
}

TEST_CASE("auxiliary: the motion and its force follow by [US10, Eq. 49 and 65], whatever alpha and z") {
  Worst a, force, own, deviation;
  Random random(11);
  unsigned singular = 0;
  each_mechanism(80000, [&](unsigned seed, const Drawn& x) {
    const Index n = x.model.system.size(), m = x.model.system.rows();
    singular += x.equations.massless->N0.cols() > 0;
    const MatrixXd& A = x.equations.A;
    const double alpha = std::pow(10.0, random.uniform(-0.5, 0.5)) * (random.chance(0.5) ? 1 : -1);
    for (const bool given : {false, true}) {
      const VectorXd z = given ? VectorXd(random.normal(m)) : VectorXd();
      const Auxiliary y = auxiliary(x.model.system, x.e, x.s, {.alpha = alpha, .z = z});
      const MatrixXd root = testing::root(y.M_A), inverse = inverse_root(y.M_A), B = A * inverse;
      const MatrixXd B_plus = pseudo_inverse(B);
      const VectorXd c = inverse * x.equations.C;
      const VectorXd Qc = root * (B_plus * (x.e.b - A * y.a) + c - B_plus * (B * c));  // Eq. 65
      const double size = x.e.Q.norm() + y.Q_z.norm() + Qc.norm();
      a.take(distance(inverse * (inverse * (y.Q_z + Qc)), x.s.a), seed);  // Eq. 66
      force.take(ratio((y.Qc - Qc).norm(), size), seed);
      deviation.take(distance(inverse * (inverse * Qc), y.deviation), seed);
      if (!given) own.take(ratio((Qc - x.s.Qc).norm(), size), seed);  // Eq. 67
      CHECK(y.M_A.rows() == n);
    }
  });
  for (const auto& [what, worst] : {std::pair{std::string("a"), a},
                                    {"Qc of the auxiliary system", force},
                                    {"Qc for z = alpha^2 b", own},
                                    {"deviation", deviation}}) {
    CAPTURE(what);
    CAPTURE(worst.seed);
    CHECK(worst.value < literal_tolerance);
  }
  CHECK(singular > mechanism_count / 3);
}

TEST_CASE("augmented: M_A > 0 iff [M; A] has full column rank [US10, Lemma 1]") {
  // Nonzero singular values are in [0.1, 1] before mild units.
  constexpr double positive = 1e-7, zero = 1e-12;
  unsigned deficient = 0, full = 0;
  Random random(12);
  for (unsigned seed = 90000; seed < 90000 + 5 * mechanism_count; ++seed) {
    CAPTURE(seed);
    const RandomEquations s = random_equations(seed, {.largest = 12, .decades = 0.3, .deficient = 0.5, .regular = 0.1});
    const Augmented x = augmented(s.e, {.alpha = std::pow(10.0, random.uniform(-0.5, 0.5))});
    if (s.rank_MA == s.e.M.rows()) {
      ++full;
      CHECK(x.smallest > positive);
    } else {
      ++deficient;
      CHECK(x.smallest < zero);
    }
  }
  CHECK(full > mechanism_count);
  CHECK(deficient > mechanism_count);
}

TEST_CASE("gauss: no motion that the constraints admit has less than q''") {
  // G(x) - G(q'') = (x - q'')'M(x - q'')/2 for x = q'' + any direction of null(A).
  constexpr double round_off = 1e-11;  // of the terms of G
  Worst less, square;
  Random random(13);
  each_mechanism(100000, [&](unsigned seed, const Drawn& x) {
    const Index n = x.model.system.size();
    const MatrixXd P = MatrixXd::Identity(n, n) - pseudo_inverse(x.equations.A) * x.equations.A;
    const double least = gauss(x.model.system, x.e, x.s, x.s.a);
    for (const double length : {1e-3, 1.0, 1e3}) {
      const VectorXd step = length * (P * random.normal(n)), other = x.s.a + step;
      const double G = gauss(x.model.system, x.e, x.s, other), half = step.dot(x.equations.M * step) / 2;
      const double terms = std::abs(least) + other.dot(x.equations.M * other) +
                           other.cwiseAbs().dot((x.equations.Q + x.equations.C).cwiseAbs());
      less.take(ratio(std::max(0.0, least - G), terms), seed);
      square.take(ratio(std::abs(G - least - half), terms), seed);
    }
  });
  CAPTURE(less.seed);
  CAPTURE(square.seed);
  CHECK(less.value < round_off);
  CHECK(square.value < round_off);
}

TEST_CASE("gauss: with dry friction, which needs its own reaction, and against (q'' - a)'M(q'' - a)") {
  Assembly assembly("pendulum");
  assembly.set_gravity({0, -9.81, 0});
  const auto ground = assembly.add("ground", Ground{});
  const auto rod = assembly.add("rod", PlanarBody{.mass = 2, .inertia = 0.1});
  SUBCASE("rough pin") {
    assembly.connect("pin", Coulomb{Pin{.on_b = {-0.5, 0}}, {.coefficient = 0.9, .radius = 0.2}}, ground, rod);
  }
  SUBCASE("smooth pin") { assembly.connect("pin", Pin{.on_b = {-0.5, 0}}, ground, rod); }
  const System system(assembly);
  State state = system.state();
  state.set("rod", {0.5, 0, 0});
  state.set("rod'", {0, 1.5, 3});
  const Evaluation e = system.evaluate(state);
  const Solution s = solve(system, e);
  const double least = gauss(system, e, s, s.a);
  const Vec3<double> turn(0, 0.5, 1);  // null(A)
  const VectorXd M_turn = e.dense_M() * turn;
  for (const double rate : {-2.0, -1e-3, 1e-3, 0.7}) {
    const double G = gauss(system, e, s, s.a + rate * turn);
    CHECK(G > least);
    CHECK(G - least == doctest::Approx(rate * rate * turn.dot(M_turn) / 2).epsilon(1e-8));
  }
  const Unconstrained u = unconstrained(system, e, s);
  CHECK(distance(u.a, Vec3<double>(0, -9.81, 0)) < exact);
  if (s.Qc_nonideal.norm() == 0)  // C = 0
    CHECK(u.gauss == doctest::Approx(2 * (least - gauss(system, e, s, u.a))).epsilon(exact));
  else
    CHECK(distance(projections(system, e, s).Qc_null, s.Qc - projections(system, e, s).Qc_complement) < exact);
  CHECK_THROWS_WITH_AS(gauss(system, e, s, VectorXd::Zero(2)), "vector 'x': has 2 entries; give 3, one per coordinate",
                       WrongSize);
}

TEST_CASE("projections: orthogonal, on null(A) and its complement, those of the published form") {
  constexpr double tolerance = 1e-10;  // kappa(A) of some 1e3 in the user's coordinates
  Worst form, rows, orthogonal;
  each_mechanism(110000, [&](unsigned seed, const Drawn& x) {
    const Projections p = projections(x.model.system, x.e, x.s);
    const ProjectedMotion m = udwadia_mogharabin(x.equations);
    const double forces = 1 + x.s.Q.norm() + x.s.Qc.norm();
    form.take(distance(p.a_null, m.a_null), seed);
    form.take(distance(p.a_complement, m.a_complement), seed);
    form.take((p.Qc_null - m.Qc_null).norm() / forces, seed);
    form.take((p.Qc_complement - m.Qc_complement).norm() / forces, seed);
    rows.take((x.equations.A * p.a_null).norm() / (1 + x.s.a.norm()), seed);
    rows.take((x.equations.A * p.Qc_null).norm() / forces, seed);
    orthogonal.take(std::abs(p.a_null.dot(p.a_complement)) / (1 + x.s.a.squaredNorm()), seed);
    orthogonal.take(std::abs(p.Qc_null.dot(p.Qc_complement)) / (forces * forces), seed);
  });
  for (const Worst& worst : {form, rows, orthogonal}) {
    CAPTURE(worst.seed);
    CHECK(worst.value < tolerance);
  }
}
