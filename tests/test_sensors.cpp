// Sensors of orientation and angular velocity against closed forms and against each other.

#include <cmath>
#include <numbers>

#include <doctest/doctest.h>
#include <Eigen/Geometry>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/core/rotation.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/drive_angle.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/spherical.h>
#include <mortise/sensors/angular_velocity_sensor.h>
#include <mortise/sensors/euler_sensor.h>
#include <mortise/sensors/orientation_sensor.h>

#include "random_equations.h"

using namespace mortise;
using mortise::testing::Random;

namespace {

Mat<double, 3> turn(char axis, double angle) {
  return Eigen::AngleAxisd(angle, Vec3<double>::Unit(axis - 'x')).toRotationMatrix();
}

// A free body, turned and turning as told.
struct Turned {
  System system;
  State state;
  Mat<double, 3> R;
  Vec3<double> w;

  Turned(const std::function<void(Assembly&, const Handle<Ground>&, const Handle<RigidBody>&)>& sense,
         const Mat<double, 3>& rotation, const Vec3<double>& spin)
      : system(make(sense)), state(system.state()), R(rotation), w(spin) {
    const Eigen::Quaterniond q(R);
    // u' = 1/2 (0, w) u, in world axes.
    const Eigen::Quaterniond rate = Eigen::Quaterniond(0, w[0], w[1], w[2]) * q;
    const double u[4] = {q.w(), q.x(), q.y(), q.z()}, v[4] = {rate.w(), rate.x(), rate.y(), rate.z()};
    for (int i = 0; i < 4; ++i) state.q[3 + i] = u[i], state.v[3 + i] = 0.5 * v[i];
  }
  static System make(const std::function<void(Assembly&, const Handle<Ground>&, const Handle<RigidBody>&)>& sense) {
    Assembly a("turned");
    const auto ground = a.add("ground", Ground{});
    const auto body = a.add("body", RigidBody{.mass = 1, .inertia = Vec3<double>(1, 2, 2.5).asDiagonal()});
    sense(a, ground, body);
    return System(a);
  }
  double read(const std::string& name) {
    Solver solver(system);
    Readings readings(system, {.sensors = true});
    const VectorXd& row = readings.read(state, solver);
    for (std::size_t i = 0; i < readings.columns().size(); ++i)
      if (readings.columns()[i].name == name) return row[static_cast<Index>(i)];
    FAIL("no column " << name);
    return 0;
  }
};

}  // namespace

TEST_CASE("sensors: the quaternion gives the rotation, at every orientation, with w >= 0") {
  Random random(31);
  for (int draw = 0; draw < 40; ++draw) {
    // Half turns about each axis are where other formulas divide by 0.
    Vec3<double> axis =
        draw < 3 ? Vec3<double>(Vec3<double>::Unit(draw)) : Vec3<double>(random.uniform_vector(3, -1, 1));
    const double angle = draw < 3 ? std::numbers::pi : random.uniform(-3.1, 3.1);
    const Mat<double, 3> R = Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix();
    Turned t([](Assembly& a, const auto& g, const auto& b) { a.measure("s", OrientationSensor{}, g, b); }, R,
             {0.3, -1, 2});
    const Eigen::Quaterniond q(t.read("s.w"), t.read("s.x"), t.read("s.y"), t.read("s.z"));
    CHECK(q.w() >= 0);
    CHECK((q.toRotationMatrix() - R).norm() < 1e-14);
    // u' = 1/2 (0, w) u
    const Eigen::Quaterniond rate = Eigen::Quaterniond(0, t.w[0], t.w[1], t.w[2]) * q;
    CHECK(t.read("s.w'") == doctest::Approx(0.5 * rate.w()).epsilon(1e-12));
    CHECK(t.read("s.z'") == doctest::Approx(0.5 * rate.z()).epsilon(1e-12));
  }
}

