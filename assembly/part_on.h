#pragma once
// A joint, a force or a sensor on its bodies: what their models have in common.

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mortise/assembly/attached.h>
#include <mortise/core/fields.h>

namespace mortise {

template <Body B> class BodyOf;

namespace detail {

template <class P, class T, class... B>
concept HasMeasure = requires(const P& p, const Placed<B, T>&... b, const T& t) {
  p.measure(b..., t);
};
template <class P, class T, class... B>
concept HasMeasureMotion = requires(const P& p, const Moving<B, T>&... b, const T& t) {
  p.measure_motion(b..., t);
};
template <class P, class... B>
concept HasAngle = requires(const P& p, const Placed<B, double>&... b) {
  p.angle(b...);
};
template <class P, class... B>
concept HasDisplacement = requires(const P& p, const Placed<B, double>&... b) {
  p.displacement(b...);
};

// How many numbers a functor returns: an Eigen vector of fixed size, or one scalar.
template <class R> constexpr int row_count() {
  if constexpr (std::is_base_of_v<Eigen::EigenBase<R>, R>) {
    static_assert(std::is_base_of_v<Eigen::PlainObjectBase<R>, R>,
                  "this function returns an Eigen expression, which refers to dead temporaries: return a Vec<T, rows>");
    static_assert(R::RowsAtCompileTime != dynamic && R::ColsAtCompileTime == 1, "return a number or a Vec<T, rows>");
    return R::RowsAtCompileTime;
  } else {
    return 1;
  }
}
const auto& row(const auto& rows, [[maybe_unused]] int i) {
  if constexpr (requires { rows[i]; })
    return rows[i];
  else
    return rows;
}

template <class P> std::string kind_of() {
  if constexpr (requires { P::summary.name; })
    return std::string(P::summary.name);
  else
    return "";
}

}  // namespace detail

template <class Self, class Model, class P, Body... B> class PartOn : public Model, public MadeFrom<P, Model> {
  using Motion = Dual<double, 1>;  // a velocity and its rate
  static constexpr bool measures = detail::HasMeasure<P, SecondOrder, B...>;
  static constexpr bool measures_motion = detail::HasMeasureMotion<P, Motion, B...>;
  static constexpr bool counts_turns = requires { requires P::counts_turns; };
  static constexpr bool has_angle = detail::HasAngle<P, B...>, has_displacement = detail::HasDisplacement<P, B...>;

 public:
  PartOn(P part, std::shared_ptr<const Modelled<B>>... body) : part_(std::move(part)), bodies_(std::move(body)...) {}

  // Throws InvalidModel if the data of the part are out of range, or the bodies are not what it asks for.
  static std::shared_ptr<const Self> make(const Label& label, P part, std::shared_ptr<const Modelled<B>>... body) {
    require_fields(label, part);
    if constexpr (requires { part.validate(label, body->body...); })
      part.validate(label, body->body...);
    else if constexpr (requires { part.validate(label); })
      part.validate(label);
    return std::make_shared<const Self>(std::move(part), std::move(body)...);
  }

  std::string kind() const override { return detail::kind_of<P>(); }
  Sketch sketch() const override { return sketch_of(part_); }
  const P& part() const override { return part_; }
  std::shared_ptr<const Model> changed(const Label& label, P part) const override {
    return std::apply([&](const auto&... body) { return make(label, std::move(part), body...); }, bodies_.models());
  }
  std::shared_ptr<const Model> rebound(const Label& label, BodyModels bodies) const override {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return make(label, part_, typed<B>(label, bodies[i])...);
    }
    (std::index_sequence_for<B...>{});
  }

