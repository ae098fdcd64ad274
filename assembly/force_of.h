#pragma once
// From a force, a plain struct, to its model: act() as it is, or Q = -dV/dq by dual numbers.

#include <array>
#include <tuple>
#include <utility>

#include <mortise/assembly/attached.h>
#include <mortise/assembly/seeding.h>

namespace mortise {

namespace detail {

template <class F, class T, class... B>
concept HasAct = requires(const F& f, Acted<B, T>&... b, const T& t) {
  f.act(b..., t);
};
template <class F, class... B>
concept HasMarkedAct = requires(const F& f, MarkedActed<B, UnknownsOf<B>>&... b, double t) {
  f.act(b..., t);
};
template <class F, class T, class A, class I> inline constexpr bool has_marked_potential = false;
template <class F, class T, class A, std::size_t... i>
inline constexpr bool has_marked_potential<F, T, A, std::index_sequence<i...>> =
    requires(const F& f, const typename A::template MarkedAt<i, T>&... view, const T& t) {
  f.potential(view..., t);
};

template <class F, class T, class... B>
concept HasPotential = requires(const F& f, const Placed<B, T>&... b, const T& t) {
  f.potential(b..., t);
};

}  // namespace detail

template <class F, Body... B> class ForceOf final : public ForceModel {
  static constexpr bool has_act = detail::HasAct<F, double, B...>;
  static constexpr bool has_potential = detail::HasPotential<F, double, B...>;
  static_assert(has_act != has_potential,
                "this force needs either act(bodies..., t) or potential(bodies..., t) for these body types");
  static_assert(!has_potential || detail::HasPotential<F, FirstOrder, B...>,
                "potential must be a template: its derivatives are the force");

 public:
  ForceOf(F force, std::shared_ptr<const Modelled<B>>... body)
      : force_(std::move(force)), bodies_(std::move(body)...) {}

  bool differentiable() const override { return has_potential || detail::HasAct<F, FirstOrder, B...>; }
  void act(const State& s, Firsts first, VectorRef Q) const override {
    bodies_.add(total<double>(bodies_.stacked(s.q, first), bodies_.stacked(s.v, first), s.t), first, Q);
  }
  void act(const State& s, const Places& at, double* const* f) const override {
    if constexpr (detail::HasMarkedAct<F, B...>) {
      bodies_.acted(s, at, f, [&](auto&... view) { force_.act(view..., s.t); });
    } else if constexpr (at_markers()) {  // T'Q = -dV/dy
      using T = Jet<Attached<B...>::unknown_count>;
      const T V = std::apply([&](const auto&... view) { return T(force_.potential(view..., T(s.t))); },
                             bodies_.template marked<T>(s, at));
      std::size_t body = 0, k = 0;
      for (const Index n : std::array<Index, sizeof...(B)>{Index{UnknownsOf<B>::count}...}) {
        for (Index i = 0; i < n; ++i) f[body][i] -= V.slope(k++);
        ++body;
      }
    } else {
      const Firsts first(at.first, sizeof...(B));
      bodies_.push(at, total<double>(bodies_.stacked(s.q, first), bodies_.stacked(s.v, first), s.t), f);
    }
  }
  std::optional<Slopes> slopes(const State& s, Firsts first) const override {
    if constexpr (has_potential || detail::HasAct<F, FirstOrder, B...>) {
      return slopes_of(bodies_.stacked(s.q, first), bodies_.stacked(s.v, first),
                       [&](const auto& q, const auto& v) { return total<FirstOrder>(q, v, FirstOrder(s.t)); });
    } else {
      return std::nullopt;
    }
  }
  std::optional<double> potential(const State& s, Firsts first) const override {
    if constexpr (has_potential)
      return call<double>(bodies_.stacked(s.q, first), s.t);
    else
      return std::nullopt;
  }

 private:
  static constexpr bool at_markers() {
    if constexpr (has_potential && Attached<B...>::static_unknowns)
      return detail::has_marked_potential<F, Jet<Attached<B...>::unknown_count>, Attached<B...>,
                                          std::index_sequence_for<B...>>;
    else
      return false;
  }
  template <class T> T call(const Vec<T, dynamic>& q, const T& t) const {
    return std::apply([&](const auto&... view) { return T(force_.potential(view..., t)); },
                      bodies_.template placed<T>(q));
  }
  template <class T> Vec<T, dynamic> total(const Vec<T, dynamic>& q, const Vec<T, dynamic>& v, const T& t) const {
    if constexpr (has_act) {
      return bodies_.template acted<T>(q, v, [&](auto&... view) { force_.act(view..., t); });
    } else {  // Q = -dV/dq
      using S = Dual<T, 1>;
      Vec<S, dynamic> x = q.template cast<S>();
      Vec<T, dynamic> Q(q.size());
      for (Index i = 0; i < q.size(); ++i) {
        x[i] = S::variable(q[i], 0);
        Q[i] = -call<S>(x, S(t)).d[0];
        x[i] = S(q[i]);
      }
      return Q;
    }
  }

  F force_;
  Attached<B...> bodies_;
};

}  // namespace mortise
