// What a run was made of: the fingerprint of each section of its model with all values, for checkpoints, sweeps, pages,
// and the side file of a CSV file; and whether a run can be one of a model at all.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numbers>

#include <mortise/solve/readings.h>
#include <mortise/version.h>

#include "commands.h"

namespace mortise::command {
namespace {

constexpr std::string_view first_words = "mortise identity 1 ";

std::string line_of_csv(std::string_view csv) { return fmt::format("csv {} {:016x}", csv.size(), fingerprint(csv)); }

}  // namespace

Identity identity(Model model) {
  model.run.duration = Model("usual").run.duration;
  std::string text;
  try {
    text = write_model(model);
  } catch (const InvalidModel&) {  // formulas that cannot be written under these names
    for (const std::string& path : model.files)
      text += fmt::format("\n[file {}]\n", std::filesystem::path(path).filename().string()) + read_file(path);
    for (const auto& [name, x] : model.parameters) text += fmt::format("\n[parameter {}]\n{}\n", name, x);
  }
  Identity out{{"version", version}};
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find("\n[", from), text.size() - 1) + 1;
    std::string section = text.substr(from, end - from);
    section.erase(section.find_last_not_of('\n') + 1);  // whatever follows it
    const std::string name =
        section.starts_with('[') ? section.substr(0, section.find('\n')) : "the model's first lines";
    out.emplace_back(name, fmt::format("{:016x}", fingerprint(section)));
    from = end;
  }
  return out;
}

std::string identity_path(const std::string& csv) { return csv + ".identity"; }

std::string identity_text(std::string_view csv, const Identity& identity) {
  std::string lines = line_of_csv(csv) + "\n";
  for (const auto& [name, print] : identity) lines += fmt::format("{} {}\n", print, name);
  return fmt::format("{}{:016x}\n{}", first_words, fingerprint(lines), lines);
}

void require_identity(const std::string& csv, const Model& model) {
  const std::string path = identity_path(csv);
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return;
  constexpr std::size_t most = 1 << 28;
  const std::string text = read_file(path, most);
  const auto first = text.find('\n'), second = text.find('\n', first + 1);
  if (first == text.npos || second == text.npos ||
      text.substr(0, first) !=
          fmt::format("{}{:016x}", first_words, fingerprint(std::string_view(text).substr(first + 1))))
    Label{"file", path}.fail<FileError>("it is not whole, or was changed", "remove it, or make the run anew");
  const Label label{"run", csv};
  const std::string remedy = "give the model and the --set it was made with, or --force to show it all the same";
  if (text.substr(first + 1, second - first - 1) != line_of_csv(read_file(csv)))
    label.fail<InvalidModel>("the file was changed since '" + path + "' was written", "make the run anew, or --force");
  std::map<std::string, std::string> there, here;
  for (std::size_t at = second + 1; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size()), blank = std::min(text.find(' ', at), end);
    there[text.substr(std::min(blank + 1, end), end - std::min(blank + 1, end))] = text.substr(at, blank - at);
    at = end + 1;
  }
  for (const auto& [name, print] : identity(model)) here[name] = print;
  for (auto* of : {&there, &here})
    for (const char* of_run : {"[run]", "version"})
      of->erase(of_run);  // how it was computed changes nothing that is shown
  for (const auto& [name, print] : there)
    if (const auto it = here.find(name); it == here.end() || it->second != print)
      label.fail<InvalidModel>(fmt::format("it is of another model: {} {}", name,
                                           it == here.end() ? "is missing here" : "is another one here"),
                               remedy);
  for (const auto& [name, print] : here)
    if (!there.contains(name))
      label.fail<InvalidModel>(fmt::format("it is of another model: {} is missing there", name), remedy);
}

void require_run_of(const System& system, const RunTable& run) {
  State s = system.state();
  s.t = run.value(0, 0);
  for (Index i = 0; i < system.size(); ++i) {
    const std::string name = system.coordinate(i);
    const Index q = run.find(name), v = run.find(name + "'");
    if (q < 0 || v < 0) return;
    s.q[i] = run.value(0, q);
    s.v[i] = run.value(0, v);
  }
  Readings readings(system, {.coordinates = true});
  VectorXd here;
  try {
    here = readings.read(s);
  } catch (const Error&) {  // it tells its own faults elsewhere
    return;
  }
  constexpr double round_off = 1e-5;  // of the largest number of the same unit: other factors, light bodies
  std::map<std::string, double> size;
  for (std::size_t k = 0; k < run.columns.size(); ++k)
    size[run.columns[k].unit] =
        std::max(size[run.columns[k].unit], run.column(static_cast<Index>(k)).cwiseAbs().maxCoeff());
  for (std::size_t i = 0; i < readings.columns().size(); ++i) {
    const auto& column = readings.columns()[i];
    const Index k = run.find(column.name);
    if (k < 0) continue;
    const double x = run.value(0, k), y = here[static_cast<Index>(i)];
    double off = std::abs(x - y);
    if (column.unit == "rad")
      off = std::abs(std::remainder(off, 2 * std::numbers::pi));  // turns are counted on the way
    if (off > round_off * std::max(size[column.unit], std::abs(y)))
      Label{"run", run.source}.fail<InvalidModel>(
          fmt::format("it is of another model: {} is {:.6g} there at t = {:g} s, and {:.6g} here", column.name, x, s.t,
                      y),
          "give the model and the --set it was made with, --complete if it was, or --force to show it all the same");
  }
}

}  // namespace mortise::command
