// The start: whether a state meets the constraints, whether one near it does, and whether its pose is singular.

#include <mortise/diagnosis/report.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include <mortise/assembly/system_graph.h>
#include <mortise/core/decompositions.h>
#include <mortise/core/tolerances.h>
#include <mortise/engine/dynamics.h>

namespace mortise {
namespace {

// Of a weld in the plane: the angle [rad] between the directions that it holds together, in [0, pi].
std::optional<double> planar_turn(const System& system, const State& s, const System::ConstraintInfo& c) {
  if (c.bodies.size() != 2) return {};
  const auto frames = c.model->welded_frames();
  const auto& a = system.bodies()[c.bodies[0]];
  const auto& b = system.bodies()[c.bodies[1]];
  if (!frames || !a.model->has(Ask::direction, 2) || !b.model->has(Ask::direction, 2)) return {};
  Vec2<double> x, y;
  a.model->locate(Ask::direction, {frames->a.axes.col(0).data(), 2}, s.q.data() + a.first, x.data());
  b.model->locate(Ask::direction, {frames->b.axes.col(0).data(), 2}, s.q.data() + b.first, y.data());
  return std::acos(std::clamp(x.dot(y), -1.0, 1.0));
}

}  // namespace

std::vector<TurnedJoint> turned_joints(const System& system, const State& s) {
  std::vector<TurnedJoint> out;
  for (std::size_t i = 0; i < system.constraints().size(); ++i) {
    const auto& c = system.constraints()[i];
    if (c.bodies.size() != 2 || std::binary_search(s.off.begin(), s.off.end(), i)) continue;
    const Index first[] = {system.bodies()[c.bodies[0]].first, system.bodies()[c.bodies[1]].first};
    const auto turned = c.model->turned(s, first);
    if (!turned || !turned->frames || turned->angle <= std::numbers::pi / 2) continue;
    std::string body;
    for (const std::size_t b : c.bodies)
      if (system.bodies()[b].size > 0) body = system.bodies()[b].name;
    out.push_back({c.name, std::move(body), turned->angle * 180 / std::numbers::pi});
  }
  return out;
}

}  // namespace mortise

