#pragma once
// Rigid body in the plane.  q = (x, y, theta): origin [m] and angle [rad] in the world.
//
//   M = [m 0 -m sy; 0 m m sx; -m sy  m sx  J + m |c|^2],   (sx, sy) = R(theta) c the centre of mass seen from the
//   origin
//
// mass and inertia may be zero: M is then singular and joints must supply the missing rank.

#include <array>
#include <string_view>
#include <vector>

#include <mortise/core/massless.h>
#include <mortise/core/words.h>

namespace mortise {

struct PlanarBody {
  double mass = 0;            // [kg]     >= 0
  double inertia = 0;         // [kg m^2] >= 0, about the centre of mass
  Vec2<double> centre{0, 0};  // [m]      centre of mass in the body frame

  static constexpr std::array<std::string_view, 3> coordinates{"x", "y", "theta"};
  static constexpr std::array<int, 3> groups{0, 0, 1};

  template <class T> Vec2<T> direction(const Vec3<T>& q, const Vec2<double>& d) const {
    using std::cos, std::sin;
    const T c = cos(q[2]), s = sin(q[2]);
    return {c * d[0] - s * d[1], s * d[0] + c * d[1]};
  }
  template <class T> Vec2<T> point(const Vec3<T>& q, const Vec2<double>& r) const {
    return q.template head<2>() + direction(q, r);
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
    require_not_negative(label, "mass", mass, "kg");
    require_not_negative(label, "inertia", inertia, "kg m^2");
    require_finite(label, "centre", centre);
    if (inertia > 0) require_visible_inertia(label, inertia, mass * centre.squaredNorm());
  }
};

}  // namespace mortise
