// Padded bodies: dummy masses are found by name, real ones are not, and without them nothing else moves otherwise.

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include <mortise/mortise.h>

using namespace mortise;

namespace {

// A crank of 1 kg, a coupler on it and a slider of 2 kg; and a small weight that hangs from the coupler's middle, or
// not.
Assembly press(double coupler, double hanging = 0) {
  Assembly a("press");
  a.set_gravity({0, -9.81, 0});
  const auto ground = a.add("ground", Ground{});
  const auto crank = a.add("crank", PlanarBody{.mass = 1, .inertia = 0.1, .centre = {0.5, 0}});
  const auto rod = a.add("coupler", PlanarBody{.mass = coupler, .inertia = coupler / 3, .centre = {1, 0}});
  const auto slider = a.add("slider", PlanarBody{.mass = 2, .inertia = 0.1});
  a.connect("pivot", Pin{}, ground, crank);
  a.connect("big_end", Pin{.on_a = {1, 0}}, crank, rod);
  a.connect("small_end", Pin{.on_a = {2, 0}}, rod, slider);
  a.connect("guide", Slider{}, ground, slider);
  const double crank_angle = 1, rod_angle = -std::asin(std::sin(crank_angle) / 2);
  a.place(crank, {0, 0, crank_angle});
  a.place(rod, {std::cos(crank_angle), std::sin(crank_angle), rod_angle});
  a.place(slider, {std::cos(crank_angle) + 2 * std::cos(rod_angle), 0, 0});
  if (hanging > 0) {
    const auto bob = a.add("bob", Particle<2>{.mass = hanging});
    const double x = std::cos(crank_angle) + std::cos(rod_angle), y = std::sin(crank_angle) + std::sin(rod_angle);
    a.connect("string", Distance<2>{.on_a = {1, 0}, .length = 0.5}, rod, bob);
    a.place(bob, {x, y - 0.5});
  }
  return a;
}

std::vector<std::string> padded(const Assembly& a) {
  const System system(a);
  return check_model(system, system.state()).padded;
}

}  // namespace

TEST_CASE("padding: a dummy mass is named, told in a remark, and is no fault") {
  const System system(press(1e-9));
  const RankReport report = check_model(system, system.state());
  CHECK(report.padded == std::vector<std::string>{"coupler"});
  CHECK(report.well());
  CHECK(report.text().find("remark      padded: the mass of coupler changes no other body's motion") !=
        std::string::npos);
}

TEST_CASE("padding: a mass that matters is not") {
  CHECK(padded(press(0.1)).empty());
  CHECK(padded(press(1e-4)).empty());  // 1e-4 of the accelerations
  CHECK(padded(press(0)).empty());     // there is none
}

TEST_CASE("padding: a mass without which the motion would not be determined is not, however small") {
  CHECK(padded(press(0.1, 1e-9)).empty());  // the bob swings by itself
  CHECK(padded(press(1e-9, 1e-9)) == std::vector<std::string>{"coupler"});
}

TEST_CASE("padding: without them the others accelerate as before, and states fit") {
  const System system(press(1e-9, 0.3));
  const State s = system.state();
  const Unpadded light = unpad(system, s);
  REQUIRE(light.bodies == std::vector<std::string>{"coupler"});
  CHECK(light.text() == "massless, since their masses change nothing: coupler\n");
  CHECK(light.system.size() == system.size());
  CHECK(light.system.rows() == system.rows());
  const VectorXd with = solve(system, s).a, without = solve(light.system, s).a;
  CHECK((with - without).cwiseAbs().maxCoeff() <= 1e-8 * with.cwiseAbs().maxCoeff());
  const auto rank_M = [&](const System& x) { return check_rank(x, x.evaluate(s)).rank.rank_M; };
  CHECK(rank_M(light.system) == rank_M(system) - 3);
  const Trajectory a = simulate(system, s, {.duration = 0.5}), b = simulate(light.system, s, {.duration = 0.5});
  REQUIRE(a.finished);
  REQUIRE(b.finished);
  CHECK(a.last.get("slider.x") == doctest::Approx(b.last.get("slider.x")).epsilon(1e-6));
}

TEST_CASE("padding: a body whose type does not tell its mass is refused by name") {
  Assembly a("own");
  a.add("s", Subsystem<>{.coordinates = {"x"}, .M = MatrixXd::Identity(1, 1)});
  const System system(a);
  CHECK_THROWS_WITH_AS(system.massless({0}),
                       doctest::Contains("body 's': its type does not tell what it is without mass"), InvalidModel);
}

TEST_CASE("padding: equal bodies are no dummies, however many there are") {
  constexpr int many = 12000;  // each below 1e-4 of the whole
  Assembly a("chain");
  a.set_gravity({0, -9.81, 0});
  const auto ground = a.add("ground", Ground{});
  auto last = a.add("link0", PlanarBody{.mass = 1, .inertia = 0.1});
  a.connect("pin0", Pin{.on_b = {-0.5, 0}}, ground, last);
  a.place(last, {0.5, 0, 0});
  for (int i = 1; i < many; ++i) {
    const auto next = a.add(fmt::format("link{}", i), PlanarBody{.mass = 1, .inertia = 0.1});
    a.connect(fmt::format("pin{}", i), Pin{.on_a = {0.5, 0}, .on_b = {-0.5, 0}}, last, next);
    a.place(next, {i + 0.5, 0, 0});
    last = next;
  }
  const System system(a);
  CHECK(padded_bodies(system, system.state()).empty());
}
