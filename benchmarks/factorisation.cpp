#include "factorisation.h"

#include <map>
#include <random>
#include <string>

#include <fmt/format.h>
#include <Eigen/Sparse>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/minimum_degree_ordering.hpp>

#include <mortise/engine/fronts.h>

namespace bench {
namespace {

using mortise::Fronts, mortise::FrontTree, mortise::Index, mortise::MatrixXd, mortise::VectorXd;

// Joints between bodies, all of one kind; -1 is the ground.
struct Net {
  int rows, unknowns, bodies = 0;  // of a joint, of a body
  std::vector<std::array<int, 2>> joints;
};

Net chain(int n) {
  Net net{3, 6, n, {}};
  for (int i = 0; i < n; ++i) net.joints.push_back({i - 1, i});
  return net;
}
Net four_bars(int windows) {
  Net net{2, 3, 2 * windows + 1, {}};  // rods 0 ... N, couplers N + 1 ... 2 N
  for (int i = 0; i <= windows; ++i) net.joints.push_back({-1, i});
  for (int i = 0; i < windows; ++i) {
    net.joints.push_back({i, windows + 1 + i});
    net.joints.push_back({windows + 1 + i, i + 1});
  }
  return net;
}
Net grid(int n) {
  Net net{2, 3, n * n, {}};
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) {
      if (i + 1 < n) net.joints.push_back({i * n + k, (i + 1) * n + k});
      if (k + 1 < n) net.joints.push_back({i * n + k, i * n + k + 1});
    }
  return net;
}

// A A' + 1 with random A: blocks of joints that share a body.  The 1 keeps joints of closed loops independent.
std::map<std::pair<int, int>, MatrixXd> blocks_of(const Net& net) {
  std::mt19937 generator(1);
  std::normal_distribution<double> normal;
  std::vector<std::vector<std::pair<int, MatrixXd>>> at(static_cast<std::size_t>(net.bodies));
  for (std::size_t j = 0; j < net.joints.size(); ++j)
    for (const int body : net.joints[j])
      if (body >= 0)
        at[static_cast<std::size_t>(body)].emplace_back(
            static_cast<int>(j), MatrixXd::NullaryExpr(net.rows, net.unknowns, [&] { return normal(generator); }));
  std::map<std::pair<int, int>, MatrixXd> blocks;
  for (std::size_t j = 0; j < net.joints.size(); ++j)
    blocks[{static_cast<int>(j), static_cast<int>(j)}] = MatrixXd::Identity(net.rows, net.rows);
  for (const auto& sides : at)
    for (const auto& [i, A] : sides)
      for (const auto& [k, B] : sides) {
        auto& block = blocks[{i, k}];
        if (block.size() == 0) block.setZero(net.rows, net.rows);
        block += A * B.transpose();
      }
  return blocks;
}

FrontTree::Graph graph_of(const Net& net, const std::map<std::pair<int, int>, MatrixXd>& blocks) {
  FrontTree::Graph g;
  g.size.assign(net.joints.size(), net.rows);
  g.start.assign(net.joints.size() + 1, 0);
  for (const auto& [where, block] : blocks)
    if (where.first != where.second)
      g.neighbour.push_back(where.second), ++g.start[static_cast<std::size_t>(where.first) + 1];
  for (std::size_t i = 0; i < net.joints.size(); ++i) g.start[i + 1] += g.start[i];
  return g;
}

std::vector<int> boost_order(const FrontTree::Graph& g) {
  using namespace boost;
  const auto n = static_cast<int>(g.size.size());
  adjacency_list<vecS, vecS, directedS> graph(g.size.size());
  for (int i = 0; i < n; ++i)
    for (int e = g.start[static_cast<std::size_t>(i)]; e < g.start[static_cast<std::size_t>(i) + 1]; ++e)
      add_edge(static_cast<std::size_t>(i), static_cast<std::size_t>(g.neighbour[static_cast<std::size_t>(e)]), graph);
  std::vector<int> degree(g.size.size()), inverse(g.size.size()), order(g.size.size()), size(g.size.size(), 1);
  const auto index = get(vertex_index, graph);
  minimum_degree_ordering(graph, make_iterator_property_map(degree.begin(), index), inverse.data(), order.data(),
                          make_iterator_property_map(size.begin(), index), 0, index);
  return order;
}

// Splits the nodes in two halves by their distance from a far one; those that join the halves come last.
void dissect(const FrontTree::Graph& g, const std::vector<int>& nodes, std::vector<int>& part, int& parts,
             std::vector<int>& order) {
  if (nodes.size() <= 8) {
    order.insert(order.end(), nodes.begin(), nodes.end());
    return;
  }
  const int own = ++parts;
  for (const int i : nodes) part[static_cast<std::size_t>(i)] = own;
  const auto reach = [&](int from) {  // in order of distance; then what is not connected
    const int seen = ++parts;
    std::vector<int> found{from};
    part[static_cast<std::size_t>(from)] = seen;
    for (std::size_t next = 0, other = 0; found.size() < nodes.size(); ++next) {
      if (next == found.size()) {
        while (part[static_cast<std::size_t>(nodes[other])] == seen) ++other;
        part[static_cast<std::size_t>(nodes[other])] = seen;
        found.push_back(nodes[other]);
      }
      const auto i = static_cast<std::size_t>(found[next]);
      for (int e = g.start[i]; e < g.start[i + 1]; ++e)
        if (const int k = g.neighbour[static_cast<std::size_t>(e)]; part[static_cast<std::size_t>(k)] == own)
          part[static_cast<std::size_t>(k)] = seen, found.push_back(k);
    }
    for (const int i : nodes) part[static_cast<std::size_t>(i)] = own;
    return found;
  };
  const std::vector<int> by_distance = reach(reach(nodes.front()).back());
  const std::size_t half = by_distance.size() / 2;
  const int first = ++parts;
  for (std::size_t i = 0; i < half; ++i) part[static_cast<std::size_t>(by_distance[i])] = first;
  std::vector<int> low(by_distance.begin(), by_distance.begin() + static_cast<std::ptrdiff_t>(half)), high, between;
  for (std::size_t i = half; i < by_distance.size(); ++i) {
    const auto k = static_cast<std::size_t>(by_distance[i]);
    bool touches = false;
    for (int e = g.start[k]; e < g.start[k + 1]; ++e)
      touches = touches || part[static_cast<std::size_t>(g.neighbour[static_cast<std::size_t>(e)])] == first;
    (touches ? between : high).push_back(by_distance[i]);
  }
  dissect(g, low, part, parts, order);
  dissect(g, high, part, parts, order);
  order.insert(order.end(), between.begin(), between.end());
}
std::vector<int> dissection_order(const FrontTree::Graph& g) {
  std::vector<int> nodes(g.size.size()), part(g.size.size(), 0), order;
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<int>(i);
  int parts = 0;
  dissect(g, nodes, part, parts, order);
  return order;
}

// Our side: the values stand ready in the order of the fronts, as Eigen's do in theirs.
class Side {
 public:
  Side(const FrontTree::Graph& g, const std::map<std::pair<int, int>, MatrixXd>& blocks, std::vector<int> order = {})
      : tree_(g, std::move(order)),
        fronts_(tree_),
        entries_(static_cast<std::size_t>(tree_.count())),
        rows_(g.size.front()) {
    for (const auto& [where, block] : blocks) {
      const auto p = tree_.place(where.first, where.second);
      if (p.transposed) continue;  // the other one of the pair
      const int front =
          tree_.front_of(tree_.position(where.first) < tree_.position(where.second) ? where.first : where.second);
      for (Index c = 0; c < block.cols(); ++c)
        for (Index r = 0; r < block.rows(); ++r)
          entries_[static_cast<std::size_t>(front)].emplace_back(p.offset + r + c * p.stride, block(r, c));
    }
    for (Index i = 0; i < tree_.size(); ++i) fronts_.floor(i) = 1e-14;
  }
  void solve(const VectorXd& b, VectorXd& x) {
    fronts_.factor(workers_, [&](int front) {
      for (const auto& [offset, value] : entries_[static_cast<std::size_t>(front)]) *fronts_.value(offset) += value;
    });
    ordered_.resize(b.size());
    for (Index i = 0; i < b.size(); ++i) ordered_[place(i)] = b[i];
    fronts_.solve(ordered_.data());
    x.resize(b.size());
    for (Index i = 0; i < b.size(); ++i) x[i] = ordered_[place(i)];
  }
  Index fill() const { return tree_.values(); }

