// Massless unknowns in numbers: QR decompositions of the rows that hold them, and what the solution needs of them.

#include <mortise/core/tolerances.h>
#include <mortise/engine/engine.h>
#include <mortise/engine/engine_kernels.h>

#include <algorithm>
#include <cmath>

namespace mortise {

using engine::at, engine::Row;

// Householder QR with column pivoting of the balanced massless columns; false: the alarm.
bool Engine::condense(const Condensation& c, bool positions) {
  const Node& target = plan_->nodes[at(c.target)];
  const int m = c.rows, k = c.columns, width = k + target.columns;
  double* W = condensed_.scratch.data();
  const auto [V, tau, R, pivot, scale, mu, A1, b1, t] = c.in(condensed_.qr.data());
  std::fill(W, W + Index{m} * width, 0.0);
  for (Index i = c.move; i < c.move + c.moves; ++i) {
    const Plan::Move& x = plan_->moves[at(i)];
    const Node& n = plan_->nodes[at(x.node)];
    for (int r = 0; r < n.rows; ++r)
      for (int j = 0; j < x.count; ++j)
        W[(x.source_row + r) * width + x.to + j] += A_[at(n.A + Index{r} * n.columns + x.from + j)];
  }
  // Balance columns, then rows, by what the entries are sums of, never by the entries themselves.
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
  const auto entry = [&, &scale = scale](int r) {  // clang 14 takes no names of parts as they are
    double largest = 0;
    for (int j = 0; j < k; ++j) largest = std::max(largest, G[r * k + j] * scale[j]);
    return largest;
  };
  // Entries along the others, each body's relative to its own largest: so masses do not count.
  std::fill(t, t + m, 0.0);
  int column = k;
  for (const Entry& x : plan_->entries_of(target)) {
    const int massive = plan_->bodies[at(x.body)].massive;
    const auto along = [&](int r) { return Row<-1>(W + r * width + column, massive).norm(); };
    double largest = 0;
    for (int r = 0; r < m; ++r) largest = std::max(largest, along(r));
    for (int r = 0; r < m && largest > 0; ++r) t[r] = std::max(t[r], along(r) / largest);
    column += massive + x.massless;
  }
  double touch = 0;
  for (int r = 0; r < m; ++r)
    if (t[r] > 0) touch = std::max(touch, entry(r) / t[r]);
  for (int r = 0; r < m; ++r) {
    const double largest = std::max(entry(r), tolerance::hardly_massless * touch * t[r]);
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
      if (norm > longest * tolerance::clearly_larger) longest = norm, best = i;
    }
    if (best != j) {
      for (int r = 0; r < m; ++r) std::swap(W[r * width + j], W[r * width + best]);
      std::swap(pivot[j], pivot[best]);
    }
    double* v = V + Index{j} * m;
    if (j >= m) continue;
    const double norm = std::sqrt(std::max(longest, 0.0)), head = W[j * width + j];
    well = well && norm >= tolerance::rank_alarm;
    if (positions && norm < tolerance::rank_alarm) {  // no row that holds others is spent on what no position holds
      const auto empty = [&](int r) {
        return std::all_of(W + r * width, W + (r + 1) * width, [](double w) { return w == 0; });
      };
      int none = j;
      while (none < m && !empty(none)) ++none;
      if (none < m && none > j) {  // the reflection that exchanges the two
        std::fill(v, v + m, 0.0);
        v[j] = 1;
        v[none] = -1;
        tau[j] = 1;
        std::swap_ranges(W + j * width, W + (j + 1) * width, W + none * width);
        continue;
      }
    }
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
      if (std::abs(R[i * k + i]) < tolerance::rank_alarm) R[i * k + i] = 0;
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < target.columns; ++j) A1[i * target.columns + j] = i < m ? W[i * width + k + j] : 0;
  for (int i = 0; i < target.rows; ++i)
    for (int j = 0; j < target.columns; ++j)
      A_[at(target.A + Index{i} * target.columns + j)] = W[(k + i) * width + k + j];
  // What the rows that stay, and their entries along unknowns still to be condensed, are sums of: they may cancel to
  // round-off, of all the rows that the decomposition mixed.
  const auto mixed = [&, &V = V](int r) {
    for (int j = 0; j < k; ++j)
      if (V[Index{j} * m + r] != 0) return true;
    return false;
  };
  const auto inherit = [&, &t = t](const auto& of_source, const auto& of_target) {
    double largest = 0;
    for (int r = 0; r < m; ++r)
      if (mixed(r)) largest = std::max(largest, t[r] * of_source(r));
    for (int r = k; r < m; ++r) of_target(r - k) = mixed(r) ? largest : t[r] * of_source(r);
  };
  double* own = condensed_.scratch.data();
  int row = 0;
  for (int s = c.source; s < c.source + c.sources; ++s) {
    const Node& n = plan_->nodes[at(plan_->sources[at(s)])];
    for (int r = 0; r < n.rows; ++r) own[row++] = std::sqrt(diagonal_[at(n.row + r)]);
  }
  inherit([&](int r) { return own[r]; }, [&](int i) -> double& { return diagonal_[at(target.row + i)]; });
  for (int i = 0; i < target.rows; ++i) diagonal_[at(target.row + i)] *= diagonal_[at(target.row + i)];
  for (const Entry& x : plan_->entries_of(target)) {
    if (x.massless == 0 || !alarm_) continue;
    references(c, x.body, own);
    for (int j = 0; j < x.massless; ++j)
      inherit([&](int r) { return own[r * x.massless + j]; },
              [&](int i) -> double& { return condensed_.qr[at(x.reference + Index{i} * x.massless + j)]; });
  }
  return well || !alarm_;
}

