#pragma once
// The report: whether the motion is determined, and by name what is too little, too much or wrong.
//
//   check_rank(system, evaluation)     ranks at a state: what is free, redundant, conflicting
//   check_model(system, state)         also parts that give no numbers, the start, and whether its pose is singular
//   check_stages, check_poses          the same for subsystems (report_stages.h) and over many poses (report_poses.h)
//
// docs/DIAGNOSIS.md describes the verdicts, the text and the JSON.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/SparseCore>

#include <mortise/assembly/system.h>
#include <mortise/core/json.h>
#include <mortise/core/rank.h>

namespace mortise {

enum class Verdict {
  under_modelled,       // no mass moves and no constraint resists: nothing determines the acceleration
  over_constrained,     // rows say what others say too, and agree
  conflicting,          // rows that cannot hold together
  hidden_constraint,    // the model implies an equation that is not among its rows
  indeterminate,        // nothing in the model decides a coordinate
  contradictory,        // a force on something without mass that nothing holds
  implicit_multiplier,  // a massless coordinate acts as the multiplier of an equation of higher index
  inconsistent_start,   // the state does not meet the constraints
  turned,            // frames that a joint holds together are turned by more than a right angle: its rows hold nothing
  locked,            // nothing can move, though something should
  singular_pose,     // at this pose rows depend on each other that are independent near it
  flat_row,          // a row that touches no coordinate: constant, squared, or off where its gradient vanishes
  not_semidefinite,  // a mass matrix with negative kinetic energy
  not_symmetric,     // a mass matrix that is not symmetric
  not_finite,        // NaN or Inf out of a part, or a part that gives no numbers at all
  invalid            // a part of a model file that cannot be what is written there
};
std::string_view name_of(Verdict verdict);  // "under-modelled"

// One fact in one form, for programs: every verdict of a report is one of these.
struct Finding {
  Verdict verdict;
  bool refused;                    // solve() throws for it; else the motion is determined all the same
  std::vector<std::string> names;  // of coordinates, rows or parts; the most telling first
  double number = 0;               // what it is judged by
  std::string sentence;
  std::vector<std::string> remedies;
};

// A direction in which no mass moves and no constraint resists: its acceleration is not determined.
struct FreeDirection {
  struct Part {
    std::string coordinate;
    double share;                   // in [0, 1], scaled; the largest of each body first, then the others
    double mass;                    // M_ii
    std::vector<std::string> rows;  // rows that touch the coordinate
  };
  std::vector<Part> parts;
  std::vector<std::string> motions;  // "rod turns about the point (0, 0)"
  std::vector<std::string> remedies;
  double force = 0;      // N'(Q + C), which nothing can balance; of one body that turns or moves its torque or force
  std::string unit;      // ... "N m" or "N", "" where it is neither
  bool balanced = true;  // ... and it is zero, so motions exist
  Eigen::SparseVector<double> direction;
};

// A row that the others of its set already imply.
struct RedundantRow {
  std::string row, removes;
  std::vector<std::string> set;  // all rows of the set, this one included
  double gap = 0;                // |y'b|: by how much they disagree; of positions or velocities if `level` says so
  bool consistent = true;
  enum class Level { positions, velocities, accelerations };
  Level level = Level::accelerations;        // where they disagree
  std::vector<std::string> joints;           // of the set
  std::vector<std::string> loop;             // joint, body, joint, body, ... as they follow each other; or empty
  std::vector<std::string> reactions;        // not unique: hinge_A.fy, hinge_B.fy
  std::pair<std::string, std::string> pair;  // the two rows of the largest weights
  // It depends on no other row, but its gradient is zero: here only; everywhere; or wherever it is met, as that of a
  // square.
  enum class Flat { no, here, everywhere, squared };
  Flat flat = Flat::no;
};

std::string_view name_of(RedundantRow::Level level);  // "positions"

// A change of the model that was tried on its rows: it leaves `redundant` rows too many, and the mobility as it was.
struct Mend {
  struct Step {
    std::string joint, from, to;     // to == "": without the joint
    std::vector<std::string> frees;  // what it holds no more
    std::string words() const;       // "hinge_B: revolute -> cylindrical", "remove hinge_B"
  };
  std::vector<Step> steps;
  Index redundant = 0;
  Index dof = 0;
  std::string words() const;
};

enum class HiddenKind { velocity_level, position_level, indeterminate, contradictory, implicit_multiplier, refused };
std::string in_words(HiddenKind kind);  // "velocity-level"

// What the model itself says about its free directions: N'(Q + C) = 0 must hold (a hidden constraint), or cannot.
struct Implied {
  HiddenKind kind;
  std::string equation;  // "spring_1.force = spring_2.force along x"; "" where there is none
  std::string sentence;  // in plain words, with its remedy
  std::vector<std::string> coordinates;
  bool completable = false;  // complete() adds it
  bool concerns(const FreeDirection& f) const;
};

// A part that is no model at this state, or in its file.
struct BrokenPart {
  Verdict verdict;
  std::string kind, name, fact, remedy;  // as in the error it would throw
  std::string place = "";                // in its file: "arm.toml:12:1"
  std::string text() const { return fmt::format("{} '{}': {}; {}", kind, name, fact, remedy); }
};

// A state that does not meet the constraints.
struct Start {
  struct Gap {
    std::string row;
    double value;
    bool velocity = false;  // of the rate of the row
    bool still = false;     // the row touches no coordinate here: no small motion brings it nearer
    double apart = 0;       // [degrees] the axes or frames that its joint holds together, 0 where it holds none
  };
  std::vector<Gap> gaps;  // the largest first
  bool reachable = true;  // there is a state near that meets them
  std::string farthest;   // the coordinate that the projection moves most
  double moved = 0;       // ... and by how much
  bool far = false;       // ... which is many lengths of the model, or more than half a turn: no start that was meant
  std::vector<Gap> left;  // not reachable: what is left of the rows at the best compromise
};

// Rows that depend on each other at this pose only.
struct SingularPose {
  Index gained = 0;  // degrees of freedom more than near it
  std::vector<std::string> coordinates, motions;
};

// Frames that a joint holds together (Weld, Prismatic) are turned by more than a right angle.
struct TurnedJoint {
  std::string joint, body;  // the last of its bodies that can move
  double angle;             // [degrees]
};
std::vector<TurnedJoint> turned_joints(const System& system, const State& s);

// Connected bodies that cannot move.
struct Locked {
  std::vector<std::string> bodies, joints;  // joints that close loops, where there are any
  std::vector<std::string> loop;            // joint, body, joint, body, ... as they follow each other; or empty
  // What should move: drives, motors, given speeds, or joints that slide or roll in a loop; "" for a plain structure.
  std::string why;
  struct Skew {
    std::string joint, other;
    double angle;  // [degrees] between their axes, which are nearly parallel
  };
  std::vector<Skew> skew;
  std::vector<std::string> remedies;  // each tried on the rows
};

struct TextOptions {
  bool colour = false;   // for terminals
  bool details = false;  // also the numbers that findings are judged by: singular values, shares, residuals
};

struct RankReport {
  RankReport();
  RankReport(const RankReport&);  // these are compiled once, in the library
  RankReport(RankReport&&) noexcept;
  RankReport& operator=(const RankReport&);
  RankReport& operator=(RankReport&&) noexcept;
  ~RankReport();

