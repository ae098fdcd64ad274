#pragma once
// From a force, a plain struct, to its model: act() as it is, Q = -dV/dq by differentiation, or the sum of both.
//
// act is instantiated for double and Taylor, potential for RowJet, Taylor and TaylorDual (force_model.cpp).

#include <utility>

#include <mortise/assembly/part_of.h>

namespace mortise {

// A force made of formulas of views.
class ForcePart : public ForceModel {
 public:
  using Interface = ForceModel;
  struct Facts {
    bool act = false, act_varies = false;  // written as a template
    bool potential = false;
  };

  bool differentiable() const override { return !facts_.act || facts_.act_varies; }
  void act(const State& s, Firsts first, VectorRef Q) const override;
  StoredEnergy act(const State& s, const Places& at, double* const* f) const override;
  bool act(const TaylorState& s, Firsts first, TaylorVector& Q) const override;
  std::optional<Slopes> slopes(const State& s, Firsts first) const override;
  bool stores() const override { return facts_.potential; }
  std::optional<double> potential(const State& s, Firsts first) const override;
  double potential_rate(const State& s, Firsts first) const override;

 protected:
  explicit ForcePart(const Facts& facts) : facts_(facts) {}

  // The formulas; each is called only where there is one.
  virtual BodyModels bodies() const = 0;
  virtual void act_on(detail::Access<double>* a, double t) const = 0;
  virtual void act_on(detail::Access<Taylor>* a, const Taylor& t) const = 0;
  virtual RowJet energy(const detail::Access<RowJet>* a, const RowJet& t) const = 0;
  virtual Taylor energy(const detail::Access<Taylor>* a, const Taylor& t) const = 0;
  virtual TaylorDual energy(const detail::Access<TaylorDual>* a, const TaylorDual& t) const = 0;

 private:
  Facts facts_;
};

template <class F, int... D> class ForceOf;
template <class F, int... D>
std::shared_ptr<const ForceModel> bind_force(const Label& label, const F& force, BodyModels bodies) {
  return std::make_shared<const ForceOf<F, D...>>(label, force, bodies);
}

template <class F, int... D> class ForceOf final : public PartOf<ForcePart, F, D...> {
  using Base = PartOf<ForcePart, F, D...>;
  template <class T> using Access = detail::Access<T>;
  static constexpr bool has_act = detail::has_act<F, double, D...>, act_varies = detail::has_act<F, Taylor, D...>;
  static constexpr bool has_potential = detail::has_potential<F, RowJet, D...>;

 public:
  ForceOf(const Label& label, F force, BodyModels bodies)
      : Base({has_act, act_varies, has_potential}, label, std::move(force), bodies) {}

  std::shared_ptr<const ForceModel> changed(const Label& label, F force) const override {
    return bind_force<F, D...>(label, force, this->bodies_);
  }
  std::shared_ptr<const ForceModel> rebound(const Label& label, BodyModels bodies) const override {
    detail::require_same_types(label, this->bodies_, bodies);
    return bind_force<F, D...>(label, this->part_, bodies);
  }

 protected:
  BodyModels bodies() const override { return this->bodies_; }
  void act_on([[maybe_unused]] Access<double>* a, [[maybe_unused]] double t) const override {
    if constexpr (has_act)
      detail::with_force_views<D...>(a, [&](auto&... b) { this->part_.act(b..., std::as_const(t)); });
  }
  void act_on([[maybe_unused]] Access<Taylor>* a, [[maybe_unused]] const Taylor& t) const override {
    if constexpr (act_varies) detail::with_force_views<D...>(a, [&](auto&... b) { this->part_.act(b..., t); });
  }
  RowJet energy(const Access<RowJet>* a, const RowJet& t) const override { return energy_in(a, t); }
  Taylor energy(const Access<Taylor>* a, const Taylor& t) const override { return energy_in(a, t); }
  TaylorDual energy(const Access<TaylorDual>* a, const TaylorDual& t) const override { return energy_in(a, t); }

 private:
  template <class T> T energy_in([[maybe_unused]] const Access<T>* a, [[maybe_unused]] const T& t) const {
    if constexpr (has_potential)
      return detail::with_views<BodyView, D...>(a, [&](const auto&... b) { return T(this->part_.potential(b..., t)); });
    else
      return T(0.0);
  }
};

}  // namespace mortise
