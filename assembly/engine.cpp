#include <mortise/assembly/engine.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace mortise {
namespace {

constexpr double penalty = 1e14;      // D = diag(A A') / penalty
constexpr int hub_degree = 10;        // bodies with more nodes stay in the fronts
constexpr double alarm_level = 1e-6;  // of the balanced diagonal of R: below, the rank verdict is asked
constexpr double doubtful = 1e-9;     // pivots below this share of their row's square may be dependent rows
constexpr double round_off = 1e-15;   // relative size of what sweeps should leave
constexpr double margin = 1e-4;       // for rates of convergence that are not uniform
constexpr double converged = 1e-12;   // corrections that stop shrinking above this have not

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// Calls f with the size as a constant where it is a frequent one, else as -1.
template <class F> void with_size(int n, const F& f) {
  switch (n) {
    case 2:
      return f(std::integral_constant<int, 2>{});
    case 3:
      return f(std::integral_constant<int, 3>{});
    case 6:
      return f(std::integral_constant<int, 6>{});
    case 12:
      return f(std::integral_constant<int, 12>{});
    default:
      return f(std::integral_constant<int, -1>{});
  }
}
template <int K> using Row = Eigen::Map<const Eigen::Matrix<double, K, 1>>;
template <int K> using MutableRow = Eigen::Map<Eigen::Matrix<double, K, 1>>;

}  // namespace

Engine::Engine(const System& system, int threads) : system_(system), workers_(threads) {
  std::size_t bytes = 0, align = 1;
  std::vector<std::size_t> where;
  for (const auto& b : system.bodies()) {
    const std::size_t a = b.model->motion_align();
    align = std::max(align, a);
    bytes = (bytes + a - 1) / a * a;
    where.push_back(bytes);
    bytes += b.model->motion_size();
  }
  motions_.resize(bytes + align);
  auto base = reinterpret_cast<std::uintptr_t>(motions_.data());
  base = (base + align - 1) / align * align;
  for (std::size_t i = 0; i < where.size(); ++i) {
    const auto& b = system.bodies()[i];
    const auto k = static_cast<int>(b.model->unknowns());
    bodies_.push_back({b.model.get(), b.first, static_cast<int>(unknowns_), k, k,
                       b.model->make_motion(reinterpret_cast<void*>(base + where[i])), -1, 0, 0, 0, 0});
    unknowns_ += k;
  }
  f_.setZero(unknowns_);
  const auto see = [&](const std::vector<std::size_t>& parts, std::vector<std::size_t>& places) {
    places.push_back(firsts_.size());
    for (const std::size_t k : parts) {
      firsts_.push_back(bodies_[k].first);
      seen_.push_back(bodies_[k].motion);
      pushed_.push_back(f_.data() + bodies_[k].y);
    }
  };
  for (const auto& c : system.constraints()) see(c.bodies, joint_place_);
  for (const auto& f : system.forces()) see(f.bodies, force_place_);
  for (std::size_t i = 0; i < system.constraints().size(); ++i) {
    const auto& c = system.constraints()[i];
    if (c.own && bodies_[c.bodies[0]].model->meets_own_rows()) continue;
    if (!c.model->ideal()) nonideal_.push_back(constraint_.size());
    constraint_.push_back(i);
    joint_.push_back(c.model.get());
  }
}

Engine::~Engine() {
  for (const BodySlot& b : bodies_) b.model->destroy_motion(b.motion);
}

// ---- the plan

void Engine::plan(const std::vector<Index>& massless) {
  nodes_.clear();
  entries_.clear();
  condensations_.clear();
  sources_.clear();
  moves_.clear();
  rows_ = static_cast<int>(system_.rows());
  Index values = 0;
  for (std::size_t i = 0; i < bodies_.size(); ++i) bodies_[i].massive = bodies_[i].k - static_cast<int>(massless[i]);
  for (const std::size_t i : constraint_) {
    const auto& c = system_.constraints()[i];
    Node n{static_cast<int>(c.row), static_cast<int>(c.rows), 0, values, static_cast<int>(entries_.size()), 0};
    for (const std::size_t k : c.bodies) {
      entries_.push_back({static_cast<int>(k), n.columns, bodies_[k].k - bodies_[k].massive});
      n.columns += bodies_[k].k;
    }
    n.entries = static_cast<int>(c.bodies.size());
    values += Index{n.rows} * n.columns;
    nodes_.push_back(n);
  }
  A_.assign(at(values), 0);
  // How each body is touched by constraints.
  touches_.clear();
  std::vector<std::vector<Touch>> touch(bodies_.size());
  for (const Node& n : nodes_)
    for (int e = n.entry; e < n.entry + n.entries; ++e)
      touch[at(entries_[at(e)].body)].push_back({n.A + entries_[at(e)].column, n.columns, n.rows, n.row});
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    bodies_[i].touch = static_cast<Index>(touches_.size());
    bodies_[i].touches = static_cast<Index>(touch[i].size());
    touches_.insert(touches_.end(), touch[i].begin(), touch[i].end());
  }
  condense();
  plan_fronts();

  for (VectorXd* x : {&y_, &w_, &g_, &dy_, &h_, &fs_}) x->setZero(unknowns_);
  for (VectorXd* x : {&b_, &value_, &rate_, &lambda_, &gap_, &size_of_row_, &residual_, &dlambda_, &met_})
    x->setZero(system_.rows());
  norm_of_row_.setOnes(system_.rows());
  node_rhs_.setZero(rows_);
  node_lambda_.setZero(rows_);
  diagonal_.assign(at(rows_), 0);
  order_.setZero(fronts_.size());
  planned_ = true;
}

