// A slider-crank without friction or gravity, in the two positions that can be worked out by hand.
//
//        A              O = (0, 0), crank OA = r at the angle phi, rod AB = l, piston B slides on y = 0
//   r  /   ` . l
//   O o- - - - -`[B]    crank: inertia J about O; rod: uniform, mass m; piston: mass M; a force P on it along x
//
// phi = 90 deg, at rest: the rod moves without turning, B as fast as A, so that
//   phi'' = -P r / (J + (m + M) r^2)   and   B'' = -r phi''
// phi = 0, phi' = w, P = 0: the dead centre,  phi'' = 0  and  B'' = -r w^2 (1 + r/l)

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/forces/applied.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/slider.h>
#include <mortise/solve/solve.h>

using namespace mortise;

constexpr double r = 0.1, l = 0.25, J = 0.02, m = 0.8, M = 1.2;

Solution at(double phi, double w, double P) {
  Assembly engine("engine");
  const auto ground = engine.add("ground", Ground{});
  const auto crank = engine.add("crank", PlanarBody{.mass = 3, .inertia = J});
  const auto rod = engine.add("rod", PlanarBody{.mass = m, .inertia = m * l * l / 12});
  const auto piston = engine.add("piston", PlanarBody{.mass = M, .inertia = 0.001});
  engine.connect("O", Pin{}, ground, crank);
  engine.connect("A", Pin{.on_a = {r, 0}, .on_b = {-l / 2, 0}}, crank, rod);
  engine.connect("B", Pin{.on_a = {l / 2, 0}}, rod, piston);
  engine.connect("guide", Slider{}, ground, piston);
  engine.apply("gas", AppliedForce{Vec2<double>(0, 0), [=](const auto&, const auto&) { return vec(P, 0.0); }}, piston);

  const double beta = -std::asin(r / l * std::sin(phi)), beta_dot = -r * w * std::cos(phi) / (l * std::cos(beta));
  const Vec2<double> A = r * Vec2<double>(std::cos(phi), std::sin(phi)), half(l / 2 * std::cos(beta), -A[1] / 2);
  const System system(engine);
  State s = system.state();
  s.q << 0, 0, phi, A + half, beta, A[0] + 2 * half[0], 0, 0;
  s.v << 0, 0, w, -w * A[1] - beta_dot * half[1], w * A[0] + beta_dot * half[0], beta_dot,
      -w * A[1] - 2 * beta_dot * half[1], 0, 0;
  const Evaluation e = system.evaluate(s);
  fmt::print("{}", check_rank(system, e).text());
  const State later = simulate(system, s, {.duration = 0.1}).last;
  const auto rounded = [](double x) { return std::round(1e7 * x) / 1e7 + 0.0; };  // prints no -0
  fmt::print("  0.1 s later {:10.6f} J   gas {:10.6f} J\n",
             rounded(system.energy(later).kinetic - system.energy(s).kinetic),
             rounded(P * (later.get("piston.x") - s.get("piston.x"))));
  return solve(system, e);
}

void show(const Solution& s, double phi, double B) {
  fmt::print("  phi'' = {:11.6f}   by hand {:11.6f}\n", std::round(1e9 * s.acceleration("crank.theta")) / 1e9 + 0.0,
             phi);
  fmt::print("  B''   = {:11.6f}   by hand {:11.6f}\n\n", s.acceleration("piston.x"), B);
}

int main() {
  const double P = 50, w = 30, phi_dd = -P * r / (J + (m + M) * r * r);
  fmt::print("phi = 90 deg, at rest, P = {} N\n", P);
  show(at(std::numbers::pi / 2, 0, P), phi_dd, -r * phi_dd);
  fmt::print("phi = 0, phi' = {} rad/s\n", w);
  show(at(0, w, 0), 0, -r * w * w * (1 + r / l));
}
