#include <mortise/integrators/radau.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace mortise {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
const double root6 = std::sqrt(6.0);
constexpr int most_sweeps = 7;
namespace radau {
constexpr double safety = 0.9, shrink = 1.0 / 8, grow = 5;
}
constexpr double fastest = 1e-3, fast = 0.1;  // limits of the rate of convergence that keeps the slopes
constexpr double near_stalled = 0.8;          // the longest step, of one with which the iteration has stalled
constexpr double worth_it = 1.2;              // steps that would be longer by less are not: factors are kept

VectorXd radau_nodes() { return Vec3<double>((4 - root6) / 10, (4 + root6) / 10, 1); }

}  // namespace

Radau::Radau(const StepOptions& options)
    : options_(options), tolerance_(0.1 * std::pow(options.tolerance, 2.0 / 3)), stages_(radau_nodes()) {
  settled_ = std::max(10 * epsilon / tolerance_, std::min(0.03, std::sqrt(tolerance_)));
  MatrixXd vandermonde(4, 4);
  for (Index i = 0; i < 4; ++i)
    for (Index k = 0; k < 4; ++k)
      vandermonde(i, k) = std::pow(i == 0 ? 0.0 : stages_.nodes()[i - 1], static_cast<double>(k));
  powers_ = vandermonde.inverse();
}

void Radau::begin(Flow& flow, const State& s) {
  flow_ = &flow;
  now_ = before_ = s;
  a0_ = a_end_ = flow.acceleration(s);
  lambda0_ = flow.solver().lambda();
  scale_.begin(flow, s, options_.tolerance);
  stages_.begin(flow, s);
  h_ = options_.step;
  factored_h_ = last_h_ = 0;
  have_slopes_ = false;
  reach_ = 1;
  keep_below_ = fast;
  stalled_ = std::numeric_limits<double>::infinity();
}

void Radau::go_on(const State& s, double h) {
  ErrorScale kept = scale_;
  kept.include(s.q, s.v);
  begin(*flow_, s);
  scale_ = std::move(kept);
  if (h > 0) h_ = h;
}

// As dopri5 does it.
double Radau::first_step(double most) {
  constexpr double little = 1e-3, shortest = 1e-4, longest = 100, small = 0.1;
  const double h = little * std::min(most, scale_.time_scale(before_.v, a0_));
  end_ = before_;
  end_.t += h;
  end_.q += h * (before_.v + h / 2 * a0_);
  end_.v += h * a0_;
  VectorXd change;
  try {
    change = h * (flow_->acceleration(end_) - a0_);
  } catch (const Error&) {
    return little * h;
  }
  tried_scale_ = scale_;
  tried_scale_.include(end_.q, end_.v);
  const double size = tried_scale_.norm(h * change, change, h);
  const double factor = size > 0 ? std::pow(small * tolerance_ / size, 0.25) : longest;
  return h * std::clamp(factor, shortest, longest);
}

// Where the step will be most of the time: with springs that are stiff and turn, slopes are soon old.
void Radau::take_slopes(double h) {
  constexpr double small = 1e-7, middle = 0.6;
  const VectorXd *a = &a0_, *lambda = &lambda0_;
  const State* where = &before_;
  if (last_h_ > 0) {
    other_ = before_;
    other_.t += middle * h;
    other_.q += extrapolated(q_, middle * h);
    other_.v += extrapolated(v_, middle * h);
    try {
      a = &flow_->acceleration(other_);
      lambda = &flow_->solver().lambda();
      where = &other_;
    } catch (const Error&) {  // it is not far enough from a singular pose
      a = &a0_, lambda = &lambda0_;
    }
  }
  const VectorXd size = scale_.extents();
  stages_.slopes().take(*where, *a, *lambda, size, scale_.sizes().second.cwiseMax(size / h),
                        std::max(small * h, 1e3 * epsilon * std::abs(before_.t)));
  have_slopes_ = fresh_ = true;
  factored_h_ = 0;
}

// By the polynomial through the stages z of the last step, so much after its end.
VectorXd Radau::extrapolated(const MatrixXd& z, double after) const {
  const VectorXd& c = stages_.nodes();
  const Index s = c.size();
  const double x = 1 + after / last_h_;
  VectorXd b(s);  // of the values at the nodes; that at 0 is 0
  for (Index i = 0; i < s; ++i) {
    b[i] = x / c[i];
    for (Index j = 0; j < s; ++j)
      if (j != i) b[i] *= (x - c[j]) / (c[i] - c[j]);
  }
  return z * b - z.col(s - 1);
}