// One body with massless unknowns after the other, the one held by the fewest rows first.
void Engine::condense() {
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
  Index space = 0, scratch = 0, widest = 0, values = static_cast<Index>(A_.size());
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
    scratch = std::max(scratch, Index{c.rows} * (2 * c.columns + target.columns + 2));
    for (const auto& [b, x] : united) widest = std::max(widest, Index{bodies_[at(b)].k} * bodies_[at(b)].k);
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
  scratch_.assign(at(scratch + widest), 0);
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
  std::vector<std::vector<Side>> sides(bodies_.size());
  for (const int i : active_) {
    Node& n = nodes_[at(i)];
    for (int e = n.entry; e < n.entry + n.entries; ++e)
      if (bodies_[at(entries_[at(e)].body)].massive > 0)
        sides[at(entries_[at(e)].body)].push_back({i, entries_[at(e)].column});
  }
  Fronts::Graph g;
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    bodies_[b].hub = -1;
    bodies_[b].hold = static_cast<Index>(holds_.size());
    bodies_[b].holds = static_cast<Index>(sides[b].size());
    for (const Side& s : sides[b])
      holds_.push_back({nodes_[at(s.node)].A + s.column, nodes_[at(s.node)].columns, nodes_[at(s.node)].rows,
                        nodes_[at(s.node)].row});
    if (sides[b].size() > hub_degree) {
      bodies_[b].hub = static_cast<int>(g.size.size());
      g.size.push_back(bodies_[b].massive);
    }
  }
  // Rows that touch nothing but one hub must come after it: they share its node.
  for (const int i : active_) {
    Node& n = nodes_[at(i)];
    int hub = -1, others = 0;
    for (int e = n.entry; e < n.entry + n.entries; ++e) {
      const BodySlot& b = bodies_[at(entries_[at(e)].body)];
      if (b.massive > 0) (b.hub >= 0 && (hub < 0 || hub == b.hub) ? hub : others) = b.hub >= 0 ? b.hub : 1;
    }
    if (hub >= 0 && others == 0) {
      n.front_node = hub;
      n.front_offset = g.size[at(hub)];
      g.size[at(hub)] += n.rows;
    } else {
      n.front_node = static_cast<int>(g.size.size());
      n.front_offset = 0;
      g.size.push_back(n.rows);
    }
  }
  // Nodes that share a body that is no hub, and nodes and their hubs.
  std::vector<std::vector<int>> adjacent(g.size.size());
  const auto join = [&](int i, int k) {
    if (i == k) return;
    adjacent[at(i)].push_back(k);
    adjacent[at(k)].push_back(i);
  };
  for (std::size_t b = 0; b < bodies_.size(); ++b)
    for (std::size_t i = 0; i < sides[b].size(); ++i) {
      const int node = nodes_[at(sides[b][i].node)].front_node;
      if (bodies_[b].hub >= 0)
        join(node, bodies_[b].hub);
      else
        for (std::size_t k = 0; k < i; ++k) join(node, nodes_[at(sides[b][k].node)].front_node);
    }
  g.start.push_back(0);
  for (auto& a : adjacent) {
    std::sort(a.begin(), a.end());
    a.erase(std::unique(a.begin(), a.end()), a.end());
    g.neighbour.insert(g.neighbour.end(), a.begin(), a.end());
    g.start.push_back(static_cast<int>(g.neighbour.size()));
  }
  fronts_ = Fronts(g);
  fronts_.share(workers_.count());
  for (const int i : active_)
    nodes_[at(i)].position = fronts_.position(nodes_[at(i)].front_node) + nodes_[at(i)].front_offset;
  hubs_.clear();
  for (const BodySlot& b : bodies_)
    if (b.hub >= 0) hubs_.emplace_back(fronts_.position(b.hub), b.massive);

  // The products and copies that fill each front.
  std::vector<std::vector<Product>> products(at(fronts_.count()));
  std::vector<std::vector<Insert>> inserts(at(fronts_.count()));
  const auto block = [&](int row_node, int row_offset, int column_node, int column_offset) {
    Fronts::Place p = fronts_.place(row_node, column_node);
    p.offset +=
        p.transposed ? column_offset + Index{row_offset} * p.stride : row_offset + Index{column_offset} * p.stride;
    return p;
  };
  const auto first_front = [&](int i, int k) {
    return fronts_.front_of(fronts_.position(i) < fronts_.position(k) ? i : k);
  };
  // The block of a node with itself takes all its bodies at once, if none is a hub or occurs twice.
  std::vector<bool> whole(nodes_.size(), false);
  for (const int i : active_) {
    const Node& n = nodes_[at(i)];
    std::set<int> distinct;
    bool hubs = false;
    for (int e = n.entry; e < n.entry + n.entries; ++e) {
      distinct.insert(entries_[at(e)].body);
      hubs = hubs || bodies_[at(entries_[at(e)].body)].hub >= 0;
    }
    whole[at(i)] = !hubs && static_cast<int>(distinct.size()) == n.entries;
    const auto p = block(n.front_node, n.front_offset, n.front_node, n.front_offset);
    if (whole[at(i)] && n.columns > 0)
      products[at(fronts_.front_of(n.front_node))].push_back(
          {n.A, n.A, p.offset, n.rows, n.rows, n.columns, n.columns, p.stride, n.columns});
  }
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const BodySlot& body = bodies_[b];
    for (std::size_t i = 0; i < sides[b].size(); ++i) {
      const Node& n = nodes_[at(sides[b][i].node)];
      if (body.hub >= 0) {
        const auto p = block(n.front_node, n.front_offset, body.hub, 0);
        inserts[at(first_front(n.front_node, body.hub))].push_back(
            {n.A + sides[b][i].column, p.offset, n.rows, body.massive, n.columns, p.stride, p.transposed});
        continue;
      }
      for (std::size_t k = 0; k <= i; ++k) {
        if (k == i && whole[at(sides[b][i].node)]) continue;
        const Node& o = nodes_[at(sides[b][k].node)];
        auto p = block(n.front_node, n.front_offset, o.front_node, o.front_offset);
        const Node *rows = &n, *columns = &o;
        int row_column = sides[b][i].column, column_column = sides[b][k].column;
        if (p.transposed) std::swap(rows, columns), std::swap(row_column, column_column);
        products[at(first_front(n.front_node, o.front_node))].push_back(
            {rows->A + row_column, columns->A + column_column, p.offset, rows->rows, columns->rows, rows->columns,
             columns->columns, p.stride, body.massive});
      }
    }
  }
  for (std::size_t f = 0; f < products.size(); ++f) {
    parts_.push_back({static_cast<Index>(products_.size()), static_cast<Index>(products[f].size()),
                      static_cast<Index>(inserts_.size()), static_cast<Index>(inserts[f].size())});
    products_.insert(products_.end(), products[f].begin(), products[f].end());
    inserts_.insert(inserts_.end(), inserts[f].begin(), inserts[f].end());
  }
}

