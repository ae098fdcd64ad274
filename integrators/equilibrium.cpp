#include <algorithm>
#include <cmath>
#include <limits>

#include <mortise/core/decompositions.h>
#include <mortise/core/rank.h>
#include <mortise/core/scaling.h>
#include <mortise/engine/tangent.h>
#include <mortise/integrators/start.h>

namespace mortise {
namespace {

constexpr double decided = 1e-10;  // stiffness beside the largest, below which nothing draws back

// One state on its way to rest, in balanced coordinates and rows.
class Resting {
 public:
  Resting(const System& system, const State& start, const std::vector<std::string>& held) : system_(system) {
    for (const std::string& name : held) {
      if (name.ends_with('\'')) continue;  // it rests
      const auto range = start.names->find(name);
      for (Index i = 0; i < range.size; ++i) held_.push_back(range.first + i);
    }
    for (const auto& b : system.bodies()) {
      const auto units = b.model->units();
      for (Index i = 0; i < b.size; ++i) {
        const bool length = units[static_cast<std::size_t>(i)] == "m";
        lengths_.push_back(length);
        if (length) size_ = std::max(size_, std::abs(start.q[b.first + i]));
      }
    }
    if (size_ == 0) size_ = 1;
  }

  // What one iteration looks at.
  struct Look {
    VectorXd force, gap;  // Q + C + A'lambda, phi
    VectorXd step;        // to where it would rest
    double predicted = 0;
  };

  // Onto the rows, by the shortest way in balanced coordinates.
  bool settle(State& s) const {
    for (int k = 0; k < 50; ++k) {
      const Rows rows = rows_at(system_.evaluate(s));
      if (rows.A.rows() == 0) return true;
      const VectorXd dq =
          rows.d.asDiagonal() * LeastSquares(rows.A, RankOptions{}.determined).solve(VectorXd(-rows.gap));
      if (!dq.allFinite()) return false;
      s.q += dq * std::min(1.0, 0.3 / std::max(1e-300, share(dq)));
      if (share(dq) <= 1e-13) return true;
    }
    return false;
  }

  Look look(const State& s, bool exactly) const {
    const Evaluation e = system_.evaluate(s);
    const Rows rows = rows_at(e);
    const Index n = system_.size();
    const VectorXd given = e.Q + e.C;
    Look out;
    VectorXd multipliers = VectorXd::Zero(rows.A.rows());
    MatrixXd V = MatrixXd::Identity(n, n);
    if (rows.A.rows() > 0) {
      multipliers =
          -LeastSquares(rows.A.transpose(), RankOptions{}.determined).solve(VectorXd(rows.d.cwiseProduct(given)));
      V = LeastSquares(rows.A.transpose(), RankOptions{}.determined).left_null_space();
    }
    VectorXd lambda = VectorXd::Zero(system_.rows());
    for (std::size_t k = 0; k < rows.of.size(); ++k)
      lambda[rows.of[k]] = rows.t[static_cast<Index>(k)] * multipliers[static_cast<Index>(k)];
    out.force = given + rows.d.cwiseInverse().asDiagonal() * (rows.A.transpose() * multipliers);
    out.gap = rows.gap;

    MatrixXd K = MatrixXd::Zero(n, n);
    for (const auto& x : tangent(system_, e, VectorXd::Zero(n), lambda).force_dq) K(x.row(), x.col()) += x.value();
    V = rows.d.asDiagonal() * V;
    const MatrixXd stiffness = V.transpose() * K * V;
    const VectorXd pull = V.transpose() * given;
    const SymmetricEigen eigen(0.5 * (stiffness + stiffness.transpose()));
    const double stiffest = eigen.values.size() ? eigen.values.cwiseAbs().maxCoeff() : 0;
    VectorXd along = eigen.vectors.transpose() * pull;
    for (Index i = 0; i < along.size(); ++i) {
      const double k = std::abs(eigen.values[i]);
      if (k > decided * stiffest) {
        along[i] /= k;
        continue;
      }
      // Nothing draws back: it goes on where it is pulled, unless that is round-off.
      const double felt = given.cwiseProduct(rows.d).lpNorm<Eigen::Infinity>();
      along[i] = std::abs(along[i]) <= 1e-9 * felt ? 0 : along[i] / std::max(1e-300, decided * stiffest);
    }
    VectorXd y = eigen.vectors * along;
    if (exactly && stiffness.size() > 0) y = LeastSquares(stiffness, decided).solve(pull);
    out.step = V * y;
    out.predicted = share(out.step);
    return out;
  }

