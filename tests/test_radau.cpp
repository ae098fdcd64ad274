// radau5: its slopes, order, accuracy, stiff systems, and where it stops.

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/forces/functor.h>
#include <mortise/forces/spring.h>
#include <mortise/integrators/kept_lu.h>
#include <mortise/integrators/motion_slopes.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/drive_angle.h>
#include <mortise/joints/drive_coordinate.h>
#include <mortise/joints/functor.h>
#include <mortise/joints/pin.h>

#include "problems.h"

using namespace mortise;

namespace {

constexpr double g = 9.81;

Trajectory run(const Problem& p, double duration, double tolerance, double sample = 0.05) {
  return p.run({.duration = duration, .integrator = "radau5", .steps = {.tolerance = tolerance}, .sample = sample});
}

// a_q dq + a_v dv by the slopes, beside differences of the solver along a motion on the constraints.
void check_slopes(const Problem& p, double after, double speed = 1) {
  const System system(p.assembly);
  CAPTURE(system.name());
  const Trajectory before = simulate(system, p.state(system), {.duration = after});
  const State s = before.last;
  Flow flow(system);
  flow.solver().leave_out_dependent(s);
  const VectorXd a = flow.acceleration(s), lambda = flow.solver().lambda();
  MotionSlopes slopes;
  slopes.begin(system, s, flow.solver().left_out());
  const VectorXd one = VectorXd::Ones(system.size());
  slopes.take(s, a, lambda, one, speed * one, 1e-8);
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (int k = 0; k < 5; ++k) {
    // Two states on the constraints, at the same time.
    constexpr double h = 1e-5;
    State up = s, down = s;
    for (Index i = 0; i < s.q.size(); ++i) {
      const double x = h * normal(random), y = h * normal(random);
      up.q[i] += x, down.q[i] -= x, up.v[i] += y, down.v[i] -= y;
    }
    flow.settle(up);
    flow.settle(down);
    const VectorXd dq = (up.q - down.q) / (2 * h), dv = (up.v - down.v) / (2 * h);
    const VectorXd above = flow.acceleration(up), below = flow.acceleration(down), expected = (above - below) / (2 * h);
    constexpr double few_digits = 1e-5;  // of one-sided differences with accelerations of 100
    // (s - J) (dq, dv) = (s dq - dv, s dv - da) has the solution (dq, dv) for every s if da is right.
    for (const double shift : {3.0, 100.0}) {
      MotionSlopes::Factor<double> factor;
      REQUIRE(factor.compute(slopes, shift));
      VectorXd q = shift * dq - dv, v = shift * dv - expected;
      factor.solve(q, v);
      CHECK((q - dq).cwiseAbs().maxCoeff() < few_digits * dq.cwiseAbs().maxCoeff());
      CHECK((v - dv).cwiseAbs().maxCoeff() < few_digits * std::max(dv.cwiseAbs().maxCoeff(), dq.cwiseAbs().maxCoeff()));
      MotionSlopes::Factor<std::complex<double>> pair;
      const std::complex<double> both(shift, 2 * shift);
      REQUIRE(pair.compute(slopes, both));
      Eigen::VectorXcd cq = both * dq - dv.cast<std::complex<double>>(), cv = both * dv - expected;
      pair.solve(cq, cv);
      CHECK((cq - dq).cwiseAbs().maxCoeff() < few_digits * dq.cwiseAbs().maxCoeff());
      CHECK((cv - dv).cwiseAbs().maxCoeff() <
            few_digits * std::max(dv.cwiseAbs().maxCoeff(), dq.cwiseAbs().maxCoeff()));
    }
  }
}

}  // namespace

TEST_CASE("slopes of the motion: they are those of the solver, whatever the joints, forces and bodies") {
  check_slopes(pendulum(), 0.3);
  check_slopes(bricard(), 0.4);
  check_slopes(rolling_disk(), 0.5);
  check_slopes(spherical_chain(), 0.3);
  check_slopes(wheel_on_slope(), 0.4);
  check_slopes(soft_pendulum(1e3, 10), 0.3);
  check_slopes(governor(8e2, 4e1), 0.2);
  check_slopes(car_axis(), 0.2);
}