// ---- numbers

void Engine::evaluate(const State& s) {
  std::atomic<bool> same = planned_;
  workers_.each(bodies_.size(), [&](std::size_t i) {
    BodySlot& b = bodies_[i];
    const Index without =
        b.model->move(s, b.first, system_.gravity(), system_.bodies()[i].name, b.motion, f_.data() + b.y);
    if (without != b.k - b.massive) same = false;
  });
  if (!same) {
    std::vector<Index> massless;
    for (std::size_t i = 0; i < bodies_.size(); ++i)
      massless.push_back(bodies_[i].model->move(s, bodies_[i].first, system_.gravity(), system_.bodies()[i].name,
                                                bodies_[i].motion, f_.data() + bodies_[i].y));
    plan(massless);
  }
  for (std::size_t i = 0; i < system_.forces().size(); ++i)
    system_.forces()[i].model->act(s, {&firsts_[force_place_[i]], &seen_[force_place_[i]]}, &pushed_[force_place_[i]]);
  workers_.each(constraint_.size(), [&](std::size_t i) {
    const Node& n = nodes_[i];
    const std::size_t place = joint_place_[constraint_[i]];
    joint_[i]->evaluate(s, {&firsts_[place], &seen_[place]}, A_.data() + n.A, value_.data() + n.row,
                        rate_.data() + n.row, b_.data() + n.row);
  });
  for (const std::size_t i : nonideal_) {
    const std::size_t place = joint_place_[constraint_[i]];
    joint_[i]->nonideal(s, {&firsts_[place], &seen_[place]}, &pushed_[place]);
  }
}

VectorXd Engine::on_unknowns(const VectorXd& Q) const {
  VectorXd f(unknowns_);
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const BodySlot& b = bodies_[i];
    VectorXd column(system_.bodies()[i].size);
    for (int k = 0; k < b.k; ++k) {
      b.model->spread(b.motion, VectorXd::Unit(b.k, k).eval().data(), column.data());
      f[b.y + k] = column.dot(Q.segment(b.first, column.size()));
    }
  }
  return f;
}

void Engine::take(const Evaluation& e) {
  VectorXd z = VectorXd::Zero(system_.size()), Q = e.Q + e.C;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const BodySlot& b = bodies_[i];
    const Index n = system_.bodies()[i].size;
    b.model->drift(b.motion, z.data() + b.first);
    Q.segment(b.first, n) -= e.M(i) * z.segment(b.first, n);
  }
  f_ = on_unknowns(Q);
  for (const std::size_t i : constraint_) {
    const auto& c = system_.constraints()[i];
    b_.segment(c.row, c.rows) = e.b.segment(c.row, c.rows);
    for (std::size_t k = 0; k < c.bodies.size(); ++k) {
      const auto& body = system_.bodies()[c.bodies[k]];
      b_.segment(c.row, c.rows) -= e.A(c.block + k) * z.segment(body.first, body.size);
    }
  }
}

void Engine::factor(bool positions) {
  alarms_.clear();
  if (positions)
    for (std::size_t i = 0; i < constraint_.size(); ++i) {
      const Node& n = nodes_[i];
      const Index first = system_.constraints()[constraint_[i]].holonomic;
      std::fill(A_.begin() + n.A + first * n.columns, A_.begin() + n.A + Index{n.rows} * n.columns, 0.0);
    }
  for (const Node& n : constraint_nodes())
    with_size(n.columns, [&]<int K>(std::integral_constant<int, K>) {
      for (int r = 0; r < n.rows; ++r) {
        const double norm = Row<K>(A_.data() + n.A + r * n.columns, n.columns).squaredNorm();
        norm_of_row_[n.row + r] = norm > 0 ? norm : 1;
        diagonal_[at(n.row + r)] = norm;
      }
    });
  if (!condensations_.empty())
    for (const Node& n : constraint_nodes())
      for (int r = 0; r < n.rows; ++r) {
        double& d = diagonal_[at(n.row + r)] = 0;
        for (int e = n.entry; e < n.entry + n.entries; ++e)
          d += Row<-1>(A_.data() + n.A + Index{r} * n.columns + entries_[at(e)].column,
                       bodies_[at(entries_[at(e)].body)].massive)
                   .squaredNorm();
      }
  for (Condensation& c : condensations_)
    if (!condense_numbers(c, positions)) alarms_.push_back(at(c.body));
  for (const int i : active_) {
    const Node& n = nodes_[at(i)];
    const int position = n.position;
    for (int r = 0; r < n.rows; ++r) {
      double& d = diagonal_[at(n.row + r)];
      if (!(d > 0)) d = penalty;  // a row that touches nothing
      fronts_.floor(position + r) = 0.5 * d / penalty;
    }
  }
  for (const auto& [position, count] : hubs_)
    for (int k = 0; k < count; ++k) fronts_.floor(position + k) = -0.5;
  fronts_.factor(workers_, [&](int front) { assemble(front); });
}

