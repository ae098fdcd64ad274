// Assemblies, systems, the graph, the rank report, solving and stepping.

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/bodies/subsystem.h>
#include <mortise/core/fundamental.h>
#include <mortise/diagnosis/graph.h>
#include <mortise/forces/applied.h>
#include <mortise/forces/functor.h>
#include <mortise/integrators/rk4.h>
#include <mortise/joints/coupling.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/functor.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/slider.h>
#include <mortise/joints/spherical.h>
#include <mortise/solve/solve.h>

using namespace mortise;

namespace {

constexpr double round_off = 1e-12;  // of well-conditioned solves

// A particle on a massless rod; lengths in units of 1 m / length, masses in units of 1 kg / mass.
struct Pendulum {
  Assembly assembly{"pendulum"};
  Handle<Ground> ground;
  Handle<PlanarBody> rod;
  Handle<Particle<2>> tip;
  double length;

  explicit Pendulum(double length_unit = 1, double mass_unit = 1) : length(length_unit) {
    assembly.set_gravity({0, -9.81 * length, 0});
    ground = assembly.add("ground", Ground{});
    rod = assembly.add("rod", PlanarBody{});
    tip = assembly.add("tip", Particle<2>{.mass = 2 * mass_unit});
    assembly.connect("hinge", Pin{}, ground, rod);
  }
  Pendulum& finish() {
    assembly.connect("end", Pin{.on_a = {0.5 * length, 0}}, rod, tip);
    return *this;
  }
  State state(const System& system, double theta, double rate) const {
    State s = system.state();
    s.set("rod.theta", theta);
    s.set("rod.theta'", rate);
    const double x = 0.5 * length * std::cos(theta), y = 0.5 * length * std::sin(theta);
    s.set("tip", {x, y});
    s.set("tip'", {-rate * y, rate * x});
    return s;
  }
};

// A door on two hinges along z: five rows too many.
struct Door {
  Assembly assembly{"door"};
  Door() {
    assembly.set_gravity({0, 0, -9.81});
    const auto frame = assembly.add("frame", Ground{});
    const auto door = assembly.add("door", RigidBody{.mass = 20, .inertia = Vec3<double>(5, 6, 1).asDiagonal()});
    assembly.connect("lower", Revolute{.on_a = {0, 0, 0}, .on_b = {-0.4, 0, -1}}, frame, door);
    assembly.connect("upper", Revolute{.on_a = {0, 0, 2}, .on_b = {-0.4, 0, 1}}, frame, door);
  }
};
State open_door(const System& system) {
  State s = system.state();
  s.set("door", RigidBody::pose({0.4, 0, 1}, {1, 0, 0, 0}));
  return s;
}

}  // namespace

TEST_CASE("massless rod: the tip accelerates as a pendulum, and the reactions are its tension") {
  Pendulum p;
  p.finish();
  const System system(p.assembly);
  const double theta = 0.4, rate = 1.3, L = 0.5, m = 2, g = 9.81;
  const Solution s = solve(system, p.state(system, theta, rate));
  CHECK(s.acceleration("rod.theta") == doctest::Approx(-g / L * std::cos(theta)).epsilon(round_off));
  // Tension along the rod: m L rate^2 + m g sin(-theta); the pin's multiplier is the force on the rod at its end.
  const double tension = m * L * rate * rate - m * g * std::sin(theta);
  const Vec2<double> along(std::cos(theta), std::sin(theta));
  CHECK((s.reaction("end").lambda - tension * along).norm() < 1e-11);
  CHECK((s.reaction("hinge").lambda - tension * along).norm() < 1e-11);
  CHECK(s.reaction("end").unique);
  CHECK((VectorXd(s.reaction("end").force) + s.reaction("hinge").force - s.Qc).norm() < 1e-11);
  CHECK_THROWS_WITH_AS(s.reaction("hing"), "joint 'hing': there is none of this name; did you mean 'hinge'?",
                       InvalidModel);
  CHECK(s.text().find("rod.theta") != std::string::npos);
}

TEST_CASE("rank report: an under-modelled coordinate is named, told as a motion, and solve refuses with the report") {
  Pendulum p;
  const System system(p.assembly);
  const Evaluation e = system.evaluate(system.state());
  const RankReport r = check_rank(system, e);
  CHECK_FALSE(r.ok());
  CHECK(r.rank.rank_M == 2);
  CHECK(r.rank.rank_A == 2);
  CHECK(r.rank.rank_MA == 4);
  CHECK(r.dof == 3);
  CHECK(r.gruebler == 3);
  REQUIRE(r.free.size() == 1);
  REQUIRE(r.free[0].parts.size() == 1);
  CHECK(r.free[0].parts[0].coordinate == "rod.theta");
  CHECK(r.free[0].parts[0].share == 1);
  CHECK(r.free[0].parts[0].mass == 0);
  CHECK(r.free[0].parts[0].rows.empty());
  CHECK(r.text() ==
        "rank check 'pendulum' at t = 0   UNDER-MODELLED: 1 free direction\n"
        "  coordinates 5 | rank M 2 | rows 2, rank A 2 | rank [M;A] 4 of 5 | Gruebler 3, true DOF 3\n"
        "  1  rod.theta: rod turns about the point (0, 0); no mass moves and no constraint resists\n"
        "     no row touches it\n"
        "     remedies: give rod mass or inertia in this motion | hold rod.theta by a joint | drop the coordinate\n");
  const std::string details = r.text({.details = true});
  CHECK(details.find(
            "  scaled singular values of the massless part: 1.0e+00 | <2e-16, gap 16 decades, warned below 1e-06, "
            "refused below 1e-09\n") != std::string::npos);
  CHECK(details.find("     rod.theta                share 1.00   M_ii 0        rows touching: none\n") !=
        std::string::npos);
  CHECK_THROWS_AS(require(r), UnderModelled);
  try {
    solve(system, e);
    FAIL("solve must refuse");
  } catch (const UnderModelled& error) {
    CHECK(error.what() == r.text());
    CHECK(error.report().free.size() == 1);
  }
  const MotionFamily family = solve_family(system, e);
  CHECK(family.smallest[2] == 0);
  CHECK(family.smallest[4] == doctest::Approx(-9.81));
  CHECK(family.member(VectorXd::Constant(5, 3))[2] == doctest::Approx(3));
  CHECK(family.norm == "the sum of squares of all accelerations, in the units of the model's coordinates");
}

