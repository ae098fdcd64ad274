// mortise view: the page of a run, or of the start alone.

#include "commands.h"
#include "view.h"

namespace mortise::command {
namespace {

ViewShape drawn(const Shape& s) {
  ViewShape out{.at = s.at, .axis = s.axis, .points = s.points, .colour = s.colour};
  switch (s.kind) {
    case Shape::Kind::box:
      out.type = "box";
      out.size = s.size;
      break;
    case Shape::Kind::cylinder:
      out.type = "cylinder";
      out.size = {2 * s.radius, s.length, 0};
      break;
    case Shape::Kind::sphere:
      out.type = "sphere";
      out.size = Vec3<double>::Constant(2 * s.radius);
      break;
    case Shape::Kind::line:
      out.type = "line";
      break;
  }
  return out;
}

}  // namespace

int view(const ViewOptions& o) {
  Model model = read(o.source);
  std::vector<std::string> inputs = model.files;
  inputs.push_back(o.run);
  require_apart(inputs, {{"-o", o.out}}, o.force);
  model.complete = model.complete || o.complete;
  auto [system, s, implied, completed] = ready(model);
  mortise::ViewOptions options{.title = o.title, .plots = o.columns};
  for (const auto& [body, shape] : model.shapes) options.shapes[body] = drawn(shape);
  show_report(options, system, diagnose(system, s));
  const RunTable run = o.run.empty() ? table_of(system, s) : read_csv(o.run);
  if (!o.run.empty() && !o.force) {
    require_identity(o.run, model);
    require_run_of(system, run);
  }
  options.identity = identity(model);
  write_view(system, run, o.out, options);
  say("{}\n", o.out);
  return healthy;
}

}  // namespace mortise::command
