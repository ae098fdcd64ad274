// One verdict: the check, solve(), Solver and simulate() say the same of a model, at every size and however near rows
// or massless parts come to being too many or too few.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include <mortise/engine/system_rank.h>
#include <mortise/mortise.h>

#include "counts.h"
#include "quad_reference.h"
#include "random_mechanisms.h"

using namespace mortise;
using namespace mortise::testing;

namespace {

// A body on two links from points `apart` of each other to the same point of it: the closer, the nearer to one link.
Assembly links(double apart) {
  Assembly a("links");
  a.set_gravity({0, -9.81, 0});
  const auto ground = a.add("ground", Ground{});
  const auto body = a.add("b", PlanarBody{.mass = 1, .inertia = 0.1, .centre = {0.2, 0.1}});
  a.connect("l1", Distance<2>{.on_b = {0.3, 0}, .length = std::hypot(1.3, 0.2)}, ground, body);
  a.connect("l2", Distance<2>{.on_a = {0, apart}, .on_b = {0.3, 0}, .length = std::hypot(1.3, 0.2 - apart)}, ground,
            body);
  a.place(body, {1, 0.2, 0});
  return a;
}

bool has_doubts(const std::vector<std::string>& warnings) {
  return std::any_of(warnings.begin(), warnings.end(),
                     [](const std::string& w) { return w.find("nearly dependent") != std::string::npos; });
}

}  // namespace

TEST_CASE("doors: two links ever closer to each other are independent, doubtful, one: for everybody at once") {
  // Held at one point: x'' = 0, y'' = -0.3 theta'', theta'' = m g l / (J + m l^2), l = 0.1 to the left of the point,
  // and 0.1 above.  With one link the body also swings away from it.
  int independent = 0, doubtful = 0, redundant = 0;
  for (double apart = 1e-3; apart > 1e-13; apart /= 3) {
    CAPTURE(apart);
    const System system(links(apart));
    const Evaluation e = system.evaluate(system.state());
    const RankReport report = check_rank(system, e);
    CAPTURE(report.text());
    REQUIRE(report.ok());
    const bool two = report.redundant.empty(), doubt = has_doubts(report.warnings);
    two ? doubt ? ++doubtful : ++independent : ++redundant;
    const Solution s = solve(system, e);
    CHECK(has_doubts(s.warnings) == doubt);
    CHECK(s.reaction("l1").unique == two);
    Solver solver(system);
    const VectorXd a = solver.solve(system.state());
    CHECK(has_doubts(solver.warnings()) == doubt);
    const double known = doubt ? 1e-5 : 1e-8;  // round-off over the singular value, which is 2.5 times `apart`
    CHECK((a - s.a).norm() <= known * a.norm());
    const double angular = two ? 8.175 : 1.50537084;
    CHECK(a[2] == doctest::Approx(angular).epsilon(two ? known : 1e-8));
    if (two) CHECK(std::abs(a[0]) <= 10 * known);
    const Trajectory run = simulate(system, system.state(), {.duration = 0.1});
    CAPTURE(run.text());
    CHECK(run.finished);
    const auto noted = [&](const char* kind) {
      return std::any_of(run.notes.begin(), run.notes.end(), [&](const auto& n) { return n.kind == kind; });
    };
    CHECK(noted("left out") == !two);
    CHECK(noted("doubtful") == doubt);
    CHECK(run.last.get("b.theta") == doctest::Approx(two ? 0.0411519078 : 0.00662065022).epsilon(1e-6));
  }
  CHECK(independent > 5);
  CHECK(doubtful > 5);
  CHECK(redundant > 5);
}

TEST_CASE("doors: levers on levers are as nearly free among many coordinates as among few") {
  // x_i = sum of the later ones: the pivots are 1, the smallest singular value falls by 2 with every lever.
  for (const int levers : {10, 18, 25, 40})
    for (const int n : {levers, 60, 65, 199, 201, 400}) {
      if (n < levers) continue;
      CAPTURE(levers);
      CAPTURE(n);
      Assembly a("levers");
      std::vector<std::string> names;
      for (int i = 0; i < n; ++i) names.push_back(fmt::format("x{}", i));
      const auto body = a.add("s", Subsystem<>{.coordinates = names, .M = MatrixXd::Zero(n, n)});
      for (int i = 0; i < n; ++i) {
        Coupling c;
        c.terms.push_back({0, names[static_cast<std::size_t>(i)], 1});
        for (int j = i + 1; j < levers; ++j) c.terms.push_back({0, names[static_cast<std::size_t>(j)], -1});
        a.connect(fmt::format("row{}", i), c, body);
      }
      const System system(a);
      const Evaluation e = system.evaluate(system.state());
      const RankReport report = check_rank(system, e);
      const bool free = levers == 40, doubt = levers == 25;
      CHECK(report.determined() == !free);
      const auto nearly_free = [](const std::string& w) { return w.find("nearly free") != std::string::npos; };
      CHECK(std::any_of(report.warnings.begin(), report.warnings.end(), nearly_free) == doubt);
      Solver solver(system);
      if (free) {
        CHECK_THROWS_AS(solve(system, e), UnderModelled);
        CHECK_THROWS_AS(solver.solve(system.state()), UnderModelled);
      } else {
        CHECK(solve(system, e).a.isZero(1e-9));
        CHECK(solver.solve(system.state()).isZero(1e-9));
      }
    }
}

