#pragma once
// Point on a curve r(s) given by its parameter, in D dimensions: a point of body B stays on a curve of body A.
//
//   phi = p_A + R_A r(s) - p_B        D rows; reaction: the force on A at the point, in world axes
//
// The parameter s is a coordinate of a third body, which needs no mass:
//
//   const auto s = a.add("s", Subsystem{.coordinates = {"s"}, .M = MatrixXd::Zero(1, 1).eval()});
//   a.connect("wire", PointOnCurve<2>{.curve = {[](const auto& s) { return cos(s); }, ...}}, ground, bead, s);
//
// So the curve may cross itself, and the motion tells s.  Each component of the curve is a Function: a functor, a
// Spline. As s has no mass, the force is perpendicular to the curve.  Singular where r'(s) = 0.
// Catalogue: PointOnCurve<3>

#include <array>
#include <string>
#include <vector>

#include <mortise/core/fields.h>
#include <mortise/core/function.h>
#include <mortise/core/parts.h>

namespace mortise {

template <int D> struct PointOnCurve {
  std::array<Function, D> curve{};
  Vec<double, D> on_a = Vec<double, D>::Zero();
  Vec<double, D> on_b = Vec<double, D>::Zero();
  std::string parameter = "s";

  static constexpr Summary summary{"point_on_curve", "a point of B stays on a curve r(s) of A; s is a coordinate",
                                   "p_A + R_A r(s) - p_B = 0"};
  static constexpr std::tuple fields{
      Field{"curve", &PointOnCurve::curve, "m", "the components of r(s) in the frame of A"},
      Field{"on_a", &PointOnCurve::on_a, "m", "the origin of the curve in the frame of A"},
      Field{"on_b", &PointOnCurve::on_b, "m", "the point in the frame of B"},
      Field{"parameter", &PointOnCurve::parameter, "", "name of the coordinate s in the third body"}};
  static constexpr std::array<RowInfo, D> rows = [] {
    constexpr std::array<RowInfo, 3> xyz{
        {{"x", "translation along x", "fx"}, {"y", "translation along y", "fy"}, {"z", "translation along z", "fz"}}};
    std::array<RowInfo, D> r;
    for (std::size_t i = 0; i < D; ++i) r[i] = xyz[i];
    return r;
  }();

  std::vector<double> breakpoints(double, double) const { return {}; }  // those of the curve are places, not times

  template <class T> Vec<T, D> phi(const auto& a, const auto& b, const auto& third, const T&) const {
    const T s = third.coordinate(parameter);
    Vec<T, D> d = a.point(on_a) - b.point(on_b);
    for (int i = 0; i < D; ++i)
      d += curve[static_cast<std::size_t>(i)](s) * a.direction(Vec<double, D>(Vec<double, D>::Unit(i)));
    return d;
  }
};

}  // namespace mortise
