// Parts that are turned, mechanisms that are locked, starts that lie far away, and what is free at one pose only.

#include <cmath>
#include <numbers>

#include <mortise/bodies/states.h>
#include <mortise/forces/motor.h>
#include <mortise/joints/drive_planar_angle.h>
#include <mortise/joints/planar_gear.h>
#include <mortise/joints/prismatic.h>
#include <mortise/joints/rate.h>
#include <mortise/joints/slider.h>

#include "cases.h"

namespace mortise::diagnosis {
namespace {

constexpr double degree = std::numbers::pi / 180;

// A body on the ground by a joint whose frames it should meet, turned about an axis.
template <class J> Assembly turned_on(const J& joint, double angle, V3 about) {
  Space m("turned");
  const auto lid = m.body("lid", 1, {1, 2, 3});
  const V3 u = std::sin(angle / 2) * about.normalized();
  m.place(lid, RigidBody::pose({0, 0, 0}, {std::cos(angle / 2), u[0], u[1], u[2]}));
  m.connect("seat", joint, m.ground, lid);
  return m;
}
Assembly weld_half_a_turn(bool mended) { return turned_on(Weld{}, mended ? 0 : std::numbers::pi, {1, 0, 0}); }
Assembly weld_upside_down(bool mended) { return turned_on(Weld{}, mended ? 0 : 170 * degree, {0, 1, 1}); }
Assembly rail_half_a_turn(bool mended) { return turned_on(Prismatic{}, mended ? 0 : std::numbers::pi, {0, 0, 1}); }
Assembly hinge_across(bool mended) { return turned_on(Revolute{}, mended ? 0 : 90 * degree, {1, 0, 0}); }
Assembly rail_across(bool mended) { return turned_on(Prismatic{}, mended ? 0 : 90 * degree, {1, 1, 0}); }

// Wheels that all touch each other: neighbours turn against each other, which three cannot.
Assembly gears_in_a_ring(bool mended) {
  Plane m("gears");
  const double h = std::sqrt(3.0);
  const auto a = m.body("a", 1, 1, 0, 0), b = m.body("b", 1, 1, 2, 0), c = m.body("c", 1, 1, 1, h);
  m.pin("A", m.ground, a, 0, 0);
  m.pin("B", m.ground, b, 2, 0);
  m.pin("C", m.ground, c, 1, h);
  m.connect("ab", PlanarGear{.radius_a = 1, .radius_b = 1}, a, b);
  m.connect("bc", PlanarGear{.radius_a = 1, .radius_b = 1}, b, c);
  if (!mended) m.connect("ca", PlanarGear{.radius_a = 1, .radius_b = 1}, c, a);
  return m;
}
// Three hinges of a door; the third is skew by a degree.
Assembly skew_hinge(bool mended) {
  Space m("door");
  const auto door = m.body("door", 1, {1, 1, 1}, {1, 0, 0});
  m.revolute("low", m.ground, door, {0, 0, 0}, {0, 0, 1});
  if (!mended) m.revolute("high", m.ground, door, {0, 0, 2}, {std::sin(degree), 0, std::cos(degree)});
  return m;
}
Assembly skew_rails(bool mended) {
  Space m("table");
  const auto table = m.body("table", 1, {1, 1, 1});
  const double off = 0.5 * degree;
  m.connect("left", at_world<Prismatic>(V3(0, 1, 0), Axis(1, 0, 0)), m.ground, table);
  if (!mended)
    m.connect("right", at_world<Prismatic>(V3(0, -1, 0), Axis(std::cos(off), std::sin(off), 0)), m.ground, table);
  return m;
}
// A four-bar linkage with a diagonal that nobody wanted.
Assembly four_bar(bool diagonal) {
  Plane m("linkage");
  const auto crank = m.body("crank", 1, 1, 0, 0.5), coupler = m.body("coupler", 1, 1, 1, 1),
             rocker = m.body("rocker", 1, 1, 2, 0.5);
  m.pin("A", m.ground, crank, 0, 0);
  m.pin("B", crank, coupler, 0, 1);
  m.pin("C", coupler, rocker, 2, 1);
  m.pin("D", m.ground, rocker, 2, 0);
  if (diagonal) m.rod("brace", m.ground, {0, 0}, rocker, {2, 1});
  return m;
}
Assembly braced_and_driven(bool mended) {
  Assembly m = four_bar(!mended);
  m.apply("motor",
          Motor{.about = PlanarTurn{},
                .torque = [](const auto& angle, const auto&, const auto&) { return 0.0 * angle + 2.0; }},
          m.body<Ground>("ground"), m.body<PlanarBody>("crank"));
  return m;
}
Assembly braced_and_moving(bool mended) { return four_bar(!mended); }
Assembly braced(bool) { return four_bar(true); }

// A length in millimetres among metres.
Assembly millimetres(bool mended) {
  Plane m("rod");
  const auto rod = m.body("rod", 1, 1, 0.5, 0);
  m.connect("pin", Pin{.on_b = {mended ? -0.5 : -500, 0}}, m.ground, rod);
  if (!mended) m.place(rod, {0.5, 0, 0});
  return m;
}

// A crank and a rod without mass that push a slider: in line nothing decides which way they go.
Assembly dead_centre(bool mended) {
  Plane m("press");
  const double angle = mended ? 0.5 : 0, c = std::cos(angle), s = std::sin(angle), end = c + std::sqrt(4 - s * s);
  const auto crank = m.body("crank", 0, 0, c / 2, s / 2, angle),
             rod = m.body("rod", 0, 0, (c + end) / 2, s / 2, std::atan2(-s, end - c)),
             ram = m.body("ram", 1, 1, end, 0);
  m.pin("axle", m.ground, crank, 0, 0);
  m.pin("big_end", crank, rod, c, s);
  m.pin("small_end", rod, ram, end, 0);
  m.connect("rail", at_world<Slider>(V2(0, 0), PlanarAxis(1, 0)), m.ground, ram);
  return m;
}

// A triangle of rods: it cannot move, and nobody wants it to.
Assembly truss(bool) {
  Plane m("truss");
  const auto a = m.particle("a", 1, 1, 1);
  m.rod("left", m.ground, {0, 0}, a, {1, 1});
  m.rod("right", m.ground, {2, 0}, a, {1, 1});
  return m;
}
Assembly driven_four_bar(bool) {
  Assembly m = four_bar(false);
  m.connect("drive", DrivePlanarAngle{.f = [](const auto& t) { return t * t; }}, m.body<Ground>("ground"),
            m.body<PlanarBody>("crank"));
  return m;
}
// Two states that change at given rates: no freedom is left, and they move.
Assembly oscillator(bool) {
  Assembly m("oscillator");
  const auto x = m.add("x", States{.coordinates = {"x", "y"}});
  m.connect("law", Rate{[](const auto& s, const auto&) { return vec(s.q[1], -s.q[0]); }}, x);
  return m;
}
Assembly two_gears(bool) { return gears_in_a_ring(true); }

}  // namespace

std::vector<Case> turned_cases() {
  using enum Verdict;
  const auto c = [](const char* name, const char* about, Verdict verdict, std::vector<std::string> culprits,
                    const char* remedy, Assembly (*model)(bool), std::vector<Verdict> also = {},
                    std::function<void(State&)> start = {}) {
    return Case{name, about, verdict, std::move(culprits), remedy, model, std::move(start), std::move(also)};
  };
  return {
      c("weld_half_a_turn", "a weld half a turn off: its rows are met, and hold nothing", turned, {"seat", "lid"},
        "turn lid at the start by 180 degrees", weld_half_a_turn),
      c("weld_upside_down", "a weld 170 degrees off, which would come to rest at half a turn", turned, {"seat"},
        "correct axis_a or axis_b of seat", weld_upside_down, {inconsistent_start}),
      c("rail_half_a_turn", "a prismatic joint half a turn off", turned, {"seat", "lid"}, "turn lid at the start",
        rail_half_a_turn),
      c("hinge_across", "a revolute joint whose axes are perpendicular", conflicting, {"seat.tilt_1"},
        "are 90 degrees apart: correct its axis_a", hinge_across),
      c("rail_across", "a prismatic joint whose axes are perpendicular", conflicting, {"seat.tilt_1"},
        "are 90 degrees apart: correct its axis_a", rail_across, {inconsistent_start}),

      c("gears_in_a_ring", "three gears that all mesh with each other", locked, {"ab", "bc", "ca"},
        "remove ca: 1 DOF without it", gears_in_a_ring),
      c("skew_hinge", "two hinges of a door whose axes are a degree apart", locked, {"high", "low"},
        "they are 1 deg apart", skew_hinge, {over_constrained}),
      c("skew_rails", "two rails of a table half a degree apart", locked, {"left", "right"}, "they are 0.5 deg apart",
        skew_rails, {over_constrained}),
      c("braced_and_driven", "a linkage with a brace, and a motor that would turn it", locked, {"brace"},
        "remove brace: 1 DOF without it", braced_and_driven),
      c("braced_and_moving", "the same without the motor, but with a speed at the start", locked, {"brace"},
        "remove brace: 1 DOF without it", braced_and_moving, {inconsistent_start},
        [](State& s) {  // as it would turn without the brace
          for (const auto& [name, value] : {std::pair{"crank.x", -0.5},
                                            {"crank.theta", 1.0},
                                            {"coupler.x", -1.0},
                                            {"rocker.x", -0.5},
                                            {"rocker.theta", 1.0}})
            s.v[s.names->find_one(name)] = value;
        }),

      c("millimetres", "a rod placed in millimetres, pinned in metres", inconsistent_start, {"pin.x"},
        "check the units", millimetres),

      c("dead_centre", "a crank and a rod without mass in line: free at this pose only", singular_pose, {"crank.y"},
        "start from another pose", dead_centre, {under_modelled}),
  };
}

std::vector<Case> structures() {
  const auto c = [](const char* name, const char* about, Assembly (*model)(bool),
                    std::function<void(State&)> start = {}) {
    return Case{name, about, {}, {}, "", model, std::move(start)};
  };
  return {c("truss", "a node on two rods: it cannot move, and nobody wants it to", truss),
          c("braced_linkage", "a linkage with a brace is a structure where nothing drives it", braced),
          c("driven_linkage", "a linkage moved by a driver has no freedom left, and moves", driven_four_bar),
          c("oscillator", "states at rest with a law for their rates", oscillator),
          c("two_gear_pairs", "gears in a row", two_gears)};
}

}  // namespace mortise::diagnosis
