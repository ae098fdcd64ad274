// Faults beside each other, and parts that hold nothing: told by name, and the same at every door.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/bodies/structure.h>
#include <mortise/diagnosis/rank_report.h>
#include <mortise/forces/functor.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/functor.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/screw.h>
#include <mortise/joints/weld.h>
#include <mortise/solve/solve.h>
#include <mortise/solve/solver.h>

namespace mortise {
namespace {

template <class F> Assembly bead(double x, double y, const F& row) {
  Assembly a("bead");
  a.set_gravity({0, -9.81, 0});
  const auto p = a.add("bead", Particle<2>{.mass = 1});
  a.place(p, {x, y});
  a.connect("ring", Holonomic{[=](const auto& b, const auto&) { return row(b.coordinate("x"), b.coordinate("y")); }},
            p);
  return a;
}

// No door gives a motion.
void check_refused_everywhere(const Assembly& a) {
  const System system(a);
  const State s = system.state();
  const RankReport report = check_model(system, s);
  CAPTURE(report.text());
  CHECK(report.has(Verdict::flat_row));
  CHECK(!report.ok());
  CHECK_THROWS_AS(solve(system, s), ConflictingRows);
  Solver solver(system);
  CHECK_THROWS_AS(solver.solve(s), ConflictingRows);
  bool finished = false;
  try {
    finished = simulate(system, s, {.duration = 0.1}).finished;
  } catch (const Error&) {  // the start is refused
  }
  CHECK(!finished);
}

// A beam of Euler and Bernoulli in its plane, without mass.
Structure beam(int elements) {
  const double h = 1.0 / elements;
  const Index n = 2 * (elements + 1);
  MatrixXd K = MatrixXd::Zero(n, n), k(4, 4);
  k << 12, 6 * h, -12, 6 * h, 6 * h, 4 * h * h, -6 * h, 2 * h * h, -12, -6 * h, 12, -6 * h, 6 * h, 2 * h * h, -6 * h,
      4 * h * h;
  for (int e = 0; e < elements; ++e) K.block(2 * e, 2 * e, 4, 4) += 1000 / (h * h * h) * k;
  Structure::Given given{.M = MatrixXd(MatrixXd::Zero(n, n)), .K = K};
  for (int i = 0; i <= elements; ++i)
    for (const char* d : {"uy", "rz"}) given.dofs.push_back({"n" + std::to_string(i), d});
  return Structure(given);
}

}  // namespace

TEST_CASE("faults: a row that is met only where its gradient vanishes is refused at every door") {
  check_refused_everywhere(bead(0, 0, [](const auto& x, const auto& y) { return x * x + y * y; }));
  check_refused_everywhere(bead(0.6, 0.8, [](const auto& x, const auto& y) {
    const auto off = x * x + y * y - 1.0;
    return off * off;
  }));
  check_refused_everywhere(bead(3e4, 4e4, [](const auto& x, const auto& y) {
    const auto off = (x * x + y * y) / 1e9 - 2.5;
    return 1e-3 * off * off;
  }));
}

TEST_CASE("faults: a row that cannot be met from where its gradient vanishes is refused at every door") {
  check_refused_everywhere(bead(0, 0, [](const auto& x, const auto& y) { return x * x + y * y - 1.0; }));
  check_refused_everywhere(bead(1, 2, [](const auto& x, const auto&) { return 1.0 + 0.0 * x; }));
}

TEST_CASE("faults: a row whose sign changes where its gradient vanishes is a singular pose, and no square") {
  const System system(bead(0, 0, [](const auto& x, const auto& y) { return x * y; }));
  const RankReport report = check_model(system, system.state());
  CAPTURE(report.text());
  REQUIRE(report.redundant.size() == 1);
  CHECK(report.redundant[0].flat == RedundantRow::Flat::here);
  CHECK(report.ok());
}

TEST_CASE("faults: all of them are told, and the others judged without the broken parts") {
  Assembly a("many");
  const auto ground = a.add("ground", Ground{});
  const auto rod = a.add("rod", PlanarBody{.mass = 0, .inertia = 0});
  a.connect("hinge", Pin{}, ground, rod);
  const auto p = a.add("p", Particle<2>{.mass = 1}), q = a.add("q", Particle<2>{.mass = 1});
  a.connect("link", Distance<2>{.length = 1}, p, q);
  a.connect("first", Distance<2>{.on_a = {3, 0}, .length = 3}, ground, p);
  a.connect("second", Distance<2>{.on_a = {3, 0}, .length = 3}, ground, p);
  a.apply("law", Force{[](auto& b, const auto&) {
            using std::sqrt;
            b.apply_to("x", sqrt(b.coordinate("x") - 1.0));
          }},
          q);
  const System system(a);
  const RankReport report = check_model(system, system.state());
  const std::string text = report.text();
  CAPTURE(text);
  std::vector<std::string> names;
  for (const Finding& f : report.findings()) names.insert(names.end(), f.names.begin(), f.names.end());
  for (const char* name : {"link", "law", "rod.theta", "second.length"})
    CHECK(std::count(names.begin(), names.end(), name) > 0);
  CHECK(text.find("its ends on 'p' and 'q' coincide") != std::string::npos);
  CHECK(text.find("without force 'law', joint 'link'") != std::string::npos);
  CHECK(report.free.size() == 1);
  CHECK(report.redundant.size() == 1);
  CHECK(report.rank.m == 4);  // the broken joint is not there
}

TEST_CASE("faults: rows of a joint that is switched off are neither counted nor redundant") {
  Assembly a("crane");
  const auto ground = a.add("ground", Ground{});
  const auto arm = a.add("arm", PlanarBody{.mass = 1, .inertia = 1});
  a.connect("hinge", Pin{}, ground, arm);
  a.connect("grip", Pin{.on_a = {1, 0}, .on_b = {1, 0}}, ground, arm);
  const System system(a);
  State s = system.state();
  CHECK(check_model(system, s).redundant.size() == 1);
  system.switch_off(s, "grip");
  const RankReport report = check_model(system, s);
  CAPTURE(report.text());
  CHECK(report.well());
  CHECK(report.rank.m == 2);
  CHECK(report.dof == 1);
}

TEST_CASE("faults: what acts on a rotor without inertia is told as its torque, whatever its coordinates") {
  const auto told = [](const auto& rotor, const auto& bearing, double torque) {
    Assembly a("motor");
    const auto ground = a.add("ground", Ground{});
    const auto body = a.add("rotor", rotor);
    a.connect("bearing", bearing, ground, body);
    if constexpr (std::is_same_v<std::decay_t<decltype(rotor)>, RigidBody>)
      a.apply("motor", Force{[=](auto& b, const auto&) { b.apply_torque(Vec3<double>(0, 0, torque)); }}, body);
    else
      a.apply("motor", Force{[=](auto& b, const auto&) { b.apply_torque(torque); }}, body);
    const System system(a);
    const RankReport report = check_model(system, system.state());
    CAPTURE(report.text());
    REQUIRE(report.free.size() == 1);
    CHECK(std::abs(report.free[0].force) == doctest::Approx(std::abs(torque)));
    CHECK(report.free[0].unit == "N m");
    CHECK(report.text().find("a torque of") != std::string::npos);
  };
  told(RigidBody{.mass = 1}, Revolute{}, 3);
  told(RigidBody{.mass = 1, .centre = {0, 0, 0.5}}, Revolute{}, -0.25);
  told(PlanarBody{.mass = 0, .inertia = 0}, Pin{}, 7);
}

TEST_CASE("faults: what is locked is told beside what moves, and the joint whose removal frees least comes first") {
  Assembly a("press");
  const auto ground = a.add("ground", Ground{});
  const auto ram = a.add("ram", RigidBody{.mass = 1, .inertia = Mat<double, 3>::Identity()});
  a.connect("screw", Screw{.pitch = 0.01}, ground, ram);
  a.connect("hinge", Revolute{}, ground, ram);
  const auto other = a.add("other", PlanarBody{.mass = 1, .inertia = 1});
  a.connect("pivot", Pin{}, ground, other);
  const System system(a);
  const RankReport report = check_model(system, system.state());
  CAPTURE(report.text());
  REQUIRE(report.locked.size() == 1);
  CHECK(report.locked[0].bodies == std::vector<std::string>{"ram"});
  CHECK(report.verdict().find("LOCKED: ram cannot move") != std::string::npos);
  CHECK(report.locked[0].remedies ==
        std::vector<std::string>{"remove hinge: 1 DOF without it", "remove screw: 1 DOF without it"});
}

TEST_CASE("faults: a joint of a rigid body with itself is refused, of a structure with itself it is not") {
  Assembly a("self");
  const auto crank = a.add("crank", PlanarBody{.mass = 1, .inertia = 1});
  CHECK_THROWS_WITH_AS(a.connect("A", Pin{.on_a = {1, 0}}, crank, crank),
                       "joint 'A': it connects body 'crank' with itself; name two bodies; the ground is one, too",
                       InvalidModel);
  const auto block = a.add("block", RigidBody{.mass = 1, .inertia = Mat<double, 3>::Identity()});
  CHECK_THROWS_AS(a.connect("B", Weld{}, block, block), InvalidModel);
  const auto point = a.add("point", Particle<2>{.mass = 1});
  CHECK_THROWS_AS(a.connect("C", Distance<2>{}, point, point), InvalidModel);
}

TEST_CASE("faults: of a massless girder that floats the rigid-body motions are indeterminate, and nothing else") {
  for (const int elements : {1, 2, 3, 4, 5, 7, 10, 16}) {
    Assembly a("girder");
    a.add("girder", beam(elements));
    const System system(a);
    const RankReport report = check_model(system, system.state());
    CAPTURE(elements);
    CHECK(std::count_if(report.implied.begin(), report.implied.end(),
                        [](const Implied& i) { return i.kind == HiddenKind::indeterminate; }) == 2);
    CHECK(static_cast<int>(report.implied.size()) == 2 * (elements + 1));
  }
}

}  // namespace mortise
