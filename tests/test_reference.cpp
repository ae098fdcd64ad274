// Standard problems with published or twice computed values: accelerations and multipliers at given states.

#include <array>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/lagrangian.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/forces/applied.h>
#include <mortise/forces/spring.h>
#include <mortise/joints/functor.h>
#include <mortise/joints/knife_edge.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/rolling_disk.h>
#include <mortise/joints/rolling_sphere.h>
#include <mortise/solve/solve.h>
#include <mortise/solve/solver.h>

using namespace mortise;

namespace {

// Andrews' squeezing mechanism: seven bodies in the plane, one degree of freedom [Hairer and Wanner, Solving Ordinary
// Differential Equations II, Sec. VII.7].  Angles: beta, Theta, gamma, Phi, delta, Omega, epsilon.
constexpr std::array m{0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498};
constexpr std::array J{2.194e-6, 4.41e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5};
constexpr double c0 = 4530, l0 = 0.07785, mom = 0.033;
constexpr double d = 0.028, da = 0.0115, e = 0.02, ea = 0.01421, zf = 0.02, fa = 0.01421, rr = 0.007, ra = 0.00092;
constexpr double ss = 0.035, sa = 0.01874, sb = 0.01043, sc = 0.018, sd = 0.02, ta = 0.02308, tb = 0.00916;
constexpr double u = 0.04, ua = 0.01228, ub = 0.00449, zt = 0.04;
const Vec2<double> A(-0.06934, -0.00227), B(-0.03635, 0.03273), C(0.014, 0.072);

// Bodies are K1 ... K7, each with its origin in the joint nearest to the ground and at the angle given here.
template <class T> Vec<T, 7> body_angles(const auto& q) {
  return {q[0], q[0] + q[1], q[2], q[3] + q[4], q[4], q[5] + q[6], q[6]};
}
const std::array<Vec2<double>, 7> centre{
    {{ra, 0}, {-da, 0}, {sb, -sa}, {0, -(e - ea)}, {ta, tb}, {zf - fa, 0}, {ub, -ua}}};
// Where body k hangs: on body `on` (-1: the ground) at `at`.
struct Hinge {
  int on;
  Vec2<double> at;
};
const std::array<Hinge, 7> hinge{{{-1, {0, 0}}, {0, {rr, 0}}, {-1, B}, {4, {zt, 0}}, {-1, A}, {6, {0, -u}}, {-1, A}}};
const std::array<Vec2<double>, 7> at_E{{{0, 0}, {-d, 0}, {0, -ss}, {0, -e}, {0, 0}, {zf, 0}, {0, 0}}};

template <class T> Vec2<T> turned(const T& angle, const Vec2<double>& r) {
  using std::cos, std::sin;
  return {cos(angle) * r[0] - sin(angle) * r[1], sin(angle) * r[0] + cos(angle) * r[1]};
}
// A point of body k, and its velocity; x and w are the angles of the bodies and their rates.
template <class T> Vec2<T> point(const Vec<T, 7>& x, int k, const Vec2<double>& r) {
  const Hinge& h = hinge[std::size_t(k)];
  const Vec2<T> at = h.on < 0 ? h.at.template cast<T>().eval() : turned<T>(x[h.on], h.at);
  return at + turned<T>(x[k], r) + (h.on == 4 || h.on == 6 ? A.cast<T>().eval() : Vec2<T>(T(0.0), T(0.0)));
}
template <class T> Vec2<T> velocity(const Vec<T, 7>& x, const Vec<T, 7>& w, int k, const Vec2<double>& r) {
  const auto left = [](const Vec2<double>& s) { return Vec2<double>(-s[1], s[0]); };
  const Hinge& h = hinge[std::size_t(k)];
  const Vec2<T> own = w[k] * turned<T>(x[k], left(r));
  return h.on < 0 ? own : Vec2<T>(own + w[h.on] * turned<T>(x[h.on], left(h.at)));
}

Assembly by_angles() {
  Assembly squeezer("squeezer");
  const auto energies = [](const auto& q, const auto& v, const auto&) {
    using T = std::remove_cvref_t<decltype(q[0])>;
    const Vec<T, 7> x = body_angles<T>(q), w = body_angles<T>(v);
    T kinetic(0.0);
    for (int k = 0; k < 7; ++k) {
      const std::size_t i(static_cast<std::size_t>(k));
      kinetic += 0.5 * m[i] * velocity<T>(x, w, k, centre[i]).squaredNorm() + 0.5 * J[i] * w[k] * w[k];
    }
    const T stretch = (point<T>(x, 2, {sd, -sc}) - C.cast<T>()).norm() - l0;
    return Energies{kinetic, T(0.5 * c0 * stretch * stretch - mom * q[0])};
  };
  const auto bodies = squeezer.add(
      "q",
      Lagrangian{.coordinates = {"beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon"}, .energies = energies});
  const auto closure = [](const auto& body, const auto& t) {
    using T = std::remove_cvref_t<decltype(t)>;
    const Vec<T, 7> x = body_angles<T>(body.q);
    Vec<T, 6> g;
    const Vec2<T> E = point<T>(x, 1, at_E[1]);
    g << E - point<T>(x, 2, at_E[2]), E - point<T>(x, 3, at_E[3]), E - point<T>(x, 5, at_E[5]);
    return g;
  };
  squeezer.connect("E", Holonomic{closure}, bodies);
  return squeezer;
}

Assembly by_bodies() {
  Assembly squeezer("squeezer");
  const auto ground = squeezer.add("ground", Ground{});
  std::vector<Handle<PlanarBody>> K;
  for (std::size_t k = 0; k < 7; ++k)
    K.push_back(squeezer.add(fmt::format("K{}", k + 1), PlanarBody{m[k], J[k], centre[k]}));
  for (std::size_t k = 0; k < 7; ++k) {
    const std::string name = fmt::format("hinge{}", k + 1);
    if (hinge[k].on < 0)
      squeezer.connect(name, Pin{.on_a = hinge[k].at}, ground, K[k]);
    else
      squeezer.connect(name, Pin{.on_a = hinge[k].at}, K[std::size_t(hinge[k].on)], K[k]);
  }
  for (const std::size_t k : {2U, 3U, 5U})
    squeezer.connect(fmt::format("E{}", k + 1), Pin{.on_a = at_E[1], .on_b = at_E[k]}, K[1], K[k]);
  squeezer.apply("spring", Spring<2>{.on_a = C, .on_b = {sd, -sc}, .stiffness = c0, .length = l0}, ground, K[2]);
  squeezer.apply("motor", AppliedTorque{[](const auto&, const auto&) { return mom; }}, K[0]);
  return squeezer;
}

struct Moment {  // of the motion
  Vec<double, 7> q, v, a;
  Vec<double, 6> lambda;  // of  M q'' = Q - A' lambda,  the opposite of ours
};
const Moment start{{-6.17138900142764496e-02, 0, 4.55279819163070380e-01, 2.22668390165885885e-01,
                    4.87364979543842550e-01, -2.22668390165885885e-01, 1.23054744454982119e+00},
                   Vec<double, 7>::Zero(),
                   {1.42224439199541140e+04, -1.06668329399655855e+04, 0, 0, 0, 0, 0},
                   {9.85668703962411146e+01, -6.12268834425566420e+00, 0, 0, 0, 0}};
const Moment later{
    {1.58107711951537095e+01, -1.57563710584118424e+01, 4.08222401196458157e-02, -5.34730116342079679e-01,
     5.24409965879954032e-01, 5.34730116342079679e-01, 1.04808074104193784e+00},
    {1.13992030225910611e+03, -1.42437929517754009e+03, 1.10329119106192690e+01, 1.92933741050332230e+01,
     5.73569914829539131e-01, -1.92933741050332230e+01, 3.23179149249150271e-01},
    {-2.46317631228769856e+04, 5.18503196364678820e+04, 3.24102600707578512e+05, 5.66749422000995202e+05,
     1.67436354183454730e+04, -5.66749422000995202e+05, 9.82650780154418949e+03},
    {1.99175348104538612e+02, -2.97553099749720061e+01, 2.30665436116221506e+01, 3.14527252757711886e+01,
     2.26424947863943730e+01, 1.16173923526112862e+01}};

double far(const VectorXd& computed, const VectorXd& expected) {  // relative to the largest component
  return (computed - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
}

}  // namespace

TEST_CASE("Andrews' squeezing mechanism, in its seven angles, has the published accelerations and multipliers") {
  const System system(by_angles());
  Solver solver(system);
  for (const Moment& at : {start, later}) {
    State s = system.state();
    s.q = at.q;
    s.v = at.v;
    const Solution solution = solve(system, s);
    CHECK(far(solution.a, at.a) < 1e-10);
    CHECK(far(-solution.lambda, at.lambda) < 1e-10);
    CHECK(far(solver.solve(s), at.a) < 1e-10);
    CHECK(far(-solver.lambda(), at.lambda) < 1e-10);
  }
}

TEST_CASE("Andrews' squeezing mechanism, as seven bodies with ten pins, has the published accelerations") {
  const System system(by_bodies());
  Solver solver(system);
  for (const Moment& at : {start, later}) {
    const Vec<double, 7> x = body_angles<double>(at.q), w = body_angles<double>(at.v), wd = body_angles<double>(at.a);
    State s = system.state();
    for (int k = 0; k < 7; ++k) {
      s.q.segment<3>(3 * k) << point<double>(x, k, {0, 0}), x[k];
      s.v.segment<3>(3 * k) << velocity<double>(x, w, k, {0, 0}), w[k];
    }
    CHECK(system.evaluate(s).phi.cwiseAbs().maxCoeff() < 1e-15);
    const Solution solution = solve(system, s);
    VectorXd turns(7), by_solver(7);
    solver.solve(s);
    for (int k = 0; k < 7; ++k) {
      turns[k] = solution.a[3 * k + 2];
      by_solver[k] = solver.solve(s)[3 * k + 2];
    }
    CHECK(far(turns, wd) < 1e-10);
    CHECK(far(by_solver, wd) < 1e-10);
    CHECK(far(-solution.lambda.tail<6>(), at.lambda) < 1e-10);
    CHECK(far(-solver.lambda().tail<6>(), at.lambda) < 1e-10);
  }
}

TEST_CASE("Chaplygin's sleigh starts as its equations say") {
  Assembly ice("ice");
  const auto sleigh = ice.add("sleigh", PlanarBody{.mass = 1, .inertia = 0.1, .centre = {0.2, 0}});
  ice.connect("blade", KnifeEdge{}, sleigh);
  const System system(ice);
  State s = system.state();
  s.set("sleigh'", {1, 0, 2});  // u' = a w^2,  (J + m a^2) w' = -m a u w;  y'' = u w, the blade turns
  CHECK(far(solve(system, s).a, Vec3<double>(0.2 * 4, 2, -0.2 * 2 / 0.14)) < 1e-14);
  CHECK(far(Solver(system).solve(s), Vec3<double>(0.2 * 4, 2, -0.2 * 2 / 0.14)) < 1e-14);
}

TEST_CASE("a sphere on a turntable: v' = (2/7) W z x v") {
  Assembly a("turntable");
  a.set_gravity({0, 0, -9.81});
  const auto ground = a.add("ground", Ground{});
  const auto ball = a.add("ball", RigidBody::of(Inertia::sphere(0.2, 0.1)));
  a.connect("rolling", RollingSphere{.radius = 0.1, .rate = 3}, ground, ball);
  a.place(ball, RigidBody::pose({0.5, 0, 0.1}, {1, 0, 0, 0}));
  const System system(a);
  State s = system.state();
  s.set("ball'", RigidBody::rates(s.get_all("ball"), {0.1, 0.2, 0}, {13, 1, 0}));
  const Vec3<double> expected(-6.0 / 7 * 0.2, 6.0 / 7 * 0.1, 0);
  CHECK(far(solve(system, s).a.head<3>(), expected) < 1e-13);
  CHECK(far(Solver(system).solve(s).head<3>(), expected) < 1e-13);
}

TEST_CASE("a leaning disk that rolls starts as its equations say") {
  const double mass = 2, r = 0.5, g = 9.81, theta = 1.2217304763960307;  // 70 degrees
  const double si = std::sin(theta), co = std::cos(theta), I1 = mass * r * r / 4, I3 = mass * r * r / 2;
  const Vec3<double> w(0.3, si, -4);  // along e1, e2, e3; the frame turns by 1 rad/s about the vertical
  Assembly a("disk");
  a.set_gravity({0, 0, -g});
  const auto plane = a.add("plane", Ground{});
  const auto disk = a.add("disk", RigidBody::of(Inertia::disk(mass, r, {0, 0, 1})));
  a.connect("rolling", RollingDisk{.radius = r, .axis_b = {0, 0, 1}}, plane, disk);
  a.place(disk, RigidBody::pose({0, 0, r * si}, {std::cos(theta / 2), std::sin(theta / 2), 0, 0}));
  const System system(a);
  State s = system.state();
  const Vec3<double> e3(0, -si, co), e1(1, 0, 0);
  s.set("disk'", RigidBody::rates(s.get_all("disk"), r * (w[0] * e3 - w[2] * e1), w));
  // (A + m r^2) w1' = -(C + m r^2) w2 w3 + A cos w2 - m g r cos,  A w2' = C w1 w3 - A cos w1,
  // (C + m r^2) w3' = m r^2 w1 w2:  components in a frame that turns by (w1, w2, cos) and not with the disk's spin.
  const double mr2 = mass * r * r;
  const Vec3<double> rates((-(I3 + mr2) * w[1] * w[2] + I1 * co * w[1] - mass * g * r * co) / (I1 + mr2),
                           (I3 * w[0] * w[2] - I1 * co * w[0]) / I1, mr2 * w[0] * w[1] / (I3 + mr2));
  const Vec3<double> frame(w[0], w[1], co), expected = rates + frame.cross(w);
  const auto E = quaternion_E<double>(s.q.tail<4>());
  CHECK(far(2 * E * solve(system, s).a.tail<4>(), expected) < 1e-13);
  CHECK(far(2 * E * Solver(system).solve(s).tail<4>(), expected) < 1e-13);
}
