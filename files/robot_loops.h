#pragma once
// Closes the loops of a robot: joints are moved from where they are told to start until all loops are met.

#include <optional>
#include <string>
#include <vector>

#include <mortise/files/robot_description.h>

namespace mortise::files {

// The links along the joints that place them.
struct RobotTree {
  static constexpr std::size_t world = static_cast<std::size_t>(-1);

  std::vector<std::size_t> order;                 // joints, parents first
  std::vector<std::optional<std::size_t>> above;  // of every link: the joint that places it
  std::vector<std::size_t> parent, child;         // of every joint: links, or the world
  std::vector<Frame> motion;                      // of every joint: its child's frame seen from its parent's
  std::vector<Frame> root;                        // of every link that no joint places
};

std::vector<Frame> places(const Robot& robot, const RobotTree& tree);  // of all links, in the world

struct ClosedLoops {
  double moved = 0;               // the most that a joint was moved, [rad] or [m]
  std::size_t joint = 0;          // that joint
  std::vector<std::size_t> open;  // loops that cannot be closed; the joints stand where they are nearest to it
  double gap = 0;                 // [m] the largest that is left in these
  std::size_t widest = 0;         // in this one
};
// Moves the joints that are not held, motions and starts, by a damped Gauss-Newton method on the gaps of the loops
// (positions, and the rotation vectors of welds), from where they stand and from some places near.
ClosedLoops close_loops(Robot& robot, RobotTree& tree, const std::vector<std::size_t>& loops,
                        const std::vector<bool>& held);

}  // namespace mortise::files
