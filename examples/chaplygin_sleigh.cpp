// Chaplygin's sleigh: a body on ice with a blade that does not slide sideways.
//
//     blade              u: speed along the blade, w = theta'
//   ====|=====o====>     the centre of mass o lies a ahead of the blade
//
// Expected:  u' = a w^2,  (J + m a^2) w' = -m a u w.  With Jb = J + m a^2 and U^2 = u0^2 + Jb w0^2 / m, which is kept:
//   u = U tanh(k t + c),  w = U sqrt(m / Jb) / cosh(k t + c),  k = m a U / Jb,  c = artanh(u0 / U)
// No force pushes it, and yet it ends up going straight, and faster, with the centre of mass in front.

#include <cmath>

#include <fmt/format.h>

#include <mortise/bodies/planar_body.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/knife_edge.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;
  const double m = 1, J = 0.1, a = 0.2, u0 = 1, w0 = 2;

  Assembly ice("ice");
  const auto sleigh = ice.add("sleigh", PlanarBody{.mass = m, .inertia = J, .centre = {a, 0}});  // origin: the blade
  ice.connect("blade", KnifeEdge{}, sleigh);
  const System system(ice);
  State s = system.state();
  s.set("sleigh'", {u0, 0, w0});

  const Evaluation e = system.evaluate(s);
  fmt::print("{}", check_rank(system, e).text());
  const double Jb = J + m * a * a, U = std::sqrt(u0 * u0 + Jb * w0 * w0 / m), k = m * a * U / Jb,
               c = std::atanh(u0 / U);
  const Solution start = solve(system, e);
  fmt::print("u' = {:.6f}   closed form {:.6f}\n", start.acceleration("sleigh.x"), a * w0 * w0);
  fmt::print("w' = {:.6f}   closed form {:.6f}\n", start.acceleration("sleigh.theta"), -m * a * u0 * w0 / Jb);

  fmt::print("\n{:>4} {:>12} {:>12} {:>12} {:>12}\n", "t", "u", "closed form", "w", "closed form");
  for (int i = 0; i <= 4; ++i) {
    const double theta = s.q[2], u = s.v[0] * std::cos(theta) + s.v[1] * std::sin(theta), x = k * s.t + c;
    fmt::print("{:4.1f} {:12.7f} {:12.7f} {:12.7f} {:12.7f}\n", s.t, u, U * std::tanh(x), s.v[2],
               U * std::sqrt(m / Jb) / std::cosh(x));
    s = simulate(system, s, {.duration = 0.5, .steps = {.tolerance = 1e-11}}).last;
  }
  fmt::print("energy {:.7f} J, at the start {:.7f} J\n", system.energy(s).total(), m * U * U / 2);
}
