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
// Copies are cheap and independent.  A System is made from an Assembly and does not change with it.

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <mortise/assembly/body_of.h>
#include <mortise/assembly/force_of.h>
#include <mortise/assembly/joint_of.h>
#include <mortise/core/at_world.h>
#include <mortise/core/fields.h>

namespace mortise {

// A body of an assembly, with its type, so that a joint that cannot act on it does not compile.
template <Body B> struct Handle {
  std::string path;
  std::shared_ptr<const BodyOf<B>> model;
};

// An assembly inside an assembly; its bodies are reached by the handles they were added with.
struct Nested {
  std::string path;

  template <Body B> Handle<B> operator[](const Handle<B>& inner) const {
    return {path + "/" + inner.path, inner.model};
  }
  Nested operator[](const Nested& inner) const { return {path + "/" + inner.path}; }
};

class Assembly {
 public:
  explicit Assembly(std::string name);

  template <Body B> Handle<B> add(const std::string& name, B body) {
    const Label label{"body", name};
    require_new(label);
    require_coordinate_names(label, {body.coordinates.begin(), body.coordinates.end()});
    require_fields(label, body);
    if constexpr (requires { body.validate(label); }) body.validate(label);
    auto model = std::make_shared<const BodyOf<B>>(std::move(body));
    require_sizes(label, *model);
    names_.insert(name);
    models_[name] = model;
    bodies_.push_back({name, model});
    return {name, std::move(model)};
  }
  Nested add(const std::string& name, const Assembly& part);

  // Where a body starts, which System::state() and at_world() go by; until then that is its neutral coordinates.
  template <Body B> void place(const Handle<B>& body, const Coordinates<B, double>& q) {
    set_place({"body", body.path}, {body.path, body.model}, q);
  }
  VectorXd place(const std::string& path) const;  // of a body; throws if there is none

  // A joint connects bodies; J::phi or J::psi is called with them in this order.
  template <class J, Body... B> void connect(const std::string& name, J joint, const Handle<B>&... body) {
    static_assert(sizeof...(B) > 0, "a joint connects at least one body");
    const Label label{"joint", name};
    require_new(label);
    const std::vector<Reference> bodies{{body.path, body.model}...};
    require_known(label, bodies);
    require_fields(label, joint);
    if constexpr (requires { joint.validate(label, body.model->modelled()->body...); })
      joint.validate(label, body.model->modelled()->body...);
    else if constexpr (requires { joint.validate(label); })
      joint.validate(label);
    auto model = std::make_shared<const JointOf<J, B...>>(std::move(joint), body.model->modelled()...);
    probe(label, bodies, *model);
    names_.insert(name);
    constraints_.push_back({name, bodies, std::move(model)});
  }

  // A joint that finds its body-fixed data from the places of the bodies at this moment (core/at_world.h).
  template <class J, class... W, Body... B>
  void connect(const std::string& name, const AtWorld<J, W...>& joint, const Handle<B>&... body) {
    const Label label{"joint", name};
    require_new(label);
    require_known(label, {{body.path, body.model}...});
    const auto make = [&](const W&... data) {
      return J::at_world(data..., Placed<B, double>{body.model->modelled()->body, place(body.path)}...);
    };
    connect(name, std::apply(make, joint.data), body...);
  }

  // A force acts on bodies; F::act or F::potential is called with them in this order.
  template <class F, Body... B> void apply(const std::string& name, F force, const Handle<B>&... body) {
    static_assert(sizeof...(B) > 0, "a force acts on at least one body");
    const Label label{"force", name};
    require_new(label);
    const std::vector<Reference> bodies{{body.path, body.model}...};
    require_known(label, bodies);
    require_fields(label, force);
    if constexpr (requires { force.validate(label, body.model->modelled()->body...); })
      force.validate(label, body.model->modelled()->body...);
    else if constexpr (requires { force.validate(label); })
      force.validate(label);
    auto model = std::make_shared<const ForceOf<F, B...>>(std::move(force), body.model->modelled()...);
    probe(label, bodies, *model);
    names_.insert(name);
    forces_.push_back({name, bodies, std::move(model)});
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
    auto model = std::dynamic_pointer_cast<const BodyOf<B>>(find(path));
    if (!model)
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
  struct NestedEntry;

  const std::string& name() const { return name_; }
  const std::optional<Vec3<double>>& gravity() const { return gravity_; }
  const std::vector<BodyEntry>& bodies() const { return bodies_; }
  const std::vector<PartEntry<ConstraintModel>>& constraints() const { return constraints_; }
  const std::vector<PartEntry<ForceModel>>& forces() const { return forces_; }
  const std::list<NestedEntry>& nested() const { return nested_; }
  const std::map<std::string, VectorXd>& places() const { return places_; }  // of its own bodies, where given

 private:
  void require_new(const Label& label) const;
  void require_known(const Label& label, const std::vector<Reference>& bodies) const;
  static void require_coordinate_names(const Label& label, const std::vector<std::string>& names);
  static void require_sizes(const Label& label, const BodyModel& model);
  // One trial call at neutral coordinates, so that a functor that asks for what is not there is found here.
  static void probe(const Label& label, const std::vector<Reference>& bodies, const ConstraintModel& model);
  static void probe(const Label& label, const std::vector<Reference>& bodies, const ForceModel& model);
  // The assembly that holds the body itself, and the name of the body there; throws if there is none.
  std::pair<const Assembly*, std::string> owner(const std::string& path) const;
  std::shared_ptr<const BodyModel> find(const std::string& path) const;  // throws if there is none
  void set_place(const Label& label, const Reference& body, const VectorXd& q);
  std::string did_you_mean(const std::string& name) const;

  std::string name_;
  std::set<std::string> names_;                                     // of all parts
  std::map<std::string, std::shared_ptr<const BodyModel>> models_;  // of bodies_, by name
  std::map<std::string, VectorXd> places_;
  std::optional<Vec3<double>> gravity_;
  std::vector<BodyEntry> bodies_;
  std::vector<PartEntry<ConstraintModel>> constraints_;
  std::vector<PartEntry<ForceModel>> forces_;
  std::list<NestedEntry> nested_;  // a list: nested() hands out references
};

struct Assembly::NestedEntry {
  std::string name;
  Assembly part;
};

}  // namespace mortise
