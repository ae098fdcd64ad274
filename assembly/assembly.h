#pragma once
// Assembly: the user's graph of named bodies, constraints and forces; assemblies may contain assemblies.
//
//   Assembly arm("arm");
//   const auto ground = arm.add("ground", Ground{});
//   const auto rod = arm.add("rod", PlanarBody{.mass = 1});
//   arm.connect("hinge", Pin{}, ground, rod);
//
//   Assembly robot("robot");                      the same arm twice, with names left/rod and right/rod
//   const auto left = robot.add("left", arm), right = robot.add("right", arm);
//   robot.connect("link", Distance<2>{.length = 1}, left[rod], right[rod]);
//
//   const auto tip = arm.port("tip", rod);        a name for what others may connect to: left[tip], "left/tip"
//   robot.replace("left", flexible_arm);          any assembly with the ports that are in use
//   robot.change("right/rod", PlanarBody{.mass = 2});      the same part with other data
//
// Copies are cheap and independent.  A System is made from an Assembly and does not change with it.

#include <array>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <mortise/assembly/body_of.h>
#include <mortise/assembly/catalogue.h>
#include <mortise/assembly/force_of.h>
#include <mortise/assembly/joint_of.h>
#include <mortise/assembly/sensor_of.h>
#include <mortise/core/at_world.h>
#include <mortise/core/fields.h>

namespace mortise {

// A body of an assembly, with its type, so that a joint that cannot act on it does not compile.
template <Body B> struct Handle {
  using Type = B;
  std::string path;
  std::shared_ptr<const BodyModel> model;
};

// An assembly inside an assembly; its bodies are reached by the handles they were added with.
struct Nested {
  std::string path;

  template <Body B> Handle<B> operator[](const Handle<B>& inner) const {
    return {path + "/" + inner.path, inner.model};
  }
  Nested operator[](const Nested& inner) const { return {path + "/" + inner.path}; }
};

namespace detail {

template <class H> inline constexpr bool is_handle = false;
template <class B> inline constexpr bool is_handle<Handle<B>> = true;
template <class H> inline constexpr bool is_nested = std::is_same_v<H, Nested>;

// The dimensions of the views of a part on bodies B.
template <int... D> struct Dimensions {};
template <int D, class Count> struct Same;
template <int D, std::size_t... i> struct Same<D, std::index_sequence<i...>> {
  using type = Dimensions<(static_cast<void>(i), D)...>;
};
template <int D, std::size_t N> using SameDimensions = typename Same<D, std::make_index_sequence<N>>::type;
// The one dimension of bodies; 0 if they have none, or several.
template <class... B>
inline constexpr int common_dimension = [] {
  constexpr int d = std::max({0, body_dimension<B>...});
  return ((body_dimension<B> == 0 || body_dimension<B> == d) && ...) ? d : 0;
}();
// A part of the library sees all bodies in its own dimension; a body that is at home in all is seen as the others are.
template <class P, bool of_library, class... B> struct ViewsOf {
  using type = Dimensions<(body_dimension<B> != 0 ? body_dimension<B> : common_dimension<B...>)...>;
};
template <class P, class... B> struct ViewsOf<P, true, B...> {
  using type = SameDimensions<part_dimension<P>(), sizeof...(B)>;
};
template <class P, class... B>
inline constexpr bool dimensions_fit =
    ((part_dimension<P>() == 0 || body_dimension<B> == 0 || body_dimension<B> == part_dimension<P>()) && ...);

// What a part is on views of these dimensions.
template <class P, class V> struct On;
template <class P, int... D> struct On<P, Dimensions<D...>> {
  static constexpr bool joint = has_phi<P, RowJet, D...> || has_psi<P, RowJet, D...>;
  static constexpr bool joint_of_double() { return has_phi<P, double, D...> || has_psi<P, double, D...>; }
  static constexpr bool changing_joint() {
    return requires(P & p, const BodyView<D, RowJet>&... b, const RowJet& t) { p.phi(b..., t); }
    || requires(P & p, const VelocityView<D, RowJet>&... b, const RowJet& t) { p.psi(b..., t); };
  }
  static constexpr bool force() { return has_act<P, double, D...> || has_potential<P, RowJet, D...>; }
  static constexpr bool sensor() { return has_measure<P, Taylor, D...> || has_measure_motion<P, Taylor, D...>; }

  static auto bind_joint(const Label& label, const P& part, BodyModels bodies) {
    return mortise::bind_joint<P, D...>(label, part, bodies);
  }
  static auto bind_force(const Label& label, const P& part, BodyModels bodies) {
    return mortise::bind_force<P, D...>(label, part, bodies);
  }
  static auto bind_sensor(const Label& label, const P& part, BodyModels bodies) {
    return mortise::bind_sensor<P, D...>(label, part, bodies);
  }
  // J::at_world(data..., bodies...), the bodies at places q.
  static P at_world(const Access<double>* at, const auto&... data) {
    return with_views<BodyView, D...>(at, [&](const auto&... view) { return P::at_world(data..., view...); });
  }
};
// A part on some number of bodies, all of one dimension; asked only where it does not act on those that are given.
template <class P, int D, std::size_t N> using OnSame = On<P, SameDimensions<D, N>>;
template <class J, class Given, int D> constexpr bool joint_of_some() {
  if constexpr (Given::joint)
    return true;
  else
    return OnSame<J, D, 1>::joint || OnSame<J, D, 2>::joint || OnSame<J, D, 3>::joint || OnSame<J, D, 4>::joint;
}
template <class F, class Given, int D> constexpr bool force_of_some() {
  if constexpr (Given::force())
    return true;
  else
    return OnSame<F, D, 1>::force() || OnSame<F, D, 2>::force() || OnSame<F, D, 3>::force() || OnSame<F, D, 4>::force();
}

}  // namespace detail

class Assembly {
 public:
  explicit Assembly(std::string name);
  Assembly(const Assembly&);  // these are compiled once, in the library
  Assembly(Assembly&&) noexcept;
  Assembly& operator=(const Assembly&);
  Assembly& operator=(Assembly&&) noexcept;
  ~Assembly();

