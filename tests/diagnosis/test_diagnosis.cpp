// The corpus is told rightly, case by case; and the page docs/DIAGNOSIS_CASES.md is what the cases say.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include <mortise/diagnosis/hidden.h>

#include "cases.h"
#include "models.h"

namespace mortise::diagnosis {

std::vector<Section> sections() {
  return {{"Too little: under-modelled", under_modelled_cases()},
          {"Too much, in agreement: over-constrained", redundant_cases()},
          {"Too much, in contradiction: conflicting", conflicting_cases()},
          {"Forces on massless parts: hidden, indeterminate, contradictory, implicit multiplier", hidden_cases()},
          {"No model, no start, no ordinary pose", other_cases()},
          {"Turned, locked, far away, at one pose only", turned_cases()},
          {"Rows without a gradient, parts without numbers beside other faults", flat_cases()},
          {"Healthy look-alikes: never accused", healthy_cases()},
          {"Healthy, without any freedom or with none left", structures()}};
}

namespace {

RankReport examine(const Case& c, bool mended) {
  const System system(c.model(mended));
  State s = system.state();
  if (c.start) c.start(s);
  if (mended && c.remedy.find("complete()") != std::string::npos) {
    const Completed with = complete(system, s);
    return check_model(with.system, with.state);
  }
  return check_model(system, s);
}

// What the report says the model implies: of the kind and the equation that the case begins with, else "".
std::string implied(const RankReport& report, const Case& c) {
  for (const Implied& i : report.implied)
    if (const std::string text = i.equation.empty() ? in_words(i.kind) : in_words(i.kind) + ": " + i.equation;
        text.starts_with(c.implied))
      return text;
  return "";
}

std::string page() {
  std::string out =
      "# Cases\n\nModels that are broken, each with what the report says and what mends it, and healthy ones that look "
      "like them.\nMade by `mortise_diagnosis --page` from tests/diagnosis/; every line is a test.\n";
  for (const Section& section : sections()) {
    const bool healthy = !section.cases.front().verdict;
    out += "\n## " + section.title + "\n\n";
    out += healthy ? "| case | model |\n|---|---|\n"
                   : "| case | model | verdict | named | remedy |\n|---|---|---|---|---|\n";
    for (const Case& c : section.cases) {
      if (healthy) {
        out += fmt::format("| {} | {} |\n", c.name, c.about);
        continue;
      }
      std::string remedy;
      const RankReport report = examine(c, false);
      for (const Finding& f : report.findings())
        for (const std::string& r : f.remedies)
          if (remedy.empty() && f.verdict == *c.verdict && r.find(c.remedy) != std::string::npos) remedy = r;
      std::string verdict = c.implied.empty() ? std::string(name_of(*c.verdict)) : implied(report, c);
      if (*c.verdict == Verdict::hidden_constraint) verdict = "hidden constraint, " + verdict;
      out += fmt::format("| {} | {} | {} | {} | {} |\n", c.name, c.about, verdict, fmt::join(c.culprits, ", "), remedy);
    }
  }
  for (const bool healthy : {false, true}) {
    out += healthy
               ? "\n## Healthy, as model files\n\n| file | model |\n|---|---|\n"
               : "\n## Broken, as model files (tests/diagnosis/models)\n\n| file | model | verdict | named | mended by "
                 "|\n|---|---|---|---|---|\n";
    for (const ModelFile& file : model_files()) {
      if (file.healthy() != healthy) continue;
      if (healthy) {
        out += fmt::format("| {} | {} |\n", file.name, file.about);
        continue;
      }
      std::string mend = file.fix;
      for (const auto& [from, to] : file.mend) mend += fmt::format("`{}` in place of `{}` ", to, from);
      out += fmt::format("| {} | {} | {} | {} | {} |\n", file.name, file.about, file.verdict,
                         fmt::join(file.names, ", "), mend);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("every broken model gets its verdict, its culprits and its remedy, and is well once it is mended") {
  for (const Section& section : sections())
    for (const Case& c : section.cases) {
      if (!c.verdict) continue;
      CAPTURE(c.name);
      const RankReport report = examine(c, false);
      const std::string text = report.text();
      CAPTURE(text);
      CHECK(report.has(*c.verdict));
      std::vector<std::string> named, remedies;
      const auto expected = [&](Verdict v) {
        return v == *c.verdict || std::count(c.also.begin(), c.also.end(), v) > 0;
      };
      // Of each free direction it is told, too, what the model implies about it.
      const auto refines = [](Verdict v) {
        return v == Verdict::indeterminate || v == Verdict::contradictory || v == Verdict::hidden_constraint ||
               v == Verdict::implicit_multiplier;
      };
      for (const Finding& f : report.findings()) {
        CAPTURE(name_of(f.verdict));
        CHECK((expected(f.verdict) || (refines(f.verdict) && expected(Verdict::under_modelled))));
        CHECK(!f.sentence.empty());
        CHECK(!f.remedies.empty());
        if (f.verdict != *c.verdict) continue;
        named.insert(named.end(), f.names.begin(), f.names.end());
        remedies.insert(remedies.end(), f.remedies.begin(), f.remedies.end());
      }
      for (const std::string& culprit : c.culprits) {
        CAPTURE(culprit);
        CHECK(std::count(named.begin(), named.end(), culprit) > 0);
      }
      CHECK(std::any_of(remedies.begin(), remedies.end(),
                        [&](const std::string& r) { return r.find(c.remedy) != std::string::npos; }));
      if (!c.implied.empty()) {
        CHECK(implied(report, c) != "");
        const bool added =
            std::any_of(report.implied.begin(), report.implied.end(), [](const Implied& i) { return i.completable; });
        CHECK((text.find("complete() adds it") != std::string::npos) == added);
        if (*c.verdict == Verdict::hidden_constraint) CHECK(added);
      }
      const RankReport mended = examine(c, true);
      CAPTURE(mended.text());
      CHECK(mended.well());
    }
}

TEST_CASE("no healthy model is accused of anything") {
  for (const Section& section : sections())
    for (const Case& c : section.cases) {
      if (c.verdict) continue;
      CAPTURE(c.name);
      const RankReport report = examine(c, false);
      const std::string text = report.text();
      CAPTURE(text);
      CHECK(report.well());
      CHECK(report.findings().empty());
      CHECK(std::count(text.begin(), text.end(), '\n') ==
            (report.padded.empty() ? 1 : 2));  // a remark is no accusation
    }
}

TEST_CASE("the corpus is as large as it is said to be, and names are used once") {
  std::vector<std::string> names;
  std::size_t broken = 0, healthy = 0;
  for (const Section& s : sections())
    for (const Case& c : s.cases) {
      names.push_back(c.name);
      ++(c.verdict ? broken : healthy);
    }
  for (const ModelFile& file : model_files()) ++(file.healthy() ? healthy : broken);
  CHECK(broken >= 160);
  CHECK(healthy >= 90);
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("docs/DIAGNOSIS_CASES.md is what the cases say") {
  std::ifstream file(MORTISE_SOURCE "/docs/DIAGNOSIS_CASES.md");
  std::stringstream text;
  text << file.rdbuf();
  CHECK_MESSAGE(text.str() == page(), "make it anew by: mortise_diagnosis --page > docs/DIAGNOSIS_CASES.md");
}

}  // namespace mortise::diagnosis

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--page") {
    fmt::print("{}", mortise::diagnosis::page());
    return 0;
  }
  if (argc >= 2 && std::string(argv[1]) == "--reports") {  // of all cases, or of those named
    const std::vector<std::string> named(argv + 2, argv + argc);
    for (const auto& section : mortise::diagnosis::sections())
      for (const auto& c : section.cases)
        if (named.empty() || std::count(named.begin(), named.end(), c.name) > 0)
          fmt::print("{}: {}\n{}\n", c.name, c.about, mortise::diagnosis::examine(c, false).text());
    return 0;
  }
  return doctest::Context(argc, argv).run();
}
