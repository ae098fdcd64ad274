// Dual numbers, rotations, states and words.

#include <numbers>
#include <random>

#include <doctest/doctest.h>

#include <mortise/core/decompositions.h>
#include <mortise/core/dual.h>
#include <mortise/core/jet.h>
#include <mortise/core/rotation.h>
#include <mortise/core/state.h>
#include <mortise/core/words.h>

using namespace mortise;

TEST_CASE("dual numbers: first and second derivatives of every function match their closed forms") {
  const double x = 0.37;
  struct Case {
    const char* name;
    SecondOrder f;
    double value, first, second;
  };
  const SecondOrder s = along(x, 1);
  const double c = std::cos(x), i = std::sin(x), t = std::tan(x), r = std::sqrt(1 - x * x), h = std::tanh(x);
  const std::vector<Case> cases{
      {"sin", sin(s), i, c, -i},
      {"cos", cos(s), c, -i, -c},
      {"tan", tan(s), t, 1 + t * t, 2 * t * (1 + t * t)},
      {"asin", asin(s), std::asin(x), 1 / r, x / (r * r * r)},
      {"acos", acos(s), std::acos(x), -1 / r, -x / (r * r * r)},
      {"atan", atan(s), std::atan(x), 1 / (1 + x * x), -2 * x / std::pow(1 + x * x, 2)},
      {"atan2", atan2(s, SecondOrder(2.0)), std::atan2(x, 2), 2 / (4 + x * x), -4 * x / std::pow(4 + x * x, 2)},
      {"sqrt", sqrt(s), std::sqrt(x), 0.5 / std::sqrt(x), -0.25 * std::pow(x, -1.5)},
      {"exp", exp(s), std::exp(x), std::exp(x), std::exp(x)},
      {"log", log(s), std::log(x), 1 / x, -1 / (x * x)},
      {"sinh", sinh(s), std::sinh(x), std::cosh(x), std::sinh(x)},
      {"cosh", cosh(s), std::cosh(x), std::sinh(x), std::cosh(x)},
      {"tanh", tanh(s), h, 1 - h * h, -2 * h * (1 - h * h)},
      {"pow to a number", pow(s, 2.5), std::pow(x, 2.5), 2.5 * std::pow(x, 1.5), 3.75 * std::pow(x, 0.5)},
      {"pow to 0", pow(s, 0.0), 1, 0, 0},
      {"pow to a dual", pow(SecondOrder(2.0), s), std::pow(2, x), std::log(2) * std::pow(2, x),
       std::pow(std::log(2), 2) * std::pow(2, x)},
      {"abs", abs(-s * s), x * x, 2 * x, 2},
      {"product and quotient", 3.0 * s / (1.0 + s * s) - s, 3 * x / (1 + x * x) - x,
       3 * (1 - x * x) / std::pow(1 + x * x, 2) - 1, 6 * x * (x * x - 3) / std::pow(1 + x * x, 3)},
  };
  for (const Case& k : cases) {
    INFO(k.name);
    CHECK(value(k.f) == doctest::Approx(k.value).epsilon(1e-14));
    CHECK(k.f.d[0].v == doctest::Approx(k.first).epsilon(1e-14));
    CHECK(k.f.d[0].d[0] == doctest::Approx(k.second).epsilon(1e-13));
  }
  CHECK(s < SecondOrder(0.5));
  CHECK(s >= SecondOrder(x));
  CHECK_FALSE(isfinite(log(SecondOrder(0.0))));
  const auto v = vec(s, 1.0, 2 * s);
  CHECK(value(v.squaredNorm()) == doctest::Approx(1 + 5 * x * x));
}

