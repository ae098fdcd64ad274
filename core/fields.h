#pragma once
// Fields: the public members of a body, joint or force, each told once beside its definition.
//
//   struct Pin {
//     Vec2<double> on_a{0, 0}, on_b{0, 0};
//     static constexpr std::tuple fields{Field{"on_a", &Pin::on_a, "m", "pin in the frame of A"},
//                                        Field{"on_b", &Pin::on_b, "m", "pin in the frame of B"}};
//
// Parameters are checked against them when the part is added; the tables in docs/ are made of them.  The default of a
// field is its value in a part made without arguments.

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <mortise/core/axis.h>
#include <mortise/core/words.h>

namespace mortise {

enum class Range { finite, not_negative, positive, nonzero, any };

template <class P, class V> struct Field {
  std::string_view name;
  V P::*member;
  std::string_view unit;  // "" for a pure number
  std::string_view meaning;
  Range range = Range::finite;
};
template <class P, class V> Field(const char*, V P::*, const char*, const char*) -> Field<P, V>;
template <class P, class V> Field(const char*, V P::*, const char*, const char*, Range) -> Field<P, V>;

// What a part of the library is, for the tables: {"pin", "two points of the plane coincide", "phi = p_A - p_B"}.
struct Summary {
  std::string_view name, meaning, equation;
};

// The name of a part's summary; "" for a type that tells none.
template <class P> std::string kind_of() {
  if constexpr (requires { P::summary.name; })
    return std::string(P::summary.name);
  else
    return "";
}

template <class P>
concept HasFields = requires {
  P::fields;
};

namespace detail {

// Throw InvalidModel, naming the field.
void require_field(const Label& label, std::string_view name, std::string_view unit, Range range, double x);
void require_field(const Label& label, std::string_view name, std::string_view unit, Range range, int x);
void require_field(const Label& label, std::string_view name, std::string_view, Range, const Axis& x);
void require_field(const Label& label, std::string_view name, std::string_view, Range, const PlanarAxis& x);
// A vector or matrix, entry by entry.
void require_entries(const Label& label, std::string_view name, std::string_view unit, Range range, const double* x,
                     Index rows, Index columns);
template <int R, int C>
void require_field(const Label& label, std::string_view name, std::string_view unit, Range range,
                   const Eigen::Matrix<double, R, C>& x) {
  require_entries(label, name, unit, range, x.data(), x.rows(), x.cols());
}
// Names, switches and functions have no range.
template <class V>
requires(!std::is_base_of_v<Eigen::EigenBase<V>, V>)  // else it would be the better match for vectors
    void require_field(const Label&, std::string_view, std::string_view, Range, const V&) {}

}  // namespace detail

// The dimension of a part: 2 in the plane, 3 in space, as it says or as its fields do; 0: it asks for coordinates only.
template <class P> constexpr int part_dimension();
namespace detail {
template <class V> constexpr int dimension_of_value() {
  if constexpr (std::is_same_v<V, PlanarAxis>) return 2;
  if constexpr (std::is_same_v<V, Axis>) return 3;
  if constexpr (std::is_base_of_v<Eigen::MatrixBase<V>, V>)
    return V::RowsAtCompileTime >= 1 && V::RowsAtCompileTime <= 3 ? static_cast<int>(V::RowsAtCompileTime) : 0;
  if constexpr (requires(V v) { v[0].at; })  // points of a rope
    return dimension_of_value<std::remove_cvref_t<decltype(std::declval<V>()[0].at)>>();
  if constexpr (HasFields<V>) return part_dimension<V>();
  return 0;
}
}  // namespace detail
template <class P> constexpr int part_dimension() {
  if constexpr (requires { P::dimension; }) {
    return P::dimension;
  } else if constexpr (HasFields<P>) {
    int d = 0;
    std::apply(
        [&](const auto&... f) {
          ((d = std::max(d,
                         detail::dimension_of_value<std::remove_cvref_t<decltype(std::declval<P>().*(f.member))>>())),
           ...);
        },
        P::fields);
    return d;
  } else if constexpr (requires(const P& p) { p.joint; }) {
    return part_dimension<std::remove_cvref_t<decltype(std::declval<P>().joint)>>();
  }
  return 0;
}

// Throws InvalidModel, naming the field, if one is out of its range.
template <class P> void require_fields(const Label& label, const P& part) {
  if constexpr (HasFields<P>)
    std::apply(
        [&](const auto&... f) { (detail::require_field(label, f.name, f.unit, f.range, part.*(f.member)), ...); },
        P::fields);
}

}  // namespace mortise