TEST_CASE("slopes of the motion: differences over large velocities, as short steps take them, are no worse") {
  for (const double speed : {1e2, 1e4}) {
    check_slopes(bricard(), 0.4, speed);
    check_slopes(rolling_disk(), 0.5, speed);
    check_slopes(spherical_chain(), 0.3, speed);
    check_slopes(governor(8e2, 4e1), 0.2, speed);
  }
}

namespace {

// Solutions by a factor that is made again and again, beside those of a dense one.
template <class S> void check_kept_lu() {
  constexpr Index n = 40;
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::vector<Eigen::Triplet<double>> entries;
  for (Index i = 0; i < n; ++i) {
    entries.emplace_back(i, (i * 7 + 3) % n, 1);  // so that it is regular, and its diagonal is not
    for (int k = 0; k < 3; ++k) entries.emplace_back(i, static_cast<Index>(random() % n), 1);
  }
  Eigen::SparseMatrix<double> pattern(n, n);
  pattern.setFromTriplets(entries.begin(), entries.end());
  KeptLU<S> lu;
  lu.analyse(pattern);
  const auto number = [&] {
    if constexpr (std::is_same_v<S, double>)
      return normal(random);
    else
      return S(normal(random), normal(random));
  };
  for (int k = 0; k < 20; ++k) {
    CAPTURE(k);
    std::vector<S> values(static_cast<std::size_t>(pattern.nonZeros()));
    // Each time other ones are small, so that pivots that are kept would not do.
    for (S& x : values) x = number() * std::pow(10.0, normal(random));
    Eigen::SparseMatrix<S> matrix = pattern.template cast<S>();
    std::copy(values.begin(), values.end(), matrix.valuePtr());
    const Mat<S, dynamic, dynamic> full = matrix;
    Vec<S, dynamic> x(n);
    for (Index i = 0; i < n; ++i) x[i] = number();
    const Vec<S, dynamic> right = full * x;
    REQUIRE(lu.factor(values));
    Vec<S, dynamic> y = right;
    lu.solve(y);
    constexpr double round_off = 1e-9;  // of the sizes of the terms, with pivots down to a hundredth of their column
    CHECK((full * y - right).cwiseAbs().cwiseQuotient(full.cwiseAbs() * y.cwiseAbs()).maxCoeff() < round_off);
  }
  CHECK_FALSE(lu.factor(std::vector<S>(static_cast<std::size_t>(pattern.nonZeros()), S(0))));
}

}  // namespace

TEST_CASE("a factor that is made again: its solutions fit, whatever the values, and no singular matrix has one") {
  check_kept_lu<double>();
  check_kept_lu<std::complex<double>>();
}

TEST_CASE("radau5: errors fall with the fifth power of the number of steps") {
  const auto order = [](Problem p, double until) {
    CAPTURE(p.assembly.name());
    while (p.expected.back().t > until) p.expected.pop_back();
    const Trajectory few = run(p, until, 1e-5), many = run(p, until, 1e-9);
    REQUIRE(few.finished);
    REQUIRE(many.finished);
    const double power = std::log(p.error(few) / p.error(many)) /
                         std::log(static_cast<double>(many.steps) / static_cast<double>(few.steps));
    CHECK(power > 4.5);  // what is left of Newton's iteration is an error, too
  };
  order(pendulum(), 2);
  order(spherical_chain(), 1);
  order(bricard(), 1);
  order(wheel_on_slope(), 2);
  order(car_axis(), 3);
}

TEST_CASE("radau5: errors follow the tolerance, at the samples too") {
  const auto follow = [](Problem p, double until, double travel) {
    CAPTURE(p.assembly.name());
    while (p.expected.back().t > until) p.expected.pop_back();
    for (const double tolerance : {1e-3, 1e-5, 1e-7, 1e-9}) {
      CAPTURE(tolerance);
      const Trajectory r = run(p, until, tolerance, until / 40);
      CAPTURE(r.text());
      REQUIRE(r.finished);
      CHECK(p.error(r) < 100 * tolerance * travel);
    }
  };
  follow(pendulum(), 2, 10);
  follow(spherical_chain(), 1, 10);
  follow(rolling_disk(), 2, 2);
  follow(bricard(), 1, 2);
  follow(wheel_on_slope(), 2, 2);
  follow(car_axis(), 3, 1);
  follow(squeezer(), 0.02, 1000);  // velocities of 700 rad/s
}

