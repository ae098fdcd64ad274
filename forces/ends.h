#pragma once
// Ends: a point of body A and a point of body B in D dimensions, and what lies between them.
//
//   d = p_A - p_B,   l = |d|,   direction d / l from B to A,   l' = (v_A - v_B) . d / l
//
// Where the points coincide there is no direction: l = 0 and l' = 0 with slopes 0, and a pull does nothing.

#include <cmath>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

template <int D> struct Ends {
  static_assert(D >= 1 && D <= 3, "points have 1, 2 or 3 components");

  Vec<double, D> on_a = Vec<double, D>::Zero();
  Vec<double, D> on_b = Vec<double, D>::Zero();

  static constexpr std::tuple fields{Field{"on_a", &Ends::on_a, "m", "end in the frame of A"},
                                     Field{"on_b", &Ends::on_b, "m", "end in the frame of B"}};

  template <class T> Vec<T, D> between(const auto& a, const auto& b, const T&) const {
    return a.point(on_a) - b.point(on_b);
  }
  template <class T> T length(const auto& a, const auto& b, const T& t) const { return length_of<T>(between(a, b, t)); }
  template <class T> T rate(const auto& a, const auto& b, const T& t) const {
    const Vec<T, D> n = direction<T>(between(a, b, t));
    return n.dot(a.point_velocity(on_a) - b.point_velocity(on_b));
  }
  // Pulls the ends together with the given force.
  template <class T> void pull(auto& a, auto& b, const T& t, const T& tension) const {
    const Vec<T, D> f = tension * direction<T>(between(a, b, t));
    a.apply_force(on_a, Vec<T, D>(-f));
    b.apply_force(on_b, f);
  }

 private:
  template <class T> static T length_of(const Vec<T, D>& d) {
    using std::sqrt;
    const T l2 = d.squaredNorm();
    return l2 > T(0.0) ? T(sqrt(l2)) : T(0.0);
  }
  template <class T> static Vec<T, D> direction(const Vec<T, D>& d) {
    const T l = length_of<T>(d);
    return l > T(0.0) ? Vec<T, D>(d / l) : Vec<T, D>(Vec<T, D>::Zero());
  }
};

}  // namespace mortise
