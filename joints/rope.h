#pragma once
// Rope over pulleys, in D dimensions: a rope of given length runs from point to point of any bodies.
//
//   phi = sum_k |p_(k+1) - p_k| - L,   L = length + rate t        1 row; reaction: the tension is -lambda
//
//   Rope<2>{.points = {{0, {1, 0}}, {1, {0, 0}}, {2, {3, 0}}}, .length = 5}      from body 0 over body 1 to body 2
//
// The bodies are those connected, counted from 0; each may appear many times.  Pulleys are small and without friction,
// so that the tension is the same everywhere.  The rope stays taut: lambda > 0 would mean that it pushes.
// Singular where two successive points meet.
// Catalogue: Rope<3>

#include <array>
#include <tuple>
#include <vector>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

template <int D> struct Rope {
  struct Point {
    std::size_t body;   // position among the bodies connected, from 0
    Vec<double, D> at;  // [m] in the frame of that body
  };
  std::vector<Point> points;
  double length = 1;
  double rate = 0;

  static constexpr Summary summary{"rope", "a rope of given length runs over points of any bodies",
                                   "sum |p_(k+1) - p_k| - (length + rate t) = 0"};
  static constexpr std::tuple fields{
      Field{"points", &Rope::points, "m", "body (counted from 0) and place of each point, along the rope"},
      Field{"length", &Rope::length, "m", "at t = 0", Range::positive},
      Field{"rate", &Rope::rate, "m/s", "by which the length grows"}};
  static constexpr std::array<RowInfo, 1> rows{{{"length", "lengthening of the rope", "thrust"}}};

  // The arguments are bodies..., t.
  template <class... X> auto phi(const X&... bodies_and_t) const {
    const auto arguments = std::tie(bodies_and_t...);
    using T = std::remove_cvref_t<std::tuple_element_t<sizeof...(X) - 1, std::tuple<X...>>>;
    const auto place = [&](const Point& p) {
      Vec<T, D> x = Vec<T, D>::Zero();
      [&]<std::size_t... i>(std::index_sequence<i...>) {
        ((i == p.body ? void(x = std::get<i>(arguments).point(p.at)) : void()), ...);
      }
      (std::make_index_sequence<sizeof...(X) - 1>{});
      return x;
    };
    T sum = -(length + rate * std::get<sizeof...(X) - 1>(arguments));
    for (std::size_t k = 1; k < points.size(); ++k) sum += (place(points[k]) - place(points[k - 1])).norm();
    return Vec<T, 1>(sum);
  }
  void validate(const Label& label, const auto&... bodies) const {
    label.require(points.size() >= 2, fmt::format("it has {} points", points.size()), "give at least 2");
    for (std::size_t k = 0; k < points.size(); ++k) {
      label.require(points[k].body < sizeof...(bodies),
                    fmt::format("point {} names body {} of {}", k, points[k].body, sizeof...(bodies)),
                    "bodies are counted from 0");
      label.require(points[k].at.allFinite(), fmt::format("point {} is not finite", k), "give finite numbers");
      label.require(k == 0 || points[k].body != points[k - 1].body || points[k].at != points[k - 1].at,
                    fmt::format("points {} and {} are the same", k - 1, k), "name each point once");
    }
  }
};

}  // namespace mortise
