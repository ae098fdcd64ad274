#pragma once
// The rank report: whether the motion is determined, and by name what is too little or too much.

#include <string>
#include <vector>

#include <mortise/assembly/system.h>
#include <mortise/core/rank.h>

namespace mortise {

// A direction in which no mass moves and no constraint resists: its acceleration is not determined.
struct FreeDirection {
  struct Part {
    std::string coordinate;
    double share;                   // in [0, 1], scaled; the largest first
    double mass;                    // M_ii
    std::vector<std::string> rows;  // rows that touch the coordinate
  };
  std::vector<Part> parts;
  std::vector<std::string> motions;  // "rod turns about the point (0, 0)"
  std::vector<std::string> remedies;
  double force = 0;      // N'(Q + C): nothing can balance it
  bool balanced = true;  // ... and it is zero, so motions exist
  VectorXd direction;
};

// A row that the others of its set already imply.
struct RedundantRow {
  std::string row, removes;
  std::vector<std::string> set;  // all rows of the set, this one included
  double gap = 0;                // |y'b|: by how much they disagree
  bool consistent = true;
};

// What the model itself says about its free directions: N'(Q + C) = 0 must hold (a hidden constraint), or cannot.
struct Implied {
  std::string kind;      // velocity-level, position-level, indeterminate, contradictory, implicit multiplier
  std::string equation;  // "spring_1.force = spring_2.force along x"; "" where there is none
  std::string sentence;  // in plain words, with its remedy
  std::vector<std::string> coordinates;
};

struct RankReport {
  std::string system;
  std::string scope;  // "" or the part of the system that was looked at
  double t = 0;
  Rank rank;
  Index dof = 0;       // n - rank A
  Index gruebler = 0;  // n - m, what counting rows gives
  std::vector<FreeDirection> free;
  std::vector<RedundantRow> redundant;
  std::vector<Implied> implied;  // empty where nobody looked for it
  std::vector<std::string> reactions_not_unique;
  std::vector<std::string> warnings;

  bool determined() const { return free.empty(); }
  bool consistent() const;
  bool ok() const { return determined() && consistent(); }  // redundant rows that agree are no fault
  std::string verdict() const;                              // "OK", "UNDER-MODELLED: 1 free direction", ...
  std::string text() const;                                 // one line when all is well
};

// Throws only for what is no model at this state: InvalidMass where M(q, t) is not positive semi-definite.
RankReport check_rank(const System& system, const Evaluation& e, const RankOptions& options = {});
// The same for some parts only, as if there were no others.
RankReport check_rank(const System& system, const Evaluation& e, const System::Selection& parts,
                      const RankOptions& options = {});

// Errors that carry the report they were thrown for.
class ReportedError : public Error {
 public:
  explicit ReportedError(RankReport r) : Error(r.text()), report_(std::make_shared<RankReport>(std::move(r))) {}
  const RankReport& report() const { return *report_; }

 private:
  std::shared_ptr<const RankReport> report_;
};
struct UnderModelled : ReportedError {
  using ReportedError::ReportedError;
};
struct ConflictingRows : ReportedError {
  using ReportedError::ReportedError;
};

// Turns a bad verdict into UnderModelled or ConflictingRows:  require(check_rank(system, e));
void require(const RankReport& report);

}  // namespace mortise
