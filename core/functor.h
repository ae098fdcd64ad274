#pragma once
// Functor: a function object of any type behind one type, for the scalars T... that a part calls it with.
//
//   TorqueLaw f = [](const auto& angle, const auto& speed, const auto& t) { return 5.0 - 0.1 * speed; };
//
// The function object is a template on the scalar; each scalar calls its own instance, so derivatives are exact.  A
// part that holds one is compiled once, whatever the function object is.  It tells what it was made from:
// f.source<F>().

#include <any>
#include <concepts>
#include <functional>
#include <memory>
#include <utility>

#include <mortise/core/breakpoints.h>
#include <mortise/core/view.h>

namespace mortise {

namespace detail {
template <class Signature> struct FunctorCall;
template <class R, class... A> struct FunctorCall<R(A...)> {
  R operator()(A... a) const { return call(a...); }

  template <class F> void set(const std::shared_ptr<const F>& f) {
    call = [f](A... a) { return R((*f)(a...)); };
  }
  std::function<R(A...)> call;
};
}  // namespace detail

template <template <class> class Signature, class... T> class Functor : detail::FunctorCall<Signature<T>>... {
 public:
  Functor() = default;  // none: it must not be called
  template <class F>
  requires(!std::same_as<F, Functor>) Functor(F f) {
    const auto shared = std::make_shared<const F>(std::move(f));
    (detail::FunctorCall<Signature<T>>::set(shared), ...);
    if constexpr (HasBreakpoints<F>)
      breakpoints_ = [shared](double from, double to) { return shared->breakpoints(from, to); };
    source_ = shared;
  }

  using detail::FunctorCall<Signature<T>>::operator()...;
  explicit operator bool() const { return source_.has_value(); }
  std::vector<double> breakpoints(double from, double to) const {
    return breakpoints_ ? breakpoints_(from, to) : std::vector<double>();
  }

  // The F that it was made from, or null if that was something else.
  template <class F> const F* source() const {
    const auto* shared = std::any_cast<std::shared_ptr<const F>>(&source_);
    return shared ? shared->get() : nullptr;
  }

 private:
  std::function<std::vector<double>(double, double)> breakpoints_;
  std::any source_;
};

namespace detail {
template <class T> using TorqueSignature = T(const T& angle, const T& speed, const T& t);
template <class T> using EnergySignature = T(const T& e);
template <class T> using TensionSignature = T(const T& e, const T& rate, const T& t);
}  // namespace detail
using TorqueLaw = Functor<detail::TorqueSignature, double, Taylor>;                      // of Motor
using EnergyLaw = Functor<detail::EnergySignature, double, RowJet, Taylor, TaylorDual>;  // of NonlinearSpring
using TensionLaw = Functor<detail::TensionSignature, double, Taylor>;                    // of NonlinearSpring

}  // namespace mortise
