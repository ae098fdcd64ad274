// Bodies that cannot move: whether they should, which loop holds them, and which single change gives motion back.

#include <mortise/diagnosis/report.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <set>

#include <mortise/assembly/system_graph.h>
#include <mortise/core/components.h>
#include <mortise/core/decompositions.h>
#include <mortise/core/tolerances.h>
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

// Of hinges of the same two bodies with parallel axes: the angle [degrees] between these and the line through the
// hinges, where that is small but not 0.
std::optional<double> nearly_in_line(const System& system, const State& s, std::size_t i, std::size_t j) {
  constexpr double in_line = 1e-4, nearly = 5;  // [degrees]
  const auto &a = system.constraints()[i], &b = system.constraints()[j];
  if (a.model->kind() != "revolute" || b.model->kind() != "revolute") return {};
  if (std::set(a.bodies.begin(), a.bodies.end()) != std::set(b.bodies.begin(), b.bodies.end())) return {};
  const auto place = [&](const System::ConstraintInfo& c) -> std::optional<Vec3<double>> {
    const Sketch sketch = c.model->sketch();
    if (sketch.points.empty()) return {};
    const auto& mark = sketch.points.front();
    const auto& body = system.bodies()[c.bodies[mark.body]];
    Vec3<double> out;
    body.model->locate(Ask::point, {mark.value.data(), 3}, s.q.data() + body.first, out.data());
    return out;
  };
  const auto axis = a.model->axis(s, system.firsts(a.bodies));
  const auto p = place(a), q = place(b);
  if (!axis || !p || !q) return {};
  const Vec3<double> way = *q - *p, along = axis->normalized();
  const double angle = std::atan2(way.cross(along).norm(), std::abs(way.dot(along))) * 180 / std::numbers::pi;
  return angle > in_line && angle < nearly ? std::optional(angle) : std::nullopt;
}

// Pairs of joints whose axes are nearly parallel, but not quite; or nearly in line.
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
      const auto out_of_line =
          angle < parallel ? nearly_in_line(system, s, axes[j].first, axes[k].first) : std::nullopt;
      if ((angle < parallel && !out_of_line) || angle > nearly) continue;
      ++off[axes[j].first], ++off[axes[k].first];
      pairs.emplace_back(axes[j].first, axes[k].first, out_of_line.value_or(angle));
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

// Velocities of bodies that are rigid, at the origin of the world: of a point v, and w.  Of a particle only that of its
// place.
struct Twist {
  bool turns = false;
  Vec3<double> at{0, 0, 0}, v{0, 0, 0}, w{0, 0, 0};
  Vec3<double> of(const Vec3<double>& point) const { return v + w.cross(point); }
};

std::optional<Twist> twist(const System& system, const State& s, std::size_t body, const double* v) {
  const auto& b = system.bodies()[body];
  if (b.size == 0) return Twist{.turns = true};
  if (b.model->frame() < 0 && b.model->kind() != "particle") return {};
  for (const int dimension : {3, 2, 1}) {
    if (!b.model->has(Ask::point, dimension)) continue;
    Twist out;
    const double zero[3] = {0, 0, 0}, *q = s.q.data() + b.first;
    const std::span<const double> origin(zero, static_cast<std::size_t>(dimension));
    b.model->locate(Ask::point, origin, q, out.at.data());
    b.model->velocity(Ask::point, origin, q, v, out.v.data());
    out.turns = b.model->turns(dimension);
    if (out.turns) {
      Vec3<double> w(0, 0, 0);
      b.model->angular_velocity(dimension, q, v, w.data());
      out.w = dimension == 2 ? Vec3<double>(0, 0, w[0]) : w;
      out.v -= out.w.cross(out.at);
    }
    return out;
  }
  return {};
}

