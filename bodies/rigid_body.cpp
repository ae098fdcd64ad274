#include <mortise/bodies/rigid_body_unknowns.h>
#include <mortise/core/decompositions.h>
#include <mortise/core/tolerances.h>

namespace mortise {
namespace {

// Of the largest principal moment: none; more than round-off of the tensor may hide; round-off.
constexpr double zero = tolerance::no_inertia, hardly = tolerance::doubtful_mass,
                 round_off = tolerance::clearly_no_inertia;

}  // namespace

RigidBody RigidBody::of(const Inertia& i) { return {.mass = i.mass, .inertia = i.moments, .centre = i.centre}; }
RigidBody RigidBody::of(const PrincipalMass& m) {
  return {.mass = m.mass, .inertia = m.axes * m.moments.asDiagonal() * m.axes.transpose(), .centre = m.centre};
}
Vec<double, 7> RigidBody::neutral() { return {0, 0, 0, 1, 0, 0, 0}; }

Vec<double, 7> RigidBody::pose(const Vec3<double>& origin, const Quaternion<double>& u) {
  if (!(u.norm() > 0) || !u.allFinite())
    Label{"quaternion", "u"}.fail<InvalidModel>(fmt::format("has length {}", u.norm()),
                                                "give a finite one of length > 0");
  Vec<double, 7> q;
  q << origin, u.normalized();
  return q;
}
Vec<double, 7> RigidBody::rates(const Vec<double, 7>& q, const Vec3<double>& velocity, const Vec3<double>& omega_body) {
  Vec<double, 7> v;
  v << velocity, 0.5 * quaternion_E<double>(q.tail<4>()).transpose() * omega_body;
  return v;
}

Vec3<double> RigidBody::local_direction(const Vec<double, 7>& q, const Vec3<double>& d) const {
  return rotation_matrix<double>(q.tail<4>()).transpose() * d;
}
Vec3<double> RigidBody::local_point(const Vec<double, 7>& q, const Vec3<double>& p) const {
  return local_direction(q, p - q.head<3>());
}

Mat<double, 3> RigidBody::inertia_about_origin() const { return inertia - mass * hat(centre) * hat(centre); }
Mat<double, 3> RigidBody::hat(const Vec3<double>& c) {
  Mat<double, 3> m;
  m << 0, -c[2], c[1], c[2], 0, -c[0], -c[1], c[0], 0;
  return m;
}

namespace {

// A moment of inertia about an axis, in shares of the largest: round-off of the tensor hides it, unless this is
// diagonal.
void note_doubtful(Massless& out, const Quaternion<double>& turning, double share, bool exact) {
  const bool counts = share > zero;
  if (!(share > 0) || (counts ? exact || share >= hardly : !exact && share <= round_off)) return;
  Index most = 0;
  turning.cwiseAbs().maxCoeff(&most);
  out.doubtful.push_back({3 + static_cast<int>(most), counts, share});
}

}  // namespace

Massless RigidBody::massless(const Vec<double, 7>& q) const {
  const Quaternion<double> u = q.tail<4>();
  const Mat<double, 3, 4> E = quaternion_E<double>(u);
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
  // Moments that are clearly there, as most are: at least so much by Gershgorin's circles.
  const Vec3<double> diagonal = inertia.diagonal();
  const double least = (2 * diagonal - inertia.cwiseAbs().rowwise().sum()).minCoeff();
  if (mass > 0 && least > 4 * hardly * diagonal.maxCoeff()) {
    null.N0.setZero(7, 1);
    null.N0.bottomRows<4>() = u;
    Index largest = 0;
    u.cwiseAbs().maxCoeff(&largest);
    null.pivot = {3 + static_cast<int>(largest)};
    return null;
  }
  const SymmetricEigen principal(inertia);
  for (int i = 0; i < 3; ++i) {
    const Vec3<double> axis = principal.vectors.col(i);
    note_doubtful(null, E.transpose() * axis, principal.values[i] / principal.values[2], inertia.isDiagonal(0));
    if (principal.values[i] <= zero * principal.values[2])
      turn(0.5 * E.transpose() * axis, -direction<double>(q, axis.cross(centre)));
  }
  turn(u, Vec3<double>::Zero());
  null.N0.resize(7, static_cast<Index>(columns.size()));
  for (std::size_t k = 0; k < columns.size(); ++k) null.N0.col(static_cast<Index>(k)) = columns[k];
  return null;
}

RigidBody::Unknowns::Unknowns(const PrincipalMass& m)
    : centre_(m.centre),
      moments_(m.moments),
      axes_(m.axes),
      root_mass_(std::sqrt(m.mass)),
      translation_(m.mass > 0 ? 1 / root_mass_ : 1),
      turned_(m.axes != Mat<double, 3>::Identity()),
      offset_(m.centre != Vec3<double>::Zero()) {
  arm_ = axes_.transpose() * centre_;
  int held = 0;  // axes with inertia
  for (int k = 0; k < 3; ++k) {
    if (moments_[k] > 0) ++held;
    rotation_[k] = moments_[k] > 0 ? 1 / std::sqrt(moments_[k]) : 1;
  }
  massless_ = (m.mass > 0 ? 0 : 3) + 3 - held;
  if (m.mass == 0) {  // rotations with inertia, translations, rotations without
    first_ = held;
    for (int k = 0; k < 3; ++k) place_[static_cast<std::size_t>(k)] = k < held ? k : k + 3;
  }
}

MotionsApart RigidBody::Unknowns::apart(const Motion& a, const Motion& b, const Unknowns&) {
  return {std::max((a.centre - b.centre).cwiseAbs().maxCoeff(), (a.R - b.R).cwiseAbs().maxCoeff()),
          std::max((a.velocity - b.velocity).cwiseAbs().maxCoeff(), (a.w - b.w).cwiseAbs().maxCoeff())};
}

void RigidBody::Unknowns::follow(const Motion& m, const Unknowns&, Vec<double, 7>& q, Vec<double, 7>& v) const {
  Quaternion<double> u = quaternion_from_matrix(m.R * axes_.transpose());
  if (u.dot(q.tail<4>()) < 0) u = -u;
  q << m.centre - m.R * arm_, u;
  v << m.velocity - m.R * m.w.cross(arm_), 0.5 * quaternion_E<double>(u).transpose() * (axes_ * m.w);
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
  const Vec3<double> arm = w.cross(velocity) / w.squaredNorm();
  text += " through the point " + point_in_words(q.head<3>() + arm, arm.norm());
  if (const double pitch = w.dot(velocity) / w.squaredNorm(); std::abs(pitch) * w.norm() > round_off * size)
    text += fmt::format(" and slides along it, {:.4g} m per radian", pitch);
  return text;
}

void RigidBody::validate(const Label& label) const {
  (void)massless_directions(inertia, label, {"Jx", "Jy", "Jz"});  // throws if not J >= 0
  const SymmetricEigen principal(inertia);
  for (const double J : principal.values)
    if (J > zero * inertia.diagonal().maxCoeff()) require_visible_inertia(label, J, mass * centre.squaredNorm());
  require_triangle(label, principal.values);
}

RigidBody RigidBody::without_mass() const {
  RigidBody b = *this;
  b.mass = 0;
  b.inertia.setZero();
  return b;
}

}  // namespace mortise
