#pragma once
// The kinds of bodies, joints, forces and sensors that a model file may name, made from the parts of the library by
// their field lists (core/fields.h).

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <mortise/files/scope.h>

namespace mortise::files {

// A part as a file gives it.
struct Entry {
  Label label;  // {"joint", "hinge"}
  const Value& table;
  const Scope& scope;
  std::vector<std::string> bodies = {};  // paths
};

struct FieldInfo {
  std::string name, unit, range, standard, takes, meaning;
};

struct Kind {
  std::string name, meaning, equation;
  int dimension = 0;  // 2: in the plane, 3: in space, 0: of coordinates
  std::vector<FieldInfo> fields;
  std::vector<int> bodies;  // how many it acts on
  bool friction = false;    // takes friction = {...}
  int at_world = 0;         // takes at_world = {point = ...} (1) or {point = ..., axis = ...} (2)
  std::string formula;      // the field that decides by its count of expressions which one of this name is meant
  int formulas = 0;

  std::function<void(Assembly&, const Entry&)> add;
  // The lines of a part of this kind; none if the model is of another one.  Exactly one of these is given.
  std::function<std::optional<std::string>(const Label&, const BodyModel&)> write_body = {};
  std::function<std::optional<std::string>(const Label&, const PartModel&)> write_part = {};
};

struct Kinds {
  std::vector<Kind> bodies, joints, forces, sensors;
};
const Kinds& kinds();

// One for each file that was made of the list of parts, see CMakeLists.txt.
void register_all_parts(Kinds& kinds);
void register_bodies(Kinds& kinds);

}  // namespace mortise::files
