// Bodies that are welded together are solved as one, and nothing shows it: all results are those of single bodies.

#include <cmath>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <mortise/mortise.h>

#include "counts.h"

using namespace mortise;

namespace {

// Two ways to the same numbers, in other unknowns.
constexpr double same_to = 1e-10;

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  double between(double a, double b) { return std::uniform_real_distribution<double>(a, b)(random_); }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  bool chance(double p) { return between(0, 1) < p; }
  Vec3<double> vector(double size) { return {between(-size, size), between(-size, size), between(-size, size)}; }
  Vec2<double> flat(double size) { return {between(-size, size), between(-size, size)}; }

 private:
  std::mt19937 random_;
};

struct Model {
  System system;
  State state;
  int welds = 0;
};

// Bodies and joints of space and of the plane by the same names.
struct InSpace {
  using Body = RigidBody;
  using WeldOf = Weld;
  static constexpr int D = 3;
  static RigidBody body(Draw& r, double m) {
    RigidBody b{.mass = m, .centre = r.chance(0.5) ? r.vector(0.3) : Vec3<double>::Zero()};
    const Vec3<double> d = r.vector(0.4), J(r.between(0.05, 0.1), r.between(0.05, 0.1), r.between(0.05, 0.1));
    b.inertia = m * (J.asDiagonal().toDenseMatrix() + d.squaredNorm() * Mat<double, 3>::Identity() - d * d.transpose());
    return b;
  }
  static Vec<double, 7> place(Draw& r) {
    const bool turned = r.chance(0.7);
    return RigidBody::pose(r.vector(1), turned ? quaternion_from_axis_angle(r.vector(1), r.between(0, 3))
                                               : Quaternion<double>(1, 0, 0, 0));
  }
  static Vec3<double> point(Draw& r) { return r.vector(1); }
  static void connect(Assembly& a, Draw& r, const std::string& name, const auto& x, const auto& y, bool laws) {
    const Vec3<double> p = r.vector(1);
    const Axis axis(r.vector(1));
    const int kind = r.below(laws ? 5 : 3);
    if (kind == 0) return a.connect(name, at_world<Spherical>(p), x, y);
    if (kind == 1) return a.connect(name, at_world<Universal>(p, Axis(axis.across_1), Axis(axis.across_2)), x, y);
    if (kind < 4) {
      a.connect(name, at_world<Revolute>(p, axis), x, y);
      if (kind == 3)
        a.connect(name + "_drive", at_world<DriveAngle>(axis, Function([](const auto& t) { return 0.3 * t * t; })), x,
                  y);
      return;
    }
    a.connect(name, at_world<Spherical>(p), x, y);
    a.connect(name + "_blade", SpatialKnifeEdge{.point = r.vector(0.3), .normal = Axis(r.vector(1))}, y);
  }
};
struct InPlane {
  using Body = PlanarBody;
  using WeldOf = PlanarWeld;
  static constexpr int D = 2;
  static PlanarBody body(Draw& r, double m) {
    return {.mass = m, .inertia = m * r.between(0.05, 0.2), .centre = r.chance(0.5) ? r.flat(0.3) : Vec2<double>(0, 0)};
  }
  static Vec3<double> place(Draw& r) { return {r.between(-1, 1), r.between(-1, 1), r.between(-4, 4)}; }
  static Vec2<double> point(Draw& r) { return r.flat(1); }
  static void connect(Assembly& a, Draw& r, const std::string& name, const auto& x, const auto& y, bool laws) {
    const Vec2<double> p = r.flat(1);
    const int kind = r.below(laws ? 4 : 2);
    if (kind == 0) return a.connect(name, at_world<Slider>(p, PlanarAxis(r.flat(1))), x, y);
    a.connect(name, at_world<Pin>(p), x, y);
    if (kind == 2) a.connect(name + "_blade", KnifeEdge{.point = r.flat(0.3), .axis = PlanarAxis(r.flat(1))}, y);
  }
};

