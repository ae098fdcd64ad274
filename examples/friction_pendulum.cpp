// A pendulum on a dry bearing: friction that depends on the reaction, which depends on friction.
//
//    (o) pin of radius r, friction coefficient mu       J: about the pin
//     |
//     |  l        it swings through its lowest position with the speed w > 0
//    [m]
//
// The pin carries |F| = m sqrt((l theta'')^2 + f^2), f = g + l w^2, and J theta'' = -mu r |F|.  With k = mu r m / J:
//   theta'' = -k f / sqrt(1 - k^2 l^2)
// The friction has the power J theta'' w < 0.  On a wet bearing, with the force -c times speed:  J theta'' = -c r^2 w.

#include <cmath>

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/friction.h>
#include <mortise/joints/pin.h>
#include <mortise/solve/solve.h>

using namespace mortise;

constexpr double m = 2, l = 0.5, Jc = 0.1, J = Jc + m * l * l, r = 0.2, g = 9.81;

struct Swing {
  Solution now;
  Trajectory later;
};

template <class Joint> Swing swinging(const Joint& pin, double w) {
  Assembly assembly("pendulum");
  assembly.set_gravity({0, -g, 0});
  const auto ground = assembly.add("ground", Ground{});
  const auto bob = assembly.add("bob", PlanarBody{.mass = m, .inertia = Jc, .centre = {0, -l}});  // origin: the pin
  assembly.connect("pin", pin, ground, bob);
  const System system(assembly);
  State s = system.state();
  s.set("bob.theta'", w);
  return {solve(system, s), simulate(system, s, {.duration = 0.05})};
}

int main() {
  const double mu = 0.6, k = mu * r * m / J, c = 3;
  // Dry friction is regularised at small speeds of sliding; here that speed is too small to show.
  const Coulomb dry{Pin{}, {.coefficient = mu, .radius = r, .speed = 1e-9}};
  const Viscous wet{Pin{}, {.coefficient = c, .radius = r}};

  fmt::print("{:>6} {:>14} {:>12} {:>12} {:>12} {:>14} {:>12}\n", "speed", "dry: theta''", "by hand", "power [W]",
             "by hand", "wet: theta''", "by hand");
  double off = 0;
  for (const double w : {0.5, 1.0, 2.0, 4.0}) {
    const auto [s, later] = swinging(dry, w);
    off = std::max(off, later.finished ? later.energy_error : 1);
    const double by_hand = -k * (g + l * w * w) / std::sqrt(1 - k * k * l * l);
    fmt::print("{:6.1f} {:14.6f} {:12.6f} {:12.6f} {:12.6f} {:14.6f} {:12.6f}\n", w, s.acceleration("bob.theta"),
               by_hand, s.reaction("pin").power, J * by_hand * w, swinging(wet, w).now.acceleration("bob.theta"),
               -c * r * r * w / J);
  }
  fmt::print("0.05 s later what is lost {} the heat of the pin\n", off < 1e-6 ? "is" : "IS NOT");
}
