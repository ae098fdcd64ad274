// Steps one can trust: driven mechanisms, parts far lighter than their neighbours, steps that were refused, and steps
// that were taken all the same.

#include <cmath>
#include <numbers>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/lagrangian.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/subsystem.h>
#include <mortise/core/spline.h>
#include <mortise/core/table.h>
#include <mortise/diagnosis/hidden.h>
#include <mortise/engine/row_independence.h>
#include <mortise/forces/coordinate_spring.h>
#include <mortise/forces/functor.h>
#include <mortise/forces/spring.h>
#include <mortise/integrators/controlled.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/appell_hamel.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/drive_coordinate.h>
#include <mortise/joints/drive_planar_angle.h>
#include <mortise/joints/drive_point.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/planar_point_on_line.h>
#include <mortise/joints/planar_weld.h>
#include <mortise/joints/point_on_curve.h>
#include <mortise/solve/solver.h>

#include "counts.h"
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

namespace {

// Two bars, hanging on a pin that stands at `origin`, all lengths times `length`, all times times `time`.
Assembly two_bars(double length, double time, const Vec2<double>& origin) {
  Assembly a("two bars");
  a.set_gravity({0, -g * length / (time * time), 0});
  const auto ground = a.add("ground", Ground{});
  const auto upper = a.add("upper", bar(length, 1)), lower = a.add("lower", bar(0.5 * length, 0.3));
  a.place(upper, {origin[0], origin[1], 0.5});
  a.place(lower, {origin[0] + length * std::cos(0.5), origin[1] + length * std::sin(0.5), -1});
  a.connect("p1", Pin{.on_a = origin}, ground, upper);
  a.connect("p2", Pin{.on_a = {length, 0}}, upper, lower);
  return a;
}

}  // namespace

TEST_CASE("steps: they do not change with the units of length and time, nor with the origin") {
  const auto run = [](double length, double time, const Vec2<double>& origin, double tolerance) {
    const System system(two_bars(length, time, origin));
    return simulate(system, system.state(),
                    {.duration = 2 * time, .steps = {.tolerance = tolerance}, .sample = 0.5 * time});
  };
  for (const double tolerance : {1e-4, 1e-8, 1e-11}) {
    CAPTURE(tolerance);
    const Trajectory one = run(1, 1, {0, 0}, tolerance);
    REQUIRE(one.to_tolerance());
    for (const auto& [length, time] : {std::pair{1024.0, 1.0}, {1.0, 4096.0}, {0x1p-10, 0x1p-10}, {0x1p20, 0x1p20}}) {
      CAPTURE(length);
      CAPTURE(time);
      const Trajectory other = run(length, time, {0, 0}, tolerance);
      CHECK(other.steps == one.steps);
      CHECK(other.rejected == one.rejected);
      CHECK(std::abs(other.last.get("lower.theta") - one.last.get("lower.theta")) < 10 * tolerance);
    }
    const Trajectory moved = run(1, 1, {3, -2}, tolerance);
    CHECK(std::abs(moved.steps - one.steps) <= 2);
  }
}

TEST_CASE("steps: idle bodies change none of them, however many") {
  const auto run = [](int idle) {
    Assembly a("links");
    const auto ground = a.add("ground", Ground{});
    const auto p = a.add("p", Particle<2>{.mass = 1}), r = a.add("r", Particle<2>{.mass = 0.1});
    a.place(p, {1, 0});
    a.place(r, {1, 0.5});
    a.connect("pp", Distance<2>{.length = 1}, ground, p);
    a.connect("pr", Distance<2>{.length = 0.5}, p, r);
    for (int k = 0; k < idle; ++k) a.place(a.add("idle" + std::to_string(k), Particle<2>{.mass = 5}), {0.001 * k, 0.7});
    const System system(a);
    State s = system.state();
    s.set("p.y'", 2);
    s.set("r.y'", 2);
    s.set("r.x'", 1);
    return simulate(system, s, {.duration = 3, .sample = 3});
  };
  const Trajectory alone = run(0), among = run(1000);
  CHECK(among.steps == alone.steps);
  CHECK(among.rejected == alone.rejected);
  CHECK(among.last.get("r.x") == doctest::Approx(alone.last.get("r.x")).epsilon(1e-9));
}

