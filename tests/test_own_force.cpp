// A force of one's own, examples/own/gas_spring.h.

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/solve/solve.h>

#include "../examples/own/gas_spring.h"
#include "check_joint.h"

using namespace mortise;

TEST_CASE("gas spring: moves a piston as the closed form says, and its energy is told") {
  const double F = 20, L = 0.4, n = 1.3, c = 5, m = 2, x = 0.25, u = 0.6;
  Assembly a("piston");
  const auto ground = a.add("ground", Ground{});
  const auto piston = a.add("piston", Particle<1>{.mass = m});
  a.apply("gas", GasSpring<1>{.force = F, .length = L, .exponent = n, .damping = c}, ground, piston);
  const System system(a);
  State s = system.state();
  s.set("piston.x", x);
  s.set("piston.x'", u);
  CHECK(check_rank(system, system.evaluate(s)).dof == 1);
  constexpr double round_off = 1e-13;
  CHECK(solve(system, s).acceleration("piston.x") ==
        doctest::Approx((F * std::pow(L / x, n) - c * u) / m).epsilon(round_off));
  CHECK(system.energy(s).potential == doctest::Approx(F * L / (n - 1) * std::pow(L / x, n - 1)).epsilon(round_off));

  CHECK_THROWS_WITH_AS(a.apply("cold", GasSpring<1>{.exponent = 1}, ground, piston),
                       "force 'cold': exponent = 1 is not above 1; give a number > 1", InvalidModel);
}

TEST_CASE("gas spring: its exact slopes match finite differences between turning bodies") {
  Assembly a("two free bodies");
  const auto one = a.add("one", PlanarBody{.mass = 1, .inertia = 2});
  const auto two = a.add("two", PlanarBody{.mass = 3, .inertia = 1, .centre = {0.3, 0}});
  a.apply("gas", GasSpring<2>{.ends = {{0.5, 2}, {0.1, -1}}, .force = 3, .damping = 0.7}, one, two);
  check_derivatives(System(a));
}
