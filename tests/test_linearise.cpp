// linearise, modes, and equilibria they are taken at: closed forms, differences of the solver near random mechanisms,
// the benchmark bicycle, refusals.

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include <doctest/doctest.h>

#include <mortise/analysis/linear_motion.h>
#include <mortise/analysis/minimal_motion.h>
#include <mortise/analysis/modes.h>
#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/diagnosis/hidden.h>
#include <mortise/forces/spring.h>
#include <mortise/integrators/start.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/rolling_disk.h>
#include <mortise/joints/rolling_sphere.h>
#include <mortise/joints/spherical.h>
#include <mortise/solve/solver.h>

#include "random_mechanisms.h"

using namespace mortise;
using namespace mortise::testing;

namespace {

constexpr double g = 9.81, pi = std::numbers::pi;

Assembly pendulum(double angle) {
  Assembly a("pendulum");
  a.set_gravity({0, -g, 0});
  const auto ground = a.add("ground", Ground{});
  const auto bob = a.add("bob", PlanarBody{.mass = 2, .inertia = 0.1, .centre = {0.5, 0}});
  a.connect("hinge", Pin{}, ground, bob);
  a.place(bob, {0, 0, angle});
  return a;
}

// Eigenvalues with imaginary part >= 0, ascending by real part.
std::vector<std::complex<double>> eigenvalues(const Modes& m) {
  std::vector<std::complex<double>> out;
  for (const Mode& x : m.modes) out.push_back(x.eigenvalue);
  std::sort(out.begin(), out.end(), [](auto a, auto b) { return a.real() < b.real(); });
  return out;
}

// What the benchmark gives in its x forward, y to the right, z down.
struct Bicycle {
  System system;
  State state;
};
Bicycle bicycle(double speed, bool massless_frames = false, bool doubled = false) {
  const double tilt = pi / 10;
  Assembly a("bicycle");
  a.set_gravity({0, 0, g});
  const auto body = [&](const char* name, double m, double Jx, double Jy, double Jz, double Jxz, Vec3<double> at) {
    Mat<double, 3> J = Mat<double, 3>::Zero();
    J(0, 0) = Jx, J(1, 1) = Jy, J(2, 2) = Jz, J(0, 2) = J(2, 0) = Jxz;
    const auto b = a.add(name, RigidBody{.mass = m, .inertia = J});
    a.place(b, RigidBody::pose(at, {1, 0, 0, 0}));
    return b;
  };
  const auto road = a.add("road", Ground{});
  const auto rear = body("rear_wheel", 2, 0.0603, 0.12, 0.0603, 0, {0, 0, -0.3});
  const auto front = body("front_wheel", 3, 0.1405, 0.28, 0.1405, 0, {1.02, 0, -0.35});
  const auto frame = body("frame", 85, 9.2, 11, 2.8, 2.4, {0.3, 0, -0.9});
  const auto fork = body("fork", 4, 0.05892, 0.06, 0.00708, -0.00756, {0.9, 0, -0.7});
  const Vec3<double> steering(std::sin(tilt), 0, std::cos(tilt)), on_road(1.1, 0, 0);
  const Vec3<double> head = on_road - steering;
  const auto revolute = [&](Vec3<double> at, Vec3<double> axis, Vec3<double> p, Vec3<double> q) {
    return Revolute{.on_a = at - p, .on_b = at - q, .axis_a = axis, .axis_b = axis};
  };
  const Vec3<double> R(0, 0, -0.3), F(1.02, 0, -0.35), B(0.3, 0, -0.9), H(0.9, 0, -0.7), y(0, 1, 0);
  a.connect("rear_axle", revolute(R, y, B, R), frame, rear);
  a.connect("front_axle", revolute(F, y, H, F), fork, front);
  a.connect("steering", revolute(head, steering, B, H), frame, fork);
  if (massless_frames) {  // a basket without mass, held by six rows
    const auto basket = body("basket", 0, 0, 0, 0, 0, {1, 0, -1});
    a.connect("basket_x", revolute({1, 0, -1}, y, H, {1, 0, -1}), fork, basket);
    a.connect("basket_stay", Distance<3>{.on_a = Vec3<double>(1.3, 0, -1) - H, .on_b = {0.3, 0, 0.4}, .length = 0.4},
              fork, basket);
  }
  const Vec3<double> up(0, 0, -1);
  a.connect("rear_contact", RollingDisk{.radius = 0.3, .axis_a = up, .axis_b = y}, road, rear);
  a.connect("front_contact", RollingDisk{.radius = 0.35, .axis_a = up, .axis_b = y}, road, front);
  if (doubled) a.connect("rear_contact_again", RollingDisk{.radius = 0.3, .axis_a = up, .axis_b = y}, road, rear);
  System system(a);
  State s = system.state();
  const Vec3<double> v(speed, 0, 0), none(0, 0, 0);
  const auto move = [&](const char* name, const Vec3<double>& w) {
    s.set(std::string(name) + "'", RigidBody::rates(s.get_all(name), v, w));
  };
  move("rear_wheel", {0, -speed / 0.3, 0});
  move("front_wheel", {0, -speed / 0.35, 0});
  move("frame", none);
  move("fork", none);
  if (massless_frames) move("basket", none);
  return {std::move(system), std::move(s)};
}

// The published equations  M q'' + v C1 q' + (g K0 + v^2 K2) q = f,  q = (lean, steer)  [Meijaard et al. 2007].
struct Published {
  Mat<double, 2> M, C1, K0, K2;
  Published() {
    M << 80.81722, 2.31941332208709, 2.31941332208709, 0.29784188199686;
    C1 << 0, 33.86641391492494, -0.85035641456978, 1.68540397397560;
    K0 << -80.95, -2.59951685249872, -2.59951685249872, -0.80329488458618;
    K2 << 0, 76.59734589573222, 0, 2.65431523794604;
  }
  MatrixXd A(double v) const {
    MatrixXd out = MatrixXd::Zero(4, 4);
    out.topRightCorner(2, 2).setIdentity();
    out.bottomLeftCorner(2, 2) = -(M.inverse() * (g * K0 + v * v * K2));
    out.bottomRightCorner(2, 2) = -(M.inverse() * C1 * v);
    return out;
  }
};

}  // namespace

