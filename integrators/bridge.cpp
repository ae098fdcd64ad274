#include <mortise/integrators/bridge.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace mortise {
namespace {

constexpr int points = 8;
// In 0 .. 1, the left half; the others lie opposite.
constexpr std::array<double, points / 2> left{0.019855071751231884158, 0.10166676129318663020, 0.23723379504183550709,
                                              0.40828267875217509753};
constexpr std::array<double, points / 2> half_weight{0.050614268145188129576, 0.11119051722668723527,
                                                     0.15685332293894364367, 0.18134189168918099148};

double place(int i) {
  return i < points / 2 ? left[static_cast<std::size_t>(i)] : 1 - left[static_cast<std::size_t>(points - 1 - i)];
}
double weight(int i) { return half_weight[static_cast<std::size_t>(i < points / 2 ? i : points - 1 - i)]; }

using Row = Vec<double, points>;

// Legendre's polynomials on 0 .. 1, and what they and their integrals add up to from 0 to x.
struct Legendre {
  explicit Legendre(double x) {
    std::array<double, points + 2> p{}, once{};
    const double y = 2 * x - 1;
    p[0] = 1;
    p[1] = y;
    for (std::size_t k = 2; k < p.size(); ++k) {
      const auto m = static_cast<double>(k);
      p[k] = ((2 * m - 1) * y * p[k - 1] - (m - 1) * p[k - 2]) / m;
    }
    const auto integrate = [](const auto& f, std::size_t k) {
      return k == 0 ? (f[1] + f[0]) / 2 : (f[k + 1] - f[k - 1]) / (2 * (2 * static_cast<double>(k) + 1));
    };
    for (std::size_t k = 0; k + 1 < p.size(); ++k) once[k] = integrate(p, k);
    for (std::size_t k = 0; k < points; ++k) {
      const auto i = static_cast<Index>(k);
      value[i] = p[k];
      integral[i] = once[k];
      twice[i] = integrate(once, k);
    }
  }
  Row value, integral, twice;
};

}  // namespace

void Bridge::at(double t, State& s) const {
  const double x = (t - from_.t) / h_;
  const Legendre p(x);
  s = from_;
  s.t = t;
  s.v.noalias() += h_ * (coefficients_ * p.integral);
  s.q.noalias() += h_ * (x * from_.v + h_ * (coefficients_ * p.twice));
}

// By turns: places from the accelerations, accelerations at the places.
void Bridge::settle_points(Flow& flow, const ErrorScale& scale, double tolerance) {
  constexpr int most = 40;
  constexpr double coarse = 1e-7;  // more than this is no round-off
  Eigen::Matrix<double, points, points> analyse;
  for (int i = 0; i < points; ++i) {
    const Row p = Legendre(place(i)).value;
    for (int k = 0; k < points; ++k) analyse(i, k) = (2 * k + 1) * weight(i) * p[k];
  }
  coefficients_.setZero(a_.rows(), points);
  coefficients_.col(0) = a_.col(0);
  double last_change = std::numeric_limits<double>::infinity();
  for (int k = 0; k < most && !settled_; ++k) {
    double change = 0;
    least_ = 1;
    for (int i = 0; i < points; ++i) {
      at(from_.t + place(i) * h_, point_);
      flow.settle(point_);
      const VectorXd& a = flow.acceleration(point_);
      last_ = flow.solver().independence();
      least_ = std::min(least_, last_);
      const VectorXd less = a - a_.col(i);
      change = std::max(change, scale.norm(h_ * h_ * less, h_ * less, h_));
      a_.col(i) = a;
    }
    coefficients_.noalias() = a_ * analyse;
    settled_ = change < 0.01 * tolerance || (change < coarse && change > 0.5 * last_change);
    blur_ = std::min(change, last_change);
    if (!settled_ && !(change < 2 * last_change)) return;
    last_change = change;
  }
}

double Bridge::cross(Flow& flow, const State& from, const VectorXd& a, double h, const ErrorScale& scale,
                     double tolerance) {
  from_ = from;
  h_ = h;
  settled_ = false;
  a_ = a.replicate(1, points);
  settle_points(flow, scale, tolerance);
  if (!settled_) return std::numeric_limits<double>::infinity();
  at(from.t + h, end_);
  point_ = end_;
  flow.settle(end_);
  // How far the end was off the constraints; and what the terms left out would add, by the fall of those there are.
  double off = scale.norm(end_.q - point_.q, end_.v - point_.v, h);
  if (off < 10 * blur_) off = 0;  // round-off, which goes with what is off the constraints
  const auto size = [&](int k) { return scale.norm(h * h * coefficients_.col(k), h * coefficients_.col(k), h); };
  double largest = 0;
  for (int k = 0; k < points; ++k) largest = std::max(largest, size(k));
  const double tail = std::max(size(points - 1), size(points - 2));
  return std::max(off, largest > 0 ? tail * tail / largest : 0);
}

}  // namespace mortise
