// Non-ideal joints: dry and viscous friction, laws that take energy out or put it in, and where friction is refused.

#include <cmath>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/integrators/rk4.h>
#include <mortise/joints/cylindrical.h>
#include <mortise/joints/friction.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/planar_joint.h>
#include <mortise/joints/planar_point_on_line.h>
#include <mortise/joints/point_on_line.h>
#include <mortise/joints/point_on_plane.h>
#include <mortise/joints/prismatic.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/slider.h>
#include <mortise/joints/spherical.h>
#include <mortise/solve/solve.h>
#include <mortise/solve/solver.h>

#include "check_joint.h"

using namespace mortise;

namespace {

constexpr double round_off = 1e-12;  // the balance of friction and reactions is found to 1e-13
constexpr double g = 9.81;

// u / sqrt(u^2 + u_s^2), the direction of sliding as the law sees it.
double towards(double u, double slow = DryGrip{}.speed) { return u / std::sqrt(u * u + slow * slow); }

// A pendulum with a rough pin: (J + m l^2) theta'' = -m g l cos(theta) - mu r |F| sign(w), F = m (a_centre - g).
struct RoughPendulum {
  double m = 2, J = 0.1, l = 0.5, mu = 0.9, r = 0.2, theta = 0.4, w = 3;

  double reaction(double angular) const {
    const Vec2<double> out(std::cos(theta), std::sin(theta)), along(-out[1], out[0]);
    return m * (l * angular * along - l * w * w * out + Vec2<double>(0, g)).norm();
  }
  double angular() const {  // by repeated insertion; the map contracts: mu r m l / (J + m l^2) = 0.3
    double a = 0;
    for (int i = 0; i < 200; ++i)
      a = (-m * g * l * std::cos(theta) - mu * r * reaction(a) * towards(r * w)) / (J + m * l * l);
    return a;
  }
  void add(Assembly& assembly, const std::string& name, const Handle<Ground>& ground) const {
    const auto rod = assembly.add(name, PlanarBody{.mass = m, .inertia = J});
    assembly.connect(name + "_pin", Coulomb{Pin{.on_b = {-l, 0}}, {.coefficient = mu, .radius = r}}, ground, rod);
  }
  void set(State& s, const std::string& name) const {
    s.set(name, {l * std::cos(theta), l * std::sin(theta), theta});
    s.set(name + "'", {-l * w * std::sin(theta), l * w * std::cos(theta), w});
  }
};

// A slope with its normal, the way down and the way across.
struct Slope {
  double angle = 0.6;
  Vec3<double> normal{std::sin(angle), 0, std::cos(angle)}, down{std::cos(angle), 0, -std::sin(angle)}, across{0, 1, 0};

  // Of a body that slides at the velocity u with the coefficient mu: gravity less friction, which is opposite to u.
  Vec3<double> acceleration(double mu, const Vec3<double>& u) const {
    return g * std::sin(angle) * down - mu * g * std::cos(angle) * towards(u.norm()) * u.normalized();
  }
};

}  // namespace

TEST_CASE("dry friction: a particle slides down a slope by g (sin - mu cos), and its power is -mu N u") {
  const double slope = 0.6, mu = 0.3, u = 2, mass = 1.7;
  const Vec2<double> down(std::cos(slope), -std::sin(slope));
  Assembly assembly("slope");
  assembly.set_gravity({0, -g, 0});
  const auto ground = assembly.add("ground", Ground{});
  const auto block = assembly.add("block", Particle<2>{.mass = mass});
  assembly.connect("slide", Coulomb{PlanarPointOnLine{.axis_a = down}, {.coefficient = mu}}, ground, block);
  const System system(assembly);
  State s = system.state();
  s.v = u * down;
  const Solution solution = solve(system, s);
  const double N = mass * g * std::cos(slope), friction = mu * N * towards(u);
  CHECK((solution.a - (g * std::sin(slope) - friction / mass) * down).norm() < round_off * g);
  const Reaction& r = solution.reaction("slide");
  CHECK(std::abs(r.lambda[0]) == doctest::Approx(N).epsilon(round_off));
  CHECK(r.power == doctest::Approx(-friction * u).epsilon(round_off));
  CHECK((solution.Qc_nonideal + friction * down).norm() < round_off * N);

  // At rest the regularised law gives nothing: it creeps.
  s.v.setZero();
  CHECK((solve(system, s).a - g * std::sin(slope) * down).norm() < round_off * g);
}

