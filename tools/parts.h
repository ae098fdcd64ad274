#pragma once
// From the type of a joint, force or sensor to its kind: which bodies it takes, and how one is made from a file.
//
// Parts in the plane or in space have instances for the ground and rigid bodies; all others act on AnyBody.

#include <mortise/assembly/assembly.h>
#include <mortise/joints/friction.h>

#include "any_body.h"
#include "field_values.h"
#include "formula_parts.h"

namespace mortise::models {

template <class... P> struct List {};

struct Joints {
  using Base = ConstraintModel;
  template <class P, class... B> using Model = JointOf<P, B...>;
  template <class P, class... B>
  static constexpr bool takes = detail::HasPhi<P, double, B...> || detail::HasPsi<P, double, B...>;
  static constexpr auto attach = [](Assembly& a, auto&&... x) { a.connect(x...); };
  static std::vector<Kind>& list(Kinds& k) { return k.joints; }
};
struct Forces {
  using Base = ForceModel;
  template <class P, class... B> using Model = ForceOf<P, B...>;
  template <class P, class... B>
  static constexpr bool takes = detail::HasAct<P, double, B...> || detail::HasPotential<P, double, B...>;
  static constexpr auto attach = [](Assembly& a, auto&&... x) { a.apply(x...); };
  static std::vector<Kind>& list(Kinds& k) { return k.forces; }
};
struct Sensors {
  using Base = SensorModel;
  template <class P, class... B> using Model = SensorOf<P, B...>;
  template <class P, class... B>
  static constexpr bool takes =
      detail::HasMeasure<P, SecondOrder, B...> || detail::HasMeasureMotion<P, Dual<double, 1>, B...>;
  static constexpr auto attach = [](Assembly& a, auto&&... x) { a.measure(x...); };
  static std::vector<Kind>& list(Kinds& k) { return k.sensors; }
};

// ---- what fields say about a part
template <class V> constexpr int dimension_of_value() {
  if constexpr (std::is_same_v<V, Vec2<double>> || std::is_same_v<V, PlanarAxis>) return 2;
  if constexpr (std::is_same_v<V, Vec3<double>> || std::is_same_v<V, Axis>) return 3;
  if constexpr (requires {
                  std::tuple_size<V>::value;
                  typename V::value_type;
                }) {
    if constexpr (std::is_same_v<typename V::value_type, Function>) return static_cast<int>(std::tuple_size_v<V>);
  }
  if constexpr (requires(V v) { v[0].at; })
    return static_cast<int>(std::remove_cvref_t<decltype(std::declval<V>()[0].at)>::RowsAtCompileTime);
  if constexpr (HasFields<V>) {
    if constexpr (std::tuple_size_v<std::remove_cvref_t<decltype(V::fields)>> == 0) return 2;  // PlanarTurn
    int d = 0;
    std::apply(
        [&](const auto&... f) {
          ((d = std::max(d, dimension_of_value<std::remove_cvref_t<decltype(std::declval<V>().*(f.member))>>())), ...);
        },
        V::fields);
    return d;
  }
  if constexpr (is_formula<V>) return V::count == 3 ? 3 : 0;
  return 0;
}
// 2 in the plane, 3 in space, 0: it asks for coordinates only.
template <class P> constexpr int dimension_of() {
  int d = 0;
  std::apply(
      [&](const auto&... f) {
        ((d = std::max(d, dimension_of_value<std::remove_cvref_t<decltype(std::declval<P>().*(f.member))>>())), ...);
      },
      P::fields);
  if constexpr (requires { P::summary; })
    if (d == 0 && P::summary.name == "applied_torque") return 2;
  if constexpr (requires { P::summary; })
    if (P::summary.name == "rate") return 0;
  return d;
}
template <class P> constexpr bool has_formula() {
  return std::apply(
      [](const auto&... f) {
        return (is_formula<std::remove_cvref_t<decltype(std::declval<P>().*(f.member))>> || ...);
      },
      P::fields);
}
template <class P>
concept Rubs = requires(const P& p, Acted<Particle<1>, double>& a, const Vec<double, int(P::rows.size())>& lambda) {
  p.rub(a, a, lambda, DryGrip{});
};

// ---- making one
template <class B> std::shared_ptr<const Modelled<B>> modelled(const std::shared_ptr<const BodyModel>& model) {
  if constexpr (requires { B::view_of(model); })
    return std::make_shared<const Modelled<B>>(Modelled<B>{B::view_of(model)});
  else
    return dynamic_cast<const BodyOf<B>&>(*model).modelled();
}
template <class C, class... B, class P>
void attach(Assembly& a, const Entry& e, const std::vector<std::shared_ptr<const BodyModel>>& models, P part) {
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    std::shared_ptr<const typename C::Base> model =
        C::template Model<P, B...>::make(e.label, std::move(part), modelled<B>(models[i])...);
    C::attach(a, e.label.name, std::move(model), e.bodies);
  }
  (std::index_sequence_for<B...>{});
}
template <class... B> bool are(const std::vector<std::shared_ptr<const BodyModel>>& models) {
  if (models.size() != sizeof...(B)) return false;
  std::size_t i = 0;
  return ((dynamic_cast<const BodyOf<B>*>(models[i++].get()) != nullptr) && ...);
}
// Attaches the part if the bodies are of one of these types.
template <class C, class P, class... B>
bool attach_typed(Assembly& a, const Entry& e, const std::vector<std::shared_ptr<const BodyModel>>& models, P& part) {
  if constexpr (C::template takes<P, B...>)
    if (are<B...>(models)) {
      attach<C, B...>(a, e, models, std::move(part));
      return true;
    }
  return false;
}
template <int D, std::size_t> using AnyOf = AnyBody<D == 2 ? 2 : 3>;