  std::vector<Quantity> quantities() const override {
    std::vector<Quantity> out;
    if constexpr (measures) list<measure_count()>(3, out);
    if constexpr (measures_motion) list<motion_count()>(2, out);
    if constexpr (has_angle) out.push_back({"angle", "rad", !counts_turns, 3});
    if constexpr (has_displacement) out.push_back({"displacement", "m", false, 3});
    return out;
  }
  void read([[maybe_unused]] const State& s, [[maybe_unused]] const VectorXd& a, [[maybe_unused]] Firsts first,
            [[maybe_unused]] double* out) const override {
    if constexpr (measures || has_angle || has_displacement) {
      const auto q = bodies_.stacked(s.q, first), v = bodies_.stacked(s.v, first), w = bodies_.stacked(a, first);
      Vec<SecondOrder, dynamic> x(q.size());
      for (Index k = 0; k < q.size(); ++k) x[k] = {{q[k], {v[k]}}, {Motion(v[k], {w[k]})}};
      const auto write = [&](const SecondOrder& r) {
        *out++ = r.v.v;
        *out++ = r.d[0].v;
        *out++ = r.d[0].d[0];
      };
      const auto views = bodies_.template placed<SecondOrder>(x);
      if constexpr (measures) {
        const auto f = std::apply([&](const auto&... b) { return part_.measure(b..., along(s.t, 1)); }, views);
        for (int i = 0; i < measure_count(); ++i) write(detail::row(f, i));
      }
      if constexpr (measures_motion) out = read_motion(s, a, first, out);
      if constexpr (has_angle)
        write(std::apply([&](const auto&... b) { return SecondOrder(part_.angle(b...)); }, views));
      if constexpr (has_displacement)
        write(std::apply([&](const auto&... b) { return SecondOrder(part_.displacement(b...)); }, views));
    } else if constexpr (measures_motion) {
      read_motion(s, a, first, out);
    }
  }

 protected:
  P part_;
  Attached<B...> bodies_;

 private:
  static constexpr int measure_count() {
    return detail::row_count<std::remove_cvref_t<decltype(std::declval<const P&>().measure(
        std::declval<const Placed<B, SecondOrder>&>()..., SecondOrder()))>>();
  }
  static constexpr int motion_count() {
    return detail::row_count<std::remove_cvref_t<decltype(std::declval<const P&>().measure_motion(
        std::declval<const Moving<B, Motion>&>()..., Motion()))>>();
  }
  template <int count> void list(int orders, std::vector<Quantity>& out) const {
    if constexpr (requires { part_.quantities.size(); }) {
      static_assert(std::tuple_size_v<std::remove_cvref_t<decltype(part_.quantities)>> == count,
                    "one QuantityInfo per number that is measured");
      for (const QuantityInfo& x : part_.quantities)
        out.push_back({std::string(x.name), std::string(x.unit), x.angle, orders});
    } else {
      std::string unit;
      if constexpr (requires { std::string(part_.unit); }) unit = part_.unit;
      for (int i = 1; i <= count; ++i) out.push_back({count == 1 ? "" : fmt::format("{}", i), unit, false, orders});
    }
  }
  double* read_motion(const State& s, const VectorXd& a, Firsts first, double* out) const {
    const auto q = bodies_.stacked(s.q, first), v = bodies_.stacked(s.v, first), w = bodies_.stacked(a, first);
    Vec<Motion, dynamic> x(q.size()), y(q.size());
    for (Index k = 0; k < q.size(); ++k) {
      x[k] = {q[k], {v[k]}};
      y[k] = {v[k], {w[k]}};
    }
    const auto f = std::apply([&](const auto&... b) { return part_.measure_motion(b..., Motion::variable(s.t, 0)); },
                              bodies_.template moving<Motion>(x, y));
    for (int i = 0; i < motion_count(); ++i) {
      *out++ = detail::row(f, i).v;
      *out++ = detail::row(f, i).d[0];
    }
    return out;
  }
  template <Body X>
  static std::shared_ptr<const Modelled<X>> typed(const Label& label, const std::shared_ptr<const BodyModel>& model) {
    if constexpr (requires { X::view_of(model); }) {  // X stands for bodies of any type
      return std::make_shared<const Modelled<X>>(Modelled<X>{X::view_of(model)});
    } else {
      const auto* body = dynamic_cast<const BodyOf<X>*>(model.get());
      const auto word = [](const std::string& kind) { return kind.empty() ? "body of another type" : kind; };
      label.require(
          body != nullptr,
          fmt::format("it needs a {} where there is a {} now", word(detail::kind_of<X>()), word(model->kind())),
          "give it a body of the same type, with the same template arguments");
      return body->modelled();
    }
  }
};

}  // namespace mortise
