#include <mortise/integrators/dormand_prince.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <mortise/integrators/interpolate.h>

namespace mortise {
namespace {

constexpr std::array<double, 7> c{0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1};
constexpr double a[7][6] = {
    {},
    {1. / 5},
    {3. / 40, 9. / 40},
    {44. / 45, -56. / 15, 32. / 9},
    {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
    {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
    {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
};
// Order 5 less order 4.
constexpr std::array<double, 7> e{71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40};
constexpr double singular_below = 0.1;  // of the largest independence of the rows so far
constexpr double safety = 0.9, shrink = 0.2, grow = 10;
constexpr double memory = 0.04;  // of the last error, so that steps do not alternate

// w[0] k[0] + w[1] k[1] + ..., in one sweep.
template <class W, std::size_t... J>
auto weighted(const W& w, const std::array<VectorXd, 7>& k, std::index_sequence<J...>) {
  return (... + (w[J] * k[J]));
}
// The same of as many as stage i has before it.
void add_weighted(std::size_t i, double h, const std::array<VectorXd, 7>& k, VectorXd& y) {
  const auto add = [&]<std::size_t count>(std::integral_constant<std::size_t, count>) {
    y += h * weighted(a[count], k, std::make_index_sequence<count>());
  };
  switch (i) {
    case 1:
      return add(std::integral_constant<std::size_t, 1>());
    case 2:
      return add(std::integral_constant<std::size_t, 2>());
    case 3:
      return add(std::integral_constant<std::size_t, 3>());
    case 4:
      return add(std::integral_constant<std::size_t, 4>());
    case 5:
      return add(std::integral_constant<std::size_t, 5>());
    default:
      return add(std::integral_constant<std::size_t, 6>());
  }
}

}  // namespace

void DormandPrince::begin(Flow& flow, const State& s) {
  flow_ = &flow;
  now_ = before_ = stage_ = s;
  kq_[0] = s.v;
  kv_[0] = flow.acceleration(s);
  if (power_) kw_[0] = power_(s);
  scale_.begin(flow, s, options_.tolerance);
  h_ = options_.step;
  last_error_ = 1e-4;
  typical_ = 0;
  independent_ = independence_ = flow.solver().independence();
  clearest_ = s;
  clearer_ = true;
  apart_ = 0;
  round_off_ = 0;
  rows_.reset();
  falling_ = 0;
  too_long_ = std::numeric_limits<double>::infinity();
  suspicions_ = doubts_ = 0;
  stepped_ = stiff_ = sharp_ = false;
}

void DormandPrince::go_on(const State& s, double h) {
  const VectorXd before = kv_[stepped_ ? 6 : 0];
  now_ = before_ = s;
  kq_[0] = s.v;
  kv_[0] = flow_->acceleration(s);
  if (power_) kw_[0] = power_(s);
  scale_.include(s.q, s.v);
  falling_ = 0;
  too_long_ = std::numeric_limits<double>::infinity();
  stepped_ = bridged_ = sharp_ = false;
  // Where accelerations jump the step before says nothing.
  const VectorXd jump = kv_[0] - before;
  if (h > 0)
    h_ = h;
  else if (scale_.norm(h_ * h_ * jump, h_ * jump, h_) > options_.tolerance)
    h_ = options_.step;
}

// From how the accelerations change in a time in which little happens [Hairer, Norsett, Wanner, Solving Ordinary
// Differential Equations I, II.4].
double DormandPrince::first_step(double most) {
  constexpr double little = 1e-3, shortest = 1e-4, longest = 100, small = 0.01;
  const double h = little * std::min(most, scale_.time_scale(kq_[0], kv_[0]));
  stage_ = before_;
  stage_.t += h;
  stage_.q += h * (kq_[0] + h / 2 * kv_[0]);
  stage_.v += h * kv_[0];
  try {
    ev_ = h * (flow_->acceleration(stage_) - kv_[0]);
  } catch (const Error&) {
    return little * h;
  }
  tried_scale_ = scale_;
  tried_scale_.include(stage_.q, stage_.v);
  const double change = tried_scale_.norm(h * ev_, ev_, h);
  const double factor = change > 0 ? std::pow(small * options_.tolerance / change, 0.2) : longest;
  return h * std::clamp(factor, shortest, longest);
}

double DormandPrince::try_step(double h) {
  least_ = 1;
  near_singular_.reset();
  for (std::size_t i = 1; i < 7; ++i) {
    stage_.t = before_.t + c[i] * h;
    stage_.q = before_.q;
    stage_.v = before_.v;
    add_weighted(i, h, kq_, stage_.q);
    add_weighted(i, h, kv_, stage_.v);
    if (i == 5) q5_ = stage_.q, v5_ = stage_.v;
    if (i == 6) {
      moved_q_ = stage_.q, moved_v_ = stage_.v;
      flow_->keep_nearby(stage_);
    }
    kq_[i] = stage_.v;
    kv_[i] = flow_->acceleration(stage_);
    if (power_ && i != 1) kw_[i] = power_(stage_);  // a[6][1] is 0
    last_ = flow_->solver().independence();
    if (last_ < least_) least_ = last_, lowest_ = stage_;
  }
  eq_ = h * weighted(e, kq_, std::make_index_sequence<7>());
  ev_ = h * weighted(e, kv_, std::make_index_sequence<7>());
  tried_scale_ = scale_;
  tried_scale_.include(stage_.q, stage_.v);
  // What brings the end back onto the constraints is an error of the step, too.
  moved_q_ -= stage_.q, moved_v_ -= stage_.v;
  moved_ = tried_scale_.norm(moved_q_, moved_v_, h);
  constexpr double clearly = 4;
  const double error =
      std::max(tried_scale_.norm(eq_, ev_, h), moved_ > clearly * round_off_ ? moved_ : 0) / options_.tolerance;
  // Near a singular pose what is off the constraints is most of the error, and is taken away.  Elsewhere it counts: the
  // motion of a drive is nothing else.
  if (!(error > 1) || !near_singular()) return error;
  elsewhere_ = true;
  other_ = stage_;
  other_.q -= eq_;
  other_.v -= ev_;
  flow_->keep(other_);
  eq_ = stage_.q - other_.q;
  ev_ = stage_.v - other_.v;
  return std::min(error, tried_scale_.norm(eq_, ev_, h) / options_.tolerance);
}

bool DormandPrince::near_singular() {
  if (near_singular_) return *near_singular_;
  if (!(least_ < singular_below * independent_)) return *(near_singular_ = false);
  const auto& left_out = flow_->solver().left_out();
  if (!rows_) rows_.emplace(flow_->system(), before_);
  if (clearer_) apart_ = std::max(apart_, rows_->at(clearest_, left_out));
  clearer_ = false;
  return *(near_singular_ = rows_->at(lowest_, left_out) < singular_below * apart_);
}

// The last two stages are at the same time: where they differ, the slopes show how fast the fastest mode is.  At the
// edge of stability h times its rate is 3.3 [Hairer, Wanner, Solving Ordinary Differential Equations II, IV.2].
void DormandPrince::look_for_stiffness(double h) {
  constexpr double edge = 3.25;
  constexpr int enough = 15, none = 6;  // steps
  const double dq = (stage_.q - q5_).squaredNorm(), dv = (stage_.v - v5_).squaredNorm();
  const double sq = (kq_[6] - kq_[5]).squaredNorm(), sv = (kv_[6] - kv_[5]).squaredNorm();
  // In units of v: otherwise the measure would depend on that of time.
  const double w2 = dq > 0 ? dv / dq : 0, ways = w2 * dq + dv;
  if (ways > 0 && h * h * (w2 * sq + sv) > edge * edge * ways) {
    doubts_ = 0;
    if (++suspicions_ >= enough) stiff_ = true;
  } else if (++doubts_ >= none) {
    suspicions_ = 0;
  }
}

void DormandPrince::step(double end) {
  before_ = now_;
  if (stepped_) {
    std::swap(kq_[0], kq_[6]);
    std::swap(kv_[0], kv_[6]);
    kw_[0] = kw_[6];
    stepped_ = false;
  }
  bridged_ = elsewhere_ = sharp_ = false;
  const double left = end - before_.t;
  const double most = longest(options_);
  if (h_ == 0) h_ = std::max(first_step(std::min(left, most)), 1e-12 * left);
  bool singular = false;
  double first_tried = 0, first_moved = 0;
  for (int tries = 0;; ++tries) {
    double h = std::min(h_, most);
    const bool last = h >= left * (1 - 1e-12);
    if (last)
      h = left;
    else if (h > 0.5 * left)
      h = 0.5 * left;  // two equal steps instead of a long one and a stump
    const double least = 16 * std::numeric_limits<double>::epsilon() * std::max(std::abs(before_.t), std::abs(end));
    double error;
    try {
      error = try_step(h);
    } catch (const Error&) {  // perhaps only because the step was long
      if (h * 0.25 < least || tries > 60) throw;
      error = std::numeric_limits<double>::infinity();
      singular = true;
    }
    // Round-off counts divided by the square of the distance from a singular pose.
    const double round_off = std::numeric_limits<double>::epsilon() / options_.tolerance;
    const bool too_near = least_ < 3 * std::sqrt(round_off) * independent_;
    const bool at_singular = (error > 1 || too_near) && near_singular();
    if (at_singular) {
      if (bridge(std::min(left, most))) return;
      elsewhere_ = true;
    }
    // Steps would creep for ever up to a pose that cannot be bridged: they are not made shorter than this share of
    // those before as long as the error is not coarse.
    constexpr double coarse = 1e-7, creep = 0.5;
    const bool stuck = at_singular && error > 1 && error * options_.tolerance < coarse;
    const bool as_good_as_it_gets = stuck && h <= 1.01 * creep * typical_;
    singular = singular || (at_singular && error > 1);
    if (error <= 1 || as_good_as_it_gets) {
      const double factor =
          safety * std::pow(std::max(error, 1e-10), -0.2 + 0.75 * memory) * std::pow(last_error_, memory);
      last_error_ = std::max(error, 1e-4);
      if (!last || h >= h_) h_ = h * std::clamp(factor, shrink, tries > 0 ? 1 : grow);
      typical_ = std::max(h, 0.99 * typical_);
      if (singular) h_ = std::max(h_, creep * typical_);
      if (as_good_as_it_gets) ++rough_;
      if (!singular) look_for_stiffness(h);
      now_ = stage_;
      std::swap(scale_, tried_scale_);
      if (elsewhere_) flow_->acceleration(now_);
      accept(last ? end : before_.t + h, last_);
      return;
    }
    ++rejected_;
    // What brings the end back does not shrink with the step where it is round-off: positions far from the origin, held
    // by short arms.
    constexpr double shorter = 16, hardly = 0.25;
    if (first_tried == 0) first_tried = h, first_moved = moved_;
    if (std::isfinite(error) && h * shorter <= first_tried && moved_ > hardly * first_moved && moved_ > round_off_ &&
        moved_ < coarse) {
      round_off_ = std::max(moved_, first_moved < coarse ? first_moved : 0);
      h_ = first_tried;
      first_tried = 0;
      continue;
    }
    h_ = h * (std::isfinite(error) ? std::max(shrink, safety * std::pow(error, -0.2)) : 0.25);
    if (stuck) h_ = std::max(h_, creep * typical_);
    if (h_ < least)
      Label{"integration", "dopri5"}.fail<NotConverged>(
          fmt::format("steps shorter than {:.1e} s would be needed at t = {}, for body '{}'", least, before_.t,
                      flow_->system().bodies()[tried_scale_.worst_body(eq_, ev_, h)].name),
          "take the integrator radau5 if forces are stiff, raise the tolerance, or look for forces that "
          "jump");
  }
}

std::string DormandPrince::hardest() const {
  const double h = now_.t - before_.t;
  const VectorXd dv = stiff_ ? VectorXd(h * (kv_[6] - kv_[5])) : ev_, dq = stiff_ ? VectorXd(h * dv) : eq_;
  return flow_->system().bodies()[scale_.worst_body(dq, dv, h)].name;
}

// By the weights of the step: the work is one more of its integrals.
std::optional<double> DormandPrince::work() const {
  if (!power_ || bridged_) return std::nullopt;
  double sum = 0;
  for (std::size_t i = 0; i < 6; ++i) sum += a[6][i] * kw_[i];
  return (now_.t - before_.t) * sum;
}

// The state is now_, up to its time.
void DormandPrince::accept(double t, double independence) {
  now_.t = t;
  falling_ = (independence_ - independence) / (t - before_.t);
  if (falling_ <= 0) too_long_ = std::numeric_limits<double>::infinity();
  independence_ = independence;
  if (independence > independent_) independent_ = independence, clearest_ = now_, clearer_ = true;
  stepped_ = true;
  ++steps_;
}

// Across the singular pose that lies ahead, at most by `most`; false: there is none near, or not to the tolerance.
bool DormandPrince::bridge(double most) {
  if (flow_->stabilised() || !(falling_ > 0)) return false;
  const double length = 2 * independence_ / falling_;
  if (length > most || length > 0.7 * too_long_) return false;
  too_long_ = length;
  constexpr double too_near = 0.05;  // of the distance at the ends; 0.18 is that of the points next to the middle
  try {
    const double error = bridge_.cross(*flow_, before_, kv_[0], length, scale_, options_.tolerance);
    if (!(error <= options_.tolerance) || bridge_.independence() < too_near * independence_) return false;
    now_ = bridge_.end();
    kq_[6] = now_.v;
    kv_[6] = flow_->acceleration(now_);
    if (power_) kw_[6] = power_(now_);
  } catch (const Error&) {
    return false;
  }
  scale_.include(now_.q, now_.v);
  bridged_ = true;
  too_long_ = std::numeric_limits<double>::infinity();
  independence_ = bridge_.last_independence();  // it rises from there
  accept(before_.t + length, flow_->solver().independence());
  return true;
}

void DormandPrince::at(double t, State& s) const {
  if (bridged_) return bridge_.at(t, s);
  interpolate(before_, kv_[0], now_, kv_[6], t, s);
  if (!sharp_) return;
  const double h = now_.t - before_.t, x = (t - before_.t) / h, w = x * (1 - x);
  s.q -= h * w * w * w / 6 * bend_;
  s.v += w * w * (x - 0.5) * bend_;
}

// w^2 (x - 1/2) is what velocities leave out: it is 0 in the middle, where its slope is 1/16.
void DormandPrince::sharpen() const {
  if (sharp_ || bridged_ || !stepped_) return;
  const double h = now_.t - before_.t;
  at(before_.t + 0.5 * h, middle_);
  try {
    bend_ = 16 * (h * (flow_->acceleration(middle_) + 0.25 * (kv_[0] + kv_[6])) - 1.5 * (now_.v - before_.v));
    sharp_ = true;
  } catch (const Error&) {  // as good as it was
  }
}

}  // namespace mortise
