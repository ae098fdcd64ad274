// States off the constraints: massless bodies that nothing holds beside them, and rows that touch no coordinate there.

#include <algorithm>
#include <cmath>
#include <optional>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/bodies/subsystem.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/coupling.h>
#include <mortise/joints/functor.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/weld.h>
#include <mortise/solve/solver.h>

#include "random_mechanisms.h"

using namespace mortise;
using mortise::testing::Random;

namespace {

// A chain of rods with massless nodes between, its pins off by up to 0.1 m.
Assembly rods(Random& random, int count) {
  Assembly a("rods");
  const auto ground = a.add("ground", Ground{});
  std::optional<Handle<PlanarBody>> last;
  for (int k = 0; k < count; ++k) {
    const auto rod = a.add(fmt::format("rod{}", k), PlanarBody{.mass = random.uniform(0.5, 2), .inertia = 0.1});
    a.place(rod, {k + 0.5, 0, random.uniform(-0.1, 0.1)});
    const Pin pin{.on_b = {-0.5 + random.uniform(-0.1, 0.1), random.uniform(-0.1, 0.1)}};
    if (last) {
      Pin next = pin;
      next.on_a = {0.5, 0};
      a.connect(fmt::format("pin{}", k), next, *last, rod);
    } else {
      a.connect("pin0", pin, ground, rod);
    }
    if (random.chance(0.5)) {  // held by its rows
      const auto node = a.add(fmt::format("node{}", k), Particle<2>{.mass = 0});
      a.place(node, {k + 1.0, 0.05});
      a.connect(fmt::format("end{}", k), Pin{.on_a = {0.5, 0}}, rod, node);
    }
    last = rod;
  }
  return a;
}

// Bodies without mass on no joint, and one with fewer rows than massless coordinates.
void add_loose(Assembly& a, Random& random) {
  const int kind = random.integer(0, 4);
  if (kind == 0) a.add("loose", PlanarBody{});
  if (kind == 1) a.add("loose", RigidBody{});
  if (kind == 2) a.add("loose", Particle<3>{.mass = 0});
  if (kind >= 3) {
    const int size = random.integer(1, 60);
    std::vector<std::string> names;
    for (int i = 0; i < size; ++i) names.push_back(fmt::format("x{}", i));
    MatrixXd M = MatrixXd::Zero(size, size);
    if (kind == 4) M(0, 0) = 1;
    const auto loose = a.add("loose", Subsystem<>{.coordinates = names, .M = M});
    if (random.chance(0.5)) a.connect("row", Coupling{.terms = {{0, names.back(), 1}}, .constant = -0.3}, loose);
  }
}

VectorXd of_rods(const System& system, const State& s) {
  std::vector<double> out;
  for (const auto& b : system.bodies())
    if (b.name.rfind("rod", 0) == 0)
      for (Index i = 0; i < b.size; ++i) out.push_back(s.q[b.first + i]);
  return Eigen::Map<VectorXd>(out.data(), static_cast<Index>(out.size()));
}

}  // namespace

TEST_CASE("off the constraints: massless bodies that nothing holds change nothing for the others, and are named") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Random plain(seed), more(seed), kind(1000 + seed);
    const int count = kind.integer(1, 4);
    const System alone(rods(plain, count));
    Assembly with = rods(more, count);
    add_loose(with, kind);
    const System system(with);
    State a = alone.state(), b = system.state();
    Solver(alone).project_positions(a);
    Solver(system).project_positions(b);
    CHECK((of_rods(alone, a) - of_rods(system, b)).cwiseAbs().maxCoeff() < 1e-9);
    const RankReport report = check_model(system);
    if (system.size() > alone.size() + 1) {
      REQUIRE(!report.free.empty());
      CHECK(report.free.front().parts.front().coordinate.rfind("loose.", 0) == 0);
    }
    REQUIRE(report.start);
    CHECK(report.start->reachable);
  }
}

namespace {

// The report says of a row of this joint that it is not met and touches no coordinate, as a finding of its own where
// nothing else is off; and where no state is found that meets it, runs refuse it, too.
void check_told(const Assembly& a, const std::string& joint) {
  const System system(a);
  const RankReport report = check_model(system);
  CAPTURE(report.text());
  const auto of_joint = [&](const std::string& row) { return row.rfind(joint + ".", 0) == 0; };
  const auto findings = report.findings();
  if (report.has(Verdict::flat_row)) {
    REQUIRE(findings.size() == 1);
    CHECK(of_joint(findings.front().names.front()));
    CHECK(findings.front().sentence.find("no coordinate") != std::string::npos);
    CHECK(!report.ok());
    CHECK_THROWS_AS(simulate(system, system.state(), {.duration = 0.1}), Error);
    return;
  }
  REQUIRE(report.start);
  CHECK(std::any_of(report.start->gaps.begin(), report.start->gaps.end(),
                    [&](const auto& gap) { return gap.still && of_joint(gap.row); }));
  CHECK(std::any_of(findings.begin(), findings.end(),
                    [&](const Finding& f) { return !f.names.empty() && of_joint(f.names.front()); }));
  if (report.start->reachable) return;
  CHECK(!report.ok());
  CHECK(report.text().find("no coordinate here") != std::string::npos);
  REQUIRE(!report.start->left.empty());
  CHECK(of_joint(report.start->left.front().row));
  CHECK_THROWS_AS(simulate(system, system.state(), {.duration = 0.1}), Error);
}

}  // namespace

TEST_CASE("off the constraints: a row that touches no coordinate and is not met is told, whatever else is off") {
  Random random(5);
  for (int draw = 0; draw < 30; ++draw) {
    CAPTURE(draw);
    const bool turned = random.chance(0.5), weld = random.chance(0.5);
    // Axes a quarter turn apart: the row that measures it is at its largest there.
    const MatrixXd frame = random.orthonormal(3, 3);
    const Vec3<double> z = frame.col(0), x = frame.col(1), off = random.uniform_vector(3, -0.1, 0.1);
    Assembly a("axes");
    const auto ground = a.add("ground", Ground{});
    const auto plate = a.add("plate", RigidBody{.mass = 1, .inertia = Vec3<double>(0.1, 0.2, 0.25).asDiagonal()});
    a.place(plate, RigidBody::pose({0, 0, 0.5}, {1, 0, 0, 0}));
    const Vec3<double> on = turned ? Vec3<double>(Vec3<double>(0, 0, -0.5) + off) : Vec3<double>(0, 0, -0.5);
    if (weld)
      a.connect("seat", Weld{.on_b = on, .axis_a = Axis(z, x), .axis_b = Axis(z, z.cross(x))}, ground, plate);
    else
      a.connect("seat", Revolute{.on_b = on, .axis_a = Axis(z, x), .axis_b = Axis(x, z)}, ground, plate);
    check_told(a, "seat");
  }
  for (const double size : {1e-6, 1.0, 1e6}) {
    CAPTURE(size);
    const auto ring = [=](const auto& p, const auto&) {
      return p.point(Vec2<double>(0, 0)).squaredNorm() - size * size;
    };
    Assembly a("ring");
    const auto bead = a.add("bead", Particle<2>{.mass = 1});
    a.connect("ring", Holonomic{ring}, bead);
    check_told(a, "ring");
    const auto constant = [=](const auto& p, const auto&) { return size + 0.0 * p.point(Vec2<double>(0, 0))[0]; };
    Assembly c("constant");
    const auto bob = c.add("bob", Particle<2>{.mass = 1});
    c.connect("fix", Holonomic{constant}, bob);
    check_told(c, "fix");
  }
}
