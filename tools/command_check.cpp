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
  Model model = read(options.source);
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
  const RankReport report = diagnose(system, s);
  if (!options.graph.empty())
    replace_file(options.graph, dot ? graphviz(system, report) : graph_picture(system, report));
  const bool colour = isatty(STDOUT_FILENO) != 0;
  if (options.json)
    put(report_json(report).text());
  else if (colour)
    say_coloured(report.text({.colour = true}));
  else
    say(report.text());
  if (const Completable part = completable(report); !options.json && part != Completable::not_at_all)
    say("with --complete what is implied is added to the model{}\n",
        part == Completable::whole ? ", and it can be run" : "; the rest stays free");
  const Status status = status_of(report);
  return status == healthy && !completed.empty() ? remarks : status;
}

}  // namespace mortise::command
