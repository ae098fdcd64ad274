// The methods of integration, consistent starts and equilibria, and joints and parameters that events switch.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numbers>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/parameter.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/engine/tangent.h>
#include <mortise/forces/functor.h>
#include <mortise/integrators/progress.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/functor.h>
#include <mortise/joints/pin.h>

#include "problems.h"

using namespace mortise;

namespace {

constexpr double g = 9.81;

// The slopes of the equations by central differences, in the order of Tangent.
void check_tangent(const Problem& p, double after) {
  const System system(p.assembly);
  CAPTURE(system.name());
  const State s = simulate(system, p.state(system), {.duration = after}).last;
  VectorXd a = VectorXd::LinSpaced(system.size(), -1, 2), lambda = VectorXd::LinSpaced(system.rows(), 3, -2);
  const auto dense = [](const Tangent::Entries& entries, Index rows, Index columns) {
    Eigen::SparseMatrix<double> m(rows, columns);
    m.setFromTriplets(entries.begin(), entries.end());
    return MatrixXd(m);
  };
  const Tangent t = tangent(system, s, a, lambda);
  const Index n = system.size(), m = system.rows();
  const auto residual = [&](const State& x) {
    const Evaluation e = system.evaluate(x);
    VectorXd r(n + m);
    r << e.dense_M() * a - e.Q - e.C - e.dense_A().transpose() * lambda, e.phi;
    return r;
  };
  MatrixXd dq(n + m, n), dv(n + m, n);
  for (Index i = 0; i < n; ++i) {
    const double h = 1e-6;
    State one = s, other = s;
    one.q[i] += h, other.q[i] -= h;
    dq.col(i) = (residual(one) - residual(other)) / (2 * h);
    one = other = s;
    one.v[i] += h, other.v[i] -= h;
    dv.col(i) = (residual(one) - residual(other)) / (2 * h);
  }
  const auto far = [](const MatrixXd& x, const MatrixXd& y) {
    return x.size() == 0 ? 0 : (x - y).cwiseAbs().maxCoeff() / (1 + y.cwiseAbs().maxCoeff());
  };
  constexpr double differences = 1e-8;  // h^2 and round-off over h
  CHECK(far(dense(t.force_dq, n, n), dq.topRows(n)) < differences);
  CHECK(far(dense(t.force_dv, n, n), dv.topRows(n)) < differences);
  CHECK(far(dense(t.rows_dq, m, n), dq.bottomRows(m)) < differences);
  const Evaluation e = system.evaluate(s);
  CHECK(far(dense(t.M, n, n), e.dense_M()) == 0);
  CHECK(far(dense(t.A, m, n), e.dense_A()) == 0);
}

// How much the errors shrink from step to half step.
double ratio(const Problem& p, SimulationOptions options, double h) {
  const auto error = [&](double step) {
    options.steps.step = step;
    const Trajectory run = p.run(options);
    REQUIRE(run.finished);
    return p.error(run);
  };
  return error(h) / error(h / 2);
}

Assembly hanging(double k) {
  Assembly a("hanging");
  a.set_gravity({0, -g, 0});
  const auto bob = a.add("bob", Particle<2>{.mass = 3});
  a.apply("spring", Potential{[=](const auto& b, const auto&) {
            return 0.5 * k * (b.coordinate("x") * b.coordinate("x") + b.coordinate("y") * b.coordinate("y"));
          }},
          bob);
  return a;
}

}  // namespace

TEST_CASE("tangent: exact slopes of the equations match differences, with quaternions and nonholonomic rows") {
  check_tangent(four_bars(2), 0.3);
  check_tangent(bricard(), 0.4);
  check_tangent(rolling_disk(), 0.5);
  check_tangent(spherical_chain(), 0.3);
  check_tangent(wheel_on_slope(), 0.4);
  check_tangent(squeezer(), 0.004);
  check_tangent(soft_pendulum(1e3, 10), 0.3);
}

TEST_CASE("gauss: order 4 on the constraints, also with quaternions, redundant and nonholonomic rows") {
  const auto order = [](const Problem& p, double duration, double h) {
    CAPTURE(p.assembly.name());
    CHECK(ratio(p, {.duration = duration, .integrator = "gauss", .sample = 0.05}, h) ==
          doctest::Approx(16).epsilon(0.1));
  };
  order(pendulum(), 10, 0.02);
  order(rolling_disk(), 5, 0.025);
  order(lagrange_top(false), 1, 0.002);
  Problem p = bricard();
  p.expected.resize(4);
  order(p, 2, 0.05);
}

