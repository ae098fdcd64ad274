#pragma once
// Gas spring: a cylinder of gas between a point of body A and a point of body B, in D dimensions, pushes them apart.
//
//   push = force (length / l)^exponent - damping l',   V = force length / (exponent - 1) (length / l)^(exponent - 1)
//
// l > 0 is the distance of the points.  Exponent 1.4: air, too fast to exchange heat.

#include <cmath>

#include <mortise/forces/ends.h>

namespace mortise {

template <int D> struct GasSpring {
  Ends<D> ends = {};
  double force = 0, length = 1, exponent = 1.4, damping = 0;

  static constexpr Summary summary{"gas_spring", "gas between two points",
                                   "push = force (length / l)^exponent - damping l'"};
  static constexpr std::tuple fields{
      Field{"ends", &GasSpring::ends, "m", "on_a and on_b"},
      Field{"force", &GasSpring::force, "N", "at l = length", Range::not_negative},
      Field{"length", &GasSpring::length, "m", "where the force is given", Range::positive},
      Field{"exponent", &GasSpring::exponent, "", "of the gas, > 1"},
      Field{"damping", &GasSpring::damping, "N s/m", "0 is allowed", Range::not_negative}};

  template <class T> T potential(const auto& a, const auto& b, const T& t) const {
    using std::pow;
    return force * length / (exponent - 1) * pow(length / ends.length(a, b, t), exponent - 1);
  }
  template <class T> void act(auto& a, auto& b, const T& t) const {
    ends.pull(a, b, t, T(damping * ends.rate(a, b, t)));
  }
  void validate(const Label& label) const {
    require_fields(label, ends);
    label.require(exponent > 1, fmt::format("exponent = {} is not above 1", exponent), "give a number > 1");
  }
};

}  // namespace mortise
