// mortise check: the rank report of a model, at its start or later.

#include <unistd.h>

#include <cstdio>

#include <filesystem>

#include <mortise/core/words.h>
#include <mortise/diagnosis/graph.h>
#include <mortise/files/fix.h>
#include <mortise/files/robot.h>

#include "commands.h"
#include "graph_picture.h"

namespace mortise::command {

namespace {

// Each applied to a copy of the file and checked; of a robot's file, to the model file that it becomes.
std::vector<Fix> fixes_of(const CheckOptions& options, const Model& model, const RankReport& report) {
  const std::filesystem::path file(options.source.model);
  const ModelText text =
      is_robot_file(options.source.model)
          ? ModelText{write_model(model), file.stem().string() + ".toml", file.parent_path().string(), {}}
          : ModelText{read_file(options.source.model), options.source.model, file.parent_path().string(),
                      parameters(options.source.set)};
  return find_fixes(text, report, [&](Model changed) {
    changed.complete = changed.complete || options.complete;
    auto [system, s, implied, completed] = ready(changed);
    return diagnose(system, s);
  });
}

// Of a robot's file that is invalid by moments of its links alone: the nearest moments that bodies can have.
std::vector<Fix> fixes_of_moments(const CheckOptions& options, const ModelError& invalid) {
  std::vector<std::string> links;
  for (const ModelFault& f : invalid.faults())
    if (f.kind != "body")
      return {};
    else
      links.push_back(fmt::format("'{}'", f.name));
  Source source = options.source;
  source.mend = true;
  try {
    Model mended = read(source, parameters(source.set));
    auto [system, s, implied, completed] = ready(mended);
    return {{fmt::format("give {} {} the nearest moments that a body can have", links.size() == 1 ? "link" : "links",
                         some_of(links)),
             write_model(mended), false, diagnose(system, s)}};
  } catch (const Error&) {
    return {};
  }
}

std::string text_of(const std::vector<Fix>& fixes) {
  constexpr std::size_t most = 6;
  std::string out;
  for (std::size_t k = 0; k < std::min(most, fixes.size()); ++k) {
    const RankReport& r = fixes[k].report;
    const std::string left = r.findings().empty() ? "all well" : r.verdict();
    out += fmt::format("  {}  {} ({}, DOF {}){}\n", k + 1, fixes[k].words, left, r.dof,
                       fixes[k].rewritten ? ", the file is written anew, without its comments" : "");
  }
  if (fixes.size() > most) out += fmt::format("  ... {} more\n", fixes.size() - most);
  return out.empty() ? out : "fixes, each applied to a copy and checked; --fix N -o FILE writes one:\n" + out;
}

void write_fix(const CheckOptions& options, const std::vector<Fix>& fixes) {
  if (options.fix > std::ssize(fixes))
    throw WrongUsage(fmt::format("--fix {}: {}", options.fix,
                                 fixes.empty() ? "no change that was tried mends the model; follow the remedies"
                                               : fmt::format("there are {}; give a number from 1 on", fixes.size())));
  const Fix& fix = fixes[static_cast<std::size_t>(options.fix - 1)];
  replace_file(options.out, fix.text);
  say("{}: {}\n", options.out, fix.words);
}

std::vector<BrokenPart> faults_of(const ModelError& error, const std::string& model) {
  std::vector<BrokenPart> out;
  for (const ModelFault& f : error.faults()) {
    const std::string kind = f.kind.empty() ? "model" : f.kind, name = f.name.empty() ? model : f.name;
    std::string fact = f.fact;
    if (const std::string own = fmt::format("{} '{}': ", kind, name.substr(name.rfind('/') + 1)); fact.starts_with(own))
      fact = fact.substr(own.size());  // who it is stands before it
    out.push_back(
        {Verdict::invalid, kind, name, fact, f.remedy.empty() ? "correct it in the file" : f.remedy, f.place});
  }
  return out;
}

// Of a file of which nothing can be judged.
RankReport report_of(const ModelError& error, const std::string& file) {
  RankReport out;
  out.system = std::filesystem::path(file).stem().string();
  out.broken = faults_of(error, out.system);
  return out;
}

}  // namespace

int check(const CheckOptions& options) {
  if ((options.fix > 0) != !options.out.empty()) throw WrongUsage("--fix and -o go together: --fix 1 -o fixed.toml");
  if (options.fix > 0 && (options.json || options.at_given))
    throw WrongUsage("--fix goes with neither --json nor --at: it changes the file");
  if (!options.out.empty()) require_writable(options.out);
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
    if (!error.rest() || System(error.rest()->assembly).size() == 0 || options.at_given) {
      if (!options.json) throw;
      put(report_json(report_of(error, options.source.model)).text());
      return invalid_file;
    }
    invalid = error;
    read_model = *error.rest();
  }
  Model& model = *read_model;
  require_apart(model.files, {{"--graph", options.graph}, {"-o", options.out}}, options.force);
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
    const std::vector<BrokenPart> faults = faults_of(*invalid, system.name());
    report.broken.insert(report.broken.begin(), faults.begin(), faults.end());
    report.judged = report.judged.empty() ? invalid->judged() : invalid->judged() + ", " + report.judged;
  }
  if (!options.graph.empty())
    replace_file(options.graph, dot ? graphviz(system, report) : graph_picture(system, report));
  const bool colour = isatty(STDOUT_FILENO) != 0;
  const bool from_robot = is_robot_file(options.source.model);
  const std::vector<Fix> fixes = options.at_given        ? std::vector<Fix>()
                                 : from_robot && invalid ? fixes_of_moments(options, *invalid)
                                                         : fixes_of(options, model, report);
  if (options.fix > 0) {
    write_fix(options, fixes);
    return healthy;
  }
  if (options.json) {
    Json out = report_json(report);
    std::vector<Json> list;
    for (const Fix& f : fixes)
      list.push_back(Json{{"change", f.words}, {"verdict", f.report.verdict()}, {"dof", f.report.dof}});
    out.add("fixes", Json::array(std::move(list)));
    put(out.text());
  } else if (colour)
    say_coloured(report.text({.colour = true, .details = options.details}));
  else
    say(report.text({.details = options.details}));
  if (!options.json) say(text_of(fixes));
  if (const Completable part = completable(report); !options.json && part != Completable::not_at_all)
    say("with --complete what is implied is added to the model{}\n",
        part == Completable::whole ? ", and it can be run" : "; the rest stays free");
  const Status status = status_of(report);
  return status == healthy && !completed.empty() ? remarks : status;
}

}  // namespace mortise::command
