#pragma once
// A model from a text file: the assembly, where it starts, how it is run and how its bodies are drawn.
//
//   const Model model = read_model("crane.toml", {{"length", 2.5}});
//   const System system(model.assembly);
//   const Trajectory run = simulate(system, model.start(system), model.run);
//
// What a file may hold is told in docs/MODEL_FILES.md.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mortise/assembly/system.h>
#include <mortise/integrators/simulate.h>

namespace mortise {

// How a body is drawn, in its own frame.  Without one, a picture is made from its inertia.
struct Shape {
  enum class Kind { box, cylinder, sphere, line, mesh };
  Kind kind = Kind::box;
  Vec3<double> size{0, 0, 0};        // [m] of a box: its edges along x, y, z
  double radius = 0, length = 0;     // [m] of a cylinder or sphere
  Vec3<double> axis{0, 0, 1};        // of a cylinder, unit length
  Vec3<double> at{0, 0, 0};          // [m] its centre, or the origin of a mesh, in the frame of the body
  Vec3<double> rotation{0, 0, 0};    // [rad] by which a box or mesh is turned, about this vector
  std::string file;                  // of a mesh: STL, OBJ or DAE; relative to the model's file
  Vec3<double> scale{1, 1, 1};       // of a mesh
  std::vector<Vec3<double>> points;  // [m] of a line, from point to point
  std::string colour;                // "#rrggbb", or empty
};

struct Model {
  explicit Model(const std::string& name) : assembly(name) {}

  Assembly assembly;  // bodies are placed
  // What is set on the way from System::state() to the start, in this order: "arm/rod.theta'" -> 1.5
  std::vector<std::pair<std::string, double>> settings;
  double time = 0;  // [s] at the start
  SimulationOptions run{.duration = 10};
  bool complete = false;                     // hidden constraints are added
  bool unpad = false;                        // padded bodies are massless (diagnosis/padding.h)
  std::map<std::string, std::vector<Shape>> shapes;         // by path of the body
  std::map<std::string, std::pair<double, double>> limits;  // of the angle or displacement of joints, by path
  std::map<std::string, double> parameters;                 // of the outermost file, as they were used
  std::vector<std::string> files;            // all that it was read from
  std::vector<std::string> remarks;          // what was not understood of a robot's file, or understood otherwise

  State start(const System& system) const;  // of this assembly
};

// One thing that is wrong in a file.
struct ModelFault {
  std::string place;         // "arm.toml:12:7"
  std::string fact, remedy;  // the remedy may be ""
  std::string kind, name;    // of the part that it concerns: "body", "arm/rod"; "" where it concerns none
  std::string text() const { return fmt::format("{}: {}{}{}", place, fact, remedy.empty() ? "" : "; ", remedy); }
};

// A file that cannot be read or is no model.  what() has one line per fault, each beginning with file:line:column.
struct ModelError : Error {
  explicit ModelError(ModelFault fault);
  // `rest`: the model with something sensible in place of these parts, or without them.
  ModelError(std::vector<ModelFault> faults, std::shared_ptr<const Model> rest, std::string judged);

  const std::vector<ModelFault>& faults() const { return *faults_; }  // at least one
  const std::shared_ptr<const Model>& rest() const { return rest_; }  // null where there is none
  const std::string& judged() const { return judged_; }               // what stands in it, "without joint 'hinge'"

 private:
  std::shared_ptr<const std::vector<ModelFault>> faults_;
  std::shared_ptr<const Model> rest_;
  std::string judged_;
};

// Throws ModelError.  The parameters replace those of the file, and must be there.
Model read_model(const std::string& path, const std::map<std::string, double>& parameters = {});
// The same from text.  `name` stands for the file in messages; files it includes are looked for in `folder`.
Model parse_model(const std::string& text, const std::string& name = "model.toml", const std::string& folder = ".",
                  const std::map<std::string, double>& parameters = {});

// A file from which the same model is read, to the last bit; of the run, what a file may say.  Throws InvalidModel,
// naming the part, for functors of C++, which have no text.
std::string write_model(const Model& model);
std::string write_model(const Assembly& assembly);

}  // namespace mortise
