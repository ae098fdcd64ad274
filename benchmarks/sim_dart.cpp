// Whole runs beside DART: four-bars and Bricard's mechanism as closed trees, the chain of 20 rods as a recursive tree.
//
// Its World has semi-implicit steps of first order, in which impulses close the loops.  The error reduction parameter
// is 1, which takes back a gap within one step: smaller ones make no more runs right.  Several steps are tried; the
// fastest that is right counts.

#include <chrono>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <dart/constraint/BallJointConstraint.hpp>
#include <dart/constraint/ConstraintSolver.hpp>
#include <dart/constraint/WeldJointConstraint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/UniversalJoint.hpp>
#include <dart/simulation/World.hpp>

#include "dart_tree.h"
#include "sim_runs.h"

namespace {

using bench::hang;
using dart::dynamics::BodyNode, dart::dynamics::RevoluteJoint, dart::dynamics::Skeleton, dart::dynamics::UniversalJoint;
using Eigen::Vector3d;

struct Model {
  dart::simulation::WorldPtr world = dart::simulation::World::create();
  double duration = 10;
  std::vector<const BodyNode*> couplers;
  const BodyNode* watched = nullptr;
  Vector3d at = Vector3d::Zero();

  double energy() const {
    double sum = 0;
    for (std::size_t i = 0; i < world->getNumSkeletons(); ++i) {
      const auto skeleton = world->getSkeleton(i);
      sum += skeleton->computeKineticEnergy() + skeleton->computePotentialEnergy();
    }
    return sum;
  }
  // The largest sine of the angle of a coupler.
  double tilt() const {
    double most = 0;
    for (const BodyNode* coupler : couplers) most = std::max(most, std::abs(coupler->getTransform().linear()(1, 0)));
    return most;
  }
  template <class Constraint, class... Arguments> void close(const Arguments&... arguments) {
    world->getConstraintSolver()->addConstraint(std::make_shared<Constraint>(arguments...));
  }
};

bench::RunResult run(const Model& m, double step) {
  m.world->setTimeStep(step);
  const double start = m.energy();
  bench::RunResult out;
  out.setting = fmt::format("semi-implicit Euler, {:g} s", step);
  out.energy_error = 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto steps = std::lround(m.duration / step);
  for (long k = 1; k <= steps; ++k) {
    m.world->step();
    if (k % (steps / 100) != 0) continue;
    out.energy_error = std::max(out.energy_error, std::abs(m.energy() - start));
    out.branch_error = std::max(out.branch_error, m.tilt());
    if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(5)) return out;  // no match
  }
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const Vector3d p = m.watched->getTransform() * m.at;
  out.end = {p[0], p[1], p[2]};
  if (!m.couplers.empty()) out.end.pop_back();
  return out;
}

Model chain_of(const bench::Chain& numbers) {
  bench::DartChain chain(numbers);
  chain.start();
  Model m;
  m.duration = 1;
  m.world->setGravity(chain.skeleton->getGravity());
  m.world->addSkeleton(chain.skeleton);
  m.watched = chain.skeleton->getBodyNode(chain.skeleton->getNumBodyNodes() - 1);
  return m;
}

RevoluteJoint::Properties hinge(const Vector3d& axis) {
  RevoluteJoint::Properties joint;
  joint.mAxis = axis;
  return joint;
}

// Each rod carries a coupler, and a ball closes the window.  The couplers hang on universal joints: on hinges, which
// keep them in the plane already, a row of each ball is zero, the direct solution of the impulses fails, and the
// iteration in its place leaves 40 windows open.
Model four_bars(int windows) {
  const Vector3d up(0, 0.5, 0), along(0.5, 0, 0);
  UniversalJoint::Properties universal;
  universal.mAxis = {Vector3d::UnitZ(), Vector3d::UnitY()};
  Model m;
  m.world->setGravity({0, -bench::gravity, 0});
  BodyNode* coupler = nullptr;
  for (int i = 0; i <= windows; ++i) {
    const auto skeleton = Skeleton::create(fmt::format("rod{}", i));
    BodyNode* rod = hang<RevoluteJoint>(*skeleton, nullptr, Vector3d(i, 0, 0), -up, 1,
                                        Vector3d(1.0 / 12.0, 0.001, 1.0 / 12.0), hinge(Vector3d::UnitZ()));
    rod->getParentJoint()->setVelocity(0, -1);
    if (coupler) m.close<dart::constraint::BallJointConstraint>(coupler, rod, rod->getTransform() * up);
    if (i == 0) m.watched = rod, m.at = up;
    if (i < windows) {
      coupler = hang<UniversalJoint>(*skeleton, rod, up, -along, 1, Vector3d(0.001, 1.0 / 12.0, 1.0 / 12.0), universal);
      coupler->getParentJoint()->setVelocity(0, 1);
      m.couplers.push_back(coupler);
    }
    m.world->addSkeleton(skeleton);
  }
  return m;
}

