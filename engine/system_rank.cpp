#include <mortise/engine/system_rank.h>

#include <algorithm>
#include <vector>

namespace mortise {

SparseEquations sparse_equations(const System& system, const Evaluation& e, const System::Selection& parts) {
  system.require_own(e);
  Index n = 0, m = 0, k = 0;
  std::vector<Index> first(system.bodies().size(), 0);
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
    for (const auto& [coordinate, counts, pivot] : massless.doubtful)
      out.doubtful.push_back({static_cast<int>(at) + coordinate, counts, pivot});
    int last = group;
    for (const int g : b.model->groups()) out.groups.push_back(group + g), last = std::max(last, group + g + 1);
    group = last;
  }
  out.N0 = SparseRows(n, k);
  out.N0.setFromTriplets(null.begin(), null.end());
  Index row = 0;
  for (const std::size_t i : parts.constraints) {
    const auto& c = system.constraints()[i];
    for (std::size_t x = 0; x < c.bodies.size(); ++x) {
      const auto A = e.A(c.block + x);
      for (Index j = 0; j < A.cols(); ++j)
        for (Index r = 0; r < c.rows; ++r)
          if (A(r, j) != 0) slopes.emplace_back(row + r, first[c.bodies[x]] + j, A(r, j));
    }
    out.b.segment(row, c.rows) = e.b.segment(c.row, c.rows);
    out.b_size.segment(row, c.rows) = system.size_of_b(e, c);
    row += c.rows;
  }
  out.A.setFromTriplets(slopes.begin(), slopes.end());
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
