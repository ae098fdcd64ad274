// Too much, and in agreement: rows that others already imply.

#include "cases.h"

namespace mortise::diagnosis {
namespace {

Assembly duplicate_pin(bool mended) {
  Plane m("pendulum");
  const auto rod = m.body("rod", 1, 1, 1, 0);
  m.pin("pin_1", m.ground, rod, 0, 0);
  if (!mended) m.pin("pin_2", m.ground, rod, 0, 0);
  return m;
}

Assembly door_with_two_hinges(bool mended) {
  Space m("door");
  const auto door = m.body("door", 20, {2, 1, 3}, {0.4, 0, 1});
  if (mended) {
    m.spherical("hinge_A", m.ground, door, {0, 0, 0.3});
    m.connect("hinge_B", at_world<PointOnLine>(V3(0, 0, 1.7), Axis(V3(0, 0, 1))), m.ground, door);
  } else {
    m.revolute("hinge_A", m.ground, door, {0, 0, 0.3}, {0, 0, 1});
    m.revolute("hinge_B", m.ground, door, {0, 0, 1.7}, {0, 0, 1});
  }
  return m;
}

Assembly door_with_three_hinges(bool mended) {
  Space m("door");
  const auto door = m.body("door", 20, {2, 1, 3}, {0.4, 0, 1});
  m.revolute("hinge_A", m.ground, door, {0, 0, 0}, {0, 0, 1});
  if (!mended) m.revolute("hinge_B", m.ground, door, {0, 0, 1}, {0, 0, 1});
  if (!mended) m.revolute("hinge_C", m.ground, door, {0, 0, 2}, {0, 0, 1});
  return m;
}

Assembly third_parallel_rod(bool mended) {
  Plane m("swing");
  const auto seat = m.body("seat", 1, 1, 1, -2);
  m.rod("rod_1", m.ground, {0, 0}, seat, {0, -2});
  m.rod("rod_2", m.ground, {2, 0}, seat, {2, -2});
  if (!mended) m.rod("rod_3", m.ground, {1, 0}, seat, {1, -2});
  return m;
}

Assembly parallelogram_with_third_crank(bool mended) {
  Plane m("parallelogram");
  const auto coupler = m.body("coupler", 1, 1, 1, 1);
  for (int i = 0; i < 3; ++i) {
    const auto crank = m.body("crank_" + std::to_string(i + 1), 1, 1, i + 0.25, 0.5, 0);
    const std::string head = "head_" + std::to_string(i + 1);
    m.pin("foot_" + std::to_string(i + 1), m.ground, crank, i, 0);
    if (mended && i == 2)  // the head slides along its crank
      m.connect(head, at_world<PlanarPointOnLine>(V2(i + 0.5, 1), PlanarAxis(V2(0.5, 1))), crank, coupler);
    else
      m.pin(head, crank, coupler, i + 0.5, 1);
  }
  return m;
}

// In the plane a four-bar has one freedom; in space its four parallel axes hold three rows too many.
Assembly spatial_four_bar(bool mended) {
  Space m("four_bar");
  const V3 J(1, 1, 1), z(0, 0, 1);
  const auto crank = m.body("crank", 1, J, {0, 0.5, 0}), coupler = m.body("coupler", 1, J, {1, 1.25, 0}),
             rocker = m.body("rocker", 1, J, {2, 0.75, 0});
  m.revolute("A", m.ground, crank, {0, 0, 0}, z);
  m.revolute("B", crank, coupler, {0, 1, 0}, z);
  m.revolute("C", coupler, rocker, {2, 1.5, 0}, z);
  if (mended)
    m.connect("D", at_world<PointOnLine>(V3(2, 0, 0), Axis(z)), m.ground, rocker);
  else
    m.revolute("D", m.ground, rocker, {2, 0, 0}, z);
  return m;
}

Assembly overlapping_welds(bool mended) {
  Space m("bracket");
  const auto plate = m.body("plate", 1, {1, 1, 1}), rib = m.body("rib", 1, {1, 1, 1}, {1, 0, 0});
  m.weld("weld_1", plate, rib, {0.5, 0, 0});
  if (!mended) m.weld("weld_2", plate, rib, {0.5, 0.2, 0});
  return m;
}

Assembly redundant_drivers(bool mended) {
  Plane m("motor");
  const auto rotor = m.body("rotor", 1, 1);
  m.pin("bearing", m.ground, rotor, 0, 0);
  m.drive("motor_1", rotor, "theta", 0.0);
  if (!mended) m.drive("motor_2", rotor, "theta", 0.0);
  return m;
}

Assembly bricard(bool mended) {
  const std::vector<V3> corner{{0, 0, 0}, {1, 0, 0}, {1, -1, 0}, {1, -1, 1}, {0, -1, 1}, {0, 0, 1}},
      axis{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
  Space m("bricard");
  std::vector<Handle<RigidBody>> rod;
  for (std::size_t k = 0; k < 5; ++k)
    rod.push_back(m.body("rod" + std::to_string(k + 1), 1, {1, 1, 1}, (corner[k] + corner[k + 1]) / 2));
  m.revolute("hinge1", m.ground, rod[0], corner[0], axis[0]);
  for (std::size_t k = 1; k < 5; ++k)
    m.revolute("hinge" + std::to_string(k + 1), rod[k - 1], rod[k], corner[k], axis[k % 3]);
  if (mended)
    m.connect("hinge6", at_world<Cylindrical>(corner[5], Axis(axis[2])), rod[4], m.ground);
  else
    m.revolute("hinge6", rod[4], m.ground, corner[5], axis[2]);
  return m;
}

Assembly both_diagonals(bool mended) {
  Plane m("frame");
  const std::vector<V2> at{{0, 0}, {2, 0}, {2, 1}, {0, 1}};
  std::vector<Handle<Particle<2>>> p;
  for (std::size_t i = 0; i < 4; ++i) p.push_back(m.particle("p" + std::to_string(i + 1), 1, at[i][0], at[i][1]));
  for (std::size_t i = 0; i < 4; ++i)
    m.rod("side_" + std::to_string(i + 1), p[i], at[i], p[(i + 1) % 4], at[(i + 1) % 4]);
  m.rod("diagonal_1", p[0], at[0], p[2], at[2]);
  if (!mended) m.rod("diagonal_2", p[1], at[1], p[3], at[3]);
  return m;
}

Assembly coupling_in_a_circle(bool mended) {
  Line m("gears");
  const auto a = m.particle("a", 1), b = m.particle("b", 1), c = m.particle("c", 1);
  m.couple("ab", a, 1, b, -2);
  m.couple("bc", b, 1, c, -3);
  if (!mended) m.couple("ca", c, 6, a, -1);
  return m;
}

Assembly three_points_on_a_line(bool mended) {
  Plane m("carriage");
  const auto car = m.body("car", 1, 1);
  for (int i = 0; i < (mended ? 2 : 3); ++i)
    m.connect("wheel_" + std::to_string(i + 1), PlanarPointOnLine{.on_b = {i - 1.0, 0}}, m.ground, car);
  return m;
}

Assembly duplicate_in_a_nested_assembly(bool mended) {
  const Assembly arm = duplicate_pin(mended);
  Assembly m("pair");
  m.add("left", arm);
  m.add("right", arm);
  return m;
}

Assembly shaft_in_two_sleeves(bool mended) {
  Space m("shaft");
  const auto shaft = m.body("shaft", 1, {1, 1, 1});
  m.connect("sleeve_1", at_world<Cylindrical>(V3(0, 0, -1), Axis(V3(0, 0, 1))), m.ground, shaft);
  if (!mended) m.connect("sleeve_2", at_world<Cylindrical>(V3(0, 0, 1), Axis(V3(0, 0, 1))), m.ground, shaft);
  return m;
}

// The same loop closed twice, once through a link without mass.
Assembly beside_a_massless_link(bool mended) {
  Space m("bridge");
  const auto a = m.body("a", 1, {1, 1, 1}), link = m.body("link", 0, {0, 0, 0}, {1, 0, 0}),
             b = m.body("b", 1, {1, 1, 1}, {2, 0, 0});
  m.weld("left", a, link, {0.5, 0, 0});
  m.weld("right", link, b, {1.5, 0, 0});
  if (!mended) m.weld("direct", a, b, {1, 0, 0});
  return m;
}

Assembly massless_door(bool mended) {
  Space m("door");
  const auto panel = m.body("panel", 0, {0, 0, 0}, {0.5, 0, 0}), handle = m.body("handle", 1, {1, 1, 1}, {1, 0, 0});
  m.revolute("hinge_A", m.ground, panel, {0, 0, 0}, {0, 0, 1});
  if (!mended) m.revolute("hinge_B", m.ground, panel, {0, 0, 1}, {0, 0, 1});
  m.weld("screws", panel, handle, {1, 0, 0});
  return m;
}

Assembly fixed_and_pinned(bool mended) {
  Plane m("post");
  const auto post = m.body("post", 1, 1);
  for (const char* q : {"x", "y", "theta"}) m.drive(std::string("hold_") + q, post, q, 0.0);
  if (!mended) m.pin("pin", m.ground, post, 0, 1);
  return m;
}

Assembly two_loops(bool mended) {
  Plane m("ladder");
  const auto seat = m.body("seat", 1, 1, 1, -2), lower = m.body("lower", 1, 1, 1, -4);
  m.rod("rod_1", m.ground, {0, 0}, seat, {0, -2});
  m.rod("rod_2", m.ground, {2, 0}, seat, {2, -2});
  m.rod("rod_4", seat, {0, -2}, lower, {0, -4});
  m.rod("rod_5", seat, {2, -2}, lower, {2, -4});
  if (!mended) m.rod("rod_3", m.ground, {1, 0}, seat, {1, -2});
  if (!mended) m.rod("rod_6", seat, {1, -2}, lower, {1, -4});
  return m;
}

Assembly redundant_and_free(bool mended) {
  Plane m("mixed");
  const auto rod = m.body("rod", 1, 1, 1, 0), leaf = m.body("leaf", mended, mended, 2, 0);
  m.pin("pin_1", m.ground, rod, 0, 0);
  if (!mended) m.pin("pin_2", m.ground, rod, 0, 0);
  m.pin("tip", rod, leaf, 2, 0);
  return m;
}

}  // namespace

std::vector<Case> redundant_cases() {
  using enum Verdict;
  const auto c = [](const char* name, const char* about, std::vector<std::string> culprits, const char* remedy,
                    Assembly (*model)(bool), std::vector<Verdict> also = {}) {
    return Case{name, about, over_constrained, std::move(culprits), remedy, model, {}, std::move(also)};
  };
  return {
      c("duplicate_pin", "the same pin twice", {"pin_2.x", "pin_2.y"}, "remove pin_2", duplicate_pin),
      c("door_with_two_hinges", "two hinges on one axis: five rows too many", {"hinge_B.z", "hinge_A.z"},
        "hinge_A: revolute -> spherical and hinge_B: revolute -> point_on_line", door_with_two_hinges),
      c("door_with_three_hinges", "three hinges on one axis: ten rows too many", {"hinge_C.z", "hinge_B.z"},
        "remove hinge_B and remove hinge_C", door_with_three_hinges),
      c("third_parallel_rod", "a swing on three parallel rods of equal length", {"rod_3.length"}, "remove rod_3",
        third_parallel_rod),
      c("parallelogram_with_third_crank", "a parallelogram linkage with a third crank", {"head_3.x"},
        "head_3: pin -> planar_point_on_line", [](bool mended) { return parallelogram_with_third_crank(mended); }),
      c("spatial_four_bar", "a planar loop built from revolute joints in space", {"D.z"},
        "D: revolute -> point_on_line", spatial_four_bar),
      c("overlapping_welds", "two bodies welded twice", {"weld_2.x", "weld_2.turn_3"}, "remove weld_2",
        overlapping_welds),
      c("redundant_drivers", "two drivers that say the same", {"motor_2.drive", "motor_1.drive"}, "remove motor_2",
        redundant_drivers),
      c("bricard", "Bricard's mechanism moves although counting rows says that it cannot", {"hinge6.tilt_2"},
        "revolute -> cylindrical", bricard),
      c("both_diagonals", "a frame of rods with both diagonals", {"diagonal_2.length", "diagonal_1.length"},
        "remove diagonal_2", both_diagonals),
      c("coupling_in_a_circle", "three ratios that close a circle", {"ca.sum", "ab.sum", "bc.sum"}, "remove ca",
        coupling_in_a_circle),
      c("three_points_on_a_line", "a car with three wheels on a straight rail, in the plane", {"wheel_3.across"},
        "remove wheel_3", three_points_on_a_line),
      c("duplicate_in_a_nested_assembly", "a subsystem with a duplicate pin, used twice",
        {"left/pin_2.x", "right/pin_2.x"}, "remove left/pin_2", duplicate_in_a_nested_assembly),
      c("shaft_in_two_sleeves", "two sleeves on one shaft", {"sleeve_2.tilt_1"}, "remove sleeve_2",
        shaft_in_two_sleeves),
      c("beside_a_massless_link", "two bodies welded directly and through a massless link",
        {"direct.x", "left.x", "right.x"}, "remove direct", beside_a_massless_link),
      c("massless_door", "a massless panel in two hinges that carries a mass", {"hinge_B.x"}, "remove hinge_B",
        massless_door),
      c("fixed_and_pinned", "a post held by its coordinates and by a pin as well", {"pin.x", "pin.y"}, "remove pin",
        fixed_and_pinned),
      c("two_loops", "two redundant loops, one above the other", {"rod_3.length", "rod_6.length"}, "remove rod_6",
        two_loops),
      c("redundant_and_free", "one row too many here, a mass too little there", {"pin_2.x"}, "remove pin_2",
        redundant_and_free, {under_modelled}),
  };
}

}  // namespace mortise::diagnosis
