// One rank, mass-free, at every size: ranks of closed-loop robots against dense singular values, verdicts that neither
// units nor masses nor places change, and light links that make no joint redundant at any door.

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Geometry>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/core/fundamental.h>
#include <mortise/forces/functor.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/slider.h>
#include <mortise/solve/solve.h>
#include <mortise/solve/solver.h>

#include "counts.h"
#include "dense.h"
#include "quad_reference.h"
#include "random_mechanisms.h"

using namespace mortise;
using namespace mortise::testing;

namespace {

// An arm of four-bar loops, each on the coupler of the one before and turned about its edge; every other coupler
// carries a frame of `padding` kg.  A plane loop in space: 20 rows of four revolutes, 3 of them redundant, 1 DOF.
Assembly arm(int loops, double padding) {
  Assembly a("arm");
  a.set_gravity({0, 0, -9.81});
  const auto ground = a.add("ground", Ground{});
  const RigidBody bar{.mass = 1, .inertia = Vec3<double>(0.01, 0.1, 0.1).asDiagonal(), .centre = {0.5, 0, 0}};
  const RigidBody frame{.mass = padding, .inertia = padding * Mat<double, 3>::Identity()};
  Mat<double, 3> R = Mat<double, 3>::Identity(), last_R = R;
  Vec3<double> origin(0, 0, 0), last_at = origin;
  std::optional<Handle<RigidBody>> last;
  const auto place = [&](const Handle<RigidBody>& body, const Vec3<double>& at, double angle) {
    const Mat<double, 3> turned = R * Eigen::AngleAxisd(angle, Vec3<double>::UnitZ()).toRotationMatrix();
    const Eigen::Quaterniond u(turned);
    a.place(body, RigidBody::pose(origin + R * at, {u.w(), u.x(), u.y(), u.z()}));
  };
  for (int i = 0; i < loops; ++i) {
    const double angle = 0.9 + 0.01 * i;
    const auto name = [&](const char* part) { return fmt::format("{}{}", part, i); };
    const auto crank = a.add(name("crank"), bar), coupler = a.add(name("coupler"), bar),
               rocker = a.add(name("rocker"), bar);
    const Vec3<double> end(std::cos(angle), std::sin(angle), 0), foot(1.2, 0, 0), tip = end + Vec3<double>(1, 0, 0);
    place(crank, {0, 0, 0}, angle);
    place(coupler, end, 0);
    const Vec3<double> side = tip - foot;
    place(rocker, foot, std::atan2(side[1], side[0]));
    const double length = side.norm();
    // On the coupler before, or the ground: axes along z of this loop's plane.
    const Vec3<double> z = R.col(2);
    const auto hang = [&](const char* joint, const Vec3<double>& at, const Handle<RigidBody>& body) {
      const Vec3<double> world = origin + R * at;
      if (!last) return a.connect(name(joint), Revolute{.on_a = world, .axis_a = z}, ground, body);
      a.connect(
          name(joint),
          Revolute{.on_a = last_R.transpose() * (world - last_at), .axis_a = Vec3<double>(last_R.transpose() * z)},
          *last, body);
    };
    hang("pivot", {0, 0, 0}, crank);
    hang("foot", foot, rocker);
    a.connect(name("elbow"), Revolute{.on_a = {1, 0, 0}}, crank, coupler);
    a.connect(name("tip"), Revolute{.on_a = {1, 0, 0}, .on_b = {length, 0, 0}}, coupler, rocker);
    if (i % 2 == 0) {
      const auto f = a.add(name("frame"), frame);
      place(f, end + Vec3<double>(0.5, 0.2, 0), 0);
      a.connect(name("mount"), Revolute{.on_a = {0.5, 0.2, 0}}, coupler, f);
      a.connect(name("guide"), Revolute{.on_a = {0.5, 0.2, 1}, .on_b = {0, 0, 1}}, coupler, f);
    }
    last = coupler;
    last_R = R;
    last_at = origin + R * end;
    origin += R * (end + Vec3<double>(0.3, 0.1, 0));
    R = R * Eigen::AngleAxisd(0.4 + 0.03 * i, Vec3<double>(0.6, 0, 0.8)).toRotationMatrix();
  }
  return a;
}

}  // namespace

