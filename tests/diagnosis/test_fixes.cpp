// What is proposed for a broken model mends it: every fix is written to a file, read and checked again.

#include <doctest/doctest.h>

#include <algorithm>

#include <mortise/diagnosis/hidden.h>
#include <mortise/files/fix.h>
#include <mortise/files/model.h>
#include <mortise/integrators/start.h>

#include "cases.h"

namespace mortise::diagnosis {
namespace {

RankReport judge(const Model& model) {
  const System system(model.assembly);
  State s = model.start(system);
  if (!model.complete) return check_model(system, s);
  const Completed with = complete(system, s);
  return check_model(with.system, with.state);
}

// The case as a file; "" where it has functors of C++.
std::string file_of(const Case& c) {
  Model model(c.name);
  model.assembly = c.model(false);
  try {
    (void)write_model(model);
  } catch (const InvalidModel&) {
    return "";
  }
  const System system(model.assembly);
  const State placed = system.state();
  State s = placed;
  if (c.start) c.start(s);
  model.time = s.t;
  for (Index i = 0; i < s.q.size(); ++i) {
    if (s.q[i] != placed.q[i]) model.settings.emplace_back(system.coordinate(i), s.q[i]);
    if (s.v[i] != placed.v[i]) model.settings.emplace_back(system.coordinate(i) + "'", s.v[i]);
  }
  try {
    return write_model(model);
  } catch (const Error&) {  // a start that is no number
    return "";
  }
}

// Faults, without redundant rows that agree.
std::size_t faults(const RankReport& report) {
  const auto all = report.findings();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const Finding& f) { return f.verdict != Verdict::over_constrained; }));
}

}  // namespace

TEST_CASE("every fix that is proposed for a broken model makes it better, and most models are mended by one") {
  std::size_t files = 0, fixes = 0, mended = 0;
  std::vector<std::string> left;
  for (const Section& section : sections())
    for (const Case& c : section.cases) {
      if (!c.verdict) continue;
      const std::string text = file_of(c);
      if (text.empty()) continue;
      CAPTURE(c.name);
      std::optional<Model> model;
      try {
        model = parse_model(text);
      } catch (const ModelError&) {  // numbers that no file may have
        continue;
      }
      ++files;
      const RankReport report = judge(*model);
      CHECK(report.has(*c.verdict));  // through the file as in C++
      bool well = false;
      for (const Fix& fix : find_fixes({.text = text}, report, judge)) {
        CAPTURE(fix.words);
        ++fixes;
        const RankReport again = judge(parse_model(fix.text));
        CHECK(again.verdict() == fix.report.verdict());
        CHECK(again.findings().size() == fix.report.findings().size());
        const bool better = faults(again) < faults(report) ||
                            (faults(again) == faults(report) && again.redundant.size() < report.redundant.size());
        CHECK(better);
        well = well || faults(again) == 0;
      }
      mended += well;
      if (!well) left.push_back(c.name);
    }
  MESSAGE(fmt::format("{} broken models as files, {} fixes; {} models are mended; not: {}", files, fixes, mended,
                      fmt::join(left, ", ")));
  CHECK(files >= 60);
  CHECK(20 * mended >= 19 * files);
}

TEST_CASE("nothing is proposed for a healthy model") {
  for (const Section& section : sections())
    for (const Case& c : section.cases) {
      const std::string text = c.verdict ? "" : file_of(c);
      if (text.empty()) continue;
      CAPTURE(c.name);
      CHECK(find_fixes({.text = text}, judge(parse_model(text)), judge).empty());
    }
}

}  // namespace mortise::diagnosis
