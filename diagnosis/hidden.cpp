#include <mortise/diagnosis/hidden.h>

#include <algorithm>

#include <mortise/diagnosis/hidden_group.h>

#include <mortise/core/words.h>

namespace mortise {
std::string in_words(HiddenKind kind) {
  switch (kind) {
    case HiddenKind::velocity_level:
      return "velocity-level";
    case HiddenKind::position_level:
      return "position-level";
    case HiddenKind::indeterminate:
      return "indeterminate";
    case HiddenKind::contradictory:
      return "contradictory";
    case HiddenKind::implicit_multiplier:
      return "implicit multiplier";
    case HiddenKind::refused:
      return "refused";
  }
  return "";
}

HiddenSearch::HiddenSearch(const System& system, const State& s, const HiddenOptions& options)
    : report{system.name(), s.t, {}} {
  system.require_state(s);
  for (FreeForces::Selection& parts : free_groups(system, s, options.rank))
    for (bool more = true; more;) {
      HiddenGroup group(system, parts, s, options);
      group.look(report.rows);
      more = !group.undecided().empty() && !parts.completed;  // else what is left of it has its rows already
      parts.held.insert(parts.held.end(), group.undecided().begin(), group.undecided().end());
      if (group.decided()) decided.push_back(std::move(group));
    }
}

Index HiddenReport::completable() const {
  return std::count_if(rows.begin(), rows.end(), [](const HiddenRow& r) { return r.completable; });
}

std::string HiddenReport::verdict() const {
  if (determined()) return "OK: the motion is determined";
  std::vector<std::string> parts;
  for (const HiddenKind kind : {HiddenKind::position_level, HiddenKind::velocity_level, HiddenKind::indeterminate,
                                HiddenKind::contradictory, HiddenKind::implicit_multiplier, HiddenKind::refused})
    if (const auto n = std::count_if(rows.begin(), rows.end(), [&](const HiddenRow& r) { return r.kind == kind; }))
      parts.push_back(fmt::format("{} {}", n, in_words(kind)));
  const auto all = static_cast<Index>(rows.size());
  return fmt::format("{}: {}{}", counted(all, "free direction"), joined(parts),
                     completable() == all ? "; complete() adds what the model implies"
                     : completable() > 0  ? fmt::format("; complete() adds what decides {} of them", completable())
                                          : "");
}

std::string HiddenReport::text() const {
  std::string out = fmt::format("hidden constraints '{}' at t = {:g}   {}\n", system, t, verdict());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const HiddenRow& r = rows[i];
    const bool fits = r.kind == HiddenKind::position_level || r.kind == HiddenKind::velocity_level;
    out += fmt::format("  {:<2} {:<24} {}\n", i + 1, r.coordinates.front(), in_words(r.kind));
    if (!r.equation.empty()) out += fmt::format("     {}{}\n", fits ? "the model implies  " : "along it  ", r.equation);
    if (!r.formula.empty() && fits) out += fmt::format("     here  {}\n", r.formula);
    out += "     " + r.sentence + "\n";
  }
  return out;
}

HiddenReport find_hidden(const System& system, const State& s, const HiddenOptions& options) {
  return HiddenSearch(system, s, options).report;
}

}  // namespace mortise
