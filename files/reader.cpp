// read_model: from a file to a Model.

#include <algorithm>
#include <filesystem>
#include <set>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/core/words.h>
#include <mortise/files/field_values.h>
#include <mortise/files/kinds.h>
#include <mortise/files/record.h>
#include <mortise/files/robot_description.h>

namespace mortise {

State Model::start(const System& system) const {
  State s = system.state();
  s.t = time;
  for (const auto& [name, x] : settings) s.set(name, x);
  return s;
}

namespace {
std::string lines(const std::vector<ModelFault>& faults) {
  constexpr std::size_t most = 20;
  std::string out;
  for (std::size_t i = 0; i < std::min(most, faults.size()); ++i) out += (i ? "\n" : "") + faults[i].text();
  if (faults.size() > most) out += fmt::format("\n... and {} more", faults.size() - most);
  return out;
}
}  // namespace

ModelError::ModelError(ModelFault fault) : ModelError(std::vector{std::move(fault)}, nullptr, "") {}
ModelError::ModelError(std::vector<ModelFault> faults, std::shared_ptr<const Model> rest, std::string judged)
    : Error(lines(faults)),
      faults_(std::make_shared<const std::vector<ModelFault>>(std::move(faults))),
      rest_(std::move(rest)),
      judged_(std::move(judged)) {}

namespace files {
namespace {

using Text = std::string;

// Puts the place in the file before what the library says.
template <class F> auto located(const Where& where, const F& f) {
  try {
    return f();
  } catch (const ModelError&) {
    throw;
  } catch (const Error& error) {
    const ErrorParts& x = error.parts();
    if (x.kind.empty()) fail(where, error.what(), "");
    throw ModelError(ModelFault{where.text(), fmt::format("{} '{}': {}", x.kind, x.name, x.fact), x.remedy, "", ""});
  }
}

std::vector<Text> names_of(const std::vector<Kind>& kinds) {
  std::set<Text> names;
  for (const Kind& k : kinds) names.insert(k.name);
  return {names.begin(), names.end()};
}

class Loader {
 public:
  // `faults` were found before, and are told with what is found.
  Loader(Model& model, std::string root, std::vector<ModelFault> faults)
      : model_(model), root_(std::move(root)), faults_(std::move(faults)) {}

  struct File {
    const Value& value;
    Scope scope;
    std::string prefix;              // "" or "left/"
    std::vector<std::string> above;  // files that include this one
    bool has_ground = false;
  };

  // `given` replaces parameters of the file; their places are for messages.
  struct Given {
    double number;
    Where where;
  };

  void load(File file, Assembly& a, const std::map<Text, Given>& given) {
    const Value& v = file.value;
    Scope::require_keys(v,
                        {"name", "description", "gravity", "parameters", "bodies", "joints", "forces", "sensors",
                         "subsystems", "ports", "start", "run"},
                        "a model");
    parameters(file, given);
    attempt({}, [&] {
      if (const Value* g = v.find("gravity")) {
        const std::vector<double> x = file.scope.numbers(*g, "m/s^2", 3);
        a.set_gravity({x[0], x[1], x[2]});
      }
      if (const Value* d = v.find("description")) (void)file.scope.text(*d);
    });
    each(v, "bodies", "body", file, [&](const Value::Entry& e) { body(file, a, e); });
    each(v, "subsystems", "subsystem", file, [&](const Value::Entry& e) { subsystem(file, a, e); });
    if (const Value* ports = v.find("ports")) {
      Scope::require_table(*ports, "ports");
      for (const auto& e : ports->table)
        attempt({"port", file.prefix + e.key}, [&] {
          const Text path = file.scope.text(e.value);
          if (lost(file.prefix + path)) return leave_out({"port", file.prefix + e.key});
          ground(file, a, path);
          located(e.value.where, [&] { a.port(e.key, path); });
        });
    }
    each(v, "joints", "joint", file, [&](const auto& e) { part(file, a, e, "joint", kinds().joints); });
    each(v, "forces", "force", file, [&](const auto& e) { part(file, a, e, "force", kinds().forces); });
    each(v, "sensors", "sensor", file, [&](const auto& e) { part(file, a, e, "sensor", kinds().sensors); });
    if (const Value* s = v.find("start")) {
      Scope::require_table(*s, "start");
      for (const auto& e : s->table)
        attempt({}, [&] {
          if (e.key == "t" && file.prefix.empty())
            model_.time = file.scope.number(e.value, "s");
          else
            set(e.where, file.prefix + e.key, file.scope.number(e.value, "*"));
        });
    }
    if (const Value* r = v.find("run"); r && file.prefix.empty()) attempt({}, [&] { run(file, *r); });
    if (file.prefix.empty()) model_.parameters = file.scope.parameters;
  }

