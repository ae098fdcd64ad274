// Bodies, joints and forces: rows and slopes against differences, bodies against each other and against physics.

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/bodies/subsystem.h>
#include <mortise/core/decompositions.h>
#include <mortise/forces/functor.h>
#include <mortise/integrators/rk4.h>
#include <mortise/joints/coupling.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/functor.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/spherical.h>
#include <mortise/solve/solve.h>

#include "check_joint.h"

using namespace mortise;

namespace {

const Mat<double, 3> full_inertia = (Mat<double, 3>() << 2.0, 0.3, -0.1, 0.3, 1.5, 0.2, -0.1, 0.2, 1.0).finished();

// Largest difference relative to the largest entry.
double difference(const VectorXd& a, const VectorXd& b) {
  return (a - b).cwiseAbs().maxCoeff() / (1 + b.cwiseAbs().maxCoeff());
}

struct Rolling {  // a wheel of radius r on the line y = 0: contact, and no slip
  double r = 0.5;
  static constexpr std::array<RowInfo, 2> rows{
      {{"contact", "translation along y", "normal force"}, {"slip", "sliding", "friction"}}};
  auto phi(const auto& wheel, const auto&) const { return wheel.coordinate("y") - r; }
  auto psi(const auto& wheel, const auto&) const { return wheel.speed("x") + r * wheel.speed("theta"); }
};

}  // namespace

TEST_CASE("planar joints: A and b match finite differences, on bodies, particles and the ground") {
  Assembly a("planar");
  const auto ground = a.add("ground", Ground{});
  const auto p = a.add("p", PlanarBody{.mass = 1, .inertia = 1});
  const auto q = a.add("q", PlanarBody{.mass = 1, .inertia = 1});
  const auto dot = a.add("dot", Particle<2>{.mass = 1});
  const auto bead = a.add("bead", Particle<1>{.mass = 1});
  a.connect("pin", Pin{.on_a = {0.3, -0.2}, .on_b = {-0.5, 0.1}}, p, q);
  a.connect("pin_to_ground", Pin{.on_a = {0.3, -0.2}}, ground, dot);
  a.connect("link", Distance<2>{.on_a = {0.3, -0.2}, .length = 2, .rate = 0.7}, p, dot);
  a.connect("sum", Coupling{.terms = {{0, "theta", 2}, {1, "x", -3}, {0, "x", 1}}, .constant = 0.4, .rate = 0.2}, p,
            bead);
  check_joints(System(a));
}

TEST_CASE("spatial joints: A and b match finite differences, also off the unit quaternion") {
  Assembly a("spatial");
  const auto ground = a.add("ground", Ground{});
  const auto p = a.add("p", RigidBody{.mass = 1, .inertia = full_inertia});
  const auto q = a.add("q", RigidBody{.mass = 1, .inertia = full_inertia});
  const auto dot = a.add("dot", Particle<3>{.mass = 1});
  a.connect("ball", Spherical{.on_a = {0.3, -0.2, 0.1}, .on_b = {-0.5, 0.1, 0.7}}, p, q);
  a.connect("hinge", Revolute{.on_a = {1, 2, 3}, .on_b = {0.1, 0.2, 0.3}, .axis_a = {1, 2, -1}, .axis_b = {0, 3, 1}},
            ground, p);
  a.connect("link", Distance<3>{.on_b = {0, 0, 0.2}, .length = 1.5, .rate = -0.3}, dot, q);
  check_joints(System(a));
}

