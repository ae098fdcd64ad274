// Joints in space: rows against differences, reactions against statics by hand, freedoms by the rank, known motions.

#include <doctest/doctest.h>

#include <mortise/bodies/particle.h>
#include <mortise/bodies/subsystem.h>
#include <mortise/core/spline.h>
#include <mortise/forces/functor.h>
#include <mortise/joints/appell_hamel.h>
#include <mortise/joints/constant_velocity.h>
#include <mortise/joints/cylindrical.h>
#include <mortise/joints/differential.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/drive_angle.h>
#include <mortise/joints/drive_distance.h>
#include <mortise/joints/drive_point.h>
#include <mortise/joints/gear.h>
#include <mortise/joints/gear_ratio.h>
#include <mortise/joints/parallel_axes.h>
#include <mortise/joints/perpendicular_axes.h>
#include <mortise/joints/planar_joint.h>
#include <mortise/joints/point_on_curve.h>
#include <mortise/joints/point_on_line.h>
#include <mortise/joints/point_on_plane.h>
#include <mortise/joints/point_on_surface.h>
#include <mortise/joints/prismatic.h>
#include <mortise/joints/rack_and_pinion.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/rolling_disk.h>
#include <mortise/joints/rolling_sphere.h>
#include <mortise/joints/screw.h>
#include <mortise/joints/spatial_knife_edge.h>
#include <mortise/joints/spherical.h>
#include <mortise/joints/universal.h>
#include <mortise/joints/weld.h>

#include "joint_bench.h"
#include "standing_body.h"

using namespace mortise;

namespace {

using V = Vec3<double>;
const double pi = std::numbers::pi;

// Two bodies and a joint frame that stand anywhere.
const Bench<Spatial> bench{RigidBody::pose({0.4, -0.3, 0.2}, quaternion_from_euler("zyx", {0.7, -0.4, 1.1})),
                           RigidBody::pose({-0.6, 0.5, 0.9}, quaternion_from_euler("zxz", {-0.9, 0.6, 2.0}))};
const V point(0.3, 0.8, -0.5);
const Axis axis(V(1, 2, -1), V(0.3, 1, 2));
const V x = axis.across_1, y = axis.across_2, z = axis.along;
const V no_force = V::Zero(), no_moment = V::Zero();

// q turned by an angle about a world axis through a world point, and then moved.
Vec<double, 7> turned(const Vec<double, 7>& q, const V& about, double angle, const V& through,
                      const V& way = V::Zero()) {
  const Quaternion<double> u = quaternion_from_axis_angle(about, angle);
  return RigidBody::pose(through + rotation_matrix<double>(u) * (q.head<3>() - through) + way,
                         quaternion_product<double>(u, q.tail<4>()));
}

}  // namespace

TEST_CASE("joints of points and axes: rows, freedoms and reactions") {
  bench.check("spherical", at_world<Spherical>(point), 3, {point, {1, 2, 3}, no_moment}, {1, 2, 3});
  bench.check("revolute", at_world<Revolute>(point, axis), 1, {point, {1, 2, 3}, 4 * x + 5 * y}, {1, 2, 3, 5, -4});
  bench.check("prismatic", at_world<Prismatic>(point, axis), 1, {point, 1 * x + 2 * y, 3 * x + 4 * y + 5 * z},
              {1, 2, 3, 4, 5});
  bench.check("cylindrical", at_world<Cylindrical>(point, axis), 2, {point, 1 * x + 2 * y, 3 * x + 4 * y},
              {1, 2, 4, -3});
  // A pitch of 0.6 m per turn: a thrust of 5 N drives the nut with 5 * 0.6 / 2 pi N m, which the load must hold.
  bench.check("screw", at_world<Screw>(point, axis, 0.6), 1,
              {point, 1 * x + 2 * y + 5 * z, 3 * x + 4 * y - 5 * 0.6 / (2 * pi) * z}, {1, 2, 4, -3, 5});
  bench.check("universal", at_world<Universal>(point, Axis(x), Axis(y)), 2, {point, {1, 2, 3}, 4 * z}, {1, 2, 3, 4});
  bench.check("planar joint", at_world<PlanarJoint>(point, axis), 3, {point, 2 * z, 3 * x + 4 * y}, {2, 4, -3});
  bench.check("weld", at_world<Weld>(point), 0, {point, {1, 2, 3}, {4, 5, 6}}, {1, 2, 3, 4, 5, 6});
  bench.check("point on plane", at_world<PointOnPlane>(point, axis), 5, {point, 2 * z, no_moment}, {2});
  bench.check("point on line", at_world<PointOnLine>(point, axis), 4, {point, 2 * x - 3 * y, no_moment}, {2, -3});
  bench.check("perpendicular axes", at_world<PerpendicularAxes>(Axis(x), Axis(y)), 5, {point, no_force, 2 * z}, {2});
  bench.check("parallel axes", at_world<ParallelAxes>(axis), 4, {point, no_force, 3 * x + 4 * y}, {4, -3});
  const V shaft_b = z + 0.8 * x;  // 38.7 degrees from shaft A
  bench.check("constant velocity", at_world<ConstantVelocity>(point, axis, Axis(shaft_b)), 2,
              {point, {1, 2, 3}, 4 * (z + shaft_b.normalized()) / 2}, {1, 2, 3, 4});
  bench.check("constant velocity, in line", at_world<ConstantVelocity>(point, axis, axis), 2, {point, {1, 2, 3}, 4 * z},
              {1, 2, 3, 4});
  const V end = point + 2 * x;  // a link of 2 m along x under a tension of 7 N
  bench.check("distance", at_world<Distance<3>>(point, end), 5, {end, 7 * x, no_moment}, {-7});
}

