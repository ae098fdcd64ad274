// One subsystem used twice: two pendulums, checked alone, then tied together by a link.
//
//     o ground            o ground           arm = ground, rod, pin
//     | left/rod          | right/rod        whole = left + right + link
//     |___________________|
//            link (massless)
//
// Expected: swinging together, both rods turn like one pendulum: theta'' = -(3/2) (g/L) sin(theta).

#include <cmath>

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/diagnosis/graph.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/pin.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;
  const double m = 2, L = 1, g = 9.81, theta = 0.3, span = 1.5;

  Assembly arm("arm");
  arm.set_gravity({0, -g, 0});
  const auto ground = arm.add("ground", Ground{});
  const auto rod = arm.add("rod", PlanarBody{.mass = m, .inertia = m * L * L / 12});
  arm.connect("pin", Pin{.on_b = {0, L / 2}}, ground, rod);
  const System alone(arm);
  fmt::print("{}", check_rank(alone, alone.evaluate(alone.state())).text());

  Assembly whole("swing");
  whole.set_gravity({0, -g, 0});
  const auto left = whole.add("left", arm), right = whole.add("right", arm);
  whole.nested("right").remove("pin");  // the right one hangs `span` further on
  whole.connect("right_pin", Pin{.on_a = {span, 0}, .on_b = {0, L / 2}}, right[ground], right[rod]);
  whole.connect("link", Distance<2>{.on_a = {0, -L / 2}, .on_b = {0, -L / 2}, .length = span}, left[rod], right[rod]);

  const System system(whole);
  State s = system.state();
  const Vec2<double> hang = L / 2 * Vec2<double>(std::sin(theta), -std::cos(theta));
  s.set("left/rod", {hang[0], hang[1], theta});
  s.set("right/rod", {span + hang[0], hang[1], theta});
  const Evaluation e = system.evaluate(s);
  fmt::print("{}", check_rank(system, e).text());

  const MechanismGraph graph = mechanism_graph(system);
  fmt::print("{} component, {} loop: {}\n", graph.components.size(), graph.loops.size(), graph.loop(0));
  const Solution solution = solve(system, e);
  for (const char* name : {"left/rod.theta", "right/rod.theta"})
    fmt::print("{}'' = {:.9f}   closed form {:.9f}\n", name, solution.acceleration(name),
               -1.5 * g / L * std::sin(theta));
  const State later = simulate(system, s, {.duration = 1, .steps = {.tolerance = 1e-10}}).last;
  const double drop = std::cos(later.get("right/rod.theta")) - std::cos(theta);
  fmt::print("1 s later: |theta'| = {:.6f}   closed form {:.6f}\n", std::abs(later.get("left/rod.theta'")),
             std::sqrt(3 * g / L * drop));
}
