#include <mortise/integrators/balance.h>

#include <algorithm>
#include <cmath>

#include <mortise/integrators/drives.h>

namespace mortise {
namespace {

// Points of a step, for the integral of the power.
const double lobatto[4] = {0, 0.5 - 0.5 / std::sqrt(5.0), 0.5 + 0.5 / std::sqrt(5.0), 1};

}  // namespace

EnergyBalance::EnergyBalance(const System& system, Flow& flow, const State& start) : flow_(flow) {
  // Joints that move by themselves, and rows with a rate where nothing else moves.
  State s = start;
  s.v.setZero();
  for (const auto& c : system.constraints())
    by_joints_ = by_joints_ || !c.model->ideal() || c.model->reacts() || depends_on_time(system, c, s);
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

// By the formula of Lobatto with four points on each step.
double EnergyBalance::step(const Stepper& stepper, const State& from, const State& now) {
  // First where the solver is.
  const double last = last_power_;
  if (needed_) last_power_ = power(now);
  const Energy energy = flow_.solver().energy(now);
  t_ = from.t, h_ = now.t - from.t, before_ = reference_;
  if (needed_) {
    powers_[0] = last, powers_[3] = last_power_;
    for (const int i : {1, 2}) {
      stepper.at(from.t + lobatto[i] * h_, between_);
      powers_[i] = power(between_);
    }
    reference_ += h_ / 12 * (powers_[0] + 5 * (powers_[1] + powers_[2]) + powers_[3]);
  }
  count(energy);
  return std::abs(energy.total() - reference_);
}

// The power as the cubic through the four points, integrated from the start of the step.
double EnergyBalance::between(const State& s) const {
  double reference = before_;
  if (needed_) {
    const double x = (s.t - t_) / h_;
    for (int i = 0; i < 4; ++i) {
      double c[4] = {1, 0, 0, 0};  // the polynomial that is 1 at point i and 0 at the others
      int degree = 0;
      for (int j = 0; j < 4; ++j) {
        if (j == i) continue;
        const double f = 1 / (lobatto[i] - lobatto[j]);
        ++degree;
        for (int k = degree; k >= 0; --k) c[k] = f * ((k > 0 ? c[k - 1] : 0) - lobatto[j] * (k < degree ? c[k] : 0));
      }
      reference += h_ * powers_[i] * x * (c[0] + x * (c[1] / 2 + x * (c[2] / 3 + x * c[3] / 4)));
    }
  }
  return std::abs(flow_.solver().energy(s).total() - reference);
}

void EnergyBalance::jump(double energy, const State& now) {
  reference_ += energy;
  if (needed_) last_power_ = power(now);
}

}  // namespace mortise
