#pragma once
// The loops of a parallel robot, from the file robot.yaml beside robot.urdf, as public collections of such robots have
// it:
//
//   closed_loop: [[frame_1, frame_2], ...]      links, or joints, which stand for their children
//   type: [6d, ...]                             6d: the two frames coincide, 3d: their origins

#include <string>
#include <vector>

#include <mortise/files/robot_description.h>

namespace mortise::files {

// Adds the joints that close the loops.  What else the file holds is a remark; faults are the robot's.
void add_loops(Robot& robot, const std::string& text, const std::string& name);

}  // namespace mortise::files