// Columns that are the same are marked: unknowns of one dimension have the same references.
void Engine::find_references(std::size_t body) {
  const Body& b = plan_->bodies[body];
  const int columns = b.k - b.massive;
  double *u = condensed_.references.data() + b.references, *repeats = u + Index{b.k} * columns;
  slots_->bodies[body].model->references(motions_[body], u);
  for (int j = 0; j < columns; ++j) repeats[j] = j > 0 && std::equal(u + (j - 1) * b.k, u + j * b.k, u + j * b.k);
}

namespace {

// Adds |a| u of rows to G; columns of u that repeat the last give the same.
template <int K>
void add_references(const double* a, int rows, int stride, const double* u, const double* repeats, int size,
                    int columns, double* G) {
  using Vector = Eigen::Map<const Vec<double, K>>;
  for (int r = 0; r < rows; ++r, a += stride, G += columns) {
    double sum = 0;
    for (int j = 0; j < columns; ++j) {
      if (repeats[j] == 0) sum = Vector(a, size).cwiseAbs().dot(Vector(u + Index{j} * size, size));
      G[j] += sum;
    }
  }
}

}  // namespace

// For the stacked rows of a condensation and the massless unknowns of one body, row by row.
void Engine::references(const Condensation& c, int body, double* G) {
  const Body& b = plan_->bodies[at(body)];
  const int k = b.k - b.massive;
  const double *u = condensed_.references.data() + b.references, *repeats = u + Index{b.k} * k;
  for (int s = c.source; s < c.source + c.sources; ++s) {
    const Node& n = plan_->nodes[at(plan_->sources[at(s)])];
    const Index size = Index{n.rows} * k;
    std::fill_n(G, size, 0.0);
    for (const Entry& x : plan_->entries_of(n)) {
      if (x.body != body || x.massless == 0) continue;
      const double* a = A_.data() + n.A + x.column;
      if (x.reference >= 0)
        for (Index i = 0; i < size; ++i) G[i] += condensed_.qr[at(x.reference + i)];
      else if (b.k == 6)
        add_references<6>(a, n.rows, n.columns, u, repeats, b.k, k, G);
      else
        add_references<-1>(a, n.rows, n.columns, u, repeats, b.k, k, G);
    }
    G += size;
  }
}