void Engine::assemble(int front) {
  const Part& part = parts_[at(front)];
  for (Index i = part.product; i < part.product + part.products; ++i) {
    const Product& p = products_[at(i)];
    double* to = fronts_.value(p.to);
    const double *left = A_.data() + p.left, *right = A_.data() + p.right;
    with_size(p.columns, [&]<int K>(std::integral_constant<int, K>) {
      for (int c = 0; c < p.right_rows; ++c) {
        const Row<K> y(right + c * p.right_stride, p.columns);
        for (int r = left == right ? c : 0; r < p.left_rows; ++r)
          to[r + c * p.stride] += Row<K>(left + r * p.left_stride, p.columns).dot(y);
      }
    });
  }
  for (Index i = part.insert; i < part.insert + part.inserts; ++i) {
    const Insert& x = inserts_[at(i)];
    double* to = fronts_.value(x.to);
    for (int r = 0; r < x.rows; ++r)
      for (int c = 0; c < x.columns; ++c)
        to[x.transposed ? c + r * x.to_stride : r + c * x.to_stride] += A_[at(x.A + r * x.stride + c)];
  }
  // D and the hubs' own masses.
  fronts_.add_floors(front, 2);
}

// A y by rows.  With sizes, also the square of the terms they are the sum of, body by body.
void Engine::multiply(const VectorXd& y, VectorXd& rows, bool sizes) {
  workers_.each(constraint_.size(), [&](std::size_t i) {
    const Node& n = nodes_[i];
    const double* A = A_.data() + n.A;
    for (int r = 0; r < n.rows; ++r) rows[n.row + r] = 0;
    for (int e = n.entry; e < n.entry + n.entries; ++e) {
      const BodySlot& b = bodies_[at(entries_[at(e)].body)];
      with_size(b.k, [&]<int K>(std::integral_constant<int, K>) {
        const Row<K> x(y.data() + b.y, b.k);
        const double length = sizes ? x.squaredNorm() : 0;
        for (int r = 0; r < n.rows; ++r) {
          const Row<K> a(A + r * n.columns + entries_[at(e)].column, b.k);
          rows[n.row + r] += a.dot(x);
          if (sizes) size_of_row_[n.row + r] += a.squaredNorm() * length;
        }
      });
    }
  });
}

namespace {

// x += A' lambda for one body: the rows of each touch, weighted.
template <class Touch>
void add_transposed(const Touch* first, const Touch* last, const double* A, const double* lambda, int k, double* x) {
  with_size(k, [&]<int K>(std::integral_constant<int, K>) {
    MutableRow<K> sum(x, k);
    for (const Touch* t = first; t != last; ++t)
      for (int r = 0; r < t->rows; ++r) sum += lambda[t->row + r] * Row<K>(A + t->A + r * t->stride, k);
  });
}

}  // namespace