TEST_CASE("drivers in space: rows, freedoms and what they apply to B") {
  bench.check("drive angle", at_world<DriveAngle>(axis, Function(0.0)), 5, {point, no_force, 3 * z}, {-3});
  // World points as seen by the bodies.
  const RigidBody body;
  const V on_a = body.local_point(bench.place_a, point), on_b = body.local_point(bench.place_b, V(point + 2 * x));
  bench.check("drive distance", DriveDistance<3>{on_a, on_b, [](const auto& t) { return 2.0 + 0.3 * t * t * t; }}, 5,
              {point + 2 * x, 7 * x, no_moment}, {-7});
  const V local = body.local_direction(bench.place_a, V(2 * x));
  const auto wave = [](double at_rest) { return [=](const auto& t) { return at_rest + 0.4 * t * t * sin(t); }; };
  bench.check("drive point", DrivePoint<3>{on_a, on_b, {wave(local[0]), wave(local[1]), local[2]}}, 3,
              {point + 2 * x, {1, 2, 3}, no_moment}, {-1, -2, -3});
}

TEST_CASE("point on a surface and on a curve given by equations") {
  // A sphere of radius 2 about `point`, fixed in A; the point of B stands on it in the direction x from its centre.
  const RigidBody body;
  const V on_a = body.local_point(bench.place_a, point), on_b = body.local_point(bench.place_b, V(point + 2 * x));
  const auto sphere = [](const auto& r) { return r.norm() - 2.0; };
  bench.check("sphere", PointOnSurface{.g = sphere, .on_a = on_a, .on_b = on_b}, 5, {point + 2 * x, 7 * x, no_moment},
              {-7});
  // Its great circle across z.  The normals there are x and z.
  const V across = body.local_direction(bench.place_a, z);
  const auto circle = [=](const auto& r) {
    return vec(r.norm() - 2.0, across[0] * r[0] + across[1] * r[1] + across[2] * r[2]);
  };
  bench.check("circle", PointOnSurface{.g = circle, .on_a = on_a, .on_b = on_b}, 4,
              {point + 2 * x, 7 * x + 3 * z, no_moment}, {-7, -3});
}

TEST_CASE("point on a curve r(s): s is a massless coordinate, the force is perpendicular to the curve") {
  // A helix of radius 2 about z with slope 1/4: r' = (-2 sin s, 2 cos s, 1/2).
  Assembly a("bead");
  const auto base = a.add("base", Spatial::body()), body = a.add("body", Spatial::body());
  const auto s = a.add("s", Subsystem{.coordinates = {"s"}, .M = MatrixXd::Zero(1, 1).eval()});
  a.connect(
      "wire",
      PointOnCurve<3>{.curve = {[](const auto& u) { return 2.0 * cos(u); }, [](const auto& u) { return 2.0 * sin(u); },
                                [](const auto& u) { return 0.5 * u; }},
                      .on_a = {0.1, 0.2, 0.3},
                      .on_b = {0.3, 0, 0}},
      base, body, s);
  const System two(a);
  check_joints(two);
  a.place(body, RigidBody::pose({1.8, 0.2, 0.3}, {1, 0, 0, 0}));  // s = 0: the point is at (2.1, 0.2, 0.3)
  const System system(a);
  check_sparse(system, shaken(system, 3));
  const Evaluation e = system.evaluate(system.state());
  CHECK(e.phi.norm() < 4e-15);  // sums of a few numbers of size 2, about the centres of mass
  const RankReport report = check_rank(system, e);
  CHECK(report.ok());
  CHECK(report.dof == 6 + 4);

  // At s = 0 the curve runs along (0, 2, 1/2): a force across it is carried, and A feels it.
  const auto ground = a.add("ground", Ground{});
  a.connect("clamp", at_world<Weld>(V(0, 0, 0)), ground, base);
  a.apply("load", Push<3>{{0.3, 0, 0}, {3, -1, 4}, {0, 0, 0}}, body);
  const System held(a);
  const Solution solution = solve(held, held.state());
  CHECK(solution.a.norm() < statics);
  CHECK((solution.reaction("wire").lambda - V(3, -1, 4)).norm() < statics);
}

