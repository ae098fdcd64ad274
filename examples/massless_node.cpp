// A node without mass in a line of springs: nothing but the balance of forces says where it is.
//
//   |/\/\/\ o /\/\/\ [block]        1. two springs in series: the balance gives the node's position
//   |/\/\/\ o --|]-- [block]        2. a spring and a damper in series: it gives the node's velocity
//
// solve() refuses both: no mass moves with the node and no joint holds it.  find_hidden() says what the model implies,
// complete() adds it.  Expected, with block.x = 0.1 and block.x' = 0.5 at the start:
//   1. node.x = share (0.1 cos w t + 0.5/w sin w t),   share = k2 / (k1 + k2),  w^2 = k1 share / m
//   2. node.x'' + (k1/c) node.x' + (k1/m) node.x = 0,  from node.x = 0 and node.x' = 0.5

#include <cmath>

#include <fmt/format.h>

#include <mortise/bodies/particle.h>
#include <mortise/diagnosis/hidden.h>
#include <mortise/forces/coordinate_spring.h>
#include <mortise/integrators/simulate.h>

using namespace mortise;

constexpr double m = 2, k1 = 100, k2 = 300, c = 20;

Completed model(const char* second, const CoordinateSpring& between) {
  Assembly line("line");
  const auto node = line.add("node", Particle<1>{.mass = 0});
  const auto block = line.add("block", Particle<1>{.mass = m});
  line.apply("spring_1", CoordinateSpring{.terms = {{0, "x", 1}}, .stiffness = k1}, node);
  line.apply(second, between, node, block);
  const System system(line);

  State start = system.state();
  start.set("block.x", 0.1);
  start.set("block.x'", 0.5);
  fmt::print("{}", find_hidden(system, start).text());
  const Completed completed = complete(system, start);
  fmt::print("{}", completed.text());
  fmt::print("  start: node.x {:.6f}, node.x' {:.6f}\n", completed.state.get("node.x"), completed.state.get("node.x'"));
  return completed;
}

template <class F> void show(const Completed& model, const F& by_hand) {
  const Trajectory run = simulate(model.system, model.state, {.duration = 1, .sample = 0.25});
  fmt::print("{:>7} {:>12} {:>12}\n", "t", "node.x", "by hand");
  for (Index i = 0; i < run.samples(); ++i)
    fmt::print("{:7.2f} {:12.6f} {:12.6f}\n", run.value(i, "t"), run.value(i, "node.x"), by_hand(run.value(i, "t")));
}

int main() {
  const std::vector<CoordinateSpring::Term> across{{0, "x", -1}, {1, "x", 1}};
  fmt::print("1. Two springs in series.\n\n");
  const double w = std::sqrt(k1 * k2 / (k1 + k2) / m), share = k2 / (k1 + k2);
  show(model("spring_2", {.terms = across, .stiffness = k2}),
       [&](double t) { return share * (0.1 * std::cos(w * t) + 0.5 / w * std::sin(w * t)); });

  fmt::print("\n2. A spring and a damper in series.\n\n");
  const double d = k1 / c / 2, p = std::sqrt(k1 / m - d * d);  // node.x = exp(-d t) 0.5/p sin(p t), from 0
  show(model("damper", {.terms = across, .damping = c}),
       [&](double t) { return std::exp(-d * t) * 0.5 / p * std::sin(p * t); });
}
