#include <mortise/bodies/planar_body.h>

namespace mortise {

PlanarBody PlanarBody::of(const Inertia& i) {
  return {.mass = i.mass, .inertia = i.moments(2, 2), .centre = i.centre.head<2>()};
}

PlanarBody PlanarBody::of(const PrincipalMass& m) {
  return {.mass = m.mass, .inertia = m.moments[2], .centre = m.centre.head<2>()};
}
RigidMass PlanarBody::rigid_mass() const {
  return {2, mass, {centre[0], centre[1], 0}, Vec3<double>(0, 0, inertia).asDiagonal().toDenseMatrix()};
}

Vec2<double> PlanarBody::local_direction(const Vec3<double>& q, const Vec2<double>& d) const {
  const double c = std::cos(q[2]), s = std::sin(q[2]);
  return {c * d[0] + s * d[1], -s * d[0] + c * d[1]};
}
Vec2<double> PlanarBody::local_point(const Vec3<double>& q, const Vec2<double>& p) const {
  return local_direction(q, p - q.head<2>());
}

Massless PlanarBody::massless(const Vec3<double>& q) const {
  Massless null{MatrixXd(3, (mass == 0 ? 2 : 0) + (inertia == 0 ? 1 : 0)), {}};
  if (mass == 0) {
    null.N0.leftCols(2) = MatrixXd::Identity(3, 2);
    null.pivot = {0, 1};
  }
  if (inertia == 0) {
    const Vec2<double> s = direction(q, centre);
    null.N0.rightCols(1) = Vec3<double>(s[1], -s[0], 1);
    null.pivot.push_back(2);
  }
  return null;
}

std::string PlanarBody::describe(const Vec3<double>& q, const Vec3<double>& dq) const {
  if (dq[2] == 0) return dq.norm() > 0 ? "moves along " + direction_in_words(dq.head<2>()) : "";
  const Vec2<double> arm(-dq[1] / dq[2], dq[0] / dq[2]);  // to the point that stays
  return "turns about the point " + point_in_words(q.head<2>() + arm, arm.norm());
}
void PlanarBody::validate(const Label& label) const {
  if (inertia > 0) require_visible_inertia(label, inertia, mass * centre.squaredNorm());
}

}  // namespace mortise