TEST_CASE("radau5: between steps the motion is known as well as at their ends") {
  const Problem p = governor();
  const System system(p.assembly);
  const auto at = [&](double tolerance, const char* method) {
    return simulate(system, p.state(system),
                    {.duration = 0.4, .integrator = method, .steps = {.tolerance = tolerance}, .sample = 0.01});
  };
  const Trajectory reference = at(1e-10, "dopri5"), few = at(1e-6, "radau5");
  REQUIRE(reference.finished);
  REQUIRE(few.finished);
  CHECK(few.steps < reference.steps / 20);
  for (const std::string& column : p.columns)
    CHECK((few.column(column) - reference.column(column)).cwiseAbs().maxCoeff() < 1e-5);
}

TEST_CASE("radau5: a stiff bushing takes steps of the slow motion") {
  const Problem p = soft_pendulum(1e8, 2e4);
  const Trajectory few = run(p, 2, 1e-5, 0.1);
  const Trajectory reference = p.run({.duration = 2, .steps = {.tolerance = 1e-8}, .sample = 0.1});
  CAPTURE(few.text());
  REQUIRE(few.finished);
  REQUIRE(reference.finished);
  CHECK(few.steps < 1000);
  CHECK(reference.steps > 20 * few.steps);
  CHECK((few.column("rod.theta") - reference.column("rod.theta")).cwiseAbs().maxCoeff() < 1e-3);
}

TEST_CASE("radau5: a damper of 1e12 holds its length, and the particle swings as on a rod") {
  Assembly a("held");
  a.set_gravity({0, -g, 0});
  const auto ground = a.add("ground", Ground{});
  const auto bob = a.add("bob", Particle<3>{.mass = 1});
  a.place(bob, {1, 0, 0});
  a.apply("damper", Spring<3>{.stiffness = 1, .damping = 1e12, .length = 1}, ground, bob);
  Assembly rod("rod");
  rod.set_gravity({0, -g, 0});
  const auto fixed = rod.add("ground", Ground{});
  const auto other = rod.add("bob", Particle<3>{.mass = 1});
  rod.place(other, {1, 0, 0});
  rod.connect("rod", Distance<3>{.length = 1}, fixed, other);
  const System held(a), stiff(rod);
  const State expected = simulate(stiff, stiff.state(), {.duration = 0.05, .steps = {.tolerance = 1e-11}}).last;
  for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
    const Trajectory r =
        simulate(held, held.state(), {.duration = 0.05, .integrator = "radau5", .steps = {.tolerance = tolerance}});
    CAPTURE(r.text());
    REQUIRE(r.finished);
    CHECK(r.steps < 2000);
    CHECK((r.last.q - expected.q).cwiseAbs().maxCoeff() < 100 * tolerance * 0.012);  // it falls by 0.012 m
  }
}

TEST_CASE("radau5: beams of few and of many segments, by dense and by sparse factors") {
  for (const int N : {4, 12}) {
    CAPTURE(N);
    const Problem p = lumped_beam(N);
    const System system(p.assembly);
    const auto end = [&](const char* method, double tolerance) {
      const Trajectory r =
          simulate(system, system.state(),
                   {.duration = 0.2, .integrator = method, .steps = {.tolerance = tolerance}, .sample = 1});
      REQUIRE(r.finished);
      return r.last;
    };
    CHECK((end("radau5", 1e-7).q - end("dopri5", 1e-9).q).cwiseAbs().maxCoeff() < 1e-5);
  }
}

