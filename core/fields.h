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

#include <string>
#include <string_view>
#include <tuple>

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

template <class P>
concept HasFields = requires {
  P::fields;
};

namespace detail {

inline void require_field(const Label& label, std::string_view name, std::string_view unit, Range range, double x) {
  const auto fact = [&](std::string_view says) {
    return fmt::format("{} = {} {}{}{}", name, x, unit, unit.empty() ? "" : " ", says);
  };
  if (range == Range::any) return;
  label.require(std::isfinite(x), fact("is not finite"), "give a finite number");
  label.require(range != Range::not_negative || x >= 0, fact("is negative"), "give a number >= 0 (0 is allowed)");
  label.require(range != Range::positive || x > 0, fact("is not positive"), "give a finite number > 0");
  label.require(range != Range::nonzero || x != 0, fact("is zero"), "give a number other than 0");
}
inline void require_field(const Label& label, std::string_view name, std::string_view, Range, const Axis& x) {
  label.require(x.along.allFinite(), fmt::format("{} is not finite", name), "give finite numbers");
  label.require(x.along.norm() > 0.5, fmt::format("{} has length 0", name), "give a direction; any length > 0 will do");
}
template <class D>
void require_field(const Label& label, std::string_view name, std::string_view unit, Range range,
                   const Eigen::MatrixBase<D>& x) {
  const auto part = [&](Index i, Index j) {
    return x.cols() == 1 ? fmt::format("{}[{}]", name, i) : fmt::format("{}({}, {})", name, i, j);
  };
  for (Index j = 0; j < x.cols(); ++j)
    for (Index i = 0; i < x.rows(); ++i)
      if (!std::isfinite(x(i, j)) || range != Range::finite) require_field(label, part(i, j), unit, range, x(i, j));
}
// Names, switches and functions have no range.
template <class V>
requires(!std::is_base_of_v<Eigen::EigenBase<V>, V>)  // else it would be the better match for vectors
    void require_field(const Label&, std::string_view, std::string_view, Range, const V&) {}

}  // namespace detail

// Throws InvalidModel, naming the field, if one is out of its range.
template <class P> void require_fields(const Label& label, const P& part) {
  if constexpr (HasFields<P>)
    std::apply(
        [&](const auto&... f) { (detail::require_field(label, f.name, f.unit, f.range, part.*(f.member)), ...); },
        P::fields);
}

}  // namespace mortise