inline constexpr int most_bodies = 3;
template <class C, class P, int n> constexpr bool takes_any() {
  return []<std::size_t... i>(std::index_sequence<i...>) {
    return C::template takes<P, AnyOf<dimension_of<P>() == 3 ? 3 : 2, i>...>;
  }
  (std::make_index_sequence<static_cast<std::size_t>(n)>{});
}
template <class C, class P, int n = 1>
void attach_any(Assembly& a, const Entry& e, const std::vector<std::shared_ptr<const BodyModel>>& models, P part) {
  if constexpr (n <= most_bodies) {
    if constexpr (takes_any<C, P, n>()) {
      if (models.size() == n) {
        [&]<std::size_t... i>(std::index_sequence<i...>) {
          attach<C, AnyOf<dimension_of<P>() == 3 ? 3 : 2, i>...>(a, e, models, std::move(part));
        }
        (std::make_index_sequence<static_cast<std::size_t>(n)>{});
        return;
      }
    }
    attach_any<C, P, n + 1>(a, e, models, std::move(part));
  }
}

// A joint between two bodies, which can be given by data of the world.
template <class P> constexpr bool connects_two() {
  return dimension_of<P>() != 0 && takes_any<Joints, P, 2>() && !takes_any<Joints, P, 3>();
}
template <class P>
P part_from(const Assembly& a, const Entry& e, const std::vector<std::shared_ptr<const BodyModel>>& models) {
  P part{};
  std::vector<Arguments::Body> bodies;
  for (std::size_t i = 0; i < models.size(); ++i) bodies.push_back({e.bodies[i], models[i]->coordinates()});
  // From data of the world, at the places of the bodies.
  constexpr int D = dimension_of<P>();
  if constexpr (connects_two<P>()) {
    using View = Placed<AnyBody<D>, double>;
    using Direction = std::conditional_t<D == 2, PlanarAxis, Axis>;
    const auto view = [&](std::size_t i, const AnyBody<D>& any) { return View{any, a.place(e.bodies[i])}; };
    if (const Value* world = e.table.find("at_world"); world && models.size() == 2) {
      const FieldPlace at{&e, e.label, P::summary.name, "at_world", "m"};
      const AnyBody<D> first = AnyBody<D>::view_of(models[0]), second = AnyBody<D>::view_of(models[1]);
      if constexpr (requires(const View& v) { P::at_world(Vec<double, D>(), Direction(), v, v); }) {
        Scope::require_keys(*world, {"point", "axis"}, "at_world");
        Vec<double, D> point;
        Direction axis;
        read_value(at, require_member(at, *world, "point"), point);
        if (world->find("axis")) read_value(at, *world->find("axis"), axis);
        part = P::at_world(point, axis, view(0, first), view(1, second));
      } else if constexpr (requires(const View& v) { P::at_world(Vec<double, D>(), v, v); }) {
        Scope::require_keys(*world, {"point"}, "at_world");
        Vec<double, D> point;
        read_value(at, require_member(at, *world, "point"), point);
        part = P::at_world(point, view(0, first), view(1, second));
      }
    }
  }
  read_fields(e, P::summary.name, e.table, part, bodies);
  return part;
}
template <class P> constexpr int world_data() {
  constexpr int D = dimension_of<P>();
  if constexpr (connects_two<P>()) {
    using View = Placed<AnyBody<D>, double>;
    if constexpr (requires(const View& v) {
                    P::at_world(Vec<double, D>(), std::conditional_t<D == 2, PlanarAxis, Axis>(), v, v);
                  })
      return 2;
    if constexpr (requires(const View& v) { P::at_world(Vec<double, D>(), v, v); }) return 1;
  }
  return 0;
}

template <class Grip> Grip grip_from(const Entry& e, const Value& table) {
  Grip grip;
  std::vector<std::string> known{"kind"};
  std::apply([&](const auto&... f) { (known.emplace_back(f.name), ...); }, Grip::fields);
  Scope::require_keys(table, known, "friction");
  read_fields(e, "friction", table, grip, {});
  return grip;
}