  template <Body B> Handle<B> add(const std::string& name, B body) {
    const Label label{"body", name};
    require_new(label);
    std::shared_ptr<const BodyModel> model;
    if constexpr (detail::library_body<B>)
      model = library_body<B>(label, body);
    else
      model = bind_body<B>(label, std::move(body));
    add_body(label, model);
    return {name, std::move(model)};
  }
  Nested add(const std::string& name, const Assembly& part);

  // Where a body starts, which System::state() and at_world() go by; until then that is its neutral coordinates.
  template <Body B> void place(const Handle<B>& body, const Coordinates<B, double>& q) {
    set_place({"body", body.path}, {body.path, body.model}, q);
  }
  VectorXd place(const std::string& path) const;  // of a body; throws if there is none

  // A joint connects bodies; J::phi or J::psi is called with them in this order.
  template <class J, class... H> void connect(const std::string& name, const J& joint, const H&... body) {
    if constexpr (handles<H...>() && same_dimension<J, detail::library_joint<J>, H...>()) {
      using On = detail::On<J, Views<J, detail::library_joint<J>, H...>>;
      constexpr bool some = detail::joint_of_some<J, On, detail::common_dimension<typename H::Type...>>();
      constexpr bool changing = !some && On::changing_joint(), of_double = !some && On::joint_of_double();
      static_assert(On::joint || !some,
                    "this joint J connects another number of bodies: give as many as its phi takes");
      static_assert(!changing,
                    "phi or psi of this joint J is not const: write  phi(const auto& a, ..., const T& t) const");
      static_assert(!of_double,
                    "phi or psi of this joint J must be a template on the scalar, since its derivatives are "
                    "needed: take the bodies and t as auto");
      static_assert(some || changing || of_double,
                    "this joint J has no phi(bodies..., t) and no psi(bodies..., t) for these bodies: see "
                    "docs/WRITE_YOUR_OWN.md");
      if constexpr (On::joint)
        attach({"joint", name}, constraints_, named(body...), [&](const Label& label, BodyModels models) {
          if constexpr (detail::library_joint<J> && sizeof...(H) <= detail::library_bodies)
            return library_joint<J>(label, joint, models);
          else
            return On::bind_joint(label, joint, models);
        });
    }
  }