TEST_CASE("steps: a mechanism without freedom is moved by its rows, without integration") {
  Assembly a("welded");
  a.set_gravity({0, -g, 0});
  const auto ground = a.add("ground", Ground{});
  auto last = a.add("b0", bar(1, 1));
  a.connect("w0", PlanarWeld{}, ground, last);
  for (int k = 1; k < 5; ++k) {
    const auto next = a.add("b" + std::to_string(k), bar(1, 1));
    a.place(next, {1.0 * k, 0, 0});
    a.connect("w" + std::to_string(k), PlanarWeld{.on_a = {1, 0}}, last, next);
    last = next;
  }
  const System welded(a);
  const Trajectory still = simulate(welded, welded.state(), {.duration = 100});
  CHECK(still.to_tolerance());
  CHECK(still.evaluations < 30);
  CHECK(still.integrator == "kinematics");
  CHECK(still.samples() == 10001);
  CHECK(still.last.get("b4.x") == 4);

  // Driven all round: samples are as good as the rows, whatever the tolerance.
  const Links l{1, 2.2, 1.7, 2};
  const System driven(four_bar(l, 6));
  for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
    CAPTURE(tolerance);
    const Trajectory run =
        simulate(driven, driven.state(), {.duration = 10, .steps = {.tolerance = tolerance}, .sample = 0.01});
    CAPTURE(run.text());
    CHECK(run.to_tolerance());
    CHECK(run.integrator == "kinematics");
    const VectorXd t = run.column("t"), angle = run.column("rocker.theta"), speed = run.column("crank.theta'");
    double worst = 0;
    for (Index k = 0; k < t.size(); ++k) {
      const Vec2<double> tip(l.base + l.rocker * std::cos(angle[k]), l.rocker * std::sin(angle[k]));
      worst = std::max({worst, (tip - l.joint(1 + 6 * t[k])).norm(), std::abs(speed[k] - 6)});
    }
    CHECK(worst < 1e-10);
  }
}

