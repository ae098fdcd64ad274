#pragma once
// Rigid body in the plane.  q = (x, y, theta): origin [m] and angle [rad] in the world.
//
//   M = [m 0 -m sy; 0 m m sx; -m sy  m sx  J + m |c|^2],   (sx, sy) = R(theta) c the centre of mass seen from the
//   origin
//
// mass and inertia may be zero: M is then singular and joints must supply the missing rank.

#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include <mortise/bodies/inertia.h>
#include <mortise/core/fields.h>
#include <mortise/core/marker.h>
#include <mortise/core/massless.h>

namespace mortise {

struct PlanarBody {
  double mass = 0;
  double inertia = 0;
  Vec2<double> centre{0, 0};

  static constexpr Summary summary{"planar_body", "a rigid body in the plane",
                                   "m c'' = f, J theta'' = moment about the centre of mass c"};
  static constexpr std::tuple fields{
      Field{"mass", &PlanarBody::mass, "kg", "0 is allowed", Range::not_negative},
      Field{"inertia", &PlanarBody::inertia, "kg m^2", "about the centre of mass; 0 is allowed", Range::not_negative},
      Field{"centre", &PlanarBody::centre, "m", "the centre of mass in the body frame"}};
  static constexpr std::array<std::string_view, 3> coordinates{"x", "y", "theta"};
  static constexpr std::array<std::string_view, 3> units{"m", "m", "rad"};
  static constexpr std::array<int, 3> groups{0, 0, 1};

  // The same solid, moving in the plane z = 0 of its frame:  PlanarBody::of(Inertia::disk(1, 0.3, {0, 0, 1}))
  static PlanarBody of(const Inertia& i) {
    return {.mass = i.mass, .inertia = i.moments(2, 2), .centre = i.centre.head<2>()};
  }

  template <class T> Vec2<T> direction(const Vec3<T>& q, const Vec2<double>& d) const {
    using std::cos, std::sin;
    const T c = cos(q[2]), s = sin(q[2]);
    return {c * d[0] - s * d[1], s * d[0] + c * d[1]};
  }
  template <class T> Vec2<T> point(const Vec3<T>& q, const Vec2<double>& r) const {
    return q.template head<2>() + direction(q, r);
  }
  Vec2<double> local_direction(const Vec3<double>& q, const Vec2<double>& d) const {
    const double c = std::cos(q[2]), s = std::sin(q[2]);
    return {c * d[0] + s * d[1], -s * d[0] + c * d[1]};
  }
  Vec2<double> local_point(const Vec3<double>& q, const Vec2<double>& p) const {
    return local_direction(q, p - q.head<2>());
  }
  template <class T> T angular_velocity(const Vec3<T>&, const Vec3<T>& v) const { return v[2]; }

  template <class T> Mat<T, 3> mass_matrix(const Vec3<T>& q, const T&) const {
    const T m(mass), zero(0.0);
    const Vec2<T> s = direction(q, centre);
    Mat<T, 3> M;
    M << m, zero, -m * s[1], zero, m, m * s[0], -m * s[1], m * s[0], T(inertia + mass * centre.squaredNorm());
    return M;
  }
  // The centre of mass accelerates by p'' + theta'' z x s - theta'^2 s.
  template <class T> Vec3<T> force(const Vec3<T>& q, const Vec3<T>& v, const T&) const {
    const Vec2<T> f = T(mass) * v[2] * v[2] * direction(q, centre);
    return {f[0], f[1], T(0.0)};
  }
  template <class T> Vec2<T> first_moment(const Vec3<T>& q) const { return T(mass) * point(q, centre); }

  // Translations if there is no mass; the rotation about the centre of mass if there is no inertia.
  Massless massless(const Vec3<double>& q) const {
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

  std::string describe(const Vec3<double>& q, const Vec3<double>& dq) const {
    if (dq[2] == 0) return dq.norm() > 0 ? "moves along " + direction_in_words(dq.head<2>()) : "";
    const Vec2<double> fixed(q[0] - dq[1] / dq[2], q[1] + dq[0] / dq[2]);  // the point that stays
    return "turns about the point " + point_in_words(fixed);
  }
  void validate(const Label& label) const {
    if (inertia > 0) require_visible_inertia(label, inertia, mass * centre.squaredNorm());
  }

  // y = (sqrt(m) acceleration of the centre of mass, sqrt(J) theta''); what has no mass stands last, with factor 1.
  class Unknowns {
   public:
    static constexpr int count = 3;
    struct Motion {
      Vec2<double> centre, velocity;  // of the centre of mass
      double c, s, w;                 // cos and sin of theta, theta'
    };
    explicit Unknowns(const PlanarBody& b)
        : arm_(b.centre),
          root_mass_(std::sqrt(b.mass)),
          translation_(b.mass > 0 ? 1 / root_mass_ : 1),
          rotation_(b.inertia > 0 ? 1 / std::sqrt(b.inertia) : 1),
          massless_((b.mass > 0 ? 0 : 2) + (b.inertia > 0 ? 0 : 1)),
          first_(b.mass == 0 && b.inertia > 0 ? 1 : 0) {}

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
    Momentum momentum(const Motion& m) const {
      const Vec2<double> p = root_mass_ * root_mass_ * m.velocity;
      const double J = massless_ == 3 || angle() >= 3 - massless_ ? 0 : 1 / (rotation_ * rotation_);
      return {{p[0], p[1], 0}, {0, 0, m.centre[0] * p[1] - m.centre[1] * p[0] + J * m.w}};
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

    Vec2<double> arm_;  // centre of mass in the body frame
    double root_mass_, translation_, rotation_;
    int massless_, first_;  // first_: of the translations
  };
};

}  // namespace mortise