  // What can be said only of the whole.  Throws ModelError for all that was found.
  void finish(const Where& where) {
    const bool whole = attempt({}, [&] {
      located(where, [&] {
        const System system(model_.assembly);
        State s = system.state();
        s.t = model_.time;
        std::vector<std::pair<Text, double>> settings;
        for (std::size_t i = 0; i < model_.settings.size(); ++i) {
          const auto& [name, x] = model_.settings[i];
          if (lost(name.substr(0, name.find('.')))) continue;
          if (attempt({}, [&] { located(set_at_[i], [&] { s.set(name, x); }); })) settings.emplace_back(name, x);
        }
        model_.settings = std::move(settings);
        system.require_state(s);
        VectorXd C = VectorXd::Zero(system.size());
        const VectorXd lambda = VectorXd::Zero(system.rows());
        for (const auto& c : system.constraints())
          if (c.model->reacts()) {
            const auto it = part_at_.find(c.name);
            attempt({"joint", c.name}, [&] {
              located(it == part_at_.end() ? where : it->second, [&] { system.react(c, s, lambda, C); });
            });
          }
      });
    });
    if (faults_.empty()) return;
    std::vector<Text> judged;
    if (!instead_.empty()) judged.push_back("with a plain body of 1 kg in place of " + some_of(instead_));
    if (!left_out_.empty()) judged.push_back("without " + some_of(left_out_));
    throw ModelError(std::move(faults_), whole ? std::make_shared<const Model>(model_) : nullptr,
                     judged.empty() ? "as they stand" : joined(judged, " and "));
  }

 private:
  // Keeps what goes wrong with a part, so that the others can be read; whether nothing did.
  template <class F> bool attempt(const Label& part, const F& f) {
    constexpr std::size_t most = 1000;
    try {
      f();
      return true;
    } catch (const ModelError& error) {
      for (ModelFault fault : error.faults()) {
        if (fault.name.empty()) fault.kind = part.kind, fault.name = part.name;
        faults_.push_back(std::move(fault));
      }
      if (faults_.size() > most) throw ModelError(std::move(faults_), nullptr, "");
      return false;
    }
  }
  void leave_out(const Label& part) { left_out_.push_back(fmt::format("{} '{}'", part.kind, part.name)); }
  // A body, or one of a subsystem, that could not be made.
  bool lost(const Text& path) const {
    return std::any_of(lost_.begin(), lost_.end(), [&](const Text& name) {
      return path.starts_with(name) && (path.size() == name.size() || path[name.size()] == '/');
    });
  }

  template <class F> void each(const Value& v, const char* section, const char* kind, const File& file, const F& f) {
    const Value* table = v.find(section);
    if (!table) return;
    Scope::require_table(*table, section);
    for (const auto& e : table->table) {
      if (++parts_ > limits_.parts)
        fail(e.where, fmt::format("the model has more than {} parts", limits_.parts), "build it in C++");
      const Label label{kind, file.prefix + e.key};
      if (attempt(label, [&] {
            Scope::require_table(e.value, fmt::format("{}.{}", section, e.key));
            f(e);
          }))
        continue;
      leave_out(label);
      if (label.kind == "body" || label.kind == "subsystem") lost_.push_back(label.name);
    }
  }

  void parameters(File& file, const std::map<Text, Given>& given) {
    std::set<Text> known;
    if (const Value* p = file.value.find("parameters")) {
      Scope::require_table(*p, "parameters");
      for (const auto& e : p->table) {
        const bool word = !e.key.empty() && std::all_of(e.key.begin(), e.key.end(), [](unsigned char c) {
          return std::isalnum(c) || c == '_';
        }) && !std::isdigit(static_cast<unsigned char>(e.key[0]));
        if (!word || e.key == "t" || e.key == "pi")
          fail(e.where, fmt::format("'{}' cannot name a parameter", e.key),
               "take letters, digits and _; t and pi are taken");
        known.insert(e.key);
        const auto it = given.find(e.key);
        file.scope.parameters[e.key] = it == given.end() ? file.scope.number(e.value, "*") : it->second.number;
      }
    }
    for (const auto& [name, g] : given)
      if (!known.count(name))
        fail(g.where, fmt::format("the model has no parameter '{}'", name),
             known.empty() ? "it has none" : suggestion(name, {known.begin(), known.end()}));
  }

