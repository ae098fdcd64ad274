// What the subcommands share.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <new>

#include <mortise/core/memory.h>
#include <mortise/diagnosis/hidden.h>
#include <mortise/diagnosis/padding.h>
#include <mortise/files/robot.h>
#include <mortise/files/scope.h>

#include "commands.h"

namespace mortise::command {

Status status_of(const RankReport& report) {
  if (report.has(Verdict::invalid)) return invalid_file;
  if (!report.consistent() || report.has(Verdict::contradictory)) return impossible;
  if (!report.determined()) return not_determined;
  return report.well() ? healthy : remarks;
}

Status status_of(const std::exception& error) {
  if (dynamic_cast<const WrongUsage*>(&error)) return wrong_usage;
  if (dynamic_cast<const ModelError*>(&error) || dynamic_cast<const FileError*>(&error) ||
      dynamic_cast<const TooLarge*>(&error) || dynamic_cast<const std::bad_alloc*>(&error))
    return invalid_file;
  if (const auto* reported = dynamic_cast<const ReportedError*>(&error)) return status_of(reported->report());
  if (const auto* hidden = dynamic_cast<const NotCompletable*>(&error)) {
    for (const HiddenRow& row : hidden->report().rows)
      if (row.kind == HiddenKind::contradictory) return impossible;
    return not_determined;
  }
  if (dynamic_cast<const InvalidModel*>(&error)) return invalid_file;
  return impossible;
}

Json report_json(const RankReport& report) {
  Json out = report.json();
  out.add("status", static_cast<int>(status_of(report)));
  return out;
}

std::map<std::string, double> parameters(const std::vector<std::string>& set, const char* option) {
  std::map<std::string, double> out;
  const files::Scope scope;
  for (const std::string& item : set) {
    const auto equals = item.find('=');
    if (equals == std::string::npos || equals == 0)
      throw WrongUsage(fmt::format("{0} {1}: this is no name=value; write {0} length=2.5", option, item));
    files::Value v;
    v.kind = files::Value::Kind::text;
    v.text = item.substr(equals + 1);
    v.plain_text = false;
    v.where = {std::make_shared<const std::string>(fmt::format("{} {}", option, item))};
    try {
      out[item.substr(0, equals)] = scope.number(v, "*");
    } catch (const ModelError& error) {
      throw WrongUsage(error.what());
    }
  }
  return out;
}

RobotOptions robot_options(const Source& source, const std::map<std::string, double>& parameters) {
  RobotOptions options{.free_base = source.free_base, .joints = parameters};
  std::vector<std::string> controls;
  for (const std::string& c : source.control)
    if (c.find('=') == std::string::npos)
      options.control_table = c;
    else
      controls.push_back(c);
  options.controls = command::parameters(controls, "--control");
  options.mend = source.mend;
  options.keyframe = source.keyframe;
  options.with = source.with;
  options.packages = source.packages;
  return options;
}

Model read(const Source& source, const std::map<std::string, double>& parameters) {
  if (!is_robot_file(source.model)) {
    for (const auto& [option, given] : {std::pair("--control", !source.control.empty()),
                                        {"--keyframe", !source.keyframe.empty()},
                                        {"--with", !source.with.empty()},
                                        {"--free-base", source.free_base}})
      if (given) throw WrongUsage(fmt::format("{} is for robots' files, and '{}' is none", option, source.model));
    return read_model(source.model, parameters);
  }
  return read_robot(source.model, robot_options(source, parameters));
}

Model read(const Source& source) {
  const auto tell = [&](const Model& model) {
    for (const std::string& remark : model.remarks) warn("{}: {}\n", source.model, remark);
  };
  try {
    Model model = read(source, parameters(source.set));
    tell(model);
    return model;
  } catch (const ModelError& error) {
    if (error.rest()) tell(*error.rest());
    throw;
  }
}

Ready ready(const Model& model) {
  System system(model.assembly);
  if (system.size() == 0)
    Label{"model", system.name()}.fail<InvalidModel>("nothing in it can move", "add bodies, under [bodies.NAME]");
  State start = model.start(system);
  if (model.unpad) system = unpad(system, start).system;
  if (!model.complete || find_hidden(system, start).determined()) return {std::move(system), std::move(start), "", ""};
  Completed completed = complete(system, start);
  const std::string implied = completed.report.text(), added = completed.text();
  return {std::move(completed.system), std::move(completed.state), implied, added};
}

Completable completable(const RankReport& report) {
  const auto n =
      std::count_if(report.implied.begin(), report.implied.end(), [](const Implied& i) { return i.completable; });
  if (n == 0) return Completable::not_at_all;
  return n == std::ssize(report.free) ? Completable::whole : Completable::in_part;
}

void require_writable(const std::string& path) {
  namespace fs = std::filesystem;
  const Label label{"file", path};
  std::error_code none;
  if (fs::exists(path, none) && !fs::is_regular_file(path, none) && !fs::is_directory(path, none)) return;  // a pipe
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  if (fs::is_directory(path, none)) label.fail<FileError>("it is a folder", "give the name of a file");
  if (!fs::is_directory(folder, none))
    label.fail<FileError>(fmt::format("there is no folder '{}'", folder.string()), "make it, or give another name");
  if (access(folder.c_str(), W_OK) != 0)
    label.fail<FileError>(fmt::format("the folder '{}' may not be written to", folder.string()), "give another name");
}

void require_apart(const std::vector<std::string>& inputs, const std::vector<Output>& outputs, bool force) {
  for (auto o = outputs.begin(); o != outputs.end(); ++o) {
    if (o->path.empty()) continue;
    const Label label{"file", o->path};
    for (const std::string& input : inputs)
      if (!force && same_file(input, o->path))
        label.fail<FileError>(fmt::format("{} would write over it, and it is read", o->option),
                              "give another name, or --force if that is meant");
    for (auto other = outputs.begin(); other != o; ++other)
      if (!other->path.empty() && same_file(other->path, o->path))
        label.fail<FileError>(fmt::format("it is given for {} and for {}", other->option, o->option), "give two names");
  }
}

RankReport diagnose(const System& system, State& s) {
  RankReport report = check_model(system, s);
  if (!report.start || !report.start->reachable || report.start->far || !report.turned.empty()) return report;
  const std::optional<Start> start = report.start;
  try {
    s = consistent(system, s);
  } catch (const NotConverged&) {
    return report;
  }
  report = check_model(system, s);
  report.start = start;
  return report;
}

}  // namespace mortise::command