TEST_CASE("dry friction: reaction and friction of a pin agree, which one more solve does not reach") {
  const RoughPendulum p;
  Assembly assembly("pendulum");
  assembly.set_gravity({0, -g, 0});
  p.add(assembly, "rod", assembly.add("ground", Ground{}));
  const System system(assembly);
  State s = system.state();
  p.set(s, "rod");
  const Solution solution = solve(system, s);
  CHECK(solution.acceleration("rod.theta") == doctest::Approx(p.angular()).epsilon(round_off));
  CHECK(solution.reaction("rod_pin").lambda.norm() == doctest::Approx(p.reaction(p.angular())).epsilon(round_off));
  const double torque = p.mu * p.r * p.reaction(p.angular()) * towards(p.r * p.w);
  CHECK(solution.reaction("rod_pin").power == doctest::Approx(-torque * p.w).epsilon(round_off));

  // The friction of the frictionless reaction, inserted once, is far off.
  const double inertia = p.J + p.m * p.l * p.l, weight = -p.m * g * p.l * std::cos(p.theta);
  const double once = (weight - p.mu * p.r * p.reaction(weight / inertia) * towards(p.r * p.w)) / inertia;
  CHECK(std::abs(once - p.angular()) > 1e-2 * std::abs(p.angular()));

  Solver solver(system);
  CHECK(solver.solve(s)[2] == doctest::Approx(p.angular()).epsilon(round_off));
  CHECK(solver.friction()[2] == doctest::Approx(-torque).epsilon(round_off));
}

TEST_CASE("dry friction: many rough pins in a large system, each as alone") {
  Assembly assembly("pendulums");
  assembly.set_gravity({0, -g, 0});
  const auto ground = assembly.add("ground", Ground{});
  std::vector<RoughPendulum> pendulums;
  for (int i = 0; i < 25; ++i) {
    pendulums.push_back({.mu = 0.03 * i, .theta = 0.2 * i, .w = i % 2 == 0 ? 2.0 : -3.0});
    pendulums.back().add(assembly, fmt::format("rod{}", i), ground);
  }
  const System system(assembly);
  REQUIRE(system.size() > 60);  // solved by the sparse engine
  State s = system.state();
  for (std::size_t i = 0; i < pendulums.size(); ++i) pendulums[i].set(s, fmt::format("rod{}", i));
  const Solution solution = solve(system, s);
  for (std::size_t i = 0; i < pendulums.size(); ++i)
    CHECK(std::abs(solution.a[3 * static_cast<Index>(i) + 2] - pendulums[i].angular()) < round_off * 100);
}

TEST_CASE("dry friction: the energy that a slider loses is the work of its friction") {
  Assembly assembly("slider");
  assembly.set_gravity({0.5, -g, 0});
  const auto ground = assembly.add("ground", Ground{});
  const auto block = assembly.add("block", PlanarBody{.mass = 2, .inertia = 0.3, .centre = {0.1, 0.2}});
  const double mu = 0.25;
  assembly.connect("guide", Coulomb{Slider{}, {.coefficient = mu}}, ground, block);
  const System system(assembly);
  State s = system.state();
  s.set("block'", {3, 0, 0});
  Solver solver(system);
  const double start = system.energy(s).total();
  for (int i = 0; i < 100; ++i) s = rk4_step(solver, s, 1e-3);
  // Constant deceleration while it slides: N = m g, a = 0.5 - mu g.
  const double a = 0.5 - mu * g, u = 3 + a * 0.1, way = 3 * 0.1 + 0.5 * a * 0.01;
  constexpr double regularised = 1e-6;  // 1 - u / sqrt(u^2 + u_s^2) < 1e-7 at 2.8 m/s
  CHECK(s.get("block.x'") == doctest::Approx(u).epsilon(regularised));
  CHECK(system.energy(s).total() - start == doctest::Approx(-mu * 2 * g * way).epsilon(regularised));
}

