// Runs of standard problems, against values computed twice by independent means, and what else a run has to do.

#include <cmath>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <sstream>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/lagrangian.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/forces/applied.h>
#include <mortise/forces/spring.h>
#include <mortise/integrators/simulate.h>
#include <mortise/integrators/sweep.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/drive_planar_angle.h>
#include <mortise/joints/friction.h>
#include <mortise/joints/knife_edge.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/rolling_disk.h>
#include <mortise/joints/rolling_sphere.h>
#include <mortise/joints/slider.h>
#include <mortise/joints/spherical.h>
#include <mortise/sensors/functor.h>
#include <mortise/sensors/point_sensor.h>

using namespace mortise;

namespace {

constexpr double g = 9.81;

struct Problem {
  Assembly assembly;
  std::vector<std::pair<std::string, std::vector<double>>> start;
  std::vector<std::string> columns;
  struct Moment {
    double t;
    std::vector<double> values;
  };
  std::vector<Moment> expected;

  State state(const System& system) const {
    State s = system.state();
    for (const auto& [name, values] : start)
      s.set(name, Eigen::Map<const VectorXd>(values.data(), static_cast<Index>(values.size())));
    return s;
  }
  // The largest error of all observables at all times.
  double error(const Trajectory& run) const {
    double worst = 0;
    const VectorXd t = run.column("t");
    for (const Moment& m : expected) {
      Index k = 0;
      (t.array() - m.t).abs().minCoeff(&k);
      if (std::abs(t[k] - m.t) > 1e-12) return 1e300;
      for (std::size_t i = 0; i < columns.size(); ++i)
        worst = std::max(worst, std::abs(run.value(k, columns[i]) - m.values[i]));
    }
    return worst;
  }
  Trajectory run(const SimulationOptions& options) const {
    const System system(assembly);
    return simulate(system, state(system), options);
  }
};

// A point mass on a massless bar.
Problem pendulum() {
  Assembly a("pendulum");
  a.set_gravity({0, -g, 0});
  const auto ground = a.add("ground", Ground{});
  const auto bar = a.add("bar", PlanarBody{});
  const auto bob = a.add("bob", Particle<2>{.mass = 1});
  a.connect("pivot", Pin{}, ground, bar);
  a.connect("end", Pin{.on_a = {-1, 0}}, bar, bob);
  return {a,
          {{"bob", {-1, 0}}},
          {"bob.x", "bob.y", "bob.x'", "bob.y'"},
          {{0.1, {-0.99879748274988968557, -0.049026405665557576033, 0.048083335112397396542, -0.97958464261272927196}},
           {0.5, {-0.39104879155054638769, -0.92036994878519220376, 3.9110480039555524848, -1.6617346075474145197}},
           {1.0, {0.98629175113187531936, -0.16501085312554116875, 0.29690551591631582156, 1.7746436411126556265}},
           {2.0, {-0.79356619534332174699, -0.60848393044379151463, -2.1024378744361257895, 2.7419353930105090799}},
           {5.0, {-0.9423054350437573355, -0.33475433841400058079, 0.85790425688594907306, -2.4149286543704886226}},
           {10.0, {-0.27508746257611686005, -0.96141920509912506427, 4.1755981009517288365, -1.1947490545604752716}}}};
}

// N windows; all bars upright, and B0 moves with 1 m/s.  Its rank drops by N where the bars lie flat.
Problem four_bars(int N, double uneven = 0) {
  Assembly a("n_four_bar");
  a.set_gravity({0, -g, 0});
  const auto ground = a.add("ground", Ground{});
  std::vector<Handle<PlanarBody>> bar;
  Problem p{a, {}, {"B0.x", "B0.y", "B0.x'", "B0.y'"}, {}};
  const auto mass = [&](int i) { return 1 + uneven * ((7 * i) % 5); };
  for (int i = 0; i <= N; ++i) {
    bar.push_back(p.assembly.add(fmt::format("bar{}", i), PlanarBody{.mass = mass(i), .inertia = mass(i) / 12}));
    p.assembly.place(bar.back(), {double(i), 0.5, 0});
    p.assembly.connect(fmt::format("foot{}", i), Pin{.on_a = {double(i), 0}, .on_b = {0, -0.5}}, ground, bar.back());
    p.start.push_back({fmt::format("bar{}'", i), {0.5, 0, -1}});
  }
  for (int k = 0; k < N; ++k) {
    const double m = mass(k + 3);
    const auto coupler = p.assembly.add(fmt::format("coupler{}", k), PlanarBody{.mass = m, .inertia = m / 12});
    p.assembly.place(coupler, {k + 0.5, 1, 0});
    p.start.push_back({fmt::format("coupler{}'", k), {1, 0, 0}});
    p.assembly.connect(fmt::format("left{}", k), Pin{.on_a = {0, 0.5}, .on_b = {-0.5, 0}}, bar[std::size_t(k)],
                       coupler);
    p.assembly.connect(fmt::format("right{}", k), Pin{.on_a = {0, 0.5}, .on_b = {0.5, 0}}, bar[std::size_t(k + 1)],
                       coupler);
  }
  p.assembly.measure("B0", PointSensor<2>{.at = {0, 0.5}}, bar[0]);
  if (N == 2 && uneven == 0)
    p.expected = {
        {0.5, {0.69528663316440051141, 0.71873256343574162209, 1.9602054253718332236, -1.8962611405865766571}},
        {1.0, {-0.19502030194943509364, -0.9807992056621738326, -6.6766780368811580662, 1.3275783251604872139}},
        {2.0, {0.057815795768011431847, 0.99832726786345548131, 1.0172601366204365105, -0.058912248713445648198}},
        {5.0, {-0.81131046100510741219, -0.58461554534897554768, -3.5691173971932091857, 4.9531051713133269734}},
        {10.0, {0.32845811154081537865, 0.94451853817860096216, 1.4230514702069441233, -0.49486884548704295899}}};
  return p;
}

// Six revolute joints, one row of thirty redundant.
Problem bricard() {
  using V = Vec3<double>;
  const std::array<V, 6> corner{V(0, 0, 0), V(1, 0, 0), V(1, -1, 0), V(1, -1, 1), V(0, -1, 1), V(0, 0, 1)};
  const std::array<V, 3> axes{V(0, 1, 0), V(0, 0, 1), V(1, 0, 0)};
  Assembly a("bricard");
  a.set_gravity({0, -g, 0});
  const auto ground = a.add("ground", Ground{});
  std::vector<Handle<RigidBody>> rod;
  for (std::size_t k = 0; k < 5; ++k) {
    const V along = corner[k + 1] - corner[k], edges = V(0.1, 0.1, 0.1) + 0.9 * along.cwiseAbs();
    rod.push_back(a.add(fmt::format("rod{}", k + 1), RigidBody::of(Inertia::box(1, edges))));
    a.place(rod[k], RigidBody::pose((corner[k] + corner[k + 1]) / 2, {1, 0, 0, 0}));
  }
  for (std::size_t k = 0; k < 6; ++k) {
    const auto hinge = at_world<Revolute>(corner[k], Axis(axes[k % 3]));
    const std::string name = fmt::format("hinge{}", k + 1);
    if (k == 0)
      a.connect(name, hinge, ground, rod[0]);
    else if (k < 5)
      a.connect(name, hinge, rod[k - 1], rod[k]);
    else
      a.connect(name, hinge, rod[4], ground);
  }
  a.measure("P3", PointSensor<3>{.at = {0, -0.5, 0}}, rod[1]);
  return {a,
          {},
          {"P3.x", "P3.y", "P3.z"},
          {{0.5, {7.74717808039233440e-01, -9.79815047655668989e-01, -1.99906158953442723e-01}},
           {1, {2.74481319264623039e-01, -8.86707938734672018e-01, -4.62330002687376039e-01}},
           {1.25, {-2.30610044402475749e-03, -8.66026938982014820e-01, -4.99997340950371034e-01}},
           {2, {-7.78135373033290894e-01, -9.80352683443256556e-01, -1.97252670617170613e-01}},
           {2.5, {-9.99983185292791075e-01, -9.99999999858635188e-01, -1.68145658417357160e-05}},
           {10, {9.99730987303835352e-01, -9.99999963825817275e-01, -2.68976512249299543e-04}}}};
}

Problem rolling_disk() {
  const double theta = 70 * std::numbers::pi / 180, r = 0.5;
  Assembly a("disk");
  a.set_gravity({0, 0, -g});
  const auto plane = a.add("plane", Ground{});
  const auto disk = a.add("disk", RigidBody::of(Inertia::disk(2, r, {0, 0, 1})));
  a.connect("rolling", RollingDisk{.radius = r, .axis_b = {0, 0, 1}}, plane, disk);
  const Vec<double, 7> pose =
      RigidBody::pose({0, 0, r * std::sin(theta)}, {std::cos(theta / 2), std::sin(theta / 2), 0, 0});
  a.place(disk, pose);
  const Vec<double, 7> rates = RigidBody::rates(pose, {2, 0, 0}, {0, std::sin(theta), -4});
  return {a,
          {{"disk'", {rates.data(), rates.data() + 7}}},
          {"disk.x", "disk.y", "disk.z"},
          {{0.5, {9.42476965857550462e-01, 2.97666621292127482e-01, 4.60185273258531195e-01}},
           {1.0, {1.51483554452866764e+00, 1.10553597044091976e+00, 4.68231753118661567e-01}},
           {2.0, {9.22335905757266171e-01, 2.88808542064150849e+00, 4.64288388834255268e-01}},
           {5.0, {4.21363151556959280e-02, -6.68535603324421304e-03, 4.62839245511307674e-01}}}};
}

Problem sleigh() {
  Assembly a("ice");
  const auto sleigh = a.add("sleigh", PlanarBody{.mass = 1, .inertia = 0.1, .centre = {0.2, 0}});
  a.connect("blade", KnifeEdge{}, sleigh);
  return {a,
          {{"sleigh'", {1, 0, 2}}},
          {"sleigh.x", "sleigh.y", "sleigh.theta", "sleigh.theta'"},
          {{1, {0.90447429478824719136, 0.68339104579260976522, 0.99304170240593621753, 0.37185538191752961703}},
           {2, {1.4643575101756572231, 1.7958334019199278354, 1.1667778606005445515, 0.062630272869789140827}},
           {5, {2.8382481804562027998, 5.2816539593226480158, 1.2017147607434213985, 0.00029655616310889924416}}}};
}

Problem turntable() {
  Assembly a("turntable");
  a.set_gravity({0, 0, -g});
  const auto ground = a.add("ground", Ground{});
  const auto ball = a.add("ball", RigidBody::of(Inertia::sphere(0.2, 0.1)));
  a.connect("rolling", RollingSphere{.radius = 0.1, .rate = 3}, ground, ball);
  const Vec<double, 7> pose = RigidBody::pose({0.5, 0, 0.1}, {1, 0, 0, 0});
  a.place(ball, pose);
  const Vec<double, 7> rates = RigidBody::rates(pose, {0.1, 0.2, 0}, {13, 1, 0});
  return {a,
          {{"ball'", {rates.data(), rates.data() + 7}}},
          {"ball.x", "ball.y", "ball.x'", "ball.y'"},
          {{1, {0.50760380815801452811, 0.2166909107554563423, -0.085735066361819721973, 0.20651754984972673838}},
           {2, {0.34876827110290267739, 0.3642850870326632408, -0.21224436031371134926, 0.070372803802488009192}},
           {5, {0.063895476437017059629, -0.047465596975820173005, 0.14068479740784586258, -0.17380387733969966318}}}};
}

Problem euler_top() {
  Assembly a("top");
  const auto top = a.add("top", RigidBody{.mass = 1, .inertia = Vec3<double>(1, 2, 3).asDiagonal()});
  const Vec<double, 7> rates = RigidBody::rates(RigidBody{}.neutral(), {0, 0, 0}, {1, 1, 1});
  a.measure("R", Measured{[](const auto& x, const auto& t) {  // free of the sign of the quaternion
              using T = std::remove_cvref_t<decltype(t)>;
              const Vec3<T> z = x.direction(Vec3<double>(0, 0, 1)), y = x.direction(Vec3<double>(0, 1, 0));
              Vec<T, 6> out;
              out << y, z;
              return out;
            }},
            top);
  const auto turned = [](double t, double q0, double q1, double q2, double q3) {
    const Mat<double, 3> R = rotation_matrix<double>(Vec<double, 4>(q0, q1, q2, q3));
    return Problem::Moment{t, {R(0, 1), R(1, 1), R(2, 1), R(0, 2), R(1, 2), R(2, 2)}};
  };
  return {
      a,
      {{"top'", {rates.data(), rates.data() + 7}}},
      {"R.1", "R.2", "R.3", "R.4", "R.5", "R.6"},
      {turned(1, 6.87464732981103263e-01, 1.75201591955801512e-01, 5.40717252423051194e-01, 4.52019353585042369e-01),
       turned(2, 3.46590694341584048e-02, -3.05956441726552406e-02, 4.99426152243426218e-01, 8.65122057237557960e-01),
       turned(5, -7.82606016322353037e-01, 3.45983656169573114e-01, -3.46353972504607650e-04, -5.17516195803104537e-01),
       turned(10, 4.62545440554642871e-01, -3.14335145144605535e-01, 4.94296312792998333e-02,
              8.27527548484413644e-01)}};
}

Problem lagrange_top(bool fast) {
  const double theta = std::numbers::pi / 4, W = fast ? 31.70934944605286862 : 3.6459896132745075996;
  Assembly a("top");
  a.set_gravity({0, 0, -g});
  const auto ground = a.add("ground", Ground{});
  const auto top = a.add(
      "top", RigidBody{.mass = 0.5, .inertia = Vec3<double>(0.001, 0.001, 0.001).asDiagonal(), .centre = {0, 0, 0.1}});
  a.connect("point", Spherical{}, ground, top);
  const Vec<double, 7> pose = RigidBody::pose({0, 0, 0}, {std::cos(theta / 2), 0, std::sin(theta / 2), 0});
  a.place(top, pose);
  a.measure("axis", PointSensor<3>{.at = {0, 0, 1}}, top);
  const Vec<double, 7> rates = RigidBody::rates(pose, {0, 0, 0}, {-W * std::sin(theta), 0, 150});
  return {a,
          {{"top'", {rates.data(), rates.data() + 7}}},
          {"axis.x", "axis.y", "axis.z"},
          {fast ? Problem::Moment{1, {0.67688466620627919381, 0.204516866431143027, 0.7071067811865475244}}
                : Problem::Moment{1, {-0.61904799526804120272, -0.34173027310236831969, 0.7071067811865475244}}}};
}

// Two point masses on massless links.
Problem double_pendulum() {
  Assembly a("double_pendulum");
  a.set_gravity({0, -g, 0});
  const auto ground = a.add("ground", Ground{});
  const auto one = a.add("one", Particle<2>{.mass = 1}), two = a.add("two", Particle<2>{.mass = 1});
  a.connect("upper", Distance<2>{.length = 1}, ground, one);
  a.connect("lower", Distance<2>{.length = 1}, one, two);
  a.place(one, {1, 0});
  a.place(two, {2, 0});
  return {a,
          {},
          {"two.x", "two.y"},
          {{1, {-1.44481884994347577, -1.32179446138146458}},
           {2, {-1.43412481746427665, -1.12987019564715795}},
           {3, {1.87625085068207105, -2.24038497912817433e-01}},
           {5, {-1.55077846947044283, -1.07591273481265233}}}};
}

Problem spherical_chain() {
  Assembly a("chain");
  a.set_gravity({0, 0, -g});
  const auto ground = a.add("ground", Ground{});
  const Mat<double, 3> J = (Vec3<double>(0.02, 1.01, 1.01) / 12).asDiagonal();
  const auto one = a.add("one", RigidBody{.mass = 1, .inertia = J}),
             two = a.add("two", RigidBody{.mass = 1, .inertia = J});
  a.connect("joint1", Spherical{.on_b = {-0.5, 0, 0}}, ground, one);
  a.connect("joint2", Spherical{.on_a = {0.5, 0, 0}, .on_b = {-0.5, 0, 0}}, one, two);
  const Vec<double, 7> p1 = RigidBody::pose({0.5, 0, 0}, {1, 0, 0, 0}), p2 = RigidBody::pose({1.5, 0, 0}, {1, 0, 0, 0});
  a.place(one, p1);
  a.place(two, p2);
  a.measure("tip", PointSensor<3>{.at = {0.5, 0, 0}}, two);
  const Vec<double, 7> v1 = RigidBody::rates(p1, {0, 1, 0}, {0, 0, 2}),
                       v2 = RigidBody::rates(p2, {0, 1.5, 0}, {1, 0, -1});
  return {a,
          {{"one'", {v1.data(), v1.data() + 7}}, {"two'", {v2.data(), v2.data() + 7}}},
          {"tip.x", "tip.y", "tip.z", "tip.x'", "tip.y'", "tip.z'"},
          {{0.5,
            {1.01244065861099739, 8.48474373650338846e-01, -1.39168662942423674, -6.81882192803180548,
             1.14588065557558062, -5.86292052198779004}},
           {1,
            {-1.60323534069844247, -4.78022613559376843e-01, -9.54333434111639155e-01, -1.22417647341587330,
             -1.32169176579040495, 4.34194015387109411}},
           {2,
            {3.05902171440630436e-01, 2.14704569361084196e-01, -1.66057122737312504, 1.25045120569622980,
             7.48550135615616395, 2.03115317773979177}},
           {3,
            {-1.10762562975064832, 1.20041422067897729, -7.10662191154452208e-01, -3.74573966599974756,
             -5.08317223135919264, -4.61453350997045897}}}};
}

double until(const Problem& p) { return p.expected.back().t; }

}  // namespace

