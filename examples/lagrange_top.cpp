// Lagrange's top: a heavy symmetric top on its point, in steady precession.
//
//        \ (O) /  centre of mass l from the point, on the axis, which leans by theta
//          \|/    moments A, A, C about the point; spin w3 about the axis
//   ________V____
//
// Expected: the axis goes round the vertical at the rate W of  A cos(theta) W^2 - C w3 W + m g l = 0,  slow or fast.

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/spherical.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;
  const double m = 0.5, l = 0.1, A = 0.006, C = 0.001, g = 9.81, w3 = 150, theta = std::numbers::pi / 4;
  const double c = std::cos(theta), s = std::sin(theta);

  Assembly assembly("top");
  assembly.set_gravity({0, 0, -g});
  const auto ground = assembly.add("ground", Ground{});
  const Vec3<double> moments(A - m * l * l, A - m * l * l, C);  // about the centre of mass
  const auto top = assembly.add("top", RigidBody{.mass = m, .inertia = moments.asDiagonal(), .centre = {0, 0, l}});
  assembly.connect("point", Spherical{}, ground, top);
  assembly.place(top, RigidBody::pose({0, 0, 0}, {std::cos(theta / 2), 0, std::sin(theta / 2), 0}));
  const System system(assembly);
  fmt::print("{}", check_rank(system, system.evaluate(system.state())).text());

  const double root = std::sqrt(C * C * w3 * w3 - 4 * A * c * m * g * l);
  for (const double sign : {-1.0, 1.0}) {
    const double W = (C * w3 + sign * root) / (2 * A * c);
    fmt::print("\n{} precession, {:.6f} rad/s\n", sign < 0 ? "slow" : "fast", W);
    fmt::print("{:>5} {:>10} {:>10} {:>10}   {:>10} {:>10} {:>10}\n", "t", "axis x", "y", "z", "expected x", "y", "z");
    State x = system.state();
    x.set("top'", RigidBody::rates(x.get_all("top"), {0, 0, 0}, {-W * s, 0, w3}));
    for (int i = 0; i < 2; ++i) {
      x = simulate(system, x, {.duration = 0.2, .steps = {.tolerance = 1e-11}}).last;
      const Vec3<double> axis = rotation_matrix<double>(x.q.tail<4>()).col(2);
      fmt::print("{:5.2f} {:10.6f} {:10.6f} {:10.6f}   {:10.6f} {:10.6f} {:10.6f}\n", x.t, axis[0], axis[1], axis[2],
                 s * std::cos(W * x.t), s * std::sin(W * x.t), c);
    }
  }
}
