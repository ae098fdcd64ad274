// A wheel rolls down an incline [UP06, Example 1].
//
//        ( o )  m, R, Ic          theta: turn of the wheel
//       \                         y: how far its centre came down
//         \   slope alpha
//
// With theta and y as if they were independent, M = diag(m R^2 + Ic, 0) is singular.  The rolling constraint
// y = R theta sin(alpha) supplies the missing rank.
// Expected: theta'' = m g R sin(alpha) / (m R^2 + Ic),  y'' = R sin(alpha) theta''        [UP06, Eq. 5.17]

#include <cmath>

#include <fmt/format.h>

#include <mortise/bodies/subsystem.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/coupling.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;
  const double m = 3, R = 0.5, Ic = m * R * R / 2, g = 9.81, alpha = 0.4;

  const MatrixXd M = Vec2<double>(m * R * R + Ic, 0).asDiagonal();
  const auto weight = [=](const auto&, const auto&, const auto&) { return vec(0.0, m * g); };

  Assembly incline("incline");
  const auto wheel = incline.add("wheel", Subsystem{.coordinates = {"theta", "y"}, .M = M, .Q = weight});
  const System alone(incline);
  fmt::print("Without the rolling constraint:\n{}\n", check_rank(alone, alone.evaluate(alone.state())).text());

  incline.connect("rolling", Coupling{.terms = {{0, "y", 1}, {0, "theta", -R * std::sin(alpha)}}}, wheel);
  const System system(incline);
  const Evaluation e = system.evaluate(system.state());
  fmt::print("With it:\n{}", check_rank(system, e).text());

  const Solution s = solve(system, e);
  const double expected = m * g * R * std::sin(alpha) / (m * R * R + Ic);
  fmt::print("{}", s.text());
  fmt::print("theta'' = {:.9f}   closed form {:.9f}\n", s.acceleration("wheel.theta"), expected);
  fmt::print("y''     = {:.9f}   closed form {:.9f}\n", s.acceleration("wheel.y"), R * std::sin(alpha) * expected);

  const State state = simulate(system, system.state(), {.duration = 1}).last;
  fmt::print("after {:.0f} s: theta = {:.6f} rad, y = {:.6f} m\n", state.t, state.get("wheel.theta"),
             state.get("wheel.y"));
}
