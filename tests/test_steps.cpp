// Steps one can trust: driven mechanisms, parts far lighter than their neighbours, steps that were refused, and steps
// that were taken all the same.

#include <cmath>
#include <numbers>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/subsystem.h>
#include <mortise/engine/row_independence.h>
#include <mortise/forces/coordinate_spring.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/drive_coordinate.h>
#include <mortise/joints/drive_planar_angle.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/planar_point_on_line.h>
#include <mortise/joints/point_on_curve.h>
#include <mortise/solve/solver.h>

#include "problems.h"
#include "random_mechanisms.h"

using namespace mortise;
using mortise::testing::Random;

namespace {

constexpr double g = 9.81;

struct Links {
  double crank, coupler, rocker, base;
  // The shortest turns all round [Grashof], and no pose is near a singular one.
  bool turns() const {
    const double longest = std::max({coupler, rocker, base}), sum = coupler + rocker + base;
    return crank < 0.8 * std::min({coupler, rocker, base}) && 1.1 * (crank + longest) < sum - longest;
  }
  // Where coupler and rocker meet.
  Vec2<double> joint(double crank_angle) const {
    const Vec2<double> p(crank * std::cos(crank_angle), crank * std::sin(crank_angle)), way = Vec2<double>(base, 0) - p;
    const double d = way.norm(), along = (d * d + coupler * coupler - rocker * rocker) / (2 * d);
    return p + way / d * along + Vec2<double>(-way[1], way[0]) / d * std::sqrt(coupler * coupler - along * along);
  }
};

PlanarBody bar(double length, double mass) {
  return {.mass = mass, .inertia = mass * length * length / 12, .centre = {length / 2, 0}};
}

Assembly four_bar(const Links& l, double speed) {
  Assembly a("driven four-bar");
  a.set_gravity({0, -g, 0});
  const auto ground = a.add("ground", Ground{});
  const auto crank = a.add("crank", bar(l.crank, 1)), coupler = a.add("coupler", bar(l.coupler, 2)),
             rocker = a.add("rocker", bar(l.rocker, 1.5));
  const double start = 1;
  const Vec2<double> p(l.crank * std::cos(start), l.crank * std::sin(start)), tip = l.joint(start);
  a.place(crank, {0, 0, start});
  a.place(coupler, {p[0], p[1], std::atan2(tip[1] - p[1], tip[0] - p[0])});
  a.place(rocker, {l.base, 0, std::atan2(tip[1], tip[0] - l.base)});
  a.connect("p1", Pin{}, ground, crank);
  a.connect("p2", Pin{.on_a = {l.crank, 0}}, crank, coupler);
  a.connect("p3", Pin{.on_a = {l.base, 0}}, ground, rocker);
  a.connect("p4", Pin{.on_a = {l.coupler, 0}, .on_b = {l.rocker, 0}}, coupler, rocker);
  a.connect("drive", DrivePlanarAngle{.f = [=](const auto& t) { return start + speed * t; }}, ground, crank);
  return a;
}

}  // namespace

TEST_CASE("steps: cranks that are driven at any speed turn to the end, and the linkage keeps its branch") {
  Random random(11);
  for (int draw = 0; draw < 12; ++draw) {
    Links l{1, 0, 0, 0};
    while (!l.turns()) l = {1, random.uniform(1.2, 4), random.uniform(1.2, 4), random.uniform(1.2, 4)};
    const double speed = (random.chance(0.5) ? 1 : -1) * std::pow(10, random.uniform(-1, 2)),
                 tolerance = std::pow(10, -random.integer(4, 9));
    CAPTURE(draw);
    CAPTURE(speed);
    CAPTURE(tolerance);
    const System system(four_bar(l, speed));
    const double turns = 5, period = 2 * std::numbers::pi / std::abs(speed);
    const Trajectory run = simulate(
        system, system.state(), {.duration = turns * period, .steps = {.tolerance = tolerance}, .sample = period / 50});
    CAPTURE(run.text());
    CHECK(run.finished);
    CHECK(run.rough == 0);
    const VectorXd t = run.column("t"), angle = run.column("rocker.theta");
    double worst = 0;
    for (Index k = 0; k < t.size(); ++k) {
      const Vec2<double> tip(l.base + l.rocker * std::cos(angle[k]), l.rocker * std::sin(angle[k]));
      worst = std::max(worst, (tip - l.joint(1 + speed * t[k])).norm());
    }
    CHECK(worst < 1e-8 * l.rocker);  // the rows alone say where it is
    // One step does not jump over a quarter of a turn.
    CHECK(run.steps > 4 * turns);
  }
}

