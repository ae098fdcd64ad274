#pragma once
// Rigid groups: bodies that are welded together, taken as one.
//
// Each body of a group is exchanged for a model with its own coordinates and points, and the mass and the unknowns of
// the whole (BodyModel::part_of).  The welds of the group need no rows then, and one body stands for all in the
// equations. A group that is welded to the ground has no unknowns at all.
//
// Bodies are grouped where their welds form a tree, are ideal, and no other joint connects two bodies of the group. All
// else stays as it is: rows within a group are redundant, or contradict each other, and it is for the rank check to
// say.

#include <memory>
#include <vector>

#include <mortise/assembly/system.h>

namespace mortise {

class [[gnu::visibility("hidden")]] RigidGroups {
 public:
  // Without these welds, by their indices in constraints(), ascending.
  RigidGroups(const System& system, const std::vector<std::size_t>& without);
  ~RigidGroups();

  bool empty() const { return groups_.empty(); }
  const System& original() const { return original_; }
  const System& system() const { return *system_; }  // with the bodies exchanged

  struct Member {
    std::size_t body;
    int parent;        // in the group; -1: none, it is the root, or what the weld leads to does not move
    std::size_t weld;  // to it, in constraints(); of a root: none
    bool first;        // the first of the weld's bodies
  };
  struct Group {
    bool held;                                 // by the ground
    std::vector<Member> members;               // the root first, which is the heaviest, each after its parent
    std::shared_ptr<const BodyModel> at_rest;  // of one that is held: the whole, in the frame of the world
  };
  const std::vector<Group>& groups() const { return groups_; }
  static constexpr int none = -1;
  int group_of(std::size_t body) const { return group_of_[body]; }  // none: it is in no group
  bool merges(std::size_t constraint) const { return merged_[constraint]; }

  // How far the bodies of a group are apart from the place that its root gives them; `motion` by bodies.
  MotionsApart apart(const Group& g, const std::vector<void*>& motion) const;
  // Puts the bodies of all groups where the roots take them; what is off by round-off alone stays as it is.
  void follow(State & s) const;

 private:
  class Motion;
  const Motion& reference(const Group& g) const { return *references_[static_cast<std::size_t>(&g - groups_.data())]; }

  const System& original_;
  std::unique_ptr<System> system_;
  std::vector<Group> groups_;
  std::vector<int> group_of_;
  std::vector<bool> merged_;
  std::vector<std::unique_ptr<Motion>>
      references_;  // by groups: the motion that the root sees, or that of the whole at rest
};

}  // namespace mortise
