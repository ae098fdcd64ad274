// Runs of standard problems, against values computed twice by independent means, and what else a run has to do.

#include <cmath>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <sstream>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/core/dual.h>
#include <mortise/forces/applied.h>
#include <mortise/forces/spring.h>
#include <mortise/integrators/simulate.h>
#include <mortise/integrators/sweep.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/drive_planar_angle.h>
#include <mortise/joints/friction.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/slider.h>

#include "problems.h"

using namespace mortise;

namespace {

constexpr double g = 9.81;

double until(const Problem& p) { return p.expected.back().t; }

}  // namespace

TEST_CASE("simulate: standard problems at a tight tolerance, all observables at all times") {
  const auto check = [](const char* name, const Problem& p, double most) {
    CAPTURE(name);
    const Trajectory run = p.run({.duration = until(p), .steps = {.tolerance = 1e-13}, .sample = 0.25 / 2.5});
    CAPTURE(run.text());
    CHECK(run.finished);
    CHECK(p.error(run) < most);
  };
  check("pendulum", pendulum(), 1e-9);
  check("four bars", four_bars(2), 1e-9);
  for (const double tolerance : {1e-12, 7e-13, 5e-13, 3e-13, 2e-13})  // steps end elsewhere near the flat poses
    CHECK(four_bars(2).error(four_bars(2).run({.duration = 10, .steps = {.tolerance = tolerance}, .sample = 0.1})) <
          1e-9);
  check("rolling disk", rolling_disk(), 1e-9);
  check("sleigh", sleigh(), 1e-9);
  check("turntable", turntable(), 1e-9);
  check("wheel on a slope", wheel_on_slope(), 1e-9);
  check("Euler's top", euler_top(), 1e-9);
  check("Lagrange's top, slow", lagrange_top(false), 1e-9);
  check("Lagrange's top, fast", lagrange_top(true), 1e-9);
  Problem early = double_pendulum(), chain = spherical_chain();
  check("double pendulum", early, 1e-7);
  check("spherical chain", chain, 1e-7);
  early.expected.resize(2);
  chain.expected.resize(3);
  check("double pendulum to 2 s", early, 1e-9);
  check("spherical chain to 2 s", chain, 1e-9);
}

TEST_CASE("simulate: the squeezing mechanism of Andrews to 1e-7 of its values") {
  const Problem p = squeezer();
  const Trajectory run = p.run({.duration = 0.03, .steps = {.tolerance = 1e-13}, .sample = 0.005});
  CAPTURE(run.text());
  CHECK(run.finished);
  for (const auto& m : p.expected)
    for (std::size_t i = 0; i < p.columns.size(); ++i)
      CHECK(run.value(static_cast<Index>(std::lround(m.t / 0.005)), p.columns[i]) ==
            doctest::Approx(m.values[i]).epsilon(1e-7));
}

TEST_CASE("simulate: errors fall with the tolerance over four decades, on every kind of problem") {
  for (Problem p :
       {four_bars(2), rolling_disk(), sleigh(), euler_top(), bricard(), wheel_on_slope(), double_pendulum()}) {
    CAPTURE(p.assembly.name());
    while (p.expected.back().t > 2) p.expected.pop_back();
    const auto error = [&](double tolerance) {
      return p.error(p.run({.duration = until(p), .steps = {.tolerance = tolerance}, .sample = 0.05}));
    };
    // In proportion to the tolerance; steps change by whole numbers, not smoothly.
    const double power = std::log10(error(1e-7) / error(1e-11)) / 4;
    CHECK(power > 0.8);
    CHECK(power < 1.25);
  }
}

TEST_CASE("simulate: the closed loop of Bricard, untouched, at the default setting and at a tight one") {
  Problem p = bricard();
  const Trajectory run = p.run({.duration = 10, .sample = 0.25});
  CAPTURE(run.text());
  CHECK(run.finished);
  CHECK(p.error(run) < 1e-6);
  CHECK(run.energy_error < 1e-4);
  for (const auto& d : run.drift) CHECK(d.largest < 1e-12);
  REQUIRE(run.notes.size() == 1);
  CHECK(run.notes[0].kind == "left out");
  CHECK(p.error(p.run({.duration = 10, .steps = {.tolerance = 1e-13}, .sample = 0.25})) < 1e-9);
}