TEST_CASE("simulate: standard problems at a tight tolerance, all observables at all times") {
  const auto check = [](const char* name, const Problem& p, double most) {
    CAPTURE(name);
    const Trajectory run = p.run({.duration = until(p), .steps = {.tolerance = 1e-13}, .sample = 0.25 / 2.5});
    CAPTURE(run.text());
    CHECK(run.finished);
    CHECK(p.error(run) < most);
  };
  check("pendulum", pendulum(), 1e-9);
  check("four bars", four_bars(2), 1e-9);
  check("rolling disk", rolling_disk(), 1e-9);
  check("sleigh", sleigh(), 1e-9);
  check("turntable", turntable(), 1e-9);
  check("Euler's top", euler_top(), 1e-9);
  check("Lagrange's top, slow", lagrange_top(false), 1e-9);
  check("Lagrange's top, fast", lagrange_top(true), 1e-9);
  Problem early = double_pendulum(), chain = spherical_chain();
  check("double pendulum", early, 1e-7);
  check("spherical chain", chain, 1e-7);
  early.expected.resize(2);
  chain.expected.resize(3);
  check("double pendulum to 2 s", early, 1e-9);
  check("spherical chain to 2 s", chain, 1e-9);
}

TEST_CASE("simulate: the closed loop of Bricard, untouched, at the default setting and at a tight one") {
  Problem p = bricard();
  const Trajectory run = p.run({.duration = 10, .sample = 0.25});
  CAPTURE(run.text());
  CHECK(run.finished);
  CHECK(p.error(run) < 1e-6);
  CHECK(run.energy_error < 1e-4);
  for (const auto& d : run.drift) CHECK(d.largest < 1e-12);
  REQUIRE(run.notes.size() == 1);
  CHECK(run.notes[0].kind == "left out");
  CHECK(p.error(p.run({.duration = 10, .steps = {.tolerance = 1e-13}, .sample = 0.25})) < 1e-9);
}

