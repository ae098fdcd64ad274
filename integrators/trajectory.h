#pragma once
// Trajectory: what a run has recorded, by named columns, and how it went.
//
//   trajectory.column("tip.x");             all samples of one column
//   trajectory.write_csv("run.csv");        "t [s],tip.x [m],..." and one line per sample, to the last digit
//   trajectory.text();                      a summary in a few lines

#include <string>
#include <string_view>
#include <vector>

#include <mortise/core/file.h>
#include <mortise/solve/readings.h>

namespace mortise {

struct Trajectory {
  // Something that happened: {1.25, "singular pose", "..."}.
  struct Note {
    double t;
    std::string kind, text;
  };
  struct Drift {
    std::string joint;
    double largest = 0;  // of the values of its rows, in their own units
  };
  Trajectory();
  Trajectory(const Trajectory&);  // these are compiled once, in the library
  Trajectory(Trajectory&&) noexcept;
  Trajectory& operator=(const Trajectory&);
  Trajectory& operator=(Trajectory&&) noexcept;
  ~Trajectory();

  std::string system, integrator;
  std::vector<Readings::Column> columns;  // the first is the time
  std::vector<double> values;             // sample by sample
  std::vector<Note> notes;
  std::vector<Drift> drift;  // of every joint, over all steps
  State last;                // where the run ended, on the constraints
  bool finished = false;     // false: stopped says why
  std::string stopped;
  Index steps = 0, rejected = 0, evaluations = 0;
  Index rough = 0;          // steps that were taken with an error above the tolerance, because no shorter one would do
  double energy_error = 0;  // [J] the largest change over all steps of  T + V - what forces and joints put in

  Index samples() const { return columns.empty() ? 0 : static_cast<Index>(values.size() / columns.size()); }
  Index index(std::string_view column) const;  // throws InvalidModel with the nearest name
  VectorXd column(std::string_view name) const;
  double value(Index sample, std::string_view column) const;
  // The start was moved onto the constraints by more than 1 % of the model's size, or a velocity that was given by more
  // than 10 %; the note "start" tells.
  bool start_moved = false;
  // It came to its end with the accuracy asked for.
  bool to_tolerance() const { return finished && rough == 0; }

  std::string text() const;
  std::string csv() const;
  // Names are quoted where they hold commas, quotes or line ends.  It is there as a whole or not at all.  Throws FileError.
  void write_csv(const std::string& path) const;
};

}  // namespace mortise
