// mortise accelerations: the equations of motion and their solution at the start, by name.

#include <cstdio>

#include <mortise/solve/solve.h>

#include "commands.h"

namespace mortise::command {
namespace {

Json rows_of(const MatrixXd& M) {
  Json rows = Json::array();
  for (Index i = 0; i < M.rows(); ++i) rows.push(VectorXd(M.row(i)));
  return rows;
}

}  // namespace

int accelerations(const AccelerationsOptions& options) {
  Model model = read(options.source);
  model.complete = model.complete || options.complete;
  auto [system, s, implied, completed] = ready(model);
  const RankReport report = diagnose(system, s);
  if (!report.ok()) {
    warn(report.text());
    return status_of(report);
  }
  const Evaluation e = system.evaluate(s);
  const Solution solution = solve(system, e);
  const Status status = completed.empty() ? healthy : remarks;
  if (!options.json) {
    say(implied + completed + report.text() + solution.text());
    return status;
  }
  std::vector<std::string> coordinates = system.names()->names(), rows;
  for (Index i = 0; i < system.rows(); ++i) rows.push_back(system.row(i).name);
  Json reactions = Json::object();
  for (const Reaction& r : solution.reactions)
    reactions.add(r.joint,
                  {{"lambda", r.lambda}, {"force", VectorXd(r.force)}, {"unique", r.unique}, {"power", r.power}});
  const Json all{{"system", system.name()},
                 {"t", s.t},
                 {"coordinates", coordinates},
                 {"rows", rows},
                 {"q", s.q},
                 {"v", s.v},
                 {"M", rows_of(e.dense_M())},
                 {"Q", e.Q},
                 {"C", e.C},
                 {"A", rows_of(e.dense_A())},
                 {"b", e.b},
                 {"rank", report_json(report)},
                 {"accelerations", solution.a},
                 {"Qc", solution.Qc},
                 {"lambda", solution.lambda},
                 {"reactions", reactions}};
  put(all.text());
  return status;
}

}  // namespace mortise::command