// A tree of bodies with welds among its joints, some of them massless, some very light, drives, blades and springs.
template <class In> Model draw(unsigned seed, bool laws = true) {
  Draw r(seed);
  Assembly a("tree");
  a.set_gravity(r.vector(9));
  const auto ground = a.add("ground", Ground{});
  const int n = 3 + r.below(8);
  std::vector<decltype(a.add("", typename In::Body{}))> bodies;
  std::vector<bool> heavy;  // with mass by itself or by a weld
  int welds = 0;
  for (int i = 0; i < n; ++i) {
    const int parent = r.below(i + 1) - 1;
    const auto on = static_cast<std::size_t>(std::max(parent, 0));
    const bool weld = r.chance(0.45);
    const bool massless = weld && (parent < 0 || heavy[on]) && r.chance(0.3);
    typename In::Body b = In::body(r, r.chance(0.1) ? 1e-5 : r.between(0.1, 3));
    if (massless) b = b.without_mass();
    bodies.push_back(a.add(fmt::format("b{}", i), b));
    a.place(bodies.back(), In::place(r));
    heavy.push_back(true);
    const std::string name = fmt::format("j{}", i);
    const auto join = [&](const auto& to) {
      if (!weld) return In::connect(a, r, name, to, bodies.back(), laws);
      ++welds;
      if (r.chance(0.5))
        a.connect(name, at_world<typename In::WeldOf>(In::point(r)), bodies.back(), to);
      else
        a.connect(name, at_world<typename In::WeldOf>(In::point(r)), to, bodies.back());
    };
    if (parent < 0)
      join(ground);
    else
      join(bodies[on]);
    if (i > 0 && r.chance(0.4))
      a.apply(fmt::format("spring{}", i),
              Spring<In::D>{.on_a = In::point(r), .on_b = In::point(r), .stiffness = r.between(1, 20), .damping = 0.3},
              bodies[static_cast<std::size_t>(r.below(i))], bodies.back());
  }
  Model out{System(a), {}, welds};
  out.state = out.system.state();
  Draw speeds(seed + 1000);
  for (double& v : out.state.v) v = speeds.between(-1, 1);
  return out;
}

double difference(const VectorXd& a, const VectorXd& b) {
  if (a.size() == 0) return 0;
  return (a - b).cwiseAbs().maxCoeff() / std::max(1e-3, b.cwiseAbs().maxCoeff());
}

// Counts the models in which something was merged.
template <class In> int compare(unsigned count) {
  int merged = 0;
  for (unsigned seed = 0; seed < count; ++seed) {
    CAPTURE(seed);
    Model m = draw<In>(seed);
    Solver one(m.system), single(m.system, {.merge_welded = false});
    State s = m.state, other = m.state;
    one.project_positions(s), one.project_velocities(s);
    single.project_positions(other), single.project_velocities(other);
    CHECK(difference(s.q, other.q) == 0);
    CHECK(difference(s.v, other.v) == 0);
    const VectorXd a = single.solve(s);
    CHECK(difference(one.solve(s), a) < same_to);
    CHECK(difference(one.lambda(), single.lambda()) < same_to);
    CHECK((one.phi() - single.phi()).cwiseAbs().maxCoeff() < 1e-13);
    CHECK((one.rate() - single.rate()).cwiseAbs().maxCoeff() < 1e-13);
    CHECK(one.energy(s).kinetic == doctest::Approx(single.energy(s).kinetic).epsilon(same_to));
    CHECK(one.energy(s).potential == doctest::Approx(single.energy(s).potential).epsilon(same_to));
    CHECK((one.momentum().linear - single.momentum().linear).norm() < same_to);
    CHECK((one.momentum().angular - single.momentum().angular).norm() < same_to);
    CHECK(std::abs(one.input(s) - single.input(s)) < same_to * (1 + std::abs(single.input(s))));
    CHECK(std::abs(one.input_by_joints(s) - single.input_by_joints(s)) < same_to * (1 + a.cwiseAbs().maxCoeff()));
    CHECK(one.unique() == single.unique());
    VectorXd force = VectorXd::Random(m.system.size());
    CHECK(difference(one.response(force), single.response(force)) < same_to);
    merged += one.merged() > 0;
    // Off the welds: as ever.
    State off = s;
    off.q += 1e-3 * VectorXd::Random(off.q.size());
    one.normalise(off);
    one.stabilise(3), single.stabilise(3);
    CHECK(difference(one.solve(off), single.solve(off)) == 0);
    CHECK(one.merged() == 0);
  }
  return merged;
}

}  // namespace

