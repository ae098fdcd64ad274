#include <mortise/integrators/fixed_steps.h>

#include <cmath>

#include <mortise/integrators/interpolate.h>

namespace mortise {

FixedSteps::FixedSteps(const char* name, const StepOptions& options) : h_(options.step) {
  if (!(h_ > 0) || !std::isfinite(h_))
    Label{"integrator", name}.fail<InvalidModel>(fmt::format("it has fixed steps, and step = {} s", h_),
                                                 "give a step > 0");
}

void FixedSteps::begin(Flow& flow, const State& s) {
  flow_ = &flow;
  now_ = before_ = s;
  a1_ = flow.acceleration(s);
  independence_ = flow.solver().independence();
}

void FixedSteps::step(double end) {
  before_ = now_;
  a0_ = a1_;
  const double left = end - before_.t;
  const bool last = h_ >= left * (1 - 1e-9);  // no stump that only round-off leaves
  const double h = last ? left : h_;
  State next = before_;
  try {
    const double done = advance(h, left, next);
    next.t = done == left ? end : before_.t + done;
    flow_->keep(next);
    a1_ = flow_->acceleration(next);
    independence_ = flow_->solver().independence();
  } catch (...) {
    a1_ = a0_;
    throw;
  }
  now_ = std::move(next);
  ++steps_;
}

void FixedSteps::at(double t, State& s) const { interpolate(before_, a0_, now_, a1_, t, s); }

double Rk4::advance(double h, double, State& s) {
  const State& s0 = before_;
  stage_ = s0;
  s.q = s0.q + h / 6 * s0.v;
  s.v = s0.v + h / 6 * a0_;
  a_ = a0_;
  for (const auto& [part, weight] : {std::pair{0.5, 2.0}, {0.5, 2.0}, {1.0, 1.0}}) {
    stage_.q = s0.q + part * h * stage_.v;
    stage_.v = s0.v + part * h * a_;
    stage_.t = s0.t + part * h;
    a_ = flow_->acceleration(stage_);
    s.q += h / 6 * weight * stage_.v;
    s.v += h / 6 * weight * a_;
  }
  return h;
}

}  // namespace mortise
