#pragma once
// The immovable world: no coordinates.  Its points and directions are those of the world, in any dimension.

#include <array>
#include <string_view>

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
  template <class T> Mat<T, 0, 0> mass_matrix(const Vec<T, 0>&, const T&) const { return {}; }
  template <class T> Vec<T, 0> force(const Vec<T, 0>&, const Vec<T, 0>&, const T&) const { return {}; }
};

}  // namespace mortise