// Bodies that move as one in all motions V, first those that stand still; a body that is not rigid only where it
// stands still.  Instances are compared with sizes: of angles 1, of lengths the extent of the piece.
std::vector<std::vector<std::size_t>> moving_as_one(const System& system, const State& s, const Piece& piece,
                                                    const MatrixXd& V) {
  constexpr double same = tolerance::same_motion;
  struct Group {
    std::vector<std::size_t> bodies;
    std::vector<Twist> twists;  // by motion; empty for one that stands still
  };
  double extent = 0;
  for (const std::size_t b : piece.parts.bodies)
    for (const double x : s.q.segment(system.bodies()[b].first, system.bodies()[b].size))
      extent = std::max(extent, std::abs(x));
  const double fast = V.size() ? V.cwiseAbs().maxCoeff() : 0;
  std::vector<Group> groups(1);
  std::vector<std::size_t> particles;
  const auto fits = [&](const Group& g, std::size_t body, const std::vector<Twist>& twists) {
    for (std::size_t k = 0; k < twists.size(); ++k) {
      const Twist reference = g.twists.empty() ? Twist{.turns = true} : g.twists[k];
      const Twist& t = twists[k];
      if (t.turns && (t.w - reference.w).norm() > same * fast) return false;
      const Vec3<double> off = t.turns ? Vec3<double>(t.v - reference.v) : Vec3<double>(t.v - reference.of(t.at));
      if (off.norm() > same * fast * std::max(1.0, extent)) return false;
    }
    return system.bodies()[body].size > 0;
  };
  const auto put = [&](std::size_t body, Index at, bool turning) {
    std::vector<Twist> twists;
    for (Index k = 0; k < V.cols(); ++k)
      if (const auto t = twist(system, s, body, V.col(k).data() + at)) twists.push_back(*t);
    const auto& b = system.bodies()[body];
    if (static_cast<Index>(twists.size()) < V.cols()) {  // not rigid
      if (turning && V.middleRows(at, b.size).cwiseAbs().maxCoeff() <= same * fast)
        groups.front().bodies.push_back(body);
      return;
    }
    const bool turns = twists.empty() ? turning : twists.front().turns;
    if (turns != turning) return;
    for (Group& g : groups)
      if (fits(g, body, twists)) {
        g.bodies.push_back(body);
        return;
      }
    if (turns) groups.push_back({{body}, std::move(twists)});
  };
  for (const bool turning : {true, false})  // particles join bodies that turn
    for (std::size_t k = 0; k < piece.at.size(); ++k) put(piece.parts.bodies[k], piece.at[k], turning);
  std::vector<std::vector<std::size_t>> out;
  for (Group& g : groups) out.push_back(std::move(g.bodies));
  return out;
}

// Motions of a piece that rows without drives allow.
MatrixXd motions_without(const System& system, const Evaluation& e, const std::vector<bool>& driven, const Piece& piece,
                         const VectorXd& sizes) {
  const VectorXd d = piece.part_of(system, sizes).unaryExpr([](double x) { return x > 0 ? x : 1; });
  MatrixXd J = piece.slopes(system, e, d, [&](std::size_t i) { return driven[i]; });
  for (Index i = 0; i < J.rows(); ++i)
    if (const double largest = J.row(i).cwiseAbs().maxCoeff(); largest > 0) J.row(i) /= largest;
  const Svd rows(J);
  return d.asDiagonal() * rows.null_space(rows.count_above(tolerance::no_motion));
}

// What moves as one, and hangs together: bodies, and the constraints between them; with the ground if they stand still.
struct Cluster {
  Parts parts;
  bool stands = true;
};

std::vector<Cluster> clusters(const System& system, const Evaluation& e, const std::vector<bool>& driven,
                              const Piece& piece, const VectorXd& sizes) {
  std::vector<Cluster> out;
  const auto groups = moving_as_one(system, e.state, piece, motions_without(system, e, driven, piece, sizes));
  std::map<std::size_t, std::size_t> place;  // of the bodies in the piece
  for (const std::size_t b : piece.parts.bodies) place.emplace(b, place.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::set<std::size_t> in(groups[g].begin(), groups[g].end());
    const auto joins = [&](std::size_t i) {
      const auto& bodies = system.constraints()[i].bodies;
      return !std::binary_search(e.state.off.begin(), e.state.off.end(), i) &&
             std::all_of(bodies.begin(), bodies.end(),
                         [&](std::size_t b) { return system.bodies()[b].size == 0 ? g == 0 : in.count(b) > 0; });
    };
    std::vector<std::size_t> constraints;
    Components together(place.size());
    for (const std::size_t i : piece.parts.constraints) {
      if (!joins(i)) continue;
      constraints.push_back(i);
      std::optional<std::size_t> first;
      for (const std::size_t b : system.constraints()[i].bodies)
        if (in.count(b)) together.join(place[first.value_or(b)], place[b]), first = b;
    }
    for (const auto& members : together.parts()) {
      Cluster c;
      c.stands = g == 0;
      for (const std::size_t k : members)
        if (const std::size_t b = piece.parts.bodies[k]; in.count(b)) c.parts.bodies.push_back(b);
      const std::set<std::size_t> own(c.parts.bodies.begin(), c.parts.bodies.end());
      for (const std::size_t i : constraints) {
        const auto& bodies = system.constraints()[i].bodies;
        if (std::any_of(bodies.begin(), bodies.end(), [&](std::size_t b) { return own.count(b) > 0; }))
          c.parts.constraints.push_back(i);
      }
      if (!c.parts.bodies.empty() && !c.parts.constraints.empty()) out.push_back(std::move(c));
    }
  }
  return out;
}