TEST_CASE("dry friction in space: hinge and slide against closed forms") {
  Assembly assembly("space");
  assembly.set_gravity({0, 0, -g});
  const auto ground = assembly.add("ground", Ground{});
  const Mat<double, 3> J = Vec3<double>(0.1, 0.2, 0.3).asDiagonal();
  const auto wheel = assembly.add("wheel", RigidBody{.mass = 4, .inertia = J});
  const auto sledge = assembly.add("sledge", RigidBody{.mass = 3, .inertia = J});
  const double mu = 0.4, r = 0.05;
  assembly.connect("hinge", Coulomb{Revolute{.axis_a = {0, 2, 0}, .axis_b = {0, 1, 0}}, {mu, r}}, ground, wheel);
  assembly.connect("rail", Coulomb{Prismatic{.axis_a = {1, 0, 0}, .axis_b = {1, 0, 0}}, {.coefficient = mu}}, ground,
                   sledge);
  const System system(assembly);
  State s = system.state();
  const Vec<double, 7> q = RigidBody::neutral();
  s.set("wheel'", RigidBody::rates(q, {0, 0, 0}, {0, -5, 0}));
  s.set("sledge'", RigidBody::rates(q, {2, 0, 0}, {0, 0, 0}));
  const Solution solution = solve(system, s);
  // Both are balanced: N = m g.
  const double angular = mu * r * 4 * g * towards(r * 5) / 0.2;
  CHECK(2 * solution.acceleration("wheel.u2") == doctest::Approx(angular).epsilon(round_off));
  CHECK(solution.acceleration("sledge.x") == doctest::Approx(-mu * g * towards(2)).epsilon(round_off));
}

TEST_CASE("dry friction on a plane: opposite to the sliding of a point, whichever way it goes") {
  const Slope slope;
  const double mu = 0.3, mass = 1.7;
  const Vec3<double> u = 2 * slope.down - 1.5 * slope.across;
  Assembly assembly("slope");
  assembly.set_gravity({0, 0, -g});
  const auto ground = assembly.add("ground", Ground{});
  const auto puck = assembly.add("puck", Particle<3>{.mass = mass});
  assembly.connect("plane", Coulomb{PointOnPlane{.axis_a = slope.normal}, {.coefficient = mu}}, ground, puck);
  const System system(assembly);
  State s = system.state();
  s.v = u;
  const Solution solution = solve(system, s);
  CHECK((solution.a - slope.acceleration(mu, u)).norm() < round_off * g);
  const double N = mass * g * std::cos(slope.angle), speed = u.norm();
  CHECK(std::abs(solution.reaction("plane").lambda[0]) == doctest::Approx(N).epsilon(round_off));
  CHECK(solution.reaction("plane").power == doctest::Approx(-mu * N * speed * towards(speed)).epsilon(round_off));
  Solver solver(system);
  CHECK((solver.solve(s) - slope.acceleration(mu, u)).norm() < round_off * g);
}

TEST_CASE("dry friction on a plane that turns: it drags the point along and is braked by it") {
  const double mu = 0.2, r = 0.7, w = 4, mass = 3, J = 0.9;
  Assembly assembly("turntable");
  assembly.set_gravity({0, 0, -g});
  const auto ground = assembly.add("ground", Ground{});
  const auto table = assembly.add("table", RigidBody{.mass = 5, .inertia = J * Mat<double, 3>::Identity()});
  const auto puck = assembly.add("puck", Particle<3>{.mass = mass});
  assembly.connect("shaft", Revolute{}, ground, table);
  const PointOnPlane top{.on_a = {0.1, -0.2, 0}};  // any point of the plane will do
  assembly.connect("top", Coulomb{top, {.coefficient = mu}}, table, puck);
  const System system(assembly);
  State s = system.state();
  s.set("puck", {r, 0, 0});  // at rest in the world
  s.set("table'", RigidBody::rates(RigidBody::neutral(), {0, 0, 0}, {0, 0, w}));
  const Solution solution = solve(system, s);
  const double friction = mu * mass * g * towards(w * r);
  CHECK(solution.acceleration("puck.y") == doctest::Approx(friction / mass).epsilon(round_off));
  CHECK(std::abs(solution.acceleration("puck.x")) < round_off * g);
  CHECK(2 * solution.acceleration("table.u3") == doctest::Approx(-r * friction / J).epsilon(round_off));
  CHECK(solution.reaction("top").power == doctest::Approx(-friction * w * r).epsilon(round_off));
}

