// A row of N four-bar windows: 2 N + 1 equal bars, one degree of freedom, N loops.
//
//   B0 o-----o B1----o B2      every bar: L = 1 m, m = 1 kg, uniform; uprights stand on the ground at (i, 0)
//      |     |      |          N = 2; at the start all uprights stand and B0 moves with 1 m/s along x
//      o     o      o
//
// Expected, phi from the upright:  I phi'' = W g sin(phi),  I = (N + 1)/3 + N,  W = (N + 1)/2 + N,  and at t = 0.5 s
// the place of B0 from the closed form of this motion by elliptic functions.  Where the uprights lie level, at 0.714 s,
// N rows become redundant and the windows may fold: the motion is followed up to there.

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <mortise/assembly/graph.h>
#include <mortise/assembly/solve.h>
#include <mortise/assembly/solver.h>
#include <mortise/bodies/ground.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/integrators/rk4.h>
#include <mortise/joints/pin.h>

int main() {
  using namespace mortise;
  const int N = 2;
  const double g = 9.81, I = (N + 1) / 3.0 + N, W = (N + 1) / 2.0 + N;

  Assembly windows("windows");
  windows.set_gravity({0, -g, 0});
  const auto ground = windows.add("ground", Ground{});
  const PlanarBody bar{.mass = 1, .inertia = 1.0 / 12};
  std::vector<Handle<PlanarBody>> upright;
  for (int i = 0; i <= N; ++i) {
    const std::string n = std::to_string(i);
    upright.push_back(windows.add("upright" + n, bar));  // theta = 0 where it stands
    windows.place(upright.back(), {double(i), 0.5, 0});
    windows.connect("foot" + n, at_world<Pin>(Vec2<double>(i, 0)), ground, upright.back());
    if (i == 0) continue;
    const auto coupler = windows.add("coupler" + n, bar);
    windows.place(coupler, {i - 0.5, 1, 0});
    windows.connect("left" + n, at_world<Pin>(Vec2<double>(i - 1, 1)), upright[std::size_t(i) - 1], coupler);
    windows.connect("right" + n, at_world<Pin>(Vec2<double>(i, 1)), coupler, upright.back());
  }
  const System system(windows);
  State s = system.state();
  for (const auto& body : system.bodies())
    if (body.size > 0)
      s.v.segment<3>(body.first) = body.name[0] == 'u' ? Vec3<double>(0.5, 0, -1) : Vec3<double>(1, 0, 0);
  fmt::print("{}", check_rank(system, system.evaluate(s)).text());
  fmt::print("{} loops\n", mechanism_graph(system).loops.size());

  Solver solver(system);
  for (int i = 0; i < 500; ++i) s = rk4_step(solver, s, 0.001);
  const double phi = -s.get("upright0.theta");
  fmt::print("t = {:.1f} s\n  B0    = ({:.8f}, {:.8f})\n  exact   ({:.8f}, {:.8f})\n", s.t, 2 * s.get("upright0.x"),
             2 * s.get("upright0.y"), 0.69528663316440051, 0.71873256343574162);
  fmt::print("  phi'' = {:.6f}   by hand {:.6f}\n", -solve(system, s).acceleration("upright0.theta"),
             W * g * std::sin(phi) / I);
  fmt::print("  energy {:.6f} J, at the start 35.835 J\n", system.energy(s).total());
}