  static const Value& require(const Value& table, const char* key, const Label& label) {
    if (const Value* v = table.find(key)) return *v;
    fail(table.where, fmt::format("{} '{}' has no {}", label.kind, label.name, key), fmt::format("give {} = ...", key));
  }

  // The kind that is meant, among those of the same name.
  const Kind& choose(const File& file, const Label& label, const Value& table, const std::vector<Kind>& list,
                     const std::vector<std::shared_ptr<const BodyModel>>& bodies) {
    const Value& word = require(table, "kind", label);
    const Text name = file.scope.text(word);
    std::vector<const Kind*> found;
    for (const Kind& k : list)
      if (k.name == name) found.push_back(&k);
    if (found.empty())
      fail(word.where, fmt::format("there is no {} '{}'", label.kind, name), suggestion(name, names_of(list)));
    const auto keep = [&](const auto& test) {
      std::vector<const Kind*> kept;
      std::copy_if(found.begin(), found.end(), std::back_inserter(kept), test);
      if (!kept.empty()) found = kept;
      return !kept.empty();
    };
    const auto spread = [&] { return found.front()->dimension != found.back()->dimension; };
    if (const Value* d = table.find("dimension")) {
      const int given = file.scope.integer(*d);
      if (!keep([&](const Kind* k) { return k->dimension == given; }))
        fail(d->where, fmt::format("there is no {} '{}' in {} dimensions", label.kind, name, given), "");
    }
    if (spread()) keep([&](const Kind* k) { return k->dimension == dimension_of_bodies(bodies); });
    if (spread())
      keep([&](const Kind* k) {  // by the length of what is given
        return std::all_of(k->fields.begin(), k->fields.end(), [&](const FieldInfo& f) {
          const Value* v = table.find(f.name);
          return !v || !v->is(Value::Kind::list) || !f.takes.ends_with(" numbers") ||
                 f.takes == fmt::format("{} numbers", v->list.size());
        });
      });
    if (spread()) keep([&](const Kind* k) { return k->dimension == 3; });
    if (found.size() > 1)
      if (const Value* f = table.find(found.front()->formula)) {
        const int count = f->is(Value::Kind::list) ? static_cast<int>(f->list.size()) : 1;
        if (!keep([&](const Kind* k) { return k->formulas == count; }))
          fail(f->where, fmt::format("{} '{}' takes no {} formulas here", label.kind, label.name, count),
               fmt::format("give 1 to {}", found.back()->formulas));
      }
    return *found.front();
  }
  static int dimension_of_bodies(const std::vector<std::shared_ptr<const BodyModel>>& bodies) {
    for (const auto& b : bodies) {
      const Text kind = b->kind();
      const auto n = b->coordinates().size();
      if (kind == "planar_body" || (kind == "particle" && n == 2)) return 2;
      if (kind == "rigid_body" || (kind == "particle" && n == 3)) return 3;
    }
    return 0;
  }

  static void require_fields_known(const Value& table, const Kind& k, std::vector<Text> others, const Label& label) {
    for (const FieldInfo& f : k.fields) others.push_back(f.name);
    Scope::require_keys(table, others, fmt::format("{} '{}', a {},", label.kind, label.name, k.name));
  }

