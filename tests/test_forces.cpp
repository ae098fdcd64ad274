// The catalogue of forces: closed forms, slopes, action and reaction, and the balance of energy.

#include <numbers>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/forces/applied.h>
#include <mortise/forces/bushing.h>
#include <mortise/forces/coordinate_spring.h>
#include <mortise/forces/dissipation.h>
#include <mortise/forces/drag.h>
#include <mortise/forces/motor.h>
#include <mortise/forces/nonlinear_spring.h>
#include <mortise/forces/spring.h>
#include <mortise/forces/torsion_spring.h>
#include <mortise/integrators/rk4.h>
#include <mortise/solve/solve.h>
#include <mortise/solve/solver.h>

#include "check_joint.h"

using namespace mortise;

namespace {

constexpr double round_off = 1e-13;  // a few hundred operations on numbers near 1

const Mat<double, 3> full_inertia = (Mat<double, 3>() << 2.0, 0.3, -0.1, 0.3, 1.5, 0.2, -0.1, 0.2, 1.0).finished();

double difference(const VectorXd& a, const VectorXd& b) {
  REQUIRE(a.size() == b.size());
  return (a - b).cwiseAbs().maxCoeff() / (1 + b.cwiseAbs().maxCoeff());
}

Mat<double, 6> positive(double size) {  // symmetric, positive definite, full
  Mat<double, 6> X;
  for (int j = 0; j < 6; ++j)
    for (int i = 0; i < 6; ++i) X(i, j) = std::sin(1.0 + 3 * i + 7 * j);
  return size * (X * X.transpose() + Mat<double, 6>::Identity());
}

Contribution named(const System& system, const State& s, const std::string& name) {
  for (Contribution& c : system.contributions(s))
    if (c.name == name) return c;
  FAIL("there is no contribution " << name);
  return {};
}

constexpr auto hardening = [](const auto& e) { return 20.0 * e * e + 90.0 * e * e * e * e; };
constexpr auto sticky = [](const auto& e, const auto& rate, const auto& t) {
  return 0.4 * rate * (1.0 + e * e) + 0.1 * t;
};
constexpr auto geared = [](const auto& angle, const auto& speed, const auto& t) {
  return 2.0 - 0.3 * speed - 0.1 * angle + t;
};

// Every force in the plane, on two bodies, a particle and the ground.
Assembly plane() {
  Assembly a("plane");
  a.set_gravity({0.3, -9.81, 0});
  const auto ground = a.add("ground", Ground{});
  const auto p = a.add("p", PlanarBody{.mass = 1.1, .inertia = 0.4, .centre = {0.1, 0.2}});
  const auto q = a.add("q", PlanarBody{.mass = 0.9, .inertia = 0.3});
  const auto dot = a.add("dot", Particle<2>{.mass = 0.5});
  a.apply("spring", Spring<2>{.on_a = {0.3, 0}, .on_b = {0, -0.4}, .stiffness = 30, .damping = 0.7, .length = 0.5}, p,
          q);
  a.apply("tether", Spring<2>{.on_a = {2, 0}, .stiffness = 11, .damping = 0.2}, ground, dot);
  a.apply("duffing",
          NonlinearSpring{.ends = Ends<2>{.on_b = {0.2, 0.1}}, .length = 0.4, .energy = hardening, .tension = sticky},
          dot, q);
  a.apply("rail",
          CoordinateSpring{.terms = {{0, "x", 1}, {1, "theta", -0.5}}, .stiffness = 25, .damping = 0.3, .rest = 0.1}, p,
          q);
  a.apply("hinge", TorsionSpring<>{.stiffness = 4, .damping = 0.1, .rest = 0.2}, p, q);
  a.apply("wall", TorsionSpring<>{.stiffness = 3, .damping = 0.1}, ground, p);
  a.apply("motor", Motor{.about = PlanarTurn{}, .torque = geared}, p, q);
  a.apply("push",
          AppliedForce{.at = Vec2<double>(0.1, 0.3),
                       .force = [](const auto& b, const auto& t) { return vec(t, 0.5 * b.coordinate("x")); }},
          p);
  a.apply("thrust",
          AppliedForce{.at = Vec2<double>(0, 0.3),
                       .force = [](const auto& b, const auto& t) { return vec(1.0 + t, 0.2 * b.speed("y")); },
                       .in_body_axes = true},
          q);
  a.apply("friction", AppliedTorque{[](const auto& b, const auto&) { return -0.2 * b.angular_velocity(); }}, q);
  a.apply("air", Drag<2>{.at = {0.2, 0}, .factor = 0.3, .wind = {0.4, 0}}, p);
  a.apply("slip", Dissipation{[](const auto& x, const auto& y, const auto&) {
            const auto u = (x.point_velocity(Vec2<double>(0.1, 0)) - y.point_velocity(Vec2<double>(0, 0))).eval();
            return 0.3 * u.squaredNorm() * (1.0 + x.coordinate("y") * x.coordinate("y"));
          }},
          q, dot);
  return a;
}

// Every force in space, on two bodies, a particle and the ground.
Assembly space() {
  Assembly a("space");
  a.set_gravity({0, 0.2, -9.81});
  const auto ground = a.add("ground", Ground{});
  const auto p = a.add("p", RigidBody{.mass = 1.1, .inertia = full_inertia, .centre = {0.1, 0.2, 0}});
  const auto q = a.add("q", RigidBody{.mass = 0.9, .inertia = full_inertia});
  const auto dot = a.add("dot", Particle<3>{.mass = 0.5});
  a.apply("spring",
          Spring<3>{.on_a = {0.3, 0, 1}, .on_b = {0, -0.4, 0}, .stiffness = 30, .damping = 0.7, .length = 0.5}, p, q);
  a.apply(
      "duffing",
      NonlinearSpring{.ends = Ends<3>{.on_b = {0.2, 0.1, 0}}, .length = 0.4, .energy = hardening, .tension = sticky},
      dot, q);
  a.apply(
      "hinge",
      TorsionSpring{
          .about = AxisTurn{.axis_a = {1, 2, 0}, .axis_b = {1, 2, 0.2}}, .stiffness = 4, .damping = 0.1, .rest = 0.2},
      p, q);
  a.apply("motor", Motor{.about = AxisTurn{.axis_a = {0, 1, 0}, .axis_b = {0, 1, 0}}, .torque = geared}, ground, q);
  a.apply("mount",
          Bushing{.on_a = {0.2, 0, 0.1},
                  .on_b = {0, 0.3, 0},
                  .stiffness = positive(3),
                  .damping = positive(0.1),
                  .axes_a = rotation_matrix<double>(quaternion_from_euler("zyx", {0.5, -0.3, 0.9}))},
          p, q);
  a.apply("foot", Bushing{.on_a = {0.2, 0, 0.1}, .stiffness = positive(2), .damping = positive(0.2)}, ground, p);
  a.apply("thrust",
          AppliedForce{.at = Vec3<double>(0, 0.3, 0.1),
                       .force = [](const auto& b, const auto& t) { return vec(1.0 + t, 0.2 * b.speed("y"), 0.3); },
                       .in_body_axes = true},
          q);
  a.apply("friction",
          AppliedTorque{[](const auto& b, const auto& t) { return (-0.2 * t * b.angular_velocity()).eval(); }}, q);
  a.apply("air", Drag<3>{.at = {0.2, 0, 0}, .factor = 0.3, .wind = {0.4, 0, 0}}, p);
  a.apply("slip", Dissipation{[](const auto& x, const auto& y, const auto&) {
            const auto u = (x.point_velocity(Vec3<double>(0.1, 0, 0)) - y.point_velocity(Vec3<double>(0, 0, 0))).eval();
            return 0.3 * u.squaredNorm();
          }},
          q, dot);
  return a;
}

// A state of `space` with unit quaternions, moderately turned.
State calm(const System& system) {
  State s = random_state(system, 7);
  for (const char* body : {"p", "q"}) {
    const std::string name(body);
    const double turn = body[0] == 'p' ? 0.3 : -0.2;
    s.set(name, RigidBody::pose(s.get_all(name).head<3>(), quaternion_from_euler("zyx", {turn, 0.2, -0.1})));
    s.set(name + "'", RigidBody::rates(s.get_all(name), {0.3, turn, -0.2}, {turn, 0.7, -0.4}));
  }
  return s;
}

// T + V - (what was put in): both by steps of h, the latter by Simpson's rule over half steps.
double unbalanced(const System& system, State s, int steps, double h) {
  const auto input = [&](const State& x) {
    double sum = 0;
    for (const Contribution& c : system.contributions(x)) sum += c.input;
    return sum;
  };
  Solver solver(system);
  const double start = system.energy(s).total();
  double put_in = 0, moved = 0;
  for (int i = 0; i < steps; ++i) {
    const State middle = rk4_step(solver, s, h / 2), end = rk4_step(solver, middle, h / 2);
    const double work = h / 6 * (input(s) + 4 * input(middle) + input(end));
    put_in += work;
    moved += std::abs(work);
    s = end;
  }
  CHECK(moved > 0.1);  // there is something to balance
  return system.energy(s).total() - start - put_in;
}

}  // namespace

