#include <mortise/diagnosis/graph.h>

#include <algorithm>
#include <map>

#include <mortise/assembly/system_graph.h>
#include <mortise/core/text.h>

namespace mortise {
namespace {

std::string quoted(const std::string& name) {
  std::string out = "\"";
  for (const char c : printable(name)) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "\"";
}

// Vertices: the ground, then the bodies that move, then the joints.
struct Edge {
  std::size_t joint, body;
};
struct Vertices {
  std::vector<std::string> names{"ground"};
  std::size_t first_joint = 0;
  std::vector<Edge> edges;

  explicit Vertices(const System& system) {
    std::vector<std::size_t> vertex_of_body;
    for (const auto& b : system.bodies()) {
      vertex_of_body.push_back(b.size == 0 ? 0 : names.size());
      if (b.size > 0) names.push_back(b.name);
      if (b.size == 0 && names[0] == "ground") names[0] = b.name;
    }
    first_joint = names.size();
    for (const auto& c : system.constraints()) {
      if (c.own) continue;
      for (const std::size_t k : c.bodies) edges.push_back({names.size(), vertex_of_body[k]});
      names.push_back(c.name);
    }
  }
};

// Attributes of vertices and of edges (joint, body), by their names.
struct Paint {
  std::map<std::string, std::string> vertex;
  std::map<std::pair<std::string, std::string>, std::string> edge;
};

std::string picture(const System& system, const Vertices& v, const Paint& paint) {
  std::string out = "graph " + quoted(system.name()) + " {\n";
  const bool grounded = std::any_of(v.edges.begin(), v.edges.end(), [](const Edge& e) { return e.body == 0; });
  for (std::size_t i = grounded ? 0 : 1; i < v.names.size(); ++i) {
    const char* shape = i == 0 ? "house" : i < v.first_joint ? "box" : "ellipse";
    const auto it = paint.vertex.find(v.names[i]);
    out += fmt::format("  {} [shape={}{}];\n", quoted(v.names[i]), shape, it == paint.vertex.end() ? "" : it->second);
  }
  for (const Edge& e : v.edges) {
    const auto it = paint.edge.find({v.names[e.joint], v.names[e.body]});
    out += fmt::format("  {} -- {}{};\n", quoted(v.names[e.body]), quoted(v.names[e.joint]),
                       it == paint.edge.end() ? "" : it->second);
  }
  return out + "}\n";
}

}  // namespace

std::string MechanismGraph::loop(std::size_t k) const { return fmt::format("{}", fmt::join(loops.at(k), " -> ")); }

MechanismGraph mechanism_graph(const System& system) {
  const Vertices vertices(system);
  const auto& bodies = system.bodies();
  MechanismGraph out;
  std::map<unsigned, std::size_t> place;  // of a component
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i].size == 0) continue;
    const auto [it, fresh] = place.try_emplace(system.graph().components().of_body[i], out.components.size());
    if (fresh) out.components.emplace_back();
    out.components[it->second].push_back(bodies[i].name);
  }
  for (const SystemGraph::Walk& walk : system.graph().loops()) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < walk.size(); ++i)
      names.push_back(i % 2 == 0                       ? system.constraints()[walk[i]].name
                      : walk[i] == SystemGraph::ground ? vertices.names[0]
                                                       : bodies[walk[i]].name);
    out.loops.push_back(std::move(names));
  }
  out.graphviz = picture(system, vertices, {});
  return out;
}

std::string graphviz(const System& system, const RankReport& report) {
  Paint paint;
  const auto colour = [](const char* fill) { return fmt::format(", style=filled, fillcolor=\"{}\"", fill); };
  for (const RedundantRow& r : report.redundant) {
    for (const std::string& joint : r.joints)
      if (const auto it = paint.vertex.find(joint); it == paint.vertex.end() || !r.consistent)
        paint.vertex[joint] = colour(r.consistent ? "orange" : "red");
    for (std::size_t i = 0; i + 1 < r.loop.size(); i += 2)
      for (const std::string& body : {r.loop[i + 1], r.loop[i == 0 ? r.loop.size() - 1 : i - 1]})
        paint.edge[{r.loop[i], body}] = r.consistent ? " [penwidth=3, color=orange]" : " [penwidth=3, color=red]";
  }
  if (report.start)
    for (const auto* gaps : {&report.start->gaps, &report.start->left})
      for (const Start::Gap& g : *gaps)
        paint.vertex.try_emplace(g.row.substr(0, g.row.rfind('.')), colour(report.start->reachable ? "yellow" : "red"));
  for (const FreeDirection& f : report.free)
    for (const auto& p : f.parts) paint.vertex[p.coordinate.substr(0, p.coordinate.find('.'))] = colour("red");
  for (const Implied& i : report.implied)
    for (const std::string& c : i.coordinates) paint.vertex[c.substr(0, c.find('.'))] = colour("red");
  for (const BrokenPart& b : report.broken) paint.vertex[b.name] = colour("red");
  return picture(system, Vertices(system), paint);
}

}  // namespace mortise
