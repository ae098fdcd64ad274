// Ranks of a system: densely where it is small, else of the parts where the engine has doubts.

#include <mortise/assembly/report.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <mortise/assembly/engine.h>

namespace mortise::report {
namespace {

// Groups numbered from 0: those of the system go on to its last body.
void renumber(std::vector<int>& groups) {
  std::map<int, int> number;
  for (int& g : groups) g = number.try_emplace(g, static_cast<int>(number.size())).first->second;
}

// The matrices of some parts, sparse.
SparseEquations sparse_equations(const System& system, const Evaluation& e, const Parts& parts) {
  Index n = 0, m = 0, k = 0;
  std::map<std::size_t, Index> first;
  for (const std::size_t i : parts.bodies) first[i] = n, n += system.bodies()[i].size;
  for (const std::size_t i : parts.constraints) m += system.constraints()[i].rows;
  SparseEquations out{VectorXd(n), VectorXd(n), SparseRows(m, n), VectorXd(m), VectorXd(m), {}, {}, {}};
  std::vector<Eigen::Triplet<double>> null, slopes;
  int group = 0;
  for (const std::size_t i : parts.bodies) {
    const auto& b = system.bodies()[i];
    const Index at = first[i];
    out.mass.segment(at, b.size) = e.M(i).diagonal();
    out.force.segment(at, b.size) = e.Q.segment(b.first, b.size).cwiseAbs() + e.C.segment(b.first, b.size).cwiseAbs();
    const Massless massless = b.model->massless(e.state, b.first, e.M(i), {"body", b.name});
    for (Index c = 0; c < massless.N0.cols(); ++c, ++k) {
      for (Index r = 0; r < b.size; ++r)
        if (massless.N0(r, c) != 0) null.emplace_back(at + r, k, massless.N0(r, c));
      out.pivot.push_back(static_cast<int>(at) + massless.pivot[static_cast<std::size_t>(c)]);
    }
    int last = group;
    for (const int g : b.model->groups()) out.groups.push_back(group + g), last = std::max(last, group + g + 1);
    group = last;
  }
  out.N0 = SparseRows(n, k);
  out.N0.setFromTriplets(null.begin(), null.end());
  // Terms of b are squares of velocities: slopes times velocities times the largest rate of turning.
  double turning = 0;
  for (const std::size_t i : parts.bodies) {
    const auto& b = system.bodies()[i];
    const auto units = b.model->units();
    for (Index j = 0; j < b.size; ++j)
      if (units[static_cast<std::size_t>(j)] != "m") turning = std::max(turning, std::abs(e.state.v[b.first + j]));
  }
  Index row = 0;
  for (const std::size_t i : parts.constraints) {
    const auto& c = system.constraints()[i];
    for (std::size_t x = 0; x < c.bodies.size(); ++x) {
      const auto A = e.A(c.block + x);
      const Index own = system.bodies()[c.bodies[x]].first;
      if (x == 0) out.b_size.segment(row, c.rows) = e.b.segment(c.row, c.rows).cwiseAbs();
      for (Index j = 0; j < A.cols(); ++j)
        for (Index r = 0; r < c.rows; ++r) out.b_size[row + r] += std::abs(A(r, j) * e.state.v[own + j]) * turning;
      for (Index j = 0; j < A.cols(); ++j)
        for (Index r = 0; r < c.rows; ++r)
          if (A(r, j) != 0) slopes.emplace_back(row + r, first.at(c.bodies[x]) + j, A(r, j));
    }
    out.b.segment(row, c.rows) = e.b.segment(c.row, c.rows);
    row += c.rows;
  }
  out.A.setFromTriplets(slopes.begin(), slopes.end());
  return out;
}

void keep_least(std::optional<double>& to, const std::optional<double>& x) {
  if (x) to = std::min(to.value_or(*x), *x);
}
void keep_largest(std::optional<double>& to, const std::optional<double>& x) {
  if (x) to = std::max(to.value_or(*x), *x);
}

}  // namespace

SparseRank renamed(const System& system, const Parts& parts, SparseRank r) {
  std::vector<Index> coordinate, row;
  for (const std::size_t i : parts.bodies)
    for (Index j = 0; j < system.bodies()[i].size; ++j) coordinate.push_back(system.bodies()[i].first + j);
  for (const std::size_t i : parts.constraints)
    for (Index j = 0; j < system.constraints()[i].rows; ++j) row.push_back(system.constraints()[i].row + j);
  const auto rename = [](std::vector<SparseRank::Entry>& x, const std::vector<Index>& to) {
    for (auto& entry : x) entry.i = to[static_cast<std::size_t>(entry.i)];
  };
  for (auto& x : r.N) rename(x, coordinate);
  for (auto& x : r.shares) rename(x, coordinate);
  for (auto& s : r.redundant) rename(s.y, row), s.row = row[static_cast<std::size_t>(s.row)];
  rename(r.nearly, row);
  return r;
}

std::size_t constraint_of(const System& system, Index row) {
  const auto& all = system.constraints();
  const auto it = std::upper_bound(all.begin(), all.end(), row, [](Index r, const auto& c) { return r < c.row; });
  return static_cast<std::size_t>(it - all.begin()) - 1;
}

Index coordinates(const System& system, const Parts& parts) {
  Index n = 0;
  for (const std::size_t b : parts.bodies) n += system.bodies()[b].size;
  return n;
}

SparseRank rank_of(const System& system, const Evaluation& e, const Parts& parts, const RankOptions& options) {
  if (coordinates(system, parts) > dense_at_most)
    return renamed(system, parts, sparse_rank(sparse_equations(system, e, parts), options));
  Equations eq = system.equations(e, parts);
  renumber(eq.groups);
  return renamed(system, parts, in_sparse_form(numerical_rank(eq, options)));
}

SparseRank rank_of_large(const System& system, const Evaluation& e, const RankOptions& options) {
  SparseRank out;
  Engine engine(system);
  engine.evaluate(e.state);
  engine.factor();
  const auto& bodies = system.bodies();
  const auto& constraints = system.constraints();
  std::vector<std::size_t> own(bodies.size(), constraints.size());  // of each body
  for (std::size_t i = 0; i < constraints.size(); ++i)
    if (constraints[i].own) own[constraints[i].bodies[0]] = i;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const bool met = own[i] < constraints.size() && bodies[i].model->meets_own_rows();
    out.rank_M += bodies[i].size - engine.massless(i) - (met ? constraints[own[i]].rows : 0);
  }
  const auto completed = [&](const std::set<std::size_t>& some_bodies, const std::set<std::size_t>& some) {
    std::set<std::size_t> all_bodies = some_bodies, all = some;
    for (const std::size_t i : some)
      for (const std::size_t b : constraints[i].bodies) all_bodies.insert(b);
    for (const std::size_t b : all_bodies)
      if (own[b] < constraints.size()) all.insert(own[b]);
    return Parts{{all_bodies.begin(), all_bodies.end()}, {all.begin(), all.end()}};
  };