// Solves with massive forces of 0:  dlambda and dy for given forces on massless unknowns and a right-hand side.
void Engine::apply(const VectorXd& force, const VectorXd& rhs, VectorXd& dlambda, VectorXd& dy) {
  const bool condensed = !condensations_.empty();
  if (condensed) {
    node_rhs_.head(rhs.size()) = rhs;
    h_.setZero();
    for (const Condensation& c : condensations_) {
      const Node& target = nodes_[at(c.target)];
      const BodySlot& body = bodies_[at(c.body)];
      const double *V = qr_.data() + c.V, *tau = V + Index{c.rows} * c.columns, *R = qr_.data() + c.R;
      const double *pivot = R + Index{c.columns} * c.columns, *scale = pivot + c.columns;
      double* mu = qr_.data() + c.R + Index{c.columns} * c.columns + 2 * c.columns;
      const double *A1 = qr_.data() + c.A1, *t = qr_.data() + c.t;
      double *b1 = qr_.data() + c.A1 + Index{c.columns} * target.columns, *z = scratch_.data();
      // R' mu = -P'(c f_s)
      for (int j = 0; j < c.columns; ++j) {
        const auto p = static_cast<int>(pivot[j]);
        double v = -scale[p] * (force[body.y + body.massive + p] + h_[body.y + body.massive + p]);
        for (int i = 0; i < j; ++i) v -= R[i * c.columns + j] * mu[i];
        mu[j] = R[j * c.columns + j] != 0 ? v / R[j * c.columns + j] : 0;
      }
      int column = 0;
      for (int e = target.entry; e < target.entry + target.entries; ++e) {
        const BodySlot& b = bodies_[at(entries_[at(e)].body)];
        const int n = b.massive + entries_[at(e)].massless;
        for (int i = 0; i < c.columns; ++i)
          for (int k = 0; k < n; ++k) h_[b.y + k] += A1[i * target.columns + column + k] * mu[i];
        column += n;
      }
      // Q'(t b)
      int row = 0;
      for (int s = c.source; s < c.source + c.sources; ++s) {
        const Node& n = nodes_[at(sources_[at(s)])];
        for (int r = 0; r < n.rows; ++r, ++row) z[row] = t[row] * node_rhs_[n.row + r];
      }
      for (int j = 0; j < c.columns && j < c.rows; ++j) {
        const double* v = V + Index{j} * c.rows;
        double dot = 0;
        for (int r = j; r < c.rows; ++r) dot += v[r] * z[r];
        for (int r = j; r < c.rows; ++r) z[r] -= tau[j] * dot * v[r];
      }
      for (int j = 0; j < c.columns; ++j) b1[j] = j < c.rows ? z[j] : 0;
      for (int r = 0; r < target.rows; ++r) node_rhs_[target.row + r] = z[c.columns + r];
    }
  }
  const double* given = condensed ? node_rhs_.data() : rhs.data();
  for (const auto& [position, count] : hubs_) std::fill_n(order_.data() + position, count, 0.0);
  for (const int i : active_) {
    const Node& n = nodes_[at(i)];
    double* to = order_.data() + n.position;
    for (int r = 0; r < n.rows; ++r) to[r] = given[n.row + r];
    if (condensed)
      for (int e = n.entry; e < n.entry + n.entries; ++e) {
        const BodySlot& b = bodies_[at(entries_[at(e)].body)];
        for (int r = 0; r < n.rows; ++r)
          to[r] -= Row<-1>(A_.data() + n.A + Index{r} * n.columns + entries_[at(e)].column, b.massive)
                       .dot(h_.segment(b.y, b.massive));
      }
  }
  fronts_.solve(order_.data());
  double* found = condensed ? node_lambda_.data() : dlambda.data();
  for (const int i : active_) {
    const Node& n = nodes_[at(i)];
    const double* from = order_.data() + n.position;
    for (int r = 0; r < n.rows; ++r) found[n.row + r] = from[r];
  }
  if (condensed)
    dy = h_;
  else
    dy.setZero();
  workers_.each(bodies_.size(), [&](std::size_t i) {
    const BodySlot& b = bodies_[i];
    add_transposed(holds_.data() + b.hold, holds_.data() + b.hold + b.holds, A_.data(), found, b.massive,
                   dy.data() + b.y);
  });
  if (!condensed) return;
  for (std::size_t i = condensations_.size(); i-- > 0;) {
    const Condensation& c = condensations_[i];
    const Node& target = nodes_[at(c.target)];
    const BodySlot& body = bodies_[at(c.body)];
    const double *R = qr_.data() + c.R, *pivot = R + Index{c.columns} * c.columns, *scale = pivot + c.columns;
    const double *A1 = qr_.data() + c.A1, *b1 = A1 + Index{c.columns} * target.columns;
    double* z = scratch_.data();
    // R P'(s / c) = b1 - A1 y
    for (int j = 0; j < c.columns; ++j) {
      z[j] = b1[j];
      int column = 0;
      for (int e = target.entry; e < target.entry + target.entries; ++e) {
        const BodySlot& b = bodies_[at(entries_[at(e)].body)];
        const int n = b.massive + entries_[at(e)].massless;
        z[j] -= Row<-1>(A1 + Index{j} * target.columns + column, n).dot(dy.segment(b.y, n));
        column += n;
      }
    }
    for (int j = c.columns; j-- > 0;) {
      for (int k = j + 1; k < c.columns; ++k) z[j] -= R[j * c.columns + k] * z[k];
      z[j] = R[j * c.columns + j] != 0 ? z[j] / R[j * c.columns + j] : 0;
    }
    for (int j = 0; j < c.columns; ++j) {
      const auto p = static_cast<int>(pivot[j]);
      dy[body.y + body.massive + p] = scale[p] * z[j];
    }
  }
  expand(true);
  dlambda = node_lambda_.head(dlambda.size());
}

// Multipliers of the constraints from those of the rows in the fronts:  lambda = t Q [mu1; mu2].
void Engine::expand(bool forces) {
  for (std::size_t i = condensations_.size(); i-- > 0;) {
    const Condensation& c = condensations_[i];
    const Node& target = nodes_[at(c.target)];
    const double *V = qr_.data() + c.V, *tau = V + Index{c.rows} * c.columns, *t = qr_.data() + c.t;
    const double* mu = qr_.data() + c.R + Index{c.columns} * c.columns + 2 * c.columns;
    double* z = scratch_.data();
    for (int r = 0; r < c.rows; ++r)
      z[r] = r >= c.columns ? node_lambda_[target.row + r - c.columns] : forces ? mu[r] : 0;
    for (int j = std::min(c.columns, c.rows); j-- > 0;) {
      const double* v = V + Index{j} * c.rows;
      double dot = 0;
      for (int r = j; r < c.rows; ++r) dot += v[r] * z[r];
      for (int r = j; r < c.rows; ++r) z[r] -= tau[j] * dot * v[r];
    }
    int row = 0;
    for (int s = c.source; s < c.source + c.sources; ++s) {
      const Node& n = nodes_[at(sources_[at(s)])];
      for (int r = 0; r < n.rows; ++r, ++row) node_lambda_[n.row + r] = t[row] * z[row];
    }
  }
}

std::vector<Engine::Dependence> Engine::dependences(int most) {
  struct Small {
    Index position;
    double norm;  // of the row
  };
  std::vector<Small> small;
  for (const int i : active_) {
    const Node& n = nodes_[at(i)];
    const Index position = n.position;
    for (int r = 0; r < n.rows; ++r)
      if (const double d = diagonal_[at(n.row + r)]; fronts_.pivot(position + r) < doubtful * d)
        small.push_back({position + r, std::sqrt(d)});
  }
  const VectorXd norms = norm_of_row_.cwiseSqrt();
  std::vector<Dependence> out;
  const auto find = [&](const auto& begin) {
    order_.setZero();
    begin();
    fronts_.solve_transposed(order_.data());
    for (const int i : active_) {
      const Node& n = nodes_[at(i)];
      const double* from = order_.data() + n.position;
      for (int r = 0; r < n.rows; ++r) node_lambda_[n.row + r] = from[r];
    }
    expand(false);
    Dependence d{node_lambda_.head(system_.rows()), 0};
    double largest = 0;
    for (const Node& n : constraint_nodes())
      for (int r = 0; r < n.rows; ++r) largest = std::max(largest, std::abs(d.y[n.row + r]) * norms[n.row + r]);
    if (!(largest > 0)) return;
    d.y /= largest;
    for (const Node& n : constraint_nodes())
      for (int r = 0; r < n.rows; ++r)
        if (std::abs(d.y[n.row + r]) * norms[n.row + r] < 1e-7) d.y[n.row + r] = 0;  // round-off
    dy_.setZero();
    add_reactions(d.y, dy_);
    d.size = dy_.norm();
    out.push_back(std::move(d));
  };
  if (static_cast<int>(small.size()) <= most)
    for (const Small& s : small) find([&] { order_[s.position] = 1 / s.norm; });
  else
    find([&] {  // one combination that has all of them
      double weight = 1;
      for (const Small& s : small) order_[s.position] = (weight = std::fmod(weight * 1.618 + 0.1, 1.0) + 0.5) / s.norm;
    });
  return out;
}