TEST_CASE("dry friction in a planar joint: a block on a slope; its moment is taken by the joint") {
  const Slope slope;
  const double mu = 0.25, mass = 2, h = 0.1;
  const Vec3<double> u = 1.2 * slope.down + 0.9 * slope.across;
  Assembly assembly("slope");
  assembly.set_gravity({0, 0, -g});
  const auto ground = assembly.add("ground", Ground{});
  const Mat<double, 3> J = Vec3<double>(0.1, 0.1, 0.1).asDiagonal();
  const auto block = assembly.add("block", RigidBody{.mass = mass, .inertia = J});
  const PlanarJoint face{.on_b = -h * slope.normal, .axis_a = slope.normal, .axis_b = slope.normal};
  assembly.connect("face", Coulomb{face, {.coefficient = mu}}, ground, block);
  const System system(assembly);
  State s = system.state();
  const Vec<double, 7> q = RigidBody::pose(h * slope.normal, {1, 0, 0, 0});
  s.set("block", q);
  s.set("block'", RigidBody::rates(q, u, 3 * slope.normal));  // it also turns about the normal
  const Solution solution = solve(system, s);
  CHECK((solution.a.head<3>() - slope.acceleration(mu, u)).norm() < round_off * g);
  CHECK(solution.a.tail<3>().norm() < round_off * g);
  const VectorXd& lambda = solution.reaction("face").lambda;
  const double N = mass * g * std::cos(slope.angle), friction = mu * N * towards(u.norm());
  CHECK(std::abs(lambda[0]) == doctest::Approx(N).epsilon(round_off));
  CHECK(lambda.tail<2>().norm() == doctest::Approx(h * friction).epsilon(round_off));
  CHECK(solution.reaction("face").power == doctest::Approx(-friction * u.norm()).epsilon(round_off));
}

TEST_CASE("dry friction on a line in space: both forces across it count") {
  const double mu = 0.3, mass = 1.7;
  const Vec3<double> along = Vec3<double>(1, 2, -2) / 3, weight = Vec3<double>(1, -2, -g);
  Assembly assembly("wire");
  assembly.set_gravity(weight);
  const auto ground = assembly.add("ground", Ground{});
  const auto bead = assembly.add("bead", Particle<3>{.mass = mass});
  assembly.connect("wire", Coulomb{PointOnLine{.axis_a = along}, {.coefficient = mu}}, ground, bead);
  const System system(assembly);
  State s = system.state();
  s.v = -0.8 * along;
  const Solution solution = solve(system, s);
  const double N = mass * (weight - weight.dot(along) * along).norm();
  const double expected = weight.dot(along) + mu * N / mass * towards(0.8);
  CHECK((solution.a - expected * along).norm() < round_off * g);
  CHECK(solution.reaction("wire").power == doctest::Approx(-mu * N * 0.8 * towards(0.8)).epsilon(round_off));
}

TEST_CASE("dry friction of a sleeve that turns and slides: it is shared by the two as their speeds are") {
  const double mu = 0.4, r = 0.05, mass = 3, J = 0.02, w = 30, v = 0.4;
  Assembly assembly("sleeve");
  assembly.set_gravity({0, 0, -g});
  const auto ground = assembly.add("ground", Ground{});
  const auto sleeve = assembly.add("sleeve", RigidBody{.mass = mass, .inertia = J * Mat<double, 3>::Identity()});
  const Cylindrical on_x{.on_a = {-2, 0, 0}, .axis_a = {1, 0, 0}, .axis_b = {1, 0, 0}};
  assembly.connect("shaft", Coulomb{on_x, {.coefficient = mu, .radius = r}}, ground, sleeve);
  const System system(assembly);
  State s = system.state();
  s.set("sleeve'", RigidBody::rates(RigidBody::neutral(), {v, 0, 0}, {w, 0, 0}));
  const Solution solution = solve(system, s);
  const double u = std::hypot(r * w, v), friction = mu * mass * g * towards(u);
  CHECK(solution.acceleration("sleeve.x") == doctest::Approx(-friction * v / u / mass).epsilon(round_off));
  CHECK(2 * solution.acceleration("sleeve.u1") == doctest::Approx(-r * friction * r * w / u / J).epsilon(round_off));
  CHECK(solution.reaction("shaft").power == doctest::Approx(-friction * u).epsilon(round_off));
  CHECK(solution.acceleration("sleeve.x") > -0.3 * mu * g);  // not turning it would brake by mu g
}

