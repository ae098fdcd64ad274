#pragma once
// The part of the corpus that is written as model files: tests/diagnosis/models/*.toml.  The first lines of each are
// comments that tell what it is and what the report must say:
//
//   # two rails of a table half a degree apart
//   # verdict: locked                     or: healthy
//   # names: left, right                  each is named by a finding of this verdict
//   # also: over-constrained              other verdicts that are right, too
//   # fix: axis of joint 'right'          words of the fix that mends it, if it is one that check --fix writes;
//   # mend: "-log(x)" => "-log(abs(x))"   else what a user changes in the text

#include <map>
#include <string>
#include <vector>

namespace mortise::diagnosis {

struct ModelFile {
  std::string name, about, verdict, text;
  std::vector<std::string> names, also;
  std::string fix;
  std::vector<std::pair<std::string, std::string>> mend;

  bool healthy() const { return verdict == "healthy"; }
};

std::vector<ModelFile> model_files();

}  // namespace mortise::diagnosis