// Householder QR with column pivoting of the balanced massless columns; false: the alarm.
bool Engine::condense_numbers(Condensation& c, bool positions) {
  Node& target = nodes_[at(c.target)];
  const int m = c.rows, k = c.columns, width = k + target.columns;
  double* W = scratch_.data();
  double *V = qr_.data() + c.V, *tau = V + Index{m} * k, *R = qr_.data() + c.R, *pivot = R + Index{k} * k,
         *scale = pivot + k, *A1 = qr_.data() + c.A1, *t = qr_.data() + c.t;
  std::fill(W, W + Index{m} * width, 0.0);
  for (Index i = c.move; i < c.move + c.moves; ++i) {
    const Move& x = moves_[at(i)];
    const Node& n = nodes_[at(x.node)];
    for (int r = 0; r < n.rows; ++r)
      for (int j = 0; j < x.count; ++j)
        W[(x.source_row + r) * width + x.to + j] += A_[at(n.A + Index{r} * n.columns + x.from + j)];
  }
  // Balance columns, then rows, by what the slopes are sums of, never by the slopes themselves.
  double* G = W + Index{m} * width;
  if (alarm_)
    references(c, c.body, G);
  else
    for (int r = 0; r < m; ++r)
      for (int j = 0; j < k; ++j) G[r * k + j] = std::abs(W[r * width + j]);
  for (int j = 0; j < k; ++j) {
    double largest = 0;
    for (int r = 0; r < m; ++r) largest = std::max(largest, G[r * k + j]);
    scale[j] = largest > 0 ? 1 / largest : 1;
    pivot[j] = j;
  }
  for (int r = 0; r < m; ++r) {
    double largest = 0;
    for (int j = 0; j < k; ++j) largest = std::max(largest, G[r * k + j] * scale[j]);
    t[r] = largest > 0 ? 1 / largest : 1;
    for (int j = 0; j < k; ++j) W[r * width + j] *= t[r] * scale[j];
    for (int j = k; j < width; ++j) W[r * width + j] *= t[r];
  }
  bool well = m >= k;
  for (int j = 0; j < k; ++j) {
    // The longest column left.
    int best = j;
    double longest = -1;
    for (int i = j; i < k; ++i) {
      double norm = 0;
      for (int r = j; r < m; ++r) norm += W[r * width + i] * W[r * width + i];
      if (norm > longest * (1 + 1e-9)) longest = norm, best = i;
    }
    if (best != j) {
      for (int r = 0; r < m; ++r) std::swap(W[r * width + j], W[r * width + best]);
      std::swap(pivot[j], pivot[best]);
    }
    double* v = V + Index{j} * m;
    if (j >= m) {
      if (j < m) tau[j] = 0;
      continue;
    }
    const double norm = std::sqrt(std::max(longest, 0.0)), head = W[j * width + j];
    well = well && norm >= alarm_level;
    for (int r = 0; r < m; ++r) v[r] = r < j ? 0 : W[r * width + j];
    const double alpha = head >= 0 ? -norm : norm;
    v[j] -= alpha;
    double vv = 0;
    for (int r = j; r < m; ++r) vv += v[r] * v[r];
    tau[j] = vv > 0 ? 2 / vv : 0;
    for (int i = j; i < width; ++i) {
      double dot = 0;
      for (int r = j; r < m; ++r) dot += v[r] * W[r * width + i];
      for (int r = j; r < m; ++r) W[r * width + i] -= tau[j] * dot * v[r];
    }
  }
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < k; ++j) R[i * k + j] = i <= j && i < m ? W[i * width + j] : 0;
  if (positions)  // what no position holds stays where it is
    for (int i = 0; i < k; ++i)
      if (std::abs(R[i * k + i]) < alarm_level) R[i * k + i] = 0;
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < target.columns; ++j) A1[i * target.columns + j] = i < m ? W[i * width + k + j] : 0;
  for (int i = 0; i < target.rows; ++i)
    for (int j = 0; j < target.columns; ++j)
      A_[at(target.A + Index{i} * target.columns + j)] = W[(k + i) * width + k + j];
  // What the rows that stay, and their slopes along unknowns still to be condensed, are sums of: they may cancel to
  // round-off, of all the rows that the decomposition mixed.
  const auto mixed = [&](int r) {
    for (int j = 0; j < k; ++j)
      if (V[Index{j} * m + r] != 0) return true;
    return false;
  };
  const auto inherit = [&](const auto& of_source, const auto& of_target) {
    double largest = 0;
    for (int r = 0; r < m; ++r)
      if (mixed(r)) largest = std::max(largest, t[r] * of_source(r));
    for (int r = k; r < m; ++r) of_target(r - k) = mixed(r) ? largest : t[r] * of_source(r);
  };
  double* own = scratch_.data();
  int row = 0;
  for (int s = c.source; s < c.source + c.sources; ++s) {
    const Node& n = nodes_[at(sources_[at(s)])];
    for (int r = 0; r < n.rows; ++r) own[row++] = std::sqrt(diagonal_[at(n.row + r)]);
  }
  inherit([&](int r) { return own[r]; }, [&](int i) -> double& { return diagonal_[at(target.row + i)]; });
  for (int i = 0; i < target.rows; ++i) diagonal_[at(target.row + i)] *= diagonal_[at(target.row + i)];
  for (int e = target.entry; e < target.entry + target.entries; ++e) {
    const Entry& x = entries_[at(e)];
    if (x.massless == 0 || !alarm_) continue;
    references(c, x.body, own);
    for (int j = 0; j < x.massless; ++j)
      inherit([&](int r) { return own[r * x.massless + j]; },
              [&](int i) -> double& { return qr_[at(x.reference + Index{i} * x.massless + j)]; });
  }
  return well || !alarm_;
}

