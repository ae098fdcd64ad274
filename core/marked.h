#pragma once
// A body seen through its unknowns y (marker.h), with the same members as the views of parts.h: functors do not notice.
//
// A body that knows its markers has a type Unknowns, made once from the body, with
//   count                                      number of unknowns y
//   massless()                                 how many of them, the last, have no mass
//   unit(k, j)                                 1 / the factor of unknown k if it has the dimension of unknown j, else 0
//   Motion, motion(q, v)                       what the markers need at one state
//   point(motion, r)  direction(motion, d)     Marker<D, count>
//   turning(motion)                            angular velocity = turning * velocities conjugate to y
//   force(motion, gravity)                     T'(Q - M z), weight included
//   spread(motion, y)  drift(motion)           T y and z
//   momentum(motion)                           linear, and angular about the world's origin
//   normalise(q, v)                            brings q and v back to the body's own constraint, where it has one
// Bodies without it are seen through their coordinates, at a higher price (assembly/unknowns.h).

#include <string_view>

#include <mortise/core/marker.h>
#include <mortise/core/parts.h>

namespace mortise {

// The coordinates of a body as numbers seeded in its unknowns, made only when asked for.
template <Body B, class U, class T, int First> struct SeededCoordinates {
  const U& unknowns;
  const typename U::Motion& motion;
  const double *q, *v;

  operator Coordinates<B, T>() const {
    constexpr int n = size_of<B>, k = U::count;
    Marker<n, k> m;
    m.value = Eigen::Map<const Vec<double, n>>(q);
    m.velocity = Eigen::Map<const Vec<double, n>>(v);
    m.acceleration = unknowns.drift(motion);
    if constexpr (k > 0)
      for (int i = 0; i < k; ++i) m.slopes.col(i) = unknowns.spread(motion, Vec<double, k>::Unit(i));
    return detail::Seed<T, First>::of(m);
  }
  T operator[](Index i) const { return Coordinates<B, T>(*this)[i]; }
};

// As phi(bodies..., t) and potential(bodies..., t) see it.
template <Body B, class U, class T, int First> struct Marked {
  const B& body;
  SeededCoordinates<B, U, T, First> q;

  [[gnu::always_inline]] auto point(const auto& r) const {
    if constexpr (requires { q.unknowns.point(q.motion, r); })
      return detail::Seed<T, First>::of(q.unknowns.point(q.motion, r));
    else
      return body.point(Coordinates<B, T>(q), r);
  }
  [[gnu::always_inline]] auto direction(const auto& d) const {
    if constexpr (requires { q.unknowns.direction(q.motion, d); })
      return detail::Seed<T, First>::of(q.unknowns.direction(q.motion, d));
    else
      return body.direction(Coordinates<B, T>(q), d);
  }
  T coordinate(std::string_view name) const { return q[require_coordinate(body, name)]; }
};

// As act(bodies..., t) and nonideal(bodies..., t) see it.  Forces add up in the unknowns.
template <Body B, class U> struct MarkedActed : Moving<B, double> {
  const U& unknowns;
  const typename U::Motion& motion;
  Coordinates<B, double> Q;       // on the coordinates
  Vec<double, U::count> along_y;  // on the unknowns

  auto point(const auto& r) const {
    if constexpr (requires { unknowns.point(motion, r); })
      return unknowns.point(motion, r).value;
    else
      return Moving<B, double>::point(r);
  }
  auto direction(const auto& d) const {
    if constexpr (requires { unknowns.direction(motion, d); })
      return unknowns.direction(motion, d).value;
    else
      return Moving<B, double>::direction(d);
  }
  auto point_velocity(const auto& r) const {
    if constexpr (requires { unknowns.point(motion, r); })
      return unknowns.point(motion, r).velocity;
    else
      return Moving<B, double>::point_velocity(r);
  }
  void apply_force(const auto& r, const auto& f) {
    if constexpr (requires { unknowns.point(motion, r); }) {
      along_y += unknowns.point(motion, r).slopes.transpose() * f;
    } else {
      Acted<B, double> acted{*this, Coordinates<B, double>::Zero(this->q.size())};
      acted.apply_force(r, f);
      Q += acted.Q;
    }
  }
  void apply_torque(const auto& m) {
    if constexpr (requires { unknowns.turning(motion); }) {
      along_y += unknowns.turning(motion).transpose() * m;
    } else {
      Acted<B, double> acted{*this, Coordinates<B, double>::Zero(this->q.size())};
      acted.apply_torque(m);
      Q += acted.Q;
    }
  }
  void apply_to(std::string_view name, const auto& f) { Q[require_coordinate(this->body, name)] += f; }

  // All that was applied, on the unknowns.
  Vec<double, U::count> total() const {
    Vec<double, U::count> f = along_y;
    if ((Q.array() != 0).any())
      for (Index k = 0; k < f.size(); ++k)
        f[k] += unknowns.spread(motion, Vec<double, U::count>::Unit(f.size(), k)).dot(Q);
    return f;
  }
};

}  // namespace mortise
