// Too much, and in contradiction: rows that cannot hold together.

#include "cases.h"

#include <cmath>
#include <numbers>

namespace mortise::diagnosis {
namespace {

Assembly two_rods_of_different_length(bool mended) {
  Plane m("rods");
  const auto bob = m.body("bob", 1, 1, 1, 0);
  m.connect("rod_1", Distance<2>{.length = 1}, m.ground, bob);
  if (!mended) m.connect("rod_2", Distance<2>{.length = 1.2}, m.ground, bob);
  return m;
}

Assembly driver_against_driver(bool mended) {
  Plane m("motor");
  const auto rotor = m.body("rotor", 1, 1);
  m.pin("bearing", m.ground, rotor, 0, 0);
  m.drive("slow", rotor, "theta", [](const auto& t) { return t; });
  if (!mended) m.drive("fast", rotor, "theta", [](const auto& t) { return 2.0 * t; });
  return m;
}

Assembly accelerated_against_fixed(bool mended) {
  Plane m("motor");
  const auto rotor = m.body("rotor", 1, 1);
  m.pin("bearing", m.ground, rotor, 0, 0);
  m.drive("brake", rotor, "theta", 0.0);
  if (!mended) m.drive("spin_up", rotor, "theta", [](const auto& t) { return 3.0 * t * t; });
  return m;
}

Assembly impossible_four_bar(bool mended) {
  Plane m("four_bar");
  const double ground = mended ? 2 : 5;
  const auto crank = m.body("crank", 1, 1, 0, 0, std::numbers::pi / 2),
             rocker = m.body("rocker", 1, 1, ground, 0, std::numbers::pi / 2);
  m.connect("A", Pin{}, m.ground, crank);
  m.connect("D", Pin{.on_a = {ground, 0}}, m.ground, rocker);
  m.connect("coupler", Distance<2>{.on_a = {1, 0}, .on_b = {1, 0}, .length = 2}, crank, rocker);
  return m;
}

Assembly impossible_triangle(bool mended) {
  Plane m("triangle");
  const auto a = m.particle("a", 1, 0, 0), b = m.particle("b", 1, 1, 0), c = m.particle("c", 1, 0.5, std::sqrt(0.75));
  m.connect("ab", Distance<2>{.length = 1}, a, b);
  m.connect("bc", Distance<2>{.length = 1}, b, c);
  m.connect("ca", Distance<2>{.length = mended ? 1.0 : 3.0}, c, a);
  return m;
}

Assembly pinned_in_two_places(bool mended) {
  Plane m("rod");
  const auto rod = m.body("rod", 1, 1);
  m.connect("pin_1", Pin{.on_a = {0, 0}}, m.ground, rod);
  if (!mended) m.connect("pin_2", Pin{.on_a = {0, 0.3}}, m.ground, rod);
  return m;
}

Assembly ratios_with_a_gap(bool mended) {
  Line m("gears");
  const auto a = m.particle("a", 1), b = m.particle("b", 1), c = m.particle("c", 1);
  m.couple("ab", a, 1, b, -2);
  m.couple("bc", b, 1, c, -3);
  if (!mended) m.couple("ca", c, 6, a, -1, 0.25);
  return m;
}

Assembly growing_rod_against_a_fixed_one(bool mended) {
  Plane m("rods");
  const auto a = m.particle("a", 1, 0, 0), b = m.particle("b", 1, 1, 0);
  m.connect("fixed", Distance<2>{.length = 1}, a, b);
  if (!mended) m.connect("growing", Distance<2>{.length = 1, .rate = 0.5}, a, b);
  return m;
}

Assembly conflict_in_a_nested_assembly(bool mended) {
  Assembly m("pair");
  m.add("good", two_rods_of_different_length(true));
  m.add("bad", two_rods_of_different_length(mended));
  return m;
}

Assembly conflict_through_a_massless_link(bool mended) {
  Plane m("massless");
  const auto link = m.body("link", 0, 0), load = m.body("load", 1, 1, 1, 0);
  m.pin("tip", link, load, 1, 0);
  for (const char* q : {"x", "y", "theta"}) m.drive(std::string("hold_") + q, link, q, 0.0);
  if (!mended) m.drive("turn", link, "theta", [](const auto& t) { return t; });
  return m;
}

}  // namespace

std::vector<Case> conflicting_cases() {
  using enum Verdict;
  const auto at_speed = [](const char* coordinate, double speed) {
    return [=](State& s) { s.set(std::string(coordinate) + "'", speed); };
  };
  const auto c = [](const char* name, const char* about, std::vector<std::string> culprits, const char* remedy,
                    Assembly (*model)(bool), std::function<void(State&)> start = {}) {
    return Case{name,   about, conflicting,      std::move(culprits),
                remedy, model, std::move(start), {inconsistent_start, over_constrained}};
  };
  return {
      c("two_rods_of_different_length", "one point held at two distances from another",
        {"rod_2.length", "rod_1.length"}, "remove rod_2", two_rods_of_different_length),
      c("driver_against_driver", "two drivers of one angle at different speeds", {"fast.drive", "slow.drive"},
        "remove fast", driver_against_driver, at_speed("rotor.theta", 1)),
      c("accelerated_against_fixed", "one driver accelerates what another holds", {"spin_up.drive", "brake.drive"},
        "remove one of them", accelerated_against_fixed),
      c("impossible_four_bar", "links that are too short for the distance they bridge", {"coupler.length"},
        "change lengths", impossible_four_bar),
      c("impossible_triangle", "three rods that cannot form a triangle", {"ca.length", "ab.length", "bc.length"},
        "change lengths", impossible_triangle),
      c("pinned_in_two_places", "one point of a rod pinned to two points of the ground", {"pin_2.y", "pin_1.y"},
        "remove pin_2", pinned_in_two_places),
      c("ratios_with_a_gap", "three ratios that close a circle, but for a constant", {"ca.sum"}, "remove ca",
        ratios_with_a_gap),
      c("growing_rod_against_a_fixed_one", "a rod that grows beside one that does not",
        {"growing.length", "fixed.length"}, "remove growing", growing_rod_against_a_fixed_one),
      c("conflict_in_a_nested_assembly", "two rods of different length in one of two subsystems", {"bad/rod_2.length"},
        "remove bad/rod_2", conflict_in_a_nested_assembly),
      c("conflict_through_a_massless_link", "a massless link that is held and turned at once",
        {"turn.drive", "hold_theta.drive"}, "remove turn", conflict_through_a_massless_link),
  };
}

}  // namespace mortise::diagnosis
