#pragma once
// A line that tells how far a long run is and how long it will still take:
//
//   simulate(system, start, {.duration = 1000, .progress = terminal_progress()});
//
// It is written to stderr, a few times a second, and only if that is a terminal; it vanishes at the end of the run.
// The library itself writes nothing: it is up to the caller to ask for this.

#include <functional>
#include <string>

namespace mortise {

// For SimulationOptions::progress.  Shown after a second of running.
std::function<bool(double t, double end)> terminal_progress();

// "  42 %   t = 420 of 1000 s   1 min 20 s left", for a start at t0 and so many seconds of running.
std::string progress_line(double t0, double t, double end, double seconds);

}  // namespace mortise