TEST_CASE("forces: slopes match differences, and both ways of applying them agree") {
  for (const Assembly& a : {plane(), space()}) {
    const System system(a);
    CHECK(system.without_derivatives().empty());
    check_derivatives(system);
    // solve() applies them at the coordinates, Solver at the bodies' own unknowns.
    const State s = a.name() == "space" ? calm(system) : random_state(system, 4);
    Solver solver(system);
    CHECK(difference(solver.solve(s), solve(system, s).a) < 1e-12);
  }
}

TEST_CASE("forces balance energy: kinetic + potential - input is kept") {
  const System flat(plane()), solid(space());
  for (const auto& [system, start] : {std::pair(&flat, random_state(flat, 4)), std::pair(&solid, calm(solid))}) {
    const double coarse = std::abs(unbalanced(*system, start, 200, 0.005));
    const double fine = std::abs(unbalanced(*system, start, 400, 0.0025));
    CHECK(fine < 1e-6);         // J, of tens of J; both rules err by h^4
    CHECK(fine < coarse / 10);  // 1/16 in the limit
  }
}

TEST_CASE("forces between two bodies do no work when both move as one rigid body, and keep momentum") {
  const System system(space());
  State s = calm(system);
  const Vec3<double> v(0.4, -1, 2), w(0.6, 0.3, -0.8);
  for (const char* body : {"p", "q"}) {
    const std::string name(body);
    const Vec<double, 7> x = s.get_all(name);
    const Mat<double, 3> R = rotation_matrix<double>(Quaternion<double>(x.tail<4>()));
    s.set(name + "'", RigidBody::rates(x, v + w.cross(Vec3<double>(x.head<3>())), R.transpose() * w));
  }
  s.set("dot'", VectorXd(v + w.cross(Vec3<double>(s.get_all("dot")))));
  for (const char* name : {"spring", "duffing", "hinge", "mount"}) {
    INFO(name);
    const Contribution c = named(system, s, name);
    CHECK(c.Q.norm() > 0.1);
    CHECK(std::abs(c.power) < 1e-12 * c.Q.norm());
  }
  const System flat(plane());
  State f = random_state(flat, 4);
  for (const char* body : {"p", "q"}) {
    const std::string name(body);
    f.set(name + "'", {0.4 - 0.8 * f.get(name + ".y"), -1 + 0.8 * f.get(name + ".x"), 0.8});
  }
  f.set("dot'", {0.4 - 0.8 * f.get("dot.y"), -1 + 0.8 * f.get("dot.x")});
  for (const char* name : {"spring", "duffing", "hinge", "motor"}) {
    INFO(name);
    const Contribution c = named(flat, f, name);
    CHECK(c.Q.norm() > 0.1);
    CHECK(std::abs(c.power) < 1e-13 * c.Q.norm());
  }
}