TEST_CASE("linearise: a pendulum, at rest below and above, forces and outputs") {
  const double m = 2, l = 0.5, J = 0.1 + m * l * l;
  for (const double angle : {-pi / 2, pi / 2}) {
    const System system(pendulum(angle));
    const LinearModel x = linearise(system, system.state(),
                                    {.inputs = {"hinge.angle", "bob.theta"},
                                     .outputs = {"bob.theta", "hinge.angle'", "bob.x"},
                                     .states = {"bob.theta"}});
    CHECK(x.at_rest);
    REQUIRE(x.states == std::vector<std::string>{"bob.theta", "bob.theta'"});
    const double k = m * g * l / J * (angle < 0 ? -1 : 1);
    CHECK(x.A(0, 0) == 0);
    CHECK(x.A(0, 1) == doctest::Approx(1).epsilon(1e-14));
    CHECK(x.A(1, 0) == doctest::Approx(k).epsilon(1e-12));
    CHECK(std::abs(x.A(1, 1)) < 1e-12);
    CHECK(x.B(1, 0) == doctest::Approx(1 / J).epsilon(1e-12));
    CHECK(x.B(1, 1) == doctest::Approx(1 / J).epsilon(1e-12));
    CHECK((x.C - (MatrixXd(3, 2) << 1, 0, 0, 1, 0, 0).finished()).norm() < 1e-12);
    const Modes found = modes(x);
    CHECK(found.stable() == (angle < 0));
    REQUIRE(!found.modes.empty());
    if (angle < 0) {
      CHECK(found.modes[0].frequency == doctest::Approx(std::sqrt(m * g * l / J) / (2 * pi)).epsilon(1e-12));
      CHECK(found.modes[0].damping == 0);
      CHECK(found.text().find("bob.theta") != std::string::npos);
    } else {
      CHECK(found.modes.size() == 2);
      CHECK(found.text().find("unstable: mode 2 grows") != std::string::npos);
    }
  }
}

TEST_CASE("linearise: a parameter as an input") {
  const auto heavier = [](double change) {
    Assembly a = pendulum(-pi / 4);
    a.set_gravity({0, -g - change, 0});
    return System(a);
  };
  const double m = 2, l = 0.5, J = 0.1 + m * l * l;
  const System system = heavier(0);
  const LinearModel x = linearise(system, system.state(),
                                  {.inputs = {"bob.theta"},
                                   .parameters = {{"gravity", heavier, g}},
                                   .states = {"bob.theta"},
                                   .must_be_steady = false});
  REQUIRE(x.inputs == std::vector<std::string>{"bob.theta", "gravity"});
  CHECK(x.B(1, 1) == doctest::Approx(-m * l / J * std::cos(pi / 4)).epsilon(1e-9));
  CHECK(x.A(1, 0) == doctest::Approx(m * g * l / J * std::sin(-pi / 4)).epsilon(1e-9));
}

