#pragma once
// The mechanism's graph: bodies and joints are its vertices, an edge joins a joint with each body it acts on.
// All grounds are one vertex.

#include <string>
#include <vector>

#include <mortise/assembly/system.h>

namespace mortise {

struct MechanismGraph {
  // Bodies (by name) that hang together by joints, not counting the ground: they can be solved apart.
  std::vector<std::vector<std::string>> components;
  // Independent loops as walks joint, body, joint, body, ...; the ground counts as a body.
  std::vector<std::vector<std::string>> loops;
  std::string graphviz;  // text for `dot`
};

MechanismGraph mechanism_graph(const System& system);

}  // namespace mortise