namespace mortise::report {
namespace {

constexpr std::size_t told_at_most = 50;  // rows

std::vector<Start::Gap> sorted(std::vector<std::pair<double, Start::Gap>> gaps) {
  std::stable_sort(gaps.begin(), gaps.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Start::Gap> out;
  for (auto& [_, gap] : gaps)
    if (out.size() < told_at_most) out.push_back(std::move(gap));
  return out;
}

bool touches_nothing(double off, double size) { return size <= tolerance::touches_nothing * std::abs(off) && off != 0; }

// Sizes of rows that are off by so much: one that touches no coordinate has none but this.
VectorXd with_still_rows(VectorXd size, const VectorXd& off) {
  for (Index i = 0; i < size.size(); ++i)
    size[i] = touches_nothing(off[i], size[i]) ? std::abs(off[i]) : std::max(size[i], 1e-300);
  return size;
}

// Least squares of all rows, each in its own size, by damped Gauss-Newton steps.
State compromise(const System& system, State s, const VectorXd& size) {
  constexpr int most = 200;
  double damping = 1e-3, last = std::numeric_limits<double>::infinity();
  const VectorXd d = sizes(system, s.q).cwiseMax(1e-300);
  State best = s;
  MatrixXd J;
  VectorXd r;
  for (int i = 0; i < most && damping < 1e12; ++i) {
    const Evaluation e = system.evaluate(s);
    const VectorXd now = e.phi.cwiseQuotient(size);
    if (J.size() == 0 && !std::isfinite(now.norm())) return s;
    if (!(now.norm() < last)) {
      damping *= 10;
    } else {
      const bool done = std::isfinite(last) && last - now.norm() <= 1e-14 * last;
      last = now.norm(), best = s, damping = std::max(damping / 10, 1e-12);
      J = size.cwiseInverse().asDiagonal() * e.dense_A() * d.asDiagonal();
      r = now;
      if (done || last < 1e-15) break;
    }
    const MatrixXd normal = J.transpose() * J + damping * MatrixXd::Identity(J.cols(), J.cols());
    s = best;
    s.q -= d.cwiseProduct(Ldlt(normal).solve(J.transpose() * r));
    if (!s.q.allFinite()) break;
  }
  return best;
}

// How far a start may move [m]: many times the largest length of the model, or very many times the smaller one of its
// extent at the start and of the distances of joints from their bodies' origins, which tells of mixed units.
double longest_way(const System& system, const State& s) {
  constexpr double many = 10, very_many = 100;
  double largest = 0, points = 0;
  for (const auto& b : system.bodies()) {
    const auto units = b.model->units();
    for (Index i = 0; i < b.size; ++i)
      if (units[static_cast<std::size_t>(i)] == "m") largest = std::max(largest, std::abs(s.q[b.first + i]));
  }
  for (const auto& c : system.constraints())
    for (const auto& p : c.model->sketch().points) points = std::max(points, p.value.norm());
  const double smaller = std::min(largest, points), larger = std::max(largest, points);
  return smaller > 0 ? std::min(many * larger, very_many * smaller) : many * larger;
}

// Whether the start has to move so far that it is another one: by many lengths of the model, or by half a turn.
void judge_distance(const System& system, const State& s, const State& near, Start& start) {
  const double longest = longest_way(system, s);
  double farthest = 1;
  for (const auto& b : system.bodies()) {
    const auto units = b.model->units();
    for (Index i = 0; i < b.size; ++i) {
      const std::string& unit = units[static_cast<std::size_t>(i)];
      const double moved = std::abs(near.q[b.first + i] - s.q[b.first + i]);
      const double most = unit == "m" ? longest : std::numbers::pi;
      if ((unit != "m" && unit != "rad") || !(most > 0) || moved <= farthest * most) continue;
      start.far = true;
      start.farthest = system.coordinate(b.first + i), start.moved = near.q[b.first + i] - s.q[b.first + i];
      farthest = moved / most;
    }
  }
}

// Variables of first order have the rates that their law gives them, whatever the start says.
bool rate_of_states(const System& system, const System::ConstraintInfo& c) {
  return c.model->kind() == "rate" && system.bodies()[c.bodies[0]].model->kind() == "states";
}

}  // namespace

std::vector<Piece> pieces(const System& system) {
  const auto& all = system.graph().components();
  std::vector<Piece> out(all.count);
  for (std::size_t b = 0; b < system.bodies().size(); ++b) {
    if (system.bodies()[b].size == 0) continue;
    Piece& p = out[all.of_body[b]];
    p.parts.bodies.push_back(b);
    p.at.push_back(p.size);
    p.size += system.bodies()[b].size;
  }
  for (std::size_t i = 0; i < system.constraints().size(); ++i)
    out[all.of_constraint[i]].parts.constraints.push_back(i);
  return out;
}

VectorXd Piece::part_of(const System& system, const VectorXd& q) const {
  VectorXd out(size);
  for (std::size_t k = 0; k < at.size(); ++k) {
    const auto& b = system.bodies()[parts.bodies[k]];
    out.segment(at[k], b.size) = q.segment(b.first, b.size);
  }
  return out;
}

void Piece::add(const System& system, const VectorXd& part, VectorXd& q) const {
  for (std::size_t k = 0; k < at.size(); ++k) {
    const auto& b = system.bodies()[parts.bodies[k]];
    q.segment(b.first, b.size) += part.segment(at[k], b.size);
  }
}

MatrixXd Piece::slopes(const System& system, const Evaluation& e, const VectorXd& d,
                       const FunctionRef<bool(std::size_t)>& without) const {
  const auto place = [&](std::size_t body) {
    const auto it = std::lower_bound(parts.bodies.begin(), parts.bodies.end(), body);
    return it != parts.bodies.end() && *it == body ? at[static_cast<std::size_t>(it - parts.bodies.begin())] : -1;
  };
  Index rows = 0;
  for (const std::size_t i : parts.constraints) rows += system.constraints()[i].rows;
  MatrixXd J = MatrixXd::Zero(rows, size);
  rows = 0;
  for (const std::size_t i : parts.constraints) {
    const auto& c = system.constraints()[i];
    if (!without(i) && !std::binary_search(e.state.off.begin(), e.state.off.end(), i))
      for (std::size_t k = 0; k < c.bodies.size(); ++k)
        if (const Index x = place(c.bodies[k]); x >= 0)
          J.block(rows, x, c.rows, system.bodies()[c.bodies[k]].size) += e.A(c.block + k);
    rows += c.rows;
  }
  return J * d.asDiagonal();
}

std::optional<State> met_near(const System& system, State s, const VectorXd& d) {
  return met_near(system, std::move(s), d, pieces(system));
}

std::optional<State> met_near(const System& system, State s, const VectorXd& d, const std::vector<Piece>& pieces) {
  constexpr int most = 30;
  constexpr double close = tolerance::projected;
  for (int k = 0; k < most; ++k) {
    const Evaluation e = system.evaluate(s);
    bool met = true;
    for (const Piece& piece : pieces) {
      const VectorXd own = piece.part_of(system, d);
      MatrixXd J = piece.slopes(system, e, own, [](std::size_t) { return false; });
      VectorXd r(J.rows());
      Index row = 0;
      for (const std::size_t i : piece.parts.constraints) {
        const auto& c = system.constraints()[i];
        r.segment(row, c.rows) = e.phi.segment(c.row, c.rows);
        J.middleRows(row + c.holonomic, c.rows - c.holonomic).setZero();
        r.segment(row + c.holonomic, c.rows - c.holonomic).setZero();
        row += c.rows;
      }
      const VectorXd size = J.cwiseAbs().rowwise().sum().cwiseMax(1e-300);
      r = r.cwiseQuotient(size);
      if (!r.allFinite()) return {};
      if (r.size() == 0 || r.cwiseAbs().maxCoeff() <= close) continue;
      met = false;
      piece.add(system, -own.cwiseProduct(LeastSquares(size.cwiseInverse().asDiagonal() * J, close).solve(r)), s.q);
    }
    if (met) return s;
  }
  return {};
}

void look_around_free(const System& system, const Evaluation& e, RankReport& report, const RankOptions& options) {
  constexpr double step = 1e-3;  // of the sizes of the coordinates
  constexpr int tries = 4;
  std::vector<Piece> free;
  for (Piece& p : pieces(system)) {
    const auto moves = [&](const FreeDirection& f) {
      return std::any_of(p.parts.bodies.begin(), p.parts.bodies.end(), [&](std::size_t b) {
        const auto& body = system.bodies()[b];
        for (Eigen::SparseVector<double>::InnerIterator x(f.direction); x; ++x)
          if (x.index() >= body.first && x.index() < body.first + body.size) return true;
        return false;
      });
    };
    if (!std::any_of(report.free.begin(), report.free.end(), moves)) continue;
    if (p.size > dense_at_most) return;
    free.push_back(std::move(p));
  }
  if (free.empty()) return;
  Parts parts;  // all of them
  for (const Piece& p : free) {
    parts.bodies.insert(parts.bodies.end(), p.parts.bodies.begin(), p.parts.bodies.end());
    parts.constraints.insert(parts.constraints.end(), p.parts.constraints.begin(), p.parts.constraints.end());
  }
  std::sort(parts.bodies.begin(), parts.bodies.end());
  std::sort(parts.constraints.begin(), parts.constraints.end());
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const VectorXd d = sizes(system, e.state.q);
  std::vector<MatrixXd> motions;
  for (const Piece& p : free) {
    const Svd rows(p.slopes(system, e, p.part_of(system, d), [](std::size_t) { return false; }));
    motions.push_back(rows.null_space(rows.count_above(tolerance::no_motion * (rows.s.size() ? rows.s[0] : 0))));
  }
  for (int k = 0; k < tries; ++k) {
    State moved = e.state;
    for (std::size_t p = 0; p < free.size(); ++p) {
      VectorXd x(motions[p].cols());
      for (double& value : x) value = uniform(random);
      free[p].add(system, step * free[p].part_of(system, d).cwiseProduct(motions[p] * x), moved.q);
    }
    moved.v.setZero();
    try {
      const auto there = met_near(system, moved, d, free);
      if (!there) continue;
      const SparseRank near = rank_of(system, system.evaluate(*there), parts, options);
      const auto n = static_cast<Index>(near.N.size());
      report.free_near = std::min(report.free_near.value_or(n), n);
    } catch (const Error&) {  // a part that gives no numbers there
    }
  }
}

void look_at_start(const System& system, const Evaluation& e, RankReport& report) {
  const State& s = e.state;
  Engine engine(system);
  engine.evaluate(s);
  VectorXd fast = s.v.cwiseAbs();
  {
    const VectorXd lengths = sizes(system, s.v);  // the largest speed of all lengths; turning at its own
    for (const auto& b : system.bodies()) {
      const auto units = b.model->units();
      for (Index i = 0; i < b.size; ++i)
        if (units[static_cast<std::size_t>(i)] == "m") fast[b.first + i] = lengths[b.first + i];
    }
  }
  const VectorXd size = sizes_of_rows(system, e, sizes(system, s.q)), pace = sizes_of_rows(system, e, fast);
  std::vector<std::pair<double, Start::Gap>> gaps;
  const auto relative = [](double x, double of) { return std::abs(x) / (of + tolerance::tiny); };
  const auto degrees_apart = [&](const System::ConstraintInfo& c) {
    const auto turned = c.model->turned(s, system.firsts(c.bodies));
    return turned ? turned->angle * 180 / std::numbers::pi : 0;
  };
  for (const auto& c : system.constraints())
    for (Index i = rate_of_states(system, c) ? c.row + c.rows : c.row; i < c.row + c.rows; ++i) {
      const bool position = i < c.row + c.holonomic;
      const double rate = position ? engine.rate()[i] : e.phi[i];
      const bool met_by_itself = c.own && system.bodies()[c.bodies[0]].model->meets_own_rows();
      if (position && relative(e.phi[i], size[i]) > tolerance::start_met)
        gaps.push_back({relative(e.phi[i], size[i]),
                        {system.row(i).name, e.phi[i], false, touches_nothing(e.phi[i], size[i]), degrees_apart(c)}});
      else if (!met_by_itself && relative(rate, pace[i]) > tolerance::start_met)
        gaps.push_back({relative(rate, pace[i]), {system.row(i).name, rate, true}});
    }
  for (const auto& c : system.constraints())
    if (const auto angle = planar_turn(system, s, c); angle && *angle > std::numbers::pi / 2 * (1 + 1e-9)) {
      const double off = std::sin(*angle);  // 0 where it has come to rest half a turn off
      gaps.push_back({std::numbers::pi,
                      {system.row(c.row + c.rows - 1).name, off, false, false, *angle * 180 / std::numbers::pi}});
    }
  if (gaps.empty()) return;
  Start start;
  start.gaps = sorted(std::move(gaps));
  State near = s;
  try {
    Dynamics dynamics(system);
    start.reachable = !dynamics.project_positions(near) &&  // free directions have no velocity of their own
                      (!report.free.empty() || !dynamics.project_velocities(near));
  } catch (const Error&) {  // a part that gives no numbers on the way
    start.reachable = false;
  }
  const bool positions = std::any_of(start.gaps.begin(), start.gaps.end(), [](const auto& g) { return !g.velocity; });
  if (!start.reachable && positions && system.size() <= dense_at_most) {
    const VectorXd reach = with_still_rows(size, e.phi);
    near = compromise(system, s, reach);
    const VectorXd phi = system.evaluate(near).phi;
    std::vector<std::pair<double, Start::Gap>> left;
    for (Index i = 0; i < phi.size(); ++i)
      if (relative(phi[i], reach[i]) > tolerance::compromise_met)
        left.push_back({relative(phi[i], reach[i]), {system.row(i).name, phi[i]}});
    start.left = sorted(std::move(left));
    start.reachable = start.left.empty();
    const double longest = longest_way(system, s);
    if (!start.reachable && longest > 0)
      for (Index i = 0; i < e.phi.size(); ++i)
        start.far = start.far || (std::abs(e.phi[i]) > longest && system.row(i).removes.starts_with("translation"));
  }
  if (start.reachable) {
    const VectorXd step = (near.q - s.q).cwiseQuotient(sizes(system, s.q).cwiseMax(1e-300)).cwiseAbs();
    Index most = 0;
    if (step.size() > 0 && step.maxCoeff(&most) > tolerance::projected) {
      start.farthest = system.coordinate(most), start.moved = near.q[most] - s.q[most];
      judge_distance(system, s, near, start);
      // Axes that are perpendicular may come together either way.
      constexpr double right = 90, about = 5;  // [degrees]
      start.far = start.far || std::any_of(start.gaps.begin(), start.gaps.end(),
                                           [&](const Start::Gap& g) { return std::abs(g.apart - right) < about; });
    }
    if (report.turned.empty()) report.turned = turned_joints(system, near);
  }
  report.start = std::move(start);
}

void look_around(const System& system, const Evaluation& e, RankReport& report, const RankOptions& options) {
  const bool without_effect = std::all_of(report.redundant.begin(), report.redundant.end(), [](const RedundantRow& r) {
    return r.flat == RedundantRow::Flat::everywhere;
  });
  if (without_effect || !report.consistent() || !report.free.empty()) return;
  constexpr double step = 1e-3;  // of the sizes of the coordinates
  const int tries = system.size() <= dense_at_most ? 3 : 1;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const VectorXd d = sizes(system, e.state.q);
  Index least = static_cast<Index>(report.redundant.size());
  std::optional<State> regular;
  for (int k = 0; k < tries && least > 0; ++k) {
    State drift = e.state, moved = e.state;
    drift.v.setZero();
    for (Index i = 0; i < moved.v.size(); ++i) moved.v[i] = uniform(random) * (d[i] > 0 ? d[i] : 1);
    try {
      Dynamics dynamics(system);
      if (dynamics.project_velocities(drift) || dynamics.project_velocities(moved)) continue;
      moved.q += step * (moved.v - drift.v);
      moved.v.setZero();
      if (dynamics.project_positions(moved)) continue;
      const SparseRank near = rank_of(system, system.evaluate(moved), options);
      if (const auto n = static_cast<Index>(near.redundant.size()); n < least) least = n, regular = moved;
    } catch (const Error&) {  // a part that gives no numbers there
    }
  }
  if (!regular) return;
  SingularPose pose{static_cast<Index>(report.redundant.size()) - least, {}, {}};
  if (system.size() <= dense_at_most) {
    // What moves here and not there.
    const VectorXd scale = d.unaryExpr([](double x) { return x > 0 ? x : 1; });
    const auto null = [&](const Evaluation& at, Index rank) {
      return Svd(at.dense_A() * scale.asDiagonal()).null_space(rank);
    };
    const MatrixXd here = null(e, report.rank.rank_A),
                   there = null(system.evaluate(*regular), report.rank.rank_A + pose.gained);
    const Svd gained(here - there * (there.transpose() * here));
    for (Index k = 0; k < std::min(pose.gained, gained.s.size()); ++k) {
      VectorXd x = here * gained.V.col(k);
      const double largest = x.cwiseAbs().maxCoeff();
      SparseList direction;
      for (Index i = 0; i < x.size(); ++i)
        if (std::abs(x[i]) > tolerance::visible_share * largest) direction.push_back({i, x[i] * scale[i]});
      for (const std::string& m : motions(system, e.state, direction)) pose.motions.push_back(m);
      for (const auto& [i, _] : direction) pose.coordinates.push_back(system.coordinate(i));
    }
  }
  report.singular = std::move(pose);
  report.mends.clear();  // the rows are needed elsewhere
}

}  // namespace mortise::report
