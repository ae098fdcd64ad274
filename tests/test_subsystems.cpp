// Ports, replacement and change of parts, sensors and readings.

#include <cmath>
#include <numbers>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/bodies/structure.h>
#include <mortise/forces/motor.h>
#include <mortise/forces/spring.h>
#include <mortise/forces/torsion_spring.h>
#include <mortise/integrators/rk4.h>
#include <mortise/joints/coupling.h>
#include <mortise/joints/cylindrical.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/friction.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/planar_weld.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/screw.h>
#include <mortise/joints/slider.h>
#include <mortise/joints/spherical.h>
#include <mortise/sensors/angle_sensor.h>
#include <mortise/sensors/distance_sensor.h>
#include <mortise/sensors/functor.h>
#include <mortise/sensors/point_sensor.h>
#include <mortise/solve/readings.h>
#include <mortise/solve/solve.h>

using namespace mortise;

namespace {

constexpr double g = 9.81;

// A rod of mass m and length L that hangs on a pin; its lower end is the port tip.
struct Arm {
  Assembly assembly{"arm"};
  Handle<Ground> ground;
  Handle<PlanarBody> rod, tip;

  explicit Arm(double m = 2, double L = 1) {
    assembly.set_gravity({0, -g, 0});
    ground = assembly.add("ground", Ground{});
    rod = assembly.add("rod", PlanarBody{.mass = m, .inertia = m * L * L / 12});
    assembly.place(rod, {0, -L / 2, 0});
    assembly.connect("hinge", Pin{.on_b = {0, L / 2}}, ground, rod);
    const auto frame = assembly.add("frame", PlanarBody{});
    assembly.place(frame, {0, -L, 0});
    assembly.connect("mount", at_world<PlanarWeld>(Vec2<double>(0, -L)), rod, frame);
    tip = assembly.port("tip", frame);
  }
};

// The same from two halves, welded; the port is on the second.
Assembly split_arm() {
  Assembly a("split_arm");
  const auto ground = a.add("ground", Ground{});
  const auto upper = a.add("upper", PlanarBody{.mass = 1, .inertia = 1.0 / 48});
  const auto lower = a.add("lower", PlanarBody{.mass = 1, .inertia = 1.0 / 48});
  a.place(upper, {0, -0.25, 0});
  a.place(lower, {0, -0.75, 0});
  a.connect("hinge", Pin{.on_b = {0, 0.25}}, ground, upper);
  a.connect("weld", at_world<PlanarWeld>(Vec2<double>(0, -0.5)), upper, lower);
  const auto frame = a.add("frame", PlanarBody{});
  a.place(frame, {0, -1, 0});
  a.connect("mount", at_world<PlanarWeld>(Vec2<double>(0, -1)), lower, frame);
  a.port("tip", frame);
  return a;
}

// An arm with a second rod pinned to its tip.
Assembly robot_with(const Assembly& arm) {
  Assembly robot("robot");
  robot.set_gravity({0, -g, 0});
  robot.add("arm", arm);
  const auto hand = robot.add("hand", PlanarBody{.mass = 1, .inertia = 0.2});
  robot.place(hand, {0.3, -1, 0});
  robot.connect("wrist", Pin{.on_b = {-0.3, 0}}, robot.body<PlanarBody>("arm/tip"), hand);
  robot.measure("hand_at", PointSensor<2>{}, hand);
  robot.measure("tip_at", PointSensor<2>{}, robot.body<PlanarBody>("arm/tip"));
  return robot;
}

VectorXd accelerations_of_hand(const Assembly& robot) {
  const System system(robot);
  const Solution s = solve(system, system.state());
  return Vec3<double>(s.acceleration("hand.x"), s.acceleration("hand.y"), s.acceleration("hand.theta"));
}

// The same mechanism without subsystems and ports.
VectorXd flat() {
  Assembly a("flat");
  a.set_gravity({0, -g, 0});
  const auto ground = a.add("ground", Ground{});
  const auto rod = a.add("rod", PlanarBody{.mass = 2, .inertia = 2.0 / 12});
  const auto hand = a.add("hand", PlanarBody{.mass = 1, .inertia = 0.2});
  a.place(rod, {0, -0.5, 0});
  a.place(hand, {0.3, -1, 0});
  a.connect("hinge", Pin{.on_b = {0, 0.5}}, ground, rod);
  a.connect("wrist", Pin{.on_a = {0, -0.5}, .on_b = {-0.3, 0}}, rod, hand);
  return accelerations_of_hand(a);
}

constexpr double same = 1e-12;

}  // namespace

