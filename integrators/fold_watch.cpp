#include <mortise/integrators/fold_watch.h>

#include <algorithm>
#include <cmath>

namespace mortise {

FoldWatch::FoldWatch(const System& system) : system_(system) {
  for (const auto& c : system.constraints())
    if (const auto* const rows = dynamic_cast<const HiddenConstraint*>(c.model.get()))
      watched_.push_back({c.name, rows, system.firsts(c.bodies)});
}

void FoldWatch::begin(const State& s) {
  for (Watched& w : watched_) {
    const auto fold = w.rows->fold(s, w.firsts);
    w.last = fold ? fold->determinant : 0;
    w.largest = std::abs(w.last);
  }
}

// `from` is the last state before the step.
void FoldWatch::see(Watched& w, const State& s, const State& from) {
  const auto fold = w.rows->fold(s, w.firsts);
  if (fold && fold->determinant * w.last < 0) fail(w, fold->coordinate, from);
  w.last = fold ? fold->determinant : 0;
  w.largest = std::max(w.largest, std::abs(w.last));
}

void FoldWatch::look(const Stepper& stepper, const State& from, const State& now) {
  constexpr int points = 8;
  for (Watched& w : watched_) {
    for (int k = 1; k < points; ++k) {
      stepper.at(from.t + (now.t - from.t) * k / points, between_);
      see(w, between_, from);
    }
    see(w, now, from);
  }
}

void FoldWatch::explain(Flow& flow, const State& s, double h) const {
  constexpr double near = 0.01;  // of the largest so far
  if (watched_.empty()) return;
  State ahead = s;
  if (h > 0) {
    ahead.t += h;
    ahead.q += h * (s.v + h / 2 * flow.solver().accelerations(s));
  }
  for (const Watched& w : watched_) {
    const auto here = w.rows->fold(s, w.firsts), there = w.rows->fold(ahead, w.firsts);
    if (here && std::abs(here->determinant) < near * w.largest) fail(w, here->coordinate, s);
    if (here && there && here->determinant * there->determinant < 0) fail(w, there->coordinate, s);
  }
}

void FoldWatch::fail(const Watched& w, const std::string& coordinate, const State& s) const {
  Label{"hidden constraint", w.name}.fail<NotConverged>(
      fmt::format("it folds near t = {:.6g} s: {} has no place to go on to continuously, and would jump", s.t,
                  coordinate),
      "give what moves there a mass or a damper, or end the run before");
}

}  // namespace mortise
