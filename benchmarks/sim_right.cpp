// What makes a run right, and the comparison of those that are.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim_runs.h"

namespace bench {

double Right::position_error(const RunResult& r) const {
  if (r.end.size() != end.size()) return 1e300;
  double worst = 0;
  for (std::size_t i = 0; i < end.size(); ++i) worst = std::max(worst, std::abs(r.end[i] - end[i]));
  return worst;
}
bool Right::operator()(const RunResult& r) const {
  return r.energy_error <= energy && r.branch_error <= branch && position_error(r) <= position;
}

RunResult fastest(const Right& right, const std::vector<std::function<RunResult()>>& runs, int times) {
  RunResult best;
  for (const auto& run : runs) {
    RunResult r = run();
    if (!right(r) || r.seconds > 3 * best.seconds) continue;
    for (int k = 1; k < times; ++k) r.seconds = std::min(r.seconds, run().seconds);
    if (r.seconds < best.seconds) best = r;
  }
  return best;
}

void compare(Report& report, const std::string& name, const RunResult& ours, const RunResult& theirs,
             const std::string& peer, const Right& right) {
  const auto text = [&](const RunResult& r) {
    return fmt::format("{}: energy {:.0e} J, place {:.0e} m", r.setting, r.energy_error, right.position_error(r));
  };
  if (!right(ours)) {
    report.figure(name + "_right", 0, "ours is at no setting right");
    return;
  }
  if (!right(theirs)) {
    report.figure(name + "_seconds", ours.seconds, fmt::format("{} is at no setting right; ours {}", peer, text(ours)));
    return;
  }
  report.ratio(name, {1e6 * ours.seconds, 1e6 * theirs.seconds},
               fmt::format("{}, {}; ours, {}", peer, text(theirs), text(ours)));
}

// I phi'' = W g sin(phi), phi from upright.
std::vector<double> four_bar_end(int windows) {
  const double N = windows, c = ((N + 1) / 2 + N) * gravity / ((N + 1) / 3 + N);
  constexpr int steps = 1000000;
  constexpr double h = 10.0 / steps;
  double phi = 0, w = 1;
  for (int i = 0; i < steps; ++i) {
    const double a1 = c * std::sin(phi), w2 = w + h / 2 * a1, a2 = c * std::sin(phi + h / 2 * w);
    const double w3 = w + h / 2 * a2, a3 = c * std::sin(phi + h / 2 * w2);
    const double w4 = w + h * a3, a4 = c * std::sin(phi + h * w3);
    phi += h / 6 * (w + 2 * w2 + 2 * w3 + w4);
    w += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
  }
  return {std::sin(phi), std::cos(phi)};
}

}  // namespace bench
