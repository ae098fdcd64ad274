// mortise run: from a model to a trajectory.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include <mortise/core/memory.h>
#include <mortise/files/limits.h>
#include <mortise/files/value.h>

#include "commands.h"

namespace mortise::command {
namespace {

volatile std::sig_atomic_t interrupted = 0;

// The first Ctrl-C ends the run where it is, and what was computed is written; the second one ends the program.
void listen() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

void require_possible(const RunOptions& o, const System& system, const SimulationOptions& how, double start) {
  if (!o.out.empty()) require_writable(o.out);
  if (!how.checkpoint.file.empty()) require_writable(how.checkpoint.file);
  if (!(how.duration > 0))
    throw WrongUsage(fmt::format("--until {}: this is not after the start at {} s; give a later time", o.until, start));
  if (const NoStepper none = no_stepper(how.integrator); !o.integrator.empty() && !none.fact.empty())
    throw WrongUsage(fmt::format("--integrator {}: {}; {}", o.integrator, none.fact, none.remedy));
  // The record, and its text while it is written; simulate() looks at the record itself.
  constexpr double in_text = 20;  // bytes
  const double per_number = sizeof(double) + (o.out.empty() ? 0 : in_text);
  const double samples = how.sample > 0 ? how.duration / how.sample : 0;
  const double bytes = samples * 3 * static_cast<double>(system.size()) * per_number, left = free_memory();
  if (bytes > left)
    throw WrongUsage(fmt::format(
        "run of '{}': {:.3g} samples of {} coordinates and their rates need {}, and {} are left: more than fits into "
        "memory; give an earlier --until or a longer --sample",
        system.name(), samples, system.size(), memory_text(bytes), memory_text(left)));
}

}  // namespace

int run(const RunOptions& o) {
  Model model = read(o.source);
  model.complete = model.complete || o.complete;
  const auto [system, start, implied, completed] = ready(model);
  SimulationOptions& how = model.run;
  constexpr double parts = 10;
  const double every = o.every > 0 ? o.every : how.duration / parts;  // not of --until: a resumed run may end later
  if (o.until_given) how.duration = o.until - model.time;
  if (!o.integrator.empty()) how.integrator = o.integrator;
  if (o.tolerance > 0) how.steps.tolerance = o.tolerance;
  if (o.step > 0) how.steps.step = o.step;
  if (o.sample >= 0) how.sample = o.sample;
  how.as_given = how.as_given || o.as_given;
  if (o.identity && o.out.empty()) throw WrongUsage("--identity stands beside a CSV file: give one with -o");
  const std::string& saved = o.resume.empty() ? o.checkpoint : o.resume;
  if (!saved.empty()) how.checkpoint = {saved, every, !o.resume.empty(), identity(model)};
  require_possible(o, system, how, model.time);
  require_apart(model.files,
                {{"-o", o.out},
                 {"--identity", o.identity ? identity_path(o.out) : ""},
                 {o.resume.empty() ? "--checkpoint" : "--resume", saved}},
                o.force);
  if (!o.quiet) say(completed);
  if (!o.quiet && !o.resume.empty() && !std::filesystem::exists(o.resume))
    say("{} is not there: the run begins at its start\n", o.resume);
  const bool shown = !o.quiet && isatty(STDERR_FILENO);
  auto last = std::chrono::steady_clock::now();
  listen();
  how.progress = [&](double t, double end) {
    if (shown && std::chrono::steady_clock::now() - last > std::chrono::milliseconds(200)) {
      last = std::chrono::steady_clock::now();
      fmt::print(stderr, "\r  t = {:.4g} of {:.4g} s ({:.0f} %) ", t, end, 100 * (t - model.time) / (end - model.time));
      std::fflush(stderr);
    }
    return interrupted == 0;
  };
  const LimitWatch limits(system, model.limits);
  if (!model.limits.empty()) how.events.push_back(limits.event());
  Trajectory trajectory = simulate(system, start, how);
  const bool passed = limits.tell(trajectory);
  if (shown) std::fputs("\r\033[K", stderr);
  if (!o.out.empty()) {
    const std::string csv = trajectory.csv();
    replace_file(o.out, csv);
    if (o.identity) replace_file(identity_path(o.out), identity_text(csv, identity(model)));
  }
  if (!o.quiet) {
    say(trajectory.text());
    if (!o.out.empty())
      say("  {} samples of {} columns in {}\n", trajectory.samples(), trajectory.columns.size(), o.out);
  }
  if (interrupted != 0 && !trajectory.finished) {
    if (!saved.empty() && std::filesystem::exists(saved))
      warn("interrupted; the same line{} goes on from its last saving\n",
           o.resume.empty() ? fmt::format(", with --resume {} for --checkpoint,", saved) : "");
    else
      warn("interrupted\n");
    return was_interrupted;
  }
  if (trajectory.finished && trajectory.rough > 0 && o.quiet)
    warn("{} of the {} steps were taken with an error above the tolerance\n", trajectory.rough, trajectory.steps);
  const auto told = [&](const char* kind) {
    const auto is = [&](const Trajectory::Note& n) { return n.kind == kind; };
    const auto found = std::find_if(trajectory.notes.begin(), trajectory.notes.end(), is);
    if (found != trajectory.notes.end() && o.quiet) warn("{}: {}\n", kind, found->text);
    return found != trajectory.notes.end();
  };
  if (trajectory.finished) {
    if (told("meaningless")) return impossible;
    const bool worth_knowing = told("energy") || told("checkpoint") || passed;
    return !worth_knowing && trajectory.to_tolerance() && !trajectory.start_moved ? healthy : remarks;
  }
  if (o.quiet) warn(trajectory.stopped + "\n");
  const RankReport report = check_model(system, trajectory.last);
  if (completable(report) == Completable::whole)
    warn("the model implies what it lacks, see `mortise check`; with --complete it can be run\n");
  return report.determined() ? impossible : status_of(report);
}

}  // namespace mortise::command
