#pragma once
// Bead on a wire r(s), in the plane.  q = s: any parameter of the wire, not only its length.
//
//   M = m |r'|^2,   force = -m r' . r'' s'^2        M s'' = force is the motion along the wire
//
// Its frame stays parallel to the world's.  mass may be 0; where r' = 0 the wire has no direction, and M is 0 too.

#include <array>
#include <string_view>

#include <mortise/core/dual.h>
#include <mortise/core/fields.h>

namespace mortise {

template <class F> struct Bead {
  double mass = 0;
  F wire;

  static constexpr Summary summary{"bead", "a point mass on a wire of the plane",
                                   "m r' . r'' s'^2 + m |r'|^2 s'' = r' . f"};
  static constexpr std::tuple fields{Field{"mass", &Bead::mass, "kg", "0 is allowed", Range::not_negative},
                                     Field{"wire", &Bead::wire, "m", "r(s), a template on the scalar"}};
  static constexpr std::array<std::string_view, 1> coordinates{"s"};

  template <class T> Vec2<T> point(const Vec<T, 1>& q, const Vec2<double>& r) const { return wire(q[0]) + r; }
  template <class T> Mat<T, 1> mass_matrix(const Vec<T, 1>& q, const T&) const {
    return Mat<T, 1>(mass * tangent(q[0]).squaredNorm());
  }
  template <class T> Vec<T, 1> force(const Vec<T, 1>& q, const Vec<T, 1>& v, const T&) const {
    const auto along = tangent(Dual<T, 1>(q[0], {v[0]}));  // r' and, in d[0], its rate r'' s'
    return Vec<T, 1>(-mass * v[0] * (along[0].v * along[0].d[0] + along[1].v * along[1].d[0]));
  }
  template <class T> Vec2<T> first_moment(const Vec<T, 1>& q) const { return mass * wire(q[0]); }

  // r'(s)
  template <class T> Vec2<T> tangent(const T& s) const {
    const Vec2<Dual<T, 1>> r = wire(Dual<T, 1>::variable(s, 0));
    return {r[0].d[0], r[1].d[0]};
  }
};

}  // namespace mortise
