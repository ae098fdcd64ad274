#pragma once
// The immovable world: no coordinates.  Its points and directions are those of the world, in any dimension.

#include <array>
#include <string_view>

#include <mortise/core/marker.h>
#include <mortise/core/types.h>

namespace mortise {

struct Ground {
  static constexpr std::array<std::string_view, 0> coordinates{};

  template <class T, int D> Vec<T, D> point(const Vec<T, 0>&, const Vec<double, D>& r) const {
    return r.template cast<T>();
  }
  template <class T, int D> Vec<T, D> direction(const Vec<T, 0>&, const Vec<double, D>& d) const {
    return d.template cast<T>();
  }
  template <int D> Vec<double, D> local_point(const Vec<double, 0>&, const Vec<double, D>& p) const { return p; }
  template <int D> Vec<double, D> local_direction(const Vec<double, 0>&, const Vec<double, D>& d) const { return d; }
  template <class T> Mat<T, 0, 0> mass_matrix(const Vec<T, 0>&, const T&) const { return {}; }
  template <class T> Vec<T, 0> force(const Vec<T, 0>&, const Vec<T, 0>&, const T&) const { return {}; }

  struct Unknowns {
    static constexpr int count = 0;
    struct Motion {};
    explicit Unknowns(const Ground&) {}

    static int massless() { return 0; }
    static double unit(int, int) { return 0; }
    static Motion motion(const Vec<double, 0>&, const Vec<double, 0>&) { return {}; }
    template <int D> static Marker<D, 0> point(const Motion&, const Vec<double, D>& r) {
      return {r, {}, Vec<double, D>::Zero(), Vec<double, D>::Zero()};
    }
    template <int D> static Marker<D, 0> direction(const Motion& m, const Vec<double, D>& d) { return point(m, d); }
    static Vec<double, 0> force(const Motion&, const Vec3<double>&) { return {}; }
    static Vec<double, 0> spread(const Motion&, const Vec<double, 0>&) { return {}; }
    static Vec<double, 0> gather(const Motion&, const Vec<double, 0>&) { return {}; }
    static Vec<double, 0> drift(const Motion&) { return {}; }
    static Momentum momentum(const Motion&) { return {}; }
  };
};

}  // namespace mortise
