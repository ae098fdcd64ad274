#pragma once
// Readings: numbers of a System at one state, by name and with units.
//
//   Readings readings(system, {.reactions = true});
//   readings.read(state);                             solves for the accelerations
//   readings.value("tip.x''");                        sensor tip, second rate of x
//   readings.value("hinge.angle");                    joints tell their angles and displacements; turns are counted
//   readings.value("hinge.fx");                       reaction
//
// Rates are marked by ' and ''.  Which columns there are, and their units, is known before anything is read.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mortise/solve/solver.h>

namespace mortise {

struct ReadingOptions {
  bool coordinates = false;  // with velocities and accelerations
  bool sensors = true;
  bool joints = true;      // angles and displacements
  bool reactions = false;  // multipliers of the rows, meaning as in the joint's header
  bool forces = false;     // what forces tell (tension, torque), power, and stored energy where they have one
  bool energy = true;      // kinetic, potential, total
  bool momentum = false;   // linear, angular, and the centre of mass, of the bodies that have them
};

class Readings {
 public:
  struct Column {
    std::string name, unit;
  };

  explicit Readings(const System& system, const ReadingOptions& what = {}, const SolverOptions& options = {});
  explicit Readings(const System&& system, const ReadingOptions& = {}, const SolverOptions& = {}) = delete;

  const std::vector<Column>& columns() const { return columns_; }
  // One number per column; the first is the time.  Angles are told on the turn nearest to the last reading.
  // Throws as Solver::solve does, or NonFinite naming the column.
  const VectorXd& read(const State& s);
  const VectorXd& read(const State& s, Solver& solver);  // with a solver of the same system that is there already
  // Goes on as if these had been the last reading.
  void resume(const VectorXd& values);
  double value(std::string_view column) const;  // of the last reading; throws InvalidModel with the nearest name
  std::string text() const;                     // of the last reading, a line per column

 private:
  void add(const std::string& name, const std::string& unit, int orders);
  template <class Info> void add_part(const Info& part);

  const System& system_;
  ReadingOptions what_;
  SolverOptions options_;
  std::optional<Solver> solver_;  // made when needed
  std::vector<Column> columns_;
  std::vector<Index> angles_;  // columns
  bool has_read_ = false;
  VectorXd values_, before_;
};

}  // namespace mortise
