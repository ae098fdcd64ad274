// A nonholonomic joint of one's own on two rigid bodies: what a user's joint costs to compile (scripts/compile_time).
//
//   psi = (w_B - w_A) . z_A - ratio (p_B' - p_A') . z_A        1 row: B turns against A as it moves along the axis of A

#include <fmt/format.h>

#include <mortise/bodies/rigid_body.h>
#include <mortise/solve/solve.h>

using namespace mortise;

struct Thread {
  Vec3<double> on_a{0, 0, 0}, on_b{0, 0, 0}, axis{0, 0, 1};
  double ratio = 1;

  template <class T> T psi(const auto& a, const auto& b, const T&) const {
    const auto z = a.direction(axis);
    const auto spin = b.angular_velocity() - a.angular_velocity();
    const auto way = b.point_velocity(on_b) - a.point_velocity(on_a);
    return z.dot(spin) - ratio * z.dot(way);
  }
};

int main() {
  Assembly a("screw");
  a.set_gravity({0, 0, -9.81});
  const RigidBody body{.mass = 1, .inertia = Vec3<double>(1, 1, 0.5).asDiagonal()};
  const auto nut = a.add("nut", body), bolt = a.add("bolt", body);
  a.connect("thread", Thread{.ratio = 3}, nut, bolt);
  const System system(a);
  fmt::print("{}", solve(system, system.state()).text());
}
