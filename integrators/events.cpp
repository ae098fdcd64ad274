#include <mortise/integrators/events.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <mortise/integrators/controlled.h>

namespace mortise {

EventWatch::EventWatch(const std::vector<Event>& events)
    : events_(events), last_(events.size(), -std::numeric_limits<double>::infinity()), short_(events.size(), 0.0) {
  for (const Event& e : events)
    Label{"event", e.name}.require(static_cast<bool>(e.value), "it has no function", "give value(state)");
}

double EventWatch::value(const Event& e, const State& s) const {
  double x = 0;
  try {
    x = e.value(s);
  } catch (...) {
    rethrow_named("event", e.name);
  }
  if (!std::isfinite(x))
    Label{"event", e.name}.fail<NonFinite>(fmt::format("its value is {} at t = {}", x, s.t), "check its formula");
  return x;
}

void EventWatch::begin(const State& s) {
  values_.clear();
  for (const Event& e : events_) values_.push_back(value(e, s));
}

namespace {
constexpr double no_time = 1e-9;  // of t
constexpr double often = 20;
}  // namespace

void EventWatch::happened(std::size_t event, const State& s) {
  begin(s);
  values_[event] = 0;
}

std::string EventWatch::endless(std::size_t event) const {
  if (short_[event] < often) return "";
  const std::string series = short_[event] > often ? "it is due again at once"
                                                   : fmt::format("the last {} times within {:.1e} s", often,
                                                                 often * no_time * std::abs(last_[event]));
  return fmt::format(
      "event '{}' happens ever more often: {}, at t = {:.10g} s; let it end such a series (switch a joint on that "
      "holds), or stop the run by it",
      events_[event].name, series, last_[event]);
}

std::vector<double> EventWatch::memory() const {
  std::vector<double> out = values_;
  out.insert(out.end(), last_.begin(), last_.end());
  out.insert(out.end(), short_.begin(), short_.end());
  return out;
}

void EventWatch::resume(const std::vector<double>& memory) {
  const auto n = static_cast<std::ptrdiff_t>(events_.size());
  values_.assign(memory.begin(), memory.begin() + n);
  last_.assign(memory.begin() + n, memory.begin() + 2 * n);
  short_.assign(memory.begin() + 2 * n, memory.end());
}

std::optional<std::size_t> EventWatch::look(const Stepper& stepper, Flow& flow, const State& from, State& now,
                                            std::vector<Trajectory::Note>& notes) {
  std::optional<std::size_t> first;
  double t_first = now.t;
  std::vector<Trajectory::Note> found;
  const std::vector<double> before = values_;
  begin(now);
  const auto search = [&] {
    found.clear();
    first.reset();
    t_first = now.t;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const Event& e = events_[i];
      for (const Crossing& c : crossings(stepper, i, before[i], from, now)) {
        if (!(c.up ? e.direction >= 0 : e.direction <= 0)) continue;
        if (e.stop || e.change) {
          if (c.t < t_first || (c.t == t_first && !first)) t_first = c.t, first = i;
          break;
        }
        found.push_back({c.t, "event", e.name});
      }
    }
    return first || !found.empty();
  };
  if (search()) {
    sharpen(stepper);
    search();
  }
  if (first) {
    found.push_back({t_first, "event", events_[*first].name});
    if (t_first == from.t)
      short_[*first] = often + 1;
    else
      short_[*first] = t_first - last_[*first] <= no_time * std::abs(t_first) ? short_[*first] + 1 : 0;
    last_[*first] = t_first;
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

std::vector<EventWatch::Crossing> EventWatch::crossings(const Stepper& stepper, std::size_t event, double before,
                                                        const State& from, const State& now) const {
  constexpr int parts = 8;
  const Event& e = events_[event];
  struct Point {
    double t, f;
  };
  State s;
  const auto at = [&](double t) -> Point {
    if (t >= now.t) return {now.t, value(e, now)};
    stepper.at(t, s);
    return {t, value(e, s)};
  };
  const auto side = [](double f) { return f > 0 ? 1 : f < 0 ? -1 : 0; };
  const double h = now.t - from.t;
  std::vector<Point> points{{from.t, before}};
  for (int k = 1; k <= parts; ++k) points.push_back(at(k == parts ? now.t : from.t + h * k / parts));

  // It has just happened: to which side did the value leave, and is it back already?
  if (before == 0) {
    const Point first = points[1];
    bool seen = false;
    for (double t = first.t; t - from.t > 4e-16 * std::max(std::abs(t), h);) {
      t = from.t + 0.5 * (t - from.t);
      const Point p = at(t);
      if (side(p.f) == -side(first.f) && p.f != 0) {
        points.insert(points.begin() + 1, p);
        seen = true;
        break;
      }
    }
    // A change that sends the value back, but to where it is not seen: that takes less time than t resolves.
    if (!seen && last_[event] == from.t) {
      const double f = value(e, from);
      for (double ahead = 1e-3 * h; ahead < 1e3 * h; ahead *= 10) {
        s = from;
        s.q += ahead * from.v;
        s.t += ahead;
        const int leaves = side(value(e, s) - f);
        if (leaves == -side(first.f)) return {{from.t, first.f > 0}};
        if (leaves != 0) break;
      }
    }
  }

  // A value that comes near 0 and turns: where the parabola through three points does, or nearly, by golden section.
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const Point a = points[i - 1], m = points[i], c = points[i + 1];
    const int s0 = side(m.f);
    if (s0 == 0 || side(c.f) != s0 || (side(a.f) != s0 && side(a.f) != 0)) continue;
    const double da = (m.f - a.f) / (m.t - a.t), dc = (c.f - m.f) / (c.t - m.t), bend = (dc - da) / (c.t - a.t);
    if (!(s0 * bend > 0)) continue;
    const double slope = da + bend * (m.t - a.t), vertex = m.t - slope / (2 * bend);
    if (!(vertex > a.t && vertex < c.t)) continue;
    const double lowest = s0 * (m.f - slope * slope / (4 * bend)), least = std::min(std::abs(m.f), std::abs(c.f));
    if (lowest > 0.25 * least) continue;
    constexpr double golden = 0.3819660112501051;
    double left = a.t, right = c.t;
    Point best = at(std::clamp(vertex, a.t, c.t));
    Point one = at(left + golden * (right - left)), two = at(right - golden * (right - left));
    for (int k = 0; k < 60 && s0 * best.f > 0 && right - left > 1e-9 * h; ++k) {
      if (s0 * one.f < s0 * best.f) best = one;
      if (s0 * two.f < s0 * best.f) best = two;
      if (s0 * one.f < s0 * two.f)
        right = two.t, two = one, one = at(left + golden * (right - left));
      else
        left = one.t, one = two, two = at(right - golden * (right - left));
    }
    if (s0 * best.f > 0) continue;
    const auto place = std::find_if(points.begin(), points.end(), [&](const Point& p) { return p.t >= best.t; });
    if (place->t != best.t) points.insert(place, best);
  }

  std::vector<Crossing> out;
  int was = side(before);
  for (std::size_t i = 1; i < points.size(); ++i) {
    const int is = side(points[i].f);
    if (was == 0 || is == was) {
      if (was == 0) was = is;
      continue;
    }
    // By bisection and the rule of false position in turn, to the last digits of t.
    double a = points[i - 1].t, b = points[i].t, fa = points[i - 1].f, fb = points[i].f;
    for (int k = 0; k < 200 && b - a > 4e-16 * std::max(std::abs(a), std::abs(b)) && fb != 0; ++k) {
      double t = k % 2 == 0 ? a + (b - a) * fa / (fa - fb) : 0.5 * (a + b);
      if (!(t > a && t < b)) t = 0.5 * (a + b);
      if (t <= a || t >= b) break;
      const Point p = at(t);
      if (side(p.f) == was)
        a = t, fa = p.f;
      else
        b = t, fb = p.f;
    }
    out.push_back({b, was < 0});
    was = is == 0 ? -was : is;
  }
  return out;
}

}  // namespace mortise
