// What parts see of bodies: both sides of the number of inputs that one pass takes, and bodies without a frame.

#include <random>

#include <doctest/doctest.h>

#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/bodies/subsystem.h>
#include <mortise/forces/dissipation.h>
#include <mortise/forces/functor.h>
#include <mortise/joints/coupling.h>
#include <mortise/joints/functor.h>
#include <mortise/solve/solve.h>
#include <mortise/solve/solver.h>

#include "../examples/own/bead.h"
#include "check_joint.h"

using namespace mortise;

namespace {

const auto wire = [](const auto& s) {
  using std::cos, std::sin;
  return vec(s + 0.3 * sin(s), 0.5 * s * s - cos(2.0 * s));
};

}  // namespace

TEST_CASE("views: rows of any number of inputs match finite differences, on both sides of what one pass takes") {
  std::mt19937 generator(5);
  std::normal_distribution<double> normal;
  static_assert(row_inputs == 12);
  for (const int count : {1, 5, 6, 7, 11, 12, 13, 18, 19, 24, 25, 40}) {
    CAPTURE(count);
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.push_back("x" + std::to_string(i));
    const VectorXd M = VectorXd::LinSpaced(count, 1, 2);
    Assembly a("many");
    const auto body = a.add("body", RigidBody{.mass = 1, .inertia = Vec3<double>(1, 2, 2.5).asDiagonal()});
    const auto many = a.add("many", Subsystem<>{.coordinates = names, .M = MatrixXd(M.asDiagonal())});
    Coupling coupling;
    for (int i = 0; i < count; ++i)
      coupling.terms.push_back({1, names[static_cast<std::size_t>(i)], normal(generator)});
    coupling.terms.push_back({0, "z", 1});
    a.connect("sum", coupling, body, many);
    a.connect("product", Holonomic{[count](const auto& x, const auto& y, const auto& t) {
                auto p = x.point(Vec3<double>(0.1, 0.2, 0.3))[1] + sin(t);
                for (int i = 0; i < count; ++i) p = p + 0.1 * y.q[i] * y.q[(i + 1) % count];
                return p;
              }},
              body, many);
    a.connect("rates", Nonholonomic{[count](const auto& x, const auto& y, const auto& t) {
                auto p = x.angular_velocity()[2] * t;
                for (int i = 0; i < count; ++i) p = p + y.v[i] * (1.0 + y.q[i] * y.q[i]);
                return p;
              }},
              body, many);
    const System system(a);
    check_joints(system);
    const State s = random_state(system, 3);
    State on = s;
    on.q.segment<4>(3).normalize();
    on.v.segment<4>(3) -= (on.q.segment<4>(3).dot(on.v.segment<4>(3)) * on.q.segment<4>(3)).eval();
    const VectorXd dense = solve(system, on).a;
    Solver solver(system);
    CHECK((solver.solve(on) - dense).norm() < 1e-9 * (1 + dense.norm()));
  }
}

TEST_CASE("views: a body of one's own, without a frame, in joints, velocities, forces and energies") {
  Assembly a("beads");
  a.set_gravity({0, -9.81, 0});
  const auto bead = a.add("bead", Bead{.mass = 2, .wire = wire});
  const auto plate = a.add("plate", PlanarBody{.mass = 1, .inertia = 0.5, .centre = {0.1, -0.2}});
  const Vec2<double> r(0.4, 0.3), s(-0.2, 0.5);
  a.connect("link", Holonomic{[=](const auto& x, const auto& y, const auto&) {
              const auto d = x.point(r) - y.point(s);
              return d.norm();
            }},
            bead, plate);
  a.connect("slip", Nonholonomic{[=](const auto& x, const auto& y, const auto& t) {
              return y.direction(r).dot(x.point_velocity(r) - y.point_velocity(s)) +
                     0.2 * t * y.angular_velocity() * x.speed("s");
            }},
            bead, plate);
  a.apply("drag", Force{[=](auto& x, auto& y, const auto&) {
            const auto f = -0.7 * (x.point_velocity(r) - y.point_velocity(s));
            x.apply_force(r, f);
            y.apply_force(s, -f);
            y.apply_torque(-0.3 * y.angular_velocity());
          }},
          bead, plate);
  a.apply("spring", Potential{[=](const auto& x, const auto& y, const auto&) {
            const auto d = x.point(s) - y.point(r);
            return 3.0 * d.squaredNorm();
          }},
          bead, plate);
  a.apply("loss", Dissipation{[=](const auto& x, const auto& y, const auto&) {
            const auto u = x.point_velocity(s) - y.point_velocity(r);
            return 0.5 * u.squaredNorm() + y.angular_velocity() * y.angular_velocity();
          }},
          bead, plate);
  const System system(a);
  check_joints(system);
  check_derivatives(system);
  const State x = random_state(system, 11);
  const VectorXd dense = solve(system, x).a;
  Solver solver(system);
  CHECK((solver.solve(x) - dense).norm() < 1e-9 * (1 + dense.norm()));
}
