// What forces on massless parts imply: equations that the model hides, directions that nothing decides, and forces that
// nothing can balance.

#include "cases.h"

#include <mortise/bodies/structure.h>
#include <mortise/bodies/subsystem.h>
#include <mortise/forces/coordinate_spring.h>
#include <mortise/forces/functor.h>
#include <mortise/forces/spring.h>
#include <mortise/joints/functor.h>
#include <mortise/joints/universal.h>

namespace mortise::diagnosis {
namespace {

CoordinateSpring to_ground(double stiffness, double damping = 0) {
  return {.terms = {{0, "x", 1}}, .stiffness = stiffness, .damping = damping};
}
CoordinateSpring between(double stiffness, double damping = 0) {
  return {.terms = {{0, "x", -1}, {1, "x", 1}}, .stiffness = stiffness, .damping = damping};
}

// ground -- spring_1 or damper_1 -- node -- spring_2 or damper_2 -- block
Assembly node_between(const CoordinateSpring& first, const CoordinateSpring& second, double mass = 0) {
  Line m("line");
  const auto node = m.particle("node", mass), block = m.particle("block", 2);
  m.apply(first.damping > 0 ? "damper_1" : "spring_1", first, node);
  m.apply(second.damping > 0 ? "damper_2" : "spring_2", second, node, block);
  return m;
}
Assembly node_between_springs(bool) { return node_between(to_ground(100), between(300)); }
Assembly node_with_a_mass_instead(bool mended) { return node_between(to_ground(100), between(300), mended ? 0.1 : 0); }
Assembly nested_node_between_springs(bool) {
  Assembly m("machine");
  m.add("left", node_between(to_ground(100), between(300), 1));
  m.add("right", node_between(to_ground(100), between(300)));
  return m;
}
Assembly chain_of_nodes(bool) {
  Line m("chain");
  const auto one = m.particle("one", 0), two = m.particle("two", 0), block = m.particle("block", 2);
  m.apply("spring_1", to_ground(100), one);
  m.apply("spring_2", between(200), one, two);
  m.apply("spring_3", between(300), two, block);
  return m;
}
Assembly node_at_the_end_of_a_spring(bool) {
  Line m("line");
  const auto block = m.particle("block", 2), end = m.particle("end", 0);
  m.apply("spring", between(300), block, end);
  return m;
}
// Two springs in a row by substructures, [UP06, Example 3] with m1 = 0: what is cut is joined by a row.
Assembly two_subsystems(bool) {
  Assembly m("springs");
  const auto one =
      m.add("one", Subsystem{.coordinates = {"x1"},
                             .M = MatrixXd::Zero(1, 1).eval(),
                             .Q = [](const auto& q, const auto&, const auto&) { return vec(-200.0 * q[0]); }});
  const auto two =
      m.add("two", Subsystem{.coordinates = {"q1", "q2"},
                             .M = MatrixXd::Constant(2, 2, 5).eval(),
                             .Q = [](const auto& q, const auto&, const auto&) { return vec(0.0, -300.0 * q[1]); }});
  m.connect("cut", Coupling{.terms = {{0, "x1", 1}, {1, "q1", -1}}}, one, two);
  return m;
}
Assembly elastic_rope(bool) {
  Plane m("hoist");
  const double R = 0.2;
  const auto left = m.add("left", Particle<1>{.mass = 2}), right = m.add("right", Particle<1>{.mass = 3});
  const auto wheel = m.body("wheel", 0, 0);
  m.pin("axle", m.ground, wheel, 0, 0);
  m.apply("span_1", CoordinateSpring{.terms = {{0, "x", -1}, {1, "theta", -R}}, .stiffness = 400}, left, wheel);
  m.apply("span_2", CoordinateSpring{.terms = {{0, "x", -1}, {1, "theta", R}}, .stiffness = 700}, right, wheel);
  return m;
}
Assembly lumped_beam(bool) {  // two elements of length 1, clamped at one end
  MatrixXd K(4, 4);
  K << 24, 0, -12, 6, 0, 8, -6, 2, -12, -6, 12, -6, 6, 2, -6, 4;
  K *= 500;
  const MatrixXd M = Eigen::Vector4d(3, 0, 1.5, 0).asDiagonal();
  Assembly m("beam");
  m.add("beam", Structure({.M = M, .K = K, .dofs = {{"n1", "uy"}, {"n1", "rz"}, {"n2", "uy"}, {"n2", "rz"}}}));
  return m;
}

Assembly spring_and_damper_in_series(bool) { return node_between(to_ground(100), between(0, 20)); }
Assembly node_between_dampers(bool) { return node_between(to_ground(0, 5), between(0, 20)); }
Assembly damper_with_a_loose_end(bool) {
  Line m("line");
  const auto block = m.particle("block", 2), end = m.particle("end", 0);
  m.apply("damper", between(0, 20), block, end);
  return m;
}
// A spring and a damper at right angles hold the node, turned by 45 degrees against its coordinates.
Assembly spring_across_damper(bool) {
  Plane m("plane");
  const auto node = m.particle("node", 0, 0, 0);
  const auto block = m.add("block", Particle<1>{.mass = 3});
  m.apply("spring", CoordinateSpring{.terms = {{0, "x", 1}, {0, "y", 1}, {1, "x", -1}}, .stiffness = 50}, node, block);
  m.apply("damper", CoordinateSpring{.terms = {{0, "x", 1}, {0, "y", -1}, {1, "x", -1}}, .damping = 4}, node, block);
  return m;
}

// Nothing pulls it along y.
Assembly node_in_the_plane(bool mended) {
  Plane m("plane");
  const auto node = m.particle("node", 0, 0.2, 0.1), block = m.particle("block", 3, 1, 0);
  m.apply("spring_1", CoordinateSpring{.terms = {{0, "x", 1}}, .stiffness = 50}, node);
  m.apply("spring_2", CoordinateSpring{.terms = {{0, "x", -1}, {1, "x", 1}}, .stiffness = 70}, node, block);
  if (mended) m.connect("guide", Coupling{.terms = {{0, "y", 1}}, .constant = -0.1}, node);
  return m;
}
// The spring turns the rod into its own line, and may wind round it as it likes.
Assembly rod_that_spins(bool mended) {
  Space m("tether");
  const auto block = m.body("block", 2, {1, 2, 3}), rod = m.body("rod", 0, {0, 0, 0}, {0, 1, 0});
  const V3 end(0, 1, 0);
  if (mended)
    m.connect("cardan", at_world<Universal>(end, Axis(1, 0, 0), Axis(0, 0, 1)), block, rod);
  else
    m.spherical("ball", block, rod, end);
  m.apply("spring", Spring<3>{.on_a = {0.3, 5, 0.2}, .on_b = {0, 1, 0}, .stiffness = 50, .length = 1}, m.ground, rod);
  return m;
}

Assembly hook_without_load(bool mended) {
  Plane m("crane");
  const auto hook = m.particle("hook", mended ? 1 : 0, 0, -1);
  m.rod("rope", m.ground, {0, 0}, hook, {0, -1});
  return m;
}
// The spring sees the difference of two massless coordinates: nothing sees their sum.
Assembly floating_spring(bool mended) {
  Line m("floating");
  const auto one = m.particle("one", 0), two = m.particle("two", 0);
  m.apply("spring", between(300), one, two);
  if (mended) {
    m.couple("hold_1", one, 1, m.particle("wall", 1), -1);
    m.couple("hold_2", two, 1, m.particle("block", 1), -1);
  }
  return m;
}

template <class F> Assembly pushed(F force, bool mended) {
  Line m("pushed");
  const auto leaf = m.particle("leaf", mended ? 1 : 0);
  m.apply("push", Force{force}, leaf);
  return m;
}
Assembly push_on_nothing(bool mended) {
  return pushed([](auto& x, const auto&) { x.apply_to("x", 3.0); }, mended);
}
Assembly push_that_grows(bool mended) {
  return pushed([](auto& x, const auto& t) { x.apply_to("x", 3.0 * t); }, mended);
}
// A scale without its spring: the weight on the massless pan has nothing to rest on.
Assembly weight_on_a_massless_pan(bool mended) {
  Line m("scale");
  const auto pan = m.particle("pan", 0), block = m.particle("block", 1);
  m.apply("weight", Force{[](auto& x, const auto&) { x.apply_to("x", -9.81); }}, pan);
  if (mended) m.couple("stand", pan, 1, block, -1);
  return m;
}

// V = p g(block): p is the multiplier of g = 0, and nothing says so.
Assembly multiplier_as_a_coordinate(bool mended) {
  Plane m("multiplier");
  const auto block = m.particle("block", 2, 0, 0);
  if (mended) {
    m.connect("guide",
              Holonomic{[](const auto& b, const auto&) { return b.coordinate("y") - 0.5 * b.coordinate("x"); }}, block);
    return m;
  }
  const auto p = m.add("p", Particle<1>{.mass = 0});
  m.apply("potential", Potential{[](const auto& x, const auto& b, const auto&) {
            return x.coordinate("x") * (b.coordinate("y") - 0.5 * b.coordinate("x"));
          }},
          p, block);
  return m;
}
Assembly lever_of_a_control(
    bool mended) {  // a massless coordinate pushes the block; what pushes back is the block's place
  Line m("control");
  const auto lever = m.particle("lever", mended ? 0.5 : 0), block = m.particle("block", 2);
  m.apply("gain", Force{[](auto& a, auto& b, const auto&) {
            a.apply_to("x", -4.0 * b.coordinate("x"));
            b.apply_to("x", -4.0 * a.coordinate("x"));
          }},
          lever, block);
  return m;
}

}  // namespace

std::vector<Case> hidden_cases() {
  using enum Verdict;
  const auto c = [](const char* name, const char* about, Verdict verdict, std::vector<std::string> culprits,
                    const char* remedy, const char* implied, Assembly (*model)(bool)) {
    return Case{name, about, verdict, std::move(culprits), remedy, model, {}, {under_modelled}, implied};
  };
  const char *add = "complete()", *mass = "give it mass", *hold = "hold it by a joint";
  return {
      c("node_between_springs", "a node without mass between two springs sits where they balance", hidden_constraint,
        {"node.x"}, add, "position-level: spring_1.force = spring_2.force along node.x", node_between_springs),
      c("node_with_a_mass_instead", "the same, mended by a small mass: then its vibration has to be resolved",
        hidden_constraint, {"node.x"}, mass, "position-level: spring_1.force = spring_2.force along node.x",
        node_with_a_mass_instead),
      c("nested_node_between_springs", "one of two equal subsystems has lost the mass of its node", hidden_constraint,
        {"right/node.x"}, add, "position-level: right/spring_1.force = right/spring_2.force along right/node.x",
        nested_node_between_springs),
      c("chain_of_nodes", "three springs in a row with two massless nodes", hidden_constraint, {"one.x", "two.x"}, add,
        "position-level: spring_1.force = spring_2.force along one.x", chain_of_nodes),
      c("node_at_the_end_of_a_spring", "the free end of a spring has no mass: the spring is idle", hidden_constraint,
        {"end.x"}, add, "position-level: spring.force = 0 along end.x", node_at_the_end_of_a_spring),
      c("two_subsystems", "two springs cut apart, m1 = 0 [UP06, Ex. 3]: what the authors add by hand",
        hidden_constraint, {"one.x1"}, add, "position-level: one.force = two.force along", two_subsystems),
      c("elastic_rope", "an elastic rope over a massless pulley: its spans pull alike", hidden_constraint,
        {"wheel.theta"}, add, "position-level: span_1.force = span_2.force along wheel.theta", elastic_rope),
      c("lumped_beam", "a beam with lumped masses and massless rotations", hidden_constraint,
        {"beam.n1.rz", "beam.n2.rz"}, add, "position-level: beam.force = 0 along beam.n1.rz", lumped_beam),
      c("spring_and_damper_in_series", "a node between a spring and a damper starts anywhere, but not at any velocity",
        hidden_constraint, {"node.x"}, add, "velocity-level: spring_1.force = damper_2.force along node.x",
        spring_and_damper_in_series),
      c("node_between_dampers", "a node between two dampers", hidden_constraint, {"node.x"}, add,
        "velocity-level: damper_1.force = damper_2.force along node.x", node_between_dampers),
      c("damper_with_a_loose_end", "the free end of a damper follows its other end", hidden_constraint, {"end.x"}, add,
        "velocity-level: damper.force = 0 along end.x", damper_with_a_loose_end),
      c("spring_across_damper", "a node in the plane on a spring and a damper: one equation of each level",
        hidden_constraint, {"node.x", "node.y"}, add, "velocity-level:", spring_across_damper),
      c("node_in_the_plane", "springs decide one coordinate of a node, nothing decides the other", hidden_constraint,
        {"node.x"}, add, "position-level: spring_1.force = spring_2.force along node.x", node_in_the_plane),
      c("rod_that_spins", "a massless rod on a ball joint and a spring points along it, and may spin about its axis",
        hidden_constraint, {"rod.u1"}, add, "position-level: spring.force = 0 along rod.u1", rod_that_spins),

      c("hook_without_load", "a massless hook on a rope without a load swings as it likes", indeterminate, {"hook.x"},
        mass, "indeterminate", hook_without_load),
      c("floating_spring", "a spring with two massless ends that is fixed nowhere", indeterminate, {"one.x", "two.x"},
        hold, "indeterminate", floating_spring),

      c("push_on_nothing", "a force on a particle without mass", contradictory, {"leaf.x"}, mass,
        "contradictory: push.force = 0 along leaf.x", push_on_nothing),
      c("push_that_grows", "the same, 0 at the start and not later", contradictory, {"leaf.x"}, mass,
        "contradictory: push.force = 0 along leaf.x", push_that_grows),
      c("weight_on_a_massless_pan", "a weight on a massless pan that nothing holds up", contradictory, {"pan.x"}, hold,
        "contradictory: weight.force = 0 along pan.x", weight_on_a_massless_pan),

      c("multiplier_as_a_coordinate", "a potential p g: the massless p acts as the multiplier of g = 0",
        implicit_multiplier, {"p.x"}, "write what it enforces as a joint",
        "implicit multiplier: potential.force = 0 along p.x", multiplier_as_a_coordinate),
      c("lever_of_a_control", "a massless lever pushes a block whose place pushes the lever", implicit_multiplier,
        {"lever.x"}, mass, "implicit multiplier: gain.force = 0 along lever.x", lever_of_a_control),
  };
}

}  // namespace mortise::diagnosis
