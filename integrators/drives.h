#pragma once
// What joints and forces do by themselves, by the clock: which parts may, and when they change their ways.
//
// A step over a corner loses its order, and one over a short pulse sees nothing of it.  So the run is led up to these
// times and goes on behind them:
//   the breakpoints that parts tell (core/breakpoints.h);
//   of parts that depend on time without telling any, what shows when they are asked at 4096 instants of the run, with
//   all bodies at rest: where they begin after a rest and where they jump, found to the last digits of t, and where
//   they suddenly change far faster than elsewhere.
// And no step is longer than the pieces of the run on which a cubic says what such a part does.
// A pulse that nobody tells of is seen if it lasts longer than 1/4096 of the run.

#include <vector>

#include <mortise/assembly/system.h>

#pragma GCC visibility push(hidden)
namespace mortise {

// Rows of this joint may move by themselves.
bool depends_on_time(const System::ConstraintInfo& c);

struct Breakpoint {
  double t;
  double step;  // [s] to go on with; 0: what the method finds
};

// How long steps may be.
class Pace {
 public:
  static constexpr int instants = 4096;

  double longest(double t) const;  // [s] from here; infinity: as the method likes

  // For course_of: most[k], how long between instants k and k + 1, of instants in all.
  Pace() = default;
  Pace(double from, double to, const std::vector<double>& most);

 private:
  double from_ = 0, piece_ = 0;
  std::vector<double> reach_;  // where a step from there may end; empty: anywhere
};

struct Course {
  // Ascending, within the run, no two nearer to each other or to its ends than 4 `apart`, which tells times apart; and
  // one at its start, where something begins at once that asks for short steps.
  std::vector<Breakpoint> breaks;
  Pace pace;
};
Course course_of(const System& system, const State& start, double end, double apart);

}  // namespace mortise
#pragma GCC visibility pop
