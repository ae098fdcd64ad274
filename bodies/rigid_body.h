#pragma once
// Rigid body in space.  q = (x, y, z, u0, u1, u2, u3): origin [m] and unit quaternion, scalar first.
//
//   M = [m I   -2 m R c^ E;  .   4 E' J_o E],   J_o = J - m c^ c^,   c^ the matrix of c x        [US10, Sec. 4]
//
// M is singular (rank 6 at most): the coordinates u are treated as independent and |u| = 1 is the body's own row.
// Velocity terms are those of Lagrange's equations for independent u: Q_u = -8 (dE/dt)' J_o E u'  [US10, Eq. 91].
// Mass and inertia may be zero, wholly or about some axes (a thin rod).  Principal moments that are all > 0 must be
// those of a body: none above the sum of the other two.

#include <array>
#include <string_view>

#include <mortise/bodies/inertia.h>
#include <mortise/core/fields.h>
#include <mortise/core/massless.h>
#include <mortise/core/parts.h>
#include <mortise/core/rigid_mass.h>
#include <mortise/core/rotation.h>

namespace mortise {

struct RigidBody {
  double mass = 0;
  Mat<double, 3> inertia = Mat<double, 3>::Zero();
  Vec3<double> centre{0, 0, 0};

  static constexpr Summary summary{"rigid_body", "a rigid body in space; its own row keeps the quaternion u unit",
                                   "m c'' = f, J w' + w x J w = moment about the centre of mass c"};
  static constexpr std::tuple fields{
      Field{"mass", &RigidBody::mass, "kg", "0 is allowed", Range::not_negative},
      Field{"inertia", &RigidBody::inertia, "kg m^2",
            "about the centre of mass, in body axes; positive semi-definite, 0 is allowed"},
      Field{"centre", &RigidBody::centre, "m", "the centre of mass in the body frame"}};
  static constexpr std::array<std::string_view, 7> coordinates{"x", "y", "z", "u0", "u1", "u2", "u3"};
  static constexpr std::array<std::string_view, 7> units{"m", "m", "m", "", "", "", ""};
  static constexpr std::array<int, 7> groups{0, 0, 0, 1, 1, 1, 1};
  static constexpr std::array<RowInfo, 1> own_rows{
      {{"norm", "change of length of the quaternion", "norm force", "N m"}}};

  // RigidBody::of(Inertia::box(2, {1, 0.2, 0.1}))
  static RigidBody of(const Inertia& i);
  static RigidBody of(const PrincipalMass& m);

  static Vec<double, 7> neutral();
  // Coordinates of a pose, and their rates for the velocity of the origin and the angular velocity in body axes.
  static Vec<double, 7> pose(const Vec3<double>& origin, const Quaternion<double>& u);
  static Vec<double, 7> rates(const Vec<double, 7>& q, const Vec3<double>& velocity, const Vec3<double>& omega_body);

  template <class T> Vec3<T> direction(const Vec<T, 7>& q, const Vec3<double>& d) const {
    return rotation_matrix<T>(q.template tail<4>()) * d.template cast<T>();
  }
  template <class T> Vec3<T> point(const Vec<T, 7>& q, const Vec3<double>& r) const {
    return q.template head<3>() + direction(q, r);
  }
  Vec3<double> local_direction(const Vec<double, 7>& q, const Vec3<double>& d) const;
  Vec3<double> local_point(const Vec<double, 7>& q, const Vec3<double>& p) const;
  template <class T> Vec3<T> angular_velocity_body(const Vec<T, 7>& q, const Vec<T, 7>& v) const {
    const Quaternion<T> u = q.template tail<4>();
    return T(2.0) / u.squaredNorm() * (quaternion_E<T>(u) * v.template tail<4>());
  }
  template <class T> Vec3<T> angular_velocity(const Vec<T, 7>& q, const Vec<T, 7>& v) const {  // in world axes
    return rotation_matrix<T>(q.template tail<4>()) * angular_velocity_body(q, v);
  }

  template <class T> Vec<T, 1> phi(const Vec<T, 7>& q) const {
    return Vec<T, 1>(0.5 * (q.template tail<4>().squaredNorm() - T(1.0)));
  }
  template <class T> Mat<T, 7> mass_matrix(const Vec<T, 7>& q, const T&) const {
    const Quaternion<T> u = q.template tail<4>();
    const Mat<T, 3, 4> E = quaternion_E<T>(u);
    Mat<T, 7> M = Mat<T, 7>::Zero();
    for (int i = 0; i < 3; ++i) M(i, i) = T(mass);
    M.template block<4, 4>(3, 3) = 4.0 * E.transpose() * inertia_about_origin().template cast<T>() * E;
    if (centre != Vec3<double>::Zero()) {
      const Mat<T, 3, 4> G = -2.0 * mass * rotation_matrix<T>(u) * hat(centre).template cast<T>() * E;
      M.template block<3, 4>(0, 3) = G;
      M.template block<4, 3>(3, 0) = G.transpose();
    }
    return M;
  }
  template <class T> Vec<T, 7> force(const Vec<T, 7>& q, const Vec<T, 7>& v, const T&) const {
    const Quaternion<T> u = q.template tail<4>(), du = v.template tail<4>();
    const Vec3<T> w = 2.0 * quaternion_E<T>(u) * du;
    Vec<T, 7> Q = Vec<T, 7>::Zero();
    Q.template tail<4>() = -4.0 * quaternion_E<T>(du).transpose() * (inertia_about_origin().template cast<T>() * w);
    if (centre != Vec3<double>::Zero()) {
      const Vec3<T> c = centre.template cast<T>();
      Q.template head<3>() = T(-mass) * (rotation_matrix<T>(u) * cross<T>(w, cross<T>(w, c)));
    }
    return Q;
  }
  template <class T> Vec3<T> first_moment(const Vec<T, 7>& q) const {
    if (centre[0] == 0 && centre[1] == 0 && centre[2] == 0) return T(mass) * q.template head<3>();  // no turn in it
    return T(mass) * point(q, centre);
  }

  RigidBody without_mass() const;
  RigidMass rigid_mass() const { return {3, mass, centre, inertia}; }
  Mat<double, 3> inertia_about_origin() const;
  static Mat<double, 3> hat(const Vec3<double>& c);

  // Translations if there is no mass; rotations about principal axes without inertia; the length of u.
  // Never read off 4 E'JE, whose pivots may see rank 4.
  Massless massless(const Vec<double, 7>& q) const;
  std::string describe(const Vec<double, 7>& q, const Vec<double, 7>& dq) const;
  void validate(const Label& label) const;

  class Unknowns;  // rigid_body_unknowns.h
};

}  // namespace mortise