TEST_CASE("simulate: N four-bars pass their flat poses on the right branch at the default setting") {
  for (const int N : {2, 10, 40})
    for (const double uneven : {0.0, 0.3}) {
      CAPTURE(N);
      CAPTURE(uneven);
      const Problem p = four_bars(N, uneven);
      const Trajectory run = p.run({.duration = 10, .sample = 0.05});
      CAPTURE(run.text());
      CHECK(run.finished);
      CHECK(run.energy_error < 1e-4);
      // Flat twice a turn, and told so.
      const double turned = -run.value(run.samples() - 1, "bar0.theta") / std::numbers::pi;
      Index flat = 0;
      for (const auto& n : run.notes)
        if (n.kind == "singular pose") {
          ++flat;
          Index k = 0;
          (run.column("t").array() - n.t).abs().minCoeff(&k);
          CHECK(std::abs(std::cos(run.value(k, "bar0.theta"))) < 0.35);  // samples are 0.05 s apart
          CHECK(n.text.find("depend on each other") != std::string::npos);
        }
      CHECK(flat == static_cast<Index>(std::floor(turned + 0.5)));
      double tilt = 0;
      for (int k = 0; k < N; ++k)
        tilt = std::max(tilt, run.column(fmt::format("coupler{}.theta", k)).array().sin().abs().maxCoeff());
      CHECK(tilt < 1e-9);
      // One rotating bar that stands for all:  I phi'' = W g sin(phi).
      double turns = 0, moment = 0;
      const auto mass = [&](int i) { return 1 + uneven * ((7 * i) % 5); };
      for (int i = 0; i <= N; ++i) turns += mass(i) / 3, moment += mass(i) / 2;
      for (int k = 0; k < N; ++k) turns += mass(k + 3), moment += mass(k + 3);
      const double phi = -run.value(run.samples() - 1, "bar0.theta"), w = -run.value(run.samples() - 1, "bar0.theta'");
      CHECK(w * w == doctest::Approx(1 + 2 * moment / turns * g * (1 - std::cos(phi))).epsilon(1e-6));
    }
}