// Near s = 0 the first row hardly touches s: by round-off, or by a little.
TEST_CASE("a row that hardly touches a massless coordinate does not drown the others, on a body that is clamped") {
  for (int decade = -17; decade <= -1; ++decade) {
    CAPTURE(decade);
    const double u = decade == -17 ? 0 : std::pow(10, decade);
    Assembly a("bead");
    const auto ground = a.add("ground", Ground{});
    const auto base = a.add("base", Spatial::body()), body = a.add("body", Spatial::body());
    const auto s = a.add("s", Subsystem{.coordinates = {"s"}, .M = MatrixXd::Zero(1, 1).eval()});
    a.connect(
        "wire",
        PointOnCurve<3>{.curve = {[](const auto& x) { return 2.0 * cos(x); },
                                  [](const auto& x) { return 2.0 * sin(x); }, [](const auto& x) { return 0.5 * x; }},
                        .on_a = {0.1, 0.2, 0.3},
                        .on_b = {0.3, 0, 0}},
        base, body, s);
    a.place(body, RigidBody::pose({2 * std::cos(u) - 0.2, 0.2 + 2 * std::sin(u), 0.3 + 0.5 * u}, {1, 0, 0, 0}));
    a.place(s, VectorXd::Constant(1, u));
    a.connect("clamp", at_world<Weld>(V(0, 0, 0)), ground, base);
    const V load = V(3, -1, 4) - (V(3, -1, 4).dot(V(-2 * std::sin(u), 2 * std::cos(u), 0.5)) / 4.25) *
                                     V(-2 * std::sin(u), 2 * std::cos(u), 0.5);  // across the curve
    a.apply("load", Push<3>{{0.3, 0, 0}, load, {0, 0, 0}}, body);
    const System held(a);
    const Solution solution = solve(held, held.state());
    CHECK(solution.a.norm() < statics);
    CHECK((solution.reaction("wire").lambda - load).norm() < statics);
    CHECK(Solver(held).solve(held.state()).norm() < statics);
  }
}