TEST_CASE("gauss: energy does not drift, where that of rk4 does") {
  const auto late = [](const Problem& p, const char* method, double h, double duration) {
    const Trajectory run =
        p.run({.duration = duration, .integrator = method, .steps = {.step = h}, .sample = duration / 100});
    REQUIRE(run.finished);
    const VectorXd energy = run.column("energy.total").array() - run.value(0, "energy.total");
    return std::pair{energy.head(25).cwiseAbs().maxCoeff(), energy.tail(25).cwiseAbs().maxCoeff()};
  };
  const auto [early_gauss, late_gauss] = late(pendulum(), "gauss", 0.05, 100);
  CHECK(late_gauss < 1.2 * early_gauss);
  const auto [early_rk4, late_rk4] = late(pendulum(), "rk4", 0.05, 100);
  CHECK(late_rk4 > 2 * early_rk4);
  // A chaotic motion: what the steps do to the energy does not repeat itself, but does not grow either.
  Problem p = double_pendulum();
  p.start = {{"one", {0.6, -0.8}}, {"two", {1.2, -1.6}}};
  const auto [early_double, late_double] = late(p, "gauss", 0.02, 60);
  CHECK(late_double < 2 * early_double);
}

TEST_CASE("gauss: N four-bars pass their flat poses on the right branch, and the order is kept") {
  for (const int N : {2, 10, 40}) {
    CAPTURE(N);
    const Problem p = four_bars(N, 0.3);
    double last = 0;
    for (const double h : {0.02, 0.01}) {
      const Trajectory run = p.run({.duration = 10, .integrator = "gauss", .steps = {.step = h}, .sample = 0.05});
      CAPTURE(run.text());
      REQUIRE(run.finished);
      CHECK(std::count_if(run.notes.begin(), run.notes.end(),
                          [](const auto& n) { return n.kind == "singular pose"; }) == 10);
      double tilt = 0;
      for (int k = 0; k < N; ++k)
        tilt = std::max(tilt, run.column(fmt::format("coupler{}.theta", k)).array().sin().abs().maxCoeff());
      CHECK(tilt < 1e-9);
      for (const auto& d : run.drift) CHECK(d.largest < 1e-12);
      if (last > 0) CHECK(last / run.energy_error == doctest::Approx(16).epsilon(0.1));
      last = run.energy_error;
    }
  }
  CHECK(ratio(four_bars(2), {.duration = 10, .integrator = "gauss", .sample = 0.1}, 0.01) ==
        doctest::Approx(16).epsilon(0.1));
}

TEST_CASE("gauss: a run may end and begin near a singular pose") {
  const Problem p = four_bars(2);
  const System system(p.assembly);
  const State expected = simulate(system, p.state(system), {.duration = 1, .steps = {.tolerance = 1e-12}}).last;
  constexpr double pose = 0.714356;
  for (double t = pose - 0.0185; t < pose + 0.02; t += 0.001) {
    CAPTURE(t);
    const SimulationOptions options{.duration = t, .integrator = "gauss", .steps = {.step = 0.01}};
    const Trajectory first = simulate(system, p.state(system), options);
    CAPTURE(first.stopped);
    REQUIRE(first.finished);
    SimulationOptions rest = options;
    rest.duration = 1 - t;
    const Trajectory second = simulate(system, first.last, rest);
    CAPTURE(second.stopped);
    REQUIRE(second.finished);
    CHECK((second.last.q - expected.q).cwiseAbs().maxCoeff() < 1e-7);  // order 4, as in a run without the stop
  }
}

TEST_CASE("gauss: forwards and backwards in time it is the same") {
  for (Problem p : {pendulum(), spherical_chain()}) {
    CAPTURE(p.assembly.name());
    const System system(p.assembly);
    const SimulationOptions options{.duration = 1, .integrator = "gauss", .steps = {.step = 0.02}};
    const State start = consistent(system, p.state(system));
    State there = simulate(system, start, options).last;
    there.v *= -1;
    there.t = 0;
    State back = simulate(system, there, options).last;
    constexpr double round_off = 1e-11;  // of 100 steps of an unstable motion; the error of the method is 1e-6
    CHECK((back.q - start.q).cwiseAbs().maxCoeff() < round_off);
    CHECK((back.v + start.v).cwiseAbs().maxCoeff() < 10 * round_off);
  }
}

TEST_CASE("generalized_alpha: order 2, with quaternions, massless bodies, redundant and nonholonomic rows") {
  const auto order = [](Problem p, double until, double h) {
    CAPTURE(p.assembly.name());
    while (p.expected.back().t > until) p.expected.pop_back();
    CHECK(ratio(p, {.duration = until, .integrator = "generalized_alpha", .sample = 0.05}, h) ==
          doctest::Approx(4).epsilon(0.1));
  };
  order(pendulum(), 1, 0.005);
  order(rolling_disk(), 2, 0.01);
  order(bricard(), 1, 0.01);
  order(wheel_on_slope(), 2, 0.01);
}