TEST_CASE("simulate: N four-bars pass their flat poses on the right branch at the default setting") {
  for (const int N : {2, 10, 40})
    for (const double uneven : {0.0, 0.3}) {
      CAPTURE(N);
      CAPTURE(uneven);
      const Problem p = four_bars(N, uneven);
      const Trajectory run = p.run({.duration = 10, .sample = 0.05});
      CAPTURE(run.text());
      CHECK(run.finished);
      CHECK(run.energy_error < 1e-7 * run.column("energy.kinetic").maxCoeff());  // samples included
      // Flat twice a turn, and told so.
      const double turned = -run.value(run.samples() - 1, "bar0.theta") / std::numbers::pi;
      Index flat = 0;
      for (const auto& n : run.notes)
        if (n.kind == "singular pose") {
          ++flat;
          Index k = 0;
          (run.column("t").array() - n.t).abs().minCoeff(&k);
          CHECK(std::abs(std::cos(run.value(k, "bar0.theta"))) < 0.35);  // samples are 0.05 s apart
          CHECK(n.text.find("depend on each other") != std::string::npos);
        }
      CHECK(flat == static_cast<Index>(std::floor(turned + 0.5)));
      double tilt = 0;
      for (int k = 0; k < N; ++k)
        tilt = std::max(tilt, run.column(fmt::format("coupler{}.theta", k)).array().sin().abs().maxCoeff());
      CHECK(tilt < 1e-9);
      // One rotating bar that stands for all:  I phi'' = W g sin(phi).
      double turns = 0, moment = 0;
      const auto mass = [&](int i) { return 1 + uneven * ((7 * i) % 5); };
      for (int i = 0; i <= N; ++i) turns += mass(i) / 3, moment += mass(i) / 2;
      for (int k = 0; k < N; ++k) turns += mass(k + 3), moment += mass(k + 3);
      const double phi = -run.value(run.samples() - 1, "bar0.theta"), w = -run.value(run.samples() - 1, "bar0.theta'");
      CHECK(w * w == doctest::Approx(1 + 2 * moment / turns * g * (1 - std::cos(phi))).epsilon(1e-6));
    }
}

namespace {

// A four-bar that lies flat once a turn and has no symmetry: crank 2, coupler 3, rocker 4, feet 3 apart; 2 + 4 = 3 + 3.
// Two branches of motion cross there.
struct FlatFourBar {
  static constexpr std::array<double, 3> length{2, 3, 4}, mass{1, 0.4, 2.5};
  using D = Dual<double, 1>;

