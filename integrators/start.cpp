#include <mortise/integrators/start.h>

#include <algorithm>
#include <cmath>

#include <mortise/core/decompositions.h>
#include <mortise/core/tolerances.h>
#include <mortise/engine/tangent.h>

namespace mortise {
namespace {

constexpr double met = tolerance::projected;  // by rows

struct Held {
  std::vector<char> q, v;
};
Held find(const System& system, const std::vector<std::string>& names) {
  const auto n = static_cast<std::size_t>(system.size());
  Held out{std::vector<char>(n, 0), std::vector<char>(n, 0)};
  for (const std::string& name : names) {
    const bool velocity = !name.empty() && name.back() == '\'';
    const auto range = system.names()->find(velocity ? name.substr(0, name.size() - 1) : name);
    for (Index i = range.first; i < range.first + range.size; ++i)
      (velocity ? out.v : out.q)[static_cast<std::size_t>(i)] = 1;
  }
  return out;
}

std::vector<Index> not_held(const std::vector<char>& held) {
  std::vector<Index> free;
  for (std::size_t i = 0; i < held.size(); ++i)
    if (!held[i]) free.push_back(static_cast<Index>(i));
  return free;
}
// By entries: gcc 12 warns of indexed views on the left.
VectorXd spread(const VectorXd& x, const std::vector<Index>& free, Index n) {
  VectorXd out = VectorXd::Zero(n);
  for (std::size_t i = 0; i < free.size(); ++i) out[free[i]] = x[static_cast<Index>(i)];
  return out;
}

// The slopes B of rows over the coordinates that are not held, turned so that lengths are those of the norm of M.
struct Weighed {
  std::vector<Index> free;
  Cholesky factor;
  MatrixXd B;

