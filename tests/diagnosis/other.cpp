// Parts that are no model at all, states that do not fit, poses that are singular.

#include "cases.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include <mortise/bodies/subsystem.h>

namespace mortise::diagnosis {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using MassFunction = std::function<MatrixXd(const VectorXd&, const double&)>;
using ForceFunction = std::function<VectorXd(const VectorXd&, const VectorXd&, const double&)>;

// A body of two coordinates with M and Q as given.
Assembly two_coordinates(
    MassFunction M,
    ForceFunction Q = [](const VectorXd&, const VectorXd&, const double&) { return VectorXd(VectorXd::Zero(2)); }) {
  Assembly m("own");
  m.add("body", Subsystem<MassFunction, ForceFunction>{{"x", "y"}, std::move(M), std::move(Q)});
  return m;
}
MatrixXd matrix(double xx, double xy, double yx, double yy) { return (MatrixXd(2, 2) << xx, xy, yx, yy).finished(); }

Assembly indefinite_mass(bool mended) {
  return two_coordinates([=](const VectorXd&, double) { return matrix(1, mended ? 0.5 : 2, mended ? 0.5 : 2, 1); });
}
Assembly negative_mass(bool mended) {
  return two_coordinates([=](const VectorXd&, double) { return matrix(1, 0, 0, mended ? 2 : -2); });
}
Assembly asymmetric_mass(bool mended) {
  return two_coordinates([=](const VectorXd&, double) { return matrix(1, 0.2, mended ? 0.2 : 0.3, 1); });
}
Assembly mass_that_is_nan(bool mended) {
  return two_coordinates([=](const VectorXd& q, double) { return matrix(1, 0, 0, mended ? 1 : 1 / q[0] - 1 / q[0]); });
}
Assembly force_that_is_infinite(bool mended) {
  return two_coordinates([](const VectorXd&, double) { return matrix(1, 0, 0, 1); },
                         [=](const VectorXd& q, const VectorXd&, double) {
                           return VectorXd(Eigen::Vector2d(mended ? 0 : 1 / (q[0] * q[0]), 0));
                         });
}
Assembly force_of_the_wrong_size(bool mended) {
  return two_coordinates(
      [](const VectorXd&, double) { return matrix(1, 0, 0, 1); },
      [=](const VectorXd&, const VectorXd&, double t) { return VectorXd(VectorXd::Zero(mended || t <= 0 ? 2 : 3)); });
}
Assembly force_that_throws(bool mended) {
  return two_coordinates([](const VectorXd&, double) { return matrix(1, 0, 0, 1); },
                         [=](const VectorXd&, const VectorXd& v, double) {
                           if (!mended && v[0] > 0) throw std::runtime_error("no table entry for this speed");
                           return VectorXd(VectorXd::Zero(2));
                         });
}
Assembly driver_that_is_nan(bool mended) {
  Plane m("driven");
  const auto body = m.body("body", 1, 1);
  m.drive("drive", body, "x", [=](const auto& t) { return t * (mended ? 0.0 : nan); });
  return m;
}
Assembly two_broken_parts(bool mended) {
  Assembly m("two");
  m.add("a", negative_mass(mended));
  m.add("b", asymmetric_mass(mended));
  return m;
}

Assembly pin_out_of_place(bool mended) {
  Plane m("pendulum");
  const auto rod = m.body("rod", 1, 1, mended ? 1 : 1.1, 0);
  m.connect("pin", Pin{.on_b = {-1, 0}}, m.ground, rod);
  return m;
}
Assembly rod_of_another_length(bool mended) {
  Plane m("pendulum");
  const auto bob = m.particle("bob", 1, mended ? 1 : 0.8, 0);
  m.connect("string", Distance<2>{.length = 1}, m.ground, bob);
  return m;
}
Assembly driver_at_rest(bool mended) {
  Plane m("motor");
  const auto rotor = m.body("rotor", 1, 1);
  m.pin("bearing", m.ground, rotor, 0, 0);
  m.drive("motor", rotor, "theta", [=](const auto& t) { return (mended ? 0.0 : 2.0) * t; });
  return m;
}
Assembly nested_pin_out_of_place(bool mended) {
  Assembly m("pair");
  m.add("left", pin_out_of_place(true));
  m.add("right", pin_out_of_place(mended));
  return m;
}

// Cranks and coupler in one line: the parallelogram may go on as an antiparallelogram.
Assembly flat_parallelogram(bool mended) {
  Plane m("parallelogram");
  const double c = mended ? 0.6 : 1, s = mended ? 0.8 : 0, turn = mended ? std::atan2(s, c) : 0;
  const auto left = m.body("left", 1, 1, 0, 0, turn), right = m.body("right", 1, 1, 2, 0, turn),
             coupler = m.body("coupler", 1, 1, c, s);
  m.pin("A", m.ground, left, 0, 0);
  m.pin("B", left, coupler, c, s);
  m.pin("C", coupler, right, 2 + c, s);
  m.pin("D", m.ground, right, 2, 0);
  return m;
}
// Folded, two corners lie on each other and two links turn as one.
Assembly folded_rhombus(bool mended) {
  Plane m("rhombus");
  const double c = mended ? 0.6 : 0, s = mended ? 0.8 : 1;
  const auto a = m.body("a", 1, 1, 0, 0, mended ? 0 : std::numbers::pi / 2), b = m.body("b", 1, 1, 0, 0),
             d = m.body("d", 1, 1, 0, 0);
  m.pin("foot", m.ground, a, 0, 0);
  m.pin("knee", a, b, c, s);
  m.pin("head", b, d, mended ? 1 + c : 0, mended ? s : 0);
  m.pin("far", m.ground, d, mended ? 1 : 0, mended ? 0 : 1);
  return m;
}
Assembly nested_flat_parallelogram(bool mended) {
  Assembly m("machine");
  m.add("linkage", flat_parallelogram(mended));
  return m;
}

}  // namespace