TEST_CASE("generalized_alpha: its damping is that of the formula, and slow motion keeps its energy") {
  // One step so long that the oscillation is fast against it leaves the share rho of it, or so.
  const System system(hanging(1e6));
  State s = system.state();
  s.set("bob", {1e-3, -3 * g / 1e6});
  const auto left = [&](double rho) {
    const double h = 1;  // h w = 577
    const Trajectory run = simulate(
        system, s,
        {.duration = 20, .integrator = "generalized_alpha", .steps = {.step = h, .damping = rho}, .sample = 0});
    const VectorXd x = run.column("bob.x"), v = run.column("bob.x'");
    const auto size = [&](Index k) { return std::hypot(x[k], h * v[k]); };
    return std::pow(size(20) / size(10), 0.1);
  };
  CHECK(left(0.5) == doctest::Approx(0.5).epsilon(0.15));  // a double root: the decay is k rho^k
  CHECK(left(0.9) == doctest::Approx(0.9).epsilon(0.15));
  CHECK(left(0.0) < 0.05);
  const Trajectory pendulum_run =
      pendulum().run({.duration = 10, .integrator = "generalized_alpha", .steps = {.tolerance = 1e-6}, .sample = 0.1});
  CHECK(pendulum_run.energy_error < 0.01);
}

TEST_CASE("stiff systems: generalized_alpha takes few steps where dopri5 takes very many, which it says") {
  const Problem p = soft_pendulum(1e8, 2e4);
  const Trajectory few =
      p.run({.duration = 2, .integrator = "generalized_alpha", .steps = {.tolerance = 1e-5}, .sample = 0.1});
  const Trajectory many = p.run({.duration = 2, .steps = {.tolerance = 1e-5}, .sample = 0.1});
  CAPTURE(few.text());
  CHECK(few.finished);
  CHECK(many.finished);
  CHECK(few.steps < 1000);
  CHECK(many.steps > 20 * few.steps);
  const auto stiff = [](const Trajectory& run) {
    return std::count_if(run.notes.begin(), run.notes.end(), [](const auto& n) { return n.kind == "stiff"; });
  };
  CHECK(stiff(many) == 1);
  CHECK(many.text().find("the integrator radau5") != std::string::npos);
  CHECK((few.column("rod.theta") - many.column("rod.theta")).cwiseAbs().maxCoeff() < 1e-2);
  // At a tighter tolerance nearer.
  const Trajectory tight =
      p.run({.duration = 2, .integrator = "generalized_alpha", .steps = {.tolerance = 1e-7}, .sample = 0.1});
  CHECK((tight.column("rod.theta") - many.column("rod.theta")).cwiseAbs().maxCoeff() < 1e-3);
  for (const Problem& soft : {pendulum(), four_bars(2), bricard(), double_pendulum()}) {
    CAPTURE(soft.assembly.name());
    CHECK(stiff(soft.run({.duration = 5})) == 0);
  }
}

TEST_CASE("cvode: where it is there it agrees with the reference, and stays on the constraints") {
  const auto names = stepper_names();
  if (std::find(names.begin(), names.end(), "cvode_bdf") == names.end()) {
    MESSAGE("SKIPPED: the cases of CVODE, which need SUNDIALS: package libsundials-dev");
    return;
  }
  for (const char* method : {"cvode_bdf", "cvode_adams"}) {
    CAPTURE(method);
    for (Problem p : {pendulum(), rolling_disk(), bricard()}) {
      CAPTURE(p.assembly.name());
      while (p.expected.back().t > 2) p.expected.pop_back();
      std::vector<double> errors;
      for (const double tolerance : {1e-6, 1e-9}) {
        const Trajectory run =
            p.run({.duration = 2, .integrator = method, .steps = {.tolerance = tolerance}, .sample = 0.05});
        CAPTURE(run.text());
        REQUIRE(run.finished);
        for (const auto& d : run.drift) CHECK(d.largest < 1e-12);
        errors.push_back(p.error(run));
      }
      CHECK(errors[1] < 1e-5);
      CHECK(errors[1] < errors[0] / 10);
    }
  }
  const Trajectory stiff = soft_pendulum(1e8, 2e4).run(
      {.duration = 2, .integrator = "cvode_bdf", .steps = {.tolerance = 1e-5}, .sample = 0.1});
  CHECK(stiff.finished);
  CHECK(stiff.steps < 5000);  // dopri5 takes 20000
  // An event, and a run that begins anew at checkpoints and is resumed to the bit.
  const std::string file = "cvode_test.txt";
  std::remove(file.c_str());
  SimulationOptions options{.duration = 1.5,
                            .integrator = "cvode_bdf",
                            .events = {{"below", [](const State& s) { return s.get("bob.x"); }}},
                            .checkpoint = {file, 0.4}};
  const Trajectory whole = pendulum().run(options);
  REQUIRE(whole.notes.size() == 1);
  CHECK(whole.notes[0].t == doctest::Approx(2.3678419475762374493 / 4).epsilon(1e-6));
  std::remove(file.c_str());
  options.progress = [](double t, double) { return t < 0.9; };
  CHECK(!pendulum().run(options).finished);
  options.progress = {};
  options.checkpoint.resume = true;
  CHECK(pendulum().run(options).values == whole.values);
  std::remove(file.c_str());
}

