// mortise run: from a model to a trajectory.

#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "commands.h"

namespace mortise::command {

int run(const RunOptions& o) {
  Model model = read(o.source);
  model.complete = model.complete || o.complete;
  const auto [system, start, completed] = ready(model);
  if (!o.quiet) std::fputs(completed.c_str(), stdout);
  SimulationOptions& how = model.run;
  if (o.until_given) how.duration = o.until - model.time;
  if (!o.integrator.empty()) how.integrator = o.integrator;
  if (o.tolerance > 0) how.steps.tolerance = o.tolerance;
  if (o.step > 0) how.steps.step = o.step;
  if (o.sample >= 0) how.sample = o.sample;
  const std::string& saved = o.resume.empty() ? o.checkpoint : o.resume;
  if (!saved.empty()) {
    constexpr double parts = 10;
    how.checkpoint = {saved, o.every > 0 ? o.every : how.duration / parts, !o.resume.empty()};
  }
  const bool shown = !o.quiet && isatty(STDERR_FILENO);
  auto last = std::chrono::steady_clock::now();
  if (shown)
    how.progress = [&](double t, double end) {
      const auto now = std::chrono::steady_clock::now();
      if (now - last > std::chrono::milliseconds(200)) {
        last = now;
        fmt::print(stderr, "\r  t = {:.4g} of {:.4g} s ({:.0f} %) ", t, end,
                   100 * (t - model.time) / (end - model.time));
        std::fflush(stderr);
      }
      return true;
    };
  const Trajectory trajectory = simulate(system, start, how);
  if (shown) std::fputs("\r\033[K", stderr);
  if (!o.out.empty()) trajectory.write_csv(o.out);
  if (!o.quiet) {
    std::fputs(trajectory.text().c_str(), stdout);
    if (!o.out.empty())
      fmt::print("  {} samples of {} columns in {}\n", trajectory.samples(), trajectory.columns.size(), o.out);
  }
  if (trajectory.finished) return healthy;
  if (o.quiet) std::fputs((trajectory.stopped + "\n").c_str(), stderr);
  const RankReport report = check_rank(system, system.evaluate(trajectory.last));
  return report.determined() ? impossible : status_of(report);
}

}  // namespace mortise::command