TEST_CASE("linearise: near random mechanisms that move, like differences of the solver") {
  int compared = 0;
  for (unsigned seed = 0; seed < 90; ++seed) {
    CAPTURE(seed);
    const Mechanism plan = random_mechanism(seed, {.decades = 1, .moving = 0.2, .large = false});
    if (std::any_of(plan.joints.begin(), plan.joints.end(), [](const auto& j) { return j.friction > 0; })) continue;
    const Model model = build(plan);
    const System& system = model.system;
    const RankReport report = check_rank(system, system.evaluate(model.state));
    if (!report.determined() || !report.consistent()) continue;
    LinearMotion motion;
    LinearModel linear;
    try {
      motion = linear_motion(system, model.state);
      linear = linearise(system, model.state, {.must_be_steady = false});
    } catch (const InvalidModel& e) {
      if (std::string(e.what()).find("singular pose") != std::string::npos) continue;
      throw;
    }
    const MinimalMotion minimal(motion, std::vector<Index>{});
    ++compared;
    const Index p = linear.positions, q = linear.velocities;
    if (p == 0) continue;  // nothing can move
    Solver solver(system);
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    for (int k = 0; k < 2; ++k) {
      const VectorXd dq = VectorXd::NullaryExpr(system.size(), [&] { return normal(random); }),
                     dv = VectorXd::NullaryExpr(system.size(), [&] { return normal(random); });
      const auto moved = [&](double by) {
        State s = model.state;
        s.q += by * dq, s.v += by * dv;
        solver.project_positions(s);
        solver.project_velocities(s);
        return s;
      };
      double best = 1;  // of three steps: larger ones see the curvature, smaller ones round-off
      for (const double h : {1e-4, 1e-5, 1e-6}) {
        VectorXd eta_q = VectorXd::Zero(system.size()), eta_v = eta_q, eta_a = eta_q;
        const double weight[2] = {4.0 / 3, -1.0 / 3};  // order four
        for (int i = 0; i < 2; ++i) {
          const double step = h * (i + 1);
          const State up = moved(step), down = moved(-step);
          const VectorXd a_up = solver.solve(up), a_down = solver.solve(down);
          eta_q += weight[i] / (2 * step) * (up.q - down.q);
          eta_v += weight[i] / (2 * step) * (up.v - down.v);
          eta_a += weight[i] / (2 * step) * (a_up - a_down);
        }
        const LeastSquares E{MatrixXd(motion.E)};
        const VectorXd eta = E.solve(eta_q), eta1 = E.solve(VectorXd(eta_v - motion.E1 * eta)),
                       eta2 = E.solve(VectorXd(eta_a - motion.E2 * eta - 2 * (motion.E1 * eta1)));
        VectorXd x(p + q), rate(p + q);
        x << eta(minimal.positions()), eta1(minimal.velocities());
        rate << eta1(minimal.positions()), eta2(minimal.velocities());
        const VectorXd found = linear.A * x;
        const double size =
            (linear.A.cwiseAbs() * x.cwiseAbs()).lpNorm<Eigen::Infinity>() + rate.lpNorm<Eigen::Infinity>();
        best = std::min(best, (found - rate).lpNorm<Eigen::Infinity>() / size);
      }
      CHECK(best <= 1e-6);
    }
  }
  CHECK(compared >= 40);
}

