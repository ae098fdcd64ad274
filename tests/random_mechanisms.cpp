// Random mechanisms: building a plan, and drawing one.

#include "random_mechanisms.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <variant>

#include <mortise/assembly/assembly.h>
#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/bodies/subsystem.h>
#include <mortise/forces/functor.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/functor.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/spherical.h>

namespace mortise::testing {
namespace {

// ---- What joints, laws and forces of the random mechanisms do -----------------------------------------------------

template <int D> struct Skate {  // a point of the body has a given speed along one of its directions
  Vec<double, D> at, across;
  double speed;
  template <class T> T operator()(const auto& b, const T&) const {
    return b.direction(across).dot(b.point_velocity(at)) - speed;
  }
};
struct SameSpeed {  // nonlinear in velocity
  double ratio;
  template <class T> T operator()(const auto& a, const auto& b, const T&) const {
    const Vec2<double> centre(0, 0);
    return a.point_velocity(centre).squaredNorm() - ratio * b.point_velocity(centre).squaredNorm();
  }
};
struct Friction {  // a law: torque against the turning of the second body
  double c;
  template <class T> void operator()(auto&, auto& b, const T&) const {
    const auto w = b.angular_velocity();
    b.apply_torque(-c * w);
  }
};
template <int D> struct Spring {
  Vec<double, D> on_a, on_b;
  double stiffness, length;
  template <class T> T operator()(const auto& a, const auto& b, const T&) const {
    const Vec<T, D> d = a.point(on_a) - b.point(on_b);
    const T s = d.norm() - length;
    return 0.5 * stiffness * s * s;
  }
};
template <int D> struct Drive {  // an oscillating force at a point
  Vec<double, D> at, force;
  double frequency;
  template <class T> void operator()(auto& b, const T& t) const {
    using std::cos;
    b.apply_force(at, Vec<T, D>(force.template cast<T>() * cos(frequency * t)));
  }
};
struct ConstantForce {
  VectorXd f;
  template <class T> Vec<T, dynamic> operator()(const Vec<T, dynamic>&, const Vec<T, dynamic>&, const T&) const {
    return f.cast<T>();
  }
};
using Pair = Subsystem<MatrixXd, ConstantForce>;  // two coordinates, s and r, both lengths

// ---- From a plan to a System --------------------------------------------------------------------------------------

std::vector<std::size_t> order_of(std::size_t n, Random* shuffle) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n; shuffle && i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(shuffle->integer(0, static_cast<int>(i) - 1))]);
  return order;
}

class Builder {
 public:
  Builder(const Mechanism& m, const BuildOptions& o) : m_(m), u_(o.units), o_(o), assembly_(m.name) {
    handles_.resize(m.bodies.size());
    assembly_.set_gravity(m.gravity * u_.of(1, 0, -2));
    for (const std::size_t i : order_of(m.bodies.size(), o.shuffle)) add(i);
    for (const std::size_t i : order_of(m.joints.size(), o.shuffle)) connect(m.joints[i], name('j', i));
    for (const std::size_t i : order_of(m.forces.size(), o.shuffle)) apply(m.forces[i], name('f', i));
  }
  const Assembly& assembly() const { return assembly_; }
  Model model() const {
    System system(assembly_);
    State s = system.state();
    std::vector<Index> first;
    s.t = m_.t * u_.time;
    for (std::size_t i = 0; i < m_.bodies.size(); ++i) {
      const BodyPlan& b = m_.bodies[i];
      first.push_back(b.q.size() ? system.names()->find(name('b', i)).first : 0);
      for (Index k = 0; k < b.q.size(); ++k) {
        const double unit = b.is_length(k) ? u_.length : 1;
        s.q[first[i] + k] = b.q[k] * unit;
        s.v[first[i] + k] = b.v[k] * unit / u_.time;
      }
    }
    return {std::move(system), std::move(s), std::move(first)};
  }

 private:
  using AnyHandle = std::variant<Handle<Ground>, Handle<Particle<2>>, Handle<Particle<3>>, Handle<PlanarBody>,
                                 Handle<RigidBody>, Handle<Pair>>;
  // Pairs of bodies that a part may act on: every pair costs compile time.
  template <class A, class B> struct On {};

