// A joint of one's own, examples/own/cam.h.

#include <numbers>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/joints/drive_planar_angle.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/planar_point_on_line.h>
#include <mortise/solve/solve.h>

#include "../examples/own/cam.h"
#include "check_joint.h"

using namespace mortise;

TEST_CASE("cam: takes one freedom; A and b match finite differences") {
  Assembly a("two free bodies");
  const auto plate = a.add("plate", PlanarBody{.mass = 1, .inertia = 2});
  const auto lever = a.add("lever", PlanarBody{.mass = 3, .inertia = 1, .centre = {0.3, 0}});
  a.connect("track", Cam{.on_a = {0.1, 0.2}, .on_b = {0.5, -0.1}, .lift = 0.3, .lobes = 3}, plate, lever);
  const System system(a);
  check_joints(system);
  const RankReport report = check_rank(system, system.evaluate(random_state(system, 1)));
  CHECK(report.ok());
  CHECK(report.dof == 3 + 3 - 1);

  CHECK_THROWS_WITH_AS(a.connect("deep", Cam{.radius = 1, .lift = 2}, plate, lever),
                       "joint 'deep': lift = 2 m reaches the centre of the cam; give less than its radius, 1 m",
                       InvalidModel);
}

TEST_CASE("cam: turned at the rate w it moves its follower by y'' = -lift lobes^2 w^2 cos(lobes alpha)") {
  const double w = 4, R = 0.5, h = 0.1, n = 2, t = 0.3, alpha = std::numbers::pi / 2 - w * t;
  Assembly a("cam drive");
  const auto ground = a.add("ground", Ground{});
  const auto plate = a.add("plate", PlanarBody{.mass = 1, .inertia = 2});
  const auto rod = a.add("rod", Particle<2>{.mass = 3});
  a.connect("shaft", Pin{}, ground, plate);
  a.connect("motor", DrivePlanarAngle{.f = [=](const auto& time) { return w * time; }}, ground, plate);
  a.connect("guide", PlanarPointOnLine{.axis_a = {0, 1}}, ground, rod);
  a.connect("track", Cam{.radius = R, .lift = h, .lobes = 2}, plate, rod);
  const System system(a);
  State s = system.state();
  s.t = t;
  s.set("plate.theta", w * t);
  s.set("plate.theta'", w);
  s.set("rod.y", R + h * std::cos(n * alpha));
  s.set("rod.y'", h * n * w * std::sin(n * alpha));
  const Solution solution = solve(system, s);
  const double expected = -h * n * n * w * w * std::cos(n * alpha);
  constexpr double round_off = 1e-12;
  CHECK(solution.acceleration("rod.y") == doctest::Approx(expected).epsilon(round_off));
  CHECK(solution.reaction("track").lambda[0] == doctest::Approx(3 * expected).epsilon(round_off));  // radial: m y''
}