TEST_CASE("rank report: one line when all is well") {
  Pendulum p;
  p.finish();
  const System system(p.assembly);
  const RankReport r = check_rank(system, system.evaluate(p.state(system, 0, 0)));
  CHECK(r.ok());
  CHECK(r.text() ==
        "rank check 'pendulum' at t = 0   OK: the motion is determined; 5 coordinates, rank M 2; 4 rows; 1 DOF\n");
}

TEST_CASE("rank report: a force on a free direction means that no motion exists") {
  Pendulum p;
  p.assembly.apply("twist", Force{[](auto& rod, const auto&) { rod.apply_torque(5.0); }}, p.rod);
  const System system(p.assembly);
  const Evaluation e = system.evaluate(system.state());
  const RankReport r = check_rank(system, e);
  REQUIRE(r.free.size() == 1);
  CHECK_FALSE(r.free[0].balanced);
  CHECK(r.free[0].force == doctest::Approx(5));
  CHECK(r.text().find("a torque of 5 N m acts along it that nothing can balance: no motion exists") !=
        std::string::npos);
  CHECK_THROWS_AS(solve_family(system, e), UnderModelled);
}

TEST_CASE("rank report: a door on two hinges has five redundant rows, named, consistent, with shared reactions") {
  Door d;
  const System system(d.assembly);
  const Evaluation e = system.evaluate(open_door(system));
  const RankReport r = check_rank(system, e);
  CHECK(r.ok());
  CHECK(r.rank.rank_A == 6);
  CHECK(r.redundant.size() == 5);
  CHECK(r.dof == 1);
  CHECK(r.gruebler == -4);
  for (const RedundantRow& row : r.redundant) {
    CHECK(row.row.substr(0, 6) == "upper.");
    CHECK(row.consistent);
    CHECK(row.set.size() >= 2);
  }
  CHECK(r.verdict() == "OK: the motion is determined; 5 redundant rows, consistent");
  CHECK(r.text().find(
            "  redundant   upper.x, upper.y, upper.z, upper.tilt_1, upper.tilt_2: upper repeats lower, 5 rows\n") !=
        std::string::npos);
  CHECK(r.text({.details = true})
            .find("     upper.z              unnecessarily removes translation along z; residual <2e-16, consistent\n"
                  "     implied by: lower.z\n") != std::string::npos);
  const auto& shared = r.reactions_not_unique;
  CHECK(std::find(shared.begin(), shared.end(), "lower.fz") != shared.end());
  const Solution s = solve(system, e);
  CHECK(s.a.norm() < 1e-12);  // at rest, and nothing turns it
  CHECK_FALSE(s.reaction("lower").unique);
  CHECK(s.reaction("door").unique);
  CHECK(s.reaction("lower").lambda[2] + s.reaction("upper").lambda[2] == doctest::Approx(-20 * 9.81));  // on the frame
}

TEST_CASE("a redundant joint changes nothing") {
  Pendulum p;
  p.finish();
  const System once(p.assembly);
  p.assembly.connect("end_again", Pin{.on_a = {0.5, 0}}, p.rod, p.tip);
  const System twice(p.assembly);
  const State s = p.state(once, 0.4, 1.3);
  CHECK((solve(once, s).a - solve(twice, p.state(twice, 0.4, 1.3)).a).norm() < 1e-11);
}

TEST_CASE("conflicting rows are named with their gap and refused") {
  Assembly a("tug");
  const auto p = a.add("p", Particle<1>{.mass = 1});
  const auto driver = [](double acceleration) {
    return Holonomic{[=](const auto& b, const auto& t) { return b.coordinate("x") - 0.5 * acceleration * t * t; }};
  };
  a.connect("left", driver(-1), p);
  a.connect("right", driver(2), p);
  const System system(a);
  const Evaluation e = system.evaluate(system.state());
  const RankReport r = check_rank(system, e);
  CHECK(r.determined());
  CHECK_FALSE(r.ok());
  REQUIRE(r.redundant.size() == 1);
  CHECK(r.redundant[0].gap == doctest::Approx(3));
  CHECK(r.redundant[0].set == std::vector<std::string>{"left.1", "right.1"});
  CHECK(r.text() ==
        "rank check 'tug' at t = 0   CONFLICTING: 1 row cannot hold together with the others\n"
        "  coordinates 1 | rank M 1 | rows 2, rank A 1 | rank [M;A] 1 of 1 | Gruebler -1, true DOF 0\n"
        "  conflicting right.1 contradicts left.1 by 3: no motion satisfies them all\n"
        "     remedies: remove one of them | correct it so that they agree\n"
        "     remedy (tried on the rows, DOF stays 0): remove right\n");
  CHECK_THROWS_AS(solve(system, e), ConflictingRows);
}

