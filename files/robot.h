#pragma once
// Robots from the files of other programs, as models: every subcommand and read_model() take them by their endings.
//
//   const Model model = read_urdf("robot.urdf", {.free_base = true, .joints = {{"knee", 0.4}}});
//
// Links become rigid bodies, joints joints of the same names; what was not understood is listed in model.remarks.
// What is read and how is told in docs/ROBOT_FILES.md.

#include <map>
#include <string>

#include <mortise/files/model.h>

namespace mortise {

struct RobotOptions {
  bool free_base = false;                     // the base moves freely, also where the file has it stand still
  std::map<std::string, double> joints = {};  // [rad] or [m] where joints stand at the start, by name
};

// Throw ModelError, with all faults of the file and the rest of the model.
Model read_urdf(const std::string& path, const RobotOptions& options = {});
Model parse_urdf(const std::string& text, const std::string& name = "robot.urdf", const RobotOptions& options = {});

Model read_mjcf(const std::string& path, const RobotOptions& options = {});
Model parse_mjcf(const std::string& text, const std::string& name = "robot.xml", const RobotOptions& options = {});

// Whether read_model() takes a file of this name for a robot's.
bool is_robot_file(const std::string& path);
// By its ending, and what its first element is.
Model read_robot(const std::string& path, const RobotOptions& options = {});

}  // namespace mortise
