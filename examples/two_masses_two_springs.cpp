// Two masses and two springs, cut into two sub-systems [UP06, Example 3].
//
//   |/\/\/ k1 [m1]/\/\/ k2 [m2]       sub-system 1: x1, the extension of spring 1
//   |--- l10 + x1 --|                 sub-system 2: q1, where spring 2 begins, and q2, the extension of spring 2
//
// M = diag(m1, [m2 m2; m2 m2]) is always singular; the connection q1 = x1 + l10 + d supplies the rank if m1, m2 > 0.
// With m1 = 0 or m2 = 0 one more relation is needed: k1 x1 = k2 q2, or k2 q2 = 0.
// Expected: [UP06, Eq. 5.39, 5.47 and 5.56].

#include <optional>
#include <vector>

#include <fmt/format.h>

#include <mortise/bodies/subsystem.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/coupling.h>
#include <mortise/solve/solve.h>

using namespace mortise;

constexpr double k1 = 200, k2 = 300, l10 = 0.4, d = 0.1;

System model(double m1, double m2, const std::optional<Coupling>& missing = {}) {
  Assembly springs("springs");
  const auto one =
      springs.add("one", Subsystem{.coordinates = {"x1"},
                                   .M = MatrixXd::Constant(1, 1, m1).eval(),
                                   .Q = [](const auto& q, const auto&, const auto&) { return vec(-k1 * q[0]); }});
  const auto two =
      springs.add("two", Subsystem{.coordinates = {"q1", "q2"},
                                   .M = MatrixXd::Constant(2, 2, m2).eval(),
                                   .Q = [](const auto& q, const auto&, const auto&) { return vec(0.0, -k2 * q[1]); }});
  springs.connect("cut", Coupling{.terms = {{0, "x1", 1}, {1, "q1", -1}}, .constant = l10 + d}, one, two);
  if (missing) springs.connect("missing", *missing, one, two);
  return System(springs);
}

void show(const char* title, const System& system, double x1, double q2, const std::vector<double>& expected) {
  State s = system.state();
  s.q << x1, x1 + l10 + d, q2;
  const Evaluation e = system.evaluate(s);
  const RankReport report = check_rank(system, e);
  fmt::print("{}\n{}", title, report.text());
  if (!report.ok()) return;
  const VectorXd a = (1e9 * solve(system, e).a).array().round() / 1e9 + 0.0;  // prints no -0
  for (std::size_t i = 0; i < 3; ++i)
    fmt::print("  {:<10} {:12.6f}   closed form {:12.6f}\n", system.coordinate(Index(i)) + "''", a[Index(i)],
               expected[i]);
  if (report.dof != 1) return;
  const double w = std::sqrt(-expected[0] / x1);
  fmt::print("  {:<10} {:12.6f}   closed form {:12.6f}\n", "x1 at 1 s",
             simulate(system, s, {.duration = 1, .steps = {.tolerance = 1e-10}}).last.get("one.x1"), x1 * std::cos(w));
}

int main() {
  const double x1 = 0.03, m1 = 2, m2 = 5;
  const double q2 = 0.01, a1 = (-k1 * x1 + k2 * q2) / m1;
  show("\nm1 = 2, m2 = 5", model(m1, m2), x1, q2, {a1, a1, -a1 - k2 * q2 / m2});

  const double balanced = k1 * x1 / k2, c = -k1 * k2 * (x1 + balanced) / (m2 * (k1 + k2) * (k1 + k2));
  show("\nm1 = 0, m2 = 5", model(0, m2), x1, balanced, {});
  show("\nm1 = 0, m2 = 5, with k1 x1 = k2 q2", model(0, m2, Coupling{.terms = {{0, "x1", k1}, {1, "q2", -k2}}}), x1,
       balanced, {k2 * c, k2 * c, k1 * c});

  show("\nm1 = 2, m2 = 0", model(m1, 0), x1, 0, {});
  show("\nm1 = 2, m2 = 0, with k2 q2 = 0", model(m1, 0, Coupling{.terms = {{1, "q2", k2}}}), x1, 0,
       {-k1 * x1 / m1, -k1 * x1 / m1, 0});
}
