#pragma once
// Jet: a value, K slopes, and its first and second derivative in time, carried exactly through any formula.
//
// It does in one pass what a Dual<double, K> and a SecondOrder do in two.  All derivatives but the second one follow
// the same linear rule, d f(a) = f'(a) da, so they stand in one array; the second one adds f''(a) a'^2.  The array is
// made of vectors of four (an extension of gcc and clang): compilers clear and copy arrays of numbers by slow calls.

#include <mortise/core/dual.h>

namespace mortise {

template <int K> struct Jet {
  using Four [[gnu::vector_size(32)]] = double;
  struct [[gnu::packed, gnu::aligned(8)]] Part {  // aligned as its numbers, so that Jets need no more than that
    Four v;
  };
  static constexpr std::size_t width = (K + 2 + 3) / 4;

  Part d[width];  // slopes, rate, acceleration, and 0 to the end of the last four
  double v;

  Jet() = default;  // as uninitialised as a double; Jet{} is 0
  template <class S>
  requires std::is_arithmetic_v<S>
  [[gnu::always_inline]] Jet(S c) : v(static_cast<double>(c)) {
    for (std::size_t i = 0; i < width; ++i) d[i].v = Four{0, 0, 0, 0};
  }
  // slopes(k) gives slope k.
  template <class F>
  [[gnu::always_inline]] static Jet make(double value, double rate, double acceleration, const F& slopes) {
    Jet x;
    x.v = value;
    const auto entry = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) __attribute__((always_inline))
                           ->double {
      if constexpr (i < K)
        return slopes(std::integral_constant<int, static_cast<int>(i)>{});
      else
        return i == K ? rate : i == K + 1 ? acceleration : 0.0;
    };
    [&]<std::size_t... j>(std::index_sequence<j...>) __attribute__((always_inline)) {
      ((x.d[j].v = Four{entry(std::integral_constant<std::size_t, 4 * j>{}),
                        entry(std::integral_constant<std::size_t, 4 * j + 1>{}),
                        entry(std::integral_constant<std::size_t, 4 * j + 2>{}),
                        entry(std::integral_constant<std::size_t, 4 * j + 3>{})}),
       ...);
    }
    (std::make_index_sequence<width>{});
    return x;
  }
  static Jet time(double t) {
    return make(t, 1, 0, [](auto) { return 0.0; });
  }

  double slope(std::size_t k) const { return d[k / 4].v[k % 4]; }
  double rate() const { return d[K / 4].v[K % 4]; }
  double acceleration() const { return d[(K + 1) / 4].v[(K + 1) % 4]; }
  // The whole four at once: what is written in pieces cannot be read as a whole without waiting.
  [[gnu::always_inline]] void accelerate(double by) {
    constexpr int lane = (K + 1) % 4;
    d[(K + 1) / 4].v += Four{lane == 0 ? by : 0, lane == 1 ? by : 0, lane == 2 ? by : 0, lane == 3 ? by : 0};
  }

  // f(a) from f, f' and f'' at a.
  [[gnu::always_inline]] static Jet chain(const Jet& a, double f, double f1, double f2) {
    Jet r;
    r.v = f;
    for (std::size_t i = 0; i < width; ++i) r.d[i].v = f1 * a.d[i].v;
    r.accelerate(f2 * a.rate() * a.rate());
    return r;
  }
  template <class F> static Jet chain(const Jet& a, const F& f) {
    const SecondOrder r = f(along(a.v, 1));
    return chain(a, r.v.v, r.d[0].v, r.d[0].d[0]);
  }

  [[gnu::always_inline]] friend Jet operator+(const Jet& a, const Jet& b) {
    Jet r;
    r.v = a.v + b.v;
    for (std::size_t i = 0; i < width; ++i) r.d[i].v = a.d[i].v + b.d[i].v;
    return r;
  }
  [[gnu::always_inline]] friend Jet operator-(const Jet& a, const Jet& b) {
    Jet r;
    r.v = a.v - b.v;
    for (std::size_t i = 0; i < width; ++i) r.d[i].v = a.d[i].v - b.d[i].v;
    return r;
  }
  friend Jet operator-(const Jet& a) { return chain(a, -a.v, -1, 0); }
  friend Jet operator+(const Jet& a) { return a; }
  [[gnu::always_inline]] friend Jet operator*(const Jet& a, const Jet& b) {
    Jet r;
    r.v = a.v * b.v;
    for (std::size_t i = 0; i < width; ++i) r.d[i].v = a.d[i].v * b.v + a.v * b.d[i].v;
    r.accelerate(2 * a.rate() * b.rate());
    return r;
  }
  friend Jet operator/(const Jet& a, const Jet& b) {
    Jet r;
    r.v = a.v / b.v;
    for (std::size_t i = 0; i < width; ++i) r.d[i].v = (a.d[i].v - r.v * b.d[i].v) / b.v;
    r.accelerate(-2 * r.rate() * b.rate() / b.v);
    return r;
  }
  // A number is not widened first: most factors of a formula are numbers.
  [[gnu::always_inline]] friend Jet operator*(const Jet& a, double b) { return chain(a, a.v * b, b, 0); }
  [[gnu::always_inline]] friend Jet operator*(double a, const Jet& b) { return chain(b, a * b.v, a, 0); }
  friend Jet operator/(const Jet& a, double b) { return chain(a, a.v / b, 1 / b, 0); }
  friend Jet operator/(double a, const Jet& b) { return Jet(a) / b; }
  friend Jet operator+(const Jet& a, double b) { return chain(a, a.v + b, 1, 0); }
  friend Jet operator+(double a, const Jet& b) { return b + a; }
  friend Jet operator-(const Jet& a, double b) { return a + (-b); }
  friend Jet operator-(double a, const Jet& b) { return chain(b, a - b.v, -1, 0); }
  Jet& operator+=(const Jet& b) { return *this = *this + b; }
  Jet& operator-=(const Jet& b) { return *this = *this - b; }
  Jet& operator*=(const Jet& b) { return *this = *this * b; }
  Jet& operator/=(const Jet& b) { return *this = *this / b; }