std::vector<Case> other_cases() {
  using enum Verdict;
  const auto c = [](const char* name, const char* about, Verdict verdict, std::vector<std::string> culprits,
                    const char* remedy, Assembly (*model)(bool), std::function<void(State&)> start = {},
                    std::vector<Verdict> also = {}) {
    return Case{name, about, verdict, std::move(culprits), remedy, model, std::move(start), std::move(also)};
  };
  const auto moving = [](State& s) { s.v[0] = 1; };
  return {
      c("indefinite_mass", "a mass matrix with negative kinetic energy in one direction", not_semidefinite, {"body"},
        "correct the masses", indefinite_mass),
      c("negative_mass", "a mass function that is negative at this state", not_semidefinite, {"body"},
        "correct the masses", negative_mass),
      c("asymmetric_mass", "a mass matrix that is not symmetric", not_symmetric, {"body"}, "give a symmetric matrix",
        asymmetric_mass),
      c("mass_that_is_nan", "a mass function that divides by zero at this state", not_finite, {"body"},
        "give finite masses", mass_that_is_nan, [](State& s) { s.q[0] = 0; }),
      c("force_that_is_infinite", "a force law 1/x^2 at x = 0", not_finite, {"body"}, "check its formula",
        force_that_is_infinite),
      c("force_of_the_wrong_size", "a force with three entries for two coordinates", not_finite, {"body"}, "give 2",
        force_of_the_wrong_size, [](State& s) { s.t = 1; }),
      c("force_that_throws", "a force that throws where its table ends", not_finite, {"body"}, "make it return numbers",
        force_that_throws, moving),
      c("driver_that_is_nan", "a driver whose function is not a number", not_finite, {"drive"}, "check its formula",
        driver_that_is_nan),
      c("two_broken_parts", "two parts that are no model: both are named", not_semidefinite, {"a/body"},
        "correct the masses", two_broken_parts, {}, {not_symmetric}),

      c("pin_out_of_place", "a rod that does not start at its pin", inconsistent_start, {"pin.x"},
        "start from the nearest state", pin_out_of_place),
      c("rod_of_another_length", "a bob nearer than its string is long", inconsistent_start, {"string.length"},
        "bob.x moves most", rod_of_another_length),
      c("driver_at_rest", "a driver that turns, and a start at rest", inconsistent_start, {"motor.drive"},
        "start from the nearest state", driver_at_rest),
      c("nested_pin_out_of_place", "one of two subsystems does not start at its pin", inconsistent_start,
        {"right/pin.x"}, "start from the nearest state", nested_pin_out_of_place),

      c("flat_parallelogram", "a parallelogram linkage in the pose where its branches meet", singular_pose,
        {"coupler.theta"}, "start from another pose", flat_parallelogram, {}, {over_constrained}),
      c("folded_rhombus", "a rhombus folded flat: two corners lie on each other", singular_pose, {"b.theta"},
        "start from another pose", folded_rhombus, {}, {over_constrained}),
      c("nested_flat_parallelogram", "the same in a nested assembly", singular_pose, {"linkage/coupler.theta"},
        "start from another pose", nested_flat_parallelogram, {}, {over_constrained}),
  };
}

}  // namespace mortise::diagnosis
