#include <mortise/integrators/events.h>

#include <algorithm>
#include <cmath>

namespace mortise {

EventWatch::EventWatch(const std::vector<Event>& events) : events_(events) {
  for (const Event& e : events)
    Label{"event", e.name}.require(static_cast<bool>(e.value), "it has no function", "give value(state)");
}

double EventWatch::value(const Event& e, const State& s) const {
  const double x = e.value(s);
  if (!std::isfinite(x))
    Label{"event", e.name}.fail<NonFinite>(fmt::format("its value is {} at t = {}", x, s.t), "check its formula");
  return x;
}

void EventWatch::begin(const State& s) {
  values_.clear();
  for (const Event& e : events_) values_.push_back(value(e, s));
}

void EventWatch::happened(std::size_t event, const State& s) {
  begin(s);
  values_[event] = 0;
}

std::optional<std::size_t> EventWatch::look(const Stepper& stepper, Flow& flow, const State& from, State& now,
                                            std::vector<Trajectory::Note>& notes) {
  std::optional<std::size_t> first;
  double t_first = now.t;
  std::vector<Trajectory::Note> found;
  const std::vector<double> before = values_;
  begin(now);
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const Event& e = events_[i];
    const bool up = before[i] < 0 && values_[i] >= 0, down = before[i] > 0 && values_[i] <= 0;
    if (!((up && e.direction >= 0) || (down && e.direction <= 0))) continue;
    const double t = locate(stepper, e, before[i], from, now);
    if (e.stop || e.change) {
      if (t <= t_first) t_first = t, first = i;
    } else {
      found.push_back({t, "event", e.name});
    }
  }
  if (first) {
    found.push_back({t_first, "event", events_[*first].name});
    if (t_first < now.t) {
      stepper.at(t_first, now);
      flow.keep(now);
      begin(now);
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.t < b.t; });
  for (const auto& n : found)
    if (n.t <= t_first) notes.push_back(n);
  return first;
}

// By bisection and the rule of false position in turn, to the last digits of t.
double EventWatch::locate(const Stepper& stepper, const Event& e, double before, const State& from,
                          const State& now) const {
  double a = from.t, b = now.t, fa = before, fb = e.value(now);
  State s;
  for (int k = 0; k < 200 && b - a > 4e-16 * std::max(std::abs(a), std::abs(b)) && fb != 0; ++k) {
    double t = k % 2 == 0 ? a + (b - a) * fa / (fa - fb) : 0.5 * (a + b);
    if (!(t > a && t < b)) t = 0.5 * (a + b);
    if (t <= a || t >= b) break;
    stepper.at(t, s);
    const double f = e.value(s);
    if ((f < 0) == (fa < 0) && f != 0)
      a = t, fa = f;
    else
      b = t, fb = f;
  }
  return b;
}

}  // namespace mortise
