// Whole runs beside Simbody: the chain of 20 rods as a recursive tree, four-bars and Bricard's mechanism as closed
// trees.
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
  std::vector<int> couplers;
  SimTK::State state;

  // The largest sine of the angle of a coupler.
  double tilt(const SimTK::State& s) const {
    double most = 0;
    for (const int i : couplers)
      most = std::max(most, std::abs(bodies[static_cast<std::size_t>(i)].getBodyRotation(s)[1][0]));
    return most;
  }

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
      for (int k = 1; k <= 100; ++k) {
        stepper.stepTo(duration * k / 100);
        if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(2)) return out;  // no match
        system.realize(stepper.getState(), SimTK::Stage::Dynamics);
        out.energy_error = std::max(out.energy_error, std::abs(system.calcEnergy(stepper.getState()) - start));
      }
      out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      out.branch_error = tilt(stepper.getState());
      const SimTK::Vec3 p =
          bodies[static_cast<std::size_t>(watched)].findStationLocationInGround(stepper.getState(), at);
      out.end = {p[0], p[1], p[2]};
      if (!couplers.empty()) out.end.pop_back();
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

// Rods and couplers along their x axes; two planes close each window.
std::shared_ptr<Model> four_bars(int windows) {
  auto m = std::make_shared<Model>();
  SimTK::Force::UniformGravity(m->forces, m->matter, SimTK::Vec3(0, -bench::gravity, 0));
  const SimTK::Body::Rigid bar(SimTK::MassProperties(1, SimTK::Vec3(0), SimTK::Inertia(0.001, 1.0 / 12.0, 1.0 / 12.0)));
  const SimTK::Vec3 left(-0.5, 0, 0), right(0.5, 0, 0);
  for (int i = 0; i <= windows; ++i)
    m->bodies.push_back(
        MobilizedBody::Pin(m->matter.updGround(), Transform(SimTK::Vec3(i, 0, 0)), bar, Transform(left)));
  for (std::size_t i = 0; i < static_cast<std::size_t>(windows); ++i) {
    m->couplers.push_back(static_cast<int>(m->bodies.size()));
    m->bodies.push_back(MobilizedBody::Pin(m->bodies[i], Transform(right), bar, Transform(left)));
    SimTK::Constraint::PointInPlane(m->bodies[i + 1], SimTK::UnitVec3(SimTK::XAxis), right[0], m->bodies.back(), right);
    SimTK::Constraint::PointInPlane(m->bodies[i + 1], SimTK::UnitVec3(SimTK::YAxis), right[1], m->bodies.back(), right);
  }
  m->state = m->system.realizeTopology();
  for (std::size_t i = 0; i < m->bodies.size(); ++i) {
    const double sign = i <= static_cast<std::size_t>(windows) ? 1 : -1;
    m->bodies[i].setOneQ(m->state, 0, sign * bench::FourBar::upright);
    m->bodies[i].setOneU(m->state, 0, -sign);
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
  const auto settings = [](const std::shared_ptr<Model>& model, double duration, int watched, const SimTK::Vec3& at) {
    bench::Runs runs;
    for (const int method : model->couplers.empty() ? std::vector{0, 1, 2} : std::vector{0, 1})  // CPodes takes minutes
      for (const double accuracy : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9})
        runs.emplace_back([=] { return model->run(method, accuracy, duration, watched, at); });
    return runs;
  };
  if (report.wants("sim_chain_20")) {
    const int n = report.options().size(20);
    const auto chain = bench::spherical_chain(n);
    bench::contest(
        report, report.name("sim_chain_20", 20), "simbody", "Simbody, tree of balls", bench::right_chain(chain),
        [=](double tolerance) { return bench::MortiseRuns::chain(chain, 1, tolerance); },
        settings(chain_of(chain), 1, n - 1, SimTK::Vec3(0)));
  }
  if (report.wants("sim_bricard"))
    bench::contest(report, "sim_bricard", "simbody", "Simbody, closed tree of pins", bench::right_bricard,
                   bench::MortiseRuns::bricard, settings(bricard(), 10, 1, SimTK::Vec3(0, -0.5, 0)));
  for (const int windows : {10, 40}) {
    const std::string name = fmt::format("sim_fourbar_{}", windows);
    if (!report.wants(name) || report.options().quick) continue;
    const int n = report.options().size(windows);
    bench::contest(
        report, report.name(name, windows), "simbody", "Simbody, closed tree of pins", bench::right_four_bar(n),
        [=](double tolerance) { return bench::MortiseRuns::four_bar(n, tolerance); },
        settings(four_bars(n), 10, 0, SimTK::Vec3(0.5, 0, 0)));
  }
  return report.exit_code();
}