TEST_CASE(
    "user functors: holonomic over three bodies, nonholonomic and nonlinear in velocity, both depending on time") {
  Assembly a("functors");
  const auto p = a.add("p", PlanarBody{.mass = 1, .inertia = 1});
  const auto q = a.add("q", RigidBody{.mass = 1, .inertia = full_inertia});
  const auto s = a.add("s", Subsystem{.coordinates = {"angle"}, .M = MatrixXd::Identity(1, 1).eval()});
  a.connect("three", Holonomic{[](const auto& x, const auto& y, const auto& z, const auto& t) {
              using std::sin, std::exp;  // for double; duals are found by themselves
              return vec(x.coordinate("theta") * y.point(Vec3<double>(1, 2, 3))[1] - sin(t * z.coordinate("angle")),
                         exp(x.coordinate("y")) * y.direction(Vec3<double>(0, 0, 1))[2]);
            }},
            p, q, s);
  a.connect("skate", Nonholonomic{[](const auto& x, const auto& t) {  // no velocity across the blade
              return x.direction(Vec2<double>(0, 1)).dot(x.point_velocity(Vec2<double>(0.2, 0.1))) - 0.1 * t * t;
            }},
            p);
  a.connect(
      "speed", Nonholonomic{[](const auto& x, const auto& y, const auto& t) {  // Appell-Hamel: nonlinear in velocity
        const auto v = x.point_velocity(Vec2<double>(0, 0));
        return vec(v.squaredNorm() * x.angular_velocity() - y.angular_velocity()[2] * t, v[0] * v[1] - y.speed("z"));
      }},
      p, q);
  check_joints(System(a));
}

TEST_CASE("one joint may have holonomic and nonholonomic rows together") {
  Assembly a("wheel");
  a.set_gravity({1, -9.81, 0});
  const auto wheel = a.add("wheel", PlanarBody{.mass = 2, .inertia = 0.25});
  a.connect("road", Rolling{}, wheel);
  const System system(a);
  check_joints(system);
  CHECK(system.row(0).name == "road.contact");
  CHECK(system.constraints()[0].holonomic == 1);
  State s = system.state();
  s.set("wheel.y", 0.5);
  CHECK(solve(system, s).acceleration("wheel.x") == doctest::Approx(2 / (2 + 0.25 / 0.25)).epsilon(1e-12));
}

TEST_CASE("derivatives of M a, Q and C match finite differences for every body, gravity, forces and laws") {
  Assembly a("all");
  a.set_gravity({1, -9.81, 0.5});
  const auto planar = a.add("planar", PlanarBody{.mass = 1, .inertia = 0.3, .centre = {0.2, -0.1}});
  const auto rigid = a.add("rigid", RigidBody{.mass = 2, .inertia = full_inertia, .centre = {0.1, 0.2, -0.3}});
  const auto dot = a.add("dot", Particle<3>{.mass = 1});
  const auto user = a.add("user", Subsystem{.coordinates = {"s", "w"},
                                            .M =
                                                [](const auto& q, const auto& t) {
                                                  using T = Scalar<decltype(q)>;
                                                  Mat<T, 2> M;
                                                  M << 2.0 + q[0] * q[0], q[1] * t, q[1] * t, T(30.0);
                                                  return M;
                                                },
                                            .Q = [](const auto& q, const auto& v,
                                                    const auto& t) { return vec(-q[0] * v[1], t * v[0] * v[0]); }});
  a.apply("spring", Potential{[](const auto& x, const auto& y, const auto&) {
            const auto d = (x.point(Vec3<double>(0.1, 0, 0.2)) - y.point(Vec3<double>(0, 0, 0))).eval();
            return 50.0 * (d.norm() - 1.0) * (d.norm() - 1.0);
          }},
          rigid, dot);
  a.apply("wind", Force{[](auto& x, auto& y, const auto& t) {
            const auto v = x.point_velocity(Vec2<double>(1, 0));
            x.apply_force(Vec2<double>(1, 0), (-v.norm() * v).eval());
            x.apply_torque(-0.3 * x.angular_velocity());
            y.apply_torque((-0.2 * t * y.angular_velocity()).eval());
            y.apply_force(Vec3<double>(0, 1, 0), vec(1.0, t, y.coordinate("x")));
          }},
          planar, rigid);
  a.connect("rod",
            Nonideal(Distance<3>{.length = 2},
                     [](auto& x, auto& y, const auto&) {
                       x.apply_to("x", -x.speed("x") * x.speed("x") * y.coordinate("z"));
                       y.apply_to("z", y.speed("y") * x.coordinate("u0"));
                     }),
            rigid, dot);
  a.connect("couple", Coupling{.terms = {{0, "s", 1}}}, user);
  const System system(a);
  check_derivatives(system);
  check_joints(system);
}