// A press of 1000 kg parts with a rod of any mass: near 0 it moves as without.
TEST_CASE("a rod far lighter than what it joins leaves no row over") {
  const double c = std::cos(1.0), s = std::sin(1.0), reach = 0.6839745721911105;
  for (const double rod_mass : {0.0, 1e-18, 1e-15, 1e-12, 1e-9, 1e-6}) {
    CAPTURE(rod_mass);
    Assembly a("press");
    a.set_gravity({0, -9.81, 0});
    const auto ground = a.add("ground", Ground{});
    const auto crank = a.add("crank", PlanarBody{.mass = 1000, .inertia = 10.0 / 3});
    const auto rod = a.add("rod", PlanarBody{.mass = rod_mass, .inertia = rod_mass});
    const auto ram = a.add("ram", PlanarBody{.mass = 1000, .inertia = 10});
    a.place(crank, {0.1 * c, 0.1 * s, 1});
    a.place(rod, {(0.2 * c + reach) / 2, 0.1 * s, std::atan2(-0.2 * s, reach - 0.2 * c)});
    a.place(ram, {reach, 0, 0});
    a.connect("axle", at_world<Pin>(Vec2<double>(0, 0)), ground, crank);
    a.connect("big_end", at_world<Pin>(Vec2<double>(0.2 * c, 0.2 * s)), crank, rod);
    a.connect("small_end", at_world<Pin>(Vec2<double>(reach, 0)), rod, ram);
    a.connect("rail", Slider{}, ground, ram);
    a.apply("load",
            AppliedForce{.at = Vec2<double>(0, 0),
                         .force = [](const auto&, const auto&) { return Vec2<double>(-1000, 0); }},
            ram);
    const System system(a);
    const Evaluation e = system.evaluate(system.state());
    const RankReport report = check_rank(system, e);
    CHECK(report.ok());
    CHECK(report.redundant.empty());
    CHECK(report.warnings.empty());
    CHECK(report.dof == 1);
    // By virtual power: per radian the crank's centre moves by 0.1 across it, the ram by `lever` to the left.
    const double slope = std::atan2(0.2 * s, reach - 0.2 * c), lever = 0.2 * (s + c * std::tan(slope));
    const double inertia = 10.0 / 3 + 1000 * 0.01 + 1000 * lever * lever;
    const double turn = (-1000 * 9.81 * 0.1 * c + 1000 * lever) / inertia;
    CHECK(solve(system, e).acceleration("crank.theta") == doctest::Approx(turn).epsilon(1e-8));
    CHECK(solve(system, e).acceleration("ram.x") == doctest::Approx(-lever * turn).epsilon(1e-8));
    CHECK(Solver(system).solve(system.state())[6 + 0] == doctest::Approx(-lever * turn).epsilon(1e-8));
  }
}

TEST_CASE("nearly dependent rows give a warning by name, and still a solution") {
  Assembly a("near");
  const auto p = a.add("p", Particle<2>{.mass = 1});
  a.connect("one", Coupling{.terms = {{0, "x", 1}, {0, "y", 1}}}, p);
  a.connect("two", Coupling{.terms = {{0, "x", 1}, {0, "y", 1 + 1e-7}}}, p);
  const System system(a);
  const Solution s = solve(system, system.state());
  REQUIRE(s.warnings.size() == 1);
  CHECK(s.warnings[0].find("rows are nearly dependent (") == 0);
  CHECK(s.warnings[0].find("warned below 1e-06, redundant below 1e-09): one.sum, two.sum") != std::string::npos);
}

TEST_CASE("the verdict and the accelerations do not change with units of length and mass") {
  const double theta = 0.4, rate = 1.3;
  std::vector<RankReport> complete, incomplete;
  std::vector<Solution> solutions;
  for (const auto& [length, mass] : {std::pair(1.0, 1.0), {1000.0, 1.0}, {1.0, 1e-3}, {1000.0, 1e-3}, {1e-6, 1e6}}) {
    Pendulum p(length, mass);
    const System open(p.assembly);
    incomplete.push_back(check_rank(open, open.evaluate(p.state(open, theta, rate))));
    p.finish();
    const System system(p.assembly);
    const State s = p.state(system, theta, rate);
    complete.push_back(check_rank(system, system.evaluate(s)));
    solutions.push_back(solve(system, s));
    CHECK(solutions.back().a[2] == doctest::Approx(solutions[0].a[2]).epsilon(round_off));
    CHECK(solutions.back().a[4] / length == doctest::Approx(solutions[0].a[4]).epsilon(round_off));
    CHECK(solutions.back().reaction("end").lambda[0] / (length * mass) ==
          doctest::Approx(solutions[0].reaction("end").lambda[0]).epsilon(round_off));
    for (const auto* reports : {&complete, &incomplete}) {
      const Rank &now = reports->back().rank, &first = reports->front().rank;
      CHECK(reports->back().verdict() == reports->front().verdict());
      CHECK((now.values - first.values).norm() < 1e-12);
      CHECK(now.rank_A == first.rank_A);
    }
    CHECK(incomplete.back().free[0].parts[0].coordinate == "rod.theta");
  }
  CHECK(complete[0].ok());
  CHECK_FALSE(incomplete[0].ok());
}

TEST_CASE("a light body beside a very heavy one is not called massless") {
  Assembly a("ratio");
  a.add("light", Particle<2>{.mass = 1e-6});
  a.add("heavy", Particle<2>{.mass = 1e6});
  const System system(a);
  CHECK(check_rank(system, system.evaluate(system.state())).rank.rank_M == 4);
}

