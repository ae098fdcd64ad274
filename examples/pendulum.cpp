// A uniform rod swings from a pin.  Expected: theta'' = -(3/2) g/L = -14.715 rad/s^2 when it is level.
#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/pin.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;
  const double m = 2, L = 1;

  Assembly pendulum("pendulum");
  pendulum.set_gravity({0, -9.81, 0});
  const auto ground = pendulum.add("ground", Ground{});
  const auto rod = pendulum.add("rod", PlanarBody{.mass = m, .inertia = m * L * L / 12});
  pendulum.connect("pin", Pin{.on_b = {-L / 2, 0}}, ground, rod);

  const System system(pendulum);
  State state = system.state();
  state.set("rod", {L / 2, 0, 0});  // x, y, theta: the rod starts level

  const Evaluation evaluation = system.evaluate(state);
  fmt::print("{}", check_rank(system, evaluation).text());
  fmt::print("{}", solve(system, evaluation).text());

  const Trajectory run = simulate(system, state, {.duration = 0.5});
  fmt::print("theta({:.1f} s) = {:.6f}\n", run.last.t, run.last.get("rod.theta"));
}
