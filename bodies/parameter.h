#pragma once
// Parameter: a number that stays as it is, until an event of a run changes it.
//
//   const auto stiffness = a.add("stiffness", Parameter{.value = 100});
//   a.apply("spring", Force{[](auto& bob, const auto& k, const auto& t) { ... k.coordinate("value") ... }}, bob,
//           stiffness);
//   state.set("stiffness.value", 400);
//
// It is a coordinate of the state, so that it is saved and recorded with it, but nothing moves it: q'' = 0 and q' = 0
// whatever acts on it, and no joint can push it to meet its rows.

#include <array>
#include <string_view>
#include <tuple>

#include <mortise/core/fields.h>
#include <mortise/core/marker.h>
#include <mortise/core/parts.h>

namespace mortise {

struct Parameter {
  double value = 0;

  static constexpr Summary summary{"parameter", "a number that only events change", "q'' = 0, q' = 0"};
  static constexpr std::tuple fields{Field{"value", &Parameter::value, "", "where it starts"}};
  static constexpr std::array<std::string_view, 1> coordinates{"value"};
  static constexpr std::array<RowInfo, 1> own_rows{{{"value", "any change", "what would change it", ""}}};
  static constexpr bool constant_mass = true;

  Vec<double, 1> neutral() const { return Vec<double, 1>(value); }
  template <class T> Mat<T, 1> mass_matrix(const Vec<T, 1>&, const T&) const { return Mat<T, 1>(T(0.0)); }
  template <class T> Vec<T, 1> force(const Vec<T, 1>&, const Vec<T, 1>&, const T&) const { return Vec<T, 1>(T(0.0)); }
  // It is held where it is: slope 1, value 0 everywhere.
  template <class T> Vec<T, 1> phi(const Vec<T, 1>& q) const { return Vec<T, 1>(q[0] - T(mortise::value(q[0]))); }

  struct Unknowns {
    static constexpr int count = 0;
    struct Motion {};
    explicit Unknowns(const Parameter&) {}

    static int massless() { return 0; }
    static double unit(int, int) { return 0; }
    static Motion motion(const Vec<double, 1>&, const Vec<double, 1>&) { return {}; }
    static Vec<double, 0> force(const Motion&, const Vec3<double>&) { return {}; }
    static Vec<double, 1> spread(const Motion&, const Vec<double, 0>&) { return Vec<double, 1>::Zero(); }
    static Vec<double, 1> drift(const Motion&) { return Vec<double, 1>::Zero(); }
    static Momentum momentum(const Motion&) { return {}; }
    static void normalise(Vec<double, 1>&, Vec<double, 1>& v) { v.setZero(); }
  };
};

}  // namespace mortise
