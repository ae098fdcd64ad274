// Events: none is missed between the ends of a step, and a series without end is told.

#include <algorithm>
#include <cmath>
#include <numbers>

#include <doctest/doctest.h>

#include <mortise/mortise.h>

using namespace mortise;

namespace {

Assembly ball(double height) {
  Assembly a("ball");
  a.set_gravity({0, -9.81, 0});
  const auto b = a.add("ball", Particle<2>{.mass = 1});
  a.place(b, {0, height});
  return a;
}

}  // namespace

TEST_CASE("events: up and down through a height within one step, at the times that are known") {
  const System system(ball(0));
  State s = system.state();
  s.set("ball.y'", 5);
  for (const char* integrator : {"dopri5", "gauss", "generalized_alpha", "rk4"})
    for (const double h : {0.1, 0.5, 1.0, 1.2, 1.27, 1.274}) {
      CAPTURE(integrator);
      CAPTURE(h);
      SimulationOptions o{.duration = 10, .integrator = integrator};
      if (std::string(integrator) == "rk4" || std::string(integrator) == "gauss") o.steps.step = 0.5;
      o.events = {{.name = "h", .value = [h](const State& x) { return x.get("ball.y") - h; }}};
      const Trajectory run = simulate(system, s, o);
      REQUIRE(run.finished);
      std::vector<double> times;
      for (const auto& n : run.notes)
        if (n.kind == "event") times.push_back(n.t);
      REQUIRE(times.size() == 2);
      const double root = std::sqrt(25 - 2 * 9.81 * h);
      const double accuracy = std::string(integrator) == "generalized_alpha" ? 1e-3 : 1e-6;
      CHECK(std::abs(times[0] - (5 - root) / 9.81) < accuracy);
      CHECK(std::abs(times[1] - (5 + root) / 9.81) < accuracy);
    }
}

TEST_CASE("events: a threshold near the top of an oscillation is passed up and down in every period") {
  Assembly a("oscillator");
  const auto p = a.add("p", Particle<1>{.mass = 1});
  a.apply("k", CoordinateSpring{.terms = {{0, "x", 1}}, .stiffness = 1}, p);
  const System system(a);
  State s = system.state();
  s.v[0] = 1;
  for (const double level : {0.9, 0.99, 0.999, 0.9999})
    for (const double tolerance : {1e-8, 1e-6, 1e-4}) {
      if (1 - level < 30 * tolerance) continue;  // the tops themselves are not so exact
      CAPTURE(level);
      CAPTURE(tolerance);
      int count = 0;
      SimulationOptions o{.duration = 100, .steps = {.tolerance = tolerance}};
      o.events = {{"top", [=](const State& z) { return z.q[0] - level; }, 0, false, [&](State&) { ++count; }}};
      CHECK(simulate(system, s, o).finished);
      CHECK(count == 32);  // 16 tops in 100 s
    }
}

TEST_CASE("events: of two in one step the first one counts, in the direction asked for") {
  const System system(ball(0));
  State s = system.state();
  s.set("ball.y'", 5);
  for (const int direction : {1, -1}) {
    SimulationOptions o{.duration = 10};
    o.events = {{.name = "h",
                 .value = [](const State& x) { return x.get("ball.y") - 1; },
                 .direction = direction,
                 .stop = true}};
    const Trajectory run = simulate(system, s, o);
    const double root = std::sqrt(25 - 2 * 9.81);
    CHECK(run.last.t == doctest::Approx((5 - direction * root) / 9.81).epsilon(1e-7));
  }
}

TEST_CASE("events: a bouncing ball bounces until its bounces have no length, and the run says so") {
  for (const double floor : {0.0, 100.0, -1000.0})
    for (const double e : {0.9, 0.8, 0.5, 0.3, 0.1, 1e-2, 1e-4}) {
      const double tolerance = e < 0.2 ? 1e-6 : 1e-9;
      CAPTURE(floor);
      CAPTURE(e);
      const System system(ball(floor + 1));
      SimulationOptions o{.duration = 10, .steps = {.tolerance = tolerance}};
      o.events = {{.name = "landing",
                   .value = [floor](const State& s) { return s.get("ball.y") - floor; },
                   .direction = -1,
                   .change = [e](State& s) { s.set("ball.y'", -e * s.get("ball.y'")); }}};
      const Trajectory run = simulate(system, system.state(), o);
      CAPTURE(run.text());
      CHECK_FALSE(run.finished);
      CHECK(run.stopped.find("event 'landing' happens ever more often") == 0);
      const double zeno = std::sqrt(2 / 9.81) * (1 + e) / (1 - e);
      CHECK(run.last.t == doctest::Approx(zeno).epsilon(1e-5));
      CHECK(std::abs(run.last.get("ball.y") - floor) < 1e-6);
    }
}

