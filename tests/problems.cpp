#include "problems.h"

#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/lagrangian.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/forces/applied.h>
#include <mortise/forces/coordinate_spring.h>
#include <mortise/forces/functor.h>
#include <mortise/forces/spring.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/functor.h>
#include <mortise/joints/knife_edge.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/prismatic.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/rolling_disk.h>
#include <mortise/joints/rolling_sphere.h>
#include <mortise/joints/spherical.h>
#include <mortise/sensors/functor.h>
#include <mortise/sensors/point_sensor.h>

namespace mortise {
namespace {

constexpr double g = 9.81;

}  // namespace

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
Problem four_bars(int N, double uneven) {
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
Problem bricard(double uneven) {
  using V = Vec3<double>;
  const std::array<V, 6> corner{V(0, 0, 0), V(1, 0, 0), V(1, -1, 0), V(1, -1, 1), V(0, -1, 1), V(0, 0, 1)};
  const std::array<V, 3> axes{V(0, 1, 0), V(0, 0, 1), V(1, 0, 0)};
  Assembly a("bricard");
  a.set_gravity({0, -g, 0});
  const auto ground = a.add("ground", Ground{});
  std::vector<Handle<RigidBody>> rod;
  for (std::size_t k = 0; k < 5; ++k) {
    const V along = corner[k + 1] - corner[k], edges = V(0.1, 0.1, 0.1) + 0.9 * along.cwiseAbs();
    rod.push_back(a.add(fmt::format("rod{}", k + 1), RigidBody::of(Inertia::box(1 + uneven * double(k), edges))));
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
  Problem p{a, {}, {"P3.x", "P3.y", "P3.z"}, {}};
  if (uneven == 0)
    p.expected = {{0.5, {7.74717808039233440e-01, -9.79815047655668989e-01, -1.99906158953442723e-01}},
                  {1, {2.74481319264623039e-01, -8.86707938734672018e-01, -4.62330002687376039e-01}},
                  {1.25, {-2.30610044402475749e-03, -8.66026938982014820e-01, -4.99997340950371034e-01}},
                  {2, {-7.78135373033290894e-01, -9.80352683443256556e-01, -1.97252670617170613e-01}},
                  {2.5, {-9.99983185292791075e-01, -9.99999999858635188e-01, -1.68145658417357160e-05}},
                  {10, {9.99730987303835352e-01, -9.99999963825817275e-01, -2.68976512249299543e-04}}};
  return p;
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

// Seven bodies, three loops; the start has Theta = 0 and is at rest.
Problem squeezer(double stiffness, double damping) {
  using V = Vec2<double>;
  const V O(0, 0), A(-0.06934, -0.00227), B(-0.03635, 0.03273), C(0.014, 0.072), D(0.02, -0.018);
  const double k1 = -6.17138900142764496e-02, k3 = 4.55279819163070380e-01, k5 = 4.87364979543842550e-01,
               k4 = k5 + 2.22668390165885885e-01, k7 = 1.23054744454982119e+00, k6 = k7 - 2.22668390165885885e-01;
  const auto from = [](const V& p, double angle, const V& r) -> V { return p + Eigen::Rotation2Dd(angle) * r; };
  const V F = from(O, k1, {0.007, 0}), G = from(A, k5, {0.04, 0}), H = from(A, k7, {0, -0.04}),
          E = from(F, k1, {-0.028, 0});
  Assembly a("squeezer");
  const auto ground = a.add("ground", Ground{});
  const auto body = [&](const char* name, double m, double J, const V& centre, const V& at, double angle) {
    const auto added = a.add(name, PlanarBody{.mass = m, .inertia = J, .centre = centre});
    a.place(added, {at[0], at[1], angle});
    return added;
  };
  const auto K1 = body("K1", 0.04325, 2.194e-6, {0.00092, 0}, O, k1);
  const auto K2 = body("K2", 0.00365, 4.41e-7, {-0.0115, 0}, F, k1);
  const auto K3 = body("K3", 0.02373, 5.255e-6, {0.01043, -0.01874}, B, k3);
  const auto K4 = body("K4", 0.00706, 5.667e-7, {0, -0.00579}, G, k4);
  const auto K5 = body("K5", 0.0705, 1.169e-5, {0.02308, 0.00916}, A, k5);
  const auto K6 = body("K6", 0.00706, 5.667e-7, {0.00579, 0}, H, k6);
  const auto K7 = body("K7", 0.05498, 1.912e-5, {0.00449, -0.01228}, A, k7);
  const auto pin = [&](const char* name, const V& at, const auto& one, const auto& other) {
    a.connect(name, at_world<Pin>(at), one, other);
  };
  pin("O", O, ground, K1), pin("F", F, K1, K2), pin("A5", A, ground, K5);
  if (stiffness > 0)
    a.apply("B", Spring<2>{.on_a = B, .stiffness = stiffness, .damping = damping}, ground, K3);
  else
    pin("B", B, ground, K3);
  pin("A7", A, ground, K7), pin("G", G, K5, K4), pin("H", H, K7, K6);
  pin("E3", E, K2, K3), pin("E4", E, K2, K4), pin("E6", E, K2, K6);
  a.apply("spring", Spring<2>{.on_a = C, .on_b = D, .stiffness = 4530, .length = 0.07785}, ground, K3);
  a.apply("motor", AppliedTorque{[](const auto&, const auto&) { return 0.033; }}, K1);
  return {a,
          {},
          {"K1.theta", "K1.theta'"},
          {{0.005, {2.11076385903266539e-01, 1.51010701269234264e+02}},
           {0.01, {2.16011313153152604e+00, 7.11923152831103939e+02}},
           {0.02, {8.18490588966167622e+00, 7.26558342609127972e+02}},
           {0.03, {1.58107711951537095e+01, 1.13992030225910611e+03}}}};
}

Problem wheel_on_slope() {
  const double m = 2, r = 0.5, I = 0.25, J = 0.125;
  Assembly a("slope");
  auto energies = [=](const auto& q, const auto& v, const auto&) {
    using T = std::remove_cvref_t<decltype(q[0])>;
    return Energies{T(0.5 * m * (v[0] * v[0] + v[1] * v[1]) + 0.5 * I * v[2] * v[2] + 0.5 * J * v[3] * v[3]),
                    T(-m * g * 0.5 * q[0])};
  };
  const auto wheel =
      a.add("wheel", Lagrangian<decltype(energies)>{.coordinates = {"x", "y", "psi", "phi"}, .energies = energies});
  a.connect("rolling", Nonholonomic{[=](const auto& w, const auto& t) {
              using T = std::remove_cvref_t<decltype(t)>;
              using std::cos, std::sin;
              return Vec2<T>(w.v[0] - r * cos(w.q[3]) * w.v[2], w.v[1] - r * sin(w.q[3]) * w.v[2]);
            }},
            wheel);
  return {a,
          {{"wheel'", {1.5, 0, 3, 1.5}}},
          {"wheel.x", "wheel.y", "wheel.psi", "wheel.phi", "wheel.psi'"},
          {{1, {1.7205255937022162804, 1.9679891954038786659, 5.7010572004858768747, 1.5, 7.3490781415936773189}},
           {2, {0.1555914705769009013, 4.2715134609460551911, 11.784244856785294796, 3.0, 3.6152832351410210884}},
           {5, {1.5773532517801105874, 5.8670934335745550611, 16.899113342826191643, 7.5, 7.0896798987378614207}}}};
}

Problem soft_pendulum(double k, double c) {
  Assembly a("soft_pendulum");
  a.set_gravity({0, -g, 0});
  const auto rod = a.add("rod", PlanarBody{.mass = 2, .inertia = 2.0 / 12});
  a.place(rod, {0.5, 0, 0});
  a.apply("bushing", Force{[=](auto& body, const auto& t) {
            using T = std::remove_cvref_t<decltype(t)>;
            const Vec2<double> end(-0.5, 0);
            const Vec2<T> f = -k * body.point(end) - c * body.point_velocity(end);
            body.apply_force(end, f);
          }},
          rod);
  return {a, {}, {"rod.theta", "rod.theta'"}, {}};
}

// The car axis of the Test Set for IVP Solvers (W. M. Lioen, J. J. B. de Swart, 1998): two light masses on springs, one
// end of the axis on the ground, the other driven over a bumpy road.
Problem car_axis() {
  constexpr double L = 1, L0 = 0.5, eps = 1e-2, M = 10, r = 0.1, w = 10, m = eps * eps * M / 2;
  Assembly a("car_axis");
  a.set_gravity({0, -1, 0});
  const auto left = a.add("left", Particle<2>{.mass = m}), right = a.add("right", Particle<2>{.mass = m});
  a.place(left, {0, L0});
  a.place(right, {L, L0});
  const auto road = [=](const auto& t) {
    using std::sin, std::sqrt;
    using T = std::remove_cvref_t<decltype(t)>;
    const T y = r * sin(w * t);
    return Vec2<T>(sqrt(L * L - y * y), y);
  };
  const auto spring = [=](auto& body, const auto& at) {
    using std::sqrt;
    using T = typename std::remove_cvref_t<decltype(at)>::Scalar;
    const Vec2<double> here(0, 0);
    const Vec2<T> d = body.point(here) - at;
    const T l = sqrt(d.squaredNorm());
    const Vec2<T> f = (L0 - l) / l * d;
    body.apply_force(here, f);
  };
  a.apply("left_spring", Force{[=](auto& b, const auto& t) {
            using T = std::remove_cvref_t<decltype(t)>;
            spring(b, Vec2<T>(T(0.0), T(0.0)));
          }},
          left);
  a.apply("right_spring", Force{[=](auto& b, const auto& t) { spring(b, road(t)); }}, right);
  a.connect("upright", Holonomic{[=](const auto& b, const auto& t) {
              const auto p = road(t);
              const Vec2<double> here(0, 0);
              return p.dot(b.point(here));
            }},
            left);
  a.connect("axis", Distance<2>{.length = L}, left, right);
  return {a,
          {{"left'", {-L0 / L, 0}}, {"right'", {-L0 / L, 0}}},
          {"left.x", "left.y", "right.x", "right.y", "left.x'", "left.y'", "right.x'", "right.y'"},
          {{3,
            {0.4934557842755629e-1, 0.4969894602303324, 0.1041742524885400e1, 0.3739110272652214,
             -0.7705836840321485e-1, 0.7446866596327776e-2, 0.1755681574942899e-1, 0.7703410437794031}}}};
}

// The flyball governor of the IFToMM library of benchmarks: two rods with balls on a turning axis, held to a sleeve by
// stiff springs and dampers.  Turns with 2 pi rad/s at the start.
Problem governor(double k, double c) {
  const double alpha = std::numbers::pi / 6, W = 2 * std::numbers::pi;
  const auto box = [](double m, double x, double y, double z) {
    return RigidBody{.mass = m,
                     .inertia = m / 12 * Vec3<double>(y * y + z * z, x * x + z * z, x * x + y * y).asDiagonal()};
  };
  Assembly a("governor");
  a.set_gravity({0, 0, -g});
  const auto ground = a.add("ground", Ground{});
  const auto axis = a.add("axis", box(0.3, 0.01, 0.01, 1)), sleeve = a.add("sleeve", box(3, 0.1, 0.1, 0.1));
  std::vector<std::pair<std::string, std::vector<double>>> start;
  const auto put = [&](const auto& body, const std::string& name, const Vec3<double>& at, double angle) {
    const Vec<double, 7> pose = RigidBody::pose(at, {std::cos(angle / 2), 0, std::sin(angle / 2), 0});
    a.place(body, pose);
    const Vec<double, 7> rates =
        RigidBody::rates(pose, {-W * at[1], W * at[0], 0}, {-W * std::sin(angle), 0, W * std::cos(angle)});
    start.push_back({name + "'", {rates.data(), rates.data() + 7}});
  };
  put(axis, "axis", {0, 0, 0.5}, 0);
  put(sleeve, "sleeve", {0, 0, 0.5}, 0);
  a.connect("bearing", Revolute{.on_b = {0, 0, -0.5}}, ground, axis);
  a.connect("guide", Prismatic{}, axis, sleeve);
  for (const double side : {-1.0, 1.0}) {
    const std::string name = side < 0 ? "left" : "right";
    const double angle = side > 0 ? alpha : std::numbers::pi - alpha;
    const Vec3<double> along(std::cos(angle), 0, -std::sin(angle)), top(0, 0, 1);
    const auto rod = a.add(name, box(0.3, 1, 0.01, 0.01));
    put(rod, name, top + 0.5 * along, angle);
    a.connect(name + "_hinge",
              Revolute{.on_a = {0, 0, 0.5}, .on_b = {-0.5, 0, 0}, .axis_a = {0, 1, 0}, .axis_b = {0, 1, 0}}, axis, rod);
    const auto ball = a.add(name + "_ball", Particle<3>{.mass = 5});
    const Vec3<double> tip = top + along;
    a.place(ball, tip);
    start.push_back({name + "_ball'", {-W * tip[1], W * tip[0], 0}});
    a.connect(name + "_tip", Spherical{.on_a = {0.5, 0, 0}}, rod, ball);
    a.apply(name + "_spring", Spring<3>{.stiffness = k, .damping = c, .length = 0.5}, rod, sleeve);
  }
  return {a, start, {"sleeve.z", "left_ball.x", "left_ball.y"}, {}};
}

// A cantilever of N rigid segments with torsional springs and dampers between them, level and at rest at the start.
// Length 1 m, 1 kg, bending stiffness EI [N m^2]; dampers of the stiffness times tau [s].
Problem lumped_beam(int N, double EI, double tau) {
  const double l = 1.0 / N, m = 1.0 / N, k = EI / l;
  Assembly a("lumped_beam");
  a.set_gravity({0, -g, 0});
  const auto ground = a.add("ground", Ground{});
  std::optional<decltype(a.add("", PlanarBody{}))> last;
  const Vec2<double> front(-l / 2, 0), back(l / 2, 0), root(0, 0);
  for (int i = 0; i < N; ++i) {
    const auto segment = a.add(fmt::format("s{}", i), PlanarBody{.mass = m, .inertia = m * l * l / 12});
    a.place(segment, {(i + 0.5) * l, 0, 0});
    if (last) {
      a.connect(fmt::format("p{}", i), Pin{.on_a = back, .on_b = front}, *last, segment);
      a.apply(fmt::format("k{}", i),
              CoordinateSpring{.terms = {{0, "theta", -1}, {1, "theta", 1}}, .stiffness = k, .damping = k * tau}, *last,
              segment);
    } else {
      a.connect("p0", Pin{.on_a = root, .on_b = front}, ground, segment);
      a.apply("k0", CoordinateSpring{.terms = {{0, "theta", 1}}, .stiffness = 2 * k, .damping = 2 * k * tau}, segment);
    }
    last = segment;
  }
  const std::string tip = fmt::format("s{}", N - 1);
  return {a, {}, {tip + ".x", tip + ".y", tip + ".theta"}, {}};
}

}  // namespace mortise