TEST_CASE("jets: slopes are those of dual numbers, derivatives in time those of second-order ones") {
  struct Number {
    double v, rate, acceleration;
    std::array<double, 3> slopes;
  };
  const Number x{0.37, 0.7, -0.3, {1, 2, -1}}, y{1.3, -0.4, 0.9, {0, 1, 3}};
  const auto jet = [](const Number& n) {
    return Jet<3>::make(n.v, n.rate, n.acceleration, [&](auto k) { return n.slopes[k]; });
  };
  const auto dual = [](const Number& n) { return Dual<double, 3>(n.v, n.slopes); };
  const auto second = [](const Number& n) {
    return SecondOrder({n.v, {n.rate}}, {Dual<double, 1>(n.rate, {n.acceleration})});
  };
  const auto same = [&](const char* name, const auto& f) {
    INFO(name);
    const Jet<3> j = f(jet(x), jet(y));
    const Dual<double, 3> d = f(dual(x), dual(y));
    const SecondOrder t = f(second(x), second(y));
    constexpr double round_off = 1e-14;
    CHECK(j.v == doctest::Approx(d.v).epsilon(round_off));
    for (std::size_t k = 0; k < 3; ++k) CHECK(j.slope(k) == doctest::Approx(d.d[k]).epsilon(round_off));
    CHECK(j.rate() == doctest::Approx(t.d[0].v).epsilon(round_off));
    CHECK(j.acceleration() == doctest::Approx(t.d[0].d[0]).epsilon(round_off));
  };
  same("sums", [](const auto& a, const auto& b) { return 2.0 - (a + b) + (3.0 + a) - (-b) - 1.0 + (+a); });
  same("products", [](const auto& a, const auto& b) { return 2.0 * a * b * 3.0; });
  same("quotients", [](const auto& a, const auto& b) { return 2.0 / a / b / 3.0; });
  same("assignments", [](auto a, const auto& b) { return a += b, a *= b, a -= b, a /= b, a; });
  same("sin and cos", [](const auto& a, const auto& b) { return sin(a) * cos(b); });
  same("tan, asin, acos", [](const auto& a, const auto& b) { return tan(b) + asin(a) * acos(a * a); });
  same("atan, atan2", [](const auto& a, const auto& b) { return atan(a) * atan2(a, b); });
  same("sqrt, exp, log", [](const auto& a, const auto& b) { return sqrt(a) * exp(b) + log(a * b); });
  same("sinh, cosh, tanh", [](const auto& a, const auto& b) { return sinh(a) * cosh(b) - tanh(a * b); });
  same("powers", [](const auto& a, const auto& b) { return pow(a, 2.5) + pow(b, a) + pow(a, 0.0); });
  same("abs", [](const auto& a, const auto& b) { return abs(a - b) + abs2(a); });
  CHECK(jet(x) < jet(y));
  CHECK(jet(x) >= Jet<3>(0.37));
  CHECK(jet(x) != jet(y));
  CHECK_FALSE(isfinite(log(Jet<3>(0.0))));
  CHECK(Jet<3>::time(2).rate() == 1);
  const Vec3<Jet<3>> stacked = stack(Vec2<Jet<3>>(jet(x), jet(y)), jet(x) * jet(y));
  CHECK(stacked[2].v == doctest::Approx(x.v * y.v));
}

TEST_CASE("rotation: matrix, axis and angle, Euler angles and quaternion agree in every sequence") {
  std::mt19937 generator(3);
  std::uniform_real_distribution<double> angle(-1.5, 1.5);
  for (const char* axes : {"xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz"}) {
    INFO(axes);
    for (int k = 0; k < 20; ++k) {
      const Vec3<double> a(angle(generator), angle(generator), angle(generator));
      const auto u = quaternion_from_euler(axes, a);
      Mat<double, 3> R = Mat<double, 3>::Identity();
      for (int i = 0; i < 3; ++i) R = R * Eigen::AngleAxisd(a[i], Vec3<double>::Unit(axes[i] - 'x')).toRotationMatrix();
      CHECK((rotation_matrix<double>(u) - R).norm() < 1e-14);
      CHECK((rotation_matrix<double>(quaternion_from_matrix(R)) - R).norm() < 1e-14);
      CHECK((rotation_matrix<double>(quaternion_from_euler(axes, euler_from_quaternion(axes, u))) - R).norm() < 1e-13);
      const auto [axis, turn] = axis_angle_from_quaternion(-u);
      CHECK((rotation_matrix<double>(quaternion_from_axis_angle(3 * axis, turn)) - R).norm() < 1e-14);
    }
  }
  const double quarter = std::numbers::pi / 2;
  const auto locked = quaternion_from_euler("zyx", {0.4, quarter, 0.1});  // gimbal lock: the first angle is taken as 0
  const Vec3<double> a = euler_from_quaternion("zyx", locked);
  CHECK(a[0] == 0);
  CHECK((rotation_matrix<double>(quaternion_from_euler("zyx", a)) - rotation_matrix<double>(locked)).norm() < 1e-14);
  CHECK(axis_angle_from_quaternion({1, 0, 0, 0}).angle == 0);
}

