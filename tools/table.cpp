#include "table.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <deque>
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

// The lines of a file and their cells.  A cell in quotes may hold commas, line ends, and quotes, which are doubled.
class Lines {
 public:
  Lines(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  // Of the next line that is not empty; false at the end.  They are valid until the next call.
  bool next(std::vector<std::string_view>& cells) {
    while (at_ < text_.size()) {
      cells.clear();
      unquoted_.clear();
      number_ = following_;
      do {
        cells.push_back(cell());
      } while (at_ < text_.size() && text_[at_++] == ',');
      ++following_;
      if (cells.size() > 1 || !cells[0].empty()) return true;
    }
    return false;
  }
  std::size_t number() const { return number_; }  // of the line, from 1

 private:
  // Ends at a comma, a line end or the end.
  std::string_view cell() {
    const std::size_t first = std::min(text_.find_first_not_of(" \t\r", at_), text_.size());
    if (first == text_.size() || text_[first] != '"') {
      const std::size_t from = at_;
      at_ = std::min(text_.find_first_of(",\n", at_), text_.size());
      return trimmed(text_.substr(from, at_ - from));
    }
    std::string& out = unquoted_.emplace_back();
    at_ = first + 1;
    for (;; ++at_) {
      if (at_ >= text_.size())
        fail(source_, number_, "a quote is not closed", "close it; quotes within quotes are doubled");
      if (text_[at_] == '"' && !text_.substr(at_ + 1).starts_with('"')) break;
      if (text_[at_] == '"') ++at_;
      following_ += text_[at_] == '\n';
      out += text_[at_];
    }
    at_ = std::min(text_.find_first_not_of(" \t\r", at_ + 1), text_.size());
    if (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n')
      fail(source_, number_, "there is more after the quote that closes " + quoted(out), "double quotes within quotes");
    return out;
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0, number_ = 0, following_ = 1;
  std::deque<std::string> unquoted_;
};

// "rod.x [m]", and "rod.x []" where a name without a unit ends in a bracket.
Readings::Column column_of(std::string_view cell) {
  const auto bracket = cell.rfind('[');
  if (bracket == cell.npos || !cell.ends_with(']')) return {std::string(cell), ""};
  std::string_view name = cell.substr(0, bracket);
  if (name.ends_with(' ')) name.remove_suffix(1);
  return {std::string(name), std::string(trimmed(cell.substr(bracket + 1, cell.size() - bracket - 2)))};
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
  Lines lines(text, source);
  std::vector<std::string_view> cells;
  while (lines.next(cells)) {
    const std::size_t number = lines.number();
    if (run.columns.empty()) {
      std::unordered_set<std::string> names;
      for (const std::string_view cell : cells) {
        run.columns.push_back(column_of(cell));
        const std::string& name = run.columns.back().name;
        if (name.empty())
          fail(source, number, fmt::format("column {} has no name", run.columns.size()),
               "the first line names the columns");
        if (!names.insert(name).second)
          fail(source, number, fmt::format("two columns are named {}", quoted(name)), "give each a name of its own");
      }
      if (run.columns.front().name != "t")
        fail(source, number, fmt::format("the first column is {}", quoted(run.columns.front().name)),
             "give a run as mortise writes it, \"t [s],rod.x [m],...\"");
      continue;
    }
    const std::size_t before = run.values.size();
    for (std::size_t i = 0; i < std::min(cells.size(), run.columns.size()); ++i) {
      const std::string_view cell = cells[i];
      double x = 0;
      const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), x);
      if (error != std::errc() || stop != cell.data() + cell.size() || !std::isfinite(x))
        fail(source, number, fmt::format("{} in column '{}' is no finite number", quoted(cell), run.columns[i].name),
             "give numbers such as 1.5 or -2e-3");
      run.values.push_back(x);
    }
    if (cells.size() != run.columns.size())
      fail(source, number, fmt::format("it has {} cells for {} columns", cells.size(), run.columns.size()),
           "give one number per column; the file may be cut off");
    if (before > 0 && run.values[before] < run.values[before - run.columns.size()])
      fail(source, number,
           fmt::format("t = {} comes after t = {}", run.values[before], run.values[before - run.columns.size()]),
           "give samples in the order of time");
  }
  if (run.columns.empty()) fail(source, 1, "it is empty", "give a run as mortise writes it, \"t [s],rod.x [m],...\"");
  if (run.values.empty()) fail(source, lines.number(), "it has names but no samples", "let the run record samples");
  return run;
}

// A pipe is read, too, as of `mortise plot <(zcat run.csv.gz)`; one that nobody writes to is not waited for.
RunTable read_csv(const std::string& path) {
  constexpr std::size_t most = 1'000'000'000;
  constexpr int patience = 2000;  // [ms] for somebody to open the other end
  const Label label{"file", path};
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) label.fail<FileError>("it cannot be opened", "check its name, and whether it may be read");
  std::string text;
  std::string block(1 << 20, '\0');
  bool bad = false, waited = false;
  while (text.size() <= most) {
    const ssize_t got = ::read(file, block.data(), block.size());
    pollfd pipe{file, POLLIN, 0};
    if (got > 0) {
      text.append(block, 0, static_cast<std::size_t>(got));
    } else if (got == 0 && text.empty() && !waited) {  // the end, or nobody writes yet
      waited = true;
      (void)::poll(&pipe, 1, patience);
    } else if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      (void)::poll(&pipe, 1, -1);
    } else {
      bad = got < 0;
      break;
    }
  }
  ::close(file);
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
