#include <mortise/integrators/balance.h>

#include <cmath>

namespace mortise {

EnergyBalance::EnergyBalance(const System& system, Flow& flow, const State& start, double duration) : flow_(flow) {
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
  for (const auto& b : system.bodies()) needed_ = needed_ || b.model->stores();
}

double EnergyBalance::power(const State& s) const {
  Solver& solver = flow_.solver();
  const double by_joints = by_joints_ ? solver.input_by_joints(s) : 0;
  return solver.input(s) + by_joints;
}

void EnergyBalance::begin(const State& s) {
  if (needed_) last_power_ = power(s);
  reference_ = flow_.solver().energy(s).total();
}

// By the formula of Lobatto with four points on each step.
double EnergyBalance::step(const Stepper& stepper, const State& from, const State& now) {
  // First where the solver is.
  const double last = last_power_;
  if (needed_) last_power_ = power(now);
  const double energy = flow_.solver().energy(now).total();
  if (needed_) {
    const double h = now.t - from.t, r = 0.5 / std::sqrt(5.0);
    double inner = 0;
    for (const double x : {0.5 - r, 0.5 + r}) {
      stepper.at(from.t + x * h, between_);
      inner += power(between_);
    }
    reference_ += h / 12 * (last + 5 * inner + last_power_);
  }
  return std::abs(energy - reference_);
}

void EnergyBalance::jump(double energy, const State& now) {
  reference_ += energy;
  if (needed_) last_power_ = power(now);
}

}  // namespace mortise