TEST_CASE("the order of adding bodies and joints changes no result beyond round-off") {
  // A spatial chain of four bodies, one of them massless, closed by a distance; parts added in shuffled order.
  const auto build = [](unsigned seed) {
    std::vector<int> order{0, 1, 2, 3};
    std::mt19937 generator(seed);
    if (seed > 0) std::shuffle(order.begin(), order.end(), generator);
    Assembly a("chain");
    a.set_gravity({0, 0, -9.81});
    std::vector<Handle<RigidBody>> body(4);
    for (const int i : order)
      body[std::size_t(i)] =
          a.add(fmt::format("b{}", i),
                i == 2 ? RigidBody{}
                       : RigidBody{.mass = 1.0 + i, .inertia = Vec3<double>(0.1 + i, 0.2, 0.3 + i).asDiagonal()});
    const auto ground = a.add("ground", Ground{});
    const Vec3<double> up(0, 0, 0.5), down(0, 0, -0.5);
    std::reverse(order.begin(), order.end());
    for (const int i : order) {
      const std::string name = fmt::format("j{}", i);
      if (i == 0)
        a.connect(name, Spherical{.on_b = up}, ground, body[0]);
      else if (i == 2)
        a.connect(name, Revolute{.on_a = down, .on_b = up, .axis_a = {0, 1, 0}, .axis_b = {0, 1, 0}}, body[1], body[2]);
      else
        a.connect(name, Spherical{.on_a = down, .on_b = up}, body[std::size_t(i - 1)], body[std::size_t(i)]);
    }
    a.connect("spin", Coupling{.terms = {{0, "u3", 1}}}, body[2]);  // holds the massless body's turn about itself
    a.connect("tie", Distance<3>{.on_a = {1, 0, 0}, .on_b = down, .length = 2.3}, ground, body[3]);
    return System(a);
  };
  const auto accelerations = [](const System& system) {
    State s = system.state();
    for (int i = 0; i < 4; ++i) {
      const std::string name = fmt::format("b{}", i);
      s.set(name, RigidBody::pose({0.1 * i, 0, -0.5 - i},
                                  quaternion_from_euler("zyx", {i == 2 ? 0.0 : 0.3, i == 2 ? 0.0 : 0.2 * i, 0.1})));
      s.set(name + "'", RigidBody::rates(s.get_all(name), {0.1 * i, 0.2, -0.3}, {0.5, -0.1 * i, 0.2}));
    }
    std::vector<double> out;
    const Solution solution = solve(system, s);
    for (int i = 0; i < 4; ++i)
      for (const auto c : RigidBody::coordinates) out.push_back(solution.acceleration(fmt::format("b{}.{}", i, c)));
    return VectorXd(Eigen::Map<VectorXd>(out.data(), Index(out.size())));
  };
  const VectorXd first = accelerations(build(0));
  CHECK(first.norm() > 1);
  for (unsigned seed = 1; seed <= 6; ++seed) CHECK((accelerations(build(seed)) - first).norm() < 1e-9 * first.norm());
}

TEST_CASE("nested assemblies: path names, one subsystem used twice, each checkable alone, equal to the flat model") {
  Pendulum p;
  p.finish();
  const System alone(p.assembly);
  CHECK(check_rank(alone, alone.evaluate(p.state(alone, 0.4, 0))).ok());

  Assembly pair("pair"), outer("outer");
  const auto left = pair.add("left", p.assembly), right = pair.add("right", p.assembly);
  pair.connect("tie", Distance<2>{.length = 0.7}, left[p.tip], right[p.tip]);
  const auto inner = outer.add("inner", pair);
  outer.set_gravity({0, -9.81, 0});
  outer.connect("hook", Distance<2>{.on_a = {0, -2}, .length = 1.5}, inner[left][p.ground], inner[left[p.tip]]);
  const System nested(outer);
  CHECK(nested.coordinate(0) == "inner/left/rod.x");
  CHECK(nested.row(0).name == "inner/left/hinge.x");
  CHECK(nested.constraints().back().name == "hook");
  CHECK(inner[left[p.tip]].path == "inner/left/tip");
  CHECK(outer.body<Particle<2>>("inner/right/tip").model == p.tip.model);

  Assembly flat("flat");
  flat.set_gravity({0, -9.81, 0});
  const auto ground = flat.add("ground", Ground{});
  std::vector<Handle<Particle<2>>> tips;
  for (const char* side : {"left", "right"}) {
    const auto rod = flat.add(fmt::format("{}_rod", side), PlanarBody{});
    tips.push_back(flat.add(fmt::format("{}_tip", side), Particle<2>{.mass = 2}));
    flat.connect(fmt::format("{}_hinge", side), Pin{}, ground, rod);
    flat.connect(fmt::format("{}_end", side), Pin{.on_a = {0.5, 0}}, rod, tips.back());
  }
  flat.connect("tie", Distance<2>{.length = 0.7}, tips[0], tips[1]);
  flat.connect("hook", Distance<2>{.on_a = {0, -2}, .length = 1.5}, ground, tips[0]);
  const System same(flat);
  State s = nested.state();
  s.q << 0, 0, 0.4, 0.45, 0.2, 0, 0, 1.4, 0.1, 0.48;
  s.v << 0, 0, 1.4, -0.45, 0.2, 0, 0, -0.4, 0.1, 0.48;
  State z = same.state();
  z.q = s.q;
  z.v = s.v;
  CHECK((solve(nested, s).a - solve(same, z).a).norm() < 1e-10);
}