TEST_CASE("simulate: the error of a pendulum falls as the order of the method promises") {
  const Problem p = pendulum();
  CHECK(p.run({.duration = 10, .sample = 0.1}).energy_error < 5e-5);
  std::vector<double> errors;
  for (const double tolerance : {1e-6, 1e-8, 1e-10, 1e-12})
    errors.push_back(p.error(p.run({.duration = 10, .steps = {.tolerance = tolerance}, .sample = 0.1})));
  for (std::size_t i = 1; i < errors.size(); ++i) {
    CAPTURE(i);
    CHECK(errors[i] < errors[i - 1] / 30);  // in proportion to the tolerance
    CHECK(errors[i] > errors[i - 1] / 400);
  }
  errors.clear();
  for (const double h : {0.005, 0.0025})
    errors.push_back(p.error(p.run({.duration = 10, .integrator = "rk4", .steps = {.step = h}, .sample = 0.1})));
  CHECK(errors[0] / errors[1] == doctest::Approx(16).epsilon(0.15));
}

TEST_CASE("simulate: sampling does not change the run, and the output between steps is as good as the steps") {
  const Problem p = pendulum();
  const Trajectory coarse = p.run({.duration = 2, .sample = 0.5}), fine = p.run({.duration = 2, .sample = 0.001});
  CHECK(coarse.last.q == fine.last.q);
  CHECK(coarse.steps == fine.steps);
  CHECK(coarse.samples() == 5);
  CHECK(fine.samples() == 2001);
  for (Index k = 0; k < 5; ++k) CHECK(coarse.value(k, "bob.x") == fine.value(500 * k, "bob.x"));
  CHECK((fine.column("energy.total").array().abs().maxCoeff() < 1e-5));
  const Trajectory steps = p.run({.duration = 2, .sample = 0});
  CHECK(steps.samples() == steps.steps + 1);
  CHECK(steps.last.q == fine.last.q);
}

