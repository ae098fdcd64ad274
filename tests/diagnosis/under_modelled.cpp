// Too little: no mass moves and no constraint resists.

#include "cases.h"

#include <mortise/bodies/subsystem.h>

namespace mortise::diagnosis {
namespace {

Assembly massless_leaf(bool mended) {
  Plane m("leaf");
  const auto rod = m.body("rod", mended, mended);
  m.pin("hinge", m.ground, rod, 0, 0);
  return m;
}

Assembly point_mass_with_six_coordinates(bool mended) {
  Space m("point");
  m.body("ball", 1, mended ? V3(1, 1, 1) : V3(0, 0, 0));
  return m;
}

Assembly thin_rod(bool mended) {
  Space m("thin");
  m.body("rod", 1, mended ? V3(1e-4, 1, 1) : V3(0, 1, 1));
  return m;
}

Assembly zero_mass_ring(bool mended) {
  Plane m("planet");
  const auto wheel = m.body("wheel", 2, 1), ring = m.body("ring", 0, mended);
  m.pin("axle", wheel, ring, 0, 0);
  return m;
}

Assembly forgotten_rolling(bool mended) {
  Assembly m("incline");
  const auto wheel =
      m.add("wheel", Subsystem<>{.coordinates = {"theta", "y"}, .M = Eigen::Vector2d(3, 0).asDiagonal()});
  if (mended) m.connect("roll", Coupling{.terms = {{0, "y", 1}, {0, "theta", -0.5}}}, wheel);
  return m;
}

Assembly virtual_particle(bool mended) {
  Line m("virtual");
  m.particle("car", 1);
  if (!mended) m.particle("ghost", 0);
  return m;
}

Assembly floating_subsystem(bool mended) {
  Plane frame("frame");
  const auto a = frame.body("a", 0, 0), b = frame.body("b", 0, 0, 1, 0);
  frame.pin("knee", a, b, 0.5, 0);
  Plane m("machine");
  const auto base = m.body("base", 1, 1);
  const auto nested = m.add("frame", frame);
  if (mended) {
    m.pin("hip", base, nested[a], 0, 0);
    m.pin("brace", base, nested[a], -0.5, 0.5);
    m.remove("brace");
    m.connect("angle_a", Coupling{.terms = {{0, "theta", 1}, {1, "theta", -1}}}, base, nested[a]);
    m.connect("angle_b", Coupling{.terms = {{0, "theta", 1}, {1, "theta", -1}}}, base, nested[b]);
  }
  return m;
}

Assembly missing_joint(bool mended) {
  Plane m("linkage");
  const auto left = m.body("left", 1, 1), link = m.body("link", 0, 0, 1, 0), right = m.body("right", 1, 1, 2, 0);
  m.pin("pin_1", left, link, 0.5, 0);
  if (mended) m.pin("pin_2", link, right, 1.5, 0);
  return m;
}

Assembly mass_without_inertia(bool mended) {
  Plane m("puck");
  m.body("puck", 1, mended ? 0.1 : 0);
  return m;
}

Assembly inertia_without_mass(bool mended) {
  Plane m("rotor");
  const auto rotor = m.body("rotor", 0, 1);
  if (mended) m.pin("bearing", m.ground, rotor, 0, 0);
  return m;
}

Assembly massless_slider(bool mended) {
  Plane m("rail");
  const auto block = m.body("block", mended, 0);
  m.connect("rail", PlanarPointOnLine{}, m.ground, block);
  m.connect("upright", Coupling{.terms = {{0, "theta", 1}}}, block);
  return m;
}

Assembly massless_ball_joint(bool mended) {
  Space m("ball");
  const auto stick = m.body("stick", mended, mended ? V3(1, 1, 1) : V3(0, 0, 0), {0, 0, 1});
  m.spherical("socket", m.ground, stick, {0, 0, 0});
  return m;
}

Assembly massless_crank(bool mended) {
  Space m("crank");
  const auto crank = m.body("crank", mended, mended ? V3(1, 1, 1) : V3(0, 0, 0));
  m.revolute("bearing", m.ground, crank, {0, 0, 0}, {0, 0, 1});
  return m;
}

// Held at both ends by balls, the strut spins about its own axis.
Assembly spinning_strut(bool mended) {
  Space m("strut");
  const auto strut = m.body("strut", 0, mended ? V3(0.01, 0, 0) : V3(0, 0, 0), {1, 0, 0}),
             load = m.body("load", 5, {1, 1, 1}, {2, 0, 0});
  m.spherical("foot", m.ground, strut, {0, 0, 0});
  m.spherical("head", strut, load, {2, 0, 0});
  return m;
}

Assembly dangling_chain(bool mended) {
  Plane m("chain");
  const auto base = m.body("base", 1, 1), one = m.body("one", 0, 0, 1, 0), two = m.body("two", mended, mended, 2, 0);
  m.pin("p1", base, one, 0.5, 0);
  m.pin("p2", one, two, 1.5, 0);
  return m;
}

// Two massless links in one line between masses: the knee moves freely across that line.
Assembly straight_knee(bool mended) {
  Plane m("knee");
  const auto a = m.body("a", 1, 1), thigh = m.body("thigh", mended, mended, 1, 0), shin = m.body("shin", 0, 0, 2, 0);
  const auto b = m.body("b", 1, 1, 3, 0);
  m.pin("hip", a, thigh, 0.5, 0);
  m.pin("knee", thigh, shin, 1.5, 0);
  m.pin("ankle", shin, b, 2.5, 0);
  return m;
}

Assembly open_four_bar(bool mended) {
  Plane m("four_bar");
  const auto crank = m.body("crank", 1, 1, 0, 0.5), coupler = m.body("coupler", 0, 0, 1, 1),
             rocker = m.body("rocker", 1, 1, 2, 0.5);
  m.pin("A", m.ground, crank, 0, 0);
  m.pin("B", crank, coupler, 0, 1);
  m.pin("D", m.ground, rocker, 2, 0);
  if (mended) m.pin("C", coupler, rocker, 2, 1.5);
  return m;
}

Assembly nested_leaves(bool mended) {
  Plane arm("arm");
  const auto upper = arm.body("upper", 1, 1), tip = arm.body("tip", mended, mended, 1, 0);
  arm.pin("wrist", upper, tip, 0.5, 0);
  Assembly m("robot");
  m.add("left", arm);
  m.add("right", arm);
  return m;
}

Assembly singular_mass_matrix(bool mended) {
  Assembly m("cut");
  const auto s = m.add("half", Subsystem<>{.coordinates = {"q1", "q2"}, .M = MatrixXd::Constant(2, 2, 4)});
  if (mended) m.connect("tie", Coupling{.terms = {{0, "q1", 1}}}, s);
  return m;
}

Assembly massless_bob(bool mended) {
  Assembly m("bob");
  const auto ground = m.add("ground", Ground{});
  const auto bob = m.add("bob", Particle<3>{.mass = mended ? 1.0 : 0.0});
  m.place(bob, {0, 0, -2});
  m.connect("string", Distance<3>{.length = 2}, ground, bob);
  return m;
}

Assembly massless_sleeve(bool mended) {
  Space m("sleeve");
  const auto sleeve = m.body("sleeve", mended, mended ? V3(1, 1, 1) : V3(0, 0, 0));
  m.connect("shaft", Cylindrical{}, m.ground, sleeve);
  return m;
}

Assembly pulley_without_rope(bool mended) {
  Line m("pulley");
  const auto load = m.particle("load", 2), pulley = m.particle("pulley", 0);
  m.particle("counterweight", 3);
  if (mended) m.couple("rope", load, 1, pulley, -0.5);
  return m;
}

Assembly driven_but_for_one(bool mended) {
  Plane m("driven");
  const auto table = m.body("table", 0, 0);
  m.drive("drive_x", table, "x", 0.0);
  m.drive("drive_y", table, "y", 0.0);
  if (mended) m.drive("drive_theta", table, "theta", 0.0);
  return m;
}

Assembly massless_truss_node(bool mended) {
  Plane m("truss");
  const auto a = m.particle("a", 1, 0, 0), node = m.particle("node", 0, 1, 1), b = m.particle("b", 1, 2, 0);
  m.rod("bar_1", a, {0, 0}, node, {1, 1});
  if (mended) m.rod("bar_2", node, {1, 1}, b, {2, 0});
  return m;
}

Assembly ghost_and_leaf(bool mended) {
  Plane m("two_faults");
  const auto rod = m.body("rod", mended, mended), puck = m.body("puck", 1, mended, 3, 0);
  m.pin("hinge", m.ground, rod, 0, 0);
  (void)puck;
  return m;
}

}  // namespace

std::vector<Case> under_modelled_cases() {
  using enum Verdict;
  const auto c = [](const char* name, const char* about, std::vector<std::string> culprits, const char* remedy,
                    Assembly (*model)(bool), std::vector<Verdict> also = {}) {
    return Case{name, about, under_modelled, std::move(culprits), remedy, model, {}, std::move(also)};
  };
  return {
      c("massless_leaf", "a rod without mass on one pin turns freely", {"rod.theta"}, "give rod mass", massless_leaf),
      c("point_mass_with_six_coordinates", "a point mass modelled as a rigid body has three idle rotations",
        {"ball.u1"}, "give ball mass or inertia", point_mass_with_six_coordinates),
      c("thin_rod", "a rod without inertia about its own axis spins freely", {"rod.u1"}, "give rod mass or inertia",
        thin_rod),
      c("zero_mass_ring", "a ring without inertia on an axle turns freely", {"ring.theta"}, "give ring mass",
        zero_mass_ring),
      c("forgotten_rolling", "a wheel on an incline without its rolling constraint [UP06, Ex. 1]", {"wheel.y"},
        "hold wheel.y by a joint", forgotten_rolling),
      c("virtual_particle", "a coordinate without mass that nothing refers to [UP06, Ex. 2]", {"ghost.x"},
        "drop the coordinate", virtual_particle),
      c("floating_subsystem", "a nested frame of zero mass that is connected to nothing",
        {"frame/a.x", "frame/b.theta"}, "hold this motion by a joint", floating_subsystem),
      c("missing_joint", "a massless link between two bodies with one of its pins forgotten", {"link.theta"},
        "hold this motion by a joint", missing_joint),
      c("mass_without_inertia", "a body with mass and no inertia, free in the plane", {"puck.theta"},
        "give puck mass or inertia", mass_without_inertia),
      c("inertia_without_mass", "a body with inertia and no mass, free in the plane", {"rotor.x", "rotor.y"},
        "hold rotor.y by a joint", inertia_without_mass),
      c("massless_slider", "a block without mass on a rail slides freely", {"block.x"}, "give block mass",
        massless_slider),
      c("massless_ball_joint", "a massless stick on a ball joint turns three ways", {"stick.u1"},
        "give stick mass or inertia", massless_ball_joint),
      c("massless_crank", "a massless crank turns in its bearing", {"crank.u3"}, "give crank mass or inertia",
        massless_crank),
      c("spinning_strut", "a massless strut between two ball joints spins about its own axis", {"strut.u1"},
        "give strut mass or inertia", spinning_strut),
      c("dangling_chain", "two massless links hang from a body", {"one.theta", "two.theta"}, "give two mass or inertia",
        dangling_chain),
      c("straight_knee", "two massless links in one line leave the knee between them free",
        {"thigh.theta", "shin.theta"}, "mass or inertia in this motion", straight_knee, {singular_pose}),
      c("open_four_bar", "a four-bar with a massless coupler that is pinned at one end only", {"coupler.theta"},
        "hold this motion by a joint", open_four_bar),
      c("nested_leaves", "one massless leaf in an arm that is used twice: both are named",
        {"left/tip.theta", "right/tip.theta"}, "mass or inertia", nested_leaves),
      c("singular_mass_matrix", "M = [m m; m m] without the constraint that belongs to it", {"half.q1", "half.q2"},
        "hold this motion by a joint", singular_mass_matrix),
      c("massless_bob", "a pendulum whose bob has no mass moves freely across its string", {"bob.x", "bob.y"},
        "give bob mass", massless_bob),
      c("massless_sleeve", "a massless sleeve on a shaft turns and slides", {"sleeve.z", "sleeve.u3"},
        "give sleeve mass", massless_sleeve),
      c("pulley_without_rope", "a massless pulley that no rope holds", {"pulley.x"}, "hold pulley.x by a joint",
        pulley_without_rope),
      c("driven_but_for_one", "a massless table with two of its three coordinates driven", {"table.theta"},
        "hold table.theta by a joint", driven_but_for_one),
      c("massless_truss_node", "a massless node of a truss with one bar only", {"node.x", "node.y"},
        "hold this motion by a joint", massless_truss_node),
      c("ghost_and_leaf", "two faults in two places: both are told", {"rod.theta", "puck.theta"}, "mass or inertia",
        ghost_and_leaf),
  };
}

}  // namespace mortise::diagnosis
