// A car on four equal suspensions: the corner is modelled once, and used four times.
//
//     chassis: mass M, moments Jx, Jy       corner = mount (no mass), hub (mass m), spring k between them,
//   [mount]==========[mount]                         tyre: a spring kt between hub and road
//      k  [hub]         [hub]               the mounts are fixed to the chassis, the hubs slide in it along z,
//      kt   |             |                 and lie as high as the centre of mass of the chassis
//
// At the start everything carries its weight, but the front left hub is d too high, as on a bump.  Expected:
//   chassis z'' = k d / M,  roll'' = y k d / Jx,  pitch'' = -x k d / Jy,  hub z'' = -(k + kt) d / m,  other hubs 0
// where (x, y) is the place of that wheel; the raised hub adds only m d^2 to Jx and Jy.

#include <cmath>
#include <string>

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/forces/coordinate_spring.h>
#include <mortise/forces/spring.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/point_on_line.h>
#include <mortise/joints/spherical.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;
  const double M = 1200, Jx = 500, Jy = 1800, Jz = 2000, m = 40, k = 2.5e4, kt = 2e5, g = 9.81, d = 0.001;
  const double x = 1.3, y = 0.75, height = 0.3, spring = 0.4;  // of the hubs; length of a spring that carries M/4

  Assembly corner("corner");
  const auto mount = corner.add("mount", Particle<3>{.mass = 0});
  const auto hub = corner.add("hub", Particle<3>{.mass = m});
  corner.apply("spring", Spring<3>{.stiffness = k, .length = spring + M * g / 4 / k}, mount, hub);
  corner.apply("tyre", CoordinateSpring{.terms = {{0, "z", 1}}, .stiffness = kt, .rest = height + (M / 4 + m) * g / kt},
               hub);

  Assembly car("car");
  car.set_gravity({0, 0, -g});
  const auto chassis = car.add("chassis", RigidBody{.mass = M, .inertia = Vec3<double>(Jx, Jy, Jz).asDiagonal()});
  car.place(chassis, RigidBody::pose({0, 0, height}, {1, 0, 0, 0}));
  for (const double sx : {1.0, -1.0})
    for (const double sy : {1.0, -1.0}) {
      const std::string name = std::string(sx > 0 ? "front_" : "rear_") + (sy > 0 ? "left" : "right");
      const auto wheel = car.add(name, corner);
      const Vec3<double> at(sx * x, sy * y, height), top = at + Vec3<double>(0, 0, spring);
      car.place(wheel[hub], at);
      car.place(wheel[mount], top);
      car.connect(name + "_mount", at_world<Spherical>(top), chassis, wheel[mount]);
      car.connect(name + "_guide", at_world<PointOnLine>(at, Axis(0, 0, 1)), chassis, wheel[hub]);
    }
  const System system(car);
  State s = system.state();
  s.set("front_left/hub.z", height + d);
  const Evaluation e = system.evaluate(s);
  fmt::print("{}", check_rank(system, e).text());
  const Solution solution = solve(system, e);
  const auto show = [&](const char* name, const char* coordinate, double factor, double by_hand) {
    fmt::print("{:<20} {:12.6f} {:12.6f}\n", name,
               std::round(1e9 * factor * solution.acceleration(coordinate)) / 1e9 + 0.0, by_hand);
  };
  fmt::print("{:<20} {:>12} {:>12}\n", "", "acceleration", "by hand");
  show("chassis z", "chassis.z", 1, k * d / M);
  show("chassis roll", "chassis.u1", 2, y * k * d / Jx);  // the body is not turned: u'' is half the acceleration
  show("chassis pitch", "chassis.u2", 2, -x * k * d / Jy);
  show("front left hub z", "front_left/hub.z", 1, -(k + kt) * d / m);
  show("front right hub z", "front_right/hub.z", 1, 0);
  show("rear left hub z", "rear_left/hub.z", 1, 0);
  show("rear right hub z", "rear_right/hub.z", 1, 0);
  const Trajectory run = simulate(system, s, {.duration = 2});
  fmt::print("the energy of the bump, {:.6f} J, is {} for 2 s\n", (k + kt) * d * d / 2,
             run.finished && run.energy_error < 1e-5 ? "kept" : "NOT KEPT");
}