TEST_CASE("rigid groups: accelerations, reactions and energies are those of single bodies, in space") {
  const unsigned count = many(150, 20);
  CHECK(compare<InSpace>(count) > 0.7 * count);
}
TEST_CASE("rigid groups: accelerations, reactions and energies are those of single bodies, in the plane") {
  const unsigned count = many(150, 20);
  CHECK(compare<InPlane>(count) > 0.7 * count);
}

namespace {

Trajectory run(const Model& m, bool merge, const std::string& integrator, double baumgarte = 0,
               std::vector<Event> events = {}) {
  SimulationOptions o{.duration = 0.1, .integrator = integrator, .steps = {.tolerance = 1e-12}, .sample = 0.05};
  if (integrator == "rk4") o.steps.step = 1e-3;
  o.steps.baumgarte = baumgarte;
  o.solver.merge_welded = merge;
  o.events = std::move(events);
  return simulate(m.system, m.state, o);
}

template <class In> void compare_runs(unsigned count) {
  for (unsigned seed = 0; seed < count; ++seed) {
    CAPTURE(seed);
    Model m = draw<In>(seed);
    const Trajectory one = run(m, true, "dopri5"), single = run(m, false, "dopri5");
    REQUIRE_MESSAGE(single.finished, single.stopped);
    REQUIRE_MESSAGE(one.finished, one.stopped);
    CHECK(difference(one.last.q, single.last.q) < same_to);
    CHECK(difference(one.last.v, single.last.v) < same_to);
    for (const auto& d : one.drift) CHECK(d.largest < 1e-12);
  }
}

}  // namespace

TEST_CASE("rigid groups: runs are those of single bodies") {
  compare_runs<InSpace>(many(25, 4));
  compare_runs<InPlane>(many(25, 4));
}

// What welds are off by is none of the corrections' business: with it no correction would be found good.
TEST_CASE("rigid groups: a state near the last one is brought onto the constraints by the factor that is there") {
  int tried = 0, saved = 0;
  for (unsigned seed = 0; seed < many(40, 15); ++seed) {
    CAPTURE(seed);
    const Model m = draw<InSpace>(seed, false);
    Solver solver(m.system, {.merge_welded = false});
    State s = consistent(m.system, m.state);
    if (!solver.leave_out_dependent(s).empty()) continue;
    solver.hold_welds(s);
    (void)solver.solve(s);
    if (solver.merged() == 0 || solver.independence() < 1e-2) continue;
    ++tried;
    State near = s;
    near.q += 1e-7 * VectorXd::LinSpaced(near.q.size(), 1, 2);
    near.v += 1e-7 * VectorXd::LinSpaced(near.v.size(), 2, 1);
    const int before = solver.factorisations();
    solver.project_nearby(near);
    saved += solver.factorisations() <= before + 1;
    const auto gaps = solver.gaps(near);
    CHECK(gaps.positions.cwiseAbs().maxCoeff() < 1e-13);
    CHECK(gaps.velocities.cwiseAbs().maxCoeff() < 1e-13 * std::max(1.0, near.v.cwiseAbs().maxCoeff()));
    CHECK((near.q - s.q).cwiseAbs().maxCoeff() < 1e-4);
  }
  CHECK(tried > 5);
  CHECK(saved > tried / 2);
}

TEST_CASE("rigid groups: runs with fixed steps and with Baumgarte's are those of single bodies") {
  for (unsigned seed : {0u, 2u, 4u}) {
    CAPTURE(seed);
    const Model m = draw<InSpace>(seed, false);
    {
      const Trajectory one = run(m, true, "rk4"), single = run(m, false, "rk4");
      REQUIRE_MESSAGE(one.finished, one.stopped);
      CHECK(difference(one.last.q, single.last.q) < 1e-8);  // of the method: stages are off the constraints
    }
    const Trajectory one = run(m, true, "dopri5", 20), single = run(m, false, "dopri5", 20);
    REQUIRE_MESSAGE(one.finished, one.stopped);
    CHECK(difference(one.last.q, single.last.q) < 1e-9);
  }
}

