#pragma once
// Function: a function of one number, such as time, with its first two derivatives.
//
//   Function f = [](const auto& t) { return 0.2 * sin(3.0 * t); };      a functor, templated on the scalar
//   Function f = Spline({0, 1, 2}, {0, 0.5, 0});                        or a Table
//   Function f = 1.5;                                                   or a constant
//
// It is called with any scalar of dual.h or jet.h, and tells what it was made from:  f.source<Spline>().

#include <any>
#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <mortise/core/jet.h>

namespace mortise {

class Function {
 public:
  Function(double constant = 0)
      : f_([constant](const SecondOrder&) { return SecondOrder(constant); }), source_(constant) {}
  template <class F>
  requires(!std::same_as<F, Function> && !std::is_arithmetic_v<F> && std::invocable<const F&, const SecondOrder&>)
      Function(F f)
      : f_([f](const SecondOrder& t) { return SecondOrder(f(t)); }), source_(std::move(f)) {}

  template <class T> T operator()(const T& t) const {
    const SecondOrder f = f_(along(value(t), 1));
    return lift(t, f.v.v, f.d[0].v, f.d[0].d[0]);
  }

  // The F that it was made from, or null if that was something else.
  template <class F> const F* source() const { return std::any_cast<F>(&source_); }

 private:
  // f(t) from f, f', f'' at the value of t; exact for numbers that carry two derivatives at most.
  static double lift(double, double f, double, double) { return f; }
  template <int N> static Dual<double, N> lift(const Dual<double, N>& t, double f, double f1, double) {
    return Dual<double, N>::chain(t, f, f1);
  }
  template <int M, int N>
  static Dual<Dual<double, M>, N> lift(const Dual<Dual<double, M>, N>& t, double f, double f1, double f2) {
    return Dual<Dual<double, M>, N>::chain(t, lift(t.v, f, f1, f2), lift(t.v, f1, f2, 0));
  }
  template <int K> static Jet<K> lift(const Jet<K>& t, double f, double f1, double f2) {
    return Jet<K>::chain(t, f, f1, f2);
  }

  std::function<SecondOrder(const SecondOrder&)> f_;
  std::any source_;
};

}  // namespace mortise
