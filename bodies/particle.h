#pragma once
// Particle in D = 1, 2 or 3 dimensions.  q = position [m], M = m I.
// It has no orientation: its frame stays parallel to the world's.
// Catalogue: Particle<3>

#include <array>
#include <cmath>
#include <string_view>

#include <mortise/core/fields.h>
#include <mortise/core/marker.h>

namespace mortise {

template <int D> struct Particle {
  static_assert(D >= 1 && D <= 3, "a particle lives in 1, 2 or 3 dimensions");

  double mass = 0;

  static constexpr Summary summary{"particle", "a point mass", "m p'' = f"};
  static constexpr std::tuple fields{Field{"mass", &Particle::mass, "kg", "0 is allowed", Range::not_negative}};

  static constexpr std::array<std::string_view, D> coordinates = [] {
    constexpr std::array<std::string_view, 3> xyz{"x", "y", "z"};
    std::array<std::string_view, D> names;
    for (std::size_t i = 0; i < D; ++i) names[i] = xyz[i];
    return names;
  }();
  static constexpr std::array<std::string_view, D> units = [] {
    std::array<std::string_view, D> metres;
    metres.fill("m");
    return metres;
  }();
  static constexpr std::array<int, D> groups{};

  Particle without_mass() const { return {}; }

  template <class T> Vec<T, D> point(const Vec<T, D>& q, const Vec<double, D>& r) const {
    return q + r.template cast<T>();
  }
  template <class T> Vec<T, D> direction(const Vec<T, D>&, const Vec<double, D>& d) const {
    return d.template cast<T>();
  }
  Vec<double, D> local_point(const Vec<double, D>& q, const Vec<double, D>& p) const { return p - q; }
  Vec<double, D> local_direction(const Vec<double, D>&, const Vec<double, D>& d) const { return d; }
  template <class T> Mat<T, D> mass_matrix(const Vec<T, D>&, const T&) const { return T(mass) * Mat<T, D>::Identity(); }
  template <class T> Vec<T, D> force(const Vec<T, D>&, const Vec<T, D>&, const T&) const { return Vec<T, D>::Zero(); }
  template <class T> Vec<T, D> first_moment(const Vec<T, D>& q) const { return T(mass) * q; }

  std::string describe(const Vec<double, D>&, const Vec<double, D>& dq) const {
    if constexpr (D == 1) return dq[0] != 0 ? "moves along x" : "";
    return dq.norm() > 0 ? "moves along " + direction_in_words(dq) : "";
  }

  // y = sqrt(m) p'', or p'' where there is no mass.
  class Unknowns {
   public:
    static constexpr int count = D;
    struct Motion {
      Vec<double, D> p, v;
    };
    explicit Unknowns(const Particle& b)
        : root_(std::sqrt(b.mass)), scale_(b.mass > 0 ? 1 / root_ : 1), massless_(b.mass > 0 ? 0 : D) {}

    int massless() const { return massless_; }
    static double unit(int, int) { return 1; }
    static Motion motion(const Vec<double, D>& q, const Vec<double, D>& v) { return {q, v}; }
    Marker<D, D> point(const Motion& m, const Vec<double, D>& r) const {
      return {m.p + r, scale_ * Mat<double, D>::Identity(), m.v, Vec<double, D>::Zero()};
    }
    Marker<D, D> direction(const Motion&, const Vec<double, D>& d) const {
      return {d, Mat<double, D>::Zero(), Vec<double, D>::Zero(), Vec<double, D>::Zero()};
    }
    Vec<double, D> force(const Motion&, const Vec3<double>& gravity) const { return root_ * gravity.head<D>(); }
    Vec<double, D> spread(const Motion&, const Vec<double, D>& y) const { return scale_ * y; }
    Vec<double, D> gather(const Motion&, const Vec<double, D>& row) const { return row / scale_; }
    static Vec<double, D> drift(const Motion&) { return Vec<double, D>::Zero(); }
    Vec<double, D> velocities(const Motion& m) const { return m.v / scale_; }
    Momentum momentum(const Motion& m) const {
      Vec3<double> p = Vec3<double>::Zero(), v = p;
      p.head<D>() = m.p;
      v.head<D>() = root_ * root_ * m.v;
      return {v, p.cross(v)};
    }

   private:
    double root_, scale_;
    int massless_;
  };
};

}  // namespace mortise
