#pragma once
// Plate cam, in the plane: a point of body B, the centre of a roller, stays on a lobed curve that body A carries.
//
//   phi = |d| - radius - lift cos(lobes alpha),   d = p_B - p_A        1 row; reaction: the radial force on B
//
// alpha is the angle of d, seen from A and counted from axis_a, where a lobe is.  Regular where d is not 0.

#include <array>
#include <cmath>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct Cam {
  Vec2<double> on_a{0, 0}, on_b{0, 0};
  PlanarAxis axis_a{1, 0};
  double radius = 1, lift = 0;
  int lobes = 1;

  static constexpr Summary summary{"cam", "a roller of B stays on a cam of A",
                                   "|d| - radius - lift cos(lobes alpha) = 0"};
  static constexpr std::tuple fields{Field{"on_a", &Cam::on_a, "m", "the centre of the cam in the frame of A"},
                                     Field{"on_b", &Cam::on_b, "m", "the centre of the roller in the frame of B"},
                                     Field{"axis_a", &Cam::axis_a, "", "towards a lobe, in the frame of A"},
                                     Field{"radius", &Cam::radius, "m", "mean, of the curve", Range::positive},
                                     Field{"lift", &Cam::lift, "m", "above and below the mean"},
                                     Field{"lobes", &Cam::lobes, "", "around the cam", Range::positive}};
  static constexpr std::array<RowInfo, 1> rows{{{"contact", "translation across the curve", "force"}}};

  template <class T> T phi(const auto& a, const auto& b, const T&) const {
    using std::atan2, std::cos, std::sqrt;
    const Vec2<T> d = b.point(on_b) - a.point(on_a);
    const T x = d.dot(a.direction(axis_a.along)), y = d.dot(a.direction(axis_a.across));
    return sqrt(x * x + y * y) - radius - lift * cos(lobes * atan2(y, x));
  }
  void validate(const Label& label) const {
    label.require(std::abs(lift) < radius, fmt::format("lift = {} m reaches the centre of the cam", lift),
                  fmt::format("give less than its radius, {} m", radius));
  }
};

}  // namespace mortise