TEST_CASE("rigid groups: a weld that an event switches off lets go") {
  Assembly a("rocket");
  a.set_gravity({0, 0, -9.81});
  const auto ground = a.add("ground", Ground{});
  const auto arm = a.add("arm", RigidBody{.mass = 2, .inertia = Vec3<double>(0.2, 0.2, 0.1).asDiagonal()});
  const auto tip = a.add("tip", RigidBody{.mass = 1, .inertia = Vec3<double>(0.02, 0.03, 0.01).asDiagonal()});
  const auto cap = a.add("cap", RigidBody{.mass = 1e-3, .inertia = 1e-5 * Mat<double, 3>::Identity()});
  a.place(arm, RigidBody::pose({0.5, 0, 0}, {1, 0, 0, 0}));
  a.place(tip, RigidBody::pose({1, 0, 0}, {1, 0, 0, 0}));
  a.place(cap, RigidBody::pose({1.2, 0, 0.1}, {1, 0, 0, 0}));
  a.connect("pivot", at_world<Revolute>(Vec3<double>(0, 0, 0), Axis(0, 1, 0)), ground, arm);
  a.connect("bolt", at_world<Weld>(Vec3<double>(0.8, 0, 0)), arm, tip);
  a.connect("glue", at_world<Weld>(Vec3<double>(1.1, 0, 0)), tip, cap);
  Model m{System(a), {}};
  m.state = m.system.state();
  Event e{.name = "burst",
          .value = [](const State& s) { return s.t - 0.05; },
          .change = [&](State& s) { m.system.switch_off(s, "bolt"); }};
  const Trajectory one = run(m, true, "dopri5", 0, {e}), single = run(m, false, "dopri5", 0, {e});
  REQUIRE_MESSAGE(one.finished, one.stopped);
  CHECK(one.last.off == single.last.off);
  CHECK(one.last.off.size() == 1);
  CHECK(difference(one.last.q, single.last.q) < same_to);
  CHECK(difference(one.last.v, single.last.v) < same_to);
  // One by one: merged with both welds, with one, and again with both.
  Solver solver(m.system), plain(m.system, {.merge_welded = false});
  State s = m.state, off = m.state;
  m.system.switch_off(off, "bolt");
  for (const auto& [at, count] : {std::pair{s, 3u}, {off, 2u}, {s, 3u}}) {
    CHECK(difference(solver.solve(at), plain.solve(at)) < same_to);
    CHECK(difference(solver.lambda(), plain.lambda()) < same_to);
    CHECK(solver.merged() == count);
  }
  // Reactions are those of the state last solved, also if the solver has been elsewhere.
  (void)solver.solve(s);
  const VectorXd lambda = solver.lambda();
  (void)solver.solve(s);
  State elsewhere = s;
  elsewhere.q[0] += 0.1;
  (void)solver.gaps(elsewhere);
  (void)solver.independence(off);
  CHECK(difference(solver.lambda(), lambda) == 0);
}

TEST_CASE("rigid groups: masses of 1e12 to 1 in one group") {
  for (const double light : {1e-12, 1e-6, 1.0, 1e6}) {
    CAPTURE(light);
    Assembly a("flag");
    a.set_gravity({0, -9.81, 0});
    const auto ground = a.add("ground", Ground{});
    const auto pole = a.add("pole", PlanarBody{.mass = 1e6, .inertia = 1e5});
    const auto flag = a.add("flag", PlanarBody{.mass = light, .inertia = light / 10, .centre = {0.2, 0.1}});
    const auto bob = a.add("bob", PlanarBody{.mass = 1, .inertia = 0.1});
    a.place(pole, {0.5, 0.1, 0.3});
    a.place(flag, {0.9, 0.6, -0.7});
    a.place(bob, {1.5, 0.2, 0});
    a.connect("foot", at_world<Pin>(Vec2<double>(0, 0)), ground, pole);
    a.connect("seam", at_world<PlanarWeld>(Vec2<double>(0.7, 0.3)), pole, flag);
    a.connect("string", at_world<Pin>(Vec2<double>(1.1, 0.5)), flag, bob);
    const System system(a);
    State s = system.state();
    s.v.setConstant(0.3);
    Solver solver(system), plain(system, {.merge_welded = false});
    solver.project_velocities(s);
    CHECK(difference(solver.solve(s), plain.solve(s)) < same_to);
    CHECK(difference(solver.lambda(), plain.lambda()) < same_to);
    CHECK(solver.merged() == 2);
  }
}

