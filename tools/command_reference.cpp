// mortise reference: the page on model files, docs/MODEL_FILES.md, from the parts' own field lists.

#include <algorithm>
#include <cstdio>

#include <mortise/files/kinds.h>
#include <mortise/files/units.h>

#include "commands.h"

namespace mortise::command {
namespace {

const char* const introduction = R"md(# Model files

Made by `mortise reference` from the fields that each part tells beside its definition; a test compares the two.

A model is a TOML file. `mortise new pendulum` writes one to start from, `mortise check` tells what it lacks,
`mortise run` computes its motion. In C++, `read_model`, `parse_model` and `write_model` of `<mortise/files/model.h>` do it; link
`mortise::files`.

```toml
name = "pendulum"                 # the name of the file unless told
gravity = [0, -9.81, 0]           # [m/s^2]

[parameters]                      # numbers with names, for expressions below; later ones may use earlier ones
L = "80 cm"
m = 2

[bodies.rod]
kind = "planar_body"
mass = "m"
inertia = "m * L^2 / 12"
place = ["L/2", 0, 0]             # where it starts: all coordinates, or some: {theta = "30 deg"}
velocity = {theta = 0.5}          # and how fast

[joints.pin]
kind = "pin"
bodies = ["ground", "rod"]        # A, B, ... of the joint; the ground need not be written as a body
on_b = ["-L/2", 0]

[run]
until = 5                         # [s]
```

## Sections

| section | what it holds |
|---|---|
| `name`, `description`, `gravity` | as above; gravity of the outermost file counts |
| `[parameters]` | numbers for expressions; `--set name=value` and the file that includes this one may replace them |
| `[bodies.NAME]` | `kind` and its fields, `place`, `velocity`, `shape` |
| `[joints.NAME]`, `[forces.NAME]`, `[sensors.NAME]` | `kind`, `bodies` and its fields |
| `[subsystems.NAME]` | another model inside this one: `file = "arm.toml"` (in the same folder or below) with `parameters = {L = 2}`, or its sections here. Its bodies are called `NAME/rod` |
| `[ports]` | `tip = "rod"`: a second name of a body, for others to connect to |
| `[start]` | `t = 0`, `"rod.theta" = 0.3`, `"arm/rod.theta'" = 1.5`: coordinates and velocities, after all places |
| `[run]` | `until` [s], `integrator`, `tolerance`, `step` [s] (fixed steps), `largest_step` [s], `sample` [s], `record` (a list of `coordinates`, `sensors`, `joints`, `reactions`, `forces`, `energy`, `momentum`), `complete`, `unpad`, `held` (coordinates, velocities or bodies that stay as given when the start is moved onto the constraints), `as_given` |

The order of bodies in the file is the order of their coordinates. The start may be rough: a run begins by bringing it onto
the constraints. A wrong file is refused with file, line, column, what was expected and the nearest valid name.

**place** is a list of all coordinates or a table of some of them. Of a rigid body it may also be
`{position = [x, y, z], axis = [0, 0, 1], angle = "30 deg"}` or `{position = ..., euler = [a, b, c], order = "zyx"}`.
**velocity** is the same with rates; of a rigid body also `{linear = [...], angular = [...]}`, angular in body axes.

**shape** is for pictures only: one of `box = [x, y, z]`, `cylinder = [radius, length]`, `sphere = radius`,
`line = [[x, y, z], ...]`, `mesh = "file"` (STL, OBJ or DAE) with `scale`, and `at`, `axis` (of a cylinder), `rotation` (of a box
or mesh: a vector along its axis, [rad] long), `colour = "#rrggbb"`; or a list of such tables.

**limits**, of a joint that tells an angle or a displacement: `limits = [-1, 2]`, in rad or m. Nothing holds the joint there: a run
tells when it passes one.

**solid**, of a planar or rigid body, gives mass and inertia: `solid = {shape = "box", mass = 2, size = [1, 0.2, 0.1]}`;
shapes are `box` (size), `rod` (length, axis), `cylinder` (radius, length, axis), `disk` (radius, axis), `sphere` (radius),
`tube` (inner_radius, outer_radius, length, axis).

## Numbers, expressions, units

A number is written as such, in SI units, or as a text: an expression of numbers and parameters, and after a blank a unit:
`"12 mm"`, `"30 deg"`, `"2 * L cm"`, `"5 kg m^2"`. The unit must be one of what the field measures.
)md";

const char* const after_units = R"md(
A **function** is a number, an expression of `t` (of `s` for a curve): `"0.2 * sin(3 * t)"`, or points:
`{table = {t = [0, 1], y = [0, 2]}}` (straight lines), `{spline = {t = [0, 1, 2], y = [0, 2, 0], slopes = [0, 0]}}` (natural
without slopes). A **formula** is an expression of what the field says: coordinates of the part's bodies and their rates are
`rod.theta` and `rod.theta'`, or by their order in `bodies`, `a.theta`, `b.x'`. Derivatives of both are exact.

An **axis** is three numbers of any length > 0, or `{along = [...], towards = [...]}` where its direction across matters.
A **matrix** is a list of rows; of a structure it may be the name of a Matrix Market file.

**at_world** places a joint by a point (and an axis) of the world at the bodies' places:
`at_world = {point = [0, 1, 0], axis = [0, 0, 1]}`.
**friction**, where the table says so: `friction = {kind = "coulomb", coefficient = 0.2, radius = 0.01, speed = 1e-3}` or
`friction = {kind = "viscous", coefficient = 3}`.
**reduce**, of a structure, by the method of Craig and Bampton: `reduce = {interface = ["n1.ux", "n1.uy"], modes = 4}`.

Where a kind lives in the plane and in space, its bodies decide; `dimension = 2` says it where they do not.

## Limits

Files have at most 16 MB and 2 000 000 values, values are nested at most 32 deep, files include each other at most 32 deep
and never themselves, a model has at most 1 000 000 parts. Files outside the model's folder are not read. Expressions
compute numbers and nothing else.

What C++ can say and a file cannot: bodies, joints and forces of one's own as functors. `write_model` refuses them by name.
)md";

