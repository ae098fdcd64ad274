#pragma once
// A joint given by data of the world, such as a point and an axis: the body-fixed data follow from where the bodies are
// placed when it is connected.
//
//   a.place(rod, {1, 2, 0.3});
//   a.connect("hinge", at_world<Pin>(Vec2<double>(0, 1)), ground, rod);
//
// A joint opts in by a static function at_world(data..., bodies...) that returns it; the bodies are views of parts.h.

#include <tuple>
#include <utility>

namespace mortise {

template <class J, class... W> struct AtWorld { std::tuple<W...> data; };

template <class J, class... W> AtWorld<J, W...> at_world(W... data) { return {{std::move(data)...}}; }

}  // namespace mortise
