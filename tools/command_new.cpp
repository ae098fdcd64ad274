// mortise new: writes a commented model to start from, one of examples/models.

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <mortise/files/value.h>

#include "commands.h"
#include "models_to_start.h"

namespace mortise::command {

std::vector<std::string> names_of_new() {
  std::vector<std::string> names;
  for (const auto& [name, text] : models_to_start) names.emplace_back(name);
  return names;
}

int make_new(const NewOptions& o) {
  const auto it =
      std::find_if(models_to_start.begin(), models_to_start.end(), [&](const auto& m) { return m.first == o.name; });
  if (it == models_to_start.end()) {
    warn("mortise new: there is no model '{}'; {}\n", o.name, files::suggestion(o.name, names_of_new()));
    return wrong_usage;
  }
  const std::string path = o.out.empty() ? o.name + ".toml" : o.out;
  if (!o.force && std::filesystem::exists(path)) {
    warn("mortise new: '{}' is there already; give another name with -o, or --force\n", path);
    return wrong_usage;
  }
  replace_file(path, std::string(it->second));
  say("{} written; try: mortise check {}\n", path, path);
  return healthy;
}

}  // namespace mortise::command
