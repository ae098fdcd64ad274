#include <mortise/files/limits.h>

#include <algorithm>
#include <cmath>

#include <mortise/assembly/system.h>
#include <mortise/core/angles.h>

namespace mortise {

// One that has limits, and how it stood last.
struct LimitWatch::Joint {
  std::string name, unit;
  std::shared_ptr<const ConstraintModel> model;
  std::vector<Index> firsts;
  bool turns = false;  // its angle is known up to whole turns
  double lower = 0, upper = 0;
  double x = 0, rate = 0;                                // [rad] or [m]
  int passed = 0;                                        // 1: the upper limit, -1: the lower one
  std::map<int, std::pair<std::size_t, int>> told = {};  // of these: the note, and how often
};
struct LimitWatch::Watched {
  std::vector<Joint> joints;
  VectorXd none;  // accelerations, which nobody asks for
  double t = 0;
  bool begun = false;
  std::vector<Trajectory::Note> notes;

  void look(const State& s);
  void look(Joint& j, const State& s);
};

namespace {

// Where the cubic with these values and rates at both ends of a step of length h passes 0, as a share of the step.
double root(double from, double rate_from, double to, double rate_to, double h) {
  const auto value = [&](double u) {
    const double c2 = 3 * (to - from) - h * (2 * rate_from + rate_to), c3 = 2 * (from - to) + h * (rate_from + rate_to);
    return from + u * (h * rate_from + u * (c2 + u * c3));
  };
  double low = 0, high = 1;
  constexpr int halvings = 50;
  for (int i = 0; i < halvings; ++i) {
    const double middle = 0.5 * (low + high);
    ((value(middle) > 0) == (from > 0) ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace

LimitWatch::LimitWatch(const System& system, const std::map<std::string, std::pair<double, double>>& limits)
    : watched_(std::make_shared<Watched>()) {
  watched_->none = VectorXd::Zero(system.size());
  for (const auto& c : system.constraints()) {
    const auto it = limits.find(c.name);
    if (it == limits.end()) continue;
    const auto told = c.model->quantities();
    if (told.empty()) continue;
    Joint j;
    j.name = c.name;
    j.unit = told.front().unit;
    j.model = c.model;
    j.firsts = system.firsts(c.bodies);
    j.turns = told.front().angle;
    std::tie(j.lower, j.upper) = it->second;
    watched_->joints.push_back(std::move(j));
  }
}

Event LimitWatch::event() const {
  return {"limits", [watched = watched_](const State& s) {
            watched->look(s);
            return 1.0;
          }};
}

void LimitWatch::Watched::look(const State& s) {
  if (begun && !(s.t > t)) return;
  for (Joint& j : joints) look(j, s);
  t = s.t;
  begun = true;
}

void LimitWatch::Watched::look(Joint& j, const State& s) {
  std::vector<double> out;
  for (const Quantity& q : j.model->quantities()) out.resize(out.size() + static_cast<std::size_t>(q.orders));
  j.model->read(s, none, j.firsts, out.data());
  const double before = j.x, rate_before = j.rate;
  j.x = j.turns && begun ? nearest_turn(out[0], before) : out[0];
  j.rate = out[1];
  const double slack = 1e-6 * std::max({1e-3, std::abs(j.upper), std::abs(j.lower)});  // rounded files stand at limits
  const int side = j.x > j.upper + slack ? 1 : j.x < j.lower - slack ? -1 : 0;
  if (side == 0 || side == j.passed) {
    j.passed = side;
    return;
  }
  j.passed = side;
  const double limit = side > 0 ? j.upper : j.lower;
  const char* which = side > 0 ? "upper" : "lower";
  if (!begun) {
    // Of an angle known up to turns, the one that is within the limits, or nearest to them.
    if (j.turns) {
      j.x = nearest_turn(j.x, 0.5 * (j.lower + j.upper));
      j.passed = j.x > j.upper + slack ? 1 : j.x < j.lower - slack ? -1 : 0;
      if (j.passed == 0) return;
    }
    notes.push_back({s.t, "limit",
                     fmt::format("joint '{}' starts at {:.4g} {}, beyond its limits {:.4g} and {:.4g}", j.name, j.x,
                                 j.unit, j.lower, j.upper)});
    return;
  }
  const double h = s.t - t;
  const double at = before == j.x ? s.t : t + h * root(before - limit, rate_before, j.x - limit, j.rate, h);
  const auto [first, fresh] = j.told.try_emplace(side, notes.size(), 0);
  ++first->second.second;
  if (!fresh) return;
  notes.push_back(
      {at, "limit", fmt::format("joint '{}' passes its {} limit, {:.4g} {}", j.name, which, limit, j.unit)});
}

bool LimitWatch::tell(Trajectory& run) const {
  std::vector<Trajectory::Note> notes = watched_->notes;
  for (const Joint& j : watched_->joints)
    for (const auto& [side, note] : j.told)
      if (note.second > 1) notes[note.first].text += fmt::format(", for the first of {} times", note.second);
  run.notes.insert(run.notes.end(), notes.begin(), notes.end());
  std::stable_sort(run.notes.begin(), run.notes.end(), [](const auto& a, const auto& b) { return a.t < b.t; });
  return !notes.empty();
}

}  // namespace mortise
