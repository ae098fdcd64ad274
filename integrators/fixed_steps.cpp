#include <mortise/integrators/fixed_steps.h>

#include <cmath>

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
}

void FixedSteps::step(double end) {
  before_ = now_;
  a0_ = a1_;
  const double left = end - before_.t;
  const bool last = h_ >= left * (1 - 1e-9);  // no stump that only round-off leaves
  const double h = last ? left : h_;
  State next = before_;
  try {
    advance(h, next);
    next.t = last ? end : before_.t + h;
    flow_->settle(next);
    a1_ = flow_->acceleration(next);
  } catch (...) {
    a1_ = a0_;
    throw;
  }
  now_ = std::move(next);
  ++steps_;
}

void FixedSteps::at(double t, State& s) const {
  const double h = now_.t - before_.t, x = (t - before_.t) / h, y = 1 - x;
  s = now_;
  s.t = t;
  for (Index i = 0; i < s.q.size(); ++i) {
    const double q0 = before_.q[i], q1 = now_.q[i], v0 = h * before_.v[i], v1 = h * now_.v[i];
    const double a0 = h * h * a0_[i], a1 = h * h * a1_[i];
    // Deviations from Taylor's polynomial at the start, at the end.
    const double A = q1 - q0 - v0 - a0 / 2, B = v1 - v0 - a0, C = a1 - a0;
    const double c3 = 10 * A - 4 * B + C / 2, c4 = -15 * A + 7 * B - C, c5 = 6 * A - 3 * B + C / 2;
    s.q[i] = q0 + x * (v0 + x * (a0 / 2 + x * (c3 + x * (c4 + x * c5))));
    // Cubic through velocities and accelerations.
    const double u0 = before_.v[i], u1 = now_.v[i], d0 = h * a0_[i], d1 = h * a1_[i];
    s.v[i] = u0 * y * y * (1 + 2 * x) + u1 * x * x * (1 + 2 * y) + d0 * x * y * y - d1 * x * x * y;
  }
}

void Rk4::advance(double h, State& s) {
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
}

}  // namespace mortise