  void body(File& file, Assembly& a, const Value::Entry& e) {
    const Label label{"body", file.prefix + e.key};
    const Kind& k = choose(file, label, e.value, kinds().bodies, {});
    std::vector<Text> others{"kind", "place", "velocity", "shape"};
    if (k.name == "particle") others.emplace_back("dimension");
    if (k.name == "planar_body" || k.name == "rigid_body") others.emplace_back("solid");
    if (k.name == "structure") others.emplace_back("reduce");
    require_fields_known(e.value, k, others, label);
    const bool stands_in = stand_in(k) != nullptr;
    const auto add = [&] { located(e.where, [&] { k.add(a, {{"body", e.key}, e.value, file.scope}); }); };
    if (!stands_in)
      add();
    else if (!attempt(label, add))
      stand_in(k)(a, e.key), instead_.push_back(label.name);
    const auto model = a.model(e.key);
    if (const Value* v = e.value.find("place"))
      if (!attempt(label, [&] {
            located(v->where, [&] { a.place(e.key, coordinates(file, *v, *model, false, model->neutral())); });
          }))
        left_out_.push_back(fmt::format("the place of '{}'", label.name));
    if (const Value* v = e.value.find("velocity"))
      attempt(label, [&] {
        const VectorXd rates = coordinates(file, *v, *model, true, a.place(e.key));
        const auto names = model->coordinates();
        for (std::size_t i = 0; i < names.size(); ++i)
          if (rates[static_cast<Index>(i)] != 0)
            set(v->where, fmt::format("{}{}.{}'", file.prefix, e.key, names[i]), rates[static_cast<Index>(i)]);
      });
    if (const Value* v = e.value.find("shape"))
      attempt(label, [&] {
        auto& shapes = model_.shapes[file.prefix + e.key];
        if (v->is(Value::Kind::list))
          for (const Value& one : v->list) shapes.push_back(shape(file, one));
        else
          shapes.push_back(shape(file, *v));
      });
  }

  // A plain body of a kind, in place of one whose numbers are those of no body; null where there is none.
  using Add = void (*)(Assembly&, const Text&);
  static Add stand_in(const Kind& k) {
    if (k.name == "rigid_body")
      return [](Assembly& a, const Text& name) {
        a.add(name, RigidBody{.mass = 1, .inertia = Mat<double, 3>::Identity()});
      };
    if (k.name == "planar_body")
      return [](Assembly& a, const Text& name) { a.add(name, PlanarBody{.mass = 1, .inertia = 1}); };
    if (k.name == "particle" && k.dimension == 2)
      return [](Assembly& a, const Text& name) { a.add(name, Particle<2>{.mass = 1}); };
    if (k.name == "particle" && k.dimension == 3)
      return [](Assembly& a, const Text& name) { a.add(name, Particle<3>{.mass = 1}); };
    return nullptr;
  }

  // A list of all, a table of some, or of a rigid body {position, axis, angle} and {linear, angular}; from `base` on.
  VectorXd coordinates(const File& file, const Value& v, const BodyModel& model, bool rates, const VectorXd& base) {
    const Scope& scope = file.scope;
    const std::vector<Text> names = model.coordinates(), units = model.units();
    const auto unit = [&](std::size_t i) { return units[i].empty() ? Text("*") : rates ? units[i] + "/s" : units[i]; };
    VectorXd q = rates ? VectorXd(VectorXd::Zero(base.size())) : base;
    if (v.is(Value::Kind::list)) {
      if (v.list.size() != names.size())
        fail(v.where, fmt::format("a list of {} numbers was expected, not {}", names.size(), v.described()),
             fmt::format("the coordinates are {}", fmt::join(names, ", ")));
      for (std::size_t i = 0; i < names.size(); ++i) q[static_cast<Index>(i)] = scope.number(v.list[i], unit(i));
      return q;
    }
    Scope::require_table(v, rates ? "a velocity" : "a place");
    const auto three = [&](const char* key, const char* in, Vec3<double> otherwise) -> Vec3<double> {
      const Value* given = v.find(key);
      if (!given) return otherwise;
      const std::vector<double> x = scope.numbers(*given, in, 3);
      return {x[0], x[1], x[2]};
    };
    if (model.kind() == "rigid_body" && rates && (v.find("linear") || v.find("angular"))) {
      Scope::require_keys(v, {"linear", "angular"}, "the velocity of a rigid body");
      return RigidBody::rates(base, three("linear", "m/s", {0, 0, 0}), three("angular", "rad/s", {0, 0, 0}));
    }
    if (model.kind() == "rigid_body" && !rates && (v.find("position") || v.find("axis") || v.find("euler"))) {
      Scope::require_keys(v, {"position", "axis", "angle", "euler", "order"}, "the place of a rigid body");
      Quaternion<double> u(1, 0, 0, 0);
      if (v.find("axis"))
        u = quaternion_from_axis_angle(three("axis", "*", {0, 0, 1}),
                                       v.find("angle") ? scope.number(*v.find("angle"), "rad") : 0);
      else if (v.find("angle"))
        fail(v.find("angle")->where, "an angle needs an axis", "give axis = [x, y, z]");
      if (v.find("euler"))
        u = quaternion_from_euler(v.find("order") ? scope.text(*v.find("order")) : "zyx",
                                  three("euler", "rad", {0, 0, 0}));
      return RigidBody::pose(three("position", "m", {0, 0, 0}), u);
    }
    Scope::require_keys(v, names, "the body");
    for (std::size_t i = 0; i < names.size(); ++i)
      if (const Value* x = v.find(names[i])) q[static_cast<Index>(i)] = scope.number(*x, unit(i));
    return q;
  }

