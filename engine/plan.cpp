#include <mortise/assembly/system_graph.h>
#include <mortise/engine/engine_kernels.h>
#include <mortise/engine/plan.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace mortise::engine {

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
  std::span<const T> part(std::size_t i, const std::vector<T>& items) const {  // where they were moved to
    return {items.data() + start_[i], at(start_[i + 1] - start_[i])};
  }
  int start(std::size_t i) const { return start_[i]; }
  int count(std::size_t i) const { return start_[i + 1] - start_[i]; }
  std::vector<T>& items() { return items_; }

 private:
  std::vector<int> start_;
  std::vector<T> items_;
};

}  // namespace

Slots::Slots(const System& system, const RigidGroups* groups) {
  for (std::size_t i = 0; i < system.bodies().size(); ++i) {
    const auto& b = system.bodies()[i];
    const auto k = static_cast<int>(b.model->unknowns());
    int root = static_cast<int>(i);
    bool weighs = true;
    if (groups && groups->group_of(i) != RigidGroups::none) {
      const auto& g = groups->groups()[at(groups->group_of(i))];
      weighs = g.members[0].body == i;
      root = g.held ? Body::held : static_cast<int>(g.members[0].body);
    }
    const int own = root == static_cast<int>(i) ? k : 0;
    bodies.push_back({b.model.get(), b.first, static_cast<int>(unknowns), own, root, weighs});
    unknowns += own;
    largest = std::max(largest, at(k));
    if (b.model->stores()) storing.push_back(i);
  }
  for (Body& b : bodies)
    if (b.root != Body::held) b.y = bodies[at(b.root)].y;
  const auto see = [&](const std::vector<std::size_t>& acted_on, std::vector<std::size_t>& places) {
    places.push_back(on.size());
    for (const std::size_t k : acted_on) on.push_back(k), firsts.push_back(bodies[k].first);
  };
  for (const auto& c : system.constraints()) see(c.bodies, joint_place);
  for (const auto& f : system.forces()) see(f.bodies, force_place);
  for (std::size_t i = 0; i < system.constraints().size(); ++i) {
    const auto& c = system.constraints()[i];
    if (c.own && bodies[c.bodies[0]].model->meets_own_rows()) continue;
    if (groups && groups->merges(i)) continue;
    if (!c.model->ideal()) nonideal.push_back(constraints.size());
    if (c.model->reacts()) reacting.push_back(i);
    constraints.push_back(i);
    joints.push_back(c.model.get());
    holonomic = holonomic && c.holonomic == c.rows;
  }
}

Plan::Plan(std::shared_ptr<const Slots> of) : slots(std::move(of)) {
  for (const Slots::Body& b : slots->bodies) bodies.push_back({b.y, b.k, b.k});
}

Plan::Plan(const System& system, std::shared_ptr<const Slots> of, const std::vector<Index>& massless)
    : Plan(std::move(of)) {
  for (std::size_t i = 0; i < bodies.size(); ++i) bodies[i].massive -= static_cast<int>(massless[i]);
  plan_nodes(system);
  plan_condensations();
  if (sizes.A > std::numeric_limits<unsigned>::max())
    Label{"system", system.name()}.fail<InvalidModel>(
        fmt::format("its constraints have {} derivatives, the solver counts to {}", sizes.A,
                    std::numeric_limits<unsigned>::max()),
        "solve its parts one by one");
  plan_fronts();
  made = true;
}

bool Plan::fits(const std::vector<Index>& massless) const {
  for (std::size_t i = 0; i < bodies.size(); ++i)
    if (bodies[i].k - bodies[i].massive != massless[i]) return false;
  return true;
}

std::shared_ptr<const Plan> plan_for(const System& system, const std::shared_ptr<const Slots>& slots,
                                     const std::vector<Index>& massless) {
  SystemGraph::Plans& known = system.graph().plans();
  const auto find = [&]() -> std::shared_ptr<const Plan> {
    for (const auto& x : known.list)
      if (auto plan = std::static_pointer_cast<const Plan>(x.lock());
          plan && plan->fits(massless) && *plan->slots == *slots)
        return plan;
    return nullptr;
  };
  {
    const std::lock_guard lock(known.mutex);
    if (auto plan = find()) return plan;
  }
  auto plan = std::make_shared<const Plan>(system, slots, massless);  // others need not wait for it
  const std::lock_guard lock(known.mutex);
  if (auto made_meanwhile = find()) return made_meanwhile;
  std::erase_if(known.list, [](const auto& x) { return x.expired(); });
  known.list.push_back(plan);
  return plan;
}

