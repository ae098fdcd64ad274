// Joints in the plane, ropes, drivers and their functions of time, placing bodies, and what joints refuse.

#include <doctest/doctest.h>

#include <mortise/bodies/particle.h>
#include <mortise/bodies/subsystem.h>
#include <mortise/core/function.h>
#include <mortise/core/spline.h>
#include <mortise/core/table.h>
#include <mortise/forces/functor.h>
#include <mortise/joints/belt.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/drive_coordinate.h>
#include <mortise/joints/drive_distance.h>
#include <mortise/joints/drive_planar_angle.h>
#include <mortise/joints/drive_point.h>
#include <mortise/joints/gear.h>
#include <mortise/joints/knife_edge.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/planar_gear.h>
#include <mortise/joints/planar_point_on_line.h>
#include <mortise/joints/point_on_curve.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/rolling_sphere.h>
#include <mortise/joints/rolling_wheel.h>
#include <mortise/joints/rope.h>
#include <mortise/joints/screw.h>
#include <mortise/joints/slider.h>
#include <mortise/joints/universal.h>

#include "joint_bench.h"

using namespace mortise;

namespace {

using V = Vec2<double>;
const double pi = std::numbers::pi;

// Two bodies, a point and a line that lie anywhere: x along the line, n to its left.
const Bench<Planar> bench{{0.4, -0.3, 0.7}, {-0.6, 0.5, -2.1}};
const V point(0.3, 0.8), x = V(3, 4) / 5, n = V(-4, 3) / 5;
const PlanarAxis line(3, 4);
const V no_force(0, 0);

V on_a(const V& p) { return Planar::body().local_point(bench.place_a, p); }
V on_b(const V& p) { return Planar::body().local_point(bench.place_b, p); }

}  // namespace

TEST_CASE("planar joints: rows, freedoms and reactions") {
  bench.check("pin", at_world<Pin>(point), 1, {point, {1, 2}, 0}, {1, 2});
  bench.check("slider", at_world<Slider>(point, line), 1, {point, 2 * n, 3}, {2, 3});
  bench.check("weld", at_world<PlanarWeld>(point), 0, {point, {1, 2}, 3}, {1, 2, 3});
  bench.check("point on line", at_world<PlanarPointOnLine>(point, line), 2, {point, 2 * n, 0}, {2});
  bench.check("distance", at_world<Distance<2>>(point, V(point + 2 * x)), 2, {point + 2 * x, 7 * x, 0}, {-7});
  // A wheel of 0.4 m on the left of the line that touches at `point`: it hands on any force there.
  bench.check("rolling wheel", at_world<RollingWheel>(V(point + 0.4 * n), line, 0.4), 1, {point, -5 * n + 2 * x, 0},
              {-5, 2});
}

TEST_CASE("planar drivers: rows, freedoms and what they apply to B") {
  const double angle = bench.place_b[2] - bench.place_a[2];
  // At t = 0 the drivers rest, f' = f'' = 0.
  const auto from = [](double start) { return [=](const auto& t) { return start + 0.7 * t * t * sin(t); }; };
  bench.check("drive angle", DrivePlanarAngle{from(angle)}, 2, {point, no_force, 3}, {-3});
  bench.check("drive distance", DriveDistance<2>{on_a(point), on_b(point + 2 * x), from(2)}, 2,
              {point + 2 * x, 7 * x, 0}, {-7});
  const V way = Planar::body().local_direction(bench.place_a, V(2 * x));
  bench.check("drive point", DrivePoint<2>{on_a(point), on_b(point + 2 * x), {from(way[0]), from(way[1])}}, 1,
              {point + 2 * x, {1, 2}, 0}, {-1, -2});

  // A coordinate: 2 kg along x with f'' = 6 t need 12 t N beside the 5 N that push back.
  Assembly a("driven");
  const auto p = a.add("p", Particle<2>{.mass = 2});
  a.connect("drive", DriveCoordinate{.coordinate = "x", .f = [](const auto& t) { return t * t * t; }}, p);
  a.apply("back", Force{[](auto& b, const auto&) { b.apply_to("x", -5.0); }}, p);
  const System system(a);
  check_joints(system);
  State s = system.state();
  s.t = 0.5;
  const Solution solution = solve(system, s);
  CHECK(solution.acceleration("p.x") == doctest::Approx(3).epsilon(1e-14));
  CHECK(solution.reaction("drive").lambda[0] == doctest::Approx(2 * 3 + 5).epsilon(1e-14));
  CHECK(check_rank(system, system.evaluate(s)).dof == 1);
}