TEST_CASE("doors: a mass that its matrix hardly tells is doubtful, for the check and for solve()") {
  // M = [1 1; 1 1 + d], Q = (1, 1 + d x), so that q'' = (1 - x, x).
  constexpr double x = 3, eps = std::numeric_limits<double>::epsilon();
  int doubtful = 0, clear = 0;
  for (double d = 1e-2; d > 1e-13; d /= 10) {
    CAPTURE(d);
    const MatrixXd M = (MatrixXd(2, 2) << 1, 1, 1, 1 + d).finished();
    Assembly a("pair");
    const double inertia = M(1, 1) - 1;
    const auto force = [=](const auto& q, const auto&, const auto&) {
      auto Q = q;
      Q[0] = 1.0;
      Q[1] = 1.0 + inertia * x;
      return Q;
    };
    a.add("pair", Subsystem{.coordinates = {"x", "y"}, .M = M, .Q = force});
    const System system(a);
    const Evaluation e = system.evaluate(system.state());
    const auto told = [](const std::vector<std::string>& warnings) {
      return std::any_of(warnings.begin(), warnings.end(), [](const std::string& w) {
        return w.find("the mass matrix hardly tells the mass along pair.y") == 0;
      });
    };
    const Solution s = solve(system, e);
    const double off = std::abs(s.a[1] - x);
    CHECK(off <= 10 * eps / d * x);
    const bool doubt = told(check_rank(system, e).warnings);
    CHECK(told(s.warnings) == doubt);
    if (!doubt) CHECK(off <= 1e-7 * x);
    ++(doubt ? doubtful : clear);
  }
  CHECK(doubtful >= 4);
  CHECK(clear >= 4);
}

namespace {

// Masses over a few decades; over 24; the smallest and the largest of these in turn, with joints that are there twice;
// over 12, many of them 0.
MechanismOptions masses(unsigned seed) {
  switch (seed / kinds.size() % 4) {
    case 1:
      return {.decades = 24};
    case 2:
      return {.decades = 24, .extremes = true, .doubled = 0.1};
    case 3:
      return {.decades = 12, .extremes = true, .massless = 0.5};
    default:
      return {};
  }
}

bool names(const std::vector<std::string>& warnings, const std::string& body) {
  return std::any_of(warnings.begin(), warnings.end(), [&](const std::string& w) {
    return w.find(fmt::format("the acceleration of body '{}'", body)) == 0;
  });
}

}  // namespace

TEST_CASE("doors: the check, solve(), Solver and the first step of a run agree on random mechanisms, body by body") {
  constexpr double known = 1e-8;  // of the body's largest acceleration, unless the body is named as doubtful
  constexpr double still = 1e-3;  // of the largest of all: bodies slower than that are judged by it, or by the forces
  unsigned compared = 0, refused = 0, no_reference = 0, bodies = 0, distrusted = 0, doubtful = 0;
  for (unsigned seed = 60000; compared < many(500, 60); ++seed) {
    CAPTURE(seed);
    const Model model = build(random_mechanism(seed, masses(seed)));
    const System& system = model.system;
    const Evaluation e = system.evaluate(model.state);
    const RankReport report = check_rank(system, e);
    Solver solver(system);
    if (!report.ok()) {
      CHECK_THROWS_AS(solve(system, e), ReportedError);
      CHECK_THROWS_AS(solver.solve(model.state), ReportedError);
      ++refused;
      continue;
    }
    Solution one;
    VectorXd other;
    CHECK_NOTHROW(one = solve(system, e));
    CHECK_NOTHROW(other = solver.solve(model.state));
    if (one.a.size() == 0 || other.size() == 0) continue;
    const Reference reference = quad_reference(system, e);
    if (!reference.found) {
      ++no_reference;
      continue;
    }
    ++compared;
    const VectorXd hidden = distrust(system, e, reference);
    const double slow = still * reference.a.cwiseAbs().maxCoeff() + reference.plain_floor;
    for (const auto& b : system.bodies()) {
      if (b.size == 0) continue;
      CAPTURE(b.name);
      ++bodies;
      const auto of_body = [&](const VectorXd& x) { return x.segment(b.first, b.size).cwiseAbs().maxCoeff(); };
      const double size = of_body(reference.a) + slow;
      const bool named = names(one.warnings, b.name) && names(solver.warnings(), b.name);
      doubtful += named;
      if (of_body(hidden) > 0.1 * known * size) {
        ++distrusted;
        continue;
      }
      if (!named) CHECK(of_body(one.a - reference.a) <= known * size);
      if (!named) CHECK(of_body(other - reference.a) <= known * size);
    }
    if (report.dof == 0 || seed / kinds.size() % 4 != 0) continue;  // nothing moves, or at once by metres
    const Trajectory run = simulate(system, model.state, {.duration = 1e-6, .sample = 0});
    CAPTURE(run.text());
    CHECK(run.finished);
  }
  MESSAGE(
      fmt::format("{} mechanisms compared with 50 digits, {} of them refused by all, {} without a reference; {} "
                  "bodies, {} of them named as doubtful, {} whose own numbers are too rough",
                  compared + refused + no_reference, refused, no_reference, bodies, doubtful, distrusted));
  CHECK(refused < compared / 5);
  CHECK(no_reference < compared / 50);
  CHECK(doubtful < bodies / 10);
  CHECK(distrusted < bodies / 10);
}
