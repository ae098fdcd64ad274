#include <mortise/forces/bushing.h>

#include <algorithm>

#include <mortise/core/decompositions.h>

namespace mortise {

void Bushing::validate(const Label& label) const {
  constexpr double round_off = 1e-9;
  const auto require_frame = [&](const Mat<double, 3>& R, const char* name) {
    const double off = (R.transpose() * R - Mat<double, 3>::Identity()).cwiseAbs().maxCoeff();
    label.require(
        off <= round_off && R.determinant() > 0,
        fmt::format("{} is no rotation: R'R differs from I by {:.2g}, determinant {:.3g}", name, off, R.determinant()),
        "give three unit axes, perpendicular and right-handed, in columns");
  };
  require_frame(axes_a, "axes_a");
  require_frame(axes_b, "axes_b");
  const double skew = (stiffness - stiffness.transpose()).cwiseAbs().maxCoeff();
  label.require(skew <= round_off * stiffness.cwiseAbs().maxCoeff(),
                fmt::format("stiffness is not symmetric: entries differ by {:.3g}", skew), "give a symmetric matrix");
  // Lengths and angles have other units: scale to unit diagonal before judging.
  const auto require_not_negative = [&](const Mat<double, 6>& given, const char* name) {
    const Mat<double, 6> A = 0.5 * (given + given.transpose());
    Vec<double, 6> scale;
    for (int i = 0; i < 6; ++i) {
      label.require(A(i, i) >= 0, fmt::format("{}({}, {}) = {} is negative", name, i, i, A(i, i)),
                    "give a matrix without negative energy");
      scale[i] = A(i, i) > 0 ? 1 / std::sqrt(A(i, i)) : 1;
    }
    const double least = SymmetricEigen(scale.asDiagonal() * A * scale.asDiagonal()).values[0];
    label.require(
        least >= -round_off,
        fmt::format("{} is not positive semi-definite: scaled to unit diagonal, its least eigenvalue is {:.3g}", name,
                    least),
        "give a matrix without negative energy");
  };
  require_not_negative(stiffness, "stiffness");
  require_not_negative(damping, "damping");
}

}  // namespace mortise
