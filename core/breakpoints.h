#pragma once
// Breakpoints: the instants at which a function of time has a corner or a jump, or begins to act after a rest.
//
//   struct Ramp {                                                              a function object may tell its own
//     template <class T> T operator()(const T& t) const { return t > start ? T(rate * (t - start)) : T(0.0); }
//     std::vector<double> breakpoints(double from, double to) const { return {start}; }
//     double start, rate;
//   };
//   BreaksAt{[](const auto& t) { return t < 1.0 ? 0.0 * t : t - 1.0; }, {1.0}}      or be given them
//
// simulate leads its steps up to them and begins anew behind, so that no step goes over one, however short what happens
// there is.  Splines and tables have theirs at their points, formulas of files where abs, min and max of the time
// switch.  A joint or a force has those of the functions it is made of, or tells them by a member of this name.

#include <array>
#include <concepts>
#include <tuple>
#include <utility>
#include <vector>

namespace mortise {

template <class F>
concept HasBreakpoints = requires(const F& f, double t) {
  { f.breakpoints(t, t) } -> std::convertible_to<std::vector<double>>;
};

template <class F> struct BreaksAt {
  F f;
  std::vector<double> at;

  template <class... X>
  requires std::invocable<const F&, X&...>
  auto operator()(X&... x) const { return f(x...); }
  std::vector<double> breakpoints(double, double) const { return at; }
};
template <class F> BreaksAt(F, std::vector<double>) -> BreaksAt<F>;

namespace detail {

inline void append(std::vector<double>& out, const std::vector<double>& more) {
  out.insert(out.end(), more.begin(), more.end());
}

// Those of a function, or of several.
template <class F> void breakpoints_in(const F& f, double from, double to, std::vector<double>& out) {
  if constexpr (HasBreakpoints<F>) append(out, f.breakpoints(from, to));
}
template <class F, std::size_t N>
void breakpoints_in(const std::array<F, N>& all, double from, double to, std::vector<double>& out) {
  for (const F& f : all) breakpoints_in(f, from, to, out);
}

}  // namespace detail

// Those of a part, between two times; in any order, and others may be among them.
template <class P> std::vector<double> breakpoints_of(const P& part, double from, double to) {
  std::vector<double> out;
  if constexpr (HasBreakpoints<P>) {
    out = part.breakpoints(from, to);
  } else {
    if constexpr (requires { P::fields; })
      std::apply([&](const auto&... x) { (detail::breakpoints_in(part.*(x.member), from, to, out), ...); }, P::fields);
    else if constexpr (requires { part.f; })
      detail::breakpoints_in(part.f, from, to, out);
    if constexpr (requires { part.joint; }) detail::append(out, breakpoints_of(part.joint, from, to));
    if constexpr (requires { part.law; }) detail::breakpoints_in(part.law, from, to, out);
  }
  return out;
}

}  // namespace mortise