  // A joint that finds its body-fixed data from the places of the bodies at this moment (core/at_world.h).
  template <class J, class... W, class... H>
  void connect(const std::string& name, const AtWorld<J, W...>& joint, const H&... body) {
    if constexpr (handles<H...>() && same_dimension<J, detail::library_joint<J>, H...>()) {
      const Places places = find_places({"joint", name}, named(body...));
      using On = detail::On<J, Views<J, detail::library_joint<J>, H...>>;
      connect(name, std::apply([&](const W&... data) { return On::at_world(places.at.data(), data...); }, joint.data),
              body...);
    }
  }

  // A force acts on bodies; F::act or F::potential is called with them in this order.
  template <class F, class... H> void apply(const std::string& name, const F& force, const H&... body) {
    if constexpr (handles<H...>() && same_dimension<F, detail::library_force<F>, H...>()) {
      using On = detail::On<F, Views<F, detail::library_force<F>, H...>>;
      constexpr bool some = detail::force_of_some<F, On, detail::common_dimension<typename H::Type...>>();
      static_assert(On::force() || !some,
                    "this force F acts on another number of bodies: give as many as its act takes");
      static_assert(some,
                    "this force F has no act(bodies..., t) const and no potential(bodies..., t) const, a template on "
                    "the scalar, for these bodies: see docs/WRITE_YOUR_OWN.md");
      if constexpr (On::force())
        attach({"force", name}, forces_, named(body...), [&](const Label& label, BodyModels models) {
          if constexpr (detail::library_force<F> && sizeof...(H) <= detail::library_bodies)
            return library_force<F>(label, force, models);
          else
            return On::bind_force(label, force, models);
        });
    }
  }

  // A sensor tells numbers of bodies, with their rates; Readings reads it by its name.
  template <class S, class... H> void measure(const std::string& name, const S& sensor, const H&... body) {
    if constexpr (handles<H...>() && same_dimension<S, detail::library_sensor<S>, H...>()) {
      using On = detail::On<S, Views<S, detail::library_sensor<S>, H...>>;
      static_assert(On::sensor(),
                    "this sensor S has no measure(bodies..., t) const and no measure_motion(bodies..., t) "
                    "const, a template on the scalar, for so many bodies: see docs/WRITE_YOUR_OWN.md");
      if constexpr (On::sensor())
        attach({"sensor", name}, sensors_, named(body...), [&](const Label& label, BodyModels models) {
          if constexpr (detail::library_sensor<S> && sizeof...(H) <= detail::library_bodies)
            return library_sensor<S>(label, sensor, models);
          else
            return On::bind_sensor(label, sensor, models);
        });
    }
  }

  // Models that are made already, on bodies by their paths: for readers of files, which learn of types late.
  void connect(const std::string& name, std::shared_ptr<const ConstraintModel> model,
               const std::vector<std::string>& bodies);
  void apply(const std::string& name, std::shared_ptr<const ForceModel> model, const std::vector<std::string>& bodies);
  void measure(const std::string& name, std::shared_ptr<const SensorModel> model,
               const std::vector<std::string>& bodies);
  void port(const std::string& name, const std::string& path);
  std::shared_ptr<const BodyModel> model(const std::string& path) const { return find(path); }
  void place(const std::string& path, const VectorXd& q) { set_place({"body", path}, {path, find(path)}, q); }

  // A second name of a body, for others to connect to.  For a place on a body that is to be a port, weld a body
  // without mass there: then its type does not tell what is behind.
  template <Body B> Handle<B> port(const std::string& name, const Handle<B>& body) {
    add_port({"port", name}, {body.path, body.model});
    return {name, body.model};
  }

  // Puts another assembly in the place of a nested one.  Joints, forces and sensors hold on to it by the ports of the
  // same names and body types; throws, and changes nothing, if one of them is missing or if they reach past the ports.
  Nested replace(const std::string& name, const Assembly& part);

