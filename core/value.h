#pragma once
// Value: a point or a direction as a part sees it, a vector whose sums, differences and products are vectors again.
//
//   auto d = a.point(r) - b.point(s);      holds numbers; of plain Eigen vectors it would be an expression of the two
//                                          points, which are gone after the semicolon
//
// It is a Vec<T, N> otherwise, and converts to one.

#include <concepts>
#include <type_traits>

#include <mortise/core/types.h>

namespace mortise {

template <class T, int N> class Value : public Vec<T, N> {
 public:
  using Base = Vec<T, N>;
  Value() = default;
  Value(const Base& x) : Base(x) {}
  template <class E> Value(const Eigen::MatrixBase<E>& x) : Base(x) {}
  template <class E> Value& operator=(const Eigen::MatrixBase<E>& x) {
    Base::operator=(x);
    return *this;
  }

  friend Value operator+(const Value& a, const Value& b) { return sum(a, b); }
  friend Value operator-(const Value& a, const Value& b) { return difference(a, b); }
  template <class E> friend Value operator+(const Value& a, const Eigen::MatrixBase<E>& b) {
    return sum(a, Vec<typename E::Scalar, N>(b));
  }
  template <class E> friend Value operator-(const Value& a, const Eigen::MatrixBase<E>& b) {
    return difference(a, Vec<typename E::Scalar, N>(b));
  }
  template <class E> friend Value operator+(const Eigen::MatrixBase<E>& a, const Value& b) {
    return sum(Vec<typename E::Scalar, N>(a), b);
  }
  template <class E> friend Value operator-(const Eigen::MatrixBase<E>& a, const Value& b) {
    return difference(Vec<typename E::Scalar, N>(a), b);
  }
  friend Value operator-(const Value& a) {
    Value r;
    for (int i = 0; i < N; ++i) r[i] = -a[i];
    return r;
  }

  // Factors: the scalar itself, or a plain number.
  template <class S> static constexpr bool factor = std::is_arithmetic_v<S> || std::same_as<S, T>;
  template <class S>
  requires factor<S>
  friend Value operator*(const S& s, const Value& a) { return scaled(a, s); }
  template <class S>
  requires factor<S>
  friend Value operator*(const Value& a, const S& s) { return scaled(a, s); }
  template <class S>
  requires factor<S>
  friend Value operator/(const Value& a, const S& s) {
    Value r;
    for (int i = 0; i < N; ++i) r[i] = a[i] / s;
    return r;
  }
  template <class E>
  requires(E::ColsAtCompileTime == N && E::RowsAtCompileTime > 1) friend auto operator*(const Eigen::MatrixBase<E>& m,
                                                                                        const Value& a) {
    constexpr int rows = E::RowsAtCompileTime;
    const Mat<typename E::Scalar, rows, N> M = m;
    Value<T, rows> r;
    for (int i = 0; i < rows; ++i) {
      r[i] = M(i, 0) * a[0];
      for (int j = 1; j < N; ++j) r[i] += M(i, j) * a[j];
    }
    return r;
  }

  // Parts of one that is about to go are copies.
  template <int n> auto head() & { return Base::template head<n>(); }
  template <int n> auto head() const& { return Base::template head<n>(); }
  template <int n> Value<T, n> head() && { return Value<T, n>(Base::template head<n>()); }
  template <int n> auto tail() & { return Base::template tail<n>(); }
  template <int n> auto tail() const& { return Base::template tail<n>(); }
  template <int n> Value<T, n> tail() && { return Value<T, n>(Base::template tail<n>()); }

 private:
  static Value sum(const auto& a, const auto& b) {
    Value r;
    for (int i = 0; i < N; ++i) r[i] = a[i] + b[i];
    return r;
  }
  static Value difference(const auto& a, const auto& b) {
    Value r;
    for (int i = 0; i < N; ++i) r[i] = a[i] - b[i];
    return r;
  }
  static Value scaled(const Value& a, const auto& s) {
    Value r;
    for (int i = 0; i < N; ++i) r[i] = a[i] * s;
    return r;
  }
};

}  // namespace mortise
