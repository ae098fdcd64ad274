#include <mortise/core/rank.h>

#include <algorithm>
#include <cmath>

#include <mortise/core/scaling.h>
#include <mortise/core/sparse_rank.h>

namespace mortise {
namespace {

void require_vector(const VectorXd& x, Index size, const std::string& name, const std::string& expected) {
  const Label label{"vector", name};
  if (x.size() != size)
    label.fail<WrongSize>(fmt::format("has {} entries", x.size()), fmt::format("give {} ({})", size, expected));
  for (Index i = 0; i < size; ++i)
    if (!std::isfinite(x[i])) label.fail<NonFinite>(fmt::format("entry {} is {}", i, x[i]), "give finite numbers");
}

Massless massless_of(const Equations& e) {
  if (e.massless) return *e.massless;
  const Label label{"matrix", "M"};
  if (e.blocks.empty()) return massless_directions(e.M, label);
  std::vector<Massless> blocks;
  Index first = 0;
  for (const int size : e.blocks) {
    blocks.push_back(massless_directions(e.M.block(first, first, size, size), label));
    first += size;
  }
  return stack(blocks);
}

}  // namespace

void require_valid(const Equations& e) {
  const Index n = e.M.rows(), m = e.A.rows();
  require_symmetric(e.M, {"matrix", "M"});
  require_vector(e.Q, n, "Q", "one per coordinate");
  if (e.A.cols() != n)
    Label{"matrix", "A"}.fail<WrongSize>(fmt::format("is {} x {}", m, e.A.cols()),
                                         fmt::format("give {} columns, one per coordinate", n));
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < m; ++i)
      if (!std::isfinite(e.A(i, j)))
        Label{"matrix", "A"}.fail<NonFinite>(fmt::format("entry ({}, {}) is {}", i, j, e.A(i, j)),
                                             "give finite numbers");
  require_vector(e.b, m, "b", "one per row of A");
  if (e.b_size.size() > 0) require_vector(e.b_size, m, "b_size", "one per row of A");
  if (e.C.size() > 0) require_vector(e.C, n, "C", "one per coordinate");
  Index covered = 0;
  for (const int size : e.blocks) {
    if (size < 1)
      Label{"list", "blocks"}.fail<WrongSize>(fmt::format("has a block of size {}", size), "give sizes >= 1");
    covered += size;
  }
  if (!e.blocks.empty() && covered != n)
    Label{"list", "blocks"}.fail<WrongSize>(fmt::format("the block sizes add up to {}", covered),
                                            fmt::format("they must add up to {}, the size of M", n));
  Index first = 0;
  for (const int size : e.blocks) {
    const auto below = e.M.block(first + size, first, n - first - size, size);
    if (!below.isZero(0))
      Label{"matrix", "M"}.fail<InvalidMass>(
          fmt::format("has an entry {} outside the diagonal block of coordinates {} to {}", below.cwiseAbs().maxCoeff(),
                      first, first + size - 1),
          "give the blocks of this M, or none");
    first += size;
  }
  if (!e.groups.empty() && static_cast<Index>(e.groups.size()) != n)
    Label{"list", "groups"}.fail<WrongSize>(fmt::format("has {} entries", e.groups.size()),
                                            fmt::format("give {} (one per coordinate)", n));
  for (const int group : e.groups)
    if (group < 0) Label{"list", "groups"}.fail<InvalidModel>(fmt::format("has the number {}", group), "number from 0");
  if (e.massless &&
      (e.massless->N0.rows() != n || e.massless->N0.cols() != static_cast<Index>(e.massless->pivot.size())))
    Label{"basis", "massless"}.fail<WrongSize>(fmt::format("is {} x {} with {} pivots", e.massless->N0.rows(),
                                                           e.massless->N0.cols(), e.massless->pivot.size()),
                                               fmt::format("give {} rows and one pivot per column", n));
  if (e.massless) {
    if (!e.massless->N0.allFinite())
      Label{"basis", "massless"}.fail<NonFinite>("has an entry that is NaN or Inf", "give finite numbers");
    for (const int pivot : e.massless->pivot)
      if (pivot < 0 || pivot >= n)
        Label{"basis", "massless"}.fail<InvalidModel>(fmt::format("has the pivot {}", pivot),
                                                      fmt::format("give coordinates from 0 to {}", n - 1));
  }
}

bool Rank::consistent() const {
  return std::all_of(redundant.begin(), redundant.end(), [](const RowSet& s) { return s.consistent; });
}

bool Rank::unique_reaction(Index row) const {
  if (row < 0 || row >= m)
    Label{"row", std::to_string(row)}.fail<InvalidModel>("there is none of this number",
                                                         fmt::format("there are {}, from 0", m));
  return std::all_of(redundant.begin(), redundant.end(), [&](const RowSet& s) { return s.y[row] == 0; });
}

Rank numerical_rank(const Equations& e, const RankOptions& options) {
  require_valid(e);
  const Index n = e.M.rows();
  const Massless massless = massless_of(e);
  const VectorXd C = e.C.size() > 0 ? e.C : VectorXd::Zero(n);
  return in_dense_form(sparse_rank({.mass = e.M.diagonal(),
                                    .force = e.Q.cwiseAbs() + C.cwiseAbs(),
                                    .A = e.A.sparseView(0, 0),
                                    .b = e.b,
                                    .b_size = e.b_size.size() > 0 ? e.b_size : VectorXd::Zero(e.A.rows()),
                                    .N0 = massless.N0.sparseView(0, 0),
                                    .pivot = massless.pivot,
                                    .groups = e.groups.empty() ? separate_groups(n) : e.groups},
                                   options),
                       options);
}

}  // namespace mortise