// Of bodies that move as one: what a rigid body has there.
Index rigid_dof(const System& system, const Cluster& c) {
  if (c.stands) return 0;
  Index out = 0;
  for (const std::size_t b : c.parts.bodies) out = std::max<Index>(out, system.bodies()[b].model->turns(3) ? 6 : 3);
  return out;
}

bool parallel(const System& system, const State& s, const Locked::Skew& x) {
  Vec3<double> axes[2];
  std::size_t n = 0;
  for (const auto& c : system.constraints())
    if (c.name == x.joint || c.name == x.other)
      if (const auto axis = c.model->axis(s, system.firsts(c.bodies)); axis && n < 2) axes[n++] = axis->normalized();
  constexpr double nearly = 1e-5;  // [rad]
  return n == 2 && axes[0].cross(axes[1]).norm() < nearly;
}

std::string should_move(const System& system, const Evaluation& e, const Cluster& cluster,
                        const std::vector<bool>& driven, const std::vector<std::size_t>& in_loops) {
  const Parts& parts = cluster.parts;
  for (const std::size_t i : parts.constraints)
    if (driven[i]) return fmt::format("'{}' drives it", system.constraints()[i].name);
  const std::set<std::size_t> bodies(parts.bodies.begin(), parts.bodies.end());
  for (const auto& f : system.forces())
    if (const std::string kind = f.model->kind(); kind == "motor")
      if (std::all_of(f.bodies.begin(), f.bodies.end(),
                      [&](std::size_t b) { return system.bodies()[b].size == 0 ? cluster.stands : bodies.count(b); }))
        return fmt::format("motor '{}' acts on it", f.name);
  for (const std::size_t b : parts.bodies) {
    const auto& body = system.bodies()[b];
    if (cluster.stands && e.state.v.segment(body.first, body.size).cwiseAbs().maxCoeff() > 0)
      return fmt::format("'{}' has a speed at the start", body.name);
  }
  for (const std::size_t i : parts.constraints)
    if (const auto& c = system.constraints()[i]; cluster.stands && c.holonomic < c.rows)
      return fmt::format("'{}' restricts speeds only, not places", c.name);
  // Of parts that move, what slides may have been fastened by purpose.
  static const std::set<std::string> fastened{"coupling", "prismatic", "cylindrical", "slider"};
  for (const std::size_t i : in_loops)
    if (const std::string kind = system.constraints()[i].model->kind();
        moves_by_purpose(kind) && (cluster.stands || !fastened.count(kind)))
      return fmt::format("'{}' could move, but for its loop", system.constraints()[i].name);
  return "";
}

}  // namespace

