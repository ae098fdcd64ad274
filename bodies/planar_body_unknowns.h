#pragma once
// The unknowns of a body in the plane (core/marker.h).

#include <algorithm>
#include <cmath>

#include <mortise/bodies/planar_body.h>
#include <mortise/core/marker.h>

namespace mortise {

// y = (sqrt(m) acceleration of the centre of mass, sqrt(J) theta''); what has no mass stands last, with factor 1.
class PlanarBody::Unknowns {
 public:
  static constexpr int count = 3;
  struct Motion {
    Vec2<double> centre, velocity;  // of the centre of mass
    double c, s, w;                 // cos and sin of theta, theta'
  };
  explicit Unknowns(const PlanarBody& b, const Vec2<double>& heading = {1, 0})
      : arm_(b.centre),
        heading_(heading),
        root_mass_(std::sqrt(b.mass)),
        translation_(b.mass > 0 ? 1 / root_mass_ : 1),
        rotation_(b.inertia > 0 ? 1 / std::sqrt(b.inertia) : 1),
        massless_((b.mass > 0 ? 0 : 2) + (b.inertia > 0 ? 0 : 1)),
        first_(b.mass == 0 && b.inertia > 0 ? 1 : 0) {}

  // Of the whole that the body is a part of, seen in the body's frame: all parts have the same unknowns.
  explicit Unknowns(const PrincipalMass& whole) : Unknowns(PlanarBody::of(whole), whole.axes.col(0).head<2>()) {}