TEST_CASE("rigid groups: what is not one body is not merged") {
  const auto body = RigidBody{.mass = 1, .inertia = 0.1 * Mat<double, 3>::Identity()};
  Assembly a("frame");
  a.set_gravity({0, 0, -9.81});
  const auto ground = a.add("ground", Ground{});
  const auto x = a.add("x", body), y = a.add("y", body), z = a.add("z", body);
  a.place(x, RigidBody::pose({1, 0, 0}, {1, 0, 0, 0}));
  a.place(y, RigidBody::pose({2, 0, 0}, {1, 0, 0, 0}));
  a.place(z, RigidBody::pose({2, 1, 0}, {1, 0, 0, 0}));
  a.connect("hinge", at_world<Revolute>(Vec3<double>(0, 0, 0), Axis(0, 1, 0)), ground, x);
  const auto weld = [&](const char* name, const auto& b, const auto& c) {
    a.connect(name, at_world<Weld>(Vec3<double>(1.5, 0, 0)), b, c);
  };
  weld("xy", x, y);
  SUBCASE("a loop of welds: its rows are redundant, and told so") {
    weld("yz", y, z);
    weld("zx", z, x);
    const System system(a);
    Solver solver(system), plain(system, {.merge_welded = false});
    CHECK(difference(solver.solve(system.state()), plain.solve(system.state())) < same_to);
    CHECK(solver.unique() == plain.unique());
    CHECK_FALSE(solver.unique()[static_cast<std::size_t>(system.constraints()[system.joint("zx")].row)]);
    CHECK(difference(solver.lambda(), plain.lambda()) < same_to);
    CHECK(check_rank(system, system.evaluate(system.state())).redundant.size() == 6);
  }
  SUBCASE("welds with a start off them: as ever, also drawn back") {
    weld("yz", y, z);
    const System system(a);
    State s = system.state();
    s.q[system.bodies()[3].first] += 1e-6;
    for (const double rate : {0.0, 10.0}) {
      Solver solver(system), plain(system, {.merge_welded = false});
      solver.stabilise(rate), plain.stabilise(rate);
      CHECK(difference(solver.solve(s), plain.solve(s)) == 0);
      CHECK(solver.merged() == 0);
      solver.project_positions(s);
      solver.stabilise(0), plain.stabilise(0);
      CHECK(difference(solver.solve(s), plain.solve(s)) < same_to);
      CHECK(solver.merged() == 3);
    }
  }
  SUBCASE("a joint beside the weld") {
    weld("yz", y, z);
    a.connect("extra", at_world<Spherical>(Vec3<double>(1.5, 0, 0)), x, y);
    const System system(a);
    Solver solver(system), plain(system, {.merge_welded = false});
    CHECK(difference(solver.solve(system.state()), plain.solve(system.state())) < same_to);
    CHECK(solver.merged() == 0);
  }
  SUBCASE("half a turn off, where the rows of a weld in the plane are met, too") {
    Assembly flat("flat");
    flat.set_gravity({0, -9.81, 0});
    const auto g = flat.add("ground", Ground{});
    const auto p = flat.add("p", PlanarBody{.mass = 1, .inertia = 1}),
               r = flat.add("r", PlanarBody{.mass = 1, .inertia = 1});
    flat.connect("pin", Pin{.on_b = {-1, 0}}, g, p);
    flat.connect("weld", PlanarWeld{.on_a = {1, 0}}, p, r);
    flat.place(p, {1, 0, 0});
    flat.place(r, {2, 0, std::acos(-1.0)});
    const System system(flat);
    Solver solver(system), plain(system, {.merge_welded = false});
    CHECK(difference(solver.solve(system.state()), plain.solve(system.state())) < same_to);
    CHECK(solver.merged() == 0);
    const Model m{system, system.state()};
    const Trajectory one = run(m, true, "dopri5"), single = run(m, false, "dopri5");
    REQUIRE_MESSAGE(one.finished, one.stopped);
    CHECK(difference(one.last.q, single.last.q) < same_to);
  }
}
