// Joints whose frames are turned: no door takes the rows for met, and mechanisms told as free at one pose are free
// there only.

#include <doctest/doctest.h>

#include <numbers>
#include <random>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/prismatic.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/weld.h>
#include <mortise/solve/solve.h>
#include <mortise/solve/solver.h>

namespace mortise {
namespace {

struct Turned {
  Assembly assembly{"turned"};
  template <class J> Turned(const J& joint, double angle, const Vec3<double>& about) {
    const auto ground = assembly.add("ground", Ground{});
    const auto lid = assembly.add("lid", RigidBody{.mass = 1, .inertia = Vec3<double>(1, 2, 2.5).asDiagonal()});
    const Vec3<double> u = std::sin(angle / 2) * about.normalized();
    assembly.place(lid, RigidBody::pose({0, 0, 0}, {std::cos(angle / 2), u[0], u[1], u[2]}));
    assembly.connect("seat", joint, ground, lid);
    assembly.set_gravity({0, -9.81, 0});
  }
};

}  // namespace

TEST_CASE("a joint that holds frames together is refused by every door where they are half a turn off") {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (int k = 0; k < 6; ++k) {
    const Vec3<double> about(normal(random), normal(random), normal(random));
    for (const bool weld : {true, false}) {
      const Turned t = weld ? Turned(Weld{}, std::numbers::pi, about) : Turned(Prismatic{}, std::numbers::pi, about);
      const System system(t.assembly);
      const State s = system.state();
      const RankReport report = check_model(system, s);
      CHECK(!report.ok());
      REQUIRE(report.turned.size() == 1);
      CHECK(report.turned[0].joint == "seat");
      CHECK(report.turned[0].angle == doctest::Approx(180).epsilon(1e-6));
      CHECK_THROWS_AS((void)solve(system, s), ConflictingRows);
      Solver solver(system);
      CHECK_THROWS_AS((void)solver.solve(s), ConflictingRows);
      CHECK_THROWS_AS((void)simulate(system, s, {.duration = 0.1}), Error);
    }
  }
}

TEST_CASE("below a right angle the start is turned to where the frames coincide, beyond it is refused") {
  for (const double degrees : {20.0, 60.0, 85.0, 95.0, 120.0, 170.0}) {
    CAPTURE(degrees);
    const Turned t(Weld{}, degrees * std::numbers::pi / 180, {0.3, -0.5, 1});
    const System system(t.assembly);
    if (degrees < 90) {
      const State s = consistent(system, system.state());
      CHECK(std::abs(std::abs(s.get("lid.u0")) - 1) < 1e-9);  // not turned at all
      CHECK(check_model(system, s).well());
    } else {
      CHECK_THROWS_AS((void)consistent(system, system.state()), NotConverged);
      CHECK(check_model(system).has(Verdict::turned));
    }
  }
}

TEST_CASE("a hinge whose axes are opposite is a hinge all the same") {
  const Turned t(Revolute{}, std::numbers::pi, {1, 0, 0});
  const System system(t.assembly);
  CHECK(check_model(system).well());
}

}  // namespace mortise
