#include <mortise/engine/system_rank.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace mortise {

SparseEquations sparse_equations(const System& system, const Evaluation& e, const System::Selection& parts) {
  system.require_own(e);
  Index n = 0, m = 0, k = 0;
  std::vector<Index> first(system.bodies().size(), 0);
  for (const std::size_t i : parts.bodies) first[i] = n, n += system.bodies()[i].size;
  for (const std::size_t i : parts.constraints) m += system.constraints()[i].rows;
  SparseEquations out{VectorXd(n), VectorXd(n), SparseRows(m, n), VectorXd(m), VectorXd(m), {}, {}, {}};
  int group = 0;
  std::vector<Massless> massless_of;
  massless_of.reserve(parts.bodies.size());
  for (const std::size_t i : parts.bodies) {
    const auto& b = system.bodies()[i];
    const Index at = first[i];
    out.mass.segment(at, b.size) = e.M(i).diagonal();
    out.force.segment(at, b.size) = e.Q.segment(b.first, b.size).cwiseAbs() + e.C.segment(b.first, b.size).cwiseAbs();
    const Massless& massless = massless_of.emplace_back(b.model->massless(e.state, b.first, e.M(i), {"body", b.name}));
    for (const int pivot : massless.pivot) out.pivot.push_back(static_cast<int>(at) + pivot);
    k += massless.N0.cols();
    for (const auto& [coordinate, counts, pivot] : massless.doubtful)
      out.doubtful.push_back({static_cast<int>(at) + coordinate, counts, pivot});
    int last = group;
    for (const int g : b.model->groups()) out.groups.push_back(group + g), last = std::max(last, group + g + 1);
    group = last;
  }
  out.N0 = SparseRows(n, k);
  k = 0;
  for (std::size_t i = 0; i < parts.bodies.size(); ++i) {
    const MatrixXd& N0 = massless_of[i].N0;
    const Index at = first[parts.bodies[i]];
    for (Index r = 0; r < N0.rows(); ++r) {
      out.N0.startVec(at + r);
      for (Index c = 0; c < N0.cols(); ++c)
        if (N0(r, c) != 0) out.N0.insertBack(at + r, k + c) = N0(r, c);
    }
    k += N0.cols();
  }
  out.N0.finalize();
  Index row = 0, entries = 0;
  for (const std::size_t i : parts.constraints)
    for (const std::size_t x : system.constraints()[i].bodies)
      entries += system.constraints()[i].rows * system.bodies()[x].size;
  out.A.reserve(entries);
  std::vector<std::size_t> order;  // of the bodies of a joint, by their coordinates
  std::vector<SparseEntry> slopes;
  for (const std::size_t i : parts.constraints) {
    const auto& c = system.constraints()[i];
    order.resize(c.bodies.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](auto x, auto y) { return first[c.bodies[x]] < first[c.bodies[y]]; });
    for (Index r = 0; r < c.rows; ++r) {
      slopes.clear();
      for (const std::size_t x : order) {
        const auto A = e.A(c.block + x);
        const Index at = first[c.bodies[x]];
        const auto same = std::find_if(slopes.begin(), slopes.end(), [&](const auto& s) { return s.i >= at; });
        if (A.cols() > 0 && same != slopes.end()) {  // it stands twice
          for (auto s = same; s != slopes.end(); ++s) s->value += A(r, s->i - at);
          continue;
        }
        for (Index j = 0; j < A.cols(); ++j) slopes.push_back({at + j, A(r, j)});
      }
      out.A.startVec(row + r);
      for (const auto& [j, value] : slopes)
        if (value != 0) out.A.insertBack(row + r, j) = value;
    }
    out.b.segment(row, c.rows) = e.b.segment(c.row, c.rows);
    out.b_size.segment(row, c.rows) = system.size_of_b(e, c);
    row += c.rows;
  }
  out.A.finalize();
  return out;
}

namespace {

// From the numbers of the parts to those of the system.
SparseRank renamed(const System& system, const System::Selection& parts, SparseRank r) {
  std::vector<Index> coordinate, row;
  for (const std::size_t i : parts.bodies)
    for (Index j = 0; j < system.bodies()[i].size; ++j) coordinate.push_back(system.bodies()[i].first + j);
  for (const std::size_t i : parts.constraints)
    for (Index j = 0; j < system.constraints()[i].rows; ++j) row.push_back(system.constraints()[i].row + j);
  const auto rename = [](SparseList& x, const std::vector<Index>& to) {
    for (auto& entry : x) entry.i = to[static_cast<std::size_t>(entry.i)];
  };
  for (auto& x : r.N) rename(x, coordinate);
  for (auto& x : r.shares) rename(x, coordinate);
  for (auto& mass : r.doubtful_masses)
    mass.coordinate = static_cast<int>(coordinate[static_cast<std::size_t>(mass.coordinate)]);
  for (auto& s : r.redundant) rename(s.y, row), s.row = row[static_cast<std::size_t>(s.row)];
  rename(r.nearly, row);
  return r;
}

}  // namespace

SparseRank rank_of(const System& system, const Evaluation& e, const System::Selection& parts,
                   const RankOptions& options) {
  return renamed(system, parts, sparse_rank(sparse_equations(system, e, parts), options));
}

SparseRank rank_of(const System& system, const Evaluation& e, const RankOptions& options) {
  return rank_of(system, e, system.all(), options);
}

SparseRank rank_without(const System& system, const Evaluation& e, const std::vector<Index>& rows,
                        const RankOptions& options) {
  SparseEquations eq = sparse_equations(system, e, system.all());
  for (const Index i : rows) {
    for (SparseRows::InnerIterator x(eq.A, i); x; ++x) x.valueRef() = 0;
    eq.b[i] = eq.b_size[i] = 0;
  }
  eq.A.prune([](Index, Index, double x) { return x != 0; });
  return sparse_rank(eq, options);
}

}  // namespace mortise