TEST_CASE("ports: a subsystem is reached by them, replaced by another, and the result is that of the flat model") {
  const VectorXd expected = flat();
  CHECK(expected.norm() > 1);
  Assembly robot = robot_with(Arm().assembly);
  CHECK((accelerations_of_hand(robot) - expected).norm() < same * expected.norm());
  robot.replace("arm", split_arm());
  CHECK((accelerations_of_hand(robot) - expected).norm() < same * expected.norm());
  CHECK(System(robot).bodies().size() == 5);  // ground, upper, lower, frame, hand
  robot.replace("arm", Arm(2).assembly);
  CHECK((accelerations_of_hand(robot) - expected).norm() < same * expected.norm());
  // Elsewhere, three levels deep, through a port of a port.
  Assembly cell("cell");
  cell.set_gravity({0, -g, 0});
  Assembly holder("holder");
  const Arm arm;
  const auto inner = holder.add("arm", arm.assembly);
  holder.port("out", inner[arm.tip]);
  cell.add("holder", holder);
  const auto hand = cell.add("hand", PlanarBody{.mass = 1, .inertia = 0.2});
  cell.place(hand, {0.3, -1, 0});
  cell.connect("wrist", Pin{.on_b = {-0.3, 0}}, cell.body<PlanarBody>("holder/out"), hand);
  CHECK((accelerations_of_hand(cell) - expected).norm() < same * expected.norm());
  cell.nested("holder").replace("arm", split_arm());
  CHECK((accelerations_of_hand(cell) - expected).norm() < same * expected.norm());
  CHECK(System(cell).bodies()[1].name == "holder/arm/ground");
  // A place is given by the port, too.
  cell.place(cell.body<PlanarBody>("holder/out"), {1, 2, 0.5});
  CHECK(System(cell).state().q.segment<3>(9) == Vec3<double>(1, 2, 0.5));
}