// Two chains of three hinges from the ground; each ends in the middle rod with half its mass, and a weld joins the two.
Model bricard() {
  const std::array<Vector3d, 6> corner{{{0, 0, 0}, {1, 0, 0}, {1, -1, 0}, {1, -1, 1}, {0, -1, 1}, {0, 0, 1}}};
  const auto centre = [&](std::size_t rod) { return Vector3d((corner[rod] + corner[rod + 1]) / 2); };
  Model m;
  m.world->setGravity({0, -bench::gravity, 0});
  const auto skeleton = Skeleton::create("bricard");
  // The axes of the hinges at the corners are y, z, x, y, z, x.
  const auto add = [&](BodyNode* parent, std::size_t rod, std::size_t at, double mass) {
    const Vector3d along = corner[rod + 1] - corner[rod],
                   on_parent = parent ? parent->getTransform().inverse() * corner[at] : corner[at];
    const Vector3d J = mass / 12 * (Vector3d::Constant(1.01) - 0.99 * along.cwiseAbs());
    return hang<RevoluteJoint>(*skeleton, parent, on_parent, corner[at] - centre(rod), mass, J,
                               hinge(Vector3d::Unit(static_cast<Eigen::Index>((at + 1) % 3))));
  };
  BodyNode* second = add(add(nullptr, 0, 0, 1), 1, 1, 1);
  BodyNode* half = add(second, 2, 2, 0.5);
  BodyNode* other_half = add(add(add(nullptr, 4, 5, 1), 3, 4, 1), 2, 3, 0.5);
  m.world->addSkeleton(skeleton);
  m.close<dart::constraint::WeldJointConstraint>(half, other_half);
  m.watched = second;
  m.at = {0, -0.5, 0};
  return m;
}

bench::Runs settings(const std::function<Model()>& model, std::initializer_list<double> steps) {
  bench::Runs runs;
  for (const double step : steps) runs.emplace_back([=] { return run(model(), step); });
  return runs;
}

}  // namespace

int main(int count, char** arguments) {
  bench::Report report(bench::Options::from(count, arguments));
  dart::constraint::DynamicJointConstraint::setErrorReductionParameter(1);
  if (report.wants("sim_chain_20")) {
    const auto chain = bench::spherical_chain(report.options().size(20));
    bench::contest(
        report, report.name("sim_chain_20", 20), "dart", "DART, tree of balls", bench::right_chain(chain),
        [=](double tolerance) { return bench::MortiseRuns::chain(chain, 1, tolerance); },
        settings([=] { return chain_of(chain); }, {1e-3, 1e-4, 1e-5}));
  }
  if (report.wants("sim_bricard"))
    bench::contest(report, "sim_bricard", "dart", "DART, closed tree of hinges", bench::right_bricard,
                   bench::MortiseRuns::bricard, settings(bricard, {1e-2, 1e-3, 1e-4, 1e-5}));
  for (const int windows : {10, 40}) {
    const std::string name = fmt::format("sim_fourbar_{}", windows);
    if (!report.wants(name) || report.options().quick) continue;
    const int n = report.options().size(windows);
    bench::contest(
        report, report.name(name, windows), "dart", "DART, closed tree of hinges", bench::right_four_bar(n),
        [=](double tolerance) { return bench::MortiseRuns::four_bar(n, tolerance); },
        settings([=] { return four_bars(n); }, {1e-2, 1e-3, 2.5e-4, 1e-4}));
  }
  return report.exit_code();
}
