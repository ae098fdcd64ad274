// Driven mechanisms against closed forms: at tolerance tol every body is off by at most 100 tol of its own way.

#include <cmath>
#include <functional>
#include <numbers>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/core/spline.h>
#include <mortise/core/table.h>
#include <mortise/forces/coordinate_spring.h>
#include <mortise/forces/functor.h>
#include <mortise/forces/spring.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/drive_coordinate.h>
#include <mortise/joints/drive_planar_angle.h>
#include <mortise/joints/drive_point.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/planar_point_on_line.h>

#include "counts.h"
#include "random_equations.h"

using namespace mortise;
using mortise::testing::Random;

namespace {

constexpr double pi = std::numbers::pi;

// What is compared: columns, and their values at a time.
struct Driven {
  std::string name;
  Assembly model;
  double duration;
  std::vector<std::vector<std::string>> bodies;                   // the columns of each body that is judged
  std::function<std::vector<VectorXd>(const VectorXd& t)> exact;  // by bodies and columns: at all times, one in a row

  Driven(const char* n, double until) : name(n), model(n), duration(until) { model.set_gravity({0, -9.81, 0}); }
};

// The methods that choose their steps by their errors.
std::vector<std::string> controlled() {
  std::vector<std::string> out;
  for (const std::string& name : stepper_names())
    if (name != "rk4" && name != "gauss") out.push_back(name);
  return out;
}

// A mass on a spring, w0^2 = stiffness / mass, at rest at first, whose base moves by f(t): by quadrature,
//   x = x0 cos w0 t + w0 int_0^t sin(w0 (t - s)) f(s) ds,
// with Gauss points in pieces that are short against `rate` and end at the corners.
VectorXd on_spring(const VectorXd& t, double w0, const std::function<double(double)>& f, double rate,
                   std::vector<double> corners) {
  static const double x[5] = {-0.906179845938663992797627, -0.538469310105683091036314, 0, 0.538469310105683091036314,
                              0.906179845938663992797627};
  static const double w[5] = {0.236926885056189087514264, 0.478628670499366468041292, 0.568888888888888888888889,
                              0.478628670499366468041292, 0.236926885056189087514264};
  for (const double time : t) corners.push_back(time);
  std::sort(corners.begin(), corners.end());
  VectorXd out(t.size());
  double c = 0, s = 0, last = t[0];
  Index k = 0;
  for (const double corner : corners) {
    if (corner < last) continue;
    const int pieces = static_cast<int>(std::ceil((corner - last) * rate / 0.1));
    for (int p = 0; p < pieces; ++p)
      for (int i = 0; i < 5; ++i) {
        const double h = (corner - last) / pieces, at = last + h * (p + 0.5 + 0.5 * x[i]);
        c += 0.5 * h * w[i] * f(at) * std::cos(w0 * at);
        s += 0.5 * h * w[i] * f(at) * std::sin(w0 * at);
      }
    last = corner;
    for (; k < t.size() && t[k] == corner; ++k)
      out[k] = f(t[0]) * std::cos(w0 * t[k]) + w0 * (c * std::sin(w0 * t[k]) - s * std::cos(w0 * t[k]));
  }
  return out;
}

Driven spring_on(const char* name, double duration, double w0, const Function& f,
                 const std::function<double(double)>& plain, double rate, std::vector<double> corners = {}) {
  Driven d(name, duration);
  const auto cart = d.model.add("cart", Particle<1>{.mass = 2}), bob = d.model.add("bob", Particle<1>{.mass = 0.5});
  d.model.place(bob, Vec<double, 1>(plain(0)));
  d.model.place(cart, Vec<double, 1>(plain(0)));
  d.model.apply("k", CoordinateSpring{.terms = {{0, "x", 1}, {1, "x", -1}}, .stiffness = 0.5 * w0 * w0}, cart, bob);
  d.model.connect("drive", DriveCoordinate{.coordinate = "x", .f = f}, cart);
  d.bodies = {{"cart.x"}, {"bob.x"}};
  d.exact = [=](const VectorXd& t) {
    return std::vector<VectorXd>{t.unaryExpr(plain), on_spring(t, w0, plain, std::max(rate, w0), corners)};
  };
  return d;
}

PlanarBody bar(double length, double mass) {
  return {.mass = mass, .inertia = mass * length * length / 12, .centre = {length / 2, 0}};
}

// Where two bars from p and r meet, to the left of the way from p to r.
Vec2<double> meet(const Vec2<double>& p, double from_p, const Vec2<double>& r, double from_r) {
  const Vec2<double> way = r - p;
  const double d = way.norm(), along = (d * d + from_p * from_p - from_r * from_r) / (2 * d);
  return p + way / d * along + Vec2<double>(-way[1], way[0]) / d * std::sqrt(from_p * from_p - along * along);
}
Vec2<double> polar(double r, double angle) { return {r * std::cos(angle), r * std::sin(angle)}; }
double angle_of(const Vec2<double>& d) { return std::atan2(d[1], d[0]); }

// An angle that is known up to whole turns, along a course.
VectorXd unwound(VectorXd x) {
  for (Index k = 1; k < x.size(); ++k) x[k] = x[k - 1] + std::remainder(x[k] - x[k - 1], 2 * pi);
  return x;
}

Driven crank_rocker() {
  constexpr double a = 1, b = 2.2, c = 1.7, base = 2, start = 1, speed = 2 * pi;
  Driven d("crank-rocker", 3);
  const auto ground = d.model.add("ground", Ground{});
  const auto crank = d.model.add("crank", bar(a, 1)), coupler = d.model.add("coupler", bar(b, 2)),
             rocker = d.model.add("rocker", bar(c, 1.5));
  const auto tip = [=](double t) { return meet(polar(a, start + speed * t), b, {base, 0}, c); };
  const Vec2<double> p = polar(a, start);
  d.model.place(crank, {0, 0, start});
  d.model.place(coupler, {p[0], p[1], angle_of(tip(0) - p)});
  d.model.place(rocker, {base, 0, angle_of(tip(0) - Vec2<double>(base, 0))});
  d.model.connect("p1", Pin{}, ground, crank);
  d.model.connect("p2", Pin{.on_a = {a, 0}}, crank, coupler);
  d.model.connect("p3", Pin{.on_a = {base, 0}}, ground, rocker);
  d.model.connect("p4", Pin{.on_a = {b, 0}, .on_b = {c, 0}}, coupler, rocker);
  d.model.connect("drive", DrivePlanarAngle{.f = [=](const auto& t) { return start + speed * t; }}, ground, crank);
  d.bodies = {{"rocker.theta"}};
  d.exact = [=](const VectorXd& t) {
    return std::vector<VectorXd>{
        unwound(t.unaryExpr([=](double x) { return angle_of(tip(x) - Vec2<double>(base, 0)); }))};
  };
  return d;
}

// The pin of a crank runs in the slot of a lever.
Driven quick_return() {
  constexpr double r = 0.4, below = 1, speed = 5;
  Driven d("quick return", 3);
  const auto ground = d.model.add("ground", Ground{});
  const auto crank = d.model.add("crank", bar(r, 1)), lever = d.model.add("lever", bar(2, 3));
  const auto angle = [=](double t) { return angle_of(polar(r, speed * t) + Vec2<double>(0, below)); };
  d.model.place(lever, {0, -below, angle(0)});
  d.model.connect("p1", Pin{}, ground, crank);
  d.model.connect("p2", Pin{.on_a = {0, -below}}, ground, lever);
  d.model.connect("slot", PlanarPointOnLine{.on_b = {r, 0}}, lever, crank);
  d.model.connect("drive", DrivePlanarAngle{.f = [=](const auto& t) { return speed * t; }}, ground, crank);
  d.bodies = {{"lever.theta"}};
  d.exact = [=](const VectorXd& t) { return std::vector<VectorXd>{t.unaryExpr(angle)}; };
  return d;
}

// Two cranks, each with its motor, and two bars that meet.
Driven two_motors() {
  constexpr double a = 0.5, b = 1.5, base = 1.6, slow = 2, fast = -3.7, turn = 2;
  Driven d("two motors", 3);
  const auto ground = d.model.add("ground", Ground{});
  const auto left = d.model.add("left", bar(a, 1)), right = d.model.add("right", bar(a, 1)),
             one = d.model.add("one", bar(b, 2)), two = d.model.add("two", bar(b, 2));
  const auto ends = [=](double t) {
    return std::pair(polar(a, slow * t), Vec2<double>(Vec2<double>(base, 0) + polar(a, turn + fast * t)));
  };
  const auto tip = [=](double t) {
    const auto [p, r] = ends(t);
    return meet(p, b, r, b);
  };
  const auto [p, r] = ends(0);
  d.model.place(right, {base, 0, turn});
  d.model.place(one, {p[0], p[1], angle_of(tip(0) - p)});
  d.model.place(two, {r[0], r[1], angle_of(tip(0) - r)});
  d.model.connect("p1", Pin{}, ground, left);
  d.model.connect("p2", Pin{.on_a = {base, 0}}, ground, right);
  d.model.connect("p3", Pin{.on_a = {a, 0}}, left, one);
  d.model.connect("p4", Pin{.on_a = {a, 0}}, right, two);
  d.model.connect("p5", Pin{.on_a = {b, 0}, .on_b = {b, 0}}, one, two);
  d.model.connect("slow", DrivePlanarAngle{.f = [=](const auto& t) { return slow * t; }}, ground, left);
  d.model.connect("fast", DrivePlanarAngle{.f = [=](const auto& t) { return turn + fast * t; }}, ground, right);
  d.bodies = {{"one.theta"}, {"two.theta"}};
  d.exact = [=](const VectorXd& t) {
    return std::vector<VectorXd>{unwound(t.unaryExpr([=](double x) { return angle_of(tip(x) - ends(x).first); })),
                                 unwound(t.unaryExpr([=](double x) { return angle_of(tip(x) - ends(x).second); }))};
  };
  return d;
}

// A bead slides outwards on an arm that a motor turns: r = r0 cosh(w t).
Driven bead_on_arm() {
  constexpr double r0 = 0.1, w = 3;
  Driven d("bead on an arm", 1.2);
  d.model.set_gravity({0, 0, 0});
  const auto ground = d.model.add("ground", Ground{});
  const auto arm = d.model.add("arm", bar(1, 1));
  const auto bead = d.model.add("bead", Particle<2>{.mass = 0.3});
  d.model.place(bead, {r0, 0});
  d.model.connect("pin", Pin{}, ground, arm);
  d.model.connect("slide", PlanarPointOnLine{}, arm, bead);
  d.model.connect("drive", DrivePlanarAngle{.f = [=](const auto& t) { return w * t; }}, ground, arm);
  d.bodies = {{"bead.x", "bead.y"}};
  d.exact = [=](const VectorXd& t) {
    return std::vector<VectorXd>{t.unaryExpr([=](double x) { return r0 * std::cosh(w * x) * std::cos(w * x); }),
                                 t.unaryExpr([=](double x) { return r0 * std::cosh(w * x) * std::sin(w * x); })};
  };
  return d;
}

// A pendulum whose pivot is shaken up and down: theta'' = -(g - y'') / L sin(theta), by the classical method with short
// steps and more digits.
Driven shaken_pendulum() {
  constexpr double length = 0.7, way = 0.03, w = 40, g = 9.81;
  Driven d("shaken pendulum", 2);
  const auto ground = d.model.add("ground", Ground{});
  const auto pivot = d.model.add("pivot", Particle<2>{.mass = 1}), bob = d.model.add("bob", Particle<2>{.mass = 1});
  const Vec2<double> start = polar(length, 0.4);
  d.model.place(bob, {start[0], start[1]});
  d.model.connect("drive", DrivePoint<2>{.path = {0.0, [](const auto& t) { return way * sin(w * t); }}}, ground, pivot);
  d.model.connect("rod", Distance<2>{.length = length}, pivot, bob);
  d.bodies = {{"bob.x", "bob.y"}};
  d.exact = [](const VectorXd& t) {
    using L = long double;
    std::vector<VectorXd> out(2, VectorXd(t.size()));
    // From the downward vertical.  The pivot starts with way w; across the rod the bob starts at rest.
    L theta = static_cast<L>(pi) / 2 + L(0.4), rate = -L(way) * w * std::cos(L(0.4)) / length, now = 0;
    constexpr int fine = 200000;
    const L h = static_cast<L>(t[t.size() - 1]) / fine;
    const auto bend = [&](L time, L x) { return -(g - L(way) * w * w * std::sin(L(w) * time)) / length * std::sin(x); };
    Index k = 0;
    for (int i = 0; i <= fine; ++i) {
      now = h * i;
      if (k < t.size() && std::abs(static_cast<double>(now) - t[k]) < static_cast<double>(h) / 2) {
        const L less = t[k] - now, x = theta + less * (rate + less / 2 * bend(now, theta));
        out[0][k] = static_cast<double>(length * std::sin(x));
        out[1][k] = static_cast<double>(way * std::sin(L(w) * t[k]) - length * std::cos(x));
        ++k;
      }
      const L k1 = rate, l1 = bend(now, theta), k2 = rate + h / 2 * l1, l2 = bend(now + h / 2, theta + h / 2 * k1),
              k3 = rate + h / 2 * l2, l3 = bend(now + h / 2, theta + h / 2 * k2), k4 = rate + h * l3,
              l4 = bend(now + h, theta + h * k3);
      theta += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
      rate += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4);
    }
    return out;
  };
  return d;
}

