#pragma once
// Spring: a linear spring and damper between a point of body A and a point of body B, in D dimensions.
//
//   tension = k (l - length) + c l',   V = k/2 (l - length)^2,   input = -c l'^2
//
// Where the points coincide (l = 0) the line of action is lost.  With length 0 the spring is smooth there, V = k/2 l^2;
// with length > 0 it gives no force at l = 0, the mean of all directions.  The damper gives none there.
// A damper alone is a spring of stiffness 0.
// Catalogue: Spring<3>

#include <mortise/forces/ends.h>

namespace mortise {

template <int D> struct Spring {
  Vec<double, D> on_a = Vec<double, D>::Zero();
  Vec<double, D> on_b = Vec<double, D>::Zero();
  double stiffness = 0;
  double damping = 0;
  double length = 0;

  static constexpr Summary summary{"spring", "a spring and damper between two points",
                                   "tension = stiffness (l - length) + damping l'"};
  static constexpr std::tuple fields{
      Field{"on_a", &Spring::on_a, "m", "end in the frame of A"},
      Field{"on_b", &Spring::on_b, "m", "end in the frame of B"},
      Field{"stiffness", &Spring::stiffness, "N/m", "0 is allowed", Range::not_negative},
      Field{"damping", &Spring::damping, "N s/m", "0 is allowed", Range::not_negative},
      Field{"length", &Spring::length, "m", "unstretched; 0 is allowed", Range::not_negative}};

  static constexpr std::array<QuantityInfo, 2> quantities{{{"length", "m"}, {"tension", "N"}}};

  template <class T> Vec2<T> measure_motion(const auto& a, const auto& b, const T& t) const {
    const Ends<D> ends{on_a, on_b};
    const T l = ends.length(a, b, t);
    return {l, stiffness * (l - length) + damping * ends.rate(a, b, t)};
  }
  template <class T> T potential(const auto& a, const auto& b, const T& t) const {
    const Ends<D> ends{on_a, on_b};
    if (length == 0) return 0.5 * stiffness * T(ends.between(a, b, t).squaredNorm());
    const T e = ends.length(a, b, t) - length;
    return 0.5 * stiffness * e * e;
  }
  template <class T> void act(auto& a, auto& b, const T& t) const {
    if (damping == 0) return;
    const Ends<D> ends{on_a, on_b};
    ends.pull(a, b, t, T(damping * ends.rate(a, b, t)));
  }
};

}  // namespace mortise
