#pragma once
// From the type of a joint, force or sensor to its kind: how many bodies it takes, and how one is made from a file.

#include <mortise/assembly/bind.h>
#include <mortise/files/field_values.h>
#include <mortise/files/formula_parts.h>
#include <mortise/joints/friction.h>

namespace mortise::files {

template <class... P> struct List {};

// A part of the library is compiled there; one with formulas is compiled here.
struct Joints {
  using Base = ConstraintModel;
  template <class P, int D, std::size_t N> static constexpr bool takes = detail::OnSame<P, D, N>::joint;
  template <class P, int D>
  static std::shared_ptr<const Base> make(const Label& label, const P& part, BodyModels bodies) {
    if constexpr (detail::library_joint<P>)
      return library_joint<P>(label, part, bodies);
    else
      return joint_on<P, D>(label, part, bodies);
  }
  static constexpr auto attach = [](Assembly& a, auto&&... x) { a.connect(x...); };
  static std::vector<Kind>& list(Kinds& k) { return k.joints; }
};
struct Forces {
  using Base = ForceModel;
  template <class P, int D, std::size_t N> static constexpr bool takes = detail::OnSame<P, D, N>::force();
  template <class P, int D>
  static std::shared_ptr<const Base> make(const Label& label, const P& part, BodyModels bodies) {
    if constexpr (detail::library_force<P>)
      return library_force<P>(label, part, bodies);
    else
      return force_on<P, D>(label, part, bodies);
  }
  static constexpr auto attach = [](Assembly& a, auto&&... x) { a.apply(x...); };
  static std::vector<Kind>& list(Kinds& k) { return k.forces; }
};
struct Sensors {
  using Base = SensorModel;
  template <class P, int D, std::size_t N> static constexpr bool takes = detail::OnSame<P, D, N>::sensor();
  template <class P, int D>
  static std::shared_ptr<const Base> make(const Label& label, const P& part, BodyModels bodies) {
    if constexpr (detail::library_sensor<P>)
      return library_sensor<P>(label, part, bodies);
    else
      return sensor_on<P, D>(label, part, bodies);
  }
  static constexpr auto attach = [](Assembly& a, auto&&... x) { a.measure(x...); };
  static std::vector<Kind>& list(Kinds& k) { return k.sensors; }
};

// 2 in the plane, 3 in space, 0: it asks for coordinates only.
template <class P> constexpr int dimension_of() {
  if constexpr (requires(const P& p) { p.torque.rows, P::summary; }) {
    if (P::summary.name == "applied_torque")
      return std::remove_cvref_t<decltype(std::declval<P>().torque)>::count == 3 ? 3 : 2;
  }
  return part_dimension<P>();
}

// ---- making one
template <class C, class P>
void attach(Assembly& a, const Entry& e, const std::vector<std::shared_ptr<const BodyModel>>& models, const P& part) {
  C::attach(a, e.label.name, C::template make<P, dimension_of<P>()>(e.label, part, models), e.bodies);
}

inline constexpr int most_bodies = 3;

// A joint between two bodies, which can be given by data of the world.
template <class P> constexpr bool connects_two() {
  constexpr int D = dimension_of<P>();
  return D != 0 && Joints::takes<P, D, 2> && !Joints::takes<P, D, 3>;
}
template <class P>
P part_from(const Assembly& a, const Entry& e, const std::vector<std::shared_ptr<const BodyModel>>& models) {
  P part{};
  std::vector<Arguments::Body> bodies;
  for (std::size_t i = 0; i < models.size(); ++i) bodies.push_back({e.bodies[i], models[i]->coordinates()});
  // From data of the world, at the places of the bodies.
  constexpr int D = dimension_of<P>();
  if constexpr (connects_two<P>()) {
    using View = BodyView<D, double>;
    using Direction = std::conditional_t<D == 2, PlanarAxis, Axis>;
    if (const Value* world = e.table.find("at_world"); world && models.size() == 2) {
      const FieldPlace at{&e, e.label, P::summary.name, "at_world", "m"};
      const VectorXd q[2] = {a.place(e.bodies[0]), a.place(e.bodies[1])};
      const detail::Access<double> access[2] = {{models[0].get(), q[0].data(), nullptr, nullptr},
                                                {models[1].get(), q[1].data(), nullptr, nullptr}};
      const View first(access[0]), second(access[1]);
      if constexpr (requires(const View& v) { P::at_world(Vec<double, D>(), Direction(), v, v); }) {
        Scope::require_keys(*world, {"point", "axis"}, "at_world");
        Vec<double, D> point;
        Direction axis;
        read_value(at, require_member(at, *world, "point"), point);
        if (world->find("axis")) read_value(at, *world->find("axis"), axis);
        part = P::at_world(point, axis, first, second);
      } else if constexpr (requires(const View& v) { P::at_world(Vec<double, D>(), v, v); }) {
        Scope::require_keys(*world, {"point"}, "at_world");
        Vec<double, D> point;
        read_value(at, require_member(at, *world, "point"), point);
        part = P::at_world(point, first, second);
      }
    }
  }
  read_fields(e, P::summary.name, e.table, part, bodies);
  return part;
}
template <class P> constexpr int world_data() {
  constexpr int D = dimension_of<P>();
  if constexpr (connects_two<P>()) {
    using View = BodyView<D, double>;
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
  std::vector<std::shared_ptr<const BodyModel>> models;
  for (const std::string& path : e.bodies) models.push_back(a.model(path));
  const P part = part_from<P>(a, e, models);
  if constexpr (std::is_same_v<C, Joints> && Rubs<P>)
    if (const Value* friction = e.table.find("friction")) {
      const FieldPlace at{&e, e.label, P::summary.name, "friction", ""};
      const Value& kind = require_member(at, *friction, "kind");
      if (e.scope.text(kind) == "coulomb")
        attach<C>(a, e, models, Coulomb<P>(part, grip_from<DryGrip>(e, *friction)));
      else if (kind.text == "viscous")
        attach<C>(a, e, models, Viscous<P>(part, grip_from<ViscousGrip>(e, *friction)));
      else
        fail(kind.where, fmt::format("there is no friction '{}'", kind.text),
             suggestion(kind.text, {"coulomb", "viscous"}));
      return;
    }
  attach<C>(a, e, models, part);
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
    ((C::template takes<P, dimension_of<P>(), i + 1> ? k.bodies.push_back(static_cast<int>(i) + 1) : void()), ...);
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

}  // namespace mortise::files
