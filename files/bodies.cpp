// The kinds of bodies.

#include <mortise/assembly/assembly.h>
#include <mortise/bodies/craig_bampton.h>
#include <mortise/bodies/ground.h>
#include <mortise/bodies/subsystem.h>
#include <mortise/core/memory.h>
#include <mortise/files/field_values.h>

#include "catalogue_parts.h"

namespace mortise::files {
namespace {

template <class B> std::optional<std::string> body_text(const Label& label, const BodyModel& model, int dimension) {
  const auto* made = dynamic_cast<const MadeFrom<B, BodyModel>*>(&model);
  if (!made) return std::nullopt;
  return fmt::format("kind = \"{}\"\n{}{}", B::summary.name,
                     dimension ? fmt::format("dimension = {}\n", dimension) : "",
                     fields_text(label, B::summary.name, made->part(), false));
}

template <class B> Kind described() {
  Kind k;
  k.name = B::summary.name;
  k.meaning = B::summary.meaning;
  k.equation = B::summary.equation;
  k.fields = fields_of<B>();
  return k;
}

// solid = {shape = "box", mass = 2, size = [1, 0.2, 0.1]}
Inertia solid(const Entry& e, const Value& v) {
  const FieldPlace at{&e, e.label, "", "solid", ""};
  const std::string shape = e.scope.text(require_member(at, v, "shape"));
  std::vector<std::string> known{"shape", "mass"};
  const auto number = [&](const char* name, const char* unit) {
    known.emplace_back(name);
    return e.scope.number(require_member(at, v, name), unit);
  };
  const auto axis = [&](Axis out) {
    known.emplace_back("axis");
    if (const Value* given = v.find("axis")) read_value(at, *given, out);
    return out;
  };
  const double mass = e.scope.number(require_member(at, v, "mass"), "kg");
  const auto make = [&]() -> Inertia {
    if (shape == "box") {
      known.emplace_back("size");
      const std::vector<double> s = e.scope.numbers(require_member(at, v, "size"), "m", 3);
      return Inertia::box(mass, {s[0], s[1], s[2]});
    }
    if (shape == "rod") return Inertia::rod(mass, number("length", "m"), axis({1, 0, 0}));
    if (shape == "cylinder") {
      const double radius = number("radius", "m"), length = number("length", "m");
      return Inertia::cylinder(mass, radius, length, axis({0, 0, 1}));
    }
    if (shape == "disk") return Inertia::disk(mass, number("radius", "m"), axis({0, 0, 1}));
    if (shape == "sphere") return Inertia::sphere(mass, number("radius", "m"));
    if (shape == "tube") {
      const double inner = number("inner_radius", "m"), outer = number("outer_radius", "m");
      const double length = number("length", "m");
      return Inertia::tube(mass, inner, outer, length, axis({0, 0, 1}));
    }
    fail(v.find("shape")->where, fmt::format("there is no solid '{}'", shape),
         suggestion(shape, {"box", "rod", "cylinder", "disk", "sphere", "tube"}));
  };
  try {
    const Inertia inertia = make();
    Scope::require_keys(v, known, "a " + shape);
    return inertia;
  } catch (const ModelError&) {
    throw;
  } catch (const Error& error) {
    fail(v.where, error.what(), "");
  }
}

template <class B> void register_body(Kinds& kinds, int dimension = 0) {
  Kind k = described<B>();
  k.dimension = dimension;
  k.add = [](Assembly& a, const Entry& e) {
    B body{};
    if constexpr (requires(const Inertia& i) { B::of(i); })
      if (const Value* v = e.table.find("solid")) body = B::of(solid(e, *v));
    read_fields(e, B::summary.name, e.table, body, {});
    a.add(e.label.name, std::move(body));
  };
  k.write_body = [dimension](const Label& label, const BodyModel& model) {
    return body_text<B>(label, model, dimension);
  };
  kinds.bodies.push_back(std::move(k));
}

// The parts that the file gives, put together: its nodes know their displacements.
void register_structure(Kinds& kinds) {
  Kind k = described<Structure>();
  k.add = [](Assembly& a, const Entry& e) {
    Structure given;
    read_fields(e, "structure", e.table, given, {});
    Structure::Given parts{.M = given.M, .C = given.C, .K = given.K, .nodes = given.nodes};
    for (const std::string& c : given.coordinates) {
      const auto dot = c.rfind('.');
      if (dot == std::string::npos)
        fail(e.table.where, fmt::format("coordinate '{}' names no direction", c), "name dofs node.direction, as n1.ux");
      parts.dofs.push_back({c.substr(0, dot), c.substr(dot + 1)});
    }
    Structure s(parts);
    if (const Value* v = e.table.find("reduce")) {
      const FieldPlace at{&e, e.label, "", "reduce", ""};
      Scope::require_keys(*v, {"interface", "modes"}, "reduce");
      s = craig_bampton(s, e.scope.texts(require_member(at, *v, "interface")),
                        e.scope.integer(require_member(at, *v, "modes")))
              .structure;
    }
    a.add(e.label.name, std::move(s));
  };
  k.write_body = [](const Label& label, const BodyModel& model) -> std::optional<std::string> {
    if (const auto* made = dynamic_cast<const MadeFrom<Structure, BodyModel>*>(&model))
      for (const std::string& c : made->part().coordinates)
        label.require(c.find('.') != std::string::npos,
                      fmt::format("its coordinate '{}' belongs to a reduced structure, which has no text", c),
                      "write the full structure, and reduce it in the file");
    return body_text<Structure>(label, model, 0);
  };
  kinds.bodies.push_back(std::move(k));
}

// Coordinates of its own and formulas of them: what Lagrangian and Subsystem share.
struct OwnCoordinates {
  std::vector<std::string> names;
  Arguments arguments;

