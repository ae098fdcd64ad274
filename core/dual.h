#pragma once
// Dual numbers: a value and N first derivatives, carried exactly through any formula.
//
//   Dual<double, N>             N columns of a Jacobian in one pass
//   Dual<Dual<double, 1>, 1>    value, first and second derivative along a line
//
// Write formulas once, templated on the scalar, with `using std::sin;` or unqualified calls.
// Assign whole numbers to elements of a vector, x[i] = {value, {slope}}, not x[i].d[0] = slope: gcc 12 at -O3 loses
// such a store when it vectorises the copy of the vector that follows.

#include <array>
#include <cmath>
#include <ostream>
#include <type_traits>

#include <mortise/core/types.h>

namespace mortise {

template <class T, int N> struct Dual {
  T v;                 // value
  std::array<T, N> d;  // derivatives

  Dual() = default;  // as uninitialised as a double; Dual{} is 0
  template <class S>
  requires std::is_arithmetic_v<S> Dual(S c) : v(static_cast<double>(c)), d{} {}
  // One level of nesting up: a T becomes a constant of Dual<T, N>.
  Dual(const T& c) requires(!std::is_same_v<T, double>) : v(c), d{} {}

  Dual(const T& value, const std::array<T, N>& slopes) : v(value), d(slopes) {}

  // The i-th independent variable.
  static Dual variable(const T& value, Index i) {
    std::array<T, N> slopes{};
    slopes[static_cast<std::size_t>(i)] = T(1.0);
    return {value, slopes};
  }

  // f(a) with f'(a) = slope.
  static Dual chain(const Dual& a, const T& value, const T& slope) {
    Dual r;
    r.v = value;
    for (std::size_t i = 0; i < N; ++i) r.d[i] = slope * a.d[i];
    return r;
  }

  friend Dual operator+(const Dual& a, const Dual& b) {
    Dual r;
    r.v = a.v + b.v;
    for (std::size_t i = 0; i < N; ++i) r.d[i] = a.d[i] + b.d[i];
    return r;
  }
  friend Dual operator-(const Dual& a, const Dual& b) {
    Dual r;
    r.v = a.v - b.v;
    for (std::size_t i = 0; i < N; ++i) r.d[i] = a.d[i] - b.d[i];
    return r;
  }
  friend Dual operator-(const Dual& a) {
    Dual r;
    r.v = -a.v;
    for (std::size_t i = 0; i < N; ++i) r.d[i] = -a.d[i];
    return r;
  }
  friend Dual operator+(const Dual& a) { return a; }
  friend Dual operator*(const Dual& a, const Dual& b) {
    Dual r;
    r.v = a.v * b.v;
    for (std::size_t i = 0; i < N; ++i) r.d[i] = a.d[i] * b.v + a.v * b.d[i];
    return r;
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    Dual r;
    r.v = a.v / b.v;
    for (std::size_t i = 0; i < N; ++i) r.d[i] = (a.d[i] - r.v * b.d[i]) / b.v;
    return r;
  }
  Dual& operator+=(const Dual& b) { return *this = *this + b; }
  Dual& operator-=(const Dual& b) { return *this = *this - b; }
  Dual& operator*=(const Dual& b) { return *this = *this * b; }
  Dual& operator/=(const Dual& b) { return *this = *this / b; }

  // Comparisons look at the value only: branches follow the point of evaluation.
  friend bool operator<(const Dual& a, const Dual& b) { return a.v < b.v; }
  friend bool operator>(const Dual& a, const Dual& b) { return a.v > b.v; }
  friend bool operator<=(const Dual& a, const Dual& b) { return a.v <= b.v; }
  friend bool operator>=(const Dual& a, const Dual& b) { return a.v >= b.v; }
  friend bool operator==(const Dual& a, const Dual& b) { return a.v == b.v; }
  friend bool operator!=(const Dual& a, const Dual& b) { return !(a == b); }

  friend Dual sin(const Dual& a) {
    using std::cos, std::sin;
    return chain(a, sin(a.v), cos(a.v));
  }
  friend Dual cos(const Dual& a) {
    using std::cos, std::sin;
    return chain(a, cos(a.v), -sin(a.v));
  }
  friend Dual tan(const Dual& a) {
    using std::tan;
    const T t = tan(a.v);
    return chain(a, t, T(1.0) + t * t);
  }
  friend Dual asin(const Dual& a) {
    using std::asin, std::sqrt;
    return chain(a, asin(a.v), T(1.0) / sqrt(T(1.0) - a.v * a.v));
  }
  friend Dual acos(const Dual& a) {
    using std::acos, std::sqrt;
    return chain(a, acos(a.v), T(-1.0) / sqrt(T(1.0) - a.v * a.v));
  }
  friend Dual atan(const Dual& a) {
    using std::atan;
    return chain(a, atan(a.v), T(1.0) / (T(1.0) + a.v * a.v));
  }
  friend Dual atan2(const Dual& y, const Dual& x) {
    using std::atan2;
    const T r2 = x.v * x.v + y.v * y.v;
    Dual r;
    r.v = atan2(y.v, x.v);
    for (std::size_t i = 0; i < N; ++i) r.d[i] = (x.v * y.d[i] - y.v * x.d[i]) / r2;
    return r;
  }
  friend Dual sqrt(const Dual& a) {
    using std::sqrt;
    const T s = sqrt(a.v);
    return chain(a, s, T(0.5) / s);
  }
  friend Dual exp(const Dual& a) {
    using std::exp;
    const T e = exp(a.v);
    return chain(a, e, e);
  }
  friend Dual log(const Dual& a) {
    using std::log;
    return chain(a, log(a.v), T(1.0) / a.v);
  }
  friend Dual sinh(const Dual& a) {
    using std::cosh, std::sinh;
    return chain(a, sinh(a.v), cosh(a.v));
  }
  friend Dual cosh(const Dual& a) {
    using std::cosh, std::sinh;
    return chain(a, cosh(a.v), sinh(a.v));
  }
  friend Dual tanh(const Dual& a) {
    using std::tanh;
    const T t = tanh(a.v);
    return chain(a, t, T(1.0) - t * t);
  }
  // p may be any real number; x^0 = 1 with slope 0, also at x = 0.
  friend Dual pow(const Dual& a, double p) {
    using std::pow;
    return p == 0 ? Dual(1.0) : chain(a, pow(a.v, p), T(p) * pow(a.v, p - 1));
  }
  friend Dual pow(const Dual& a, const Dual& p) { return exp(p * log(a)); }
  friend Dual abs(const Dual& a) { return a.v < T(0.0) ? -a : a; }
  friend Dual abs2(const Dual& a) { return a * a; }
  friend bool isfinite(const Dual& a) {
    using std::isfinite;
    bool ok = isfinite(a.v);
    for (std::size_t i = 0; i < N; ++i) ok = ok && isfinite(a.d[i]);
    return ok;
  }
  friend std::ostream& operator<<(std::ostream& out, const Dual& a) { return out << a.v; }
};

// The plain number behind any scalar.
inline double value(double x) { return x; }
template <class T, int N> double value(const Dual<T, N>& x) { return value(x.v); }

// Jacobians are taken jet_width columns at a time, so that one scalar type serves bodies of every size.
inline constexpr int jet_width = 8;
using FirstOrder = Dual<double, jet_width>;

// A point moving along a line, x(s) = value + slope s: second derivatives with respect to s.
using SecondOrder = Dual<Dual<double, 1>, 1>;
inline SecondOrder along(double value, double slope) { return {{value, {slope}}, {Dual<double, 1>(slope)}}; }

// vec(a, 0.0, b): a vector of the widest scalar among the arguments.
template <class... X> auto vec(const X&... x) {
  using T = std::common_type_t<X...>;
  return Vec<T, sizeof...(X)>{T(x)...};
}

// stack(u, a, w): vectors and numbers one below the other, of the scalar of the first.
template <class U, class... X> auto stack(const U& u, const X&... x) {
  constexpr auto size = []<class V>(const V*) {
    if constexpr (requires { V::RowsAtCompileTime; })
      return static_cast<int>(V::RowsAtCompileTime);
    else
      return 1;
  };
  using T = typename U::Scalar;
  Vec<T, size(static_cast<const U*>(nullptr)) + (size(static_cast<const X*>(nullptr)) + ... + 0)> out;
  Index i = 0;
  const auto put = [&](const auto& y) {
    if constexpr (requires { y.rows(); })
      for (Index k = 0; k < y.rows(); ++k) out[i++] = y[k];
    else
      out[i++] = y;
  };
  put(u);
  (put(x), ...);
  return out;
}

// The scalar of a vector or the number itself: `using T = Scalar<decltype(q)>;` in a generic lambda.
namespace detail {
template <class X> struct ScalarOf { using type = X; };
template <class X>
requires requires { typename X::Scalar; }
struct ScalarOf<X> {
  using type = typename X::Scalar;
};
}  // namespace detail
template <class X> using Scalar = typename detail::ScalarOf<std::remove_cvref_t<X>>::type;

}  // namespace mortise

template <class T, int N> struct Eigen::NumTraits<mortise::Dual<T, N>> : Eigen::NumTraits<double> {
  using Real = mortise::Dual<T, N>;
  using NonInteger = Real;
  using Nested = Real;
  using Literal = Real;
  enum {
    RequireInitialization = 1,
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    ReadCost = N,
    AddCost = N,
    MulCost = 3 * N
  };
};
template <class T, int N, class Op> struct Eigen::ScalarBinaryOpTraits<mortise::Dual<T, N>, double, Op> {
  using ReturnType = mortise::Dual<T, N>;
};
template <class T, int N, class Op> struct Eigen::ScalarBinaryOpTraits<double, mortise::Dual<T, N>, Op> {
  using ReturnType = mortise::Dual<T, N>;
};