template <class C, class P> void add_part(Assembly& a, const Entry& e) {
  constexpr int D = dimension_of<P>();
  std::vector<std::shared_ptr<const BodyModel>> models;
  for (const std::string& path : e.bodies) models.push_back(a.model(path));
  P part = part_from<P>(a, e, models);
  if constexpr (std::is_same_v<C, Joints> && Rubs<P>)
    if (const Value* friction = e.table.find("friction")) {
      const FieldPlace at{&e, e.label, P::summary.name, "friction", ""};
      const Value& kind = require_member(at, *friction, "kind");
      if (e.scope.text(kind) == "coulomb")
        attach<C, AnyBody<D>, AnyBody<D>>(a, e, models, Coulomb<P>(part, grip_from<DryGrip>(e, *friction)));
      else if (kind.text == "viscous")
        attach<C, AnyBody<D>, AnyBody<D>>(a, e, models, Viscous<P>(part, grip_from<ViscousGrip>(e, *friction)));
      else
        fail(kind.where, fmt::format("there is no friction '{}'", kind.text),
             suggestion(kind.text, {"coulomb", "viscous"}));
      return;
    }
  if constexpr (D != 0 && !has_formula<P>() && !std::is_same_v<C, Sensors>) {
    using X = typename AnyBody<D>::Turning;
    if (attach_typed<C, P, X>(a, e, models, part) || attach_typed<C, P, Ground, X>(a, e, models, part) ||
        attach_typed<C, P, X, Ground>(a, e, models, part) || attach_typed<C, P, X, X>(a, e, models, part))
      return;
    // A part that tells an angle of bodies that turn only needs to know the types of those that do not.
    using Point = Particle<D>;
    if constexpr (detail::HasAngle<P, X, X> && !detail::HasAngle<P, Point, Point>) {
      bool done = false;
      const auto first = [&]<class A>(const A*) {
        const auto with = [&]<class B>(const B*) { done = done || attach_typed<C, P, A, B>(a, e, models, part); };
        with(static_cast<const Ground*>(nullptr)), with(static_cast<const X*>(nullptr)),
            with(static_cast<const Point*>(nullptr)), with(static_cast<const Structure*>(nullptr));
      };
      first(static_cast<const Ground*>(nullptr)), first(static_cast<const X*>(nullptr)),
          first(static_cast<const Point*>(nullptr)), first(static_cast<const Structure*>(nullptr));
      if (done) return;
    }
  }
  attach_any<C>(a, e, models, std::move(part));
}

template <class C, class P> std::optional<std::string> part_text(const Label& label, const PartModel& model) {
  using Base = typename C::Base;
  const auto lines = [&](const P& part) {
    return fmt::format("kind = \"{}\"\n{}", P::summary.name, fields_text(label, P::summary.name, part, false));
  };
  if (const auto* made = dynamic_cast<const MadeFrom<P, Base>*>(&model)) return lines(made->part());
  if constexpr (std::is_same_v<C, Joints> && Rubs<P>) {
    const auto rubbed = [&](const char* kind, const auto& part) {
      return lines(part.joint) +
             fmt::format("friction = {{kind = \"{}\", {}}}\n", kind, fields_text(label, kind, part.grip, true));
    };
    if (const auto* made = dynamic_cast<const MadeFrom<Coulomb<P>, Base>*>(&model))
      return rubbed("coulomb", made->part());
    if (const auto* made = dynamic_cast<const MadeFrom<Viscous<P>, Base>*>(&model))
      return rubbed("viscous", made->part());
  }
  return std::nullopt;
}

template <class C, class P> void register_part(Kinds& kinds) {
  Kind k;
  k.name = P::summary.name;
  k.meaning = P::summary.meaning;
  k.equation = P::summary.equation;
  k.dimension = dimension_of<P>();
  k.fields = fields_of<P>();
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    ((takes_any<C, P, static_cast<int>(i) + 1>() ? k.bodies.push_back(static_cast<int>(i) + 1) : void()), ...);
  }
  (std::make_index_sequence<most_bodies>{});
  if constexpr (std::is_same_v<C, Joints>) k.friction = Rubs<P>, k.at_world = world_data<P>();
  const auto look = [&]<class V>(std::string_view name, const V*) {
    if constexpr (is_formula<V>) {
      if (k.formula.empty()) k.formula = name, k.formulas = V::count;
    }
  };
  std::apply(
      [&](const auto&... f) {
        (look(f.name, static_cast<const std::remove_cvref_t<decltype(std::declval<P>().*(f.member))>*>(nullptr)), ...);
      },
      P::fields);
  k.add = add_part<C, P>;
  k.write_part = part_text<C, P>;
  C::list(kinds).push_back(std::move(k));
}
template <class C, class... P> void register_parts(Kinds& kinds, List<P...>) { (register_part<C, P>(kinds), ...); }

}  // namespace mortise::models