// For the stacked rows of a condensation and the massless unknowns of one body, row by row.
void Engine::references(const Condensation& c, int body, double* G) {
  const BodySlot& b = bodies_[at(body)];
  const int k = b.k - b.massive;
  double* u = scratch_.data() + scratch_.size() - at(Index{b.k} * k);
  b.model->references(b.motion, u);
  for (int s = c.source; s < c.source + c.sources; ++s) {
    const Node& n = nodes_[at(sources_[at(s)])];
    std::fill(G, G + Index{n.rows} * k, 0.0);
    for (int e = n.entry; e < n.entry + n.entries; ++e) {
      const Entry& x = entries_[at(e)];
      if (x.body != body || x.massless == 0) continue;
      for (int r = 0; r < n.rows; ++r)
        for (int j = 0; j < k; ++j) {
          if (x.reference >= 0) {
            G[r * k + j] += qr_[at(x.reference + Index{r} * k + j)];
          } else {
            const double* a = A_.data() + n.A + Index{r} * n.columns + x.column;
            for (int i = 0; i < b.k; ++i) G[r * k + j] += std::abs(a[i]) * u[j * b.k + i];
          }
        }
    }
    G += Index{n.rows} * k;
  }
}

Engine::Status Engine::solve(const VectorXd& force, const VectorXd& rhs) {
  gap_.setZero();
  if (sweep(force, rhs)) return Status::solved;
  // Rows that contradict each other leave a residual that no motion answers; nearly dependent rows leave one that
  // sweeps answer slowly.
  const auto contradiction = [&] { return moved_ * moved_ <= largest_residual(); };
  const bool contradicts = contradiction();
  if (!contradicts && gmres(force, rhs)) return Status::solved;
  // The motion that comes nearest, with the reactions of its own right-hand side.
  multiply(y_, met_, false);
  gap_ = rhs - met_;
  const bool again = sweep(force, met_) || gmres(force, met_);
  return contradicts && again ? Status::inconsistent : Status::stalled;
}

// Units of residuals: of forces on the unknowns, then of rows.
VectorXd Engine::weights() const {
  VectorXd weight = VectorXd::Ones(unknowns_ + system_.rows());
  weight.tail(system_.rows()) = norm_of_row_.cwiseSqrt().cwiseInverse();
  for (const Condensation& c : condensations_) {
    const BodySlot& b = bodies_[at(c.body)];
    const double* scale = qr_.data() + c.R + Index{c.columns} * c.columns + c.columns;
    for (int k = 0; k < c.columns; ++k) weight[b.y + b.massive + k] = scale[k];
  }
  return weight;
}

// y and lambda by sweeps on the true residuals from 0.  True when what is left is round-off.
bool Engine::sweep(const VectorXd& force, const VectorXd& rhs) {
  constexpr int most = 8;
  y_.setZero();
  g_.setZero();
  lambda_.setZero();
  size_of_row_ = rhs.cwiseAbs2();
  double last = 1, last_local = 1, all = 0;
  for (sweeps_ = 1; sweeps_ <= most; ++sweeps_) {
    // What the forces alone would do, and the forces left on massless unknowns.
    w_ = y_ + ((force + g_) - y_);
    for (const Condensation& c : condensations_) {
      const BodySlot& b = bodies_[at(c.body)];
      for (int k = b.y + b.massive; k < b.y + b.k; ++k) w_[k] = y_[k], fs_[k] = force[k] + g_[k];
    }
    multiply(w_, residual_, sweeps_ == 2);
    residual_ = rhs - residual_;
    apply(fs_, residual_, dlambda_, dy_);
    lambda_ += dlambda_;
    if (condensations_.empty())
      g_ += dy_;  // it is A'dlambda
    else
      add_reactions(dlambda_, g_);
    w_ += dy_;
    y_ -= w_;
    const double moved = massive(y_), size = massive(w_);
    y_.swap(w_);
    moved_ = std::sqrt(moved);
    if (sweeps_ == 1) {
      all = massive(force);
      continue;
    }
    // The residual found and the correction made, relative to the whole: what is left is smaller than the correction by
    // the factor that this one was smaller than the last.
    error_ = std::sqrt(std::max(moved, largest_residual()) / (size + all + 1e-300));
    // The same for each row relative to itself: followed as long as it shrinks, as far as round-off lets it.
    const double local = relative_residual();
    const bool done = error_ <= round_off || error_ * error_ <= margin * round_off * last;
    if (done && (local * local <= round_off * last_local || local > 0.5 * last_local)) return true;
    if (!done && sweeps_ > 2 && error_ > 0.5 * last) return error_ <= converged;
    last = error_;
    last_local = local;
  }
  return error_ <= converged;
}

// The square of the largest residual, in units of the unknowns.
double Engine::largest_residual() const {
  return residual_.size() == 0 ? 0 : (residual_.array().abs2() / norm_of_row_.array()).maxCoeff();
}

