// Nothing wrong: models that look like broken ones and must not be accused.

#include "cases.h"

#include <cmath>

#include <mortise/bodies/subsystem.h>
#include <mortise/joints/knife_edge.h>
#include <mortise/joints/rolling_wheel.h>
#include <mortise/joints/universal.h>

namespace mortise::diagnosis {
namespace {

Assembly massless_link_between_masses() {
  Plane m("link");
  const auto a = m.body("a", 1, 1), link = m.body("link", 0, 0, 1, 0), b = m.body("b", 1, 1, 2, 0);
  m.pin("pin_1", a, link, 0.5, 0);
  m.pin("pin_2", link, b, 1.5, 0);
  return m;
}
Assembly bent_knee() {
  Plane m("knee");
  const auto a = m.body("a", 1, 1), thigh = m.body("thigh", 0, 0, 1, 0.5), shin = m.body("shin", 0, 0, 2, 0.5);
  const auto b = m.body("b", 1, 1, 3, 0);
  m.pin("hip", a, thigh, 0.5, 0);
  m.pin("knee", thigh, shin, 1.5, 1);
  m.pin("ankle", shin, b, 2.5, 0);
  return m;
}
Assembly welded_massless_body() {
  Space m("port");
  const auto body = m.body("body", 1, {1, 1, 1}), port = m.body("port", 0, {0, 0, 0}, {1, 0, 0});
  m.weld("weld", body, port, {1, 0, 0});
  return m;
}
Assembly wheel_that_rolls() {
  Assembly m("incline");
  const auto wheel =
      m.add("wheel", Subsystem<>{.coordinates = {"theta", "y"}, .M = Eigen::Vector2d(3, 0).asDiagonal()});
  m.connect("roll", Coupling{.terms = {{0, "y", 1}, {0, "theta", -0.5}}}, wheel);
  return m;
}
Assembly rolling_wheel() {
  Plane m("wheel");
  const auto wheel = m.body("wheel", 1, 0.5, 0, 1);
  m.connect("roll", RollingWheel{}, m.ground, wheel);
  return m;
}
Assembly massless_rolling_wheel() {
  Plane m("cart");
  const auto cart = m.body("cart", 5, 1, 0, 1), wheel = m.body("wheel", 0, 0, 0, 1);
  m.connect("roll", RollingWheel{}, m.ground, wheel);
  m.pin("axle", cart, wheel, 0, 1);
  return m;
}
Assembly massless_pulley_with_rope() {
  Line m("pulley");
  const auto load = m.particle("load", 2), pulley = m.particle("pulley", 0);
  m.couple("rope", load, 1, pulley, -0.5);
  return m;
}
Assembly tiny_beside_huge() {
  Plane m("masses");
  const auto huge = m.body("huge", 1e6, 1e6), tiny = m.body("tiny", 1e-6, 1e-6, 1, 0);
  m.pin("pin", huge, tiny, 0.5, 0);
  return m;
}
Assembly mass_ratio(double ratio) {
  Plane m("chain");
  auto last = m.body("b0", 1, 1);
  for (int i = 1; i < 4; ++i) {
    const double mass = i % 2 ? ratio : 1;
    const auto next = m.body("b" + std::to_string(i), mass, mass, i, 0.1 * i);
    m.pin("p" + std::to_string(i), last, next, i - 0.5, 0.1);
    last = next;
  }
  return m;
}
Assembly mass_ratio_1e12() { return mass_ratio(1e12); }
Assembly mass_ratio_1e_minus_12() { return mass_ratio(1e-12); }
// The same linkage in any unit of length and mass.
Assembly linkage(double metre, double kilogram) {
  Plane m("linkage");
  const double J = kilogram * metre * metre;
  const auto crank = m.body("crank", kilogram, J, 0, 0.5 * metre),
             coupler = m.body("coupler", 0, 0, metre, 1.25 * metre);
  const auto rocker = m.body("rocker", kilogram, J, 2 * metre, 0.75 * metre);
  m.pin("A", m.ground, crank, 0, 0);
  m.pin("B", crank, coupler, 0, metre);
  m.pin("C", coupler, rocker, 2 * metre, 1.5 * metre);
  m.pin("D", m.ground, rocker, 2 * metre, 0);
  return m;
}
Assembly in_metres() { return linkage(1, 1); }
Assembly in_millimetres_and_tonnes() { return linkage(1000, 1e-3); }
Assembly a_million_times_larger() { return linkage(1e6, 1); }
Assembly a_million_times_smaller() { return linkage(1e-6, 1); }
Assembly in_micrograms() { return linkage(1, 1e9); }
Assembly in_kilotonnes() { return linkage(1, 1e-6); }

Assembly chain(int links, bool last_massless = false) {
  Plane m("chain");
  auto last = m.body("link_1", 1, 1, 0.5, 0);
  m.pin("pin_1", m.ground, last, 0, 0);
  for (int i = 2; i <= links; ++i) {
    const bool light = last_massless && i == links;
    const auto next = m.body("link_" + std::to_string(i), light ? 0 : 1, light ? 1e-3 : 1, i - 0.5, 0);
    m.pin("pin_" + std::to_string(i), last, next, i - 1, 0);
    last = next;
  }
  return m;
}
Assembly pendulum() { return chain(1); }
Assembly double_pendulum() { return chain(2); }
Assembly straight_chain_of_ten() { return chain(10); }
Assembly chain_with_an_end_of_inertia_only() { return chain(3, true); }

Assembly free_bodies() {
  Space m("free");
  m.body("one", 1, {1, 1, 1});
  m.body("two", 2, {1, 2, 2}, {1, 0, 0});
  return m;
}
Assembly heavy_top() {
  Space m("top");
  const auto top = m.body("top", 1, {1, 1, 0.5}, {0, 0, 1});
  m.spherical("tip", m.ground, top, {0, 0, 0});
  return m;
}
Assembly door_with_one_hinge() {
  Space m("door");
  const auto door = m.body("door", 20, {2, 1, 3}, {0.4, 0, 0});
  m.revolute("hinge", m.ground, door, {0, 0, 0}, {0, 0, 1});
  return m;
}
Assembly door_with_a_ball_and_a_sleeve() {
  Space m("door");
  const auto door = m.body("door", 20, {2, 1, 3}, {0.4, 0, 1});
  m.spherical("lower", m.ground, door, {0, 0, 0});
  m.connect("upper", at_world<PointOnLine>(V3(0, 0, 2), Axis(V3(0, 0, 1))), m.ground, door);
  return m;
}
Assembly strut_that_cannot_spin() {
  Space m("strut");
  const auto strut = m.body("strut", 0, {0, 0, 0}, {1, 0, 0}), load = m.body("load", 5, {1, 1, 1}, {2, 0, 0});
  m.connect("foot", at_world<Universal>(V3(0, 0, 0), Axis(V3(0, 1, 0)), Axis(V3(0, 0, 1))), m.ground, strut);
  m.spherical("head", strut, load, {2, 0, 0});
  return m;
}
Assembly thin_rod_on_a_hinge() {
  Space m("thin");
  const auto rod = m.body("rod", 1, {0, 1, 1}, {0.5, 0, 0});
  m.revolute("hinge", m.ground, rod, {0, 0, 0}, {0, 0, 1});
  return m;
}
Assembly point_mass_held_by_a_weld() {
  Space m("point");
  const auto arm = m.body("arm", 1, {1, 1, 1}), tip = m.body("tip", 1, {0, 0, 0}, {1, 0, 0});
  m.weld("glue", arm, tip, {1, 0, 0});
  return m;
}
Assembly point_mass_on_a_stick() {
  Plane m("stick");
  const auto stick = m.add("stick", PlanarBody{.mass = 1, .inertia = 0, .centre = {1, 0}});
  m.connect("pin", Pin{}, m.ground, stick);
  return m;
}
Assembly parallelogram_in_a_regular_pose() {
  Plane m("parallelogram");
  const auto left = m.body("left", 1, 1, 0, 0), right = m.body("right", 1, 1, 2, 0),
             coupler = m.body("coupler", 1, 1, 0, 1);
  m.pin("A", m.ground, left, 0, 0);
  m.pin("B", left, coupler, 0, 1);
  m.pin("C", coupler, right, 2, 1);
  m.pin("D", m.ground, right, 2, 0);
  return m;
}
Assembly massless_cranks() {
  Plane m("swing");
  const auto left = m.body("left", 0, 0, 0, 0), right = m.body("right", 0, 0, 2, 0), seat = m.body("seat", 1, 1, 0, -1);
  m.pin("A", m.ground, left, 0, 0);
  m.pin("B", left, seat, 0, -1);
  m.pin("C", seat, right, 2, -1);
  m.pin("D", m.ground, right, 2, 0);
  return m;
}
Assembly slider_crank() {
  Plane m("slider_crank");
  const auto crank = m.body("crank", 1, 1), rod = m.body("rod", 0, 0, 1, 1), piston = m.body("piston", 1, 0, 2, 0);
  m.pin("main", m.ground, crank, 0, 0);
  m.pin("crank_pin", crank, rod, 0, 1);
  m.pin("wrist", rod, piston, 2, 0);
  m.connect("bore", PlanarPointOnLine{.on_a = {0, 0}}, m.ground, piston);
  m.connect("guide", Coupling{.terms = {{0, "theta", 1}}}, piston);
  return m;
}
Assembly driven_crank() {
  Plane m("driven");
  const auto crank = m.body("crank", 1, 1);
  m.pin("bearing", m.ground, crank, 0, 0);
  m.drive("motor", crank, "theta", [](const auto& t) { return 1.0 - cos(t); });
  return m;
}
Assembly massless_driven_table() {
  Plane m("table");
  const auto table = m.body("table", 0, 0), cup = m.body("cup", 1, 1, 0.5, 0);
  for (const char* q : {"x", "y", "theta"}) m.drive(std::string("drive_") + q, table, q, 0.0);
  m.pin("handle", table, cup, 0.5, 0);
  return m;
}
Assembly two_arms() {
  Assembly m("robot");
  const auto left = m.add("left", massless_link_between_masses()),
             right = m.add("right", massless_link_between_masses());
  (void)left, (void)right;
  return m;
}
Assembly massless_frame_held_from_outside() {
  Plane frame("frame");
  const auto plate = frame.body("plate", 0, 0);
  Plane m("machine");
  const auto base = m.body("base", 1, 1), top = m.body("top", 1, 1, 2, 0);
  const auto nested = m.add("frame", frame);
  m.pin("left", base, nested[plate], 0.5, 0);
  m.pin("right", nested[plate], top, 1.5, 0);
  return m;
}
Assembly one_diagonal() {
  Plane m("frame");
  const std::vector<V2> at{{0, 0}, {2, 0}, {2, 1}, {0, 1}};
  std::vector<Handle<Particle<2>>> p;
  for (std::size_t i = 0; i < 4; ++i) p.push_back(m.particle("p" + std::to_string(i + 1), 1, at[i][0], at[i][1]));
  for (std::size_t i = 0; i < 4; ++i)
    m.rod("side_" + std::to_string(i + 1), p[i], at[i], p[(i + 1) % 4], at[(i + 1) % 4]);
  m.rod("diagonal", p[0], at[0], p[2], at[2]);
  return m;
}
Assembly sleigh() {
  Plane m("sleigh");
  const auto body = m.body("body", 1, 1);
  m.connect("blade", KnifeEdge{}, body);
  return m;
}
Assembly sleigh_with_a_massless_blade() {
  Plane m("sleigh");
  const auto body = m.body("body", 1, 1), blade = m.body("blade", 0, 0, 1, 0);
  m.pin("pivot", body, blade, 1, 0);
  m.connect("edge", KnifeEdge{}, blade);
  m.connect("lock", Coupling{.terms = {{0, "theta", 1}, {1, "theta", -1}}}, body, blade);
  return m;
}
Assembly singular_mass_matrix_with_its_constraint() {
  Assembly m("cut");
  const auto s = m.add("half", Subsystem<>{.coordinates = {"q1", "q2"}, .M = MatrixXd::Constant(2, 2, 4)});
  m.connect("tie", Coupling{.terms = {{0, "q1", 1}, {0, "q2", 1}}}, s);
  m.remove("tie");
  m.connect("tie", Coupling{.terms = {{0, "q1", 1}}}, s);
  return m;
}
Assembly spherical_pendulum() {
  Assembly m("bob");
  const auto ground = m.add("ground", Ground{});
  const auto bob = m.add("bob", Particle<3>{.mass = 1});
  m.place(bob, {1.2, 0, -1.6});
  m.connect("string", Distance<3>{.length = 2}, ground, bob);
  return m;
}
Assembly massless_node_on_two_bars() {
  Plane m("truss");
  const auto a = m.particle("a", 1, 0, 0), node = m.particle("node", 0, 1, 1), b = m.particle("b", 1, 2, 0);
  m.rod("bar_1", a, {0, 0}, node, {1, 1});
  m.rod("bar_2", node, {1, 1}, b, {2, 0});
  return m;
}
Assembly massless_truss_on_one_mass() {
  Plane m("truss");
  const auto node_1 = m.particle("node_1", 0, 0, 1), node_2 = m.particle("node_2", 0, 1, 1),
             load = m.particle("load", 1, 1, 0);
  m.rod("g1", m.ground, {0, 0}, node_1, {0, 1});
  m.rod("g2", m.ground, {1, 0.5}, node_1, {0, 1});
  m.rod("12", node_1, {0, 1}, node_2, {1, 1});
  m.rod("g3", m.ground, {2, 0}, node_2, {1, 1});
  m.rod("2l", node_2, {1, 1}, load, {1, 0});
  return m;
}
Assembly three_legs() {
  Space m("table");
  const auto table = m.body("table", 1, {1, 1, 1}, {0, 0, 1});
  m.spherical("leg_1", m.ground, table, {1, 0, 0});
  m.connect("leg_2", at_world<PointOnLine>(V3(-1, 0, 0), Axis(V3(1, 0, 0))), m.ground, table);
  return m;
}
Assembly geared_particles() {
  Line m("gears");
  const auto a = m.particle("a", 1), b = m.particle("b", 0), c = m.particle("c", 1);
  m.couple("ab", a, 1, b, -2);
  m.couple("bc", b, 1, c, -3);
  return m;
}
Assembly nearly_flat_parallelogram() {
  Plane m("parallelogram");
  const double s = 0.01, c = std::sqrt(1 - s * s);
  const auto left = m.body("left", 1, 1, 0, 0), right = m.body("right", 1, 1, 2, 0),
             coupler = m.body("coupler", 1, 1, c, s);
  m.pin("A", m.ground, left, 0, 0);
  m.pin("B", left, coupler, c, s);
  m.pin("C", coupler, right, 2 + c, s);
  m.pin("D", m.ground, right, 2, 0);
  return m;
}
Assembly far_from_the_origin() {
  Plane m("far");
  const auto rod = m.body("rod", 1, 1, 1e6 + 0.5, 1e6);
  m.pin("pin", m.ground, rod, 1e6, 1e6);
  return m;
}

}  // namespace

std::vector<Case> healthy_cases() {
  const auto c = [](const char* name, const char* about, Assembly (*model)()) {
    return Case{name, about, {}, {}, "", [model](bool) { return model(); }};
  };
  return {
      c("massless_link_between_masses", "a massless link pinned at both ends", massless_link_between_masses),
      c("bent_knee", "two massless links between masses, not in one line: each holds the other", bent_knee),
      c("welded_massless_body", "a port: a massless body welded to a massive one", welded_massless_body),
      c("wheel_that_rolls", "the wheel on an incline with its rolling constraint [UP06, Ex. 1]", wheel_that_rolls),
      c("rolling_wheel", "a wheel on a line", rolling_wheel),
      c("massless_rolling_wheel", "a massless wheel under a cart: rolling holds its angle", massless_rolling_wheel),
      c("massless_pulley_with_rope", "a massless pulley held by an inextensible rope", massless_pulley_with_rope),
      c("tiny_beside_huge", "1e-6 kg beside 1e6 kg is not massless", tiny_beside_huge),
      c("mass_ratio_1e12", "neighbours of mass ratio 1e12", mass_ratio_1e12),
      c("mass_ratio_1e_minus_12", "neighbours of mass ratio 1e-12", mass_ratio_1e_minus_12),
      c("in_metres", "a linkage with a massless coupler", in_metres),
      c("in_millimetres_and_tonnes", "the same in millimetres and tonnes", in_millimetres_and_tonnes),
      c("a_million_times_larger", "the same a million times larger", a_million_times_larger),
      c("a_million_times_smaller", "the same a million times smaller", a_million_times_smaller),
      c("in_micrograms", "the same in micrograms", in_micrograms),
      c("in_kilotonnes", "the same in kilotonnes", in_kilotonnes),
      c("pendulum", "a rod on a pin", pendulum),
      c("double_pendulum", "two rods, stretched out", double_pendulum),
      c("straight_chain_of_ten", "ten rods in a straight line", straight_chain_of_ten),
      c("chain_with_an_end_of_inertia_only", "a last link with inertia and no mass, held by its pin",
        chain_with_an_end_of_inertia_only),
      c("free_bodies", "two bodies in space, connected to nothing", free_bodies),
      c("heavy_top", "a top on its tip", heavy_top),
      c("door_with_one_hinge", "one hinge holds a door", door_with_one_hinge),
      c("door_with_a_ball_and_a_sleeve", "two hinges of a door that hold five rows together",
        door_with_a_ball_and_a_sleeve),
      c("strut_that_cannot_spin", "a massless strut with a universal joint at one end", strut_that_cannot_spin),
      c("thin_rod_on_a_hinge", "a rod without axial inertia in a hinge across it", thin_rod_on_a_hinge),
      c("point_mass_held_by_a_weld", "a point mass with six coordinates, glued to an arm", point_mass_held_by_a_weld),
      c("point_mass_on_a_stick", "all mass at the end of a stick, no inertia", point_mass_on_a_stick),
      c("parallelogram_in_a_regular_pose", "a parallelogram linkage, cranks upright", parallelogram_in_a_regular_pose),
      c("nearly_flat_parallelogram", "the same, near the pose where its branches meet", nearly_flat_parallelogram),
      c("massless_cranks", "a swing on two massless cranks", massless_cranks),
      c("slider_crank", "a massless connecting rod, a piston without inertia", slider_crank),
      c("driven_crank", "a driver and a start at its speed", driven_crank),
      c("massless_driven_table", "a massless table, all three coordinates driven", massless_driven_table),
      c("two_arms", "a subsystem with a massless link, used twice", two_arms),
      c("massless_frame_held_from_outside", "a nested assembly of zero mass that the whole holds",
        massless_frame_held_from_outside),
      c("one_diagonal", "a frame of rods with one diagonal", one_diagonal),
      c("sleigh", "a knife edge", sleigh),
      c("sleigh_with_a_massless_blade", "a massless blade, turned with its body", sleigh_with_a_massless_blade),
      c("singular_mass_matrix_with_its_constraint", "M = [m m; m m] and the constraint that belongs to it",
        singular_mass_matrix_with_its_constraint),
      c("spherical_pendulum", "a bob on a string in space", spherical_pendulum),
      c("massless_node_on_two_bars", "a massless node between two bars that are not in line",
        massless_node_on_two_bars),
      c("massless_truss_on_one_mass", "a truss of massless nodes that carries one mass", massless_truss_on_one_mass),
      c("three_legs", "a table on a ball and a rail", three_legs),
      c("geared_particles", "a massless gear between two others", geared_particles),
      c("far_from_the_origin", "a pendulum a thousand kilometres away", far_from_the_origin),
  };
}

}  // namespace mortise::diagnosis