  // Crank, coupler and rocker by the angle of the crank, with slopes, on a branch that is smooth in the flat pose: the
  // angle alpha between the rocker and the line to the crank's tip, d away, changes its sign there.
  static std::array<Vec<D, 3>, 3> pose(double angle) {
    const D t = D::variable(angle, 0), d = sqrt(13.0 - 12.0 * cos(t));
    const D alpha = 2.0 * asin(sin(0.5 * t) * sqrt(24.0 * (7.0 - d) / (16.0 * d * (d + 1.0))));
    const Vec<D, 2> tip(2.0 * cos(t), 2.0 * sin(t));
    const D psi = atan2(tip[1], tip[0] - 3.0) + alpha;
    const Vec<D, 2> end(3.0 + 4.0 * cos(psi), 4.0 * sin(psi));
    return {Vec<D, 3>(cos(t), sin(t), t),
            Vec<D, 3>(0.5 * (tip[0] + end[0]), 0.5 * (tip[1] + end[1]), atan2(end[1] - tip[1], end[0] - tip[0])),
            Vec<D, 3>(0.5 * (3.0 + end[0]), 0.5 * end[1], psi)};
  }
  // E = I w^2 / 2 + V.
  static std::pair<double, double> inertia_and_potential(double angle) {
    double I = 0, V = 0;
    const auto p = pose(angle);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto square = [&](Index k) { return p[i][k].d[0] * p[i][k].d[0]; };
      I += mass[i] * (square(0) + square(1) + length[i] * length[i] / 12 * square(2));
      V += mass[i] * g * p[i][1].v;
    }
    return {I, V};
  }
  // The time the crank takes from one angle to another, by its energy: Simpson's rule.
  static double time(double from, double w, double to) {
    const auto [I0, V0] = inertia_and_potential(from);
    const double E = 0.5 * I0 * w * w + V0;
    const int n = 4000 * static_cast<int>(std::ceil(to - from));
    const double h = (to - from) / n;
    double sum = 0;
    for (int k = 0; k <= n; ++k) {
      const auto [I, V] = inertia_and_potential(from + h * k);
      sum += (k == 0 || k == n ? 1 : k % 2 ? 4 : 2) * std::sqrt(I / (2 * (E - V)));
    }
    return sum * h / 3;
  }
  static Problem problem(double angle, double w) {
    Problem p{Assembly("flat_four_bar"), {}, {}, {}};
    Assembly& a = p.assembly;
    a.set_gravity({0, -g, 0});
    const auto ground = a.add("ground", Ground{});
    std::vector<Handle<PlanarBody>> bar;
    const std::array<const char*, 3> names{"crank", "coupler", "rocker"};
    for (std::size_t i = 0; i < 3; ++i) {
      bar.push_back(a.add(names[i], PlanarBody{.mass = mass[i], .inertia = mass[i] * length[i] * length[i] / 12}));
      const Vec<D, 3> q = pose(angle)[i];
      a.place(bar[i], {q[0].v, q[1].v, q[2].v});
      p.start.push_back({fmt::format("{}'", names[i]), {q[0].d[0] * w, q[1].d[0] * w, q[2].d[0] * w}});
    }
    a.connect("left", Pin{.on_a = {0, 0}, .on_b = {-1, 0}}, ground, bar[0]);
    a.connect("tip", Pin{.on_a = {1, 0}, .on_b = {-1.5, 0}}, bar[0], bar[1]);
    a.connect("end", Pin{.on_a = {1.5, 0}, .on_b = {2, 0}}, bar[1], bar[2]);
    a.connect("right", Pin{.on_a = {3, 0}, .on_b = {-2, 0}}, ground, bar[2]);
    return p;
  }
};

}  // namespace

TEST_CASE("simulate: a four-bar without symmetry keeps its branch of motion through flat poses") {
  for (const auto& [angle, speed, turns] : {std::tuple{1.0, 8.0, 2}, {2.2, 9.0, 4}, {2.2, 14.0, 7}}) {
    const double w = speed;
    const Problem p = FlatFourBar::problem(angle, w);
    for (const auto& [given, most] :
         {std::pair{1e-6, 1e-2}, {1e-8, 2e-4}, {1e-10, 5e-7}, {1e-12, 5e-9}, {1e-13, 1e-9}}) {
      const double tolerance = given;
      CAPTURE(w);
      CAPTURE(tolerance);
      const Trajectory run = p.run({.duration = 5, .steps = {.tolerance = tolerance}});
      CAPTURE(run.text());
      REQUIRE(run.finished);
      const Index last = run.samples() - 1;
      const double crank = run.value(last, "crank.theta");
      const double late = FlatFourBar::time(angle, w, crank) - run.value(last, "t");
      CHECK(std::abs(late * run.value(last, "crank.theta'")) < most);
      double off = 0;
      for (Index k = 0; k <= last; ++k) {
        const auto pose = FlatFourBar::pose(run.value(k, "crank.theta"));
        off = std::max({off, std::abs(run.value(k, "coupler.x") - pose[1][0].v),
                        std::abs(run.value(k, "rocker.y") - pose[2][1].v)});
      }
      CHECK(off < std::max(1e-9, tolerance));  // samples are between steps
      CHECK(std::count_if(run.notes.begin(), run.notes.end(),
                          [](const auto& n) { return n.kind == "singular pose"; }) == turns);
    }
  }
}