 private:
  Index place(Index i) const { return tree_.position(static_cast<int>(i / rows_)) + i % rows_; }

  FrontTree tree_;
  Fronts fronts_;
  mortise::Workers workers_{1};
  std::vector<std::vector<std::pair<Index, double>>> entries_;
  int rows_;
  VectorXd ordered_;
};

void one(Report& report, const std::string& name, const Net& net) {
  const std::string ldlt = "ldlt_" + name, boost_name = "order_boost_" + name, dissection = "order_dissection_" + name;
  if (!report.wants(ldlt) && !report.wants(boost_name) && !report.wants(dissection)) return;
  const auto blocks = blocks_of(net);
  const auto graph = graph_of(net, blocks);
  const Index n = static_cast<Index>(net.joints.size()) * net.rows;
  const VectorXd b = VectorXd::LinSpaced(n, -1, 1);
  Side ours(graph, blocks);
  VectorXd x, theirs;
  ours.solve(b, x);
  if (report.wants(ldlt)) {
    std::vector<Eigen::Triplet<double>> entries;
    for (const auto& [where, block] : blocks)
      for (Index c = 0; c < block.cols(); ++c)
        for (Index r = 0; r < block.rows(); ++r)
          entries.emplace_back(where.first * net.rows + r, where.second * net.rows + c, block(r, c));
    Eigen::SparseMatrix<double> K(n, n);
    K.setFromTriplets(entries.begin(), entries.end());
    Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> eigen;
    eigen.analyzePattern(K);
    const auto times = race(
        report.options(), [&] { ours.solve(b, x); },
        [&] {
          eigen.factorize(K);
          theirs = eigen.solve(b);
        });
    report.ratio(ldlt, times, "Eigen's SimplicialLDLT; " + report.agreement((x - theirs).norm() / theirs.norm()));
  }
  const auto against = [&](const std::string& what, const std::string& text, std::vector<int> order) {
    if (!report.wants(what)) return;
    Side other(graph, blocks, std::move(order));
    const auto times = race(
        report.options(), [&] { ours.solve(b, x); }, [&] { other.solve(b, theirs); });
    report.ratio(what, times,
                 fmt::format("{}; fill {} against {}; {}", text, ours.fill(), other.fill(),
                             report.agreement((x - theirs).norm() / theirs.norm())));
  };
  against(boost_name, "Boost's minimum degree", boost_order(graph));
  against(dissection, "nested dissection", dissection_order(graph));
}

}  // namespace

void factorisations(Report& report) {
  one(report, "chain_1000", chain(1000));
  one(report, "fourbar_100", four_bars(100));
  one(report, "grid_30", grid(30));
}

}  // namespace bench
