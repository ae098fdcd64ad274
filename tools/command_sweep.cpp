// mortise sweep: the runs of a model over a grid of parameters, on all cores.
//
// Run k writes run_0000k.csv and then run_0000k.row, its line of the summary.  A run that has both, whole and of the
// same model, is not made again, so that a sweep that was interrupted goes on.  Several processes and machines can
// share one folder: each takes the runs that no other is making, by locks on the bytes of sweep.lock.  sweep.txt tells
// which sweep it is.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <optional>

#include <mortise/core/memory.h>
#include <mortise/core/text.h>
#include <mortise/integrators/sweep.h>

#include "commands.h"

namespace mortise::command {
namespace {

constexpr std::size_t most_runs = 1'000'000;

// Locks on numbers, between processes, on one machine or several.  Where the file system has none nobody waits.
class Locks {
 public:
  explicit Locks(const std::string& path) : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (fd_ < 0) Label{"file", path}.fail<FileError>("cannot be written", "check the folder and its permissions");
  }
  Locks(const Locks&) = delete;
  Locks& operator=(const Locks&) = delete;
  ~Locks() { ::close(fd_); }

  // False: another process has it.
  bool take(std::size_t k, bool wait) {
    struct flock lock = range(k, F_WRLCK);
    while (::fcntl(fd_, wait ? F_SETLKW : F_SETLK, &lock) != 0) {
      if (errno == EINTR) continue;
      return errno != EAGAIN && errno != EACCES;
    }
    return true;
  }
  void give(std::size_t k) {
    struct flock lock = range(k, F_UNLCK);
    (void)::fcntl(fd_, F_SETLK, &lock);
  }
  long holder(std::size_t k) const {  // its process; 0: nobody, or it is not known
    struct flock lock = range(k, F_WRLCK);
    return ::fcntl(fd_, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
  }

 private:
  static struct flock range(std::size_t k, short kind) {
    struct flock lock = {};
    lock.l_type = kind;
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(k);
    lock.l_len = 1;
    return lock;
  }
  int fd_;
};

// run_0000k.row: whose run it is, what its CSV file is, and its line of the summary.
struct Row {
  std::string identity, line;
  std::size_t bytes = 0;
  std::uint64_t csv = 0;

