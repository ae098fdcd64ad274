#pragma once
// The graph of a system as an SVG picture, with the findings of a report: the graph of diagnosis/graph.h, and forces.
//
// Bodies, joints and forces stand in rows by their distance from the ground.  What a finding names has its colour: free
// directions orange, redundant rows violet with their loop bold, what conflicts or is broken red; their texts are
// below.

#include <string>

#include <mortise/diagnosis/rank_report.h>

namespace mortise {

std::string graph_picture(const System& system, const RankReport& report);

}  // namespace mortise