TEST_CASE("baumgarte: gaps stay small without projection, and are recorded") {
  const Problem p = pendulum();
  const SimulationOptions options{.duration = 10, .steps = {.baumgarte = 10}, .sample = 0.1};
  const Trajectory run = p.run(options);
  CHECK(run.finished);
  CHECK(p.error(run) < 1e-5);
  double drift = 0;
  for (const auto& d : run.drift) drift = std::max(drift, d.largest);
  CHECK(drift > 1e-13);
  CHECK(drift < 1e-6);
  const Trajectory closed = bricard().run({.duration = 5, .steps = {.baumgarte = 20}, .sample = 0.25});
  CHECK(closed.finished);
  CHECK(closed.energy_error < 1e-3);
  CHECK_THROWS_WITH_AS(
      p.run({.duration = 1, .integrator = "gauss", .steps = {.step = 0.01, .baumgarte = 1}}),
      "integrator 'gauss': baumgarte = 1; give 0: this method meets the constraints itself; dopri5 and "
      "rk4 take it",
      InvalidModel);
  CHECK_THROWS_AS(p.run({.duration = 1, .steps = {.baumgarte = -1}}), InvalidModel);
}

TEST_CASE("start: what is held stays, the rest is moved; what contradicts is named") {
  const Problem p = four_bars(2);
  const System system(p.assembly);
  State s = p.state(system);
  s.set("bar0.theta", -0.4);
  s.set("bar0.theta'", -3);
  const State on = consistent(system, s, {.held = {"bar0.theta", "bar0.theta'"}});
  CHECK(on.get("bar0.theta") == -0.4);
  CHECK(on.get("bar0.theta'") == -3);
  CHECK(system.evaluate(on).phi.cwiseAbs().maxCoeff() < 1e-11);
  CHECK(on.get("bar2.theta") == doctest::Approx(-0.4).epsilon(1e-9));
  CHECK(on.get("bar1.theta'") == doctest::Approx(-3).epsilon(1e-9));
  CHECK(on.get("coupler1.x'") == doctest::Approx(3 * std::cos(0.4)).epsilon(1e-9));
  const Trajectory run = simulate(system, s, {.duration = 0.01, .held = {"bar0.theta", "bar0.theta'"}});
  CHECK(run.value(0, "bar0.theta") == -0.4);
  CHECK_THROWS_WITH_AS(consistent(system, s, {.held = {"bar0.theta", "bar1.theta"}}),
                       doctest::Contains("with bar0.theta, bar1.theta held; the joints that are off the most: '"),
                       NotConverged);
  CHECK_THROWS_WITH_AS(consistent(system, s, {.held = {"bar0.thet"}}), doctest::Contains("did you mean"), InvalidModel);

  Assembly apart("apart");
  const auto ground = apart.add("ground", Ground{});
  const auto bob = apart.add("bob", Particle<2>{.mass = 1});
  const auto other = apart.add("other", Particle<2>{.mass = 1});
  apart.connect("left", Distance<2>{.on_a = {-2, 0}, .length = 1}, ground, bob);
  apart.connect("right", Distance<2>{.on_a = {2, 0}, .length = 1}, ground, bob);
  apart.connect("fine", Distance<2>{.length = 1}, ground, other);
  const System impossible(apart);
  s = impossible.state();
  s.set("bob.y", 0.3);
  s.set("other.x", 1.5);
  try {
    (void)consistent(impossible, s);
    CHECK(false);
  } catch (const NotConverged& e) {
    const std::string text = e.what();
    CHECK(text.find("'left' 1") != std::string::npos);
    CHECK(text.find("'right' 1") != std::string::npos);
    CHECK(text.find("'fine'") == std::string::npos);
    CHECK(text.find("they contradict each other") != std::string::npos);
  }
}

