// A row of N four-bar windows: 2 N + 1 equal bars, one degree of freedom, N loops.
//
//   B0 o-----o B1----o B2      every bar: L = 1 m, m = 1 kg, uniform; uprights stand on the ground at (i, 0)
//      |     |      |          N = 2; at the start all uprights stand and B0 moves with 1 m/s along x
//      o     o      o
//
// Expected, phi from the upright:  I phi'' = W g sin(phi),  I = (N + 1)/3 + N,  W = (N + 1)/2 + N,  and the
// place of B0 from the closed form of this motion by elliptic functions.  Where the uprights lie level N rows
// become redundant and the windows may fold: simulate() passes and tells these poses.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/diagnosis/graph.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/pin.h>
#include <mortise/solve/solve.h>
#include <mortise/solve/solver.h>

int main() {
  using namespace mortise;
  const int N = 2;
  const double g = 9.81;

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

  const Trajectory run = simulate(system, s, {.duration = 10, .steps = {.tolerance = 1e-10}, .sample = 0.5});
  const Mat<double, 4, 3> exact{{0.5, 0.69528663316440051, 0.71873256343574162},
                                {1, -0.19502030194943509, -0.98079920566217383},
                                {5, -0.81131046100510741, -0.58461554534897555},
                                {10, 0.32845811154081538, 0.94451853817860096}};
  fmt::print("{:>4} {:>11} {:>11}   {:>11} {:>11}\n", "t", "B0 x", "y", "exact x", "y");
  for (int i = 0; i < 4; ++i) {
    const auto k = static_cast<Index>(std::lround(2 * exact(i, 0)));
    fmt::print("{:4.1f} {:11.7f} {:11.7f}   {:11.7f} {:11.7f}\n", run.value(k, "t"), 2 * run.value(k, "upright0.x"),
               2 * run.value(k, "upright0.y"), exact(i, 1), exact(i, 2));
  }
  const auto flat =
      std::find_if(run.notes.begin(), run.notes.end(), [](const auto& note) { return note.kind == "singular pose"; });
  fmt::print("{} singular poses passed, the first at {:.6f} s; exact 0.714356\n", run.notes.size(), flat->t);
  fmt::print("energy kept to 1e-6 J: {}\n", run.energy_error < 1e-6);
}