  Shape shape(const File& file, const Value& v) {
    const Scope& scope = file.scope;
    Scope::require_table(v, "a shape");
    Scope::require_keys(v, {"box", "cylinder", "sphere", "line", "mesh", "at", "axis", "rotation", "scale", "colour"},
                        "a shape");
    Shape s;
    const auto three = [&](const Value& x, const char* unit) -> Vec3<double> {
      const std::vector<double> n = scope.numbers(x, unit, 3);
      return {n[0], n[1], n[2]};
    };
    if (const Value* b = v.find("box")) {
      s.kind = Shape::Kind::box;
      s.size = three(*b, "m");
    } else if (const Value* c = v.find("cylinder")) {
      const std::vector<double> n = scope.numbers(*c, "m", 2);
      s.kind = Shape::Kind::cylinder;
      s.radius = n[0];
      s.length = n[1];
    } else if (const Value* r = v.find("sphere")) {
      s.kind = Shape::Kind::sphere;
      s.radius = scope.number(*r, "m");
    } else if (const Value* l = v.find("line")) {
      s.kind = Shape::Kind::line;
      if (!l->is(Value::Kind::list)) fail(l->where, "a list of points was expected, not " + l->described(), "");
      for (const Value& p : l->list) s.points.push_back(three(p, "m"));
    } else if (const Value* m = v.find("mesh")) {
      s.kind = Shape::Kind::mesh;
      s.file = scope.text(*m);
    } else {
      fail(
          v.where, "the shape has no form",
          "give box = [x, y, z], cylinder = [radius, length], sphere = radius, line = [[...], ...] or mesh = \"file\"");
    }
    if (const Value* x = v.find("at")) s.at = three(*x, "m");
    if (const Value* x = v.find("rotation")) s.rotation = three(*x, "rad");
    if (const Value* x = v.find("scale")) s.scale = three(*x, "");
    if (const Value* x = v.find("axis")) {
      const Vec3<double> axis = three(*x, "*");
      if (!(axis.norm() > 0)) fail(x->where, "the axis has length 0", "give a direction");
      s.axis = axis.normalized();
    }
    if (const Value* x = v.find("colour")) {
      s.colour = scope.text(*x);
      const bool hex = s.colour.size() == 7 && s.colour[0] == '#' &&
                       s.colour.find_first_not_of("0123456789abcdefABCDEF", 1) == Text::npos;
      if (!hex) fail(x->where, fmt::format("'{}' is no colour", s.colour), "write \"#rrggbb\"");
    }
    return s;
  }

  // The ground need not be written.
  static void ground(File& file, Assembly& a, const Text& path) {
    if (path != "ground" || file.has_ground) return;
    file.has_ground = true;
    for (const auto& b : a.bodies())
      if (b.name == path) return;
    for (const auto& n : a.nested())
      if (n.name == path) return;
    for (const auto& p : a.ports())
      if (p.name == path) return;
    a.add(path, Ground{});
  }

  void part(File& file, Assembly& a, const Value::Entry& e, const char* category, const std::vector<Kind>& list) {
    const Label label{category, file.prefix + e.key};
    (void)require(e.value, "kind", label);
    const Value& bodies = require(e.value, "bodies", label);
    Entry entry{{category, e.key}, e.value, file.scope, file.scope.texts(bodies)};
    if (std::any_of(entry.bodies.begin(), entry.bodies.end(), [&](const Text& b) { return lost(file.prefix + b); }))
      return leave_out(label);  // the fault is that body's
    std::vector<std::shared_ptr<const BodyModel>> models;
    for (std::size_t i = 0; i < entry.bodies.size(); ++i) {
      ground(file, a, entry.bodies[i]);
      models.push_back(located(bodies.list[i].where, [&] { return a.model(entry.bodies[i]); }));
    }
    const Kind& k = choose(file, label, e.value, list, models);
    std::vector<Text> others{"kind", "bodies", "dimension"};
    if (k.friction) others.emplace_back("friction");
    if (k.at_world) others.emplace_back("at_world");
    const bool joint = label.kind == "joint";
    if (joint) others.emplace_back("limits");
    require_fields_known(e.value, k, others, label);
    if (std::find(k.bodies.begin(), k.bodies.end(), static_cast<int>(models.size())) == k.bodies.end())
      fail(bodies.where, fmt::format("{} '{}' has {} bodies", category, label.name, models.size()),
           fmt::format("a {} acts on {}", k.name, fmt::join(k.bodies, ", ")));
    for (const FieldInfo& f : k.fields)
      if ((f.takes.ends_with("formula") || f.takes.ends_with("formulas")) && k.name != "nonlinear_spring" &&
          !e.value.find(f.name))
        fail(e.where, fmt::format("{} '{}' has no {}", category, label.name, f.name),
             fmt::format("give {} = \"...\"", f.name));
    located(e.where, [&] { k.add(a, entry); });
    part_at_[label.name] = e.where;
    if (const Value* v = e.value.find("limits"); v && joint) limits(file, label, *v, *a.constraints().back().model);
  }

