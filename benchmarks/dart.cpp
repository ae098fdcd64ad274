// Beside DART: the chain as its recursive tree of ball joints, one state to its accelerations.

#include "dart_tree.h"
#include "mortise_side.h"
#include "report.h"

namespace {

std::vector<double> accelerations(const dart::dynamics::Skeleton& skeleton) {
  std::vector<double> out;
  for (std::size_t i = 0; i < skeleton.getNumBodyNodes(); ++i) {
    const auto* body = skeleton.getBodyNode(i);
    const Eigen::Vector3d w = body->getAngularAcceleration(), x = body->getLinearAcceleration();
    out.insert(out.end(), {w[0], w[1], w[2], x[0], x[1], x[2]});
  }
  return out;
}

}  // namespace

int main(int count, char** arguments) {
  bench::Report report(bench::Options::from(count, arguments));
  const std::string name = "chain_100_dart";
  if (report.wants(name)) {
    const int n = report.options().size(100);
    const auto numbers = bench::spherical_chain(n);
    bench::MortiseSide ours(numbers);
    bench::DartChain theirs(numbers);
    const auto times = bench::race(
        report.options(), [&] { ours.solve(); },
        [&] {
          theirs.start();
          theirs.skeleton->computeForwardDynamics();
        });
    const double difference = bench::difference(ours.accelerations(), accelerations(*theirs.skeleton));
    report.ratio(report.name(name, 100), times, "DART, tree of balls; " + report.agreement(difference));
    report.figure("us_per_body_dart_" + report.name("chain_100", 100), times.theirs / n);
  }
  return report.exit_code();
}