void section(std::string& text, const char* title, const std::vector<files::Kind>& kinds) {
  text += fmt::format("\n## {}\n", title);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const files::Kind& k = kinds[i];
    if (i > 0 && kinds[i - 1].name == k.name) continue;
    text +=
        fmt::format("\n### {}\n{}.{}\n", k.name, k.meaning, k.equation.empty() ? "" : fmt::format(" `{}`", k.equation));
    std::vector<int> dimensions;
    const files::Kind* last = &k;
    for (const files::Kind& other : kinds)
      if (other.name == k.name) {
        last = &other;
        if (std::find(dimensions.begin(), dimensions.end(), other.dimension) == dimensions.end())
          dimensions.push_back(other.dimension);
      }
    std::string facts;
    const auto fact = [&](const std::string& f) { facts += (facts.empty() ? "" : "; ") + f; };
    if (!k.bodies.empty()) fact(fmt::format("bodies: {}", fmt::join(k.bodies, ", ")));
    if (dimensions.size() > 1) fact(fmt::format("dimensions: {}", fmt::join(dimensions, ", ")));
    if (k.friction) fact("friction");
    if (k.at_world == 1) fact("at_world: point");
    if (k.at_world == 2) fact("at_world: point, axis");
    if (!facts.empty()) text.insert(text.size() - 1, "  "), text += facts + "\n";  // on a line of its own
    if (k.fields.empty()) continue;
    text += "\n| field | takes | unit | range | default | |\n|---|---|---|---|---|---|\n";
    for (std::size_t f = 0; f < k.fields.size(); ++f) {
      const files::FieldInfo& x = k.fields[f];
      const std::string& other = last->fields[f].takes;
      std::string takes = x.takes == other ? x.takes : x.takes + " or " + other, meaning = x.meaning;
      constexpr std::string_view of_cpp = ", a template on the scalar";  // a formula always is
      if (meaning.ends_with(of_cpp)) meaning.resize(meaning.size() - of_cpp.size());
      for (std::string* s : {&takes, &meaning})
        for (std::size_t bar = s->find('|'); bar != std::string::npos; bar = s->find('|', bar + 2))
          s->replace(bar, 1, "\\|");
      text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", x.name, takes, x.unit, x.range, x.standard, meaning);
    }
  }
}

}  // namespace

int reference() {
  std::string text = introduction;
  text += fmt::format("Units are {}, their products and powers: `N s/m`, `kg m^2`.\nFunctions are {}; `pi` is known.\n",
                      fmt::join(files::unit_names(), ", "), fmt::join(files::function_names(), ", "));
  text += after_units;
  const files::Kinds& all = files::kinds();
  section(text, "Bodies", all.bodies);
  section(text, "Joints", all.joints);
  section(text, "Forces", all.forces);
  section(text, "Sensors", all.sensors);
  put(text);
  return healthy;
}

}  // namespace mortise::command
