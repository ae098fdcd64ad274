#pragma once
// FunctionRef: a function object that lives elsewhere, to be called during a call.

#include <memory>
#include <type_traits>
#include <utility>

namespace mortise {

template <class> class FunctionRef;
template <class R, class... X> class FunctionRef<R(X...)> {
 public:
  template <class F>
  requires(!std::is_same_v<F, FunctionRef>) FunctionRef(const F& f)
      : object_(std::addressof(f)),
        call_([](const void* object, X... x) -> R { return (*static_cast<const F*>(object))(std::forward<X>(x)...); }) {
  }
  R operator()(X... x) const { return call_(object_, std::forward<X>(x)...); }

 private:
  const void* object_;
  R (*call_)(const void*, X...);
};

}  // namespace mortise
