// Whole runs beside Simbody: the chain of 20 rods as a recursive tree, and Bricard's mechanism with its closed loop.
//
// Several of its integrators and accuracies are tried; the fastest setting that is right counts.

#include <chrono>
#include <cmath>
#include <memory>

#include <Simbody.h>

#include <fmt/format.h>

#include "sim_runs.h"

namespace {

using SimTK::MobilizedBody, SimTK::Transform;

SimTK::Vec3 vector(const bench::Vec3& r) { return {r[0], r[1], r[2]}; }

struct Model {
  SimTK::MultibodySystem system;
  SimTK::SimbodyMatterSubsystem matter{system};
  SimTK::GeneralForceSubsystem forces{system};
  std::vector<MobilizedBody> bodies;
  SimTK::State state;

  bench::RunResult run(int method, double accuracy, double duration, int watched, const SimTK::Vec3& at) {
    std::unique_ptr<SimTK::Integrator> integrator;
    const char* name = "RungeKuttaMerson";
    if (method == 0) integrator = std::make_unique<SimTK::RungeKuttaMersonIntegrator>(system);
    if (method == 1)
      integrator = std::make_unique<SimTK::RungeKuttaFeldbergIntegrator>(system), name = "RungeKuttaFeldberg";
    if (method == 2)
      integrator = std::make_unique<SimTK::CPodesIntegrator>(system, SimTK::CPodes::Adams), name = "CPodes Adams";
    bench::RunResult out;
    out.setting = fmt::format("{} {:g}", name, accuracy);
    try {
      integrator->setAccuracy(accuracy);
      integrator->setConstraintTolerance(std::max(1e-12, accuracy / 10));
      SimTK::State s = state;
      system.realize(s, SimTK::Stage::Dynamics);
      const double start = system.calcEnergy(s);
      const auto begin = std::chrono::steady_clock::now();
      SimTK::TimeStepper stepper(system, *integrator);
      stepper.initialize(s);
      out.energy_error = 0;
      for (int k = 1; k <= 10; ++k) {
        stepper.stepTo(duration * k / 10);
        system.realize(stepper.getState(), SimTK::Stage::Dynamics);
        out.energy_error = std::max(out.energy_error, std::abs(system.calcEnergy(stepper.getState()) - start));
      }
      out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      const SimTK::Vec3 p =
          bodies[static_cast<std::size_t>(watched)].findStationLocationInGround(stepper.getState(), at);
      out.end = {p[0], p[1], p[2]};
    } catch (const std::exception&) {  // it breaks off: not right
    }
    return out;
  }
};

std::shared_ptr<Model> chain_of(const bench::Chain& chain) {
  auto m = std::make_shared<Model>();
  SimTK::Force::UniformGravity(m->forces, m->matter, SimTK::Vec3(0, 0, -bench::gravity));
  const SimTK::Vec3 top = vector(bench::Chain::top);
  const SimTK::Body::Rigid rod(
      SimTK::MassProperties(bench::Chain::mass, SimTK::Vec3(0), SimTK::Inertia(vector(bench::Chain::inertia))));
  const auto rotation = [](const bench::Quaternion& u) {
    return SimTK::Rotation(SimTK::Quaternion(u[0], u[1], u[2], u[3]));
  };
  MobilizedBody above = m->matter.updGround();
  SimTK::Vec3 hook(0);
  for (std::size_t i = 0; i < chain.rods.size(); ++i) {
    m->bodies.push_back(MobilizedBody::Ball(above, Transform(hook), rod, Transform(top)));
    above = m->bodies.back();
    hook = vector(bench::Chain::bottom);
  }
  m->state = m->system.realizeTopology();
  for (std::size_t i = 0; i < chain.rods.size(); ++i) {
    m->bodies[i].setQToFitRotation(m->state, rotation(chain.rods[i].relative_u));
    m->bodies[i].setUToFitAngularVelocity(m->state,
                                          rotation(chain.rods[i].relative_u) * vector(chain.rods[i].relative_w));
  }
  return m;
}

// Five pins make a chain; a ball and two angles close it, one row more than needed, as in the model of all others.
std::shared_ptr<Model> bricard() {
  auto m = std::make_shared<Model>();
  SimTK::Force::UniformGravity(m->forces, m->matter, SimTK::Vec3(0, -bench::gravity, 0));
  const SimTK::Vec3 corner[6] = {{0, 0, 0}, {1, 0, 0}, {1, -1, 0}, {1, -1, 1}, {0, -1, 1}, {0, 0, 1}};
  const SimTK::UnitVec3 axis[3] = {SimTK::UnitVec3(0, 1, 0), SimTK::UnitVec3(0, 0, 1), SimTK::UnitVec3(1, 0, 0)};
  MobilizedBody above = m->matter.updGround();
  SimTK::Vec3 centre(0);
  for (int k = 0; k < 5; ++k) {
    const SimTK::Vec3 next = 0.5 * (corner[k] + corner[k + 1]), along = corner[k + 1] - corner[k];
    const double across = 0.02 / 12, lengthwise = 1.01 / 12;
    SimTK::Vec3 J;
    for (int i = 0; i < 3; ++i) J[i] = std::abs(along[i]) > 0.5 ? across : lengthwise;
    const SimTK::Body::Rigid rod(SimTK::MassProperties(1, SimTK::Vec3(0), SimTK::Inertia(J)));
    const SimTK::Rotation turn(axis[k % 3], SimTK::ZAxis);
    m->bodies.push_back(
        MobilizedBody::Pin(above, Transform(turn, corner[k] - centre), rod, Transform(turn, corner[k] - next)));
    above = m->bodies.back();
    centre = next;
  }
  MobilizedBody& ground = m->matter.updGround();
  SimTK::Constraint::Ball(ground, corner[5], m->bodies[4], corner[5] - centre);
  SimTK::Constraint::ConstantAngle(ground, axis[1], m->bodies[4], axis[2]);
  SimTK::Constraint::ConstantAngle(ground, axis[0], m->bodies[4], axis[2]);
  m->state = m->system.realizeTopology();
  return m;
}

}  // namespace