TEST_CASE("events: one that slows the motion down but does not turn it back is no endless series") {
  const System system(ball(1));
  SimulationOptions o{.duration = 1};
  o.events = {{.name = "film",
               .value = [](const State& s) { return s.get("ball.y"); },
               .direction = -1,
               .change = [](State& s) { s.set("ball.y'", 1e-9 * s.get("ball.y'")); }}};
  const Trajectory run = simulate(system, system.state(), o);
  CHECK(run.finished);
  CHECK(run.last.get("ball.y") == doctest::Approx(-9.81 / 2 * std::pow(1 - std::sqrt(2 / 9.81), 2)).epsilon(1e-6));
}

TEST_CASE("events: what leaves its value at rest, from where it is driven on, ends the run by name") {
  for (const char* integrator : {"dopri5", "radau5", "generalized_alpha", "rk4", "gauss"}) {
    CAPTURE(integrator);
    const System system(ball(1));
    SimulationOptions o{.duration = 10, .integrator = integrator};
    if (std::string(integrator) == "rk4" || std::string(integrator) == "gauss") o.steps.step = 0.01;
    o.events = {{.name = "landing",
                 .value = [](const State& s) { return s.get("ball.y"); },
                 .direction = -1,
                 .change = [](State& s) { s.set("ball.y'", 0); }}};
    const Trajectory run = simulate(system, system.state(), o);
    CHECK_FALSE(run.finished);
    CHECK(run.stopped.find("event 'landing' happens ever more often: it leaves what it watches at rest") == 0);
    CHECK(run.last.t == doctest::Approx(std::sqrt(2 / 9.81)).epsilon(1e-4));
    // Nothing drives it on, or something back: the run goes on.
    Assembly a("slide");
    const auto p = a.add("p", Particle<1>{.mass = 1});
    a.apply("k", CoordinateSpring{.terms = {{0, "x", 1}}, .stiffness = 1}, p);
    const System spring(a);
    State s = spring.state();
    s.v[0] = 1;
    o.events = {{"stop", [](const State& z) { return z.q[0] - 0.5; }, 1, false, [](State& z) { z.v[0] = 0; }}};
    const Trajectory back = simulate(spring, s, o);
    CAPTURE(back.text());
    CHECK(back.finished);
    CHECK(back.last.q[0] == doctest::Approx(0.5 * std::cos(10 - std::numbers::pi / 6)).epsilon(0.02));
  }
}

TEST_CASE("events: those at one time all happen") {
  // Two balls fall from the same height; a third one hits two others that touch.
  Assembly a("balls");
  a.set_gravity({0, -9.81, 0});
  for (int i = 0; i < 2; ++i) a.place(a.add(fmt::format("b{}", i), Particle<2>{.mass = 1}), {1.0 * i, 1});
  const System system(a);
  for (const char* integrator : {"dopri5", "radau5", "generalized_alpha"}) {
    CAPTURE(integrator);
    SimulationOptions o{.duration = 2, .integrator = integrator};
    for (int i = 0; i < 2; ++i)
      o.events.push_back({.name = fmt::format("landing {}", i),
                          .value = [i](const State& s) { return (1 + i) * s.q[2 * i + 1]; },
                          .direction = -1,
                          .change = [i](State& s) { s.v[2 * i + 1] *= -1; }});
    const Trajectory run = simulate(system, system.state(), o);
    CAPTURE(run.text());
    CHECK(run.finished);
    CHECK(run.column("b0.y").minCoeff() > -1e-9);
    CHECK(run.column("b1.y").minCoeff() > -1e-9);
    CHECK(std::count_if(run.notes.begin(), run.notes.end(), [](const auto& n) { return n.kind == "event"; }) == 4);
  }
  // The blow passes through the row, in whatever order the events are given.
  Assembly row("row");
  for (int i = 0; i < 3; ++i) (void)row.add(fmt::format("b{}", i), Particle<1>{.mass = 1});
  const System cradle(row);
  State s = cradle.state();
  s.q = Vec3<double>(0, 1, 1.1);
  s.v = Vec3<double>(1, 0, -1);
  for (const bool turned : {false, true}) {
    SimulationOptions o{.duration = 3};
    for (int i = 0; i < 2; ++i)
      o.events.push_back({fmt::format("hit {}", i), [i](const State& z) { return z.q[i + 1] - z.q[i] - 0.1; }, -1,
                          false, [i](State& z) { std::swap(z.v[i], z.v[i + 1]); }});
    s.v[2] = 0;
    s.q[2] = 1.1;
    if (turned) std::swap(o.events[0], o.events[1]);
    const Trajectory run = simulate(cradle, s, o);
    CAPTURE(run.text());
    CHECK(run.finished);
    CHECK(run.last.v[0] == doctest::Approx(0));
    CHECK(run.last.v[1] == doctest::Approx(0));
    CHECK(run.last.v[2] == doctest::Approx(1));
  }
}