TEST_CASE("steps: times that numbers do not tell apart are refused, and many samples can be interrupted") {
  const System system(two_bars(1, 1, {0, 0}));
  const auto run = [&](const SimulationOptions& o) { return simulate(system, system.state(), o); };
  CHECK_THROWS_WITH_AS(run({.duration = 1, .sample = 1e-300}), doctest::Contains("sample = 1e-300 s"), InvalidModel);
  CHECK_THROWS_WITH_AS(run({.duration = 1, .steps = {.step = 1e-300}}), doctest::Contains("step = 1e-300 s"),
                       InvalidModel);
  CHECK_THROWS_WITH_AS(run({.duration = 1, .steps = {.largest = 1e-18}}), doctest::Contains("largest step = 1e-18 s"),
                       InvalidModel);
  CHECK_THROWS_WITH_AS(run({.duration = 1, .integrator = "rk4", .steps = {.step = 1e-17}}),
                       doctest::Contains("step = 1e-17 s"), InvalidModel);
  int calls = 0;
  const Trajectory stopped =
      run({.duration = 1, .sample = 1e-9, .progress = [&](double, double) { return ++calls < 5; }});
  CHECK_FALSE(stopped.finished);
  CHECK(calls == 5);
  CHECK(stopped.samples() < 10'000);
}

TEST_CASE("steps: a run that crawls ends with the reason and the body that keeps it") {
  Assembly a("stiff");
  const auto ground = a.add("ground", Ground{});
  const auto p = a.add("p", Particle<3>{.mass = 1}), other = a.add("other", Particle<3>{.mass = 1});
  a.place(p, {1, 0, 0});
  a.place(other, {1, 2, 0});
  a.apply("damper", Spring<3>{.stiffness = 1, .damping = 1e12, .length = 1}, ground, p);
  a.apply("soft", Spring<3>{.stiffness = 1, .length = 1}, p, other);
  const System system(a);
  State s = system.state();
  s.set("other.x'", 1);
  const Trajectory run = simulate(system, s, {.duration = 1});
  CHECK_FALSE(run.finished);
  CHECK(run.stopped.find("it crawls") != std::string::npos);
  CHECK(run.stopped.find("body 'p'") != std::string::npos);
  CHECK(run.stopped.find("radau5") != std::string::npos);

  // It comes to rest, where the row has a corner, and can go neither on nor back.
  Assembly b("climber");
  b.set_gravity({0, 0, -g});
  b.add("idle", Particle<1>{.mass = 1});
  b.connect("climb", AppellHamel{.ratio = 0.5}, b.add("climber", Particle<3>{.mass = 0.4}));
  const System climber(b);
  State up = climber.state();
  up.set("climber.x'", 1);
  up.set("climber.z'", 0.5);
  const Trajectory rest = simulate(climber, up, {.duration = 20});
  CAPTURE(rest.text());
  CHECK_FALSE(rest.finished);
  CHECK(rest.stopped.find("body 'climber'") != std::string::npos);
  CHECK(rest.last.t == doctest::Approx(1 / 3.924).epsilon(1e-2));
}

namespace {

// A mass on a spring whose base is lifted and put back by a smooth pulse.
Trajectory pulsed(double begin, double width, double tolerance, double largest, double duration = 10) {
  const auto pulse = [=](const auto& t) {
    using T = std::remove_cvref_t<decltype(t)>;
    if (!(t > begin) || !(t < begin + width)) return T(0.0);
    const T x = (t - begin) / width, y = 4.0 * x * (1.0 - x);
    return T(0.01 * y * y * y * y);
  };
  Assembly a("pulse");
  const auto cart = a.add("cart", Particle<1>{.mass = 2}), bob = a.add("bob", Particle<1>{.mass = 1});
  a.apply("k", CoordinateSpring{.terms = {{0, "x", 1}, {1, "x", -1}}, .stiffness = 40}, cart, bob);
  a.connect("drive", DriveCoordinate{.coordinate = "x", .f = pulse}, cart);
  const System system(a);
  return simulate(system, system.state(),
                  {.duration = duration, .steps = {.tolerance = tolerance, .largest = largest}, .sample = 0.01});
}

}  // namespace

TEST_CASE("steps: a short pulse of a drive after a long rest is not stepped over") {
  for (const double width : {1.0, 0.1, 0.005})
    for (const double begin : {0.0, 3.3, 7.77}) {
      const VectorXd right = pulsed(begin, width, 1e-12, width / 50).column("bob.x");
      const double way = right.cwiseAbs().maxCoeff();
      REQUIRE(way > 0);
      for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10}) {
        CAPTURE(width);
        CAPTURE(begin);
        CAPTURE(tolerance);
        const Trajectory run = pulsed(begin, width, tolerance, 0);
        CAPTURE(run.text());
        CHECK(run.to_tolerance());
        CHECK((run.column("bob.x") - right).cwiseAbs().maxCoeff() < 100 * tolerance * way);
        // The energy that the drive put in is counted.
        const double energy = 0.5 * 40 * 1e-4 + 0.5 * 2 * std::pow(0.06 / width, 2);
        CHECK(run.energy_error < 100 * tolerance * energy);
      }
    }
}

TEST_CASE("steps: a light hook under a heavy load swings as well as its two angles do") {
  constexpr double load = 10, rope = 3, sling = 1, angle = std::numbers::pi / 3, duration = 3;
  for (const double hook : {1e-2, 1e-4, 1e-6}) {
    CAPTURE(hook);
    Assembly a("hook");
    a.set_gravity({0, -g, 0});
    const auto ground = a.add("ground", Ground{});
    const auto h = a.add("hook", Particle<2>{.mass = hook}), l = a.add("load", Particle<2>{.mass = load});
    const double x = rope * std::sin(angle), y = -rope * std::cos(angle);
    a.place(h, {x, y});
    a.place(l, {x + sling, y});
    a.connect("rope", Distance<2>{.length = rope}, ground, h);
    a.connect("sling", Distance<2>{.length = sling}, h, l);
    const System joints(a);
    Assembly b("angles");
    b.add("both", Lagrangian{.coordinates = {"a", "b"}, .energies = [=](const auto& q, const auto& v, const auto&) {
                               using std::cos;
                               const auto T = 0.5 * (hook + load) * rope * rope * v[0] * v[0] +
                                              0.5 * load * sling * sling * v[1] * v[1] +
                                              load * rope * sling * v[0] * v[1] * cos(q[0] - q[1]);
                               const auto V = -(hook + load) * g * rope * cos(q[0]) - load * g * sling * cos(q[1]);
                               return Energies{T, V};
                             }});
    const System angles(b);
    State s = angles.state();
    s.set("both", {angle, std::numbers::pi / 2});
    const auto end = [&](double tolerance) {
      const State last = simulate(angles, s, {.duration = duration, .steps = {.tolerance = tolerance}}).last;
      return Vec2<double>(rope * std::sin(last.q[0]) + sling * std::sin(last.q[1]),
                          -rope * std::cos(last.q[0]) - sling * std::cos(last.q[1]));
    };
    const Vec2<double> right = end(1e-13);
    for (const double tolerance : {1e-6, 1e-8, 1e-10}) {
      CAPTURE(tolerance);
      const Trajectory run =
          simulate(joints, joints.state(), {.duration = duration, .steps = {.tolerance = tolerance}});
      CHECK(run.to_tolerance());
      const double off = (Vec2<double>(run.last.get("load.x"), run.last.get("load.y")) - right).norm();
      CHECK(off < 10 * (end(tolerance) - right).norm());
    }
  }
}