TEST_CASE("simulate: the loop of Bricard with uneven masses, from a pose without symmetry") {
  Problem p = bricard(0.7);
  const System system(p.assembly);
  State start = simulate(system, system.state(), {.duration = 0.37}).last;
  start.v.setZero();
  const Trajectory run = simulate(system, start, {.duration = 10, .sample = 0.25});
  CHECK(run.finished);
  CHECK(run.energy_error < 1e-4);
  for (const auto& d : run.drift) CHECK(d.largest < 1e-12);
  const Trajectory fine = simulate(system, start, {.duration = 10, .steps = {.tolerance = 1e-13}, .sample = 0.25});
  double moved = 0;
  for (const std::string& name : p.columns) {
    CHECK((run.column(name) - fine.column(name)).cwiseAbs().maxCoeff() < 1e-6);
    moved = std::max(moved, fine.column(name).maxCoeff() - fine.column(name).minCoeff());
  }
  CHECK(moved > 0.5);
}

TEST_CASE("simulate: the error of a pendulum falls as the order of the method promises") {
  const Problem p = pendulum();
  CHECK(p.run({.duration = 10, .sample = 0.1}).energy_error < 5e-5);
  std::vector<double> errors;
  for (const double tolerance : {1e-6, 1e-8, 1e-10, 1e-12})
    errors.push_back(p.error(p.run({.duration = 10, .steps = {.tolerance = tolerance}, .sample = 0.1})));
  for (std::size_t i = 1; i < errors.size(); ++i) {
    CAPTURE(i);
    CHECK(errors[i] < errors[i - 1] / 30);  // in proportion to the tolerance
    CHECK(errors[i] > errors[i - 1] / 400);
  }
  errors.clear();
  for (const double h : {0.005, 0.0025})
    errors.push_back(p.error(p.run({.duration = 10, .integrator = "rk4", .steps = {.step = h}, .sample = 0.1})));
  CHECK(errors[0] / errors[1] == doctest::Approx(16).epsilon(0.15));
}

TEST_CASE("simulate: sampling does not change the run, and the output between steps is as good as the steps") {
  const Problem p = pendulum();
  const Trajectory coarse = p.run({.duration = 2, .sample = 0.5}), fine = p.run({.duration = 2, .sample = 0.001});
  CHECK(coarse.last.q == fine.last.q);
  CHECK(coarse.steps == fine.steps);
  CHECK(coarse.samples() == 5);
  CHECK(fine.samples() == 2001);
  for (Index k = 0; k < 5; ++k) CHECK(coarse.value(k, "bob.x") == fine.value(500 * k, "bob.x"));
  CHECK((fine.column("energy.total").array().abs().maxCoeff() < 1e-5));
  const Trajectory steps = p.run({.duration = 2, .sample = 0});
  CHECK(steps.samples() == steps.steps + 1);
  CHECK(steps.last.q == fine.last.q);
}

TEST_CASE("simulate: a rough start is brought onto the constraints; one that cannot be is refused with its joints") {
  Problem p = four_bars(2);
  p.start.push_back({"coupler0", {0.55, 0.9, 0.05}});
  p.start.push_back({"bar2.x", {2.1}});
  const Trajectory run = p.run({.duration = 0.5});
  CHECK(run.finished);
  for (const auto& d : run.drift) CHECK(d.largest < 1e-13);
  const System system(p.assembly);
  State s = consistent(system, p.state(system));
  CHECK(system.evaluate(s).phi.cwiseAbs().maxCoeff() < 1e-13);

  Assembly apart("apart");
  const auto ground = apart.add("ground", Ground{});
  const auto bob = apart.add("bob", Particle<2>{.mass = 1});
  apart.connect("left", Distance<2>{.on_a = {-2, 0}, .length = 1}, ground, bob);
  apart.connect("right", Distance<2>{.on_a = {2, 0}, .length = 1}, ground, bob);
  const System impossible(apart);
  s = impossible.state();
  s.set("bob.y", 0.3);
  CHECK_THROWS_WITH_AS(consistent(impossible, s), doctest::Contains("the joints that are off the most: '"),
                       NotConverged);
}