// The wheel of a Geneva drive with four slots: in each turn of the crank it is moved by a quarter turn, and rests.
struct Geneva {
  double speed;
  template <class T> T operator()(const T& t) const {
    using std::sin, std::cos, std::atan2;
    const double turn = 2 * pi / speed, whole = std::floor(value(t) / turn), apart = std::sqrt(2.0);
    const T angle = speed * (t - turn * whole) - pi;  // of the crank; within +-45 deg of 0 it is in a slot
    const double done = whole * pi / 2;
    if (value(angle) < -pi / 4) return T(done);
    if (value(angle) > pi / 4) return T(done + pi / 2);
    return done + pi / 4 + atan2(T(sin(angle)), T(apart - cos(angle)));
  }
  std::vector<double> breakpoints(double from, double to) const {
    std::vector<double> out;
    const double turn = 2 * pi / speed;
    for (double t = std::floor(from / turn) * turn; t < to; t += turn)
      for (const double x : {0.375, 0.625}) out.push_back(t + x * turn);
    return out;
  }
};

std::vector<Driven> all_driven() {
  std::vector<Driven> out;
  out.push_back(crank_rocker());
  out.push_back(quick_return());
  out.push_back(two_motors());
  out.push_back(bead_on_arm());
  out.push_back(shaken_pendulum());
  // A cam's follower, by a spline.
  const std::vector<double> knots{0, 0.4, 0.7, 1.1, 1.5, 1.8, 2.4, 3}, lifts{0, 0, 0.02, 0.05, 0.05, 0.03, 0, 0};
  const Spline cam(knots, lifts, 0, 0);
  out.push_back(spring_on(
      "cam", 3, 9, cam, [=](double t) { return cam(t); }, 10, knots));
  const Geneva geneva{6};
  out.push_back(spring_on(
      "Geneva wheel", 3, 11, geneva, [=](double t) { return geneva(t); }, 60, geneva.breakpoints(0, 3)));
  const auto shaken = [](double way, double w, double duration, const char* name) {
    return spring_on(
        name, duration, 8, [=](const auto& t) { return way * sin(w * t); },
        [=](double t) { return way * std::sin(w * t); }, w);
  };
  out.push_back(shaken(0.2, 0.5, 5, "slow base"));
  out.push_back(shaken(0.01, 2000, 0.5, "fast base"));
  // A corner: the acceleration jumps, and the drive does not tell.
  const auto late = [](const auto& t) { return t > 1.0 ? 0.5 * (t - 1.0) * (t - 1.0) : 0.0 * t; };
  out.push_back(spring_on("corner", 3, 5, late, late, 5, {1}));
  // Corners of the place: the velocity jumps.
  const Table saw({0, 0.5, 1.1, 2, 2.2}, {0, 0, 0.1, -0.05, 0});
  out.push_back(spring_on(
      "table", 3, 7, saw, [=](double t) { return saw(t); }, 7, saw.points()));
  // A short knock on top of a slow motion.
  const auto knock = [](const auto& t) {
    using std::exp;
    const auto x = (t - 1.3) / 0.004;
    return 0.1 * sin(2.0 * t) + 0.02 * exp(-x * x);
  };
  out.push_back(spring_on("knock", 3, 8, knock, knock, 1000, {1.2, 1.4}));
  return out;
}

}  // namespace