  std::string name(char kind, std::size_t i) const { return fmt::format("{}{}{}", o_.prefix, kind, i); }
  Vec3<double> metres(const Vec3<double>& r) const { return r * u_.length; }
  template <int D> Vec<double, D> metres(const Vec3<double>& r) const { return r.head<D>() * u_.length; }

  void add(std::size_t i) {
    const BodyPlan& b = m_.bodies[i];
    const double mass = b.mass * u_.mass;
    const Mat<double, 3> J = b.inertia * u_.of(2, 1, 0);
    const auto keep = [&](auto body) { handles_[i] = assembly_.add(name('b', i), std::move(body)); };
    switch (b.kind) {
      case Kind::ground:
        return keep(Ground{});
      case Kind::particle2:
        return keep(Particle<2>{mass});
      case Kind::particle3:
        return keep(Particle<3>{mass});
      case Kind::planar:
        return keep(PlanarBody{mass, J(2, 2), metres<2>(b.centre)});
      case Kind::rigid:
        return keep(RigidBody{mass, J, metres(b.centre)});
      case Kind::pair:
        return keep(Pair{{"s", "r"}, b.M * u_.mass, {b.Q * u_.of(1, 1, -2)}});
    }
  }

  template <class A, class B, class F> bool with_pair(On<A, B>, std::size_t a, std::size_t b, const F& f) {
    const auto* first = std::get_if<Handle<A>>(&handles_[a]);
    const auto* second = std::get_if<Handle<B>>(&handles_[b]);
    if (first && second) f(*first, *second);
    return first && second;
  }
  template <class... P, class J> void connect_to(const std::string& name, const J& joint, const JointPlan& j, P... on) {
    const auto f = [&](const auto& a, const auto& b) { assembly_.connect(name, joint, a, b); };
    if (!(with_pair(on, j.a, j.b, f) || ...)) throw std::logic_error("no such joint in random_mechanisms.cpp: " + name);
  }
  template <class... P, class F> void apply_to(const std::string& name, const F& force, const ForcePlan& p, P... on) {
    const auto f = [&](const auto& a, const auto& b) { assembly_.apply(name, force, a, b); };
    if (!(with_pair(on, p.a, p.b, f) || ...)) throw std::logic_error("no such force in random_mechanisms.cpp: " + name);
  }

  void connect(const JointPlan& j, const std::string& name) {
    using P = PlanarBody;
    using R = RigidBody;
    const bool space = m_.bodies[j.b].in_space();
    const double rate = j.rate * u_.of(1, 0, -1), friction = j.friction * u_.of(2, 1, -1);
    switch (j.type) {
      case JointPlan::pin: {
        const Pin pin{metres<2>(j.on_a), metres<2>(j.on_b)};
        if (friction > 0) return connect_to(name, Nonideal(pin, Friction{friction}), j, On<P, P>{});
        return connect_to(name, pin, j, On<Ground, P>{}, On<P, P>{}, On<P, Particle<2>>{});
      }
      case JointPlan::spherical: {
        const Spherical ball{metres(j.on_a), metres(j.on_b)};
        if (friction > 0) return connect_to(name, Nonideal(ball, Friction{friction}), j, On<R, R>{});
        return connect_to(name, ball, j, On<Ground, R>{}, On<R, R>{}, On<R, Particle<3>>{});
      }
      case JointPlan::revolute:
        return connect_to(name, Revolute{metres(j.on_a), metres(j.on_b), j.axis_a, j.axis_b}, j, On<Ground, R>{},
                          On<R, R>{});
      case JointPlan::distance: {
        const double length = j.length * u_.length;
        if (space)
          return connect_to(name, Distance<3>{metres(j.on_a), metres(j.on_b), length, rate}, j, On<R, R>{},
                            On<R, Particle<3>>{}, On<Particle<3>, Particle<3>>{});
        return connect_to(name, Distance<2>{metres<2>(j.on_a), metres<2>(j.on_b), length, rate}, j,
                          On<Ground, Particle<2>>{}, On<P, P>{}, On<P, Particle<2>>{}, On<Particle<2>, Particle<2>>{});
      }
      case JointPlan::coupling: {  // the row is a length
        Coupling c{j.terms, j.length * u_.length, rate};
        for (Coupling::Term& term : c.terms) term.factor *= term.coordinate == "theta" ? u_.length : 1;
        return connect_to(name, c, j, On<P, P>{}, On<Particle<2>, Particle<2>>{}, On<Particle<2>, Pair>{},
                          On<Pair, Pair>{});
      }
      case JointPlan::skate:
        if (space)
          return assembly_.connect(name, Nonholonomic{Skate<3>{metres(j.on_b), j.axis_b, rate}},
                                   std::get<Handle<R>>(handles_[j.b]));
        return assembly_.connect(name, Nonholonomic{Skate<2>{metres<2>(j.on_b), j.axis_b.head<2>(), rate}},
                                 std::get<Handle<P>>(handles_[j.b]));
      case JointPlan::same_speed:
        return connect_to(name, Nonholonomic{SameSpeed{j.length}}, j, On<Particle<2>, Particle<2>>{});
    }
  }

