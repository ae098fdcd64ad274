#pragma once
// Derivatives by dual numbers of functions of any number of coordinates, a few columns at a time.

#include <algorithm>

#include <mortise/assembly/models.h>
#include <mortise/core/dual.h>

namespace mortise {

// Seeds jet_width coordinates of x at a time: f(first, seeded x) with x[first + i] carrying the i-th derivative.
template <class F> void for_each_chunk(const VectorXd& x, const F& f) {
  Vec<FirstOrder, dynamic> seeded = x.cast<FirstOrder>();
  for (Index first = 0; first < x.size(); first += jet_width) {
    const Index end = std::min<Index>(first + jet_width, x.size());
    for (Index k = first; k < end; ++k) seeded[k] = FirstOrder::variable(x[k], k - first);
    f(first, end - first, seeded);
    for (Index k = first; k < end; ++k) seeded[k] = FirstOrder(x[k]);
  }
}

// d f(q, v)/dq and d f(q, v)/dv for a vector function f of the stacked coordinates and velocities.
template <class F> Slopes slopes_of(const VectorXd& q, const VectorXd& v, const F& f) {
  Slopes s{MatrixXd(q.size(), q.size()), MatrixXd(q.size(), q.size())};
  const auto columns = [](MatrixXd& J, Index first, Index n, const auto& y) {
    for (Index i = 0; i < y.size(); ++i)
      for (Index k = 0; k < n; ++k) J(i, first + k) = y[i].d[static_cast<std::size_t>(k)];
  };
  const Vec<FirstOrder, dynamic> q0 = q.cast<FirstOrder>(), v0 = v.cast<FirstOrder>();
  for_each_chunk(q, [&](Index first, Index n, const auto& x) { columns(s.dq, first, n, f(x, v0)); });
  for_each_chunk(v, [&](Index first, Index n, const auto& x) { columns(s.dv, first, n, f(q0, x)); });
  return s;
}

}  // namespace mortise