TEST_CASE("rigid body: accelerations do not depend on where its origin lies") {
  // The same body once with its origin at the centre of mass and once elsewhere, with the same forces.
  const Vec3<double> c(0.3, -0.2, 0.5), w(0.7, -1.1, 0.4), v(1, 2, 3), grip(0.1, 0.6, -0.4);
  const auto u = quaternion_from_euler("zyx", {0.5, -0.3, 0.9});
  const Mat<double, 3> R = rotation_matrix<double>(u);
  const auto run = [&](const Vec3<double>& centre, const Vec3<double>& shift) {  // shift: origin to centre
    Assembly a("body");
    a.set_gravity({0, 0, -9.81});
    const auto body = a.add("body", RigidBody{.mass = 2.5, .inertia = full_inertia, .centre = centre});
    a.apply("push",
            Force{[=](auto& b, const auto&) { b.apply_force(Vec3<double>(grip - shift), vec(3.0, -1.0, 2.0)); }}, body);
    a.apply("turn", Force{[=](auto& b, const auto&) { b.apply_torque(vec(0.5, 0.1, -0.7)); }}, body);
    const System system(a);
    State s = system.state();
    s.set("body", RigidBody::pose(R * shift, u));
    s.set("body'", RigidBody::rates(s.get_all("body"), v + R * w.cross(shift), w));
    return std::pair(solve(system, s), system.energy(s));
  };
  const auto [centred, e1] = run({0, 0, 0}, {0, 0, 0});
  const auto [offset, e2] = run(-c, c);  // the frame sits at +c from the centre of mass
  CHECK(difference(offset.a.tail<4>(), centred.a.tail<4>()) < 1e-13);
  // Origin at p = centre + R c:  p'' = centre'' + R (w' x c + w x (w x c)),  w' = 2 E u''.
  const Vec3<double> dw = 2 * quaternion_E<double>(u) * centred.a.tail<4>();
  const Vec3<double> expected = centred.a.head<3>() + R * (dw.cross(c) + w.cross(w.cross(c)));
  CHECK(difference(offset.a.head<3>(), expected) < 1e-13);
  CHECK(e2.kinetic == doctest::Approx(e1.kinetic).epsilon(1e-13));
  CHECK(e2.potential == doctest::Approx(e1.potential).epsilon(1e-12));
}

TEST_CASE("planar body: offset centre of mass equals the same body in space held to the plane") {
  const Vec2<double> c(0.3, -0.2);
  Assembly plane("plane"), space("space");
  plane.set_gravity({0, -9.81, 0});
  space.set_gravity({0, -9.81, 0});
  const auto ground = plane.add("ground", Ground{});
  const auto flat = plane.add("body", PlanarBody{.mass = 2, .inertia = 0.4, .centre = c});
  plane.connect("pin", Pin{.on_b = {0.5, 0.1}}, ground, flat);
  const auto world = space.add("ground", Ground{});
  const auto solid = space.add(
      "body", RigidBody{.mass = 2, .inertia = Vec3<double>(1, 1, 0.4).asDiagonal(), .centre = {c[0], c[1], 0}});
  space.connect("hinge", Revolute{.on_b = {0.5, 0.1, 0}}, world, solid);
  const double theta = 0.7, rate = 1.9;
  const System p(plane), q(space);
  State s = p.state(), z = q.state();
  const Vec2<double> arm(0.5 * std::cos(theta) - 0.1 * std::sin(theta), 0.5 * std::sin(theta) + 0.1 * std::cos(theta));
  s.set("body", {-arm[0], -arm[1], theta});
  s.set("body'", {rate * arm[1], -rate * arm[0], rate});
  z.set("body", RigidBody::pose({-arm[0], -arm[1], 0}, quaternion_from_axis_angle({0, 0, 1}, theta)));
  z.set("body'", RigidBody::rates(z.get_all("body"), {rate * arm[1], -rate * arm[0], 0}, {0, 0, rate}));
  const Solution a = solve(p, s), b = solve(q, z);
  const Vec<double, 7> zq = z.q;
  const Vec3<double> dw = 2 * quaternion_E<double>(zq.tail<4>()) * b.a.tail<4>();
  CHECK(a.acceleration("body.theta") == doctest::Approx(dw[2]).epsilon(1e-12));
  CHECK(difference(a.a.head<2>(), b.a.head<2>()) < 1e-12);
  CHECK(difference(a.reaction("pin").lambda, b.reaction("hinge").lambda.head<2>()) < 1e-12);
}