  void apply(const ForcePlan& f, const std::string& name) {
    using P = PlanarBody;
    using R = RigidBody;
    const double k = f.stiffness * u_.of(0, 1, -2), length = f.length * u_.length, frequency = f.frequency / u_.time;
    const Vec3<double> force = f.force * u_.of(1, 1, -2);
    const bool space = m_.bodies[f.b].in_space();
    if (f.type == ForcePlan::spring && space)
      apply_to(name, Potential{Spring<3>{metres(f.on_a), metres(f.on_b), k, length}}, f, On<R, R>{});
    else if (f.type == ForcePlan::spring)
      apply_to(name, Potential{Spring<2>{metres<2>(f.on_a), metres<2>(f.on_b), k, length}}, f, On<P, P>{});
    else if (space)
      assembly_.apply(name, Force{Drive<3>{metres(f.on_b), force, frequency}}, std::get<Handle<R>>(handles_[f.b]));
    else
      assembly_.apply(name, Force{Drive<2>{metres<2>(f.on_b), force.head<2>(), frequency}},
                      std::get<Handle<P>>(handles_[f.b]));
  }

  const Mechanism& m_;
  Units u_;
  BuildOptions o_;
  Assembly assembly_;
  std::vector<AnyHandle> handles_;
};

}  // namespace

Model build(const Mechanism& m, const BuildOptions& o) { return Builder(m, o).model(); }
Assembly assemble(const Mechanism& m, const BuildOptions& o) { return Builder(m, o).assembly(); }

VectorXd in_plan(const Mechanism& m, const Model& model, const Units& u, const VectorXd& a) {
  VectorXd out(a.size());
  Index k = 0;
  for (std::size_t i = 0; i < m.bodies.size(); ++i)
    for (Index j = 0; j < m.bodies[i].q.size(); ++j)
      out[k++] = a[model.first[i] + j] / u.of(m.bodies[i].is_length(j) ? 1 : 0, 0, -2);
  return out;
}

IndependentRows::IndependentRows(const MatrixXd& A, long double threshold) {
  if (A.size() == 0) return;
  const Eigen::FullPivLU<Long> lu(A.cast<long double>());
  const Eigen::PermutationMatrix<Eigen::Dynamic> row(lu.permutationP().inverse());  // of A, for each row of L U
  for (Index i = 0; i < A.rows(); ++i) {
    const long double pivot = i < A.cols() ? std::abs(lu.matrixLU()(i, i)) : 0;
    (pivot > threshold ? kept : left_out).push_back(row.indices()[i]);
    if (pivot > threshold) smallest = std::min(smallest, pivot);
  }
}

