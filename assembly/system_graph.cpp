#include <mortise/assembly/system_graph.h>

#include <algorithm>
#include <functional>
#include <map>

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/filtered_graph.hpp>

namespace mortise {
namespace {

using Vertex = unsigned;
using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                                 boost::no_property, Vertex, Vertex>;
using Edge = boost::graph_traits<Graph>::edge_descriptor;
using Colours = std::vector<boost::default_color_type>;

constexpr Vertex none = static_cast<Vertex>(-1);

// Both directions of every edge, those of one vertex in the order given.
class EdgeList {
 public:
  explicit EdgeList(std::size_t edges) { list_.reserve(2 * edges); }
  void add(std::size_t a, std::size_t b) {
    list_.emplace_back(static_cast<Vertex>(a), static_cast<Vertex>(b));
    list_.emplace_back(static_cast<Vertex>(b), static_cast<Vertex>(a));
  }
  Graph graph(std::size_t vertices) const {
    return {boost::edges_are_unsorted_multi_pass, list_.begin(), list_.end(), static_cast<Vertex>(vertices)};
  }

 private:
  std::vector<std::pair<Vertex, Vertex>> list_;
};

// Calls f with every vertex when it is first met.
template <class F> struct Reached : boost::default_bfs_visitor {
  explicit Reached(const F& function) : f(&function) {}
  template <class G> void discover_vertex(Vertex v, const G&) const { (*f)(v); }
  const F* f;
};

// All that hangs together with `root` and was not met before.
template <class G, class F> void visit(const G& graph, Vertex root, Colours& colours, const F& reached) {
  boost::queue<Vertex> queue;
  breadth_first_visit(graph, root, queue, Reached<F>(reached),
                      boost::make_iterator_property_map(colours.begin(), get(boost::vertex_index, graph)));
}

// A breadth-first tree of each connected part, by the vertex before each one: itself at the roots.
std::vector<Vertex> trees(const Graph& graph) {
  std::vector<Vertex> before(num_vertices(graph));
  Colours colours(before.size(), boost::white_color);
  for (Vertex root = 0; root < before.size(); ++root) {
    if (colours[root] != boost::white_color) continue;
    before[root] = root;
    boost::queue<Vertex> queue;
    breadth_first_visit(graph, root, queue,
                        boost::make_bfs_visitor(boost::record_predecessors(before.data(), boost::on_tree_edge())),
                        boost::make_iterator_property_map(colours.begin(), get(boost::vertex_index, graph)));
  }
  return before;
}

std::vector<Vertex> path_to_root(const std::vector<Vertex>& before, Vertex v) {
  std::vector<Vertex> path{v};
  while (before[v] != v) path.push_back(v = before[v]);
  return path;
}

}  // namespace

// Vertices: constraints, bodies, forces.
struct SystemGraph::Edges {
  Graph graph;
};

SystemGraph::SystemGraph(const std::vector<System::BodyInfo>& bodies,
                         const std::vector<System::ConstraintInfo>& constraints,
                         const std::vector<System::ForceInfo>& forces)
    : constraints_(constraints.size()), bodies_(bodies.size()), forces_(forces.size()) {
  std::size_t count = 0;
  for (const auto& b : bodies) is_ground_.push_back(b.size == 0);
  for (const auto& c : constraints) is_own_.push_back(c.own), count += c.bodies.size();
  for (const auto& f : forces) count += f.bodies.size();
  EdgeList edges(count);
  for (std::size_t i = 0; i < constraints_; ++i)
    for (const std::size_t k : constraints[i].bodies) edges.add(i, constraints_ + k);
  for (std::size_t i = 0; i < forces_; ++i)
    for (const std::size_t k : forces[i].bodies) edges.add(constraints_ + bodies_ + i, constraints_ + k);
  edges_ = std::make_unique<const Edges>(Edges{edges.graph(constraints_ + bodies_ + forces_)});
}

SystemGraph::~SystemGraph() = default;

std::span<const unsigned> SystemGraph::constraints_on(std::size_t body) const {
  const auto& lists = edges_->graph.m_forward;
  const unsigned* first = lists.m_column.data() + lists.m_rowstart[constraints_ + body];
  const unsigned* last = lists.m_column.data() + lists.m_rowstart[constraints_ + body + 1];
  return {first, std::lower_bound(first, last, static_cast<Vertex>(constraints_))};  // forces come last
}

const SystemGraph::Components& SystemGraph::components() const {
  std::call_once(once_, [this] {
    components_.of_constraint.resize(constraints_);
    components_.of_body.assign(bodies_, none);
    const auto in = [this](Vertex v) {
      return v < constraints_ || (v < constraints_ + bodies_ && !is_ground_[v - constraints_]);
    };
    const std::function<bool(Vertex)> inside = in;
    const boost::filtered_graph<Graph, boost::keep_all, std::function<bool(Vertex)>> graph(edges_->graph, {}, inside);
    Colours colours(num_vertices(edges_->graph), boost::white_color);
    for (Vertex root = 0; root < constraints_ + bodies_; ++root) {
      if (colours[root] != boost::white_color || !in(root)) continue;
      visit(graph, root, colours, [&](Vertex v) {
        (v < constraints_ ? components_.of_constraint[v] : components_.of_body[v - constraints_]) =
            static_cast<unsigned>(components_.count);
      });
      ++components_.count;
    }
  });
  return components_;
}

std::vector<std::vector<std::size_t>> SystemGraph::groups(const FunctionRef<bool(std::size_t)>& in, By by) const {
  const std::size_t forces = constraints_ + bodies_;
  const std::function<bool(Vertex)> inside = [&](Vertex v) {
    if (v < constraints_) return true;
    return v < forces ? !is_ground_[v - constraints_] && in(v - constraints_) : by == By::constraints_and_forces;
  };
  const boost::filtered_graph<Graph, boost::keep_all, std::function<bool(Vertex)>> graph(edges_->graph, {}, inside);
  Colours colours(num_vertices(edges_->graph), boost::white_color);
  std::vector<std::vector<std::size_t>> out;
  for (std::size_t root = constraints_; root < forces; ++root) {
    if (colours[root] != boost::white_color || !inside(static_cast<Vertex>(root))) continue;
    out.emplace_back();
    visit(graph, static_cast<Vertex>(root), colours, [&](Vertex v) {
      if (v >= constraints_ && v < forces) out.back().push_back(v - constraints_);
    });
    std::sort(out.back().begin(), out.back().end());
  }
  return out;
}

System::Selection SystemGraph::around(std::vector<std::size_t> start,
                                      const FunctionRef<bool(std::size_t)>& through) const {
  std::sort(start.begin(), start.end());
  const std::function<bool(const Edge&)> leads_on = [&](const Edge& e) {  // from a body at the edge none does
    const Vertex from = source(e, edges_->graph);
    if (target(e, edges_->graph) >= constraints_ + bodies_) return false;
    return from < constraints_ || through(from - constraints_) ||
           std::binary_search(start.begin(), start.end(), std::size_t{from} - constraints_);
  };
  const boost::filtered_graph<Graph, std::function<bool(const Edge&)>> graph(edges_->graph, leads_on);
  std::map<Vertex, boost::default_color_type> met;  // only what is reached, whatever the size of the system
  System::Selection out;
  const auto reached = [&](Vertex v) {
    v < constraints_ ? out.constraints.push_back(v) : out.bodies.push_back(v - constraints_);
  };
  for (const std::size_t body : start) {
    const auto root = static_cast<Vertex>(constraints_ + body);
    if (met.count(root)) continue;
    boost::queue<Vertex> queue;
    breadth_first_visit(graph, root, queue, Reached<decltype(reached)>(reached),
                        boost::associative_property_map<decltype(met)>(met));
  }
  for (const std::size_t body : out.bodies)
    if (!is_ground_[body])
      for (const unsigned i : constraints_on(body))
        if (is_own_[i]) out.constraints.push_back(i);
  std::sort(out.bodies.begin(), out.bodies.end());
  std::sort(out.constraints.begin(), out.constraints.end());
  out.constraints.erase(std::unique(out.constraints.begin(), out.constraints.end()), out.constraints.end());
  return out;
}

// Each edge outside of a breadth-first tree closes one independent loop, along the tree from both its ends.  Vertices:
// the ground, bodies, constraints.
std::vector<SystemGraph::Walk> SystemGraph::loops() const {
  const auto vertex = [&](std::size_t body) { return is_ground_[body] ? 0 : body + 1; };
  std::vector<std::pair<Vertex, Vertex>> list;  // constraint, body
  EdgeList edges(num_edges(edges_->graph) / 2);
  for (std::size_t i = 0; i < constraints_; ++i)
    for (auto [e, end] = out_edges(static_cast<Vertex>(i), edges_->graph); e != end; ++e) {
      const std::size_t body = vertex(target(*e, edges_->graph) - constraints_);
      list.emplace_back(static_cast<Vertex>(bodies_ + 1 + i), static_cast<Vertex>(body));
      edges.add(bodies_ + 1 + i, body);
    }
  const std::vector<Vertex> before = trees(edges.graph(1 + bodies_ + constraints_));
  std::vector<bool> used(before.size(), false);  // of parallel edges only one is in the tree
  std::vector<Walk> out;
  for (const auto& [joint, body] : list) {
    const bool joint_hangs = before[joint] == body, body_hangs = before[body] == joint;
    if (const Vertex hangs = joint_hangs ? joint : body; (joint_hangs || body_hangs) && !used[hangs]) {
      used[hangs] = true;
      continue;
    }
    std::vector<Vertex> a = path_to_root(before, joint), b = path_to_root(before, body);
    while (a.size() > 1 && b.size() > 1 && a[a.size() - 2] == b[b.size() - 2]) a.pop_back(), b.pop_back();
    b.pop_back();  // the common end is in a
    a.insert(a.end(), b.rbegin(), b.rend());
    std::rotate(a.begin(), std::find_if(a.begin(), a.end(), [&](Vertex v) { return v > bodies_; }), a.end());
    Walk walk;
    for (const Vertex v : a) walk.push_back(v == 0 ? ground : v <= bodies_ ? v - 1 : v - bodies_ - 1);
    out.push_back(std::move(walk));
  }
  return out;
}

SystemGraph::Walk SystemGraph::loop(const std::vector<std::size_t>& joints, std::size_t main) const {
  // A graph of these joints alone: ground, bodies as they come, joints.
  std::map<std::size_t, std::size_t> number;
  std::vector<std::size_t> bodies{ground};
  const auto vertex = [&](Vertex v) -> std::size_t {
    const std::size_t body = v - constraints_;
    if (is_ground_[body]) return 0;
    const auto [it, fresh] = number.try_emplace(body, bodies.size());
    if (fresh) bodies.push_back(body);
    return it->second;
  };
  const Graph& all = edges_->graph;
  std::vector<std::pair<std::size_t, std::size_t>> list;  // joint in the list, body
  std::vector<std::size_t> ends;
  const auto bodies_of = [&](std::size_t constraint, const auto& f) {
    for (auto [e, end] = out_edges(static_cast<Vertex>(constraint), all); e != end; ++e) f(vertex(target(*e, all)));
  };
  bodies_of(main, [&](std::size_t v) { ends.push_back(v); });
  if (ends.size() < 2 || ends[0] == ends[1]) return {};
  for (std::size_t k = 0; k < joints.size(); ++k)
    if (joints[k] != main) bodies_of(joints[k], [&](std::size_t v) { list.emplace_back(k, v); });
  EdgeList edges(list.size());
  for (const auto& [k, v] : list) edges.add(bodies.size() + k, v);
  const Graph graph = edges.graph(bodies.size() + joints.size());
  std::vector<Vertex> before(num_vertices(graph), none);
  Colours colours(before.size(), boost::white_color);
  const auto start = static_cast<Vertex>(ends[0]), goal = static_cast<Vertex>(ends[1]);
  boost::queue<Vertex> queue;
  breadth_first_visit(graph, start, queue,
                      boost::make_bfs_visitor(boost::record_predecessors(before.data(), boost::on_tree_edge())),
                      boost::make_iterator_property_map(colours.begin(), get(boost::vertex_index, graph)));
  if (before[goal] == none) return {};
  before[start] = start;
  Walk walk{main};
  for (const Vertex v : path_to_root(before, goal))
    walk.push_back(v < bodies.size() ? bodies[v] : joints[v - bodies.size()]);
  std::size_t first = 0;  // joints stand at even places
  for (std::size_t i = 0; i < walk.size(); i += 2)
    if (walk[i] < walk[first]) first = i;
  std::rotate(walk.begin(), walk.begin() + static_cast<std::ptrdiff_t>(first), walk.end());
  return walk;
}

}  // namespace mortise