void Plan::plan_nodes(const System& system) {
  rows = static_cast<int>(system.rows());
  for (const std::size_t i : slots->constraints) {
    const auto& c = system.constraints()[i];
    Node n{static_cast<int>(c.row), static_cast<int>(c.rows), 0, sizes.A, static_cast<int>(entries.size()), 0};
    int unknowns = 0;  // of each of its bodies, -1 where they differ
    bool whole = true;
    for (const std::size_t k : c.bodies) {
      const Slots::Body& slot = slots->bodies[k];
      if (const int count = static_cast<int>(slot.model->unknowns()); slot.root == Slots::Body::held) {
        held.push_back({static_cast<int>(nodes.size()), n.columns, count});
        n.columns += count;
        whole = whole && count == 0;
        continue;
      }
      const Body& b = bodies[at(slot.root)];
      if (b.k == 0) continue;
      unknowns = static_cast<int>(entries.size()) == n.entry || unknowns == b.k ? b.k : -1;
      entries.push_back({slot.root, n.columns, b.k - b.massive, b.y});
      n.columns += b.k;
    }
    n.entries = static_cast<int>(entries.size()) - n.entry;
    n.shape = whole ? shape_of(n.rows, n.entries, unknowns) : std::max(unknowns, 0);
    n.norm = sizes.norms;
    sizes.norms += n.rows * n.entries;
    sizes.A += Index{n.rows} * n.columns;
    nodes.push_back(n);
  }
  // How each body is touched by constraints.
  std::vector<std::pair<int, Touch>> list;
  list.reserve(entries.size());
  for (const Node& n : nodes)
    for (const Entry& x : entries_of(n))
      list.push_back({x.body, {static_cast<unsigned>(n.A + x.column), n.columns, n.rows, n.row}});
  Groups<Touch> by_body(bodies.size(), list);
  for (std::size_t i = 0; i < bodies.size(); ++i)
    bodies[i].touch = by_body.start(i), bodies[i].touches = by_body.count(i);
  touches = std::move(by_body.items());
}