void find_locked(const System& system, const Evaluation& e, RankReport& report, const RankOptions& options) {
  // Positions that contradict each other are another matter; speeds may do so since it is locked.
  const auto of_velocity = [](const Start::Gap& g) { return g.velocity; };
  const bool placed = !report.start || (report.start->reachable && !report.start->far) ||
                      std::all_of(report.start->gaps.begin(), report.start->gaps.end(), of_velocity);
  const auto agrees = [](const RedundantRow& r) {
    return r.consistent || (r.flat == RedundantRow::Flat::no && r.level != RedundantRow::Level::positions);
  };
  const bool closed =
      report.turned.empty() && placed && std::all_of(report.redundant.begin(), report.redundant.end(), agrees);
  if (!closed || report.singular) return;
  std::vector<Piece> all = pieces(system);
  std::erase_if(all, [](const Piece& p) { return p.size == 0 || p.size > dense_at_most; });
  if (all.empty()) return;
  const bool contradicts = std::any_of(report.redundant.begin(), report.redundant.end(),
                                       [](const RedundantRow& r) { return !r.consistent; });
  const std::vector<bool> driven = drives(system, e);
  const VectorXd d = sizes(system, e.state.q);
  std::vector<Cluster> found;
  for (const Piece& piece : all)
    for (Cluster& c : clusters(system, e, driven, piece, d)) found.push_back(std::move(c));
  for (const Cluster& cluster : found) {
    const Parts& p = cluster.parts;
    const auto freedom = [&](std::optional<std::size_t> but) {
      return dof(system, e, without(p, [&](std::size_t i) { return driven[i] || i == but; }), options);
    };
    if (!cluster.stands && p.bodies.size() < 2) continue;
    const Index rigid = rigid_dof(system, cluster);
    if (freedom({}) > rigid) continue;  // it moves as one for what is around it, or at this pose
    Locked l;
    for (const std::size_t b : p.bodies) l.bodies.push_back(system.bodies()[b].name);
    std::vector<std::size_t> joints;  // in loops
    for (const bool purpose : {true, false})
      for (const std::size_t i : p.constraints) {
        const auto& c = system.constraints()[i];
        if (c.own || driven[i] || moves_by_purpose(c.model->kind()) != purpose) continue;
        const auto walk = system.graph().loop(p.constraints, i);
        if (walk.empty()) continue;
        joints.push_back(i);
        if (!l.loop.empty()) continue;
        for (std::size_t k = 0; k < walk.size(); k += 2) {
          l.loop.push_back(system.constraints()[walk[k]].name);
          l.loop.push_back(walk[k + 1] == SystemGraph::ground ? "ground" : system.bodies()[walk[k + 1]].name);
        }
      }
    std::sort(joints.begin(), joints.end());
    const std::vector<std::size_t> in_loops = joints;
    for (const std::size_t i : p.constraints)  // what holds a body's coordinates or speeds by itself closes loops, too
      if (const auto& c = system.constraints()[i]; !c.own && !driven[i] && c.bodies.size() == 1) joints.push_back(i);
    std::sort(joints.begin(), joints.end());
    l.skew = skew_axes(system, e.state, joints);
    l.why = should_move(system, e, cluster, driven, in_loops);
    if (l.why.empty() && !l.skew.empty())
      l.why = fmt::format("the axes of '{}' and '{}' are {} but for {:.3g} deg", l.skew[0].joint, l.skew[0].other,
                          parallel(system, e.state, l.skew[0]) ? "in line" : "parallel", l.skew[0].angle);
    if (contradicts && l.loop.empty()) continue;                         // drives against each other
    if (l.why.empty() && (report.dof > 0 || !cluster.stands)) continue;  // a frame, beside what moves
    if (joints.empty())
      for (const std::size_t i : p.constraints)
        if (!system.constraints()[i].own && !driven[i]) joints.push_back(i);
    for (const std::size_t i : joints) l.joints.push_back(system.constraints()[i].name);
    for (const Locked::Skew& x : l.skew)
      l.remedies.push_back(fmt::format("{} that of {}: they are {:.3g} deg apart",
                                       parallel(system, e.state, x)
                                           ? fmt::format("bring the axis of {} in line with", x.joint)
                                           : fmt::format("make the axis of {} parallel to", x.joint),
                                       x.other, x.angle));
    std::vector<std::pair<Index, std::size_t>> removed;
    if (!l.why.empty())
      for (const std::size_t i : joints)
        if (const Index freed = freedom(i) - rigid; freed > 0) removed.emplace_back(freed, i);
    // What was added last first, as an engineer would.
    std::sort(removed.begin(), removed.end(),
              [](const auto& a, const auto& b) { return std::pair(a.first, b.second) < std::pair(b.first, a.second); });
    for (const auto& [freed, i] : removed)
      l.remedies.push_back(fmt::format("remove {}: {} DOF without it", system.constraints()[i].name, freed));
    if (!l.why.empty() && l.remedies.empty())
      l.remedies.push_back(fmt::format("remove more than one of {}: without any one of them it is locked all the same",
                                       joined(l.joints)));
    report.locked.push_back(std::move(l));
  }
  // A change that leaves everything locked is no remedy.
  if (std::any_of(report.locked.begin(), report.locked.end(), [](const Locked& l) { return !l.why.empty(); }))
    report.mends.clear();
}

}  // namespace mortise::report
