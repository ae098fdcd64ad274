#pragma once
// Whole runs, for the time to a given accuracy: our side behind a plain interface (see mortise_side.h), and what makes
// a run right.

#include <functional>
#include <string>
#include <vector>

#include "mechanisms.h"
#include "report.h"

namespace bench {

// A run of either side.
struct RunResult {
  double seconds = 1e300;
  double energy_error = 1e300;  // [J] largest of those looked at
  double branch_error = 0;      // of four-bars: the largest sine of a coupler's angle
  std::vector<double> end;      // what is watched, at the end [m]
  std::string setting = {};
};

// All three must hold.
struct Right {
  double energy, branch, position;
  std::vector<double> end;  // where it should be

  bool operator()(const RunResult& r) const;
  double position_error(const RunResult& r) const;
};

// The fastest of the runs that are right; seconds = 1e300 if none is.  Each is run a few times.
RunResult fastest(const Right& right, const std::vector<std::function<RunResult()>>& runs, int times);

// The table's line and the ratio; says so where the other side is never right.
void compare(Report& report, const std::string& name, const RunResult& ours, const RunResult& theirs,
             const std::string& peer, const Right& right);

// Bars upright, B0 moves with 1 m/s; after 10 s B0 is, by the equation of one bar that stands for all, at
std::vector<double> four_bar_end(int windows);

class [[gnu::visibility("default")]] MortiseRuns {
 public:
  static RunResult four_bar(int windows, double tolerance);                // 10 s; B0
  static RunResult chain(const Chain& chain, double t, double tolerance);  // the centre of the last rod
  static RunResult bricard(double tolerance);                              // 10 s; P3
};

// P3 of Bricard's mechanism after 10 s.
inline const std::vector<double> bricard_end{9.99730987303835352e-01, -9.99999963825817275e-01,
                                             -2.68976512249299543e-04};

}  // namespace bench