TEST_CASE("simulate: a rough start is brought onto the constraints; one that cannot be is refused with its joints") {
  Problem p = four_bars(2);
  p.start.push_back({"coupler0", {0.55, 0.9, 0.05}});
  p.start.push_back({"bar2.x", {2.1}});
  const Trajectory run = p.run({.duration = 0.5});
  CHECK(run.finished);
  for (const auto& d : run.drift) CHECK(d.largest < 1e-13);
  const System system(p.assembly);
  State s = consistent(system, p.state(system));
  CHECK(system.evaluate(s).phi.cwiseAbs().maxCoeff() < 1e-13);

  Assembly apart("apart");
  const auto ground = apart.add("ground", Ground{});
  const auto bob = apart.add("bob", Particle<2>{.mass = 1});
  apart.connect("left", Distance<2>{.on_a = {-2, 0}, .length = 1}, ground, bob);
  apart.connect("right", Distance<2>{.on_a = {2, 0}, .length = 1}, ground, bob);
  const System impossible(apart);
  s = impossible.state();
  s.set("bob.y", 0.3);
  CHECK_THROWS_WITH_AS(consistent(impossible, s), doctest::Contains("the joints that are off the most: '"),
                       NotConverged);
}

TEST_CASE("simulate: events are found between steps, recorded, stop the run or change the state") {
  const double period = 2.3678419475762374493;
  const Problem p = pendulum();
  const auto bob = [](const State& s) { return s.get("bob.x"); };
  const SimulationOptions watch{
      .duration = 3, .steps = {.tolerance = 1e-11}, .events = {{"below", bob}, {"to the right", bob, 1}}};
  Trajectory run = p.run(watch);
  REQUIRE(run.notes.size() == 5);
  CHECK(run.notes[0].text == "below");
  CHECK(run.notes[1].text == "to the right");
  CHECK(run.notes[0].t == doctest::Approx(period / 4).epsilon(1e-9));
  CHECK(run.notes[2].t == doctest::Approx(3 * period / 4).epsilon(1e-9));
  CHECK(run.notes[3].t == doctest::Approx(5 * period / 4).epsilon(1e-9));

  SimulationOptions stop = watch;
  stop.events = {{"below", bob, 0, true}};
  run = p.run(stop);
  CHECK(run.finished);
  CHECK(run.last.t == doctest::Approx(period / 4).epsilon(1e-9));
  CHECK(std::abs(run.last.get("bob.x")) < 1e-9);
  CHECK(run.value(run.samples() - 1, "t") == run.last.t);

  // Thrown back with half its speed, it rises to a quarter of the height.
  stop.events = {{"bounce", bob, 0, false, [](State& s) { s.v *= -0.5; }}};
  stop.duration = 1.5;
  run = p.run(stop);
  CHECK(run.finished);
  double highest = -1;
  for (Index k = 0; k < run.samples(); ++k)
    if (run.value(k, "t") > period / 4 + 0.01) highest = std::max(highest, run.value(k, "bob.y"));
  CHECK(highest == doctest::Approx(-0.75).epsilon(1e-4));
  CHECK(run.energy_error < 1e-8);
}

