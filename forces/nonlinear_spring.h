#pragma once
// NonlinearSpring: a spring between two points with the energy and the tension of the user.
//
//   e = l - length,   tension = d energy/de + tension(e, e', t)
//
//   NonlinearSpring{.ends = Ends<3>{.on_a = {1, 0, 0}}, .length = 1,
//                   .energy = [](const auto& e) { return 50.0 * e * e + 2e4 * e * e * e * e; },
//                   .tension = [](const auto& e, const auto& rate, const auto& t) { return 3.0 * rate * abs(rate); }}
//
// energy(e) is stored and counted as potential; tension(e, e', t) is what else pulls: its power appears as input.
// Either may be left out.  Both are templates on the scalar.  Where the points coincide there is no line of action and
// no force (forces/ends.h).
// Catalogue: NonlinearSpring<3>

#include <mortise/core/functor.h>
#include <mortise/forces/ends.h>

namespace mortise {

template <int D, class E = EnergyLaw, class F = TensionLaw> struct NonlinearSpring {
  Ends<D> ends;
  double length = 0;
  E energy = {};
  F tension = {};

  static constexpr Summary summary{"nonlinear_spring", "a spring with a given energy and tension between two points",
                                   "tension = d energy/de + tension(e, e', t), e = l - length"};
  static constexpr std::tuple fields{Field{"ends", &NonlinearSpring::ends, "m", "on_a and on_b"},
                                     Field{"length", &NonlinearSpring::length, "m", "unstretched", Range::not_negative},
                                     Field{"energy", &NonlinearSpring::energy, "J", "of the elongation e, stored"},
                                     Field{"tension", &NonlinearSpring::tension, "N", "of e, e' and t, not stored"}};

  template <class T> T potential(const auto& a, const auto& b, const T& t) const {
    if constexpr (std::is_same_v<E, EnergyLaw>)
      if (!energy) return T(0.0);
    return energy(T(ends.length(a, b, t) - length));
  }
  template <class T> void act(auto& a, auto& b, const T& t) const {
    if constexpr (std::is_same_v<F, TensionLaw>)
      if (!tension) return;
    ends.pull(a, b, t, T(tension(T(ends.length(a, b, t) - length), ends.rate(a, b, t), t)));
  }
  void validate(const Label& label) const { require_fields(label, ends); }
};
template <int D, class... X> NonlinearSpring(Ends<D>, X...) -> NonlinearSpring<D>;  // compiled into the library

}  // namespace mortise
