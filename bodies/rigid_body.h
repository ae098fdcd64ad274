#pragma once
// Rigid body in space.  q = (x, y, z, u0, u1, u2, u3): origin [m] and unit quaternion, scalar first.
//
//   M = [m I   -2 m R c^ E;  .   4 E' J_o E],   J_o = J - m c^ c^,   c^ the matrix of c x        [US10, Sec. 4]
//
// M is singular (rank 6 at most): the coordinates u are treated as independent and |u| = 1 is the body's own row.
// Velocity terms are those of Lagrange's equations for independent u: Q_u = -8 (dE/dt)' J_o E u'  [US10, Eq. 91].
// Mass and inertia may be zero, wholly or about some axes (a thin rod).

#include <algorithm>
#include <array>
#include <string_view>

#include <mortise/core/marker.h>
#include <mortise/core/massless.h>
#include <mortise/core/parts.h>
#include <mortise/core/rotation.h>
#include <mortise/core/words.h>

namespace mortise {

struct RigidBody {
  double mass = 0;                                  // [kg]     >= 0
  Mat<double, 3> inertia = Mat<double, 3>::Zero();  // [kg m^2] >= 0, about the centre of mass, in body axes
  Vec3<double> centre{0, 0, 0};                     // [m]      centre of mass in the body frame

  static constexpr std::array<std::string_view, 7> coordinates{"x", "y", "z", "u0", "u1", "u2", "u3"};
  static constexpr std::array<int, 7> groups{0, 0, 0, 1, 1, 1, 1};
  static constexpr std::array<RowInfo, 1> own_rows{{{"norm", "change of length of the quaternion", "norm force"}}};

  static Vec<double, 7> neutral() { return {0, 0, 0, 1, 0, 0, 0}; }
  // Coordinates of a pose, and their rates for the velocity of the origin and the angular velocity in body axes.
  static Vec<double, 7> pose(const Vec3<double>& origin, const Quaternion<double>& u) {
    if (!(u.norm() > 0) || !u.allFinite())
      Label{"quaternion", "u"}.fail<InvalidModel>(fmt::format("has length {}", u.norm()),
                                                  "give a finite one of length > 0");
    Vec<double, 7> q;
    q << origin, u.normalized();
    return q;
  }
  static Vec<double, 7> rates(const Vec<double, 7>& q, const Vec3<double>& velocity, const Vec3<double>& omega_body) {
    Vec<double, 7> v;
    v << velocity, 0.5 * quaternion_E<double>(q.tail<4>()).transpose() * omega_body;
    return v;
  }

  template <class T> Vec3<T> direction(const Vec<T, 7>& q, const Vec3<double>& d) const {
    return rotation_matrix<T>(q.template tail<4>()) * d.template cast<T>();
  }
  template <class T> Vec3<T> point(const Vec<T, 7>& q, const Vec3<double>& r) const {
    return q.template head<3>() + direction(q, r);
  }
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
  template <class T> Vec3<T> first_moment(const Vec<T, 7>& q) const { return T(mass) * point(q, centre); }

  Mat<double, 3> inertia_about_origin() const { return inertia - mass * hat(centre) * hat(centre); }
  static Mat<double, 3> hat(const Vec3<double>& c) {
    Mat<double, 3> m;
    m << 0, -c[2], c[1], c[2], 0, -c[0], -c[1], c[0], 0;
    return m;
  }

  // Translations if there is no mass; rotations about principal axes without inertia; the length of u.
  // Never read off 4 E'JE, whose pivots may see rank 4.
  Massless massless(const Vec<double, 7>& q) const;
  std::string describe(const Vec<double, 7>& q, const Vec<double, 7>& dq) const;
  void validate(const Label& label) const;

  class Unknowns;
};

// y = (sqrt(m) acceleration of the centre of mass, sqrt(J_k) angular acceleration about principal axis k); what has no
// mass stands last, with factor 1.  The norm row is met by z:  u'' = 1/2 E'w' - 1/4 |w|^2 u  [US10, Sec. 4].
class RigidBody::Unknowns {
 public:
  static constexpr int count = 6;
  struct Motion {
    Vec3<double> centre, velocity;  // of the centre of mass
    Vec3<double> w;                 // in principal axes
    Mat<double, 3> R;               // principal axes to world
    Quaternion<double> u;
    double stretch;  // |u|'/|u|, 0 on the constraint
  };
  explicit Unknowns(const RigidBody& b);

