// mortise view: the page of a run, or of the start alone.

#include <algorithm>
#include <map>
#include <tuple>

#include <mortise/files/mesh.h>

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
      out.rotation = s.rotation;
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
    case Shape::Kind::mesh:
      out.type = "mesh";
      out.size = s.scale;
      out.rotation = s.rotation;
      break;
  }
  return out;
}

// Meshes of the model's shapes, each read once, with fewer triangles where the page would become too large.
class Meshes {
 public:
  Meshes(const Model& model, const std::vector<std::string>& packages) {
    const std::string robot = model.files.empty() ? "" : model.files.front();
    for (const auto& [body, shapes] : model.shapes)
      for (const Shape& s : shapes)
        if (s.kind == Shape::Kind::mesh) read(s.file, robot, packages);
    thin();
    if (!missing_.empty())
      warn(
          "{} of meshes not found, such as '{}': bodies are drawn without; --package-path FOLDER tells where packages "
          "are\n",
          counted(std::ssize(missing_), "file"), missing_.front());
  }

  // A shape per colour.
  void add(std::vector<ViewShape>& to, const Shape& s) {
    const auto it = meshes_.find(s.file);
    if (it == meshes_.end()) return;
    const bool mirrored = s.scale.prod() < 0;
    for (std::size_t i = 0; i < it->second.parts.size(); ++i) {
      const files::Mesh::Part& part = it->second.parts[i];
      std::shared_ptr<const ViewMesh>& mesh = made_[{s.file, i, mirrored}];
      if (!mesh) {
        ViewMesh surface{part.points, part.triangles};
        if (mirrored)
          for (auto& t : surface.triangles) std::swap(t[1], t[2]);
        mesh = std::make_shared<const ViewMesh>(std::move(surface));
      }
      ViewShape shape = drawn(s);
      shape.mesh = mesh;
      if (shape.colour.empty() || it->second.parts.size() > 1) shape.colour = part.colour;
      if (shape.colour.empty()) shape.colour = s.colour;
      to.push_back(std::move(shape));
    }
  }

 private:
  void read(const std::string& file, const std::string& robot, const std::vector<std::string>& packages) {
    if (meshes_.count(file) > 0 || std::find(missing_.begin(), missing_.end(), file) != missing_.end()) return;
    const std::string path = files::mesh_file(file, robot, packages);
    if (path.empty()) {
      missing_.push_back(file);
      return;
    }
    try {
      meshes_.emplace(file, files::read_mesh(path));
    } catch (const Error& error) {
      warn("{}: this body is drawn without it\n", error.what());
      missing_.push_back(file);
    }
  }
  // Triangles are shared out so that large meshes lose the most.
  void thin() {
    constexpr std::size_t most = 350'000;  // about 12 bytes each in the page
    std::size_t all = 0;
    for (const auto& [file, mesh] : meshes_) all += mesh.triangles();
    if (all <= most) return;
    std::vector<std::size_t> sizes;
    for (const auto& [file, mesh] : meshes_) sizes.push_back(mesh.triangles());
    std::sort(sizes.begin(), sizes.end());
    std::size_t left = most, share = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      share = left / (sizes.size() - i);
      if (sizes[i] > share) break;
      left -= sizes[i];
    }
    std::size_t thinner = 0, now = 0;
    for (auto& [file, mesh] : meshes_) {
      if (mesh.triangles() > share) mesh = files::thinned(mesh, share), ++thinner;
      now += mesh.triangles();
    }
    warn("{} of {} of meshes drawn with fewer triangles, {} of {} in all, so that the page stays small\n", thinner,
         counted(std::ssize(meshes_), "file"), now, all);
  }

  std::map<std::string, files::Mesh> meshes_;  // by what the robot's file calls them
  std::vector<std::string> missing_;
  std::map<std::tuple<std::string, std::size_t, bool>, std::shared_ptr<const ViewMesh>> made_;
};

}  // namespace

int view(const ViewOptions& o) {
  Model model = read(o.source);
  std::vector<std::string> inputs = model.files;
  inputs.push_back(o.run);
  require_apart(inputs, {{"-o", o.out}}, o.force);
  model.complete = model.complete || o.complete;
  auto [system, s, implied, completed] = ready(model);
  mortise::ViewOptions options{.title = o.title, .plots = o.columns};
  Meshes meshes(model, o.source.packages);
  for (const auto& [body, shapes] : model.shapes) {
    std::vector<ViewShape> all;
    for (const Shape& shape : shapes)
      if (shape.kind == Shape::Kind::mesh)
        meshes.add(all, shape);
      else
        all.push_back(drawn(shape));
    if (!all.empty()) options.shapes[body] = std::move(all);
  }
  if (is_robot_file(o.source.model) && o.source.with.empty())
    for (JointMotion& m : joint_motions(o.source.model, robot_options(o.source, parameters(o.source.set))))
      options.sliders.push_back({std::move(m.joint), std::move(m.unit), m.start, std::move(m.positions),
                                 std::move(m.bodies), std::move(m.poses)});
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