int main(int count, char** arguments) {
  bench::Report report(bench::Options::from(count, arguments));
  const int times = report.options().quick ? 2 : 5;
  const auto settings = [&](const std::shared_ptr<Model>& model, double duration, int watched, const SimTK::Vec3& at) {
    std::vector<std::function<bench::RunResult()>> runs;
    for (const int method : {0, 1, 2})
      for (const double accuracy : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9})
        runs.emplace_back([=] { return model->run(method, accuracy, duration, watched, at); });
    return runs;
  };
  if (report.wants("sim_chain_20")) {
    const int n = report.options().size(20);
    const auto chain = bench::spherical_chain(n);
    const bench::Right right{1e-2, 0, 1e-4, bench::MortiseRuns::chain(chain, 1, 1e-13).end};
    std::vector<std::function<bench::RunResult()>> ours;
    for (const double tolerance : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9})
      ours.emplace_back([=] { return bench::MortiseRuns::chain(chain, 1, tolerance); });
    bench::compare(report, report.name("sim_chain_20", 20), bench::fastest(right, ours, times),
                   bench::fastest(right, settings(chain_of(chain), 1, n - 1, SimTK::Vec3(0)), times),
                   "Simbody, tree of balls", right);
  }
  if (report.wants("sim_bricard")) {
    const bench::Right right{1e-3, 0, 1e-5, bench::bricard_end};
    std::vector<std::function<bench::RunResult()>> ours;
    for (const double tolerance : {1e-5, 1e-6, 1e-7, 1e-8, 1e-9})
      ours.emplace_back([=] { return bench::MortiseRuns::bricard(tolerance); });
    bench::compare(report, "sim_bricard", bench::fastest(right, ours, times),
                   bench::fastest(right, settings(bricard(), 10, 1, SimTK::Vec3(0, -0.5, 0)), times),
                   "Simbody, closed tree of pins", right);
  }
  return report.exit_code();
}
