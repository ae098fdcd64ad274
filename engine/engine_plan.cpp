// The plan of the engine: what is condensed, the order of elimination, and the slot of every block.

#include <mortise/engine/engine.h>
#include <mortise/engine/engine_kernels.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace mortise {

using engine::at;

namespace {

constexpr int hub_degree = 10;  // bodies with more nodes stay in the fronts

// Items by a number they belong to, 0 ... n - 1; within one in the order given.
template <class T> class Groups {
 public:
  Groups(std::size_t n, const std::vector<std::pair<int, T>>& list) : start_(n + 1, 0), items_(list.size()) {
    for (const auto& [i, item] : list) ++start_[at(i) + 1];
    for (std::size_t i = 0; i < n; ++i) start_[i + 1] += start_[i];
    std::vector<int> next(start_.begin(), start_.end() - 1);
    for (const auto& [i, item] : list) items_[at(next[at(i)]++)] = item;
  }
  std::span<T> operator[](std::size_t i) { return {items_.data() + start_[i], at(start_[i + 1] - start_[i])}; }
  int start(std::size_t i) const { return start_[i]; }
  int count(std::size_t i) const { return start_[i + 1] - start_[i]; }
  std::vector<T>& items() { return items_; }

 private:
  std::vector<int> start_;
  std::vector<T> items_;
};

}  // namespace

void Engine::plan(const std::vector<Index>& massless) {
  nodes_.clear();
  entries_.clear();
  condensations_.clear();
  sources_.clear();
  moves_.clear();
  gaps_.clear();
  rows_ = static_cast<int>(system_.rows());
  Index values = 0, norms = 0;
  for (std::size_t i = 0; i < bodies_.size(); ++i) bodies_[i].massive = bodies_[i].k - static_cast<int>(massless[i]);
  for (const std::size_t i : constraint_) {
    const auto& c = system_.constraints()[i];
    Node n{static_cast<int>(c.row), static_cast<int>(c.rows), 0, values, static_cast<int>(entries_.size()), 0};
    int unknowns = 0;  // of each of its bodies, -1 where they differ
    bool whole = true;
    for (const std::size_t k : c.bodies) {
      if (const int count = static_cast<int>(bodies_[k].model->unknowns()); bodies_[k].root == BodySlot::held) {
        gaps_.push_back({static_cast<int>(nodes_.size()), n.columns, count});
        n.columns += count;
        whole = whole && count == 0;
        continue;
      }
      const BodySlot& b = bodies_[at(bodies_[k].root)];
      if (b.k == 0) continue;
      unknowns = static_cast<int>(entries_.size()) == n.entry || unknowns == b.k ? b.k : -1;
      entries_.push_back({bodies_[k].root, n.columns, b.k - b.massive, b.y});
      n.columns += b.k;
    }
    n.entries = static_cast<int>(entries_.size()) - n.entry;
    n.shape = whole ? engine::shape_of(n.rows, n.entries, unknowns) : std::max(unknowns, 0);
    n.norm = norms;
    norms += n.rows * n.entries;
    values += Index{n.rows} * n.columns;
    nodes_.push_back(n);
  }
  A_.assign(at(values), 0);
  norms_.assign(at(norms), 0);
  // How each body is touched by constraints.
  {
    std::vector<std::pair<int, Touch>> list;
    list.reserve(entries_.size());
    for (const Node& n : nodes_)
      for (int e = n.entry; e < n.entry + n.entries; ++e)
        list.push_back(
            {entries_[at(e)].body, {static_cast<unsigned>(n.A + entries_[at(e)].column), n.columns, n.rows, n.row}});
    Groups<Touch> touches(bodies_.size(), list);
    for (std::size_t i = 0; i < bodies_.size(); ++i)
      bodies_[i].touch = touches.start(i), bodies_[i].touches = touches.count(i);
    touches_ = std::move(touches.items());
  }
  condense();
  if (static_cast<Index>(A_.size()) > std::numeric_limits<unsigned>::max())
    Label{"system", system_.name()}.fail<InvalidModel>(
        fmt::format("its constraints have {} slopes, the solver counts to {}", A_.size(),
                    std::numeric_limits<unsigned>::max()),
        "solve its parts one by one");
  plan_fronts();

  for (VectorXd* x : {&y_, &w_, &g_, &dy_}) x->setZero(unknowns_);
  for (VectorXd* x : {&b_, &value_, &rate_, &lambda_, &gap_, &size_of_row_, &residual_, &dlambda_})
    x->setZero(system_.rows());
  norm_of_row_.setOnes(system_.rows());
  const bool condensed = !condensations_.empty();
  for (VectorXd* x : {&h_, &fs_}) x->setZero(condensed ? unknowns_ : 0);
  for (VectorXd* x : {&node_rhs_, &node_lambda_}) x->setZero(condensed ? rows_ : 0);
  references_.clear();
  for (const Condensation& c : condensations_) {
    BodySlot& b = bodies_[at(c.body)];
    b.references = static_cast<Index>(references_.size());
    references_.resize(references_.size() + at(Index{b.k + 1} * c.columns));
    find_references(b);
  }
  diagonal_.assign(at(rows_), 0);
  order_.setZero(tree_.size());
  planned_ = true;
}