TEST_CASE("simulate: events are found between steps, recorded, stop the run or change the state") {
  const double period = 2.3678419475762374493;
  const Problem p = pendulum();
  const auto bob = [](const State& s) { return s.get("bob.x"); };
  const SimulationOptions watch{
      .duration = 3, .steps = {.tolerance = 1e-11}, .events = {{"below", bob}, {"to the right", bob, 1}}};
  Trajectory run = p.run(watch);
  REQUIRE(run.notes.size() == 5);
  CHECK(run.notes[0].text == "below");
  CHECK(run.notes[1].text == "to the right");
  CHECK(run.notes[0].t == doctest::Approx(period / 4).epsilon(1e-9));
  CHECK(run.notes[2].t == doctest::Approx(3 * period / 4).epsilon(1e-9));
  CHECK(run.notes[3].t == doctest::Approx(5 * period / 4).epsilon(1e-9));

  SimulationOptions stop = watch;
  stop.events = {{"below", bob, 0, true}};
  run = p.run(stop);
  CHECK(run.finished);
  CHECK(run.last.t == doctest::Approx(period / 4).epsilon(1e-9));
  CHECK(std::abs(run.last.get("bob.x")) < 1e-9);
  CHECK(run.value(run.samples() - 1, "t") == run.last.t);

  // Thrown back with half its speed, it rises to a quarter of the height.
  stop.events = {{"bounce", bob, 0, false, [](State& s) { s.v *= -0.5; }}};
  stop.duration = 1.5;
  run = p.run(stop);
  CHECK(run.finished);
  double highest = -1;
  for (Index k = 0; k < run.samples(); ++k)
    if (run.value(k, "t") > period / 4 + 0.01) highest = std::max(highest, run.value(k, "bob.y"));
  CHECK(highest == doctest::Approx(-0.75).epsilon(1e-4));
  CHECK(run.energy_error < 1e-8);
}

TEST_CASE("simulate: energy is balanced with drivers, dampers and friction") {
  Assembly a("drive");
  a.set_gravity({0, -g, 0});
  const auto ground = a.add("ground", Ground{});
  const auto crank = a.add("crank", PlanarBody{.mass = 1, .inertia = 0.2});
  const auto rod = a.add("rod", PlanarBody{.mass = 2, .inertia = 0.5});
  const auto block = a.add("block", PlanarBody{.mass = 3, .inertia = 1});
  a.place(crank, {0.15, 0, 0});
  a.place(rod, {0.8, 0, 0});
  a.place(block, {1.3, 0, 0});
  a.connect("shaft", Pin{.on_b = {-0.15, 0}}, ground, crank);
  a.connect("elbow", Pin{.on_a = {0.15, 0}, .on_b = {-0.5, 0}}, crank, rod);
  a.connect("wrist", Pin{.on_a = {0.5, 0}}, rod, block);
  a.connect("guide", Coulomb{Slider{}, {.coefficient = 0.2, .speed = 0.05}}, ground, block);
  a.connect("motor", DrivePlanarAngle{.f = [](const auto& t) { return 4.0 * t; }}, ground, crank);
  a.apply("spring", Spring<2>{.on_a = {2, 0}, .stiffness = 100, .damping = 20, .length = 0.5}, ground, block);
  const System system(a);
  const Trajectory run = simulate(system, system.state(), {.duration = 2, .steps = {.tolerance = 1e-9}});
  CAPTURE(run.text());
  CHECK(run.finished);
  CHECK((run.column("energy.total").array() - run.value(0, "energy.total")).abs().maxCoeff() > 1);
  CHECK(run.energy_error < 1e-5);
}

TEST_CASE("simulate: what goes wrong on the way ends the trajectory and loses nothing") {
  Assembly a("fall");
  a.set_gravity({0, -g, 0});
  const auto bob = a.add("bob", Particle<2>{.mass = 1});
  a.apply("wall",
          AppliedForce<2, decltype([](const auto& body, const auto& t) {
                         using T = std::remove_cvref_t<decltype(t)>;
                         using std::sqrt;
                         return Vec2<T>(sqrt(T(1.0 + body.coordinate("y"))), T(0.0));  // not finite below y = -1
                       })>{},
          bob);
  const System system(a);
  const Trajectory run = simulate(system, system.state(), {.duration = 2});
  CHECK(!run.finished);
  CHECK(run.stopped.find("'wall'") != std::string::npos);
  CHECK(run.last.t == doctest::Approx(std::sqrt(2 / g)).epsilon(1e-3));
  CHECK(run.samples() >= 45);
  CHECK(run.text().find("STOPPED") == 0);

  int calls = 0;
  const Trajectory halted = pendulum().run({.duration = 10, .progress = [&](double, double) { return ++calls < 5; }});
  CHECK(!halted.finished);
  CHECK(halted.steps == 5);
  CHECK(halted.stopped.find("stopped by the caller") == 0);
}