TEST_CASE("simulate: energy is balanced with drivers, dampers and friction") {
  Assembly a("drive");
  a.set_gravity({0, -g, 0});
  const auto ground = a.add("ground", Ground{});
  const auto crank = a.add("crank", PlanarBody{.mass = 1, .inertia = 0.2});
  const auto rod = a.add("rod", PlanarBody{.mass = 2, .inertia = 0.5});
  const auto block = a.add("block", PlanarBody{.mass = 3, .inertia = 1});
  a.place(crank, {0.15, 0, 0});
  a.place(rod, {0.8, 0, 0});
  a.place(block, {1.3, 0, 0});
  a.connect("shaft", Pin{.on_b = {-0.15, 0}}, ground, crank);
  a.connect("elbow", Pin{.on_a = {0.15, 0}, .on_b = {-0.5, 0}}, crank, rod);
  a.connect("wrist", Pin{.on_a = {0.5, 0}}, rod, block);
  a.connect("guide", Coulomb{Slider{}, {.coefficient = 0.2, .speed = 0.05}}, ground, block);
  a.connect("motor", DrivePlanarAngle{.f = [](const auto& t) { return 4.0 * t; }}, ground, crank);
  a.apply("spring", Spring<2>{.on_a = {2, 0}, .stiffness = 100, .damping = 20, .length = 0.5}, ground, block);
  const System system(a);
  const Trajectory run = simulate(system, system.state(), {.duration = 2, .steps = {.tolerance = 1e-9}});
  CAPTURE(run.text());
  CHECK(run.finished);
  CHECK((run.column("energy.total").array() - run.value(0, "energy.total")).abs().maxCoeff() > 1);
  CHECK(run.energy_error < 1e-5);
}