TEST_CASE("equilibrium: spring, pendulum with a side force, hanging bars; and where there is none") {
  const System spring(hanging(500));
  State s = spring.state();
  s.set("bob", {0.7, 0.3});
  s = equilibrium(spring, s);
  CHECK(s.get("bob.x") == doctest::Approx(0).epsilon(1e-12));
  CHECK(s.get("bob.y") == doctest::Approx(-3 * g / 500).epsilon(1e-12));

  // tan(angle) = F / (m g); also from near the top, where there is another, unstable one.
  Assembly a("pushed");
  a.set_gravity({0, -g, 0});
  const auto ground = a.add("ground", Ground{});
  const auto bob = a.add("bob", Particle<2>{.mass = 2});
  a.connect("rod", Distance<2>{.length = 1.5}, ground, bob);
  a.apply("push", Force{[](auto& b, const auto&) { b.apply_to("x", 5.0); }}, bob);
  const System pushed(a);
  for (const double start : {-1.0, 0.5, 3.0}) {
    s = pushed.state();
    s.set("bob", {1.5 * std::sin(start), -1.5 * std::cos(start)});
    s = equilibrium(pushed, s);
    CHECK(std::atan2(s.get("bob.x"), -s.get("bob.y")) == doctest::Approx(std::atan2(5, 2 * g)).epsilon(1e-12));
  }

  // Three bars between supports 2 m apart: the outer ones at 60 degrees, drawn by H = m g / tan(60 degrees).
  Assembly chain("chain");
  chain.set_gravity({0, -g, 0});
  const auto ceiling = chain.add("ceiling", Ground{});
  std::vector<Handle<PlanarBody>> bar;
  for (int i = 0; i < 3; ++i)
    bar.push_back(chain.add(fmt::format("bar{}", i), PlanarBody{.mass = 1, .inertia = 1. / 12}));
  chain.connect("left", Pin{.on_b = {-0.5, 0}}, ceiling, bar[0]);
  chain.connect("joint1", Pin{.on_a = {0.5, 0}, .on_b = {-0.5, 0}}, bar[0], bar[1]);
  chain.connect("joint2", Pin{.on_a = {0.5, 0}, .on_b = {-0.5, 0}}, bar[1], bar[2]);
  chain.connect("right", Pin{.on_a = {2, 0}, .on_b = {0.5, 0}}, ceiling, bar[2]);
  chain.place(bar[0], {0.3, -0.4, -0.7});
  chain.place(bar[1], {0.9, -0.8, 0.2});
  chain.place(bar[2], {1.6, -0.4, 1.2});
  const System bars(chain);
  s = equilibrium(bars, bars.state());
  CHECK(s.get("bar0.theta") == doctest::Approx(-std::numbers::pi / 3).epsilon(1e-10));
  CHECK(std::abs(s.get("bar1.theta")) < 1e-10);
  CHECK(s.get("bar2.theta") == doctest::Approx(std::numbers::pi / 3).epsilon(1e-10));
  Solver solver(bars);
  CHECK(solver.solve(s).cwiseAbs().maxCoeff() < 1e-9);
  CHECK(std::abs(solver.lambda()[0]) == doctest::Approx(g / std::tan(std::numbers::pi / 3)).epsilon(1e-9));
  // It stays there.
  CHECK((simulate(bars, s, {.duration = 0.5}).last.q - s.q).cwiseAbs().maxCoeff() < 1e-9);

  Assembly free("free");
  free.set_gravity({0, -g, 0});
  (void)free.add("bob", Particle<2>{.mass = 1});
  const System falling(free);
  CHECK_THROWS_WITH_AS(equilibrium(falling, falling.state()),
                       doctest::Contains("a force of 9.8 on bob.y is left that nothing balances"), NotConverged);
}

TEST_CASE("events: a joint switched off lets go, and keeps its rows") {
  Assembly a("sling");
  a.set_gravity({0, -g, 0});
  const auto ground = a.add("ground", Ground{});
  const auto bob = a.add("bob", Particle<2>{.mass = 1});
  a.connect("string", Distance<2>{.length = 1}, ground, bob);
  a.place(bob, {-1, 0});
  const System system(a);
  // Let go at the lowest point, with sqrt(2 g) m/s to the right.
  const auto let_go = [&](State& s) { system.switch_off(s, "string"); };
  const SimulationOptions options{
      .duration = 1.5,
      .steps = {.tolerance = 1e-12},
      .record = {.coordinates = true, .reactions = true},
      .events = {{"below", [](const State& s) { return s.get("bob.x"); }, 1, false, let_go}}};
  const Trajectory run = simulate(system, system.state(), options);
  CAPTURE(run.text());
  REQUIRE(run.finished);
  REQUIRE(run.notes.size() == 2);
  CHECK(run.notes[1].kind == "switched off");
  CHECK(run.notes[1].text == "'string'");
  CHECK(run.last.off == std::vector<std::size_t>{system.joint("string")});
  const double t0 = run.notes[0].t, u = std::sqrt(2 * g);
  CHECK(t0 == doctest::Approx(2.3678419475762374493 / 4).epsilon(1e-10));
  for (Index k = 0; k < run.samples(); ++k) {
    const double t = run.value(k, "t") - t0;
    if (t < 0) continue;
    CHECK(run.value(k, "bob.x") == doctest::Approx(u * t).epsilon(1e-9));
    CHECK(run.value(k, "bob.y") == doctest::Approx(-1 - g / 2 * t * t).epsilon(1e-9));
  }
  CHECK(run.column("string.thrust").tail(20).cwiseAbs().maxCoeff() == 0);
  CHECK(run.energy_error < 1e-9);
  for (const auto& d : run.drift) CHECK(d.largest < 1e-12);
  // The implicit methods do the same.
  for (const char* method : {"gauss", "generalized_alpha"}) {
    SimulationOptions other = options;
    other.integrator = method;
    other.steps = {.tolerance = 1e-7, .step = 0.005};
    const Trajectory same = simulate(system, system.state(), other);
    CAPTURE(method);
    CHECK(same.finished);
    CHECK((same.last.q - run.last.q).cwiseAbs().maxCoeff() < 2e-3);  // order 2, 300 steps
  }
}

