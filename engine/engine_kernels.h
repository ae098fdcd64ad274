#pragma once
// Small loops that the files of the engine share, with sizes known beforehand where they are frequent ones.
//
// Sums are kept in local variables: a compiler cannot know that what it writes is not what it reads next, and would
// wait for memory after every term.

#include <type_traits>

#include <mortise/core/types.h>

#pragma GCC visibility push(hidden)
namespace mortise::engine {

inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// Calls f with the size as a constant where it is a frequent one, else as -1.
template <class F> void with_size(int n, const F& f) {
  switch (n) {
    case 3:
      return f(std::integral_constant<int, 3>{});
    case 6:
      return f(std::integral_constant<int, 6>{});
    default:
      return f(std::integral_constant<int, -1>{});
  }
}

// Rows of a joint, its bodies, and unknowns of each of them, as one number; and f called with the three as constants
// where they are frequent ones, or only the last, else as -1.
constexpr int shape_of(int rows, int bodies, int unknowns) {
  return unknowns != 3 && unknowns != 6 ? 0 : rows > 9 || bodies > 2 ? unknowns : 100 * rows + 10 * bodies + unknowns;
}
template <class F> void with_shape(int shape, const F& f) {
  switch (shape) {
    case shape_of(2, 1, 3):
      return f.template operator()<2, 1, 3>();
    case shape_of(2, 2, 3):
      return f.template operator()<2, 2, 3>();
    case shape_of(3, 1, 6):
      return f.template operator()<3, 1, 6>();
    case shape_of(3, 2, 6):
      return f.template operator()<3, 2, 6>();
    case shape_of(5, 1, 6):
      return f.template operator()<5, 1, 6>();
    case shape_of(5, 2, 6):
      return f.template operator()<5, 2, 6>();
    default:
      break;
  }
  switch (shape % 10) {
    case 3:
      return f.template operator()<-1, -1, 3>();
    case 6:
      return f.template operator()<-1, -1, 6>();
    default:
      return f.template operator()<-1, -1, -1>();
  }
}

template <int K> using Row = Eigen::Map<const Eigen::Matrix<double, K, 1>>;

// Two or four numbers that are computed with at once, and such that begin at x in memory, aligned as numbers are: the
// struct says so.  Of a vector type that says so itself clang forgets it.
using Two = double __attribute__((vector_size(16)));
using Four = double __attribute__((vector_size(32)));
template <class V> struct __attribute__((packed, aligned(8), may_alias)) InMemory { V v; };
inline const InMemory<Two>& two(const double* x) { return *reinterpret_cast<const InMemory<Two>*>(x); }
inline InMemory<Two>& two(double* x) { return *reinterpret_cast<InMemory<Two>*>(x); }
inline const InMemory<Four>& four(const double* x) { return *reinterpret_cast<const InMemory<Four>*>(x); }
inline InMemory<Four>& four(double* x) { return *reinterpret_cast<InMemory<Four>*>(x); }

template <int K> [[gnu::always_inline]] inline Two dot_in_two(const double* a, const double* b) {
  Two sum = two(a).v * two(b).v;
  for (int k = 2; k < K; k += 2) sum += two(a + k).v * two(b + k).v;
  return sum;
}
// K >= 0: the size known beforehand.
template <int K> [[gnu::always_inline]] inline double dot(const double* a, const double* b, int k) {
  if constexpr (K > 0 && K % 2 == 0) {
    const Two sum = dot_in_two<K>(a, b);
    return sum[0] + sum[1];
  } else {
    double sum = 0;
    for (int i = 0; i < (K >= 0 ? K : k); ++i) sum += a[i] * b[i];
    return sum;
  }
}

// rest -= A y, for R rows over E bodies; y(e) are the unknowns of one of them.
template <int R, int E, int K, class Y>
[[gnu::always_inline]] inline void subtract_rows(const double* A, const Y& y, double* rest) {
  for (int e = 0; e < E; ++e)
    for (int r = 0; r < R; ++r) rest[r] -= dot<K>(A + r * E * K + e * K, y(e), K);
}

// x := f + A' lambda for one body: the rows of each touch, weighted.
template <class Touch>
void add_transposed(const Touch* first, const Touch* last, const double* A, const double* lambda, int k,
                    const double* f, double* x) {
  const auto each_row = [&](const auto& add) {
    for (const Touch* t = first; t != last; ++t) {
      const double *a = A + t->A, *l = lambda + t->row;
      for (int r = 0; r < t->rows; ++r, a += t->stride) add(l[r], a);
    }
  };
  if (k == 6) {
    Two s0 = two(f).v, s1 = two(f + 2).v, s2 = two(f + 4).v;
    each_row([&](double l, const double* a) { s0 += l * two(a).v, s1 += l * two(a + 2).v, s2 += l * two(a + 4).v; });
    two(x).v = s0, two(x + 2).v = s1, two(x + 4).v = s2;
  } else if (k == 3) {
    double s0 = f[0], s1 = f[1], s2 = f[2];
    each_row([&](double l, const double* a) { s0 += l * a[0], s1 += l * a[1], s2 += l * a[2]; });
    x[0] = s0, x[1] = s1, x[2] = s2;
  } else {
    if (x != f)
      for (int i = 0; i < k; ++i) x[i] = f[i];
    each_row([&](double l, const double* a) {
      for (int i = 0; i < k; ++i) x[i] += l * a[i];
    });
  }
}

// The lower triangle of to += X X', X row by row.
template <int R, int C>
void add_square(const double* X, int rows, int columns, double* __restrict to, int stride, bool diagonal) {
  const int n = R >= 0 ? R : rows, width = C >= 0 ? C : columns;
  for (int c = 0; c < n; ++c)
    for (int r = diagonal ? c : c + 1; r < n; ++r) to[r + c * stride] += dot<C>(X + r * width, X + c * width, width);
}

// to += X Y', X and Y row by row; of a node with itself only the lower triangle.
template <int R, int S, int K, class Product>
void add_product(const Product& p, const double* X, const double* Y, double* __restrict to) {
  if constexpr (R > 0 && K % 2 == 0) {
    for (int c = 0; c < S; ++c) {
      const double* y = Y + c * p.right_stride;
      double* column = to + c * p.stride;
      for (int r = 0; r + 1 < R; r += 2) {
        const Two a = dot_in_two<K>(X + r * p.left_stride, y), b = dot_in_two<K>(X + (r + 1) * p.left_stride, y);
        two(column + r).v += Two{a[0], b[0]} + Two{a[1], b[1]};
      }
      if constexpr (R % 2 == 1) column[R - 1] += dot<K>(X + (R - 1) * p.left_stride, y, K);
    }
  } else {
    const int rows = R >= 0 ? R : p.left_rows, columns = S >= 0 ? S : p.right_rows;
    for (int c = 0; c < columns; ++c)
      for (int r = R < 0 && X == Y ? c : 0; r < rows; ++r)
        to[r + c * p.stride] += dot<K>(X + r * p.left_stride, Y + c * p.right_stride, p.columns);
  }
}

}  // namespace mortise::engine
#pragma GCC visibility pop
