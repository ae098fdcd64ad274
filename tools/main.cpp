// mortise: checks, runs and shows models that are written as text files.

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <exception>
#include <sstream>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <mortise/files/value.h>
#include <mortise/version.h>

#include "commands.h"

using namespace mortise::command;

namespace {

const char* const statuses =
    "Exit status:\n"
    "  0   healthy\n"
    "  1   healthy, with remarks: redundant rows, hidden constraints that were completed, steps of a run with an error "
    "above the tolerance, joints that pass their limits\n"
    "  2   not determined: under-modelled, indeterminate, hidden constraints that were not completed\n"
    "  3   impossible: conflicting rows, a contradiction, a start that cannot be, an indefinite mass matrix, a run "
    "that broke off\n"
    "  4   a file that cannot be read or written, or is no model; or too little memory\n"
    "  64  wrong usage\n"
    "  130 interrupted";

// For options: numbers of which the message is short.
CLI::Validator number(bool zero) {
  const auto wrong = [zero](std::string& text) {
    double x = 0;
    const bool ok = CLI::detail::lexical_cast(text, x) && std::isfinite(x) && (x > 0 || (zero && x == 0));
    return ok ? std::string() : fmt::format("{} is not possible; give a number {} 0", text, zero ? ">=" : ">");
  };
  return CLI::Validator(wrong, zero ? "NUMBER >= 0" : "NUMBER > 0");
}

void add_source(CLI::App* command, Source& source, const char* option = "model") {
  command
      ->add_option(option, source.model, "model file, see docs/MODEL_FILES.md, or a robot's, see docs/ROBOT_FILES.md")
      ->required();
  const auto several = [&](const char* name, std::vector<std::string>& to, const char* text) {
    command->add_option(name, to, text)->take_all()->expected(1);
  };
  several("--set", source.set,
          "name=value: gives a parameter of the model another value, or the place where a joint of a robot starts");
  command->add_flag("--free-base", source.free_base, "the base of a robot moves freely instead of standing still");
  several("--control", source.control,
          "name=value: of a robot's actuator, or the effort on a joint; or a CSV file with columns t and such names");
  command->add_option("--keyframe", source.keyframe, "of MJCF: the robot starts there");
  several("--with", source.with, "model file of which the parts are added to a robot: springs, drives, sensors");
  several("--package-path", source.packages, "folder in which package:// and model:// of a robot's file are");
}

void add_force(CLI::App* command, bool& force, const char* also = "") {
  command->add_flag("--force", force, std::string("writes also over a file that is read") + also);
}

void add_linear(CLI::App* command, LinearOptions& options) {
  command->add_flag("--complete", options.complete, "adds the constraints that are hidden in the model");
  command->add_option("-o,--output", options.out, "file to write");
  add_force(command, options.force);
}

void add_rest(CLI::App* command, LinearOptions& options) {
  command->add_flag("--rest", options.rest, "near where the model rests, which is found first, instead of the start");
  command->add_option("--held", options.held, "coordinate that stays as the start has it, with --rest")->expected(1);
}

int run_all(int argc, char** argv) {
  CLI::App app{"Models of multibody systems from text files: diagnosis, motion, pictures.", "mortise"};
  app.set_version_flag("--version", std::string("mortise ") + mortise::version);
  app.require_subcommand(1);
  app.footer(statuses);
  int status = healthy;

  CheckOptions check_options;
  auto* c =
      app.add_subcommand("check", "tells whether the motion is determined, and by name what is missing or too much");
  add_source(c, check_options.source);
  c->add_flag("--json", check_options.json, "the report as JSON");
  c->add_flag("--details", check_options.details, "also the numbers that findings are judged by");
  auto* at =
      c->add_option("--at", check_options.at, "at this time [s] instead of the start; the model is run up to it");
  c->add_flag("--complete", check_options.complete,
              "adds the constraints that are hidden in the model, and tells them");
  c->add_option("--graph", check_options.graph, "writes the graph of bodies and joints to this file, .svg or .dot");
  c->add_option("--fix", check_options.fix, "writes the model with this one of the fixes that the report lists")
      ->check(CLI::Range(1, 1000).name("NUMBER"));
  c->add_option("-o,--output", check_options.out, "model file that --fix writes");
  add_force(c, check_options.force);
  c->callback([&] {
    check_options.at_given = at->count() > 0;
    status = check(check_options);
  });

  AccelerationsOptions accelerations_options;
  c = app.add_subcommand("accelerations",
                         "prints accelerations and reactions at the start; with --json also M, Q, C, A, b");
  add_source(c, accelerations_options.source);
  c->add_flag("--json", accelerations_options.json, "all as JSON");
  c->add_flag("--complete", accelerations_options.complete, "adds the constraints that are hidden in the model");
  c->callback([&] { status = accelerations(accelerations_options); });

  LinearOptions equilibrium_options;
  c = app.add_subcommand("equilibrium", "finds where the model rests, and whether stably");
  add_source(c, equilibrium_options.source);
  add_linear(c, equilibrium_options);
  c->add_option("--held", equilibrium_options.held, "coordinate that stays as the start has it")->expected(1);
  c->add_flag("--json", equilibrium_options.json, "all as JSON");
  c->callback([&] { status = equilibrium_of(equilibrium_options); });

  LinearOptions linearise_options;
  c = app.add_subcommand("linearise", "prints A, B, C, D of x' = A x + B u, y = C x + D u near the start");
  add_source(c, linearise_options.source);
  add_linear(c, linearise_options);
  add_rest(c, linearise_options);
  c->add_option("--inputs", linearise_options.inputs,
                "forces along coordinates, on what joints tell (hinge.angle), or parameters of the file; a,b,c")
      ->delimiter(',');
  c->add_option("--outputs", linearise_options.outputs,
                "coordinates and what joints and sensors tell, also rates: tip.x'")
      ->delimiter(',');
  c->add_option("--states", linearise_options.states, "coordinates to be taken as states where they can")
      ->delimiter(',');
  c->add_flag("--instant", linearise_options.instant, "at the start alone, also if the motion there is not steady");
  c->add_flag("--json", linearise_options.json, "all as JSON");
  c->callback([&] { status = linearise_model(linearise_options); });

  LinearOptions modes_options;
  c = app.add_subcommand("modes", "tells frequencies, damping and what moves in each mode near the start");
  add_source(c, modes_options.source);
  add_linear(c, modes_options);
  add_rest(c, modes_options);
  c->add_option("--vary", modes_options.vary, "name=from:to:count: for each value of a parameter");
  c->callback([&] { status = modes_of(modes_options); });

  RunOptions run_options;
  c = app.add_subcommand("run", "computes the motion and writes it as CSV");
  add_source(c, run_options.source);
  c->add_option("-o,--output", run_options.out, "CSV file");
  auto* until = c->add_option("--until", run_options.until, "time to run to [s]");
  c->add_option("--integrator", run_options.integrator, "one of `mortise list integrators`");
  c->add_option("--tolerance", run_options.tolerance, "of one step, relative")->check(number(false));
  c->add_option("--step", run_options.step, "of methods with fixed steps [s]")->check(number(false));
  c->add_option("--sample", run_options.sample, "time between samples [s]; 0: every step")->check(number(true));
  auto* checkpoint = c->add_option("--checkpoint", run_options.checkpoint, "saves the run in this file on the way");
  c->add_option("--resume", run_options.resume, "goes on from this file, if it is there, and saves to it")
      ->excludes(checkpoint);
  c->add_option("--every", run_options.every,
                "simulated time between two savings [s]; a tenth of the model's run unless told")
      ->check(number(false));
  c->add_flag("--complete", run_options.complete, "adds the constraints that are hidden in the model");
  c->add_flag("--as-given", run_options.as_given,
              "refuses a start that does not meet the constraints, instead of moving it");
  c->add_flag("--identity", run_options.identity,
              "writes FILE.identity beside the CSV file: of which model and which values the run is; view looks at it");
  c->add_flag("--quiet", run_options.quiet, "no progress and no summary");
  add_force(c, run_options.force);
  c->callback([&] {
    run_options.until_given = until->count() > 0;
    status = run(run_options);
  });

  SweepOptions sweep_options;
  c = app.add_subcommand("sweep",
                         "runs a model over a grid of parameters, on all cores; goes on where it was interrupted");
  add_source(c, sweep_options.source);
  c->add_option("--vary", sweep_options.vary, "name=from:to:count, once per parameter")
      ->required()
      ->take_all()
      ->expected(1);
  c->add_option("-o,--output", sweep_options.out, "folder of the runs and of summary.csv")->required();
  auto* end = c->add_option("--until", sweep_options.until, "time to run to [s]");
  c->add_option("--threads", sweep_options.threads, "0: one per core")->check(number(true));
  c->add_option("--share", sweep_options.share, "k/n: only every n-th run from the k-th, for arrays of jobs");
  c->add_flag("--retry", sweep_options.retry, "makes runs again that the model let fail");
  c->add_flag("--quiet", sweep_options.quiet, "no progress");
  c->footer(
      "As a Slurm array of ten jobs on one folder:\n"
      "  sbatch --array=0-9 --wrap 'mortise sweep model.toml --vary L=1:2:1000 -o out --share "
      "$SLURM_ARRAY_TASK_ID/10'\n"
      "Afterwards the same line without --share makes what is missing and the summary of all.");
  c->callback([&] {
    sweep_options.until_given = end->count() > 0;
    status = sweep(sweep_options);
  });

  PlotOptions plot_options;
  c = app.add_subcommand("plot", "draws columns of a run against time");
  c->add_option("run", plot_options.run, "CSV file of a run")->required();
  c->add_option("columns", plot_options.columns, "their names, with * for any text; all but rates unless told");
  c->add_option("-o,--output", plot_options.out, "file, .svg, or .png where gnuplot is installed")->required();
  c->add_option("--title", plot_options.title, "above the plot");
  add_force(c, plot_options.force);
  c->callback([&] { status = plot(plot_options); });

  ViewOptions view_options;
  c = app.add_subcommand("view", "makes a page that plays a run in a browser, with the report and plots; one file");
  c->add_option("run", view_options.run, "CSV file of a run; without one the start is shown");
  add_source(c, view_options.source, "--model");
  c->add_option("-o,--output", view_options.out, "HTML file")->required();
  c->add_option("--title", view_options.title, "of the page");
  c->add_option("--plot", view_options.columns, "a column to plot at first, with * for any text")
      ->take_all()
      ->expected(1);
  c->add_flag("--complete", view_options.complete, "the run was made with --complete");
  add_force(c, view_options.force, ", and shows a run that is not of this model");
  c->callback([&] { status = view(view_options); });

  ConvertOptions convert_options;
  c = app.add_subcommand("convert", "writes a model, such as a robot's file, as a model file");
  add_source(c, convert_options.source);
  c->add_option("-o,--output", convert_options.out, "model file; without one it is printed");
  add_force(c, convert_options.force);
  c->callback([&] { status = convert(convert_options); });

  NewOptions new_options;
  c = app.add_subcommand("new", "writes a commented model to start from, one of `mortise list models`");
  c->add_option("name", new_options.name, "such as pendulum, four_bar, vehicle")->required();
  c->add_option("-o,--output", new_options.out, "file; NAME.toml unless told");
  c->add_flag("--force", new_options.force, "replaces a file that is there");
  c->callback([&] { status = make_new(new_options); });

  std::string what;
  c = app.add_subcommand("list", "lists what a model may name");
  c->add_option("what", what, "bodies, joints, forces, sensors, integrators or models")
      ->required()
      ->check(CLI::IsMember({"bodies", "joints", "forces", "sensors", "integrators", "models"}));
  c->callback([&] { status = list(what); });

  c = app.add_subcommand("reference", "prints the reference of model files, docs/MODEL_FILES.md");
  c->callback([&] { status = reference(); });

  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
  if (argc > 1 && argv[1][0] != '-' && std::find(known.begin(), known.end(), argv[1]) == known.end())
    throw WrongUsage(fmt::format("mortise: there is no command '{}'; {} `mortise --help` lists all", argv[1],
                                 mortise::files::suggestion(argv[1], known)));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    const int code = app.exit(error, out, err);
    put(out.str());
    warn(err.str());
    return code == 0 ? healthy : wrong_usage;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // such writes fail, and are told where they matter
  int status = impossible;
  try {
    status = run_all(argc, argv);
  } catch (const std::bad_alloc&) {
    warn("memory: there is not enough of it for this model; nothing was written\n");
    status = invalid_file;
  } catch (const std::exception& error) {
    warn("{}\n", error.what());
    status = status_of(error);
  }
  return close_output(status);
}