TEST_CASE("Spring: tension, energy and loss; coincident points give no NaN") {
  const double k = 30, c = 0.7, length = 2;
  Assembly a("spring");
  const auto p = a.add("p", Particle<3>{.mass = 1}), q = a.add("q", Particle<3>{.mass = 2});
  a.apply("s", Spring<3>{.on_b = {0, 0, 1}, .stiffness = k, .damping = c, .length = length}, p, q);
  a.apply("zero", Spring<3>{.stiffness = 5, .damping = 0.4}, p, q);
  const System system(a);
  State s = system.state();
  s.set("p", {3, 0, 5});  // 3-4-5 from q's point: l = 5
  s.set("p'", {1, 0, 2});
  s.set("q'", {0, 1, 0});
  const double rate = 1 * 0.6 + 2 * 0.8, tension = k * (5 - length) + c * rate;
  const Contribution one = named(system, s, "s");
  CHECK(difference(one.Q,
                   (VectorXd(6) << -0.6 * tension, 0, -0.8 * tension, 0.6 * tension, 0, 0.8 * tension).finished()) <
        round_off);
  CHECK(*one.potential == doctest::Approx(0.5 * k * 9).epsilon(1e-14));
  CHECK(one.power == doctest::Approx(-tension * rate).epsilon(1e-13));
  CHECK(one.input == doctest::Approx(-c * rate * rate).epsilon(1e-12));

  // Coincident: "s" (length > 0) has no direction, "zero" is smooth: V = k/2 d^2 with slope -5 I.
  for (const double gap : {0.0, 1.0}) {
    s.set("p", {0, 0, gap});
    const Evaluation e = system.evaluate(s);
    const Derivatives d = system.derivatives(s, VectorXd::Zero(6));
    CHECK(e.Q.allFinite());
    CHECK(d.dQ_dq.allFinite());
    CHECK(d.dQ_dv.allFinite());
    CHECK(solve(system, s).a.allFinite());
    Solver solver(system);
    CHECK(difference(solver.solve(s), solve(system, s).a) < round_off);
    if (gap == 0) {
      CHECK(named(system, s, "zero").Q.norm() == 0);
      State rest = s;
      rest.v.setZero();
      const Derivatives still = system.derivatives(rest, VectorXd::Zero(6));
      // "s" stands at l = 1 here: its own part of the slope is known, -k (1 - length) / l across and -k along.
      const double across = still.dQ_dq(0, 0), along = still.dQ_dq(2, 2);
      CHECK(across == doctest::Approx(-5 - k * (1 - length) / 1).epsilon(1e-12));
      CHECK(along == doctest::Approx(-5 - k).epsilon(1e-12));
    } else {
      CHECK(named(system, s, "s").Q.norm() == 0);
      CHECK(*named(system, s, "s").potential == doctest::Approx(0.5 * k * length * length).epsilon(1e-14));
    }
  }
}