TEST_CASE("driven: mechanisms move as their closed forms say, at every tolerance, by every method with error control") {
  const std::vector<double> tolerances =
      many(1, 1) > 1 ? std::vector<double>{1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11}
                     : std::vector<double>{1e-3, 1e-6, 1e-8, 1e-11};
  for (const Driven& d : all_driven()) {
    const System system(d.model);
    for (const std::string& integrator : controlled())
      for (const double tolerance : tolerances) {
        // Of order 2: ten times as many steps for each two digits.
        const double tightest = integrator == "generalized_alpha" ? (many(1, 1) > 1 ? 1e-7 : 1e-6) : 0;
        if (tolerance < tightest) continue;
        CAPTURE(d.name);
        CAPTURE(integrator);
        CAPTURE(tolerance);
        const Trajectory run = simulate(system, system.state(),
                                        {.duration = d.duration,
                                         .integrator = integrator,
                                         .steps = {.tolerance = tolerance},
                                         .sample = d.duration / 150});
        CAPTURE(run.text());
        CHECK(run.to_tolerance());
        const std::vector<VectorXd> exact = d.exact(run.column("t"));
        std::size_t column = 0;
        for (const auto& columns : d.bodies) {
          double way = 0, error = 0;
          for (const std::string& name : columns) {
            const VectorXd& right = exact[column++];
            way = std::max(way, (right.array() - right[0]).abs().maxCoeff());
            error = std::max(error, (run.column(name) - right).cwiseAbs().maxCoeff());
          }
          CAPTURE(columns[0]);
          CHECK(error <= 100 * tolerance * way);
        }
      }
  }
}

