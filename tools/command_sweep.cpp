// mortise sweep: the runs of a model over a grid of parameters, on all cores.
//
// Run k writes run_0000k.csv and then run_0000k.row, its line of the summary.  A run that has its line is not made
// again, so that a sweep that was interrupted goes on, and several machines can share one folder.

#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <mortise/integrators/sweep.h>

#include "commands.h"
#include "value.h"

namespace mortise::command {
namespace {

struct Vary {
  std::string name;
  std::vector<double> values;
};

Vary parse_vary(const std::string& text) {
  const models::Where where{std::make_shared<const std::string>("--vary " + text)};
  const auto wrong = [&](const std::string& fact) {
    models::fail(where, fact, "write --vary name=from:to:count, as length=1:2:11");
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

}  // namespace

int sweep(const SweepOptions& o) {
  namespace fs = std::filesystem;
  std::vector<Vary> vary;
  std::size_t count = 1;
  constexpr std::size_t most = 1'000'000;
  for (const std::string& text : o.vary) {
    vary.push_back(parse_vary(text));
    count *= vary.back().values.size();
    if (count > most)
      models::fail({std::make_shared<const std::string>("--vary " + text)}, fmt::format("more than {} runs", most),
                   "vary less");
  }
  std::size_t share = 0, shares = 1;
  if (!o.share.empty()) {
    const auto slash = o.share.find('/');
    const char *begin = o.share.data(), *end = begin + o.share.size();
    const bool ok = slash != std::string::npos && std::from_chars(begin, begin + slash, share).ptr == begin + slash &&
                    std::from_chars(begin + slash + 1, end, shares).ptr == end && shares >= 1 && share < shares;
    if (!ok)
      models::fail({std::make_shared<const std::string>("--share " + o.share)}, "this is no share",
                   "write --share 2/10, counted from 0");
  }
  const std::map<std::string, double> fixed = parameters(o.source.set);
  const auto at = [&](std::size_t k) {
    std::map<std::string, double> p = fixed;
    for (auto v = vary.rbegin(); v != vary.rend(); ++v) {
      p[v->name] = v->values[k % v->values.size()];
      k /= v->values.size();
    }
    return p;
  };
  (void)read_model(o.source.model, at(0));  // what is wrong with the file is told once
  std::error_code error;
  fs::create_directories(o.out, error);
  if (!fs::is_directory(o.out))
    throw FileError("folder", o.out, "cannot be made", "check the name and its permissions");
  const auto file = [&](std::size_t k, const char* end) {
    return (fs::path(o.out) / fmt::format("run_{:05}.{}", k, end)).string();
  };

  std::vector<std::size_t> todo;
  for (std::size_t k = share; k < count; k += shares)
    if (!fs::exists(file(k, "row"))) todo.push_back(k);
  if (!o.quiet)
    fmt::print("{} runs, {} of them here, {} to be made\n", count, (count - share + shares - 1) / shares, todo.size());
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
      row += fmt::format(",{},{},{},{},{},{}\n", t.finished ? "finished" : "stopped", t.last.t, t.steps, t.energy_error,
                         drift, t.notes.size());
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
  std::size_t there = 0, failed = 0;
  for (std::size_t k = 0; k < count; ++k) {
    std::ifstream in(file(k, "row"));
    std::string row;
    if (!std::getline(in, row)) continue;
    ++there;
    failed += row.find(",finished,") == std::string::npos;
    table += row + "\n";
  }
  const std::string summary = (fs::path(o.out) / "summary.csv").string();
  replace_file(summary, table);
  if (!o.quiet) fmt::print("{} of {} runs are there, {} did not finish; see {}\n", there, count, failed, summary);
  return failed == 0 ? healthy : impossible;
}

}  // namespace mortise::command
