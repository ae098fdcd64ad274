// mortise sweep: the runs of a model over a grid of parameters, on all cores.
//
// Run k writes run_0000k.csv and then run_0000k.row, its line of the summary.  A run that has its line is not made
// again, so that a sweep that was interrupted goes on, and several machines can share one folder.  sweep.txt tells
// which sweep it is.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <mortise/integrators/sweep.h>

#include "commands.h"

namespace mortise::command {
namespace {

struct Vary {
  std::string name;
  std::vector<double> values;
};

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

// Tells texts apart (FNV-1a).
std::uint64_t fingerprint(const std::string& text) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

}  // namespace

int sweep(const SweepOptions& o) {
  namespace fs = std::filesystem;
  std::vector<Vary> vary;
  std::size_t count = 1;
  constexpr std::size_t most = 1'000'000;
  for (const std::string& text : o.vary) {
    vary.push_back(parse_vary(text));
    count *= vary.back().values.size();
    if (count > most) throw WrongUsage(fmt::format("--vary {}: this makes more than {} runs; vary less", text, most));
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
  const Model first = read_model(o.source.model, at(0));  // what is wrong with the file is told once
  std::error_code error;
  fs::create_directories(o.out, error);
  if (!fs::is_directory(o.out))
    throw FileError("folder", o.out, "cannot be made", "check the name and its permissions");
  const auto file = [&](std::size_t k, const char* end) {
    return (fs::path(o.out) / fmt::format("run_{:05}.{}", k, end)).string();
  };

  // What the runs of this folder have in common: lines of another sweep must not pass for lines of this one.
  std::string same = fmt::format("mortise sweep {}", fs::path(o.source.model).filename().string());
  for (const std::string& text : o.vary) same += " --vary " + text;
  for (const auto& [name, x] : fixed) same += fmt::format(" --set {}={}", name, x);
  if (o.until_given) same += fmt::format(" --until {}", o.until);
  same += fmt::format("\nmodel {:016x}\n", fingerprint(write_model(first)));
  const std::string what = (fs::path(o.out) / "sweep.txt").string();
  if (std::ifstream in(what); in) {
    const std::string there{std::istreambuf_iterator<char>(in), {}};
    const std::string line = there.substr(0, there.find('\n'));
    if (there != same)
      throw WrongUsage(
          fmt::format("folder '{}': it has runs of {}; give another folder, or remove it", o.out,
                      same.starts_with(line + "\n") ? "this model before it was changed" : fmt::format("`{}`", line)));
  } else {
    const std::string mine = fmt::format("{}.{}", what, share);  // others may begin at the same time
    replace_file(mine, same);
    fs::rename(mine, what);
  }

  const std::size_t here = share < count ? (count - share + shares - 1) / shares : 0;
  std::vector<std::size_t> todo;
  for (std::size_t k = share; k < count; k += shares)
    if (!fs::exists(file(k, "row"))) todo.push_back(k);
  if (!o.quiet)
    fmt::print("{} run{}, {} of them here, {} to be made\n", count, count == 1 ? "" : "s", here, todo.size());
  const auto one = [&](std::size_t i) {
    const std::size_t k = todo[i];
    const std::map<std::string, double> p = at(k);
    std::string row = fmt::format("{}", k);
    for (const Vary& v : vary) row += fmt::format(",{}", p.at(v.name));
    Trajectory t;
    try {
      Model model = read_model(o.source.model, p);
      if (o.until_given) model.run.duration = o.until - model.time;
      const Ready r = ready(model);
      t = simulate(r.system, r.start, model.run);
      t.write_csv(file(k, "csv"));
      double drift = 0;
      for (const auto& d : t.drift) drift = std::max(drift, d.largest);
      const char* outcome = t.to_tolerance() ? "finished" : t.finished ? "inaccurate" : "stopped";
      row += fmt::format(",{},{},{},{},{},{}\n", outcome, t.last.t, t.steps, t.energy_error, drift, t.notes.size());
    } catch (const Error& e) {
      row += ",failed,,,,,\n";
      replace_file(file(k, "txt"), std::string(e.what()) + "\n");
    }
    replace_file(file(k, "row"), row);
    t.values.clear();
    return t;
  };
  mortise::sweep(todo.size(), one, o.threads, [&](std::size_t done) {
    if (!o.quiet && (done == todo.size() || done % std::max<std::size_t>(1, todo.size() / 20) == 0))
      fmt::print("  {} of {}\n", done, todo.size());
  });

  std::string table = "run";
  for (const Vary& v : vary) table += "," + v.name;
  table += ",outcome,t [s],steps,energy error [J],drift,notes\n";
  std::size_t there = 0, failed = 0, inaccurate = 0;
  for (std::size_t k = share; k < count; k += shares) {
    std::ifstream in(file(k, "row"));
    std::string row;
    if (!std::getline(in, row)) continue;
    ++there;
    const bool rough = row.find(",inaccurate,") != std::string::npos;
    inaccurate += rough;
    failed += !rough && row.find(",finished,") == std::string::npos;
    table += row + "\n";
  }
  const std::string summary = (fs::path(o.out) / "summary.csv").string();
  if (shares == 1) replace_file(summary, table);  // else others work on it
  if (!o.quiet)
    fmt::print("{} of {} runs are there, {} did not finish; {}\n", there, here, failed,
               shares == 1 ? "see " + summary : "the same line without --share makes the summary");
  if (inaccurate > 0)
    fmt::print(stderr, "{} of them {} steps with an error above the tolerance: 'inaccurate' in the summary\n",
               inaccurate, inaccurate == 1 ? "has" : "have");
  return failed > 0 ? impossible : inaccurate > 0 ? remarks : healthy;
}

}  // namespace mortise::command