TEST_CASE("one rank: an arm of closed loops, short and long") {
  for (const int loops : {1, 2, 3, 4, 26})
    for (const double padding : {1.0, 1e-9, 0.0}) {
      CAPTURE(loops);
      CAPTURE(padding);
      const System system(arm(loops, padding));
      const Index frames = (loops + 1) / 2, n = 7 * (3 * loops + frames), dof = loops + frames;
      REQUIRE(system.size() == n);
      const Evaluation e = system.evaluate(system.state());
      REQUIRE(e.phi.cwiseAbs().maxCoeff() < 1e-12);
      const RankReport report = check_rank(system, e);
      CHECK(report.rank.rank_A == n - dof);
      CHECK(report.rank.rank_A == dense_rank(e.dense_A()));
      CHECK(static_cast<Index>(report.redundant.size()) == system.rows() - (n - dof));
      CHECK(report.dof == dof);
      CHECK(report.determined() == (padding > 0));  // a frame of no mass may turn about its mount
    }
}

TEST_CASE("one rank: a long chain is as healthy as a short one, whatever it starts from") {
  // Scales that are found body by body must not grow along the chain.  Links of 0.1 to 10 m, hinges in turn along two
  // axes: 5 rows of each hinge and the norm of each quaternion, 1 DOF per link.  Up to 16 rows are decomposed whole.
  for (const Index n : {2, 3, 5, 100, 3000}) {
    CAPTURE(n);
    Assembly a("chain");
    a.set_gravity({0, 0, -9.81});
    const auto ground = a.add("ground", Ground{});
    std::optional<Handle<RigidBody>> last;
    Vec3<double> end(0, 0, 0);
    double half = 0;
    for (Index i = 0; i < n; ++i) {
      const double length = std::pow(10, std::sin(static_cast<double>(i)));
      const Vec3<double> axis = i % 2 == 0 ? Vec3<double>::UnitZ() : Vec3<double>::UnitY();
      const auto link =
          a.add(fmt::format("link{}", i),
                RigidBody{.mass = length, .inertia = length * Vec3<double>(0.01, 1, 1).asDiagonal().toDenseMatrix()});
      const Revolute hinge{.on_a = {half, 0, 0}, .on_b = {-length / 2, 0, 0}, .axis_a = axis, .axis_b = axis};
      if (last)
        a.connect(fmt::format("hinge{}", i), hinge, *last, link);
      else
        a.connect("hinge0", hinge, ground, link);
      a.place(link, RigidBody::pose(end + Vec3<double>(length / 2, 0, 0), {1, 0, 0, 0}));
      last = link;
      half = length / 2;
      end[0] += length;
    }
    const System system(a);
    const RankReport report = check_rank(system, system.evaluate(system.state()));
    CHECK(report.ok());
    CHECK(report.redundant.empty());
    CHECK(report.warnings.empty());
    CHECK(report.rank.rank_A == 6 * n);
    CHECK(report.dof == n);
    REQUIRE(report.rank.smallest_row.has_value());
    // Translations of n equal links alone: 2 sin(pi / (4 n + 2)).
    CHECK(*report.rank.smallest_row > 0.1 / static_cast<double>(n));
  }
}

