#pragma once
// Between the ends of a step, from what is known there.

#include <mortise/core/state.h>

#pragma GCC visibility push(hidden)
namespace mortise {

// Places by the polynomial through places, velocities and accelerations at both ends, velocities as its slope: order 5
// and 4.
void interpolate(const State& before, const VectorXd& a0, const State& now, const VectorXd& a1, double t, State& s);

// Places by the polynomial through places and velocities, velocities as its slope: order 3 and 2.
void interpolate(const State& before, const State& now, double t, State& s);

}  // namespace mortise
#pragma GCC visibility pop