TEST_CASE("steps: a short pulse in the law of a body after a long rest is not stepped over") {
  constexpr double begin = 7, width = 0.02, strength = 50;
  Assembly a("pushed");
  a.add("bob", Lagrangian{.coordinates = {"x"}, .energies = [](const auto& q, const auto& v, const auto& t) {
                            const auto u = (t - begin) / width;
                            const auto push = u > 0.0 && u < 1.0 ? strength * u * u * (1.0 - u) * (1.0 - u) : 0.0 * u;
                            return Energies{v[0] * v[0] / 2.0, 2.0 * q[0] * q[0] - push * q[0]};
                          }});
  const System system(a);
  // x'' = -4 x + push:  by the integral of push cos 2t and sin 2t, with Simpson's rule in 2000 pieces.
  double c = 0, s = 0;
  for (int k = 0; k <= 2000; ++k) {
    const double u = k / 2000.0, t = begin + u * width, weight = (k == 0 || k == 2000 ? 1 : k % 2 ? 4 : 2) / 6000.0;
    const double push = strength * u * u * (1 - u) * (1 - u) * width * weight;
    c += push * std::cos(2 * t), s += push * std::sin(2 * t);
  }
  const double right = (c * std::sin(20.0) - s * std::cos(20.0)) / 2;
  for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
    CAPTURE(tolerance);
    const Trajectory run = simulate(system, system.state(), {.duration = 10, .steps = {.tolerance = tolerance}});
    CHECK(run.finished);
    CHECK(std::abs(run.last.q[0] - right) < 100 * tolerance * std::abs(right));
  }
}

TEST_CASE("steps: a balance of energy that the tolerance does not explain is told") {
  Assembly a("oscillator");
  const auto bob = a.add("bob", Particle<1>{.mass = 1});
  a.apply("k", CoordinateSpring{.terms = {{0, "x", 1}}, .stiffness = 100}, bob);
  const System system(a);
  State s = system.state();
  s.set("bob.x", 1);
  const auto told = [](const Trajectory& run) {
    return std::any_of(run.notes.begin(), run.notes.end(),
                       [](const auto& n) { return n.kind == "energy" || n.kind == "meaningless"; });
  };
  for (const double tolerance : {1e-3, 1e-6, 1e-9, 1e-12})
    CHECK_FALSE(told(simulate(system, s, {.duration = 10, .steps = {.tolerance = tolerance}})));
  // The method of order 4 at the edge of its stability loses all, and damps nothing with short steps.
  CHECK(told(simulate(system, s, {.duration = 100, .integrator = "rk4", .steps = {.step = 0.2}})));
  CHECK_FALSE(told(simulate(system, s, {.duration = 100, .integrator = "rk4", .steps = {.step = 0.01}})));
}

namespace {

// A mass at rest that a force pushes once.
Trajectory pushed(const std::function<void(Assembly&, const Handle<Particle<1>>&)>& push, double duration,
                  const char* integrator = "dopri5", double step = 0) {
  Assembly a("push");
  push(a, a.add("mass", Particle<1>{.mass = 2}));
  const System system(a);
  return simulate(system, system.state(),
                  {.duration = duration, .integrator = integrator, .steps = {.step = step}, .sample = duration});
}

}  // namespace

