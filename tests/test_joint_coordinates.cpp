// Coordinates of joints: angles that count turns, displacements, rotors and mimic joints.

#include <cmath>
#include <numbers>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/bodies/subsystem.h>
#include <mortise/forces/coordinate_spring.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/angle_coordinate.h>
#include <mortise/joints/coupling.h>
#include <mortise/joints/displacement_coordinate.h>
#include <mortise/joints/prismatic.h>
#include <mortise/joints/revolute.h>
#include <mortise/solve/solve.h>

#include "check_joint.h"

using namespace mortise;

namespace {

RigidBody solid(double mass, double Jx, double Jy, double Jz) {
  RigidBody b{.mass = mass};
  b.inertia.diagonal() << Jx, Jy, Jz;
  return b;
}
auto coordinate(double inertia) {
  return Subsystem{.coordinates = {"q"}, .M = MatrixXd::Constant(1, 1, inertia).eval()};
}

}  // namespace

TEST_CASE("angle_coordinate, displacement_coordinate: A and b match finite differences") {
  Assembly a("two bodies");
  const auto left = a.add("left", solid(1, 1, 2, 1.5));
  const auto right = a.add("right", solid(2, 1, 1, 1.5));
  const auto angle = a.add("angle", coordinate(0));
  const auto way = a.add("way", coordinate(0.3));
  a.connect("turn", AngleCoordinate{.axis_a = {1, 0.2, 0.1}, .axis_b = {0.9, 0.3, 0}}, left, right, angle);
  a.connect("slide", DisplacementCoordinate{.on_a = {0.1, 0.2, 0.3}, .on_b = {-0.5, 0.1, 0}, .axis_a = {0, 1, 2}}, left,
            right, way);
  check_joints(System(a));
}

TEST_CASE("angle_coordinate: refuses a body without the coordinate") {
  Assembly a("wrong");
  const auto left = a.add("left", solid(1, 1, 2, 1.5));
  const auto right = a.add("right", solid(2, 1, 1, 1.5));
  const auto angle = a.add("angle", coordinate(0));
  CHECK_THROWS_WITH_AS(a.connect("turn", AngleCoordinate{.coordinate = "s"}, left, right, angle),
                       "joint 'turn': the third body has no coordinate 's'; give a body with that coordinate",
                       InvalidModel);
}

// A wheel on a fixed axis with a rotor behind its joint, driven by a torsion spring on the coordinate:
// (J + I) q'' = -k (q - rest).
TEST_CASE("a rotor adds its inertia to the joint's, and a spring on the coordinate acts on the joint") {
  const double J = 0.7, I = 0.4, k = 3, rest = 2;
  Assembly a("motor");
  const auto ground = a.add("ground", Ground{});
  const auto wheel = a.add("wheel", solid(2, 0.6, 0.5, J));
  const auto rotor = a.add("rotor", coordinate(I));
  a.connect("axle", Revolute{}, ground, wheel);
  a.connect("armature", AngleCoordinate{}, ground, wheel, rotor);
  a.apply("spring", CoordinateSpring{.terms = {{0, "q", 1}}, .stiffness = k, .rest = rest}, rotor);
  const System system(a);
  const Solution solution = solve(system, system.state());
  constexpr double round_off = 1e-12;
  CHECK(solution.acceleration("rotor.q") == doctest::Approx(k * rest / (J + I)).epsilon(round_off));
  CHECK(solution.reaction("armature").lambda[0] ==
        doctest::Approx(J * solution.acceleration("rotor.q")).epsilon(round_off));
}

TEST_CASE("a mimic joint follows by any ratio over many turns") {
  const double ratio = 2.5, offset = 0.3, speed = 4;
  Assembly a("mimic");
  const auto ground = a.add("ground", Ground{});
  const auto leader = a.add("leader", solid(1, 0.2, 0.2, 0.3));
  const auto follower = a.add("follower", solid(1, 0.1, 0.1, 0.15));
  const auto slider = a.add("slider", solid(0.5, 0.1, 0.1, 0.1));
  const auto q1 = a.add("q1", coordinate(0)), q2 = a.add("q2", coordinate(0)), q3 = a.add("q3", coordinate(0));
  a.connect("hinge_1", Revolute{}, ground, leader);
  a.connect("hinge_2", Revolute{.on_a = {1, 0, 0}}, ground, follower);
  a.connect("rail", Prismatic{.on_a = {0, 1, 0}, .axis_a = {1, 0, 0}, .axis_b = {1, 0, 0}}, ground, slider);
  a.connect("turn_1", AngleCoordinate{}, ground, leader, q1);
  a.connect("turn_2", AngleCoordinate{}, ground, follower, q2);
  a.connect("slide", DisplacementCoordinate{.on_a = {0, 1, 0}, .axis_a = {1, 0, 0}}, ground, slider, q3);
  a.connect("mimic", Coupling{.terms = {{0, "q", 1}, {1, "q", -ratio}}, .constant = -offset}, q2, q1);
  a.connect("screw", Coupling{.terms = {{0, "q", 1}, {1, "q", -0.01}}}, q3, q1);
  const System system(a);
  State s = system.state();
  s.set("follower", RigidBody::pose({1, 0, 0}, quaternion_from_axis_angle({0, 0, 1}, offset)));
  s.set("slider", RigidBody::pose({0, 1, 0}, Quaternion<double>(1, 0, 0, 0)));
  s.set("q2.q", offset);
  s.set("q1.q'", speed);
  s.set("q2.q'", ratio * speed);
  s.set("q3.q'", 0.01 * speed);
  s.set("leader.u3'", speed / 2);
  s.set("follower.u0'", -ratio * speed / 2 * std::sin(offset / 2));
  s.set("follower.u3'", ratio * speed / 2 * std::cos(offset / 2));
  s.set("slider.x'", 0.01 * speed);
  const RankReport report = check_rank(system, system.evaluate(s));
  CHECK(report.ok());
  CHECK(report.dof == 1);
  const Trajectory run = simulate(system, s, {.duration = 10});
  REQUIRE(run.finished);
  constexpr double accuracy = 1e-6;  // of 6 and 16 turns, at the default tolerance
  CHECK(run.last.get("q1.q") == doctest::Approx(speed * 10).epsilon(accuracy));
  CHECK(run.last.get("q2.q") == doctest::Approx(ratio * speed * 10 + offset).epsilon(accuracy));
  CHECK(run.last.get("slider.x") == doctest::Approx(0.01 * speed * 10).epsilon(accuracy));
}