TEST_CASE("NonlinearSpring and CoordinateSpring: closed forms") {
  Assembly a("springs");
  const auto ground = a.add("ground", Ground{});
  const auto p = a.add("p", Particle<2>{.mass = 1});
  const auto b = a.add("b", PlanarBody{.mass = 1, .inertia = 1});
  a.apply("duffing", NonlinearSpring{.ends = Ends<2>{}, .length = 1, .energy = hardening, .tension = sticky}, ground,
          p);
  a.apply("elastic", NonlinearSpring{.ends = Ends<2>{}, .length = 1, .energy = hardening}, ground, p);
  a.apply("rail",
          CoordinateSpring{.terms = {{0, "x", 2}, {1, "theta", -3}}, .stiffness = 10, .damping = 0.5, .rest = 0.4}, p,
          b);
  const System system(a);
  State s = system.state();
  s.t = 0.6;
  s.set("p", {1.5, 0});
  s.set("p'", {0.7, 9});
  s.set("b", {0, 0, 0.2});
  s.set("b'", {0, 0, -1});
  const double e = 0.5, stored = 40 * e + 360 * e * e * e, lost = 0.4 * 0.7 * (1 + e * e) + 0.1 * 0.6;
  const Contribution duffing = named(system, s, "duffing"), elastic = named(system, s, "elastic");
  CHECK(duffing.Q[0] == doctest::Approx(-stored - lost).epsilon(1e-13));
  CHECK(duffing.input == doctest::Approx(-lost * 0.7).epsilon(1e-12));
  CHECK(*duffing.potential == doctest::Approx(20 * e * e + 90 * e * e * e * e).epsilon(1e-14));
  CHECK(elastic.Q[0] == doctest::Approx(-stored).epsilon(1e-13));
  CHECK(std::abs(elastic.input) < round_off * 100);  // of a power near 50 W
  const double stretch = 2 * 1.5 - 3 * 0.2 - 0.4, rate = 2 * 0.7 + 3;
  const Contribution rail = named(system, s, "rail");
  CHECK(rail.Q[0] == doctest::Approx(-2 * (10 * stretch + 0.5 * rate)).epsilon(1e-14));
  CHECK(rail.Q[4] == doctest::Approx(3 * (10 * stretch + 0.5 * rate)).epsilon(1e-14));
  CHECK(*rail.potential == doctest::Approx(5 * stretch * stretch).epsilon(1e-14));
  CHECK(rail.input == doctest::Approx(-0.5 * rate * rate).epsilon(1e-13));
}

