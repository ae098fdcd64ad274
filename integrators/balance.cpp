#include <mortise/integrators/balance.h>

#include <algorithm>
#include <cmath>

#include <mortise/integrators/drives.h>

namespace mortise {

EnergyBalance::EnergyBalance(const System& system, Flow& flow, const State& start) : flow_(flow) {
  // Joints that move by themselves, and rows with a rate where nothing else moves.
  State s = start;
  s.v.setZero();
  for (const auto& c : system.constraints())
    by_joints_ = by_joints_ || !c.model->ideal() || c.model->reacts() || depends_on_time(c);
  if (!by_joints_) try {
      (void)flow.solver().solve(s);
      by_joints_ = !flow.solver().rate().isZero(0);
    } catch (const Error&) {
      by_joints_ = true;  // to be safe
    }
  needed_ = by_joints_ || !system.forces().empty();
  for (const auto& b : system.bodies()) needed_ = needed_ || b.model->stores();
}

double EnergyBalance::power(const State& s) const {
  Solver& solver = flow_.solver();
  const double by_joints = by_joints_ ? solver.input_by_joints(s) : 0;
  return solver.input(s) + by_joints;
}

void EnergyBalance::integrate_by(Stepper& stepper) const {
  if (auto* const controlled = dynamic_cast<Controlled*>(&stepper); controlled && needed_)
    controlled->integrate([this](const State& s) { return power(s); });
}

void EnergyBalance::begin(const State& s) {
  if (needed_) last_power_ = power(s);
  const Energy e = flow_.solver().energy(s);
  reference_ = begin_ = e.total();
  potential_ = e.potential;
  count(e);
}

void EnergyBalance::count(const Energy& e) {
  in_play_ = std::max(in_play_, e.kinetic + std::abs(e.potential - potential_) + std::abs(reference_ - begin_));
  whole_ = std::max(whole_, std::abs(e.kinetic) + std::abs(e.potential));
  sum_ += in_play_;
}

double EnergyBalance::explained(double tolerance) const {
  constexpr double generous = 10, round_off = 1e-11;
  return generous * tolerance * sum_ + round_off * whole_;
}

void EnergyBalance::resume(const std::vector<double>& memory) {
  reference_ = memory[0], last_power_ = memory[1], begin_ = memory[2], potential_ = memory[3];
  in_play_ = memory[4], sum_ = memory[5], whole_ = memory[6];
}

// By the stepper, or by the formula of Lobatto with four points on each step.
double EnergyBalance::step(const Stepper& stepper, const State& from, const State& now) {
  // First where the solver is.
  const double last = last_power_;
  if (needed_) last_power_ = power(now);
  const Energy energy = flow_.solver().energy(now);
  const double before = reference_;
  const auto* const controlled = needed_ ? dynamic_cast<const Controlled*>(&stepper) : nullptr;
  if (const auto work = controlled ? controlled->work() : std::nullopt) {
    reference_ += *work;
  } else if (needed_) {
    const double h = now.t - from.t, r = 0.5 / std::sqrt(5.0);
    double inner = 0;
    for (const double x : {0.5 - r, 0.5 + r}) {
      stepper.at(from.t + x * h, between_);
      inner += power(between_);
    }
    reference_ += h / 12 * (last + 5 * inner + last_power_);
  }
  idle_ = reference_ == before;
  count(energy);
  return std::abs(energy.total() - reference_);
}

double EnergyBalance::between(const State& s) const {
  return idle_ ? std::abs(flow_.solver().energy(s).total() - reference_) : 0;
}

void EnergyBalance::jump(double energy, const State& now) {
  reference_ += energy;
  if (needed_) last_power_ = power(now);
}

}  // namespace mortise
