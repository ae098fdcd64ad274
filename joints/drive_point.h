#pragma once
// Driver of a point, in D dimensions: a point of B follows a path, a function of time in the frame of A.
//
//   phi = p_B - (p_A + R_A f(t))        D rows; reaction: the force on B at the point, in world axes
//
//   DrivePoint<2>{.path = {Spline({0, 1, 2}, {0, 1, 0}), 0.5}}
//
// Each component of the path is a Function: a functor, a Spline, a Table or a number.
// Catalogue: DrivePoint<3>

#include <array>

#include <mortise/core/fields.h>
#include <mortise/core/function.h>
#include <mortise/core/parts.h>

namespace mortise {

template <int D> struct DrivePoint {
  Vec<double, D> on_a = Vec<double, D>::Zero();
  Vec<double, D> on_b = Vec<double, D>::Zero();
  std::array<Function, D> path{};

  static constexpr Summary summary{"drive_point", "a point of B follows a path in the frame of A",
                                   "p_B - (p_A + R_A f(t)) = 0"};
  static constexpr std::tuple fields{
      Field{"on_a", &DrivePoint::on_a, "m", "the origin of the path in the frame of A"},
      Field{"on_b", &DrivePoint::on_b, "m", "the point in the frame of B"},
      Field{"path", &DrivePoint::path, "m", "the components of the path in the frame of A"}};
  static constexpr std::array<RowInfo, D> rows = [] {
    constexpr std::array<RowInfo, 3> xyz{
        {{"x", "translation along x", "fx"}, {"y", "translation along y", "fy"}, {"z", "translation along z", "fz"}}};
    std::array<RowInfo, D> r;
    for (std::size_t i = 0; i < D; ++i) r[i] = xyz[i];
    return r;
  }();

  template <class T> Vec<T, D> phi(const auto& a, const auto& b, const T& t) const {
    Vec<T, D> d = b.point(on_b) - a.point(on_a);
    for (int i = 0; i < D; ++i)
      d -= path[static_cast<std::size_t>(i)](t) * a.direction(Vec<double, D>(Vec<double, D>::Unit(i)));
    return d;
  }
};

}  // namespace mortise
