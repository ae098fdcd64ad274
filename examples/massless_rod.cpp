// A particle on a massless rod, swinging from the ground.
//
//   ground o===== rod: no mass, no inertia =====o tip, 1 kg
//         hinge                                end
//
// The rod's 3 x 3 mass matrix is zero.  Held by the hinge alone it may spin freely: the report says so by name.
// With the joint at its end [M; A] has full rank.  Expected: theta'' = -(g/L) cos(theta).

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/pin.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;
  Assembly pendulum("pendulum");
  pendulum.set_gravity({0, -9.81, 0});
  const auto ground = pendulum.add("ground", Ground{});
  const auto rod = pendulum.add("rod", PlanarBody{.mass = 0, .inertia = 0});
  const auto tip = pendulum.add("tip", Particle<2>{.mass = 1});
  pendulum.connect("hinge", Pin{}, ground, rod);

  fmt::print(
      "  hinge o===== rod, massless =====  o tip, 1 kg\n\n1. The rod and the particle are not connected yet.\n\n");
  const System unfinished(pendulum);
  fmt::print("{}", check_rank(unfinished, unfinished.evaluate(unfinished.state())).text());

  fmt::print("\n2. With a pin at the end of the rod.\n\n");
  pendulum.connect("end", Pin{.on_a = {1, 0}}, rod, tip);
  const System system(pendulum);
  State s = system.state();
  const double theta = -0.5;
  s.set("rod.theta", theta);
  s.set("tip", {std::cos(theta), std::sin(theta)});
  const RankReport report = check_rank(system, system.evaluate(s));
  fmt::print("{}", report.text());
  require(report);

  const Solution solution = solve(system, s);
  fmt::print("\n{}", solution.text());
  fmt::print("  theta'' = {:.6f}   closed form {:.6f}\n", solution.acceleration("rod.theta"), -9.81 * std::cos(theta));

  fmt::print("\n3. A short motion.\n\n{:>8} {:>10} {:>10} {:>10} {:>10}\n", "t", "theta", "theta'", "tip.x", "tip.y");
  const Trajectory run = simulate(system, s, {.duration = 1, .steps = {.tolerance = 1e-12}, .sample = 0.25});
  double drift = 0;
  for (const auto& joint : run.drift) drift = std::max(drift, joint.largest);
  for (Index i = 0; i < run.samples(); ++i)
    fmt::print("{:8.2f} {:10.5f} {:10.5f} {:10.5f} {:10.5f}\n", run.value(i, "t"), run.value(i, "rod.theta"),
               run.value(i, "rod.theta'"), run.value(i, "tip.x"), run.value(i, "tip.y"));
  const bool kept = run.energy_error < 1e-9 && drift < 1e-9;
  fmt::print("energy {} to 1e-9 J, joints to 1e-9 m\n", kept ? "kept" : "NOT kept");
}
