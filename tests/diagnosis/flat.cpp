// Rows without a gradient, ends that coincide, and faults that stand beside others.

#include <cmath>

#include <mortise/bodies/states.h>
#include <mortise/bodies/structure.h>
#include <mortise/bodies/subsystem.h>
#include <mortise/forces/functor.h>
#include <mortise/joints/functor.h>
#include <mortise/joints/knife_edge.h>
#include <mortise/joints/rate.h>
#include <mortise/joints/screw.h>

#include "cases.h"

namespace mortise::diagnosis {
namespace {

// A bead in the plane with one row of its x and y.
Assembly bead_with(double x, double y, auto row) {
  Plane m("bead");
  const auto bead = m.particle("bead", 1, x, y);
  m.connect("ring", Holonomic{[=](const auto& b, const auto&) { return row(b.coordinate("x"), b.coordinate("y")); }},
            bead);
  return m;
}
Assembly centre_of_a_ring(bool mended) {
  return bead_with(mended ? 1 : 0, 0, [](const auto& x, const auto& y) { return x * x + y * y - 1.0; });
}
Assembly saddle_of_a_curve(bool mended) {  // two lines cross where both gradients vanish
  return bead_with(mended ? 1 : 0, 0, [](const auto& x, const auto& y) { return x * y; });
}
Assembly row_of_squares(bool mended) {
  return bead_with(0, 0, [=](const auto& x, const auto& y) { return mended ? x - y : x * x + y * y; });
}
Assembly squared_distance(bool mended) {
  return bead_with(0.6, 0.8, [=](const auto& x, const auto& y) {
    const auto off = x * x + y * y - 1.0;
    return mended ? off : off * off;
  });
}
Assembly constant_row(bool mended) {
  return bead_with(0, 0, [=](const auto& x, const auto&) { return mended ? x : 1.0 + 0.0 * x; });
}
Assembly row_times_zero(bool mended) {
  return bead_with(0, 0, [=](const auto& x, const auto&) { return (mended ? 1.0 : 0.0) * x; });
}

Assembly rod_without_direction(bool mended) {
  Plane m("pair");
  const auto p = m.particle("p", 1, 0, 0), q = m.particle("q", 1, mended ? 1 : 0, 0);
  m.connect("rod", Distance<2>{.length = 1}, p, q);
  return m;
}
Assembly strut_without_direction(bool mended) {
  Space m("pair");
  const auto a = m.body("a", 1, {1, 1, 1}), b = m.body("b", 1, {1, 1, 1}, {1, 0, 0});
  m.connect("strut", Distance<3>{.on_a = {1, 0, 0}, .on_b = {0, mended ? 2.0 : 0.0, 0}, .length = 2}, a, b);
  return m;
}

// A force that is no number, beside something else that is wrong.
void bad_force(Plane& m, bool mended) {
  const auto gas = m.particle("gas", 1, mended ? 1 : -1, 0);
  m.apply("law", Force{[](auto& b, const auto&) {
            using std::sqrt;
            b.apply_to("x", sqrt(b.coordinate("x")));
          }},
          gas);
}
Assembly bad_force_and_leaf(bool mended) {
  Plane m("two");
  const auto rod = m.body("rod", mended ? 1 : 0, mended ? 1 : 0);
  m.pin("pin", m.ground, rod, 0, 0);
  bad_force(m, mended);
  return m;
}
Assembly bad_force_and_duplicate(bool mended) {
  Plane m("two");
  const auto rod = m.body("rod", 1, 1, 1, 0);
  m.pin("pin_1", m.ground, rod, 0, 0);
  if (!mended) m.pin("pin_2", m.ground, rod, 0, 0);
  bad_force(m, mended);
  return m;
}
Assembly bad_mass_and_leaf(bool mended) {
  Plane m("two");
  const auto rod = m.body("rod", mended ? 1 : 0, mended ? 1 : 0);
  m.pin("pin", m.ground, rod, 0, 0);
  const double xx = mended ? 1 : -1;
  m.add("tank", Subsystem{{"x"},
                          [=](const VectorXd&, double) { return MatrixXd(MatrixXd::Constant(1, 1, xx)); },
                          [](const VectorXd&, const VectorXd&, double) { return VectorXd(VectorXd::Zero(1)); }});
  return m;
}
Assembly bad_joint_and_leaf(bool mended) {
  Plane m("two");
  const auto rod = m.body("rod", mended ? 1 : 0, mended ? 1 : 0);
  m.pin("pin", m.ground, rod, 0, 0);
  const auto p = m.particle("p", 1, 2, 0), q = m.particle("q", 1, mended ? 3 : 2, 0);
  m.connect("link", Distance<2>{.length = 1}, p, q);
  return m;
}
Assembly energy_that_is_nan(bool mended) {
  Line m("gas");
  const auto gas = m.particle("gas", 1);
  m.place(gas, VectorXd::Constant(1, mended ? 1 : -1));
  m.apply("law", Potential{[](const auto& b, const auto&) {
            using std::log;
            return -log(b.coordinate("x"));
          }},
          gas);
  return m;
}

// A beam of elements of equal length, in its plane.
Assembly girder(int elements, double mass) {
  const double h = 1.0 / elements, EI = 1000;
  const int nodes = elements + 1;
  MatrixXd K = MatrixXd::Zero(2 * nodes, 2 * nodes), M = K;
  MatrixXd k(4, 4);
  k << 12, 6 * h, -12, 6 * h, 6 * h, 4 * h * h, -6 * h, 2 * h * h, -12, -6 * h, 12, -6 * h, 6 * h, 2 * h * h, -6 * h,
      4 * h * h;
  for (int e = 0; e < elements; ++e) K.block(2 * e, 2 * e, 4, 4) += EI / (h * h * h) * k;
  for (int i = 0; i < nodes; ++i) M(2 * i, 2 * i) = mass * h, M(2 * i + 1, 2 * i + 1) = mass * h;
  Structure::Given given{.M = M, .K = K};
  for (int i = 0; i < nodes; ++i)
    for (const char* d : {"uy", "rz"}) given.dofs.push_back({"n" + std::to_string(i), d});
  Plane m("girder");
  m.add("beam", Structure(given));
  return m;
}
Assembly floating_girder(bool mended) { return girder(6, mended ? 1 : 0); }

// Two blades of a sleigh side by side hold the same twice.
Assembly blades_in_line(bool mended) {
  Plane m("sleigh");
  const auto sleigh = m.body("sleigh", 1, 1);
  m.connect("left", KnifeEdge{.point = {0, 1}}, sleigh);
  if (!mended) m.connect("right", KnifeEdge{.point = {0, -1}}, sleigh);
  return m;
}

// A lag without its law.
Assembly state_without_law(bool mended) {
  Line m("control");
  const auto cart = m.particle("cart", 1);
  const auto lag = m.add("lag", States{.coordinates = {"x"}});
  const Rate law{[](const auto& s, const auto& c, const auto&) { return c.coordinate("x") - s.q[0]; }};
  if (mended) m.connect("law", law, lag, cart);
  return m;
}

// A screw and a hinge on one axis, beside a pendulum that moves.
Assembly screw_and_hinge(bool mended) {
  Space m("press");
  const auto ram = m.body("ram", 1, {1, 1, 1});
  m.connect("screw", Screw{.pitch = 0.01}, m.ground, ram);
  if (!mended) m.revolute("hinge", m.ground, ram, {0, 0, 0}, {0, 0, 1});
  const auto bob = m.body("bob", 1, {1, 1, 1}, {3, 0, 0});
  m.spherical("ball", m.ground, bob, {2, 0, 0});
  return m;
}

}  // namespace

std::vector<Case> flat_cases() {
  using enum Verdict;
  const auto c = [](const char* name, const char* about, Verdict verdict, std::vector<std::string> culprits,
                    const char* remedy, Assembly (*model)(bool), std::vector<Verdict> also = {}) {
    return Case{name, about, verdict, std::move(culprits), remedy, model, {}, std::move(also)};
  };
  return {
      c("centre_of_a_ring", "a bead at the centre of its ring: no direction leads to it", flat_row, {"ring.1"},
        "start from another pose", centre_of_a_ring),
      c("saddle_of_a_curve", "a bead where its curve crosses itself", flat_row, {"ring.1"}, "start from another pose",
        saddle_of_a_curve, {singular_pose}),
      c("row_of_squares", "x^2 + y^2 = 0 is met at one point, and holds nothing there", flat_row, {"ring.1"},
        "write without squares", row_of_squares),
      c("squared_distance", "a ring whose equation is squared", flat_row, {"ring.1"}, "write without squares",
        squared_distance),
      c("constant_row", "1 = 0", flat_row, {"ring.1"}, "in the coordinates that it shall hold", constant_row),
      c("row_times_zero", "0 x = 0", flat_row, {"ring.1"}, "remove ring", row_times_zero),
      c("rod_without_direction", "a rod between two points that were not placed", not_finite, {"rod"},
        "place 'p' and 'q' apart", rod_without_direction),
      c("strut_without_direction", "a strut whose ends coincide in space", not_finite, {"strut"},
        "correct the points of strut", strut_without_direction),
      c("bad_force_and_leaf", "a force that is no number, and a rod without mass: both are told", not_finite, {"law"},
        "check its formula", bad_force_and_leaf, {under_modelled}),
      c("bad_force_and_duplicate", "a force that is no number, and a pin too many", not_finite, {"law"},
        "check its formula", bad_force_and_duplicate, {over_constrained}),
      c("bad_mass_and_leaf", "a negative mass, and a rod without mass", not_semidefinite, {"tank"},
        "correct the masses", bad_mass_and_leaf, {under_modelled}),
      c("bad_joint_and_leaf", "a link without direction, and a rod without mass", not_finite, {"link"},
        "place 'p' and 'q' apart", bad_joint_and_leaf, {under_modelled}),
      c("energy_that_is_nan", "a potential that is no number where its force is one", not_finite, {"law"},
        "check its formula", energy_that_is_nan),
      c("floating_girder", "a girder whose masses were not exported, fixed nowhere", indeterminate, {"beam.n6.uy"},
        "give it mass", floating_girder, {under_modelled, hidden_constraint}),
      c("state_without_law", "a state of a controller that no law moves", under_modelled, {"lag.x"},
        "give lag.x a law: a joint rate", state_without_law),
      c("screw_and_hinge", "a ram on a screw and a hinge, beside a pendulum that moves", locked, {"screw", "hinge"},
        "remove hinge: 1 DOF", screw_and_hinge, {over_constrained}),
      c("blades_in_line", "two blades of a sleigh in one line", over_constrained, {"right.across"}, "remove right",
        blades_in_line),
  };
}

}  // namespace mortise::diagnosis
