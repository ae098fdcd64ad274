// The wheel on the incline and a particle without mass that nothing touches [UP06, Example 2].
//
//        ( o ) wheel: theta, y          . ghost: x, mass 0
//       \ .
//
// Nothing determines x: rank [M; A] is 2 of 3.  solve() refuses; solve_family() gives all motions, q'' = q''_0 + N eta.
// Expected: theta'' and y'' as without the particle, x'' arbitrary                        [UP06, Eq. 5.23]

#include <cmath>

#include <fmt/format.h>

#include <mortise/bodies/particle.h>
#include <mortise/bodies/subsystem.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/coupling.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;
  const double m = 3, R = 0.5, Ic = m * R * R / 2, g = 9.81, alpha = 0.4;

  const MatrixXd M = Vec2<double>(m * R * R + Ic, 0).asDiagonal();
  const auto weight = [=](const auto&, const auto&, const auto&) { return vec(0.0, m * g); };

  Assembly incline("incline");
  const auto wheel = incline.add("wheel", Subsystem{.coordinates = {"theta", "y"}, .M = M, .Q = weight});
  incline.connect("rolling", Coupling{.terms = {{0, "y", 1}, {0, "theta", -R * std::sin(alpha)}}}, wheel);
  incline.add("ghost", Particle<1>{.mass = 0});

  const System system(incline);
  const Evaluation e = system.evaluate(system.state());
  try {
    solve(system, e);
    return 1;  // never: the motion is not determined
  } catch (const UnderModelled& error) {
    fmt::print("solve() refuses:\n{}\n", error.what());
  }

  const MotionFamily family = solve_family(system, e);
  fmt::print("all motions: smallest + N eta; smallest in {}\n", family.norm);
  fmt::print("{:<14} {:>12} {:>8} {:>14}\n", "", "smallest", "N", "eta = 7");
  const VectorXd member = family.member(VectorXd::Constant(system.size(), 7));
  for (Index i = 0; i < system.size(); ++i)
    fmt::print("{:<14} {:12.6f} {:8.3f} {:14.6f}\n", system.coordinate(i) + "''", family.smallest[i],
               std::abs(family.N(i, 0)), member[i]);
  const double theta_dd = m * g * R * std::sin(alpha) / (m * R * R + Ic);
  fmt::print("theta'' in closed form {:.6f}\n", theta_dd);

  incline.remove("ghost");
  const System alone(incline);
  fmt::print("without the ghost theta is {:.6f} after 1 s, in closed form {:.6f}\n",
             simulate(alone, alone.state(), {.duration = 1}).last.get("wheel.theta"), theta_dd / 2);
}
