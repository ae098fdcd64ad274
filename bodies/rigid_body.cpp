#include <mortise/bodies/rigid_body.h>

namespace mortise {
namespace {

constexpr double zero = 1e-14;  // of the largest principal moment

}  // namespace

Massless RigidBody::massless(const Vec<double, 7>& q) const {
  const Quaternion<double> u = q.tail<4>();
  const Mat<double, 3, 4> E = quaternion_E<double>(u);
  const Eigen::SelfAdjointEigenSolver<Mat<double, 3>> principal(inertia);
  std::vector<Vec<double, 7>> columns;
  Massless null;
  for (int i = 0; mass == 0 && i < 3; ++i) {
    columns.push_back(Vec<double, 7>::Unit(i));
    null.pivot.push_back(i);
  }
  const auto turn = [&](const Quaternion<double>& du, const Vec3<double>& velocity) {
    Vec<double, 7> column;
    column << velocity, du;
    Index largest = 0;
    du.cwiseAbs().maxCoeff(&largest);
    columns.push_back(column);
    null.pivot.push_back(3 + static_cast<int>(largest));
  };
  for (int i = 0; i < 3; ++i)
    if (principal.eigenvalues()[i] <= zero * principal.eigenvalues()[2]) {
      const Vec3<double> axis = principal.eigenvectors().col(i);
      turn(0.5 * E.transpose() * axis, -direction<double>(q, axis.cross(centre)));
    }
  turn(u, Vec3<double>::Zero());
  null.N0.resize(7, static_cast<Index>(columns.size()));
  for (std::size_t k = 0; k < columns.size(); ++k) null.N0.col(static_cast<Index>(k)) = columns[k];
  return null;
}

std::string RigidBody::describe(const Vec<double, 7>& q, const Vec<double, 7>& dq) const {
  constexpr double round_off = 1e-9;
  const Vec3<double> velocity = dq.head<3>(), w_body = angular_velocity_body<double>(q, dq);
  const double size = dq.cwiseAbs().maxCoeff();
  if (size == 0) return "";
  if (w_body.norm() <= round_off * size) {
    if (velocity.norm() > round_off * size) return "moves along " + direction_in_words(velocity);
    return "its quaternion changes length";
  }
  const Vec3<double> w = angular_velocity<double>(q, dq);
  Index largest = 0;
  w_body.cwiseAbs().maxCoeff(&largest);
  const std::string own = direction_in_words(w_body / w_body[largest]);  // an axis has no sense
  std::string text = "turns about its own " + (own.size() <= 2 ? own : "axis " + own);
  if (velocity.norm() <= round_off * size) return text + " through its origin";
  const Vec3<double> on_axis = q.head<3>() + w.cross(velocity) / w.squaredNorm();
  text += " through the point " + point_in_words(on_axis);
  if (const double pitch = w.dot(velocity) / w.squaredNorm(); std::abs(pitch) * w.norm() > round_off * size)
    text += fmt::format(" and slides along it, {:.4g} m per radian", pitch);
  return text;
}

void RigidBody::validate(const Label& label) const {
  require_not_negative(label, "mass", mass, "kg");
  require_finite(label, "centre", centre);
  (void)massless_directions(inertia, label, {"Jx", "Jy", "Jz"});  // throws if not J >= 0
  const Eigen::SelfAdjointEigenSolver<Mat<double, 3>> principal(inertia);
  for (const double J : principal.eigenvalues())
    if (J > zero * inertia.diagonal().maxCoeff()) require_visible_inertia(label, J, mass * centre.squaredNorm());
}

}  // namespace mortise