TEST_CASE("assembly: duplicate, empty and illegal names, unknown handles and users of a removed body are refused") {
  Assembly a("a"), b("b");
  const auto ground = a.add("ground", Ground{});
  const auto p = a.add("p", Particle<2>{.mass = 1});
  const auto q = b.add("q", Particle<2>{.mass = 1});
  a.connect("link", Distance<2>{}, ground, p);
  a.apply("push", Force{[](auto& x, const auto&) { x.apply_to("x", 1.0); }}, p);
  CHECK_THROWS_WITH_AS(a.add("p", Ground{}),
                       "body 'p': the name is already used in assembly 'a'; give every part a name of its own",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(a.connect("p", Pin{}, ground, p),
                       "joint 'p': the name is already used in assembly 'a'; give every part a name of its own",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(a.add("", Ground{}), "body '': the name is empty; give every part a name", InvalidModel);
  CHECK_THROWS_WITH_AS(
      a.add("x/y", Ground{}),
      "body 'x/y': the name contains '/'; names are free of / . and ', which separate paths and coordinates",
      InvalidModel);
  CHECK_THROWS_WITH_AS(Assembly(""), "assembly '': the name is empty; give every part a name", InvalidModel);
  CHECK_THROWS_WITH_AS(a.add("s", Subsystem{.coordinates = {"x", "x"}, .M = MatrixXd::Identity(2, 2).eval()}),
                       "body 's': 2 coordinates have only 1 different names; give every coordinate a name of its own",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(a.add("s", Subsystem{.coordinates = {""}, .M = MatrixXd::Identity(1, 1).eval()}),
                       "coordinate of body 's', named '': the name is empty; give every part a name", InvalidModel);
  CHECK_THROWS_WITH_AS(a.connect("j", Pin{}, ground, q),
                       "joint 'j': body 'q' is not in assembly 'a'; use a handle that this assembly's add() returned, "
                       "or nested[handle] for a nested one",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(a.connect("j", Pin{}, ground, Handle<Particle<2>>{}),
                       "joint 'j': one of its handles is empty; use a handle that add() returned", InvalidModel);
  CHECK_THROWS_WITH_AS(a.connect("j", Pin{}, ground, ground),
                       "joint 'j': it acts on bodies without coordinates only; attach it to a body that can move",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(a.remove("p"), "part 'p': is still used by 'link', 'push'; remove these first", InvalidModel);
  CHECK_THROWS_WITH_AS(a.remove("lynk"), "part 'lynk': assembly 'a' has no part of this name; did you mean 'link'?",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(a.body<Particle<2>>("pp"), "body 'pp': assembly 'a' has no body 'pp'; did you mean 'p'?",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(a.body<Particle<3>>("p"),
                       "body 'p': is of another type than asked for; ask for the type it was added with", InvalidModel);
  CHECK_THROWS_WITH_AS(a.body<Ground>("c/p"), "part 'c/p': assembly 'a' has no nested assembly 'c'; check the path",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(a.nested("c"), "assembly 'c': assembly 'a' contains none of this name; it contains none",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(a.set_gravity({0, std::nan(""), 0}), "assembly 'a': gravity is (0, nan, 0); give finite numbers",
                       NonFinite);
  a.remove("link");
  a.remove("push");
  a.remove("p");
  CHECK(System(a).size() == 0);
}

TEST_CASE("assembly: a system does not change with its assembly, and gravity must be one for the whole") {
  Pendulum p;
  const System before(p.assembly);
  p.finish();
  CHECK(before.rows() == 2);
  Assembly whole("whole");
  const auto part = whole.add("part", p.assembly);
  CHECK_THROWS_WITH_AS(System{whole},
                       "assembly 'part': its gravity (0, -9.81, 0) is not that of the whole, 'whole': (0, 0, 0); set "
                       "the gravity of the whole; it acts on all parts",
                       InvalidModel);
  whole.set_gravity({0, -9.81, 0});
  whole.connect("hold", Coupling{.terms = {{0, "x", 1}}}, part[p.tip]);
  CHECK(System(whole).rows() == 5);
  CHECK_THROWS_AS(whole.remove("part"), InvalidModel);  // hold still uses it
  whole.nested("part").remove("end");
  CHECK(System(whole).rows() == 3);
  CHECK_THROWS_WITH_AS((whole.nested("part").remove("tip"), System(whole)),
                       "body 'part/tip': a joint, force, sensor or port needs it, but it was removed; remove that part "
                       "too, or connect it again",
                       InvalidModel);
}

TEST_CASE("what is not finite is told by name, from the state and out of functors") {
  Assembly a("nan");
  const auto p = a.add("p", Particle<1>{.mass = 1});
  SUBCASE("state") {
    const System system(a);
    State s = system.state();
    s.set("p.x", std::nan(""));
    CHECK_THROWS_WITH_AS(system.evaluate(s), "state 'nan': p.x is nan; give finite coordinates", NonFinite);
    s.q.resize(3);
    CHECK_THROWS_WITH_AS(system.evaluate(s),
                         "state 'nan': q has 3 and v has 1 entries; give 1 each, one per coordinate", WrongSize);
  }
  SUBCASE("joint") {
    a.connect("root", Holonomic{[](const auto& b, const auto&) {
                using std::sqrt;
                return sqrt(b.coordinate("x"));
              }},
              p);
    const System system(a);
    CHECK_THROWS_WITH_AS(system.evaluate(system.state()),
                         doctest::Contains("joint 'root': row 'root.1' is not finite at t = 0: value 0, b "),
                         NonFinite);
  }
  SUBCASE("force") {
    a.apply("push", Force{[](auto& b, const auto& t) { b.apply_to("x", 1.0 / t); }}, p);
    const System system(a);
    CHECK_THROWS_WITH_AS(system.evaluate(system.state()),
                         "force 'push': its force on 'p.x' is inf at t = 0; check its formula at this state",
                         NonFinite);
  }
  SUBCASE("law") {
    a.connect("rail",
              Nonideal(Coupling{.terms = {{0, "x", 1}}}, [](auto& b, const auto& t) { b.apply_to("x", 1.0 / t); }), p);
    const System system(a);
    CHECK_THROWS_WITH_AS(system.evaluate(system.state()),
                         "joint 'rail': its non-ideal force on 'p.x' is inf at t = 0; check its formula at this state",
                         NonFinite);
  }
  SUBCASE("mass") {
    a.add("user", Subsystem{.coordinates = {"s"}, .M = [](const auto&, const auto& t) {
                              return (Mat<Scalar<decltype(t)>, 1>() << 1.0 / t).finished();
                            }});
    const System system(a);
    CHECK_THROWS_WITH_AS(system.evaluate(system.state()),
                         "body 'user': mass matrix entry (s, s) is inf; give finite masses", NonFinite);
  }
  SUBCASE("a mass matrix that becomes indefinite") {
    a.add("user", Subsystem{.coordinates = {"s"}, .M = [](const auto&, const auto& t) {
                              return (Mat<Scalar<decltype(t)>, 1>() << 1.0 - t).finished();
                            }});
    const System system(a);
    State s = system.state();
    s.t = 3;
    CHECK_THROWS_WITH_AS(solve(system, s),
                         "body 'user': the mass matrix is not positive semi-definite: (s, s) = -2 is negative; no "
                         "motion may have negative kinetic energy; correct the masses",
                         InvalidMass);
  }
}

TEST_CASE("graph: components without the ground, independent loops as walks, Graphviz text") {
  Door d;
  d.assembly.add("cat", Particle<3>{.mass = 4});
  const MechanismGraph g = mechanism_graph(System(d.assembly));
  CHECK(g.components == std::vector<std::vector<std::string>>{{"door"}, {"cat"}});
  REQUIRE(g.loops.size() == 1);
  std::vector<std::string> loop = g.loops[0];
  CHECK((loop[0] == "lower" || loop[0] == "upper"));
  std::sort(loop.begin(), loop.end());
  CHECK(loop == std::vector<std::string>{"door", "frame", "lower", "upper"});
  CHECK(
      g.graphviz ==
      "graph \"door\" {\n"
      "  \"frame\" [shape=house];\n  \"door\" [shape=box];\n  \"cat\" [shape=box];\n"
      "  \"lower\" [shape=ellipse];\n  \"upper\" [shape=ellipse];\n"
      "  \"frame\" -- \"lower\";\n  \"door\" -- \"lower\";\n  \"frame\" -- \"upper\";\n  \"door\" -- \"upper\";\n}\n");

  // A ladder of n squares of particles and links, free in the plane: 2 (n + 1) bodies, 3 n + 1 links, n loops.
  Assembly ladder("ladder");
  std::vector<Handle<Particle<2>>> top, bottom;
  for (int i = 0; i <= 5; ++i) {
    top.push_back(ladder.add(fmt::format("t{}", i), Particle<2>{.mass = 1}));
    bottom.push_back(ladder.add(fmt::format("b{}", i), Particle<2>{.mass = 1}));
    ladder.connect(fmt::format("rung{}", i), Distance<2>{}, top.back(), bottom.back());
    if (i == 0) continue;
    ladder.connect(fmt::format("upper{}", i), Distance<2>{}, top[std::size_t(i - 1)], top.back());
    ladder.connect(fmt::format("lower{}", i), Distance<2>{}, bottom[std::size_t(i - 1)], bottom.back());
  }
  const MechanismGraph l = mechanism_graph(System(ladder));
  CHECK(l.components.size() == 1);
  CHECK(l.loops.size() == 5);
  for (const auto& walk : l.loops) CHECK(walk.size() % 2 == 0);
}

TEST_CASE(
    "rigid body by quaternion in a System: u'' and Qc are the closed forms, with torque [US10, Eq. 116 and 121]") {
  Mat<double, 3> J;
  J << 2.0, 0.3, -0.1, 0.3, 1.5, 0.2, -0.1, 0.2, 1.0;
  const Vec3<double> w(0.7, -1.1, 0.4), torque(0.3, 0.8, -0.5);
  const auto u = quaternion_from_euler("zyx", {0.5, -0.3, 0.9});
  Assembly a("satellite");
  const auto body = a.add("body", RigidBody{.mass = 10, .inertia = J});
  const Vec3<double> world = rotation_matrix<double>(u) * torque;
  a.apply("thruster", Force{[=](auto& b, const auto&) { b.apply_torque(world); }}, body);
  const System system(a);
  State s = system.state();
  s.set("body", RigidBody::pose({1, 2, 3}, u));
  s.set("body'", RigidBody::rates(s.get_all("body"), {4, 5, 6}, w));
  const Solution solution = solve(system, s);
  const auto E = quaternion_E<double>(u);
  const Vec3<double> Jw = J * w;
  const Quaternion<double> udd = -0.5 * E.transpose() * (J.inverse() * w.cross(Jw)) - 0.25 * w.squaredNorm() * u +
                                 0.5 * E.transpose() * (J.inverse() * torque);
  const Quaternion<double> gamma = 2 * E.transpose() * torque, Qc = -(2 * w.dot(Jw) + u.dot(gamma)) * u;
  CHECK((solution.a.tail<4>() - udd).norm() < round_off);
  CHECK((solution.Qc.tail<4>() - Qc).norm() < 10 * round_off);
  CHECK(check_rank(system, system.evaluate(s)).rank.rank_M == 6);
}

TEST_CASE("non-ideal law in a System: the constraint's power is that of its law, split as the forms say") {
  Assembly a("brake");
  a.set_gravity({0, -9.81, 0});
  const auto ground = a.add("ground", Ground{});
  const auto rod = a.add("rod", PlanarBody{.mass = 3, .inertia = 0.25});
  a.connect("hinge",
            Nonideal(Pin{.on_b = {-0.5, 0}},
                     [](auto&, auto& r, const auto&) { r.apply_torque(-0.8 * r.angular_velocity()); }),
            ground, rod);
  const System system(a);
  State s = system.state();
  s.set("rod", {0.5, 0, 0});
  s.set("rod'", {0, 1, 2});
  const Solution solution = solve(system, s);
  // (J + m L^2/4) theta'' = -m g L/2 - 0.8 theta'
  CHECK(solution.acceleration("rod.theta") ==
        doctest::Approx((-3 * 9.81 * 0.5 - 1.6) / (0.25 + 0.75)).epsilon(round_off));
  CHECK(s.v.dot(solution.Qc) == doctest::Approx(-0.8 * 2 * 2));
  CHECK(s.v.dot(solution.Qc_ideal) == doctest::Approx(0));
  CHECK((solution.Qc_ideal + solution.Qc_nonideal - solution.Qc).norm() < round_off);
  CHECK((VectorXd(solution.reaction("hinge").force) - solution.Qc).norm() < 1e-11);  // A' lambda + C
}

TEST_CASE("rk4: fourth order on the massless pendulum, and a bad step is refused") {
  Pendulum p;
  p.finish();
  const System system(p.assembly);
  // Reference: the angle alone, theta'' = -(g/L) cos(theta), by the same method with tiny steps.
  const auto angle = [](int steps) {
    State s{VectorXd::Constant(1, 0.4), VectorXd::Constant(1, 1.3), 0, {}};
    for (int i = 0; i < steps; ++i)
      s = rk4_step([](const State& x) { return VectorXd::Constant(1, -9.81 / 0.5 * std::cos(x.q[0])).eval(); }, s,
                   1.0 / steps);
    return s.q[0];
  };
  const double exact = angle(20000);
  std::vector<double> errors;
  for (const int steps : {200, 400, 800}) {
    State s = p.state(system, 0.4, 1.3);
    for (int i = 0; i < steps; ++i) s = rk4_step(system, s, 1.0 / steps);
    errors.push_back(std::abs(s.get("rod.theta") - exact));
    CHECK(s.t == doctest::Approx(1));
  }
  for (std::size_t i = 1; i < errors.size(); ++i) {
    const double order = std::log2(errors[i - 1] / errors[i]);
    CHECK(order > 3.8);
    CHECK(order < 4.4);
  }
  CHECK_THROWS_WITH_AS(rk4_step(system, p.state(system, 0, 0), std::nan("")),
                       "step 'h': is nan s; give a finite step != 0", InvalidModel);
}

TEST_CASE("a system without bodies, without rows or with the ground alone has a solution too") {
  Assembly a("empty");
  CHECK(solve(System(a), System(a).state()).a.size() == 0);
  a.add("ground", Ground{});
  const System grounded(a);
  CHECK(check_rank(grounded, grounded.evaluate(grounded.state())).ok());
  a.add("p", Particle<1>{.mass = 2});
  CHECK(solve(System(a), System(a).state()).a == VectorXd::Zero(1));
}

TEST_CASE("rank report: a thin rod and a point mass in a frame turn freely about the axes without inertia") {
  Assembly a("free");
  a.add("rod", RigidBody{.mass = 1, .inertia = Vec3<double>(0, 1, 1).asDiagonal()});
  a.add("point", RigidBody{.mass = 1, .centre = {0, 0, 1}});
  const System system(a);
  const RankReport r = check_rank(system, system.evaluate(system.state()));
  CHECK(r.rank.rank_M == 8);
  REQUIRE(r.free.size() == 4);
  std::vector<std::string> motions;
  for (const FreeDirection& f : r.free) {
    REQUIRE(f.motions.size() == 1);
    motions.push_back(f.motions[0]);
    CHECK(f.remedies == std::vector<std::string>{"give " + f.motions[0].substr(0, f.motions[0].find(' ')) +
                                                     " mass or inertia in this motion",
                                                 "hold this motion by a joint"});
  }
  std::sort(motions.begin(), motions.end());
  CHECK(motions == std::vector<std::string>{"point turns about its own x through the point (0, 0, 1)",
                                            "point turns about its own y through the point (0, 0, 1)",
                                            "point turns about its own z through its origin",
                                            "rod turns about its own x through its origin"});
}

TEST_CASE("a conflict is not hidden by a large force elsewhere, and round-off is no conflict") {
  Assembly a("tug");
  const auto p = a.add("p", Particle<1>{.mass = 1});
  const auto far = a.add("far", Particle<1>{.mass = 1e-3});
  a.apply("blast", Force{[](auto& b, const auto&) { b.apply_to("x", 1e9); }}, far);
  a.connect("one", Holonomic{[](const auto& b, const auto& t) { return b.coordinate("x") - 0.5 * t * t; }}, p);
  a.connect("two", Holonomic{[](const auto& b, const auto& t) { return b.coordinate("x") - t * t; }}, p);
  CHECK_THROWS_AS(solve(System(a), System(a).state()), ConflictingRows);

  // Two bodies on one frame, pinned together twice, spin at 10 rad/s; their angles differ by round-off.
  Assembly pair("pair");
  const auto left = pair.add("left", PlanarBody{.mass = 1, .inertia = 1});
  const auto right = pair.add("right", PlanarBody{.mass = 1, .inertia = 1});
  pair.connect("first", Pin{.on_a = {1, 0}, .on_b = {1, 0}}, left, right);
  pair.connect("second", Pin{.on_a = {0, 1}, .on_b = {0, 1}}, left, right);
  const System system(pair);
  State s = system.state();
  s.set("left", {0, 0, 0.3});
  s.set("right", {0, 0, 0.1 + 0.2});
  s.v << 0, 0, 10, 0, 0, 10;
  const RankReport r = check_rank(system, system.evaluate(s));
  CHECK(r.redundant.size() == 1);
  CHECK(r.ok());
  CHECK(solve(system, s).a.norm() < 1e-12);
}

TEST_CASE("a massless coordinate driven by a row with a round-off entry carries no force") {
  Assembly a("driver");
  const auto x = a.add("x", Particle<1>{.mass = 1});
  const auto q = a.add("q", Particle<1>{});
  a.apply("push", Force{[](auto& b, const auto&) { b.apply_to("x", 1.0); }}, x);
  a.connect("row", Holonomic{[](const auto& u, const auto& w, const auto& t) {
              return w.coordinate("x") + std::cos(std::acos(0.0)) * u.coordinate("x") - 0.5 * t * t;
            }},
            x, q);
  const System system(a);
  const Solution s = solve(system, system.state());
  CHECK(s.acceleration("x.x") == doctest::Approx(1));
  CHECK(s.acceleration("q.x") == doctest::Approx(1));
  CHECK(s.Qc.norm() < 1e-12);
}

TEST_CASE("one body may take both places of a joint") {
  Assembly a("same");
  const auto p = a.add("p", Particle<2>{.mass = 1});
  a.set_gravity({0, -9.81, 0});
  a.connect("slope", Coupling{.terms = {{0, "x", 1}, {1, "y", -1}}}, p, p);  // x = y
  const System system(a);
  const Solution s = solve(system, system.state());
  CHECK(s.acceleration("p.x") == doctest::Approx(-9.81 / 2));
  CHECK(s.acceleration("p.y") == doctest::Approx(-9.81 / 2));
}

TEST_CASE("a solution speaks the names of its system, whatever state it was asked for") {
  Pendulum p;
  p.finish();
  const System system(p.assembly);
  State s = p.state(system, 0.4, 0);
  s.names.reset();
  const Solution solution = solve(system, s);
  CHECK(solution.acceleration("rod.theta") == doctest::Approx(-9.81 / 0.5 * std::cos(0.4)));
  CHECK_THROWS_WITH_AS(solution.acceleration("tip"),
                       "coordinate 'tip': is a body of 2 coordinates; name one of them, as in body.x", InvalidModel);
  Pendulum open;
  const System free(open.assembly);
  const MotionFamily family = solve_family(free, free.evaluate(free.state()));
  CHECK_THROWS_WITH_AS(family.member(VectorXd::Zero(1)), "vector 'eta': has 1 entries; give 5, one per coordinate",
                       WrongSize);
}

TEST_CASE("a nested assembly stays where it is, and a replaced body is noticed") {
  Pendulum p;
  Assembly whole("whole");
  whole.set_gravity({0, -9.81, 0});
  const auto part = whole.add("part", p.assembly);
  Assembly& inside = whole.nested("part");
  for (int i = 0; i < 20; ++i) whole.add(fmt::format("more{}", i), p.assembly);
  CHECK(inside.name() == "pendulum");
  whole.connect("hold", Pin{.on_b = {1, 0}}, part[p.ground], part[p.rod]);
  inside.remove("hinge");
  inside.remove("rod");
  inside.add("rod", Particle<2>{.mass = 1});
  CHECK_THROWS_WITH_AS(System{whole},
                       "joint 'hold': it needs a planar_body where there is a particle now; give it a body of the same "
                       "type, with the same template arguments",
                       InvalidModel);
}

TEST_CASE("spatial accelerations and verdicts do not change with units either") {
  const auto run = [](double length, double mass) {
    Assembly a("arm");
    a.set_gravity({0, 0, -9.81 * length});
    const auto ground = a.add("ground", Ground{});
    const auto link = a.add("link", RigidBody{});  // massless
    const auto bob =
        a.add("bob", RigidBody{.mass = 3 * mass,
                               .inertia = (mass * length * length * Vec3<double>(0.1, 0.2, 0.3)).asDiagonal(),
                               .centre = {0.1 * length, 0, 0}});
    const Vec3<double> end = length * Vec3<double>(0, 0, -0.7);
    a.connect("base", Revolute{.axis_a = {0, 1, 0}, .axis_b = {0, 1, 0}}, ground, link);
    a.connect("wrist", Revolute{.on_a = end, .axis_a = {1, 1, 0}, .axis_b = {1, 1, 0}}, link, bob);
    const System system(a);
    State s = system.state();
    const auto u = quaternion_from_axis_angle({0, 1, 0}, 0.4);
    const Vec3<double> w(0, 1.5, 0), at = rotation_matrix<double>(u) * end;
    s.set("link", RigidBody::pose({0, 0, 0}, u));
    s.set("link'", RigidBody::rates(s.get_all("link"), {0, 0, 0}, w));
    s.set("bob", RigidBody::pose(at, u));
    s.set("bob'", RigidBody::rates(s.get_all("bob"), w.cross(at), w));
    const RankReport r = check_rank(system, system.evaluate(s));
    CHECK(r.ok());
    return std::pair(r.rank.values, solve(system, s).a.tail<4>().eval());
  };
  const auto [values, a] = run(1, 1);
  CHECK(a.norm() > 1);
  for (const auto& [length, mass] : {std::pair(1000.0, 1.0), {1.0, 1e-3}, {1e-6, 1e6}, {1e6, 1e-6}}) {
    const auto [v, b] = run(length, mass);
    CHECK((v - values).norm() < 1e-9);
    CHECK((a - b).norm() < 1e-11 * a.norm());
  }
}

TEST_CASE("an evaluation is refused by another system") {
  Pendulum p;
  const System one(p.assembly), two(p.assembly);
  Evaluation e = one.evaluate(one.state());
  CHECK_NOTHROW(one.evaluate(one.state(), e));
  CHECK_THROWS_WITH_AS(two.evaluate(two.state(), e),
                       "evaluation 'pendulum': it belongs to another system; take it from this system's evaluate()",
                       InvalidModel);
  for (const auto& use : {std::function([&] { check_rank(two, e); }), std::function([&] { solve(two, e); })})
    CHECK_THROWS_WITH_AS(use(), doctest::Contains("evaluation 'pendulum': it belongs to another system"), InvalidModel);
  const MatrixXd M = e.dense_M();
  CHECK(e.M(2) == M.bottomRightCorner(2, 2));
}