  // Comparisons look at the value only: branches follow the point of evaluation.
  friend bool operator<(const Jet& a, const Jet& b) { return a.v < b.v; }
  friend bool operator>(const Jet& a, const Jet& b) { return a.v > b.v; }
  friend bool operator<=(const Jet& a, const Jet& b) { return a.v <= b.v; }
  friend bool operator>=(const Jet& a, const Jet& b) { return a.v >= b.v; }
  friend bool operator==(const Jet& a, const Jet& b) { return a.v == b.v; }
  friend bool operator!=(const Jet& a, const Jet& b) { return a.v != b.v; }

  friend Jet sin(const Jet& a) { return chain(a, std::sin(a.v), std::cos(a.v), -std::sin(a.v)); }
  friend Jet cos(const Jet& a) { return chain(a, std::cos(a.v), -std::sin(a.v), -std::cos(a.v)); }
  friend Jet sqrt(const Jet& a) {
    const double s = std::sqrt(a.v);
    return chain(a, s, 0.5 / s, -0.25 / (s * a.v));
  }
  friend Jet tan(const Jet& a) {
    return chain(a, [](const auto& x) { return tan(x); });
  }
  friend Jet asin(const Jet& a) {
    return chain(a, [](const auto& x) { return asin(x); });
  }
  friend Jet acos(const Jet& a) {
    return chain(a, [](const auto& x) { return acos(x); });
  }
  friend Jet atan(const Jet& a) {
    return chain(a, [](const auto& x) { return atan(x); });
  }
  friend Jet exp(const Jet& a) {
    return chain(a, [](const auto& x) { return exp(x); });
  }
  friend Jet log(const Jet& a) {
    return chain(a, [](const auto& x) { return log(x); });
  }
  friend Jet sinh(const Jet& a) {
    return chain(a, [](const auto& x) { return sinh(x); });
  }
  friend Jet cosh(const Jet& a) {
    return chain(a, [](const auto& x) { return cosh(x); });
  }
  friend Jet tanh(const Jet& a) {
    return chain(a, [](const auto& x) { return tanh(x); });
  }
  friend Jet pow(const Jet& a, double p) {
    return chain(a, [p](const auto& x) { return pow(x, p); });
  }
  friend Jet pow(const Jet& a, const Jet& p) { return exp(p * log(a)); }
  friend Jet atan2(const Jet& y, const Jet& x) {
    const double r2 = x.v * x.v + y.v * y.v, fy = x.v / r2, fx = -y.v / r2;
    Jet r;
    r.v = std::atan2(y.v, x.v);
    for (std::size_t i = 0; i < width; ++i) r.d[i].v = fy * y.d[i].v + fx * x.d[i].v;
    // f_yy = -f_xx = 2 fy fx,  f_xy = fx^2 - fy^2
    r.accelerate(2 * fy * fx * (y.rate() * y.rate() - x.rate() * x.rate()) +
                 2 * (fx * fx - fy * fy) * x.rate() * y.rate());
    return r;
  }
  friend Jet abs(const Jet& a) { return a.v < 0 ? -a : a; }
  friend Jet abs2(const Jet& a) { return a * a; }
  friend bool isfinite(const Jet& a) {
    bool ok = std::isfinite(a.v);
    for (std::size_t i = 0; i < 4 * width; ++i) ok = ok && std::isfinite(a.slope(i));
    return ok;
  }
  friend std::ostream& operator<<(std::ostream& out, const Jet& a) { return out << a.v; }
};

template <int K> double value(const Jet<K>& x) { return x.v; }

}  // namespace mortise

template <int K> struct Eigen::NumTraits<mortise::Jet<K>> : Eigen::NumTraits<double> {
  using Real = mortise::Jet<K>;
  using NonInteger = Real;
  using Nested = Real;
  using Literal = Real;
  enum {
    RequireInitialization = 1,
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    ReadCost = K,
    AddCost = K,
    MulCost = 3 * K
  };
};
template <int K, class Op> struct Eigen::ScalarBinaryOpTraits<mortise::Jet<K>, double, Op> {
  using ReturnType = mortise::Jet<K>;
};
template <int K, class Op> struct Eigen::ScalarBinaryOpTraits<double, mortise::Jet<K>, Op> {
  using ReturnType = mortise::Jet<K>;
};