TEST_CASE("simulate: what goes wrong on the way ends the trajectory and loses nothing") {
  Assembly a("fall");
  a.set_gravity({0, -g, 0});
  const auto bob = a.add("bob", Particle<2>{.mass = 1});
  a.apply("wall",
          AppliedForce<2, decltype([](const auto& body, const auto& t) {
                         using T = std::remove_cvref_t<decltype(t)>;
                         using std::sqrt;
                         return Vec2<T>(sqrt(T(1.0 + body.coordinate("y"))), T(0.0));  // not finite below y = -1
                       })>{},
          bob);
  const System system(a);
  const Trajectory run = simulate(system, system.state(), {.duration = 2});
  CHECK(!run.finished);
  CHECK(run.stopped.find("'wall'") != std::string::npos);
  CHECK(run.last.t == doctest::Approx(std::sqrt(2 / g)).epsilon(1e-3));
  CHECK(run.samples() >= 45);
  CHECK(run.text().find("STOPPED") == 0);

  int calls = 0;
  const Trajectory halted = pendulum().run({.duration = 10, .progress = [&](double, double) { return ++calls < 5; }});
  CHECK(!halted.finished);
  CHECK(halted.steps == 5);
  CHECK(halted.stopped.find("stopped by the caller") == 0);
}

TEST_CASE("simulate: bad input gets a message") {
  const Problem p = pendulum();
  const System system(p.assembly);
  const auto refuse = [&](const SimulationOptions& options, const char* message) {
    CHECK_THROWS_WITH_AS(simulate(system, system.state(), options), message, InvalidModel);
  };
  refuse({.duration = -1}, "run of 'pendulum': duration = -1 s; give a number > 0");
  refuse({}, "run of 'pendulum': duration = 0 s; give a number > 0");
  refuse({.duration = 1, .sample = -1}, "run of 'pendulum': sample = -1 s; give a number >= 0");
  refuse({.duration = 1, .integrator = "euler"},
         "integrator 'euler': there is no integrator of this name; there are dopri5, rk4");
  refuse({.duration = 1, .integrator = "rk4"}, "integrator 'rk4': it has fixed steps, and step = 0 s; give a step > 0");
  refuse({.duration = 1, .steps = {.tolerance = 0}}, "integrator 'dopri5': tolerance = 0; give one from 1e-14 to 0.1");
  refuse({.duration = 1, .events = {{"empty", {}}}}, "event 'empty': it has no function; give value(state)");
  State s = system.state();
  s.q[0] = std::nan("");
  CHECK_THROWS_AS(simulate(system, s, {.duration = 1}), NonFinite);
  const System nothing{Assembly("nothing")};
  CHECK_THROWS_WITH_AS(simulate(nothing, nothing.state(), {.duration = 1}),
                       "run of 'nothing': it has no coordinates; add bodies that can move", InvalidModel);
}

TEST_CASE("trajectory: a file of named columns with units, written as a whole or not at all") {
  const Trajectory run =
      pendulum().run({.duration = 0.1, .sample = 0.05, .record = {.coordinates = true, .energy = false}});
  const std::string path = "trajectory_test.csv";
  run.write_csv(path);
  std::ifstream in(path);
  std::string header, line;
  std::getline(in, header);
  CHECK(header.rfind("t [s],bar.x [m],bar.x' [m/s],bar.x'' [m/s^2],", 0) == 0);
  Index lines = 0;
  while (std::getline(in, line)) {
    std::istringstream numbers(line);
    std::string number;
    for (std::size_t i = 0; std::getline(numbers, number, ','); ++i)
      CHECK(std::strtod(number.c_str(), nullptr) ==
            run.values[static_cast<std::size_t>(lines) * run.columns.size() + i]);
    ++lines;
  }
  CHECK(lines == run.samples());
  std::remove(path.c_str());
  CHECK_THROWS_WITH_AS(run.write_csv("no/such/folder/run.csv"),
                       doctest::Contains("file 'no/such/folder/run.csv': cannot be written: No such file"), FileError);
  CHECK_THROWS_WITH_AS(run.write_csv("/dev/full/x"), doctest::Contains("cannot be written"), FileError);
  CHECK_THROWS_WITH_AS(run.column("bob.z"), doctest::Contains("did you mean 'bob.x'?"), InvalidModel);
}

