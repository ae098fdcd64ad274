// Beside DART: the chain as its recursive tree of ball joints, one state to its accelerations and a whole run.
//
// Debian builds DART for any processor of its kind, and Eigen's alignment is part of its interface: this file must not
// be compiled with -march=native.

#include <chrono>
#include <cmath>

#include <fmt/format.h>
#include <dart/dynamics/BallJoint.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/Skeleton.hpp>

#include "mechanisms.h"
#include "mortise_side.h"
#include "report.h"
#include "sim_runs.h"

namespace {

using Eigen::Vector3d;

Vector3d vector(const bench::Vec3& r) { return {r[0], r[1], r[2]}; }

// Angle times axis, exact near half a turn too.
Vector3d rotation_vector(const bench::Quaternion& u) {
  const Vector3d e(u[1], u[2], u[3]);
  const double sine = e.norm();
  return sine > 0 ? Vector3d(2 * std::atan2(sine, u[0]) / sine * e) : Vector3d(2 * e);
}

struct DartChain {
  dart::dynamics::SkeletonPtr skeleton = dart::dynamics::Skeleton::create("chain");
  Eigen::VectorXd q, u;

  explicit DartChain(const bench::Chain& chain) {
    skeleton->setGravity({0, 0, -bench::gravity});
    const auto J = vector(bench::Chain::inertia);
    dart::dynamics::BodyNode* above = nullptr;
    for (std::size_t i = 0; i < chain.rods.size(); ++i) {
      dart::dynamics::BallJoint::Properties joint;
      joint.mName = fmt::format("joint{}", i);
      if (above) joint.mT_ParentBodyToJoint.translation() = vector(bench::Chain::bottom);
      joint.mT_ChildBodyToJoint.translation() = vector(bench::Chain::top);
      dart::dynamics::BodyNode::Properties body;
      body.mName = fmt::format("rod{}", i);
      body.mInertia = dart::dynamics::Inertia(bench::Chain::mass, Vector3d::Zero(), J.asDiagonal());
      above = skeleton->createJointAndBodyNodePair<dart::dynamics::BallJoint>(above, joint, body).second;
    }
    q.resize(static_cast<Eigen::Index>(skeleton->getNumDofs()));
    u.resize(q.size());
    Eigen::Index first = 0;
    for (const auto& rod : chain.rods) {
      q.segment<3>(first) = rotation_vector(rod.relative_u);
      u.segment<3>(first) = vector(rod.relative_w);
      first += 3;
    }
  }

  // What is timed.  Setting positions and velocities makes DART forget all that depends on them.
  void solve() {
    skeleton->setPositions(q);
    skeleton->setVelocities(u);
    skeleton->computeForwardDynamics();
  }
  std::vector<double> accelerations() const {
    std::vector<double> out;
    for (std::size_t i = 0; i < skeleton->getNumBodyNodes(); ++i) {
      const auto* body = skeleton->getBodyNode(i);
      const Vector3d w = body->getAngularAcceleration(), x = body->getLinearAcceleration();
      out.insert(out.end(), {w[0], w[1], w[2], x[0], x[1], x[2]});
    }
    return out;
  }
};

// The steps of its World without contacts: semi-implicit, of first order.
bench::RunResult run(const bench::Chain& chain, double step) {
  DartChain model(chain);
  auto& skeleton = *model.skeleton;
  skeleton.setPositions(model.q);
  skeleton.setVelocities(model.u);
  const auto energy = [&] { return skeleton.computeKineticEnergy() + skeleton.computePotentialEnergy(); };
  const double start = energy();
  bench::RunResult out;
  out.setting = fmt::format("semi-implicit Euler, {:g} s", step);
  out.energy_error = 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto steps = std::lround(1 / step);
  for (long k = 1; k <= steps; ++k) {
    skeleton.computeForwardDynamics();
    skeleton.integrateVelocities(step);
    skeleton.integratePositions(step);
    if (k % (steps / 10) == 0) out.energy_error = std::max(out.energy_error, std::abs(energy() - start));
  }
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const Vector3d x = skeleton.getBodyNode(skeleton.getNumBodyNodes() - 1)->getCOM();
  out.end = {x[0], x[1], x[2]};
  return out;
}

void accelerations(bench::Report& report) {
  const std::string name = "chain_100_dart";
  if (!report.wants(name)) return;
  const int n = report.options().size(100);
  const auto numbers = bench::spherical_chain(n);
  bench::MortiseSide ours(numbers);
  DartChain theirs(numbers);
  const auto times = bench::race(
      report.options(), [&] { ours.solve(); }, [&] { theirs.solve(); });
  const double difference = bench::difference(ours.accelerations(), theirs.accelerations());
  report.ratio(report.name(name, 100), times, "DART, tree of balls; " + report.agreement(difference));
  report.figure("us_per_body_dart_" + report.name("chain_100", 100), times.theirs / n);
}

void whole_run(bench::Report& report) {
  if (!report.wants("sim_chain_20")) return;
  const auto chain = bench::spherical_chain(report.options().size(20));
  bench::Runs runs;
  for (const double step : {1e-3, 1e-4, 1e-5}) runs.emplace_back([=] { return run(chain, step); });
  bench::contest(
      report, report.name("sim_chain_20", 20), "dart", "DART, tree of balls", bench::right_chain(chain),
      [=](double tolerance) { return bench::MortiseRuns::chain(chain, 1, tolerance); }, runs);
}

}  // namespace

int main(int count, char** arguments) {
  bench::Report report(bench::Options::from(count, arguments));
  accelerations(report);
  whole_run(report);
  return report.exit_code();
}
