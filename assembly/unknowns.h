#pragma once
// Unknowns of bodies that have no markers of their own: the coordinates, combined so that the mass is 1 or 0.
//
//   T = [R N0],  R'M R = I,  M N0 = 0,  z = 0        (core/massless.h)

#include <string>

#include <mortise/core/marked.h>
#include <mortise/core/massless.h>

namespace mortise {

template <Body B> struct CoordinateUnknowns {
  static constexpr int count = size_of<B>;
  struct Motion {
    Mat<double, count> T;
    Coordinates<B, double> drift;  // 0
    Index massless = 0;
    MatrixXd references;  // |T^-1| |N0|
  };
  explicit CoordinateUnknowns(const B&) {}

  static auto spread(const Motion& m, const Coordinates<B, double>& y) { return Coordinates<B, double>(m.T * y); }
  static const Coordinates<B, double>& drift(const Motion& m) { return m.drift; }
};

namespace detail {
template <class B>
concept HasUnknowns = Body<B> && requires {
  typename B::Unknowns;
};
template <Body B> struct UnknownsFor { using type = CoordinateUnknowns<B>; };
template <HasUnknowns B> struct UnknownsFor<B> { using type = typename B::Unknowns; };
}  // namespace detail

template <Body B> using UnknownsOf = typename detail::UnknownsFor<B>::type;

// A body and its unknowns, as its model and the models of what acts on it share them.
template <Body B> struct Modelled {
  B body;
  UnknownsOf<B> unknowns{body};
  Index count() const {
    if constexpr (requires { unknowns.size(); }) return unknowns.size();
    return UnknownsOf<B>::count == dynamic ? static_cast<Index>(body.coordinates.size()) : UnknownsOf<B>::count;
  }
};

}  // namespace mortise