TEST_CASE("breakpoints: a push that a force tells of is not stepped over, however short") {
  for (const double width : {1.0, 1e-3, 1e-6, 1e-9})
    for (const auto& [integrator, step] : {std::pair{"dopri5", 0.0}, {"rk4", 7.0}}) {
      CAPTURE(width);
      CAPTURE(integrator);
      const double begin = 37.123456789, end = begin + width, force = 3 / width;
      const auto law = [=](auto& m, const auto& t) {
        if (t > begin && t < end) m.apply_to("x", force + 0.0 * t);
      };
      const Trajectory run = pushed(
          [&](Assembly& a, const auto& m) {
            a.apply("push", Force{BreaksAt{law, {begin, end}}}, m);
          },
          100, integrator, step);
      CAPTURE(run.text());
      CHECK(run.to_tolerance());
      CHECK(run.notes.empty());
      // 3 N s on 2 kg; what round-off of the times makes of a short one is no more than its share.
      CHECK(run.last.v[0] == doctest::Approx(1.5).epsilon(1e-12 + 1e-13 / width));
      CHECK(run.last.q[0] == doctest::Approx(1.5 * (100 - begin - width / 2)).epsilon(1e-12 + 1e-13 / width));
    }
}

TEST_CASE("breakpoints: pushes that nobody tells of are met if they last longer than 1/4096 of the run") {
  for (const bool smooth : {false, true})
    for (const double width : {0.1, 5e-3, 3e-3})
      for (const char* integrator : {"dopri5", "radau5"})
        for (const double tolerance : {1e-3, 1e-6, 1e-8}) {
          CAPTURE(smooth);
          CAPTURE(width);
          CAPTURE(integrator);
          CAPTURE(tolerance);
          constexpr double at = 3.3;
          Assembly a("pushed");
          const auto m = a.add("m", Particle<1>{.mass = 2});
          a.apply("push", Force{[=](auto& b, const auto& t) {
                    using std::exp;
                    using T = std::remove_cvref_t<decltype(t)>;
                    const T z = (t - at) / width;
                    b.apply_to("x", smooth ? T(100.0 * exp(-z * z)) : T(t > at && t < at + width ? 100.0 : 0.0));
                  }},
                  m);
          const System system(a);
          const Trajectory run = simulate(
              system, system.state(), {.duration = 10, .integrator = integrator, .steps = {.tolerance = tolerance}});
          CAPTURE(run.text());
          CHECK(run.to_tolerance());
          const double speed = 50 * width * (smooth ? std::sqrt(std::numbers::pi) : 1);
          CHECK(std::abs(run.last.v[0] - speed) < 100 * tolerance * speed);
        }
}

TEST_CASE("breakpoints: those of splines, tables, constants and functions of one's own reach the run") {
  const Function spline = Spline({0, 1, 2.5}, {0, 1, 0}), table = Table({-1, 0.5}, {0, 1}), constant = 2.0,
                 plain = [](const auto&t) { return 2.0 * t; },
                 own = BreaksAt{[](const auto&t) { return 2.0 * t; }, {0.25}};
  CHECK(spline.breakpoints(0, 10) == std::vector<double>{0, 1, 2.5});
  CHECK(table.breakpoints(0, 10) == std::vector<double>{-1, 0.5});
  CHECK(constant.breakpoints(0, 10).empty());
  CHECK(plain.breakpoints(0, 10).empty());
  CHECK(own.breakpoints(0, 10) == std::vector<double>{0.25});
  // Steps end at the knots.
  Assembly a("spline");
  a.add("free", Particle<1>{.mass = 1});
  a.connect("drive", DriveCoordinate{.coordinate = "x", .f = spline}, a.add("cart", Particle<1>{.mass = 1}));
  const System system(a);
  std::vector<double> ends;
  (void)simulate(system, system.state(), {.duration = 3, .progress = [&](double t, double) {
                                            ends.push_back(t);
                                            return true;
                                          }});
  for (const double knot : {1.0, 2.5})
    CHECK(std::any_of(ends.begin(), ends.end(), [&](double t) { return std::abs(t - knot) < 1e-14; }));
}