namespace {

// v <- v - A+ r until r = A v + d phi/dt (or psi) is 0.  phi is linear in t here.
void project_velocities(Mechanism& m) {
  const Model model = build(m);
  State s = model.state;
  const double size = s.v.norm();
  for (int round = 0; round < 8; ++round) {
    State later = s;
    later.t += 1;
    const Evaluation e = model.system.evaluate(s), l = model.system.evaluate(later);
    const MatrixXd A = e.dense_A();
    VectorXd r = A * s.v + l.phi - e.phi;
    for (const auto& c : model.system.constraints())
      r.segment(c.row + c.holonomic, c.rows - c.holonomic) = e.phi.segment(c.row + c.holonomic, c.rows - c.holonomic);
    if (r.size() == 0 || r.norm() <= 1e-15 * size) break;
    const IndependentRows rows(A, 1e-9L);
    LongVector some(rows.count());
    Long A1(rows.count(), A.cols());
    for (Index k = 0; k < rows.count(); ++k) {
      const Index i = rows.kept[static_cast<std::size_t>(k)];
      some[k] = r[i];
      A1.row(k) = A.row(i).cast<long double>();
    }
    s.v -= (A1.transpose() * Eigen::FullPivLU<Long>(A1 * A1.transpose()).solve(some)).cast<double>();
  }
  s.v = (s.v.array().abs() < 1e-11 * size).select(0, s.v);  // what cannot move is at rest, not nearly so
  for (std::size_t i = 0; i < m.bodies.size(); ++i) m.bodies[i].v = s.v.segment(model.first[i], m.bodies[i].q.size());
}

// ---- Drawing plans ------------------------------------------------------------------------------------------------

// No call has two arguments that are drawn: compilers differ in their order, and would make different mechanisms.
class Maker {
 public:
  Maker(Random& random, const MechanismOptions& options) : r_(random), o_(options) {
    const double x = r_.uniform(0, 1);
    decades_ = o_.decades >= 0 ? o_.decades : x < 0.5 ? 0.5 : x < 0.7 ? 2 : x < 0.85 ? 4 : 9;
    m.t = r_.uniform(0, 1);
  }
  Mechanism m;