  // The data of a body, joint, force or sensor, and the same part with other data, wherever it is used.  "left/rod" is
  // rod of the nested assembly left.  Throws, and changes nothing, if it is of another type or does not fit.
  template <class P> const P& part(const std::string& path) const {
    const P* found = nullptr;
    const auto [where, name] = holder(path);
    visit(*where, name, [&](const char* kind, const auto& entry) {
      found = &made_from<P>({kind, path}, entry.model)->part();
    });
    return *found;
  }
  template <class P> void change(const std::string& path, P part) {
    const auto [where, name] = holder(path);
    Assembly& owner = *where;
    visit(owner, name, [&](const char* kind, auto& entry) {
      const Label label{kind, path};
      exchange(label, owner, entry, made_from<P>(label, entry.model)->changed(label, std::move(part)));
    });
  }

  // Acts on every body that has weight, as the contribution "gravity".  In the plane the third component is unused.
  // The outermost assembly's gravity counts; a nested one may have the same or none.
  void set_gravity(const Vec3<double>& g);

  // Removes a body, joint, force or nested assembly.  A body that is still in use is refused.
  void remove(const std::string& name);

  // A nested assembly, to be changed in place.
  Assembly& nested(const std::string& name);

  // A body by its path, where its handle is not at hand.
  template <Body B> Handle<B> body(const std::string& path) const {
    auto model = find(path);
    if (!dynamic_cast<const MadeFrom<B, BodyModel>*>(model.get()))
      Label{"body", path}.fail<InvalidModel>("is of another type than asked for", "ask for the type it was added with");
    return {path, std::move(model)};
  }

  struct BodyEntry {
    std::string name;
    std::shared_ptr<const BodyModel> model;
  };
  struct Reference {
    std::string path;  // within this assembly
    std::shared_ptr<const BodyModel> model;
  };
  template <class Model> struct PartEntry {
    std::string name;
    std::vector<Reference> bodies;
    std::shared_ptr<const Model> model;
  };
  struct Port {
    std::string name;
    Reference body;
  };
  struct NestedEntry;

  const std::string& name() const { return name_; }
  const std::optional<Vec3<double>>& gravity() const { return gravity_; }
  const std::vector<BodyEntry>& bodies() const { return bodies_; }
  const std::vector<PartEntry<ConstraintModel>>& constraints() const { return constraints_; }
  const std::vector<PartEntry<ForceModel>>& forces() const { return forces_; }
  const std::vector<PartEntry<SensorModel>>& sensors() const { return sensors_; }
  const std::vector<Port>& ports() const { return ports_; }
  const std::list<NestedEntry>& nested() const { return nested_; }
  const std::map<std::string, VectorXd>& places() const { return places_; }  // of its own bodies, where given

 private:
  // What the templates above check before anything else.
  template <class... H> static constexpr bool handles() {
    static_assert(sizeof...(H) > 0,
                  "a joint, force or sensor acts on at least one body: give the handles that add() returned");
    static_assert(!(detail::is_nested<H> || ...),
                  "this is a nested assembly where a body belongs: name the body in it, nested[handle] or "
                  "assembly.body<B>(\"nested/body\")");
    static_assert((detail::is_handle<H> && ...) || (detail::is_nested<H> || ...),
                  "the bodies are given by the handles that add() returned");
    return sizeof...(H) > 0 && (detail::is_handle<H> && ...);
  }
  template <class P, bool of_library, class... H> static constexpr bool same_dimension() {
    constexpr bool fit = !of_library || detail::dimensions_fit<P, typename H::Type...>;
    static_assert(fit,
                  "a planar part on a spatial body, or the other way round: use planar parts (Pin, Distance<2>) on "
                  "PlanarBody and Particle<2>, spatial ones (Revolute, Distance<3>) on RigidBody and Particle<3>");
    return fit;
  }
  template <class P, bool of_library, class... H>
  using Views = typename detail::ViewsOf<P, of_library, typename H::Type...>::type;
  // Bodies as they are given, for what is compiled once.
  struct Named {
    const std::string* path;
    const std::shared_ptr<const BodyModel>* model;
  };
  template <class... H> static std::array<Named, sizeof...(H)> named(const H&... body) {
    return {Named{&body.path, &body.model}...};
  }
  static std::vector<Reference> references(std::span<const Named> bodies);
  struct Places {
    std::vector<VectorXd> q;
    std::vector<detail::Access<double>> at;  // into q
  };
  Places find_places(const Label& label, std::span<const Named> bodies) const;

