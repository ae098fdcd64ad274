#pragma once
// RunTable: what a run has recorded, read back from a CSV file or taken from a Trajectory.
//
//   const RunTable run = read_csv("run.csv");      "t [s],rod.x [m],..." and one line per sample
//   run.column("rod.x");

#include <string>
#include <string_view>
#include <vector>

#include <mortise/integrators/trajectory.h>

namespace mortise {

struct RunTable {
  std::string source;                     // file or system, for messages
  std::vector<Readings::Column> columns;  // the first is the time
  std::vector<double> values;             // sample by sample

  Index samples() const { return columns.empty() ? 0 : static_cast<Index>(values.size() / columns.size()); }
  double value(Index sample, Index column) const {
    return values[static_cast<std::size_t>(sample) * columns.size() + static_cast<std::size_t>(column)];
  }
  Index find(std::string_view column) const;   // -1 if there is none
  Index index(std::string_view column) const;  // throws InvalidModel with the nearest name
  VectorXd column(Index i) const;
  VectorXd column(std::string_view name) const { return column(index(name)); }
};

// Throws FileError with file, line and column for what is no such table: no name or the same name twice, a line of
// another length, a word that is no finite number, a time that goes back, a file above 1 GB.
RunTable read_csv(const std::string& path);
RunTable parse_csv(std::string_view text, const std::string& source);

RunTable table_of(const Trajectory& run);
// One sample: the coordinates of a state, for a picture that stands still.
RunTable table_of(const System& system, const State& s);

}  // namespace mortise
