#pragma once
// Spline: the cubic spline through the points (t_i, y_i); value, slope and second derivative are continuous.
//
//   Spline(t, y)                       natural: no second derivative at the ends
//   Spline(t, y, first, last)          clamped: given slopes at the ends
//
// Before the first and after the last point it goes on as a straight line.  For a clamped spline the second derivative
// jumps there.

#include <optional>

#include <mortise/core/table.h>

namespace mortise {

class Spline {
 public:
  Spline(std::vector<double> t, std::vector<double> y) : t_(std::move(t)), y_(std::move(y)) {
    detail::require_points("spline", t_, y_);
    bend(1, 0, 0, 1, 0, 0);
  }
  Spline(std::vector<double> t, std::vector<double> y, double first, double last) : t_(std::move(t)), y_(std::move(y)) {
    detail::require_points("spline", t_, y_);
    if (!std::isfinite(first) || !std::isfinite(last))
      Label{"spline", "slopes"}.fail<NonFinite>(fmt::format("they are {} and {}", first, last), "give finite numbers");
    ends_ = {first, last};
    const std::size_t n = t_.size() - 1;
    bend(width(0) / 3, width(0) / 6, rise(0) - first, width(n - 1) / 3, width(n - 1) / 6, last - rise(n - 1));
  }

  template <class T> T operator()(const T& t) const {
    detail::require_kept("spline", t_);
    const std::size_t n = t_.size() - 1;
    if (value(t) < t_.front()) return y_.front() + slope(0, 0) * (t - t_.front());
    if (value(t) > t_.back()) return y_.back() + slope(n - 1, 1) * (t - t_.back());
    const std::size_t i = detail::interval(t_, value(t));
    const double h = width(i);
    const T b = (t - t_[i]) / h, a = 1.0 - b;
    return a * y_[i] + b * y_[i + 1] + h * h / 6 * ((a * a * a - a) * m_[i] + (b * b * b - b) * m_[i + 1]);
  }

  const std::vector<double>& points() const { return t_; }
  const std::vector<double>& values() const { return y_; }
  std::vector<double> breakpoints(double, double) const { return t_; }
  // The slopes at the ends it was given; none: natural.
  const std::optional<std::pair<double, double>>& ends() const { return ends_; }

 private:
  double width(std::size_t i) const { return t_[i + 1] - t_[i]; }
  double rise(std::size_t i) const { return (y_[i + 1] - y_[i]) / width(i); }
  double slope(std::size_t i, double b) const {  // at the share b of interval i
    const double a = 1 - b;
    return rise(i) + width(i) / 6 * ((1 - 3 * a * a) * m_[i] + (3 * b * b - 1) * m_[i + 1]);
  }

  // The second derivatives m from continuous slopes; the first and last row (diagonal, beside it, right-hand side) are
  // the conditions at the ends.  Elimination from the first row to the last: the matrix dominates by its diagonal.
  void bend(double d0, double e0, double r0, double dn, double en, double rn) {
    const std::size_t n = t_.size() - 1;
    std::vector<double> diagonal(n + 1), above(n + 1);
    m_.resize(n + 1);
    diagonal[0] = d0, above[0] = e0, m_[0] = r0;
    for (std::size_t i = 1; i <= n; ++i) {
      const double below = i < n ? width(i - 1) / 6 : en, factor = below / diagonal[i - 1];
      diagonal[i] = (i < n ? (width(i - 1) + width(i)) / 3 : dn) - factor * above[i - 1];
      above[i] = i < n ? width(i) / 6 : 0;
      m_[i] = (i < n ? rise(i) - rise(i - 1) : rn) - factor * m_[i - 1];
    }
    m_[n] /= diagonal[n];
    for (std::size_t i = n; i-- > 0;) m_[i] = (m_[i] - above[i] * m_[i + 1]) / diagonal[i];
  }

  std::vector<double> t_, y_, m_;
  std::optional<std::pair<double, double>> ends_;
};

}  // namespace mortise
