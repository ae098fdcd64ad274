// The plan of the engine: never changed once it is made, and shared by all that solve one system.

#include <thread>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <mortise/engine/engine.h>
#include <mortise/solve/solver.h>

#include "random_mechanisms.h"

using namespace mortise;
using namespace mortise::testing;

namespace {

VectorXd accelerations(Engine& engine, const State& s) {
  VectorXd a;
  engine.evaluate(s);
  engine.factor();
  REQUIRE(engine.solve() == Engine::Status::solved);
  engine.accelerations(a);
  return a;
}

}  // namespace

TEST_CASE("plan: engines of one system, and of its copies, share one while they live") {
  const Model m = build(random_mechanism(0, {.massless = 0}));
  const System copy = m.system;
  Engine a(m.system), b(m.system, 2), c(copy);
  const VectorXd alone = accelerations(a, m.state);
  CHECK(accelerations(b, m.state) == alone);
  CHECK(accelerations(c, m.state) == alone);
  CHECK(a.plan() == b.plan());
  CHECK(a.plan() == c.plan());
  static_assert(std::is_const_v<std::remove_reference_t<decltype(*a.plan())>>);

  {
    // Other massless directions on the same graph.
    const Model loose = build(random_mechanism(15, {.massless = 1}));
    Engine as_it_is(loose.system), massive(loose.system), again(loose.system);
    massive.set_all_massive();
    for (Engine* e : {&as_it_is, &massive, &again}) e->evaluate(loose.state);
    REQUIRE(as_it_is.has_massless());
    CHECK(as_it_is.plan() == again.plan());
    CHECK(as_it_is.plan() != massive.plan());
  }
}

TEST_CASE("plan: one that nobody uses is gone; the next engine makes another") {
  const Model m = build(random_mechanism(1));
  std::weak_ptr<const engine::Plan> first;
  {
    Engine engine(m.system);
    CHECK(engine.independence() == 1);  // before the first state there are no rows
    engine.evaluate(m.state);
    first = engine.plan();
    CHECK_FALSE(first.expired());
  }
  CHECK(first.expired());
  Engine engine(m.system);
  engine.evaluate(m.state);
  CHECK(engine.plan() != nullptr);
}

TEST_CASE("plan: systems with other models on the same graph have their own") {
  const Model m = build(random_mechanism(3));
  std::size_t body = 0;
  while (body < m.system.bodies().size() && !m.system.bodies()[body].model->without_mass({"body", ""})) ++body;
  REQUIRE(body < m.system.bodies().size());
  const System other = m.system.massless({body});
  Engine a(m.system), b(other);
  a.evaluate(m.state);
  b.evaluate(m.state);
  CHECK(a.plan() != b.plan());
}

TEST_CASE("plan: threads that make and share it at once find the same bits") {
  for (const unsigned seed : {0u, 4u, 7u}) {  // trees, loops, grids
    CAPTURE(seed);
    const Model m = build(random_mechanism(seed));
    VectorXd alone = Solver(m.system).solve(m.state);
    constexpr std::size_t count = 4;
    std::vector<VectorXd> found(count);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i)
      threads.emplace_back([&, i] {
        Solver solver(m.system);
        for (int k = 0; k < 5; ++k) found[i] = solver.solve(m.state);
      });
    for (std::thread& t : threads) t.join();
    for (const VectorXd& a : found) CHECK(a == alone);
  }
}