TEST_CASE("gears in space: rows, freedoms, moments, and exactness over many turns") {
  // Wheel A about z through `point`, B about x through another point, both in the carrier C.
  const V other = point + 0.7 * y;
  const Vec<double, 7> place_c = turned(bench.place_a, y, 0.3, point, x);
  const auto build = [&](const auto& gear) {
    Assembly m("train");
    const auto a = m.add("a", Spatial::body()), b = m.add("b", Spatial::body()), c = m.add("c", Spatial::body());
    m.place(a, bench.place_a);
    m.place(b, bench.place_b);
    m.place(c, place_c);
    m.connect("axle_a", at_world<Revolute>(point, Axis(z)), c, a);
    m.connect("axle_b", at_world<Revolute>(other, Axis(x)), c, b);
    m.connect("gear", gear, a, b, c);
    return m;
  };
  const auto check = [&](const Assembly& m, const V& on_a, const V& on_b, double moment_on_a) {
    const System three(m);
    check_joints(three);
    check_sparse(three, shaken(three, 4));
    const Evaluation e = three.evaluate(three.state());
    CHECK(e.phi.norm() < statics);
    CHECK(check_rank(three, e).dof == 6 + 1);
    Assembly held = m;
    const auto ground = held.add("ground", Ground{});
    held.connect("base", Spatial::weld(), ground, held.body<RigidBody>("c"));
    held.apply("on_a", Push<3>{{0, 0, 0}, {0, 0, 0}, on_a}, held.body<RigidBody>("a"));
    held.apply("on_b", Push<3>{{0, 0, 0}, {0, 0, 0}, on_b}, held.body<RigidBody>("b"));
    const System system(held);
    const Solution s = solve(system, system.state());
    CHECK(s.a.norm() < statics);
    CHECK(s.reaction("gear").lambda[0] == doctest::Approx(moment_on_a).epsilon(statics));
    CHECK((s.reaction("base").lambda.tail<3>() - on_a - on_b).norm() < 10 * statics);
  };
  // 20 and -35 teeth.  A load of 4 N m on A about its axis is in balance with 4 * (-35 / 20) N m on B about its own.
  const Assembly toothed = build(at_world<Gear>(Axis(z), Axis(x), 20, -35));
  check(toothed, 4 * z, -7 * x, -4);
  check(build(at_world<GearRatio>(Axis(z), Axis(x), 1.7)), 4 * z, 1.7 * 4 * x, -4);

  const System system(toothed);
  State s = system.state();
  constexpr double mesh = 1e-12;  // 35 times the round-off of an angle
  for (const double turns : {0.3, 0.9, 1.7, 12.6, -40.25}) {
    const double angle = 2 * pi * turns;
    s.set("a", turned(bench.place_a, z, angle, point));
    s.set("b", turned(bench.place_b, x, angle * 20 / 35, other));
    CHECK(system.evaluate(s).phi.norm() < mesh);
    s.set("b", turned(bench.place_b, x, angle * 20 / 35 + 0.01, other));  // off by 0.01 * 35 / 20 on A
    CHECK(system.evaluate(s).phi.cwiseAbs().maxCoeff() == doctest::Approx(0.0175).epsilon(1e-10));
  }
}

TEST_CASE("differential: the cage turns at the mean speed and the torque is shared equally") {
  Assembly m("axle");
  const auto ground = m.add("ground", Ground{});
  const auto left = m.add("left", Spatial::body()), right = m.add("right", Spatial::body()),
             cage = m.add("cage", Spatial::body());
  const Vec<double, 7> place_c = turned(bench.place_a, y, 0.3, point, x);
  m.place(left, bench.place_a);
  m.place(right, bench.place_b);
  m.place(cage, place_c);
  m.connect("housing", at_world<Revolute>(point, axis), ground, cage);
  m.connect("left_shaft", at_world<Revolute>(point, axis), cage, left);
  m.connect("right_shaft", at_world<Revolute>(point, axis), cage, right);
  m.connect("differential", at_world<Differential>(axis), left, right, cage);
  check_joints(System(m));
  m.apply("on_left", Push<3>{{0, 0, 0}, {0, 0, 0}, 3 * z}, left);
  m.apply("on_right", Push<3>{{0, 0, 0}, {0, 0, 0}, 3 * z}, right);
  m.apply("on_cage", Push<3>{{0, 0, 0}, {0, 0, 0}, -6 * z}, cage);
  const System system(m);
  CHECK(check_rank(system, system.evaluate(system.state())).dof == 2);
  check_sparse(system, system.state());
  const Solution solution = solve(system, system.state());
  CHECK(solution.a.norm() < statics);
  CHECK(solution.reaction("differential").lambda[0] == doctest::Approx(-3).epsilon(statics));

  State s = system.state();
  constexpr double mesh = 1e-13;
  for (const double a : {0.4, 3.0, 9.0}) {
    const double b = -2.5 * a;
    s.set("left", turned(bench.place_a, z, a, point));
    s.set("right", turned(bench.place_b, z, b, point));
    s.set("cage", turned(place_c, z, (a + b) / 2, point));
    CHECK(system.evaluate(s).phi.cwiseAbs().maxCoeff() < 100 * mesh);
  }
}

