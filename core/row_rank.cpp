#include <mortise/core/row_rank.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>
#include <utility>

#include <mortise/core/components.h>
#include <mortise/core/decompositions.h>
#include <mortise/core/errors.h>
#include <mortise/core/sparse_factor.h>
#include <mortise/core/tolerances.h>

namespace mortise {
namespace {

using tolerance::gram_shift, tolerance::gram_hides, tolerance::gram_pivot, tolerance::no_part, tolerance::told_part,
    tolerance::rough_part;

constexpr Index probes = 4;  // vectors of the smallest values that are looked at

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

  // A part: rows that share no column with others.
  void part(const std::vector<Index>& rows) {
    const auto size = static_cast<Index>(rows.size());
    if (size == 1) return values_.push_back(single(rows[0]));
    if (size <= small_) return note_all(decompose(rows, true));
    large(rows);
  }

  RowRank result() {
    for (RowRank::Set& s : out_.sets) {
      double largest = 0;
      for (const auto& e : s.y) largest = std::max(largest, std::abs(e.value));
      std::erase_if(s.y, [&](const auto& e) { return std::abs(e.value) < told_part * largest; });
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
    const ShortBasis sets(null, no_part);
    for (Index k = 0; k < sets.X.cols(); ++k)
      out_.sets.push_back({entries_of(sets.X.col(k), rows), rows[at(sets.pivots[at(k)])]});
  }

  // By their singular values; whether there are sets among them.  whole: they are all there is of a part.
  VectorXd decompose(const std::vector<Index>& rows, bool whole) {
    const auto m = static_cast<Index>(rows.size());
    MatrixXd X = part_of(X_, rows);
    if (X.cols() > m) X = upper_triangle(X.transpose()).transpose().eval();  // its left singular vectors are these
    const Svd svd{X};
    VectorXd values = VectorXd::Zero(m);
    values.head(std::min(m, svd.s.size())) = svd.s.head(std::min(m, svd.s.size()));
    const Index rank = (values.array() > zero_).count();
    if (rank < m) drop(values[rank]), note_sets(svd.left_null_space(rank), rows);
    if (rank > 0 && whole) keep(values[rank - 1], entries_of(svd.U.col(rank - 1), rows));
    return values;
  }
  double single(Index row) {
    double square = 0;
    for (SparseRows::InnerIterator x(X_, row); x; ++x) square += x.value() * x.value();
    const double value = std::sqrt(square);
    const SparseList alone{{row, 1}};
    if (value > zero_) return keep(value, alone), value;
    drop(value);
    out_.sets.push_back({alone, row});
    return value;
  }
  void note_all(const VectorXd& values) { values_.insert(values_.end(), values.begin(), values.end()); }

  void large(const std::vector<Index>& rows);
  std::vector<VectorXd> by_pivots(const SparseRows& X, const std::vector<Index>& rows, const SparseFactor& factor,
                                  double size);
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

// What the small pivots of X X' + shift say: each row is a combination of others, most of it of few.  Combinations that
// share rows are found from these rows alone; what they do not settle is left over, made clean.
std::vector<VectorXd> Judge::by_pivots(const SparseRows& X, const std::vector<Index>& rows, const SparseFactor& factor,
                                       double size) {
  const Index m = X.rows();
  std::vector<Index> pivots;
  std::vector<bool> small(at(m), false);
  for (Index k = 0; k < m; ++k)
    if (factor.pivots()[k] <= gram_pivot * size) pivots.push_back(k), small[at(k)] = true;
  std::vector<std::vector<SparseFactor::Entry>> combinations;
  Components groups(pivots.size());
  std::vector<std::size_t> seen(pivots.empty() ? 0 : at(m), pivots.size());
  for (std::size_t k = 0; k < pivots.size(); ++k) {
    auto& y = combinations.emplace_back(factor.along(pivots[k], small));
    double largest = 0;
    for (const auto& [i, value] : y) largest = std::max(largest, std::abs(value));
    std::erase_if(y, [&](const auto& e) { return std::abs(e.value) <= rough_part * largest; });
    for (const auto& [i, value] : y) {
      if (seen[at(i)] == pivots.size()) seen[at(i)] = k;
      groups.join(seen[at(i)], k);
    }
  }
  std::vector<VectorXd> left;
  for (const auto& group : groups.parts()) {
    std::vector<Index> members;
    for (const std::size_t k : group)
      for (const auto& [i, value] : combinations[k]) members.push_back(rows[at(i)]);
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    if (static_cast<Index>(members.size()) <= small_) {
      const auto before = std::pair(out_.sets.size(), out_.dropped);
      (void)decompose(members, false);
      if (out_.sets.size() - before.first == group.size()) continue;
      out_.sets.erase(out_.sets.begin() + static_cast<std::ptrdiff_t>(before.first), out_.sets.end());
      out_.dropped = before.second;
    }
    for (const std::size_t k : group) {
      VectorXd y = VectorXd::Zero(m);
      for (const auto& [i, value] : combinations[k]) y[i] = value;
      // By inverse iteration:  y - (X X' + shift)^-1 X X'y, which loses no digits.
      for (int i = 0; i < 2; ++i) {
        y /= y.norm();
        y -= factor.solve(VectorXd(X * (X.transpose() * y)));
      }
      if ((X.transpose() * y).norm() <= doubtful_ * y.norm()) left.push_back(y / y.norm());
    }
  }
  return left;
}

// X X' + shift, its lower triangle.
Eigen::SparseMatrix<double> shifted_gram(const SparseRows& X, double shift) {
  const Index m = X.rows();
  const Eigen::SparseMatrix<double> columns = X;
  Eigen::SparseMatrix<double> G(m, m);
  G.reserve(4 * X.nonZeros() / 3);
  std::vector<double> sum(at(m), 0);
  std::vector<Index> last(at(m), -1), touched;
  for (Index i = 0; i < m; ++i) {
    touched.assign(1, i);
    last[at(i)] = i;
    sum[at(i)] = 0;
    for (SparseRows::InnerIterator x(X, i); x; ++x) {
      const int *begin = columns.innerIndexPtr() + columns.outerIndexPtr()[x.col()],
                *end = columns.innerIndexPtr() + columns.outerIndexPtr()[x.col() + 1];
      const double* value = columns.valuePtr() + (end - columns.innerIndexPtr());
      while (end != begin && *--end >= i) {
        --value;
        if (last[at(*end)] != i) last[at(*end)] = i, sum[at(*end)] = 0, touched.push_back(*end);
        sum[at(*end)] += x.value() * *value;
      }
    }
    std::sort(touched.begin(), touched.end());
    G.startVec(i);
    for (const Index j : touched) G.insertBack(j, i) = sum[at(j)] + (i == j ? shift : 0);
  }
  G.finalize();
  return G;
}

// The smallest singular values of X' beside the sets, by Lanczos' method with (X X' + shift)^-1 from a random start:
// eigenvalues of that, and their vectors.
struct Smallest {
  std::vector<VectorXd> basis;
  SymmetricEigen eigen;

  double largest() const { return eigen.values[eigen.values.size() - 1]; }
  MatrixXd nearest(Index count) const {
    count = std::min(count, eigen.values.size());
    MatrixXd Y = MatrixXd::Zero(basis[0].size(), count);
    for (std::size_t k = 0; k < basis.size(); ++k)
      Y += basis[k] * eigen.vectors.row(static_cast<Index>(k)).tail(count).reverse();
    return Y;
  }
};

template <class Solve>
Smallest smallest_of(const SparseRows& X, const Deflation& rest, Index others, const Solve& solve) {
  constexpr Index most = 24, least = 6;
  constexpr int calm = 2;        // steps in a row that change little, since the start may have hardly any of a vector
  constexpr double same = 0.02;  // of an eigenvalue, which is 1 over the square of a singular value
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const Index steps = std::min(most, others);
  MatrixXd T = MatrixXd::Zero(steps, steps);
  std::vector<VectorXd> V;
  VectorXd v = rest(MatrixXd::NullaryExpr(X.rows(), 1, [&] { return uniform(random); }));
  std::optional<SymmetricEigen> eigen;
  double last = 0;
  int still = 0;
  for (Index k = 0;; ++k) {
    V.push_back(v / v.norm());
    v = rest(solve(V.back()));
    const double size = v.norm();
    for (int pass = 0; pass < 2; ++pass)
      for (const VectorXd& u : V) {
        const double along = u.dot(v);
        v -= along * u;
        if (&u == &V.back()) T(k, k) += along;
      }
    const double left = v.norm();
    eigen.emplace(T.topLeftCorner(k + 1, k + 1));
    const double now = eigen->values[k];
    still = now - last <= same * now ? still + 1 : 0;
    if (k + 1 == steps || !(left > tolerance::krylov_space * size) || (k + 1 >= least && still >= calm)) break;
    last = now;
    T(k, k + 1) = T(k + 1, k) = left;
  }
  return {std::move(V), std::move(*eigen)};
}

void Judge::large(const std::vector<Index>& rows) {
  all_known_ = false;
  const auto m = static_cast<Index>(rows.size());
  const std::size_t first_set = out_.sets.size();
  const bool whole = m == X_.rows();
  const SparseRows part = whole ? SparseRows() : part_of(X_, rows), &X = whole ? X_ : part;
  double size = 0;
  for (Index i = 0; i < m; ++i) size = std::max(size, X.row(i).squaredNorm());
  const double shift = gram_shift * size;
  SparseFactor factor;
  if (!std::isfinite(size) || !factor.compute(shifted_gram(X, shift)))
    throw NotDetermined("matrix", "A", "its rows could not be decomposed",
                        "check that all entries are of ordinary size");
  std::vector<VectorXd> found = by_pivots(X, rows, factor, size);
  for (bool first = true;; first = false) {
    const std::size_t before = out_.sets.size();
    if (!found.empty()) gather(X, rows, first_set, std::move(found));
    const bool stuck = !first && out_.sets.size() <= before;
    // Is there another?
    const Index others = m - static_cast<Index>(out_.sets.size() - first_set);
    if (others == 0) return;
    const Deflation rest(out_.sets, first_set, rows);
    const Smallest next = smallest_of(X, rest, others, [&](const VectorXd& y) { return factor.solve(y); });
    if (next.largest() * shift < gram_hides)
      if (const double value = (X.transpose() * next.nearest(1)).norm(); value > doubtful_) return keep(value, {});
    // As small as the shift, or nearly: it has cost the digits of the vectors, which come back by inverse iteration.
    MatrixXd Y = next.nearest(probes);
    for (int i = 0; i < 2; ++i) Y = orthonormal_basis(rest(factor.solve(Y)));
    const Ritz ritz(X, Y);
    if (ritz.values[0] > doubtful_) return keep(ritz.values[0], {});
    found.clear();
    for (Index k = 0; k < ritz.values.size() && ritz.values[k] <= zero_; ++k) found.push_back(ritz.vectors.col(k));
    if (found.empty() || stuck) {
      keep(std::max(ritz.values[0], std::nextafter(zero_, 1.0)), entries_of(ritz.vectors.col(0), rows));
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
    const double cut = no_part * vectors[k].cwiseAbs().maxCoeff();
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