TEST_CASE("breakpoints: where a drive changes its speed at once the others get its impulse, and that is told") {
  // A bar that hangs from a carriage: struck at its end it turns about its centre of percussion.
  constexpr double length = 1.2, mass = 3, speed = 2;
  Assembly a("struck");
  const auto ground = a.add("ground", Ground{});
  const auto carriage = a.add("carriage", Particle<2>{.mass = 1});
  const auto bar =
      a.add("bar", PlanarBody{.mass = mass, .inertia = mass * length * length / 12, .centre = {length / 2, 0}});
  a.place(bar, {0, 0, -std::numbers::pi / 2});
  a.connect("drive", DrivePoint<2>{.path = {Table({0, 1, 2}, {0, 0, speed}), 0.0}}, ground, carriage);
  a.connect("pin", Pin{}, carriage, bar);
  const System system(a);
  const Trajectory run = simulate(system, system.state(), {.duration = 1.0001});
  CAPTURE(run.text());
  CHECK(run.finished);
  // m (v + w l/2) = impulse, J w = -impulse l/2 about the centre:  w = -3/2 v / l, so the bar swings behind.
  CHECK(run.last.get("bar.theta'") == doctest::Approx(-1.5 * speed / length).epsilon(1e-3));
  CHECK(run.last.get("carriage.x'") == doctest::Approx(speed));
  const auto jump = std::find_if(run.notes.begin(), run.notes.end(), [](const auto& n) { return n.kind == "jump"; });
  REQUIRE(jump != run.notes.end());
  CHECK(jump->t == doctest::Approx(1));
  CHECK(jump->text.find("'drive'") != std::string::npos);
  CHECK(run.energy_error < 1e-6);
  // A place that jumps is refused.
  const auto jumps = [](const auto& t) { return t > 0.5 ? 1.0 + 0.0 * t : 0.0 * t; };
  Assembly b("jump");
  b.connect("drive", DriveCoordinate{.coordinate = "x", .f = BreaksAt{jumps, {0.5}}},
            b.add("m", Particle<1>{.mass = 1}));
  const System other(b);
  const Trajectory stopped = simulate(other, other.state(), {.duration = 1});
  CHECK_FALSE(stopped.finished);
  CHECK(stopped.stopped.find("'drive' jumps by 1 at t = 0.5") != std::string::npos);
}