TEST_CASE(
    "TorsionSpring and Motor: the same torque on both bodies, opposite, in the plane and about an axis in space") {
  const double k = 4, c = 0.1, rest = 0.2, J = 1.7;
  const Vec3<double> axis = Vec3<double>(1, 2, -1).normalized();
  Assembly flat("flat"), solid("solid");
  const auto a = flat.add("a", PlanarBody{.mass = 1, .inertia = J}),
             b = flat.add("b", PlanarBody{.mass = 1, .inertia = 2 * J});
  flat.apply("spring", TorsionSpring<>{.stiffness = k, .damping = c, .rest = rest}, a, b);
  flat.apply("motor", Motor{.about = PlanarTurn{}, .torque = geared}, a, b);
  const Mat<double, 3> round = J * Mat<double, 3>::Identity();
  const auto x = solid.add("a", RigidBody{.mass = 1, .inertia = round}),
             y = solid.add("b", RigidBody{.mass = 1, .inertia = 2 * round});
  const AxisTurn about{.axis_a = axis, .axis_b = axis};
  solid.apply("spring", TorsionSpring{.about = about, .stiffness = k, .damping = c, .rest = rest}, x, y);
  solid.apply("motor", Motor{.about = about, .torque = geared}, x, y);
  const System p(flat), q(solid);
  State s = p.state(), z = q.state();
  s.t = z.t = 0.3;
  const double ta = 0.4, tb = -1.3, wa = 0.9, wb = -0.5;
  s.set("a", {0, 0, ta});
  s.set("b", {0, 0, tb});
  s.set("a'", {0, 0, wa});
  s.set("b'", {0, 0, wb});
  z.set("a", RigidBody::pose({0, 0, 0}, quaternion_from_axis_angle(axis, ta)));
  z.set("b", RigidBody::pose({0, 0, 0}, quaternion_from_axis_angle(axis, tb)));
  z.set("a'", RigidBody::rates(z.get_all("a"), {0, 0, 0}, wa * axis));
  z.set("b'", RigidBody::rates(z.get_all("b"), {0, 0, 0}, wb * axis));
  const double angle = tb - ta, speed = wb - wa;
  const double torque = -k * (angle - rest) - c * speed + 2 - 0.3 * speed - 0.1 * angle + 0.3;
  const Solution planar = solve(p, s), spatial = solve(q, z);
  CHECK(planar.acceleration("a.theta") == doctest::Approx(-torque / J).epsilon(1e-13));
  CHECK(planar.acceleration("b.theta") == doctest::Approx(torque / (2 * J)).epsilon(1e-13));
  const auto spin_up = [&](Index first) -> Vec3<double> {
    const Quaternion<double> u = z.q.segment<4>(first + 3), a_u = spatial.a.segment<4>(first + 3);
    return rotation_matrix<double>(u) * (2 * quaternion_E<double>(u) * a_u);
  };
  CHECK((spin_up(0) + torque / J * axis).norm() < 1e-12);
  CHECK((spin_up(7) - torque / (2 * J) * axis).norm() < 1e-12);
  for (const auto& [system, state] : {std::pair(&p, &s), std::pair(&q, &z)}) {
    CHECK(*named(*system, *state, "spring").potential ==
          doctest::Approx(0.5 * k * (angle - rest) * (angle - rest)).epsilon(1e-13));
    CHECK(named(*system, *state, "spring").input == doctest::Approx(-c * speed * speed).epsilon(1e-11));
  }
  // The plane counts turns.
  s.set("b.theta", tb + 4 * std::numbers::pi);
  CHECK(*named(p, s, "spring").potential ==
        doctest::Approx(0.5 * k * std::pow(angle + 4 * std::numbers::pi - rest, 2)).epsilon(1e-13));
}