  // How far the angle or displacement of a joint may go; nothing holds it there, a run tells it.
  void limits(const File& file, const Label& label, const Value& v, const ConstraintModel& model) {
    const auto told = model.quantities();
    if (told.empty())
      fail(v.where, fmt::format("joint '{}' tells no angle and no displacement that could have limits", label.name),
           "leave them out");
    const std::vector<double> x = file.scope.numbers(v, told.front().unit, 2);
    if (!(x[0] <= x[1]))
      fail(v.where, fmt::format("the limits of joint '{}' are {} and {}", label.name, x[0], x[1]),
           "give the lower one first");
    model_.limits[label.name] = {x[0], x[1]};
  }

  void subsystem(File& file, Assembly& a, const Value::Entry& e) {
    if (file.above.size() >= limits_.depth)
      fail(e.where, fmt::format("subsystems are nested more than {} deep", limits_.depth), "write it flatter");
    if (++files_ > limits_.files)
      fail(e.where, fmt::format("the model has more than {} subsystems", limits_.files), "build it in C++");
    std::map<Text, Given> given;
    Assembly inner = located(e.where, [&] { return Assembly(e.key); });
    std::vector<Text> above = file.above;
    if (const Value* name = e.value.find("file")) {
      Scope::require_keys(e.value, {"file", "parameters"},
                          fmt::format("subsystem '{}', from a file,", file.prefix + e.key));
      const Text path = inside(file.scope.folder, root_, *name);
      if (std::find(above.begin(), above.end(), path) != above.end())
        fail(name->where, fmt::format("'{}' includes itself", name->text), "break the circle");
      above.push_back(path);
      if (const Value* p = e.value.find("parameters")) {
        Scope::require_table(*p, "parameters");
        for (const auto& x : p->table) given[x.key] = {file.scope.number(x.value, "*"), x.where};
      }
      auto it = read_.find(path);
      if (it == read_.end()) {
        if (!std::filesystem::exists(path))
          fail(name->where, fmt::format("there is no file '{}'", name->text), "check the name");
        const Text shown = std::filesystem::path(path)
                               .lexically_relative(std::filesystem::weakly_canonical(root_.empty() ? "." : root_))
                               .string();
        it = read_.emplace(path, read_toml(path, shown, limits_)).first;
        model_.files.push_back(path);
      }
      Scope scope;
      scope.files = &model_.files;
      scope.folder = std::filesystem::path(path).parent_path().string();
      load({it->second, scope, file.prefix + e.key + "/", above, false}, inner, given);
    } else {
      above.emplace_back();
      Scope scope = file.scope;  // sees the parameters of the file it stands in
      load({e.value, scope, file.prefix + e.key + "/", above, false}, inner, {});
    }
    located(e.where, [&] { a.add(e.key, inner); });
  }

