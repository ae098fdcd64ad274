#pragma once
// The classic fourth-order Runge-Kutta step of fixed size for q' = v, v' = a(q, v, t).  Constraints are met at the
// acceleration level only, so positions drift by O(h^4).

#include <cmath>

#include <mortise/core/errors.h>
#include <mortise/core/state.h>
#include <mortise/solve/solve.h>
#include <mortise/solve/solver.h>

namespace mortise {

// acceleration(state) -> VectorXd
template <class F> State rk4_step(const F& acceleration, const State& s, double h) {
  if (!std::isfinite(h) || h == 0)
    Label{"step", "h"}.fail<InvalidModel>(fmt::format("is {} s", h), "give a finite step != 0");
  const auto at = [&](const VectorXd& q, const VectorXd& v, double t) { return State{q, v, t, s.names, s.off}; };
  const VectorXd a1 = acceleration(s);
  const VectorXd v2 = s.v + h / 2 * a1, a2 = acceleration(at(s.q + h / 2 * s.v, v2, s.t + h / 2));
  const VectorXd v3 = s.v + h / 2 * a2, a3 = acceleration(at(s.q + h / 2 * v2, v3, s.t + h / 2));
  const VectorXd v4 = s.v + h * a3, a4 = acceleration(at(s.q + h * v3, v4, s.t + h));
  return at(s.q + h / 6 * (s.v + 2 * v2 + 2 * v3 + v4), s.v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4), s.t + h);
}

inline State rk4_step(const System& system, const State& s, double h) {
  return rk4_step([&](const State& x) { return solve(system, x).a; }, s, h);
}
// The same, fast: the solver keeps its plan and its memory from step to step.
inline State rk4_step(Solver& solver, const State& s, double h) {
  return rk4_step([&](const State& x) -> VectorXd { return solver.solve(x); }, s, h);
}

}  // namespace mortise
