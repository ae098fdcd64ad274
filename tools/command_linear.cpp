// mortise equilibrium, linearise and modes: what a model does near a state of rest or a steady motion.

#include <mortise/analysis/modes.h>
#include <mortise/core/text.h>
#include <mortise/integrators/start.h>

#include "commands.h"

namespace mortise::command {
namespace {

struct Near {
  Model model;
  System system;
  State state;
  std::string told;  // of what was completed
};

Near near(const LinearOptions& o, const std::vector<std::string>& set) {
  Source source = o.source;
  source.set.insert(source.set.end(), set.begin(), set.end());
  Model model = read(source);
  model.complete = model.complete || o.complete;
  Ready r = ready(model);
  std::string told = r.implied + r.completed;
  State s = std::move(r.start);
  if (o.rest) {
    s = equilibrium(r.system, s, {.held = o.held});
  }
  return {std::move(model), std::move(r.system), std::move(s), std::move(told)};
}

std::string file_told(const std::string& path) { return fmt::format("written: {}\n", path); }

void require_output(const LinearOptions& o, const Model& model) {
  if (o.out.empty()) return;
  require_apart(model.files, {{"-o", o.out}}, o.force);
  require_writable(o.out);
}

}  // namespace

int equilibrium_of(const LinearOptions& o) {
  Model model = read(o.source);
  model.complete = model.complete || o.complete;
  require_output(o, model);
  const Ready r = ready(model);
  const State s = equilibrium(r.system, r.start, {.held = o.held});
  // Of motions that are not determined, and where the model changes with time, nothing is known.
  std::string stability = "not known whether stably", rest;
  Index undecided = 0;
  try {
    const Modes found = modes(r.system, s);
    stability = found.stable() ? "stable" : "unstable";
    undecided = found.rigid.cols();
    if (undecided > 0) rest = found.text();
  } catch (const Error&) {
  }
  const auto names = r.system.names()->names();
  if (o.json) {
    Json q = Json::object();
    for (Index i = 0; i < r.system.size(); ++i) q.add(names[static_cast<std::size_t>(i)], s.q[i]);
    put(Json({{"system", r.system.name()},
              {"t", s.t},
              {"stability", stability},
              {"rigid_body_modes", undecided},
              {"coordinates", q}})
            .text());
  } else {
    std::string text = fmt::format("{}{}at rest, {}\n{}", r.implied, r.completed, stability, rest);
    for (Index i = 0; i < r.system.size(); ++i)
      text += fmt::format("  {} = {:.10g}\n", names[static_cast<std::size_t>(i)], s.q[i]);
    say(text);
  }
  if (!o.out.empty()) {
    std::string csv = "coordinate,value\n";
    for (Index i = 0; i < r.system.size(); ++i)
      csv += fmt::format("{},{}\n", csv_cell(names[static_cast<std::size_t>(i)]), s.q[i]);
    replace_file(o.out, csv);
    if (!o.json) say(file_told(o.out));
  }
  return stability == "stable" && undecided == 0 && r.completed.empty() ? healthy : remarks;
}

int linearise_model(const LinearOptions& o) {
  const Near n = near(o, {});
  require_output(o, n.model);
  LineariseOptions options{.inputs = o.inputs, .outputs = o.outputs, .states = o.states, .must_be_steady = !o.instant};
  // What is no place for a force may be a parameter of the file.
  const std::map<std::string, double> given = parameters(o.source.set);
  std::erase_if(options.inputs, [&](const std::string& name) {
    const auto at = n.model.parameters.find(name);
    if (at == n.model.parameters.end()) return false;
    const double value = at->second;
    options.parameters.push_back({name,
                                  [&o, given, name, value, complete = n.model.complete](double change) {
                                    std::map<std::string, double> all = given;
                                    all[name] = value + change;
                                    Model other = read_model(o.source.model, all);
                                    other.complete = complete;
                                    return ready(other).system;
                                  },
                                  std::max(1e-3, std::abs(value))});
    return true;
  });
  const LinearModel found = linearise(n.system, n.state, options);
  const std::string end = o.out.size() > 2 ? o.out.substr(o.out.find_last_of('.') + 1) : "";
  if (!o.out.empty()) {
    if (end != "csv" && end != "json" && end != "m")
      throw WrongUsage(fmt::format("-o {}: no format is known by this ending; write .csv, .json or .m", o.out));
    replace_file(o.out, end == "csv" ? found.csv() : end == "m" ? found.matlab() : found.json());
  }
  if (o.json)
    put(found.json());
  else
    say(n.told + found.text() + (o.out.empty() ? "" : "\n" + file_told(o.out)));
  return healthy;
}

int modes_of(const LinearOptions& o) {
  if (o.vary.empty()) {
    const Near n = near(o, {});
    require_output(o, n.model);
    const Modes found = modes(n.system, n.state);
    if (!o.out.empty()) replace_file(o.out, found.csv());
    say(n.told + found.text() + (o.out.empty() ? "" : file_told(o.out)));
    return found.stable() ? healthy : remarks;
  }
  const Vary vary = parse_vary(o.vary);
  std::string csv = fmt::format("{},mode,real [1/s],imaginary [1/s],frequency [Hz],damping\n", csv_cell(vary.name));
  std::string text = fmt::format("{:>14} {:>8}  frequencies [Hz]\n", vary.name, "");
  bool stable = true;
  for (const double value : vary.values) {
    const Near n = near(o, {fmt::format("{}={:.17g}", vary.name, value)});
    if (value == vary.values.front()) require_output(o, n.model);
    const Modes found = modes(n.system, n.state);
    stable = stable && found.stable();
    text += fmt::format("{:>14.6g} {:>8} ", value, found.stable() ? "stable" : "unstable");
    for (std::size_t i = 0; i < found.modes.size(); ++i) {
      const Mode& m = found.modes[i];
      csv += fmt::format("{},{},{},{},{},{}\n", value, i + 1, m.eigenvalue.real(), m.eigenvalue.imag(), m.frequency,
                         m.damping);
      if (m.frequency > 0) text += fmt::format(" {:.5g}", m.frequency);
    }
    text += "\n";
  }
  if (!o.out.empty()) replace_file(o.out, csv);
  say(text + (o.out.empty() ? "" : file_told(o.out)));
  return stable ? healthy : remarks;
}

}  // namespace mortise::command