// What forces on massless unknowns and the right-hand side become for the rows that stay, in condensed_.h and
// condensed_.rhs.
void Engine::condense_rhs(const VectorXd& force, const VectorXd& rhs) {
  condensed_.rhs.head(rhs.size()) = rhs;
  condensed_.h.setZero();
  for (const Condensation& c : plan_->condensations) {
    const Node& target = plan_->nodes[at(c.target)];
    const Body& body = plan_->bodies[at(c.body)];
    const auto [V, tau, R, pivot, scale, mu, A1, b1, t] = c.in(condensed_.qr.data());
    double* z = condensed_.scratch.data();
    // R' mu = -P'(c f_s)
    for (int j = 0; j < c.columns; ++j) {
      const auto p = static_cast<int>(pivot[j]);
      double v = -scale[p] * (force[body.y + body.massive + p] + condensed_.h[body.y + body.massive + p]);
      for (int i = 0; i < j; ++i) v -= R[i * c.columns + j] * mu[i];
      mu[j] = R[j * c.columns + j] != 0 ? v / R[j * c.columns + j] : 0;
    }
    int column = 0;
    for (const Entry& x : plan_->entries_of(target)) {
      const Body& b = plan_->bodies[at(x.body)];
      const int n = b.massive + x.massless;
      for (int i = 0; i < c.columns; ++i)
        for (int k = 0; k < n; ++k) condensed_.h[b.y + k] += A1[i * target.columns + column + k] * mu[i];
      column += n;
    }
    // Q'(t b)
    int row = 0;
    for (int s = c.source; s < c.source + c.sources; ++s) {
      const Node& n = plan_->nodes[at(plan_->sources[at(s)])];
      for (int r = 0; r < n.rows; ++r, ++row) z[row] = t[row] * condensed_.rhs[n.row + r];
    }
    for (int j = 0; j < c.columns && j < c.rows; ++j) {
      const double* v = V + Index{j} * c.rows;
      double dot = 0;
      for (int r = j; r < c.rows; ++r) dot += v[r] * z[r];
      for (int r = j; r < c.rows; ++r) z[r] -= tau[j] * dot * v[r];
    }
    for (int j = 0; j < c.columns; ++j) b1[j] = j < c.rows ? z[j] : 0;
    for (int r = 0; r < target.rows; ++r) condensed_.rhs[target.row + r] = z[c.columns + r];
  }
}

// The massless unknowns from the others:  R P'(s / c) = b1 - A1 y.
void Engine::restore(VectorXd& dy) {
  for (std::size_t i = plan_->condensations.size(); i-- > 0;) {
    const Condensation& c = plan_->condensations[i];
    const Node& target = plan_->nodes[at(c.target)];
    const Body& body = plan_->bodies[at(c.body)];
    const auto [V, tau, R, pivot, scale, mu, A1, b1, t] = c.in(condensed_.qr.data());
    double* z = condensed_.scratch.data();
    for (int j = 0; j < c.columns; ++j) {
      z[j] = b1[j];
      int column = 0;
      for (const Entry& x : plan_->entries_of(target)) {
        const Body& b = plan_->bodies[at(x.body)];
        const int n = b.massive + x.massless;
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
}

// Multipliers of the constraints from those of the rows in the fronts:  lambda = t Q [mu1; mu2].
void Engine::expand_multipliers(bool forces) {
  for (std::size_t i = plan_->condensations.size(); i-- > 0;) {
    const Condensation& c = plan_->condensations[i];
    const Node& target = plan_->nodes[at(c.target)];
    const auto [V, tau, R, pivot, scale, mu, A1, b1, t] = c.in(condensed_.qr.data());
    double* z = condensed_.scratch.data();
    for (int r = 0; r < c.rows; ++r)
      z[r] = r >= c.columns ? condensed_.lambda[target.row + r - c.columns] : forces ? mu[r] : 0;
    for (int j = std::min(c.columns, c.rows); j-- > 0;) {
      const double* v = V + Index{j} * c.rows;
      double dot = 0;
      for (int r = j; r < c.rows; ++r) dot += v[r] * z[r];
      for (int r = j; r < c.rows; ++r) z[r] -= tau[j] * dot * v[r];
    }
    int row = 0;
    for (int s = c.source; s < c.source + c.sources; ++s) {
      const Node& n = plan_->nodes[at(plan_->sources[at(s)])];
      for (int r = 0; r < n.rows; ++r, ++row) condensed_.lambda[n.row + r] = t[row] * z[row];
    }
  }
}

}  // namespace mortise
