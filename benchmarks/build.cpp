#include "build.h"

#include <cmath>

#include <mortise/assembly/assembly.h>
#include <mortise/bodies/ground.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/spherical.h>

namespace bench {
namespace {

mortise::Vec3<double> vector(const Vec3& r) { return {r[0], r[1], r[2]}; }

std::string numbered(const char* name, int i) { return name + std::to_string(i); }

}  // namespace

mortise::Assembly assembly_of(const Chain& chain) {
  mortise::Assembly assembly("chain");
  assembly.set_gravity({0, 0, -gravity});
  const auto ground = assembly.add("ground", mortise::Ground{});
  const auto top = vector(Chain::top), bottom = vector(Chain::bottom);
  mortise::Handle<mortise::RigidBody> above;
  int i = 0;
  for (const auto& rod : chain.rods) {
    mortise::RigidBody body;
    body.mass = rod.massless ? 0 : Chain::mass;
    body.inertia.diagonal() = vector(rod.massless ? Vec3{0, Chain::inertia[1], 0} : Chain::inertia);
    const auto added = assembly.add(numbered("rod", i), body);
    const auto connect = [&](const auto& on_a, const auto& a) {
      const auto axis = vector(rod.axis);
      if (chain.revolute)
        assembly.connect(numbered("joint", i),
                         mortise::Revolute{.on_a = on_a, .on_b = top, .axis_a = axis, .axis_b = axis}, a, added);
      else
        assembly.connect(numbered("joint", i), mortise::Spherical{.on_a = on_a, .on_b = top}, a, added);
    };
    if (i == 0)
      connect(vector({0, 0, 0}), ground);
    else
      connect(bottom, above);
    above = added;
    ++i;
  }
  return assembly;
}

mortise::State state_of(const mortise::System& system, const Chain& chain) {
  mortise::State state = system.state();
  for (int i = 0; i < chain.size(); ++i) {
    const auto& rod = chain.rods[static_cast<std::size_t>(i)];
    const auto q = mortise::RigidBody::pose(vector(rod.x), {rod.u[0], rod.u[1], rod.u[2], rod.u[3]});
    state.q.segment<7>(7 * i) = q;
    state.v.segment<7>(7 * i) = mortise::RigidBody::rates(q, vector(rod.v), vector(rod.w));
  }
  return state;
}

// The angular acceleration is 2 E u'' in body axes: E(u') u' = 0.
std::vector<double> accelerations_of(const Chain& chain, const mortise::VectorXd& a) {
  std::vector<double> out;
  for (int i = 0; i < chain.size(); ++i) {
    const auto& u = chain.rods[static_cast<std::size_t>(i)].u;
    const mortise::Quaternion<double> quaternion(u[0], u[1], u[2], u[3]);
    const mortise::Vec3<double> w = 2 * mortise::quaternion_E<double>(quaternion) * a.segment<4>(7 * i + 3);
    for (const double x : rotate(u, {w[0], w[1], w[2]})) out.push_back(x);
    for (int k = 0; k < 3; ++k) out.push_back(a[7 * i + k]);
  }
  return out;
}

mortise::Assembly assembly_of(const FourBar& four_bar) {
  mortise::Assembly assembly("four-bar");
  assembly.set_gravity({0, -gravity, 0});
  const auto ground = assembly.add("ground", mortise::Ground{});
  const mortise::PlanarBody bar{.mass = 1, .inertia = 1.0 / 12.0};
  std::vector<mortise::Handle<mortise::PlanarBody>> rods;
  for (int i = 0; i <= four_bar.windows; ++i) rods.push_back(assembly.add(numbered("rod", i), bar));
  for (int i = 0; i <= four_bar.windows; ++i)
    assembly.connect(numbered("foot", i), mortise::Pin{.on_a = {i, 0}, .on_b = {-0.5, 0}}, ground,
                     rods[static_cast<std::size_t>(i)]);
  for (int i = 0; i < four_bar.windows; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const auto coupler = assembly.add(numbered("coupler", i), bar);
    assembly.connect(numbered("left", i), mortise::Pin{.on_a = {0.5, 0}, .on_b = {-0.5, 0}}, rods[k], coupler);
    assembly.connect(numbered("right", i), mortise::Pin{.on_a = {0.5, 0}, .on_b = {0.5, 0}}, rods[k + 1], coupler);
  }
  return assembly;
}

mortise::State state_of(const mortise::System& system, const FourBar& four_bar) {
  mortise::State state = system.state();
  const double c = std::cos(four_bar.theta), s = std::sin(four_bar.theta), w = four_bar.rate;
  for (int i = 0; i <= four_bar.windows; ++i) {
    state.q.segment<3>(3 * i) << i + c / 2, s / 2, four_bar.theta;
    state.v.segment<3>(3 * i) << -s / 2 * w, c / 2 * w, w;
  }
  for (int i = 0; i < four_bar.windows; ++i) {
    const int first = 3 * (four_bar.windows + 1 + i);
    state.q.segment<3>(first) << i + c + 0.5, s, 0;
    state.v.segment<3>(first) << -s * w, c * w, 0;
  }
  return state;
}

std::vector<double> accelerations_of(const FourBar& four_bar, const mortise::VectorXd& a) {
  std::vector<double> out;
  for (int i = 0; i < 2 * four_bar.windows + 1; ++i) out.push_back(a[3 * i + 2]);
  return out;
}

}  // namespace bench