TEST_CASE("rigid body: massless directions are the translations, the axes without inertia and the length of u") {
  const auto check = [](const RigidBody& body, Index expected) {
    const Vec<double, 7> q = RigidBody::pose({1, 2, 3}, {0.5, 1e-8, 0.5, -0.7});
    const Massless null = body.massless(q);
    CHECK(null.N0.cols() == expected);
    CHECK((body.mass_matrix<double>(q, 0) * null.N0).cwiseAbs().maxCoeff() < 1e-14);
    CHECK(Svd(null.N0).count_above(1e-3) == expected);
  };
  check({.mass = 1, .inertia = full_inertia}, 1);
  check({.mass = 1, .inertia = full_inertia, .centre = {1, 2, 3}}, 1);
  check({.mass = 1, .inertia = Vec3<double>(0, 1, 1).asDiagonal(), .centre = {1, 2, 3}}, 2);  // thin rod
  check({.mass = 1, .centre = {1, 2, 3}}, 4);                                                 // point mass in a frame
  check({.mass = 0, .inertia = full_inertia}, 4);
  check({}, 7);
}

TEST_CASE("rigid body: motions are told in words") {
  const RigidBody b;
  const Vec<double, 7> q = RigidBody::pose({1, 0, 0}, {1, 0, 0, 0});
  CHECK(b.describe(q, RigidBody::rates(q, {0, 2, 0}, {0, 0, 0})) == "moves along y");
  CHECK(b.describe(q, RigidBody::rates(q, {0, 0, 0}, {3, 0, 0})) == "turns about its own x through its origin");
  CHECK(b.describe(q, RigidBody::rates(q, {0, 1, 0}, {0, 0, 1})) ==
        "turns about its own z through the point (0, 0, 0)");
  CHECK(b.describe(q, RigidBody::rates(q, {0, 0, 2}, {0, 0, 1})) ==
        "turns about its own z through the point (1, 0, 0) and slides along it, 2 m per radian");
  CHECK(b.describe(q, (Vec<double, 7>() << 0, 0, 0, 1, 0, 0, 0).finished()) == "its quaternion changes length");
  CHECK(b.describe(q, Vec<double, 7>::Zero()) == "");
  const PlanarBody p;
  CHECK(p.describe({1, 2, 0}, {0, 1, 1}) == "turns about the point (0, 2)");
  CHECK(p.describe({1, 2, 0}, {1, 0, 0}) == "moves along x");
  CHECK(Particle<3>{}.describe({0, 0, 0}, {0, 0, -1}) == "moves along -z");
}

TEST_CASE("forces: contributions carry their name, power and potential; a potential conserves energy") {
  Assembly a("spring");
  a.set_gravity({0, -9.81, 0});
  const auto p = a.add("p", Particle<2>{.mass = 2});
  a.apply("spring",
          Potential{[](const auto& b, const auto&) { return 30.0 * b.point(Vec2<double>(0, 0)).squaredNorm(); }}, p);
  a.apply("drag", Force{[](auto& b, const auto&) { b.apply_to("x", -0.5 * b.speed("x")); }}, p);
  const System system(a);
  State s = system.state();
  s.set("p", {1, 2});
  s.set("p'", {3, 4});
  const auto c = system.contributions(s);
  REQUIRE(c.size() == 3);
  CHECK(c[0].name == "gravity");
  CHECK(c[0].Q == Vec2<double>(0, -2 * 9.81));
  CHECK(*c[0].potential == doctest::Approx(2 * 9.81 * 2));
  CHECK(c[1].name == "spring");
  CHECK(c[1].Q == Vec2<double>(-60, -120));
  CHECK(*c[1].potential == 150);
  CHECK(c[2].name == "drag");
  CHECK(c[2].power == -4.5);
  CHECK_FALSE(c[2].potential.has_value());
  CHECK(system.energy(s).kinetic == 25);
  CHECK(system.energy(s).potential == doctest::Approx(150 + 2 * 9.81 * 2));
}

