// Points and directions that parts see are values.

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/forces/functor.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/functor.h>
#include <mortise/joints/spherical.h>
#include <mortise/solve/solve.h>

#include "check_joint.h"

using namespace mortise;

namespace {

const Vec3<double> r(0.3, -0.2, 0.5), s(-0.4, 0.1, 0.2);

Assembly two_bodies() {
  Assembly a("two");
  a.add("a", RigidBody{.mass = 2, .inertia = Vec3<double>(1, 2, 2.5).asDiagonal(), .centre = {0.1, 0, 0}});
  a.add("b", RigidBody{.mass = 1, .inertia = Vec3<double>(0.5, 0.4, 0.6).asDiagonal()});
  return a;
}

// The rows of a functor beside those of the same formula, written with named vectors.
template <class F, class G> void check_same(const F& with_auto, const G& with_vectors) {
  const auto evaluate = [](const auto& f) {
    Assembly a = two_bodies();
    a.connect("joint", Holonomic{f}, a.body<RigidBody>("a"), a.body<RigidBody>("b"));
    const System system(a);
    check_joints(system);
    return system.evaluate(random_state(system, 7));
  };
  const Evaluation x = evaluate(with_auto), y = evaluate(with_vectors);
  constexpr double round_off = 1e-14;
  CHECK((x.phi - y.phi).norm() < round_off * (1 + y.phi.norm()));
  CHECK((x.dense_A() - y.dense_A()).norm() < round_off * (1 + y.dense_A().norm()));
  CHECK((x.b - y.b).norm() < 10 * round_off * (1 + y.b.norm()));
}

}  // namespace

TEST_CASE("values: sums, differences and products of points held by auto are what named vectors give") {
  check_same(
      [](const auto& a, const auto& b, const auto&) {
        auto d = a.point(r) - b.point(s);
        return d.squaredNorm();
      },
      [](const auto& a, const auto& b, const auto& t) {
        using T = std::remove_cvref_t<decltype(t)>;
        const Vec3<T> p = a.point(r), q = b.point(s), d = p - q;
        return T(d.squaredNorm());
      });
  const Mat<double, 3> M = (Mat<double, 3>() << 1, 2, 3, 0, 1, 4, 5, 6, 0).finished();
  check_same(
      [&](const auto& a, const auto& b, const auto& t) {
        const auto sum = 2 * a.point(r) + b.direction(s) * t - r;
        const auto turned = M * (-b.point(s)) / 2.0;
        const auto both = sum - turned;
        const auto flat = a.point(s).template head<2>();
        return vec(both[0], both[1] + flat[0], both[2] * flat[1]);
      },
      [&](const auto& a, const auto& b, const auto& t) {
        using T = std::remove_cvref_t<decltype(t)>;
        const Vec3<T> p = a.point(r), e = b.direction(s), q = b.point(s), w = a.point(s);
        Vec3<T> both;
        for (int i = 0; i < 3; ++i) {
          both[i] = 2.0 * p[i] + e[i] * t - r[i];
          for (int j = 0; j < 3; ++j) both[i] += M(i, j) * q[j] / 2.0;
        }
        return vec(both[0], both[1] + w[0], both[2] * w[1]);
      });
  // A functor may return the difference itself: it holds its numbers.
  check_same([](const auto& a, const auto& b, const auto&) { return a.point(r) - b.point(s); },
             [](const auto& a, const auto& b, const auto& t) {
               const Vec3<std::remove_cvref_t<decltype(t)>> p = a.point(r), q = b.point(s);
               return vec(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
             });
}

TEST_CASE("values: velocities and forces held by auto") {
  const auto force_of = [](const auto& f) {
    Assembly a = two_bodies();
    a.apply("force", f, a.body<RigidBody>("a"), a.body<RigidBody>("b"));
    const System system(a);
    check_derivatives(system);
    return system.evaluate(random_state(system, 3)).Q;
  };
  const VectorXd x = force_of(Force{[](auto& a, auto& b, const auto&) {
    const auto f = -2.0 * (a.point_velocity(r) - b.point_velocity(s));
    a.apply_force(r, f);
    b.apply_force(s, -f);
    const auto w = a.angular_velocity() - b.angular_velocity();
    a.apply_torque(-w);
  }});
  const VectorXd y = force_of(Force{[](auto& a, auto& b, const auto& t) {
    using V = Vec3<std::remove_cvref_t<decltype(t)>>;
    const V u = a.point_velocity(r), v = b.point_velocity(s), wa = a.angular_velocity(), wb = b.angular_velocity();
    const V f = -2.0 * (u - v), minus = -f, w = wb - wa;
    a.apply_force(r, f);
    b.apply_force(s, minus);
    a.apply_torque(w);
  }});
  CHECK((x - y).norm() < 1e-13 * y.norm());
}
