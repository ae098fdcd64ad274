// A ball on a turntable: it rolls without slip, and does not roll off.
//
//        ( ) r, uniform          the table turns by W about z
//   ======|====== W              Expected:  v' = (2/7) W z x v: whatever m and r, the centre goes round a circle
//         |                      with the angular velocity (2/7) W, once while the table turns 7/2 times.

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/rolling_sphere.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;
  const double m = 0.2, r = 0.1, W = 3, n = 2 * W / 7;
  const Vec2<double> p(0.5, 0), v(0.1, 0.2);

  Assembly assembly("turntable");
  assembly.set_gravity({0, 0, -9.81});
  const auto ground = assembly.add("ground", Ground{});
  const auto ball = assembly.add("ball", RigidBody::of(Inertia::sphere(m, r)));
  assembly.connect("rolling", RollingSphere{.radius = r, .rate = W}, ground, ball);
  const System system(assembly);

  State s = system.state();
  s.set("ball", RigidBody::pose({p[0], p[1], r}, {1, 0, 0, 0}));
  // No slip:  v + w x (-r z) = W z x p
  const Vec3<double> w((W * p[0] - v[1]) / r, (v[0] + W * p[1]) / r, 0);
  s.set("ball'", RigidBody::rates(s.get_all("ball"), {v[0], v[1], 0}, w));
  const Evaluation e = system.evaluate(s);
  fmt::print("{}", check_rank(system, e).text());
  const Solution start = solve(system, e);
  fmt::print("v' = ({:.6f}, {:.6f})   by hand ({:.6f}, {:.6f})\n", start.a[0], start.a[1], -n * v[1], n * v[0]);

  // The circle about p + (z x v) / n.
  const Vec2<double> centre = p + Vec2<double>(-v[1], v[0]) / n, arm = p - centre;
  fmt::print("\n{:>6} {:>11} {:>11} {:>14} {:>11}\n", "t", "x", "y", "by hand x", "y");
  const double quarter = std::numbers::pi / n / 2;
  for (int i = 0; i <= 4; ++i) {
    const double c = std::cos(n * s.t), d = std::sin(n * s.t);
    fmt::print("{:6.3f} {:11.6f} {:11.6f} {:14.6f} {:11.6f}\n", s.t, s.q[0], std::round(1e8 * s.q[1]) / 1e8 + 0.0,
               centre[0] + c * arm[0] - d * arm[1],
               std::round(1e8 * (centre[1] + d * arm[0] + c * arm[1])) / 1e8 + 0.0);
    s = simulate(system, s, {.duration = quarter, .steps = {.tolerance = 1e-12}}).last;
  }
}