  void tree(bool space, bool chain) {
    const int n = count();
    std::vector<std::size_t> nodes{r_.chance(0.7) ? ground() : body(space, place(space))};
    for (int i = 0; i < n; ++i) {
      const std::size_t parent = chain ? nodes.back() : nodes[pick(nodes.size())];
      nodes.push_back(grow(parent, space));
      if (!chain && r_.chance(0.2) && turns(nodes.back())) hang_particle(nodes.back(), space);
    }
  }
  void loop(bool space) {
    const int n = std::max(3, count());
    std::vector<std::size_t> ring{r_.chance(0.7) ? ground() : body(space, place(space))};
    for (int i = 0; i < n; ++i) ring.push_back(body(space, near(ring.back(), space)));
    for (std::size_t i = 0; i + 1 < ring.size(); ++i) join(ring[i], ring[i + 1], space && r_.chance(0.3));
    turns(ring[0]) && r_.chance(0.3) ? distance(ring[0], ring.back()) : join(ring[0], ring.back(), false);
  }
  void parallel_axes() {  // a plane loop of revolute joints in space: 3 rows too many
    const int n = r_.integer(3, 5);
    const Vec3<double> axis = direction(true);
    std::vector<std::size_t> ring{ground()};
    for (int i = 0; i < n; ++i) ring.push_back(body(true, near(ring.back(), true)));
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const std::size_t a = ring[i], b = ring[(i + 1) % ring.size()];
      revolute(std::min(a, b), std::max(a, b), between(a, b, true), axis);
    }
  }
  void grid() {
    const int rows = r_.integer(2, 4), columns = r_.integer(2, 4);
    const bool bars = r_.chance(0.5);
    std::vector<std::size_t> at;
    const std::size_t base = ground();
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        const double y = i + r_.uniform(-0.2, 0.2), x = j + r_.uniform(-0.2, 0.2);
        const Vec3<double> p(x, y, 0);
        at.push_back(bars ? particle(false, p, mass()) : body(false, p));
        const auto link = [&](std::size_t to) { bars ? distance(to, at.back()) : join(to, at.back(), false); };
        if (j > 0) link(at[at.size() - 2]);
        if (i > 0) link(at[at.size() - 1 - static_cast<std::size_t>(columns)]);
      }
    bars ? distance(base, at[0]) : join(base, at[0], false);
  }
  void hub(bool space) {
    const int most = !o_.large ? 8 : r_.chance(0.9) ? 12 : space ? 20 : 40;
    const std::size_t centre = body(space, place(space));
    if (r_.chance(0.5)) join(ground(), centre, false);
    for (int n = r_.integer(5, most); n > 0; --n)
      r_.chance(0.2) ? void(hang_particle(centre, space)) : join(centre, body(space, near(centre, space)), true);
  }
  void door() {
    const std::size_t leaf = body(true, place(true));
    const Vec3<double> axis = direction(true), p = between(leaf, leaf, true);
    const std::size_t frame = r_.chance(0.7) ? ground() : body(true, place(true));
    const int hinges = r_.integer(2, 3);
    for (int hinge = 0; hinge < hinges; ++hinge) revolute(frame, leaf, p + hinge * 0.7 * axis, axis);
    for (int i = r_.integer(1, 3); i > 0; --i) grow(leaf, true);
  }
  void parallelogram() {
    const std::size_t base = ground(), coupler = body(false, place(false));
    const Vec3<double> crank = direction(false);
    const int bars = r_.integer(3, 5);
    for (int i = 0; i < bars; ++i) {
      const Vec3<double> p(i, r_.uniform(-0.2, 0.2), 0);
      const std::size_t bar = i > 0 && r_.chance(o_.massless) ? massless(false, p) : body(false, p);
      pin(base, bar, p);
      pin(coupler, bar, p + crank);
    }
    grow(coupler, false);
  }
  void pairs() {  // [m m; m m] and couplings, beside particles
    const auto anywhere = [&] {
      const double own = mass();
      return particle(false, place(false), own);
    };
    const std::size_t first = anywhere();
    std::size_t last = first;
    for (int i = r_.integer(1, 3); i > 0; --i) {
      const double p = mass();
      m.bodies.push_back({.kind = Kind::pair, .M = p * MatrixXd::Ones(2, 2), .Q = p * r_.normal(2)});
      set(m.bodies.back(), r_.normal(2));
      const std::size_t b = m.bodies.size() - 1;
      couple(last, b, {{0, last == first ? "y" : "s", factor()}, {1, "s", factor()}, {1, "r", -factor()}});
      last = b;
    }
    last = anywhere();  // and a massless particle that another carries along
    const std::size_t shadow = particle(false, place(false), 0);
    for (const char* c : {"x", "y"}) couple(last, shadow, {{0, c, factor()}, {1, c, factor()}});
    pin(body(false, near(shadow, false)), shadow, m.bodies[shadow].position());
    if (r_.chance(0.5))
      m.joints.push_back({.type = JointPlan::same_speed, .a = first, .b = last, .length = r_.uniform(0.5, 2)});
  }

  // Weights, springs, drives, skates, friction, doubled joints.
  void decorate() {
    if (r_.chance(0.8)) m.gravity = 9.81 * direction(true);
    std::vector<std::size_t> turning[2];  // in the plane, in space
    for (std::size_t i = 0; i < m.bodies.size(); ++i)
      if (turns(i)) turning[m.bodies[i].in_space()].push_back(i);
    for (JointPlan& j : m.joints) {
      const bool law = (j.type == JointPlan::pin || j.type == JointPlan::spherical) && turns(j.a);
      if (law && turns(j.b) && r_.chance(0.15)) j.friction = size_of(j.b) * r_.uniform(0.1, 2);
    }
    for (const bool space : {false, true}) {
      const auto& some = turning[space];
      if (some.empty()) continue;
      for (int i = r_.integer(0, 2); i > 0; --i) {
        const std::size_t a = some[pick(some.size())], b = some[pick(some.size())];
        if (a == b) continue;
        const Vec3<double> p = around(a, space), q = around(b, space);
        const double k = size_of(b) * r_.uniform(1, 20);
        m.forces.push_back({.type = ForcePlan::spring,
                            .a = a,
                            .b = b,
                            .on_a = m.bodies[a].local(p),
                            .on_b = m.bodies[b].local(q),
                            .stiffness = k,
                            .length = (p - q).norm() * r_.uniform(0.5, 1.5)});
      }
      if (const std::size_t b = some[pick(some.size())]; r_.chance(0.3))
        m.forces.push_back({.type = ForcePlan::drive,
                            .a = b,
                            .b = b,
                            .on_b = m.bodies[b].local(around(b, space)),
                            .force = size_of(b) * 10 * direction(space),
                            .frequency = r_.uniform(1, 5)});
      if (const std::size_t b = some[pick(some.size())]; m.bodies[b].mass > 0 && r_.chance(0.15)) {
        JointPlan j{.type = JointPlan::skate, .a = b, .b = b};
        j.on_b = m.bodies[b].local(around(b, space));
        j.axis_b = m.bodies[b].local_direction(direction(space));
        if (r_.chance(o_.moving)) j.rate = r_.uniform(-1, 1);
        m.joints.push_back(j);
      }
    }
    if (const auto& some = turning[0]; some.size() > 2 && r_.chance(0.15)) {  // a gear
      const std::size_t i = pick(some.size() - 1);
      couple(some[i], some[i + 1], {{0, "theta", factor()}, {1, "theta", factor()}});
    }
    for (std::size_t i = 0, n = m.joints.size(); i < n; ++i)
      if (r_.chance(o_.doubled)) {
        JointPlan again = m.joints[i];
        again.axis_b *= -2;  // the same axis
        if (o_.nearly > 0 && r_.chance(o_.nearly)) again = beside(again, std::pow(10, r_.uniform(-12, -3)));
        if (again.type != JointPlan::skate) m.joints.push_back(again);
      }
  }

  // A joint `apart` from another: its point, or its axis where it has one; met as the other is.
  JointPlan beside(JointPlan j, double apart) const {
    const BodyPlan &a = m.bodies[j.a], &b = m.bodies[j.b];
    const Vec3<double> off(0.6 * apart, 0.8 * apart, b.in_space() ? 0.5 * apart : 0);  // in the world
    const auto in_world = [](const BodyPlan& body, const Vec3<double>& d) -> Vec3<double> {
      return {d.dot(body.local_direction({1, 0, 0})), d.dot(body.local_direction({0, 1, 0})),
              d.dot(body.local_direction({0, 0, 1}))};
    };
    const bool turning = a.turns() || a.kind == Kind::ground;
    if (j.type == JointPlan::revolute) {
      const double sense = in_world(a, j.axis_a).dot(in_world(b, j.axis_b)) > 0 ? 1 : -1;
      j.axis_a += j.axis_a.norm() * a.local_direction(off);
      j.axis_b += sense * j.axis_b.norm() * b.local_direction(off);
    } else if (j.type == JointPlan::distance && turning) {
      const Vec3<double> d = b.position() + in_world(b, j.on_b) - a.position() - in_world(a, j.on_a);
      j.on_a += a.local_direction(off);
      j.length += (d - off).norm() - d.norm();
    } else if ((j.type == JointPlan::pin || j.type == JointPlan::spherical) && turning && b.turns()) {
      j.on_a += a.local_direction(off);
      j.on_b += b.local_direction(off);
    }
    return j;
  }

  // The next body after `parent`, joined to it directly or through massless parts; a thin rod at times.
  std::size_t grow(std::size_t parent, bool space) {
    const std::size_t next = body(space, near(parent, space));
    const double way = r_.chance(o_.massless) ? r_.uniform(0, 1) : -1;
    if (way < 0 || !turns(parent)) {
      const bool thin = space && r_.chance(0.15);
      if (thin) make_thin(next);
      const bool hinge = thin || (space && r_.chance(0.5));
      join(parent, next, hinge);
    } else if (way < 0.4) {  // one massless link
      const std::size_t link = massless(space, between(parent, next, space));
      join(parent, link, space);
      join(link, next, false);
    } else if (way < 0.7) {  // two massless links joined to each other
      const std::size_t one = massless(space, between(parent, next, space)), two = massless(space, place(space));
      join(parent, one, space);
      join(one, two, space);
      join(two, next, false);
    } else {  // massless particles on bars, each hanging on the one before
      std::size_t last = parent;
      for (int i = r_.integer(1, 2); i > 0; --i) {
        const std::size_t p = particle(space, near(parent, space), 0);
        for (int bar = 0; bar < (space ? 3 : 2); ++bar) distance(bar == 0 ? last : parent, p);
        last = p;
      }
      const Vec3<double> p = m.bodies[last].position();
      space ? spherical(next, last, p) : pin(next, last, p);
    }
    return next;
  }

 private:
  int count() { return o_.large && r_.chance(0.03) ? r_.integer(9, 24) : r_.integer(2, 6); }
  std::size_t pick(std::size_t n) { return static_cast<std::size_t>(r_.integer(0, static_cast<int>(n) - 1)); }
  double mass() {
    const double power = r_.uniform(-0.5, 0.5);
    return std::pow(10, decades_ * (o_.extremes ? std::copysign(0.5, power) : power));
  }
  double factor() { return r_.uniform(0.5, 2); }
  double size_of(std::size_t b) const { return m.bodies[b].mass > 0 ? m.bodies[b].mass : 0.1; }
  bool turns(std::size_t b) const { return m.bodies[b].turns(); }
  Vec3<double> vector(bool space) { return Vec3<double>(r_.normal(3).col(0)).cwiseProduct(Vec3<double>(1, 1, space)); }
  Vec3<double> direction(bool space) { return vector(space).normalized(); }
  Vec3<double> place(bool space) { return vector(space); }
  Vec3<double> near(std::size_t b, bool space) { return m.bodies[b].position() + direction(space); }
  Vec3<double> around(std::size_t b, bool space) { return m.bodies[b].position() + 0.4 * direction(space); }
  Vec3<double> between(std::size_t a, std::size_t b, bool space) {
    const std::size_t near_a = m.bodies[a].kind == Kind::ground ? b : a;
    return 0.5 * (m.bodies[near_a].position() + m.bodies[b].position()) + 0.3 * direction(space);
  }

  void set(BodyPlan& b, const VectorXd& q) {
    b.q = q;
    b.v = r_.normal(q.size());
  }
  std::size_t ground() {
    for (std::size_t i = 0; i < m.bodies.size(); ++i)
      if (m.bodies[i].kind == Kind::ground) return i;
    m.bodies.push_back({.kind = Kind::ground});
    return m.bodies.size() - 1;
  }
  std::size_t body(bool space, const Vec3<double>& at, bool with_mass = true) {
    BodyPlan b{.kind = space ? Kind::rigid : Kind::planar};
    if (with_mass) {
      b.mass = mass();
      // The inertia of three rods, turned.
      const Vec3<double> rods = 0.1 * Vec3<double>(r_.uniform_vector(3, 0.3, 1)) * b.mass;
      const Mat<double, 3> R = rotation_matrix<double>(Quaternion<double>(r_.normal(4).col(0)).normalized());
      b.inertia = R * (rods.sum() * Mat<double, 3>::Identity() - Mat<double, 3>(rods.asDiagonal())) * R.transpose();
      b.inertia = (0.5 * (b.inertia + b.inertia.transpose())).eval();
      if (r_.chance(0.5)) b.centre = 0.3 * direction(space);
      if (!space && r_.chance(0.1)) b.inertia.setZero();  // a point mass
    }
    if (space)
      set(b, RigidBody::pose(at, r_.normal(4).col(0)));
    else
      set(b, Vec3<double>(at[0], at[1], r_.uniform(-3, 3)));
    m.bodies.push_back(b);
    return m.bodies.size() - 1;
  }
  std::size_t massless(bool space, const Vec3<double>& at) { return body(space, at, false); }
  void make_thin(std::size_t b) {
    m.bodies[b].inertia = 0.1 * m.bodies[b].mass * Mat<double, 3>(Vec3<double>(0, 1, 1).asDiagonal());
    m.bodies[b].centre = m.bodies[b].centre.norm() * Vec3<double>::UnitX();
  }
  std::size_t particle(bool space, const Vec3<double>& at, double mass) {
    BodyPlan b{.kind = space ? Kind::particle3 : Kind::particle2, .mass = mass};
    set(b, at.head(space ? 3 : 2));
    m.bodies.push_back(b);
    return m.bodies.size() - 1;
  }

  JointPlan joint(JointPlan::Type type, std::size_t a, std::size_t b, const Vec3<double>& p) const {
    return {.type = type, .a = a, .b = b, .on_a = m.bodies[a].local(p), .on_b = m.bodies[b].local(p)};
  }
  void pin(std::size_t a, std::size_t b, const Vec3<double>& p) { m.joints.push_back(joint(JointPlan::pin, a, b, p)); }
  void spherical(std::size_t a, std::size_t b, const Vec3<double>& p) {
    m.joints.push_back(joint(JointPlan::spherical, a, b, p));
  }
  void revolute(std::size_t a, std::size_t b, const Vec3<double>& p, const Vec3<double>& axis) {
    JointPlan j = joint(JointPlan::revolute, a, b, p);
    j.axis_a = m.bodies[a].local_direction(axis);
    j.axis_b = m.bodies[b].local_direction(axis);
    m.joints.push_back(j);
  }
  void join(std::size_t a, std::size_t b, bool hinge) {
    const bool space = m.bodies[b].in_space();
    const Vec3<double> p = between(a, b, space);
    if (!space) return pin(a, b, p);
    hinge ? revolute(a, b, p, direction(true)) : spherical(a, b, p);
  }
  // A bar, from a particle itself, from anywhere near another body.
  void distance(std::size_t a, std::size_t b) {
    const bool space = m.bodies[b].in_space();
    const auto end = [&](std::size_t i) {
      const bool here = !turns(i) && m.bodies[i].kind != Kind::ground;
      return here ? m.bodies[i].position() : Vec3<double>(m.bodies[i].position() + place(space));
    };
    const Vec3<double> p = end(a), q = end(b);
    JointPlan j = joint(JointPlan::distance, a, b, p);
    j.on_b = m.bodies[b].local(q);
    if (r_.chance(o_.moving)) j.rate = r_.uniform(-0.2, 0.2) * (p - q).norm();
    j.length = (p - q).norm() - j.rate * m.t;
    m.joints.push_back(j);
  }
  void couple(std::size_t a, std::size_t b, const std::vector<Coupling::Term>& terms) {
    JointPlan j{.type = JointPlan::coupling, .a = a, .b = b, .terms = terms};
    if (r_.chance(o_.moving)) j.rate = r_.uniform(-1, 1);
    j.length = -j.rate * m.t;
    for (const auto& [end, coordinate, factor] : terms) {
      const Index k = coordinate == "theta" ? 2 : coordinate == "y" || coordinate == "r";
      j.length -= factor * m.bodies[end == 0 ? a : b].q[k];
    }
    m.joints.push_back(j);
  }
  void hang_particle(std::size_t b, bool space) {
    const Vec3<double> p = near(b, space);
    const std::size_t dot = particle(space, p, mass());
    if (r_.chance(0.5)) return distance(b, dot);
    space ? spherical(b, dot, p) : pin(b, dot, p);
  }

  Random& r_;
  MechanismOptions o_;
  double decades_ = 0;
};