TEST_CASE("Bushing: K x and C x' for small motions; V = k/2 sin^2 for one large turn") {
  const Mat<double, 6> K = positive(3), C = positive(0.1);
  Assembly a("mount");
  const auto ground = a.add("ground", Ground{});
  const auto body = a.add("b", RigidBody{.mass = 1, .inertia = full_inertia});
  a.apply("mount", Bushing{.on_a = {1, 2, 3}, .stiffness = K, .damping = C}, ground, body);
  Mat<double, 6> k = Mat<double, 6>::Zero();
  k(5, 5) = 7;
  a.apply("twist", Bushing{.on_a = {1, 2, 3}, .stiffness = k}, ground, body);
  const System system(a);
  State s = system.state();
  const Vec3<double> d(3e-5, -2e-5, 1e-5), turn(1e-5, 2e-5, -3e-5), v(0.3, -0.1, 0.2), w(0.5, 0.4, -0.6);
  s.set("b", RigidBody::pose(Vec3<double>(1, 2, 3) + d, quaternion_from_axis_angle(turn, turn.norm())));
  s.set("b'", RigidBody::rates(s.get_all("b"), v, w));
  Vec<double, 6> x, rate;
  x << d, turn;
  rate << v, w;
  const Contribution mount = named(system, s, "mount");
  const Vec<double, 6> wrench = -K * x - C * rate;
  // On u the torque m does 2 E'm.
  const Quaternion<double> u = s.get_all("b").tail<4>();
  const Vec<double, 4> on_u = 2 * quaternion_E<double>(u).transpose() * wrench.tail<3>();
  constexpr double small = 1e-4;  // turn times the torque and force
  CHECK((mount.Q.head<3>() - wrench.head<3>()).norm() < small * wrench.norm());
  CHECK((mount.Q.tail<4>() - on_u).norm() < small * wrench.norm());
  CHECK(*mount.potential == doctest::Approx(0.5 * x.dot(K * x)).epsilon(1e-4));
  CHECK(mount.input == doctest::Approx(-rate.dot(C * rate)).epsilon(1e-4));

  for (const double angle : {0.7, 2.0}) {
    s.set("b", RigidBody::pose({1, 2, 3}, quaternion_from_axis_angle({0, 0, 1}, angle)));
    s.set("b'", RigidBody::rates(s.get_all("b"), {0, 0, 0}, {0, 0, 1}));
    const Contribution twist = named(system, s, "twist");
    CHECK(*twist.potential == doctest::Approx(3.5 * std::sin(angle) * std::sin(angle)).epsilon(1e-13));
    CHECK(twist.power == doctest::Approx(-7 * std::sin(angle) * std::cos(angle)).epsilon(1e-12));
  }
}

