#include <mortise/integrators/event_watch.h>

#include <algorithm>
#include <array>
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

void EventWatch::happened(const std::vector<Hit>& hits, const State& s) {
  begin(s);
  for (const Hit& hit : hits) values_[hit.event] = 0;
}

double EventWatch::rate(std::size_t event, const State& s, double h, const VectorXd* a) const {
  State later = s;
  later.q += h * s.v;
  later.t += h;
  if (a) later.q += 0.5 * h * h * *a;
  return (value(events_[event], later) - value(events_[event], s)) / h;
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

std::vector<EventWatch::Hit> EventWatch::look(const Stepper& stepper, Flow& flow, const State& from, State& now,
                                              std::vector<Trajectory::Note>& notes) {
  const double round_off = std::numeric_limits<double>::epsilon() * std::max(std::abs(from.t), std::abs(now.t));
  const double same = 16 * round_off, shortest = 1024 * round_off;
  if (now.t - from.t < shortest) return {};  // the next step shows what has happened
  struct Due {
    Hit hit;
    double t;
  };
  std::vector<Due> due;
  std::vector<Trajectory::Note> found;
  const std::vector<double> before = values_;
  begin(now);
  const auto search = [&] {
    found.clear();
    due.clear();
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const Event& e = events_[i];
      for (const Crossing& c : crossings(stepper, i, before[i], from, now)) {
        if (!(c.up ? e.direction >= 0 : e.direction <= 0)) continue;
        if (e.stop || e.change) {
          due.push_back({{i, c.up}, c.t});
          break;
        }
        found.push_back({c.t, "event", e.name});
      }
    }
    return !due.empty() || !found.empty();
  };
  if (search()) {
    sharpen(stepper);
    search();
  }
  double t_first = now.t;
  for (const Due& d : due) t_first = std::min(t_first, d.t);
  std::vector<Hit> hits;
  for (const Due& d : due) {
    if (d.t > t_first + same) continue;
    const std::size_t i = d.hit.event;
    hits.push_back(d.hit);
    found.push_back({t_first, "event", events_[i].name});
    if (t_first == from.t)
      short_[i] = often + 1;
    else
      short_[i] = t_first - last_[i] <= no_time * std::abs(t_first) ? short_[i] + 1 : 0;
    last_[i] = t_first;
  }
  if (!hits.empty() && t_first < now.t) {
    stepper.at(t_first, now);
    flow.keep(now);
    begin(now);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.t < b.t; });
  for (const auto& n : found)
    if (n.t <= t_first) notes.push_back(n);
  return hits;
}

std::vector<EventWatch::Crossing> EventWatch::crossings(const Stepper& stepper, std::size_t event, double before,
                                                        const State& from, const State& now) const {
  // Eight pieces, not equal ones, so that what swings with them does not look slow.
  constexpr std::array<double, 7> places{0.146, 0.224, 0.385, 0.484, 0.654, 0.744, 0.889};
  constexpr double part = 0.43;
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
  for (const double x : places) points.push_back(at(from.t + x * h));
  points.push_back(at(now.t));

  // More of them where the cubic through the neighbours of one is so far off that the value may reach 0 between them.
  constexpr int halvings = 10;
  constexpr std::size_t enough = 4096;
  constexpr double clear = 0.25, small = 1e-7;  // of the value; of its range
  for (int k = 0; k < halvings && points.size() < enough; ++k) {
    double largest = 0;
    for (const Point& p : points) largest = std::max(largest, std::abs(p.f));
    std::vector<bool> split(points.size(), false);  // before each
    for (std::size_t i = 1; i + 1 < points.size(); ++i) {
      const std::size_t begin = i < 2 ? 0 : i - 2, end = std::min(i + 3, points.size());
      double guess = 0;
      for (std::size_t j = begin; j < end; ++j) {
        if (j == i) continue;
        double weight = points[j].f;
        for (std::size_t l = begin; l < end; ++l)
          if (l != i && l != j) weight *= (points[i].t - points[l].t) / (points[j].t - points[l].t);
        guess += weight;
      }
      const double off = std::abs(points[i].f - guess),
                   least = std::min({std::abs(points[i - 1].f), std::abs(points[i].f), std::abs(points[i + 1].f)});
      if (off > clear * least && off > small * largest) split[i] = split[i + 1] = true;
    }
    std::vector<Point> more;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (split[i]) more.push_back(at(points[i - 1].t + part * (points[i].t - points[i - 1].t)));
      more.push_back(points[i]);
    }
    if (more.size() == points.size()) break;
    points = std::move(more);
  }

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
