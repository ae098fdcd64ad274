#pragma once
// Function: a function of one number, such as time, with its first three derivatives.
//
//   Function f = [](const auto& t) { return 0.2 * sin(3.0 * t); };      a functor, templated on the scalar
//   Function f = Spline({0, 1, 2}, {0, 0.5, 0});                        or a Table
//   Function f = 1.5;                                                   or a constant
//
// It is called with any scalar of dual.h, jet.h or taylor.h, and tells what it was made from:  f.source<Spline>(), and
// the breakpoints of that (core/breakpoints.h).

#include <any>
#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <mortise/core/breakpoints.h>
#include <mortise/core/errors.h>
#include <mortise/core/jet.h>
#include <mortise/core/taylor.h>

namespace mortise {

class Function {
 public:
  Function(double constant = 0) : f_([constant](const Taylor&) { return Taylor(constant); }), source_(constant) {}
  template <class F>
  requires(!std::same_as<F, Function> && !std::is_arithmetic_v<F> && std::invocable<const F&, const Taylor&>)
      Function(F f)
      : f_([f](const Taylor& t) { return Taylor(f(t)); }) {
    if constexpr (HasBreakpoints<F>) breakpoints_ = [f](double from, double to) { return f.breakpoints(from, to); };
    source_ = std::move(f);
  }

  template <class T> T operator()(const T& t) const {
    if (!f_) Label{"function", ""}.fail<InvalidModel>("it was moved from", "take the one it was moved to");
    const Taylor f = f_(Taylor(value(t), 1, 1));  // along t, and the slope along t
    return lift(t, f.v, f.d1, f.d2, f.slope2);
  }

  // The F that it was made from, or null if that was something else.
  template <class F> const F* source() const { return std::any_cast<F>(&source_); }
  std::vector<double> breakpoints(double from, double to) const {
    return breakpoints_ ? breakpoints_(from, to) : std::vector<double>();
  }

 private:
  // f(t) from f, f', f'', f''' at the value of t; exact for numbers that carry three derivatives at most.
  static double lift(double, double f, double, double, double) { return f; }
  template <class S, int N> static Dual<S, N> lift(const Dual<S, N>& t, double f, double f1, double f2, double f3) {
    return Dual<S, N>::chain(t, lift(t.v, f, f1, f2, f3), lift(t.v, f1, f2, f3, 0));
  }
  template <int K> static Jet<K> lift(const Jet<K>& t, double f, double f1, double f2, double) {
    return Jet<K>::chain(t, f, f1, f2);
  }
  static Taylor lift(const Taylor& t, double f, double f1, double f2, double f3) {
    return Taylor::chain(t, f, f1, f2, f3);
  }

  std::function<Taylor(const Taylor&)> f_;
  std::function<std::vector<double>(double, double)> breakpoints_;
  std::any source_;
};

}  // namespace mortise