  template <class Model> using Make = FunctionRef<std::shared_ptr<const Model>(const Label&, BodyModels)>;
  template <class Model>
  void attach(const Label& label, std::vector<PartEntry<Model>>& entries, std::span<const Named> bodies,
              std::type_identity_t<Make<Model>> make);
  template <class Model>
  void attach_made(const Label& label, std::vector<PartEntry<Model>>& entries, std::shared_ptr<const Model> model,
                   const std::vector<std::string>& paths);
  // f("joint", entry) for the part of this name; throws if the assembly has none.
  template <class Self, class F> static void visit(Self& self, const std::string& name, const F& f) {
    bool found = false;
    const auto look = [&](const char* kind, auto& entries) {
      for (auto& e : entries)
        if (e.name == name && !found) found = true, f(kind, e);
    };
    look("body", self.bodies_);
    look("joint", self.constraints_);
    look("force", self.forces_);
    look("sensor", self.sensors_);
    if (!found) self.fail_unknown(name);
  }
  template <class P, class Model>
  static const MadeFrom<P, Model>* made_from(const Label& label, const std::shared_ptr<const Model>& model) {
    const auto* typed = dynamic_cast<const MadeFrom<P, Model>*>(model.get());
    if (!typed)
      label.fail<InvalidModel>(
          fmt::format("it is a {}, of another type than given", model->kind().empty() ? "part" : model->kind()),
          "use the type it was added with");
    return typed;
  }

  void add_port(const Label& label, const Reference& body);
  void add_body(const Label& label, const std::shared_ptr<const BodyModel>& model);
  void require_new(const Label& label) const;
  void require_known(const Label& label, const std::vector<Reference>& bodies, bool some_move = true) const;
  static void require_body(const Label& label, const BodyModel& model);
  [[noreturn]] void fail_unknown(const std::string& name) const;
  // One trial call at neutral coordinates, so that a functor that asks for what is not there is found here.
  static void probe(const Label& label, const std::vector<Reference>& bodies, const ConstraintModel& model);
  static void probe(const Label& label, const std::vector<Reference>& bodies, const ForceModel& model);
  static void probe(const Label& label, const std::vector<Reference>& bodies, const SensorModel& model);
  // The assembly that a path leads into, and the name there; throws if there is no such nested assembly.
  std::pair<const Assembly*, std::string> holder(const std::string& path) const;
  std::pair<Assembly*, std::string> holder(const std::string& path);
  // The assembly that holds the body itself, and the name of the body there; throws if there is none.
  std::pair<const Assembly*, std::string> owner(const std::string& path) const;
  std::pair<Assembly*, std::string> owner(const std::string& path);
  std::shared_ptr<const BodyModel> find(const std::string& path) const;  // throws if there is none
  void set_place(const Label& label, const Reference& body, const VectorXd& q);
  std::string did_you_mean(const std::string& name) const;
  const Port* find_port(const std::string& name) const;

  void exchange(const Label& label, Assembly& where, BodyEntry& entry, std::shared_ptr<const BodyModel> model);
  template <class Model>
  void exchange(const Label& label, Assembly&, PartEntry<Model>& entry, std::shared_ptr<const Model> model) {
    probe(label, entry.bodies, *model);
    entry.model = std::move(model);
  }
  // Binds all parts to the bodies that their paths lead to now, here and in nested assemblies; throws, and changes
  // nothing, if one does not fit.
  void rebind();
  void rebind(const std::string& prefix, std::vector<std::function<void()>>& commits);

  std::string name_;
  std::set<std::string> names_;                                     // of all parts
  std::map<std::string, std::shared_ptr<const BodyModel>> models_;  // of bodies_, by name
  std::map<std::string, VectorXd> places_;
  std::optional<Vec3<double>> gravity_;
  std::vector<BodyEntry> bodies_;
  std::vector<PartEntry<ConstraintModel>> constraints_;
  std::vector<PartEntry<ForceModel>> forces_;
  std::vector<PartEntry<SensorModel>> sensors_;
  std::vector<Port> ports_;
  std::list<NestedEntry> nested_;  // a list: nested() hands out references
};

struct Assembly::NestedEntry {
  std::string name;
  Assembly part;
};

}  // namespace mortise
