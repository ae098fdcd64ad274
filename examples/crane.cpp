// A crane with an elastic boom: a finite element model of the boom, and a load on a rope.
//
//   |/====o====o====o====o n4      boom: length L, mass per length w/g, bending stiffness EI; four beam elements
//   |/                   |         rope: length h, no mass
//   |/                 [load] m
//
// Expected: hanging still, the boom is bent as in the tables,
//   uy(x) = -m g x^2 (3 L - x) / (6 EI) - w x^2 (6 L^2 - 4 L x + x^2) / (24 EI),   rz = uy'
// which the elements meet exactly in their nodes; nothing accelerates and the rope carries m g.
// With the rope cut, the load falls with -g, and the boom starts as if a force m g pushed its tip up: M q'' = m g
// there.

#include <cmath>
#include <string>

#include <fmt/format.h>

#include <mortise/bodies/particle.h>
#include <mortise/bodies/structure.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/coupling.h>
#include <mortise/joints/distance.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;
  const int N = 4;
  const double L = 8, EI = 4e6, per_length = 50, m = 500, g = 9.81, h = 3, l = L / N, w = per_length * g;

  Mat<double, 4> Ke, Me;  // of one element: uy, rz of its two nodes
  Ke << 12, 6 * l, -12, 6 * l, 6 * l, 4 * l * l, -6 * l, 2 * l * l, -12, -6 * l, 12, -6 * l, 6 * l, 2 * l * l, -6 * l,
      4 * l * l;
  Me << 156, 22 * l, 54, -13 * l, 22 * l, 4 * l * l, 13 * l, -3 * l * l, 54, 13 * l, 156, -22 * l, -13 * l, -3 * l * l,
      -22 * l, 4 * l * l;
  MatrixXd K = MatrixXd::Zero(2 * N + 2, 2 * N + 2), M = K;
  for (int i = 0; i < N; ++i) {
    K.block<4, 4>(2 * i, 2 * i) += EI / (l * l * l) * Ke;
    M.block<4, 4>(2 * i, 2 * i) += per_length * l / 420 * Me;
  }
  Structure::Given given{.M = M, .K = K};
  VectorXd bent(2 * N + 2);
  for (int i = 0; i <= N; ++i) {
    const double x = i * l;
    const std::string node = fmt::format("n{}", i);
    given.dofs.push_back({node, "uy"});
    given.dofs.push_back({node, "rz"});
    given.nodes.push_back({node, {x, 0, 0}});
    bent[2 * i] = -m * g * x * x * (3 * L - x) / (6 * EI) - w * x * x * (6 * L * L - 4 * L * x + x * x) / (24 * EI);
    bent[2 * i + 1] = -m * g * x * (2 * L - x) / (2 * EI) - w * x * (3 * L * L - 3 * L * x + x * x) / (6 * EI);
  }
  Assembly crane("crane");
  crane.set_gravity({0, -g, 0});
  const auto boom = crane.add("boom", Structure(given));
  const auto load = crane.add("load", Particle<2>{.mass = m});
  crane.place(boom, bent);
  crane.place(load, {L, bent[2 * N] - h});
  crane.connect("clamp_uy", Coupling{.terms = {{0, "n0.uy", 1}}}, boom);
  crane.connect("clamp_rz", Coupling{.terms = {{0, "n0.rz", 1}}}, boom);
  crane.connect("rope", Distance<2>{.on_a = {L, 0}, .length = h}, boom, load);

  const System system(crane);
  const Evaluation e = system.evaluate(system.state());
  fmt::print("{}", check_rank(system, e).text());
  const Solution s = solve(system, e);
  fmt::print("tip {:.6f} m below; largest acceleration {} 1e-6\n", -bent[2 * N],
             s.a.cwiseAbs().maxCoeff() < 1e-6 ? "below" : "ABOVE");
  const auto show = [](const char* what, double computed, double by_hand) {
    fmt::print("{:<22} {:12.4f}   by hand {:12.4f}\n", what, computed, by_hand);
  };
  show("rope [N]", -s.reaction("rope").lambda[0], m * g);
  show("clamp, force [N]", s.reaction("clamp_uy").lambda[0], m * g + w * L);
  show("clamp, moment [N m]", s.reaction("clamp_rz").lambda[0], m * g * L + w * L * L / 2);

  crane.remove("rope");
  const System cut(crane);
  const Solution falling = solve(cut, cut.state());
  const VectorXd push = given.M * falling.a.head(2 * N + 2);
  fmt::print("the rope is cut:\n");
  show("load'' [m/s^2]", falling.acceleration("load.y"), -g);
  show("push on the tip [N]", push[2 * N], m * g);
  const Trajectory run = simulate(cut, cut.state(), {.duration = 1});
  show("fallen in 1 s [m]", cut.state().get("load.y") - run.last.get("load.y"), g / 2);
}