TEST_CASE("events: a joint switched on catches, with the impulse and the loss of energy of a plastic impact") {
  // A block slides into a hook on the end of a bar that stands on a pin: m d v = (J + m d^2) w.
  const double m = 2, J = 3, d = 0.8, v = 1.5;
  Assembly a("catch");
  const auto ground = a.add("ground", Ground{});
  const auto bar = a.add("bar", PlanarBody{.mass = 1, .inertia = J});
  const auto block = a.add("block", Particle<2>{.mass = m});
  a.connect("pin", Pin{}, ground, bar);
  a.connect("hook", Pin{.on_a = {0, d}}, bar, block);
  const System system(a);
  State s = system.state();
  s.set("block", {-1, d});
  s.set("block'", {v, 0});
  CHECK_THROWS_WITH_AS(system.switch_off(s, "hok"), "joint 'hok': there is none of this name; did you mean 'hook'?",
                       InvalidModel);
  system.switch_off(s, "hook");
  const std::string file = "switch_test.txt";
  SimulationOptions options{.duration = 2,
                            .sample = 0.05,
                            .events = {{"arrival", [](const State& x) { return x.get("block.x"); }, 1, false,
                                        [&](State& x) { system.switch_on(x, "hook"); }},
                                       {"quarter", [](const State& x) { return x.get("bar.theta") + 0.5; }, -1, false,
                                        [&](State& x) { system.switch_off(x, "hook"); }}},
                            .checkpoint = {file, 0.2}};
  std::remove(file.c_str());
  const Trajectory run = simulate(system, s, options);
  CAPTURE(run.text());
  REQUIRE(run.finished);
  REQUIRE(run.notes.size() == 4);
  CHECK(run.notes[0].t == doctest::Approx(1 / v).epsilon(1e-9));
  const double w = m * d * v / (J + m * d * d), lost = 0.5 * m * v * v - 0.5 * (J + m * d * d) * w * w;
  CHECK(run.notes[1].kind == "switched on");
  CHECK(run.notes[1].text == fmt::format("'hook': the energy changes by {:.6g} J", -lost));
  CHECK(run.value(20, "bar.theta'") == doctest::Approx(-w).epsilon(1e-9));
  CHECK(run.value(20, "energy.total") == doctest::Approx(0.5 * m * v * v - lost).epsilon(1e-9));
  // Let go again, the block flies on straight and the bar turns on.
  CHECK(run.notes[3].kind == "switched off");
  CHECK(run.last.get("bar.theta'") == doctest::Approx(-w).epsilon(1e-9));
  CHECK(run.last.get("block.x'") == doctest::Approx(w * d * std::cos(0.5)).epsilon(1e-8));
  CHECK(run.last.get("block.y'") == doctest::Approx(-w * d * std::sin(0.5)).epsilon(1e-8));
  CHECK(run.energy_error < 1e-8);

  // To the last bit the same when resumed before, between and after the switches.
  for (const int stop : {2, 9, 14, 18}) {
    CAPTURE(stop);
    std::remove(file.c_str());
    int steps = 0;
    options.progress = [&](double, double) { return ++steps < stop; };
    CHECK(!simulate(system, s, options).finished);
    options.progress = {};
    options.checkpoint.resume = true;
    const Trajectory resumed = simulate(system, s, options);
    options.checkpoint.resume = false;
    CHECK(resumed.values == run.values);
    CHECK(resumed.text() == run.text());
    CHECK(resumed.last.off == run.last.off);
  }
  std::remove(file.c_str());

  // Not from afar.
  options.checkpoint = {};
  options.events[0].value = [](const State& x) { return x.get("block.x") + 0.5; };
  const Trajectory refused = simulate(system, s, options);
  CHECK(!refused.finished);
  CHECK(refused.stopped.find("event 'arrival': joint 'hook' is switched on at t = 0.333") == 0);
  CHECK(refused.stopped.find("with a gap of 0.5; let the event find a pose where the joint fits") != std::string::npos);
}

