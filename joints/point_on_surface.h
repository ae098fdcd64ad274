#pragma once
// Point on a surface or on a curve given by equations: a point of body B meets g = 0, fixed in body A.
//
//   phi = g(r),   r = p_B - p_A in the frame of A        1 row (a surface) or 2 rows (a curve, where two surfaces meet)
//
//   PointOnSurface{.g = [](const auto& r) { return r.norm() - 2.0; }}                        a sphere of radius 2
//   PointOnSurface{.g = [](const auto& r) { return vec(r[2], r.norm() - 2.0); }}             its equator
//
// g is templated on the scalar and takes a Vec3.  Its gradients must be independent on the surface: no squares such as
// (|r| - 2)^2.  Reaction: the force on B at the point is lambda grad g; lambda has the unit of force where g is a
// length. A curve r(s) given by its parameter is PointOnCurve.
// Catalogue: PointOnSurface<Given>

#include <array>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

template <class F> struct PointOnSurface {
  F g;
  Vec3<double> on_a{0, 0, 0};
  Vec3<double> on_b{0, 0, 0};

  static constexpr Summary summary{"point_on_surface", "a point of B stays on a surface or curve g = 0 of A",
                                   "g(p_B - p_A in the frame of A) = 0"};
  static constexpr std::tuple fields{
      Field{"g", &PointOnSurface::g, "", "the equation, or two of them"},
      Field{"on_a", &PointOnSurface::on_a, "m", "the origin of the surface in the frame of A"},
      Field{"on_b", &PointOnSurface::on_b, "m", "the point in the frame of B"}};

  template <class T> auto phi(const auto& a, const auto& b, const T&) const {
    const Vec3<T> d = b.point(on_b) - a.point(on_a);
    Vec3<T> r;
    for (int i = 0; i < 3; ++i) r[i] = d.dot(a.direction(Vec3<double>(Vec3<double>::Unit(i))));
    return g(r);
  }
};

}  // namespace mortise
