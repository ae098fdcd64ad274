#pragma once
// How body B turns against body A, for torsion springs and motors: an angle, its rate, and a torque on both.
//
//   PlanarTurn{}                                     theta_B - theta_A; counts turns
//   AxisTurn{.axis_a = {0, 0, 1}, .axis_b = ...}     about an axis that both bodies share, as in a revolute joint
//
// AxisTurn: the angle from x_A to x_B about z_A,  atan2(z_A . (x_A x x_B), x_A . x_B), in (-pi, pi]; z and x are along
// and across_1 of each body's axis (core/axis.h), so that equal axes of parallel frames are at angle 0.  It jumps at
// half a turn: for motions beyond that, use coordinates that count turns.
// The ground may stand on either side; it does not turn.

#include <cmath>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>
#include <mortise/core/rotation.h>

namespace mortise {

namespace detail {
template <class V> inline constexpr bool is_fixed = size_of<std::remove_cvref_t<decltype(std::declval<V>().body)>> == 0;
}  // namespace detail

struct PlanarTurn {
  static constexpr std::tuple<> fields{};

  template <class T> T angle(const auto& a, const auto& b, const T&) const { return theta<T>(b) - theta<T>(a); }
  template <class T> T rate(const auto& a, const auto& b, const T&) const { return spin<T>(b) - spin<T>(a); }
  // Torque m about z on B, -m on A.
  template <class T> void apply(auto& a, auto& b, const T& m) const {
    turn(a, T(-m));
    turn(b, m);
  }

 private:
  template <class T, class V> static T theta(const V& view) {
    if constexpr (detail::is_fixed<V>)
      return T(0.0);
    else
      return view.coordinate("theta");
  }
  template <class T, class V> static T spin(const V& view) {
    if constexpr (detail::is_fixed<V>)
      return T(0.0);
    else
      return view.angular_velocity();
  }
  template <class T, class V> static void turn([[maybe_unused]] V& view, [[maybe_unused]] const T& m) {
    if constexpr (!detail::is_fixed<V>) view.apply_torque(m);
  }
};

struct AxisTurn {
  Axis axis_a{0, 0, 1};
  Axis axis_b{0, 0, 1};

  static constexpr std::tuple fields{Field{"axis_a", &AxisTurn::axis_a, "", "the axis in the frame of A"},
                                     Field{"axis_b", &AxisTurn::axis_b, "", "the axis in the frame of B"}};

  template <class T> T angle(const auto& a, const auto& b, const T&) const {
    using std::atan2;
    const Vec3<T> x = a.direction(axis_a.across_1), y = a.direction(axis_a.across_2), d = b.direction(axis_b.across_1);
    return atan2(T(y.dot(d)), T(x.dot(d)));
  }
  template <class T> T rate(const auto& a, const auto& b, const T&) const {
    const Vec3<T> z = a.direction(axis_a.along);
    return z.dot(spin<T>(b) - spin<T>(a));
  }
  // Torque m about z_A on B, -m on A.
  template <class T> void apply(auto& a, auto& b, const T& m) const {
    const Vec3<T> torque = m * a.direction(axis_a.along);
    turn<T>(a, -torque);
    turn<T>(b, torque);
  }

  template <class T, class V> static Vec3<T> spin(const V& view) {
    if constexpr (detail::is_fixed<V>)
      return Vec3<T>::Zero();
    else
      return view.angular_velocity();
  }
  template <class T, class V> static void turn(V& view, const Vec3<T>& torque) {
    if constexpr (!detail::is_fixed<V>) view.apply_torque(torque);
  }
};

}  // namespace mortise
