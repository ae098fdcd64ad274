#include <mortise/diagnosis/report_poses.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include <mortise/core/decompositions.h>
#include <mortise/core/json.h>
#include <mortise/core/tolerances.h>
#include <mortise/core/words.h>
#include <mortise/diagnosis/report.h>

namespace mortise {
namespace {

// A state at which the constraints hold and one coordinate has a given value, by Newton's method; none if it is not
// found near.
class Poser {
 public:
  Poser(const System& system, const std::string& coordinate)
      : system_(system), time_(coordinate == "t"), index_(time_ ? -1 : system.state().names->find_one(coordinate)) {}

  std::optional<State> at(State s, double value) const {
    constexpr int most = 50;
    if (time_) s.t = value;
    const VectorXd d = report::sizes(system_, s.q).unaryExpr([](double x) { return x > 0 ? x : 1; });
    for (int i = 0; i < most; ++i) {
      const Evaluation e = system_.evaluate(s);
      const Index extra = time_ ? 0 : 1;
      MatrixXd J(system_.rows() + extra, system_.size());
      VectorXd r(system_.rows() + extra);
      J.topRows(system_.rows()) = e.dense_A();
      r.head(system_.rows()) = e.phi;
      for (const auto& c : system_.constraints()) {  // nonholonomic rows do not restrict poses
        J.middleRows(c.row + c.holonomic, c.rows - c.holonomic).setZero();
        r.segment(c.row + c.holonomic, c.rows - c.holonomic).setZero();
      }
      if (!time_) {
        J.bottomRows(1) = VectorXd::Unit(system_.size(), index_).transpose();
        r[system_.rows()] = s.q[index_] - value;
      }
      const VectorXd size = (J.cwiseAbs() * d).cwiseMax(1e-300);
      const VectorXd off = r.cwiseQuotient(size);
      if (!off.allFinite()) return {};
      if (off.size() == 0 || off.cwiseAbs().maxCoeff() <= tolerance::projected) return s;
      const LeastSquares rows(size.cwiseInverse().asDiagonal() * J * d.asDiagonal());
      VectorXd step = d.cwiseProduct(rows.solve(off));
      const double length = step.cwiseQuotient(d).cwiseAbs().maxCoeff();
      if (length > 0.3) step *= 0.3 / length;  // stay on this branch
      s.q -= step;
    }
    return {};
  }