TEST_CASE("planar gears and belts: rows, freedoms and moments, also on a carrier") {
  const auto check = [](const auto& joint, double on_a_wheel, double on_b_wheel, double lambda) {
    Assembly m("wheels");
    const auto ground = m.add("ground", Ground{});
    const auto a = m.add("a", Planar::body()), b = m.add("b", Planar::body());
    m.place(a, bench.place_a);
    m.place(b, bench.place_b);
    m.connect("axle_a", at_world<Pin>(V(0, 0)), ground, a);
    m.connect("axle_b", at_world<Pin>(V(1, 0)), ground, b);
    m.connect("joint", joint, a, b);
    m.apply("on_a", Push<2>{{0, 0}, {0, 0}, on_a_wheel}, a);
    m.apply("on_b", Push<2>{{0, 0}, {0, 0}, on_b_wheel}, b);
    const System system(m);
    check_joints(system);
    check_sparse(system, shaken(system, 2));
    const Evaluation e = system.evaluate(system.state());
    CHECK(e.phi.norm() < statics);
    CHECK(check_rank(system, e).dof == 1);
    const Solution s = solve(system, system.state());
    CHECK(s.a.norm() < statics);
    CHECK(s.reaction("joint").lambda[0] == doctest::Approx(lambda).epsilon(statics));
  };
  // Radii 0.2 and 0.5 m: 6 N m on A press the teeth with 30 N, which turn B with 15 N m the same way round.
  check(at_world<PlanarGear>(0.2, 0.5), 6, 15, -30);
  check(at_world<PlanarGear>(0.2, -0.5), 6, -15, -30);
  check(at_world<Belt>(0.2, 0.5, false), 6, -15, -30);
  check(at_world<Belt>(0.2, 0.5, true), 6, 15, -30);

  // Planetary: sun A of 0.2 m, planet B of 0.5 m on an arm C.  With the sun held, the planet turns at 1 + 0.2 / 0.5 of
  // the arm.  A planet on a pin of the arm, all about fixed places: only angles matter here.
  Assembly m("planets");
  const auto sun = m.add("sun", Planar::body()), planet = m.add("planet", Planar::body()),
             arm = m.add("arm", Planar::body());
  m.connect("mesh", at_world<PlanarGear>(0.2, 0.5), sun, planet, arm);
  const System system(m);
  check_joints(system);
  State s = system.state();
  s.set("arm.theta", 1);
  s.set("planet.theta", 1 + 0.2 / 0.5);
  CHECK(std::abs(system.evaluate(s).phi[0]) < 1e-15);
  CHECK(check_rank(system, system.evaluate(s)).dof == 8);
}

TEST_CASE("rolling wheel: a uniform disk rolls down an incline with 2/3 of g sin, any number of turns") {
  const double R = 0.5, m = 2, g = 9.81, slope = 0.3;
  Assembly a("hill");
  a.set_gravity({g * std::sin(slope), -g * std::cos(slope), 0});
  const auto ground = a.add("ground", Ground{});
  const auto wheel = a.add("wheel", PlanarBody{.mass = m, .inertia = m * R * R / 2});
  a.connect("road", RollingWheel{.radius = R, .offset = 0.3}, ground, wheel);
  const System system(a);
  State s = system.state();
  s.set("wheel", {0.3 + 40, R, -40 / R});  // 40 m on, it has turned back by 80 rad
  CHECK(system.evaluate(s).phi.norm() < 1e-13);
  const Solution solution = solve(system, s);
  CHECK(solution.acceleration("wheel.x") == doctest::Approx(2.0 / 3 * g * std::sin(slope)).epsilon(1e-13));
  const VectorXd& lambda = solution.reaction("road").lambda;  // on the ground: pressed down, and dragged downhill
  CHECK(lambda[0] == doctest::Approx(-m * g * std::cos(slope)).epsilon(1e-13));
  CHECK(lambda[1] == doctest::Approx(m * g * std::sin(slope) / 3).epsilon(1e-13));
}

