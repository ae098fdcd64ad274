#pragma once
// Table: straight lines between the points (t_i, y_i); constant before the first and after the last.
//
// Its slope jumps at the points.  A motion prescribed by it has jumps of velocity there, which no finite force gives:
// for these take a Spline.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <mortise/core/dual.h>
#include <mortise/core/errors.h>

namespace mortise {

namespace detail {

// Points by increasing t, finite, two at least.
inline void require_points(const std::string& kind, const std::vector<double>& t, const std::vector<double>& y) {
  if (t.size() != y.size())
    Label{kind, "y"}.fail<WrongSize>(fmt::format("{} values for {} points t", y.size(), t.size()),
                                     "give one value per point");
  if (t.size() < 2) Label{kind, "t"}.fail<WrongSize>(fmt::format("it has {} points", t.size()), "give at least 2");
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (!std::isfinite(t[i]))
      Label{kind, "t"}.fail<NonFinite>(fmt::format("t[{}] = {}", i, t[i]), "give finite numbers");
    if (!std::isfinite(y[i]))
      Label{kind, "y"}.fail<NonFinite>(fmt::format("y[{}] = {}", i, y[i]), "give finite numbers");
    if (i > 0 && t[i] <= t[i - 1])
      Label{kind, "t"}.fail<InvalidModel>(
          fmt::format("t[{}] = {} does not exceed t[{}] = {}", i, t[i], i - 1, t[i - 1]), "give increasing numbers");
  }
}

// Of what was moved from nothing is left.
inline void require_kept(const char* kind, const std::vector<double>& t) {
  if (t.empty()) Label{kind, ""}.fail<InvalidModel>("it was moved from", "take the one it was moved to");
}

// The i with t_i <= x < t_(i+1), within 0 ... size - 2.
inline std::size_t interval(const std::vector<double>& t, double x) {
  return static_cast<std::size_t>(std::upper_bound(t.begin() + 1, t.end() - 1, x) - t.begin()) - 1;
}

}  // namespace detail

class Table {
 public:
  Table(std::vector<double> t, std::vector<double> y) : t_(std::move(t)), y_(std::move(y)) {
    detail::require_points("table", t_, y_);
  }

  template <class T> T operator()(const T& t) const {
    detail::require_kept("table", t_);
    if (value(t) < t_.front()) return T(y_.front());
    if (value(t) >= t_.back()) return T(y_.back());
    const std::size_t i = detail::interval(t_, value(t));
    return y_[i] + (y_[i + 1] - y_[i]) / (t_[i + 1] - t_[i]) * (t - t_[i]);
  }

  const std::vector<double>& points() const { return t_; }
  const std::vector<double>& values() const { return y_; }
  std::vector<double> breakpoints(double, double) const { return t_; }

 private:
  std::vector<double> t_, y_;
};

}  // namespace mortise