TEST_CASE("events: a value that turns many times within a step is followed") {
  Assembly a("free");
  (void)a.add("p", Particle<1>{.mass = 1});
  const System system(a);
  State s = system.state();
  s.v[0] = 1;
  for (const char* integrator : {"dopri5", "radau5", "generalized_alpha", "rk4", "gauss"})
    for (const double w : {3.0, 17.0, 40.0, 123.0}) {
      CAPTURE(integrator);
      CAPTURE(w);
      SimulationOptions o{.duration = 10, .integrator = integrator};
      if (std::string(integrator) == "rk4" || std::string(integrator) == "gauss") o.steps.step = 5;
      o.events = {{"sine", [w](const State& z) { return std::sin(w * z.q[0] + 0.3) - 0.2; }}};
      const Trajectory run = simulate(system, s, o);
      CHECK(run.finished);
      std::vector<double> times;
      for (const auto& n : run.notes) times.push_back(n.t);
      std::vector<double> right;
      for (int k = 0; k < 400; ++k)
        for (const double at : {std::asin(0.2), std::numbers::pi - std::asin(0.2)})
          if (const double t = (at + 2 * std::numbers::pi * k - 0.3) / w; t > 0 && t < 10) right.push_back(t);
      std::sort(right.begin(), right.end());
      REQUIRE(times.size() == right.size());
      for (std::size_t i = 0; i < times.size(); ++i) CHECK(times[i] == doctest::Approx(right[i]).epsilon(1e-9));
    }
}

TEST_CASE("events: a ball in a box without losses keeps its energy to the end of the run") {
  const System system(ball(0.5));
  State s = system.state();
  s.v[0] = 13, s.v[1] = 20;
  const double energy = system.energy(s).total();
  for (const char* integrator : {"dopri5", "radau5", "rk4", "gauss"}) {
    CAPTURE(integrator);
    SimulationOptions o{.duration = 5, .integrator = integrator};  // it is at the wall when the run ends
    if (std::string(integrator) == "rk4" || std::string(integrator) == "gauss") o.steps.step = 0.05;
    const auto turn = [](int c) { return [c](State& z) { z.v[c] *= -1; }; };
    o.events = {{"floor", [](const State& z) { return z.q[1]; }, -1, false, turn(1)},
                {"roof", [](const State& z) { return z.q[1] - 1; }, 1, false, turn(1)},
                {"left", [](const State& z) { return z.q[0] + 1; }, -1, false, turn(0)},
                {"right", [](const State& z) { return z.q[0] - 1; }, 1, false, turn(0)}};
    const Trajectory run = simulate(system, s, o);
    CAPTURE(run.text());
    CHECK(run.finished);
    CHECK(system.energy(run.last).total() == doctest::Approx(energy).epsilon(1e-9));
    CHECK(run.column("ball.x").cwiseAbs().maxCoeff() < 1 + 1e-9);
    CHECK(run.column("ball.y").minCoeff() > -1e-9);
    CHECK(run.column("ball.y").maxCoeff() < 1 + 1e-9);
  }
}

TEST_CASE("start: what is moved onto the constraints is told, and much of it is a remark") {
  Assembly a("pendulum");
  const auto ground = a.add("ground", Ground{});
  const auto rod = a.add("rod", PlanarBody{.mass = 1, .inertia = 0.1});
  a.connect("pin", Pin{.on_b = {-1, 0}}, ground, rod);
  const System system(a);
  const auto run = [&](double x, double rate, bool as_given = false) {
    State s = system.state();
    s.set("rod", {x, 0, 0});
    s.set("rod.theta'", rate);
    return simulate(system, s, {.duration = 0.01, .as_given = as_given});
  };
  CHECK(run(1, 0).notes.empty());
  const Trajectory near = run(1.002, 0);
  REQUIRE(near.notes.size() == 1);
  CHECK(near.notes[0].kind == "start");
  CHECK(near.notes[0].text == "moved onto the constraints, most of all rod.x from 1.002 to 1 m");
  CHECK_FALSE(near.start_moved);
  CHECK(run(1.2, 0).start_moved);
  const Trajectory spun = run(1, 150);  // rod.y' does not fit
  CHECK(spun.start_moved);
  CHECK(spun.notes[0].text.find("rod.theta' from 150 to") != std::string::npos);
  CHECK_NOTHROW(run(1, 0, true));
  CHECK_THROWS_WITH_AS(run(1.2, 0, true), doctest::Contains("start of 'pendulum': it does not meet the constraints"),
                       InvalidModel);
}
