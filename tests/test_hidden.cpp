// Hidden constraints: what the model implies, against reduced models solved by hand.
#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/bodies/structure.h>
#include <mortise/bodies/subsystem.h>
#include <mortise/diagnosis/free_forces.h>
#include <mortise/diagnosis/hidden.h>
#include <mortise/forces/coordinate_spring.h>
#include <mortise/forces/functor.h>
#include <mortise/forces/spring.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/coupling.h>
#include <mortise/joints/friction.h>
#include <mortise/joints/functor.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/slider.h>
#include <mortise/joints/spherical.h>
#include <mortise/solve/solve.h>
#include <mortise/solve/solver.h>

#include "dense.h"

using namespace mortise;

namespace {

// Relative; what a well conditioned solve of small systems leaves of round-off, with room.
constexpr double round_off = 1e-10;
// Runs of simulate have a tolerance of 1e-8 per step; some tens of steps.
constexpr double run_tolerance = 1e-6;

using Rhs = std::function<VectorXd(double, const VectorXd&)>;
// The reduced model, by small fixed steps.
VectorXd integrate(const Rhs& f, VectorXd y, double end, int steps = 1500) {
  const double h = end / steps;
  for (int i = 0; i < steps; ++i) {
    const double t = i * h;
    const VectorXd k1 = f(t, y), k2 = f(t + h / 2, y + h / 2 * k1), k3 = f(t + h / 2, y + h / 2 * k2),
                   k4 = f(t + h, y + h * k3);
    y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return y;
}
VectorXd numbers(std::initializer_list<double> x) {
  return Eigen::Map<const VectorXd>(x.begin(), static_cast<Index>(x.size()));
}

State run(const Completed& c, double duration) {
  const Trajectory t = simulate(c.system, c.state, {.duration = duration, .steps = {.tolerance = 1e-9}});
  INFO(t.stopped);
  REQUIRE(t.finished);
  return t.last;
}

// The sparse solver, the dense one and the rank report see the same, and the added rows carry nothing.
VectorXd accelerations(const Completed& c) {
  const Evaluation e = c.system.evaluate(c.state);
  CHECK(check_rank(c.system, e).determined());
  const Solution dense = solve(c.system, e);
  Solver solver(c.system);
  const VectorXd sparse = solver.solve(c.state);
  CHECK((dense.a - sparse).norm() <= round_off * (1 + dense.a.norm()));
  double force = 0;
  for (const Contribution& x : c.system.contributions(c.state)) force = std::max(force, x.Q.cwiseAbs().maxCoeff());
  force = std::max(force, e.Q.cwiseAbs().maxCoeff());
  for (const auto& x : c.system.constraints())
    if (x.name.starts_with("implied_"))
      CHECK(solver.lambda().segment(x.row, x.rows).cwiseAbs().maxCoeff() <= 1e-12 * force);
  return sparse;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// [UP06, Example 3]
constexpr double k1 = 200, k2 = 300, l10 = 0.4, cut = 0.1;
System two_springs(double m1, double m2) {
  Assembly springs("springs");
  const auto one =
      springs.add("one", Subsystem{.coordinates = {"x1"},
                                   .M = MatrixXd::Constant(1, 1, m1).eval(),
                                   .Q = [](const auto& q, const auto&, const auto&) { return vec(-k1 * q[0]); }});
  const auto two =
      springs.add("two", Subsystem{.coordinates = {"q1", "q2"},
                                   .M = MatrixXd::Constant(2, 2, m2).eval(),
                                   .Q = [](const auto& q, const auto&, const auto&) { return vec(0.0, -k2 * q[1]); }});
  springs.connect("cut", Coupling{.terms = {{0, "x1", 1}, {1, "q1", -1}}, .constant = l10 + cut}, one, two);
  return System(springs);
}

}  // namespace

TEST_CASE("Taylor numbers are nested dual numbers") {
  using Nested = Dual<SecondOrder, 1>;
  const auto nested = [](double v, double rate, double slope) { return Nested(along(v, rate), {SecondOrder(slope)}); };
  const auto f = [](const auto& x, const auto& y) {
    auto z = sin(x) * cos(y) + tan(0.3 * x) + asin(0.2 * y) - acos(0.3 * x) + atan(x * y) + atan2(y, x) + atan2(-y, -x);
    z += sqrt(x * x + 2.0) + exp(-x) * log(y + 3.0) + sinh(0.5 * x) - cosh(y) + tanh(x) + pow(y, 2.5) + pow(x, y);
    z -= x / (1.0 + y * y) + abs(-x) + pow(x, 2) - pow(x - x, 3) + pow(x - x, 2) * pow(x, 0.0);
    z *= x;
    return z / y;
  };
  const Taylor a = f(Taylor(0.7, 1.3, -0.4), Taylor(1.1, -0.6, 0.9));
  const Nested b = f(nested(0.7, 1.3, -0.4), nested(1.1, -0.6, 0.9));
  constexpr double e = 1e-13;
  CHECK(std::abs(a.v - b.v.v.v) < e);
  CHECK(std::abs(a.d1 - b.v.d[0].v) < 10 * e);
  CHECK(std::abs(a.d2 - b.v.d[0].d[0]) < 100 * e);
  CHECK(std::abs(a.slope - b.d[0].v.v) < 10 * e);
  CHECK(std::abs(a.slope1 - b.d[0].d[0].v) < 100 * e);
  CHECK(std::abs(a.slope2 - b.d[0].d[0].d[0]) < 1000 * e);
}

TEST_CASE("two masses and two springs with m1 = 0: the program finds k1 x1 = k2 q2 [UP06, Eq. 5.47]") {
  const double m2 = 5, e0 = 0.05;
  const System system = two_springs(0, m2);
  State s = system.state();
  s.q << 0.03, 0.03 + l10 + cut, e0 - 0.03;  // not in balance
  const HiddenReport found = find_hidden(system, s);
  REQUIRE(found.rows.size() == 1);
  const HiddenRow& h = found.rows[0];
  CHECK(h.kind == HiddenKind::position_level);
  CHECK(h.forces == std::vector<std::string>{"one", "two"});
  CHECK(has(h.equation, "one.force = two.force along "));
  CHECK(h.formula == "200 one.x1 = 300 two.q2");
  CHECK(h.coordinates.size() == 3);
  CHECK((VectorXd(h.dq) / h.dq.coeff(0) - numbers({1, 0, -k2 / k1})).norm() < round_off);
  CHECK(h.dv.nonZeros() == 0);

  const Completed c = complete(system, s);
  CHECK(c.positions + c.velocities == 2);
  CHECK(c.positions_before + c.velocities_before == 4);
  const double x1 = c.state.q[0], q2 = c.state.q[2];
  CHECK(std::abs(x1 + q2 - e0) < round_off);  // what has mass stays
  CHECK(std::abs(k1 * x1 - k2 * q2) < round_off * k1);
  const double a = -k1 * k2 * e0 / (m2 * (k1 + k2) * (k1 + k2));
  CHECK((accelerations(c) - a * numbers({k2, k2, k1})).norm() < round_off * k1);
  // springs in series
  const double k = k1 * k2 / (k1 + k2), t = 1.3, e = e0 * std::cos(std::sqrt(k / m2) * t);
  const State last = run(c, t);
  CHECK(std::abs(last.q[0] - k2 / (k1 + k2) * e) < run_tolerance * e0);
  CHECK(std::abs(last.q[2] - k1 / (k1 + k2) * e) < run_tolerance * e0);
}

TEST_CASE("two masses and two springs with m2 = 0: the program finds k2 q2 = 0 [UP06, Eq. 5.56]") {
  const double m1 = 2, x0 = 0.03;
  const System system = two_springs(m1, 0);
  State s = system.state();
  s.q << x0, x0 + l10 + cut, 0.01;
  const HiddenReport found = find_hidden(system, s);
  REQUIRE(found.rows.size() == 1);
  CHECK(found.rows[0].kind == HiddenKind::position_level);
  CHECK(found.rows[0].equation == "two.force = 0 along two.q2");
  CHECK(found.rows[0].formula == "300 two.q2 = 0");
  CHECK(VectorXd(found.rows[0].direction) == numbers({0, 0, 1}));
  CHECK(std::abs(found.rows[0].value + k2 * 0.01) < round_off * k2);

  const Completed c = complete(system, s);
  CHECK(c.positions + c.velocities == 2);
  CHECK((c.state.q - numbers({x0, x0 + l10 + cut, 0})).norm() < round_off);
  CHECK((accelerations(c) - numbers({-k1 * x0 / m1, -k1 * x0 / m1, 0})).norm() < round_off * k1);
  const double t = 0.9, x = x0 * std::cos(std::sqrt(k1 / m1) * t);
  CHECK((run(c, t).q - numbers({x, x + l10 + cut, 0})).norm() < run_tolerance * x0);
}

namespace {

// ground --spring_1-- node, massless --spring_2 and damper-- block
struct Line {
  double m = 2, k1 = 100, k2 = 300, c2 = 0, l1 = 1, l2 = 0.5;
  System make() const {
    Assembly a("line");
    const auto node = a.add("node", Particle<1>{.mass = 0});
    const auto block = a.add("block", Particle<1>{.mass = m});
    a.place(node, numbers({l1}));
    a.place(block, numbers({l1 + l2}));
    a.apply("spring_1", CoordinateSpring{.terms = {{0, "x", 1}}, .stiffness = k1, .rest = l1}, node);
    if (k2 > 0)
      a.apply("spring_2", CoordinateSpring{.terms = {{0, "x", -1}, {1, "x", 1}}, .stiffness = k2, .rest = l2}, node,
              block);
    if (c2 > 0) a.apply("damper", CoordinateSpring{.terms = {{0, "x", -1}, {1, "x", 1}}, .damping = c2}, node, block);
    return System(a);
  }
};

}  // namespace

TEST_CASE("massless node between two springs: springs in series, in any units") {
  for (const double unit : {1.0, 1e-6, 1e6}) {  // of stiffness
    for (const double length : {1.0, 1e3}) {
      const Line line{.m = 2 * unit, .k1 = 100 * unit, .k2 = 300 * unit, .l1 = length, .l2 = 0.5 * length};
      const System system = line.make();
      State s = system.state();
      s.set("block.x", 1.6 * length);
      s.set("block.x'", 0.3 * length);
      const HiddenReport found = find_hidden(system, s);
      INFO(found.text());
      REQUIRE(found.rows.size() == 1);
      CHECK(found.rows[0].kind == HiddenKind::position_level);
      CHECK(found.rows[0].equation == "spring_1.force = spring_2.force along node.x");
      const Completed c = complete(system, s);
      CHECK(c.rows == std::vector<std::string>{"implied_1.node.x"});
      CHECK(c.positions == 1);
      CHECK(c.velocities == 1);
      CHECK(c.state.get("block.x") == 1.6 * length);  // only the massless coordinate moved
      CHECK(c.state.get("block.x'") == 0.3 * length);
      CHECK(std::abs(c.state.get("node.x") - 1.075 * length) < round_off * length);
      CHECK(std::abs(c.state.get("node.x'") - 0.225 * length) < round_off * length);
      CHECK(std::abs(accelerations(c)[1] + 75 * 0.1 / 2 * length) < 100 * round_off * length);
      if (length != 1) continue;
      const double w = std::sqrt(75.0 / 2), t = 0.7;
      const State last = run(c, t);
      const double x = 0.1 * std::cos(w * t) + 0.3 / w * std::sin(w * t);
      CHECK(std::abs(last.get("block.x") - 1.5 - x) < run_tolerance);
      CHECK(std::abs(last.get("node.x") - 1 - 0.75 * x) < run_tolerance);
    }
  }
}

TEST_CASE("massless node between a spring and a damper: its position starts anywhere, its velocity does not") {
  const Line line{.k2 = 0, .c2 = 20};
  const System system = line.make();
  State s = system.state();
  s.set("node.x", 1.2);
  s.set("block.x'", 0.5);
  s.set("node.x'", 7);
  const HiddenReport found = find_hidden(system, s);
  REQUIRE(found.rows.size() == 1);
  CHECK(found.rows[0].kind == HiddenKind::velocity_level);
  CHECK(found.rows[0].equation == "spring_1.force = damper.force along node.x");
  CHECK(found.rows[0].formula == "100 node.x + 20 node.x' = 20 block.x' + 100");
  const Completed c = complete(system, s);
  CHECK(c.rows == std::vector<std::string>{"implied_1.node.x'"});
  CHECK(c.positions == 2);
  CHECK(c.velocities == 1);
  CHECK(c.state.q == s.q);
  CHECK(c.state.get("block.x'") == 0.5);
  CHECK(std::abs(c.state.get("node.x'") - (0.5 - 100.0 / 20 * 0.2)) < round_off);
  const VectorXd a = accelerations(c);
  CHECK(std::abs(a[1] + 100 * 0.2 / 2) < round_off * 10);
  CHECK(std::abs(a[0] - (a[1] - 100.0 / 20 * c.state.get("node.x'"))) < round_off * 10);
  // y = (x - l1, X, X')
  const auto f = [](double, const VectorXd& y) { return numbers({y[2] - 5 * y[0], y[2], -50 * y[0]}); };
  const VectorXd y = integrate(f, numbers({0.2, 1.5, 0.5}), 0.8);
  const State last = run(c, 0.8);
  CHECK(std::abs(last.get("node.x") - 1 - y[0]) < run_tolerance);
  CHECK(std::abs(last.get("block.x") - y[1]) < run_tolerance);
  CHECK(std::abs(last.get("block.x'") - y[2]) < run_tolerance);
}

TEST_CASE("massless node in the plane with a spring at +45 and a damper at -45 degrees: both levels at once") {
  // The spring and the damper join the node with a block that moves along x; coordinates along them are p and w.
  const double k = 50, c = 4, m = 3, r = std::sqrt(0.5), kg = 70;
  Assembly a("plane");
  const auto node = a.add("node", Particle<2>{.mass = 0});
  const auto block = a.add("block", Particle<1>{.mass = m});
  a.apply("spring", CoordinateSpring{.terms = {{0, "x", r}, {0, "y", r}, {1, "x", -r}}, .stiffness = k}, node, block);
  a.apply("damper", CoordinateSpring{.terms = {{0, "x", r}, {0, "y", -r}, {1, "x", -r}}, .damping = c}, node, block);
  a.apply("holder", CoordinateSpring{.terms = {{0, "y", 1}}, .stiffness = kg}, node);
  const System system(a);
  State s = system.state();
  s.set("node", {0.1, 0.02});
  s.set("block.x'", 0.8);
  const HiddenReport found = find_hidden(system, s);
  INFO(found.text());
  REQUIRE(found.rows.size() == 2);
  CHECK(found.rows[0].kind == HiddenKind::position_level);
  CHECK(found.rows[1].kind == HiddenKind::velocity_level);
  const Completed done = complete(system, s);
  CHECK(done.positions == 2);
  CHECK(done.velocities == 1);
  // With u = (x + y - X)/sqrt2, w = (x - y - X)/sqrt2:  0 = -k u - kg y / sqrt2,  0 = -c w' + kg y / sqrt2,
  // y = (u - w)/sqrt2;  m X'' = (k u + c w')/sqrt2 = 0 ... so that the block feels what the holder does not: nothing
  // along x.  u = kg w/(2 k + kg).
  const double share = kg / (2 * k + kg);
  const VectorXd acc = accelerations(done);
  CHECK(std::abs(acc[2]) < round_off);
  const auto w_of = [&](const State& x) { return r * (x.get("node.x") - x.get("node.y") - x.get("block.x")); };
  const auto u_of = [&](const State& x) { return r * (x.get("node.x") + x.get("node.y") - x.get("block.x")); };
  CHECK(std::abs(u_of(done.state) - share * w_of(done.state)) < round_off);
  const double decay = kg / (2 * c) * (1 - share), w0 = w_of(done.state), t = 0.4;
  const State last = run(done, t);
  CHECK(std::abs(w_of(last) - w0 * std::exp(-decay * t)) < run_tolerance);
  CHECK(std::abs(u_of(last) - share * w_of(last)) < run_tolerance);
  CHECK(std::abs(last.get("block.x'") - 0.8) < run_tolerance);
}

TEST_CASE("without a third spring the node in the plane hangs on one spring and one damper") {
  const double k = 50, c = 4, r = std::sqrt(0.5);
  Assembly a("plane");
  const auto node = a.add("node", Particle<2>{.mass = 0});
  a.apply("spring", CoordinateSpring{.terms = {{0, "x", r}, {0, "y", r}}, .stiffness = k}, node);
  a.apply("damper", CoordinateSpring{.terms = {{0, "x", r}, {0, "y", -r}}, .damping = c}, node);
  const System system(a);
  State s = system.state();
  s.set("node", {0.3, 0.1});
  s.set("node'", {1, 2});
  const Completed done = complete(system, s);
  CHECK(done.positions == 1);
  CHECK(done.velocities == 0);
  CHECK(std::abs(done.state.get("node.x") + done.state.get("node.y")) < round_off);
  CHECK(done.state.v.norm() < round_off);
}

namespace {

// h and all its derivatives by FreeForces against central differences, at a state off all constraints.
void check_free_forces(const System& system, const std::vector<std::string>& massless, Index f, unsigned seed) {
  FreeForces::Selection parts;
  const auto chosen = [&](std::size_t k) {
    return std::find(massless.begin(), massless.end(), system.bodies()[k].name) != massless.end();
  };
  for (std::size_t k = 0; k < system.bodies().size(); ++k)
    if (chosen(k)) parts.massless.push_back(k);
  const auto touching = [&](const auto& all, std::vector<std::size_t>& out) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (std::any_of(all[i].bodies.begin(), all[i].bodies.end(), chosen)) out.push_back(i);
  };
  touching(system.constraints(), parts.constraints);
  touching(system.forces(), parts.forces);
  const FreeForces forces(system, parts);
  REQUIRE(forces.without_derivatives().empty());

  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  State s = system.state();
  for (double& x : s.q) x += 0.2 * uniform(generator);
  for (double& x : s.v) x = uniform(generator);
  s.t = 0.3;
  const State x = forces.local(s, forces.firsts());
  const FreeForces::Numbers e = forces.numbers(x);
  const Equations eq = forces.equations(x, e);
  const Scaling scale = scaling(eq.M.diagonal(), eq.A, eq.groups, eq.Q.cwiseAbs(), eq.b);
  const FreeForces::Pivots pivots = forces.pivots(e, scale, f);
  const FreeForces::Basis basis = forces.basis(e, pivots);
  const auto slopes_at = [&](const State& y) {
    const auto en = forces.numbers(y);
    return forces.slopes(y, en, forces.basis(en, pivots));
  };
  const auto h_at = [&](const State& y) {
    const auto en = forces.numbers(y);
    return VectorXd(forces.basis(en, pivots).N.transpose() * en.F.head(forces.massless_size()));
  };
  const FreeForces::Slopes slopes = forces.slopes(x, e, basis);
  // central differences: error d^2 h'''/6 + eps h/d
  constexpr double d = 1e-5, near = 1e-7;
  const double size = slopes.h_size.maxCoeff() + slopes.dq.cwiseAbs().maxCoeff();
  const VectorXd w = VectorXd::LinSpaced(x.q.size(), -1, 0.7);
  const MatrixXd shifted = forces.dq_shifted(x, e, basis, w);
  for (Index i = 0; i < x.q.size(); ++i) {
    State p = x, m = x;
    p.q[i] += d, m.q[i] -= d;
    INFO(forces.coordinates()[static_cast<std::size_t>(i)]);
    CHECK(((h_at(p) - h_at(m)) / (2 * d) - slopes.dq.col(i)).norm() < near * size);
    const VectorXd vp = h_at(p) - slopes_at(p).dv * w, vm = h_at(m) - slopes_at(m).dv * w;
    CHECK(((vp - vm) / (2 * d) - shifted.col(i)).norm() < near * (size + slopes.dv.cwiseAbs().maxCoeff()));
    p = m = x;
    p.v[i] += d, m.v[i] -= d;
    CHECK(((h_at(p) - h_at(m)) / (2 * d) - slopes.dv.col(i)).norm() < near * size);
  }
  const MatrixXd Z = MatrixXd::Random(x.q.size(), 2);
  const FreeForces::Course course = forces.course(x, basis, Z);
  const auto along = [&](double t) {
    State y = x;
    y.q += t * x.v;
    y.t += t;
    return y;
  };
  constexpr double d2 = 1e-4, near2 = 1e-5;  // second differences: d^2 h''''/12 + eps h/d^2
  const VectorXd h0 = h_at(x), hp = h_at(along(d2)), hm = h_at(along(-d2));
  CHECK((course.h[0] - h0).norm() < 1e-12 * size);
  CHECK((course.h[1] - (hp - hm) / (2 * d2)).norm() < near2 * size);
  CHECK((course.h[2] - (hp - 2 * h0 + hm) / (d2 * d2)).norm() < near2 * (size + course.h[2].norm()));
  const MatrixXd D0 = slopes.dv * Z, Dp = slopes_at(along(d2)).dv * Z, Dm = slopes_at(along(-d2)).dv * Z;
  CHECK((course.D[0] - D0).norm() < 1e-12 * (size + D0.norm()));
  CHECK((course.D[1] - (Dp - Dm) / (2 * d2)).norm() < near2 * (size + D0.norm()));
  CHECK((course.D[2] - (Dp - 2 * D0 + Dm) / (d2 * d2)).norm() < near2 * (size + D0.norm() + course.D[2].norm()));
}

// A link without mass, pinned to a heavy particle; two springs and a damper pull at its other end.
//
//        anchor_1 /\/\ .
//    (particle) o=======. link      anchor_2 /\/\ .
struct Link {
  double m = 2, L = 0.8, k1 = 60, k2 = 90, l1 = 0.3, l2 = 0.2, c = 0;
  Vec2<double> anchor_1{0.2, 1.0}, anchor_2{1.7, -0.3};

  System make() const {
    Assembly a("link");
    a.set_gravity({0, -9.81, 0});
    const auto ground = a.add("ground", Ground{});
    const auto mass = a.add("mass", Particle<2>{.mass = m});
    const auto link = a.add("link", PlanarBody{});
    a.connect("pin", Pin{.on_b = {-L / 2, 0}}, mass, link);
    a.apply("spring_1", Spring<2>{.on_a = anchor_1, .on_b = {L / 2, 0}, .stiffness = k1, .damping = c, .length = l1},
            ground, link);
    a.apply("spring_2", Spring<2>{.on_a = anchor_2, .on_b = {L / 2, 0}, .stiffness = k2, .length = l2}, ground, link);
    a.apply("string", Spring<2>{.on_a = {0, 1.2}, .stiffness = 100, .length = 0.5}, ground, mass);
    return System(a);
  }
  // Force of the springs on the tip of the link at angle theta with the particle at p.
  Vec2<double> pull(const Vec2<double>& p, double theta) const {
    const Vec2<double> tip = p + L * Vec2<double>(std::cos(theta), std::sin(theta));
    const Vec2<double> d1 = anchor_1 - tip, d2 = anchor_2 - tip;
    return k1 * (d1.norm() - l1) * d1.normalized() + k2 * (d2.norm() - l2) * d2.normalized();
  }
  double moment(const Vec2<double>& p, double theta) const {
    const Vec2<double> f = pull(p, theta);
    return L * (std::cos(theta) * f[1] - std::sin(theta) * f[0]);
  }
  double balance(const Vec2<double>& p, double theta) const {  // Newton, by differences
    for (int i = 0; i < 8; ++i) {
      const double h = 1e-6, slope = (moment(p, theta + h) - moment(p, theta - h)) / (2 * h);
      theta -= moment(p, theta) / slope;
    }
    return theta;
  }
  VectorXd rate(const VectorXd& y) const {  // y = (p, v)
    const Vec2<double> p = y.head<2>(), d = Vec2<double>(0, 1.2) - p;
    const Vec2<double> f = pull(p, balance(p, -0.1)) + 100 * (d.norm() - 0.5) * d.normalized();
    VectorXd out(4);
    out << y.tail<2>(), f / m + Vec2<double>(0, -9.81);
    return out;
  }
};

}  // namespace

TEST_CASE("massless link with springs in the plane: the null direction turns with it") {
  const Link link;
  const System system = link.make();
  State s = system.state();
  s.set("mass", {0.1, 0.2});
  s.set("mass'", {0.5, -0.3});
  s.set("link", {0.1 + link.L / 2, 0.2, 0.1});  // not quite on the pin
  const HiddenReport found = find_hidden(system, s);
  INFO(found.text());
  REQUIRE(found.rows.size() == 1);
  CHECK(found.rows[0].kind == HiddenKind::position_level);
  CHECK(has(found.rows[0].equation, "spring_1.force = spring_2.force along link."));
  const Completed c = complete(system, s);
  CHECK(c.positions == 2);
  CHECK(c.velocities == 2);
  CHECK(c.state.get("mass.x") == 0.1);
  const Vec2<double> p(0.1, 0.2);
  const double theta = link.balance(p, -0.1);
  CHECK(std::abs(c.state.get("link.theta") - theta) < round_off);
  const VectorXd y0 = numbers({0.1, 0.2, 0.5, -0.3});
  const VectorXd a = accelerations(c), by_hand = link.rate(y0);
  CHECK((a.head(2) - by_hand.tail(2)).norm() < 1e-8 * by_hand.norm());  // by_hand balances by differences
  // theta'' against second differences of theta balanced along the motion
  const auto theta_at = [&](double t) {
    return link.balance(p + t * y0.tail<2>() + 0.5 * t * t * by_hand.tail<2>(), theta);
  };
  const double h = 1e-3, theta2 = (theta_at(h) - 2 * theta + theta_at(-h)) / (h * h);
  CHECK(std::abs(a[4] - theta2) < 1e-4 * (1 + std::abs(theta2)));  // h^2 theta''''/12

  const double t = 1.5;
  const VectorXd y = integrate([&](double, const VectorXd& x) { return link.rate(x); }, y0, t, 300);
  const State last = run(c, t);
  CHECK((numbers({last.get("mass.x"), last.get("mass.y"), last.get("mass.x'"), last.get("mass.y'")}) - y).norm() <
        20 * run_tolerance);
  CHECK(std::abs(last.get("link.theta") - link.balance(y.head<2>(), theta)) < 20 * run_tolerance);
}

TEST_CASE("a massless link turns all the way round: pivots change on the way") {
  // The link points from an orbiting particle to the middle, where a spring holds its tip: k (r - L - l) attracts.
  const double m = 2, L = 0.6, k = 40, l = 0.2;
  Assembly a("orbit");
  const auto ground = a.add("ground", Ground{});
  const auto mass = a.add("mass", Particle<2>{.mass = m});
  const auto link = a.add("link", PlanarBody{});
  a.connect("pin", Pin{.on_b = {-L / 2, 0}}, mass, link);
  a.apply("spring", Spring<2>{.on_b = {L / 2, 0}, .stiffness = k, .length = l}, ground, link);
  const System system(a);
  State s = system.state();
  s.set("mass", {1.3, 0});
  s.set("mass'", {0.2, 3});
  s.set("link", {1.3 - L / 2, 0, 3.1});
  const Completed c = complete(system, s);
  CHECK(std::abs(c.state.get("link.theta") - std::numbers::pi) < round_off);
  (void)accelerations(c);
  const auto f = [&](double, const VectorXd& y) {
    const double r = y.head<2>().norm();
    VectorXd out(4);
    out << y.tail<2>(), -k / m * (r - L - l) / r * y.head<2>();
    return out;
  };
  const double t = 3;
  const VectorXd y = integrate(f, numbers({1.3, 0, 0.2, 3}), t);
  const State last = run(c, t);
  CHECK((last.q.head<2>() - y.head<2>()).norm() < 20 * run_tolerance);
  CHECK(last.get("link.theta") > 3 * std::numbers::pi);  // more than one turn
  const double off = last.get("link.theta") - std::numbers::pi - std::atan2(y[1], y[0]);
  CHECK(std::abs(std::remainder(off, 2 * std::numbers::pi)) < 20 * run_tolerance);
}

TEST_CASE("derivatives of the free forces match finite differences") {
  check_free_forces(Link{.c = 3}.make(), {"link"}, 1, 1);

  // In space: a massless body on a spherical joint with springs and a damper; a thin rod without axial inertia.
  Assembly a("space");
  a.set_gravity({0, 0, -9.81});
  const auto ground = a.add("ground", Ground{});
  const auto base = a.add("base", RigidBody{.mass = 1, .inertia = Vec3<double>(1, 2, 3).asDiagonal()});
  const auto arm = a.add("arm", RigidBody{});
  const auto rod = a.add("rod", RigidBody{.mass = 1, .inertia = Vec3<double>(0.3, 0.3, 0).asDiagonal()});
  a.connect("ball", Spherical{.on_a = {0.3, 0.1, 0}, .on_b = {0.1, 0, 0}}, base, arm);
  a.connect("roll", Nonholonomic{[](const auto& x, const auto& y, const auto& t) {
              return x.speed("x") - (1.0 + 0.3 * sin(t)) * y.speed("y") * y.coordinate("z") + x.coordinate("y");
            }},
            arm, base);
  a.apply("spring", Spring<3>{.on_a = {1, 2, 0.5}, .on_b = {0, 0.5, 0.2}, .stiffness = 20, .damping = 2, .length = 0.4},
          ground, arm);
  a.apply("pull", Spring<3>{.on_a = {0.2, 0, 1}, .on_b = {0.5, 0, 0}, .stiffness = 9, .damping = 1}, base, arm);
  a.apply("side", Spring<3>{.on_a = {1, 0, 1}, .on_b = {0.2, 0.1, 0.5}, .stiffness = 30, .length = 0.3}, arm, rod);
  const System system(a);
  check_free_forces(system, {"arm"}, 2, 2);
  check_free_forces(system, {"rod"}, 1, 3);
  check_free_forces(system, {"arm", "rod"}, 3, 4);
}

TEST_CASE("massless body in space: moments about its ball joint balance, energy is kept") {
  const Vec3<double> ball{0.3, 0.1, 0}, at_1{0, 0.5, 0.2}, at_2{0.6, 0, -0.1}, anchor_1{1, 2, 0.5}, anchor_2{2, -1, 1};
  Assembly a("space");
  const auto ground = a.add("ground", Ground{});
  const auto base = a.add("base", RigidBody{.mass = 1, .inertia = Vec3<double>(0.1, 0.2, 0.25).asDiagonal()});
  const auto arm = a.add("arm", RigidBody{});
  a.connect("ball", Spherical{.on_a = ball}, base, arm);
  const Spring<3> spring_1{.on_a = anchor_1, .on_b = at_1, .stiffness = 20, .length = 0.4},
      spring_2{.on_a = anchor_2, .on_b = at_2, .stiffness = 35, .length = 0.3};
  a.apply("spring_1", spring_1, ground, arm);
  a.apply("spring_2", spring_2, ground, arm);
  const System system(a);
  State s = system.state();
  s.v.head<7>() << 0.3, -0.2, 0.1, 0, 0.2, -0.1, 0.4;
  s.q.segment<3>(7) = ball;
  const HiddenReport found = find_hidden(system, s);
  INFO(found.text());
  REQUIRE(found.rows.size() == 3);
  for (const HiddenRow& row : found.rows) CHECK(row.kind == HiddenKind::position_level);
  const Completed c = complete(system, s);
  CHECK(c.positions == 6);
  CHECK(c.velocities == 6);
  const RigidBody body;
  const auto pulls = [&](const State& x, Vec3<double>& force, Vec3<double>& moment) {
    const Vec<double, 7> q = x.get_all("arm");
    force.setZero(), moment.setZero();
    for (const auto& spring : {spring_1, spring_2}) {
      const Vec3<double> p = body.point(q, spring.on_b), d = spring.on_a - p;
      const Vec3<double> f = spring.stiffness * (d.norm() - spring.length) * d.normalized();
      force += f;
      moment += (p - q.head<3>()).cross(f);
    }
  };
  Vec3<double> force, moment;
  pulls(c.state, force, moment);
  CHECK(moment.norm() < 1e-9 * force.norm());
  CHECK((accelerations(c).head<3>() - force).norm() < round_off * force.norm());  // of 1 kg
  const double energy = c.system.energy(c.state).total();
  const State last = run(c, 0.5);
  pulls(last, force, moment);
  CHECK(moment.norm() < 1e-8 * force.norm());
  CHECK(std::abs(c.system.energy(last).total() - energy) < run_tolerance * energy);
  CHECK((last.q - c.state.q).norm() > 0.1);
}

TEST_CASE("rows and b of both levels match finite differences on the constraints") {
  // The damper turns with the node: what is velocity-level turns too.
  Assembly a("plane");
  const auto ground = a.add("ground", Ground{});
  const auto node = a.add("node", Particle<2>{.mass = 0});
  const auto block = a.add("block", Particle<2>{.mass = 1});
  a.apply("spring", Spring<2>{.on_a = {-1, -1.2}, .stiffness = 50, .length = 1}, ground, node);
  a.apply("damper", Spring<2>{.damping = 4}, block, node);
  a.apply("tie", Spring<2>{.stiffness = 30, .length = 0.3}, block, node);
  const System system(a);
  State s = system.state();
  s.set("node", {0.1, 0.05});
  s.set("block", {0.6, 0.9});
  s.set("block'", {0.7, -0.4});
  const Completed c = complete(system, s);
  INFO(c.text());
  CHECK(c.positions == 3);
  CHECK(c.velocities == 2);
  (void)accelerations(c);
  const Evaluation e = c.system.evaluate(c.state);
  const MatrixXd A = e.dense_A();
  REQUIRE(A.rows() == 2);
  CHECK(e.phi.norm() < 1e-10);
  const auto at = [&](const VectorXd& dq, const VectorXd& dv, double dt) {
    State x = c.state;
    x.q += dq;
    x.v += dv;
    x.t += dt;
    return c.system.evaluate(x).phi;
  };
  constexpr double d = 1e-5, near = 1e-7;
  const VectorXd none = VectorXd::Zero(4);
  for (Index i = 0; i < 4; ++i) {
    const VectorXd u = d * VectorXd::Unit(4, i);
    CHECK(std::abs((at(u, none, 0) - at(-u, none, 0))[0] / (2 * d) - A(0, i)) < near);
    CHECK(std::abs((at(none, u, 0) - at(none, -u, 0))[0] / (2 * d)) < near);
    CHECK(std::abs((at(none, u, 0) - at(none, -u, 0))[1] / (2 * d) - A(1, i)) < near);
  }
  constexpr double d2 = 1e-4, near2 = 1e-5;
  const VectorXd p = at(d2 * c.state.v, none, d2), m = at(-d2 * c.state.v, none, -d2);
  CHECK(std::abs(-(p[0] - 2 * e.phi[0] + m[0]) / (d2 * d2) - e.b[0]) < near2);
  CHECK(std::abs(-(p[1] - m[1]) / (2 * d2) - e.b[1]) < near2);

  // By hand: the forces on the node balance across the damper; along it the damper takes what is left.
  const auto rest = [](const Vec2<double>& x, const Vec2<double>& X) -> Vec2<double> {
    const Vec2<double> d1 = Vec2<double>(-1, -1.2) - x, d3 = X - x;
    return 50 * (d1.norm() - 1) * d1.normalized() + 30 * (d3.norm() - 0.3) * d3.normalized();
  };
  const double t = 0.3;
  const State last = run(c, t);
  const Vec2<double> x(last.q.head<2>()), X(last.q.tail<2>()), n = (X - x).normalized(), across(-n[1], n[0]);
  CHECK(std::abs(across.dot(rest(x, X))) < 1e-7);
  const double rate = n.dot(Vec2<double>(last.v.tail<2>() - last.v.head<2>()));
  CHECK(std::abs(n.dot(rest(x, X)) + 4 * rate) < 1e-7);
  // The block alone, driven by the forces of tie and damper; the node along the damper by its rate, across it by
  // Newton.
  const auto settle = [&](const Vec2<double>& B, double l, double angle) {  // angle of the node seen from the block
    const auto g = [&](double w) {
      const Vec2<double> u(std::cos(w), std::sin(w));
      return Vec2<double>(-u[1], u[0]).dot(rest(B + l * u, B));
    };
    for (int i = 0; i < 8; ++i) angle -= g(angle) * 2e-6 / (g(angle + 1e-6) - g(angle - 1e-6));
    return angle;
  };
  const Vec2<double> x0(c.state.q.head<2>()), X0(c.state.q.tail<2>());
  const double angle0 = std::atan2(x0[1] - X0[1], x0[0] - X0[0]);
  const auto f = [&](double, const VectorXd& y) {  // y = (X, X', l)
    const Vec2<double> B = y.head<2>();
    const double w = settle(B, y[4], angle0);
    const Vec2<double> u(std::cos(w), std::sin(w)), node_at = B + y[4] * u;
    const double along = u.dot(rest(node_at, B));  // = c l', outwards
    VectorXd out(5);
    // the block gets what the spring to the ground puts into the node
    const Vec2<double> d1 = Vec2<double>(-1, -1.2) - node_at;
    out << y.segment<2>(2), 50 * (d1.norm() - 1) * d1.normalized(), along / 4;
    return out;
  };
  VectorXd y0(5);
  y0 << X0, c.state.v.tail<2>(), (x0 - X0).norm();
  const VectorXd y = integrate(f, y0, t, 300);
  CHECK((y.head<2>() - X).norm() < 20 * run_tolerance);
  CHECK(std::abs(y[4] - (x - X).norm()) < 20 * run_tolerance);
}

TEST_CASE("lumped beam: its massless rotations follow, as by static condensation") {
  const double L = 2, EI = 500, m = 3, l = L / 2, k = EI / (l * l * l);
  MatrixXd K(4, 4);
  K << 24, 0, -12, 6 * l, 0, 8 * l * l, -6 * l, 2 * l * l, -12, -6 * l, 12, -6 * l, 6 * l, 2 * l * l, -6 * l, 4 * l * l;
  K *= k;
  const MatrixXd M = Vec<double, 4>(m, 0, m / 2, 0).asDiagonal();
  Assembly a("beam");
  a.add("beam", Structure({.M = M, .K = K, .dofs = {{"n1", "uy"}, {"n1", "rz"}, {"n2", "uy"}, {"n2", "rz"}}}));
  const System system(a);
  State s = system.state();
  s.q << 0.02, 0, 0.07, 0;
  const HiddenReport found = find_hidden(system, s);
  REQUIRE(found.rows.size() == 2);
  for (const HiddenRow& row : found.rows) CHECK(row.kind == HiddenKind::position_level);
  CHECK(found.rows[0].equation == "beam.force = 0 along beam.n1.rz");
  const Completed c = complete(system, s);
  CHECK(c.positions == 2);
  CHECK(c.velocities == 2);
  const std::vector<Index> u{0, 2}, r{1, 3};
  const MatrixXd X = -testing::solve_symmetric(K(r, r), K(r, u));
  const MatrixXd reduced = MatrixXd(K(u, u)) + MatrixXd(K(u, r)) * X;
  const VectorXd u0 = numbers({0.02, 0.07});
  CHECK((c.state.q(u) - u0).norm() == 0);
  CHECK((VectorXd(c.state.q(r)) - X * u0).norm() < round_off);
  const VectorXd by_hand = -(reduced * u0).cwiseQuotient(numbers({m, m / 2})), acc = accelerations(c);
  CHECK((VectorXd(acc(u)) - by_hand).norm() < round_off * by_hand.norm());
  CHECK((VectorXd(acc(r)) - X * by_hand).norm() < round_off * by_hand.norm());
  const auto f = [&](double, const VectorXd& y) {
    VectorXd out(4);
    out << y.tail<2>(), -(reduced * y.head<2>()).cwiseQuotient(numbers({m, m / 2}));
    return out;
  };
  const VectorXd y = integrate(f, numbers({0.02, 0.07, 0, 0}), 0.5);
  const State last = run(c, 0.5);
  CHECK((VectorXd(last.q(u)) - y.head<2>()).norm() < run_tolerance);
  CHECK((VectorXd(last.q(r)) - X * y.head<2>()).norm() < run_tolerance);
}

namespace {

// Two blocks hang on a rope over a pulley without inertia; the rope is elastic, or not.
System pulley(bool elastic) {
  const double R = 0.2;
  Assembly a("pulley");
  a.set_gravity({-9.81, 0, 0});  // x of the blocks points up
  const auto ground = a.add("ground", Ground{});
  const auto left = a.add("left", Particle<1>{.mass = 2});
  const auto right = a.add("right", Particle<1>{.mass = 3});
  const auto wheel = a.add("wheel", PlanarBody{});
  a.connect("axle", Pin{}, ground, wheel);
  if (elastic) {
    a.apply("span_1", CoordinateSpring{.terms = {{0, "x", -1}, {1, "theta", -R}}, .stiffness = 400}, left, wheel);
    a.apply("span_2", CoordinateSpring{.terms = {{0, "x", -1}, {1, "theta", R}}, .stiffness = 700}, right, wheel);
  } else {
    a.connect("span_1", Coupling{.terms = {{0, "x", -1}, {1, "theta", -R}}}, left, wheel);
    a.connect("span_2", Coupling{.terms = {{0, "x", -1}, {1, "theta", R}}}, right, wheel);
  }
  return System(a);
}

}  // namespace

TEST_CASE("massless pulley: with an elastic rope its angle is hidden, with an inextensible one it is healthy") {
  const System stiff = pulley(false);
  CHECK(find_hidden(stiff, stiff.state()).determined());
  CHECK(complete(stiff, stiff.state()).rows.empty());

  const System system = pulley(true);
  const HiddenReport found = find_hidden(system, system.state());
  REQUIRE(found.rows.size() == 1);
  CHECK(found.rows[0].kind == HiddenKind::position_level);
  CHECK(found.rows[0].equation == "span_1.force = span_2.force along wheel.theta");
  const Completed c = complete(system, system.state());
  CHECK(c.positions + c.velocities == 4);
  (void)accelerations(c);
  // 400 s1 = 700 s2 with s1 = -x1 - R theta, s2 = -x2 + R theta: one spring of 400 700/1100 along -(x1 + x2)
  const double k = 400.0 * 700 / 1100;
  const auto f = [&](double, const VectorXd& y) {
    const double tension = -k * (y[0] + y[1]);
    return numbers({y[2], y[3], tension / 2 - 9.81, tension / 3 - 9.81});
  };
  const VectorXd y = integrate(f, numbers({0, 0, 0, 0}), 0.6);
  const State last = run(c, 0.6);
  CHECK(std::abs(last.get("left.x") - y[0]) < run_tolerance);
  CHECK(std::abs(last.get("right.x") - y[1]) < run_tolerance);
}

TEST_CASE("a particle without mass that nothing touches is indeterminate [UP06, Example 2]") {
  Assembly a("incline");
  a.add("wheel", Particle<1>{.mass = 2});
  a.add("ghost", Particle<1>{.mass = 0});
  const System system(a);
  const HiddenReport found = find_hidden(system, system.state());
  REQUIRE(found.rows.size() == 1);
  CHECK(found.rows[0].kind == HiddenKind::indeterminate);
  CHECK(found.rows[0].coordinates == std::vector<std::string>{"ghost.x"});
  CHECK(has(found.rows[0].sentence, "nothing decides ghost.x"));
  CHECK_THROWS_AS(complete(system, system.state()), NotCompletable);
}

TEST_CASE("a force on something massless that nothing holds is contradictory") {
  for (const bool with_time : {false, true}) {
    Assembly a("leaf");
    const auto block = a.add("block", Particle<1>{.mass = 2});
    const auto leaf = a.add("leaf", Particle<1>{.mass = 0});
    (void)block;
    if (with_time)
      a.apply("push", Force{[](auto& x, const auto& t) { x.apply_to("x", 3.0 * t); }}, leaf);  // 0 at t = 0
    else
      a.apply("push", Force{[](auto& x, const auto&) { x.apply_to("x", 3.0); }}, leaf);
    const System system(a);
    const HiddenReport found = find_hidden(system, system.state());
    REQUIRE(found.rows.size() == 1);
    CHECK(found.rows[0].kind == HiddenKind::contradictory);
    CHECK(found.rows[0].equation == "push.force = 0 along leaf.x");
    CHECK(found.rows[0].value == (with_time ? 0 : 3));
    CHECK(has(found.rows[0].sentence, "which has no mass and which nothing holds"));
    CHECK_THROWS_AS(complete(system, system.state()), NotCompletable);
  }
}

// What complete() adds where it cannot decide all: with the missing joint put on it, it is the mended model, completed.
void check_partly_completed(const System& broken, const System& mended, State s, const std::string& joint,
                            const std::string& left, HiddenKind kind, std::size_t added) {
  const Completed c = complete(broken, s);
  const std::string text = c.text();
  INFO(c.report.text());
  INFO(text);
  CHECK(!c.determined());
  CHECK(c.rows.size() == added);
  CHECK(has(c.report.verdict(), fmt::format("complete() adds what decides {} of them", added)));
  const auto free =
      std::find_if(c.report.rows.begin(), c.report.rows.end(), [](const auto& r) { return !r.completable; });
  REQUIRE(free != c.report.rows.end());
  CHECK(free->kind == kind);
  CHECK(free->coordinates.front() == left);
  CHECK(has(text, "not decided: " + left + ", " + in_words(kind)));

  // It is refused still, for that alone; there is nothing more to add.
  const RankReport report = check_model(c.system, c.state);
  INFO(report.text());
  CHECK(report.free.size() == 1);
  REQUIRE(report.implied.size() == 1);
  CHECK(report.implied[0].kind == kind);
  CHECK(!report.implied[0].completable);
  Solver refusing(c.system);
  CHECK_THROWS_AS(refusing.solve(c.state), UnderModelled);
  CHECK_THROWS_AS(complete(c.system, c.state), NotCompletable);

  const System held = c.system.with({mended.constraints()[mended.joint(joint)]});
  const Completed whole = complete(mended, c.state);
  CHECK(whole.determined());
  CHECK((whole.state.q - c.state.q).norm() <= round_off * (1 + c.state.q.norm()));
  CHECK((whole.state.v - c.state.v).norm() <= round_off * (1 + c.state.v.norm()));
  Solver solver(held);
  const VectorXd expected = accelerations(whole);
  CHECK((solver.solve(c.state) - expected).norm() <= round_off * (1 + expected.norm()));
}

TEST_CASE("what can be completed is, beside what cannot") {
  // Two groups: a node between springs, and a ghost that nothing touches.
  const auto line = [](bool mended) {
    Assembly a("line");
    const auto node = a.add("node", Particle<1>{.mass = 0}), block = a.add("block", Particle<1>{.mass = 2});
    const auto ghost = a.add("ghost", Particle<1>{.mass = 0});
    a.apply("spring_1", CoordinateSpring{.terms = {{0, "x", 1}}, .stiffness = 100}, node);
    a.apply("spring_2", CoordinateSpring{.terms = {{0, "x", -1}, {1, "x", 1}}, .stiffness = 300}, node, block);
    if (mended) a.connect("stop", Coupling{.terms = {{0, "x", 1}}, .constant = -0.7, .rate = -0.2}, ghost);
    return System(a);
  };
  State s = line(false).state();
  s.set("block.x", 0.1);
  s.set("block.x'", 0.5);
  s.set("ghost.x", 0.7);
  s.set("ghost.x'", 0.2);
  check_partly_completed(line(false), line(true), s, "stop", "ghost.x", HiddenKind::indeterminate, 1);
  const Completed c = complete(line(false), s);
  CHECK(std::abs(c.state.get("node.x") - 0.075) < round_off);  // 400 node.x = 300 block.x
  CHECK(c.state.get("ghost.x") == 0.7);
  CHECK(c.state.get("ghost.x'") == 0.2);
}

TEST_CASE("coordinates of one body: what decides x is added, though nothing decides y") {
  enum class Y { nothing, push, multiplier };
  for (const bool damper : {false, true})
    for (const Y y : {Y::nothing, Y::push, Y::multiplier}) {
      CAPTURE(damper);
      CAPTURE(static_cast<int>(y));
      const auto plane = [&](bool mended) {
        Assembly a("plane");
        const auto node = a.add("node", Particle<2>{.mass = 0}), block = a.add("block", Particle<2>{.mass = 2});
        a.apply("spring", CoordinateSpring{.terms = {{0, "x", 1}}, .stiffness = 100, .damping = damper ? 7.0 : 0.0},
                node);
        a.apply("pull", CoordinateSpring{.terms = {{0, "x", -1}, {1, "x", 1}}, .stiffness = 300}, node, block);
        if (y == Y::push) a.apply("push", Force{[](auto& x, const auto&) { x.apply_to("y", 3.0); }}, node);
        if (y == Y::multiplier)
          a.apply("potential", Potential{[](const auto& p, const auto& b, const auto&) {
                    return p.coordinate("y") * (b.coordinate("x") + b.coordinate("y"));
                  }},
                  node, block);
        if (mended) a.connect("stop", Coupling{.terms = {{0, "y", 1}}, .constant = -0.2}, node);
        return System(a);
      };
      State s = plane(false).state();
      s.set("block", {0.1, 0.3});
      s.set("block'", {0.5, -0.4});
      s.set("node", {0.3, 0.2});
      const HiddenKind kind = y == Y::nothing ? HiddenKind::indeterminate
                              : y == Y::push  ? HiddenKind::contradictory
                                              : HiddenKind::implicit_multiplier;
      check_partly_completed(plane(false), plane(true), s, "stop", "node.y", kind, 1);
    }
}

TEST_CASE("a massless rod in space may spin about its axis, where its springs pull: the rest is added") {
  // The free direction depends on the pose, and moves coordinates that the added rows decide.
  Assembly a("space");
  const auto ground = a.add("ground", Ground{});
  const auto base = a.add("base", RigidBody{.mass = 1, .inertia = Vec3<double>(0.1, 0.2, 0.25).asDiagonal()});
  const auto rod = a.add("rod", RigidBody{});
  a.connect("ball", Spherical{.on_a = {0.3, 0.1, 0}}, base, rod);
  a.apply("spring_1", Spring<3>{.on_a = {1, 2, 0.5}, .on_b = {0, 0.5, 0}, .stiffness = 20, .length = 0.4}, ground, rod);
  a.apply("spring_2", Spring<3>{.on_a = {2, -1, 1}, .on_b = {0, 0.9, 0}, .stiffness = 35, .length = 0.3}, ground, rod);
  const System system(a);
  State s = system.state();
  s.v.head<7>() << 0.3, -0.2, 0.1, 0, 0.2, -0.1, 0.4;
  s.q.segment<3>(7) << 0.3, 0.1, 0;
  const Completed c = complete(system, s);
  INFO(c.text());
  CHECK(c.rows.size() == 2);
  CHECK(!c.determined());
  const RankReport report = check_model(c.system, c.state);
  INFO(report.text());
  REQUIRE(report.free.size() == 1);
  CHECK(has(report.free[0].motions.at(0), "rod turns about"));
  // Both springs pull through the ball: along the rod.
  const Vec<double, 7> q = c.state.get_all("rod");
  const RigidBody body;
  Vec3<double> moment = Vec3<double>::Zero();
  for (const auto& [anchor, at, k, l] :
       {std::tuple{Vec3<double>(1, 2, 0.5), 0.5, 20.0, 0.4}, std::tuple{Vec3<double>(2, -1, 1), 0.9, 35.0, 0.3}}) {
    const Vec3<double> p = body.point(q, Vec3<double>(0, at, 0)), d = anchor - p;
    moment += (p - q.head<3>()).cross(k * (d.norm() - l) * d.normalized());
  }
  CHECK(moment.norm() < 1e-9);  // stiffness 35, places are met to 1e-12
}

TEST_CASE("random networks of springs and dampers: what is implied, what is not, and the motion, by linear algebra") {
  std::mt19937 generator(7);
  const auto uniform = [&](double a, double b) { return std::uniform_real_distribution(a, b)(generator); };
  Index undecided = 0, partly = 0;
  for (int trial = 0; trial < 300; ++trial) {
    CAPTURE(trial);
    const int n = 2 + trial % 7;
    Assembly a("network");
    std::vector<Handle<Particle<1>>> node;
    VectorXd mass(n);
    for (int i = 0; i < n; ++i) {
      mass[i] = uniform(0, 1) < 0.6 ? 0 : uniform(0.5, 3);
      node.push_back(a.add(fmt::format("n{}", i), Particle<1>{.mass = mass[i]}));
    }
    a.apply("hanger", CoordinateSpring{.terms = {{0, "x", 1}}, .stiffness = 40, .rest = 0.5},
            a.add("block", Particle<1>{.mass = 1}));
    MatrixXd K = MatrixXd::Zero(n, n), D = K;
    for (int e = 0; e < n; ++e) {
      const auto i = static_cast<std::size_t>(uniform(0, n)), j = static_cast<std::size_t>(uniform(0, n));
      const bool damper = uniform(0, 1) < 0.3, to_ground = i == j;
      if (to_ground && uniform(0, 1) < 0.5) continue;
      const double c = uniform(10, 1000);
      const double k = damper ? 0 : c, d = damper ? c / 10 : 0;
      VectorXd s = VectorXd::Zero(n);
      s[static_cast<Index>(i)] += 1;
      if (!to_ground) s[static_cast<Index>(j)] -= 1;
      K += k * s * s.transpose();
      D += d * s * s.transpose();
      const std::string name = fmt::format("e{}", e);
      if (to_ground)
        a.apply(name, CoordinateSpring{.terms = {{0, "x", 1}}, .stiffness = k, .damping = d}, node[i]);
      else
        a.apply(name, CoordinateSpring{.terms = {{0, "x", 1}, {1, "x", -1}}, .stiffness = k, .damping = d}, node[i],
                node[j]);
    }
    std::vector<Index> light;
    for (Index i = 0; i < n; ++i)
      if (mass[i] == 0) light.push_back(i);
    const MatrixXd Dl = D(light, light), Kl = K(light, light);
    const Index free = static_cast<Index>(light.size()), velocity = testing::rank(Dl),
                decided = testing::rank(10 * Dl + Kl);

    const System system(a);
    State s = system.state();
    for (Index i = 0; i < n; ++i) s.q[i] = uniform(-1, 1), s.v[i] = uniform(-1, 1);
    const HiddenReport found = find_hidden(system, s);
    INFO(found.text());
    const auto count = [&](HiddenKind kind) {
      return std::count_if(found.rows.begin(), found.rows.end(), [&](const auto& r) { return r.kind == kind; });
    };
    CHECK(static_cast<Index>(found.rows.size()) == free);
    CHECK(count(HiddenKind::velocity_level) == velocity);
    CHECK(count(HiddenKind::position_level) == decided - velocity);
    CHECK(count(HiddenKind::indeterminate) == free - decided);
    CHECK(found.completable() == decided);
    undecided += free - decided;
    if (free > 0 && decided == 0) {
      CHECK_THROWS_AS(complete(system, s), NotCompletable);
      continue;
    }
    const Completed c = complete(system, s);
    CHECK(static_cast<Index>(c.rows.size()) == decided);
    CHECK(static_cast<Index>(check_rank(c.system, c.system.evaluate(c.state)).free.size()) == free - decided);
    // The forces on what has no mass balance; what has mass was not moved.
    const VectorXd force = -K * c.state.q.head(n) - D * c.state.v.head(n);
    for (const Index i : light) CHECK(std::abs(force[i]) < 1e-8);  // stiffness 1e3, places are met to 1e-12
    for (Index i = 0; i < n; ++i)
      if (mass[i] > 0) CHECK(c.state.q[i] == s.q[i]);
    if (!c.determined()) {
      ++partly;
      continue;
    }
    const VectorXd acceleration = accelerations(c);
    for (Index i = 0; i < n; ++i)
      if (mass[i] > 0) CHECK(std::abs(acceleration[i] - force[i] / mass[i]) < 1e-8 * (1 + std::abs(force[i])));
  }
  CHECK(undecided > 100);
  CHECK(partly > 30);
}

TEST_CASE("a spring between two massless ends that is fixed nowhere is without force, and may be anywhere") {
  const auto floating = [](bool mended) {
    Assembly a("floating");
    const auto one = a.add("one", Particle<1>{.mass = 0}), two = a.add("two", Particle<1>{.mass = 0});
    a.apply("hanger", CoordinateSpring{.terms = {{0, "x", 1}}, .stiffness = 40, .rest = 0.5},
            a.add("block", Particle<1>{.mass = 1}));
    a.apply("spring", CoordinateSpring{.terms = {{0, "x", -1}, {1, "x", 1}}, .stiffness = 300, .rest = 0.5}, one, two);
    if (mended) a.connect("stop", Coupling{.terms = {{0, "x", 1}}, .constant = -0.1}, two);
    return System(a);
  };
  State s = floating(false).state();
  s.set("two.x", 0.1);
  check_partly_completed(floating(false), floating(true), s, "stop", "two.x", HiddenKind::indeterminate, 1);
}

TEST_CASE("h = 0 that cannot be reached is contradictory") {
  Assembly a("leaf");
  const auto leaf = a.add("leaf", Particle<1>{.mass = 0});
  a.apply("push", Force{[](auto& x, const auto&) { x.apply_to("x", 1.0 + x.coordinate("x") * x.coordinate("x")); }},
          leaf);
  const System system(a);
  State s = system.state();
  s.set("leaf.x", 0.7);
  CHECK(find_hidden(system, s).rows.at(0).kind == HiddenKind::contradictory);
  try {
    (void)complete(system, s);
    FAIL("must be refused");
  } catch (const NotCompletable& error) {
    CHECK(error.report().rows.at(0).kind == HiddenKind::contradictory);
    CHECK(has(error.what(), "no motion exists"));
  }
}

TEST_CASE("a massless coordinate that acts as a multiplier is refused as one") {
  Assembly a("multiplier");
  const auto block = a.add("block", Particle<2>{.mass = 2});
  const auto x = a.add("p", Particle<1>{.mass = 0});
  a.apply("potential", Potential{[](const auto& p, const auto& b, const auto&) {
            return p.coordinate("x") * (b.coordinate("x") * b.coordinate("x") + b.coordinate("y"));
          }},
          x, block);
  const System system(a);
  State s = system.state();
  s.q << 0.3, 0.4, 0.1;
  const HiddenReport found = find_hidden(system, s);
  REQUIRE(found.rows.size() == 1);
  CHECK(found.rows[0].kind == HiddenKind::implicit_multiplier);
  CHECK(has(found.rows[0].sentence, "acts like a multiplier"));
  CHECK_THROWS_AS(complete(system, s), NotCompletable);
}

TEST_CASE("laws that depend on reactions, and functions of double only, are refused by name") {
  Assembly a("rough");
  const auto ground = a.add("ground", Ground{});
  const auto node = a.add("node", Particle<2>{.mass = 0});
  a.connect("guide",
            Reacting{Holonomic{[](const auto&, const auto& b, const auto&) { return b.coordinate("y"); }},
                     [](auto&, auto& b, double, const auto& lambda) {
                       b.apply_to("x", -0.1 * std::abs(lambda[0]) * std::tanh(b.speed("x")));
                     }},
            ground, node);
  a.apply("spring", Spring<2>{.on_a = {1, 0}, .stiffness = 5}, ground, node);
  const System system(a);
  const HiddenReport found = find_hidden(system, system.state());
  REQUIRE(found.rows.size() == 1);
  CHECK(found.rows[0].kind == HiddenKind::refused);
  CHECK(found.rows[0].forces == std::vector<std::string>{"guide"});
  CHECK(has(found.rows[0].sentence, "the law of guide depends on its own reaction"));

  Assembly b("plain");
  const auto bead = b.add("bead", Particle<1>{.mass = 0});
  b.apply("pull", Force{[](Acted<Particle<1>, double>& x, const double&) { x.apply_to("x", -x.coordinate("x")); }},
          bead);
  const System plain(b);
  const HiddenReport refused = find_hidden(plain, plain.state());
  REQUIRE(refused.rows.size() == 1);
  CHECK(refused.rows[0].kind == HiddenKind::refused);
  CHECK(refused.rows[0].forces == std::vector<std::string>{"pull"});
  CHECK_THROWS_AS(complete(plain, plain.state()), NotCompletable);
}

TEST_CASE("a position that would follow velocities of massive parts is refused") {
  Assembly a("follower");
  const auto node = a.add("node", Particle<1>{.mass = 0});
  const auto block = a.add("block", Particle<1>{.mass = 2});
  a.apply("follow",
          Force{[](auto& x, auto& b, const auto&) { x.apply_to("x", 3.0 * b.speed("x") - 5.0 * x.coordinate("x")); }},
          node, block);
  const System system(a);
  const HiddenReport found = find_hidden(system, system.state());
  REQUIRE(found.rows.size() == 1);
  CHECK(found.rows[0].kind == HiddenKind::refused);
  CHECK(has(found.rows[0].sentence, "would follow the velocities"));
}

TEST_CASE("a damper that does nothing at rest is told to start from another state") {
  Assembly a("quadratic");
  const auto node = a.add("node", Particle<1>{.mass = 0});
  a.apply("drag", Force{[](auto& x, const auto&) {
            const auto v = x.speed("x");
            x.apply_to("x", 2.0 - v * v);
          }},
          node);
  const System system(a);
  State s = system.state();
  CHECK(find_hidden(system, s).rows.at(0).kind == HiddenKind::refused);
  CHECK(has(find_hidden(system, s).rows.at(0).sentence, "start from another state"));
  s.set("node.x'", 1);
  const Completed c = complete(system, s);
  CHECK(std::abs(c.state.get("node.x'") - std::sqrt(2)) < round_off);
}

TEST_CASE("healthy massless parts are not accused") {
  Assembly a("healthy");
  const auto ground = a.add("ground", Ground{});
  const auto rod = a.add("rod", PlanarBody{});
  const auto tip = a.add("tip", Particle<2>{.mass = 1});
  a.connect("hinge", Pin{}, ground, rod);
  a.connect("end", Pin{.on_a = {1, 0}}, rod, tip);
  a.apply("spring", Spring<2>{.on_a = {1, 1}, .stiffness = 10}, ground, rod);
  const System system(a);
  State s = system.state();
  s.set("tip", {1, 0});
  CHECK(find_hidden(system, s).determined());
  CHECK(has(find_hidden(system, s).text(), "OK: the motion is determined"));
  const Completed c = complete(system, s);
  CHECK(c.rows.empty());
  CHECK(c.system.rows() == system.rows());
}

TEST_CASE("many massless nodes: chains of springs behave as one spring, and groups stay small") {
  // ground - node - node ... node - block, and the whole next to it again: 40 nodes in one group
  constexpr int nodes = 40;
  Assembly a("chain");
  auto last = a.add("n0", Particle<1>{.mass = 0});
  a.apply("s0", CoordinateSpring{.terms = {{0, "x", 1}}, .stiffness = 1000}, last);
  for (int i = 1; i < nodes; ++i) {
    const auto next = a.add(fmt::format("n{}", i), Particle<1>{.mass = 0});
    a.apply(fmt::format("s{}", i), CoordinateSpring{.terms = {{0, "x", -1}, {1, "x", 1}}, .stiffness = 1000}, last,
            next);
    last = next;
  }
  const auto block = a.add("block", Particle<1>{.mass = 2});
  a.apply("end", CoordinateSpring{.terms = {{0, "x", -1}, {1, "x", 1}}, .stiffness = 1000}, last, block);
  const System system(a);
  State s = system.state();
  s.set("block.x", 0.5);
  const Completed c = complete(system, s);
  CHECK(c.report.rows.size() == nodes);
  CHECK(c.system.constraints().size() == 1);
  CHECK(std::abs(accelerations(c).tail<1>()[0] + 1000.0 / (nodes + 1) * 0.5 / 2) < 1e-8);

  // masses with a massless node between any two: as many groups as nodes
  constexpr int masses = 200;
  Assembly b("line");
  auto before = b.add("m0", Particle<1>{.mass = 1});
  for (int i = 1; i < masses; ++i) {
    const auto node = b.add(fmt::format("n{}", i), Particle<1>{.mass = 0});
    const auto mass = b.add(fmt::format("m{}", i), Particle<1>{.mass = 1});
    const CoordinateSpring spring{.terms = {{0, "x", -1}, {1, "x", 1}}, .stiffness = 100};
    b.apply(fmt::format("l{}", i), spring, before, node);
    b.apply(fmt::format("r{}", i), spring, node, mass);
    before = mass;
  }
  const System line(b);
  State x = line.state();
  for (Index i = 0; i < line.size(); ++i) x.q[i] = std::sin(0.3 * static_cast<double>(i));
  const Completed d = complete(line, x);
  CHECK(d.report.rows.size() == masses - 1);
  CHECK(d.system.constraints().size() == masses - 1);
  CHECK(d.positions == masses);
  Solver solver(d.system);
  const VectorXd acc = solver.solve(d.state);
  for (Index i = 2; i + 2 < line.size(); i += 2) {
    const double by_hand = 50 * (x.q[i - 2] - 2 * x.q[i] + x.q[i + 2]);
    CHECK(std::abs(acc[i] - by_hand) < 1e-8);
  }
}

TEST_CASE("hidden constraints among 300 massless coordinates that hang together are found, among 301 refused by name") {
  for (const int nodes : {300, 301}) {
    CAPTURE(nodes);
    Assembly a("chain");
    auto last = a.add("n0", Particle<1>{.mass = 0});
    a.apply("s0", CoordinateSpring{.terms = {{0, "x", 1}}, .stiffness = 1000}, last);
    for (int i = 1; i < nodes; ++i) {
      const auto next = a.add(fmt::format("n{}", i), Particle<1>{.mass = 0});
      a.apply(fmt::format("s{}", i), CoordinateSpring{.terms = {{0, "x", -1}, {1, "x", 1}}, .stiffness = 1000}, last,
              next);
      last = next;
    }
    const System system(a);
    const HiddenReport found = find_hidden(system, system.state());
    if (nodes <= 300) {
      CHECK(found.completable() == nodes);
      continue;
    }
    CHECK(found.completable() == 0);
    REQUIRE(found.rows.size() == 1);
    CHECK(found.rows[0].sentence.find("301 massless coordinates hang together") == 0);
    CHECK_THROWS_AS(complete(system, system.state()), NotCompletable);
  }
}
