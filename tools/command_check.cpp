// mortise check: the rank report of a model, at its start or later.

#include <unistd.h>

#include <cstdio>

#include <mortise/assembly/graph.h>

#include "commands.h"
#include "graph_picture.h"

namespace mortise::command {

int check(const CheckOptions& options) {
  Model model = read(options.source);
  model.complete = model.complete || options.complete;
  auto [system, s, completed] = ready(model);
  if (!options.json) std::fputs(completed.c_str(), stdout);
  if (options.at_given && options.at != s.t) {
    if (options.at < s.t)
      Label{"time", fmt::format("{}", options.at)}.fail<InvalidModel>(fmt::format("lies before the start at {} s", s.t),
                                                                      "give a later one");
    model.run.duration = options.at - s.t;
    model.run.sample = model.run.duration;
    const Trajectory way = simulate(system, s, model.run);
    if (!way.finished) {
      std::fputs(way.text().c_str(), stderr);
      return impossible;
    }
    s = way.last;
  }
  const RankReport report = diagnose(system, s);
  if (!options.graph.empty())
    replace_file(options.graph,
                 options.graph.ends_with(".dot") ? graphviz(system, report) : graph_picture(system, report));
  std::fputs((options.json ? report_json(report).text() : report.text({.colour = isatty(STDOUT_FILENO) != 0})).c_str(),
             stdout);
  const Status status = status_of(report);
  return status == healthy && !completed.empty() ? remarks : status;
}

}  // namespace mortise::command
