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
// All functions are templated on the scalar; derivatives are taken by dual numbers.  A part may tell its fields
// (core/fields.h): they are then checked when it is added; validate is for what concerns several of them.

#include <array>
#include <concepts>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <mortise/core/dual.h>
#include <mortise/core/errors.h>
#include <mortise/core/types.h>

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

// -1 if there is none of this name.
template <Body B> int coordinate_index(const B& body, std::string_view name) {
  for (std::size_t i = 0; i < body.coordinates.size(); ++i)
    if (body.coordinates[i] == name) return static_cast<int>(i);
  return -1;
}

template <Body B> int require_coordinate(const B& body, std::string_view name) {
  const int i = coordinate_index(body, name);
  if (i < 0) {
    std::string known;
    for (const auto& c : body.coordinates) known += (known.empty() ? "" : ", ") + std::string(c);
    Label{"coordinate", std::string(name)}.fail<InvalidModel>(
        "the body has none of this name", known.empty() ? "it has no coordinates" : "it has " + known);
  }
  return i;
}

// A body at its place, as phi(bodies..., t) sees it.
template <Body B, class T> struct Placed {
  const B& body;
  Coordinates<B, T> q;

  // World position of the body-fixed point r; world components of the body-fixed direction d.
  auto point(const auto& r) const { return body.point(q, r); }
  auto direction(const auto& d) const { return body.direction(q, d); }
  const T& coordinate(std::string_view name) const { return q[require_coordinate(body, name)]; }

  // The world point p and the world direction d in the frame of the body.
  auto local_point(const auto& p) const { return body.local_point(q, p); }
  auto local_direction(const auto& d) const { return body.local_direction(q, d); }
};

// A body in motion, as psi(bodies..., t) sees it.
template <Body B, class T> struct Moving : Placed<B, T> {
  Coordinates<B, T> v;

  // d/ds point(q + s v)
  auto point_velocity(const auto& r) const {
    using S = Dual<T, 1>;
    Coordinates<B, S> x(this->q.size());
    for (Index i = 0; i < x.size(); ++i) x[i] = S(this->q[i], {v[i]});
    const auto p = this->body.point(x, r);
    Vec<T, std::remove_cvref_t<decltype(p)>::RowsAtCompileTime> u(p.size());
    for (Index k = 0; k < p.size(); ++k) u[k] = p[k].d[0];
    return u;
  }
  auto angular_velocity() const { return this->body.angular_velocity(this->q, v); }  // in world axes
  const T& speed(std::string_view name) const { return v[require_coordinate(this->body, name)]; }
};

// A body that forces act on, as act(bodies..., t) and nonideal(bodies..., t) see it.  Generalised forces add up in Q.
template <Body B, class T> struct Acted : Moving<B, T> {
  Coordinates<B, T> Q;

  // World force f at the body-fixed point r:  Q_i = f . d point / d q_i.
  void apply_force(const auto& r, const auto& f) {
    using S = Dual<T, 1>;
    for (Index i = 0; i < this->q.size(); ++i) {
      Coordinates<B, S> x(this->q.size());
      for (Index j = 0; j < x.size(); ++j) x[j] = S(this->q[j], {T(i == j ? 1.0 : 0.0)});
      const auto p = this->body.point(x, r);
      static_assert(int(decltype(p)::RowsAtCompileTime) == int(std::remove_cvref_t<decltype(f)>::RowsAtCompileTime),
                    "the force has another dimension than the point it acts at");
      for (Index k = 0; k < p.size(); ++k) Q[i] += p[k].d[0] * f[k];
    }
  }
  // World torque m (a number in the plane):  Q_i = m . angular velocity of the unit rate of q_i.
  void apply_torque(const auto& m) {
    for (Index i = 0; i < this->q.size(); ++i) {
      Coordinates<B, T> rate(this->q.size());
      for (Index j = 0; j < rate.size(); ++j) rate[j] = T(i == j ? 1.0 : 0.0);
      const auto w = this->body.angular_velocity(this->q, rate);
      if constexpr (requires { w.size(); })
        for (Index k = 0; k < w.size(); ++k) Q[i] += w[k] * m[k];
      else
        Q[i] += w * m;
    }
  }
  // Generalised force on one coordinate.
  void apply_to(std::string_view name, const auto& f) { Q[require_coordinate(this->body, name)] += f; }
};

}  // namespace mortise