TEST_CASE("simulate: bad input gets a message") {
  const Problem p = pendulum();
  const System system(p.assembly);
  const auto refuse = [&](const SimulationOptions& options, const char* message) {
    CHECK_THROWS_WITH_AS(simulate(system, system.state(), options), message, InvalidModel);
  };
  refuse({.duration = -1}, "run of 'pendulum': duration = -1 s; give a number > 0");
  refuse({}, "run of 'pendulum': duration = 0 s; give a number > 0");
  refuse({.duration = 1, .sample = -1}, "run of 'pendulum': sample = -1 s; give a number >= 0");
  refuse({.duration = 1, .integrator = "euler"},
         fmt::format("integrator 'euler': there is no integrator of this name; there are {}",
                     fmt::join(stepper_names(), ", "))
             .c_str());
  if (stepper_names() != all_stepper_names())
    refuse({.duration = 1, .integrator = "cvode_bdf"},
           "integrator 'cvode_bdf': this build of mortise has no CVODE; build it where SUNDIALS is installed "
           "(libsundials-dev), or take one of dopri5, rk4, radau5, gauss, generalized_alpha");
  refuse({.duration = 1, .integrator = "rk4"}, "integrator 'rk4': it has fixed steps, and step = 0 s; give a step > 0");
  refuse({.duration = 1, .steps = {.tolerance = 0}}, "integrator 'dopri5': tolerance = 0; give one from 1e-14 to 0.1");
  refuse({.duration = 1, .events = {{"empty", {}}}}, "event 'empty': it has no function; give value(state)");
  State s = system.state();
  s.q[0] = std::nan("");
  CHECK_THROWS_AS(simulate(system, s, {.duration = 1}), NonFinite);
  const System nothing{Assembly("nothing")};
  CHECK_THROWS_WITH_AS(simulate(nothing, nothing.state(), {.duration = 1}),
                       "run of 'nothing': it has no coordinates; add bodies that can move", InvalidModel);
}

TEST_CASE("trajectory: a file of named columns with units, written as a whole or not at all") {
  const Trajectory run =
      pendulum().run({.duration = 0.1, .sample = 0.05, .record = {.coordinates = true, .energy = false}});
  const std::string path = "trajectory_test.csv";
  run.write_csv(path);
  std::ifstream in(path);
  std::string header, line;
  std::getline(in, header);
  CHECK(header.rfind("t [s],bar.x [m],bar.x' [m/s],bar.x'' [m/s^2],", 0) == 0);
  Index lines = 0;
  while (std::getline(in, line)) {
    std::istringstream numbers(line);
    std::string number;
    for (std::size_t i = 0; std::getline(numbers, number, ','); ++i)
      CHECK(std::strtod(number.c_str(), nullptr) ==
            run.values[static_cast<std::size_t>(lines) * run.columns.size() + i]);
    ++lines;
  }
  CHECK(lines == run.samples());
  std::remove(path.c_str());
  CHECK_THROWS_WITH_AS(run.write_csv("no/such/folder/run.csv"),
                       doctest::Contains("file 'no/such/folder/run.csv': cannot be written: No such file"), FileError);
  CHECK_THROWS_WITH_AS(run.write_csv("/dev/full/x"), doctest::Contains("cannot be written"), FileError);
  CHECK_THROWS_WITH_AS(run.column("bob.z"), doctest::Contains("did you mean 'bob.x'?"), InvalidModel);
}

