// A lift on massless links, with a pin forgotten.  Expected: the report names the link that turns freely; with the pin
// it is held, and the platform falls along the circles of its cranks: y'' = -g cos^2(angle).
#include <cmath>

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/diagnosis/report_stages.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/pin.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;

  // Two massless cranks, used as one subsystem: it has no mass anywhere.
  Assembly cranks("cranks");
  const auto ground = cranks.add("ground", Ground{});
  const auto left = cranks.add("left", PlanarBody{}), right = cranks.add("right", PlanarBody{});
  cranks.place(right, {2, 0, 0});
  cranks.connect("left_foot", Pin{}, ground, left);
  cranks.connect("right_foot", Pin{.on_a = {2, 0}}, ground, right);

  Assembly lift("lift");
  lift.set_gravity({0, -9.81, 0});
  const auto below = lift.add("cranks", cranks);
  const auto platform = lift.add("platform", PlanarBody{.mass = 100, .inertia = 50});
  lift.place(platform, {2, 0, 0});
  lift.connect("left_head", Pin{.on_a = {1, 0}, .on_b = {-1, 0}}, below[left], platform);

  fmt::print("1. The right crank is not connected to the platform yet.\n\n");
  fmt::print("{}", check_model(System(lift)).text());

  fmt::print("\n2. With a pin at its head, stage by stage.\n\n");
  lift.connect("right_head", Pin{.on_a = {1, 0}, .on_b = {1, 0}}, below[right], platform);
  const double c = 0.6, s = 0.8, angle = std::atan2(s, c);  // of the cranks
  lift.nested("cranks").place(left, {0, 0, angle});
  lift.nested("cranks").place(right, {2, 0, angle});
  lift.place(platform, {1 + c, s, 0});
  fmt::print("{}", check_stages(lift).text());

  // The platform moves on circles: at rest its acceleration is the part of g along them.
  const System system(lift);
  const double a = solve(system, system.state()).acceleration("platform.y");
  fmt::print("\nplatform.y'' = {:.4f} m/s^2   closed form {:.4f}\n", a, -9.81 * c * c);
  const State later = simulate(system, system.state(), {.duration = 0.3}).last;
  const double drop = system.state().get("platform.y") - later.get("platform.y");
  fmt::print("0.3 s later it moves at {:.6f} m/s   closed form {:.6f}\n",
             std::hypot(later.get("platform.x'"), later.get("platform.y'")), std::sqrt(2 * 9.81 * drop));
}