TEST_CASE("steps: a mass on a spring whose base is driven moves as its closed form says, at every tolerance") {
  Random random(12);
  for (int draw = 0; draw < 20; ++draw) {
    const double way = std::pow(10, random.uniform(-3, 1)), w = std::pow(10, random.uniform(0, 2.5)),
                 w0 = random.uniform(2, 10), m = std::pow(10, random.uniform(-2, 2)),
                 tolerance = std::pow(10, -random.integer(4, 10));
    if (std::abs(w / w0 - 1) < 0.1) continue;  // resonance
    CAPTURE(draw);
    CAPTURE(w);
    CAPTURE(tolerance);
    Assembly a("base excitation");
    const auto cart = a.add("cart", Particle<1>{.mass = 2}), bob = a.add("bob", Particle<1>{.mass = m});
    a.apply("k", CoordinateSpring{.terms = {{0, "x", 1}, {1, "x", -1}}, .stiffness = m * w0 * w0}, cart, bob);
    a.connect("drive", DriveCoordinate{.coordinate = "x", .f = [=](const auto& t) { return way * sin(w * t); }}, cart);
    const System system(a);
    const Trajectory run =
        simulate(system, system.state(), {.duration = 5, .steps = {.tolerance = tolerance}, .sample = 0.05});
    CAPTURE(run.text());
    CHECK(run.to_tolerance());
    const VectorXd t = run.column("t"), x = run.column("bob.x");
    double worst = 0;
    for (Index k = 0; k < t.size(); ++k) {
      const double exact = way * w0 * w0 / (w0 * w0 - w * w) * (std::sin(w * t[k]) - w / w0 * std::sin(w0 * t[k]));
      worst = std::max(worst, std::abs(x[k] - exact));
    }
    CHECK(worst < 10 * tolerance * (way + x.cwiseAbs().maxCoeff()));
  }
}

namespace {

// A bob of 1 kg on a rod of 1 m under a cart of mass M, let go where the rod is level.  The depth s of the bob is
//   (M + 1 - s^2) / ((M + 1)(1 - s^2)) s'^2 = 2 g s,
// which gives the time down to s by quadrature; s^2 has half the period of the angle.
double time_down(double M, double s) {
  const double angle = std::acos(s);  // from below; cos(angle) = s, and z^2 = pi / 2 - angle takes the root away
  const double end = std::sqrt(std::numbers::pi / 2 - angle);
  constexpr int n = 2'000'000;
  const auto f = [&](double z) {
    const double up = z * z, sine = z > 0 ? std::sin(up) / up : 1;
    return 2 * std::sqrt((M + std::pow(std::cos(up), 2)) / ((M + 1) * 2 * g * sine));
  };
  double sum = f(0) + f(end);
  for (int k = 1; k < n; ++k) sum += (k % 2 ? 4 : 2) * f(end * k / n);
  return sum * end / (3.0 * n);
}

}  // namespace

TEST_CASE("steps: a cart far lighter than what hangs on it moves as its quadrature says") {
  for (const double M : {1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6}) {
    CAPTURE(M);
    Assembly a("light cart");
    a.set_gravity({0, -g, 0});
    const auto ground = a.add("ground", Ground{});
    const auto cart = a.add("cart", Particle<2>{.mass = M}), bob = a.add("bob", Particle<2>{.mass = 1});
    a.place(bob, {1, 0});
    a.connect("track", PlanarPointOnLine{}, ground, cart);
    a.connect("pole", Distance<2>{.length = 1}, cart, bob);
    const System system(a);
    const double s = 0.5, swings = 7, t = swings * 2 * time_down(M, 1) + time_down(M, s);
    for (const double tolerance : {1e-6, 1e-8, 1e-10}) {
      CAPTURE(tolerance);
      const Trajectory run = simulate(system, system.state(), {.duration = t, .steps = {.tolerance = tolerance}});
      CAPTURE(run.text());
      const double error = std::abs(run.last.get("bob.y") + s);
      CHECK(run.to_tolerance());
      CHECK(error < 2e3 * tolerance);
      CHECK(run.notes.empty());  // light as it is, no pose is singular
    }
  }
}

TEST_CASE("steps: one that was far too long and refused leaves no trace in the errors of the others") {
  Assembly a("oscillator");
  const auto bob = a.add("bob", Particle<1>{.mass = 1});
  const double w = 100;
  a.apply("k", CoordinateSpring{.terms = {{0, "x", 1}}, .stiffness = w * w}, bob);
  const System system(a);
  State s = system.state();
  s.set("bob.x", 1);
  for (const double first : {0.0, 1e-4, 0.1, 1.0, 10.0}) {
    CAPTURE(first);
    const Trajectory run = simulate(system, s, {.duration = 10, .steps = {.tolerance = 1e-8, .step = first}});
    CHECK(run.to_tolerance());
    CHECK(std::abs(run.last.get("bob.x") - std::cos(w * 10)) < 1e-4);
  }
}

