// What the subcommands share.

#include <cmath>

#include "commands.h"
#include "scope.h"

namespace mortise::command {

Status status_of(const RankReport& report) {
  if (!report.consistent()) return impossible;
  for (const FreeDirection& d : report.free)
    if (!d.balanced) return impossible;  // nothing can balance the force along it
  if (!report.determined()) return not_determined;
  return report.redundant.empty() && report.warnings.empty() ? healthy : remarks;
}

Status status_of(const std::exception& error) {
  if (dynamic_cast<const ModelError*>(&error) || dynamic_cast<const FileError*>(&error)) return invalid_file;
  if (const auto* reported = dynamic_cast<const ReportedError*>(&error)) return status_of(reported->report());
  if (dynamic_cast<const InvalidModel*>(&error)) return invalid_file;
  return impossible;
}

Json report_json(const RankReport& report) {
  Json free = Json::array(), redundant = Json::array();
  for (const FreeDirection& d : report.free) {
    Json parts = Json::array();
    for (const auto& p : d.parts)
      parts.push({{"coordinate", p.coordinate}, {"share", p.share}, {"mass", p.mass}, {"rows", p.rows}});
    free.push({{"parts", parts},
               {"motions", d.motions},
               {"remedies", d.remedies},
               {"force", d.force},
               {"balanced", d.balanced}});
  }
  for (const RedundantRow& r : report.redundant)
    redundant.push(
        {{"row", r.row}, {"removes", r.removes}, {"set", r.set}, {"gap", r.gap}, {"consistent", r.consistent}});
  return {{"system", report.system},
          {"t", report.t},
          {"verdict", report.verdict()},
          {"status", static_cast<int>(status_of(report))},
          {"determined", report.determined()},
          {"consistent", report.consistent()},
          {"dof", report.dof},
          {"gruebler", report.gruebler},
          {"free", free},
          {"redundant", redundant},
          {"reactions_not_unique", report.reactions_not_unique},
          {"warnings", report.warnings}};
}

std::map<std::string, double> parameters(const std::vector<std::string>& set) {
  std::map<std::string, double> out;
  const models::Scope scope;
  for (const std::string& item : set) {
    const auto equals = item.find('=');
    const models::Where where{std::make_shared<const std::string>("--set " + item)};
    if (equals == std::string::npos || equals == 0)
      models::fail(where, "this is no name=value", "write --set length=2.5");
    models::Value v;
    v.kind = models::Value::Kind::text;
    v.text = item.substr(equals + 1);
    v.plain_text = false;
    v.where = where;
    out[item.substr(0, equals)] = scope.number(v, "*");
  }
  return out;
}

Model read(const Source& source) { return read_model(source.model, parameters(source.set)); }

void complete(Model& model) {
  if (model.complete)
    Label{"model", model.assembly.name()}.fail<InvalidModel>("hidden constraints cannot be completed yet",
                                                             "leave complete out");
}

State consistent_start(const Model& model, const System& system) {
  State s = model.start(system);
  system.require_state(s);
  constexpr double met = 1e-12;
  const Evaluation e = system.evaluate(s);
  bool on = e.phi.size() == 0 || e.phi.lpNorm<Eigen::Infinity>() <= met;
  if (on) {
    Solver solver(system);
    try {
      solver.solve(s);
      on = solver.rate().size() == 0 || solver.rate().lpNorm<Eigen::Infinity>() <= met;
    } catch (const ReportedError&) {
      return s;  // the report tells of it
    }
  }
  if (on) return s;
  try {
    return consistent(system, s);
  } catch (const ReportedError&) {
    return s;
  }
}

}  // namespace mortise::command
