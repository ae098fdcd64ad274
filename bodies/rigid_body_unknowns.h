#pragma once
// The unknowns of a rigid body (core/marker.h).
//
// A body that knows its unknowns has a type Unknowns, made once from the body, with
//   count                                      number of unknowns y
//   massless()                                 how many of them, the last, have no mass
//   unit(k, j)                                 1 / the factor of unknown k if it has the dimension of unknown j, else 0
//   Motion, motion(q, v)                       what the markers need at one state
//   point(motion, r)  direction(motion, d)     Marker<D, count>
//   turning(motion)                            angular velocity = turning * velocities conjugate to y
//   spin(motion)                               the angular velocity of the motion
//   force(motion, gravity)                     T'(Q - M z), weight included
//   spread(motion, y)  drift(motion)           T y and z
//   gather(motion, row)                        a row over y as one over q''
//   velocities(motion)                         those conjugate to y: q' = T w on the body's own constraint
//   momentum(motion)                           linear, and angular about the world's origin
// and where it can be a part of a rigid whole (engine/rigid_groups.h), made from a PrincipalMass,
//   apart(motion, other, of)                   how far the motions are apart that this part and another one see
//   follow(motion, of, q, v)                   puts this part where the motion that another one sees takes it
// as well as, where it has a constraint of its own,
//   normalise(q, v)                            brings q and v back to the body's own constraint, where it has one
// Bodies without it are seen through their coordinates, at a higher price (assembly/body_of.h).

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <mortise/bodies/rigid_body.h>
#include <mortise/core/marker.h>

namespace mortise {

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
  explicit Unknowns(const RigidBody& b) : Unknowns(principal(b.rigid_mass())) {}
  // Of the whole that the body is a part of, seen in the body's frame: all parts have the same unknowns.
  explicit Unknowns(const PrincipalMass& whole);