  // Bodies without mass that hang together, where the alarm doubts that they are held.
  Index found = 0;
  if (!engine.alarms().empty()) {
    std::vector<std::vector<std::size_t>> touching(bodies.size());
    for (std::size_t i = 0; i < constraints.size(); ++i)
      for (const std::size_t b : constraints[i].bodies) touching[b].push_back(i);
    std::vector<bool> seen(bodies.size(), false);
    std::vector<std::size_t> alarms = engine.alarms();
    std::sort(alarms.begin(), alarms.end());
    for (const std::size_t start : alarms) {
      if (seen[start]) continue;
      std::set<std::size_t> members{start}, rows;
      std::vector<std::size_t> queue{start};
      seen[start] = true;
      while (!queue.empty()) {
        const std::size_t b = queue.back();
        queue.pop_back();
        for (const std::size_t i : touching[b])
          if (rows.insert(i).second)
            for (const std::size_t k : constraints[i].bodies)
              if (engine.massless(k) > 0 && members.insert(k).second) seen[k] = true, queue.push_back(k);
      }
      SparseRank piece = rank_of(system, e, completed(members, rows), options);
      found += static_cast<Index>(piece.N.size());
      keep_least(out.kept, piece.kept);
      keep_largest(out.dropped, piece.dropped);
      std::move(piece.N.begin(), piece.N.end(), std::back_inserter(out.N));
      std::move(piece.shares.begin(), piece.shares.end(), std::back_inserter(out.shares));
    }
  }
  out.rank_MA = system.size() - found;

  // Rows that depend on each other.  Where massless parts are not held, the engine's rows are not all there are: then
  // as if everything had mass, which changes nothing among rows.
  std::optional<Engine> massive;
  if (found > 0) {
    massive.emplace(system);
    massive->set_all_massive();
    massive->evaluate(e.state);
    massive->factor();
  }
  constexpr Index entries = 20'000'000;  // of memory
  const int most = static_cast<int>(std::clamp<Index>(entries / std::max<Index>(1, system.rows()), 1, 1000));
  const auto dependences = (massive ? *massive : engine).dependences(most);
  std::vector<std::size_t> parent(constraints.size());  // sets that share a constraint are one
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  std::set<std::size_t> doubted;
  for (const Engine::Dependence& d : dependences) {
    std::map<std::size_t, std::size_t> at_body;
    std::optional<std::size_t> last;
    for (std::size_t i = 0; i < constraints.size(); ++i) {
      const auto& c = constraints[i];
      if (d.y.segment(c.row, c.rows).isZero(0)) continue;
      doubted.insert(i);
      // One vector of several dependences holds sets that have nothing to do with each other.
      if (dependences.size() > 1 && last) parent[root(i)] = root(*last);
      last = i;
      for (const std::size_t b : c.bodies)
        if (bodies[b].size > 0)
          if (const auto [it, fresh] = at_body.try_emplace(b, i); !fresh) parent[root(i)] = root(it->second);
    }
  }
  for (std::size_t i = 0; i < constraints.size(); ++i)  // rows that touch nothing
    for (Index r = 0; r < constraints[i].rows; ++r) {
      bool zero = true;
      for (std::size_t k = 0; k < constraints[i].bodies.size(); ++k)
        zero = zero && e.A(constraints[i].block + k).row(r).isZero(0);
      if (zero) doubted.insert(i);
    }
  std::map<std::size_t, std::set<std::size_t>> groups;
  for (const std::size_t i : doubted) groups[root(i)].insert(i);
  for (const auto& [_, group] : groups) {
    SparseRank piece = rank_of(system, e, completed({}, group), options);
    std::move(piece.redundant.begin(), piece.redundant.end(), std::back_inserter(out.redundant));
    if (!piece.nearly.empty() && (!out.smallest_row || *piece.smallest_row < *out.smallest_row))
      out.nearly = piece.nearly;
    keep_least(out.smallest_row, piece.smallest_row);
  }
  out.rank_A = system.rows() - static_cast<Index>(out.redundant.size());
  std::sort(out.redundant.begin(), out.redundant.end(), [](const auto& a, const auto& b) { return a.row < b.row; });
  return out;
}

}  // namespace mortise::report
