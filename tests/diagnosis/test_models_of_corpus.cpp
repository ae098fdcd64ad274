// The corpus as files: each broken one has its verdict, its names and a remedy, which is applied and checked again; no
// healthy one is accused.

#include <doctest/doctest.h>

#include <algorithm>

#include <mortise/diagnosis/hidden.h>
#include <mortise/files/fix.h>
#include <mortise/files/model.h>

#include "models.h"

namespace mortise::diagnosis {
namespace {

RankReport judge(const Model& model) {
  const System system(model.assembly);
  State s = model.start(system);
  if (!model.complete) return check_model(system, s);
  const Completed with = complete(system, s);
  return check_model(with.system, with.state);
}

// Of a file; parts that are none are told by their place.
RankReport examine(const std::string& text, const std::string& name) {
  try {
    return judge(parse_model(text, name));
  } catch (const ModelError& error) {
    RankReport out;
    if (error.rest()) out = judge(*error.rest());
    for (const ModelFault& f : error.faults())
      out.broken.push_back(
          {Verdict::invalid, f.kind, f.name, f.fact, f.remedy.empty() ? "correct it" : f.remedy, f.place});
    return out;
  }
}

bool names_it(const std::string& wanted, const std::string& told) {
  return told == wanted || told.starts_with(wanted + ".");
}

std::vector<std::string> faults(const RankReport& report) {  // but for redundant rows that agree
  std::vector<std::string> out;
  for (const Finding& f : report.findings())
    if (f.verdict != Verdict::over_constrained) out.emplace_back(name_of(f.verdict));
  return out;
}

}  // namespace

TEST_CASE("corpus of files: every broken model has its verdict and its names, and is well once the remedy is applied") {
  for (const ModelFile& file : model_files()) {
    if (file.healthy()) continue;
    CAPTURE(file.name);
    const RankReport report = examine(file.text, file.name);
    const std::string text = report.text();
    CAPTURE(text);
    std::vector<std::string> named;
    bool found = false;
    for (const Finding& f : report.findings()) {
      const std::string verdict(name_of(f.verdict));
      CAPTURE(verdict);
      CHECK((verdict == file.verdict || std::count(file.also.begin(), file.also.end(), verdict) > 0));
      CHECK(!f.sentence.empty());
      CHECK(!f.remedies.empty());
      if (verdict != file.verdict) continue;
      found = true;
      named.insert(named.end(), f.names.begin(), f.names.end());
    }
    CHECK(found);
    for (const std::string& name : file.names) {
      CAPTURE(name);
      CHECK(std::any_of(named.begin(), named.end(), [&](const std::string& x) { return names_it(name, x); }));
    }
    // The remedy.
    std::string mended;
    if (!file.fix.empty()) {
      const std::vector<Fix> fixes = find_fixes({.text = file.text}, report, judge);
      for (const Fix& fix : fixes)
        if (mended.empty() && fix.words.find(file.fix) != std::string::npos) mended = fix.text;
      std::string words;
      for (const Fix& fix : fixes) words += fix.words + "\n";
      CAPTURE(words);
      CHECK(!mended.empty());
    } else {
      mended = file.text;
      for (const auto& [from, to] : file.mend) {
        CAPTURE(from);
        const std::size_t header = mended.find("\n\n"), at = mended.find(from, header);
        REQUIRE(at != std::string::npos);
        mended.replace(at, from.size(), to);
      }
      CHECK(mended != file.text);
    }
    if (mended.empty()) continue;
    CAPTURE(mended);
    const RankReport again = examine(mended, file.name);
    const std::string text_again = again.text();
    CAPTURE(text_again);
    CHECK(faults(again).empty());
  }
}

TEST_CASE("corpus of files: no healthy model is accused, nor is anything proposed for it") {
  for (const ModelFile& file : model_files()) {
    if (!file.healthy()) continue;
    CAPTURE(file.name);
    const RankReport report = examine(file.text, file.name);
    const std::string text = report.text();
    CAPTURE(text);
    CHECK(report.findings().empty());
    CHECK(report.well());
    CHECK(find_fixes({.text = file.text}, report, judge).empty());
  }
}

}  // namespace mortise::diagnosis