  Weighed(const Evaluation& e, const MatrixXd& A, const std::vector<char>& held)
      : free(not_held(held)),
        factor(weights(e.dense_M()(free, free))),
        B(factor.over_lower(A(Eigen::all, free).transpose()).transpose()) {}
  static MatrixXd weights(MatrixXd D) {
    const double mean = D.size() ? D.diagonal().mean() : 0;
    constexpr double massless = 1e-6;  // share of the mean mass that coordinates without mass are given, to move first
    D.diagonal().array() += mean > 0 ? massless * mean : 1;
    return D;
  }
  // The change of the coordinates for y; the rows change by B y.
  VectorXd change(const VectorXd& y, Index n) const { return spread(factor.over_upper(y), free, n); }
};

VectorXd holonomic(const System& system, const Evaluation& e) {
  VectorXd phi = e.phi;
  for (const auto& c : system.constraints()) phi.segment(c.row + c.holonomic, c.rows - c.holonomic).setZero();
  return phi;
}
MatrixXd holonomic_slopes(const System& system, const Evaluation& e) {
  MatrixXd A = e.dense_A();
  for (const auto& c : system.constraints()) A.middleRows(c.row + c.holonomic, c.rows - c.holonomic).setZero();
  return A;
}
double extent(const VectorXd& x) { return std::max(1.0, x.size() ? x.cwiseAbs().maxCoeff() : 0); }

// The joints whose rows are off the most, in words: "'hinge' 0.12, 'rod' 0.03".
std::string largest_gaps(const System& system, const VectorXd& off) {
  std::vector<std::pair<double, std::string>> gaps;
  const double most = off.size() ? off.cwiseAbs().maxCoeff() : 0;
  for (const auto& c : system.constraints())
    if (const double gap = off.segment(c.row, c.rows).cwiseAbs().maxCoeff(); gap > 1e-3 * most)
      gaps.emplace_back(gap, c.name);
  std::stable_sort(gaps.begin(), gaps.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr std::size_t told = 5;
  std::string out;
  for (std::size_t i = 0; i < std::min(told, gaps.size()); ++i)
    out += fmt::format("{}'{}' {:.2g}", i ? ", " : "", gaps[i].second, gaps[i].first);
  return out + (gaps.size() > told ? ", ..." : "");
}

[[noreturn]] void fail(const System& system, const char* what, const VectorXd& off, bool contradict,
                       const StartOptions& options) {
  std::string fact = fmt::format("no {} on the constraints were found near it", what);
  if (!options.held.empty()) fact += fmt::format(" with {} held", fmt::join(options.held, ", "));
  fact += "; the joints that are off the most: " + largest_gaps(system, off);
  if (contradict) fact += "; they contradict each other: what brings one nearer takes another away";
  Label{"start of", system.name()}.fail<NotConverged>(
      fact, contradict ? "change one of them, or hold less" : "start nearer to a pose that can be");
}

// Levenberg and Marquardt: comes as near as can be, also where rows contradict each other.
void move_positions(const System& system, State& s, const Held& held, const StartOptions& options) {
  constexpr int most = 500;
  constexpr double flat = 1e-7;  // the rows pull with less than this share of themselves
  Evaluation e = system.evaluate(s);
  VectorXd phi = holonomic(system, e);
  double damping = 1e-6;  // of the largest curvature
  bool contradict = false;
  for (int k = 0; k < most; ++k) {
    if (phi.size() == 0 || phi.cwiseAbs().maxCoeff() <= met * extent(s.q)) return;
    const Weighed w(e, holonomic_slopes(system, e), held.q);
    const VectorXd pull = w.B.transpose() * phi;
    MatrixXd H = w.B.transpose() * w.B;
    const double curvature = H.size() ? H.diagonal().maxCoeff() : 0;
    contradict = pull.norm() <= flat * std::sqrt(curvature) * phi.norm();
    if (contradict) break;
    for (;; damping *= 4) {
      MatrixXd damped = H;
      damped.diagonal().array() += damping * curvature;
      State trial = s;
      trial.q -= w.change(Ldlt(damped).solve(pull), system.size());
      const Evaluation there = system.evaluate(trial);
      const VectorXd off = holonomic(system, there);
      if (off.norm() < phi.norm() || damping > 1e12) {
        s = trial, e = there, phi = off;
        damping = std::max(1e-15, damping / 10);
        break;
      }
    }
  }
  fail(system, "positions", phi, contradict, options);
}

void move_velocities(const System& system, Solver& solver, State& s, const Held& held, const StartOptions& options) {
  constexpr int most = 30;
  VectorXd off;
  for (int k = 0; k < most; ++k) {
    const Evaluation e = system.evaluate(s);
    off = solver.gaps(s).velocities;
    for (const auto& c : system.constraints())  // which the solver leaves to the bodies
      if (c.own)
        off.segment(c.row, c.rows) =
            e.A(c.block) * s.v.segment(system.bodies()[c.bodies[0]].first, e.A(c.block).cols());
    if (off.size() == 0 || off.cwiseAbs().maxCoeff() <= met * extent(s.v)) return;
    const Weighed w(e, e.dense_A(), held.v);
    s.v -= w.change(LeastSquares(w.B).solve(off), system.size());
  }
  fail(system, "velocities", off, true, options);
}

State found_near(const System& system, State s, const StartOptions& options) {
  system.require_state(s);
  Solver solver(system, options.solver);
  const Held held = find(system, options.held);
  if (options.held.empty()) {
    State near = s;
    try {
      solver.project_positions(near);
      solver.project_velocities(near);
      return near;
    } catch (const NotConverged&) {
      constexpr Index dense = 3000;
      (void)system.evaluate(near);  // if it is a functor that is not finite there, that is the reason
      if (system.size() > dense) fail(system, "positions", solver.gaps(near).positions, false, options);
    }
  }
  move_positions(system, s, held, options);
  if (options.held.empty()) {
    solver.project_positions(s);
    solver.project_velocities(s);
  } else {
    move_velocities(system, solver, s, held, options);
  }
  return s;
}

}  // namespace

State consistent(const System& system, State s, const StartOptions& options) {
  State near = found_near(system, std::move(s), options);
  for (const TurnedJoint& t : turned_joints(system, near))
    Label{"joint", t.joint}.fail<NotConverged>(
        fmt::format("the frames that it holds together are {:.4g} degrees apart in the only state found near: its rows "
                    "are met there but hold nothing",
                    t.angle),
        fmt::format("turn '{}' at the start, or correct axis_a or axis_b", t.body));
  return near;
}

}  // namespace mortise
