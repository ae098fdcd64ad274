// The catalogue of bodies: inertias of solids, Lagrangian, Structure and its reduction, Matrix Market files, States.

#include <numbers>
#include <sstream>

#include <doctest/doctest.h>

#include <mortise/bodies/craig_bampton.h>
#include <mortise/bodies/ground.h>
#include <mortise/bodies/inertia.h>
#include <mortise/bodies/lagrangian.h>
#include <mortise/bodies/matrix_market.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/bodies/states.h>
#include <mortise/bodies/structure.h>
#include <mortise/forces/functor.h>
#include <mortise/integrators/rk4.h>
#include <mortise/joints/coupling.h>
#include <mortise/joints/functor.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/rate.h>
#include <mortise/solve/solve.h>
#include <mortise/solve/solver.h>

#include "check_joint.h"
#include "dense.h"

using namespace mortise;
using std::numbers::pi;

namespace {

constexpr double round_off = 1e-13;  // a few hundred operations on numbers near 1

// Largest difference relative to the largest entry.
double difference(const MatrixXd& a, const MatrixXd& b) {
  REQUIRE(a.rows() == b.rows());
  REQUIRE(a.cols() == b.cols());
  return (a - b).cwiseAbs().maxCoeff() / (1e-300 + b.cwiseAbs().maxCoeff());
}
bool same(const Inertia& a, const Inertia& b) {
  const double size = 1 + b.moments.cwiseAbs().maxCoeff();
  return std::abs(a.mass - b.mass) < round_off * (1 + b.mass) && (a.centre - b.centre).norm() < round_off * size &&
         (a.moments - b.moments).cwiseAbs().maxCoeff() < round_off * size;
}
// Equal point masses at all combinations of the given places.
Inertia lattice(double mass, const std::vector<double>& x, const std::vector<double>& y, const std::vector<double>& z) {
  std::vector<Inertia::Point> set;
  for (const double a : x)
    for (const double b : y)
      for (const double c : z) set.push_back({mass / double(x.size() * y.size() * z.size()), {a, b, c}});
  return Inertia::points(set);
}

// A chain of n equal masses and springs along x between the wall at 0 and, if `closed`, the wall at n + 1.
Structure chain(Index n, double m, double k, bool closed = false) {
  MatrixXd K = MatrixXd::Zero(n, n);
  Structure::Given given;
  for (Index i = 0; i < n; ++i) {
    K(i, i) = i + 1 < n || closed ? 2 * k : k;
    if (i > 0) K(i, i - 1) = K(i - 1, i) = -k;
    given.dofs.push_back({fmt::format("n{}", i + 1), "ux"});
    given.nodes.push_back({fmt::format("n{}", i + 1), {double(i + 1), 0, 0}});
  }
  given.M = (m * MatrixXd::Identity(n, n)).eval();
  given.K = K;
  return Structure(given);
}

// Frequencies w [rad/s], ascending, of M q'' = dQ/dq q as the System has them.
VectorXd frequencies(const System& system) {
  const State s = system.state();
  const MatrixXd K = -system.derivatives(s, VectorXd::Zero(system.size())).dQ_dq;
  return testing::eigenvalues(K, system.evaluate(s).dense_M()).cwiseSqrt();
}
System alone(const Structure& s) {
  Assembly a("alone");
  a.add("s", s);
  return System(a);
}

// A cantilever along x from the wall at 0, of n Hermite beam elements; dofs uy and rz of every node; lumped masses.
Structure cantilever(Index n, double length, double EI, double mass) {
  const double h = length / double(n);
  Mat<double, 4> k;
  k << 12, 6 * h, -12, 6 * h, 6 * h, 4 * h * h, -6 * h, 2 * h * h, -12, -6 * h, 12, -6 * h, 6 * h, 2 * h * h, -6 * h,
      4 * h * h;
  k *= EI / (h * h * h);
  MatrixXd K = MatrixXd::Zero(2 * n + 2, 2 * n + 2);
  for (Index e = 0; e < n; ++e) K.block<4, 4>(2 * e, 2 * e) += k;
  MatrixXd M = MatrixXd::Zero(2 * n, 2 * n);
  Structure::Given given;
  for (Index i = 0; i < n; ++i) {
    const std::string node = fmt::format("n{}", i + 1);
    given.dofs.push_back({node, "uy"});
    given.dofs.push_back({node, "rz"});
    given.nodes.push_back({node, {h * double(i + 1), 0, 0}});
    M(2 * i, 2 * i) = i + 1 < n ? mass / double(n) : 0.5 * mass / double(n);
  }
  given.M = M;
  given.K = K.bottomRightCorner(2 * n, 2 * n).eval();
  return Structure(given);
}

Eigen::SparseMatrix<double> read(const std::string& text, const MatrixMarketLimits& limits = {}) {
  std::istringstream in(text);
  return read_matrix_market(in, "m.mtx", limits);
}

}  // namespace