TEST_CASE("radau5: drives, also of all there is") {
  // A pendulum on a pivot that is shaken: x'' + ... by dopri5 at a tight tolerance.
  Assembly a("shaken");
  a.set_gravity({0, -g, 0});
  const auto cart = a.add("cart", PlanarBody{.mass = 1, .inertia = 1});
  const auto bob = a.add("bob", Particle<2>{.mass = 1});
  a.place(bob, {0.6, -0.8});
  a.connect("x",
            DriveCoordinate{.coordinate = "x",
                            .f =
                                [](const auto& t) {
                                  using std::sin;
                                  return 0.1 * sin(20.0 * t);
                                }},
            cart);
  a.connect("y", DriveCoordinate{.coordinate = "y", .f = [](const auto&) { return 0.0; }}, cart);
  a.connect("theta", DriveCoordinate{.coordinate = "theta", .f = [](const auto& t) { return 3.0 * t; }}, cart);
  a.connect("rod", Distance<2>{.length = 1}, cart, bob);
  const System system(a);
  const State expected = simulate(system, system.state(), {.duration = 2, .steps = {.tolerance = 1e-12}}).last;
  for (const double tolerance : {1e-3, 1e-5, 1e-7, 1e-9}) {
    CAPTURE(tolerance);
    const Trajectory r =
        simulate(system, system.state(), {.duration = 2, .integrator = "radau5", .steps = {.tolerance = tolerance}});
    CAPTURE(r.text());
    REQUIRE(r.finished);
    CHECK((r.last.q - expected.q).cwiseAbs().maxCoeff() < 100 * tolerance);
  }
}

TEST_CASE("radau5: laws that are written for double only do as well") {
  Assembly a("plain");
  const auto bob = a.add("bob", Particle<1>{.mass = 1});
  a.place(bob, Vec<double, 1>(1.0));
  a.apply("spring", Force{[](ForceView<1, double>& b, double) {
            b.apply_force(Vec<double, 1>(0.0), Vec<double, 1>(-1e4 * b.point(Vec<double, 1>(0.0))[0] -
                                                              1e4 * b.point_velocity(Vec<double, 1>(0.0))[0]));
          }},
          bob);
  const System system(a);
  // x'' + 1e4 x' + 1e4 x = 0
  const double root = std::sqrt(1e8 / 4 - 1e4), slow = -5e3 + root, fast = -5e3 - root;
  const double expected = (fast * std::exp(slow) - slow * std::exp(fast)) / (fast - slow);
  const Trajectory r =
      simulate(system, system.state(), {.duration = 1, .integrator = "radau5", .steps = {.tolerance = 1e-8}});
  REQUIRE(r.finished);
  CHECK(r.last.get("bob.x") == doctest::Approx(expected).epsilon(1e-6));
}

TEST_CASE("radau5: where the motion ends it stops by name") {
  // x'' = -1/x^2 from rest at 1 arrives at 0 after pi/sqrt(8).
  Assembly a("fall");
  const auto bob = a.add("bob", Particle<1>{.mass = 1});
  a.place(bob, Vec<double, 1>(1.0));
  a.apply("pull", Potential{[](const auto& b, const auto&) { return -1.0 / b.coordinate("x"); }}, bob);
  const System system(a);
  const Trajectory r = simulate(system, system.state(), {.duration = 2, .integrator = "radau5"});
  CAPTURE(r.stopped);
  CHECK(!r.finished);
  CHECK(r.last.t == doctest::Approx(1.1107207345).epsilon(1e-6));
  CHECK(r.stopped.find("'bob'") != std::string::npos);
}

TEST_CASE("radau5: a step with which its iteration does not converge is not tried again and again") {
  const Problem p = soft_pendulum(1e8, 2e4);  // its spring turns
  for (const double tolerance : {1e-4, 1e-6}) {
    const Trajectory stiff = run(p, 2, tolerance, 2);
    REQUIRE(stiff.finished);
    CHECK(stiff.rejected < stiff.steps / 2);
  }
}

TEST_CASE("runs: no time that is too short for its parts to be told apart") {
  for (const char* method : {"radau5", "dopri5", "generalized_alpha", "gauss", "rk4"}) {
    CAPTURE(method);
    for (const double duration : {std::numeric_limits<double>::denorm_min(), 1e-300})
      CHECK_THROWS_WITH_AS(four_bars(1).run({.duration = duration, .integrator = method, .steps = {.step = 1e-3}}),
                           doctest::Contains("give a longer one"), InvalidModel);
    // Beyond, a run ends, or says why it does not.
    const Trajectory run = four_bars(1).run({.duration = 1e-280, .integrator = method, .steps = {.step = 1e-281}});
    CHECK(run.finished == run.stopped.empty());
  }
}
