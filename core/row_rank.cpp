#include <mortise/core/row_rank.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>

#include <mortise/core/components.h>
#include <mortise/core/decompositions.h>
#include <mortise/core/errors.h>
#include <mortise/core/sparse_factor.h>

namespace mortise {
namespace {

constexpr double delta = 1e-13;        // of the largest diagonal entry of X X': above its round-off
constexpr double small_pivot = 1e-8;   // the same: pivots below may belong to singular values below 1e-4
constexpr double round_off = 1e-13;    // of the largest entry of a vector: this row has no part in it
constexpr double told = 1e-9;          // the same, for those who read the sets
constexpr int probes = 4;              // vectors of an inverse iteration
constexpr Index small_part_told = 64;  // rows of a part that is decomposed if there is something to tell

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

SparseList entries_of(const VectorXd& x, const std::vector<Index>& rows) {
  SparseList out;
  for (Index i = 0; i < x.size(); ++i)
    if (x[i] != 0) out.push_back({rows[at(i)], x[i]});
  return out;
}

std::vector<Index> numbered(const std::vector<std::size_t>& x) { return {x.begin(), x.end()}; }

// Some rows of X as they stand, without columns that none of them touches.
SparseRows part_of(const SparseRows& X, const std::vector<Index>& rows) {
  std::vector<Index> columns;
  for (const Index i : rows)
    for (SparseRows::InnerIterator x(X, i); x; ++x) columns.push_back(x.col());
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (SparseRows::InnerIterator x(X, rows[r]); x; ++x)
      entries.emplace_back(static_cast<Index>(r),
                           std::lower_bound(columns.begin(), columns.end(), x.col()) - columns.begin(), x.value());
  SparseRows out(static_cast<Index>(rows.size()), static_cast<Index>(columns.size()));
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

class Judge {
 public:
  Judge(const SparseRows& X, double zero, double doubtful, Index small)
      : X_(X), zero_(zero), doubtful_(doubtful), small_(small) {}

  // A part: rows that share no column with others.  By the bounds a healthy one costs less; what there is to tell of
  // one that is not large is told by its singular vectors, which do not depend on how it was found.
  void part(const std::vector<Index>& rows) {
    const auto size = static_cast<Index>(rows.size());
    if (size <= std::max<Index>(small_, 1)) return note_all(decompose(rows, true));
    const auto before = std::tuple(out_.sets.size(), all_known_, out_.kept, out_.weakest, out_.dropped);
    large(rows);
    const bool healthy = out_.sets.size() == std::get<0>(before) && !(out_.kept && *out_.kept <= doubtful_);
    if (healthy || size > small_part_told || small_ != small_part) return;
    out_.sets.erase(out_.sets.begin() + static_cast<std::ptrdiff_t>(std::get<0>(before)), out_.sets.end());
    std::tie(std::ignore, all_known_, out_.kept, out_.weakest, out_.dropped) = before;
    note_all(decompose(rows, true));
  }

  RowRank result() {
    for (RowRank::Set& s : out_.sets) {
      double largest = 0;
      for (const auto& e : s.y) largest = std::max(largest, std::abs(e.value));
      std::erase_if(s.y, [&](const auto& e) { return std::abs(e.value) < told * largest; });
    }
    out_.rank = X_.rows() - static_cast<Index>(out_.sets.size());
    std::sort(out_.sets.begin(), out_.sets.end(), [](const auto& a, const auto& b) { return a.row < b.row; });
    if (all_known_) {
      std::sort(values_.begin(), values_.end(), std::greater<>());
      out_.values = VectorXd::Map(values_.data(), static_cast<Index>(values_.size()));
    }
    return std::move(out_);
  }

 private:
  void keep(double value, SparseList vector) {
    if (out_.kept && value >= *out_.kept) return;
    out_.kept = value;
    out_.weakest = std::move(vector);
  }
  void drop(double value) { out_.dropped = std::max(out_.dropped.value_or(0), value); }
  void note_sets(const MatrixXd& null, const std::vector<Index>& rows) {
    const ShortBasis sets(null, round_off);
    for (Index k = 0; k < sets.X.cols(); ++k)
      out_.sets.push_back({entries_of(sets.X.col(k), rows), rows[at(sets.pivots[at(k)])]});
  }

  // By their singular values; whether there are sets among them.  whole: they are all there is of a part.
  VectorXd decompose(const std::vector<Index>& rows, bool whole) {
    const Svd svd{MatrixXd(part_of(X_, rows))};
    const auto m = static_cast<Index>(rows.size());
    VectorXd values = VectorXd::Zero(m);
    values.head(std::min(m, svd.s.size())) = svd.s.head(std::min(m, svd.s.size()));
    const Index rank = (values.array() > zero_).count();
    if (rank < m) drop(values[rank]), note_sets(svd.left_null_space(rank), rows);
    if (rank > 0 && whole) keep(values[rank - 1], entries_of(svd.U.col(rank - 1), rows));
    return values;
  }
  void note_all(const VectorXd& values) { values_.insert(values_.end(), values.begin(), values.end()); }

  void large(const std::vector<Index>& rows);
  void gather(const SparseRows& X, const std::vector<Index>& rows, std::size_t first_set,
              std::vector<VectorXd> vectors);

  const SparseRows& X_;
  const double zero_, doubtful_;
  const Index small_;
  RowRank out_;
  std::vector<double> values_;
  bool all_known_ = true;
};

// |X'y| for orthonormal y in the span of the columns of Y, ascending, and these y.
struct Ritz {
  VectorXd values;
  MatrixXd vectors;

  Ritz(const SparseRows& X, const MatrixXd& Y) {
    const MatrixXd Q = orthonormal_basis(Y);
    const Svd svd(upper_triangle(X.transpose() * Q));
    values = VectorXd::Zero(Y.cols());
    values.tail(svd.s.size()) = svd.s.reverse();
    vectors = Q * svd.V.rowwise().reverse();
  }
};

// Takes what lies in the span of sparse vectors, independent of each other, out of others.
class Deflation {
 public:
  Deflation(const std::vector<RowRank::Set>& sets, std::size_t first, const std::vector<Index>& rows)
      : Y_(static_cast<Index>(rows.size()), static_cast<Index>(sets.size() - first)) {
    std::vector<Eigen::Triplet<double>> entries;
    for (std::size_t k = first; k < sets.size(); ++k)
      for (const auto& [i, value] : sets[k].y)
        entries.emplace_back(place(rows, i), static_cast<Index>(k - first), value);
    Y_.setFromTriplets(entries.begin(), entries.end());
    if (Y_.cols() > 0) factor_.compute(Eigen::SparseMatrix<double>(Y_.transpose() * Y_));
  }
  static Index place(const std::vector<Index>& rows, Index i) {
    return std::lower_bound(rows.begin(), rows.end(), i) - rows.begin();
  }
  MatrixXd operator()(MatrixXd x) const {
    for (int pass = 0; pass < 2 && Y_.cols() > 0; ++pass) x -= Y_ * factor_.solve(MatrixXd(Y_.transpose() * x));
    return x;
  }

 private:
  Eigen::SparseMatrix<double> Y_;
  SparseFactor factor_;
};

void Judge::large(const std::vector<Index>& rows) {
  all_known_ = false;
  const auto m = static_cast<Index>(rows.size());
  const std::size_t first_set = out_.sets.size();
  const SparseRows X = part_of(X_, rows);
  Eigen::SparseMatrix<double> G = X * X.transpose();
  const double size = G.diagonal().maxCoeff();
  for (Index i = 0; i < m; ++i) G.coeffRef(i, i) += delta * size;
  SparseFactor factor;
  if (!std::isfinite(size) || !factor.compute(G))
    throw NotDetermined("matrix", "A", "its rows could not be decomposed",
                        "check that all entries are of ordinary size");

  // Vectors of small pivots, made clean by inverse iteration: y - (X X' + delta)^-1 X X'y, which loses no digits.
  std::vector<VectorXd> found;
  for (Index k = 0; k < m; ++k) {
    if (factor.pivots()[k] > small_pivot * size) continue;
    VectorXd y = factor.along(k);
    for (int i = 0; i < 2; ++i) {
      y /= y.norm();
      y -= factor.solve(VectorXd(X * (X.transpose() * y)));
    }
    if ((X.transpose() * y).norm() <= doubtful_ * y.norm()) found.push_back(y / y.norm());
  }
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (bool first = true;; first = false) {
    const std::size_t before = out_.sets.size();
    if (!found.empty()) gather(X, rows, first_set, std::move(found));
    const bool stuck = !first && out_.sets.size() <= before;
    // Is there another?
    constexpr int most = 12;
    const Deflation rest(out_.sets, first_set, rows);
    const Index others = std::min<Index>(probes, m - static_cast<Index>(out_.sets.size() - first_set));
    if (others == 0) return;
    MatrixXd Y = rest(MatrixXd::NullaryExpr(m, others, [&] { return uniform(random); }));
    std::optional<Ritz> ritz;
    for (int i = 0; i < most; ++i) {
      const double last = ritz ? ritz->values[0] : 0;
      ritz.emplace(X, rest(factor.solve(Y)));
      Y = ritz->vectors;
      if (i > 0 && std::abs(ritz->values[0] - last) <= 0.01 * last) break;
    }
    found.clear();
    for (Index k = 0; k < others && ritz->values[k] <= zero_; ++k) found.push_back(ritz->vectors.col(k));
    if (found.empty() || stuck) {
      keep(std::max(ritz->values[0], std::nextafter(zero_, 1.0)), entries_of(ritz->vectors.col(0), rows));
      return;
    }
  }
}

// Vectors that share rows belong together; what they say is found from these rows alone.
void Judge::gather(const SparseRows& X, const std::vector<Index>& rows, std::size_t first_set,
                   std::vector<VectorXd> vectors) {
  const auto m = static_cast<Index>(rows.size());
  std::vector<RowRank::Set> old(out_.sets.begin() + static_cast<std::ptrdiff_t>(first_set), out_.sets.end());
  out_.sets.resize(first_set);
  for (const RowRank::Set& s : old) {
    VectorXd y = VectorXd::Zero(m);
    for (const auto& [i, value] : s.y) y[Deflation::place(rows, i)] = value;
    vectors.push_back(std::move(y));
  }
  Components groups(vectors.size());
  std::vector<std::size_t> seen(at(m), vectors.size());
  std::vector<std::vector<Index>> support(vectors.size());
  for (std::size_t k = 0; k < vectors.size(); ++k) {
    const double cut = round_off * vectors[k].cwiseAbs().maxCoeff();
    for (Index i = 0; i < m; ++i) {
      if (std::abs(vectors[k][i]) <= cut) continue;
      support[k].push_back(i);
      if (seen[at(i)] == vectors.size()) seen[at(i)] = k;
      groups.join(seen[at(i)], k);
    }
  }
  for (const auto& group : groups.parts()) {
    std::vector<Index> members, names;
    for (const std::size_t k : group) members.insert(members.end(), support[k].begin(), support[k].end());
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    for (const Index i : members) names.push_back(rows[at(i)]);
    if (static_cast<Index>(members.size()) <= small_) {
      (void)decompose(names, false);
      continue;
    }
    MatrixXd span(m, static_cast<Index>(group.size()));
    for (std::size_t k = 0; k < group.size(); ++k) span.col(static_cast<Index>(k)) = vectors[group[k]];
    const Ritz ritz(X, span);
    const Index none = (ritz.values.array() <= zero_).count();
    if (none == 0) continue;
    drop(ritz.values[none - 1]);
    note_sets(ritz.vectors.leftCols(none)(members, Eigen::all), names);
  }
}

}  // namespace

RowRank row_rank(const SparseRows& X, double zero, double doubtful, Index small) {
  Components parts(static_cast<std::size_t>(X.rows()));
  std::vector<Index> first(static_cast<std::size_t>(X.cols()), -1);
  for (Index i = 0; i < X.outerSize(); ++i)
    for (SparseRows::InnerIterator x(X, i); x; ++x) {
      if (x.value() == 0) continue;
      Index& f = first[static_cast<std::size_t>(x.col())];
      if (f < 0) f = i;
      parts.join(static_cast<std::size_t>(f), static_cast<std::size_t>(i));
    }
  Judge judge(X, zero, doubtful, small);
  for (const auto& rows : parts.parts()) judge.part(numbered(rows));
  return judge.result();
}

}  // namespace mortise
