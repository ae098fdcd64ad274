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
#include <mortise/core/massless.h>
#include <mortise/core/rigid_mass.h>

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
  static PlanarBody of(const Inertia& i);
  static PlanarBody of(const PrincipalMass& m);
  PlanarBody without_mass() const { return {.centre = centre}; }
  RigidMass rigid_mass() const;

  template <class T> Vec2<T> direction(const Vec3<T>& q, const Vec2<double>& d) const {
    using std::cos, std::sin;
    const T c = cos(q[2]), s = sin(q[2]);
    return {c * d[0] - s * d[1], s * d[0] + c * d[1]};
  }
  template <class T> Vec2<T> point(const Vec3<T>& q, const Vec2<double>& r) const {
    return q.template head<2>() + direction(q, r);
  }
  Vec2<double> local_direction(const Vec3<double>& q, const Vec2<double>& d) const;
  Vec2<double> local_point(const Vec3<double>& q, const Vec2<double>& p) const;
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
  template <class T> Vec2<T> first_moment(const Vec3<T>& q) const {
    if (centre[0] == 0 && centre[1] == 0) return T(mass) * q.template head<2>();  // no turn in it
    return T(mass) * point(q, centre);
  }

  // Translations if there is no mass; the rotation about the centre of mass if there is no inertia.
  Massless massless(const Vec3<double>& q) const;
  std::string describe(const Vec3<double>& q, const Vec3<double>& dq) const;
  void validate(const Label& label) const;

  class Unknowns;  // planar_body_unknowns.h
};

}  // namespace mortise
