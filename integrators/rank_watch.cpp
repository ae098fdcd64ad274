#include <mortise/integrators/rank_watch.h>

#include <algorithm>
#include <cmath>

#include <mortise/core/words.h>

namespace mortise {

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
  const double h = now.t - from.t;
  constexpr double edge = 1e-4;  // of the step; falling at its start and rising at its end, or there is none within
  if (independence(from.t + edge * h) >= before || independence(now.t - edge * h) >= after) return std::nullopt;
  // Squares are those of a parabola near a singular pose: to its vertex, again and again.  Where that does not serve,
  // into the longer part at hand.
  struct Point {
    double t, f;
  };
  const auto look_at = [&](double t) { return Point{t, std::pow(independence(t), 2)}; };
  Point a{from.t, before * before}, b{now.t, after * after}, x = look_at(from.t + h * before / (before + after));
  constexpr double small = 1e-6;  // of the step
  for (int k = 0; k < 60 && b.t - a.t > small * h; ++k) {
    const double p = (x.t - a.t) * (x.f - b.f), q = (x.t - b.t) * (x.f - a.f);
    double t = x.t - 0.5 * ((x.t - a.t) * p - (x.t - b.t) * q) / (p - q);
    const double longer = b.t - x.t > x.t - a.t ? b.t - x.t : a.t - x.t;
    if (!(t > a.t && t < b.t) || k % 4 == 3)
      t = x.t + 0.5 * longer;
    else if (std::abs(t - x.t) < 0.3 * small * h)
      t = x.t + std::copysign(0.3 * small * h, longer);  // so that the ends come near, too
    const Point y = look_at(t);
    if (y.f <= x.f) {
      (y.t < x.t ? b : a) = x;
      x = y;
    } else {
      (y.t < x.t ? a : b) = y;
    }
  }
  const double t = x.t;
  if (independence(t) > singular * most_independent_) return std::nullopt;
  // Light bodies beside heavy ones make rows look dependent to the solver, too.
  constexpr double apart = 0.03;  // far above what is left of any row so near to a singular pose
  if (!rows_) rows_.emplace(flow.system(), between_);
  if (rows_->at(between_, flow.solver().left_out()) > apart) return std::nullopt;
  const std::string names = some_of(flow.solver().dependent_rows());
  return Trajectory::Note{t, "singular pose",
                          names.empty() ? "rows nearly depend on each other" : names + " depend on each other there"};
}

}  // namespace mortise
