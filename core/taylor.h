#pragma once
// Taylor: a number along a motion, to second order in time, and how it varies in one direction, to the same order.
//
//   x(s, e) = v + d1 s + d2 s^2/2 + e (slope + slope1 s + slope2 s^2/2)          s^3 = 0, e^2 = 0
//
// Hidden constraints need rows A(q + s v) and forces Q(q + s v, v) that exactly: with e along a coordinate, slope,
// slope1 and slope2 of phi are an entry of A, of A' and of A''.  What it does is compiled once, in taylor.cpp: parts
// are instantiated for this scalar too, and calls are cheaper to compile than formulas.

#include <cmath>
#include <ostream>
#include <type_traits>

#include <mortise/core/dual.h>

namespace mortise {

struct Taylor {
  double v, d1, d2;              // value and derivatives in s
  double slope, slope1, slope2;  // the same of the derivative in e

  Taylor() = default;  // as uninitialised as a double; Taylor{} is 0
  template <class S>
  requires std::is_arithmetic_v<S> Taylor(S c)
      : v(static_cast<double>(c)), d1(0), d2(0), slope(0), slope1(0), slope2(0) {}
  Taylor(double value, double rate, double direction)
      : v(value), d1(rate), d2(0), slope(direction), slope1(0), slope2(0) {}

  // f(a) from f and its first three derivatives at a.
  static Taylor chain(const Taylor& a, double f, double f1, double f2, double f3);

  friend Taylor operator+(const Taylor& a, const Taylor& b);
  friend Taylor operator-(const Taylor& a, const Taylor& b);
  friend Taylor operator-(const Taylor& a);
  friend Taylor operator+(const Taylor& a) { return a; }
  friend Taylor operator*(const Taylor& a, const Taylor& b);
  friend Taylor operator/(const Taylor& a, const Taylor& b);
  Taylor& operator+=(const Taylor& b) { return *this = *this + b; }
  Taylor& operator-=(const Taylor& b) { return *this = *this - b; }
  Taylor& operator*=(const Taylor& b) { return *this = *this * b; }
  Taylor& operator/=(const Taylor& b) { return *this = *this / b; }

  // Comparisons look at the value only: branches follow the point of evaluation.
  friend bool operator<(const Taylor& a, const Taylor& b) { return a.v < b.v; }
  friend bool operator>(const Taylor& a, const Taylor& b) { return a.v > b.v; }
  friend bool operator<=(const Taylor& a, const Taylor& b) { return a.v <= b.v; }
  friend bool operator>=(const Taylor& a, const Taylor& b) { return a.v >= b.v; }
  friend bool operator==(const Taylor& a, const Taylor& b) { return a.v == b.v; }
  friend bool operator!=(const Taylor& a, const Taylor& b) { return a.v != b.v; }

  friend Taylor sin(const Taylor& a);
  friend Taylor cos(const Taylor& a);
  friend Taylor tan(const Taylor& a);
  friend Taylor asin(const Taylor& a);
  friend Taylor acos(const Taylor& a);
  friend Taylor atan(const Taylor& a);
  friend Taylor atan2(const Taylor& y, const Taylor& x);
  friend Taylor sqrt(const Taylor& a);
  friend Taylor exp(const Taylor& a);
  friend Taylor log(const Taylor& a);
  friend Taylor sinh(const Taylor& a);
  friend Taylor cosh(const Taylor& a);
  friend Taylor tanh(const Taylor& a);
  friend Taylor pow(const Taylor& a, double p);  // x^0 = 1 with slope 0, also at x = 0
  friend Taylor pow(const Taylor& a, const Taylor& p);
  friend Taylor abs(const Taylor& a) { return a.v < 0 ? -a : a; }
  friend Taylor abs2(const Taylor& a) { return a * a; }
  friend bool isfinite(const Taylor& a) {
    return std::isfinite(a.v) && std::isfinite(a.d1) && std::isfinite(a.d2) && std::isfinite(a.slope) &&
           std::isfinite(a.slope1) && std::isfinite(a.slope2);
  }
  friend std::ostream& operator<<(std::ostream& out, const Taylor& a) { return out << a.v; }
};

inline double value(const Taylor& x) { return x.v; }

}  // namespace mortise

template <> struct Eigen::NumTraits<mortise::Taylor> : Eigen::NumTraits<double> {
  using Real = mortise::Taylor;
  using NonInteger = Real;
  using Nested = Real;
  using Literal = Real;
  enum {
    RequireInitialization = 1,
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    ReadCost = 6,
    AddCost = 6,
    MulCost = 20
  };
};
template <class Op> struct Eigen::ScalarBinaryOpTraits<mortise::Taylor, double, Op> {
  using ReturnType = mortise::Taylor;
};
template <class Op> struct Eigen::ScalarBinaryOpTraits<double, mortise::Taylor, Op> {
  using ReturnType = mortise::Taylor;
};
