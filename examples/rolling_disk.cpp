// A thin disk rolls on a plane without slip, leaning over: three rows, two of them nonholonomic.
//
//        / e2        e2: from the contact to the centre C, r long; e3: the normal of the disk, at the angle theta to
//        the
//     C o            vertical; e1 = e2 x e3: along the plane.  w = w1 e1 + w2 e2 + w3 e3
//      / ` e3
//   __/______ plane  start: theta = 70 deg, w = (0, sin theta, -4): C moves with 2 m/s along x
//
// Expected at the start, with A = m r^2/4 and C = m r^2/2 and the turn 1 rad/s of e1 about the vertical:
//   (A + m r^2) w1' = -(C + m r^2) w2 w3 + A cos(theta) w2 - m g r cos(theta)
// (e1 does not spin with the disk: the angular acceleration along it is w1' + w2 (w3 - cos theta))
// and along the motion the place of C from these equations, integrated independently to 15 digits.

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/rolling_disk.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;
  const double m = 2, r = 0.5, g = 9.81, theta = 70 * std::numbers::pi / 180, c = std::cos(theta), s = std::sin(theta);
  const double w2 = s, w3 = -4, J1 = m * r * r / 4, J3 = m * r * r / 2;

  Assembly assembly("disk");
  assembly.set_gravity({0, 0, -g});
  const auto plane = assembly.add("plane", Ground{});
  const auto disk = assembly.add("disk", RigidBody::of(Inertia::disk(m, r, {0, 0, 1})));
  assembly.connect("rolling", RollingDisk{.radius = r, .axis_b = {0, 0, 1}}, plane, disk);
  assembly.place(disk, RigidBody::pose({0, 0, r * s}, {std::cos(theta / 2), std::sin(theta / 2), 0, 0}));

  const System system(assembly);
  State x = system.state();
  x.set("disk'", RigidBody::rates(x.get_all("disk"), {2, 0, 0}, {0, w2, w3}));
  const Evaluation e = system.evaluate(x);
  fmt::print("{}", check_rank(system, e).text());
  const Vec3<double> w_dot = 2 * quaternion_E<double>(x.q.tail<4>()) * solve(system, e).a.tail<4>();
  fmt::print("w1' = {:.6f}   by hand {:.6f}\n", w_dot[0] - w2 * (w3 - c),
             (-(J3 + m * r * r) * w2 * w3 + J1 * c * w2 - m * g * r * c) / (J1 + m * r * r));

  const Mat<double, 2, 3> reference{{0.942476965857550462, 0.297666621292127482, 0.460185273258531195},
                                    {1.51483554452866764, 1.10553597044091976, 0.468231753118661567}};
  fmt::print("\n{:>5} {:>11} {:>11} {:>11}\n", "t", "x", "y", "z");
  for (int k = 0; k < 2; ++k) {
    x = simulate(system, x, {.duration = 0.5, .steps = {.tolerance = 1e-11}}).last;
    fmt::print("{:5.1f} {:11.7f} {:11.7f} {:11.7f}\n", x.t, x.q[0], x.q[1], x.q[2]);
    fmt::print("      {:11.7f} {:11.7f} {:11.7f}   reference\n", reference(k, 0), reference(k, 1), reference(k, 2));
  }
  fmt::print("energy {:.7f} J, at the start {:.7f} J\n", system.energy(x).total(),
             system.energy(system.state()).total() + 0.5 * (m * 4 + J1 * w2 * w2 + J3 * w3 * w3));
}
