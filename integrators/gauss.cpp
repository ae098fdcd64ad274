#include <mortise/integrators/gauss.h>

#include <algorithm>
#include <cmath>

#include <mortise/core/decompositions.h>

namespace mortise {

bool Gauss::Settling::operator()(double change) {
  constexpr double none = 1e-16, small = 1e-13, round_off = 1e-9, fast = 0.3, slow = 0.8;
  ratio_ = change / last_;
  last_ = change;
  if (change < none || (ratio_ > slow && (change < small || (change < round_off && least_ratio_ < fast)))) return true;
  if (ratio_ > 0) least_ratio_ = std::min(least_ratio_, ratio_);
  return false;
}

namespace {

constexpr double r3 = 0.28867513459481288225;  // sqrt(3)/6

VectorXd gauss_nodes() { return Vec2<double>(0.5 - r3, 0.5 + r3); }

[[noreturn]] void fail(double t, const char* what, double left) {
  Label{"integrator", "gauss"}.fail<NotConverged>(
      fmt::format("{} at t = {}: they still change by {:.1e}", what, t, left),
      "give shorter steps, or take radau5 for stiff systems, dopri5 where a run ends next to a singular pose");
}

}  // namespace

Gauss::Gauss(const StepOptions& options) : FixedSteps("gauss", options), stages_(gauss_nodes()) {}

void Gauss::begin(Flow& flow, const State& s) {
  FixedSteps::begin(flow, s);
  constexpr double tolerance = 1e-9;
  scale_.begin(flow, s, tolerance);
  independent_ = independence_;
  stages_.begin(flow, s);
  factored_h_ = 0;
}

void Gauss::at(double t, State& s) const { bridged_ ? bridge_.at(t, s) : FixedSteps::at(t, s); }

double Gauss::change(const VectorXd& dq, const VectorXd& dv, double h) const {
  return std::max(dq.cwiseQuotient(size_).cwiseAbs().maxCoeff(), h * dv.cwiseQuotient(size_).cwiseAbs().maxCoeff());
}

// At the middle of the step, where it is of order 4, too.
bool Gauss::take_slopes(double h) {
  constexpr double small = 1e-7;
  stage_ = before_;
  stage_.t += h / 2;
  stage_.q += h / 2 * before_.v + h * h / 8 * a0_;
  stage_.v += h / 2 * a0_;
  const VectorXd a = flow_->acceleration(stage_), size = scale_.extents();
  stages_.slopes().take(stage_, a, flow_->solver().lambda(), size, scale_.sizes().second.cwiseMax(size / h),
                        std::max(small * h, 1e-13 * std::abs(before_.t)));
  fresh_ = true;
  factored_h_ = stages_.factor(h) ? h : 0;
  return factored_h_ == h;
}

// From where the stages were at the last try.
void Gauss::stages(double h, const State& from, State& to) {
  constexpr int most = 60;
  constexpr double slow = 0.3;  // beyond this rate slopes are taken anew
  settling_.again();
  for (int k = 0;; ++k) {
    if (factored_h_ != h && !take_slopes(h)) fail(from.t, "the slopes are singular", 0);
    stages_.sweep(from, h);
    least_ = std::min(least_, stages_.least_independence());
    double now = 0;
    for (Index i = 0; i < 2; ++i) now = std::max(now, change(stages_.dq.col(i), stages_.dv.col(i), h));
    if (settling_(now)) break;
    if (!std::isfinite(now) || k == most || (k > 4 && fresh_ && settling_.ratio() > 1))
      fail(from.t, "the stages do not settle", now);
    if (settling_.ratio() > slow && !fresh_) factored_h_ = 0;
  }
  to.q = from.q + h * from.v + h / 2 * (stages_.v.col(0) + stages_.v.col(1));
  to.v = from.v + h / 2 * (stages_.accelerations().col(0) + stages_.accelerations().col(1));
  to.t = from.t + h;
}

namespace {

// Rows that bodies meet by themselves: f(constraint, their values, their slopes A, first coordinate).
template <class F> void each_own(const System& system, const State& s, const F& f) {
  for (const auto& c : system.constraints()) {
    const auto& b = system.bodies()[c.bodies[0]];
    if (!c.own || !b.model->meets_own_rows()) continue;
    VectorXd value(c.rows), unused(c.rows);
    MatrixXd A(c.rows, b.size);
    std::vector<Eigen::Map<MatrixXd>> block{{A.data(), c.rows, b.size}};
    c.model->evaluate(s, std::span(&b.first, 1), value, unused, block);
    f(c, value, A, b.first);
  }
}

}  // namespace

void Gauss::shift(const State& at, State& s) {
  s.q += flow_->solver().shift_positions(at, rq_);
  s.v += flow_->solver().shift_velocities(at, rv_);
  each_own(flow_->system(), at, [&](const auto& c, const VectorXd&, const MatrixXd& A, Index first) {
    const Ldlt shortest(A * A.transpose());
    s.q.segment(first, A.cols()) += A.transpose() * shortest.solve(own_q_.segment(c.row, c.rows));
    s.v.segment(first, A.cols()) += A.transpose() * shortest.solve(own_v_.segment(c.row, c.rows));
  });
}

// Moving both ends by r moves the rows at the end by 2 r.
void Gauss::add_gaps(const State& s) {
  const auto [gap, rate] = flow_->solver().gaps(s);
  rq_ -= gap / 2;
  rv_ -= rate / 2;
  each_own(flow_->system(), s, [&](const auto& c, const VectorXd& value, const MatrixXd& A, Index first) {
    own_q_.segment(c.row, c.rows) -= value / 2;
    own_v_.segment(c.row, c.rows) -= A * s.v.segment(first, A.cols()) / 2;
  });
}

double Gauss::advance(double h, double most, State& s) {
  constexpr double near = 0.1;  // of the largest independence of the rows: that close to a pose where they depend
  constexpr double steps = 4;   // ... or so many
  least_ = independence_;
  independent_ = std::max(independent_, independence_);
  scale_.include(before_.q + h * before_.v, before_.v);
  bridged_ = false;
  std::exception_ptr failed;
  try {
    symmetric_step(h, s);
  } catch (const NotConverged&) {
    failed = std::current_exception();
  }
  const bool singular = least_ < near * independent_;
  if (!failed && !singular) return h;
  const double pose = to_pose(1e-3 * h);
  if (!singular && std::abs(pose) > steps * h) std::rethrow_exception(failed);
  std::vector<double> lengths;
  for (const double place : Bridge::between_points) lengths.push_back(pose / place);
  for (const double share : {1.0, 0.8, 0.6, 0.35, 2.0, 4.0, 8.0}) lengths.push_back(share * h);
  std::stable_partition(lengths.begin(), lengths.end(), [&](double x) { return std::abs(x - pose) > 0.05 * pose; });
  lengths.push_back(most);
  for (const double length : lengths)
    if (length > 0 && length <= most && bridge(length)) {
      s = bridge_.end();
      return length;
    }
  if (failed) std::rethrow_exception(failed);
  return h;
}

// [s] To where the rows depend on each other, by how their independence falls within dt; < 0: it lies behind.
double Gauss::to_pose(double dt) {
  stage_ = before_;
  stage_.q += dt * before_.v;
  stage_.t += dt;
  return dt * independence_ / (independence_ - flow_->solver().independence(stage_));
}

bool Gauss::bridge(double length) {
  constexpr double tolerance = 1e-9;  // less than is asked of steps of order 4
  try {
    bridged_ = bridge_.cross(*flow_, before_, a0_, length, scale_, tolerance) < tolerance;
  } catch (const Error&) {  // it went astray
  }
  return bridged_;
}

void Gauss::symmetric_step(double h, State& s) {
  constexpr int most = 30;
  fresh_ = false;
  settling_ = {};
  size_ = scale_.sizes().first.cwiseMin(scale_.extents());
  for (Index i = 0; i < 2; ++i) {
    const double c = stages_.nodes()[i] * h;
    stages_.q.col(i) = c * before_.v + c * c / 2 * a0_;
    stages_.v.col(i) = c * a0_;
  }
  for (VectorXd* r : {&rq_, &rv_, &own_q_, &own_v_}) r->setZero(flow_->system().rows());
  s = before_;
  Settling settled;
  for (int k = 0;; ++k) {
    from_ = before_;
    if (k > 0) shift(before_, from_);
    to_ = from_;
    stages(h, from_, to_);
    if (k > 0) shift(s, to_);
    const double now = change(to_.q - s.q, to_.v - s.v, h);
    s = to_;
    add_gaps(s);
    if (settled(now) && k > 0) break;
    if (k == most || (k > 4 && settled.ratio() > 1))
      fail(before_.t, "the steps back onto the constraints do not settle", now);
  }
}

}  // namespace mortise