TEST_CASE("linearise: the benchmark bicycle, its matrices and eigenvalues, also with redundant contacts and a basket") {
  const Published published;
  for (const double v : {0.0, 1.0, 3.0, 5.0, 7.0, 10.0})
    for (const int kind : {0, 1, 2}) {
      CAPTURE(v);
      CAPTURE(kind);
      const Bicycle b = bicycle(v, kind == 1, kind == 2);
      const LinearModel x = linearise(b.system, b.state,
                                      {.inputs = {"frame.rx", "steering.angle"},
                                       .outputs = {"frame.rx", "steering.angle", "frame.rx'", "steering.angle'"}});
      CHECK(x.positions == 7);
      CHECK(x.velocities == 3);
      // Lean and steer by themselves: the others change nothing.
      const MatrixXd T = LeastSquares(x.C, 1e-9).solve(MatrixXd::Identity(4, 4));
      const MatrixXd A = x.C * x.A * T, B = x.C * x.B;
      const double size = published.A(v).cwiseAbs().maxCoeff();
      CHECK((A - published.A(v)).cwiseAbs().maxCoeff() <= 1e-9 * size);
      const MatrixXd M = B.bottomRows(2).inverse();
      CHECK((M - published.M).cwiseAbs().maxCoeff() <= 1e-9 * published.M.maxCoeff());
      CHECK(B.topRows(2).norm() <= 1e-12);

      std::vector<std::complex<double>> expected;
      for (const auto& value : published.A(v).eigenvalues())
        if (value.imag() >= 0) expected.push_back(value);
      std::sort(expected.begin(), expected.end(), [](auto a, auto c) { return a.real() < c.real(); });
      const Modes found = modes(x);
      CHECK(found.zero == 6);
      const auto values = eigenvalues(found);
      REQUIRE(values.size() == expected.size());
      for (std::size_t i = 0; i < values.size(); ++i) CHECK(std::abs(values[i] - expected[i]) <= 1e-9 * size);
      CHECK(found.stable() == (v == 5));  // 4.29 to 6.02 m/s
    }
}

TEST_CASE("linearise: a rotor on a spring whirls forward and backward") {
  // A disk on a ball, spinning with w about z, its top drawn to the vertical: with th = rx + i ry and th ~ exp(i n t),
  // J n^2 - Jz w n - k = 0.
  const double J = 0.3, Jz = 0.5, k = 40;
  for (const double w : {0.0, 10.0, 200.0}) {
    CAPTURE(w);
    Assembly a("rotor");
    const auto ground = a.add("ground", Ground{});
    Mat<double, 3> inertia = Mat<double, 3>::Zero();
    inertia(0, 0) = inertia(1, 1) = J, inertia(2, 2) = Jz;
    const auto disk = a.add("disk", RigidBody{.mass = 1, .inertia = inertia});
    a.connect("ball", Spherical{}, ground, disk);
    a.apply("top", Spring<3>{.on_a = {0, 0, 1}, .on_b = {0, 0, 1}, .stiffness = k}, ground, disk);
    const System system(a);
    State s = system.state();
    s.set("disk'", RigidBody::rates(s.get_all("disk"), {0, 0, 0}, {0, 0, w}));
    const Modes found = modes(system, s);
    CHECK(found.zero == 2);
    REQUIRE(found.modes.size() == 2);
    const double root = std::sqrt(Jz * Jz * w * w + 4 * J * k);
    CHECK(found.modes[0].frequency == doctest::Approx((root - Jz * w) / (2 * J) / (2 * pi)).epsilon(1e-9));
    CHECK(found.modes[1].frequency == doctest::Approx((root + Jz * w) / (2 * J) / (2 * pi)).epsilon(1e-11));
    CHECK(found.stable());
  }
}

TEST_CASE("modes: massless nodes have none of their own") {
  const double k = 300, m = 2, length = 0.8, T = k * (1 - length);
  Assembly a("string");
  const auto ground = a.add("ground", Ground{});
  const auto node = a.add("node", Particle<2>{}), weight = a.add("weight", Particle<2>{.mass = m});
  a.place(node, {1, 0});
  a.place(weight, {2, 0});
  const Spring<2> spring{.stiffness = k, .length = length};
  a.apply("left", spring, ground, node);
  a.apply("middle", spring, node, weight);
  a.apply("right", Spring<2>{.on_a = {3, 0}, .stiffness = k, .length = length}, ground, weight);
  const System system(a);
  CHECK_THROWS_AS(modes(system, system.state()), UnderModelled);
  const Completed whole = complete(system, system.state());
  const Modes found = modes(whole.system, whole.state);
  CHECK(found.zero == 0);
  REQUIRE(found.modes.size() == 2);
  CHECK(found.modes[0].frequency == doctest::Approx(std::sqrt(1.5 * T / m) / (2 * pi)).epsilon(1e-9));
  CHECK(found.modes[1].frequency == doctest::Approx(std::sqrt(1.5 * k / m) / (2 * pi)).epsilon(1e-9));
  for (const Mode& mode : found.modes) CHECK(mode.damping == doctest::Approx(0).epsilon(1e-9));
  REQUIRE(!found.modes[1].shares.empty());
  CHECK(found.modes[1].shares[0].name == "weight.x");
  CHECK(found.modes[1].shares[0].share == doctest::Approx(1).epsilon(1e-9));
}

