// mortise check: the rank report of a model, at its start or later.

#include <unistd.h>

#include <cstdio>

#include <mortise/diagnosis/graph.h>

#include "commands.h"
#include "graph_picture.h"

namespace mortise::command {

int check(const CheckOptions& options) {
  const bool dot = options.graph.ends_with(".dot");
  if (!options.graph.empty()) {
    if (!dot && !options.graph.ends_with(".svg"))
      throw WrongUsage(fmt::format(
          "--graph {}: this is no kind of picture it can be; give a name that ends in .svg or .dot", options.graph));
    require_writable(options.graph);
  }
  std::optional<ModelError> invalid;
  std::optional<Model> read_model;
  try {
    read_model = read(options.source);
  } catch (const ModelError& error) {  // the others are looked at, too
    if (!error.rest() || System(error.rest()->assembly).size() == 0 || options.at_given) throw;
    invalid = error;
    read_model = *error.rest();
  }
  Model& model = *read_model;
  require_apart(model.files, {{"--graph", options.graph}}, options.force);
  model.complete = model.complete || options.complete;
  auto [system, s, implied, completed] = ready(model);
  if (!options.json) say(implied + completed);
  if (options.at_given && options.at != s.t) {
    if (options.at < s.t)
      throw WrongUsage(fmt::format("--at {}: this lies before the start at {} s; give a later time", options.at, s.t));
    model.run.duration = options.at - s.t;
    model.run.sample = model.run.duration;
    const Trajectory way = simulate(system, s, model.run);
    if (!way.finished) {
      warn(way.text());
      return impossible;
    }
    s = way.last;
  }
  RankReport report = diagnose(system, s);
  if (invalid) {
    std::vector<BrokenPart> faults;
    for (const ModelFault& f : invalid->faults()) {
      const std::string kind = f.kind.empty() ? "model" : f.kind, name = f.name.empty() ? system.name() : f.name;
      std::string fact = f.fact;
      if (const std::string own = fmt::format("{} '{}': ", kind, name.substr(name.rfind('/') + 1));
          fact.starts_with(own))
        fact = fact.substr(own.size());  // who it is stands before it
      faults.push_back(
          {Verdict::invalid, kind, name, fact, f.remedy.empty() ? "correct it in the file" : f.remedy, f.place});
    }
    report.broken.insert(report.broken.begin(), faults.begin(), faults.end());
    report.judged = report.judged.empty() ? invalid->judged() : invalid->judged() + ", " + report.judged;
  }
  if (!options.graph.empty())
    replace_file(options.graph, dot ? graphviz(system, report) : graph_picture(system, report));
  const bool colour = isatty(STDOUT_FILENO) != 0;
  if (options.json)
    put(report_json(report).text());
  else if (colour)
    say_coloured(report.text({.colour = true, .details = options.details}));
  else
    say(report.text({.details = options.details}));
  if (const Completable part = completable(report); !options.json && part != Completable::not_at_all)
    say("with --complete what is implied is added to the model{}\n",
        part == Completable::whole ? ", and it can be run" : "; the rest stays free");
  const Status status = status_of(report);
  return status == healthy && !completed.empty() ? remarks : status;
}

}  // namespace mortise::command