TEST_CASE("applied forces, drag and dissipation: closed forms") {
  Assembly a("applied");
  const auto b = a.add("b", PlanarBody{.mass = 2, .inertia = 0.5});
  const auto p = a.add("p", Particle<3>{.mass = 2});
  const auto r = a.add("r", RigidBody{.mass = 1, .inertia = full_inertia});
  const auto given = [](const auto&, const auto& t) { return vec(t, 2.0); };
  a.apply("world", AppliedForce{.at = Vec2<double>(0.3, 0.4), .force = given}, b);
  a.apply("follower", AppliedForce{.at = Vec2<double>(0.3, 0.4), .force = given, .in_body_axes = true}, b);
  a.apply("turn", AppliedTorque{[](const auto& x, const auto&) { return -0.2 * x.angular_velocity(); }}, b);
  a.apply("spin", AppliedTorque{[](const auto&, const auto& t) { return vec(0.1, t, -0.3); }}, r);
  a.apply("air", Drag<3>{.factor = 0.25, .wind = {1, 0, 0}}, p);
  a.apply("cubic", Dissipation{[](const auto& x, const auto&) {
            const auto v = x.speed("z");
            return 0.4 * v * v * v * x.coordinate("x");
          }},
          p);
  a.apply("damper", Spring<3>{.on_b = {0, 0, 1}, .damping = 0.8}, p, r);
  a.apply("rayleigh", Dissipation{[](const auto& x, const auto& y, const auto&) {
            const auto d = (x.point(Vec3<double>(0, 0, 0)) - y.point(Vec3<double>(0, 0, 1))).eval();
            const auto u = (x.point_velocity(Vec3<double>(0, 0, 0)) - y.point_velocity(Vec3<double>(0, 0, 1))).eval();
            const auto along = d.dot(u);
            return 0.4 * along * along / d.squaredNorm();
          }},
          p, r);
  const System system(a);
  State s = random_state(system, 9, 0.7);
  s.set("b", {0, 0, 0.6});
  s.set("b'", {0, 0, 1.4});
  s.set("p", {1.2, 0, 0});
  s.set("p'", {4, 0, 4});  // 3 and 4 against the wind
  const double co = std::cos(0.6), si = std::sin(0.6);
  const Vec2<double> arm(0.3 * co - 0.4 * si, 0.3 * si + 0.4 * co), turned(0.7 * co - 2 * si, 0.7 * si + 2 * co);
  CHECK(difference(named(system, s, "world").Q.head<3>(), Vec3<double>(0.7, 2, arm[0] * 2 - arm[1] * 0.7)) < round_off);
  CHECK(difference(named(system, s, "follower").Q.head<3>(), Vec3<double>(turned[0], turned[1], 0.3 * 2 - 0.4 * 0.7)) <
        round_off);
  CHECK(named(system, s, "turn").Q[2] == doctest::Approx(-0.2 * 1.4).epsilon(1e-14));
  CHECK(named(system, s, "turn").input == doctest::Approx(-0.2 * 1.4 * 1.4).epsilon(1e-14));
  CHECK(difference(named(system, s, "air").Q.segment<3>(3), Vec3<double>(-0.25 * 5 * 3, 0, -0.25 * 5 * 4)) < round_off);
  const Contribution cubic = named(system, s, "cubic");
  CHECK(cubic.Q[5] == doctest::Approx(-3 * 0.4 * 16 * 1.2).epsilon(1e-14));
  CHECK(cubic.input == doctest::Approx(-3 * 0.4 * 64 * 1.2).epsilon(1e-14));  // 3 D
  CHECK(difference(named(system, s, "rayleigh").Q, named(system, s, "damper").Q) < round_off);
  CHECK(named(system, s, "damper").Q.norm() > 0.1);
  const Vec3<double> m(0.1, 0.7, -0.3);
  const Vec<double, 7> q = s.get_all("r"), dq = s.get_all("r'");
  CHECK(named(system, s, "spin").power ==
        doctest::Approx(m.dot(RigidBody{}.angular_velocity<double>(q, dq))).epsilon(1e-13));
  // In step with the wind there is no drag, and no NaN.
  s.set("p'", {1, 0, 0});
  CHECK(named(system, s, "air").Q.norm() == 0);
  CHECK(system.derivatives(s, VectorXd::Zero(system.size())).dQ_dv.allFinite());
}