TEST_CASE("rope over pulleys: a tackle of two falls holds twice its pull; rows with bodies, ground and time") {
  // From the ceiling down around a pulley with 6 kg, up to the ceiling, 1 m along it and down to 3 kg.
  Assembly a("tackle");
  a.set_gravity({0, -9.81, 0});
  const auto ceiling = a.add("ceiling", Ground{});
  const auto pulley = a.add("pulley", Particle<2>{.mass = 6}), weight = a.add("weight", Particle<2>{.mass = 3});
  a.place(pulley, {0, -2});
  a.place(weight, {1, -3});
  const Rope<2> tackle{.points = {{0, {0, 0}}, {1, {0, 0}}, {0, {0, 0}}, {0, {1, 0}}, {2, {0, 0}}}, .length = 8};
  a.connect("rope", tackle, ceiling, pulley, weight);
  const System system(a);
  CHECK(std::abs(system.evaluate(system.state()).phi[0]) < 1e-15);
  const Solution s = solve(system, system.state());
  CHECK(s.a.norm() < 1e-13);
  CHECK(s.reaction("rope").lambda[0] == doctest::Approx(-3 * 9.81).epsilon(1e-14));
  CHECK(check_rank(system, system.evaluate(system.state())).dof == 3);

  Assembly b("bodies");
  const auto ground = b.add("ground", Ground{});
  const auto p = b.add("p", Planar::body()), q = b.add("q", Planar::body());
  b.connect("rope",
            Rope<2>{.points = {{0, {3, 1}}, {1, {0.2, 0.1}}, {2, {-0.4, 0.3}}, {1, {0.5, -0.3}}, {0, {-2, -3}}},
                    .length = 4,
                    .rate = 0.2},
            ground, p, q);
  const System moving(b);
  check_joints(moving);
  check_sparse(moving, random_state(moving, 8));
}

TEST_CASE("knife edge: rows, and the sleigh of Chaplygin by hand") {
  // The blade is at the origin along the body's x, the centre of mass at distance c ahead.  With v along the blade and
  // the angular velocity w:  m v' = m c w^2,  (J + m c^2) w' = -m c v w.
  const double m = 2, J = 0.3, c = 0.4, v = 1.7, w = 0.9, theta = 0.6;
  Assembly a("sleigh");
  const auto body = a.add("body", PlanarBody{.mass = m, .inertia = J, .centre = {c, 0}});
  a.connect("blade", KnifeEdge{}, body);
  const System system(a);
  check_joints(system);
  State s = system.state();
  s.set("body.theta", theta);
  s.set("body'", {v * std::cos(theta), v * std::sin(theta), w});
  CHECK(std::abs(system.evaluate(s).phi[0]) < 1e-15);
  const Solution solution = solve(system, s);
  const double dv = c * w * w, dw = -m * c * v * w / (J + m * c * c);
  CHECK(solution.acceleration("body.theta") == doctest::Approx(dw).epsilon(1e-13));
  CHECK(solution.acceleration("body.x") * std::cos(theta) + solution.acceleration("body.y") * std::sin(theta) ==
        doctest::Approx(dv).epsilon(1e-13));
  // Across the blade the body needs m (v w + c w').
  CHECK(solution.reaction("blade").lambda[0] == doctest::Approx(m * (v * w + c * dw)).epsilon(1e-13));
  CHECK(check_rank(system, system.evaluate(s)).dof == 2);

  a.add("other", Planar::body());
  a.connect("skew", KnifeEdge{.point = {0.2, -0.3}, .axis = {1, 3}}, a.body<PlanarBody>("other"));
  check_joints(System(a));
}

