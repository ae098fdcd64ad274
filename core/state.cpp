#include <mortise/core/state.h>

#include <algorithm>
#include <numeric>

#include <mortise/core/file.h>

namespace mortise {
namespace {

struct Place {
  bool velocity;
  CoordinateTable::Range range;
};

Place place(const State& s, std::string_view name, bool one = false) {
  if (!s.names)
    Label{"state", std::string(name)}.fail<InvalidModel>("this state has no names", "take it from System::state()");
  const bool velocity = !name.empty() && name.back() == '\'';
  const std::string_view coordinate = velocity ? name.substr(0, name.size() - 1) : name;
  const auto range = s.names->find(coordinate);
  if (one) (void)s.names->find_one(coordinate);  // throws if it is a body
  const VectorXd& x = velocity ? s.v : s.q;
  if (x.size() != s.names->size())
    Label{"state", velocity ? "v" : "q"}.fail<WrongSize>(fmt::format("has {} entries", x.size()),
                                                         fmt::format("give {}, one per coordinate", s.names->size()));
  return {velocity, range};
}

}  // namespace

void CoordinateTable::add(const std::string& body, const std::vector<std::string>& coordinates) {
  std::size_t list = static_cast<std::size_t>(std::find(lists_.begin(), lists_.end(), coordinates) - lists_.begin());
  if (list == lists_.size()) lists_.push_back(coordinates);
  bodies_.push_back({body, size_, list});
  size_ += static_cast<Index>(coordinates.size());
}

void CoordinateTable::finish() {
  sorted_.resize(bodies_.size());
  std::iota(sorted_.begin(), sorted_.end(), std::size_t{0});
  std::sort(sorted_.begin(), sorted_.end(),
            [&](std::size_t a, std::size_t b) { return bodies_[a].body < bodies_[b].body; });
  std::string all;
  for (const Entry& e : bodies_) {
    all += e.body + '\n';
    for (const std::string& c : lists_[e.list]) all += c + '\t';
  }
  layout_ = fingerprint(all);
}

std::string CoordinateTable::name(Index i) const {
  if (i < 0 || i >= size_)
    Label{"coordinate", std::to_string(i)}.fail<InvalidModel>(
        "there is none of this number", size_ ? fmt::format("give one from 0 to {}", size_ - 1) : "there are none");
  const auto after =
      std::upper_bound(bodies_.begin(), bodies_.end(), i, [](Index k, const Entry& e) { return k < e.first; });
  const Entry& e = *std::prev(after);
  return e.body + "." + lists_[e.list][static_cast<std::size_t>(i - e.first)];
}

std::vector<std::string> CoordinateTable::names() const {
  std::vector<std::string> out;
  for (Index i = 0; i < size_; ++i) out.push_back(name(i));
  return out;
}

CoordinateTable::Range CoordinateTable::find(std::string_view name) const {
  const auto find_body = [&](std::string_view body) -> const Entry* {
    const auto it = std::lower_bound(sorted_.begin(), sorted_.end(), body,
                                     [&](std::size_t i, std::string_view x) { return bodies_[i].body < x; });
    return it != sorted_.end() && bodies_[*it].body == body ? &bodies_[*it] : nullptr;
  };
  if (const Entry* e = find_body(name)) return {e->first, static_cast<Index>(lists_[e->list].size())};
  if (const auto dot = name.find('.'); dot != std::string_view::npos)
    if (const Entry* e = find_body(name.substr(0, dot))) {
      const auto& list = lists_[e->list];
      if (const auto it = std::find(list.begin(), list.end(), name.substr(dot + 1)); it != list.end())
        return {e->first + (it - list.begin()), 1};
    }
  // Of many, those that begin alike.
  constexpr Index many = 5000;
  constexpr std::ptrdiff_t beside = 500;
  std::vector<std::string> known;
  if (size_ <= many) {
    known = names();
    for (const Entry& e : bodies_) known.push_back(e.body);
  } else {
    const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), name,
                                     [&](std::size_t i, std::string_view x) { return bodies_[i].body < x; });
    for (auto it = at - std::min(beside, at - sorted_.begin()); it < at + std::min(beside, sorted_.end() - at); ++it) {
      const Entry& e = bodies_[*it];
      known.push_back(e.body);
      for (const std::string& coordinate : lists_[e.list])
        if (std::ssize(known) < many) known.push_back(e.body + "." + coordinate);
    }
  }
  const std::string guess = nearest_name(name, known);
  Label{"coordinate", std::string(name)}.fail<InvalidModel>(
      fmt::format("there is none of this name among {}", size_),
      guess.empty() ? "the system has no coordinates" : fmt::format("did you mean '{}'?", guess));
}

Index CoordinateTable::find_one(std::string_view coordinate) const {
  const Range range = find(coordinate);
  if (coordinate.find('.') == std::string_view::npos)
    Label{"coordinate", std::string(coordinate)}.fail<InvalidModel>(
        fmt::format("is a body of {} coordinates", range.size), "name one of them, as in body.x");
  return range.first;
}

double State::get(std::string_view name) const {
  const Place p = place(*this, name, true);
  return (p.velocity ? v : q)[p.range.first];
}

void State::set(std::string_view name, double value) {
  const Place p = place(*this, name, true);
  (p.velocity ? v : q)[p.range.first] = value;
}

VectorXd State::get_all(std::string_view body) const {
  const Place p = place(*this, body);
  return (p.velocity ? v : q).segment(p.range.first, p.range.size);
}

void State::set(std::string_view body, const VectorXd& values) {
  const Place p = place(*this, body);
  if (values.size() != p.range.size)
    Label{"state", std::string(body)}.fail<WrongSize>(fmt::format("has {} coordinates", p.range.size),
                                                      fmt::format("{} values were given", values.size()));
  (p.velocity ? v : q).segment(p.range.first, p.range.size) = values;
}

void State::set(std::string_view body, std::initializer_list<double> values) {
  set(body, VectorXd(Eigen::Map<const VectorXd>(values.begin(), static_cast<Index>(values.size()))));
}

// Long lists are looked through as far as a few milliseconds go, and so are long names.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t longest = 200;
  std::size_t work = 2'000'000;  // comparisons of letters
  std::vector<std::size_t> row;
  // Insertions, deletions, replacements; `limit` if there are as many or more.
  const auto distance = [&](std::string_view a, std::string_view b, std::size_t limit) {
    if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) >= limit) return limit;
    row.resize(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
      std::size_t diagonal = row[0], least = row[0] = i + 1;
      for (std::size_t j = 0; j < b.size(); ++j) {
        const std::size_t replaced = diagonal + (a[i] != b[j]);
        diagonal = row[j + 1];
        row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        least = std::min(least, row[j + 1]);
      }
      work -= std::min(work, b.size() + 1);
      if (least >= limit) return limit;
    }
    return row.back();
  };
  const std::string* best = nullptr;
  std::size_t nearest = 2 * longest;
  for (const std::string& c : candidates) {
    const std::size_t d = distance(name.substr(0, longest), std::string_view(c).substr(0, longest), nearest);
    if (d < nearest || !best) best = &c, nearest = d;
    if (work == 0) break;
  }
  return best ? *best : std::string();
}

}  // namespace mortise