namespace {

// Any of the shapes a drive may have, of about this way.
Function random_drive(Random& random, double way, double duration) {
  const double w = random.uniform(0.5, 30), begin = random.uniform(0.2, 0.6) * duration,
               width = random.uniform(0.002, 0.3) * duration;
  switch (random.integer(0, 4)) {
    case 0:
      return [=](const auto& t) { return way * sin(w * t); };
    case 1: {  // measured points
      std::vector<double> t, y;
      for (int k = 0; k <= 12; ++k) t.push_back(duration * k / 12), y.push_back(random.uniform(-way, way));
      y[0] = 0;
      return Spline(t, y, 0, 0);
    }
    case 2:  // a pulse after a rest
      return [=](const auto& t) {
        using T = std::remove_cvref_t<decltype(t)>;
        if (!(t > begin) || !(t < begin + width)) return T(0.0);
        const T x = (t - begin) / width, y = 4.0 * x * (1.0 - x);
        return T(0.3 * way * std::min(1.0, width) * y * y * y);
      };
    case 3:  // an acceleration that jumps
      return [=](const auto& t) { return t > begin ? way * (t - begin) * (t - begin) : 0.0 * t; };
    default:  // a knock on top of a slow motion
      return [=](const auto& t) {
        using std::exp;
        const auto x = (t - begin) / (0.1 * width);
        return way * sin(0.7 * t) + 0.1 * way * std::min(1.0, width) * exp(-x * x);
      };
  }
}

// A carriage that is driven along x, with a chain of bars under it, springs to the ground, sometimes closed by a rod,
// and sometimes with a force that comes in pulses.
Assembly random_mechanism(Random& random, double duration) {
  Assembly a("random");
  a.set_gravity({0, -9.81, 0});
  const auto ground = a.add("ground", Ground{});
  const auto carriage = a.add("carriage", PlanarBody{.mass = random.uniform(0.5, 2), .inertia = 0.1});
  const Function f = random_drive(random, random.uniform(0.02, 0.3), duration);
  a.connect("drive", DrivePoint<2>{.path = {f, 0.0}}, ground, carriage);
  const double swing = random.uniform(0.05, 0.3), rate = random.uniform(0.5, 6);
  a.connect("level", DrivePlanarAngle{.f = [=](const auto& t) { return swing * sin(rate * t); }}, ground, carriage);
  const int n = random.integer(1, 3);
  std::vector<Handle<PlanarBody>> bars;
  Vec2<double> end(0, 0);
  double before = 0;
  for (int k = 0; k < n; ++k) {
    const double length = random.uniform(0.3, 0.8), angle = -pi / 2 + random.uniform(-0.7, 0.7);
    const auto b = a.add(fmt::format("bar{}", k), bar(length, std::pow(10, random.uniform(-1.5, 1))));
    a.place(b, {end[0], end[1], angle});
    if (k > 0)
      a.connect(fmt::format("pin{}", k), Pin{.on_a = {before, 0}}, bars.back(), b);
    else
      a.connect("pin0", Pin{}, carriage, b);
    end += polar(length, angle);
    bars.push_back(b);
    before = length;
    if (random.chance(0.5))
      a.apply(fmt::format("spring{}", k),
              Spring<2>{.on_a = {random.uniform(-1, 1), -0.5},
                        .on_b = {length / 2, 0},
                        .stiffness = random.uniform(1, 100),
                        .damping = random.uniform(0, 2),
                        .length = 0.5},
              ground, b);
  }
  if (random.chance(0.3)) {
    const Vec2<double> far = end + polar(1.5, random.uniform(-2.5, -0.6));
    a.connect("rod", Distance<2>{.on_a = far, .on_b = {before, 0}, .length = 1.5}, ground, bars.back());
  }
  if (random.chance(0.3)) {
    const double push = random.uniform(1, 20), begin = random.uniform(0.1, 0.9) * duration,
                 width = random.uniform(0.0005, 0.1) * duration;
    a.apply("push",
            Force{BreaksAt{[=](auto& b, const auto& t) {
                             if (t > begin && t < begin + width)
                               b.apply_force(Vec2<double>(0, 0), vec(push + 0.0 * t, 0.0 * t));
                           },
                           {begin, begin + width}}},
            bars.back());
  }
  return a;
}

double distance(const State& a, const State& b) { return (a.q - b.q).cwiseAbs().maxCoeff(); }

}  // namespace