TEST_CASE("a bead on a wire r(s): equal to a pendulum, with the wire as formula and as spline") {
  // A circle of radius L: s = angle from the lowest point, L s'' = -g sin s.
  const double L = 1.3, g = 9.81, at = 0.7;
  const auto acceleration = [&](const std::array<Function, 2>& wire) {
    Assembly a("bead");
    a.set_gravity({0, -g, 0});
    const auto ground = a.add("ground", Ground{});
    const auto bead = a.add("bead", Particle<2>{.mass = 2});
    const auto s = a.add("s", Subsystem<>{.coordinates = {"s"}, .M = MatrixXd::Zero(1, 1).eval()});
    a.connect("wire", PointOnCurve<2>{.curve = wire}, ground, bead, s);
    const System system(a);
    State state = system.state();
    state.set("bead", {wire[0](at), wire[1](at)});
    state.set("s.s", at);
    check_joints(system);
    return solve(system, state).acceleration("s.s");
  };
  CHECK(acceleration({[=](const auto& u) { return L * sin(u); }, [=](const auto& u) { return -L * cos(u); }}) ==
        doctest::Approx(-g / L * std::sin(at)).epsilon(1e-13));
  std::vector<double> s, px, py;
  for (int i = -40; i <= 40; ++i) {
    s.push_back(i * pi / 40);
    px.push_back(L * std::sin(s.back()));
    py.push_back(-L * std::cos(s.back()));
  }
  constexpr double interpolation = 1e-3;  // slope of a cubic spline: error below L h^3 / 24 = 2e-5, here relative to 5
  CHECK(acceleration({Spline(s, px, -L, -L), Spline(s, py, 0, 0)}) ==
        doctest::Approx(-g / L * std::sin(at)).epsilon(interpolation));
}

TEST_CASE("functions of time: spline, table, functor and constant, with two derivatives in every scalar") {
  const auto two = [](const auto& f, double t) {  // value, first and second derivative
    const SecondOrder r = f(along(t, 1));
    return Vec3<double>(r.v.v, r.d[0].v, r.d[0].d[0]);
  };
  constexpr double round_off = 1e-13;
  // A clamped spline through a cubic with its slopes at the ends is that cubic.
  const auto cubic = [](const auto& t) { return 2.0 - t + 0.5 * t * t - 0.3 * t * t * t; };
  const auto slope = [](double t) { return -1 + t - 0.9 * t * t; };
  const std::vector<double> t{-1, -0.2, 0.5, 2, 2.5};
  std::vector<double> y;
  for (const double u : t) y.push_back(cubic(u));
  const Spline clamped(t, y, slope(-1), slope(2.5));
  for (const double u : {-1.0, -0.7, -0.2, 0.1, 1.9, 2.0, 2.2, 2.5})
    CHECK((two(clamped, u) - two(cubic, u)).norm() < round_off);
  CHECK((two(clamped, 4.5) - Vec3<double>(cubic(2.5) + 2 * slope(2.5), slope(2.5), 0)).norm() < round_off);
  CHECK((two(clamped, -3) - Vec3<double>(cubic(-1) - 2 * slope(-1), slope(-1), 0)).norm() < round_off);

  // A natural spline through (0, 0), (1, 1), (2, 0): m_0 + 4 m_1 + m_2 = -12 with m_0 = m_2 = 0, so m_1 = -3,
  // y = (3 t - t^3) / 2 up to t = 1; the second derivative is continuous and 0 at the ends.
  const Spline natural({0, 1, 2}, {0, 1, 0});
  CHECK((two(natural, 0.5) - Vec3<double>(0.6875, 1.125, -1.5)).norm() < round_off);
  CHECK((two(natural, 1) - Vec3<double>(1, 0, -3)).norm() < round_off);
  CHECK((two(natural, 1 - 1e-9) - two(natural, 1)).norm() < 1e-8);
  CHECK((two(natural, 3) - Vec3<double>(-1.5, -1.5, 0)).norm() < round_off);
  CHECK((two(natural, 2) - Vec3<double>(0, -1.5, 0)).norm() < round_off);
  CHECK((two(Spline({1, 3}, {2, 5}), 2) - Vec3<double>(3.5, 1.5, 0)).norm() < round_off);  // two points: a line

  const Table table({0, 2, 3}, {1, 5, 4});
  CHECK(two(table, -1) == Vec3<double>(1, 0, 0));
  CHECK(two(table, 0.5) == Vec3<double>(2, 2, 0));
  CHECK(two(table, 2.5) == Vec3<double>(4.5, -1, 0));
  CHECK(two(table, 7) == Vec3<double>(4, 0, 0));

  // A Function hands derivatives on to any scalar.
  const Function f = [](const auto& u) { return exp(2.0 * u); };
  const double e = std::exp(0.6);
  CHECK(f(0.3) == doctest::Approx(e).epsilon(1e-15));
  CHECK((two(f, 0.3) - Vec3<double>(e, 2 * e, 4 * e)).norm() < round_off);
  const FirstOrder r = f(FirstOrder::variable(0.3, 4) * 5.0 - 1.2);  // inner slope 5
  CHECK(r.v == doctest::Approx(e).epsilon(1e-14));
  CHECK(r.d[4] == doctest::Approx(10 * e).epsilon(1e-14));
  CHECK(r.d[0] == 0);
  const SecondOrder square = f(along(0.3, 1) * along(0.3, 1) + 0.21);  // exp(2 (t^2 + 0.21)) at t = 0.3
  CHECK(square.d[0].d[0] == doctest::Approx((4 + 16 * 0.09) * e).epsilon(1e-14));
  CHECK(two(Function(1.5), 3) == Vec3<double>(1.5, 0, 0));
  CHECK((two(Function(natural), 0.5) - two(natural, 0.5)).norm() == 0);

  const double nan = std::nan("");
  CHECK_THROWS_WITH_AS(Spline({0, 1}, {0}), "spline 'y': 1 values for 2 points t; give one value per point", WrongSize);
  CHECK_THROWS_WITH_AS(Table({0}, {0}), "table 't': it has 1 points; give at least 2", WrongSize);
  CHECK_THROWS_WITH_AS(Table({0, 1, 1}, {0, 1, 2}),
                       "table 't': t[2] = 1 does not exceed t[1] = 1; give increasing numbers", InvalidModel);
  CHECK_THROWS_WITH_AS(Spline({0, nan}, {0, 1}), "spline 't': t[1] = nan; give finite numbers", NonFinite);
  CHECK_THROWS_WITH_AS(Spline({0, 1}, {0, nan}), "spline 'y': y[1] = nan; give finite numbers", NonFinite);
  CHECK_THROWS_WITH_AS(Spline({0, 1}, {0, 1}, nan, 0), "spline 'slopes': they are nan and 0; give finite numbers",
                       NonFinite);
}

