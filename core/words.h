#pragma once
// Numbers and directions in words, and the checks of parameters that bodies, joints and forces share.

#include <cmath>
#include <string>

#include <mortise/core/errors.h>
#include <mortise/core/types.h>

namespace mortise {

// A direction, scaled so that its largest component is 1: "x", "-y" or "(1, 0.5, 0)".
std::string direction_in_words(const VectorXd& d);
// A point: "(0.5, 0, 1)".
std::string point_in_words(const VectorXd& p);
// Measures of error and singular values: "3.1e-03", and "<2e-16" below round-off.
std::string small_in_words(double x);

inline void require_finite(const Label& label, const std::string& field, const auto& x) {
  for (Index i = 0; i < x.size(); ++i)
    label.require(std::isfinite(x(i)), fmt::format("{}[{}] = {} is not finite", field, i, x(i)), "give finite numbers");
}
inline void require_not_negative(const Label& label, const std::string& field, double x, const std::string& unit) {
  label.require(std::isfinite(x), fmt::format("{} = {} {} is not finite", field, x, unit), "give a finite number");
  label.require(x >= 0, fmt::format("{} = {} {} is negative", field, x, unit), "give a number >= 0 (0 is allowed)");
}
inline void require_positive(const Label& label, const std::string& field, double x, const std::string& unit) {
  label.require(std::isfinite(x) && x > 0, fmt::format("{} = {} {} is not positive", field, x, unit),
                "give a finite number > 0");
}
// About an origin off the centre of mass the moment is J + m |c|^2: a small J would drown in it, and accelerations with
// it.
inline void require_visible_inertia(const Label& label, double J, double mc2) {
  constexpr double visible = 1e-6;
  label.require(J >= visible * mc2,
                fmt::format("inertia {:.3g} kg m^2 is lost beside mass |centre|^2 = {:.3g} kg m^2", J, mc2),
                "put the origin at the centre of mass (joints may lie anywhere), or set that inertia to 0");
}
inline void require_direction(const Label& label, const std::string& field, const auto& d) {
  require_finite(label, field, d);
  label.require(d.norm() > 0, fmt::format("{} has length 0", field), "give a direction; any length > 0 will do");
}

}  // namespace mortise