TEST_CASE("inertias of solids equal those of point sets with the same second moments") {
  const double g = 1 / std::sqrt(3.0);  // the two points of Gauss
  const auto ends = [&](double length) { return std::vector{-g * length / 2, g * length / 2}; };
  CHECK(same(Inertia::box(2, {1, 0.4, 0.3}), lattice(2, ends(1), ends(0.4), ends(0.3))));
  CHECK(same(Inertia::rod(2, 1.5), lattice(2, ends(1.5), {0}, {0})));
  CHECK(same(Inertia::rod(2, 1.5, {0, 3, 0}), lattice(2, {0}, ends(1.5), {0})));
  // A ring of radius r / sqrt(2): its four corners at (r/2, r/2).
  CHECK(same(Inertia::cylinder(2, 0.6, 1.5), lattice(2, {-0.3, 0.3}, {-0.3, 0.3}, ends(1.5))));
  CHECK(same(Inertia::disk(2, 0.6, {1, 0, 0}), lattice(2, {0}, {-0.3, 0.3}, {-0.3, 0.3})));
  const double d = 0.6 * std::sqrt(0.6);  // <x^2> = r^2 / 5
  CHECK(same(Inertia::sphere(3, 0.6), Inertia::points({{0.5, {d, 0, 0}},
                                                       {0.5, {-d, 0, 0}},
                                                       {0.5, {0, d, 0}},
                                                       {0.5, {0, -d, 0}},
                                                       {0.5, {0, 0, d}},
                                                       {0.5, {0, 0, -d}}})));
  // A tube is a cylinder without a cylinder of the same density.
  const double density = 5, r = 0.2, R = 0.5, l = 1.1;
  const auto solid = [&](double radius) { return Inertia::cylinder(density * pi * radius * radius * l, radius, l); };
  CHECK(same(Inertia::tube(density * pi * (R * R - r * r) * l, r, R, l), solid(R) - solid(r)));
  CHECK(same(Inertia::tube(2, 0, 0.6, 1.5), Inertia::cylinder(2, 0.6, 1.5)));
}

TEST_CASE("inertias are moved, turned and added as the point sets they stand for") {
  const Inertia box = Inertia::box(2, {1, 0.4, 0.3}), rod = Inertia::rod(0.7, 0.9);
  const auto corners = [](double mass, const Vec3<double>& e) {
    std::vector<Inertia::Point> set;
    for (const double x : {-1.0, 1.0})
      for (const double y : {-1.0, 1.0})
        for (const double z : {-1.0, 1.0})
          set.push_back({mass / 8, Vec3<double>(x, y, z).cwiseProduct(e) / (2 * std::sqrt(3.0))});
    return set;
  };
  const Mat<double, 3> turn = rotation_matrix<double>(quaternion_from_euler("zyx", {0.5, -0.3, 0.9}));
  const Vec3<double> by(0.3, -1, 2);
  auto set = corners(2, {1, 0.4, 0.3});
  for (auto& p : set) p.at = turn * p.at + by;
  CHECK(same(box.turned(turn).moved(by), Inertia::points(set)));
  // About a point:  sum m (|d|^2 I - d d')
  const Vec3<double> about(0.2, 0.1, -0.4);
  Mat<double, 3> J = Mat<double, 3>::Zero();
  for (const auto& p : set) {
    const Vec3<double> arm = p.at - about;
    J += p.mass * (arm.squaredNorm() * Mat<double, 3>::Identity() - arm * arm.transpose());
  }
  CHECK(difference(box.turned(turn).moved(by).about(about), J) < round_off);
  for (const auto& p : corners(0.7, {0.9, 0, 0})) set.push_back(p);
  const Inertia both = box.turned(turn).moved(by) + rod;
  CHECK(same(both, Inertia::points(set)));
  CHECK(same(both - rod, box.turned(turn).moved(by)));

  // A body made of it swings as a physical pendulum: theta'' = -m g c / (J + m c^2) when level.
  const Inertia hammer = Inertia::rod(0.2, 0.4) + Inertia::box(1, {0.05, 0.1, 0.05}).moved({0.2, 0, 0});
  Assembly a("pendulum");
  a.set_gravity({0, -9.81, 0});
  const auto ground = a.add("ground", Ground{});
  const auto body = a.add("hammer", PlanarBody::of(hammer.moved({0.2, 0, 0})));  // the pin at the end of the handle
  a.connect("pin", Pin{}, ground, body);
  const System system(a);
  const double level = 1.2 * (0.2 * 0.2 + 1 * 0.4) / 1.2;  // sum of m x
  const double J_end = 0.2 * 0.4 * 0.4 / 3 + 1 * (0.05 * 0.05 + 0.1 * 0.1) / 12 + 0.4 * 0.4;
  CHECK(solve(system, system.state()).acceleration("hammer.theta") ==
        doctest::Approx(-9.81 * level / J_end).epsilon(1e-12));
  const RigidBody solid = RigidBody::of(hammer);
  CHECK(solid.mass == hammer.mass);
  CHECK(solid.inertia == hammer.moments);
  CHECK(solid.centre == hammer.centre);
}