TEST_CASE("checkpoint: a run that is interrupted anywhere ends to the last bit as one that is not") {
  const std::string file = "checkpoint_test.txt";
  const auto bob = [](const State& s) { return s.q[0] - 0.2; };
  for (const Problem& p : {pendulum(), four_bars(2), bricard()}) {
    CAPTURE(p.assembly.name());
    SimulationOptions options{.duration = 2, .sample = 0.03, .events = {{"crossing", bob}}, .checkpoint = {file, 0.25}};
    std::remove(file.c_str());
    const Trajectory whole = p.run(options);
    REQUIRE(whole.finished);
    for (const int stop : {1, 9, 20, 33}) {
      CAPTURE(stop);
      std::remove(file.c_str());
      int steps = 0;
      options.progress = [&](double, double) { return ++steps < stop; };
      CHECK(!p.run(options).finished);
      options.progress = {};
      options.checkpoint.resume = true;  // where there is no file yet, from the start
      const Trajectory resumed = p.run(options);
      options.checkpoint.resume = false;
      CHECK(resumed.finished);
      CHECK(resumed.values == whole.values);
      CHECK(resumed.last.q == whole.last.q);
      CHECK(resumed.last.v == whole.last.v);
      CHECK(resumed.energy_error == whole.energy_error);
      CHECK(resumed.text() == whole.text());
    }
  }
  // Others are refused by what differs.
  const Problem p = pendulum();
  SimulationOptions options{.duration = 1, .checkpoint = {file, 0.25, true}};
  std::remove(file.c_str());
  (void)p.run(options);
  options.steps.tolerance = 1e-6;
  CHECK_THROWS_WITH_AS(
      p.run(options),
      "checkpoint 'checkpoint_test.txt': it is of another run: there tolerance = 1e-08, here tolerance = "
      "1e-06; resume with the model and the options it was made with",
      InvalidModel);
  options.steps.tolerance = 1e-8;
  Problem heavier = p;
  heavier.assembly.set_gravity({0, -10, 0});
  CHECK_THROWS_WITH_AS(heavier.run(options), doctest::Contains("it is of another run: at t = 0.75 b"), InvalidModel);
  CHECK_THROWS_WITH_AS(four_bars(2).run(options),
                       doctest::Contains("there system = pendulum, here system = n_four_bar"), InvalidModel);
  std::ofstream(file, std::ios::app) << "x";
  CHECK_THROWS_WITH_AS(p.run(options), doctest::Contains("it is not whole"), FileError);
  std::ofstream(file) << "something else";
  CHECK_THROWS_WITH_AS(p.run(options), doctest::Contains("it does not begin as a checkpoint"), FileError);
  std::remove(file.c_str());
  options.checkpoint = {"no/such/folder/x", 0.25};
  const Trajectory unsaved = p.run(options);
  CHECK(!unsaved.finished);
  CHECK(unsaved.stopped.find("file 'no/such/folder/x': cannot be written") == 0);
  CHECK(unsaved.samples() > 20);
  options.checkpoint = {"", 0.25};
  CHECK_THROWS_WITH_AS(p.run(options), doctest::Contains("a checkpoint needs both a file and a time between"),
                       InvalidModel);
}

TEST_CASE("sweep: runs do not depend on the number of threads, and one that fails loses no other") {
  const System system(pendulum().assembly);
  const auto one = [&](std::size_t i) {
    if (i == 3) Label{"run", "3"}.fail<InvalidModel>("it is bad", "leave it out");
    State s = system.state();
    s.set("bob", {-std::cos(0.1 * double(i)), -std::sin(0.1 * double(i))});
    s.set("bar.theta", 0.1 * double(i));
    return simulate(system, s, {.duration = 1, .sample = 0.1});
  };
  std::size_t told = 0;
  const auto alone = sweep(8, one, 1),
             together = sweep(8, one, 3, [&](std::size_t count) { told = std::max(told, count); });
  CHECK(told == 8);
  REQUIRE(together.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    CAPTURE(i);
    CHECK(together[i].trajectory.has_value() == (i != 3));
    if (i == 3)
      CHECK(together[i].failed == "run '3': it is bad; leave it out");
    else
      CHECK(together[i].trajectory->values == alone[i].trajectory->values);
  }
  CHECK_THROWS_AS(sweep(2, one, -1), InvalidModel);
  CHECK(sweep(0, one).empty());
}

TEST_SUITE("long") {
  TEST_CASE("simulate: a thousand seconds stay on the constraints, without growth") {
    for (const Problem& p : {double_pendulum(), bricard()}) {
      const Trajectory run = p.run({.duration = 1000, .sample = 1});
      CAPTURE(run.text());
      CHECK(run.finished);
      for (const auto& d : run.drift) CHECK(d.largest < 1e-10);
    }
  }
}
