#pragma once
// What the library asks of bodies, joints and forces, and what a joint or a force sees of a body.
//
// Body    a plain struct with
//           coordinates               names: a static std::array, or a std::vector member for a size known at run time
//           mass_matrix(q, t)         n x n, symmetric, positive semi-definite, possibly singular
//           force(q, v, t)            n, own forces and velocity terms: M q'' = force + ...
//         and where they make sense   point(q, r)  direction(q, d)  angular_velocity(q, v)  first_moment(q)
//                                     local_point(q, p)             the inverse of point, for double; the same for
//                                     local_direction(q, d)         directions
//                                     phi(q) with own_rows          the body's own constraint
//                                     massless(q)                   null(M), where known better than from M's entries
//                                     groups                        coordinates that share one scale
//                                     neutral()                     coordinates to start from (default 0)
//                                     describe(q, dq)               a motion in words
//                                     constant_mass                 true: M depends on nothing
//                                     potential(q, t)               energy that force(q, v, t) stores in the body
//                                     validate(label)
// Joint   phi(bodies..., t) = 0 and/or psi(bodies..., t) = 0; optionally rows, validate(...), and a non-ideal law,
//         nonideal(bodies..., t) or, where it needs the joint's own reaction, react(bodies..., t, lambda),
//         and a static at_world(world data..., bodies...) that makes the joint from the bodies at their places
// Force   act(bodies..., t) and/or potential(bodies..., t); optionally validate(...)
// Sensor  measure(bodies..., t), or measure_motion(bodies..., t) where it depends on velocities; a joint or a force may
//         have one too, and a joint angle(bodies...), displacement(bodies...).  quantities tells names and units; a
//         joint whose angle is not only told within one turn says  counts_turns = true
//
// All functions are templated on the scalar, and see bodies by the views of core/view.h.  A part may tell its fields
// (core/fields.h): they are then checked when it is added; validate is for what concerns several of them, and gets the
// bodies as Geometry.

#include <array>
#include <concepts>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <mortise/core/errors.h>
#include <mortise/core/types.h>
#include <mortise/core/view.h>

namespace mortise {

// One row of a constraint, for reports:  {"y", "translation along y", "fy"}.
struct RowInfo {
  std::string_view name;        // hinge.y
  std::string_view removes;     // the freedom it takes away
  std::string_view reaction;    // what its multiplier is
  std::string_view unit = "N";  // of the multiplier
};

// One number of those that measure(...) returns:  {"x", "m"}.
struct QuantityInfo {
  std::string_view name, unit;
  bool angle = false;  // known up to whole turns: Readings count them
};

namespace detail {
template <class B> constexpr int static_size() {
  using C = std::remove_cvref_t<decltype(std::declval<const B&>().coordinates)>;
  if constexpr (requires { std::tuple_size<C>::value; })
    return static_cast<int>(std::tuple_size<C>::value);
  else
    return dynamic;
}
}  // namespace detail

// Number of coordinates, or `dynamic`.
template <class B> inline constexpr int size_of = detail::static_size<B>();

template <class B, class T> using Coordinates = Vec<T, size_of<B>>;

template <class B>
concept HasCoordinates = requires(const B& b) {
  { b.coordinates.size() } -> std::convertible_to<std::size_t>;
};
template <class B>
concept Body = HasCoordinates<B> && requires(const B& b, const Coordinates<B, double>& q, double t) {
  b.mass_matrix(q, t);
  b.force(q, q, t);
};

// The dimension in which a body has points, or 0: it has none, or in several (the ground, structures).
// The result tells: Eigen would convert a place of another dimension.
namespace detail {
template <class X, int D>
inline constexpr bool has_rows = static_cast<int>(std::remove_cvref_t<X>::RowsAtCompileTime) == D;
template <class B, int D, class T>
inline constexpr bool has_point = requires(const B& b, const Coordinates<B, T>& q, const Vec<double, D>& r) {
  requires has_rows<decltype(b.point(q, r)), D>;
};
template <class B, int D, class T>
inline constexpr bool has_direction = requires(const B& b, const Coordinates<B, T>& q, const Vec<double, D>& r) {
  requires has_rows<decltype(b.direction(q, r)), D>;
};
}  // namespace detail
template <Body B>
inline constexpr int body_dimension = [] {
  constexpr bool in[] = {detail::has_point<B, 1, double>, detail::has_point<B, 2, double>,
                         detail::has_point<B, 3, double>};
  return in[0] + in[1] + in[2] != 1 ? 0 : in[0] ? 1 : in[1] ? 2 : 3;
}();

// The views of a body of type B (core/view.h).
template <Body B, class T> using Placed = BodyView<body_dimension<B>, T>;
template <Body B, class T> using Moving = VelocityView<body_dimension<B>, T>;
template <Body B, class T> using Acted = ForceView<body_dimension<B>, T>;

}  // namespace mortise