  // The largest move, lengths as shares of the model's size.
  double share(const VectorXd& dq) const {
    double out = 0;
    for (Index i = 0; i < dq.size(); ++i)
      out = std::max(out, std::abs(dq[i]) / (lengths_[static_cast<std::size_t>(i)] ? size_ : 1));
    return out;
  }

 private:
  struct Rows {
    MatrixXd A;  // balanced
    VectorXd d, t, gap;
    std::vector<Index> of;  // rows of the system; those of held coordinates have none and come last
  };
  Rows rows_at(const Evaluation& e) const {
    std::vector<int> groups;
    int first = 0;
    for (const auto& b : system_.bodies()) {
      const auto own = b.model->groups();
      for (const int g : own) groups.push_back(first + g);
      first += own.empty() ? 0 : 1 + *std::max_element(own.begin(), own.end());
    }
    Rows out;
    std::vector<double> gap;
    const MatrixXd all = e.dense_A();
    for (std::size_t i = 0; i < system_.constraints().size(); ++i) {
      const auto& c = system_.constraints()[i];
      if (std::binary_search(e.state.off.begin(), e.state.off.end(), i)) continue;
      for (Index r = c.row; r < c.row + c.rows; ++r) {
        out.of.push_back(r);
        gap.push_back(r < c.row + c.holonomic ? e.phi[r] : 0);  // what does not slip stays where it is
      }
    }
    const auto m = static_cast<Index>(out.of.size());
    MatrixXd A(m + static_cast<Index>(held_.size()), system_.size());
    A.topRows(m) = all(out.of, Eigen::all);
    for (std::size_t k = 0; k < held_.size(); ++k) {
      A.row(m + static_cast<Index>(k)) = VectorXd::Unit(system_.size(), held_[k]).transpose();
      gap.push_back(0);
    }
    SparseRows sparse = A.sparseView();
    const Scaling s = scale_without_masses(sparse, groups);
    out.A = MatrixXd(sparse);
    out.d = s.d, out.t = s.t;
    out.gap = s.t.cwiseProduct(Eigen::Map<const VectorXd>(gap.data(), static_cast<Index>(gap.size())));
    return out;
  }

  const System& system_;
  std::vector<Index> held_;
  std::vector<bool> lengths_;
  double size_ = 0;
};

}  // namespace

State equilibrium(const System& system, State s, const StartOptions& options) {
  constexpr int most = 300;
  system.require_state(s);
  const Resting resting(system, s, options.held);
  const Label label{"equilibrium of", system.name()};
  s.v.setZero();
  const auto settle = [&] {
    if (!resting.settle(s))
      label.fail<NotConverged>("no positions near the guess meet the constraints",
                               "check tells which rows contradict each other; start from another state");
  };
  settle();
  double radius = 0.3, before = std::numeric_limits<double>::infinity();
  VectorXd last = VectorXd::Zero(system.size());
  for (int k = 0;; ++k) {
    const Resting::Look look = resting.look(s, before < 1e-3);
    if (look.predicted <= 1e-11) return s;
    if (k == most || !std::isfinite(look.predicted)) {
      Index worst = 0;
      const double left = look.force.cwiseAbs().maxCoeff(&worst);
      label.fail<NotConverged>(
          fmt::format("none was found near the guess: after {} steps a force of {:.2g} on {} is left that nothing "
                      "balances",
                      k, left, system.coordinate(worst)),
          "hold what moves freely, or start nearer");
    }
    radius = look.step.dot(last) < 0 ? std::max(1e-4, radius / 2) : std::min(0.5, radius * 1.3);  // did it go too far?
    last = look.step;
    before = look.predicted;
    s.q += look.step * std::min(1.0, radius / look.predicted);
    settle();
  }
}

}  // namespace mortise
