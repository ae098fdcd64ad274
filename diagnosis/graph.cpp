#include <mortise/diagnosis/graph.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/connected_components.hpp>

namespace mortise {
namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;
using Vertex = boost::graph_traits<Graph>::vertex_descriptor;

std::string quoted(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "\"";
}

// Vertices: the ground, then the bodies that move, then the joints.
struct Edge {
  Vertex joint, body;
};
struct Vertices {
  std::vector<std::string> names{"ground"};
  Vertex first_joint = 0;
  std::vector<Edge> edges;

  explicit Vertices(const System& system) {
    std::vector<Vertex> vertex_of_body;
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
  for (Vertex i = grounded ? 0 : 1; i < v.names.size(); ++i) {
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
  const auto& [names, first_joint, edges] = vertices;

  MechanismGraph out;
  Graph without_ground(names.size()), whole(names.size());
  for (const Edge& e : edges) {
    if (e.body != 0) add_edge(e.joint, e.body, without_ground);
    add_edge(e.joint, e.body, whole);
  }

  std::vector<std::size_t> component(names.size());
  const std::size_t count = connected_components(without_ground, component.data());
  std::vector<std::vector<std::string>> members(count);
  for (Vertex v = 1; v < first_joint; ++v) members[component[v]].push_back(names[v]);
  for (auto& m : members)
    if (!m.empty()) out.components.push_back(std::move(m));

  // Each edge outside a breadth-first tree closes one independent loop, through the tree paths of its two ends.
  std::vector<Vertex> parent(names.size());
  std::vector<bool> seen(names.size(), false);
  for (Vertex root = 0; root < names.size(); ++root) {
    if (seen[root]) continue;
    parent[root] = root;
    breadth_first_search(
        whole, root,
        boost::visitor(boost::make_bfs_visitor(boost::record_predecessors(parent.data(), boost::on_tree_edge()))));
    std::vector<std::size_t> reached(names.size());
    connected_components(whole, reached.data());
    for (Vertex v = 0; v < names.size(); ++v) seen[v] = seen[v] || reached[v] == reached[root];
  }
  std::vector<std::size_t> tree_edges(names.size(), 0);  // parallel edges: only one of them is in the tree
  for (const Edge& e : edges) {
    const bool joint_hangs = parent[e.joint] == e.body && e.joint != e.body, body_hangs = parent[e.body] == e.joint;
    std::size_t& used = tree_edges[joint_hangs ? e.joint : e.body];
    if ((joint_hangs || body_hangs) && used++ == 0) continue;
    const auto path = [&](Vertex v) {
      std::vector<Vertex> up{v};
      while (parent[v] != v) up.push_back(v = parent[v]);
      return up;
    };
    std::vector<Vertex> a = path(e.joint), b = path(e.body);
    while (a.size() > 1 && b.size() > 1 && a[a.size() - 2] == b[b.size() - 2]) a.pop_back(), b.pop_back();
    b.pop_back();  // the common end is in a
    a.insert(a.end(), b.rbegin(), b.rend());
    // Begin at a joint.
    const auto joint = std::find_if(a.begin(), a.end(), [first = first_joint](Vertex v) { return v >= first; });
    std::rotate(a.begin(), joint, a.end());
    std::vector<std::string> walk;
    for (const Vertex v : a) walk.push_back(names[v]);
    out.loops.push_back(std::move(walk));
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
