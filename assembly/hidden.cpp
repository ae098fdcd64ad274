#include <mortise/assembly/hidden.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <mortise/assembly/hidden_group.h>
#include <mortise/assembly/solver.h>

namespace mortise {
namespace {

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }
std::string counted(Index n, const std::string& thing) { return fmt::format("{} {}{}", n, thing, n == 1 ? "" : "s"); }

HiddenReport look(const System& system, const State& s, const HiddenOptions& options, std::vector<HiddenGroup>* keep) {
  system.require_state(s);
  HiddenReport report{system.name(), s.t, {}};
  for (const FreeForces::Selection& parts : free_groups(system, s, options.rank)) {
    HiddenGroup group(system, parts, s, options);
    group.look(report.rows);
    if (keep) keep->push_back(std::move(group));
  }
  return report;
}

// Initial values that are free: coordinates less independent holonomic rows, velocities less independent rows.
std::pair<Index, Index> free_values(const System& system, const State& s, const HiddenOptions& options) {
  constexpr Index dense_at_most = 300;
  const Index n = system.size();
  Index holonomic = 0;
  for (const auto& c : system.constraints()) holonomic += c.holonomic;
  if (n <= dense_at_most) {
    const Evaluation e = system.evaluate(s);
    const Equations eq = system.equations(e);
    Equations positions = eq;
    positions.A.resize(holonomic, n);
    positions.b = positions.b_size = VectorXd::Zero(holonomic);
    Index row = 0;
    for (const auto& c : system.constraints()) {
      positions.A.middleRows(row, c.holonomic) = eq.A.middleRows(c.row, c.holonomic);
      row += c.holonomic;
    }
    return {n - numerical_rank(positions, options.rank).rank_A, n - numerical_rank(eq, options.rank).rank_A};
  }
  // In large systems by the rows that are redundant where the solver looks.
  try {
    Solver solver(system, {.rank = options.rank});
    Index rows = system.rows();
    for (const Index i : solver.leave_out_dependent(s)) {
      --rows;
      for (const auto& c : system.constraints()) holonomic -= i >= c.row && i < c.row + c.holonomic ? 1 : 0;
    }
    return {n - holonomic, n - rows};
  } catch (const Error&) {
    return {n - holonomic, n - system.rows()};
  }
}

}  // namespace

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

bool HiddenReport::completable() const {
  return std::all_of(rows.begin(), rows.end(), [](const HiddenRow& r) { return r.completable; });
}

std::string HiddenReport::verdict() const {
  if (determined()) return "OK: the motion is determined";
  std::vector<std::string> parts;
  for (const HiddenKind kind : {HiddenKind::position_level, HiddenKind::velocity_level, HiddenKind::indeterminate,
                                HiddenKind::contradictory, HiddenKind::implicit_multiplier, HiddenKind::refused})
    if (const auto n = std::count_if(rows.begin(), rows.end(), [&](const HiddenRow& r) { return r.kind == kind; }))
      parts.push_back(fmt::format("{} {}", n, in_words(kind)));
  return fmt::format("{}: {}{}", counted(static_cast<Index>(rows.size()), "free direction"), joined(parts),
                     completable() ? "; complete() adds what the model implies" : "");
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
  return look(system, s, options, nullptr);
}

Completed complete(const System& system, const State& s, const HiddenOptions& options) {
  std::vector<HiddenGroup> groups;
  HiddenReport report = look(system, s, options, &groups);
  if (!report.completable()) throw NotCompletable(report, report.text());
  const auto refuse = [&](HiddenKind kind, const std::string& sentence) {
    HiddenReport r = report;
    for (HiddenRow& row : r.rows) row.kind = kind, row.sentence = sentence, row.completable = false;
    const std::string text = r.text();
    throw NotCompletable(std::move(r), text);
  };

  std::set<std::string> names;
  for (const auto& c : system.constraints()) names.insert(c.name);
  std::vector<System::ConstraintInfo> added;
  int number = 0;
  for (const HiddenGroup& g : groups) {
    std::string name;
    do name = fmt::format("implied_{}", ++number);
    while (names.count(name));
    added.push_back(g.constraint(name));
  }
  Completed out{system.with(added), s, report, {}};
  for (std::size_t k = system.constraints().size(); k < out.system.constraints().size(); ++k) {
    const auto& c = out.system.constraints()[k];
    for (Index i = c.row; i < c.row + c.rows; ++i) out.rows.push_back(out.system.row(i).name);
  }
  std::tie(out.positions_before, out.velocities_before) = free_values(system, s, options);
  if (added.empty()) {
    out.positions = out.positions_before, out.velocities = out.velocities_before;
    return out;
  }

  Solver solver(out.system, {.rank = options.rank});
  try {
    solver.project_positions(out.state);
    solver.project_velocities(out.state);
  } catch (const NotConverged& error) {
    refuse(HiddenKind::contradictory,
           fmt::format("h = 0 cannot be reached from this state, so that no motion starts here ({}); start nearer to a "
                       "balance of these forces",
                       error.what()));
  }
  (void)solver.solve(out.state);  // throws UnderModelled if it is not determined
  const VectorXd lambda = solver.lambda().tail(out.system.rows() - system.rows());
  double force = 0;
  const Evaluation e = out.system.evaluate(out.state);
  for (const VectorXd& part : {e.Q, e.C}) force = std::max(force, part.size() ? part.cwiseAbs().maxCoeff() : 0);
  for (const HiddenRow& row : report.rows) {  // forces may all be 0 in balance
    force = std::max(force, std::abs(row.value));
    for (Eigen::SparseVector<double>::InnerIterator i(row.dq); i; ++i)
      force = std::max(force, std::abs(i.value() * out.state.q[i.index()]));
    for (Eigen::SparseVector<double>::InnerIterator i(row.dv); i; ++i)
      force = std::max(force, std::abs(i.value() * out.state.v[i.index()]));
  }
  constexpr double none = 1e-8;  // of the largest force; round-off leaves 1e-12 and less
  out.reaction = force > 0 ? lambda.cwiseAbs().maxCoeff() / force : lambda.cwiseAbs().maxCoeff();
  if (!(out.reaction <= none))
    refuse(HiddenKind::refused,
           fmt::format("the added rows would carry a reaction, {:.1e} of the largest force, which nothing gives",
                       out.reaction));
  std::tie(out.positions, out.velocities) = free_values(out.system, out.state, options);
  return out;
}

std::string Completed::text() const {
  if (rows.empty()) return fmt::format("completed '{}': nothing is missing\n", system.name());
  return fmt::format(
      "completed '{}': {} added: {}\n  states {}: {} and {} are free at the start ({} and {} before)\n"
      "  reactions of what was added: {} of the largest force\n",
      system.name(), counted(static_cast<Index>(rows.size()), "row"), joined(rows), positions + velocities,
      counted(positions, "coordinate"), fmt::format("{} {}", velocities, velocities == 1 ? "velocity" : "velocities"),
      positions_before, velocities_before, reaction < 1e-12 ? "none, <1e-12" : fmt::format("{:.0e}", reaction));
}

}  // namespace mortise