// One body with massless unknowns after the other, the one held by the fewest rows first.
void Plan::plan_condensations() {
  if (std::all_of(bodies.begin(), bodies.end(), [](const Body& b) { return b.massive == b.k; })) return;
  std::vector<std::set<int>> holders(bodies.size());  // nodes that touch massless unknowns of the body
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const Entry& x : entries_of(nodes[i]))
      if (x.massless > 0) holders[at(x.body)].insert(static_cast<int>(i));
  const auto rows_of = [&](int body) {
    int sum = 0;
    for (const int n : holders[at(body)]) sum += nodes[at(n)].rows;
    return sum;
  };
  std::set<std::pair<int, int>> queue;
  std::vector<int> key(bodies.size(), -1);
  for (std::size_t i = 0; i < bodies.size(); ++i)
    if (bodies[i].massive < bodies[i].k) queue.insert({key[i] = rows_of(static_cast<int>(i)), static_cast<int>(i)});
  while (!queue.empty()) {
    const int body = queue.begin()->second;
    queue.erase(queue.begin());
    Condensation c{};
    c.body = body;
    c.columns = bodies[at(body)].k - bodies[at(body)].massive;
    c.source = static_cast<int>(sources.size());
    c.sources = static_cast<int>(holders[at(body)].size());
    Node target{};
    target.entry = static_cast<int>(entries.size());
    std::map<int, Entry> united;  // by body
    for (const int n : holders[at(body)]) {
      sources.push_back(n);
      c.rows += nodes[at(n)].rows;
      for (Entry x : entries_of(nodes[at(n)])) {
        if (x.body == body) x.massless = 0;
        x.reference = -1;
        united[x.body] = x;
      }
    }
    target.rows = std::max(0, c.rows - c.columns);
    target.row = rows;
    rows += target.rows;
    for (auto& [b, x] : united) {
      x.column = target.columns;
      target.columns += bodies[at(b)].massive + x.massless;
      if (x.massless > 0) {
        sizes.scratch = std::max(sizes.scratch, Index{c.rows} * (x.massless + 1));
        x.reference = sizes.qr;
        sizes.qr += Index{target.rows} * x.massless;
      }
      entries.push_back(x);
    }
    target.entries = static_cast<int>(united.size());
    target.A = sizes.A;
    sizes.A += Index{target.rows} * target.columns;
    c.move = static_cast<Index>(moves.size());
    int row = 0;
    for (const int n : holders[at(body)]) {
      for (const Entry& x : entries_of(nodes[at(n)])) {
        const int massive = bodies[at(x.body)].massive, to = c.columns + united[x.body].column;
        if (x.body == body) {
          moves.push_back({row, n, x.column + massive, 0, c.columns});
          moves.push_back({row, n, x.column, to, massive});
        } else {
          moves.push_back({row, n, x.column, to, massive + x.massless});
        }
      }
      row += nodes[at(n)].rows;
    }
    c.moves = static_cast<Index>(moves.size()) - c.move;
    c.width = target.columns;
    c.numbers = sizes.qr;
    sizes.qr += c.size();
    bodies[at(body)].references = sizes.references;
    sizes.references += Index{bodies[at(body)].k + 1} * c.columns;
    // The stacked rows with their references while they are decomposed; one number per row or per column while solving.
    // There may be fewer rows than columns, or none.
    sizes.scratch = std::max({sizes.scratch, Index{c.rows} * (2 * c.columns + c.width + 2), Index{c.columns}});
    c.target = static_cast<int>(nodes.size());
    nodes.push_back(target);
    condensations.push_back(c);
    // The target takes the place of its sources.
    for (const auto& [b, x] : united) {
      if (b == body || x.massless == 0) continue;
      auto& h = holders[at(b)];
      for (int s = c.source; s < c.source + c.sources; ++s) h.erase(sources[at(s)]);
      h.insert(c.target);
      queue.erase({key[at(b)], b});
      queue.insert({key[at(b)] = rows_of(b), b});
    }
  }
}

