// A robot arm whose forearm has no mass, with motors in shoulder and elbow.
//
//                 T tool, m        upper arm SE = a: uniform, mass M; forearm ET = b: no mass, no inertia
//                 |
//                 | b              The motor in S turns the upper arm by t1, that in E the forearm against it by t2.
//   S o===========o E
//          a                       Expected, at rest with a right angle in the elbow:
//                                    upper'' = (t1 - t2 - (M/2 + m) g a) / (M a^2/3 + m a^2),  forearm'' = t2 / (m b^2)
//                                  and to hold still:  t2 = 0,  t1 = (M/2 + m) g a

#include <cmath>

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/forces/motor.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/pin.h>
#include <mortise/solve/solve.h>

using namespace mortise;

constexpr double a = 0.8, b = 0.5, M = 6, m = 2, g = 9.81;

void move(double t1, double t2) {
  Assembly robot("robot");
  robot.set_gravity({0, -g, 0});
  const auto ground = robot.add("ground", Ground{});
  const auto upper = robot.add("upper", PlanarBody{.mass = M, .inertia = M * a * a / 12, .centre = {a / 2, 0}});
  const auto forearm = robot.add("forearm", PlanarBody{.mass = 0, .inertia = 0});
  const auto tool = robot.add("tool", Particle<2>{.mass = m});
  robot.place(forearm, {a, 0, 0});
  robot.place(tool, {a, b});
  robot.connect("shoulder", Pin{}, ground, upper);
  robot.connect("elbow", at_world<Pin>(Vec2<double>(a, 0)), upper, forearm);
  robot.connect("wrist", Pin{.on_a = {0, b}}, forearm, tool);
  robot.apply("t1", Motor{PlanarTurn{}, [=](const auto&, const auto&, const auto&) { return t1; }}, ground, upper);
  robot.apply("t2", Motor{PlanarTurn{}, [=](const auto&, const auto&, const auto&) { return t2; }}, upper, forearm);

  const System system(robot);
  const Evaluation e = system.evaluate(system.state());
  fmt::print("t1 = {:.2f} N m, t2 = {:.2f} N m\n{}", t1, t2, check_rank(system, e).text());
  const Solution s = solve(system, e);
  const auto rounded = [](double x) { return std::round(1e7 * x) / 1e7 + 0.0; };  // prints no -0
  const auto show = [&](const char* name, double by_hand) {
    fmt::print("  {:<15} = {:10.6f}   by hand {:10.6f}\n", fmt::format("{}''", name), rounded(s.acceleration(name)),
               rounded(by_hand));
  };
  show("upper.theta", (t1 - t2 - (M / 2 + m) * g * a) / (M * a * a / 3 + m * a * a));
  show("forearm.theta", t2 / (m * b * b));
  show("tool.x", -t2 / (m * b));

  const State start = system.state(), later = simulate(system, start, {.duration = 0.5}).last;
  const double u = later.get("upper.theta"), work = t1 * u + t2 * (later.get("forearm.theta") - u);
  fmt::print("  0.5 s later   {:10.6f} J   motors {:11.6f} J\n",
             rounded(system.energy(later).total() - system.energy(start).total()), rounded(work));
}

int main() {
  move(60, 5);
  move(40, -8);
  move((M / 2 + m) * g * a, 0);
}
