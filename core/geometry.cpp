#include <mortise/core/geometry.h>

#include <algorithm>

#include <fmt/format.h>

#include <mortise/core/buffer.h>
#include <mortise/core/errors.h>

namespace mortise {
namespace {

constexpr std::size_t few = 16;  // coordinates that need no memory from the heap

// The coordinates as numbers that move along v.
Buffer<Taylor, few> along(const double* q, const double* v, Index n) {
  Buffer<Taylor, few> x(n);
  for (Index i = 0; i < n; ++i) x[i] = Taylor(q[i], v ? v[i] : 0, 0);
  return x;
}

}  // namespace

Index Geometry::require(std::string_view coordinate) const {
  const Index i = find(coordinate);
  if (i < 0) {
    const std::vector<std::string> known = coordinates();
    Label{"coordinate", std::string(coordinate)}.fail<InvalidModel>(
        "the body has none of this name",
        known.empty() ? "it has no coordinates" : fmt::format("it has {}", fmt::join(known, ", ")));
  }
  return i;
}

void Geometry::refuse(const char* what, int dimension) const {
  const std::string name = kind();
  Label{"body", name.empty() ? "of its own type" : name}.fail<InvalidModel>(
      fmt::format("a body of this kind has no {} in {}", what,
                  dimension == 1   ? "one dimension"
                  : dimension == 2 ? "the plane"
                                   : "space"),
      "take a body of another kind");
}

void Geometry::velocity(Ask what, LocalVector r, const double* q, const double* v, double* out) const {
  std::vector<Entry> entries;
  if (what == Ask::point && linear(r, entries)) {
    std::fill(out, out + r.size(), 0.0);
    for (const Entry& e : entries) out[e.component] += e.factor * v[e.coordinate];
    return;
  }
  const auto x = along(q, v, size());
  Taylor p[3];
  locate(what, r, x.data(), p);
  for (std::size_t k = 0; k < r.size(); ++k) out[k] = p[k].d1;
}

void Geometry::velocity(Ask what, LocalVector r, const Taylor* q, const Taylor* v, Taylor* out) const {
  std::vector<Entry> entries;
  if (what == Ask::point && linear(r, entries)) {
    std::fill(out, out + r.size(), Taylor(0));
    for (const Entry& e : entries) out[e.component] += e.factor * v[e.coordinate];
    return;
  }
  Buffer<TaylorDual, few> x(size());
  for (Index i = 0; i < size(); ++i) x[i] = TaylorDual(q[i], {v[i]});
  TaylorDual p[3];
  locate(what, r, x.data(), p);
  for (std::size_t k = 0; k < r.size(); ++k) out[k] = p[k].d[0];
}

void Geometry::push(LocalVector r, const double* q, const double* f, double* Q) const {
  std::vector<Entry> entries;
  if (linear(r, entries)) {
    for (const Entry& e : entries) Q[e.coordinate] += e.factor * f[e.component];
    return;
  }
  // Two coordinates at a time: s along one, e along the other.
  const Index n = size();
  Buffer<Taylor, few> x = along(q, nullptr, n);
  Taylor p[3];
  for (Index i = 0; i < n; i += 2) {
    const bool two = i + 1 < n;
    x[i].d1 = 1;
    if (two) x[i + 1].slope = 1;
    locate(Ask::point, r, x.data(), p);
    for (std::size_t k = 0; k < r.size(); ++k) {
      Q[i] += p[k].d1 * f[k];
      if (two) Q[i + 1] += p[k].slope * f[k];
    }
    x[i].d1 = 0;
    if (two) x[i + 1].slope = 0;
  }
}

void Geometry::push(LocalVector r, const Taylor* q, const Taylor* f, Taylor* Q) const {
  std::vector<Entry> entries;
  if (linear(r, entries)) {
    for (const Entry& e : entries) Q[e.coordinate] += e.factor * f[e.component];
    return;
  }
  const Index n = size();
  Buffer<TaylorDual, few> x(n);
  for (Index i = 0; i < n; ++i) x[i] = TaylorDual(q[i]);
  TaylorDual p[3];
  for (Index i = 0; i < n; ++i) {
    x[i] = TaylorDual(q[i], {Taylor(1)});
    locate(Ask::point, r, x.data(), p);
    for (std::size_t k = 0; k < r.size(); ++k) Q[i] += p[k].d[0] * f[k];
    x[i] = TaylorDual(q[i]);
  }
}

namespace {

// Q_i += torque . angular velocity of the unit rate of q_i
template <class T> void twist_by(const Geometry& body, int dimension, const T* q, const T* torque, T* Q) {
  const Index n = body.size();
  Buffer<T, few> rate(n, T(0.0));
  T w[3];
  for (Index i = 0; i < n; ++i) {
    rate[i] = T(1.0);
    body.angular_velocity(dimension, q, rate.data(), w);
    for (int k = 0; k < (dimension == 2 ? 1 : 3); ++k) Q[i] += w[k] * torque[k];
    rate[i] = T(0.0);
  }
}

}  // namespace

void Geometry::twist(int dimension, const double* q, const double* torque, double* Q) const {
  twist_by(*this, dimension, q, torque, Q);
}
void Geometry::twist(int dimension, const Taylor* q, const Taylor* torque, Taylor* Q) const {
  twist_by(*this, dimension, q, torque, Q);
}

void Geometry::differentiate(Ask what, LocalVector r, const double* q, const double* v, Mark& at,
                             double* jacobian) const {
  const Index n = size();
  const auto d = static_cast<Index>(r.size());
  std::vector<Entry> entries;
  if (what == Ask::point && linear(r, entries)) {
    std::fill(jacobian, jacobian + d * n, 0.0);
    locate(what, r, q, at.value);
    std::fill(at.velocity, at.velocity + d, 0.0);
    std::fill(at.acceleration, at.acceleration + d, 0.0);
    for (const Entry& e : entries) {
      jacobian[e.component * n + e.coordinate] = e.factor;
      at.velocity[e.component] += e.factor * v[e.coordinate];
    }
    return;
  }
  Buffer<Taylor, few> x = along(q, v, n);
  Taylor p[3];
  for (Index i = 0; i == 0 || i < n; ++i) {
    if (i < n) x[i].slope = 1;
    locate(what, r, x.data(), p);
    for (Index k = 0; k < d; ++k) {
      if (i < n) jacobian[k * n + i] = p[k].slope;
      at.value[k] = p[k].v, at.velocity[k] = p[k].d1, at.acceleration[k] = p[k].d2;
    }
    if (i < n) x[i].slope = 0;
  }
}

void Geometry::differentiate_spin(int dimension, const double* q, const double* v, double* w, double* rate,
                                  double* jacobian) const {
  const Index n = size();
  const int d = dimension == 2 ? 1 : 3;
  const Buffer<Taylor, few> x = along(q, v, n), y = along(v, nullptr, n);
  Taylor turn[3];
  angular_velocity(dimension, x.data(), y.data(), turn);
  for (int k = 0; k < d; ++k) w[k] = turn[k].v, rate[k] = turn[k].d1;
  Buffer<double, few> unit(n, 0.0);
  double column[3];
  for (Index i = 0; i < n; ++i) {
    unit[i] = 1;
    angular_velocity(dimension, q, unit.data(), column);
    for (int k = 0; k < d; ++k) jacobian[k * n + i] = column[k];
    unit[i] = 0;
  }
}

}  // namespace mortise