TEST_CASE("ports: what does not fit is refused by name, and changes nothing") {
  Assembly robot = robot_with(Arm().assembly);
  const auto refuse = [&](const Assembly& other, const char* message) {
    CHECK_THROWS_WITH_AS(robot.replace("arm", other), message, InvalidModel);
    CHECK((accelerations_of_hand(robot) - flat()).norm() < same * flat().norm());
  };
  Assembly portless("portless");
  portless.add("rod", PlanarBody{.mass = 1, .inertia = 1});
  refuse(portless, "assembly 'portless': it has no port 'tip', which joint 'wrist' is connected to; it has no ports");
  portless.port("top", portless.body<PlanarBody>("rod"));
  refuse(portless, "assembly 'portless': it has no port 'tip', which joint 'wrist' is connected to; it has 'top'");
  Assembly spatial("spatial");
  spatial.port("tip", spatial.add("rod", RigidBody{.mass = 1}));
  refuse(spatial,
         "joint 'wrist': it needs a planar_body where there is a rigid_body now; give it a body of the same type, with "
         "the same template arguments");
  CHECK_THROWS_WITH_AS(robot.replace("leg", spatial),
                       "assembly 'leg': assembly 'robot' contains none of this name; did you mean 'arm'?",
                       InvalidModel);
  const auto rod = robot.body<PlanarBody>("arm/rod");
  robot.apply("spring", Spring<2>{.stiffness = 0}, rod, robot.body<PlanarBody>("hand"));
  refuse(
      split_arm(),
      "force 'spring': it reaches 'arm/rod', which is no port of 'arm'; make that body a port before it is connected, "
      "and connect to the port");
  CHECK_THROWS_WITH_AS(robot.port("hand", rod),
                       "port 'hand': the name is already used in assembly 'robot'; give every part a name of its own",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(robot.port("elbow", Arm().rod),
                       doctest::Contains("port 'elbow': body 'rod' is not in assembly 'robot'"), InvalidModel);
  CHECK_THROWS_WITH_AS(robot.nested("arm").remove("frame"),
                       "part 'frame': is still used by 'mount', 'tip'; remove these first", InvalidModel);
  CHECK_THROWS_WITH_AS(robot.body<RigidBody>("arm/tip"), doctest::Contains("is of another type"), InvalidModel);
}

TEST_CASE("change: clones with other parameters, wherever a body is used") {
  // theta'' of a hinged rod of inertia J + m (L/2)^2, with and without a heavier hand on its tip.
  const Arm arm;
  Assembly pair("pair");
  pair.set_gravity({0, -g, 0});
  const auto left = pair.add("left", arm.assembly), right = pair.add("right", arm.assembly);
  pair.apply(
      "motor",
      Motor{.about = PlanarTurn{}, .torque = [](const auto&, const auto&, const auto& t) { return 3.0 + 0.0 * t; }},
      left[arm.ground], right[arm.rod]);
  pair.change("right/rod", PlanarBody{.mass = 5, .inertia = 0.7});
  CHECK(pair.part<PlanarBody>("right/rod").mass == 5);
  CHECK(pair.part<PlanarBody>("left/rod").mass == 2);
  CHECK(arm.assembly.part<PlanarBody>("rod").mass == 2);  // copies are independent
  const auto acceleration = [](const Assembly& a, const char* name) {
    const System system(a);
    return solve(system, system.state()).acceleration(name);
  };
  CHECK(acceleration(pair, "right/rod.theta") == doctest::Approx(3 / (0.7 + 5 * 0.25)).epsilon(same));
  CHECK(std::abs(acceleration(pair, "left/rod.theta")) < same);
  // From within the nested assembly, which does not know who is connected to it.
  pair.nested("right").change("rod", PlanarBody{.mass = 1, .inertia = 0.1});
  CHECK(acceleration(pair, "right/rod.theta") == doctest::Approx(3 / (0.1 + 0.25)).epsilon(same));
  Pin hinge = pair.part<Pin>("right/hinge");
  hinge.on_b = {0, 0.25};
  pair.change("right/hinge", hinge);
  CHECK(acceleration(pair, "right/rod.theta") == doctest::Approx(3 / (0.1 + 0.0625)).epsilon(same));

  CHECK_THROWS_WITH_AS(pair.change("right/rod", PlanarBody{.mass = -1}),
                       doctest::Contains("body 'right/rod': mass = -1 kg is negative"), InvalidModel);
  CHECK_THROWS_WITH_AS(pair.change("right/rod", RigidBody{.mass = 1}),
                       "body 'right/rod': it is a planar_body, of another type than given; use the type it was added "
                       "with",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(pair.change("right/rood", PlanarBody{}),
                       "part 'rood': assembly 'arm' has no part of this name; did you mean 'rod'?", InvalidModel);
  CHECK_THROWS_WITH_AS(pair.part<PlanarBody>("middle/rod"),
                       "part 'middle/rod': assembly 'pair' has no nested assembly 'middle'; check the path",
                       InvalidModel);
  CHECK(pair.part<PlanarBody>("right/rod").mass == 1);
}

TEST_CASE("change: a body that a joint cannot accept is refused, and the old one stays") {
  Structure::Given given{.M = MatrixXd(Vec2<double>(1, 1).asDiagonal()),
                         .K = MatrixXd(Vec2<double>(1, 1).asDiagonal()),
                         .dofs = {{"end", "ux"}, {"end", "uy"}},
                         .nodes = {{"end", {1, 0, 0}}}};
  Assembly a("frame");
  const auto beam = a.add("beam", Structure(given));
  const auto bob = a.add("bob", Particle<2>{.mass = 1});
  a.connect("hang", Pin{.on_a = {1, 0}}, beam, bob);
  given.nodes[0].position = {2, 0, 0};
  CHECK_THROWS_WITH_AS(a.change("beam", Structure(given)), doctest::Contains("joint 'hang'"), InvalidModel);
  CHECK(a.part<Structure>("beam").nodes[0].position[0] == 1);
  CHECK(System(a).rows() == 2);
}

TEST_CASE("readings: a point, its velocity and its acceleration, of a hinged rod in closed form") {
  const double L = 1, theta = 0.4, omega = 1.3;
  Assembly a("pendulum");
  a.set_gravity({0, -g, 0});
  const auto ground = a.add("ground", Ground{});
  const auto rod = a.add("rod", PlanarBody{.mass = 2, .inertia = 2 * L * L / 12});
  a.connect("hinge", Pin{.on_b = {0, L / 2}}, ground, rod);
  a.measure("tip", PointSensor<2>{.at = {0, -L / 2}}, rod);
  a.measure("reach", DistanceSensor<2>{.on_a = {1, 0}, .on_b = {0, -L / 2}}, ground, rod);
  a.measure("kinetic",
            MeasuredMotion{[](const auto& x, const auto&) {
                             const auto w = x.angular_velocity();
                             return w * w / 3.0;
                           },
                           "J"},
            rod);
  a.measure("double", Measured{[](const auto& x, const auto& t) { return 2.0 * x.coordinate("theta") + t * t; }}, rod);
  const System system(a);
  State s = system.state();
  const double c = std::cos(theta), n = std::sin(theta);
  s.set("rod", {L / 2 * n, -L / 2 * c, theta});
  s.set("rod'", {L / 2 * c * omega, L / 2 * n * omega, omega});
  s.t = 0.7;
  Readings readings(system, {.coordinates = true, .reactions = true, .forces = true, .momentum = true});
  readings.read(s);
  const auto near = [&](const char* name, double expected) {
    CAPTURE(name);
    CHECK(readings.value(name) == doctest::Approx(expected).epsilon(same));
  };
  const double alpha = -1.5 * g / L * n;
  near("t", 0.7);
  near("rod.theta", theta);
  near("rod.theta'", omega);
  near("rod.theta''", alpha);
  near("tip.x", L * n);
  near("tip.y", -L * c);
  near("tip.x'", L * c * omega);
  near("tip.y'", L * n * omega);
  near("tip.x''", L * c * alpha - L * n * omega * omega);
  near("tip.y''", L * n * alpha + L * c * omega * omega);
  const double d = std::hypot(L * n - 1, L * c);
  near("reach", d);
  near("reach'", ((L * n - 1) * L * c * omega + L * c * -L * n * omega) / d);
  near("kinetic", omega * omega / 3);
  near("kinetic'", 2 * omega * alpha / 3);
  near("double", 2 * theta + 0.49);
  near("double'", 2 * omega + 1.4);
  near("double''", 2 * alpha + 2);
  near("hinge.angle", theta);
  near("hinge.angle'", omega);
  near("hinge.angle''", alpha);
  // The force on the ground is against what accelerates the rod.
  near("hinge.fx", -2 * L / 2 * (c * alpha - n * omega * omega));
  near("hinge.fy", -2 * (L / 2 * (n * alpha + c * omega * omega) + g));
  near("energy.kinetic", omega * omega / 3);
  near("energy.potential", -2 * g * L / 2 * c);
  near("energy.total", omega * omega / 3 - 2 * g * L / 2 * c);
  near("gravity.power", -2 * g * L / 2 * n * omega);
  near("gravity.potential", -2 * g * L / 2 * c);
  near("momentum.x", 2 * L / 2 * c * omega);
  near("angular_momentum.z", 2 * L * L / 3 * omega);
  near("centre.y", -L / 2 * c);
  const auto unit = [&](const std::string& name) {
    for (const auto& column : readings.columns())
      if (column.name == name) return column.unit;
    return std::string("none");
  };
  CHECK(readings.text().rfind("t                             0.7 s\nrod.x", 0) == 0);
  CHECK(unit("rod.theta''") == "rad/s^2");
  CHECK(unit("tip.x'") == "m/s");
  CHECK(unit("kinetic") == "J");
  CHECK(unit("double'") == "1/s");
  CHECK(unit("hinge.fx") == "N");
  CHECK(unit("hinge.angle") == "rad");

  CHECK_THROWS_WITH_AS(readings.value("tip.z"), doctest::Contains("did you mean 'tip.x'?"), InvalidModel);
  Readings fresh(system);
  CHECK_THROWS_WITH_AS(fresh.value("t"), "reading 't': nothing has been read yet; call read(state) first",
                       InvalidModel);
  CHECK_THROWS_AS(fresh.value("rod.x"), InvalidModel);  // not asked for
}

TEST_CASE("readings: angles of joints count turns, also with friction around the joint and backwards") {
  Assembly a("spin");
  const auto ground = a.add("ground", Ground{});
  const auto rotor = a.add("rotor", RigidBody{.mass = 1, .inertia = Mat<double, 3>::Identity()});
  const auto nut = a.add("nut", RigidBody{.mass = 1, .inertia = Mat<double, 3>::Identity()});
  const auto wheel = a.add("wheel", PlanarBody{.mass = 1, .inertia = 1});
  a.connect("bearing", Viscous{Revolute{}, {.coefficient = 0}}, ground, rotor);
  a.connect("thread", Screw{.pitch = 0.1}, ground, nut);
  a.connect("axle", Pin{}, ground, wheel);
  a.measure("turn", AngleSensor{}, ground, rotor);
  const System system(a);
  Readings readings(system);
  State s = system.state();
  const double h = 0.1 / (2 * std::numbers::pi);
  for (int k = 0; k <= 200; ++k) {  // 10 turns forwards, 10 back
    const double angle = 0.2 * std::numbers::pi * (k <= 100 ? k : 200 - k), rate = k <= 100 ? 2 : -2;
    const Vec<double, 4> u(std::cos(angle / 2), 0, 0, std::sin(angle / 2));
    const Vec<double, 4> du = rate / 2 * Vec<double, 4>(-std::sin(angle / 2), 0, 0, std::cos(angle / 2));
    s.set("rotor", {0, 0, 0, u[0], u[1], u[2], u[3]});
    s.set("rotor'", {0, 0, 0, du[0], du[1], du[2], du[3]});
    s.set("nut", {0, 0, h * angle, u[0], u[1], u[2], u[3]});
    s.set("nut'", {0, 0, h * rate, du[0], du[1], du[2], du[3]});
    s.set("wheel.theta", angle);
    s.set("wheel.theta'", rate);
    readings.read(s);
    for (const char* name : {"bearing.angle", "thread.angle", "axle.angle", "turn"}) {
      CAPTURE(name);
      CHECK(std::abs(readings.value(name) - angle) < 1e-12 * (1 + angle));
      CHECK(std::abs(readings.value(std::string(name) + "'") - rate) < 1e-12);
    }
    CHECK(std::abs(readings.value("thread.displacement") - h * angle) < 1e-13);
  }
}

TEST_CASE("readings: displacements, what forces tell, and a number that is not there") {
  Assembly a("slide");
  const auto ground = a.add("ground", Ground{});
  const auto block = a.add("block", PlanarBody{.mass = 2, .inertia = 1});
  a.connect("guide", Slider{.axis_a = {0, 1}, .axis_b = {0, 1}}, ground, block);
  a.apply("spring", Spring<2>{.on_a = {0, -1}, .stiffness = 30, .damping = 4, .length = 0.8}, ground, block);
  a.apply("twist", TorsionSpring{.about = PlanarTurn{}, .stiffness = 5, .rest = 0.1}, ground, block);
  a.measure("from_start", DistanceSensor<2>{}, ground, block);
  const System system(a);
  State s = system.state();
  s.set("block.y", 0.5);
  s.set("block.y'", 0.25);
  Readings readings(system, {.forces = true});
  readings.read(s);
  CHECK(readings.value("guide.displacement") == doctest::Approx(0.5));
  CHECK(readings.value("guide.displacement'") == doctest::Approx(0.25));
  CHECK(readings.value("spring.length") == doctest::Approx(1.5));
  CHECK(readings.value("spring.tension") == doctest::Approx(30 * 0.7 + 4 * 0.25));
  CHECK(readings.value("guide.displacement''") == doctest::Approx(-(30 * 0.7 + 4 * 0.25) / 2));
  CHECK(readings.value("spring.power") == doctest::Approx(-(30 * 0.7 + 4 * 0.25) * 0.25));
  CHECK(readings.value("spring.potential") == doctest::Approx(0.5 * 30 * 0.49));
  CHECK(readings.value("twist.torque") == doctest::Approx(0.5));
  s.set("block.y", 0);
  CHECK_THROWS_WITH_AS(readings.read(s), doctest::Contains("reading 'from_start'"), NonFinite);
  CHECK(readings.value("guide.displacement") == doctest::Approx(0.5));  // the last one that was read
}

TEST_CASE("a massless girder of 500 elements is told in a few lines, and its rows are judged") {
  constexpr int nodes = 501;
  constexpr double length = 0.1, EA = 1e6;
  std::vector<Eigen::Triplet<double>> K;
  Structure::Given given;
  for (int i = 0; i < nodes; ++i) {
    given.nodes.push_back({fmt::format("n{}", i), {i * length, 0, 0}});
    for (const char* direction : {"ux", "uy"}) given.dofs.push_back({fmt::format("n{}", i), direction});
    if (i == 0) continue;
    for (const int a : {-1, 0})
      for (const int b : {-1, 0}) K.emplace_back(2 * (i + a), 2 * (i + b), (a == b ? 1 : -1) * EA / length);
  }
  Eigen::SparseMatrix<double> stiffness(2 * nodes, 2 * nodes), none(2 * nodes, 2 * nodes);
  stiffness.setFromTriplets(K.begin(), K.end());
  given.K = stiffness;
  given.M = none;
  Assembly a("bridge");
  const auto ground = a.add("ground", Ground{});
  const auto girder = a.add("girder", Structure(given));
  a.connect("left", Pin{}, ground, girder);
  const System system(a);
  const RankReport report = check_model(system, system.state());
  CHECK(report.free.size() == 2 * nodes - 2);
  CHECK(report.rank.rank_A == 2);
  const std::string text = report.text();
  CAPTURE(text);
  CHECK(text.find("ux of girder.n1, girder.n2") != std::string::npos);
  CHECK(text.find("... 492 more: massless, held by nothing") != std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') < 15);
}

TEST_CASE("a structure with a consistent mass matrix of many dofs: as its parts tell") {
  // Rods in a row, each element with rho A h / 6 [2 1; 1 2]: R'M R = 1, and a force at the end accelerates as M^-1
  // says.
  constexpr Index n = 300;
  MatrixXd M = MatrixXd::Zero(n, n);
  for (Index i = 0; i + 1 < n; ++i) M.block<2, 2>(i, i) += (MatrixXd(2, 2) << 2, 1, 1, 2).finished() / 6;
  M.row(7).setZero();  // a node without mass
  M.col(7).setZero();
  const Massless split = massless_directions(M, {"body", "rod"});
  REQUIRE(split.N0.cols() == 1);
  CHECK(split.N0.col(0) == VectorXd::Unit(n, 7));
  const MatrixXd R = split.R();
  CHECK((R.transpose() * M * R - MatrixXd::Identity(n - 1, n - 1)).cwiseAbs().maxCoeff() < 1e-12);
  const VectorXd x = VectorXd::LinSpaced(n, -1, 2), y = VectorXd::LinSpaced(n - 1, 1, -3);
  CHECK((split.R_times(y) - R * y).norm() < 1e-12 * y.norm());
  CHECK((split.R_transposed_times(x) - R.transpose() * x).norm() < 1e-11 * x.norm());
}

TEST_CASE("readings: one name for each column, and functor rows by number") {
  Assembly a("rows");
  const auto p = a.add("p", Particle<3>{.mass = 1});
  a.connect("rail", Holonomic{[](const auto& x, const auto& t) {
              using T = std::remove_cvref_t<decltype(t)>;
              return Vec2<T>(x.coordinate("x") - t, x.coordinate("y"));
            }},
            p);
  a.apply("push", Spring<3>{.on_a = {0, 0, 1}, .stiffness = 1}, p, a.add("ground", Ground{}));
  const System system(a);
  Readings readings(system, {.coordinates = true, .reactions = true, .forces = true, .momentum = true});
  std::set<std::string> names;
  for (const auto& c : readings.columns()) CHECK(names.insert(c.name).second);
  CHECK(names.count("rail.lambda_1") == 1);
  CHECK(names.count("rail.lambda_2") == 1);
  State s = system.state();
  s.set("p.y", 0);
  CHECK(readings.read(s).size() == static_cast<Index>(readings.columns().size()));
}