TEST_CASE("rack and pinion: rows, freedoms, tooth force, and turns counted by the way of the rack") {
  const double R = 0.25;
  const Vec<double, 7> place_c = turned(bench.place_a, y, 0.3, point, x);
  Assembly m("steering");
  const auto a = m.add("pinion", Spatial::body()), b = m.add("rack", Spatial::body()),
             c = m.add("box", Spatial::body());
  m.place(a, bench.place_a);
  m.place(b, bench.place_b);
  m.place(c, place_c);
  m.connect("axle", at_world<Revolute>(point, axis), c, a);
  m.connect("slide", at_world<Prismatic>(V(point + R * y), Axis(x)), c, b);
  m.connect("teeth", at_world<RackAndPinion>(axis, Axis(x), V(point + R * y), R), a, b, c);
  const System three(m);
  check_joints(three);
  check_sparse(three, shaken(three, 4));
  CHECK(check_rank(three, three.evaluate(three.state())).dof == 6 + 1);
  State s = three.state();
  for (const double angle : {0.5, 3.5, 40.0, -22.0}) {
    s.set("pinion", turned(bench.place_a, z, angle, point));
    s.set("rack", turned(bench.place_b, z, 0, point, R * angle * x));
    CHECK(three.evaluate(s).phi.cwiseAbs().maxCoeff() < 100 * statics);
  }

  // 8 N on the rack are held by -R * 8 N m on the pinion: the teeth press with 8 N.
  const auto ground = m.add("ground", Ground{});
  m.connect("base", Spatial::weld(), ground, c);
  m.apply("push", Push<3>{Spatial::body().local_point(bench.place_b, V(point + R * y)), 8 * x, no_moment}, b);
  m.apply("hold", Push<3>{{0, 0, 0}, no_force, -R * 8 * z}, a);
  const System system(m);
  const Solution solution = solve(system, system.state());
  CHECK(solution.a.norm() < statics);
  CHECK(solution.reaction("teeth").lambda[0] == doctest::Approx(8).epsilon(statics));
}

TEST_CASE("angles and displacements of joints: about their axis, and with all turns for the screw") {
  const RigidBody body;
  const StandingBody a(body, bench.place_a), b(body, bench.place_b);
  const Revolute revolute = Revolute::at_world(point, axis, a, b);
  const Cylindrical cylindrical = Cylindrical::at_world(point, axis, a, b);
  const Prismatic prismatic = Prismatic::at_world(point, axis, a, b);
  const Screw screw = Screw::at_world(point, axis, 0.2, a, b);
  constexpr double round_off = 1e-13;
  for (const double angle : {-3.0, -0.2, 0.0, 1.3, 3.1}) {
    const StandingBody moved(body, turned(bench.place_b, z, angle, point, 0.7 * z));
    CHECK(std::abs(revolute.angle(a, moved) - angle) < round_off);
    CHECK(std::abs(cylindrical.angle(a, moved) - angle) < round_off);
    CHECK(std::abs(cylindrical.displacement(a, moved) - 0.7) < round_off);
    CHECK(std::abs(prismatic.displacement(a, moved) - 0.7) < round_off);
  }
  for (const double turns : {-12.3, -0.6, 0.4, 3.0, 57.9}) {  // 0.2 m per turn
    const StandingBody moved(body, turned(bench.place_b, z, 2 * pi * turns, point, 0.2 * turns * z));
    CHECK(std::abs(screw.angle(a, moved) - 2 * pi * turns) < 1e3 * round_off);
    CHECK(std::abs(screw.displacement(a, moved) - 0.2 * turns) < 1e2 * round_off);
    CHECK(screw.phi(a, moved, 0.0).cwiseAbs().maxCoeff() < 1e2 * round_off);
  }
  const Weld weld = Weld::at_world(point, a, b);  // frames along x, y, z of the world
  for (const double angle : {-2.0, 0.3, 1.5}) {
    const V e = V(1, -2, 2) / 3;
    const Vec<double, 6> phi = weld.phi(a, StandingBody(body, turned(bench.place_b, e, angle, point)), 0.0);
    CHECK(phi.head<3>().norm() < round_off);
    CHECK((phi.tail<3>() + std::sin(angle) * e).norm() < round_off);
  }
  CHECK(nearest_turn(0.5, 13) == doctest::Approx(0.5 + 4 * pi).epsilon(1e-15));
  CHECK(nearest_turn(0.5, -9) == doctest::Approx(0.5 - 4 * pi).epsilon(1e-15));
}

TEST_CASE("a driven angle goes on over many turns and takes the moment J f''") {
  // f = 3 t^2 / 2 about the z of a body with J_z = 0.8: at t = 4 it has turned by 24 rad, nearly 4 turns.
  Assembly m("motor");
  const auto ground = m.add("ground", Ground{});
  const auto rotor = m.add("rotor", RigidBody{.mass = 2, .inertia = V(0.5, 0.6, 0.8).asDiagonal()});
  m.connect("bearing", Revolute{}, ground, rotor);
  m.connect("motor", DriveAngle{.f = [](const auto& t) { return 1.5 * t * t; }}, ground, rotor);
  const System system(m);
  State s = system.state();
  s.t = 4;
  s.set("rotor", RigidBody::pose({0, 0, 0}, quaternion_from_axis_angle({0, 0, 1}, 24)));
  s.set("rotor'", RigidBody::rates(s.get_all("rotor"), {0, 0, 0}, {0, 0, 12}));
  CHECK(system.evaluate(s).phi.cwiseAbs().maxCoeff() < 1e-13);
  CHECK(solve(system, s).reaction("motor").lambda[0] == doctest::Approx(0.8 * 3).epsilon(1e-12));
  Solver solver(system);
  CHECK((solver.solve(s) - solve(system, s).a).norm() < 1e-10);
}