// In the order of `kinds`.
void draw_kind(Maker& maker, std::size_t kind, Random& random) {
  const auto any = [&] { draw_kind(maker, static_cast<std::size_t>(random.integer(0, 12)), random); };
  const auto table = std::to_array<std::function<void()>>({
      [&] { maker.tree(true, false); },
      [&] { maker.tree(true, true); },
      [&] { maker.tree(false, false); },
      [&] { maker.tree(false, true); },
      [&] { maker.loop(true); },
      [&] { maker.loop(false); },
      [&] { maker.parallel_axes(); },
      [&] { maker.grid(); },
      [&] { maker.hub(true); },
      [&] { maker.hub(false); },
      [&] { maker.door(); },
      [&] { maker.parallelogram(); },
      [&] { maker.pairs(); },
      any,  // its joints doubled
      [&] { any(), any(); },
  });
  static_assert(std::tuple_size_v<decltype(table)> == kinds.size());
  table[kind]();
}

}  // namespace

Mechanism random_mechanism(unsigned seed, const MechanismOptions& given) {
  MechanismOptions options = given;
  Random random(seed);
  const std::size_t kind = seed % kinds.size();
  if (kinds[kind] == std::string("doubled")) options.doubled = 0.5;
  Maker maker(random, options);
  draw_kind(maker, kind, random);
  maker.decorate();
  maker.m.name = fmt::format("{} {}", kinds[kind], seed);
  project_velocities(maker.m);
  return maker.m;
}

}  // namespace mortise::testing
