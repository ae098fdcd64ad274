#pragma once
// The same check at successive stages: each subsystem alone, then what it is built into, at last the whole.
//
//   check_stages(robot).text()
//
// A subsystem may well be under-modelled by itself and held once it is connected: only the last stage is the verdict.

#include <mortise/diagnosis/rank_report.h>

namespace mortise {

class Assembly;

struct Stage {
  std::string path;  // of the nested assembly, "" for the whole
  int depth = 0;     // how deep it is nested
  RankReport report;
};

struct StageReport {
  std::vector<Stage> stages;  // the innermost first, the whole last

  const RankReport& whole() const { return stages.back().report; }
  bool ok() const { return whole().ok(); }
  std::string text(const TextOptions& form = {}) const;
  Json json() const;
};

// At the places of the bodies, or at a state of the whole.  Each part is checked by check_model().
StageReport check_stages(const Assembly& assembly, const RankOptions& options = {});
StageReport check_stages(const Assembly& assembly, const State& s, const RankOptions& options = {});

}  // namespace mortise
