// The graph of a System: what hangs together, and walks through joints.

#include <doctest/doctest.h>

#include <mortise/assembly/system_graph.h>
#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/core/errors.h>
#include <mortise/diagnosis/rank_report.h>
#include <mortise/forces/functor.h>
#include <mortise/joints/distance.h>

using namespace mortise;

namespace {

using Lists = std::vector<std::vector<std::size_t>>;

// Two grounds 0 and 1; the chain 2 - 3 - 4 from both ends on them; the pair 5 - 6, a spring between 4 and 5; 7 alone.
struct Yard {
  Assembly assembly{"yard"};
  Yard() {
    const auto g = assembly.add("g", Ground{}), h = assembly.add("h", Ground{});
    std::vector<Handle<Particle<3>>> p;
    for (int i = 2; i <= 7; ++i) p.push_back(assembly.add(fmt::format("p{}", i), Particle<3>{.mass = 1}));
    const auto link = [&](const std::string& name, const auto& a, const auto& b) {
      assembly.connect(name, Distance<3>{}, a, b);
    };
    link("c0", g, p[0]);
    link("c1", p[0], p[1]);
    link("c2", p[1], p[2]);
    link("c3", p[2], h);
    link("c4", p[3], p[4]);
    link("c5", p[0], p[2]);
    assembly.apply("spring", Force{[](auto&, auto&, const auto&) {}}, p[2], p[3]);
  }
};

}  // namespace

TEST_CASE("graph of a system: components, constraints on bodies, numbers of coordinates and rows") {
  Yard yard;
  yard.assembly.add("turning", RigidBody{.mass = 1, .inertia = Mat<double, 3>::Identity()});  // with a row of its own
  const System system(yard.assembly);
  const SystemGraph& graph = system.graph();
  REQUIRE(system.bodies().size() == 9);
  const auto constraint = [&](const std::string& name) {
    for (std::size_t i = 0; i < system.constraints().size(); ++i)
      if (system.constraints()[i].name == name) return i;
    return std::size_t{999};
  };
  const auto& parts = graph.components();
  CHECK(parts.count == 4);
  CHECK(parts.of_constraint[constraint("c0")] == parts.of_constraint[constraint("c3")]);
  CHECK(parts.of_constraint[constraint("c4")] != parts.of_constraint[constraint("c0")]);
  CHECK(parts.of_constraint[constraint("c4")] == parts.of_body[5]);
  CHECK(parts.of_body[5] == parts.of_body[6]);
  CHECK(parts.of_body[2] == parts.of_body[4]);
  CHECK(parts.of_body[7] != parts.of_body[8]);
  CHECK(parts.of_constraint[constraint("turning")] == parts.of_body[8]);

  std::vector<std::string> on;
  for (const unsigned i : graph.constraints_on(2)) on.push_back(system.constraints()[i].name);
  CHECK(on == std::vector<std::string>{"c0", "c1", "c5"});
  CHECK(graph.constraints_on(7).empty());

  for (std::size_t k = 0; k < system.bodies().size(); ++k)
    for (Index i = 0; i < system.bodies()[k].size; ++i) CHECK(system.body_of(system.bodies()[k].first + i) == k);
  for (std::size_t k = 0; k < system.constraints().size(); ++k)
    for (Index i = 0; i < system.constraints()[k].rows; ++i)
      CHECK(system.constraint_of(system.constraints()[k].row + i) == k);
}

TEST_CASE("graph of a system: groups of some bodies, and what is around some") {
  const System system(Yard().assembly);
  const SystemGraph& graph = system.graph();
  using By = SystemGraph::By;
  const auto all = [](std::size_t) { return true; };
  CHECK(graph.groups(all, By::constraints) == Lists{{2, 3, 4}, {5, 6}, {7}});
  CHECK(graph.groups(all, By::constraints_and_forces) == Lists{{2, 3, 4, 5, 6}, {7}});
  const auto ends = [](std::size_t i) { return i == 3 || i == 5 || i == 4 || i == 6; };
  CHECK(graph.groups(ends, By::constraints) == Lists{{3, 4}, {5, 6}});
  const auto apart = [](std::size_t i) { return i == 3 || i == 5; };
  CHECK(graph.groups(apart, By::constraints_and_forces) == Lists{{3}, {5}});

  // From body 3 through nothing else: its two links and their other ends.  Through 4 as well: to the ground h.
  const auto none = [](std::size_t) { return false; };
  const System::Selection near = graph.around({3}, none);
  CHECK(near.bodies == std::vector<std::size_t>{2, 3, 4});
  CHECK(near.constraints == std::vector<std::size_t>{1, 2});
  const System::Selection more = graph.around({3}, [](std::size_t i) { return i == 4; });
  CHECK(more.bodies == std::vector<std::size_t>{1, 2, 3, 4});
  CHECK(more.constraints == std::vector<std::size_t>{1, 2, 3, 5});
}

TEST_CASE("graph of a system: loops through bodies and through the ground, which is one") {
  const System system(Yard().assembly);
  const SystemGraph& graph = system.graph();
  const std::size_t ground = SystemGraph::ground;
  CHECK(graph.loops().size() == 2);
  for (const auto& walk : graph.loops()) {
    CHECK(walk.size() % 2 == 0);
    for (std::size_t i = 0; i < walk.size(); i += 2)  // each joint acts on the bodies beside it
      for (const std::size_t body : {walk[i + 1], walk[i == 0 ? walk.size() - 1 : i - 1]}) {
        const auto& of = system.constraints()[walk[i]].bodies;
        CHECK(std::any_of(of.begin(), of.end(), [&](std::size_t b) { return b == body || (body == ground && b < 2); }));
      }
  }
  CHECK(graph.loop({1, 2, 5}, 5) == SystemGraph::Walk{1, 2, 5, 4, 2, 3});
  CHECK(graph.loop({0, 3, 5}, 0) == SystemGraph::Walk{0, 2, 5, 4, 3, ground});
  CHECK(graph.loop({0, 1, 2, 3, 5}, 3) == SystemGraph::Walk{0, 2, 5, 4, 3, ground});  // the shorter one
  CHECK(graph.loop({0, 1, 2}, 1).empty());
}

TEST_CASE("graph of a system: shared by copies, made anew with more constraints") {
  const System system(Yard().assembly);
  const System copy = system;
  CHECK(&copy.graph() == &system.graph());
  const System more = system.with({system.constraints().back()});
  CHECK(more.graph().constraints_on(2).size() == system.graph().constraints_on(2).size() + 1);
}

TEST_CASE("errors carry what their text is made of") {
  try {
    Label{"body", "rod"}.fail<NotSymmetric>("the fact; it has two halves", "the remedy");
  } catch (const InvalidMass& error) {
    CHECK(error.parts().kind == "body");
    CHECK(error.parts().name == "rod");
    CHECK(error.parts().fact == "the fact; it has two halves");
    CHECK(error.parts().remedy == "the remedy");
    CHECK(std::string(error.what()) == "body 'rod': the fact; it has two halves; the remedy");
  }
}
