#include <mortise/core/rotation.h>
#include <mortise/core/tolerances.h>

#include <array>
#include <numbers>

namespace mortise {
namespace {

// "zyx" -> {2, 1, 0}; neighbouring axes must differ.
std::array<int, 3> axis_indices(std::string_view axes) {
  std::array<int, 3> index{};
  bool ok = axes.size() == 3;
  for (std::size_t i = 0; ok && i < 3; ++i) {
    index[i] = axes[i] - 'x';
    ok = index[i] >= 0 && index[i] <= 2 && (i == 0 || index[i] != index[i - 1]);
  }
  if (!ok)
    Label{"sequence", std::string(axes)}.fail<InvalidModel>("is not a sequence of Euler axes",
                                                            "give three of x, y, z, neighbours different, such as zyx");
  return index;
}

double wrapped(double angle) {
  using std::numbers::pi;
  return angle - 2 * pi * std::ceil((angle - pi) / (2 * pi));
}

}  // namespace

Quaternion<double> quaternion_from_axis_angle(const Vec3<double>& axis, double angle) {
  const double length = axis.norm();
  if (!(length > 0) || !std::isfinite(length))
    Label{"vector", "axis"}.fail<InvalidModel>(fmt::format("has length {}", length), "give an axis of length > 0");
  if (!std::isfinite(angle))
    Label{"number", "angle"}.fail<NonFinite>(fmt::format("is {}", angle), "give a finite angle");
  const Vec3<double> e = std::sin(angle / 2) / length * axis;
  return {std::cos(angle / 2), e[0], e[1], e[2]};
}

Quaternion<double> quaternion_from_matrix(const Mat<double, 3>& R) {
  const double error = (R.transpose() * R - Mat<double, 3>::Identity()).cwiseAbs().maxCoeff();
  if (!(error < tolerance::rotation) || R.determinant() < 0)
    Label{"matrix", "R"}.fail<InvalidModel>(
        fmt::format("is not a rotation: |R'R - 1| = {:.1e}, determinant {:.3g}", error, R.determinant()),
        "give an orthogonal matrix of determinant 1");
  const Eigen::Quaterniond q(R);
  return {q.w(), q.x(), q.y(), q.z()};
}

Quaternion<double> quaternion_from_euler(std::string_view axes, const Vec3<double>& angles) {
  const auto index = axis_indices(axes);
  Quaternion<double> u(1, 0, 0, 0);
  for (int i = 0; i < 3; ++i)
    u = quaternion_product<double>(
        u, quaternion_from_axis_angle(Vec3<double>::Unit(index[static_cast<std::size_t>(i)]), angles[i]));
  return u;
}

Vec3<double> euler_from_quaternion(std::string_view axes, const Quaternion<double>& u) {
  using std::numbers::pi;
  // Turns about body axes first to last are turns about world axes last to first: i, j, k is the reversed sequence.
  // With a + b i and c + d i as below, the middle angle is twice the angle between their lengths and the outer ones are
  // the difference and the sum of their arguments.
  const auto index = axis_indices(axes);
  const int i = index[2], j = index[1];
  const bool proper = index[0] == index[2];
  const int k = proper ? 3 - i - j : index[0];
  const double sign = (i - j) * (j - k) * (k - i) / 2;
  double a = u[0], b = u[i + 1], c = u[j + 1], d = u[k + 1] * sign;
  if (!proper) {
    a = u[0] - u[j + 1], b = u[i + 1] + u[k + 1] * sign;
    c = u[j + 1] + u[0], d = u[k + 1] * sign - u[i + 1];
  }
  const double near = std::hypot(a, b), far = std::hypot(c, d), tiny = 1e-14 * (near + far);
  double middle = 2 * std::atan2(far, near);
  const double plus = std::atan2(b, a), minus = std::atan2(d, c);
  double last = plus - minus, first = plus + minus;  // of the body axes
  if (far <= tiny) last = 2 * plus, first = 0;
  if (near <= tiny) last = -2 * minus, first = 0;
  if (!proper) first *= sign, middle -= pi / 2;
  return {wrapped(first), middle, wrapped(last)};
}

AxisAngle axis_angle_from_quaternion(const Quaternion<double>& u) {
  const Vec3<double> e = u.tail<3>();
  const double s = e.norm();
  if (s == 0) return {Vec3<double>::UnitX(), 0};
  const double sign = u[0] < 0 ? -1 : 1;
  return {sign / s * e, 2 * std::atan2(s, sign * u[0])};
}

}  // namespace mortise
