#pragma once
// From a rough start to a trajectory:
//
//   const Trajectory run = simulate(system, system.state(), {.duration = 10});
//   run.column("rod.theta");   run.write_csv("run.csv");   run.text();
//
// The start is brought onto the constraints, positions first, then velocities.  After every step the state is brought
// back onto them.  Rows that depend on others are left out while they do.  Nothing is lost when something goes wrong:
// the trajectory then ends there and says why.

#include <functional>
#include <string>
#include <vector>

#include <mortise/integrators/stepper.h>
#include <mortise/integrators/trajectory.h>

namespace mortise {

// Something to look for on the way: a function of the state that passes through 0.
struct Event {
  std::string name;
  std::function<double(const State&)> value;
  int direction = 0;  // 1: only upwards, -1: only downwards, 0: both
  bool stop = false;
  // May change the state, whose velocities are then made consistent again: an impulse.
  std::function<void(State&)> change = {};
};

struct SimulationOptions {
  double duration = 0;                // [s] to be given
  std::string integrator = "dopri5";  // stepper_names()
  StepOptions steps = {};
  double sample = 0.01;  // [s] between samples, at multiples of it from the start; 0: after every step
  ReadingOptions record = {.coordinates = true};
  std::vector<Event> events = {};
  // Every so many seconds of simulated time the whole run is saved in a file, which is replaced as a whole.  With
  // resume, a run goes on from that file, if there is one, and ends to the last bit as if it had not been interrupted.
  // Methods begin anew at these times, so that they are part of what is computed.
  struct Checkpoint {
    std::string file;
    double every = 0;  // [s] 0: never
    bool resume = false;
  } checkpoint = {};
  // Called after every step; returning false stops the run there.
  std::function<bool(double t, double end)> progress = {};
  SolverOptions solver = {};
};

// Throws InvalidModel for options that cannot be, NonFinite or WrongSize for a start that is none, and what brings the
// start onto its constraints throws; whatever happens later is told by the trajectory.
Trajectory simulate(const System& system, const State& start, const SimulationOptions& options);

// A state on the constraints near the one given: positions, then velocities, nearest in the norm of M.
// Throws NotConverged naming the joints with the largest gaps if there is none near.
State consistent(const System& system, State s, const SolverOptions& options = {});

}  // namespace mortise