TEST_CASE("one rank: units of length, masses over 24 decades and places far away change no verdict") {
  constexpr double same = 1e-5;  // of the smallest singular value: round-off of points 1e6 away, over 1e6
  unsigned redundant = 0;
  for (unsigned seed = 0; seed < many(120, 30); ++seed) {
    CAPTURE(seed);
    const Mechanism m = random_mechanism(seed, {.doubled = 0.2, .large = false});
    const auto look = [](const Mechanism& x, const Units& u = {}) {
      const Model model = build(x, {.units = u});
      return check_rank(model.system, model.system.evaluate(model.state));
    };
    const RankReport report = look(m);
    redundant += !report.redundant.empty();
    const auto check = [&](const RankReport& other) {
      CHECK(other.determined() == report.determined());
      CHECK(other.rank.rank_A == report.rank.rank_A);
      CHECK(other.rank.smallest_row.value_or(1) == doctest::Approx(report.rank.smallest_row.value_or(1)).epsilon(same));
      CHECK(other.rank.kept.value_or(1) == doctest::Approx(report.rank.kept.value_or(1)).epsilon(same));
    };
    for (const double length : {1e-3, 1e3}) {
      const RankReport other = look(m, {.length = length});
      check(other);
      // Which rows are named does not depend on units either.
      REQUIRE(other.redundant.size() == report.redundant.size());
      for (std::size_t i = 0; i < report.redundant.size(); ++i) {
        CHECK(other.redundant[i].row == report.redundant[i].row);
        CHECK(other.redundant[i].set == report.redundant[i].set);
      }
    }
    Mechanism heavy = m;
    for (std::size_t i = 0; i < heavy.bodies.size(); ++i) {
      BodyPlan& b = heavy.bodies[i];
      const double factor = std::pow(10, static_cast<double>((7 * i + seed) % 25) - 12);
      b.mass *= factor, b.inertia *= factor, b.M *= factor;
    }
    check(look(heavy));
    for (const double away : {1e3, 1e6}) {
      Mechanism far = m;
      const Vec3<double> off = away * Vec3<double>(0.6, 0.8, 0);
      for (BodyPlan& b : far.bodies)
        if (b.kind != Kind::ground && b.kind != Kind::pair)
          b.q.head(b.in_space() ? 3 : 2) += off.head(b.in_space() ? 3 : 2);
      for (JointPlan& j : far.joints)
        if (far.bodies[j.a].kind == Kind::ground) j.on_a += off;
      check(look(far));
    }
  }
  CHECK(redundant > 20);
}

namespace {

// The check, solve(), Solver, the forms and the first step of a run: healthy, and accelerations as 50 digits tell.
void check_doors(const System& system) {
  const State s = system.state();
  const Evaluation e = system.evaluate(s);
  const Reference reference = quad_reference(system, e);
  REQUIRE(reference.found);
  const double size = reference.a.cwiseAbs().maxCoeff(), known = 1e-9 * size;
  const RankReport report = check_rank(system, e);
  CAPTURE(report.text());
  CHECK(report.ok());
  CHECK(report.redundant.empty());
  CHECK(report.warnings.empty());
  const auto off = [&](const VectorXd& a) { return (a - reference.a).cwiseAbs().maxCoeff(); };
  const Solution one = solve(system, e);
  CHECK(off(one.a) <= known);
  CHECK(one.warnings.empty());
  Solver solver(system);
  CHECK(off(solver.solve(s)) <= known);
  CHECK(solver.warnings().empty());
  const Equations equations = system.equations(e);
  CHECK(off(udwadia_phohomsiri(equations).smallest.a) <= known);
  CHECK(off(udwadia_schutte(equations).a) <= known);
  CHECK(off(udwadia_mogharabin(equations).a) <= known);
  if (report.rank.rank_M == system.size()) {
    CHECK(off(udwadia_kalaba(equations).a) <= known);
    CHECK(off(extended_dalembert(equations).a) <= known);
  }
  constexpr double step = 1e-4;
  const Trajectory run = simulate(system, s, {.duration = step, .sample = 0});
  CAPTURE(run.text());
  REQUIRE(run.finished);
  CHECK((run.last.v / step - reference.a).cwiseAbs().maxCoeff() <= 1e-5 * size);  // from rest: to h^2
}

}  // namespace