TEST_CASE("constant-velocity joint: shafts turn at the same speed; a universal joint at cos(bend) to 1 / cos(bend)") {
  const double bend = 0.6;
  const V other(std::sin(bend), 0, std::cos(bend));  // of shaft B; A turns about z
  const auto ratio = [&](const auto& joint, double angle) {
    Assembly m("shafts");
    const auto ground = m.add("ground", Ground{});
    const auto a = m.add("a", Spatial::body()), b = m.add("b", Spatial::body());
    m.connect("bearing_a", at_world<Revolute>(V(0, 0, 0), Axis(V(0, 0, 1))), ground, a);
    m.connect("bearing_b", at_world<Revolute>(V(0, 0, 0), Axis(other)), ground, b);
    m.connect("joint", joint, a, b);
    const System system(m);
    // Turn A by `angle`, let B follow, and see what B's speed must be for a speed of 1 of A.
    Solver solver(system);
    State s = system.state();
    const int steps = 20;  // small enough for the projection to stay on its branch
    for (int k = 1; k <= steps; ++k) {
      const double at = angle * k / steps;
      s.set("a", RigidBody::pose({0, 0, 0}, quaternion_from_axis_angle({0, 0, 1}, at)));
      s.set("b", RigidBody::pose({0, 0, 0}, quaternion_from_axis_angle(other, at)));
      solver.project_positions(s);
    }
    s.set("a'", RigidBody::rates(s.get_all("a"), {0, 0, 0}, {0, 0, 1}));
    s.set("b'", RigidBody::rates(s.get_all("b"), {0, 0, 0}, other));
    solver.project_velocities(s);
    const RigidBody body;
    const auto w = [&](const char* name, const char* rate) {
      return body.angular_velocity<double>(s.get_all(name), s.get_all(rate));
    };
    return w("b", "b'").dot(other) / w("a", "a'")[2];
  };
  constexpr double projected = 1e-8;
  for (const double angle : {0.0, 0.5, 1.2, 2.9})
    CHECK(ratio(at_world<ConstantVelocity>(V(0, 0, 0), Axis(0, 0, 1), Axis(other)), angle) ==
          doctest::Approx(1).epsilon(projected));
  // With the arm of A across both shafts (y) B turns at cos(bend); a quarter turn on, at 1 / cos(bend).
  const V arm_b(std::cos(bend), 0, -std::sin(bend));
  const auto cardan = at_world<Universal>(V(0, 0, 0), Axis(0, 1, 0), Axis(arm_b));
  CHECK(ratio(cardan, 0) == doctest::Approx(std::cos(bend)).epsilon(projected));
  CHECK(ratio(cardan, pi / 2) == doctest::Approx(1 / std::cos(bend)).epsilon(projected));
}

TEST_CASE("rolling disk and sphere, knife edge: rows, freedoms and contact forces") {
  const RigidBody body;
  const auto& [place_a, place_b] = bench;
  // The plane of A goes through `point` across z.  A disk with its axis 0.4 out of the plane touches it there.
  const double R = 0.7, lean = 0.4;
  const V e = std::cos(lean) * x + std::sin(lean) * z, m = (z - z.dot(e) * e).normalized();
  const V centre_of_disk = point + R * m, centre_of_sphere = point + R * z;
  const Axis normal_a = axis.seen_from(StandingBody(body, place_a).view());
  bench.check("rolling disk",
              RollingDisk{.radius = R,
                          .on_a = body.local_point(place_a, V(point + 0.3 * x)),
                          .on_b = body.local_point(place_b, centre_of_disk),
                          .axis_a = normal_a,
                          .axis_b = body.local_direction(place_b, e)},
              3, {point, -5 * z + 2 * x + 3 * y, no_moment}, {-5, 2, 3});
  bench.check("rolling sphere",
              RollingSphere{.radius = R,
                            .on_a = body.local_point(place_a, point),
                            .on_b = body.local_point(place_b, centre_of_sphere),
                            .axis_a = normal_a},
              3, {point, -5 * z + 2 * x + 3 * y, no_moment}, {-5, 2, 3});

  Assembly blade("blade");
  const auto b = blade.add("b", Spatial::body());
  blade.place(b, place_b);
  blade.connect("edge",
                SpatialKnifeEdge{.point = body.local_point(place_b, point), .normal = body.local_direction(place_b, x)},
                b);
  const System sliding(blade);
  check_joints(sliding);
  CHECK(check_rank(sliding, sliding.evaluate(sliding.state())).dof == 5);
  blade.apply("load", Push<3>{body.local_point(place_b, point), 6 * x, no_moment}, b);
  const System loaded(blade);
  const Solution s = solve(loaded, loaded.state());
  CHECK(s.a.norm() < statics);
  CHECK(s.reaction("edge").lambda[0] == doctest::Approx(-6).epsilon(statics));
}

