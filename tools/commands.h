#pragma once
// The subcommands of `mortise`, each a function from its options to the exit status.
//
// A new one: its options and its function here, a file command_<name>.cpp, and a few lines in main.cpp.

#include <string>
#include <vector>

#include <mortise/core/json.h>
#include <mortise/diagnosis/rank_report.h>
#include <mortise/files/model.h>
#include <mortise/files/robot.h>

#include "output.h"
#include "table.h"

namespace mortise::command {

// Exit status of every subcommand.
enum Status {
  healthy = 0,
  remarks = 1,         // healthy, but something is worth knowing: redundant rows, what was completed, rough steps
  not_determined = 2,  // under-modelled, indeterminate, hidden constraints that were not completed
  impossible = 3,      // conflicting rows, a start that cannot be, an indefinite mass matrix, a run that broke off
  invalid_file = 4,    // or one that cannot be read or written, or that does not fit into memory
  wrong_usage = 64,
  was_interrupted = 130
};
// What was asked for on the command line cannot be.
struct WrongUsage : Error {
  using Error::Error;
  explicit WrongUsage(const std::string& text) : Error(text) {}
};
Status status_of(const RankReport& report);
Status status_of(const std::exception& error);
Json report_json(const RankReport& report);

struct Source {
  std::string model;             // path of the file
  std::vector<std::string> set;  // "name=value", the value with a unit where one is wanted
  // Of a robot:
  bool free_base = false, mend = false;
  std::vector<std::string> control;  // "name=value", or the path of a table
  std::string keyframe;
  std::vector<std::string> with, packages;
};
// Throws ModelError.  Remarks are printed.
Model read(const Source& source);
// Of a robot's file: how it is read.
RobotOptions robot_options(const Source& source, const std::map<std::string, double>& parameters);
// The same with these parameters in place of those of the source, and without remarks.
Model read(const Source& source, const std::map<std::string, double>& parameters);
// What a model is, with all its values: the fingerprint of each of its sections, by name.  Not when its run ends.
using Identity = std::vector<std::pair<std::string, std::string>>;
Identity identity(Model model);
// Of a run in a CSV file it stands beside it, on demand.  Throws if the run, or its file, is of another model by what
// stands there; without such a file nothing is known.
std::string identity_path(const std::string& csv);
std::string identity_text(std::string_view csv, const Identity& identity);
void require_identity(const std::string& csv, const Model& model);
// Throws InvalidModel if what a run tells at its beginning, accelerations and energies too, is not what the model says
// at the same coordinates and velocities.
void require_run_of(const System& system, const RunTable& run);
std::map<std::string, double> parameters(const std::vector<std::string>& set, const char* option = "--set");
// The system of a model and where it starts.  Where the model or the user asks for it, with the constraints that are
// hidden in it, and then on them.  Throws NotCompletable if none can be added.
struct Ready {
  System system;
  State start;
  std::string implied, completed;  // what the model implies and what was added, in words; "" if nothing
};
Ready ready(const Model& model);
// How much of what is not determined would be with what the model implies.
enum class Completable { not_at_all, in_part, whole };
Completable completable(const RankReport& report);
// The report at a state, or at the nearest one on the constraints, which s then is: what the start lacks is told all
// the same.
RankReport diagnose(const System& system, State& s);

// Before a long computation: a file can be written there.  Throws FileError.
void require_writable(const std::string& path);
// Nor is it a file that is read, unless the user wants that, nor are two files that are written the same.  Throws
// FileError.
struct Output {
  std::string option, path;  // "-o"; without a path nothing is written
};
void require_apart(const std::vector<std::string>& inputs, const std::vector<Output>& outputs, bool force);

struct CheckOptions {
  Source source;
  bool json = false, details = false;
  double at = 0;  // [s]
  bool at_given = false;
  bool complete = false, force = false;
  std::string graph;  // path of an SVG or DOT file
  int fix = 0;        // the number of a fix, which is written to `out`; 0: none
  std::string out;
};
int check(const CheckOptions& options);

struct AccelerationsOptions {
  Source source;
  bool json = false, complete = false;
};
int accelerations(const AccelerationsOptions& options);

struct RunOptions {
  Source source;
  std::string out;
  double until = 0, tolerance = 0, step = 0, sample = -1, every = 0;
  std::string integrator, checkpoint, resume;
  bool until_given = false, complete = false, as_given = false, quiet = false, force = false, identity = false;
};
int run(const RunOptions& options);

struct SweepOptions {
  Source source;
  std::vector<std::string> vary;  // "name=from:to:count"
  std::string out;                // folder
  double until = 0;
  bool until_given = false;
  int threads = 0;
  std::string share;  // "2/10": the second tenth of the runs, counted from 0
  bool quiet = false, retry = false;
};
int sweep(const SweepOptions& options);

// "name=from:to:count".  Throws WrongUsage.
struct Vary {
  std::string name;
  std::vector<double> values;
};
Vary parse_vary(const std::string& text);

// Of equilibrium, linearise and modes.
struct LinearOptions {
  Source source;
  std::vector<std::string> held;                     // coordinates
  std::vector<std::string> inputs, outputs, states;  // names
  std::string vary, out;
  bool rest = false, instant = false, complete = false, json = false, force = false;
};
int equilibrium_of(const LinearOptions& options);
int linearise_model(const LinearOptions& options);
int modes_of(const LinearOptions& options);

struct PlotOptions {
  std::string run, out, title;
  std::vector<std::string> columns;
  bool force = false;
};
int plot(const PlotOptions& options);

struct ViewOptions {
  Source source;
  std::string run, out, title;  // without a run the start is shown
  std::vector<std::string> columns;
  bool complete = false, force = false;
};
int view(const ViewOptions& options);

struct ConvertOptions {
  Source source;
  std::string out;
  bool force = false;
};
int convert(const ConvertOptions& options);

struct NewOptions {
  std::string name, out;
  bool force = false;
};
int make_new(const NewOptions& options);
std::vector<std::string> names_of_new();

int list(const std::string& what);
int reference();  // prints docs/MODEL_FILES.md

}  // namespace mortise::command