// The square of the length of the unknowns with mass; the others have other units.
double Engine::massive(const VectorXd& y) const {
  if (condensations_.empty()) return y.squaredNorm();
  double sum = 0;
  for (const BodySlot& b : bodies_) sum += y.segment(b.y, b.massive).squaredNorm();
  return sum;
}

double Engine::relative_residual() const {
  return rows_ == 0 || residual_.size() == 0
             ? 0
             : std::sqrt((residual_.array().abs2() / (size_of_row_.array() + 1e-300)).maxCoeff());
}

void Engine::add_reactions(const VectorXd& lambda, VectorXd& g) const {
  workers_.each(bodies_.size(), [&](std::size_t i) {
    const BodySlot& b = bodies_[i];
    add_transposed(touches_.data() + b.touch, touches_.data() + b.touch + b.touches, A_.data(), lambda.data(), b.k,
                   g.data() + b.y);
  });
}

// Flexible GMRES on the whole system, from where the sweeps stopped, with the factor as preconditioner.
bool Engine::gmres(const VectorXd& force, const VectorXd& rhs) {
  constexpr int most = 30;
  const Index n = unknowns_, m = rhs.size();
  const VectorXd weight = weights();
  const auto each_massless = [&](const auto& f) {
    for (const BodySlot& b : bodies_)
      for (int k = b.y + b.massive; k < b.y + b.k; ++k) f(k);
  };
  VectorXd r(n + m), rows(m), g(n), along(n), forces_size(n);
  const auto residual = [&] {  // of the equations as they are
    g.setZero();
    add_reactions(lambda_, g);
    r.head(n) = (force + g) - y_;
    each_massless([&](Index k) { r[k] = force[k] + g[k]; });
    multiply(y_, rows, false);
    residual_ = rhs - rows;
    r.tail(m) = residual_;
    r = r.cwiseProduct(weight);
  };
  residual();
  std::vector<VectorXd> V, Z;
  for (int steps = 0; steps < most;) {
    const double beta = r.norm();
    if (!(beta > 0) || !std::isfinite(beta)) break;
    V.assign(1, r / beta);
    Z.clear();
    MatrixXd H = MatrixXd::Zero(most + 1, most);
    VectorXd c;
    double estimate = beta;
    while (steps < most && estimate > 1e-13 * beta) {
      const auto k = static_cast<Index>(Z.size());
      const VectorXd v = V.back().cwiseQuotient(weight);
      VectorXd z(n + m);
      along = v.head(n);
      each_massless([&](Index i) { fs_[i] = v[i], along[i] = 0; });
      multiply(along, rows, false);
      rows = v.tail(m) - rows;
      apply(fs_, rows, dlambda_, dy_);
      z.head(n) = along + dy_;
      z.tail(m) = dlambda_;
      Z.push_back(z);
      // K z
      VectorXd Kz(n + m);
      g.setZero();
      add_reactions(dlambda_, g);
      Kz.head(n) = z.head(n) - g;
      each_massless([&](Index i) { Kz[i] = -g[i]; });
      along = z.head(n);
      multiply(along, rows, false);
      Kz.tail(m) = rows;
      Kz = Kz.cwiseProduct(weight);
      for (int pass = 0; pass < 2; ++pass)
        for (Index i = 0; i <= k; ++i) {
          const double h = Kz.dot(V[at(i)]);
          H(i, k) += h;
          Kz -= h * V[at(i)];
        }
      H(k + 1, k) = Kz.norm();
      ++steps;
      VectorXd e = VectorXd::Zero(k + 2);
      e[0] = beta;
      const MatrixXd Hk = H.topLeftCorner(k + 2, k + 1);
      c = Hk.colPivHouseholderQr().solve(e);
      estimate = (e - Hk * c).norm();
      if (!(H(k + 1, k) > 1e-14 * Hk.norm())) break;  // the space is exhausted
      V.push_back(Kz / H(k + 1, k));
    }
    for (std::size_t i = 0; i < Z.size(); ++i) {
      y_ += c[static_cast<Index>(i)] * Z[i].head(n);
      lambda_ += c[static_cast<Index>(i)] * Z[i].tail(m);
    }
    residual();
    forces_size = force.cwiseAbs() + g.cwiseAbs() + y_.cwiseAbs();
    error_ = std::max(std::sqrt(largest_residual()) / (y_.norm() + force.norm() + 1e-300),
                      r.head(n).norm() / (forces_size.cwiseProduct(weight.head(n)).norm() + 1e-300));
    if (error_ <= 10 * round_off) return true;
    if (r.norm() > 0.99 * beta) break;
  }
  return error_ <= converged;
}

void Engine::accelerations(VectorXd& a) const {
  a.resize(system_.size());
  workers_.each(bodies_.size(), [&](std::size_t i) {
    const BodySlot& b = bodies_[i];
    b.model->accelerate(b.motion, y_.data() + b.y, a.data() + b.first);
  });
}

void Engine::spread(const VectorXd& y, VectorXd& dq) const {
  dq.resize(system_.size());
  for (const BodySlot& b : bodies_) b.model->spread(b.motion, y.data() + b.y, dq.data() + b.first);
}

void Engine::normalise(State& s) const {
  for (const BodySlot& b : bodies_) b.model->normalise(s.q.data() + b.first, s.v.data() + b.first);
}

Momentum Engine::momentum() const {
  Momentum sum;
  for (const BodySlot& b : bodies_)
    if (const auto m = b.model->momentum(b.motion)) sum.linear += m->linear, sum.angular += m->angular;
  return sum;
}

bool Engine::finite() const { return y_.allFinite() && lambda_.allFinite(); }

}  // namespace mortise