TEST_CASE("doors: a press with a rod of next to no mass has 1 DOF and moves as its ram is pushed") {
  for (const double rod_mass : {1e-6, 1e-9, 1e-12, 1e-15}) {
    CAPTURE(rod_mass);
    Assembly a("press");
    a.set_gravity({0, -9.81, 0});
    const auto ground = a.add("ground", Ground{});
    const auto crank = a.add("crank", PlanarBody{.mass = 1000, .inertia = 10.0 / 3});
    const auto rod = a.add("rod", PlanarBody{.mass = rod_mass, .inertia = rod_mass});
    const auto ram = a.add("ram", PlanarBody{.mass = 1000, .inertia = 10});
    const double c = std::cos(1.0), s = std::sin(1.0), tilt = -std::asin(0.2 * s / 0.6), half = 0.3;
    a.place(crank, {0.1 * c, 0.1 * s, 1});
    a.place(rod, {0.2 * c + half * std::cos(tilt), 0.1 * s, tilt});
    a.place(ram, {0.2 * c + 2 * half * std::cos(tilt), 0, 0});
    a.connect("axle", Pin{.on_b = {-0.1, 0}}, ground, crank);
    a.connect("big_end", Pin{.on_a = {0.1, 0}, .on_b = {-half, 0}}, crank, rod);
    a.connect("small_end", Pin{.on_a = {half, 0}}, rod, ram);
    a.connect("rail", Slider{}, ground, ram);
    a.apply("load", Force{[](auto& b, const auto&) { b.apply_to("x", -1000.0); }}, ram);
    const System system(a);
    CHECK(check_rank(system, system.evaluate(system.state())).dof == 1);
    CHECK(solve(system, system.state()).a[6] == doctest::Approx(1.2385).epsilon(1e-4));
    check_doors(system);
  }
}

TEST_CASE("doors: an open chain with a tiny link between has no redundant rows") {
  for (const double mass : {1e-6, 1e-9, 1e-12}) {
    CAPTURE(mass);
    Assembly a("blade");
    const auto ground = a.add("ground", Ground{});
    const auto knuckle = a.add("knuckle", RigidBody{.mass = mass, .inertia = 1e-5 * mass * Mat<double, 3>::Identity()});
    const auto blade = a.add("blade", RigidBody{.mass = 1000, .inertia = 100 * Mat<double, 3>::Identity()});
    a.place(blade, RigidBody::pose({1, 0, 0}, {1, 0, 0, 0}));
    a.connect("flap", Revolute{.axis_a = {1, 0, 0}, .axis_b = {1, 0, 0}}, ground, knuckle);
    a.connect("pitch", Revolute{.on_b = {-1, 0, 0}, .axis_a = {0, 1, 0}, .axis_b = {0, 1, 0}}, knuckle, blade);
    a.apply("push", Force{[](auto& b, const auto& t) {
              using T = std::remove_cvref_t<decltype(t)>;
              b.apply_force(Vec3<double>(0, 0, 0), Vec<T, 3>(T(0), T(50), T(20)));
              b.apply_torque(Vec<T, 3>(T(0), T(0), T(100)));
            }},
            blade);
    check_doors(System(a));
  }
}

TEST_CASE("solve: the constraint force is the sum of the reactions, however heavy the last body of a chain") {
  for (const double heavy : {1.0, 1e4, 1e8, 1e12}) {
    CAPTURE(heavy);
    Assembly a("chain");
    a.set_gravity({0, -9.81, 0});
    const auto ground = a.add("ground", Ground{});
    std::optional<Handle<PlanarBody>> last;
    Vec2<double> end(0, 0);
    for (int i = 0; i < 25; ++i) {
      const double mass = i == 24 ? heavy : 1, angle = 0.3 + 0.2 * i;
      const auto rod = a.add(fmt::format("b{}", i), PlanarBody{.mass = mass, .inertia = mass / 12, .centre = {0.5, 0}});
      if (last)
        a.connect(fmt::format("j{}", i), Pin{.on_a = {1, 0}}, *last, rod);
      else
        a.connect("j0", Pin{}, ground, rod);
      a.place(rod, {end[0], end[1], angle});
      end += Vec2<double>(std::cos(angle), std::sin(angle));
      last = rod;
    }
    const System system(a);
    const Solution s = solve(system, system.state());
    VectorXd sum = VectorXd::Zero(system.size());
    for (const Reaction& r : s.reactions) sum += r.force;
    for (const auto& b : system.bodies()) {
      if (b.size == 0) continue;
      const VectorXd own = sum.segment(b.first, b.size);
      CHECK((s.Qc.segment(b.first, b.size) - own).norm() <= 1e-13 * (own.norm() + 1e-3));
    }
  }
}
