// A cantilever beam of two elements with its mass lumped in the nodes: the rotations of the nodes have no mass.
//
//   |/=========o=========o       n1 at L/2 with mass m, n2 at L with mass m/2; dofs uy and rz of each
//   |/         n1        n2      bending stiffness EI
//
// Nothing determines the rotations: the report says so.  As no moment acts on the nodes, the rows rz of K q = 0 do.
// Expected: bent by a force P at its end the beam has  uy = P x^2 (3 L - x) / (6 EI),  rz = P x (2 L - x) / (2 EI).
// Let go, the springs of the beam pull with -P at the end and with nothing at n1:  n2.uy'' = -P / (m/2),  n1.uy'' = 0.

#include <cmath>

#include <fmt/format.h>

#include <mortise/bodies/structure.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/coupling.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;
  const double L = 2, EI = 500, m = 3, P = 40, l = L / 2;

  // One element bends by EI/l^3 [12 6l -12 6l; 6l 4l^2 -6l 2l^2; ...]; n1 is the end of one and the start of the other.
  const double k = EI / (l * l * l);
  MatrixXd K(4, 4);
  K << 24, 0, -12, 6 * l, 0, 8 * l * l, -6 * l, 2 * l * l, -12, -6 * l, 12, -6 * l, 6 * l, 2 * l * l, -6 * l, 4 * l * l;
  K *= k;
  const MatrixXd M = Vec<double, 4>(m, 0, m / 2, 0).asDiagonal();

  Assembly assembly("beam");
  const auto beam = assembly.add(
      "beam", Structure({.M = M, .K = K, .dofs = {{"n1", "uy"}, {"n1", "rz"}, {"n2", "uy"}, {"n2", "rz"}}}));
  const auto bent = [=](double x) {
    return Vec2<double>(P * x * x * (3 * L - x) / (6 * EI), P * x * (2 * L - x) / (2 * EI));
  };
  Vec<double, 4> q;
  q << bent(l), bent(L);
  assembly.place(beam, q);
  const System loose(assembly);
  fmt::print("{}\n", check_rank(loose, loose.evaluate(loose.state())).text());

  for (const int row : {1, 3}) {  // the moments on the nodes are 0
    Coupling moment;
    for (int i = 0; i < 4; ++i)
      if (K(row, i) != 0) moment.terms.push_back({0, loose.coordinate(i).substr(5), K(row, i)});
    assembly.connect(row == 1 ? "moment_1" : "moment_2", moment, beam);
  }
  const System system(assembly);
  const Evaluation e = system.evaluate(system.state());
  fmt::print("{}", check_rank(system, e).text());
  const Solution s = solve(system, e);
  const auto show = [&](const char* name, double by_hand) {
    fmt::print("  {}'' = {:11.6f}   by hand {:11.6f}\n", name, std::round(1e9 * s.acceleration(name)) / 1e9 + 0.0,
               by_hand);
  };
  show("beam.n1.uy", 0);
  show("beam.n2.uy", -P / (m / 2));
  const Trajectory run = simulate(system, system.state(), {.duration = 1});
  fmt::print("let go: {:.6f} J at the start, by hand {:.6f} J, {} for 1 s\n", system.energy(system.state()).total(),
             P * bent(L)[0] / 2, run.energy_error < 1e-6 ? "kept" : "NOT KEPT");
}
