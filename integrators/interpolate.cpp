#include <mortise/integrators/interpolate.h>

namespace mortise {

void interpolate(const State& before, const VectorXd& a_before, const State& now, const VectorXd& a_now, double t,
                 State& s) {
  const double h = now.t - before.t, x = (t - before.t) / h;
  s = now;
  s.t = t;
  for (Index i = 0; i < s.q.size(); ++i) {
    const double q0 = before.q[i], q1 = now.q[i], v0 = h * before.v[i], v1 = h * now.v[i];
    const double a0 = h * h * a_before[i], a1 = h * h * a_now[i];
    // Deviations from Taylor's polynomial at the start, at the end.
    const double A = q1 - q0 - v0 - a0 / 2, B = v1 - v0 - a0, C = a1 - a0;
    const double c3 = 10 * A - 4 * B + C / 2, c4 = -15 * A + 7 * B - C, c5 = 6 * A - 3 * B + C / 2;
    s.q[i] = q0 + x * (v0 + x * (a0 / 2 + x * (c3 + x * (c4 + x * c5))));
    s.v[i] = (v0 + x * (a0 + x * (3 * c3 + x * (4 * c4 + x * 5 * c5)))) / h;
  }
}

void interpolate(const State& before, const State& now, double t, State& s) {
  const double h = now.t - before.t, x = (t - before.t) / h, y = 1 - x;
  s = now;
  s.t = t;
  s.q = y * y * (1 + 2 * x) * before.q + x * x * (1 + 2 * y) * now.q + h * x * y * (y * before.v - x * now.v);
  s.v = 6 * x * y / h * (now.q - before.q) + y * (1 - 3 * x) * before.v + x * (3 * x - 2) * now.v;
}

}  // namespace mortise
