#include <mortise/integrators/trajectory.h>

#include <algorithm>

#include <mortise/core/text.h>

namespace mortise {

Trajectory::Trajectory() = default;
Trajectory::Trajectory(const Trajectory&) = default;
Trajectory::Trajectory(Trajectory&&) noexcept = default;
Trajectory& Trajectory::operator=(const Trajectory&) = default;
Trajectory& Trajectory::operator=(Trajectory&&) noexcept = default;
Trajectory::~Trajectory() = default;

Index Trajectory::index(std::string_view column) const {
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == column) return static_cast<Index>(i);
  std::vector<std::string> known;
  for (const auto& c : columns) known.push_back(c.name);
  Label{"column", std::string(column)}.fail<InvalidModel>(
      "the trajectory has none of this name",
      fmt::format("did you mean '{}'?  Some are recorded on request only, see ReadingOptions",
                  nearest_name(column, known)));
}

VectorXd Trajectory::column(std::string_view name) const {
  const Index i = index(name), n = samples(), width = static_cast<Index>(columns.size());
  VectorXd out(n);
  for (Index k = 0; k < n; ++k) out[k] = values[static_cast<std::size_t>(k * width + i)];
  return out;
}

double Trajectory::value(Index sample, std::string_view column) const {
  const Index i = index(column);
  if (sample < 0 || sample >= samples())
    Label{"column", std::string(column)}.fail<InvalidModel>(fmt::format("there is no sample {}", sample),
                                                            fmt::format("there are {}, from 0", samples()));
  return values[static_cast<std::size_t>(sample) * columns.size() + static_cast<std::size_t>(i)];
}

std::string Trajectory::text() const {
  std::string out = fmt::format("{} of '{}' {} t = {:g} s: {} steps of {}, {} repeated, {} evaluations\n",
                                finished ? "run" : "STOPPED run", system, finished ? "to" : "at", last.t, steps,
                                integrator, rejected, evaluations);
  const auto worst = std::max_element(drift.begin(), drift.end(),
                                      [](const Drift& a, const Drift& b) { return a.largest < b.largest; });
  out += fmt::format("  energy balanced to {:.1e} J", energy_error);
  if (worst != drift.end()) out += fmt::format("; joints hold to {:.1e} ('{}')", worst->largest, worst->joint);
  out += "\n";
  if (rough > 0)
    out += fmt::format(
        "  INACCURATE: {} of the {} steps {} taken with an error above the tolerance, next to singular "
        "poses; a run with another tolerance shows how much that matters\n",
        rough, steps, rough == 1 ? "was" : "were");
  for (const Note& n : notes) out += fmt::format("  t = {:<10.6g} {}: {}\n", n.t, n.kind, n.text);
  if (!finished) out += "  " + stopped + "\n";
  return out;
}

std::string Trajectory::csv() const {
  std::string text;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto& [name, unit] = columns[i];
    const bool brackets = !unit.empty() || name.ends_with(']');  // else the name would be read as one with a unit
    text += (i ? "," : "") + csv_cell(brackets ? fmt::format("{} [{}]", name, unit) : name);
  }
  text += "\n";
  for (std::size_t k = 0; k < values.size(); ++k)
    text += fmt::format("{}{}", values[k], (k + 1) % columns.size() == 0 ? "\n" : ",");
  return text;
}

void Trajectory::write_csv(const std::string& path) const { replace_file(path, csv()); }

}  // namespace mortise
