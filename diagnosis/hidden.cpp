#include <mortise/diagnosis/hidden.h>

#include <algorithm>
#include <cmath>
#include <random>

#include <mortise/core/decompositions.h>
#include <mortise/core/tolerances.h>
#include <mortise/core/words.h>
#include <mortise/diagnosis/hidden_group.h>
#include <mortise/diagnosis/report.h>
#include <mortise/engine/engine.h>

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

namespace {

// States near s that meet the rows of joints, for what holds everywhere and not here by chance; as many as are found.
std::vector<State> states_near(const System& system, const State& s, int count) {
  std::vector<State> out;
  if (system.size() > report::dense_at_most || system.rows() == 0) return out;
  std::mt19937 generator(2);
  std::uniform_real_distribution<double> spread(-1, 1);
  const VectorXd d = report::sizes(system, s.q).unaryExpr([](double x) { return x > 0 ? x : 1; });
  const double fast = std::max(1.0, s.v.size() ? s.v.cwiseAbs().maxCoeff() : 0);
  for (const double step : {0.3, 0.1, 0.03})
    for (int k = 0; k < count && std::ssize(out) < count; ++k) {
      State x = s;
      for (Index i = 0; i < x.q.size(); ++i) {
        x.q[i] += step * d[i] * spread(generator);
        x.v[i] += fast * spread(generator);
      }
      x.t += 0.1 * (k + 1);
      try {
        std::optional<State> met = report::met_near(system, x, d);
        if (!met) continue;
        Engine engine(system);
        engine.evaluate(*met);
        const MatrixXd J = system.evaluate(*met).dense_A() * d.asDiagonal();
        met->v -= d.cwiseProduct(LeastSquares(J, tolerance::no_motion).solve(engine.rate()));
        if (met->q.allFinite() && met->v.allFinite()) out.push_back(std::move(*met));
      } catch (const Error&) {  // a part that gives no numbers there
      }
    }
  return out;
}

}  // namespace

namespace {
// Of forces at a state, what they may be off by.
double noise_of(const System& system, const State& s) {
  constexpr double least = 1e-30;  // [N, N m]
  const VectorXd Q = system.evaluate(s).Q;
  return std::max(least, tolerance::round_off * (Q.size() ? Q.cwiseAbs().maxCoeff() : 0));
}
}  // namespace

HiddenSearch::HiddenSearch(const System& system, const State& s, const HiddenOptions& options)
    : report{system.name(), s.t, {}} {
  system.require_state(s);
  std::vector<FreeForces::Selection> groups = free_groups(system, s, options.rank);
  const std::vector<State> near = groups.empty() ? std::vector<State>() : states_near(system, s, options.states);
  const double noise = groups.empty() ? 0 : noise_of(system, s);
  for (FreeForces::Selection& parts : groups)
    for (bool more = true; more;) {
      HiddenGroup group(system, parts, s, near, options, noise);
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
