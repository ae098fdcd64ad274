#include "sim_runs.h"

#include <array>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/revolute.h>

#include "build.h"

namespace bench {
namespace {

using namespace mortise;

RunResult timed(const System& system, const State& start, double duration, double tolerance, const auto& end) {
  const auto begin = std::chrono::steady_clock::now();
  const Trajectory run = simulate(
      system, start,
      {.duration = duration, .steps = {.tolerance = tolerance}, .sample = duration, .record = {.energy = false}});
  RunResult out;
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  out.setting = fmt::format("dopri5 {:g}", tolerance);
  out.evaluations = run.evaluations;
  if (!run.finished) return out;
  out.energy_error = run.energy_error;
  end(run.last, out);
  return out;
}

}  // namespace

RunResult MortiseRuns::four_bar(int windows, double tolerance) {
  FourBar numbers;
  numbers.windows = windows;
  numbers.theta = FourBar::upright;
  const System system(assembly_of(numbers));
  return timed(system, state_of(system, numbers), 10, tolerance, [&](const State& s, RunResult& out) {
    out.end = {std::cos(s.q[2]), std::sin(s.q[2])};
    for (int i = 0; i < windows; ++i)
      out.branch_error = std::max(out.branch_error, std::abs(std::sin(s.q[3 * (windows + 1 + i) + 2])));
  });
}

RunResult MortiseRuns::chain(const Chain& chain, double t, double tolerance) {
  const System system(assembly_of(chain));
  return timed(system, state_of(system, chain), t, tolerance, [&](const State& s, RunResult& out) {
    const Index last = 7 * (chain.size() - 1);
    out.end = {s.q[last], s.q[last + 1], s.q[last + 2]};
  });
}

RunResult MortiseRuns::bricard(double tolerance) {
  using V = mortise::Vec3<double>;
  const std::array<V, 6> corner{V(0, 0, 0), V(1, 0, 0), V(1, -1, 0), V(1, -1, 1), V(0, -1, 1), V(0, 0, 1)};
  const std::array<V, 3> axes{V(0, 1, 0), V(0, 0, 1), V(1, 0, 0)};
  Assembly a("bricard");
  a.set_gravity({0, -gravity, 0});
  const auto ground = a.add("ground", Ground{});
  std::vector<Handle<RigidBody>> rod;
  for (std::size_t k = 0; k < 5; ++k) {
    const V along = corner[k + 1] - corner[k], edges = V(0.1, 0.1, 0.1) + 0.9 * along.cwiseAbs();
    rod.push_back(a.add(fmt::format("rod{}", k + 1), RigidBody::of(Inertia::box(1, edges))));
    a.place(rod[k], RigidBody::pose((corner[k] + corner[k + 1]) / 2, {1, 0, 0, 0}));
  }
  for (std::size_t k = 0; k < 6; ++k) {
    const auto hinge = at_world<Revolute>(corner[k], Axis(axes[k % 3]));
    const std::string name = fmt::format("hinge{}", k + 1);
    if (k == 0)
      a.connect(name, hinge, ground, rod[0]);
    else if (k < 5)
      a.connect(name, hinge, rod[k - 1], rod[k]);
    else
      a.connect(name, hinge, rod[4], ground);
  }
  const System system(a);
  return timed(system, system.state(), 10, tolerance, [&](const State& s, RunResult& out) {
    const mortise::Vec<double, 7> q = s.q.segment<7>(7);
    const V p = q.head<3>() + rotation_matrix<double>(q.tail<4>()) * V(0, -0.5, 0);
    out.end = {p[0], p[1], p[2]};
  });
}

}  // namespace bench
