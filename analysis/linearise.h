#pragma once
// linearise: a System near one of its motions as x' = A x + B u, y = C x + D u, with as few states as it has.
//
//   const LinearModel car = linearise(system, state, {.inputs = {"motor"}, .outputs = {"chassis.ry"}});
//   fmt::print("{}", car.text());
//
// The states x are the variations of independent coordinates, and of as many velocities as are free: n - rank A_h and
// n - rank A of them.  Names: those of coordinates, "cart.x"; a rigid body in space varies by "car.x", "car.y", "car.z"
// of its centre of mass [m] and by small turns "car.rx", "car.ry", "car.rz" about the world's axes [rad].  Velocities
// end in ': "cart.x'".
//
// Any M, singular ones too, redundant rows, nonholonomic rows, and the hidden constraints that complete() has added.
// At a state of rest, or along a steady motion: one along which A, B, C and D stay the same, which is looked at a
// little later.  The derivatives are exact.

#include <complex>
#include <functional>
#include <string>
#include <vector>

#include <mortise/assembly/system.h>

namespace mortise {

// An input that changes the model: its accelerations by a central difference.
struct ParameterInput {
  std::string name;
  std::function<System(double change)> system;  // the same coordinates; change = 0: the model itself
  double size = 1;                              // a small change of it is 1e-4 of this
};

struct LineariseOptions {
  // Forces along a coordinate "cart.x", about an axis "car.rz", or along what a joint or sensor tells, "hinge.angle".
  std::vector<std::string> inputs = {};
  std::vector<ParameterInput> parameters = {};  // inputs as well, after these
  // Coordinates, and what joints, forces and sensors tell, with their rates: "tip.x", "hinge.angle'".
  std::vector<std::string> outputs = {};
  std::vector<std::string> states = {};  // coordinates to be taken as states where they can, in this order
  bool must_be_steady = true;            // false: at this instant alone, whatever comes later
};

struct LinearModel {
  std::string system;
  State at;
  std::vector<std::string> states, inputs, outputs;
  std::vector<std::string> state_units, input_units, output_units;
  MatrixXd A, B, C, D;
  Index positions = 0, velocities = 0;  // states: positions first
  bool at_rest = false;

  // All bodies, whatever the states are: variations = shapes x, and the mass matrix they move.
  std::vector<std::string> variations, variation_units;
  MatrixXd shapes;
  MatrixXd mass;

  std::string text() const;
  std::string csv() const;  // A, B, C, D, a line per row, with names
  std::string json() const;
  std::string matlab() const;  // a script that makes a state-space model in MATLAB or Octave
};

// Throws as Solver::solve does; InvalidModel where the state is a singular pose, where it is no steady motion, and for
// names that are none; NoDerivative, naming the part, for functions of double alone.
LinearModel linearise(const System& system, const State& s, const LineariseOptions& options = {});

}  // namespace mortise