TEST_CASE("dry friction of a ball joint: a torque against the relative spin") {
  const double mu = 0.3, r = 0.02, mass = 2, J = 0.01;
  const Vec3<double> w(3, -2, 6);
  Assembly assembly("ball");
  assembly.set_gravity({0, 0, -g});
  const auto ground = assembly.add("ground", Ground{});
  const auto ball = assembly.add("ball", RigidBody{.mass = mass, .inertia = J * Mat<double, 3>::Identity()});
  assembly.connect("socket", Coulomb{Spherical{}, {.coefficient = mu, .radius = r}}, ground, ball);
  const System system(assembly);
  State s = system.state();
  s.set("ball'", RigidBody::rates(RigidBody::neutral(), {0, 0, 0}, w));
  const Solution solution = solve(system, s);
  const double torque = mu * mass * g * r * towards(r * w.norm());
  CHECK((2 * solution.a.tail<3>() + torque / J * w.normalized()).norm() < round_off * torque / J);
  CHECK(solution.reaction("socket").power == doctest::Approx(-torque * w.norm()).epsilon(round_off));
}

TEST_CASE("friction between two bodies is internal, takes out c |u|^2, and has exact slopes") {
  const double c = 0.7, r = 0.3;
  const Axis axis_a(1, 2, -1), axis_b(0.5, -1, 3);
  const Vec3<double> on_a(0.3, -0.2, 0.1), on_b(-0.1, 0.4, 0.2);
  struct End {
    Vec3<double> p, v, w, z;  // point of the joint, its velocity, angular velocity, axis
  };
  const auto check = [&](const char* name, const auto& joint, const auto& sliding) {
    INFO(name);
    Assembly assembly("two bodies");
    const RigidBody body{.mass = 2, .inertia = Vec3<double>(1, 2, 2.5).asDiagonal(), .centre = {0.1, 0.2, 0.3}};
    const auto a = assembly.add("a", body), b = assembly.add("b", body);
    assembly.connect("joint", Viscous{joint, {.coefficient = c, .radius = r}}, a, b);
    const System system(assembly);
    check_derivatives(system);
    State s = system.state();  // both bodies at the neutral place, where body axes are the world's
    const Vec3<double> va(1, -2, 0.5), wa(0.4, 0.3, -0.8), vb(-0.6, 1, 2), wb(1.1, -0.7, 0.2);
    s.set("b", RigidBody::pose({0.5, 0.6, -0.7}, {1, 0, 0, 0}));
    s.set("a'", RigidBody::rates(RigidBody::neutral(), va, wa));
    s.set("b'", RigidBody::rates(RigidBody::neutral(), vb, wb));
    const VectorXd C = system.evaluate(s).C;
    for (int i = 0; i < 6; ++i) {  // a motion of both as one
      const Vec<double, 6> unit = Vec<double, 6>::Unit(i);
      const Vec3<double> v = unit.head<3>(), w = unit.tail<3>();
      VectorXd as_one(14);
      as_one << RigidBody::rates(s.q.head<7>(), v + w.cross(s.q.head<3>()), w),
          RigidBody::rates(s.q.tail<7>(), v + w.cross(s.q.segment<3>(7)), w);
      CHECK(std::abs(C.dot(as_one)) < round_off);
    }
    const End A{on_a, va + wa.cross(on_a), wa, axis_a.along};
    const End B{s.q.segment<3>(7) + on_b, vb + wb.cross(on_b), wb, axis_b.along};
    CHECK(C.dot(s.v) == doctest::Approx(-c * sliding(A, B)).epsilon(round_off));
  };
  const auto on_plane = [](const End& a, const End& b) {
    const Vec3<double> u = b.v - a.v - a.w.cross(b.p - a.p);
    return u.squaredNorm() - std::pow(u.dot(a.z), 2);
  };
  check("plane", PointOnPlane{on_a, on_b, axis_a}, on_plane);
  check("face", PlanarJoint{on_a, on_b, axis_a, axis_b}, on_plane);
  check("ball", Spherical{on_a, on_b}, [=](const End& a, const End& b) { return r * r * (b.w - a.w).squaredNorm(); });
}