  int massless() const { return massless_; }
  double unit(int k, int of) const {
    const auto translates = [&](int i) { return i >= first_ && i < first_ + 3; };
    if (translates(k) != translates(of)) return 0;
    if (translates(k)) return 1 / translation_;
    return 1 / rotation_[std::find(place_.begin(), place_.end(), k) - place_.begin()];
  }
  Motion motion(const Vec<double, 7>& q, const Vec<double, 7>& v) const {
    Motion m;
    m.u = q.tail<4>();
    const double n2 = m.u.squaredNorm();
    const Vec3<double> w = 2 / n2 * (quaternion_E<double>(m.u) * v.tail<4>());
    m.R = rotation_matrix<double>(m.u);
    m.w = w;
    if (turned_) {
      m.R = (m.R * axes_).eval();
      m.w = axes_.transpose() * w;
    }
    m.stretch = m.u.dot(v.tail<4>()) / n2;
    m.centre = q.head<3>();
    m.velocity = v.head<3>();
    if (offset_) {
      m.centre += m.R * arm_;
      m.velocity += m.R * m.w.cross(arm_);
    }
    return m;
  }
  Marker<3, 6> point(const Motion& m, const Vec3<double>& r) const {
    Marker<3, 6> p = turned(m, offset_ ? arm_between(centre_, r) : r);
    p.value += m.centre;
    p.velocity += m.velocity;
    for (int i = 0; i < 3; ++i) p.slopes(i, i) = translation_;
    return ordered(p);
  }
  Marker<3, 6> direction(const Motion& m, const Vec3<double>& d) const { return ordered(turned(m, d)); }
  Mat<double, 3, 6> turning(const Motion& m) const {
    Mat<double, 3, 6> w = Mat<double, 3, 6>::Zero();
    for (int k = 0; k < 3; ++k) w.col(turn(k)) = rotation_[k] * m.R.col(k);
    return w;
  }
  // Weight, and Euler's -w x J w.
  Vec<double, 6> force(const Motion& m, const Vec3<double>& gravity) const {
    Vec<double, 6> f;
    const Vec3<double> torque = -m.w.cross(moments_.cwiseProduct(m.w));
    for (int k = 0; k < 3; ++k) {
      f[first_ + k] = root_mass_ * gravity[k];
      f[turn(k)] = rotation_[k] * torque[k];
    }
    return f;
  }
  Vec<double, 7> spread(const Motion& m, const Vec<double, 6>& y) const {
    Vec3<double> turn_rate(rotation_[0] * y[turn(0)], rotation_[1] * y[turn(1)], rotation_[2] * y[turn(2)]);
    Vec3<double> p = translation_ * y.segment<3>(first_);
    if (offset_) p -= m.R * turn_rate.cross(arm_);
    Vec<double, 7> q;
    q << p, half_turn(m.u, turn_rate);
    return q;
  }
  Vec<double, 7> drift(const Motion& m) const {
    Vec<double, 7> z;
    z << Vec3<double>::Zero(), -(0.25 * m.w.squaredNorm() + m.stretch * m.stretch) * m.u;
    if (m.stretch != 0) z.tail<4>() += 2 * m.stretch * half_turn(m.u, m.w);
    if (offset_) z.head<3>() = -(m.R * m.w.cross(m.w.cross(arm_)));
    return z;
  }

 private:
  Marker<3, 6> turned(const Motion& m, const Vec3<double>& d) const {
    const Vec3<double> s = turned_ ? Vec3<double>(axes_.transpose() * d) : d, ws = m.w.cross(s);
    Marker<3, 6> p{m.R * s, Mat<double, 3, 6>::Zero(), m.R * ws, m.R * m.w.cross(ws)};
    p.slopes.col(3) = rotation_[0] * (s[1] * m.R.col(2) - s[2] * m.R.col(1));
    p.slopes.col(4) = rotation_[1] * (s[2] * m.R.col(0) - s[0] * m.R.col(2));
    p.slopes.col(5) = rotation_[2] * (s[0] * m.R.col(1) - s[1] * m.R.col(0));
    return p;
  }
  // From (translations, rotations) to the order of y.
  Marker<3, 6> ordered(Marker<3, 6> p) const {
    if (first_ > 0) {
      const Mat<double, 3, 6> natural = p.slopes;
      p.slopes.middleCols<3>(first_) = natural.leftCols<3>();
      for (int k = 0; k < 3; ++k) p.slopes.col(turn(k)) = natural.col(3 + k);
    }
    return p;
  }
  int turn(int k) const { return place_[static_cast<std::size_t>(k)]; }  // unknown of the rotation about axis k
  // 1/2 E'(u) w for w in principal axes
  Quaternion<double> half_turn(const Quaternion<double>& u, const Vec3<double>& w) const {
    const Vec3<double> x = u.tail<3>(), wb = turned_ ? Vec3<double>(axes_ * w) : w;
    Quaternion<double> du;
    du << -0.5 * x.dot(wb), 0.5 * (u[0] * wb + x.cross(wb));
    return du;
  }

  Vec3<double> centre_, arm_;  // centre of mass in body and in principal axes
  Vec3<double> moments_, rotation_;
  Mat<double, 3> axes_;  // principal axes in the body, in columns
  double root_mass_, translation_;
  int massless_, first_ = 0;                  // first_: of the translations
  std::array<int, 3> place_{3, 4, 5};
  bool turned_, offset_;  // axes_ is not the identity, centre_ is not 0
};

}  // namespace mortise
