// Bodies that cannot move: whether they should, which loop holds them, and which single change gives motion back.

#include <mortise/diagnosis/report.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include <mortise/assembly/system_graph.h>
#include <mortise/core/words.h>

namespace mortise::report {
namespace {

// Constraints that move their bodies: rows that change with time alone, or that prescribe speeds (Rate) instead of
// restricting them: these are not 0 at rest, elsewhere if not here.
std::vector<bool> drives(const System& system, const Evaluation& e) {
  constexpr double later[] = {0.01, 0.1, 0.37, 1, 3.3, 10};  // [s]
  std::vector<bool> out(system.constraints().size(), false);
  State s = e.state;
  for (const double dt : later) {
    s.t = e.state.t + dt;
    try {
      const VectorXd phi = system.evaluate(s).phi;
      for (std::size_t i = 0; i < out.size(); ++i) {
        const auto& c = system.constraints()[i];
        out[i] = out[i] || phi.segment(c.row, c.rows) != e.phi.segment(c.row, c.rows);
      }
    } catch (const Error&) {  // a part that gives no numbers then
    }
  }
  s = e.state;
  s.v.setZero();
  const VectorXd d = sizes(system, s.q);
  for (Index i = 0; i < s.q.size(); ++i) s.q[i] += 0.1 * d[i] * std::sin(1.0 + 2.0 * static_cast<double>(i));
  try {
    const VectorXd psi = system.evaluate(s).phi;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto& c = system.constraints()[i];
      out[i] = out[i] || !psi.segment(c.row + c.holonomic, c.rows - c.holonomic).isZero(0);
    }
  } catch (const Error&) {  // a part that gives no numbers there
  }
  return out;
}

Index dof(const System& system, const Evaluation& e, const Parts& parts, const RankOptions& options) {
  const SparseRank r = rank_of(system, e, parts, options);
  return r.n - r.rank_A;
}

Parts without(Parts parts, const FunctionRef<bool(std::size_t)>& constraint) {
  std::erase_if(parts.constraints, constraint);
  return parts;
}

// Of joints that let their bodies roll or slide on each other: nobody builds a plain structure with them.
bool moves_by_purpose(const std::string& kind) {
  static const std::set<std::string> kinds{"belt",          "differential",    "gear",         "gear_ratio",
                                           "planar_gear",   "screw",           "prismatic",    "cylindrical",
                                           "slider",        "rack_and_pinion", "rolling_disk", "rolling_sphere",
                                           "rolling_wheel", "coupling"};
  return kinds.count(kind) > 0;
}

// Pairs of joints whose axes are nearly parallel, but not quite.
std::vector<Locked::Skew> skew_axes(const System& system, const State& s, const std::vector<std::size_t>& joints) {
  constexpr double parallel = 1e-4, nearly = 5;  // [degrees]
  std::vector<std::pair<std::size_t, Vec3<double>>> axes;
  for (const std::size_t i : joints) {
    const auto& c = system.constraints()[i];
    if (const auto axis = c.model->axis(s, system.firsts(c.bodies))) axes.emplace_back(i, axis->normalized());
  }
  // Of each joint its worst neighbour; one that is off most others stands out.
  std::map<std::size_t, int> off;
  std::vector<std::tuple<std::size_t, std::size_t, double>> pairs;
  for (std::size_t k = 0; k < axes.size(); ++k)
    for (std::size_t j = 0; j < k; ++j) {
      const double angle =
          std::asin(std::min(1.0, axes[j].second.cross(axes[k].second).norm())) * 180 / std::numbers::pi;
      if (angle < parallel || angle > nearly) continue;
      ++off[axes[j].first], ++off[axes[k].first];
      pairs.emplace_back(axes[j].first, axes[k].first, angle);
    }
  std::vector<Locked::Skew> out;
  std::set<std::size_t> told;
  for (const auto& [a, b, angle] : pairs) {
    const std::size_t odd = off[a] > off[b] ? a : b;
    if (!told.insert(odd).second) continue;
    out.push_back({system.constraints()[odd].name, system.constraints()[odd == a ? b : a].name, angle});
  }
  return out;
}

std::string should_move(const System& system, const Evaluation& e, const Parts& parts, const std::vector<bool>& driven,
                        const std::vector<std::size_t>& in_loops) {
  for (const std::size_t i : parts.constraints)
    if (driven[i]) return fmt::format("'{}' drives it", system.constraints()[i].name);
  const std::set<std::size_t> bodies(parts.bodies.begin(), parts.bodies.end());
  for (const auto& f : system.forces())
    if (const std::string kind = f.model->kind(); kind == "motor")
      for (const std::size_t b : f.bodies)
        if (bodies.count(b)) return fmt::format("motor '{}' acts on it", f.name);
  for (const std::size_t b : parts.bodies) {
    const auto& body = system.bodies()[b];
    if (body.size > 0 && e.state.v.segment(body.first, body.size).cwiseAbs().maxCoeff() > 0)
      return fmt::format("'{}' has a speed at the start", body.name);
  }
  for (const std::size_t i : parts.constraints)
    if (const auto& c = system.constraints()[i]; c.holonomic < c.rows)
      return fmt::format("'{}' restricts speeds only, not places", c.name);
  for (const std::size_t i : in_loops)
    if (const auto& c = system.constraints()[i]; moves_by_purpose(c.model->kind()))
      return fmt::format("'{}' could move, but for its loop", c.name);
  return "";
}

}  // namespace