TEST_CASE("a ball on a turntable accelerates by 2/7 Omega k x v, whether the table is a rate or a driven body") {
  // Milne: the centre of a uniform ball that rolls on a table turning at Omega runs on a circle at 2 Omega / 7.
  const double R = 0.2, m = 3, Omega = 2.1;
  const V at(0.5, -0.4, R), v(0.3, 0.7, 0);
  const RigidBody ball{.mass = m, .inertia = 0.4 * m * R * R * Mat<double, 3>::Identity()};
  // No slip: v + w x (-R k) = Omega k x at.  The spin about k is free.
  const V k(0, 0, 1), slip = v - Omega * k.cross(at), w = k.cross(slip) / R + 1.3 * k;
  REQUIRE((v - R * w.cross(k) - Omega * k.cross(at)).norm() < 1e-14);
  const auto run = [&](Assembly& table) {
    const System system(table);
    State s = system.state();
    s.set("ball", RigidBody::pose(at, {1, 0, 0, 0}));
    s.set("ball'", RigidBody::rates(s.get_all("ball"), v, w));
    if (system.bodies()[1].name == "table") s.set("table'", RigidBody::rates(s.get_all("table"), {0, 0, 0}, Omega * k));
    CHECK(system.evaluate(s).phi.norm() < 1e-14);
    const Solution solution = solve(system, s);
    const V expected = 2.0 / 7 * Omega * k.cross(v);
    CHECK(solution.acceleration("ball.x") == doctest::Approx(expected[0]).epsilon(1e-12));
    CHECK(solution.acceleration("ball.y") == doctest::Approx(expected[1]).epsilon(1e-12));
    CHECK(std::abs(solution.acceleration("ball.z")) < 1e-12);
    CHECK(solution.reaction("roll").lambda[0] == doctest::Approx(-m * 9.81).epsilon(1e-12));
    Solver solver(system);
    CHECK((solver.solve(s) - solution.a).norm() < 1e-9);
  };
  Assembly by_rate("by_rate"), by_body("by_body");
  by_rate.set_gravity({0, 0, -9.81});
  by_body.set_gravity({0, 0, -9.81});
  const auto ground = by_rate.add("ground", Ground{});
  by_rate.connect("roll", RollingSphere{.radius = R, .rate = Omega}, ground, by_rate.add("ball", ball));
  run(by_rate);
  const auto world = by_body.add("ground", Ground{});
  const auto table = by_body.add("table", Spatial::body());
  by_body.connect("bearing", Revolute{}, world, table);
  by_body.connect("motor", DriveAngle{.f = [=](const auto& t) { return Omega * t; }}, world, table);
  by_body.connect("roll", RollingSphere{.radius = R}, table, by_body.add("ball", ball));
  run(by_body);
}