TEST_CASE("checkpoint: a run that is interrupted anywhere ends to the last bit as one that is not") {
  const std::string file = "checkpoint_test.txt";
  const auto bob = [](const State& s) { return s.q[0] - 0.2; };
  for (const Problem& p : {pendulum(), four_bars(2), bricard()}) {
    CAPTURE(p.assembly.name());
    SimulationOptions options{.duration = 2, .sample = 0.03, .events = {{"crossing", bob}}, .checkpoint = {file, 0.25}};
    std::remove(file.c_str());
    const Trajectory whole = p.run(options);
    REQUIRE(whole.finished);
    for (const int stop : {1, 9, 20, 33}) {
      CAPTURE(stop);
      std::remove(file.c_str());
      int steps = 0;
      options.progress = [&](double, double) { return ++steps < stop; };
      CHECK(!p.run(options).finished);
      options.progress = {};
      options.checkpoint.resume = true;  // where there is no file yet, from the start
      const Trajectory resumed = p.run(options);
      options.checkpoint.resume = false;
      CHECK(resumed.finished);
      CHECK(resumed.values == whole.values);
      CHECK(resumed.last.q == whole.last.q);
      CHECK(resumed.last.v == whole.last.v);
      CHECK(resumed.energy_error == whole.energy_error);
      CHECK(resumed.text() == whole.text());
    }
  }
  // Others are refused by what differs.
  const Problem p = pendulum();
  SimulationOptions options{.duration = 1, .checkpoint = {file, 0.25, true}};
  std::remove(file.c_str());
  (void)p.run(options);
  options.steps.tolerance = 1e-6;
  CHECK_THROWS_WITH_AS(
      p.run(options),
      "checkpoint 'checkpoint_test.txt': it is of another run: there tolerance = 1e-08, here tolerance = "
      "1e-06; resume with the model and the options it was made with",
      InvalidModel);
  options.steps.tolerance = 1e-8;
  Problem heavier = p;
  heavier.assembly.set_gravity({0, -10, 0});
  CHECK_THROWS_WITH_AS(heavier.run(options),
                       doctest::Contains("there gravity = (0, -9.81, 0), here gravity = (0, -10, 0)"), InvalidModel);
  CHECK_THROWS_WITH_AS(four_bars(2).run(options),
                       doctest::Contains("there system = pendulum, here system = n_four_bar"), InvalidModel);
  std::ofstream(file, std::ios::app) << "x";
  CHECK_THROWS_WITH_AS(p.run(options), doctest::Contains("it is not whole"), FileError);
  std::ofstream(file) << "something else";
  CHECK_THROWS_WITH_AS(p.run(options), doctest::Contains("it does not begin as a checkpoint"), FileError);
  std::remove(file.c_str());
  options.checkpoint = {"no/such/folder/x", 0.25};
  const Trajectory unsaved = p.run(options);
  CHECK(unsaved.finished);
  CHECK(unsaved.notes.back().text.find("file 'no/such/folder/x': cannot be written") != std::string::npos);
  options.checkpoint = {"", 0.25};
  CHECK_THROWS_WITH_AS(p.run(options), doctest::Contains("a checkpoint needs both a file and a time between"),
                       InvalidModel);
}

TEST_CASE("sweep: runs do not depend on the number of threads, and one that fails loses no other") {
  const System system(pendulum().assembly);
  const auto one = [&](std::size_t i) {
    if (i == 3) Label{"run", "3"}.fail<InvalidModel>("it is bad", "leave it out");
    State s = system.state();
    s.set("bob", {-std::cos(0.1 * double(i)), -std::sin(0.1 * double(i))});
    s.set("bar.theta", 0.1 * double(i));
    return simulate(system, s, {.duration = 1, .sample = 0.1});
  };
  std::size_t told = 0;
  const auto alone = sweep(8, one, 1),
             together = sweep(8, one, 3, [&](std::size_t count) { told = std::max(told, count); });
  CHECK(told == 8);
  REQUIRE(together.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    CAPTURE(i);
    CHECK(together[i].trajectory.has_value() == (i != 3));
    if (i == 3)
      CHECK(together[i].failed == "run '3': it is bad; leave it out");
    else
      CHECK(together[i].trajectory->values == alone[i].trajectory->values);
  }
  CHECK_THROWS_AS(sweep(2, one, -1), InvalidModel);
  CHECK(sweep(0, one).empty());
}

TEST_SUITE("long") {
  TEST_CASE("simulate: a thousand seconds stay on the constraints, without growth") {
    for (const Problem& p : {double_pendulum(), bricard()}) {
      const Trajectory run = p.run({.duration = 1000, .sample = 1});
      CAPTURE(run.text());
      CHECK(run.finished);
      for (const auto& d : run.drift) CHECK(d.largest < 1e-10);
    }
  }
}