  int massless() const { return massless_; }
  double unit(int k, int of) const {
    const auto translates = [&](int i) { return i >= first_ && i < first_ + 3; };
    if (translates(k) != translates(of)) return 0;
    if (translates(k)) return 1 / translation_;
    return 1 / rotation_[std::find(place_.begin(), place_.end(), k) - place_.begin()];
  }
  [[gnu::always_inline]] Motion motion(const Vec<double, 7>& q, const Vec<double, 7>& v) const {
    Motion m;
    const double u0 = q[3], u1 = q[4], u2 = q[5], u3 = q[6], d0 = v[3], d1 = v[4], d2 = v[5], d3 = v[6];
    const double s = 1 / (u0 * u0 + u1 * u1 + u2 * u2 + u3 * u3), t = 2 * s;
    m.u[0] = u0, m.u[1] = u1, m.u[2] = u2, m.u[3] = u3;
    // w = 2 E u' / |u|^2,  R(u / |u|)
    m.w[0] = t * (-u1 * d0 + u0 * d1 + u3 * d2 - u2 * d3);
    m.w[1] = t * (-u2 * d0 - u3 * d1 + u0 * d2 + u1 * d3);
    m.w[2] = t * (-u3 * d0 + u2 * d1 - u1 * d2 + u0 * d3);
    m.stretch = s * (u0 * d0 + u1 * d1 + u2 * d2 + u3 * d3);
    double* R = m.R.data();
    R[0] = 1 - t * (u2 * u2 + u3 * u3), R[3] = t * (u1 * u2 - u0 * u3), R[6] = t * (u1 * u3 + u0 * u2);
    R[1] = t * (u1 * u2 + u0 * u3), R[4] = 1 - t * (u1 * u1 + u3 * u3), R[7] = t * (u2 * u3 - u0 * u1);
    R[2] = t * (u1 * u3 - u0 * u2), R[5] = t * (u2 * u3 + u0 * u1), R[8] = 1 - t * (u1 * u1 + u2 * u2);
    for (int i = 0; i < 3; ++i) m.centre[i] = q[i], m.velocity[i] = v[i];
    if (turned_ || offset_) [[unlikely]]
      place_centre(m);
    return m;
  }
  [[gnu::always_inline]] Marker<3, 6> point(const Motion& m, const Vec3<double>& r) const {
    Marker<3, 6> p;
    if (offset_)
      turn_into(m, arm_between(centre_, r), p);
    else
      turn_into(m, r, p);
    for (int i = 0; i < 3; ++i) {
      p.value[i] += m.centre[i];
      p.velocity[i] += m.velocity[i];
      p.slopes(i, i) = translation_;
    }
    if (first_ > 0) [[unlikely]]
      p = reordered(p);
    return p;
  }
  [[gnu::always_inline]] Marker<3, 6> direction(const Motion& m, const Vec3<double>& d) const {
    Marker<3, 6> p;
    turn_into(m, d, p);
    if (first_ > 0) [[unlikely]]
      p = reordered(p);
    return p;
  }
  Mat<double, 3, 6> turning(const Motion& m) const {
    Mat<double, 3, 6> w = Mat<double, 3, 6>::Zero();
    for (int k = 0; k < 3; ++k) w.col(turn(k)) = rotation_[k] * m.R.col(k);
    return w;
  }
  Vec3<double> spin(const Motion& m) const { return m.R * m.w; }
  // A row over y as one over q'': y sees the acceleration of the centre of mass and the angular one, 2 E u'' / |u|^2.
  Vec<double, 7> gather(const Motion& m, Vec<double, 6> row) const {
    Vec3<double> turns;
    for (int k = 0; k < 3; ++k) turns[k] = row[turn(k)] / rotation_[k];
    const Vec3<double> force = row.segment<3>(first_) / translation_;
    if (offset_) turns += arm_.cross(m.R.transpose() * force);
    Vec<double, 7> q;
    q.head<3>() = force;
    q.tail<4>() = 2 / m.u.squaredNorm() * (quaternion_E<double>(m.u).transpose() * (axes_ * turns));
    return q;
  }
  // Weight, and Euler's -w x J w.
  [[gnu::always_inline]] Vec<double, 6> force(const Motion& m, const Vec3<double>& gravity) const {
    const double a = m.w[0], b = m.w[1], c = m.w[2], A = moments_[0] * a, B = moments_[1] * b, C = moments_[2] * c;
    Vec<double, 6> f;
    for (int k = 0; k < 3; ++k) f[k] = root_mass_ * gravity[k];
    f[3] = rotation_[0] * (c * B - b * C), f[4] = rotation_[1] * (a * C - c * A), f[5] = rotation_[2] * (b * A - a * B);
    if (first_ > 0) [[unlikely]]
      f = reordered(f);
    return f;
  }
  [[gnu::always_inline]] Vec<double, 7> spread(const Motion& m, const Vec<double, 6>& y) const {
    double x[6] = {y[0], y[1], y[2], y[3], y[4], y[5]};
    if (first_ > 0) [[unlikely]] {
      for (int k = 0; k < 3; ++k) x[k] = y[first_ + k], x[3 + k] = y[turn(k)];
    }
    const Vec3<double> turns(rotation_[0] * x[3], rotation_[1] * x[4], rotation_[2] * x[5]);
    Vec<double, 7> q;
    half_turn(m.u, turns, q.data() + 3);
    for (int i = 0; i < 3; ++i) q[i] = translation_ * x[i];
    if (offset_) [[unlikely]]
      q.head<3>() -= m.R * turns.cross(arm_);
    return q;
  }
  [[gnu::always_inline]] Vec<double, 7> drift(const Motion& m) const {
    Vec<double, 7> z;
    z[0] = z[1] = z[2] = 0;
    half_turn(m.u, m.w, z.data() + 3);
    const double w2 = m.w[0] * m.w[0] + m.w[1] * m.w[1] + m.w[2] * m.w[2], along = 0.25 * w2 + m.stretch * m.stretch;
    for (int i = 0; i < 4; ++i) z[3 + i] = 2 * m.stretch * z[3 + i] - along * m.u[i];
    if (offset_) [[unlikely]]
      z.head<3>() = -(m.R * m.w.cross(m.w.cross(arm_)));
    return z;
  }
  // T y + z at once.
  [[gnu::always_inline]] void accelerate(const Motion& m, const double* y, double* a) const {
    if (first_ > 0 || offset_ || turned_) [[unlikely]] {
      const Vec<double, 7> dq = spread(m, Eigen::Map<const Vec<double, 6>>(y)) + drift(m);
      for (int i = 0; i < 7; ++i) a[i] = dq[i];
      return;
    }
    const double w0 = m.w[0], w1 = m.w[1], w2 = m.w[2], s = m.stretch;
    const double t0 = 0.5 * rotation_[0] * y[3] + s * w0, t1 = 0.5 * rotation_[1] * y[4] + s * w1,
                 t2 = 0.5 * rotation_[2] * y[5] + s * w2, along = 0.25 * (w0 * w0 + w1 * w1 + w2 * w2) + s * s;
    const double u0 = m.u[0], u1 = m.u[1], u2 = m.u[2], u3 = m.u[3];
    for (int i = 0; i < 3; ++i) a[i] = translation_ * y[i];
    a[3] = -u1 * t0 - u2 * t1 - u3 * t2 - along * u0;
    a[4] = u0 * t0 + u2 * t2 - u3 * t1 - along * u1;
    a[5] = u0 * t1 + u3 * t0 - u1 * t2 - along * u2;
    a[6] = u0 * t2 + u1 * t1 - u2 * t0 - along * u3;
  }
  Vec<double, 6> velocities(const Motion& m) const {
    Vec<double, 6> v;
    for (int k = 0; k < 3; ++k) v[first_ + k] = m.velocity[k] / translation_;
    for (int k = 0; k < 3; ++k) v[turn(k)] = m.w[k] / rotation_[k];
    return v;
  }
  Momentum momentum(const Motion& m) const {
    const Vec3<double> p = root_mass_ * root_mass_ * m.velocity;
    return {p, m.centre.cross(p) + m.R * moments_.cwiseProduct(m.w)};
  }
  // Of the same whole seen from two of its parts; and the coordinates of this part where the whole moves like that.
  static MotionsApart apart(const Motion& a, const Motion& other, const Unknowns& of);
  void follow(const Motion& m, const Unknowns& of, Vec<double, 7>& q, Vec<double, 7>& v) const;
  // What is off by round-off alone stays as it is.
  static void normalise(Vec<double, 7>& q, Vec<double, 7>& v) {
    constexpr double round_off = 8 * std::numeric_limits<double>::epsilon();
    auto u = q.tail<4>(), du = v.tail<4>();
    const double square = u.squaredNorm();
    if (!(std::abs(square - 1) <= round_off)) u /= std::sqrt(square);
    const double along = u.dot(du);
    if (!(std::abs(along) <= round_off * du.norm())) du -= along * u;
  }