  void run(const File& file, const Value& v) {
    const Scope& scope = file.scope;
    Scope::require_keys(v,
                        {"until", "integrator", "tolerance", "step", "largest_step", "sample", "record", "complete",
                         "unpad", "held", "as_given"},
                        "run");
    const auto number = [&](const char* key, const char* unit, double least, double& out) {
      const Value* x = v.find(key);
      if (!x) return;
      out = scope.number(*x, unit);
      if (!(out >= least))
        fail(x->where, fmt::format("{} = {} is too small", key, out), fmt::format("give at least {}", least));
    };
    double until = model_.time + model_.run.duration;
    number("until", "s", model_.time, until);
    model_.run.duration = until - model_.time;
    number("tolerance", "", 1e-15, model_.run.steps.tolerance);
    number("step", "s", 0, model_.run.steps.step);
    number("largest_step", "s", 0, model_.run.steps.largest);
    number("sample", "s", 0, model_.run.sample);
    if (const Value* x = v.find("integrator")) {
      model_.run.integrator = scope.text(*x);
      const auto all = all_stepper_names();
      if (std::find(all.begin(), all.end(), x->text) == all.end())
        fail(x->where, fmt::format("there is no integrator '{}'", x->text), suggestion(x->text, all));
      if (const NoStepper none = no_stepper(x->text); !none.fact.empty())
        fail(x->where, fmt::format("integrator '{}': {}", x->text, none.fact), none.remedy);
    }
    if (const Value* x = v.find("complete")) model_.complete = scope.boolean(*x);
    if (const Value* x = v.find("unpad")) model_.unpad = scope.boolean(*x);
    if (const Value* x = v.find("as_given")) model_.run.as_given = scope.boolean(*x);
    if (const Value* x = v.find("held"))
      for (const Text& name : scope.texts(*x)) model_.run.held.emplace_back(name);
    if (const Value* x = v.find("record")) {
      ReadingOptions what{.coordinates = false, .sensors = false, .joints = false, .energy = false};
      std::vector<Text> names;
      for (const auto& k : recordable) names.emplace_back(k.first);
      const std::vector<Text> chosen = scope.texts(*x);
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        const auto it = std::find(names.begin(), names.end(), chosen[i]);
        if (it == names.end())
          fail(x->list[i].where, fmt::format("'{}' cannot be recorded", chosen[i]), suggestion(chosen[i], names));
        what.*(recordable[static_cast<std::size_t>(it - names.begin())].second) = true;
      }
      model_.run.record = what;
    }
  }

  void set(const Where& where, const Text& name, double x) {
    model_.settings.emplace_back(name, x);
    set_at_.push_back(where);
  }

  Model& model_;
  std::string root_;
  Limits limits_;
  std::size_t parts_ = 0, files_ = 0;
  std::map<Text, Value> read_;
  std::vector<Where> set_at_;  // of the settings
  std::map<Text, Where> part_at_;
  std::vector<ModelFault> faults_;
  std::vector<Text> lost_, left_out_, instead_;  // bodies; parts, as they are told; bodies
};

Model load(const Value& root, const Text& name, const Text& folder, const Text& path,
           const std::map<Text, double>& parameters, std::vector<ModelFault> faults = {}) {
  const Where whole{std::make_shared<const Text>(name), 1, 1};
  const Where asked{std::make_shared<const Text>("parameters")};
  Text title = std::filesystem::path(name).stem().string();
  std::replace_if(
      title.begin(), title.end(), [](char c) { return c == '.' || c == '/' || c == '\''; }, '_');
  const Value* given_name = root.find("name");
  if (given_name) title = Scope().text(*given_name);
  Model model = located(given_name ? given_name->where : whole, [&] { return Model(title); });
  Loader loader(model, folder, std::move(faults));
  std::map<Text, Loader::Given> given;
  for (const auto& [key, x] : parameters) given[key] = {x, asked};
  Scope scope;
  scope.folder = folder;
  scope.files = &model.files;
  if (!path.empty()) model.files.push_back(path);
  loader.load({root, scope, "", {path}, false}, model.assembly, given);
  loader.finish(whole);
  return model;
}

}  // namespace

Model load_values(const Value& root, const Text& name, const Text& path, std::vector<ModelFault> faults,
                  const std::map<Text, double>& parameters) {
  return load(root, name, ".", path, parameters, std::move(faults));
}
}  // namespace files

Model read_model(const std::string& path, const std::map<std::string, double>& parameters) {
  if (is_robot_file(path)) return read_robot(path, {.joints = parameters});
  const std::filesystem::path file(path);
  const std::string folder = file.parent_path().string();
  const files::Value root = files::read_toml(path, path);
  return files::load(root, path, folder, std::filesystem::weakly_canonical(file).string(), parameters);
}

Model parse_model(const std::string& text, const std::string& name, const std::string& folder,
                  const std::map<std::string, double>& parameters) {
  return files::load(files::parse_toml(text, name), name, folder, "", parameters);
}

}  // namespace mortise
