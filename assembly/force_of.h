#pragma once
// From a force, a plain struct, to its model: act() as it is, Q = -dV/dq by dual numbers, or the sum of both.

#include <array>
#include <tuple>
#include <utility>

#include <mortise/assembly/part_on.h>
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

template <class F, Body... B> class ForceOf final : public PartOn<ForceOf<F, B...>, ForceModel, F, B...> {
  using Base = PartOn<ForceOf, ForceModel, F, B...>;
  using Base::bodies_, Base::part_;
  static constexpr bool has_act = detail::HasAct<F, double, B...>;
  static constexpr bool has_potential = detail::HasPotential<F, double, B...>;
  static constexpr bool marked_act = detail::HasMarkedAct<F, B...>;
  static_assert(has_act || has_potential,
                "this force needs act(bodies..., t) or potential(bodies..., t) for these body types");
  static_assert(!has_potential || detail::HasPotential<F, FirstOrder, B...>,
                "potential must be a template: its derivatives are the force");

 public:
  using Base::Base;

  static constexpr bool has_slopes = !has_act || detail::HasAct<F, FirstOrder, B...>;
  bool differentiable() const override { return has_slopes; }
  void act(const State& s, Firsts first, VectorRef Q) const override {
    bodies_.add(total<double>(bodies_.stacked(s.q, first), bodies_.stacked(s.v, first), s.t), first, Q);
  }
  void act(const State& s, const Places& at, double* const* f) const override {
    if constexpr (marked_act) bodies_.acted(s, at, f, [&](auto&... view) { part_.act(view..., s.t); });
    if constexpr (at_markers()) {  // T'Q = -dV/dy
      using T = Jet<Attached<B...>::unknown_count>;
      const T V = std::apply([&](const auto&... view) { return T(part_.potential(view..., T(s.t))); },
                             bodies_.template marked<T>(s, at));
      std::size_t body = 0, k = 0;
      for (const Index n : std::array<Index, sizeof...(B)>{Index{UnknownsOf<B>::count}...}) {
        for (Index i = 0; i < n; ++i) f[body][i] -= V.slope(k++);
        ++body;
      }
    }
    constexpr bool act_left = has_act && !marked_act, potential_left = has_potential && !at_markers();
    if constexpr (act_left || potential_left) {
      const Firsts first(at.first, sizeof...(B));
      const VectorXd q = bodies_.stacked(s.q, first), v = bodies_.stacked(s.v, first);
      bodies_.push(at, total<double, act_left, potential_left>(q, v, s.t), f);
    }
  }
  bool act([[maybe_unused]] const TaylorState& s, [[maybe_unused]] Firsts first,
           [[maybe_unused]] TaylorVector& Q) const override {
    if constexpr (!has_act || detail::HasAct<F, Taylor, B...>) {
      bodies_.add(total<Taylor>(bodies_.stacked(s.q, first), bodies_.stacked(s.v, first), s.t), first, Q);
      return true;
    } else {
      return false;
    }
  }
  std::optional<Slopes> slopes(const State& s, Firsts first) const override {
    if constexpr (has_slopes) {
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
  double potential_rate(const State& s, Firsts first) const override {
    if constexpr (has_potential) {
      const VectorXd q = bodies_.stacked(s.q, first), v = bodies_.stacked(s.v, first);
      Vec<FirstOrder, dynamic> x(q.size());
      for (Index i = 0; i < q.size(); ++i) x[i] = FirstOrder(q[i], {v[i]});
      return call<FirstOrder>(x, FirstOrder::variable(s.t, 0)).d[0];
    } else {
      return 0;
    }
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
    return std::apply([&](const auto&... view) { return T(part_.potential(view..., t)); },
                      bodies_.template placed<T>(q));
  }
  template <class T, bool with_act = has_act, bool with_potential = has_potential>
  Vec<T, dynamic> total(const Vec<T, dynamic>& q, const Vec<T, dynamic>& v, const T& t) const {
    Vec<T, dynamic> Q = Vec<T, dynamic>::Zero(q.size());
    if constexpr (with_act) Q = bodies_.template acted<T>(q, v, [&](auto&... view) { part_.act(view..., t); });
    if constexpr (with_potential) {  // Q = -dV/dq
      using S = Dual<T, 1>;
      Vec<S, dynamic> x = q.template cast<S>();
      for (Index i = 0; i < q.size(); ++i) {
        x[i] = S::variable(q[i], 0);
        Q[i] -= call<S>(x, S(t)).d[0];
        x[i] = S(q[i]);
      }
    }
    return Q;
  }
};

}  // namespace mortise
