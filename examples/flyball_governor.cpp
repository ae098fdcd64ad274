// A flyball governor: two balls on massless arms lift a sleeve.
//
//            o hinge, on the axis          all four arms: length L, no mass
//       L  / | `                           balls m, sleeve M; the spindle turns with W and takes the balls along
//     (m) (  |  ) (m)
//          ` | /  L                        Expected, arms at the angle a to the axis, a' = 0:
//           [M] sleeve                       (m + 2 M sin^2 a) L a'' = m L W^2 sin a cos a - (m + M) g sin a
//
// so that it is in balance at W^2 = (m + M) g / (m L cos a), and the sleeve rises by 2 L sin(a) a''.

#include <cmath>

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/coupling.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/drive_angle.h>
#include <mortise/joints/point_on_plane.h>
#include <mortise/joints/revolute.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;
  const double m = 0.5, M = 2, L = 0.2, g = 9.81, a = 0.6, sa = std::sin(a), ca = std::cos(a);
  const double balance = std::sqrt((m + M) * g / (m * L * ca));

  fmt::print("in balance at {:.4f} rad/s\n\n{:>10} {:>14} {:>12}\n", balance, "W/balance", "sleeve z''", "by hand");
  double moved = 0;
  for (const double ratio : {0.8, 1.0, 1.2}) {
    const double W = ratio * balance;
    Assembly governor("governor");
    governor.set_gravity({0, 0, -g});
    const auto ground = governor.add("ground", Ground{});
    const auto spindle = governor.add("spindle", RigidBody::of(Inertia::cylinder(1, 0.01, 0.5)));
    const auto sleeve = governor.add("sleeve", Particle<3>{.mass = M});
    governor.place(sleeve, {0, 0, -2 * L * ca});
    governor.connect("bearing", Revolute{}, ground, spindle);
    governor.connect("motor", DriveAngle{.f = [=](const auto& t) { return W * t; }}, ground, spindle);
    governor.connect("guide_x", Coupling{.terms = {{0, "x", 1}}}, sleeve);
    governor.connect("guide_y", Coupling{.terms = {{0, "y", 1}}}, sleeve);
    for (const double side : {-1.0, 1.0}) {
      const std::string name = side < 0 ? "left" : "right";
      const auto ball = governor.add(name, Particle<3>{.mass = m});
      governor.place(ball, {side * L * sa, 0, -L * ca});
      governor.connect(name + "_fork", PointOnPlane{.axis_a = {0, 1, 0}}, spindle, ball);  // a plane that turns
      governor.connect(name + "_upper", Distance<3>{.length = L}, ground, ball);
      governor.connect(name + "_lower", Distance<3>{.length = L}, ball, sleeve);
    }
    const System system(governor);
    State s = system.state();
    s.set("spindle'", RigidBody::rates(s.get_all("spindle"), {0, 0, 0}, {0, 0, W}));
    s.set("left.y'", -W * L * sa);
    s.set("right.y'", W * L * sa);
    const Evaluation e = system.evaluate(s);
    require(check_rank(system, e));
    const double a_dd = (m * L * W * W * ca - (m + M) * g) * sa / ((m + 2 * M * sa * sa) * L);
    fmt::print("{:10.1f} {:14.6f} {:12.6f}\n", ratio,
               std::round(1e9 * solve(system, e).acceleration("sleeve.z")) / 1e9 + 0.0,
               std::round(1e9 * 2 * L * sa * a_dd) / 1e9 + 0.0);
    if (ratio == 1) moved = std::abs(simulate(system, s, {.duration = 1}).last.get("sleeve.z") - s.get("sleeve.z"));
  }
  fmt::print("in balance the sleeve {} for 1 s\n", moved < 1e-6 ? "stays where it is" : "MOVES");
}