TEST_CASE("rotation: w = 2 E u', E E' = 1, E u = 0, and R(p q) = R(p) R(q) [US10, Eq. 79-86]") {
  const Quaternion<double> u = quaternion_from_euler("zyx", {0.5, 0.2, -0.8}),
                           p = quaternion_from_euler("zxz", {1, 2, 3});
  const auto E = quaternion_E<double>(u);
  CHECK((E * E.transpose() - Mat<double, 3>::Identity()).norm() < 1e-15);
  CHECK((E * u).norm() < 1e-15);
  CHECK((E.transpose() * E + u * u.transpose() - Mat<double, 4>::Identity()).norm() < 1e-15);
  CHECK((rotation_matrix<double>(quaternion_product<double>(p, u)) -
         rotation_matrix<double>(p) * rotation_matrix<double>(u))
            .norm() < 1e-14);
  // R' dR/dt = w^ by differentiating R along u'.
  const Vec3<double> w(0.3, -0.7, 1.1), r(1, 2, 3);
  const Quaternion<double> du = 0.5 * E.transpose() * w;
  Quaternion<Dual<double, 1>> moving;
  for (int i = 0; i < 4; ++i) moving[i] = Dual<double, 1>(u[i], {du[i]});
  const auto point = (rotation_matrix<Dual<double, 1>>(moving) * r.cast<Dual<double, 1>>()).eval();
  const Vec3<double> velocity(point[0].d[0], point[1].d[0], point[2].d[0]);
  CHECK((velocity - rotation_matrix<double>(u) * w.cross(r)).norm() < 1e-14);
}

TEST_CASE("rotation: what is no rotation is refused") {
  CHECK_THROWS_WITH_AS(quaternion_from_axis_angle({0, 0, 0}, 1),
                       "vector 'axis': has length 0; give an axis of length > 0", InvalidModel);
  CHECK_THROWS_WITH_AS(
      quaternion_from_euler("zzx", {1, 2, 3}),
      "sequence 'zzx': is not a sequence of Euler axes; give three of x, y, z, neighbours different, such as zyx",
      InvalidModel);
  CHECK_THROWS_WITH_AS(
      quaternion_from_matrix(-Mat<double, 3>::Identity()),
      "matrix 'R': is not a rotation: |R'R - 1| = 0.0e+00, determinant -1; give an orthogonal matrix of determinant 1",
      InvalidModel);
}

TEST_CASE("state: coordinates and velocities by name, whole bodies too; wrong names and sizes are told") {
  auto table = std::make_shared<CoordinateTable>();
  table->add("arm/rod", {"x", "theta"});
  table->add("ground", {});
  table->add("cart", {"x"});
  table->finish();
  State s{VectorXd::Zero(3), VectorXd::Zero(3), 0, table};
  s.set("arm/rod.theta", 0.5);
  s.set("cart.x'", 2);
  s.set("arm/rod'", {3, 4});
  CHECK(s.q == Vec3<double>(0, 0.5, 0));
  CHECK(s.v == Vec3<double>(3, 4, 2));
  CHECK(s.get("arm/rod.theta'") == 4);
  CHECK(s.get_all("arm/rod") == Vec2<double>(0, 0.5));
  CHECK_THROWS_WITH_AS(s.get("arm/rod.thet"),
                       "coordinate 'arm/rod.thet': there is none of this name among 3; did you mean 'arm/rod.theta'?",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(s.set("arm/rod", 1.0),
                       "coordinate 'arm/rod': is a body of 2 coordinates; name one of them, as in body.x",
                       InvalidModel);
  CHECK_THROWS_WITH_AS(s.set("cart", {1, 2}), "state 'cart': has 1 coordinates; 2 values were given", WrongSize);
  s.q.resize(2);
  CHECK_THROWS_WITH_AS(s.get("cart.x"), "state 'q': has 2 entries; give 3, one per coordinate", WrongSize);
  CHECK_THROWS_WITH_AS(State{}.get("x"), "state 'x': this state has no names; take it from System::state()",
                       InvalidModel);
}

TEST_CASE("words: directions, points and small numbers read well") {
  CHECK(direction_in_words(Vec3<double>(0, -2, 1e-15)) == "-y");
  CHECK(direction_in_words(Vec2<double>(3, 1.5)) == "(1, 0.5)");
  CHECK(direction_in_words(Vec2<double>(0, 0)) == "nothing");
  CHECK(point_in_words(Vec3<double>(0.5, -1e-17, 1)) == "(0.5, 0, 1)");
  CHECK(small_in_words(3.14e-3) == "3.1e-03");
  CHECK(small_in_words(1e-17) == "<2e-16");
}

TEST_CASE("short basis: every column has a pivot row of its own and spans the same space") {
  std::mt19937 generator(5);
  std::normal_distribution<double> normal;
  for (int k = 0; k < 50; ++k) {
    const MatrixXd X = MatrixXd::NullaryExpr(9, 3, [&] { return normal(generator); });
    const ShortBasis s(X);
    for (Index i = 0; i < 3; ++i)
      for (Index j = 0; j < 3; ++j) CHECK(s.X(s.pivots[std::size_t(i)], j) == doctest::Approx(i == j ? 1 : 0));
    MatrixXd both(9, 6);
    both << X, s.X;
    CHECK(Svd(both).count_above(1e-10) == 3);
  }
  CHECK(ShortBasis(MatrixXd(4, 0)).pivots.empty());
}