void Radau::predict(double h) {
  for (Index i = 0; i < stages_.nodes().size(); ++i) {
    const double after = stages_.nodes()[i] * h;
    if (last_h_ > 0) {
      stages_.q.col(i) = extrapolated(q_, after);
      stages_.v.col(i) = extrapolated(v_, after);
    } else {
      stages_.q.col(i).setZero();
      stages_.v.col(i).setZero();
    }
  }
}

bool Radau::solve(double h) {
  predict(h);
  double last = 0, last_ratio = 0;
  reach_ = std::pow(std::max(reach_, epsilon), 0.8);
  rate_ = 0;
  for (sweeps_ = 1; sweeps_ <= most_sweeps; ++sweeps_) {
    stages_.sweep(before_, h);
    tried_scale_ = scale_;
    const Index s = stages_.q.cols();
    tried_scale_.include(before_.q + stages_.q.col(s - 1), before_.v + stages_.v.col(s - 1));
    double change = 0;
    for (Index i = 0; i < s; ++i)
      change = std::max(change, tried_scale_.norm(stages_.dq.col(i), stages_.dv.col(i), h) / tolerance_);
    shorter_ = 0.5;
    if (!std::isfinite(change)) return false;
    if (sweeps_ > 1) {
      const double ratio = change / last;
      rate_ = sweeps_ == 2 ? ratio : std::sqrt(ratio * last_ratio);
      last_ratio = ratio;
      if (rate_ >= 0.99) return false;
      reach_ = rate_ / (1 - rate_);
      const int left = most_sweeps - sweeps_;
      const double at_last = reach_ * change * std::pow(rate_, left) / settled_;
      if (at_last >= 1) {
        shorter_ = 0.8 * std::pow(std::clamp(at_last, 1e-4, 20.0), -1.0 / (4 + left));
        return false;
      }
    }
    last = std::max(change, epsilon);
    if (reach_ * change <= settled_) return true;
  }
  return false;
}

double Radau::error(double h) {
  static const Vec3<double> weights((-13 - 7 * root6) / 3, (-13 + 7 * root6) / 3, -1.0 / 3);
  const VectorXd q = stages_.q * weights / h, v = stages_.v * weights / h;
  const auto size = [&](const VectorXd& q0, const VectorXd& v0) {
    eq_ = q + q0;
    ev_ = v + v0;
    stages_.filter(eq_, ev_);
    return tried_scale_.norm(eq_, ev_, h) / tolerance_;
  };
  double e = size(before_.v, a0_);
  if (e >= 1 && (last_h_ == 0 || failed_)) {
    // Without what a step cannot follow, such as what bringing the start onto the constraints sets off.
    other_ = before_;
    other_.q += eq_;
    other_.v += ev_;
    e = size(other_.v, flow_->acceleration(other_));
  }
  return e;
}

