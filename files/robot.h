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
  // [rad] or [m] where joints stand at the start, by name; "elbow'" is the speed of joint elbow.
  std::map<std::string, double> joints = {};
  // Of actuators, by name; of a joint, the effort [N m] or [N] that acts on it.
  std::map<std::string, double> controls = {};
  std::string control_table = {};      // CSV file: a column t, and one per actuator or joint; straight lines between
  bool mend = false;                   // links with moments of no body get the nearest of one, which is remarked
  std::string keyframe = {};           // of MJCF, by name or number from 0: joints, speeds and controls of it
  std::vector<std::string> with = {};  // model files whose parts are added, such as springs and drives
  std::vector<std::string> packages = {};  // folders that package:// and model:// are looked for in
};

// Throw ModelError, with all faults of the file and the rest of the model.
Model read_urdf(const std::string& path, const RobotOptions& options = {});
Model parse_urdf(const std::string& text, const std::string& name = "robot.urdf", const RobotOptions& options = {});

Model read_mjcf(const std::string& path, const RobotOptions& options = {});
Model parse_mjcf(const std::string& text, const std::string& name = "robot.xml", const RobotOptions& options = {});

Model read_sdf(const std::string& path, const RobotOptions& options = {});
Model parse_sdf(const std::string& text, const std::string& name = "robot.sdf", const RobotOptions& options = {});

// How a robot stands while one joint goes along its range, its limits or half a turn to either side: the others stay,
// but for those that loops and mimics move.
struct JointMotion {
  std::string joint, unit;                // [rad] or [m]
  double start = 0;                       // where it stands at the start
  std::vector<double> positions;          // ascending, as far as loops let it go
  std::vector<std::string> bodies;        // that move, by name
  std::vector<std::vector<float>> poses;  // at each position: x, y, z and the quaternion w, x, y, z of every body
};
// Of the joints that lead, as long as that takes less than about `seconds`.  Throws ModelError.
std::vector<JointMotion> joint_motions(const std::string& path, const RobotOptions& options = {}, double seconds = 5);

// Whether read_model() takes a file of this name for a robot's.
bool is_robot_file(const std::string& path);
// By its ending, and what its first element is.
Model read_robot(const std::string& path, const RobotOptions& options = {});

}  // namespace mortise