TEST_CASE("driven: random mechanisms with random drives end where a tight run ends, or tell") {
  int judged = 0, finished = 0;
  const int draws = static_cast<int>(many(20, 6));
  for (int draw = 0; draw < draws; ++draw) {
    Random random(1000 + static_cast<unsigned>(draw));
    CAPTURE(draw);
    double duration = random.uniform(1, 4);
    const System system(random_mechanism(random, duration));
    const auto run = [&](const State& s, double tolerance) {
      return simulate(system, s, {.duration = duration, .steps = {.tolerance = tolerance}, .sample = duration});
    };
    // As long as a start that is moved a little moves the end by less than ten times as much.
    constexpr double little = 1e-7, most = 10;
    const State start = consistent(system, system.state());
    std::vector<State> moved(3, start);
    for (State& s : moved) {
      for (Index i = 3; i < s.q.size(); ++i)
        s.q[i] += little * random.uniform(-1, 1), s.v[i] += little * random.uniform(-1, 1);
      s = consistent(system, s);
    }
    Trajectory right = run(start, 1e-12);
    const auto sensitive = [&](const State& s) { return distance(run(s, 1e-12).last, right.last) > most * little; };
    while (right.finished && duration > 0.1 && std::any_of(moved.begin(), moved.end(), sensitive)) {
      duration *= 0.7;
      right = run(start, 1e-12);
    }
    if (!right.finished || duration <= 0.1) continue;
    ++judged;
    for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
      CAPTURE(tolerance);
      const Trajectory loose = run(start, tolerance);
      CAPTURE(loose.text());
      finished += loose.to_tolerance();
      const bool told = !loose.to_tolerance() || !loose.notes.empty();
      if (!told)
        CHECK(distance(loose.last, right.last) <= 1e3 * tolerance * std::max(1.0, start.q.cwiseAbs().maxCoeff()));
    }
  }
  CHECK(judged > draws / 2);
  CHECK(finished > judged);
}