  int massless() const { return massless_; }
  double unit(int k, int of) const {
    if ((k == angle()) != (of == angle())) return 0;
    return 1 / (k == angle() ? rotation_ : translation_);
  }
  [[gnu::always_inline]] Motion motion(const Vec3<double>& q, const Vec3<double>& v) const {
    Motion m;
    const double w = v[2], c = std::cos(q[2]), s = std::sin(q[2]);
    const double x = c * arm_[0] - s * arm_[1], y = s * arm_[0] + c * arm_[1];
    m.centre[0] = q[0] + x, m.centre[1] = q[1] + y;
    m.velocity[0] = v[0] - w * y, m.velocity[1] = v[1] + w * x;
    m.c = c, m.s = s, m.w = w;
    return m;
  }
  [[gnu::always_inline]] Marker<2, 3> point(const Motion& m, const Vec2<double>& r) const {
    Marker<2, 3> p;
    turn_into(m, arm_between(arm_, r), p);
    for (int i = 0; i < 2; ++i) {
      p.value[i] += m.centre[i];
      p.velocity[i] += m.velocity[i];
      p.slopes(i, i) = translation_;
    }
    if (first_ > 0) [[unlikely]]
      p = reordered(p);
    return p;
  }
  [[gnu::always_inline]] Marker<2, 3> direction(const Motion& m, const Vec2<double>& d) const {
    Marker<2, 3> p;
    turn_into(m, d, p);
    if (first_ > 0) [[unlikely]]
      p = reordered(p);
    return p;
  }
  Mat<double, 1, 3> turning(const Motion&) const { return rotation_ * Mat<double, 1, 3>::Unit(angle()); }
  Vec<double, 1> spin(const Motion& m) const { return Vec<double, 1>(m.w); }
  // A row over y as one over q'': y sees the acceleration of the centre of mass and theta''.
  Vec3<double> gather(const Motion& m, const Vec3<double>& row) const {
    const Vec2<double> f = row.segment<2>(first_) / translation_;
    const double x = m.c * arm_[0] - m.s * arm_[1], y = m.s * arm_[0] + m.c * arm_[1];
    return {f[0], f[1], row[angle()] / rotation_ + f[1] * x - f[0] * y};
  }
  [[gnu::always_inline]] Vec3<double> force(const Motion&, const Vec3<double>& gravity) const {
    const double x = root_mass_ * gravity[0], y = root_mass_ * gravity[1];
    if (first_ > 0) [[unlikely]]
      return {0, x, y};
    return {x, y, 0};
  }
  [[gnu::always_inline]] Vec3<double> spread(const Motion& m, const Vec3<double>& y) const {
    double along_x = y[0], along_y = y[1], turn = y[2];
    if (first_ > 0) [[unlikely]]
      turn = y[0], along_x = y[1], along_y = y[2];
    turn *= rotation_;
    const double x = m.c * arm_[0] - m.s * arm_[1], z = m.s * arm_[0] + m.c * arm_[1];
    return {translation_ * along_x + turn * z, translation_ * along_y - turn * x, turn};
  }
  Vec3<double> velocities(const Motion& m) const {
    const double x = m.velocity[0] / translation_, y = m.velocity[1] / translation_, turn = m.w / rotation_;
    if (first_ > 0) return {turn, x, y};
    return {x, y, turn};
  }
  Momentum momentum(const Motion& m) const {
    const Vec2<double> p = root_mass_ * root_mass_ * m.velocity;
    const double J = massless_ == 3 || angle() >= 3 - massless_ ? 0 : 1 / (rotation_ * rotation_);
    return {{p[0], p[1], 0}, {0, 0, m.centre[0] * p[1] - m.centre[1] * p[0] + J * m.w}};
  }
  // Of the same whole seen from two of its parts; and the coordinates of this part where the whole moves like that.
  MotionsApart apart(const Motion& a, const Motion& other, const Unknowns& of) const {
    const Vec2<double> turn = direction(a, heading_).value - of.direction(other, of.heading_).value;
    return {std::max((a.centre - other.centre).cwiseAbs().maxCoeff(), turn.cwiseAbs().maxCoeff()),
            std::max((a.velocity - other.velocity).cwiseAbs().maxCoeff(), std::abs(a.w - other.w))};
  }
  void follow(const Motion& m, const Unknowns& of, Vec3<double>& q, Vec3<double>& v) const {
    const Vec2<double> to = of.direction(m, of.heading_).value,
                       from = direction(motion(q, v), heading_).value;
    q[2] += std::atan2(from[0] * to[1] - from[1] * to[0], from.dot(to));
    v[2] = m.w;
    q.head<2>().setZero(), v.head<2>().setZero();
    const Motion at = motion(q, v);
    q.head<2>() = m.centre - at.centre;
    v.head<2>() = m.velocity - at.velocity;
  }
  [[gnu::always_inline]] Vec3<double> drift(const Motion& m) const {
    const double w2 = m.w * m.w;
    return {w2 * (m.c * arm_[0] - m.s * arm_[1]), w2 * (m.s * arm_[0] + m.c * arm_[1]), 0};
  }

 private:
  // By components: this is where most of the time of an evaluation goes.
  [[gnu::always_inline]] void turn_into(const Motion& m, const Vec2<double>& d, Marker<2, 3>& p) const {
    const double x = m.c * d[0] - m.s * d[1], y = m.s * d[0] + m.c * d[1], w2 = m.w * m.w;
    p.value[0] = x, p.value[1] = y;
    p.velocity[0] = -m.w * y, p.velocity[1] = m.w * x;
    p.acceleration[0] = -w2 * x, p.acceleration[1] = -w2 * y;
    double* slopes = p.slopes.data();
    slopes[0] = slopes[1] = slopes[2] = slopes[3] = 0;
    slopes[4] = -rotation_ * y, slopes[5] = rotation_ * x;
  }
  // From (translations, rotation) to (rotation, translations).
  [[gnu::noinline]] static Marker<2, 3> reordered(Marker<2, 3> p) {
    const Mat<double, 2, 3> natural = p.slopes;
    p.slopes << natural.rightCols<1>(), natural.leftCols<2>();
    return p;
  }
  int angle() const { return first_ == 0 ? 2 : 0; }

  Vec2<double> arm_;      // centre of mass in the body frame
  Vec2<double> heading_;  // a direction of the whole in the body frame
  double root_mass_, translation_, rotation_;
  int massless_, first_;  // first_: of the translations
};

}  // namespace mortise
