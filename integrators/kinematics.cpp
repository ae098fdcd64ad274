#include <mortise/integrators/kinematics.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <mortise/integrators/interpolate.h>

namespace mortise {

bool Kinematics::serves(Flow& flow, const State& s) {
  const System& system = flow.system();
  Index rows = -static_cast<Index>(flow.solver().left_out().size());
  for (std::size_t i = 0; i < system.constraints().size(); ++i) {
    const auto& c = system.constraints()[i];
    if (std::binary_search(s.off.begin(), s.off.end(), i)) continue;
    if (c.holonomic < c.rows) return false;
    rows += c.rows;
  }
  return rows == system.size();
}

void Kinematics::begin(Flow& flow, const State& s) {
  flow_ = &flow;
  now_ = before_ = s;
  a1_ = flow.acceleration(s);
  scale_.begin(flow, s, options_.tolerance);
  independent_ = flow.solver().independence();
  h_ = options_.step;
}

double Kinematics::try_step(double h) {
  constexpr double singular_below = 0.1;  // of the largest independence of the rows so far
  now_ = before_;
  now_.t += h;
  now_.q += h * (before_.v + h / 2 * a0_);
  now_.v += h * a0_;
  flow_->settle(now_);
  a1_ = flow_->acceleration(now_);
  at(before_.t + h / 2, guess_);
  middle_ = guess_;
  flow_->settle(middle_);
  (void)flow_->acceleration(now_);
  const double independence = flow_->solver().independence();
  if (independence < singular_below * independent_)
    Label{"run of", flow_->system().name()}.fail<NotConverged>(
        fmt::format("rows depend on each other near t = {}", now_.t), "see the poses of the mechanism there");
  tried_scale_ = scale_;
  tried_scale_.include(middle_.q, middle_.v);
  tried_scale_.include(now_.q, now_.v);
  return tried_scale_.norm(guess_.q - middle_.q, guess_.v - middle_.v, h) / options_.tolerance;
}

void Kinematics::step(double end) {
  constexpr double safety = 0.9, shrink = 0.2, grow = 10, order = 5;
  const State from = now_;
  const VectorXd a = a1_;
  before_ = from;
  a0_ = a;
  const double left = end - from.t;
  const double most = options_.largest > 0 ? options_.largest : std::numeric_limits<double>::infinity();
  const double least = 16 * std::numeric_limits<double>::epsilon() * std::max(std::abs(from.t), std::abs(end));
  if (h_ == 0) h_ = std::min(left, 0.1 * scale_.time_scale(from.v, a0_));
  try {
    for (;;) {
      double h = std::min(h_, most);
      const bool last = h >= left * (1 - 1e-12);
      if (last) h = left;
      double error = std::numeric_limits<double>::infinity();
      try {
        error = try_step(h);
      } catch (const NotConverged&) {  // perhaps only because the step was long
        if (h * shrink < std::max(least, 1e-6 * left)) throw;
      }
      const double factor = std::isfinite(error) ? safety * std::pow(std::max(error, 1e-10), -1 / order) : shrink;
      h_ = h * std::clamp(factor, shrink, grow);
      if (error <= 1) {
        if (last) now_.t = end;
        std::swap(scale_, tried_scale_);
        independent_ = std::max(independent_, flow_->solver().independence());
        ++steps_;
        return;
      }
      ++rejected_;
      if (h_ < least)
        Label{"run of", flow_->system().name()}.fail<NotConverged>(fmt::format("its drives jump at t = {}", from.t),
                                                                   "give drives without jumps of place and speed");
    }
  } catch (...) {
    now_ = from;
    a1_ = a;
    throw;
  }
}

std::string Kinematics::hardest() const {
  const double h = now_.t - before_.t;
  return flow_->system().bodies()[scale_.worst_body(guess_.q - middle_.q, guess_.v - middle_.v, h)].name;
}

void Kinematics::at(double t, State& s) const { interpolate(before_, a0_, now_, a1_, t, s); }

void Kinematics::go_on(const State& s, double h) {
  now_ = before_ = s;
  a1_ = flow_->acceleration(s);
  if (h > 0) h_ = h;
}

}  // namespace mortise