TEST_CASE("a driver follows a spline and a table") {
  Assembly a("cam");
  const auto p = a.add("p", Particle<2>{.mass = 2});
  a.connect("x", DriveCoordinate{.coordinate = "x", .f = Spline({0, 1, 2}, {0, 1, 0})}, p);
  a.connect("y", DriveCoordinate{.coordinate = "y", .f = Table({0, 2, 3}, {1, 5, 4})}, p);
  const System system(a);
  check_joints(system);
  State s = system.state();
  s.t = 0.5;
  s.set("p", {0.6875, 2});
  CHECK(system.evaluate(s).phi.norm() < 1e-15);
  CHECK(solve(system, s).acceleration("p.x") == doctest::Approx(-1.5).epsilon(1e-13));
  CHECK(std::abs(solve(system, s).acceleration("p.y")) < 1e-13);
}

TEST_CASE("places: a body starts where it was placed, also in nested assemblies, and joints find themselves there") {
  Assembly leg("leg");
  const auto thigh = leg.add("thigh", Planar::body()), shank = leg.add("shank", Planar::body());
  leg.place(thigh, {1, 2, 0.3});
  leg.place(shank, {1.5, 1, -0.4});
  leg.connect("knee", at_world<Pin>(V(1.2, 1.4)), thigh, shank);
  Assembly robot("robot");
  const auto ground = robot.add("ground", Ground{});
  const auto left = robot.add("left", leg), right = robot.add("right", leg);
  robot.place(right[thigh], {3, 2, 0.3});  // the other leg stays where it was
  const auto dot = robot.add("dot", Particle<2>{.mass = 1});
  robot.place(dot, {3, 3});
  robot.connect("hip_left", at_world<Pin>(V(0.8, 2.5)), ground, left[thigh]);
  robot.connect("hip_right", at_world<Pin>(V(2.8, 2.5)), ground, right[thigh]);
  robot.connect("string", at_world<Distance<2>>(V(3, 3), V(1, 1)), dot, left[shank]);
  const System system(robot);
  const State s = system.state();
  CHECK(s.get_all("left/thigh") == Vec3<double>(1, 2, 0.3));
  CHECK(s.get_all("right/thigh") == Vec3<double>(3, 2, 0.3));
  CHECK(s.get_all("left/shank") == Vec3<double>(1.5, 1, -0.4));
  CHECK(s.get_all("dot") == V(3, 3));
  CHECK(robot.place("right/thigh") == Vec3<double>(3, 2, 0.3));
  CHECK(leg.place("thigh") == Vec3<double>(1, 2, 0.3));
  const VectorXd phi = system.evaluate(s).phi;
  for (Index i = 0; i < system.rows(); ++i) {
    INFO(system.row(i).name);
    // The right knee was made where both stood 2 m further to the left: it is now open by that.
    const double open = system.row(i).name == "right/knee.x" ? 2 : 0;
    CHECK(phi[i] == doctest::Approx(open).epsilon(1e-14).scale(1));
  }
  // local_point and local_direction are the inverse of point and direction.
  const RigidBody r;
  const auto pose = RigidBody::pose({1, 2, 3}, {0.3, -0.5, 0.7, 0.2});
  const Vec3<double> p(0.4, 0.5, -0.6);
  CHECK((r.local_point(pose, r.point<double>(pose, p)) - p).norm() < 1e-15);
  CHECK((r.local_direction(pose, r.direction<double>(pose, p)) - p).norm() < 1e-15);

  CHECK_THROWS_WITH_AS(robot.place(dot, {std::nan(""), 0}), "body 'dot': its place has x = nan; give finite numbers",
                       NonFinite);
  CHECK_THROWS_WITH_AS(robot.place(thigh, {0, 0, 0}),
                       "body 'thigh': assembly 'robot' has no body 'thigh'; did you mean 'right'?", InvalidModel);
  const auto user = robot.add("user", Subsystem<>{.coordinates = {"s", "w"}, .M = MatrixXd::Identity(2, 2).eval()});
  CHECK_THROWS_WITH_AS(robot.place(user, VectorXd::Zero(3)),
                       "body 'user': its place has 3 numbers for 2 coordinates; give one number per coordinate",
                       WrongSize);
  const auto solid = robot.add("solid", Spatial::body());
  CHECK_THROWS_WITH_AS(robot.place(solid, {0, 0, 0, 2, 0, 0, 0}),
                       "body 'solid': at its place its own row 'norm' is 1.5, not 0 within 1e-06; give coordinates "
                       "that meet it",
                       InvalidModel);
  Assembly twin("twin");
  const auto other = twin.add("dot", Particle<2>{.mass = 1});
  CHECK_THROWS_WITH_AS(robot.place(other, {0, 0}),
                       "body 'dot': it is not the one of assembly 'robot'; use a handle that this assembly's add() "
                       "returned, or nested[handle] for a nested one",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(robot.connect("j", at_world<Pin>(V(0, 0)), ground, other),
                       "joint 'j': body 'dot' is not in assembly 'robot'; use a handle that this assembly's add() "
                       "returned, or nested[handle] for a nested one",
                       InvalidModel);
  robot.remove("string");
  robot.remove("dot");
  const auto again = robot.add("dot", Particle<2>{.mass = 1});  // starts afresh
  CHECK(robot.place(again.path) == V(0, 0));
}

TEST_CASE("planar axes of any length give the rows of unit axes") {
  const auto same = [](const auto& unit, const auto& scaled) {
    const auto rows = [](const auto& joint) {
      Assembly m("two");
      const auto a = m.add("a", Planar::body()), b = m.add("b", Planar::body());
      m.connect("joint", joint, a, b);
      const System system(m);
      return system.evaluate(random_state(system, 7));
    };
    const Evaluation e = rows(unit), f = rows(scaled);
    constexpr double round_off = 1e-14;
    CHECK((e.dense_A() - f.dense_A()).cwiseAbs().maxCoeff() < round_off);
    CHECK((e.b - f.b).cwiseAbs().maxCoeff() < 100 * round_off);
  };
  const V longer = 1e3 * x, shorter = 1e-5 * n;
  same(Slider{.axis_a = x, .axis_b = n}, Slider{.axis_a = longer, .axis_b = shorter});
  same(PlanarWeld{.axis_a = x, .axis_b = n}, PlanarWeld{.axis_a = longer, .axis_b = shorter});
  same(PlanarPointOnLine{.axis_a = x}, PlanarPointOnLine{.axis_a = longer});
  same(RollingWheel{.axis_a = n}, RollingWheel{.axis_a = shorter});
}

TEST_CASE("joints refuse bad parameters at connect, by name") {
  Assembly a("bad");
  const auto ground = a.add("ground", Ground{});
  const auto p = a.add("p", Planar::body()), q = a.add("q", Planar::body());
  const auto dot = a.add("dot", Particle<2>{.mass = 1});
  const auto r = a.add("r", Spatial::body()), s = a.add("s", Spatial::body());
  const double nan = std::nan("");
  const auto refuse = [&](const char* message, const auto& joint, const auto&... bodies) {
    CHECK_THROWS_WITH_AS(a.connect("j", joint, bodies...), message, InvalidModel);
  };
  const char *zero_axis = "joint 'j': axis_a has length 0; give a direction; any length > 0 will do",
             *no_theta =
                 "joint 'j': coordinate 'theta': the body has none of this name; it has x, y; correct what it "
                 "asks of its bodies";
  refuse(zero_axis, Slider{.axis_a = {0, 0}}, p, q);
  refuse("joint 'j': axis_b is not finite; give finite numbers", Slider{.axis_b = {nan, 0}}, p, q);
  refuse("joint 'j': on_b[1] = inf m is not finite; give a finite number", Slider{.on_b = {0, INFINITY}}, p, q);
  refuse(zero_axis, at_world<Slider>(V(0, 0), PlanarAxis(0, 0)), p, q);
  refuse(zero_axis, Universal{.axis_a = {0, 0, 0}}, r, s);
  refuse(
      "joint 'j': the second direction of axis_a has no part across the first; give two directions that are not "
      "parallel",
      Revolute{.axis_a = Axis({0, 0, 1}, {0, 0, 2})}, ground, r);
  refuse("joint 'j': radius = 0 m is not positive; give a finite number > 0", RollingWheel{.radius = 0}, ground, p);
  refuse(no_theta, RollingWheel{}, ground, dot);
  refuse("joint 'j': radius = -1 m is not positive; give a finite number > 0", RollingSphere{.radius = -1}, ground, r);
  refuse("joint 'j': radius_a = 0 m is zero; give a number other than 0", PlanarGear{.radius_a = 0}, p, q);
  refuse(no_theta, PlanarGear{}, p, dot);
  refuse("joint 'j': radius_b = -2 m is not positive; give a finite number > 0", Belt{.radius_b = -2}, p, q);
  refuse("joint 'j': pitch = 0 m is zero; give a number other than 0", Screw{.pitch = 0}, r, s);
  refuse("joint 'j': pitch = nan m is not finite; give a finite number", Screw{.pitch = nan}, r, s);
  refuse("joint 'j': teeth_b = 0 is zero; give a number other than 0", Gear{.teeth_b = 0}, r, s, ground);
  refuse("joint 'j': length = 0 m is not positive; give a finite number > 0", at_world<Distance<2>>(V(1, 1), V(1, 1)),
         p, q);
  refuse(
      "joint 'j': coordinate 'z': the body has none of this name; it has x, y, theta; correct what it asks of its "
      "bodies",
      DriveCoordinate{.coordinate = "z"}, p);
  const auto rope = [](std::vector<Rope<2>::Point> points) { return Rope<2>{.points = std::move(points)}; };
  refuse("joint 'j': it has 1 points; give at least 2", rope({{0, {0, 0}}}), p, q);
  refuse("joint 'j': point 1 names body 2 of 2; bodies are counted from 0", rope({{0, {0, 0}}, {2, {0, 0}}}), p, q);
  refuse("joint 'j': point 0 is not finite; give finite numbers", rope({{0, {nan, 0}}, {1, {0, 0}}}), p, q);
  refuse("joint 'j': points 0 and 1 are the same; name each point once", rope({{1, {2, 0}}, {1, {2, 0}}}), p, q);
}