TEST_CASE("functions of double only are accepted, and refused by name where a derivative is needed") {
  const auto refuse = [](const auto& build, const char* message) {
    Assembly a("double");
    const auto p = a.add("p", Particle<1>{.mass = 1});
    build(a, p);
    const System system(a);
    const VectorXd a0 = solve(system, system.state()).a;  // works
    REQUIRE(system.without_derivatives().size() == 1);
    CHECK(std::string(message).find("'" + system.without_derivatives()[0] + "'") != std::string::npos);
    CHECK_THROWS_WITH_AS(system.derivatives(system.state(), a0), message, NoDerivative);
  };
  refuse(
      [](Assembly& a, const auto&) {
        a.add("user", Subsystem{.coordinates = {"s"},
                                .M = [](const VectorXd&, double) { return MatrixXd(MatrixXd::Identity(1, 1)); }});
      },
      "body 'user': its mass matrix is written for double only, so it has no derivatives; write it as a template on "
      "the scalar (a generic lambda)");
  refuse(
      [](Assembly& a, const auto&) {
        a.add("user", Subsystem{.coordinates = {"s"},
                                .M = MatrixXd::Identity(1, 1).eval(),
                                .Q = [](const VectorXd& q, const VectorXd&, double) { return VectorXd(-q); }});
      },
      "body 'user': its force is written for double only, so it has no derivatives; write it as a template on the "
      "scalar (a generic lambda)");
  refuse(
      [](Assembly& a, const auto& p) {
        a.apply("pull", Force{[](Acted<Particle<1>, double>& b, double t) { b.apply_to("x", t); }}, p);
      },
      "force 'pull': its act is written for double only, so it has no derivatives; write it as a template on the "
      "scalar (a generic lambda)");
  refuse(
      [](Assembly& a, const auto& p) {
        a.connect("rail",
                  Nonideal(Coupling{.terms = {{0, "x", 1}}},
                           [](Acted<Particle<1>, double>& b, double t) { b.apply_to("x", t); }),
                  p);
      },
      "joint 'rail': its non-ideal law is written for double only, so it has no derivatives; write it as a template on "
      "the scalar (a generic lambda)");
}

