#include <mortise/integrators/rank_watch.h>

#include <algorithm>
#include <cmath>

namespace mortise {

std::string some_of(const std::vector<std::string>& names, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) out += (i ? ", " : "") + names[i];
  return names.size() > most ? out + fmt::format(" and {} more", names.size() - most) : out;
}

std::optional<Trajectory::Note> RankWatch::look(const Stepper& stepper, Flow& flow, const State& from,
                                                const State& now) {
  constexpr double near = 0.5, singular = 1e-3;  // of the largest independence so far
  const double before = independence_, after = independence_ = flow.solver().independence();
  most_independent_ = std::max(most_independent_, after);
  if (std::min(before, after) > near * most_independent_) return std::nullopt;
  const auto independence = [&](double t) {
    stepper.at(t, between_);
    return flow.solver().independence(between_);
  };
  const double golden = 0.5 * (std::sqrt(5.0) - 1), h = now.t - from.t;
  constexpr double edge = 1e-4;  // of the step; falling at its start and rising at its end, or there is none within
  if (independence(from.t + edge * h) >= before || independence(now.t - edge * h) >= after) return std::nullopt;
  double a = from.t, b = now.t, x = b - golden * (b - a), y = a + golden * (b - a);
  double fx = independence(x), fy = independence(y);
  while (b - a > 1e-6 * h) {
    if (fx < fy) {
      b = y, y = x, fy = fx;
      fx = independence(x = b - golden * (b - a));
    } else {
      a = x, x = y, fx = fy;
      fy = independence(y = a + golden * (b - a));
    }
  }
  const double t = 0.5 * (a + b), least = independence(t);
  if (least > singular * most_independent_) return std::nullopt;
  const std::string names = some_of(flow.solver().dependent_rows());
  return Trajectory::Note{t, "singular pose",
                          names.empty() ? "rows nearly depend on each other" : names + " depend on each other there"};
}

}  // namespace mortise
