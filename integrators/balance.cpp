#include <mortise/integrators/balance.h>

#include <cmath>

namespace mortise {

EnergyBalance::EnergyBalance(const System& system, Flow& flow, const State& start, double duration)
    : system_(system), flow_(flow) {
  for (const auto& c : system.constraints()) by_joints_ = by_joints_ || !c.model->ideal() || c.model->reacts();
  // Joints that move by themselves: their rows have a rate where nothing else moves.
  State s = start;
  s.v.setZero();
  for (const double part : {0.0, 0.1370, 0.3821, 0.6180, 0.8912}) {
    s.t = start.t + part * duration;
    try {
      (void)flow.solver().solve(s);
    } catch (const Error&) {
      by_joints_ = true;  // to be safe
      break;
    }
    by_joints_ = by_joints_ || !flow.solver().rate().isZero(0);
  }
  needed_ = by_joints_ || !system.forces().empty();
  for (const auto& b : system.bodies()) needed_ = needed_ || b.model->stored(start, b.first).has_value();
}

double EnergyBalance::power(const State& s) const {
  double power = 0;
  for (const Contribution& c : system_.contributions(s)) power += c.input;
  if (!by_joints_) return power;
  (void)flow_.solver().solve(s);
  const Evaluation e = system_.evaluate(s);
  const VectorXd& lambda = flow_.solver().lambda();
  for (std::size_t k = 0; k < e.layout().A.size(); ++k) {
    const auto& block = e.layout().A[k];
    power += lambda.segment(block.row, block.rows).dot(e.A(k) * s.v.segment(block.first, block.size));
  }
  return power + e.C.dot(s.v) + (flow_.solver().friction().size() ? flow_.solver().friction().dot(s.v) : 0);
}

void EnergyBalance::begin(const State& s) {
  reference_ = system_.energy(s).total();
  if (needed_) last_power_ = power(s);
}

// By the formula of Lobatto with four points on each step.
double EnergyBalance::step(const Stepper& stepper, const State& from, const State& now) {
  if (needed_) {
    const double h = now.t - from.t, r = 0.5 / std::sqrt(5.0);
    double inner = 0;
    for (const double x : {0.5 - r, 0.5 + r}) {
      stepper.at(from.t + x * h, between_);
      inner += power(between_);
    }
    const double last = last_power_;
    last_power_ = power(now);
    reference_ += h / 12 * (last + 5 * inner + last_power_);
  }
  return std::abs(system_.energy(now).total() - reference_);
}

void EnergyBalance::jump(double energy, const State& now) {
  reference_ += energy;
  if (needed_) last_power_ = power(now);
}

}  // namespace mortise
