// Energies and powers come from what the solver has evaluated, and equal those of the matrices; nothing is factored for
// what is met.

#include <cmath>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <mortise/integrators/simulate.h>
#include <mortise/solve/solver.h>

#include "counts.h"
#include "random_mechanisms.h"

using namespace mortise;
using namespace mortise::testing;

namespace {

// Sums of a few hundred terms, in two orders and two sets of coordinates.
constexpr double same_to = 1e-12;

double sum_of_terms(const VectorXd& a, const VectorXd& b) { return a.cwiseAbs().dot(b.cwiseAbs()); }

// What System tells by coordinates: the sum of inputs, and what laws of joints do; and the sizes of their terms.
struct Powers {
  double input = 0, size = 0, reactions = 0, size_of_reactions = 0;
};

Powers by_matrices(const System& system, const State& s, const VectorXd& lambda, const VectorXd& friction) {
  Powers out;
  for (const Contribution& c : system.contributions(s)) {
    out.input += c.input;
    out.size += sum_of_terms(c.Q, s.v);
  }
  const Evaluation e = system.evaluate(s);
  out.input += e.C.dot(s.v);
  out.size += sum_of_terms(e.C, s.v);
  const MatrixXd A = e.dense_A();
  out.reactions = lambda.dot(A * s.v) + friction.dot(s.v);
  out.size_of_reactions = lambda.cwiseAbs().dot(A.cwiseAbs() * s.v.cwiseAbs()) + sum_of_terms(friction, s.v);
  return out;
}

}  // namespace

TEST_CASE("energies and powers of the solver equal those of the matrices, wherever it stood before") {
  int with_forces = 0, with_laws = 0;
  for (unsigned seed = 0; seed < many(150, 30); ++seed) {
    CAPTURE(seed);
    const Model model = build(random_mechanism(seed));
    const System& system = model.system;
    State s = model.state;
    Solver solver(system);
    solver.normalise(s);
    const Energy energy = solver.energy(s), expected = system.energy(s);
    const VectorXd v = s.v;
    const double T = 0.5 * v.dot(system.evaluate(s).dense_M() * v);
    CHECK(expected.kinetic == doctest::Approx(T).epsilon(same_to));
    CHECK(energy.kinetic == doctest::Approx(T).epsilon(same_to));

    const auto works = solver.works(s);
    const auto contributions = system.contributions(s);
    REQUIRE(works.size() == contributions.size());
    double stored = 0;
    for (std::size_t i = 0; i < works.size(); ++i) {
      const Contribution& c = contributions[i];
      CAPTURE(c.name);
      const double size = sum_of_terms(c.Q, s.v) + 1e-300;
      CHECK(std::abs(works[i].power - c.power) <= same_to * size);
      CHECK(std::abs(works[i].input - c.input) <= same_to * size);
      REQUIRE(works[i].potential.has_value() == c.potential.has_value());
      if (!c.potential) continue;
      CHECK(*works[i].potential == doctest::Approx(*c.potential).epsilon(same_to));
      stored += std::abs(*c.potential);
    }
    CHECK(std::abs(energy.potential - expected.potential) <= same_to * (stored + 1e-300));

    const VectorXd a = solver.solve(s);
    CHECK(solver.energy(s).total() == energy.total());  // to the last bit
    const Powers powers = by_matrices(system, s, solver.lambda(), solver.friction());
    CHECK(std::abs(solver.input(s) - powers.input) <= same_to * (powers.size + 1e-300));
    CHECK(std::abs(solver.input_by_joints(s) - powers.reactions) <= same_to * (powers.size_of_reactions + 1e-300));
    with_forces += !system.forces().empty();
    with_laws += system.evaluate(s).C.norm() > 0;

    const int factorisations = solver.factorisations();
    CHECK(solver.accelerations(s) == a);
    CHECK(solver.factorisations() == factorisations);
    State other = s;
    other.v *= 0.5;
    (void)solver.energy(other);
    CHECK(solver.accelerations(s) == a);
    CHECK(solver.energy(s).total() == energy.total());
  }
  CHECK(with_forces > 0);
  CHECK(with_laws > 0);
}

