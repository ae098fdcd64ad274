// A pendulum modelled with an installed mortise; exit code 0 if its acceleration is right.
#include <cmath>

#include <fmt/format.h>

#include <mortise/mortise.h>

int main() {
  using namespace mortise;
  Assembly pendulum("pendulum");
  pendulum.set_gravity({0, -9.81, 0});
  const auto ground = pendulum.add("ground", Ground{});
  const auto rod = pendulum.add("rod", PlanarBody{.mass = 1, .inertia = 1.0 / 12});
  pendulum.connect("pin", Pin{.on_b = {-0.5, 0}}, ground, rod);
  const System system(pendulum);
  State s = system.state();
  s.set("rod.x", 0.5);
  const double theta = solve(system, s).acceleration("rod.theta");
  fmt::print("mortise {}: theta'' = {:.6f}\n", version, theta);
  return std::abs(theta + 1.5 * 9.81) < 1e-12 ? 0 : 1;
}