  explicit OwnCoordinates(const Entry& e) {
    const FieldPlace at{&e, e.label, "", "coordinates", ""};
    const Value* v = e.table.find("coordinates");
    if (!v)
      fail(e.table.where, fmt::format("{} '{}' has no coordinates", e.label.kind, e.label.name), "name at least one");
    read_value(at, *v, names);
    arguments.scalars = {"t"};
  }
  // Coordinates are named as they are, rates with a prime.  `flat` gathers the names of several formulas.
  Expression read(const Entry& e, const Value& v, std::string_view unit, std::vector<Variable>& flat) const {
    Arguments own = arguments;
    for (const std::string& n : names) own.scalars.push_back(n);
    for (const std::string& n : names) own.scalars.push_back(n + "'");
    return e.scope.formula(v, unit, own, flat);
  }
  // The arguments q, v, t of the body's functions.
  std::vector<Variable> places(const std::vector<Variable>& flat) const {
    const int n = static_cast<int>(names.size());
    std::vector<Variable> out;
    for (const Variable& x : flat) {
      if (x.argument == 0)
        out.push_back({.argument = 2});
      else
        out.push_back({.argument = x.argument <= n ? 0 : 1, .component = (x.argument - 1) % n});
    }
    return out;
  }
  static std::string text(const Expression& f, const std::vector<Variable>& variables,
                          const std::vector<std::string>& names) {
    return quoted(f.text([&](int i) -> std::string {
      const Variable& x = variables[static_cast<std::size_t>(i)];
      if (x.argument == 2) return "t";
      return names[static_cast<std::size_t>(x.component)] + (x.argument == 1 ? "'" : "");
    }));
  }
};

void register_lagrangian(Kinds& kinds) {
  using Body = Lagrangian<EnergyFormula>;
  Kind k;
  k.name = Body::summary.name;
  k.meaning = Body::summary.meaning;
  k.equation = Body::summary.equation;
  k.fields = {{"coordinates", "", "", "to be given", "list of texts", "their names"},
              {"T", "J", "", "0", "formula", "kinetic energy, of coordinates (theta), their rates (theta') and t"},
              {"V", "J", "", "0", "formula", "potential energy, of coordinates and t"}};
  k.add = [](Assembly& a, const Entry& e) {
    const OwnCoordinates own(e);
    Body body{.coordinates = own.names, .energies = {}};
    const auto read = [&](const char* field, Formula<0>& out) {
      const Value* v = e.table.find(field);
      if (!v) return;
      std::vector<Variable> flat;
      out.rows = {own.read(e, *v, "J", flat)};
      out.variables = own.places(flat);
    };
    read("T", body.energies.kinetic);
    read("V", body.energies.potential);
    a.add(e.label.name, std::move(body));
  };
  k.write_body = [](const Label&, const BodyModel& model) -> std::optional<std::string> {
    const auto* made = dynamic_cast<const MadeFrom<Body, BodyModel>*>(&model);
    if (!made) return std::nullopt;
    const Body& b = made->part();
    std::string out = fmt::format("kind = \"lagrangian\"\ncoordinates = {}\n", list_text(b.coordinates, quoted));
    const auto line = [&](const char* field, const Formula<0>& f) {
      if (!f.rows.empty())
        out += fmt::format("{} = {}\n", field, OwnCoordinates::text(f.rows[0], f.variables, b.coordinates));
    };
    line("T", b.energies.kinetic);
    line("V", b.energies.potential);
    return out;
  };
  kinds.bodies.push_back(std::move(k));
}

void register_subsystem(Kinds& kinds) {
  using Body = Subsystem<MatrixXd, ForceFormula>;
  using Plain = Subsystem<MatrixXd, NoForce>;
  Kind k;
  k.name = "subsystem";
  k.meaning = "coordinates with a given mass matrix and given forces";
  k.equation = "M q'' = Q(q, v, t)";
  k.fields = {{"coordinates", "", "", "to be given", "list of texts", "their names"},
              {"M", "", "", "0", "matrix", "mass; symmetric, positive semi-definite, may be singular"},
              {"Q", "", "", "0", "list of formulas", "forces, of coordinates (x), their rates (x') and t"}};
  k.add = [](Assembly& a, const Entry& e) {
    const OwnCoordinates own(e);
    const auto n = static_cast<Index>(own.names.size());
    require_memory(e.label, fmt::format("its mass matrix of {} coordinates", n),
                   static_cast<double>(n) * static_cast<double>(n) * sizeof(double), "make it of several bodies");
    Body body{.coordinates = own.names, .M = MatrixXd::Zero(n, n), .Q = {}};
    if (const Value* v = e.table.find("M")) body.M = e.scope.matrix(*v, "*");
    if (const Value* v = e.table.find("Q")) {
      if (!v->is(Value::Kind::list) || static_cast<Index>(v->list.size()) != n)
        fail(v->where, fmt::format("a list of {} formulas was expected, not {}", n, v->described()), "");
      std::vector<Variable> flat;
      for (const Value& x : v->list) body.Q.rows.push_back(own.read(e, x, "*", flat));
      body.Q.variables = own.places(flat);
    }
    a.add(e.label.name, std::move(body));
  };
  k.write_body = [](const Label&, const BodyModel& model) -> std::optional<std::string> {
    const auto lines = [](const auto& b) {
      return fmt::format("kind = \"subsystem\"\ncoordinates = {}\nM = {}\n", list_text(b.coordinates, quoted),
                         matrix_text(b.M));
    };
    if (const auto* made = dynamic_cast<const MadeFrom<Plain, BodyModel>*>(&model)) return lines(made->part());
    const auto* made = dynamic_cast<const MadeFrom<Body, BodyModel>*>(&model);
    if (!made) return std::nullopt;
    const Body& b = made->part();
    std::string out = lines(b);
    if (!b.Q.rows.empty())
      out += "Q = " +
             list_text(b.Q.rows,
                       [&](const Expression& f) { return OwnCoordinates::text(f, b.Q.variables, b.coordinates); }) +
             "\n";
    return out;
  };
  kinds.bodies.push_back(std::move(k));
}

void register_ground(Kinds& kinds) {
  Kind k;
  k.name = "ground";
  k.meaning = "the immovable world; a body named ground need not be written";
  k.equation = "";
  k.add = [](Assembly& a, const Entry& e) { a.add(e.label.name, Ground{}); };
  k.write_body = [](const Label&, const BodyModel& model) -> std::optional<std::string> {
    if (!dynamic_cast<const MadeFrom<Ground, BodyModel>*>(&model)) return std::nullopt;
    return "kind = \"ground\"\n";
  };
  kinds.bodies.push_back(std::move(k));
}

// The bodies of the library's list that are plain structs; the others stand above.
template <class B> void register_listed(Kinds& kinds) {
  if constexpr (std::is_same_v<B, Structure>)
    register_structure(kinds);
  else if constexpr (std::is_same_v<B, Particle<3>>)
    register_body<Particle<1>>(kinds, 1), register_body<Particle<2>>(kinds, 2), register_body<Particle<3>>(kinds, 3);
  else if constexpr (std::is_same_v<B, Lagrangian<catalogue::Given>>)
    register_lagrangian(kinds);
  else
    register_body<B>(kinds);
}
template <class... B> void register_list(Kinds& kinds, catalogue::List<B...>) { (register_listed<B>(kinds), ...); }

}  // namespace

void register_bodies(Kinds& kinds) {
  register_ground(kinds);
  register_list(kinds, catalogue::Bodies{});
  register_subsystem(kinds);
}

const Kinds& kinds() {
  static const Kinds all = [] {
    Kinds k;
    register_bodies(k);
    register_all_parts(k);
    const auto sort = [](std::vector<Kind>& list) {
      std::stable_sort(list.begin(), list.end(), [](const Kind& a, const Kind& b) {
        return std::tie(a.name, a.dimension, a.formulas) < std::tie(b.name, b.dimension, b.formulas);
      });
    };
    sort(k.bodies), sort(k.joints), sort(k.forces), sort(k.sensors);
    return k;
  }();
  return all;
}

}  // namespace mortise::files
