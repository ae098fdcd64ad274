#pragma once
// Hidden constraints: what the model itself implies about the directions in which no mass moves and no joint resists.
//
//   N = null [M; A]:   h(q, v, t) = N'(Q + C) = 0,   because N'M = 0 and N'A' = 0
//
//   const HiddenReport found = find_hidden(system, state);      "spring_1.force = spring_2.force along node.x"
//   const Completed model = complete(system, state);            the same system with these rows
//   simulate(model.system, model.state, {.duration = 1});
//
// With D = dh/dv N and K = dh/dq N, judged for all free directions that forces couple at once:
//   velocity-level        the range of D: h = 0 gives the velocity, so its first derivative is added
//   position-level        L'h with L'D = 0 and L'K of full row rank: its second derivative is added
//   indeterminate         L'h and all its slopes are 0 here and at other states: nothing decides this direction
//   contradictory         L'h is not 0, and nothing that is free can make it 0
//   implicit multiplier   L'h does not depend on the free directions but they act on others: a constraint of higher
//   index
// The added rows carry no reaction.  One pass finds all there is: a second one could only see combinations of the same
// h.  Where nothing can decide some directions, the others are judged with these held, and told and added all the same.

#include <memory>
#include <string>
#include <vector>

#include <Eigen/SparseCore>

#include <mortise/assembly/system.h>
#include <mortise/diagnosis/rank_report.h>  // HiddenKind

namespace mortise {

struct HiddenRow {
  HiddenKind kind = HiddenKind::refused;
  bool completable = false;              // complete() adds it
  std::string equation;                  // "spring_1.force = spring_2.force along node.x"; "" where there is none
  std::string formula;                   // "200 one.x1 = 300 two.q2" where h is linear with few terms, else ""
  std::string sentence;                  // what follows, in plain words, with a remedy where it is a fault
  std::vector<std::string> coordinates;  // that move in the direction, the one h belongs to first
  std::vector<std::string> forces;       // what enters h: forces, laws of joints, own forces of bodies, gravity
  double value = 0;                      // h, here
  // Over all coordinates of the system: the direction, and the slopes of h.
  Eigen::SparseVector<double> direction, dq, dv;
};

struct HiddenReport {
  std::string system;
  double t = 0;
  std::vector<HiddenRow> rows;  // one per free direction; none: the motion is determined

  bool determined() const { return rows.empty(); }
  Index completable() const;  // how many of the rows are
  std::string verdict() const;
  std::string text() const;
};

struct HiddenOptions {
  RankOptions rank = {};
  double zero = 1e-9;  // balanced singular values and shares of the terms of a sum below this are 0
  int states = 3;      // other states that are looked at, too
};

// Throws only for what is no model at this state.
HiddenReport find_hidden(const System& system, const State& s, const HiddenOptions& options = {});

struct Completed {
  System system;  // with constraints implied_1, implied_2, ... at the end; states of the old one fit
  State state;    // on all constraints, near the one given; what has mass moves only if it must, what is free does not
  HiddenReport report;
  std::vector<std::string> rows;        // names of those added
  Index positions = 0, velocities = 0;  // initial values that are free; their sum is the number of states
  Index positions_before = 0, velocities_before = 0;
  double reaction = 0;  // the largest of the added rows, as a share of the largest force

  // Every free direction got its row.  Else solve() refuses the system still, for those of the report that did not.
  bool determined() const { return report.completable() == static_cast<Index>(report.rows.size()); }
  std::string text() const;
};

// Throws NotCompletable, with the report, if directions are free and no row can be added, or h = 0 cannot be reached
// from this state.
Completed complete(const System& system, const State& s, const HiddenOptions& options = {});

class NotCompletable : public Error {
 public:
  NotCompletable(HiddenReport r, const std::string& text)
      : Error(text), report_(std::make_shared<const HiddenReport>(std::move(r))) {}
  const HiddenReport& report() const { return *report_; }

 private:
  std::shared_ptr<const HiddenReport> report_;
};

}  // namespace mortise