void find_locked(const System& system, const Evaluation& e, RankReport& report, const RankOptions& options) {
  if (!report.consistent() || report.singular || system.size() == 0 || system.size() > dense_at_most) return;
  const std::vector<bool> driven = drives(system, e);
  const auto& components = system.graph().components();
  std::vector<Parts> parts(components.count);
  for (std::size_t i = 0; i < system.bodies().size(); ++i)
    if (system.bodies()[i].size > 0) parts[components.of_body[i]].bodies.push_back(i);
  for (std::size_t i = 0; i < system.constraints().size(); ++i)
    if (!std::binary_search(e.state.off.begin(), e.state.off.end(), i))
      parts[components.of_constraint[i]].constraints.push_back(i);
  const auto loops = system.graph().loops();
  for (const Parts& p : parts) {
    if (p.bodies.empty() || dof(system, e, without(p, [&](std::size_t i) { return driven[i]; }), options) > 0) continue;
    Locked l;
    for (const std::size_t b : p.bodies) l.bodies.push_back(system.bodies()[b].name);
    const std::set<std::size_t> own(p.constraints.begin(), p.constraints.end());
    std::set<std::size_t> in_loops;
    for (const auto& walk : loops) {
      if (!own.count(walk.front())) continue;
      for (std::size_t k = 0; k < walk.size(); k += 2) in_loops.insert(walk[k]);
      if (!l.loop.empty()) continue;
      for (std::size_t k = 0; k < walk.size(); k += 2) {
        l.loop.push_back(system.constraints()[walk[k]].name);
        l.loop.push_back(walk[k + 1] == SystemGraph::ground ? "ground" : system.bodies()[walk[k + 1]].name);
      }
    }
    if (in_loops.empty())
      for (const std::size_t i : p.constraints)
        if (!system.constraints()[i].own) in_loops.insert(i);
    const std::vector<std::size_t> joints(in_loops.begin(), in_loops.end());
    for (const std::size_t i : joints) l.joints.push_back(system.constraints()[i].name);
    l.skew = skew_axes(system, e.state, joints);
    l.why = should_move(system, e, p, driven, joints);
    if (l.why.empty() && !l.skew.empty())
      l.why = fmt::format("the axes of '{}' and '{}' are parallel but for {:.3g} deg", l.skew[0].joint, l.skew[0].other,
                          l.skew[0].angle);
    for (const auto& [joint, other, angle] : l.skew)
      l.remedies.push_back(
          fmt::format("make the axis of {} parallel to that of {}: they are {:.3g} deg apart", joint, other, angle));
    if (l.why.empty() && report.dof > 0) continue;  // a frame, beside what moves
    std::vector<std::pair<Index, std::size_t>> removed;
    if (!l.why.empty())
      for (const std::size_t i : joints)
        if (const Index freed = dof(system, e, without(p, [&](std::size_t k) { return k == i || driven[k]; }), options);
            freed > 0)
          removed.emplace_back(freed, i);
    std::stable_sort(removed.begin(), removed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [freed, i] : removed)
      l.remedies.push_back(fmt::format("remove {}: {} DOF without it", system.constraints()[i].name, freed));
    report.locked.push_back(std::move(l));
  }
  // A change that leaves everything locked is no remedy.
  if (std::any_of(report.locked.begin(), report.locked.end(), [](const Locked& l) { return !l.why.empty(); }))
    report.mends.clear();
}

}  // namespace mortise::report