TEST_CASE("events: where a switch leaves the motion undetermined, the run ends there with the report") {
  const Problem p = pendulum();
  const System system(p.assembly);
  const Trajectory run = simulate(system, p.state(system),
                                  {.duration = 2,
                                   .events = {{"below", [](const State& s) { return s.get("bob.x"); }, 0, false,
                                               [&](State& s) { system.switch_off(s, "pivot"); }}}});
  CHECK(!run.finished);
  CHECK(run.stopped.find("UNDER-MODELLED: 1 free direction") != std::string::npos);
  CHECK(run.stopped.find("bar turns about") != std::string::npos);
  CHECK(run.last.t == doctest::Approx(2.3678419475762374493 / 4).epsilon(1e-7));
  CHECK(run.samples() > 55);
}

TEST_CASE("simulate: four-bars of unequal masses, started roughly and askew, keep their branch") {
  for (const int N : {2, 10, 40}) {
    CAPTURE(N);
    const Problem p = four_bars(N, 0.7);
    const System system(p.assembly);
    State s = p.state(system);
    for (Index i = 0; i < s.q.size(); ++i) {
      s.q[i] += 0.02 * std::sin(3.7 * double(i));
      s.v[i] += 0.05 * std::cos(2.3 * double(i));
    }
    const Trajectory run = simulate(system, s, {.duration = 10, .sample = 0.05});
    CAPTURE(run.text());
    CHECK(run.finished);
    CHECK(run.energy_error < 1e-7 * run.column("energy.kinetic").maxCoeff());  // samples included
    double tilt = 0;
    for (int k = 0; k < N; ++k)
      tilt = std::max(tilt, run.column(fmt::format("coupler{}.theta", k)).array().sin().abs().maxCoeff());
    CHECK(tilt < 1e-9);
    CHECK(std::count_if(run.notes.begin(), run.notes.end(), [](const auto& n) { return n.kind == "singular pose"; }) >
          5);
  }
}

TEST_CASE("events: a parameter changes on the way, and is saved with the state") {
  // A mass on a spring that gets four times as stiff at rest at its end: half the period from there on.
  Assembly a("stiffer");
  const auto bob = a.add("bob", Particle<1>{.mass = 1});
  const auto k = a.add("stiffness", Parameter{.value = 4});
  a.apply("spring", Force{[](auto& b, const auto& stiffness, const auto&) {
            b.apply_to("x", -stiffness.coordinate("value") * b.coordinate("x"));
          }},
          bob, k);
  const System system(a);
  State s = system.state();
  CHECK(s.get("stiffness.value") == 4);
  s.set("bob.x", 1);
  const double turn = std::numbers::pi / 2;  // half a period at w = 2
  const std::string file = "parameter_test.txt";
  SimulationOptions options{.duration = 3,
                            .steps = {.tolerance = 1e-11},
                            .events = {{"end", [](const State& x) { return x.get("bob.x'"); }, 1, false,
                                        [](State& x) { x.set("stiffness.value", 16); }}},
                            .checkpoint = {file, 0.5}};
  std::remove(file.c_str());
  const Trajectory run = simulate(system, s, options);
  REQUIRE(run.finished);
  CHECK(run.last.get("stiffness.value") == 16);
  CHECK(run.last.get("stiffness.value'") == 0);
  for (Index i = 0; i < run.samples(); ++i) {
    const double t = run.value(i, "t");
    CHECK(run.value(i, "bob.x") ==
          doctest::Approx(t < turn ? std::cos(2 * t) : -std::cos(4 * (t - turn))).epsilon(1e-8));
  }
  int steps = 0;
  std::remove(file.c_str());
  options.progress = [&](double t, double) { return ++steps > 0 && t < 2.2; };
  CHECK(!simulate(system, s, options).finished);
  options.progress = {};
  options.checkpoint.resume = true;
  CHECK(simulate(system, s, options).values == run.values);
  std::remove(file.c_str());
  // No joint moves it, whatever it would cost the others.
  Assembly rope("rope");
  const auto ground = rope.add("ground", Ground{});
  const auto ball = rope.add("ball", Particle<2>{.mass = 1000});
  const auto length = rope.add("length", Parameter{.value = 2});
  rope.connect("rope", Holonomic{[](const auto&, const auto& b, const auto& l, const auto& t) {
                 using T = std::remove_cvref_t<decltype(t)>;
                 const Vec2<T> p = b.point(Vec2<double>(0, 0));
                 return Vec<T, 1>(p.squaredNorm() - l.coordinate("value") * l.coordinate("value"));
               }},
               ground, ball, length);
  const System tied(rope);
  State r = tied.state();
  r.set("ball", {1, 0});
  r = consistent(tied, r);
  CHECK(r.get("length.value") == 2);
  CHECK(r.get("ball.x") == doctest::Approx(2).epsilon(1e-12));
  CHECK(check_rank(tied, tied.evaluate(r)).ok());
}