  std::string system;
  std::string scope;  // "" or the part of the system that was looked at
  double t = 0;
  Rank rank;           // of large systems the counts and values only: no N, no shares, no sets
  Index dof = 0;       // n - rank A
  Index gruebler = 0;  // n - m, what counting rows gives
  std::vector<BrokenPart> broken;
  std::string judged;  // how the others were judged where parts are broken; "" there: nothing else is known
  std::vector<FreeDirection> free;
  std::vector<RedundantRow> redundant;
  std::vector<Mend> mends;
  std::vector<Implied> implied;  // empty where nobody looked for it
  std::optional<Start> start;
  std::vector<TurnedJoint> turned;
  std::vector<Locked> locked;
  std::optional<SingularPose> singular;
  std::optional<Index> free_near;  // free directions at poses near this one, where that was tried
  std::vector<std::string> reactions_not_unique;
  std::vector<std::string> warnings;
  std::vector<std::string> padded;  // bodies whose mass changes nothing (padding.h); a remark, no fault

  bool only_here() const { return free_near && *free_near < static_cast<Index>(free.size()); }
  bool determined() const { return free.empty() && broken.empty(); }
  bool consistent() const;
  bool ok() const { return determined() && consistent(); }  // redundant rows that agree are no fault
  bool well() const;                                        // ... and there is nothing else to tell
  bool has(Verdict verdict) const;
  std::vector<Finding> findings() const;
  std::string verdict() const;                           // "OK", "UNDER-MODELLED: 1 free direction", ...
  std::string text(const TextOptions& form = {}) const;  // one line when all is well
  Json json() const;
};

// Never throws for a model: what is none at this state is in `broken`.
RankReport check_rank(const System& system, const Evaluation& e, const RankOptions& options = {});
// The same for some parts only, as if there were no others.
RankReport check_rank(const System& system, const Evaluation& e, const System::Selection& parts,
                      const RankOptions& options = {});
RankReport check_model(const System& system, const State& s, const RankOptions& options = {});
RankReport check_model(const System& system, const RankOptions& options = {});  // at system.state()

// Errors that carry the report they were thrown for.
class ReportedError : public Error {
 public:
  explicit ReportedError(RankReport r);
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

// Turns a bad verdict into UnderModelled or ConflictingRows, or into the error of a broken part (InvalidMass,
// NonFinite): require(check_rank(system, e));
void require(const RankReport& report);

}  // namespace mortise