TEST_CASE("bad parameters are refused at add and connect, by name") {
  Assembly a("bad");
  const auto ground = a.add("ground", Ground{});
  const auto p = a.add("p", PlanarBody{.mass = 1, .inertia = 1});
  const auto r = a.add("r", RigidBody{.mass = 1, .inertia = full_inertia});
  const double nan = std::nan("");
  CHECK_THROWS_WITH_AS(
      a.add("b", PlanarBody{.mass = 2, .inertia = 1e-9, .centre = {1, 0}}),
      "body 'b': inertia 1e-09 kg m^2 is lost beside mass |centre|^2 = 2 kg m^2; put the origin at the "
      "centre of mass (joints may lie anywhere), or set that inertia to 0",
      InvalidModel);
  CHECK_THROWS_WITH_AS(
      a.add("b", RigidBody{.mass = 2, .inertia = Vec3<double>(1, 1, 1e-9).asDiagonal(), .centre = {1, 0, 0}}),
      doctest::Contains("is lost beside mass |centre|^2 = 2 kg m^2"), InvalidModel);
  CHECK_NOTHROW(Assembly("fine").add(
      "b", RigidBody{.mass = 2, .inertia = Vec3<double>(1, 1, 0).asDiagonal(), .centre = {1, 0, 0}}));
  CHECK_THROWS_WITH_AS(a.connect("j", Holonomic{[](const auto& x, const auto&) { return x.coordinate("z"); }}, p),
                       "joint 'j': coordinate 'z': the body has none of this name; it has x, y, theta; correct what it "
                       "asks of its bodies",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(a.apply("f", Force{[](auto& x, const auto&) { x.apply_to("z", 1.0); }}, p),
                       doctest::Contains("force 'f': coordinate 'z': the body has none of this name"), InvalidModel);
  CHECK_THROWS_WITH_AS(RigidBody::pose({0, 0, 0}, {0, 0, 0, 0}),
                       "quaternion 'u': has length 0; give a finite one of length > 0", InvalidModel);
  CHECK_THROWS_WITH_AS(a.add("b", Particle<2>{.mass = -1}),
                       "body 'b': mass = -1 kg is negative; give a number >= 0 (0 is allowed)", InvalidModel);
  CHECK_THROWS_WITH_AS(a.add("b", PlanarBody{.mass = nan}),
                       "body 'b': mass = nan kg is not finite; give a finite number", InvalidModel);
  CHECK_THROWS_WITH_AS(a.add("b", RigidBody{.mass = 1, .inertia = Vec3<double>(1, -1, 1).asDiagonal()}),
                       "body 'b': the mass matrix is not positive semi-definite: (Jy, Jy) = -1 is negative; no motion "
                       "may have negative kinetic energy; correct the masses",
                       InvalidMass);
  CHECK_THROWS_WITH_AS(a.connect("j", Pin{.on_a = {nan, 0}}, ground, p),
                       "joint 'j': on_a[0] = nan m is not finite; give a finite number", InvalidModel);
  CHECK_THROWS_WITH_AS(a.connect("j", Revolute{.axis_b = {0, 0, 0}}, ground, r),
                       "joint 'j': axis_b has length 0; give a direction; any length > 0 will do", InvalidModel);
  CHECK_THROWS_WITH_AS(a.connect("j", Distance<2>{.length = 0}, ground, p),
                       "joint 'j': length = 0 m is not positive; give a finite number > 0", InvalidModel);
  CHECK_THROWS_WITH_AS(a.connect("j", Coupling{}, p), "joint 'j': it has no terms; name at least one coordinate",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(a.connect("j", Coupling{.terms = {{1, "x", 1}}}, p),
                       "joint 'j': a term names body 1 of 1; bodies are counted from 0", InvalidModel);
  CHECK_THROWS_WITH_AS(a.connect("j", Coupling{.terms = {{0, "z", 1}}}, p),
                       "joint 'j': body 0 has no coordinate 'z'; check the name against the body's coordinates",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(a.add("b", Subsystem{.coordinates = {"s", "w"}, .M = (MatrixXd(2, 2) << 1, 2, 0, 1).finished()}),
                       "body 'b': the mass matrix is not symmetric: (s, w) = 2 but (w, s) = 0; give a symmetric matrix",
                       InvalidMass);
  CHECK_THROWS_WITH_AS(
      a.add("b", Subsystem{.coordinates = {"s", "w"}, .M = (MatrixXd(2, 2) << 1, 2, 2, 1).finished()}),
      doctest::Contains(
          "body 'b': the mass matrix is not positive semi-definite: scaled to unit diagonal it has a pivot near -3"),
      InvalidMass);
  CHECK_THROWS_WITH_AS(a.add("b", Subsystem{.coordinates = {"s"}, .M = MatrixXd::Constant(1, 1, nan).eval()}),
                       "body 'b': mass matrix entry (s, s) is nan; give finite masses", NonFinite);
  CHECK_THROWS_WITH_AS(a.add("b", Subsystem{.coordinates = {"s"}, .M = MatrixXd::Identity(2, 2).eval()}),
                       "body 'b': M is 2 x 2 for 1 coordinates; give a square M of one row per coordinate", WrongSize);
  CHECK_THROWS_WITH_AS(a.add("b", Subsystem{.coordinates = {"s"},
                                            .M = MatrixXd::Identity(1, 1).eval(),
                                            .Q = [](const auto&, const auto&, const auto&) { return vec(1.0, 2.0); }}),
                       "body 'b': Q has 2 entries for 1 coordinates; give one entry per coordinate", WrongSize);
}
