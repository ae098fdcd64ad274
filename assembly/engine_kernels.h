#pragma once
// Small loops that the files of the engine share, with sizes known beforehand where they are frequent ones.

#include <type_traits>

#include <mortise/core/types.h>

namespace mortise::engine {

// Corrections that stop shrinking above this share of the whole have not converged.
constexpr double converged = 1e-12;

inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

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

// x += A' lambda for one body: the rows of each touch, weighted.
template <class Touch>
void add_transposed(const Touch* first, const Touch* last, const double* A, const double* lambda, int k, double* x) {
  with_size(k, [&]<int K>(std::integral_constant<int, K>) {
    MutableRow<K> sum(x, k);
    for (const Touch* t = first; t != last; ++t)
      for (int r = 0; r < t->rows; ++r) sum += lambda[t->row + r] * Row<K>(A + t->A + r * t->stride, k);
  });
}

}  // namespace mortise::engine