TEST_CASE("viscous friction: sleeve and wire, force over speed, exact slopes") {
  Assembly assembly("viscous");
  const auto ground = assembly.add("ground", Ground{});
  const double J = 0.02, c = 0.7, r = 0.1;
  const auto sleeve = assembly.add("sleeve", RigidBody{.mass = 3, .inertia = J * Mat<double, 3>::Identity()});
  const auto bead = assembly.add("bead", Particle<3>{.mass = 2});
  assembly.connect("shaft", Viscous{Cylindrical{}, {.coefficient = c, .radius = r}}, ground, sleeve);
  assembly.connect("wire", Viscous{PointOnLine{.axis_a = {1, 0, 0}}, {.coefficient = c}}, sleeve, bead);
  const System system(assembly);
  check_joints(system);
  check_derivatives(system);
  State s = system.state();
  s.set("sleeve'", RigidBody::rates(RigidBody::neutral(), {0, 0, 2}, {0, 0, 0}));
  s.set("bead'", {4, 0, 2});
  const Solution solution = solve(system, s);
  CHECK(solution.acceleration("bead.x") == doctest::Approx(-c * 4 / 2).epsilon(round_off));
  CHECK(solution.acceleration("sleeve.z") == doctest::Approx(-c * 2 / (3 + 2)).epsilon(round_off));
  CHECK(solution.reaction("shaft").power == doctest::Approx(-c * 4).epsilon(round_off));
}

TEST_CASE("viscous friction: force over speed, exact slopes") {
  Assembly assembly("viscous");
  const auto ground = assembly.add("ground", Ground{});
  const auto block = assembly.add("block", PlanarBody{.mass = 2, .inertia = 0.3});
  const auto rod = assembly.add("rod", PlanarBody{.mass = 1, .inertia = 0.5});
  assembly.connect("guide", Viscous{Slider{.axis_a = {3, 0}}, {.coefficient = 0.7}}, ground, block);
  assembly.connect("pin", Viscous{Pin{}, {.coefficient = 2, .radius = 0.1}}, block, rod);
  const System system(assembly);
  check_joints(system);
  check_derivatives(system);
  State s = system.state();
  s.set("block'", {4, 0, 0});
  s.set("rod'", {4, 0, 3});
  const Solution solution = solve(system, s);
  CHECK(solution.acceleration("block.x") == doctest::Approx(-0.7 * 4 / 3).epsilon(round_off));
  CHECK(solution.acceleration("rod.theta") == doctest::Approx(-2 * 0.01 * 3 / 0.5).epsilon(round_off));
  CHECK(solution.reaction("guide").power == doctest::Approx(-0.7 * 16).epsilon(round_off));
}

TEST_CASE("a law may put energy in, and so does a drive: power is reported with its sign") {
  Assembly assembly("powered");
  const auto ground = assembly.add("ground", Ground{});
  const auto block = assembly.add("block", PlanarBody{.mass = 2, .inertia = 0.3});
  const auto push = [](auto&, auto& b, const auto&) { b.apply_force(Vec2<double>(0, 0), vec(5 * b.speed("x"), 0.0)); };
  assembly.connect("guide", Nonideal{Slider{}, push}, ground, block);
  const auto driven = assembly.add("driven", Particle<1>{.mass = 3});
  assembly.connect("drive", Holonomic{[](const auto& b, const auto& t) { return b.coordinate("x") - t * t; }}, driven);
  const System system(assembly);
  State s = system.state();
  s.t = 1;
  s.set("block'", {2, 0, 0});
  s.set("driven", {1});
  s.set("driven'", {2});
  const Solution solution = solve(system, s);
  CHECK(solution.acceleration("block.x") == doctest::Approx(5 * 2 / 2.0).epsilon(round_off));
  CHECK(solution.reaction("guide").power == doctest::Approx(5 * 2 * 2).epsilon(round_off));
  CHECK(solution.reaction("drive").power == doctest::Approx(3 * 2 * 2).epsilon(round_off));  // m a v
}