TEST_CASE("a state on the constraints is projected onto itself, and nothing is factored") {
  int tried = 0;
  for (unsigned seed = 0; seed < many(150, 30); ++seed) {
    CAPTURE(seed);
    const Model model = build(random_mechanism(seed, {.decades = 0}));
    Solver solver(model.system);
    State s = model.state;
    const auto project = [&] {
      solver.project_positions(s);
      solver.project_velocities(s);
    };
    project();
    const State before = s;
    // In units of the largest coordinate and velocity, as the projection sees it.
    const auto gaps = solver.gaps(s);
    const auto size = [](const VectorXd& x) { return x.size() ? x.cwiseAbs().maxCoeff() : 0; };
    if (size(gaps.positions) > 4e-15 * std::max(1.0, size(s.q)) ||
        size(gaps.velocities) > 4e-15 * std::max(1.0, size(s.v)))
      continue;  // rows that depend on each other, or long arms: their round-off is larger
    ++tried;
    const int factorisations = solver.factorisations();
    project();
    CHECK(solver.factorisations() == factorisations);
    CHECK(s.q == before.q);
    CHECK(s.v == before.v);
    // The factor of the velocities serves the accelerations.
    State off = s;
    off.v += 1e-6 * VectorXd::Ones(off.v.size());
    solver.project_velocities(off);
    const VectorXd a = solver.solve(off);
    Solver fresh(model.system);
    CHECK((a - fresh.solve(off)).cwiseAbs().maxCoeff() <= 1e-9 * (1 + a.cwiseAbs().maxCoeff()));
  }
  CHECK(tried >= static_cast<int>(many(150, 30)) / 2);
}

TEST_CASE("a state near the last one solved is projected by its factor, to the same places") {
  int tried = 0, saved = 0;
  for (unsigned seed = 0; seed < many(150, 30); ++seed) {
    CAPTURE(seed);
    const Model model = build(random_mechanism(seed, {.decades = 0}));
    Solver solver(model.system), fresh(model.system);
    State s = model.state;
    solver.project_positions(s);
    solver.project_velocities(s);
    try {
      (void)solver.solve(s);
    } catch (const Error&) {
      continue;  // not every one is determined
    }
    if (!solver.leave_out_dependent(s).empty() || solver.independence(s) < 1e-2) continue;
    ++tried;
    State near = s;
    near.q += 1e-6 * VectorXd::LinSpaced(near.q.size(), 1, 2);
    near.v += 1e-6 * VectorXd::LinSpaced(near.v.size(), 2, 1);
    const State given = near;
    State other = near;
    (void)solver.solve(s);
    const int before = solver.factorisations();
    solver.project_nearby(near);
    saved += solver.factorisations() <= before + 1;  // that of the velocities
    fresh.project_positions(other);
    fresh.project_velocities(other);
    const auto gaps = fresh.gaps(near);
    const double q = std::max(1.0, near.q.cwiseAbs().maxCoeff()), v = std::max(1.0, near.v.cwiseAbs().maxCoeff());
    if (gaps.positions.size() > 0) {
      CHECK(gaps.positions.cwiseAbs().maxCoeff() <= 1e-14 * q);
      CHECK(gaps.velocities.cwiseAbs().maxCoeff() <= 1e-14 * v);
    }
    // Both are nearest, up to a small share of how far they are.
    const double moved = std::max((given.q - other.q).norm(), (given.v - other.v).norm());
    CHECK((near.q - other.q).norm() <= 1e-3 * moved + 1e-13 * q);
    CHECK((near.v - other.v).norm() <= 1e-3 * moved + 1e-13 * v);
  }
  CHECK(tried > 10);
  CHECK(saved > tried / 2);
}
