#pragma once
// Changes of a model file that mend what its report tells, each applied to a copy and checked before it is proposed.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <mortise/diagnosis/rank_report.h>
#include <mortise/files/model.h>

namespace mortise {

struct ModelText {
  std::string text;
  std::string name = "model.toml", folder = ".";  // as in parse_model
  std::map<std::string, double> parameters = {};
};

struct Fix {
  std::string words;       // "remove joint 'B2'"
  std::string text;        // of the file with it
  bool rewritten = false;  // the file is written anew: its comments and formulas of parameters are gone
  RankReport report;       // on the model with it
};

// The best first: those after which nothing is left to tell.  `judge` is how models are checked; it may throw.
// Where no single change is enough, several are tried together.  None for models of more than 600 coordinates.
std::vector<Fix> find_fixes(const ModelText& file, const RankReport& report,
                            const std::function<RankReport(const Model&)>& judge);

}  // namespace mortise
