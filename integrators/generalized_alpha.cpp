#include <mortise/integrators/generalized_alpha.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <mortise/integrators/interpolate.h>

namespace mortise {
namespace alpha {

constexpr double settled = 1e-16, good_enough = 1e-12;  // changes of places, relative to the largest coordinate
constexpr double slow = 0.1;                            // beyond this share left of each change slopes are taken anew
constexpr double safety = 0.85, shrink = 0.2, grow = 3, worth_it = 1.2;

}  // namespace alpha

GeneralizedAlpha::GeneralizedAlpha(const StepOptions& options)
    : options_(options), tolerance_(std::min(options.tolerance, 30 * std::pow(options.tolerance, 1.5))) {
  const double rho = options.damping;
  Label{"integrator", "generalized_alpha"}.require(rho >= 0 && rho <= 1, fmt::format("damping = {}", rho),
                                                   "give a number from 0 (most) to 1 (none)");
  alpha_m_ = (2 * rho - 1) / (rho + 1);
  alpha_f_ = rho / (rho + 1);
  gamma_ = 0.5 + alpha_f_ - alpha_m_;
  beta_ = 0.25 * (gamma_ + 0.5) * (gamma_ + 0.5);
  const double share = (1 - alpha_f_) / (1 - alpha_m_);
  beta_a_ = beta_ * share;
  gamma_a_ = gamma_ * share;
}

void GeneralizedAlpha::begin(Flow& flow, const State& s) {
  flow_ = &flow;
  const System& system = flow.system();
  now_ = before_ = stage_ = s;
  a_ = w_ = a_before_ = flow.acceleration(s);
  scale_.begin(flow, s, tolerance_);
  lambda_ = flow.solver().lambda();
  kept_.assign(static_cast<std::size_t>(system.rows()), 0);
  for (const Index i : flow.solver().left_out()) kept_[static_cast<std::size_t>(i)] = -1;
  for (const std::size_t k : s.off)
    std::fill_n(kept_.begin() + system.constraints()[k].row, system.constraints()[k].rows, Index{-1});
  rows_ = 0;
  for (Index& i : kept_) i = i < 0 ? -1 : rows_++;
  for (std::size_t i = 0; i < kept_.size(); ++i)
    if (kept_[i] < 0) lambda_[static_cast<Index>(i)] = 0;
  h_ = options_.step;
  last_h_ = factored_h_ = 0;
  since_begin_ = 0;
  pattern_ = false;
  evaluation_.emplace(system.evaluate(s));
  evaluated_ = false;
  (void)tangent(system, *evaluation_, a_, lambda_);  // throws if a part has no slopes
}

void GeneralizedAlpha::place(double h) {
  w_ = ((1 - alpha_f_) * a_ + alpha_f_ * a0_ - alpha_m_ * w0_) / (1 - alpha_m_);
  stage_.t = before_.t + h;
  stage_.q = before_.q + h * before_.v + h * h * ((0.5 - beta_) * w0_ + beta_ * w_);
  stage_.v = before_.v + h * ((1 - gamma_) * w0_ + gamma_ * w_);
  evaluated_ = false;
}

const Evaluation& GeneralizedAlpha::evaluated() {
  if (evaluated_) return *evaluation_;
  flow_->system().evaluate(stage_, *evaluation_);
  evaluated_ = true;
  return *evaluation_;
}

GeneralizedAlpha::Equations GeneralizedAlpha::residual(double h) {
  const System& system = flow_->system();
  const Evaluation& e = evaluated();
  flow_->count();
  Equations r{-(e.Q + e.C), VectorXd::Zero(rows_)};
  for (std::size_t i = 0; i < system.bodies().size(); ++i) {
    const auto& b = system.bodies()[i];
    r.forces.segment(b.first, b.size) += e.M(i) * a_.segment(b.first, b.size);
  }
  for (std::size_t k = 0; k < e.layout().A.size(); ++k) {
    const auto& block = e.layout().A[k];
    r.forces.segment(block.first, block.size) -= e.A(k).transpose() * lambda_.segment(block.row, block.rows);
  }
  // As if they were accelerations.
  for (const auto& c : system.constraints())
    for (Index i = c.row; i < c.row + c.rows; ++i)
      if (const Index to = kept_[static_cast<std::size_t>(i)]; to >= 0)
        r.rows[to] = e.phi[i] / (i < c.row + c.holonomic ? beta_a_ * h * h : gamma_a_ * h);
  return r;
}

// K = [M + gamma_a h r_v + beta_a h^2 r_q,  -A';  slopes of the rows over a,  0]
void GeneralizedAlpha::factor(double h) {
  const System& system = flow_->system();
  const Index n = system.size();
  const Tangent t = tangent(system, evaluated(), a_, lambda_);
  std::vector<bool> holonomic(static_cast<std::size_t>(system.rows()), false);
  for (const auto& c : system.constraints()) std::fill_n(holonomic.begin() + c.row, c.holonomic, true);
  Tangent::Entries entries;
  for (const auto& x : t.M) entries.push_back(x);
  for (const auto& x : t.force_dv) entries.emplace_back(x.row(), x.col(), gamma_a_ * h * x.value());
  for (const auto& x : t.force_dq) entries.emplace_back(x.row(), x.col(), beta_a_ * h * h * x.value());
  for (const auto& x : t.A)
    if (const Index to = kept_[static_cast<std::size_t>(x.row())]; to >= 0) {
      entries.emplace_back(x.col(), n + to, -x.value());
      if (!holonomic[static_cast<std::size_t>(x.row())]) entries.emplace_back(n + to, x.col(), x.value());
    }
  for (const auto& x : t.rows_dq)
    if (const Index to = kept_[static_cast<std::size_t>(x.row())]; to >= 0)
      entries.emplace_back(n + to, x.col(),
                           (holonomic[static_cast<std::size_t>(x.row())] ? 1 : beta_a_ * h / gamma_a_) * x.value());
  K_.resize(n + rows_, n + rows_);
  K_.setFromTriplets(entries.begin(), entries.end());
  M_.resize(n, n);
  M_.setFromTriplets(t.M.begin(), t.M.end());
  K_.makeCompressed();
  if (!pattern_) lu_.analyzePattern(K_);
  pattern_ = true;
  lu_.factorize(K_);
  factored_h_ = lu_.info() == Eigen::Success ? h : 0;
}

bool GeneralizedAlpha::solve(double h) {
  constexpr int most = 12;
  const Index n = before_.q.size();
  a_ = a0_;
  place(h);
  if (factored_h_ != h) factor(h);
  const double size = std::max(1.0, before_.q.cwiseAbs().maxCoeff());
  double last = std::numeric_limits<double>::infinity();
  bool fresh = false;
  for (int k = 0; k < most; ++k) {
    if (factored_h_ != h) return false;
    const Equations r = residual(h);
    VectorXd rhs(n + rows_);
    rhs << -r.forces, -r.rows;
    const VectorXd d = lu_.solve(rhs);
    if (!d.allFinite()) return false;
    const double change = h * h * d.head(n).cwiseAbs().maxCoeff() / size;
    if (change > last && last <= alpha::good_enough) return true;  // round-off
    a_ += d.head(n);
    for (std::size_t i = 0; i < kept_.size(); ++i)
      if (kept_[i] >= 0) lambda_[static_cast<Index>(i)] += d[n + kept_[i]];
    place(h);
    if (change <= alpha::settled) return true;
    if (change > alpha::slow * last) {
      if (last <= alpha::good_enough && fresh) return true;
      factor(h);
      fresh = true;
    }
    last = change;
  }
  return last <= alpha::good_enough;
}

VectorXd GeneralizedAlpha::smooth(const VectorXd& a) {
  VectorXd rhs = VectorXd::Zero(a.size() + rows_);
  rhs.head(a.size()) = a;
  rhs = (K_ * rhs).eval();
  rhs.head(a.size()) = M_ * a;
  return lu_.solve(rhs).head(a.size());
}

double GeneralizedAlpha::error(double h) {
  const double c = beta_ - 1.0 / 6;
  eq_ = c * h * h * smooth(w_ - w0_);
  ev_ = VectorXd::Zero(eq_.size());
  if (since_begin_ > 0) {  // h^3 a''
    const double r = h / last_h_;
    ev_ = c * h * 2 * r / (1 + r) * smooth((a_ - a0_) - r * (a0_ - a_before_));
  }
  return tried_scale_.norm(eq_, ev_, h) / tolerance_;
}

void GeneralizedAlpha::go_on(const State& s, double h) {
  ErrorScale kept = scale_;
  kept.include(s.q, s.v);
  begin(*flow_, s);
  scale_ = std::move(kept);
  if (h > 0 && options_.step == 0) h_ = h;
}

std::string GeneralizedAlpha::hardest() const {
  return flow_->system().bodies()[scale_.worst_body(eq_, ev_, now_.t - before_.t)].name;
}

void GeneralizedAlpha::step(double end) {
  before_ = now_;
  a0_ = a_;
  const VectorXd w = w_, lambda = lambda_;
  const double left = end - before_.t;
  const double most = longest(options_);
  const double least = 16 * std::numeric_limits<double>::epsilon() * std::max(std::abs(before_.t), std::abs(end));
  const bool fixed = options_.step > 0;
  if (h_ == 0) h_ = 1e-4 * std::min(left, most);
  for (int tries = 0;; ++tries) {
    double h = std::min(h_, most);
    const bool last = h >= left * (1 - 1e-9);  // no stump that only round-off leaves
    if (last)
      h = left;
    else if (h > 0.5 * left && !fixed)
      h = 0.5 * left;
    // w stands for a at the time alpha_m - alpha_f of a step later.
    w0_ = w;
    if (since_begin_ > 0) w0_ += (alpha_m_ - alpha_f_) * (h / last_h_ - 1) * (a0_ - a_before_);
    double e = std::numeric_limits<double>::infinity();
    try {
      if (solve(h)) {
        State next = stage_;
        flow_->settle(next);
        const VectorXd& a = flow_->acceleration(next);
        w_ += (1 - alpha_f_) / (1 - alpha_m_) * (a - a_);
        a_ = a;
        stage_ = std::move(next);
        tried_scale_ = scale_;
        tried_scale_.include(stage_.q, stage_.v);
        e = fixed ? 0 : error(h);
      }
    } catch (const Error&) {  // perhaps only because the step was long
      if (h * 0.25 < least) throw;
    }
    if (e <= 1) {
      now_ = stage_;
      std::swap(scale_, tried_scale_);
      now_.t = last ? end : before_.t + h;
      a_before_ = a0_;
      last_h_ = h;
      ++steps_;
      ++since_begin_;
      const double factor = std::clamp(alpha::safety * std::pow(std::max(e, 1e-10), -1.0 / 3), alpha::shrink,
                                       tries > 0 ? 1.0 : alpha::grow);
      // Not for a little: new slopes would be needed.
      if (fixed)
        h_ = options_.step;
      else if (!last || h >= h_)
        h_ = h * (factor > alpha::worth_it || factor < 1 ? factor : 1);
      return;
    }
    ++rejected_;
    a_ = a0_;
    w_ = w;
    lambda_ = lambda;
    h_ = h * (std::isfinite(e) ? std::max(alpha::shrink, alpha::safety * std::pow(e, -1.0 / 3)) : 0.25);
    if (h_ < least)
      Label{"integrator", "generalized_alpha"}.fail<NotConverged>(
          fmt::format("steps shorter than {:.1e} s would be needed at t = {}", least, before_.t),
          "raise the tolerance, or look for forces that jump");
  }
}

void GeneralizedAlpha::at(double t, State& s) const { interpolate(before_, now_, t, s); }

}  // namespace mortise