  bool failed() const { return line.find(",failed,") != std::string::npos; }
  bool stopped() const { return line.find(",stopped,") != std::string::npos; }
  bool inaccurate() const { return line.find(",inaccurate,") != std::string::npos; }
  bool is(const std::string& text) const { return text.size() == bytes && fingerprint(text) == csv; }
  std::string text() const {
    const std::string rest = fmt::format("{} {} {:016x}\n{}\n", identity, bytes, csv, line);
    return fmt::format("mortise row 1 {:016x}\n{}", fingerprint(rest), rest);
  }
};

// None if the file is not there, or is not whole to the bit.
std::optional<Row> read_row(const std::string& path) {
  constexpr std::size_t most = 1 << 20;
  std::string text;
  try {
    text = read_file(path, most);
  } catch (const FileError&) {
    return std::nullopt;
  }
  const auto first = text.find('\n'), second = text.find('\n', first + 1);
  if (first == text.npos || second == text.npos || !text.ends_with('\n') || second + 1 == text.size())
    return std::nullopt;
  Row row;
  const std::string facts = text.substr(first + 1, second - first - 1);
  const auto a = facts.find(' '), b = facts.find(' ', a + 1);
  if (a == facts.npos || b == facts.npos) return std::nullopt;
  row.identity = facts.substr(0, a);
  (void)std::from_chars(facts.data() + a + 1, facts.data() + b, row.bytes);
  (void)std::from_chars(facts.data() + b + 1, facts.data() + facts.size(), row.csv, 16);
  row.line = text.substr(second + 1, text.size() - second - 2);
  if (row.text() != text) return std::nullopt;
  return row;
}

}  // namespace

Vary parse_vary(const std::string& text) {
  const auto wrong = [&](const std::string& fact) {
    throw WrongUsage(fmt::format("--vary {}: {}; write --vary name=from:to:count, as length=1:2:11", text, fact));
  };
  const auto equals = text.find('='), first = text.find(':'), second = text.find(':', first + 1);
  if (equals == std::string::npos || equals == 0 || first == std::string::npos || second == std::string::npos ||
      first < equals)
    wrong("this is no range");
  const auto number = [&](std::size_t begin, std::size_t end) {
    double x = 0;
    const char* last = text.data() + end;
    const auto [at, status] = std::from_chars(text.data() + begin, last, x);
    if (status != std::errc() || at != last || !std::isfinite(x))
      wrong(fmt::format("'{}' is no number", text.substr(begin, end - begin)));
    return x;
  };
  Vary v{text.substr(0, equals), {}};
  const double from = number(equals + 1, first), to = number(first + 1, second),
               count = number(second + 1, text.size());
  if (count < 1 || count > 1e6 || count != std::floor(count)) wrong(fmt::format("{} is no count of runs", count));
  const int n = static_cast<int>(count);
  for (int i = 0; i < n; ++i) v.values.push_back(n == 1 ? from : from + (to - from) * i / (n - 1));
  return v;
}

int sweep(const SweepOptions& o) {
  namespace fs = std::filesystem;
  std::vector<Vary> vary;
  std::size_t count = 1;
  for (const std::string& text : o.vary) {
    vary.push_back(parse_vary(text));
    count *= vary.back().values.size();
    if (count > most_runs)
      throw WrongUsage(fmt::format("--vary {}: this makes more than {} runs; vary less", text, most_runs));
  }
  const std::map<std::string, double> fixed = parameters(o.source.set);
  for (auto v = vary.begin(); v != vary.end(); ++v)
    if (fixed.count(v->name) > 0 ||
        std::any_of(vary.begin(), v, [&](const Vary& other) { return other.name == v->name; }))
      throw WrongUsage(fmt::format("--vary {}: this parameter is given twice; give it once", v->name));
  std::size_t share = 0, shares = 1;
  if (!o.share.empty()) {
    const auto slash = o.share.find('/');
    const char *begin = o.share.data(), *end = begin + o.share.size();
    const bool ok = slash != std::string::npos && std::from_chars(begin, begin + slash, share).ptr == begin + slash &&
                    std::from_chars(begin + slash + 1, end, shares).ptr == end && shares >= 1 && share < shares;
    if (!ok) throw WrongUsage(fmt::format("--share {}: this is no share; write --share 2/10, counted from 0", o.share));
  }
  const auto at = [&](std::size_t k) {
    std::map<std::string, double> p = fixed;
    for (auto v = vary.rbegin(); v != vary.rend(); ++v) {
      p[v->name] = v->values[k % v->values.size()];
      k /= v->values.size();
    }
    return p;
  };
  const Model first = read(o.source, at(0));  // what is wrong with the file is told once
  std::error_code error;
  fs::create_directories(o.out, error);
  if (!fs::is_directory(o.out))
    throw FileError("folder", o.out, "cannot be made", "check the name and its permissions");
  const auto in_folder = [&](const std::string& name) { return (fs::path(o.out) / name).string(); };
  const auto file = [&](std::size_t k, const char* end) { return in_folder(fmt::format("run_{:05}.{}", k, end)); };
  const std::string what = in_folder("sweep.txt"), summary = in_folder("summary.csv");
  for (const auto& entry : fs::directory_iterator(o.out)) {
    const std::string name = entry.path().stem().string(), end = entry.path().extension().string();
    const bool ours = name.starts_with("run_") || name == "sweep" || name == "summary";
    if (ours && (end == ".csv" || end == ".row" || end == ".txt" || end == ".lock"))
      require_apart(first.files, {{"-o", entry.path().string()}}, false);
  }

  // What the runs of this folder have in common: lines of another sweep must not pass for lines of this one.
  const auto with_end = [&](Model model) {
    if (o.until_given) model.run.duration = o.until - model.time;
    return model;
  };
  const auto print = [&](const Model& model) {
    std::string all = fmt::format("{}\n", model.run.duration);
    for (const auto& [name, value] : identity(model)) all += name + value + "\n";
    return fmt::format("{:016x}", fingerprint(all));
  };
  // With these parameters it may be no model; if a file cannot be read, it is not the model's fault.
  const auto print_of_none = [&](const ModelError& e) {
    for (const std::string& path : first.files) (void)read_file(path);
    const std::string text = e.what(), from = o.source.model;
    return fmt::format("{:016x}", fingerprint(text.starts_with(from) ? text.substr(from.size()) : text));
  };
  std::string same = fmt::format("mortise sweep {}", fs::path(o.source.model).filename().string());
  for (const std::string& text : o.vary) same += " --vary " + text;
  for (const auto& [name, x] : fixed) same += fmt::format(" --set {}={}", name, x);
  if (o.until_given) same += fmt::format(" --until {}", o.until);
  same += fmt::format("\nmodel {}\n", print(with_end(first)));
  const auto refuse = [&](const std::string& whose) {
    throw WrongUsage(fmt::format("folder '{}': it has runs of {}; give another folder, or remove it", o.out, whose));
  };
  Locks locks(in_folder("sweep.lock"));
  locks.take(most_runs, true);  // others may begin at the same time
  if (fs::exists(what)) {
    const std::string there = read_file(what);
    const std::string line = there.substr(0, there.find('\n'));
    if (there != same)
      refuse(same.starts_with(line + "\n") ? "this model before it was changed" : fmt::format("`{}`", line));
  } else {
    replace_file(what, same);
  }
  locks.give(most_runs);

  // The run is there, whole and of this model.
  const auto made = [&](std::size_t k) {
    const std::optional<Row> row = read_row(file(k, "row"));
    if (!row) return false;
    std::string mine;
    try {
      mine = print(with_end(read(o.source, at(k))));
    } catch (const ModelError& e) {
      mine = print_of_none(e);
    }
    if (row->identity != mine) refuse(fmt::format("this model before it was changed: run {}", k));
    if (row->failed()) return !o.retry;
    if (row->stopped() && o.retry) return false;
    try {
      return row->is(read_file(file(k, "csv")));
    } catch (const FileError&) {
      return false;
    }
  };
  const std::size_t here = share < count ? (count - share + shares - 1) / shares : 0;
  std::vector<std::size_t> todo, waiting;
  std::mutex listing;
  std::string unmade;  // why, of the first one that could not be made
  std::size_t not_made = 0;
  // All of them on all cores; what an exception says ends the sweep.
  const auto each = [&](std::size_t n, const auto& f, const std::function<void(std::size_t)>& done) {
    std::exception_ptr thrown;
    (void)mortise::sweep(
        n,
        [&](std::size_t i) {
          try {
            f(i);
          } catch (...) {
            const std::lock_guard lock(listing);
            thrown = std::current_exception();
          }
          return Trajectory{};
        },
        o.threads, done);
    if (thrown) std::rethrow_exception(thrown);
  };
  each(here,
       [&](std::size_t i) {
         const std::size_t k = share + i * shares;
         if (made(k)) return;
         const std::lock_guard lock(listing);
         todo.push_back(k);
       },
       {});
  std::sort(todo.begin(), todo.end());
  if (!o.quiet) say("{} run{}, {} of them here, {} to be made\n", count, count == 1 ? "" : "s", here, todo.size());

  // What the model lets fail is told in its line.  Files that cannot be written, or memory that there is none of, may
  // be there the next time: such a run has no line.
  const auto make = [&](std::size_t k) {
    const std::map<std::string, double> p = at(k);
    Row row{.identity = "", .line = fmt::format("{}", k)};
    for (const Vary& v : vary) row.line += fmt::format(",{}", p.at(v.name));
    try {
      const Model model = with_end(read(o.source, p));
      row.identity = print(model);
      const Ready r = ready(model);
      const Trajectory t = simulate(r.system, r.start, model.run);
      const std::string csv = t.csv();
      row.bytes = csv.size(), row.csv = fingerprint(csv);
      replace_file(file(k, "csv"), csv);
      fs::remove(file(k, "txt"));  // of an earlier failure
      double drift = 0;
      for (const auto& d : t.drift) drift = std::max(drift, d.largest);
      const char* outcome = t.to_tolerance() ? "finished" : t.finished ? "inaccurate" : "stopped";
      row.line += fmt::format(",{},{},{},{},{},{}", outcome, t.last.t, t.steps, t.energy_error, drift, t.notes.size());
    } catch (const FileError&) {
      throw;
    } catch (const TooLarge&) {
      throw;
    } catch (const Error& e) {
      if (const auto* none = dynamic_cast<const ModelError*>(&e)) row.identity = print_of_none(*none);
      row.line += ",failed,,,,,";
      replace_file(file(k, "txt"), std::string(e.what()) + "\n");
    }
    replace_file(file(k, "row"), row.text());
  };
  const auto make_all = [&](const std::vector<std::size_t>& runs, bool wait) {
    const auto one = [&](std::size_t i) {
      const std::size_t k = runs[i];
      if (!locks.take(k, wait)) {
        const std::lock_guard lock(listing);
        waiting.push_back(k);
        return;
      }
      try {
        if (!made(k)) make(k);  // another one may have made it since
      } catch (const std::exception& e) {
        const std::lock_guard lock(listing);
        if (not_made++ == 0) unmade = fmt::format("run {}: {}", k, e.what());
      }
      locks.give(k);
    };
    each(runs.size(), one, [&](std::size_t done) {
      if (!o.quiet && (done == runs.size() || done % std::max<std::size_t>(1, runs.size() / 20) == 0))
        say("  {} of {}\n", done, runs.size());
    });
  };
  make_all(todo, false);
  if (!waiting.empty()) {
    if (const long holder = locks.holder(waiting.front()); !o.quiet)
      say("{} more are being made by another sweep of this folder{}\n", waiting.size(),
          holder > 0 ? fmt::format(", process {}", holder) : "");
    const std::vector<std::size_t> others = std::exchange(waiting, {});
    make_all(others, true);
  }

  if (not_made > 0)
    warn("{} could not be made, and {} made by the same line again; {}\n", not_made, not_made == 1 ? "is" : "are",
         unmade);

  std::string table = "run";
  for (const Vary& v : vary) table += "," + csv_cell(v.name);
  table += ",outcome,t [s],steps,energy error [J],drift,notes\n";
  std::size_t there = 0, failed = 0, inaccurate = 0;
  for (std::size_t k = share; k < count; k += shares) {
    const std::optional<Row> row = read_row(file(k, "row"));
    if (!row) continue;
    ++there;
    inaccurate += row->inaccurate();
    failed += row->failed() || row->stopped();
    table += row->line + "\n";
  }
  if (shares == 1) replace_file(summary, table);  // else others work on it
  if (!o.quiet)
    say("{} of {} runs are there, {} did not finish; {}\n", there, here, failed,
        shares == 1 ? "see " + summary : "the same line without --share makes the summary");
  if (inaccurate > 0)
    warn("{} of them {} steps with an error above the tolerance: 'inaccurate' in the summary\n", inaccurate,
         inaccurate == 1 ? "has" : "have");
  if (not_made > 0) return invalid_file;
  return failed > 0 ? impossible : inaccurate > 0 ? remarks : healthy;
}

}  // namespace mortise::command
