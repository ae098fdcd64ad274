#pragma once
// Ranks over many poses: along a motion, or while a coordinate is swept from one value to another.
//
//   check_sweep(system, state, "crank.theta", 0, 6.28, 100).text()
//   check_poses(system, states)                                          any states, such as those of a trajectory
//
// Where rows become dependent that are independent elsewhere, the pose is singular: the mechanism gains a freedom
// there.

#include <mortise/diagnosis/rank_report.h>

namespace mortise {

struct Pose {
  double at = 0;  // value of the swept coordinate, or time
  Index dof = 0, free = 0;
  double independence = 1;  // smallest scaled singular value of the rows that is not 0
};

struct PoseReport {
  std::string system, coordinate;  // "t" for time, "" for states as given
  std::vector<Pose> poses;
  Index dof = 0;  // where it is least
  struct Singular {
    double at;
    State state;
    RankReport report;  // with report.singular
  };
  std::vector<Singular> singular;
  std::optional<double> stopped;  // no pose was found beyond this value

  bool ok() const { return singular.empty() && !stopped; }
  std::string text() const;
  Json json() const;
};

// The states meet the constraints; neighbours need not be near each other.
PoseReport check_poses(const System& system, const std::vector<State>& states, const RankOptions& options = {});

// `count` >= 2 poses while a coordinate, or "t" where a driver depends on time, goes from one value to another; the
// other coordinates follow the constraints from `start` on.  Singular poses between them are sought.  Throws
// InvalidModel for systems of more than 200 coordinates.
PoseReport check_sweep(const System& system, const State& start, const std::string& coordinate, double from, double to,
                       int count, const RankOptions& options = {});

}  // namespace mortise