 private:
  const System& system_;
  bool time_;
  Index index_;
};

struct Ranked {
  Pose pose;
  double smallest = 1;  // singular value that counts, of the rows and of what holds massless parts
  bool loses(Index dof) const { return pose.dof > dof || pose.free > 0; }
};

Ranked ranked(const System& system, const State& s, double at, const RankOptions& options) {
  const Evaluation e = system.evaluate(s);
  Ranked r;
  r.pose.at = at;
  const SparseRank rank = rank_of(system, e, options);
  r.pose.dof = rank.n - rank.rank_A;
  r.pose.free = rank.n - rank.rank_MA;
  r.pose.independence = rank.smallest_row.value_or(1);
  r.smallest = std::min(r.pose.independence, rank.kept.value_or(1));
  return r;
}

PoseReport::Singular singular(const System& system, const State& s, double at, Index dof, const RankOptions& options) {
  PoseReport::Singular out{at, s, check_model(system, s, options)};
  if (!out.report.singular && out.report.dof > dof) out.report.singular = SingularPose{out.report.dof - dof, {}, {}};
  return out;
}

}  // namespace

PoseReport check_poses(const System& system, const std::vector<State>& states, const RankOptions& options) {
  PoseReport out{system.name(), "", {}, 0, {}, {}};
  for (const State& s : states) out.poses.push_back(ranked(system, s, s.t, options).pose);
  if (out.poses.empty()) return out;
  out.dof = std::min_element(out.poses.begin(), out.poses.end(), [](const Pose& a, const Pose& b) {
              return a.dof < b.dof;
            })->dof;
  for (std::size_t i = 0; i < states.size(); ++i)
    if (out.poses[i].dof > out.dof || out.poses[i].free > 0)
      out.singular.push_back(singular(system, states[i], states[i].t, out.dof, options));
  return out;
}

PoseReport check_sweep(const System& system, const State& start, const std::string& coordinate, double from, double to,
                       int count, const RankOptions& options) {
  const Label label{"coordinate", coordinate};
  label.require(count >= 2, fmt::format("is to be swept over {} poses", count), "give at least 2");
  label.require(std::isfinite(from) && std::isfinite(to) && from != to,
                fmt::format("is to be swept from {} to {}", from, to), "give two finite values");
  label.require(system.size() <= report::dense_at_most,
                fmt::format("the system has {} coordinates; sweeps are for {}", system.size(), report::dense_at_most),
                "give states to check_poses()");
  const Poser poser(system, coordinate);
  PoseReport out{system.name(), coordinate, {}, 0, {}, {}};
  std::vector<State> states;
  std::vector<Ranked> ranks;
  State last = start;
  for (int i = 0; i < count; ++i) {
    const double value = from + (to - from) * i / (count - 1);
    State guess = last;
    if (states.size() >= 2)  // straight on, so that the sweep stays on its branch where branches cross
      guess.q = 2 * states.back().q - states[states.size() - 2].q;
    auto s = poser.at(guess, value);
    if (!s) s = poser.at(last, value);
    if (!s) {
      out.stopped = states.empty() ? from : out.poses.back().at;
      break;
    }
    last = *s;
    states.push_back(last);
    ranks.push_back(ranked(system, last, value, options));
    out.poses.push_back(ranks.back().pose);
  }
  if (out.poses.empty()) return out;
  out.dof = std::min_element(out.poses.begin(), out.poses.end(), [](const Pose& a, const Pose& b) {
              return a.dof < b.dof;
            })->dof;
  // On the poses themselves, and where rows come close to dependence, or massless parts to being free, between them:
  // golden section.
  const auto smallest = [&](const State& near, double value, State& found) {
    const auto s = poser.at(near, value);
    if (!s) return 1.0;
    found = *s;
    const Ranked r = ranked(system, *s, value, options);
    return r.loses(out.dof) ? 0.0 : r.smallest;
  };
  for (std::size_t i = 0; i < out.poses.size(); ++i) {
    if (ranks[i].loses(out.dof)) {
      out.singular.push_back(singular(system, states[i], out.poses[i].at, out.dof, options));
      continue;
    }
    if (i == 0 || i + 1 >= out.poses.size()) continue;
    const double here = ranks[i].smallest;
    if (ranks[i - 1].loses(out.dof) || ranks[i + 1].loses(out.dof)) continue;
    if (here > ranks[i - 1].smallest || here >= ranks[i + 1].smallest) continue;
    constexpr double golden = 0.6180339887498949;
    double a = out.poses[i - 1].at, b = out.poses[i + 1].at;
    State found = states[i];
    double c = b - golden * (b - a), d = a + golden * (b - a);
    double fc = smallest(states[i], c, found), fd = smallest(states[i], d, found);
    double best = out.poses[i].at, least = here;
    State best_state = states[i];
    for (int k = 0; k < 60 && least > 0; ++k) {
      if (fc < fd) {
        b = d, d = c, fd = fc, c = b - golden * (b - a);
        fc = smallest(states[i], c, found);
        if (fc < least) least = fc, best = c, best_state = found;
      } else {
        a = c, c = d, fc = fd, d = a + golden * (b - a);
        fd = smallest(states[i], d, found);
        if (fd < least) least = fd, best = d, best_state = found;
      }
    }
    if (least == 0) out.singular.push_back(singular(system, best_state, best, out.dof, options));
  }
  return out;
}

std::string PoseReport::text() const {
  const std::string what = coordinate.empty() ? "" : fmt::format(" while {} is swept", coordinate);
  std::string out = fmt::format("poses of '{}'{}: {} poses", system, what, poses.size());
  if (!poses.empty() && !coordinate.empty())
    out += fmt::format(" from {:.4g} to {:.4g}", poses.front().at, poses.back().at);
  out += fmt::format(", {} DOF; {}\n", dof,
                     singular.empty() ? "no singular pose" : fmt::format("SINGULAR at {} of them", singular.size()));
  for (const Singular& s : singular) {
    const auto& p = s.report.singular;
    if (p || s.report.dof > dof)
      out +=
          fmt::format("  at {:.6g}: {} gained{}{}\n", s.at, fmt::format("{} DOF", p ? p->gained : s.report.dof - dof),
                      p && !p->motions.empty() ? ": " : "", p ? fmt::format("{}", fmt::join(p->motions, "; ")) : "");
    for (const FreeDirection& f : s.report.free)
      out += fmt::format("  at {:.6g}: {} is free: no mass moves with it and no constraint resists\n", s.at,
                         f.parts.front().coordinate);
    for (const RedundantRow& r : s.report.redundant)
      out += fmt::format("     {} depends there on the others of its set{}\n", r.row,
                         r.loop.empty() ? "" : fmt::format(", loop: {}", fmt::join(r.loop, " -> ")));
  }
  if (stopped)
    out += fmt::format("  no pose was found beyond {} = {:.6g}: the mechanism cannot go there\n", coordinate, *stopped);
  return out;
}

Json PoseReport::json() const {
  Json list = Json::array(), where = Json::array();
  for (const Pose& p : poses)
    list.push(Json{{"at", p.at}, {"dof", p.dof}, {"free", p.free}, {"independence", p.independence}});
  for (const Singular& s : singular) where.push(Json{{"at", s.at}, {"report", s.report.json()}});
  return Json{{"schema", "mortise.poses/1"}, {"system", system}, {"coordinate", coordinate}, {"ok", ok()}, {"dof", dof},
              {"stopped", stopped},          {"poses", list},    {"singular", where}};
}

}  // namespace mortise
