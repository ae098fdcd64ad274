// write_model: from a Model or an Assembly to a file.

#include <mortise/files/edit.h>
#include <mortise/files/field_values.h>
#include <mortise/files/kinds.h>
#include <mortise/files/record.h>

namespace mortise {
namespace files {
namespace {

class Writer {
 public:
  std::string text;

  void assembly(const Assembly& a, const std::string& section, const std::string& prefix) {
    if (a.gravity()) text += fmt::format("gravity = {}\n", numbers_text(a.gravity()->data(), 3));
    for (const auto& b : a.bodies()) {
      const Label label{"body", prefix + b.name};
      text += heading(section, "bodies", b.name) + body(label, *b.model);
      if (const auto it = a.places().find(b.name); it != a.places().end())
        text += fmt::format("place = {}\n", numbers_text(it->second.data(), it->second.size()));
      if (const auto it = shapes.find(label.name); it != shapes.end())
        text += fmt::format("shape = {}\n",
                            it->second.size() == 1 ? shape(it->second.front()) : list_text(it->second, shape));
    }
    for (const auto& n : a.nested()) {
      const std::string inner = fmt::format("{}subsystems.{}.", section, key_text(n.name));
      text += fmt::format("\n[{}]\n", inner.substr(0, inner.size() - 1));
      assembly(n.part, inner, prefix + n.name + "/");
    }
    if (!a.ports().empty()) {
      text += fmt::format("\n[{}ports]\n", section);
      for (const auto& p : a.ports()) text += fmt::format("{} = {}\n", key_text(p.name), quoted(p.body.path));
    }
    parts(a.constraints(), "joint", section, "joints", prefix, kinds().joints);
    parts(a.forces(), "force", section, "forces", prefix, kinds().forces);
    parts(a.sensors(), "sensor", section, "sensors", prefix, kinds().sensors);
  }

  std::map<std::string, std::vector<Shape>> shapes;
  std::map<std::string, std::pair<double, double>> limits;

 private:
  static std::string heading(const std::string& section, const char* list, const std::string& name) {
    return fmt::format("\n[{}{}.{}]\n", section, list, key_text(name));
  }
  static std::string body(const Label& label, const BodyModel& model) {
    for (const Kind& k : kinds().bodies)
      if (const auto lines = k.write_body(label, model)) return *lines;
    label.fail<InvalidModel>("it is a type of C++ that model files do not know",
                             "take a body of the catalogue, or formulas");
  }
  template <class Entries>
  void parts(const Entries& entries, const char* kind, const std::string& section, const char* list,
             const std::string& prefix, const std::vector<Kind>& known) {
    for (const auto& e : entries) {
      const Label label{kind, prefix + e.name};
      std::vector<std::string> bodies;
      for (const auto& b : e.bodies) bodies.push_back(b.path);
      std::optional<std::string> lines;
      for (const Kind& k : known) {
        if (!(lines = k.write_part(label, *e.model))) continue;
        for (std::size_t i = 0; i < bodies.size() && !k.formula.empty(); ++i)
          label.require(bodies[i].size() != 1 || bodies[i][0] < 'a' ||
                            bodies[i][0] >= static_cast<char>('a' + bodies.size()) ||
                            bodies[i][0] == static_cast<char>('a' + i),
                        fmt::format("in formulas the name of its body '{}' stands for another one", bodies[i]),
                        "give the body a longer name");
        if (k.dimension != 0) *lines += fmt::format("dimension = {}\n", k.dimension);
        break;
      }
      if (!lines)
        label.fail<InvalidModel>("it is a functor or a type of C++ that model files do not know",
                                 "take a part of the catalogue, or a formula");
      text += heading(section, list, e.name) + fmt::format("bodies = {}\n", list_text(bodies, quoted)) + *lines;
      if (const auto it = limits.find(label.name); it != limits.end() && label.kind == "joint")
        text += fmt::format("limits = [{}, {}]\n", number_text(it->second.first), number_text(it->second.second));
    }
  }
  static std::string shape(const Shape& s) {
    std::string form;
    const std::string rotation = s.rotation.norm() == 0 ? "" : ", rotation = " + numbers_text(s.rotation.data(), 3);
    switch (s.kind) {
      case Shape::Kind::box:
        form = "box = " + numbers_text(s.size.data(), 3) + rotation;
        break;
      case Shape::Kind::cylinder:
        form = fmt::format("cylinder = [{}, {}], axis = {}", number_text(s.radius), number_text(s.length),
                           numbers_text(s.axis.data(), 3));
        break;
      case Shape::Kind::sphere:
        form = "sphere = " + number_text(s.radius);
        break;
      case Shape::Kind::line:
        form = "line = " + list_text(s.points, [](const Vec3<double>& p) { return numbers_text(p.data(), 3); });
        break;
      case Shape::Kind::mesh:
        form = fmt::format("mesh = {}, scale = {}{}", quoted(s.file), numbers_text(s.scale.data(), 3), rotation);
        break;
    }
    return fmt::format("{{{}, at = {}{}}}", form, numbers_text(s.at.data(), 3),
                       s.colour.empty() ? "" : ", colour = " + quoted(s.colour));
  }
};

// The lines of [run]: what differs from a model that says nothing of it.
std::string run(const Model& model) {
  const SimulationOptions usual = Model("usual").run;
  const SimulationOptions& x = model.run;
  std::string lines;
  const auto number = [&](const char* name, double value, double otherwise) {
    if (value != otherwise) lines += fmt::format("{} = {}\n", name, number_text(value));
  };
  number("until", model.time + x.duration, model.time + usual.duration);
  if (x.integrator != usual.integrator) lines += fmt::format("integrator = {}\n", quoted(x.integrator));
  number("tolerance", x.steps.tolerance, usual.steps.tolerance);
  number("step", x.steps.step, usual.steps.step);
  number("largest_step", x.steps.largest, usual.steps.largest);
  number("sample", x.sample, usual.sample);
  std::vector<std::string> chosen;
  bool as_usual = true;
  for (const auto& [name, option] : recordable) {
    if (x.record.*option) chosen.emplace_back(name);
    as_usual = as_usual && x.record.*option == usual.record.*option;
  }
  if (!as_usual) lines += fmt::format("record = {}\n", list_text(chosen, quoted));
  if (model.complete) lines += "complete = true\n";
  if (model.unpad) lines += "unpad = true\n";
  if (!x.held.empty()) lines += fmt::format("held = {}\n", list_text(x.held, quoted));
  if (x.as_given) lines += "as_given = true\n";
  return lines;
}

}  // namespace
}  // namespace files

std::string write_model(const Model& model) {
  using namespace files;
  Writer w;
  w.shapes = model.shapes;
  w.limits = model.limits;
  w.text = fmt::format("name = {}\n", quoted(model.assembly.name()));
  w.assembly(model.assembly, "", "");
  if (!model.settings.empty() || model.time != 0) {
    w.text += "\n[start]\n";
    if (model.time != 0) w.text += fmt::format("t = {}\n", number_text(model.time));
    std::map<std::string, double> last;  // of one name set twice, the last one counts
    for (const auto& [name, x] : model.settings) last[name] = x;
    for (const auto& [name, x] : last) w.text += fmt::format("{} = {}\n", quoted(name), number_text(x));
  }
  if (const std::string lines = run(model); !lines.empty()) w.text += "\n[run]\n" + lines;
  return w.text;
}
std::string write_model(const Assembly& assembly) {
  Model model(assembly.name());
  model.assembly = assembly;
  return write_model(model);
}

}  // namespace mortise
