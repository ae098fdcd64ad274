#include "mechanisms.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

namespace bench {
namespace {

Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Vec3 sum(const Vec3& a, double f, const Vec3& b) { return {a[0] + f * b[0], a[1] + f * b[1], a[2] + f * b[2]}; }

Quaternion product(const Quaternion& p, const Quaternion& q) {
  return {p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
          p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1], p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]};
}
Quaternion conjugate(const Quaternion& u) { return {u[0], -u[1], -u[2], -u[3]}; }
Quaternion normalized(const Quaternion& u) {
  const double length = std::sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + u[3] * u[3]);
  return {u[0] / length, u[1] / length, u[2] / length, u[3] / length};
}

// The centres, rod by rod: a rod's top is where the bottom of the one above is.
void hang(Chain& chain) {
  Vec3 joint{0, 0, 0}, velocity{0, 0, 0};
  for (auto& rod : chain.rods) {
    const auto from_centre = [&](const Vec3& r) { return rotate(rod.u, r); };
    const auto velocity_from_centre = [&](const Vec3& r) { return rotate(rod.u, cross(rod.w, r)); };
    rod.x = sum(joint, -1, from_centre(Chain::top));
    rod.v = sum(velocity, -1, velocity_from_centre(Chain::top));
    joint = sum(rod.x, 1, from_centre(Chain::bottom));
    velocity = sum(rod.v, 1, velocity_from_centre(Chain::bottom));
  }
}

}  // namespace

Vec3 rotate(const Quaternion& u, const Vec3& r) {
  const Vec3 e{u[1], u[2], u[3]}, t = cross(e, r);
  return sum(sum(r, 2 * u[0], t), 2, cross(e, t));
}
Vec3 rotate_back(const Quaternion& u, const Vec3& r) { return rotate(conjugate(u), r); }

Chain spherical_chain(int n) {
  std::mt19937 engine(1);
  std::normal_distribution<double> normal;
  Chain chain;
  chain.rods.resize(static_cast<std::size_t>(n));
  Quaternion above{1, 0, 0, 0};
  Vec3 w_above{0, 0, 0};  // in world axes
  for (auto& rod : chain.rods) {
    for (auto& x : rod.u) x = normal(engine);
    for (auto& x : rod.w) x = normal(engine);
    rod.u = normalized(rod.u);
    rod.relative_u = normalized(product(conjugate(above), rod.u));
    rod.relative_w = sum(rod.w, -1, rotate_back(rod.u, w_above));
    rod.axis = {0, 0, 1};
    rod.angle = rod.rate = 0;
    above = rod.u;
    w_above = rotate(rod.u, rod.w);
  }
  hang(chain);
  return chain;
}

Chain revolute_chain(int n) {
  std::mt19937 engine(1);
  std::normal_distribution<double> normal;
  Chain chain;
  chain.revolute = true;
  chain.rods.resize(static_cast<std::size_t>(n));
  Quaternion above{1, 0, 0, 0};
  Vec3 w_above{0, 0, 0};  // in the axes of the rod above
  bool along_x = true;
  for (auto& rod : chain.rods) {
    rod.axis = along_x ? Vec3{1, 0, 0} : Vec3{0, 0, 1};
    along_x = !along_x;
    rod.angle = normal(engine);
    rod.rate = normal(engine);
    const double c = std::cos(rod.angle / 2), s = std::sin(rod.angle / 2);
    rod.relative_u = {c, s * rod.axis[0], s * rod.axis[1], s * rod.axis[2]};
    rod.relative_w = sum({0, 0, 0}, rod.rate, rod.axis);
    rod.u = normalized(product(above, rod.relative_u));
    rod.w = sum(rotate_back(rod.relative_u, w_above), 1, rod.relative_w);
    above = rod.u;
    w_above = rod.w;
  }
  hang(chain);
  return chain;
}

// One degree of freedom: (N + 1) rods turn about their ends with 1/3, N couplers move with their joints.
double FourBar::theta_acceleration() const {
  const double rods = windows + 1, couplers = windows;
  return -gravity * std::cos(theta) * (rods / 2 + couplers) / (rods / 3 + couplers);
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) throw std::logic_error("the two sides return different numbers of accelerations");
  double error = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return INFINITY;
    error = std::max(error, std::abs(a[i] - b[i]));
    size = std::max(size, std::abs(b[i]));
  }
  return error / size;
}

}  // namespace bench