void Plan::plan_fronts() {
  std::vector<bool> gone(nodes.size(), false);
  for (const int s : sources) gone[at(s)] = true;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (!gone[i] && nodes[i].rows > 0) active.push_back(static_cast<int>(i));

  struct Side {
    int node, column;
  };
  std::vector<std::pair<int, Side>> list_of_sides;
  for (const int i : active) {
    const Node& n = nodes[at(i)];
    for (const Entry& x : entries_of(n))
      if (bodies[at(x.body)].massive > 0) list_of_sides.push_back({x.body, {i, x.column}});
  }
  Groups<Side> sides(bodies.size(), list_of_sides);
  list_of_sides = {};
  FrontTree::Graph g;
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    bodies[b].hub = -1;
    bodies[b].hold = sides.start(b);
    bodies[b].holds = sides.count(b);
    for (const Side& s : sides[b])  // the row follows with the order
      holds.push_back({static_cast<unsigned>(nodes[at(s.node)].A + s.column), nodes[at(s.node)].columns,
                       nodes[at(s.node)].rows, s.node});
    if (sides[b].size() > hub_degree) {
      bodies[b].hub = static_cast<int>(g.size.size());
      g.size.push_back(bodies[b].massive);
    }
  }
  // Rows that touch nothing but one hub must come after it: they share its node.
  std::vector<int> front_node(nodes.size(), -1), front_offset(nodes.size(), 0);
  for (const int i : active) {
    const Node& n = nodes[at(i)];
    int hub = -1, others = 0;
    for (const Entry& x : entries_of(n)) {
      const Body& b = bodies[at(x.body)];
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
  for (std::size_t b = 0; b < bodies.size(); ++b)
    for (std::size_t i = 0; i < sides[b].size(); ++i) {
      const int node = front_node[at(sides[b][i].node)];
      if (bodies[b].hub >= 0)
        join(node, bodies[b].hub);
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
  tree = FrontTree(g);
  for (const int i : active) nodes[at(i)].position = tree.position(front_node[at(i)]) + front_offset[at(i)];
  for (Touch& t : holds) t.row = nodes[at(t.row)].position;
  // The products and copies that fill each front.
  std::vector<std::pair<int, Product>> product_list;
  std::vector<std::pair<int, Insert>> insert_list;
  const auto block = [&](int row_node, int row_offset, int column_node, int column_offset) {
    FrontTree::Place p = tree.place(row_node, column_node);
    p.offset +=
        p.transposed ? column_offset + Index{row_offset} * p.stride : row_offset + Index{column_offset} * p.stride;
    return p;
  };
  const auto first_front = [&](int i, int k) { return tree.front_of(tree.position(i) < tree.position(k) ? i : k); };
  std::vector<std::pair<int, int>> node_list;
  std::vector<std::pair<int, Hub>> hub_list;
  for (const Body& b : bodies)
    if (b.hub >= 0) {
      const auto p = block(b.hub, 0, b.hub, 0);
      hub_list.push_back({tree.front_of(b.hub), {tree.position(b.hub), b.massive, p.stride, p.offset}});
    }
  // The block of a node with itself takes all its bodies at once, if none is a hub or occurs twice.
  for (const int i : active) {
    Node& n = nodes[at(i)];
    std::set<int> distinct;
    bool on_hub = false;
    for (const Entry& x : entries_of(n)) {
      distinct.insert(x.body);
      on_hub = on_hub || bodies[at(x.body)].hub >= 0;
    }
    n.whole = !on_hub && static_cast<int>(distinct.size()) == n.entries;
    const auto p = block(front_node[at(i)], front_offset[at(i)], front_node[at(i)], front_offset[at(i)]);
    n.place = p.offset;
    n.stride = p.stride;
    node_list.emplace_back(tree.front_of(front_node[at(i)]), i);
  }
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const Body& body = bodies[b];
    for (std::size_t i = 0; i < sides[b].size(); ++i) {
      const int node = sides[b][i].node;
      const Node& n = nodes[at(node)];
      if (body.hub >= 0) {
        const auto p = block(front_node[at(node)], front_offset[at(node)], body.hub, 0);
        insert_list.push_back(
            {first_front(front_node[at(node)], body.hub),
             {n.A + sides[b][i].column, p.offset, n.rows, body.massive, n.columns, p.stride, p.transposed}});
        continue;
      }
      for (std::size_t k = 0; k <= i; ++k) {
        if (k == i && n.whole) continue;
        const int other = sides[b][k].node;
        const Node& o = nodes[at(other)];
        auto p = block(front_node[at(node)], front_offset[at(node)], front_node[at(other)], front_offset[at(other)]);
        const Node *rows = &n, *columns = &o;
        int row_column = sides[b][i].column, column_column = sides[b][k].column;
        if (p.transposed) std::swap(rows, columns), std::swap(row_column, column_column);
        const bool square = node != other && rows->rows == columns->rows;
        product_list.push_back(
            {first_front(front_node[at(node)], front_node[at(other)]),
             {p.offset, static_cast<unsigned>(rows->A + row_column), static_cast<unsigned>(columns->A + column_column),
              rows->rows, columns->rows, rows->columns, columns->columns, p.stride, body.massive,
              square ? shape_of(rows->rows, 2, body.massive) : 0}});
        if (k != i && node == other) {  // a body that occurs twice in a joint
          product_list.push_back(product_list.back());
          std::swap(product_list.back().second.left, product_list.back().second.right);
        }
      }
    }
  }
  Groups<int> nodes_by_front(at(tree.count()), node_list);
  Groups<Hub> hubs_by_front(at(tree.count()), hub_list);
  Groups<Product> by_front(at(tree.count()), product_list);
  Groups<Insert> inserts_by_front(at(tree.count()), insert_list);
  front_nodes = std::move(nodes_by_front.items());
  hubs = std::move(hubs_by_front.items());
  products = std::move(by_front.items());
  inserts = std::move(inserts_by_front.items());
  for (std::size_t f = 0; f < at(tree.count()); ++f)
    fillings.push_back({nodes_by_front.part(f, front_nodes), hubs_by_front.part(f, hubs), by_front.part(f, products),
                        inserts_by_front.part(f, inserts)});
}

}  // namespace mortise::engine