TEST_CASE("moments of no body are refused; neglected ones are welcome") {
  Assembly a("bad");
  CHECK_THROWS_WITH_AS(
      a.add("b", RigidBody{.mass = 1, .inertia = Vec3<double>(1, 3, 1.5).asDiagonal()}),
      "body 'b': principal moments 1, 1.5 and 3 kg m^2 are those of no body: the largest is above the sum of the "
      "others; give moments about the centre of mass with J1 + J2 >= J3; set to 0 what is neglected",
      InvalidModel);
  CHECK_NOTHROW(a.add("thin", RigidBody{.mass = 1, .inertia = Vec3<double>(0, 1, 1).asDiagonal()}));
  CHECK_NOTHROW(a.add("flywheel", RigidBody{.mass = 1, .inertia = Vec3<double>(0, 0, 1).asDiagonal()}));
  CHECK_NOTHROW(a.add("point", RigidBody{.mass = 1}));
  CHECK_NOTHROW(
      a.add("flat", RigidBody{.mass = 1, .inertia = Vec3<double>(0.333333, 0.333333, 0.666667).asDiagonal()}));
  CHECK_THROWS_WITH_AS(Inertia::box(-1, {1, 1, 1}),
                       "solid 'box': mass = -1 kg; give a finite number >= 0 (0 is allowed)", InvalidModel);
  CHECK_THROWS_WITH_AS(Inertia::cylinder(1, 1, std::nan("")),
                       "solid 'cylinder': length = nan m; give a finite number >= 0 (0 is allowed)", InvalidModel);
  CHECK_THROWS_WITH_AS(Inertia::rod(1, 1, {0, 0, 0}),
                       "solid 'rod': its axis has length 0; give a direction; any length > 0 will do", InvalidModel);
  CHECK_THROWS_WITH_AS(Inertia::tube(1, 2, 1, 1),
                       "solid 'tube': inner radius 2 m is above outer radius 1 m; give the inner radius first",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(Inertia::sphere(1, 1) - Inertia::sphere(2, 1),
                       "solid 'difference': a part of 2 kg is taken from 1 kg; take out no more than there is",
                       InvalidModel);
}

TEST_CASE("Lagrangian: pendulum and double pendulum have their closed forms, slopes and energy") {
  const double m1 = 1.3, m2 = 0.7, l1 = 0.9, l2 = 1.4, g = 9.81;
  Assembly a("pendulums");
  a.add("single", Lagrangian{.coordinates = {"theta"}, .energies = [=](const auto& q, const auto& v, const auto&) {
                               using std::cos;
                               return Energies{0.5 * m1 * l1 * l1 * v[0] * v[0], -m1 * g * l1 * cos(q[0])};
                             }});
  a.add("double",
        Lagrangian{.coordinates = {"theta1", "theta2"}, .energies = [=](const auto& q, const auto& v, const auto&) {
                     using std::cos;
                     const auto T = 0.5 * (m1 + m2) * l1 * l1 * v[0] * v[0] + 0.5 * m2 * l2 * l2 * v[1] * v[1] +
                                    m2 * l1 * l2 * v[0] * v[1] * cos(q[0] - q[1]);
                     return Energies{T, -(m1 + m2) * g * l1 * cos(q[0]) - m2 * g * l2 * cos(q[1])};
                   }});
  const System system(a);
  check_derivatives(system);
  State s = system.state();
  const double x = 0.8, p = 0.6, q = -1.1, u = 1.7, w = -2.3;
  s.set("single", {x});
  s.set("single'", {1.5});
  s.set("double", {p, q});
  s.set("double'", {u, w});
  Solver solver(system);
  const VectorXd by_solver = solver.solve(s);
  const Solution solution = solve(system, s);
  CHECK(difference(by_solver, solution.a) < round_off);
  CHECK(solution.acceleration("single.theta") == doctest::Approx(-g / l1 * std::sin(x)).epsilon(1e-14));
  // The textbook's double pendulum.
  const double D = 2 * m1 + m2 - m2 * std::cos(2 * p - 2 * q);
  const double a1 = (-g * (2 * m1 + m2) * std::sin(p) - m2 * g * std::sin(p - 2 * q) -
                     2 * std::sin(p - q) * m2 * (w * w * l2 + u * u * l1 * std::cos(p - q))) /
                    (l1 * D);
  const double a2 = 2 * std::sin(p - q) *
                    (u * u * l1 * (m1 + m2) + g * (m1 + m2) * std::cos(p) + w * w * l2 * m2 * std::cos(p - q)) /
                    (l2 * D);
  CHECK(solution.acceleration("double.theta1") == doctest::Approx(a1).epsilon(1e-13));
  CHECK(solution.acceleration("double.theta2") == doctest::Approx(a2).epsilon(1e-13));
  const double T = 0.5 * m1 * l1 * l1 * 1.5 * 1.5 + 0.5 * (m1 + m2) * l1 * l1 * u * u + 0.5 * m2 * l2 * l2 * w * w +
                   m2 * l1 * l2 * u * w * std::cos(p - q);
  const double V = -m1 * g * l1 * std::cos(x) - (m1 + m2) * g * l1 * std::cos(p) - m2 * g * l2 * std::cos(q);
  CHECK(system.energy(s).kinetic == doctest::Approx(T).epsilon(1e-14));
  CHECK(system.energy(s).potential == doctest::Approx(V).epsilon(1e-14));
  for (const Contribution& c : system.contributions(s)) {
    CHECK(c.potential.has_value());
    CHECK(std::abs(c.input) < round_off * 100);  // T and V do not depend on time; powers are near 100 W
  }
  CHECK(system.contributions(s)[0].power == doctest::Approx(-m1 * g * l1 * std::sin(x) * 1.5).epsilon(1e-14));
}

TEST_CASE("Lagrangian: terms linear in v turn without work; time in T does work") {
  // A charge in a magnetic field along z:  x'' = b y',  y'' = -b x'.
  const double b = 1.7, rate = 0.4;
  Assembly a("linear");
  a.add("charge", Lagrangian{.coordinates = {"x", "y"}, .energies = [=](const auto& q, const auto& v, const auto&) {
                               const auto T = 0.5 * (v[0] * v[0] + v[1] * v[1]) + 0.5 * b * (q[0] * v[1] - q[1] * v[0]);
                               return Energies{T, 0.0};
                             }});
  // A bead on a wire that turns ever faster, angle' = rate t:  r'' = r (rate t)^2.
  a.add("bead", Lagrangian{.coordinates = {"r"}, .energies = [=](const auto& q, const auto& v, const auto& t) {
                             const auto w = rate * t;
                             return Energies{1.0 * (v[0] * v[0] + q[0] * q[0] * w * w), 0.0};
                           }});
  // Seen from a lift that accelerates, s = s' + rate t^2 / 2:  s'' = -rate.
  a.add("lift", Lagrangian{.coordinates = {"s"}, .energies = [=](const auto&, const auto& v, const auto& t) {
                             const auto u = v[0] + rate * t;
                             return Energies{1.5 * u * u, 0.0};
                           }});
  // Mass that grows with time, m = 1 + t, without a velocity of its own:  m v' = -v.
  a.add("snow", Lagrangian{.coordinates = {"x"}, .energies = [=](const auto&, const auto& v, const auto& t) {
                             return Energies{0.5 * (1.0 + t) * v[0] * v[0], 0.0};
                           }});
  const System system(a);
  check_derivatives(system);
  const State s = random_state(system, 5, 0.3);
  const Solution solution = solve(system, s);
  const auto at = [&](const char* name) { return s.get(name); };
  CHECK(solution.acceleration("charge.x") == doctest::Approx(b * at("charge.y'")).epsilon(1e-14));
  CHECK(solution.acceleration("charge.y") == doctest::Approx(-b * at("charge.x'")).epsilon(1e-14));
  CHECK(solution.acceleration("bead.r") == doctest::Approx(at("bead.r") * 0.12 * 0.12).epsilon(1e-14));
  CHECK(solution.acceleration("lift.s") == doctest::Approx(-rate).epsilon(1e-14));
  CHECK(solution.acceleration("snow.x") == doctest::Approx(-at("snow.x'") / 1.3).epsilon(1e-14));
  // Energy put in by time, from d/dt (1/2 v'M v + V - T0) with the accelerations above.
  const auto contributions = system.contributions(s);
  CHECK(std::abs(contributions[0].input) < round_off);
  CHECK(contributions[1].input ==  // -dT0/dt = -2 r^2 w w'
        doctest::Approx(-2 * at("bead.r") * at("bead.r") * 0.12 * rate).epsilon(1e-13));
  CHECK(contributions[2].input ==  // 3 s' s'' - d/dt 1.5 (rate t)^2
        doctest::Approx(-3 * at("lift.s'") * rate - 3 * rate * rate * 0.3).epsilon(1e-13));
  CHECK(contributions[3].input == doctest::Approx(-0.5 * at("snow.x'") * at("snow.x'")).epsilon(1e-13));
}

TEST_CASE("Lagrangian: a singular M is completed by joints, two masses and two springs [UP06, Ex. 3]") {
  const double m1 = 2, m2 = 3, k1 = 50, k2 = 80;
  Assembly a("springs");
  const auto body = a.add(
      "s",
      Lagrangian{
          .coordinates = {"x1", "stretch", "x2"}, .energies = [=](const auto& q, const auto& v, const auto&) {
            return Energies{0.5 * (m1 * v[0] * v[0] + m2 * v[2] * v[2]), 0.5 * (k1 * q[0] * q[0] + k2 * q[1] * q[1])};
          }});
  const System loose(a);
  CHECK(check_rank(loose, loose.evaluate(loose.state())).ok() == false);
  a.connect("tie", Coupling{.terms = {{0, "x2", 1}, {0, "x1", -1}, {0, "stretch", -1}}}, body);
  const System system(a);
  State s = system.state();
  s.set("s", {0.2, -0.1, 0.1});
  const Solution solution = solve(system, s);
  CHECK(solution.acceleration("s.x1") == doctest::Approx((-k1 * 0.2 + k2 * -0.1) / m1).epsilon(1e-13));
  CHECK(solution.acceleration("s.x2") == doctest::Approx(-k2 * -0.1 / m2).epsilon(1e-13));
  CHECK_THROWS_WITH_AS(a.add("none", Lagrangian{.coordinates = {},
                                                .energies =
                                                    [](const auto&, const auto&, const auto& t) {
                                                      return Energies{t, t};
                                                    }}),
                       "body 'none': it has no coordinates; name at least one", InvalidModel);
}

TEST_CASE("Structure: a chain of springs and masses has its closed-form frequencies") {
  const Index n = 7;
  const double m = 0.3, k = 40;
  const VectorXd w = frequencies(alone(chain(n, m, k)));
  for (Index i = 0; i < n; ++i)  // fixed at one end
    CHECK(w[i] == doctest::Approx(2 * std::sqrt(k / m) * std::sin((2 * double(i) + 1) * pi / (4 * double(n) + 2)))
                      .epsilon(1e-12));
  const VectorXd closed = frequencies(alone(chain(n, m, k, true)));
  for (Index i = 0; i < n; ++i)
    CHECK(closed[i] ==
          doctest::Approx(2 * std::sqrt(k / m) * std::sin((double(i) + 1) * pi / (2 * double(n) + 2))).epsilon(1e-12));
}

TEST_CASE("Structure: consistent mass, damping, weight and markers act as in its matrix equation") {
  const auto seeded = [](Index n, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    const MatrixXd X = MatrixXd::NullaryExpr(n, n, [&] { return normal(generator); });
    return MatrixXd(X * X.transpose());
  };
  const MatrixXd M = seeded(4, 1), K = 10 * seeded(4, 2),
                 C = seeded(4, 3) + MatrixXd(Eigen::Vector4d(0, 1, 0, 0).asDiagonal());
  Assembly a("structure");
  a.set_gravity({1, -9.81, 0});
  const auto boom = a.add("boom", Structure({.M = M,
                                             .C = C,
                                             .K = Eigen::SparseMatrix<double>(K.sparseView()),
                                             .dofs = {{"n1", "ux"}, {"n1", "uy"}, {"n2", "uy"}, {"n2", "rz"}},
                                             .nodes = {{"n1", {1, 0, 0}}, {"n2", {2, 0.5, 0}}}}));
  const auto load = a.add("load", Particle<2>{.mass = 0.8});
  a.connect("hook", Pin{.on_a = {2, 0.5}}, boom, load);  // n2 has no ux: it is held along x
  a.apply("push", Force{[](auto& s, const auto&) { s.apply_force(Vec2<double>(1, 0), vec(0.3, 0.7)); }}, boom);
  const System system(a);
  check_joints(system);
  check_derivatives(system);
  const State s = random_state(system, 3);
  const VectorXd q = s.get_all("boom"), v = s.get_all("boom'");
  Mat<double, 4, 2> translation;
  translation << 1, 0, 0, 1, 0, 1, 0, 0;
  MatrixXd loaded = M;
  loaded(2, 2) += 0.8;
  const VectorXd Q = -K * q - C * v + M * translation * Vec2<double>(1, -9.81) + Eigen::Vector4d(0.3, 0.7, 0, 0) +
                     Eigen::Vector4d(0, 0, -9.81 * 0.8, 0);
  const VectorXd expected = testing::solve_symmetric(loaded, Q);
  const Solution solution = solve(system, s);
  CHECK(difference(solution.a.head(4), expected) < 1e-12);  // condition number of M near 100
  CHECK(solution.acceleration("load.y") == doctest::Approx(expected[2]).epsilon(1e-12));
  CHECK(std::abs(solution.acceleration("load.x")) < round_off * 100);
  CHECK(solution.acceleration("boom.n2.rz") == doctest::Approx(expected[3]).epsilon(1e-12));
  Solver solver(system);
  CHECK(difference(solver.solve(s), solution.a) < 1e-12);

  const Vec2<double> p = s.get_all("load"), u = s.get_all("load'");
  CHECK(system.energy(s).kinetic == doctest::Approx(0.5 * v.dot(M * v) + 0.4 * u.squaredNorm()).epsilon(1e-14));
  // First moment by hand: translation'M (reference + q)
  VectorXd x(4), y(4);
  x << 1, 0, 0, 0;
  y << 0, 0, 0.5, 0;
  const double weight = (M * translation.col(0)).dot(x + q) - 9.81 * (M * translation.col(1)).dot(y + q);
  CHECK(system.energy(s).potential ==
        doctest::Approx(0.5 * q.dot(K * q) - weight - 0.8 * (p[0] - 9.81 * p[1])).epsilon(1e-13));
  for (const Contribution& c : system.contributions(s))
    if (c.name == "boom") {
      CHECK(c.input == doctest::Approx(-v.dot(C * v)).epsilon(1e-12));
      CHECK(c.power == doctest::Approx(-v.dot(K * q + C * v)).epsilon(1e-13));
    }
}

TEST_CASE("Structure: massless dofs are found by the rank report and held by joints") {
  Structure s = chain(3, 2, 100);
  s.M = MatrixXd(Vec3<double>(2, 0, 2).asDiagonal());
  Assembly a("chain");
  const auto body = a.add("c", s);
  const System free(a);
  const RankReport report = check_rank(free, free.evaluate(free.state()));
  CHECK(report.ok() == false);
  CHECK(report.text().find("c.n2.ux") != std::string::npos);
  a.connect("middle", Coupling{.terms = {{0, "n2.ux", 2}, {0, "n1.ux", -1}, {0, "n3.ux", -1}}}, body);
  const System system(a);
  State x = system.state();
  x.set("c", {0.1, 0.2, 0.3});
  // Two springs of 100 in series are one of 50; the row is where the massless node rests, so it carries no force.
  const Solution solution = solve(system, x);
  CHECK(solution.acceleration("c.n1.ux") == doctest::Approx((-100 * 0.1 + 50 * 0.2) / 2).epsilon(1e-12));
  CHECK(solution.acceleration("c.n3.ux") == doctest::Approx(-50 * 0.2 / 2).epsilon(1e-12));
  CHECK(std::abs(solution.lambda[0]) < round_off * 100);
}

TEST_CASE("Structure: a cantilever of beam elements bends by F L^3 / (3 E I)") {
  const Index n = 6;
  const double L = 2.5, EI = 430, F = 3, h = L / double(n);
  const Structure beam = cantilever(n, L, EI, 1.2);
  Assembly a("beam");
  const auto body = a.add("beam", beam);
  a.apply("load", Force{[=](auto& b, const auto&) { b.apply_force(Vec2<double>(L, 0), vec(0.0, F)); }}, body);
  const System system(a);
  State s = system.state();
  for (Index i = 1; i <= n; ++i) {  // the elastic line
    const double x = h * double(i);
    s.set(fmt::format("beam.n{}.uy", i), F * x * x * (3 * L - x) / (6 * EI));
    s.set(fmt::format("beam.n{}.rz", i), F * x * (2 * L - x) / (2 * EI));
  }
  CHECK(s.get("beam.n6.uy") == doctest::Approx(F * L * L * L / (3 * EI)).epsilon(1e-14));
  // Forces of single elements reach 12 E I / h^3 times the deflection; their sum vanishes.
  const double size = 12 * EI / (h * h * h) * s.get("beam.n6.uy");
  CHECK(system.evaluate(s).Q.cwiseAbs().maxCoeff() < 1e-14 * size);
  // Reduced to the tip alone, with the massless rotations condensed, the stiffness is 3 E I / L^3.
  const CraigBampton tip = craig_bampton(beam, {"n6.uy"}, 0);
  CHECK(tip.structure.K.coeff(0, 0) == doctest::Approx(3 * EI / (L * L * L)).epsilon(1e-12));
  CHECK(tip.interior == 11);
  CHECK(tip.condensed == 6);
  // The interior follows the tip by the elastic line: the point of a node inside still moves.
  Assembly r("reduced");
  r.add("beam", tip.structure);
  const VectorXd q = VectorXd::Constant(1, F * L * L * L / (3 * EI));
  const Vec2<double> middle = tip.structure.point<double, 2>(q, {L / 2, 0});
  CHECK(middle[0] == L / 2);
  CHECK(middle[1] == doctest::Approx(F * L * L / 4 * (2.5 * L) / (6 * EI)).epsilon(1e-12));
}

TEST_CASE("Craig-Bampton with all modes equals the full model") {
  const Index n = 9;
  const Structure full = chain(n, 0.3, 40);
  const CraigBampton reduced = craig_bampton(full, {"n4.ux", "n9.ux"}, n - 2);
  CHECK(reduced.condensed == 0);
  CHECK(reduced.next == 0);
  const System f = alone(full), r = alone(reduced.structure);
  CHECK(difference(frequencies(r), frequencies(f)) < 1e-12);
  CHECK(r.coordinate(0) == "s.n4.ux");
  CHECK(r.coordinate(8) == "s.mode7");
  // With the interface held: three masses between walls, and four.  The fastest of the former is the highest.
  const double fastest = 2 * std::sqrt(40 / 0.3) * std::sin(4 * pi / 10) / (2 * pi);
  CHECK(reduced.frequencies[6] == doctest::Approx(fastest).epsilon(1e-12));
  CHECK(reduced.text() == fmt::format("7 modes for 7 interior dofs, up to {:.4g} Hz", fastest));
  const CraigBampton three = craig_bampton(full, {"n4.ux", "n9.ux"}, 3);
  CHECK(three.next == doctest::Approx(reduced.frequencies[3]).epsilon(1e-12));
  CHECK(three.text() == fmt::format("3 modes for 7 interior dofs, up to {:.4g} Hz; the first left out has {:.4g} Hz",
                                    reduced.frequencies[2], reduced.frequencies[3]));

  // The same motion: a force at a node inside, on both models, and the same weight.
  const auto pushed = [](const Structure& s) {
    Assembly a("pushed");
    a.set_gravity({2, 0, 0});
    const auto body = a.add("s", s);
    a.apply("push", Force{[](auto& b, const auto&) { b.apply_force(Vec3<double>(6, 0, 0), vec(1.5, 0.0, 0.0)); }},
            body);
    return System(a);
  };
  const System pf = pushed(full), pr = pushed(reduced.structure);
  State sf = pf.state(), sr = pr.state();
  for (int i = 0; i < 100; ++i) {
    sf = rk4_step(pf, sf, 0.005);
    sr = rk4_step(pr, sr, 0.005);
  }
  CHECK(sf.get("s.n9.ux") > 0.01);
  CHECK(sr.get("s.n9.ux") == doctest::Approx(sf.get("s.n9.ux")).epsilon(1e-11));
  CHECK(reduced.structure.point<double, 3>(sr.q, {6, 0, 0})[0] ==
        doctest::Approx(6 + sf.get("s.n6.ux")).epsilon(1e-12));
  CHECK(pr.energy(sr).total() == doctest::Approx(pf.energy(sf).total()).epsilon(1e-10));
}

TEST_CASE("Craig-Bampton condenses an interior without mass, and finds the modes of large interiors") {
  // Every second mass of a chain is missing: springs in series.
  const Index n = 8;
  Structure s = chain(n, 0.3, 40);
  MatrixXd M = MatrixXd::Zero(n, n);
  for (Index i = 1; i < n; i += 2) M(i, i) = 0.3;
  s.M = M;
  const CraigBampton reduced = craig_bampton(s, {"n8.ux"}, 3);
  CHECK(reduced.condensed == 4);
  CHECK(difference(frequencies(alone(reduced.structure)), frequencies(alone(chain(4, 0.3, 20)))) < 1e-12);

  const Index large = 800;
  const CraigBampton slow = craig_bampton(chain(large, 0.3, 4e5), {"n800.ux"}, 6);
  CHECK(slow.condensed == -1);
  for (Index i = 0; i < 6; ++i)  // 799 masses between two walls
    CHECK(slow.frequencies[i] ==
          doctest::Approx(2 * std::sqrt(4e5 / 0.3) * std::sin((double(i) + 1) * pi / (2.0 * large)) / (2 * pi))
              .epsilon(1e-9));
}

TEST_CASE("Structure: bad matrices, tables, points and reductions are refused by name") {
  Assembly a("bad");
  const MatrixXd one = MatrixXd::Identity(1, 1), two = MatrixXd::Identity(2, 2);
  const std::vector<Structure::Dof> dofs{{"n1", "ux"}, {"n1", "uy"}};
  CHECK_THROWS_WITH_AS(a.add("b", Structure({.M = one, .dofs = dofs})),
                       "body 'b': M is 1 x 1 for 2 dofs; give a square matrix of one row per dof", WrongSize);
  CHECK_THROWS_WITH_AS(a.add("b", Structure({.M = two, .K = one, .dofs = dofs})),
                       "body 'b': K is 1 x 1 for 2 dofs; give a square matrix of one row per dof", WrongSize);
  CHECK_THROWS_WITH_AS(a.add("b", Structure()), "body 'b': it has no dofs; name one dof per row of M", InvalidModel);
  MatrixXd K = two;
  K(0, 1) = std::nan("");
  CHECK_THROWS_WITH_AS(a.add("b", Structure({.M = two, .K = K, .dofs = dofs})),
                       "body 'b': K at (n1.ux, n1.uy) is nan; give finite numbers", NonFinite);
  K(0, 1) = 0.5;
  CHECK_THROWS_WITH_AS(a.add("b", Structure({.M = two, .K = K, .dofs = dofs})),
                       "body 'b': K is not symmetric: (n1.ux, n1.uy) = 0.5 but (n1.uy, n1.ux) = 0; give a symmetric "
                       "matrix; other forces go into a Force",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(
      a.add("b", Structure({.M = -two, .dofs = dofs})),
      doctest::Contains("body 'b': the mass matrix is not positive semi-definite: (n1.ux, n1.ux) = -1"), InvalidMass);
  CHECK_THROWS_WITH_AS(a.add("b", Structure({.M = two, .dofs = dofs, .nodes = {{"n2", {0, 0, 0}}}})),
                       "body 'b': dof 'n1.ux' is of no node that it knows; list the node with its position, or give no "
                       "nodes at all",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(a.add("b", Structure({.M = two, .dofs = dofs, .nodes = {{"n1", {0, 0, 0}}, {"n1", {1, 0, 0}}}})),
                       "body 'b': two nodes are named 'n1'; give every node a name of its own", InvalidModel);
  CHECK_THROWS_WITH_AS(a.add("b", Structure({.M = two, .dofs = {{"n1", "ux"}, {"n1", "ux"}}})),
                       "body 'b': 2 coordinates have only 1 different names; give every coordinate a name of its own",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(
      a.add("b", Structure({.M = two, .dofs = {{"n/1", "ux"}, {"n1", "ux"}}})),
      "coordinate of body 'b', named 'n/1.ux': the name contains '/'; names of coordinates are free of "
      "/ and ', which separate paths and mark velocities",
      InvalidModel);

  const auto ground = a.add("ground", Ground{});
  const auto good = a.add("good", chain(3, 1, 1));
  CHECK_THROWS_WITH_AS(
      a.connect("pin", Pin{.on_b = {2.1, 0}}, ground, good),
      "joint 'pin': point '(2.1, 0, 0)': the structure has no node there; the nearest is 'n2' at (2, 0, "
      "0); correct what it asks of its bodies",
      InvalidModel);
  CHECK_THROWS_WITH_AS(Structure({.M = two, .dofs = dofs}).node_at({1, 2, 0}),
                       "point '(1, 2, 0)': the structure has no nodes; give the positions of its nodes", InvalidModel);

  CHECK_THROWS_WITH_AS(craig_bampton(chain(3, 1, 1), {"n4.ux"}, 1),
                       "structure 'reduction': it has no dof 'n4.ux' for the interface; check the name, node.direction",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(craig_bampton(chain(3, 1, 1), {"n3.ux", "n3.ux"}, 1),
                       "structure 'reduction': dof 'n3.ux' is named twice for the interface; name it once",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(
      craig_bampton(chain(3, 1, 1), {"n3.ux"}, 3),
      "structure 'reduction': 3 modes are asked for, but its 2 interior dofs have only 2 with mass; ask "
      "for fewer modes",
      InvalidModel);
  CHECK_THROWS_WITH_AS(craig_bampton(Structure({.M = two, .dofs = dofs}), {"n1.ux"}, 0),
                       "structure 'reduction': it has no stiffness; give K: the interior follows the interface by it",
                       InvalidModel);
  // Two masses joined by a spring, one dof across it kept: the pair floats.
  MatrixXd pair = MatrixXd::Zero(3, 3);
  pair.topLeftCorner(2, 2) << 1, -1, -1, 1;
  pair(2, 2) = 1;
  CHECK_THROWS_WITH_AS(
      craig_bampton(
          Structure({.M = MatrixXd::Identity(3, 3), .K = pair, .dofs = {{"a", "ux"}, {"b", "ux"}, {"c", "ux"}}}),
          {"c.ux"}, 1),
      doctest::Contains(
          "ux' is still free: K of the interior is singular there; add dofs to the interface, or hold the "
          "structure by its stiffness"),
      InvalidModel);
}

TEST_CASE("Matrix Market: coordinate and array, general and symmetric, real and integer files are read") {
  MatrixXd full(2, 3);
  full << 1.5, 0, -2, 0, 4, 0;
  CHECK(MatrixXd(read("%%MatrixMarket matrix coordinate real general\n% a comment\n\n2 3 3\n1 1 1.5\n 1\t3 -2e0\r\n2 2 "
                      "+4\n")) == full);
  CHECK(MatrixXd(read("%%MATRIXMARKET Matrix Array Real General\n2 3\n1.5\n0\n0\n4\n-2\n0")) == full);
  MatrixXd symmetric(3, 3);
  symmetric << 2, -1, 0, -1, 2, 5, 0, 5, 0;
  CHECK(MatrixXd(read("%%MatrixMarket matrix coordinate integer symmetric\n3 3 4\n1 1 2\n2 1 -1\n2 2 2\n3 2 5\n")) ==
        symmetric);
  CHECK(MatrixXd(read("%%MatrixMarket matrix array integer symmetric\n3 3\n2\n-1\n0\n2\n5\n0\n")) == symmetric);
  CHECK(MatrixXd(read("%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 1\n1 1 2\n"))(0, 0) == 3);  // added
  CHECK(read("%%MatrixMarket matrix coordinate real general\n0 0 0\n").size() == 0);
}

TEST_CASE("Matrix Market: bad files are refused with the line and what was expected") {
  const std::string header = "%%MatrixMarket matrix coordinate real general\n";
  const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
  const std::string kinds =
      "expected '%%MatrixMarket matrix' with coordinate or array, real or integer, general or symmetric";
  const auto refuse = [](const std::string& text, const std::string& message, const MatrixMarketLimits& limits = {}) {
    CHECK_THROWS_WITH_AS(read(text, limits), ("file 'm.mtx': " + message).c_str(), InvalidModel);
  };
  refuse("", "line 1: the file is empty; " + kinds);
  refuse("1 1 1\n", "line 1: found '1 1 1'; " + kinds);
  refuse("%%MatrixMarket matrix coordinate complex general\n",
         "line 1: found '%%MatrixMarket matrix coordinate complex general'; " + kinds);
  refuse("%%MatrixMarket matrix coordinate real hermitian\n",
         "line 1: found '%%MatrixMarket matrix coordinate real hermitian'; " + kinds);
  refuse(header, "line 2: the file ends; expected 'rows columns entries'");
  refuse(header + "2 2\n", "line 2: found '2 2'; expected 'rows columns entries', whole numbers >= 0");
  refuse(header + "2 -2 1\n", "line 2: found '2 -2 1'; expected 'rows columns entries', whole numbers >= 0");
  refuse(header + "2 2 2\n1 1 1\n",
         "line 4: the file ends after 1 of 2 entries; expected as many entries as its size line says");
  refuse(header + "2 2 1\n3 1 1\n", "line 3: found '3 1 1'; expected a row from 1 to 2 and a column from 1 to 2");
  refuse(header + "2 2 1\n1 0 1\n", "line 3: found '1 0 1'; expected a row from 1 to 2 and a column from 1 to 2");
  refuse(header + "2 2 1\n1 1 nan\n", "line 3: found '1 1 nan'; expected a finite value");
  refuse(header + "2 2 1\n1 1 1e999\n", "line 3: found '1 1 1e999'; expected 'row column value'");
  refuse(header + "2 2 1\n1 1\n", "line 3: found '1 1'; expected 'row column value'");
  refuse(header + "2 2 1\n1.5 1 1\n", "line 3: found '1.5 1 1'; expected 'row column value'");
  refuse(header + "2 2 1\n1 1 2x\n", "line 3: found '1 1 2x'; expected 'row column value'");
  refuse(header + "2 2 1\n1 1 1\n2 2 1\n",
         "line 4: found '2 2 1'; expected nothing after the 1 entries that the size line says");
  refuse(symmetric + "2 2 1\n1 2 1\n",
         "line 3: found '1 2 1'; expected the lower triangle only in a symmetric file: row >= column");
  refuse(symmetric + "2 3 1\n1 1 1\n", "line 2: found '2 3 1'; expected as many columns as rows in a symmetric matrix");
  refuse("%%MatrixMarket matrix array real general\n2 1\n1\n1 2\n", "line 4: found '1 2'; expected one number");
  // Announced sizes cost no memory.
  refuse(header + "1000000 1000000 90000000\n",
         "line 3: the file ends after 0 of 90000000 entries; expected as many entries as its size line says");
  refuse(header + "2000000 1 1\n",
         "line 2: found '2000000 1 1'; expected at most 1000000 rows and columns; raise MatrixMarketLimits if that is "
         "meant");
  refuse("%%MatrixMarket matrix array real general\n1000000 1000000\n",
         "line 2: 1000000000000 entries are announced; expected at most 100000000; raise MatrixMarketLimits if that is "
         "meant");
  refuse(header + "2 2 5\n",
         "line 2: 5 entries are announced; expected at most 4; raise MatrixMarketLimits if that is meant",
         {.size = 10, .entries = 4});
  refuse(header + std::string(5000, '1'), "line 2: the line is very long; expected at most 4096 characters");
  CHECK_THROWS_WITH_AS(read_matrix_market("no/such/file.mtx"),
                       "file 'no/such/file.mtx': cannot be opened; check the path and the permissions", InvalidModel);
}

TEST_CASE("States: a PI controller moves a mass as the differential equation solved by hand") {
  const double m = 2, kp = 30, ki = 25, kd = 6, target = 1.5;
  Assembly a("servo");
  const auto cart = a.add("cart", Particle<1>{.mass = m});
  const auto memory = a.add("memory", States{.coordinates = {"error", "speed"}});
  a.connect("law", Rate{[=](const auto& s, const auto& c, const auto&) {  // integral of the error, filtered speed
              return vec(target - c.coordinate("x"), 20.0 * (c.speed("x") - s.coordinate("speed")));
            }},
            memory, cart);
  a.apply("drive", Force{[=](auto& c, auto& s, const auto& t) {
            c.apply_to("x", kp * (target - c.coordinate("x")) + ki * s.coordinate("error") -
                                kd * s.coordinate("speed") + 0.5 * t);
          }},
          cart, memory);
  const System system(a);
  check_joints(system);
  check_derivatives(system);
  // By hand: y = (x, x', error, speed).
  const auto f = [&](double t, const Eigen::Vector4d& y) {
    const double drive = kp * (target - y[0]) + ki * y[2] - kd * y[3] + 0.5 * t;
    return Eigen::Vector4d(y[1], drive / m, target - y[0], 20 * (y[1] - y[3]));
  };
  Eigen::Vector4d y(0.3, -0.2, 0.1, 0.4);
  State s = system.state();
  s.set("cart", {y[0]});
  s.set("cart'", {y[1]});
  s.set("memory", {y[2], y[3]});
  Solver solver(system);
  solver.project_velocities(s);
  CHECK(s.get("memory.error'") == doctest::Approx(target - y[0]).epsilon(1e-13));
  CHECK(s.get("memory.speed'") == doctest::Approx(20 * (y[1] - y[3])).epsilon(1e-13));
  CHECK(s.get("cart.x'") == y[1]);

  const Solution start = solve(system, s);
  CHECK(start.acceleration("cart.x") == doctest::Approx(f(0, y)[1]).epsilon(1e-13));
  CHECK(start.acceleration("memory.error") == doctest::Approx(-y[1]).epsilon(1e-13));
  CHECK(start.lambda.cwiseAbs().maxCoeff() < round_off * 100);  // the law acts on nobody; forces are near 100 N

  const double h = 0.002;
  for (int i = 0; i < 1000; ++i) {
    s = rk4_step(solver, s, h);
    const double t = i * h;
    const Eigen::Vector4d k1 = f(t, y), k2 = f(t + h / 2, y + h / 2 * k1), k3 = f(t + h / 2, y + h / 2 * k2),
                          k4 = f(t + h, y + h * k3);
    y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  constexpr double fourth_order = 1e-7;  // both err by about (20 h)^5 / 120 per time constant
  CHECK(std::abs(s.get("cart.x") - y[0]) < fourth_order);
  CHECK(std::abs(s.get("cart.x'") - y[1]) < fourth_order);
  CHECK(std::abs(s.get("memory.error") - y[2]) < fourth_order);
  CHECK(std::abs(s.get("memory.speed") - y[3]) < fourth_order);
  CHECK(std::abs(y[0] - 0.3) > 0.5);  // it has moved

  CHECK_THROWS_WITH_AS(a.connect("short", Rate{[](const auto&, const auto& t) { return t; }}, memory),
                       "joint 'short': function 'f': gives 1 rates for 2 coordinates of the first body; give one for "
                       "each; correct what it asks of its bodies",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(a.add("none", States{}), "body 'none': it has no coordinates; name at least one", InvalidModel);
}
