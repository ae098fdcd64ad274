#pragma once
// What joints and forces do by themselves, by the clock: which parts may, and when they change their ways.
//
// A step over a corner loses its order, and one over a short pulse sees nothing of it.  So the run is led up to these
// times and goes on behind them:
//   the breakpoints that parts tell (core/breakpoints.h);
//   of parts that depend on time without telling any, what shows when they are asked at 4096 instants of the run, with
//   all bodies at rest: where they begin after a rest, and where they suddenly change far faster than elsewhere.
// A pulse that nobody tells of is seen if it lasts longer than 1/4096 of the run.

#include <vector>

#include <mortise/assembly/system.h>

#pragma GCC visibility push(hidden)
namespace mortise {

// Rows of this joint may move by themselves.
bool depends_on_time(const System& system, const System::ConstraintInfo& c, const State& s);

struct Breakpoint {
  double t;
  double step;  // [s] to go on with; 0: what the method finds
};
// Ascending, within the run, no two nearer to each other or to its ends than `apart`; and one at its start, where
// something begins at once that asks for short steps.
std::vector<Breakpoint> breakpoints(const System& system, const State& start, double end, double apart);

}  // namespace mortise
#pragma GCC visibility pop