void Radau::step(double end) {
  before_ = now_;
  const double left = end - before_.t;
  const double most = longest(options_);
  const double least = 16 * epsilon * std::max(std::abs(before_.t), std::abs(end));
  if (h_ == 0) h_ = std::max(first_step(std::min(left, most)), 1e-12 * left);
  fresh_ = failed_ = false;
  for (;;) {
    double h = std::min(h_, most);
    const bool last = h >= left * (1 - 1e-12);
    if (last)
      h = left;
    else if (h > 0.5 * left)
      h = 0.5 * left;  // two equal steps instead of a long one and a stump
    double e = std::numeric_limits<double>::infinity();
    bool settled = false;
    shorter_ = 0.25;
    try {
      if (!have_slopes_) take_slopes(h);
      if (factored_h_ != h) factored_h_ = stages_.factor(h) ? h : 0;
      settled = factored_h_ == h && solve(h);
      if (settled) e = error(h);
      if (e < 1) {
        end_ = before_;
        end_.t = last ? end : before_.t + h;
        end_.q += stages_.q.col(2);
        end_.v += stages_.v.col(2);
        off_q_ = end_.q, off_v_ = end_.v;
        flow_->settle(end_);
        off_q_ = end_.q - off_q_, off_v_ = end_.v - off_v_;
        tried_scale_ = scale_;
        tried_scale_.include(end_.q, end_.v);
        const double moved = tried_scale_.norm(off_q_, off_v_, h) / tolerance_;
        if (moved > e) e = moved;
        if (e < 1) {
          const VectorXd& a = flow_->acceleration(end_);
          // By Gustafsson, from the errors of two steps.
          const double most_here =
              std::min(radau::safety, radau::safety * (1 + 2 * most_sweeps) / (sweeps_ + 2 * most_sweeps));
          double quotient =
              std::clamp(std::pow(std::max(e, 1e-10), 0.25) / most_here, 1 / radau::grow, 1 / radau::shrink);
          if (last_h_ > 0) {
            const double predicted = last_h_ / h * std::pow(e * e / last_error_, 0.25) / radau::safety;
            quotient = std::max(quotient, std::clamp(predicted, 1 / radau::grow, 1 / radau::shrink));
          }
          double longer = 1 / quotient;
          if (failed_) longer = std::min(longer, 1.0);
          last_error_ = std::max(e, 1e-2);
          a0_ = a;
          lambda0_ = flow_->solver().lambda();
          accept(h, end_.t);
          // Where old slopes have failed they are kept less readily.
          if (!fresh_) keep_below_ = std::min(fast, 1.5 * keep_below_);
          const bool keep = rate_ <= keep_below_;
          kept_at_ = rate_;
          if (!keep) have_slopes_ = false;
          // What has stalled at a length will do so again there, but not for ever.
          constexpr double easy = 0.01;
          stalled_ *= sweeps_ > 1 && rate_ < easy ? 2 : 1.05;
          if (h * longer > near_stalled * stalled_)
            longer = std::max(near_stalled * stalled_ / h, std::min(longer, 1.0));
          if (!last || h >= h_) h_ = h * (keep && longer >= 1 && longer <= worth_it ? 1 : longer);
          return;
        }
      }
    } catch (const Error&) {  // perhaps only because the step was long
      settled = false;
      shorter_ = 0.25;
      if (h * shorter_ < least) throw;
    }
    ++rejected_;
    failed_ = true;
    if (settled) {
      h_ = h * std::clamp(radau::safety * std::pow(e, -0.25), radau::shrink, 0.9);
    } else {
      if (fresh_ && factored_h_ == h) stalled_ = h;
      h_ = fresh_ ? h * shorter_ : h;  // with new slopes the same step may do
      reach_ = 1;
    }
    if (!fresh_) {
      have_slopes_ = false;
      if (!settled) keep_below_ = std::clamp(0.5 * kept_at_, fastest, keep_below_);
    }
    if (h_ < least)
      Label{"integration", "radau5"}.fail<NotConverged>(
          fmt::format("steps shorter than {:.1e} s would be needed at t = {}{}", least, before_.t,
                      settled ? fmt::format(", for body '{}'", hardest()) : ""),
          "raise the tolerance, look for forces that jump and poses where rows depend on each other, or take dopri5");
  }
}

void Radau::accept(double h, double t) {
  now_ = end_;
  now_.t = t;
  std::swap(scale_, tried_scale_);
  q_ = stages_.q;
  v_ = stages_.v;
  MatrixXd values(q_.rows(), 4);
  values.col(0) = a_end_;
  values.rightCols(3) = v_ * stages_.inverse().transpose() / h;
  a_end_ = values.col(3);
  a_ = values * powers_.transpose();
  last_h_ = h;
  ++steps_;
}

std::string Radau::hardest() const {
  return flow_->system().bodies()[scale_.worst_body(eq_, ev_, now_.t - before_.t)].name;
}

void Radau::at(double t, State& s) const {
  const double h = now_.t - before_.t, x = (t - before_.t) / h;
  s = before_;
  s.t = t;
  s.q += x * (h * before_.v + off_q_);
  s.v += x * off_v_;
  double p = x;
  for (Index k = 0; k < 4; ++k) {
    const auto n = static_cast<double>(k + 1);
    s.v += h * p / n * a_.col(k);
    p *= x;
    s.q += h * h * p / (n * (n + 1)) * a_.col(k);
  }
}

}  // namespace mortise
