// A bead on a rough wire: a constraint that does work.
//
//        y   wire: y = x tan(beta), held at the origin
//        |  /o bead, 1 kg; besides holding it, the wire drags it with C = -c v
//        | /
//        |/______ x
//
// The constraint force is Qc = ideal part + non-ideal part, and v'Qc = v'C on all virtual displacements v [UK02, Eq.
// 10]. Expected, along the wire: s'' = -g sin(beta) - (c/m) s'.  For a particle: q'' = (I - A+A)(a + d) + A+b [UM23,
// Eq. 28].

#include <cmath>

#include <fmt/format.h>

#include <mortise/bodies/particle.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/functor.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;
  const double m = 1, c = 0.4, g = 9.81, beta = 0.6, speed = 2;

  const auto on_wire = Holonomic{[=](const auto& bead, const auto&) {
    return bead.coordinate("y") * std::cos(beta) - bead.coordinate("x") * std::sin(beta);
  }};
  const auto drag = [=](auto& bead, const auto&) {
    bead.apply_to("x", -c * bead.speed("x"));
    bead.apply_to("y", -c * bead.speed("y"));
  };

  Assembly assembly("bead");
  assembly.set_gravity({0, -g, 0});
  const auto bead = assembly.add("bead", Particle<2>{.mass = m});
  assembly.connect("wire", Nonideal(on_wire, drag), bead);
  const System system(assembly);

  State s = system.state();
  s.set("bead'", {speed * std::cos(beta), speed * std::sin(beta)});
  const Evaluation e = system.evaluate(s);
  fmt::print("{}", check_rank(system, e).text());

  const Solution solution = solve(system, e);
  const double along = std::cos(beta) * solution.a[0] + std::sin(beta) * solution.a[1];
  fmt::print("s'' = {:.9f}   closed form {:.9f}\n", along, -g * std::sin(beta) - c / m * speed);
  fmt::print("{:<8} {:>12} {:>12} {:>12}\n", "", "Qc", "ideal", "non-ideal");
  for (Index i = 0; i < 2; ++i)
    fmt::print("{:<8} {:12.6f} {:12.6f} {:12.6f}\n", system.coordinate(i), solution.Qc[i], solution.Qc_ideal[i],
               solution.Qc_nonideal[i]);
  fmt::print("power of the constraint {:.6f} W = that of its law, {:.6f} W\n", s.v.dot(solution.Qc),
             -c * speed * speed);

  s = simulate(system, s, {.duration = 1}).last;
  const double k = c / m, terminal = -g * std::sin(beta) / k;  // s' = terminal + (speed - terminal) exp(-k t)
  fmt::print("after {:.0f} s: s' = {:.6f}   closed form {:.6f}\n", s.t,
             std::cos(beta) * s.v[0] + std::sin(beta) * s.v[1], terminal + (speed - terminal) * std::exp(-k * s.t));
}
