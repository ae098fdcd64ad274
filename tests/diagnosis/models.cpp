#include "models.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace mortise::diagnosis {
namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  std::stringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    word.erase(0, word.find_first_not_of(' '));
    out.push_back(word);
  }
  return out;
}

}  // namespace

std::vector<ModelFile> model_files() {
  namespace fs = std::filesystem;
  std::vector<ModelFile> out;
  for (const auto& entry : fs::directory_iterator(MORTISE_SOURCE "/tests/diagnosis/models")) {
    if (entry.path().extension() != ".toml") continue;
    ModelFile file;
    file.name = entry.path().stem().string();
    std::ifstream in(entry.path());
    std::stringstream whole;
    whole << in.rdbuf();
    file.text = whole.str();
    std::stringstream lines(file.text);
    for (std::string line; std::getline(lines, line) && line.starts_with("# ");) {
      line.erase(0, 2);
      const std::size_t colon = line.find(": ");
      const std::string key = line.substr(0, colon), value = colon == std::string::npos ? "" : line.substr(colon + 2);
      if (key == "verdict") {
        file.verdict = value;
      } else if (key == "names") {
        file.names = split(value);
      } else if (key == "also") {
        file.also = split(value);
      } else if (key == "fix") {
        file.fix = value;
      } else if (key == "mend") {
        const std::size_t arrow = value.find(" => ");
        if (arrow == std::string::npos) throw std::runtime_error(file.name + ": mend: old => new");
        file.mend.emplace_back(value.substr(0, arrow), value.substr(arrow + 4));
      } else if (file.about.empty()) {
        file.about = line;
      }
    }
    if (file.verdict.empty() || file.about.empty()) throw std::runtime_error(file.name + ": tell what it is");
    out.push_back(std::move(file));
  }
  std::sort(out.begin(), out.end(), [](const ModelFile& a, const ModelFile& b) { return a.name < b.name; });
  return out;
}

}  // namespace mortise::diagnosis
