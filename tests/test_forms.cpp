// The published forms and the Solver against quadruple precision, on the same doubles: a chain of heavy and light rods,
// random mechanisms with singular mass matrices, random plain systems.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/core/fundamental.h>
#include <mortise/joints/pin.h>
#include <mortise/solve/solve.h>
#include <mortise/solve/solver.h>

#include "counts.h"
#include "quad_reference.h"
#include "random_mechanisms.h"

using namespace mortise;
using namespace mortise::testing;

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

const unsigned mechanism_count = many(600, 60);

using Named = std::pair<std::string, VectorXd>;

// Accelerations by every form that applies to a determined system.
std::vector<Named> accelerations(const Equations& e) {
  std::vector<Named> forms{{"udwadia_phohomsiri", udwadia_phohomsiri(e).smallest.a},
                           {"udwadia_schutte", udwadia_schutte(e).a},
                           {"udwadia_mogharabin", udwadia_mogharabin(e).a}};
  if (e.massless && e.massless->N0.cols() > 0) return forms;
  if (numerical_rank(e).rank_M < e.M.rows()) return forms;
  forms.emplace_back("udwadia_kalaba", udwadia_kalaba(e).a);
  forms.emplace_back("extended_dalembert", extended_dalembert(e).a);
  return forms;
}

// Six rods of 1 m, pinned one to the next and to the ground, of 1 kg and mu kg in turn; each pin may be there twice.
struct Chain {
  static constexpr int rods = 6;
  System system;
  State state;

  Chain(double mu, bool doubled) : system(assembled(mu, doubled)), state(system.state()) {
    Vec2<double> end(0, 0), speed(0, 0);
    for (int i = 0; i < rods; ++i) {
      const double theta = -0.3 - 0.4 * i, rate = 1 - 0.3 * i;
      const Vec2<double> along(std::cos(theta), std::sin(theta)), across(-along[1], along[0]);
      state.q.segment<3>(3 * i) << end, theta;
      state.v.segment<3>(3 * i) << speed, rate;
      end += along;
      speed += rate * across;
    }
  }

  // Per rod, relative to its own acceleration: in a norm over all, light rods do not show.
  static double error(const VectorXd& a, const VectorXd& expected) {
    double worst = 0;
    for (int i = 0; i < rods; ++i) {
      const Vec3<double> x = expected.segment<3>(3 * i);
      worst = std::max(worst, (a.segment<3>(3 * i) - x).norm() / x.norm());
    }
    return worst;
  }

 private:
  static Assembly assembled(double mu, bool doubled) {
    Assembly chain("chain");
    chain.set_gravity({0, -9.81, 0});
    const auto ground = chain.add("ground", Ground{});
    std::optional<Handle<PlanarBody>> last;
    for (int i = 0; i < rods; ++i) {
      const double m = i % 2 == 0 ? 1 : mu;
      const auto rod = chain.add(fmt::format("rod{}", i), PlanarBody{.mass = m, .inertia = m / 12, .centre = {0.5, 0}});
      for (int k = 0; k < (doubled ? 2 : 1); ++k) {
        const std::string name = fmt::format("pin{}_{}", i, k);
        if (last)
          chain.connect(name, Pin{.on_a = {1, 0}}, *last, rod);
        else
          chain.connect(name, Pin{}, ground, rod);
      }
      last = rod;
    }
    return chain;
  }
};

}  // namespace

TEST_CASE("a chain of heavy and light rods: every form is right in every rod, over 29 decades of masses") {
  // Residuals in long double make up for kappa, up to 7e15 here: what is left is the rounding of the result.  solve()
  // is not refined so far: it stops where less than 1e-9 of each body's motion can be round-off.
  constexpr double round_off = 16 * eps, known = 1e-12;
  for (const bool doubled : {false, true})
    for (const double mu : {1e-15, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-3, 1e3, 1e6, 1e8, 1e10, 1e12, 1e14}) {
      CAPTURE(doubled);
      CAPTURE(mu);
      const Chain chain(mu, doubled);
      const Evaluation e = chain.system.evaluate(chain.state);
      const Reference reference = quad_reference(chain.system, e);
      REQUIRE(reference.found);
      const Equations equations = chain.system.equations(e);
      std::vector<Named> all = accelerations(equations);
      REQUIRE(all.size() == 5);
      for (const double alpha : {1e-3, 1e3})
        all.emplace_back(fmt::format("alpha = {}", alpha), udwadia_schutte(equations, {.alpha = alpha}).a);
      CHECK(Chain::error(solve(chain.system, e).a, reference.a) < known);
      for (const auto& [name, a] : all) {
        CAPTURE(name);
        CHECK(Chain::error(a, reference.a) < round_off);
      }
    }
}

TEST_CASE("Solver and the forms agree on random mechanisms, most of them with singular M") {
  // M = 4 E'JE is singular to round-off only, and rows that repeat others agree to round-off: kappa eps, with a factor
  // for the size of the system, is what the doubles tell.
  constexpr double hopeless = 1e13;
  const auto tolerance = [](double kappa) { return kappa <= 1e4 ? 1e-12 : 100 * kappa * eps; };
  Worst error;
  std::string refused;
  unsigned compared = 0, singular = 0, regular = 0, redundant = 0, skipped = 0;
  for (unsigned seed = 60000; compared < mechanism_count; ++seed) {
    CAPTURE(seed);
    const Model model = build(random_mechanism(seed, {.doubled = 0.1, .large = false}));
    const Evaluation e = model.system.evaluate(model.state);
    if (!check_rank(model.system, e).ok()) continue;
    const Reference reference = quad_reference(model.system, e);
    if (!reference.found || reference.kappa > hopeless) {
      ++skipped;
      continue;
    }
    const Equations equations = model.system.equations(e);
    try {
      auto all = accelerations(equations);
      (all.size() == 3 ? singular : regular) += 1;
      all.emplace_back("Solver", Solver(model.system).solve(model.state));
      for (const auto& [name, a] : all) error.take(reference.error(a) / tolerance(reference.kappa), seed);
    } catch (const Error& thrown) {
      refused += fmt::format("{} (kappa {:.1e}): {}\n", seed, reference.kappa, thrown.what());
    }
    ++compared;
    redundant += reference.dependent > 0;
  }
  CAPTURE(error.seed);
  CHECK(error.value <= 1);  // in shares of tolerance(kappa)
  CHECK(refused == "");
  CHECK(skipped <= mechanism_count / 20);
  CHECK(singular > mechanism_count / 3);
  CHECK(regular > mechanism_count / 20);
  CHECK(redundant > mechanism_count / 5);
}

TEST_CASE("the forms agree with quadruple precision on random plain systems in random units") {
  // Their KKT matrices have conditions up to 1e4 before units; M is singular to round-off only.
  constexpr double tolerance = 1e-12;
  Worst error;
  unsigned compared = 0, singular = 0;
  for (unsigned seed = 70000; compared < mechanism_count; ++seed) {
    const RandomEquations s = random_equations(seed, {.deficient = 0});
    const Reference reference = quad_reference(s.e);
    if (!reference.found) continue;
    ++compared;
    const auto all = accelerations(s.e);
    singular += all.size() == 3;
    for (const auto& [name, a] : all) error.take(reference.error(a), seed);
  }
  CAPTURE(error.seed);
  CHECK(error.value < tolerance);
  CHECK(singular > mechanism_count / 3);
}
