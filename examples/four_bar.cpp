// A four-bar linkage at the instant when crank and rocker both stand at right angles to the coupler.
//
//      A o-----------o B       crank OA = a, coupler AB = b (uniform, mass m), rocker CB = 2 a
//        |           |         a torque tau turns the crank, which has the speed w
//      O o           |
//                    |         Expected:  A and B move along x alone and equally fast: the coupler does not turn and
//                    o C       the rocker has w/2.  From the power, tau = (J1 + m a^2 + J4/4) crank'', and rocker'' =
//                              crank''/2.  Along y, b coupler'' = a w^2 - 2 a (w/2)^2 = a w^2 / 2.

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/diagnosis/graph.h>
#include <mortise/forces/applied.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/pin.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;
  const double a = 0.2, b = 0.6, m = 1.5, J1 = 0.03, J4 = 0.08, tau = 4, w = 5;  // J1, J4 about O and C

  Assembly linkage("four bar");
  const auto ground = linkage.add("ground", Ground{});
  const auto crank = linkage.add("crank", PlanarBody{.mass = 1, .inertia = J1});
  const auto coupler = linkage.add("coupler", PlanarBody{.mass = m, .inertia = m * b * b / 12});
  const auto rocker = linkage.add("rocker", PlanarBody{.mass = 1, .inertia = J4});
  linkage.place(coupler, {b / 2, a, 0});
  linkage.place(rocker, {b, -a, 0});
  linkage.connect("O", Pin{}, ground, crank);
  linkage.connect("A", at_world<Pin>(Vec2<double>(0, a)), crank, coupler);
  linkage.connect("B", at_world<Pin>(Vec2<double>(b, a)), coupler, rocker);
  linkage.connect("C", at_world<Pin>(Vec2<double>(b, -a)), ground, rocker);
  linkage.apply("motor", AppliedTorque{[=](const auto&, const auto&) { return tau; }}, crank);

  const System system(linkage);
  State s = system.state();
  s.set("crank.theta'", w);
  s.set("coupler'", {-a * w, 0, 0});
  s.set("rocker.theta'", w / 2);
  const Evaluation e = system.evaluate(s);
  fmt::print("{}", check_rank(system, e).text());
  fmt::print("loop: {}\n", mechanism_graph(system).loop(0));

  const Solution solution = solve(system, e);
  const double crank_dd = tau / (J1 + m * a * a + J4 / 4);
  const auto show = [&](const char* name, double by_hand) {
    fmt::print("{:<10} theta'' = {:10.6f}   by hand {:10.6f}\n", name,
               solution.acceleration(fmt::format("{}.theta", name)), by_hand);
  };
  show("crank", crank_dd);
  show("coupler", a * w * w / (2 * b));
  show("rocker", crank_dd / 2);

  const Trajectory run = simulate(system, s, {.duration = 0.2});
  fmt::print("0.2 s later: {:.6f} J more, by hand {:.6f} J: the work of the motor\n",
             system.energy(run.last).kinetic - system.energy(s).kinetic,
             tau * (run.last.get("crank.theta") - s.get("crank.theta")));
}