 private:
  // Written out by components: this is where most of the time of an evaluation goes.
  [[gnu::always_inline]] void turn_into(const Motion& m, const Vec3<double>& d, Marker<3, 6>& p) const {
    double x = d[0], y = d[1], z = d[2];
    if (turned_) [[unlikely]] {
      const Vec3<double> s = axes_.transpose() * d;
      x = s[0], y = s[1], z = s[2];
    }
    const double a = m.w[0], b = m.w[1], c = m.w[2];
    const double vx = b * z - c * y, vy = c * x - a * z, vz = a * y - b * x;        // w x s
    const double ax = b * vz - c * vy, ay = c * vx - a * vz, az = a * vy - b * vx;  // w x (w x s)
    const double* R = m.R.data();
    double *value = p.value.data(), *velocity = p.velocity.data(), *acceleration = p.acceleration.data();
    double* slopes = p.slopes.data();
    for (int i = 0; i < 3; ++i) {
      const double r0 = R[i], r1 = R[3 + i], r2 = R[6 + i];
      value[i] = r0 * x + r1 * y + r2 * z;
      velocity[i] = r0 * vx + r1 * vy + r2 * vz;
      acceleration[i] = r0 * ax + r1 * ay + r2 * az;
      slopes[i] = slopes[3 + i] = slopes[6 + i] = 0;
      slopes[9 + i] = rotation_[0] * (y * r2 - z * r1);
      slopes[12 + i] = rotation_[1] * (z * r0 - x * r2);
      slopes[15 + i] = rotation_[2] * (x * r1 - y * r0);
    }
  }
  [[gnu::noinline]] void place_centre(Motion& m) const {
    m.R = (m.R * axes_).eval();
    m.w = (axes_.transpose() * m.w).eval();
    m.centre += m.R * arm_;
    m.velocity += m.R * m.w.cross(arm_);
  }
  // From (translations, rotations) to the order of y.
  [[gnu::noinline]] Marker<3, 6> reordered(Marker<3, 6> p) const {
    const Mat<double, 3, 6> natural = p.slopes;
    p.slopes.middleCols<3>(first_) = natural.leftCols<3>();
    for (int k = 0; k < 3; ++k) p.slopes.col(turn(k)) = natural.col(3 + k);
    return p;
  }
  [[gnu::noinline]] Vec<double, 6> reordered(const Vec<double, 6>& natural) const {
    Vec<double, 6> f;
    f.segment<3>(first_) = natural.head<3>();
    for (int k = 0; k < 3; ++k) f[turn(k)] = natural[3 + k];
    return f;
  }
  int turn(int k) const { return place_[static_cast<std::size_t>(k)]; }  // unknown of the rotation about axis k
  // 1/2 E'(u) w for w in principal axes
  [[gnu::always_inline]] void half_turn(const Quaternion<double>& u, const Vec3<double>& w, double* du) const {
    double a = 0.5 * w[0], b = 0.5 * w[1], c = 0.5 * w[2];
    if (turned_) [[unlikely]] {
      const Vec3<double> body = 0.5 * (axes_ * w);
      a = body[0], b = body[1], c = body[2];
    }
    du[0] = -u[1] * a - u[2] * b - u[3] * c;
    du[1] = u[0] * a + u[2] * c - u[3] * b;
    du[2] = u[0] * b + u[3] * a - u[1] * c;
    du[3] = u[0] * c + u[1] * b - u[2] * a;
  }

  Vec3<double> centre_, arm_;  // centre of mass in body and in principal axes
  Vec3<double> moments_, rotation_;
  Mat<double, 3> axes_;  // principal axes in the body, in columns
  double root_mass_, translation_;
  bool turned_, offset_;      // axes_ is not the identity, centre_ is not 0
  int massless_, first_ = 0;  // first_: of the translations
  std::array<int, 3> place_{3, 4, 5};
};

}  // namespace mortise
