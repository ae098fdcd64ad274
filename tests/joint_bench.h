#pragma once
// One call tests a joint between two bodies that stand anywhere: its rows against differences, dense against sparse,
// the freedoms it leaves by the rank report, and its reaction to a load on B that it carries alone.

#include <mortise/bodies/ground.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/joints/planar_weld.h>
#include <mortise/joints/weld.h>
#include <mortise/solve/solve.h>
#include <mortise/solve/solver.h>

#include "check_joint.h"

// Force and moment in the world, at a point fixed in the body.
template <int D> struct Push {
  mortise::Vec<double, D> at, force;
  std::conditional_t<D == 2, double, mortise::Vec<double, D>> moment;
  void act(auto& body, const auto&) const {
    body.apply_force(at, force);
    body.apply_torque(moment);
  }
};

constexpr double statics = 1e-11;  // a dozen operations on numbers of size 1 to 10, with condition numbers below 1e3

struct Planar {
  using Body = mortise::PlanarBody;
  using Vector = mortise::Vec2<double>;
  using Moment = double;
  static constexpr int relative = 3;  // freedoms of a body
  static Body body() { return {.mass = 1.5, .inertia = 0.7, .centre = {0.1, -0.2}}; }
  static auto weld() { return mortise::at_world<mortise::PlanarWeld>(Vector(0, 0)); }
};
struct Spatial {
  using Body = mortise::RigidBody;
  using Vector = mortise::Vec3<double>;
  using Moment = Vector;
  static constexpr int relative = 6;
  static Body body() {
    mortise::Mat<double, 3> J;
    J << 2.0, 0.3, -0.1, 0.3, 1.5, 0.2, -0.1, 0.2, 1.0;
    return {.mass = 1.5, .inertia = J, .centre = {0.1, -0.2, 0.3}};
  }
  static auto weld() { return mortise::at_world<mortise::Weld>(Vector(0, 0, 0)); }
};

// Off the constraint and in motion; quaternions stay unit.
inline mortise::State shaken(const mortise::System& system, unsigned seed) {
  mortise::State s = random_state(system, seed);
  for (const auto& b : system.bodies())
    if (b.size == 7) {
      auto u = s.q.segment<4>(b.first + 3), du = s.v.segment<4>(b.first + 3);
      u.normalize();
      du -= (u.dot(du) * u).eval();
    }
  return s;
}

inline void check_sparse(const mortise::System& system, const mortise::State& s) {
  constexpr double same = 1e-8;  // off the constraint a system may be conditioned to 1e6 or so
  mortise::Solver solver(system);
  const mortise::VectorXd dense = solve(system, s).a;
  CHECK((solver.solve(s) - dense).norm() < same * (1 + dense.norm()));
}

// The load acts on B; the joint hands it to A, which is welded to the ground.
template <class World> struct Load {
  typename World::Vector at;  // in the world
  typename World::Vector force;
  typename World::Moment moment;
};

template <class World> struct Bench {
  mortise::Coordinates<typename World::Body, double> place_a, place_b;

  template <class J>
  void check(const std::string& name, const J& joint, int freedoms, const Load<World>& load,
             const std::vector<double>& lambda) const {
    using namespace mortise;
    INFO(name);
    Assembly free("free");
    const auto a = free.add("a", World::body()), b = free.add("b", World::body());
    free.place(a, place_a);
    free.place(b, place_b);
    free.connect("joint", joint, a, b);
    const System two(free);
    check_joints(two);
    check_sparse(two, shaken(two, 5));
    const Evaluation e = two.evaluate(two.state());
    CHECK(e.phi.cwiseAbs().maxCoeff() < statics);  // it was made where the bodies stand
    const RankReport report = check_rank(two, e);
    CHECK(report.dof == World::relative + freedoms);
    CHECK(report.redundant.empty());
    CHECK(report.ok());

    Assembly held = free;
    const auto ground = held.add("ground", Ground{});
    held.connect("base", World::weld(), ground, a);
    held.apply(
        "load",
        Push<World::Vector::RowsAtCompileTime>{World::body().local_point(place_b, load.at), load.force, load.moment},
        b);
    const System system(held);
    const Solution solution = solve(system, system.state());
    CHECK(solution.a.cwiseAbs().maxCoeff() < statics);
    const VectorXd& reaction = solution.reaction("joint").lambda;
    REQUIRE(static_cast<std::size_t>(reaction.size()) == lambda.size());
    for (std::size_t i = 0; i < lambda.size(); ++i) {
      INFO("row ", i);
      CHECK(reaction[static_cast<Index>(i)] == doctest::Approx(lambda[i]).epsilon(statics).scale(10));
    }
    // The whole load arrives at the ground: force, and moment about the origin, on the ground.
    const VectorXd& base = solution.reaction("base").lambda;
    if constexpr (World::relative == 3) {
      CHECK((base.head<2>() - load.force).norm() < 10 * statics);
      CHECK(base[2] ==
            doctest::Approx(load.moment + load.at[0] * load.force[1] - load.at[1] * load.force[0]).epsilon(statics));
    } else {
      CHECK((base.head<3>() - load.force).norm() < 10 * statics);
      CHECK((base.tail<3>() - load.moment - load.at.cross(load.force)).norm() < 10 * statics);
    }
  }
};
