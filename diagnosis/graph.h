#pragma once
// The mechanism's graph: bodies and joints are its vertices, an edge joins a joint with each body it acts on.
// All grounds are one vertex.

#include <string>
#include <vector>

#include <mortise/diagnosis/rank_report.h>

namespace mortise {

struct MechanismGraph {
  // Bodies (by name) that hang together by joints, not counting the ground: they can be solved apart.
  std::vector<std::vector<std::string>> components;
  // Independent loops as walks joint, body, joint, body, ...; the ground counts as a body.
  std::vector<std::vector<std::string>> loops;
  std::string graphviz;  // text for `dot`

  std::string loop(std::size_t k) const;  // "A -> coupler -> B -> rocker"; throws std::out_of_range
};

MechanismGraph mechanism_graph(const System& system);

// The same picture with the culprits of a report: bodies that move freely and joints that conflict are red, joints with
// redundant rows orange, and the loops that explain these are drawn bold.
std::string graphviz(const System& system, const RankReport& report);

}  // namespace mortise