// One body with massless unknowns after the other, the one held by the fewest rows first.
void Engine::condense() {
  qr_.clear();
  scratch_.clear();
  if (std::all_of(bodies_.begin(), bodies_.end(), [](const BodySlot& b) { return b.massive == b.k; })) return;
  std::vector<std::set<int>> holders(bodies_.size());  // nodes that touch massless unknowns of the body
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    for (int e = nodes_[i].entry; e < nodes_[i].entry + nodes_[i].entries; ++e)
      if (entries_[at(e)].massless > 0) holders[at(entries_[at(e)].body)].insert(static_cast<int>(i));
  const auto rows_of = [&](int body) {
    int rows = 0;
    for (const int n : holders[at(body)]) rows += nodes_[at(n)].rows;
    return rows;
  };
  std::set<std::pair<int, int>> queue;
  std::vector<int> key(bodies_.size(), -1);
  for (std::size_t i = 0; i < bodies_.size(); ++i)
    if (bodies_[i].massive < bodies_[i].k) queue.insert({key[i] = rows_of(static_cast<int>(i)), static_cast<int>(i)});
  Index space = 0, scratch = 0, values = static_cast<Index>(A_.size());
  while (!queue.empty()) {
    const int body = queue.begin()->second;
    queue.erase(queue.begin());
    Condensation c{};
    c.body = body;
    c.columns = bodies_[at(body)].k - bodies_[at(body)].massive;
    c.source = static_cast<int>(sources_.size());
    c.sources = static_cast<int>(holders[at(body)].size());
    Node target{};
    target.entry = static_cast<int>(entries_.size());
    std::map<int, Entry> united;  // by body
    for (const int n : holders[at(body)]) {
      sources_.push_back(n);
      c.rows += nodes_[at(n)].rows;
      for (int e = nodes_[at(n)].entry; e < nodes_[at(n)].entry + nodes_[at(n)].entries; ++e) {
        Entry x = entries_[at(e)];
        if (x.body == body) x.massless = 0;
        x.reference = -1;
        united[x.body] = x;
      }
    }
    target.rows = std::max(0, c.rows - c.columns);
    target.row = rows_;
    rows_ += target.rows;
    for (auto& [b, x] : united) {
      x.column = target.columns;
      target.columns += bodies_[at(b)].massive + x.massless;
      if (x.massless > 0) {
        scratch = std::max(scratch, Index{c.rows} * (x.massless + 1));
        x.reference = space;
        space += Index{target.rows} * x.massless;
      }
      entries_.push_back(x);
    }
    target.entries = static_cast<int>(united.size());
    target.A = values;
    values += Index{target.rows} * target.columns;
    c.move = static_cast<Index>(moves_.size());
    int row = 0;
    for (const int n : holders[at(body)]) {
      for (int e = nodes_[at(n)].entry; e < nodes_[at(n)].entry + nodes_[at(n)].entries; ++e) {
        const Entry& x = entries_[at(e)];
        const int massive = bodies_[at(x.body)].massive, to = c.columns + united[x.body].column;
        if (x.body == body) {
          moves_.push_back({row, n, x.column + massive, 0, c.columns});
          moves_.push_back({row, n, x.column, to, massive});
        } else {
          moves_.push_back({row, n, x.column, to, massive + x.massless});
        }
      }
      row += nodes_[at(n)].rows;
    }
    c.moves = static_cast<Index>(moves_.size()) - c.move;
    c.V = space;
    space += Index{c.rows} * c.columns + c.columns;  // vectors and factors
    c.R = space;
    space += Index{c.columns} * c.columns + 3 * Index{c.columns};  // R, permutation, scales, mu1
    c.A1 = space;
    space += Index{c.columns} * target.columns + c.columns;  // and b1
    c.t = space;
    space += c.rows;
    // The stacked rows with their references while they are decomposed; one number per row or per column while solving.
    // There may be fewer rows than columns, or none.
    scratch = std::max({scratch, Index{c.rows} * (2 * c.columns + target.columns + 2), Index{c.columns}});
    c.target = static_cast<int>(nodes_.size());
    nodes_.push_back(target);
    condensations_.push_back(c);
    // The target takes the place of its sources.
    for (const auto& [b, x] : united) {
      if (b == body || x.massless == 0) continue;
      auto& h = holders[at(b)];
      for (int s = c.source; s < c.source + c.sources; ++s) h.erase(sources_[at(s)]);
      h.insert(c.target);
      queue.erase({key[at(b)], b});
      queue.insert({key[at(b)] = rows_of(b), b});
    }
  }
  A_.resize(at(values));
  qr_.assign(at(space), 0);
  scratch_.assign(at(scratch), 0);
}

