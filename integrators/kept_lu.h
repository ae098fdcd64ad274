#pragma once
// KeptLU: the LU decomposition of a sparse matrix that is factored again and again with other values.
//
// The order of columns is found once, from the pattern; that of pivots with the first values, by partial pivoting. Both
// are kept, and with them the pattern of L and U, so that factoring again is arithmetic alone; until a pivot is small
// beside what it divides: then pivots are chosen anew.
// J. R. Gilbert, T. Peierls, SIAM J. Sci. Stat. Comput. 9 (1988) 862-874; T. A. Davis, E. Palamadai Natarajan, ACM
// Trans. Math. Softw. 37 (2010) 36 (KLU).

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>

#include <mortise/core/types.h>

#pragma GCC visibility push(hidden)
namespace mortise {

namespace lu {

// By their parts: what the standard asks of products of infinities costs several times as much.
inline double times(double a, double b) { return a * b; }
inline std::complex<double> times(const std::complex<double>& a, const std::complex<double>& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
inline double squared(double a) { return a * a; }
inline double squared(const std::complex<double>& a) { return std::norm(a); }

}  // namespace lu

template <class S> class KeptLU {
 public:
  void analyse(const Eigen::SparseMatrix<double>& pattern);  // compressed; its values do not matter
  // Values in the order of the pattern.  False: it is singular.
  bool factor(const std::vector<S>& values);
  void solve(Vec<S, dynamic>& x) const;  // in place

 private:
  using Number = int;
  struct Triangle {  // by columns; rows are numbered as their pivots are
    std::vector<Number> from, row;
    std::vector<S> value;
  };
  bool choose_pivots(const std::vector<S>& values);
  bool repeat(const std::vector<S>& values);
  void reach(Number row, Number column);

  Number n_ = 0;
  bool chosen_ = false;
  std::vector<Number> outer_, inner_;  // of the pattern
  std::vector<Number> order_;          // the column that is eliminated when
  std::vector<Number> pivot_;          // of each row: when it is the pivot; -1: not yet
  std::vector<Number> in_row_;         // how many entries a row of the pattern has
  Triangle lower_, upper_;             // less their diagonals
  std::vector<S> diagonal_;
  std::vector<S> work_;
  std::vector<Number> seen_, found_, stack_, next_;
  mutable Vec<S, dynamic> turned_;
};

template <class S> void KeptLU<S>::analyse(const Eigen::SparseMatrix<double>& pattern) {
  n_ = static_cast<Number>(pattern.rows());
  outer_.assign(pattern.outerIndexPtr(), pattern.outerIndexPtr() + n_ + 1);
  inner_.assign(pattern.innerIndexPtr(), pattern.innerIndexPtr() + pattern.nonZeros());
  Eigen::PermutationMatrix<dynamic, dynamic, int> order(n_);
  if (n_ > 0) Eigen::COLAMDOrdering<int>()(pattern, order);
  order_.resize(static_cast<std::size_t>(n_));
  for (Number j = 0; j < n_; ++j) order_[static_cast<std::size_t>(order.indices()[j])] = j;
  in_row_.assign(static_cast<std::size_t>(n_), 0);
  for (const Number i : inner_) ++in_row_[static_cast<std::size_t>(i)];
  work_.assign(static_cast<std::size_t>(n_), S(0));
  chosen_ = false;
}

template <class S> bool KeptLU<S>::factor(const std::vector<S>& values) {
  if (chosen_ && repeat(values)) return true;
  chosen_ = choose_pivots(values);
  return chosen_;
}

// Rows that eliminating this column changes, from one of its rows on: those of pivots before come last.
template <class S> void KeptLU<S>::reach(Number row, Number column) {
  stack_.assign(1, row);
  next_.clear();
  while (!stack_.empty()) {
    const auto i = static_cast<std::size_t>(stack_.back());
    const Number p = pivot_[i];
    if (next_.size() < stack_.size()) {
      if (seen_[i] == column) {
        stack_.pop_back();
        continue;
      }
      seen_[i] = column;
      next_.push_back(p < 0 ? 0 : lower_.from[static_cast<std::size_t>(p)]);
    }
    bool deeper = false;
    for (Number& k = next_.back(); p >= 0 && k < lower_.from[static_cast<std::size_t>(p) + 1];) {
      const Number r = lower_.row[static_cast<std::size_t>(k++)];
      if (seen_[static_cast<std::size_t>(r)] == column) continue;
      stack_.push_back(r);
      deeper = true;
      break;
    }
    if (deeper) continue;
    found_.push_back(stack_.back());
    stack_.pop_back();
    next_.pop_back();
  }
}

template <class S> bool KeptLU<S>::choose_pivots(const std::vector<S>& values) {
  constexpr double enough = 0.01;  // of the largest, squared: pivots in rows with few entries fill less
  const auto size = static_cast<std::size_t>(n_);
  pivot_.assign(size, -1);
  seen_.assign(size, -1);
  diagonal_.resize(size);
  for (Triangle* t : {&lower_, &upper_}) t->from.assign(1, 0), t->row.clear(), t->value.clear();
  bool regular = true;
  for (Number k = 0; k < n_ && regular; ++k) {
    const auto column = static_cast<std::size_t>(order_[static_cast<std::size_t>(k)]);
    found_.clear();
    for (Number e = outer_[column]; e < outer_[column + 1]; ++e) {
      const Number i = inner_[static_cast<std::size_t>(e)];
      if (seen_[static_cast<std::size_t>(i)] != k) reach(i, k);
      work_[static_cast<std::size_t>(i)] += values[static_cast<std::size_t>(e)];
    }
    double largest = 0;
    for (auto it = found_.rbegin(); it != found_.rend(); ++it) {
      const auto i = static_cast<std::size_t>(*it);
      if (pivot_[i] < 0) continue;
      const S u = work_[i];
      const auto p = static_cast<std::size_t>(pivot_[i]);
      for (Number e = lower_.from[p]; e < lower_.from[p + 1]; ++e)
        work_[static_cast<std::size_t>(lower_.row[static_cast<std::size_t>(e)])] -=
            lu::times(lower_.value[static_cast<std::size_t>(e)], u);
      upper_.row.push_back(pivot_[i]);
      upper_.value.push_back(u);
      work_[i] = S(0);
    }
    for (const Number i : found_)
      if (pivot_[static_cast<std::size_t>(i)] < 0)
        largest = std::max(largest, lu::squared(work_[static_cast<std::size_t>(i)]));
    regular = largest > 0 && std::isfinite(largest);
    Number best = -1;
    for (const Number i : found_) {
      const auto r = static_cast<std::size_t>(i);
      if (regular && pivot_[r] < 0 && lu::squared(work_[r]) >= enough * largest &&
          (best < 0 || in_row_[r] < in_row_[static_cast<std::size_t>(best)]))
        best = i;
    }
    const S pivot = regular ? work_[static_cast<std::size_t>(best)] : S(1), over = S(1) / pivot;
    diagonal_[static_cast<std::size_t>(k)] = over;
    for (const Number i : found_) {
      const auto r = static_cast<std::size_t>(i);
      if (pivot_[r] >= 0) continue;
      if (i != best && regular) {
        lower_.row.push_back(i);
        lower_.value.push_back(lu::times(work_[r], over));
      }
      work_[r] = S(0);
    }
    if (regular) pivot_[static_cast<std::size_t>(best)] = k;
    lower_.from.push_back(static_cast<Number>(lower_.row.size()));
    upper_.from.push_back(static_cast<Number>(upper_.row.size()));
  }
  if (!regular) return false;
  for (Number& i : lower_.row) i = pivot_[static_cast<std::size_t>(i)];
  // In the order of elimination, for repeat().
  std::vector<std::pair<Number, S>> entries;
  for (Triangle* t : {&lower_, &upper_})
    for (std::size_t k = 0; k < size; ++k) {
      entries.clear();
      const auto first = static_cast<std::size_t>(t->from[k]), last = static_cast<std::size_t>(t->from[k + 1]);
      for (std::size_t e = first; e < last; ++e) entries.emplace_back(t->row[e], t->value[e]);
      std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      for (std::size_t e = first; e < last; ++e)
        t->row[e] = entries[e - first].first, t->value[e] = entries[e - first].second;
    }
  return true;
}

template <class S> bool KeptLU<S>::repeat(const std::vector<S>& values) {
  constexpr double least = 1e-4;  // of what a pivot divides, squared
  S* const x = work_.data();
  for (std::size_t k = 0; k < static_cast<std::size_t>(n_); ++k) {
    const auto column = static_cast<std::size_t>(order_[k]);
    for (Number e = outer_[column]; e < outer_[column + 1]; ++e)
      x[pivot_[static_cast<std::size_t>(inner_[static_cast<std::size_t>(e)])]] += values[static_cast<std::size_t>(e)];
    for (Number e = upper_.from[k]; e < upper_.from[k + 1]; ++e) {
      const auto p = static_cast<std::size_t>(upper_.row[static_cast<std::size_t>(e)]);
      const S u = x[p];
      x[p] = S(0);
      upper_.value[static_cast<std::size_t>(e)] = u;
      if (u == S(0)) continue;
      for (Number i = lower_.from[p]; i < lower_.from[p + 1]; ++i)
        x[lower_.row[static_cast<std::size_t>(i)]] -= lu::times(lower_.value[static_cast<std::size_t>(i)], u);
    }
    const S pivot = x[k], over = S(1) / pivot;
    x[k] = S(0);
    diagonal_[k] = over;
    double largest = 0;
    for (Number e = lower_.from[k]; e < lower_.from[k + 1]; ++e) {
      S& r = x[lower_.row[static_cast<std::size_t>(e)]];
      largest = std::max(largest, lu::squared(r));
      lower_.value[static_cast<std::size_t>(e)] = lu::times(r, over);
      r = S(0);
    }
    const double own = lu::squared(pivot);
    if (!(own > least * largest) || !std::isfinite(own)) return false;
  }
  return true;
}

template <class S> void KeptLU<S>::solve(Vec<S, dynamic>& x) const {
  turned_.resize(n_);
  S* const y = turned_.data();
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_); ++i) y[pivot_[i]] = x[static_cast<Index>(i)];
  for (std::size_t k = 0; k < static_cast<std::size_t>(n_); ++k)
    for (Number e = lower_.from[k]; e < lower_.from[k + 1]; ++e)
      y[lower_.row[static_cast<std::size_t>(e)]] -= lu::times(lower_.value[static_cast<std::size_t>(e)], y[k]);
  for (auto k = static_cast<std::size_t>(n_); k-- > 0;) {
    y[k] = lu::times(y[k], diagonal_[k]);
    for (Number e = upper_.from[k]; e < upper_.from[k + 1]; ++e)
      y[upper_.row[static_cast<std::size_t>(e)]] -= lu::times(upper_.value[static_cast<std::size_t>(e)], y[k]);
  }
  for (std::size_t k = 0; k < static_cast<std::size_t>(n_); ++k) x[order_[k]] = y[k];
}

extern template class KeptLU<double>;  // motion_slopes.cpp
extern template class KeptLU<std::complex<double>>;

}  // namespace mortise
#pragma GCC visibility pop
