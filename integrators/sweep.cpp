#include <mortise/integrators/sweep.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include <mortise/core/memory.h>

namespace mortise {

std::vector<SweepRun> sweep(std::size_t runs, const std::function<Trajectory(std::size_t)>& one, int threads,
                            const std::function<void(std::size_t)>& done) {
  const Label label{"sweep", "of runs"};
  label.require(static_cast<bool>(one), "there is no function that makes a run", "give one");
  label.require(threads >= 0, fmt::format("threads = {}", threads), "give a number >= 0, 0 for one per core");
  require_memory(label, fmt::format("the list of {} runs", runs), static_cast<double>(runs) * sizeof(SweepRun),
                 "make fewer at a time");
  std::vector<SweepRun> out(runs);
  std::atomic<std::size_t> next{0};
  std::size_t finished = 0;
  std::mutex telling;
  std::exception_ptr thrown;
  const auto work = [&] {
    for (std::size_t i = next++; i < runs; i = next++) {
      try {
        out[i].trajectory = one(i);
      } catch (const std::exception& error) {
        out[i].failed = error.what();
      } catch (...) {
        out[i].failed = "it threw something that is no std::exception";
      }
      if (const std::lock_guard lock(telling); done && !thrown) try {
          done(++finished);
        } catch (...) {
          thrown = std::current_exception();
          next = runs;  // nobody begins another one
        }
    }
  };
  const std::size_t wanted = threads > 0 ? static_cast<std::size_t>(threads) : std::thread::hardware_concurrency();
  std::vector<std::thread> others;
  try {
    for (std::size_t k = 1; k < std::min(std::max<std::size_t>(1, wanted), runs); ++k) others.emplace_back(work);
  } catch (const std::system_error&) {  // the machine has no more threads: these do it
  }
  work();
  for (std::thread& t : others) t.join();
  if (thrown) std::rethrow_exception(thrown);
  return out;
}

}  // namespace mortise