void Engine::plan_fronts() {
  products_.clear();
  inserts_.clear();
  parts_.clear();
  active_.clear();
  holds_.clear();
  std::vector<bool> gone(nodes_.size(), false);
  for (const int s : sources_) gone[at(s)] = true;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (!gone[i] && nodes_[i].rows > 0) active_.push_back(static_cast<int>(i));

  struct Side {
    int node, column;
  };
  std::vector<std::pair<int, Side>> list_of_sides;
  for (const int i : active_) {
    const Node& n = nodes_[at(i)];
    for (int e = n.entry; e < n.entry + n.entries; ++e)
      if (bodies_[at(entries_[at(e)].body)].massive > 0)
        list_of_sides.push_back({entries_[at(e)].body, {i, entries_[at(e)].column}});
  }
  Groups<Side> sides(bodies_.size(), list_of_sides);
  list_of_sides = {};
  FrontTree::Graph g;
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    bodies_[b].hub = -1;
    bodies_[b].hold = sides.start(b);
    bodies_[b].holds = sides.count(b);
    for (const Side& s : sides[b])  // the row follows with the order
      holds_.push_back({static_cast<unsigned>(nodes_[at(s.node)].A + s.column), nodes_[at(s.node)].columns,
                        nodes_[at(s.node)].rows, s.node});
    if (sides[b].size() > hub_degree) {
      bodies_[b].hub = static_cast<int>(g.size.size());
      g.size.push_back(bodies_[b].massive);
    }
  }
  // Rows that touch nothing but one hub must come after it: they share its node.
  std::vector<int> front_node(nodes_.size(), -1), front_offset(nodes_.size(), 0);
  for (const int i : active_) {
    const Node& n = nodes_[at(i)];
    int hub = -1, others = 0;
    for (int e = n.entry; e < n.entry + n.entries; ++e) {
      const BodySlot& b = bodies_[at(entries_[at(e)].body)];
      if (b.massive > 0) (b.hub >= 0 && (hub < 0 || hub == b.hub) ? hub : others) = b.hub >= 0 ? b.hub : 1;
    }
    if (hub >= 0 && others == 0) {
      front_node[at(i)] = hub;
      front_offset[at(i)] = g.size[at(hub)];
      g.size[at(hub)] += n.rows;
    } else {
      front_node[at(i)] = static_cast<int>(g.size.size());
      g.size.push_back(n.rows);
    }
  }
  // Nodes that share a body that is no hub, and nodes and their hubs.
  std::vector<std::pair<int, int>> adjacent;
  const auto join = [&](int i, int k) {
    if (i == k) return;
    adjacent.emplace_back(i, k);
    adjacent.emplace_back(k, i);
  };
  for (std::size_t b = 0; b < bodies_.size(); ++b)
    for (std::size_t i = 0; i < sides[b].size(); ++i) {
      const int node = front_node[at(sides[b][i].node)];
      if (bodies_[b].hub >= 0)
        join(node, bodies_[b].hub);
      else
        for (std::size_t k = 0; k < i; ++k) join(node, front_node[at(sides[b][k].node)]);
    }
  g.start.push_back(0);
  {
    Groups<int> neighbours(g.size.size(), adjacent);
    adjacent = {};
    for (std::size_t i = 0; i < g.size.size(); ++i) {
      const auto a = neighbours[i];
      std::sort(a.begin(), a.end());
      g.neighbour.insert(g.neighbour.end(), a.begin(), std::unique(a.begin(), a.end()));
      g.start.push_back(static_cast<int>(g.neighbour.size()));
    }
  }
  tree_ = FrontTree(g);
  fronts_ = Fronts(tree_, workers_.count());
  for (const int i : active_) nodes_[at(i)].position = tree_.position(front_node[at(i)]) + front_offset[at(i)];
  for (Touch& t : holds_) t.row = nodes_[at(t.row)].position;
  // The products and copies that fill each front.
  std::vector<std::pair<int, Product>> products;
  std::vector<std::pair<int, Insert>> inserts;
  const auto block = [&](int row_node, int row_offset, int column_node, int column_offset) {
    FrontTree::Place p = tree_.place(row_node, column_node);
    p.offset +=
        p.transposed ? column_offset + Index{row_offset} * p.stride : row_offset + Index{column_offset} * p.stride;
    return p;
  };
  const auto first_front = [&](int i, int k) {
    return tree_.front_of(tree_.position(i) < tree_.position(k) ? i : k);
  };
  std::vector<std::pair<int, int>> nodes;
  std::vector<std::pair<int, Hub>> hubs;
  for (const BodySlot& b : bodies_)
    if (b.hub >= 0) {
      const auto p = block(b.hub, 0, b.hub, 0);
      hubs.push_back({tree_.front_of(b.hub), {tree_.position(b.hub), b.massive, p.stride, p.offset}});
    }
  // The block of a node with itself takes all its bodies at once, if none is a hub or occurs twice.
  for (const int i : active_) {
    Node& n = nodes_[at(i)];
    std::set<int> distinct;
    bool on_hub = false;
    for (int e = n.entry; e < n.entry + n.entries; ++e) {
      distinct.insert(entries_[at(e)].body);
      on_hub = on_hub || bodies_[at(entries_[at(e)].body)].hub >= 0;
    }
    n.whole = !on_hub && static_cast<int>(distinct.size()) == n.entries;
    const auto p = block(front_node[at(i)], front_offset[at(i)], front_node[at(i)], front_offset[at(i)]);
    n.place = p.offset;
    n.stride = p.stride;
    nodes.emplace_back(tree_.front_of(front_node[at(i)]), i);
  }
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const BodySlot& body = bodies_[b];
    for (std::size_t i = 0; i < sides[b].size(); ++i) {
      const int node = sides[b][i].node;
      const Node& n = nodes_[at(node)];
      if (body.hub >= 0) {
        const auto p = block(front_node[at(node)], front_offset[at(node)], body.hub, 0);
        inserts.push_back(
            {first_front(front_node[at(node)], body.hub),
             {n.A + sides[b][i].column, p.offset, n.rows, body.massive, n.columns, p.stride, p.transposed}});
        continue;
      }
      for (std::size_t k = 0; k <= i; ++k) {
        if (k == i && n.whole) continue;
        const int other = sides[b][k].node;
        const Node& o = nodes_[at(other)];
        auto p = block(front_node[at(node)], front_offset[at(node)], front_node[at(other)], front_offset[at(other)]);
        const Node *rows = &n, *columns = &o;
        int row_column = sides[b][i].column, column_column = sides[b][k].column;
        if (p.transposed) std::swap(rows, columns), std::swap(row_column, column_column);
        const bool square = node != other && rows->rows == columns->rows;
        products.push_back(
            {first_front(front_node[at(node)], front_node[at(other)]),
             {p.offset, static_cast<unsigned>(rows->A + row_column), static_cast<unsigned>(columns->A + column_column),
              rows->rows, columns->rows, rows->columns, columns->columns, p.stride, body.massive,
              square ? engine::shape_of(rows->rows, 2, body.massive) : 0}});
        if (k != i && node == other) {  // a body that occurs twice in a joint
          products.push_back(products.back());
          std::swap(products.back().second.left, products.back().second.right);
        }
      }
    }
  }
  Groups<int> nodes_by_front(at(tree_.count()), nodes);
  Groups<Hub> hubs_by_front(at(tree_.count()), hubs);
  Groups<Product> by_front(at(tree_.count()), products);
  Groups<Insert> inserts_by_front(at(tree_.count()), inserts);
  for (std::size_t f = 0; f <= at(tree_.count()); ++f)
    parts_.push_back({nodes_by_front.start(f), hubs_by_front.start(f), by_front.start(f), inserts_by_front.start(f)});
  front_nodes_ = std::move(nodes_by_front.items());
  hubs_ = std::move(hubs_by_front.items());
  products_ = std::move(by_front.items());
  inserts_ = std::move(inserts_by_front.items());
}

}  // namespace mortise
