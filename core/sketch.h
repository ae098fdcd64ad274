#pragma once
// Sketch: what of a joint, force or sensor can be drawn, read from its fields (core/fields.h) by their names:
//
//   on_a, axis_b        a point, an axis in the frame of its first, its second body; _c: of its third
//   at, point, normal   of its first body
//
// A part whose fields have other names, or that tells none, has an empty sketch.

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <mortise/core/fields.h>

namespace mortise {

struct Sketch {
  struct Mark {
    std::size_t body;    // position among the bodies of the part, from 0
    Vec3<double> value;  // in the frame of that body; in the plane z = 0
  };
  std::string kind;  // "pin"; that of the joint inside, where a law was added to one
  std::vector<Mark> points, axes;
  std::vector<std::pair<std::string_view, double>> numbers;  // {"radius", 0.3}
};

namespace detail {

// The body that a field speaks of, by the end of its name.
inline std::size_t body_of_field(std::string_view name) {
  return name.ends_with("_b") ? 1 : name.ends_with("_c") ? 2 : 0;
}
inline bool names_point(std::string_view name) { return name.starts_with("on_") || name == "at" || name == "point"; }

inline void sketch_field(Sketch& s, std::string_view name, const double& x) { s.numbers.push_back({name, x}); }
inline void sketch_field(Sketch& s, std::string_view name, const Axis& x) {
  if (name.starts_with("axis") || name == "normal") s.axes.push_back({body_of_field(name), x.along});
}
inline void sketch_field(Sketch& s, std::string_view name, const PlanarAxis& x) {
  if (name.starts_with("axis")) s.axes.push_back({body_of_field(name), {x.along[0], x.along[1], 0}});
}
template <int D>
requires(D >= 1 && D <= 3) void sketch_field(Sketch& s, std::string_view name, const Vec<double, D>& x) {
  if (!names_point(name)) return;
  s.points.push_back({body_of_field(name), Vec3<double>::Zero()});
  s.points.back().value.template head<D>() = x;
}
template <class P> void sketch_into(Sketch& s, const P& part);
template <class V> void sketch_field(Sketch& s, std::string_view, const V& x) {
  if constexpr (HasFields<V>) {  // ends, about
    sketch_into(s, x);
  } else if constexpr (requires { x.begin()->body, x.begin()->at; }) {  // points of a rope
    for (const auto& p : x) {
      s.points.push_back({p.body, Vec3<double>::Zero()});
      s.points.back().value.head(p.at.size()) = p.at;
    }
  }
}
template <class P> void sketch_into(Sketch& s, const P& part) {
  if constexpr (HasFields<P>)
    std::apply([&](const auto&... f) { (sketch_field(s, f.name, part.*(f.member)), ...); }, P::fields);
  else if constexpr (requires { part.joint; })
    sketch_into(s, part.joint);
  if constexpr (requires { P::summary.name; }) s.kind = P::summary.name;
}

}  // namespace detail

template <class P> Sketch sketch_of(const P& part) {
  Sketch s;
  detail::sketch_into(s, part);
  return s;
}

}  // namespace mortise
