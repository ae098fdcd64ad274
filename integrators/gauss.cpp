#include <mortise/integrators/gauss.h>

#include <algorithm>
#include <cmath>

namespace mortise {
namespace {

constexpr double r3 = 0.28867513459481288225;  // sqrt(3)/6
constexpr double A[2][2] = {{0.25, 0.25 - r3}, {0.25 + r3, 0.25}};
constexpr double c[2] = {0.5 - r3, 0.5 + r3};
constexpr double settled = 1e-16, round_off = 1e-12;  // changes of places, relative to the largest coordinate

[[noreturn]] void fail(double t, const char* what, double left) {
  Label{"integrator", "gauss"}.fail<NotConverged>(
      fmt::format("{} at t = {}: they still change by {:.1e}", what, t, left),
      "give shorter steps, or take dopri5 past singular poses, generalized_alpha for stiff systems");
}

}  // namespace

Gauss::Gauss(const StepOptions& options) : FixedSteps("gauss", options) {}

void Gauss::begin(Flow& flow, const State& s) {
  FixedSteps::begin(flow, s);
  rq_.setZero(flow.system().rows());
  rv_ = rq_;
}

// From the accelerations a_ at the stages of the last try.
void Gauss::stages(double h, const State& from, State& to) {
  constexpr int most = 60;
  for (std::size_t i = 0; i < 2; ++i) v_[i] = from.v + h * (A[i][0] * a_[0] + A[i][1] * a_[1]);
  stage_ = from;
  const double size = std::max(1.0, from.q.cwiseAbs().maxCoeff());
  double last = 1e300;
  for (int k = 0;; ++k) {
    for (std::size_t i = 0; i < 2; ++i) {
      stage_.t = from.t + c[i] * h;
      stage_.q = from.q + h * (A[i][0] * v_[0] + A[i][1] * v_[1]);
      stage_.v = from.v + h * (A[i][0] * a_[0] + A[i][1] * a_[1]);
      next_[i] = flow_->acceleration(stage_);
      v_[i] = stage_.v;
    }
    const double change =
        h * h * std::max((next_[0] - a_[0]).cwiseAbs().maxCoeff(), (next_[1] - a_[1]).cwiseAbs().maxCoeff()) / size;
    a_.swap(next_);
    if (change < settled || (change < round_off && change > 0.5 * last)) break;
    if (!(change < 1e300) || k == most || (k > 4 && change > last)) fail(from.t, "the stages do not settle", change);
    last = change;
  }
  to.q = from.q + h / 2 * (v_[0] + v_[1]);
  to.v = from.v + h / 2 * (a_[0] + a_[1]);
  to.t = from.t + h;
}

void Gauss::advance(double h, State& s) {
  constexpr int most = 30;
  Solver& solver = flow_->solver();
  a_[0] = a_[1] = a0_;
  rq_.setZero();
  rv_.setZero();
  s = before_;
  const double size = std::max(1.0, before_.q.cwiseAbs().maxCoeff());
  double last = 1e300;
  for (int k = 0;; ++k) {
    from_ = before_;
    if (k > 0) {
      from_.q += solver.shift_positions(before_, rq_);
      from_.v += solver.shift_velocities(before_, rv_);
    }
    to_ = from_;
    stages(h, from_, to_);
    if (k > 0) {
      to_.q += solver.shift_positions(s, rq_);
      to_.v += solver.shift_velocities(s, rv_);
    }
    const double change = std::max((to_.q - s.q).cwiseAbs().maxCoeff(), h * (to_.v - s.v).cwiseAbs().maxCoeff()) / size;
    s = to_;
    const auto [gap, rate] = solver.gaps(s);
    // Moving both ends by r moves the rows at the end by 2 r.
    rq_ -= gap / 2;
    rv_ -= rate / 2;
    if (k > 0 && (change < settled || (change < round_off && change > 0.5 * last))) break;
    if (k == most || (k > 4 && change > last))
      fail(before_.t, "the steps back onto the constraints do not settle", change);
    last = change;
  }
}

}  // namespace mortise