TEST_CASE("a uniform disk rolls down an incline with 2/3 of g sin, and the friction is m g sin / 3") {
  const double R = 0.5, m = 2, g = 9.81, slope = 0.3;
  Assembly a("hill");
  a.set_gravity({g * std::sin(slope), 0, -g * std::cos(slope)});
  const auto ground = a.add("ground", Ground{});
  const auto disk = a.add("disk", RigidBody{.mass = m, .inertia = m * R * R * V(0.25, 0.5, 0.25).asDiagonal()});
  a.connect("roll", RollingDisk{.radius = R, .axis_a = Axis(V(0, 0, 1), V(1, 0, 0))}, ground, disk);
  const System system(a);
  State s = system.state();
  s.set("disk.z", R);
  s.set("disk'", RigidBody::rates(s.get_all("disk"), {1.5, 0, 0}, {0, 1.5 / R, 0}));
  CHECK(system.evaluate(s).phi.norm() < 1e-15);
  const Solution solution = solve(system, s);
  CHECK(solution.acceleration("disk.x") == doctest::Approx(2.0 / 3 * g * std::sin(slope)).epsilon(1e-12));
  const VectorXd& lambda = solution.reaction("roll").lambda;  // on the ground: pressed down, and dragged downhill
  CHECK(lambda[0] == doctest::Approx(-m * g * std::cos(slope)).epsilon(1e-12));
  CHECK(lambda[1] == doctest::Approx(m * g * std::sin(slope) / 3).epsilon(1e-12));
  CHECK(std::abs(lambda[2]) < 1e-12);
}

TEST_CASE("Appell-Hamel constraint: rows, and the motion of a heavy particle by hand") {
  Assembly a("particle");
  const auto p = a.add("p", Particle<3>{.mass = 2});
  const auto b = a.add("b", Spatial::body());
  a.connect("rise", AppellHamel{.axis = {0, 0, 5}, .ratio = 0.75}, p);
  a.connect("tilted", AppellHamel{.point = {0.1, 0.2, 0.3}, .axis = {1, 2, -1}, .ratio = -0.4}, b);
  check_joints(System(a));
  a.remove("tilted");
  a.set_gravity({0, 0, -9.81});
  const System system(a);
  State s = system.state();
  s.set("p'", {3, 4, 0.75 * 5});
  CHECK(std::abs(system.evaluate(s).phi[0]) < 1e-15);
  // A = (c ux/|u|, c uy/|u|, -1), b = 0:  lambda = -A g m / (A A') = -m g / (1 + c^2).
  const Solution solution = solve(system, s);
  const double lambda = -2 * 9.81 / (1 + 0.75 * 0.75);
  CHECK(solution.reaction("rise").lambda[0] == doctest::Approx(lambda).epsilon(1e-13));
  CHECK(solution.acceleration("p.x") == doctest::Approx(lambda / 2 * 0.75 * 0.6).epsilon(1e-13));
  CHECK(solution.acceleration("p.y") == doctest::Approx(lambda / 2 * 0.75 * 0.8).epsilon(1e-13));
  CHECK(solution.acceleration("p.z") == doctest::Approx(-9.81 - lambda / 2).epsilon(1e-13));
  CHECK(check_rank(system, system.evaluate(s)).dof == 2 + 6);
}

TEST_CASE("axes of any length give the rows of unit axes") {
  const auto same = [](const auto& unit, const auto& scaled) {
    const auto rows = [](const auto& joint) {
      Assembly m("two");
      const auto a = m.add("a", Spatial::body()), b = m.add("b", Spatial::body());
      m.connect("joint", joint, a, b);
      const System system(m);
      return system.evaluate(shaken(system, 7));
    };
    const Evaluation e = rows(unit), f = rows(scaled);
    constexpr double round_off = 1e-14;
    CHECK((e.dense_A() - f.dense_A()).cwiseAbs().maxCoeff() < round_off);
    CHECK((e.b - f.b).cwiseAbs().maxCoeff() < 100 * round_off);
  };
  const V u = V(1, -2, 3).normalized(), w = V(2, 1, 0.5).normalized();
  const V long_u = 1e3 * u, short_w = 1e-5 * w;
  same(Revolute{.axis_a = u, .axis_b = w}, Revolute{.axis_a = long_u, .axis_b = short_w});
  same(Prismatic{.axis_a = u, .axis_b = w}, Prismatic{.axis_a = long_u, .axis_b = short_w});
  same(Cylindrical{.axis_a = u, .axis_b = w}, Cylindrical{.axis_a = long_u, .axis_b = short_w});
  same(Screw{.axis_a = u, .axis_b = w}, Screw{.axis_a = long_u, .axis_b = short_w});
  same(Universal{.axis_a = u, .axis_b = w}, Universal{.axis_a = long_u, .axis_b = short_w});
  same(PlanarJoint{.axis_a = u, .axis_b = w}, PlanarJoint{.axis_a = long_u, .axis_b = short_w});
  same(ConstantVelocity{.axis_a = u, .axis_b = w}, ConstantVelocity{.axis_a = long_u, .axis_b = short_w});
  same(RollingDisk{.axis_a = u, .axis_b = w}, RollingDisk{.axis_a = long_u, .axis_b = short_w});
}
