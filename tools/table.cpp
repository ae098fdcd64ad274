#include "table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <unordered_set>

namespace mortise {
namespace {

[[noreturn]] void fail(const std::string& source, std::size_t line, const std::string& fact,
                       const std::string& remedy) {
  Label{"file", source}.fail<FileError>(fmt::format("line {}: {}", line, fact), remedy);
}

std::string_view trimmed(std::string_view s) {
  const auto first = s.find_first_not_of(" \t\r");
  return first == s.npos ? std::string_view() : s.substr(first, s.find_last_not_of(" \t\r") - first + 1);
}

// As it stands in the file, but not pages of it.
std::string quoted(std::string_view word) {
  constexpr std::size_t most = 40;
  std::string out;
  for (const char c : word.substr(0, most)) out += c >= 0 && c < ' ' ? '?' : c;
  return fmt::format("'{}{}'", out, word.size() > most ? "..." : "");
}

// f(index, cell) for each cell of a line; returns how many there are.
template <class F> std::size_t for_each_cell(std::string_view line, const F& f) {
  std::size_t i = 0;
  for (std::size_t from = 0;; ++i) {
    const std::size_t comma = line.find(',', from);
    f(i, trimmed(line.substr(from, comma - from)));
    if (comma == line.npos) return i + 1;
    from = comma + 1;
  }
}

// "rod.x [m]"
Readings::Column column_of(std::string_view cell) {
  const auto bracket = cell.rfind('[');
  if (bracket == cell.npos || !cell.ends_with(']')) return {std::string(cell), ""};
  return {std::string(trimmed(cell.substr(0, bracket))),
          std::string(trimmed(cell.substr(bracket + 1, cell.size() - bracket - 2)))};
}

}  // namespace

Index RunTable::find(std::string_view column) const {
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == column) return static_cast<Index>(i);
  return -1;
}

Index RunTable::index(std::string_view column) const {
  if (const Index i = find(column); i >= 0) return i;
  std::vector<std::string> known;
  for (const auto& c : columns) known.push_back(c.name);
  Label{"column", std::string(column)}.fail<InvalidModel>(
      fmt::format("'{}' has none of this name", source),
      fmt::format("did you mean '{}'?", nearest_name(column, known)));
}

VectorXd RunTable::column(Index i) const {
  VectorXd out(samples());
  for (Index k = 0; k < out.size(); ++k) out[k] = value(k, i);
  return out;
}

RunTable parse_csv(std::string_view text, const std::string& source) {
  RunTable run{source, {}, {}};
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // byte order mark
  std::size_t number = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view line = trimmed(text.substr(from, end - from));
    from = end + 1;
    ++number;
    if (line.empty()) continue;
    if (run.columns.empty()) {
      std::unordered_set<std::string> names;
      for_each_cell(line, [&](std::size_t i, std::string_view cell) {
        run.columns.push_back(column_of(cell));
        const std::string& name = run.columns.back().name;
        if (name.empty())
          fail(source, number, fmt::format("column {} has no name", i + 1), "the first line names the columns");
        if (!names.insert(name).second)
          fail(source, number, fmt::format("two columns are named {}", quoted(name)), "give each a name of its own");
      });
      if (run.columns.front().name != "t")
        fail(source, number, fmt::format("the first column is {}", quoted(run.columns.front().name)),
             "give a run as mortise writes it, \"t [s],rod.x [m],...\"");
      continue;
    }
    const std::size_t before = run.values.size();
    const std::size_t cells = for_each_cell(line, [&](std::size_t i, std::string_view cell) {
      if (i >= run.columns.size()) return;
      double x = 0;
      const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), x);
      if (error != std::errc() || stop != cell.data() + cell.size() || !std::isfinite(x))
        fail(source, number, fmt::format("{} in column '{}' is no finite number", quoted(cell), run.columns[i].name),
             "give numbers such as 1.5 or -2e-3");
      run.values.push_back(x);
    });
    if (cells != run.columns.size())
      fail(source, number, fmt::format("it has {} cells for {} columns", cells, run.columns.size()),
           "give one number per column; the file may be cut off");
    if (before > 0 && run.values[before] < run.values[before - run.columns.size()])
      fail(source, number,
           fmt::format("t = {} comes after t = {}", run.values[before], run.values[before - run.columns.size()]),
           "give samples in the order of time");
  }
  if (run.columns.empty()) fail(source, 1, "it is empty", "give a run as mortise writes it, \"t [s],rod.x [m],...\"");
  if (run.values.empty()) fail(source, number, "it has names but no samples", "let the run record samples");
  return run;
}

RunTable read_csv(const std::string& path) {
  constexpr std::size_t most = 1'000'000'000;
  const Label label{"file", path};
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) label.fail<FileError>("it cannot be opened", "check its name, and whether it may be read");
  std::string text;
  std::string block(1 << 20, '\0');
  std::size_t got = 0;
  while (text.size() <= most && (got = std::fread(block.data(), 1, block.size(), file)) > 0) text.append(block, 0, got);
  const bool bad = std::ferror(file) != 0;
  std::fclose(file);
  if (bad) label.fail<FileError>("it cannot be read", "check whether it is a file, and may be read");
  if (text.size() > most)
    label.fail<FileError>(fmt::format("it is above {} bytes", most), "record fewer samples or columns");
  return parse_csv(text, path);
}

RunTable table_of(const Trajectory& run) { return {run.system, run.columns, run.values}; }

RunTable table_of(const System& system, const State& s) {
  system.require_state(s);
  RunTable run{system.name(), {{"t", "s"}}, {s.t}};
  for (const auto& body : system.bodies()) {
    const std::vector<std::string> units = body.model->units();
    for (Index i = 0; i < body.size; ++i) {
      run.columns.push_back({system.coordinate(body.first + i), units[static_cast<std::size_t>(i)]});
      run.values.push_back(s.q[body.first + i]);
    }
  }
  return run;
}

}  // namespace mortise