TEST_CASE("dry friction is refused by name where the reaction is not unique") {
  Assembly assembly("door");
  assembly.set_gravity({0, 0, -g});
  const auto ground = assembly.add("ground", Ground{});
  const auto door = assembly.add("door", RigidBody{.mass = 20, .inertia = Mat<double, 3>::Identity()});
  const auto hinge = [](double z) { return Revolute{.on_a = {0, 0, z}, .on_b = {-0.5, 0, z}}; };
  assembly.connect("upper", Coulomb{hinge(1), {.coefficient = 0.2, .radius = 0.01}}, ground, door);
  assembly.connect("lower", hinge(-1), ground, door);
  const System system(assembly);
  State s = system.state();
  s.set("door.x", 0.5);
  CHECK_THROWS_WITH_AS(solve(system, s),
                       "joint 'upper': its friction needs its reaction, which is not unique: row 'upper.x' shares its "
                       "load; remove redundant rows, or give it a law that does not need the reaction",
                       NotDetermined);
}

TEST_CASE("dry friction without a solution is refused by name (Painleve's rod)") {
  // A rod slides with its tip on a rough floor.  With A = 1/m + x^2 / J and B = x y / J, the tip's acceleration asks
  // for (A -+ mu B) N = c, one sign for each sign of N.  For mu > A / B no N fits.
  const double m = 1, J = 1.0 / 12, theta = 1.1, half = 0.5;
  const double x = half * std::cos(theta), y = half * std::sin(theta), A = 1 / m + x * x / J, B = x * y / J;
  const auto rod_with = [&](double mu) {
    Assembly assembly("painleve");
    assembly.set_gravity({0, -g, 0});
    const auto ground = assembly.add("floor", Ground{});
    const auto rod = assembly.add("rod", PlanarBody{.mass = m, .inertia = J});
    assembly.connect("tip", Coulomb{PlanarPointOnLine{.on_b = {-half, 0}}, {.coefficient = mu}}, ground, rod);
    return System(assembly);
  };
  const auto state = [&](const System& system) {
    State s = system.state();
    s.set("rod", {x, y, theta});
    s.set("rod'", {-2, 0, 0});
    return s;
  };
  const System smooth = rod_with(0.5 * A / B);
  const Solution fine = solve(smooth, state(smooth));
  CHECK(fine.reaction("tip").lambda.norm() > 0);
  const System rough = rod_with(2 * A / B);
  CHECK_THROWS_WITH_AS(solve(rough, state(rough)),
                       doctest::Contains("joint 'tip': friction and reactions do not come to agree"), NotConverged);
}

TEST_CASE("friction: bad parameters are refused by name, derivatives of dry friction are not there") {
  Assembly assembly("bad");
  const auto ground = assembly.add("ground", Ground{});
  const auto rod = assembly.add("rod", PlanarBody{.mass = 1, .inertia = 1});
  CHECK_THROWS_WITH_AS(assembly.connect("pin", Coulomb{Pin{}, {.coefficient = -0.1}}, ground, rod),
                       "joint 'pin': coefficient = -0.1 is negative; give a number >= 0 (0 is allowed)", InvalidModel);
  CHECK_THROWS_WITH_AS(assembly.connect("pin", Coulomb{Pin{}, {.coefficient = 0.1, .radius = 0}}, ground, rod),
                       "joint 'pin': radius = 0 m is not positive; give a finite number > 0", InvalidModel);
  CHECK_THROWS_WITH_AS(assembly.connect("pin", Viscous{Pin{.on_b = {NAN, 0}}, {.coefficient = 1}}, ground, rod),
                       "joint 'pin': on_b[0] = nan m is not finite; give a finite number", InvalidModel);
  assembly.connect("pin", Coulomb{Pin{}, {.coefficient = 0.1, .radius = 0.1}}, ground, rod);
  const System system(assembly);
  REQUIRE(system.without_derivatives().size() == 1);
  CHECK(system.without_derivatives()[0] == "pin");
}
