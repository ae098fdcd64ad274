// A uniform rod swings from a pin.  Expected: theta'' = -(3/2) g/L = -14.715 rad/s^2 when it is level.
#include <fmt/format.h>

#include <mortise/assembly/solve.h>
#include <mortise/bodies/ground.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/integrators/rk4.h>
#include <mortise/joints/pin.h>

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

  for (int i = 0; i < 100; ++i) state = rk4_step(system, state, 0.005);
  fmt::print("theta({:.1f} s) = {:.6f}\n", state.t, state.get("rod.theta"));
}
