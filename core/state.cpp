#include <mortise/core/state.h>

#include <algorithm>
#include <numeric>

#include <mortise/core/errors.h>

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
  ranges_[body] = {size(), static_cast<Index>(coordinates.size())};
  for (const std::string& c : coordinates) {
    ranges_[body + "." + c] = {size(), 1};
    names_.push_back(body + "." + c);
  }
}

CoordinateTable::Range CoordinateTable::find(std::string_view name) const {
  if (const auto it = ranges_.find(name); it != ranges_.end()) return it->second;
  std::vector<std::string> known;
  for (const auto& [key, range] : ranges_) known.push_back(key);
  const std::string guess = nearest_name(name, known);
  Label{"coordinate", std::string(name)}.fail<InvalidModel>(
      fmt::format("there is none of this name among {}", names_.size()),
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

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  const auto distance = [](std::string_view a, std::string_view b) {  // insertions, deletions, replacements
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i + 1;
      for (std::size_t j = 0; j < b.size(); ++j) {
        const std::size_t replaced = diagonal + (a[i] != b[j]);
        diagonal = row[j + 1];
        row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
      }
    }
    return row.back();
  };
  const auto best = std::min_element(candidates.begin(), candidates.end(), [&](const auto& a, const auto& b) {
    return distance(name, a) < distance(name, b);
  });
  return best == candidates.end() ? std::string() : *best;
}

}  // namespace mortise