TEST_CASE("forces: bad parameters are refused by name") {
  Assembly a("bad");
  const auto ground = a.add("ground", Ground{});
  const auto p = a.add("p", PlanarBody{.mass = 1, .inertia = 1});
  const auto r = a.add("r", RigidBody{.mass = 1, .inertia = full_inertia});
  CHECK_THROWS_WITH_AS(a.apply("f", Spring<2>{.stiffness = -1}, ground, p),
                       "force 'f': stiffness = -1 N/m is negative; give a number >= 0 (0 is allowed)", InvalidModel);
  CHECK_THROWS_WITH_AS(a.apply("f", Spring<2>{.damping = -1}, ground, p),
                       "force 'f': damping = -1 N s/m is negative; give a number >= 0 (0 is allowed)", InvalidModel);
  CHECK_THROWS_WITH_AS(a.apply("f", Spring<2>{.length = std::nan("")}, ground, p),
                       "force 'f': length = nan m is not finite; give a finite number", InvalidModel);
  CHECK_THROWS_WITH_AS(
      a.apply("f", NonlinearSpring{.ends = Ends<2>{.on_a = {std::nan(""), 0}}, .energy = hardening}, ground, p),
      "force 'f': on_a[0] = nan m is not finite; give a finite number", InvalidModel);
  CHECK_THROWS_WITH_AS(a.apply("f", Motor{.about = AxisTurn{.axis_a = {0, 0, 0}}, .torque = geared}, ground, r),
                       "force 'f': axis_a has length 0; give a direction; any length > 0 will do", InvalidModel);
  CHECK_THROWS_WITH_AS(a.apply("f", TorsionSpring<>{.stiffness = -2}, ground, p),
                       "force 'f': stiffness = -2 N m/rad is negative; give a number >= 0 (0 is allowed)",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(a.apply("f", CoordinateSpring{.stiffness = 1}, p),
                       "force 'f': it has no terms; name at least one coordinate", InvalidModel);
  CHECK_THROWS_WITH_AS(a.apply("f", CoordinateSpring{.terms = {{1, "x", 1}}, .stiffness = 1}, p),
                       "force 'f': a term names body 1 of 1; bodies are counted from 0", InvalidModel);
  CHECK_THROWS_WITH_AS(a.apply("f", CoordinateSpring{.terms = {{0, "z", 1}}, .stiffness = 1}, p),
                       "force 'f': coordinate 'z': the body has none of this name; it has x, y, theta; correct what it "
                       "asks of its bodies",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(a.apply("f", Drag<2>{.factor = -0.1}, p),
                       "force 'f': factor = -0.1 kg/m is negative; give a number >= 0 (0 is allowed)", InvalidModel);
  Mat<double, 6> K = Mat<double, 6>::Identity();
  K(1, 0) = 0.5;
  CHECK_THROWS_WITH_AS(a.apply("f", Bushing{.stiffness = K}, ground, r),
                       "force 'f': stiffness is not symmetric: entries differ by 0.5; give a symmetric matrix",
                       InvalidModel);
  K(1, 0) = K(0, 1) = 2;
  CHECK_THROWS_WITH_AS(a.apply("f", Bushing{.stiffness = K}, ground, r),
                       "force 'f': stiffness is not positive semi-definite: scaled to unit diagonal, its least "
                       "eigenvalue is -1; give a matrix without negative energy",
                       InvalidModel);
  K.setIdentity();
  K(3, 3) = -4;
  CHECK_THROWS_WITH_AS(a.apply("f", Bushing{.damping = K}, ground, r),
                       "force 'f': damping(3, 3) = -4 is negative; give a matrix without negative energy",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(
      a.apply("f", Bushing{.axes_a = 2 * Mat<double, 3>::Identity()}, ground, r),
      "force 'f': axes_a is no rotation: R'R differs from I by 3, determinant 8; give three unit axes, "
      "perpendicular and right-handed, in columns",
      InvalidModel);
}
