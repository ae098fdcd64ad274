#include <mortise/engine/engine_kernels.h>
#include <mortise/engine/fronts.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>

namespace mortise {

using engine::at, engine::four, engine::two;

namespace {

std::vector<int> minimum_degree(const FrontTree::Graph& g) {
  const auto n = static_cast<int>(g.size.size());
  Eigen::SparseMatrix<double, Eigen::ColMajor, int> pattern(n, n);
  std::vector<Eigen::Triplet<double, int>> entries;
  entries.reserve(g.neighbour.size() + g.size.size());
  for (int i = 0; i < n; ++i) {
    entries.emplace_back(i, i, 1.0);
    for (int k = g.start[at(i)]; k < g.start[at(i) + 1]; ++k) entries.emplace_back(i, g.neighbour[at(k)], 1.0);
  }
  pattern.setFromTriplets(entries.begin(), entries.end());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
  Eigen::AMDOrdering<int>()(pattern, order);
  return {order.indices().data(), order.indices().data() + n};
}

// Parents in the elimination tree of the nodes taken in this order; -1 for roots.
std::vector<int> elimination_tree(const FrontTree::Graph& g, const std::vector<int>& order,
                                  const std::vector<int>& rank) {
  const std::size_t n = order.size();
  std::vector<int> parent(n, -1), ancestor(n, -1);
  for (std::size_t k = 0; k < n; ++k) {
    const auto node = at(order[k]);
    for (int e = g.start[node]; e < g.start[node + 1]; ++e)
      for (int i = rank[at(g.neighbour[at(e)])]; i >= 0 && i < static_cast<int>(k);) {
        const int next = ancestor[at(i)];
        ancestor[at(i)] = static_cast<int>(k);
        if (next < 0) parent[at(i)] = static_cast<int>(k);
        i = next;
      }
  }
  return parent;
}

// Children before parents, each subtree in one piece.
std::vector<int> postorder(const std::vector<int>& parent) {
  const std::size_t n = parent.size();
  std::vector<int> first(n, -1), next(n, -1), stack, out;
  out.reserve(n);
  for (std::size_t i = n; i-- > 0;)
    if (parent[i] >= 0) next[i] = first[at(parent[i])], first[at(parent[i])] = static_cast<int>(i);
  for (std::size_t root = 0; root < n; ++root) {
    if (parent[root] >= 0) continue;
    stack.push_back(static_cast<int>(root));
    while (!stack.empty()) {
      const int i = stack.back();
      if (const int child = first[at(i)]; child >= 0) {
        first[at(i)] = next[at(child)];
        stack.push_back(child);
      } else {
        out.push_back(i);
        stack.pop_back();
      }
    }
  }
  return out;
}

}  // namespace

FrontTree::FrontTree(const Graph& g, std::vector<int> order) {
  const std::size_t n = g.size.size();
  const auto inverse = [&](const std::vector<int>& of) {
    std::vector<int> rank(n);
    for (std::size_t k = 0; k < n; ++k) rank[at(of[k])] = static_cast<int>(k);
    return rank;
  };
  if (order.empty()) order = minimum_degree(g);
  std::vector<int> rank = inverse(order);
  {
    const std::vector<int> post = postorder(elimination_tree(g, order, rank));
    std::vector<int> reordered(n);
    for (std::size_t k = 0; k < n; ++k) reordered[k] = order[at(post[k])];
    order = std::move(reordered);
    rank = inverse(order);
  }
  const std::vector<int> parent = elimination_tree(g, order, rank);

  // The border of each node: its later neighbours and those of its children.
  std::vector<int> borders, mark(n, -1), size_at(n), first_child(n, -1), next_child(n, -1);
  std::vector<std::size_t> border_start(n + 1, 0);
  const auto border = [&](std::size_t k) {
    return std::span(borders.data() + border_start[k], border_start[k + 1] - border_start[k]);
  };
  for (std::size_t k = 0; k < n; ++k) {
    size_at[k] = g.size[at(order[k])];
    mark[k] = static_cast<int>(k);
    const auto take = [&](int i) {
      if (i > static_cast<int>(k) && mark[at(i)] != static_cast<int>(k))
        mark[at(i)] = static_cast<int>(k), borders.push_back(i);
    };
    const auto node = at(order[k]);
    for (int e = g.start[node]; e < g.start[node + 1]; ++e) take(rank[at(g.neighbour[at(e)])]);
    for (int c = first_child[k]; c >= 0; c = next_child[at(c)])
      for (std::size_t i = border_start[at(c)]; i < border_start[at(c) + 1]; ++i) take(borders[i]);
    border_start[k + 1] = borders.size();
    std::ranges::sort(border(k));
    if (parent[k] >= 0) next_child[k] = first_child[at(parent[k])], first_child[at(parent[k])] = static_cast<int>(k);
  }

  // A node joins the front of the one before it if nothing, or little, is lost by it.
  std::vector<int> front(n);
  std::vector<int> last_of;  // the last node of each front
  std::vector<int> rows(n);  // scalar size of the border
  for (std::size_t k = 0; k < n; ++k)
    for (const int i : border(k)) rows[k] += size_at[at(i)];
  int pivots = 0;
  constexpr int widest = 64;  // pivots of one front
  for (std::size_t k = 0; k < n; ++k) {
    const bool joins = k > 0 && parent[k - 1] == static_cast<int>(k) && rows[k - 1] == size_at[k] + rows[k] &&
                       pivots + size_at[k] <= widest;
    if (joins) {
      last_of.back() = static_cast<int>(k);
      pivots += size_at[k];
    } else {
      last_of.push_back(static_cast<int>(k));
      pivots = size_at[k];
    }
    front[k] = static_cast<int>(last_of.size()) - 1;
  }

  // Numbering.
  position_.resize(n);
  front_.resize(n);
  std::vector<int> position(n);
  int scalar = 0;
  for (std::size_t k = 0; k < n; ++k) {
    position[k] = scalar;
    position_[at(order[k])] = scalar;
    front_[at(order[k])] = front[k];
    scalar += size_at[k];
  }
  size_ = scalar;
  std::size_t k = 0;
  fronts_.reserve(last_of.size());
  for (std::size_t f = 0; f < last_of.size(); ++f) {
    Front& x = fronts_.emplace_back();
    const auto last = at(last_of[f]);
    x.first = position[k];
    x.p = position[last] + size_at[last] - position[k];
    x.q = rows[last];
    x.parent = parent[last] >= 0 ? front[at(parent[last])] : -1;
    x.L = values_;
    x.U = updates_;
    x.border = static_cast<Index>(border_.size());
    values_ += Index{x.p} * (x.p + x.q);
    updates_ += Index{x.q} * x.q;
    for (const int i : border(last))
      for (int r = 0; r < size_at[at(i)]; ++r) border_.push_back(position[at(i)] + r);
    x.child = x.children = 0;
    k = last + 1;
  }
  for (const Front& x : fronts_)
    if (x.parent >= 0) ++fronts_[at(x.parent)].children;
  int places = 0;
  for (Front& x : fronts_) x.child = std::exchange(places, places + x.children);
  children_.resize(at(places));
  std::vector<int> taken(fronts_.size(), 0);
  for (std::size_t f = 0; f < fronts_.size(); ++f)
    if (const int up = fronts_[f].parent; up >= 0)
      children_[at(fronts_[at(up)].child + taken[at(up)]++)] = static_cast<int>(f);
  for (std::size_t f = 0; f < fronts_.size(); ++f) {
    Front& x = fronts_[f];
    x.map = static_cast<Index>(map_.size());
    x.contiguous = true;
    if (x.parent < 0) continue;
    const Front& up = fronts_[at(x.parent)];
    const int* up_border = border_.data() + up.border;
    for (int r = 0, s = 0; r < x.q; ++r) {
      const int where = border_[at(x.border + r)];
      int local = where - up.first;
      if (local >= up.p) {
        while (up_border[s] != where) ++s;
        local = up.p + s;
      }
      x.contiguous = x.contiguous && (r == 0 || local == map_.back() + 1);
      map_.push_back(local);
    }
  }
}

FrontTree::Place FrontTree::place(int row_node, int column_node) const {
  const bool transposed = position(row_node) < position(column_node);
  if (transposed) std::swap(row_node, column_node);
  const Front& x = fronts_[at(front_of(column_node))];
  int row = position(row_node) - x.first;
  if (row >= x.p) {
    const auto first = border_.begin() + x.border;
    row = x.p + static_cast<int>(std::lower_bound(first, first + x.q, position(row_node)) - first);
  }
  return {x.L + row + Index{position(column_node) - x.first} * (x.p + x.q), x.p + x.q, transposed};
}

Fronts::Fronts(const FrontTree& tree, std::size_t threads) : tree_(&tree) {
  L_.resize(at(tree.values_));
  U_.resize(at(tree.updates_));
  inverse_.resize(at(tree.size_));
  floor_.resize(at(tree.size_));
  if (threads > 1 && tree.count() > 0) share(threads);
}

void Fronts::share(std::size_t threads) {
  const std::vector<Front>& fronts = tree_->fronts_;
  const std::vector<int>& children = tree_->children_;
  // Work of each subtree, and the first front of it: subtrees are consecutive.
  std::vector<double> work(fronts.size());
  std::vector<int> first(fronts.size());
  double total = 0;
  for (std::size_t i = 0; i < fronts.size(); ++i) {
    const Front& x = fronts[i];
    const double own = 100 + double(x.p) * (x.p + x.q) * (x.p + x.q);
    first[i] = x.children > 0 ? first[at(children[at(x.child)])] : static_cast<int>(i);
    work[i] += own;
    total += own;
    if (x.parent >= 0) work[at(x.parent)] += work[i];
  }
  // The heaviest branch is cut as long as it is too much for one thread.
  std::vector<int> roots;
  for (std::size_t i = 0; i < fronts.size(); ++i)
    if (fronts[i].parent < 0) roots.push_back(static_cast<int>(i));
  const auto lighter = [&](int a, int b) { return work[at(a)] < work[at(b)]; };
  std::make_heap(roots.begin(), roots.end(), lighter);
  while (!roots.empty() && work[at(roots.front())] > 1.05 * total / static_cast<double>(threads)) {
    std::pop_heap(roots.begin(), roots.end(), lighter);
    const int cut = roots.back();
    roots.pop_back();
    trunk_.push_back(cut);
    for (int c = 0; c < fronts[at(cut)].children; ++c) {
      roots.push_back(children[at(fronts[at(cut)].child + c)]);
      std::push_heap(roots.begin(), roots.end(), lighter);
    }
  }
  std::sort(trunk_.begin(), trunk_.end());
  // Each branch to the thread with the least work so far.
  std::sort(roots.begin(), roots.end(), [&](int a, int b) { return lighter(b, a); });
  std::vector<double> load(threads, 0);
  for (const int r : roots) {
    const auto part = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    load[part] += work[at(r)];
    branches_.push_back({first[at(r)], r, part});
  }
}

namespace {

// Adds the lower triangle of a child's update, q x q, to consecutive rows and columns.
template <int Q> void add_update(const double* __restrict from, int q_, double* __restrict to, int stride) {
  const int q = Q >= 0 ? Q : q_;
  for (int s = 0; s < q; ++s)
    for (int r = Q >= 0 && Q <= 3 ? 0 : s; r < q; ++r) to[r + s * stride] += from[r + s * q];
}

}  // namespace

void Fronts::begin(int i) {
  const Front& x = tree_->fronts_[at(i)];
  const int f = x.p + x.q;
  double *L = L_.data() + x.L, *U = U_.data() + x.U;
  std::fill(L, L + Index{x.p} * f, 0.0);
  std::fill(U, U + Index{x.q} * x.q, 0.0);
  for (int c = 0; c < x.children; ++c) {
    const Front& child = tree_->fronts_[at(tree_->children_[at(x.child + c)])];
    const double* from = U_.data() + child.U;
    const int* map = tree_->map_.data() + child.map;
    if (child.contiguous && map[0] + child.q <= x.p) {
      double* to = L + Index{map[0]} * (f + 1);
      switch (child.q) {
        case 2:
          add_update<2>(from, 2, to, f);
          break;
        case 3:
          add_update<3>(from, 3, to, f);
          break;
        case 5:
          add_update<5>(from, 5, to, f);
          break;
        default:
          add_update<-1>(from, child.q, to, f);
      }
      continue;
    }
    for (int s = 0; s < child.q; ++s) {
      const int column = map[s];
      double* to = column < x.p ? L + Index{column} * f : U + Index{column - x.p} * x.q - x.p;
      if (child.contiguous)
        for (int r = s; r < child.q; ++r) to[map[0] + r] += from[r + s * child.q];
      else
        for (int r = s; r < child.q; ++r) to[map[r]] += from[r + s * child.q];
    }
  }
}

namespace {

// 1 / pivot.  The division does not wait for the test, which is hardly ever true.
[[gnu::always_inline]] inline double inverted(double d, double floor) {
  const double inverse = 1 / d;
  if (floor > 0 ? d < floor : d > floor) [[unlikely]]
    return 1 / floor;
  return inverse;
}

// Eliminates the p pivots of a front in place.
void eliminate(int p, int q, double* L, double* U, double* inverse, const double* floor) {
  const int f = p + q;
  for (int c = 0; c < p; ++c) {
    double* col = L + c * f;
    const double inv = inverse[c] = inverted(col[c], floor[c]);
    for (int s = c + 1; s < p; ++s) {
      const double factor = col[s] * inv;
      double* to = L + s * f;
      for (int r = s; r < f; ++r) to[r] -= factor * col[r];
    }
    for (int s = 0; s < q; ++s) {
      const double factor = col[p + s] * inv;
      double* to = U + s * q;
      for (int r = s; r < q; ++r) to[r] -= factor * col[p + r];
    }
    for (int r = c + 1; r < f; ++r) col[r] *= inv;
  }
}

// to -= factor * from, in as few pieces as there are; columns are always cut in the same way.
template <int N> [[gnu::always_inline]] inline void subtract(double* to, double factor, const double* from) {
#pragma GCC unroll 2
  for (int i = 0; i + 4 <= N; i += 4) four(to + i).v -= factor * four(from + i).v;
  constexpr int rest = N / 4 * 4;
  if constexpr (N % 4 >= 2) two(to + rest).v -= factor * two(from + rest).v;
  if constexpr (N % 2 == 1) to[N - 1] -= factor * from[N - 1];
}
template <int N> [[gnu::always_inline]] inline void scale(double* x, double factor) {
#pragma GCC unroll 2
  for (int i = 0; i + 4 <= N; i += 4) four(x + i).v *= factor;
  constexpr int rest = N / 4 * 4;
  if constexpr (N % 4 >= 2) two(x + rest).v *= factor;
  if constexpr (N % 2 == 1) x[N - 1] *= factor;
}

// The same for sizes known beforehand.  Whole columns are updated, with what stands above the diagonal, which nobody
// reads: that is faster than half of them.
template <int P, int Q>
void eliminate_small(int, int, double* __restrict L, double* __restrict U, double* __restrict inverse,
                     const double* __restrict floor) {
  constexpr int f = P + Q;
#pragma GCC unroll 6
  for (int c = 0; c < P; ++c) {
    double* col = L + c * f;
    const double inv = inverse[c] = inverted(col[c], floor[c]);
    double entry[f];  // before they are divided by the pivot
#pragma GCC unroll 12
    for (int s = c + 1; s < f; ++s) entry[s] = col[s];
    scale<P>(col, inv);
    scale<Q>(col + P, inv);
#pragma GCC unroll 6
    for (int s = c + 1; s < P; ++s) {
      subtract<P>(L + s * f, entry[s], col);
      subtract<Q>(L + s * f + P, entry[s], col + P);
    }
#pragma GCC unroll 6
    for (int s = 0; s < Q; ++s) subtract<Q>(U + s * Q, entry[P + s], col + P);
  }
}

// The same for large fronts: panels of columns, then one product for all that follows.
void eliminate_panels(int p, int q, double* L, double* U, double* inverse, const double* floor) {
  constexpr int width = 24;
  const int f = p + q;
  using Strided = Eigen::Map<MatrixXd, 0, Eigen::OuterStride<>>;
  MatrixXd scaled;
  for (int c0 = 0; c0 < p; c0 += width) {
    const int w = std::min(width, p - c0), rest = f - c0 - w;
    for (int c = c0; c < c0 + w; ++c) {
      double* col = L + Index{c} * f;
      inverse[c] = inverted(col[c], floor[c]);
      for (int s = c + 1; s < c0 + w; ++s) {
        const double factor = col[s] * inverse[c];
        double* to = L + Index{s} * f;
        for (int r = s; r < f; ++r) to[r] -= factor * col[r];
      }
      for (int r = c + 1; r < f; ++r) col[r] *= inverse[c];
    }
    if (rest == 0) continue;
    const Strided panel(L + Index{c0} * f + c0 + w, rest, w, Eigen::OuterStride<>(f));
    scaled = panel;
    for (int c = 0; c < w; ++c) scaled.col(c) /= inverse[c0 + c];
    for (int s = 0; s < rest; s += width) {  // lower triangle, by blocks of columns
      const int columns = std::min({width, rest - s, s < p - c0 - w ? p - c0 - w - s : rest});
      const int column = c0 + w + s;
      const bool pivot = column < p;
      Strided to(pivot ? L + Index{column} * f + column : U + Index{column - p} * q + column - p, rest - s, columns,
                 Eigen::OuterStride<>(pivot ? f : q));
      to.noalias() -= panel.bottomRows(rest - s) * scaled.middleRows(s, columns).transpose();
      s += columns - width;
    }
  }
}

using Kernel = void (*)(int, int, double*, double*, double*, const double*);
constexpr int small = 6;  // sizes up to this have kernels of their own
template <int... i> constexpr std::array<Kernel, sizeof...(i)> make_kernels(std::integer_sequence<int, i...>) {
  return {eliminate_small<1 + i / (small + 1), i % (small + 1)>...};
}
constexpr auto kernels = make_kernels(std::make_integer_sequence<int, small*(small + 1)>{});

}  // namespace

void Fronts::finish(int i) {
  const Front& x = tree_->fronts_[at(i)];
  double *L = L_.data() + x.L, *U = U_.data() + x.U, *inverse = inverse_.data() + x.first;
  const double* floor = floor_.data() + x.first;
  if (x.p <= small && x.q <= small)
    kernels[at((x.p - 1) * (small + 1) + x.q)](x.p, x.q, L, U, inverse, floor);
  else if (x.p + x.q < 64)
    eliminate(x.p, x.q, L, U, inverse, floor);
  else
    eliminate_panels(x.p, x.q, L, U, inverse, floor);
}

namespace {

// P, Q >= 0: sizes known beforehand; all numbers are in local variables then.
template <int P, int Q>
void forward_kernel(int p, int q, const double* L, const double*, const int* border, int first, double* x) {
  double* pivots = x + first;
  if constexpr (P >= 0) {
    constexpr int f = P + Q;
    double y[P], rest[Q + 1];
#pragma GCC unroll 6
    for (int c = 0; c < P; ++c) y[c] = pivots[c];
#pragma GCC unroll 6
    for (int r = 0; r < Q; ++r) rest[r] = x[border[r]];
#pragma GCC unroll 6
    for (int c = 0; c < P; ++c) {
#pragma GCC unroll 6
      for (int r = c + 1; r < P; ++r) y[r] -= L[c * f + r] * y[c];
#pragma GCC unroll 6
      for (int r = 0; r < Q; ++r) rest[r] -= L[c * f + P + r] * y[c];
    }
#pragma GCC unroll 6
    for (int c = 1; c < P; ++c) pivots[c] = y[c];
#pragma GCC unroll 6
    for (int r = 0; r < Q; ++r) x[border[r]] = rest[r];
  } else {
    const int f = p + q;
    for (int c = 0; c < p; ++c) {
      const double v = pivots[c];
      const double* col = L + Index{c} * f;
      for (int r = c + 1; r < p; ++r) pivots[r] -= col[r] * v;
      for (int r = 0; r < q; ++r) x[border[r]] -= col[p + r] * v;
    }
  }
}

template <int P, int Q>
void backward_kernel(int p, int q, const double* L, const double* inverse, const int* border, int first, double* x) {
  double* pivots = x + first;
  if constexpr (P >= 0) {
    constexpr int f = P + Q;
    double y[P], known[Q + 1];
#pragma GCC unroll 6
    for (int r = 0; r < Q; ++r) known[r] = x[border[r]];
#pragma GCC unroll 6
    for (int c = 0; c < P; ++c) {
      y[c] = pivots[c] * inverse[c];
#pragma GCC unroll 6
      for (int r = 0; r < Q; ++r) y[c] -= L[c * f + P + r] * known[r];
    }
#pragma GCC unroll 6
    for (int c = P - 1; c >= 0; --c)
#pragma GCC unroll 6
      for (int r = 0; r < c; ++r) y[r] -= L[r * f + c] * y[c];
#pragma GCC unroll 6
    for (int c = 0; c < P; ++c) pivots[c] = y[c];
  } else {
    const int f = p + q;
    for (int c = p; c-- > 0;) {
      const double* col = L + Index{c} * f;
      double y = pivots[c] * inverse[c];
      for (int r = 0; r < q; ++r) y -= col[p + r] * x[border[r]];
      for (int r = c + 1; r < p; ++r) y -= col[r] * pivots[r];
      pivots[c] = y;
    }
  }
}

using SolveKernel = void (*)(int, int, const double*, const double*, const int*, int, double*);
template <bool Forward, int P, int Q> constexpr SolveKernel kernel() {
  if constexpr (Forward)
    return forward_kernel<P, Q>;
  else
    return backward_kernel<P, Q>;
}
template <bool Forward, int... i>
constexpr std::array<SolveKernel, sizeof...(i)> make_solve_kernels(std::integer_sequence<int, i...>) {
  return {kernel<Forward, 1 + i / (small + 1), i % (small + 1)>()...};
}
constexpr auto forward_kernels = make_solve_kernels<true>(std::make_integer_sequence<int, small*(small + 1)>{});
constexpr auto backward_kernels = make_solve_kernels<false>(std::make_integer_sequence<int, small*(small + 1)>{});

}  // namespace

void Fronts::forward(int i, double* x) const {
  const Front& F = tree_->fronts_[at(i)];
  const bool own = F.p <= small && F.q <= small;
  const SolveKernel solve = own ? forward_kernels[at((F.p - 1) * (small + 1) + F.q)] : forward_kernel<-1, -1>;
  solve(F.p, F.q, L_.data() + F.L, nullptr, tree_->border_.data() + F.border, F.first, x);
}

void Fronts::backward(int i, double* x) const {
  const Front& F = tree_->fronts_[at(i)];
  const bool own = F.p <= small && F.q <= small;
  const SolveKernel solve = own ? backward_kernels[at((F.p - 1) * (small + 1) + F.q)] : backward_kernel<-1, -1>;
  solve(F.p, F.q, L_.data() + F.L, inverse_.data() + F.first, tree_->border_.data() + F.border, F.first, x);
}

void Fronts::solve_transposed(double* x) const {
  for (int i = tree_->count(); i-- > 0;) {
    const Front& F = tree_->fronts_[at(i)];
    const int f = F.p + F.q;
    double* y = x + F.first;
    for (int c = F.p; c-- > 0;) {
      const double* col = L_.data() + F.L + Index{c} * f;
      for (int r = c + 1; r < F.p; ++r) y[c] -= col[r] * y[r];
      for (int r = 0; r < F.q; ++r) y[c] -= col[F.p + r] * x[tree_->border_[at(F.border + r)]];
    }
  }
}

void Fronts::forward(double* x) const {
  for (int i = 0; i < tree_->count(); ++i) forward(i, x);
}

void Fronts::backward(double* x) const {
  for (int i = tree_->count(); i-- > 0;) backward(i, x);
}

}  // namespace mortise
