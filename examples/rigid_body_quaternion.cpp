// A rigid body that turns freely, by unit quaternions [US10, Sec. 4].
//
// The four components u are treated as independent: M = 4 E'JE has rank 3 of 4.  |u| = 1 is the body's own row.
// Expected: u'' = -1/2 E' J^-1 (w x J w) - 1/4 |w|^2 u,   Qc = -2 (w'Jw) u                 [US10, Eq. 116 and 121]

#include <cmath>

#include <fmt/format.h>

#include <mortise/bodies/rigid_body.h>
#include <mortise/integrators/simulate.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;
  Mat<double, 3> J;  // a full tensor: the axes need not be principal
  J << 2.0, 0.3, -0.1, 0.3, 1.5, 0.2, -0.1, 0.2, 1.0;

  Assembly assembly("satellite");
  assembly.add("body", RigidBody{.mass = 10, .inertia = J});
  const System system(assembly);

  State s = system.state();
  const auto u = quaternion_from_euler("zyx", {0.5, -0.3, 0.9});
  const Vec3<double> w(0.7, -1.1, 0.4);  // angular velocity in body axes
  s.set("body", RigidBody::pose({0, 0, 0}, u));
  s.set("body'", RigidBody::rates(s.get_all("body"), {0, 0, 0}, w));

  const Evaluation e = system.evaluate(s);
  fmt::print("{}", check_rank(system, e).text());
  const Solution solution = solve(system, e);

  const auto E = quaternion_E<double>(u);
  const Vec3<double> Jw = J * w;
  const Quaternion<double> udd = -0.5 * E.transpose() * J.inverse() * w.cross(Jw) - 0.25 * w.squaredNorm() * u;
  const Quaternion<double> Qc = -2 * w.dot(Jw) * u;
  fmt::print("{:<10} {:>12} {:>12} {:>14} {:>12}\n", "", "u''", "closed form", "Qc", "closed form");
  for (int i = 0; i < 4; ++i)
    fmt::print("{:<10} {:12.8f} {:12.8f} {:14.8f} {:12.8f}\n", system.coordinate(3 + i), solution.a[3 + i], udd[i],
               solution.Qc[3 + i], Qc[i]);

  // Free rotation keeps the energy and the angular momentum R J w.
  const auto momentum = [&](const State& x) {
    const Vec<double, 7> q = x.q, v = x.v;
    return Vec3<double>(rotation_matrix<double>(q.tail<4>()) * (J * RigidBody{}.angular_velocity_body<double>(q, v)));
  };
  const Vec3<double> H = momentum(s);
  const double E0 = system.energy(s).total();
  s = simulate(system, s, {.duration = 5, .steps = {.tolerance = 1e-12}}).last;
  fmt::print("after {:.0f} s: energy {:.8f} (was {:.8f}), |H| {:.8f} (was {:.8f})\n", s.t, system.energy(s).total(), E0,
             momentum(s).norm(), H.norm());
}