TEST_CASE("sensors: the three angles of all twelve sequences make the rotation again") {
  Random random(32);
  for (const char i : {'x', 'y', 'z'})
    for (const char j : {'x', 'y', 'z'})
      for (const char k : {'x', 'y', 'z'}) {
        if (i == j || j == k) continue;
        const double first = random.uniform(-3, 3), third = random.uniform(-3, 3),
                     second = i == k ? random.uniform(0.1, 3) : random.uniform(-1.5, 1.5);
        const Mat<double, 3> R = turn(i, first) * turn(j, second) * turn(k, third);
        // Rates of the three angles about the axes where the turns have brought them.
        const Vec3<double> rates(0.4, -0.7, 1.1);
        const Vec3<double> w = rates[0] * Vec3<double>::Unit(i - 'x') +
                               rates[1] * (turn(i, first) * Vec3<double>::Unit(j - 'x')) +
                               rates[2] * (turn(i, first) * turn(j, second) * Vec3<double>::Unit(k - 'x'));
        const std::string sequence{i, j, k};
        CAPTURE(sequence);
        Turned t(
            [&](Assembly& a, const auto& g, const auto& b) { a.measure("e", EulerSensor{.sequence = sequence}, g, b); },
            R, w);
        CHECK(t.read("e.first") == doctest::Approx(first).epsilon(1e-12));
        CHECK(t.read("e.second") == doctest::Approx(second).epsilon(1e-12));
        CHECK(t.read("e.third") == doctest::Approx(third).epsilon(1e-12));
        CHECK(t.read("e.first'") == doctest::Approx(rates[0]).epsilon(1e-11));
        CHECK(t.read("e.second'") == doctest::Approx(rates[1]).epsilon(1e-11));
        CHECK(t.read("e.third'") == doctest::Approx(rates[2]).epsilon(1e-11));
      }
}

TEST_CASE("sensors: angular velocity in world axes and in those of the body, with its rate") {
  Random random(33);
  const Mat<double, 3> R = turn('x', 0.3) * turn('z', -1.2) * turn('y', 2);
  const Vec3<double> w(0.5, -2, 1), local = R.transpose() * w, J(1, 2, 2.5);
  const auto both = [](Assembly& a, const auto& g, const auto& b) {
    a.measure("world", AngularVelocitySensor{}, g, b);
    a.measure("own", AngularVelocitySensor{.in_body_axes = true}, g, b);
    a.measure("back", AngularVelocitySensor{}, b, g);
  };
  Turned t(both, R, w);
  // Euler's equations without torque.
  const Vec3<double> rate = -local.cross(J.cwiseProduct(local)).cwiseQuotient(J), world = R * rate;
  for (int i = 0; i < 3; ++i) {
    const std::string axis(1, static_cast<char>('x' + i));
    CHECK(t.read("world." + axis) == doctest::Approx(w[i]).epsilon(1e-13));
    CHECK(t.read("back." + axis) == doctest::Approx(-w[i]).epsilon(1e-13));
    CHECK(t.read("own." + axis) == doctest::Approx(local[i]).epsilon(1e-13));
    CHECK(t.read("own." + axis + "'") == doctest::Approx(rate[i]).epsilon(1e-12));
    CHECK(t.read("world." + axis + "'") == doctest::Approx(world[i]).epsilon(1e-12));
  }
}

TEST_CASE("sensors: turns are counted along a run, and a wrong sequence is refused") {
  Assembly a("wheel");
  const auto ground = a.add("ground", Ground{});
  const auto wheel = a.add("wheel", RigidBody{.mass = 1, .inertia = Mat<double, 3>::Identity()});
  a.connect("axle", Revolute{}, ground, wheel);
  a.connect("drive", DriveAngle{.f = [](const auto& t) { return 5.0 * t; }}, ground, wheel);
  a.measure("yaw", EulerSensor{}, ground, wheel);
  const System system(a);
  const Trajectory run = simulate(system, system.state(), {.duration = 10, .record = {.sensors = true}});
  CHECK(run.column("yaw.first")[run.samples() - 1] == doctest::Approx(50).epsilon(1e-9));
  for (const char* wrong : {"zzx", "zy", "abc", "xyyz", ""})
    CHECK_THROWS_WITH_AS(a.measure("bad", EulerSensor{.sequence = wrong}, ground, wheel), doctest::Contains("sequence"),
                         InvalidModel);
}
