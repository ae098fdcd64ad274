// A body of one's own, examples/own/bead.h.

#include <doctest/doctest.h>

#include <mortise/bodies/particle.h>
#include <mortise/joints/pin.h>
#include <mortise/solve/solve.h>

#include "../examples/own/bead.h"
#include "check_joint.h"

using namespace mortise;

namespace {

constexpr double round_off = 1e-12, g = 9.81, k = 0.7;
const auto parabola = [](const auto& s) { return vec(s, k * s * s); };

// (1 + 4 k^2 s^2) s'' + 4 k^2 s s'^2 + 2 g k s = 0
double on_parabola(double s, double v) { return -2 * k * s * (2 * k * v * v + g) / (1 + 4 * k * k * s * s); }

}  // namespace

TEST_CASE("bead: slides on a parabola as the closed form says") {
  Assembly a("wire");
  a.set_gravity({0, -g, 0});
  a.add("bead", Bead{.mass = 2, .wire = parabola});
  const System system(a);
  check_derivatives(system);
  State s = system.state();
  s.set("bead.s", 0.8);
  s.set("bead.s'", -1.5);
  CHECK(check_rank(system, system.evaluate(s)).dof == 1);
  CHECK(solve(system, s).acceleration("bead.s") == doctest::Approx(on_parabola(0.8, -1.5)).epsilon(round_off));
  CHECK(system.energy(s).kinetic == doctest::Approx(0.5 * 2 * 1.5 * 1.5 * (1 + 4 * k * k * 0.64)).epsilon(round_off));

  CHECK_THROWS_WITH_AS(a.add("light", Bead{.mass = -1, .wire = parabola}),
                       "body 'light': mass = -1 kg is negative; give a number >= 0 (0 is allowed)", InvalidModel);
}

TEST_CASE("bead: without mass it is under-modelled alone, and carries a particle that is pinned to it") {
  Assembly a("wire");
  a.set_gravity({0, -g, 0});
  const auto bead = a.add("bead", Bead{.wire = parabola});
  const System alone(a);
  const RankReport report = check_rank(alone, alone.evaluate(alone.state()));
  REQUIRE(report.free.size() == 1);
  CHECK(report.free[0].parts[0].coordinate == "bead.s");

  const auto load = a.add("load", Particle<2>{.mass = 2});
  a.connect("pin", Pin{}, bead, load);
  const System system(a);
  check_joints(system);
  State s = system.state();
  s.set("bead.s", 0.8);
  s.set("bead.s'", -1.5);
  s.set("load", {0.8, k * 0.64});
  s.set("load'", {-1.5, -1.5 * 2 * k * 0.8});
  CHECK(check_rank(system, system.evaluate(s)).dof == 1);
  CHECK(solve(system, s).acceleration("bead.s") == doctest::Approx(on_parabola(0.8, -1.5)).epsilon(round_off));
}