TEST_CASE("folds: what has no mass stops where its forces let it go, by name, at every tolerance") {
  // V = x^4/4 - x^2/2 and a spring to a mass that is drawn away: the fold is at 3 x^2 = 1/2.
  for (const char* integrator : {"dopri5", "rk4"})
    for (const double tolerance : {1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
      CAPTURE(integrator);
      CAPTURE(tolerance);
      Assembly a("fold");
      const auto node = a.add("node", Particle<1>{.mass = 0}), mass = a.add("mass", Particle<1>{.mass = 1});
      a.apply("well", Potential{[](const auto& p, const auto&) {
                const auto z = p.coordinate("x");
                return 0.25 * z * z * z * z - 0.5 * z * z;
              }},
              node);
      a.apply("k", CoordinateSpring{.terms = {{0, "x", 1}, {1, "x", -1}}, .stiffness = 0.5}, node, mass);
      const System system(a);
      State s = system.state();
      s.set("node.x", -1);
      s.set("mass.x", -1);
      s.set("mass.x'", 1);
      const Completed c = complete(system, s);
      const bool fixed = std::string(integrator) == "rk4";
      const Trajectory run = simulate(c.system, c.state,
                                      {.duration = 3,
                                       .integrator = integrator,
                                       .steps = {.tolerance = tolerance, .step = fixed ? 0.03 : 0},
                                       .sample = 0.1});
      CAPTURE(run.text());
      CHECK_FALSE(run.finished);
      CHECK(run.stopped.find("'implied_1': it folds near t = 1.4") != std::string::npos);
      CHECK(run.stopped.find("node.x") != std::string::npos);
      CHECK(run.last.get("node.x") <= -1 / std::sqrt(6.0) + 1e-3);
      if (!fixed) CHECK(run.last.t == doctest::Approx(1.455877).epsilon(1e-4));
    }
}

TEST_CASE("steps: bodies far away change nothing") {
  const auto end = [](double far) {
    Assembly a("far");
    a.set_gravity({0, -g, 0});
    const auto ground = a.add("ground", Ground{});
    const auto one = a.add("one", bar(1, 1)), two = a.add("two", bar(0.7, 0.5));
    a.place(two, {1, 0, 0});
    a.connect("p1", Pin{}, ground, one);
    a.connect("p2", Pin{.on_a = {1, 0}}, one, two);
    if (far > 0) {
      const auto there = a.add("there", bar(1, 1));
      a.place(there, {far, far, 0.3});
      a.connect("p3", Pin{.on_a = {far, far}}, ground, there);
    }
    const System system(a);
    const Trajectory run = simulate(system, system.state(), {.duration = 3, .sample = 0});
    CAPTURE(run.text());
    CHECK(run.to_tolerance());
    return VectorXd(run.last.q.head(6));
  };
  const VectorXd right = end(0);
  for (const double far : {10.0, 1e6, 1e8}) {
    CAPTURE(far);
    CHECK((end(far) - right).cwiseAbs().maxCoeff() < 1e-9);
  }
}

TEST_CASE("steps: what comes to rest on a corner of a row or a force stops there by name, soon") {
  Assembly a("climber");
  a.set_gravity({0, 0, -g});
  a.connect("climb", AppellHamel{.ratio = 0.5}, a.add("climber", Particle<3>{.mass = 0.4}));
  const auto swinging = a.add("idle", Particle<1>{.mass = 1});
  a.apply("k", CoordinateSpring{.terms = {{0, "x", 1}}, .stiffness = 100}, swinging);
  const System system(a);
  State s = system.state();
  s.set("climber.x'", 10);
  s.set("climber.z'", 5);
  s.set("idle.x", 1);
  for (const double duration : {3.0, 20.0, 100.0}) {
    CAPTURE(duration);
    const Trajectory run = simulate(system, s, {.duration = duration});
    CAPTURE(run.text());
    CHECK_FALSE(run.finished);
    CHECK(run.stopped.find("body 'climber'") != std::string::npos);
    CHECK(run.last.t == doctest::Approx(10 / 3.924).epsilon(1e-2));
    CHECK(run.steps < 100'000);
  }
}

TEST_CASE("steps: chains with random light parts are as good as in their angles") {
  for (int draw = 0; draw < static_cast<int>(many(3, 1)); ++draw) {
    Random random(700 + static_cast<unsigned>(draw));
    CAPTURE(draw);
    const int n = random.integer(2, 3);
    std::vector<double> mass, length, angle;
    for (int k = 0; k < n; ++k) {
      mass.push_back(k == n - 1 ? 1 : std::pow(10, -random.uniform(0, 9)));
      length.push_back(random.uniform(0.5, 1.5));
      angle.push_back(random.uniform(-1.2, 1.2));
    }
    constexpr double duration = 0.4;
    Assembly a("chain"), b("angles");
    a.set_gravity({0, -g, 0});
    const auto ground = a.add("ground", Ground{});
    Vec2<double> at(0, 0);
    std::optional<Handle<Particle<2>>> last;
    for (int k = 0; k < n; ++k) {
      const auto i = static_cast<std::size_t>(k);
      const auto p = a.add(fmt::format("p{}", k), Particle<2>{.mass = mass[i]});
      at += length[i] * Vec2<double>(std::sin(angle[i]), -std::cos(angle[i]));
      a.place(p, {at[0], at[1]});
      if (last)
        a.connect(fmt::format("rod{}", k), Distance<2>{.length = length[i]}, *last, p);
      else
        a.connect("rod0", Distance<2>{.length = length[i]}, ground, p);
      last = p;
    }
    std::vector<std::string> names;
    for (int k = 0; k < n; ++k) names.push_back(fmt::format("a{}", k));
    b.add("all", Lagrangian{.coordinates = names, .energies = [=](const auto& q, const auto& v, const auto&) {
                              using std::sin, std::cos;
                              using S = std::remove_cvref_t<decltype(q[0])>;
                              S T(0.0), V(0.0), vx(0.0), vy(0.0), y(0.0);
                              for (int k = 0; k < n; ++k) {
                                const auto i = static_cast<std::size_t>(k);
                                vx = vx + length[i] * cos(q[k]) * v[k];
                                vy = vy + length[i] * sin(q[k]) * v[k];
                                y = y - length[i] * cos(q[k]);
                                T = T + 0.5 * mass[i] * (vx * vx + vy * vy);
                                V = V + mass[i] * g * y;
                              }
                              return Energies{T, V};
                            }});
    const System joints(a), angles(b);
    State s = angles.state();
    for (int k = 0; k < n; ++k) s.q[k] = angle[static_cast<std::size_t>(k)];
    const auto end = [&](double tolerance) {
      const State state = simulate(angles, s, {.duration = duration, .steps = {.tolerance = tolerance}}).last;
      Vec2<double> p(0, 0);
      for (int k = 0; k < n; ++k)
        p += length[static_cast<std::size_t>(k)] * Vec2<double>(std::sin(state.q[k]), -std::cos(state.q[k]));
      return p;
    };
    const Vec2<double> right = end(1e-13);
    for (const double tolerance : {1e-6, 1e-8}) {
      CAPTURE(tolerance);
      const Trajectory run =
          simulate(joints, joints.state(), {.duration = duration, .steps = {.tolerance = tolerance}});
      CAPTURE(run.text());
      CHECK(run.to_tolerance());
      const double off = (Vec2<double>(run.last.q.tail(2)) - right).norm();
      CHECK(off <= 10 * std::max((end(tolerance) - right).norm(), tolerance));
    }
  }
}

namespace {

// The largest errors of dopri5, of coordinates and velocities in shares of the largest, at the ends of its steps and
// between them, where states are brought onto the constraints as samples are.
struct OutputErrors {
  double q = 0, v = 0, q_between = 0, v_between = 0;
};
OutputErrors output_errors(const System& system, const State& start, double duration, double tolerance) {
  Flow flow(system), fine(system);
  const auto run = make_stepper("dopri5", {.tolerance = tolerance}),
             right = make_stepper("dopri5", {.tolerance = 1e-13});
  run->begin(flow, start);
  right->begin(fine, start);
  OutputErrors out;
  double size = 0, speed = 0;
  const auto compare = [&](const State& s, double& q, double& v) {
    while (right->state().t < s.t) right->step(s.t);
    const State& r = right->state();
    size = std::max(size, (r.q - start.q).cwiseAbs().maxCoeff());
    speed = std::max(speed, r.v.cwiseAbs().maxCoeff());
    q = std::max(q, (s.q - r.q).cwiseAbs().maxCoeff());
    v = std::max(v, (s.v - r.v).cwiseAbs().maxCoeff());
  };
  State s;
  while (run->state().t < duration) {
    run->step(duration);
    const double from = run->before().t, h = run->state().t - from;
    sharpen(*run);
    for (const double x : {0.15, 0.3, 0.5, 0.7, 0.85}) {
      run->at(from + x * h, s);
      flow.keep(s);
      compare(s, out.q_between, out.v_between);
    }
    compare(run->state(), out.q, out.v);
  }
  for (double* q : {&out.q, &out.q_between}) *q /= size;
  for (double* v : {&out.v, &out.v_between}) *v /= speed;
  return out;
}

}  // namespace

TEST_CASE("steps: the output between steps is as good as the steps") {
  Assembly shaken("shaken");
  shaken.set_gravity({0, -g, 0});
  const auto ground = shaken.add("ground", Ground{});
  const auto cart = shaken.add("cart", Particle<2>{.mass = 2});
  const auto rod = shaken.add("rod", bar(0.5, 1));
  shaken.place(rod, {0, 0, 0.4});
  const Function x = [](const auto&t) { return 0.3 * sin(7 * t); }, y = [](const auto&t) { return 0.1 * sin(11 * t); };
  shaken.connect("drive", DrivePoint<2>{.path = {x, y}}, ground, cart);
  shaken.connect("pin", Pin{}, cart, rod);
  const Problem p = squeezer();
  const System driven(shaken), squeezed(p.assembly);
  for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10})
    for (const System* system : {&squeezed, &driven}) {
      CAPTURE(tolerance);
      CAPTURE(system->name());
      const State start = consistent(*system, system == &squeezed ? p.state(*system) : system->state());
      const OutputErrors e = output_errors(*system, start, system == &squeezed ? 0.03 : 3, tolerance);
      CAPTURE(e.q);
      CAPTURE(e.v);
      CHECK(e.q_between <= 2 * e.q);
      CHECK(e.v_between <= 2 * e.v);
    }
}