TEST_CASE("rows: how independent they are does not change with masses and units, and vanishes at singular poses") {
  const auto parallelogram = [](double mass, double unit, double angle) {
    Assembly a("parallelogram");
    const auto ground = a.add("ground", Ground{});
    const auto body = [&](const std::string& name, double length, double x, double y, double turned) {
      const auto b =
          a.add(name, PlanarBody{.mass = name == "coupler" ? mass : 1, .inertia = unit * unit, .centre = {0, 0}});
      a.place(b, {unit * x, unit * y, turned});
      (void)length;
      return b;
    };
    const double c = std::cos(angle), s = std::sin(angle);
    const auto left = body("left", 1, 0, 0, angle), coupler = body("coupler", 2, c, s, 0),
               right = body("right", 1, 2, 0, angle);
    a.connect("p1", Pin{}, ground, left);
    a.connect("p2", Pin{.on_a = {unit, 0}}, left, coupler);
    a.connect("p3", Pin{.on_a = {2 * unit, 0}}, ground, right);
    a.connect("p4", Pin{.on_a = {2 * unit, 0}, .on_b = {unit, 0}}, coupler, right);
    return a;
  };
  const auto independence = [&](double mass, double unit, double angle) {
    const System system(parallelogram(mass, unit, angle));
    return RowIndependence(system, system.state()).at(system.state());
  };
  const double open = independence(1, 1, 1);
  CHECK(open > 0.1);
  CHECK(open <= 1);
  for (const double mass : {1e-12, 1e-3, 1e9}) CHECK(independence(mass, 1, 1) == open);
  for (const double unit : {1e-6, 1e-3, 1e3}) CHECK(independence(1, unit, 1) == doctest::Approx(open).epsilon(1e-9));
  for (const double angle : {1e-1, 1e-2, 1e-3, 1e-4}) {
    CAPTURE(angle);
    CHECK(independence(1e-9, 1, angle) < 2 * angle);
    CHECK(independence(1e-9, 1, angle) > 0.1 * angle);
  }
  CHECK(independence(1, 1, 0) < 1e-7);
}

TEST_CASE("steps: what was taken with an error above the tolerance is told") {
  Trajectory run;
  run.system = "toggle", run.integrator = "dopri5", run.finished = true, run.steps = 40;
  CHECK(run.to_tolerance());
  CHECK(run.text().find("tolerance") == std::string::npos);
  run.rough = 3;
  CHECK(!run.to_tolerance());
  CHECK(run.text().find("3 of the 40 steps were taken with an error above the tolerance") != std::string::npos);
}

// A parallelogram passes its flat poses; drawn back by Baumgarte's method it is off the constraints there, so that the
// pose cannot be bridged.
TEST_CASE("steps: a singular pose that cannot be bridged at a tight tolerance makes steps that are told") {
  Assembly a("parallelogram");
  a.set_gravity({0, -g, 0});
  const PlanarBody bar{.mass = 1, .inertia = 1. / 12};
  const auto ground = a.add("ground", Ground{});
  const auto left = a.add("left", bar), top = a.add("top", bar), right = a.add("right", bar);
  a.place(left, {0, 0.5, std::numbers::pi / 2});
  a.place(top, {0.5, 1, 0});
  a.place(right, {1, 0.5, std::numbers::pi / 2});
  a.connect("A", at_world<Pin>(Vec2<double>(0, 0)), ground, left);
  a.connect("B", at_world<Pin>(Vec2<double>(0, 1)), left, top);
  a.connect("C", at_world<Pin>(Vec2<double>(1, 1)), top, right);
  a.connect("D", at_world<Pin>(Vec2<double>(1, 0)), ground, right);
  const System system(a);
  State s = system.state();
  s.set("top.x'", 1);
  const auto run = [&](double tolerance, double baumgarte) {
    return simulate(system, s, {.duration = 10, .steps = {.tolerance = tolerance, .baumgarte = baumgarte}});
  };
  CHECK(run(1e-10, 0).to_tolerance());
  CHECK(run(1e-8, 10).to_tolerance());
  const Trajectory rough = run(1e-10, 10);
  CHECK(rough.finished);
  CHECK(rough.rough > 0);
  CHECK(!rough.to_tolerance());
  CHECK(rough.text().find("INACCURATE") != std::string::npos);
}

TEST_CASE("Solver: a row that hardly touches a massless unknown does not hide those that hold it") {
  Assembly a("helix");
  a.set_gravity({0, 0, -g});
  const auto ground = a.add("ground", Ground{});
  const auto bead = a.add("bead", Particle<3>{.mass = 0.1});
  const auto s = a.add("s", Subsystem<>{.coordinates = {"s"}, .M = MatrixXd::Zero(1, 1)});
  const double fall = 0.1;
  a.connect("wire",
            PointOnCurve<3>{.curve = {[](const auto& x) { return cos(x); }, [](const auto& x) { return sin(x); },
                                      [=](const auto& x) { return -fall * x; }}},
            ground, bead, s);
  const System system(a);
  const double along = g * fall / (1 + fall * fall);  // s'' at rest
  for (int decade = -16; decade <= 0; ++decade) {
    CAPTURE(decade);
    const double x = decade == -16 ? 0 : std::pow(10, decade);
    State state = system.state();
    state.set("bead", {std::cos(x), std::sin(x), -fall * x});
    state.set("s", {x});
    const VectorXd found = Solver(system).solve(state);
    const Eigen::Vector4d expected(-along * std::sin(x), along * std::cos(x), -along * fall, along);
    CHECK((found - expected).cwiseAbs().maxCoeff() < 1e-9 * along);
  }
}