TEST_CASE("progress: how far a run is, and how long it takes still") {
  CHECK(progress_line(0, 420, 1000, 58) == "  42 %   t = 420 of 1000 s   1 min 21 s left");
  CHECK(progress_line(10, 10, 20, 1) == "   0 %   t = 10 of 20 s   ? left");
  CHECK(progress_line(0, 1, 4, 3) == "  25 %   t = 1 of 4 s   9 s left");
  CHECK(progress_line(0, 1, 100, 100) == "   1 %   t = 1 of 100 s   2 h 45 min left");
  const auto progress = terminal_progress();
  CHECK(progress(1, 2));  // goes on; silent where stderr is no terminal
}

namespace {

// Motions of the same shape at any size A [m]: an anharmonic spring, V = A^2 (x^2/2 + x^4/4), x = coordinate / A; and a
// pendulum of length A in a gravity of 9.81 A.
Assembly anharmonic(double A) {
  Assembly a("anharmonic");
  const auto bob = a.add("bob", Particle<2>{.mass = 1});
  a.place(bob, {A, 0.3 * A});
  a.apply("spring", Potential{[=](const auto& b, const auto&) {
            const auto x = b.coordinate("x") / A, y = b.coordinate("y") / A;
            const auto r2 = x * x + y * y;
            return A * A * (0.5 * r2 + 0.25 * r2 * r2);
          }},
          bob);
  return a;
}
Assembly pendulum_of(double A) {
  Assembly a("pendulum");
  a.set_gravity({0, -9.81 * A, 0});
  const auto ground = a.add("ground", Ground{});
  const auto bob = a.add("bob", Particle<2>{.mass = 1});
  a.connect("rod", Distance<2>{.length = A}, ground, bob);
  a.place(bob, {0.6 * A, -0.8 * A});
  return a;
}

}  // namespace

TEST_CASE("gauss: order, symmetry and energy are the same at sizes from 1e-12 m to 1e6 m") {
  for (const auto make : {anharmonic, pendulum_of})
    for (const double A : {1e-12, 1e-10, 1e-6, 1.0, 1e3, 1e6}) {
      const System system(make(A));
      CAPTURE(system.name());
      CAPTURE(A);
      const State start = system.state();
      const auto run = [&](const State& from, double h, double duration) {
        Trajectory r =
            simulate(system, from,
                     {.duration = duration, .integrator = "gauss", .steps = {.step = h}, .sample = duration / 100});
        CAPTURE(r.stopped);
        REQUIRE(r.finished);
        return r;
      };
      // Against the same at 1 m, in shares of A.
      const System whole(make(1));
      const State expected =
          simulate(whole, whole.state(), {.duration = 2, .integrator = "gauss", .steps = {.step = 0.02}}).last;
      const State there = run(start, 0.02, 2).last;
      CHECK((there.q / A - expected.q).cwiseAbs().maxCoeff() < 1e-11);
      // Back again.
      State turned = there;
      turned.v *= -1;
      turned.t = 0;
      CHECK((run(turned, 0.02, 2).last.q - start.q).cwiseAbs().maxCoeff() < 1e-11 * A);
      // Order 4.
      const State exact = run(start, 0.0025, 2).last;
      const double one = (run(start, 0.04, 2).last.q - exact.q).norm(), half = (there.q - exact.q).norm();
      CHECK(one / half == doctest::Approx(16).epsilon(0.1));
      // Energy: as far off late as early.
      const Trajectory late = run(start, 0.05, 100);
      const VectorXd energy = late.column("energy.total").array() - late.value(0, "energy.total");
      CHECK(energy.tail(25).cwiseAbs().maxCoeff() < 1.2 * energy.head(25).cwiseAbs().maxCoeff());
      CHECK(energy.cwiseAbs().maxCoeff() < 1e-4 * A * A);
    }
}

TEST_CASE("gauss: a double pendulum passes with steps of any size about 0.02") {
  Problem p = double_pendulum();
  p.start = {{"one", {0.29552020666133955, -0.9553364891256060}}, {"two", {0.9397377942, -1.7201786}}};
  for (const double h : {0.019, 0.0195, 0.02, 0.0205, 0.021}) {
    CAPTURE(h);
    const Trajectory run = p.run({.duration = 20, .integrator = "gauss", .steps = {.step = h}, .sample = 1});
    CAPTURE(run.stopped);
    CHECK(run.finished);
    CHECK(run.energy_error < 1e-3);
  }
}
