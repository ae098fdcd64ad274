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
  long evaluations = 0;
};

// All three must hold.
struct Right {
  double energy, branch, position;
  std::vector<double> end;  // where it should be

  bool operator()(const RunResult& r) const;
  double position_error(const RunResult& r) const;
};

// One side at several settings: the fastest that is right counts.
using Runs = std::vector<std::function<RunResult()>>;

// Runs both, ours at tolerances from 1e-4 to 1e-9, and reports <name>_<peer>; says so where the peer is never right.
void contest(Report& report, const std::string& name, const std::string& peer, const std::string& model,
             const Right& right, const std::function<RunResult(double tolerance)>& ours, const Runs& theirs);

class [[gnu::visibility("default")]] MortiseRuns {
 public:
  static RunResult four_bar(int windows, double tolerance);                // 10 s; B0
  static RunResult chain(const Chain& chain, double t, double tolerance);  // the centre of the last rod
  static RunResult bricard(double tolerance);                              // 10 s; P3
};

// Bars upright at the start, B0 moves with 1 m/s; 10 s.  By the equation of one bar that stands for all.
Right right_four_bar(int windows);
// The centre of the last rod after 1 s.  By our own run with a tolerance of 1e-13.
inline Right right_chain(const Chain& chain) { return {1e-2, 0, 1e-4, MortiseRuns::chain(chain, 1, 1e-13).end}; }
// P3 after 10 s.
inline const Right right_bricard{
    1e-3, 0, 1e-5, {9.99730987303835352e-01, -9.99999963825817275e-01, -2.68976512249299543e-04}};

}  // namespace bench
