#pragma once
// Many runs at once, on several cores:
//
//   const auto runs = sweep(50, [&](std::size_t i) { return simulate(...); });
//
// Run i is what the function gives for i, whatever the number of threads; one that throws is recorded, and no other is
// lost.  The function is called from several threads: it makes its own System and start, or shares a System.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <mortise/integrators/trajectory.h>

namespace mortise {

struct SweepRun {
  std::optional<Trajectory> trajectory;  // none: failed says why
  std::string failed;
};

// threads = 0: one per core.  done(count), if given, is called after each run, by one thread at a time; what it throws
// ends the sweep after the runs that have begun.
std::vector<SweepRun> sweep(std::size_t runs, const std::function<Trajectory(std::size_t)>& one, int threads = 0,
                            const std::function<void(std::size_t)>& done = {});

}  // namespace mortise
