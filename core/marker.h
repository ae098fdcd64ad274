#pragma once
// Markers: points, directions and coordinates of a body, differentiated analytically by the body itself.
//
// Every body has a few unknowns y, scaled so that its mass is 1 along the first and 0 along the last of them:
//
//   q'' = T y + z,    T'M T = diag(1, ..., 1, 0, ..., 0)
//
// A marker tells how something of the body depends on y.  Joints combine markers as jets seeded here, so their
// rows come out in the unknowns at the price of the combination alone.

#include <mortise/core/jet.h>
#include <mortise/core/types.h>

namespace mortise {

template <int D, int K> struct Marker {
  Vec<double, D> value;
  Mat<double, D, K> slopes;               // d value / d (velocities conjugate to y)
  Vec<double, D> velocity, acceleration;  // in time, with y = 0
};

// Of one body or of all.  In the plane only p_x, p_y and L_z.
struct Momentum {
  Vec3<double> linear = Vec3<double>::Zero();   // [kg m/s]
  Vec3<double> angular = Vec3<double>::Zero();  // [kg m^2/s] about the world's origin
};

// How far two motions of one rigid whole are apart, as two of its parts see it; both in their units, turns in radians.
struct MotionsApart {
  double positions = 0, velocities = 0;
};

// r - c without what is only the round-off of the two: that must not pass for an arm.
template <int D> Vec<double, D> arm_between(const Vec<double, D>& c, const Vec<double, D>& r) {
  constexpr double round_off = 1e-15;
  Vec<double, D> s = r - c;
  for (int i = 0; i < D; ++i)
    if (std::abs(s[i]) <= round_off * std::abs(c[i])) s[i] = 0;
  return s;
}

namespace detail {

// The slopes of a marker stand at First ... First + K - 1 of the jet's.
template <class T, int First> struct Seed;
template <int First> struct Seed<double, First> {
  template <int D, int K> [[gnu::always_inline]] static Vec<double, D> of(const Marker<D, K>& m) { return m.value; }
};
template <int N, int First> struct Seed<Jet<N>, First> {
  template <int D, int K> [[gnu::always_inline]] static Vec<Jet<N>, D> of(const Marker<D, K>& m) {
    static_assert(First + K <= N);
    Vec<Jet<N>, D> x;
    for (int i = 0; i < D; ++i)
      x[i] = Jet<N>::make(
          m.value[i], m.velocity[i],
          m.acceleration[i], [&]<int k>(std::integral_constant<int, k>) __attribute__((always_inline)) {
            if constexpr (k >= First && k < First + K)
              return m.slopes(i, k - First);
            else
              return 0.0;
          });
    return x;
  }
};

}  // namespace detail

}  // namespace mortise
