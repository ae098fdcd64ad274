#pragma once
// What joints and forces do by themselves, by the clock: which parts may, and when they begin after a rest.
//
// A step over a short pulse sees nothing of it.  So the parts that depend on time are asked at 4096 instants of the
// run, with all bodies at rest, for their rows or forces; where one begins to change after it did not, the run is led
// up to that time and goes on with a step of a tenth of how long it acts.  A pulse longer than 1/4096 of the run is not
// missed.

#include <vector>

#include <mortise/assembly/system.h>

#pragma GCC visibility push(hidden)
namespace mortise {

// Rows of this joint may move by themselves.
bool depends_on_time(const System& system, const System::ConstraintInfo& c, const State& s);

struct Beginning {
  double t, step;  // [s]
};
std::vector<Beginning> beginnings(const System& system, const State& start, double end);  // ascending

}  // namespace mortise
#pragma GCC visibility pop
