#pragma once
// From a rough start to a trajectory:
//
//   const Trajectory run = simulate(system, system.state(), {.duration = 10});
//   run.column("rod.theta");   run.write_csv("run.csv");   run.text();
//
// The start is brought onto the constraints, positions first, then velocities (start.h).  After every step the state is
// brought back onto them.  Rows that depend on others are left out while they do.  Nothing is lost when something goes
// wrong: the trajectory then ends there and says why.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <mortise/assembly/assembly.h>  // a program that simulates makes its model, too
#include <mortise/integrators/events.h>
#include <mortise/integrators/start.h>
#include <mortise/integrators/stepper.h>
#include <mortise/integrators/trajectory.h>

namespace mortise {

struct SimulationOptions {
  double duration = 0;                // [s] to be given
  std::string integrator = "dopri5";  // stepper_names()
  StepOptions steps = {};
  double sample = 0.01;  // [s] between samples, at multiples of it from the start; 0: after every step
  ReadingOptions record = {.coordinates = true};
  std::vector<Event> events = {};
  // Every so many seconds of simulated time the whole run is saved in a file, which is replaced as a whole.  With
  // resume, a run goes on from that file, if there is one, and ends to the last bit as if it had not been interrupted.
  // Methods begin anew at these times, so that they are part of what is computed.  A file that cannot be written is told
  // by a note "checkpoint", and tried again at the next time.
  struct Checkpoint {
    std::string file;
    double every = 0;  // [s] 0: never
    bool resume = false;
    // What else must agree for a run to go on, beside names, options, start, and M, A, Q, b at the start: by name, such
    // as {"law", "version 2"} for functors that differ elsewhere only.
    std::vector<std::pair<std::string, std::string>> identity = {};
  } checkpoint = {};
  // Called after every step; returning false stops the run there.
  std::function<bool(double t, double end)> progress = {};
  std::vector<std::string> held = {};  // by the consistent start, see start.h
  bool as_given = false;               // a start that would have to be moved by more than 1e-4 of itself is refused
  SolverOptions solver = {};
};

// Throws InvalidModel for options that cannot be, NonFinite or WrongSize for a start that is none, and what brings the
// start onto its constraints throws; whatever happens later is told by the trajectory.
Trajectory simulate(const System& system, const State& start, const SimulationOptions& options);

}  // namespace mortise
