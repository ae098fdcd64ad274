// mortise list: the parts and integrators that a model may name.

#include <cstdio>

#include <mortise/files/kinds.h>

#include "commands.h"

namespace mortise::command {

int list(const std::string& what) {
  const auto print = [](const std::vector<files::Kind>& kinds) {
    std::string last;
    for (const files::Kind& k : kinds)
      if (k.name != last) say("{:<24}{}\n", last = k.name, k.meaning);
  };
  const files::Kinds& all = files::kinds();
  if (what == "bodies") print(all.bodies);
  if (what == "joints") print(all.joints);
  if (what == "forces") print(all.forces);
  if (what == "sensors") print(all.sensors);
  if (what == "models")
    for (const std::string& name : names_of_new()) say("{}\n", name);
  if (what == "integrators")
    for (const std::string& name : stepper_names()) say("{}\n", name);
  return healthy;
}

}  // namespace mortise::command