TEST_CASE("linearise: what has no linear model is refused by name") {
  const auto message = [](auto f) -> std::string {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  const System system(pendulum(-1));
  State s = system.state();
  // It does not rest there.
  CHECK(has(message([&] { (void)linearise(system, s); }), "no steady motion"));
  CHECK_NOTHROW(linearise(system, s, {.must_be_steady = false}));
  CHECK(has(message([&] { (void)linearise(system, s, {.states = {"bob.thet"}}); }), "did you mean 'bob.theta'"));
  CHECK(has(message([&] { (void)linearise(system, s, {.outputs = {"hinge.angl"}}); }), "did you mean 'hinge.angle'"));

  // A parallelogram that lies flat.
  Assembly flat("flat");
  const auto ground = flat.add("ground", Ground{});
  const PlanarBody bar{.mass = 1, .inertia = 0.1};
  const auto left = flat.add("left", bar), top = flat.add("top", bar), right = flat.add("right", bar);
  flat.connect("A", Pin{}, ground, left);
  flat.connect("B", Pin{.on_a = {1, 0}}, left, top);
  flat.connect("C", Pin{.on_a = {2, 0}, .on_b = {1, 0}}, top, right);
  flat.connect("D", Pin{.on_a = {2, 0}}, ground, right);
  flat.place(top, {1, 0, 0});
  flat.place(right, {2, 0, 0});
  const System four_bar(flat);
  CHECK(has(message([&] { (void)linearise(four_bar, four_bar.state()); }), "singular pose"));
}

TEST_CASE("equilibrium: pendulums, springs with a massless node, a wheel that may stand anywhere, what falls") {
  // From any angle down; from near the top too, since it goes where it rests stably.
  for (const double angle : {-1.0, 0.0, 1.4, 3.0}) {
    CAPTURE(angle);
    const System system(pendulum(angle));
    const State found = equilibrium(system, system.state());
    CHECK(std::cos(found.q[2] + pi / 2) == doctest::Approx(1).epsilon(1e-12));
    CHECK(modes(system, found).stable());
  }
  // At the very top it rests, unstably.
  const System top(pendulum(pi / 2));
  CHECK_FALSE(modes(top, equilibrium(top, top.state())).stable());

  // A weight on two springs in series with a node between that has no mass: mg / k1 + mg / k2 below.
  Assembly a("weight");
  a.set_gravity({0, -g, 0});
  const auto ground = a.add("ground", Ground{});
  const auto node = a.add("node", Particle<2>{}), weight = a.add("weight", Particle<2>{.mass = 2});
  a.place(node, {0.3, -0.5});
  a.place(weight, {0.1, -1});
  a.apply("upper", Spring<2>{.stiffness = 100, .length = 0.5}, ground, node);
  a.apply("lower", Spring<2>{.stiffness = 400, .length = 0.25}, node, weight);
  const System series(a);
  const State hangs = equilibrium(series, series.state());
  CHECK(std::abs(hangs.get("weight.x")) < 1e-9);
  CHECK(hangs.get("node.y") == doctest::Approx(-0.5 - 2 * g / 100).epsilon(1e-10));
  CHECK(hangs.get("weight.y") == doctest::Approx(-0.75 - 2 * g / 100 - 2 * g / 400).epsilon(1e-10));
  // Held, the weight stays.
  const State held = equilibrium(series, series.state(), {.held = {"weight.x", "weight.y"}});
  CHECK(held.get("weight.x") == doctest::Approx(0.1).epsilon(1e-12));

  // A disk on a table may stand anywhere.
  Assembly d("disk");
  d.set_gravity({0, 0, -g});
  const auto table = d.add("table", Ground{});
  const auto ball = d.add("ball", RigidBody{.mass = 1, .inertia = Mat<double, 3>::Identity()});
  d.connect("rolling", RollingSphere{.radius = 0.5}, table, ball);
  d.place(ball, RigidBody::pose({1, 2, 0.5}, {1, 0, 0, 0}));
  const System anywhere(d);
  const State stands = equilibrium(anywhere, anywhere.state());
  CHECK(modes(anywhere, stands).zero == 8);  // five positions and three speeds
  CHECK((stands.q - anywhere.state().q).norm() < 1e-12);

  // Nothing holds a free body.
  Assembly f("falls");
  f.set_gravity({0, -g, 0});
  f.add("stone", Particle<2>{.mass = 1});
  const System falls(f);
  CHECK_THROWS_WITH_AS(equilibrium(falls, falls.state()), doctest::Contains("a force of 9.8 on stone.y is left"),
                       NotConverged);
}
