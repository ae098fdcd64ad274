// mortise alone: how time and memory grow up to a million bodies, and the published formula taken literally.

#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <Eigen/Dense>

#include <mortise/assembly/assembly.h>
#include <mortise/engine/engine.h>
#include <mortise/mortise.h>

#include "build.h"
#include "factorisation.h"
#include "report.h"

namespace {

using mortise::MatrixXd, mortise::VectorXd;

// A chain with all that solving it needs.  The assembly is gone: a System does not need it.
struct SolvableChain {
  mortise::System system;
  mortise::State state;
  mortise::Solver solver;

  explicit SolvableChain(const bench::Chain& chain)
      : system(bench::assembly_of(chain)), state(bench::state_of(system, chain)), solver(system) {}
  const VectorXd& solve() { return solver.solve(state); }
};

// VmRSS, what is resident now, or VmHWM, the most there was.
double bytes(const std::string& which) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(which + ":")) return 1024 * std::stod(line.substr(which.size() + 1));
  throw std::runtime_error("/proc/self/status has no " + which);
}

// Comes first: memory that the process has freed before would hide growth.
void growth(bench::Report& report) {
  if (!report.wants("linearity") && !report.wants("bytes_per_body")) return;
  const int full = 1'000'000;
  const int large = report.options().size(report.options().quick ? 100'000 : full);
  const int small = std::min(1000, large / 2);
  const auto numbers = bench::spherical_chain(large);
  const double before = bytes("VmRSS");
  SolvableChain chain(numbers);
  chain.solve();
  report.figure(report.name("bytes_per_body", full), (bytes("VmRSS") - before) / large,
                fmt::format("resident at {} bodies: System, State, Solver; the Assembly is destroyed", large));
  report.figure(report.name("peak_bytes_per_body", full), (bytes("VmHWM") - before) / large,
                "the most there was, while the Assembly was there too");

  SolvableChain short_chain(bench::spherical_chain(small));
  const auto times = bench::race(
      report.options(), [&] { chain.solve(); }, [&] { short_chain.solve(); });
  report.ratio(report.name("linearity", full), times.ours / large / (times.theirs / small),
               fmt::format("time per body, {} bodies over {} bodies", large, small));
  report.figure(fmt::format("us_per_body_chain_{}_alone", large), times.ours / large);
  report.figure(fmt::format("us_per_body_chain_{}_alone", small), times.theirs / small);
}

// q'' = a + M_A^-1/2 B+ (b - A a),   a = M_A^-1 Q,  B = A M_A^-1/2,  M_A = M + A+A    [US10, Eq. 54, alpha = 1, C = 0]
// Pseudo-inverses by the complete orthogonal decomposition: the singular values would take longer.
VectorXd literal_formula(const mortise::Equations& e) {
  const MatrixXd M_A = e.M + e.A.completeOrthogonalDecomposition().pseudoInverse() * e.A;
  const MatrixXd root = Eigen::SelfAdjointEigenSolver<MatrixXd>(M_A).operatorInverseSqrt();
  const VectorXd a = root * (root * e.Q);
  const MatrixXd B = e.A * root;
  return a + root * B.completeOrthogonalDecomposition().solve(e.b - e.A * a);
}

// The formula is given its matrices; we start from the state.
void dense_formula(bench::Report& report) {
  const std::string name = "dense_formula_30";
  if (!report.wants(name)) return;
  const auto numbers = bench::spherical_chain(report.options().size(30));
  SolvableChain chain(numbers);
  const auto equations = chain.system.equations(chain.system.evaluate(chain.state));
  VectorXd theirs;
  const auto times = bench::race(
      report.options(), [&] { chain.solve(); }, [&] { theirs = literal_formula(equations); });
  const VectorXd& ours = chain.solve();
  const double difference =
      bench::difference(bench::accelerations_of(numbers, ours), bench::accelerations_of(numbers, theirs));
  report.ratio(report.name(name, 30), times, "the pseudo-inverse formula, literally; " + report.agreement(difference));
}

// The share of a step that the rank alarm takes, in a chain in which every third rod is massless.  The last one is not:
// nothing would hold it.
void alarm_cost(bench::Report& report) {
  const std::string name = "alarm_cost";
  if (!report.wants(name)) return;
  auto numbers = bench::spherical_chain(report.options().size(1000));
  for (std::size_t i = 1; i + 1 < numbers.rods.size(); i += 3) numbers.rods[i].massless = true;
  const SolvableChain chain(numbers);
  const auto step = [&](mortise::Engine& engine) {
    engine.evaluate(chain.state);
    engine.factor();
    (void)engine.solve();
  };
  mortise::Engine with(chain.system), without(chain.system);
  without.set_alarm(false);
  const auto times = bench::race(
      report.options(), [&] { step(with); }, [&] { step(without); });
  report.figure(report.name(name, 1000), 1 - times.theirs / times.ours,
                "share of a step that the rank alarm takes, every third rod massless");
}

// Two threads over one, and the same bits.
void threads(bench::Report& report) {
  const std::string name = "threads_2";
  if (!report.wants(name)) return;
  const auto numbers = bench::spherical_chain(report.options().size(100'000));
  SolvableChain chain(numbers);
  mortise::Solver two(chain.system, {.threads = 2});
  const auto times = bench::race(
      report.options(), [&] { two.solve(chain.state); }, [&] { chain.solve(); });
  const bool same = two.solve(chain.state) == chain.solve();
  report.ratio(report.name(name, 100'000), times,
               "one thread; " + std::string(same ? "the same bits" : report.agreement(1)));
}

// An arm of bodies in a row, two of five joints welds, as in files of robots: solved with welded bodies as one, and singly.
void welded(bench::Report& report) {
  const std::string name = "welded_100";
  if (!report.wants(name)) return;
  using namespace mortise;
  Assembly arm("arm");
  arm.set_gravity({0, 0, -9.81});
  Handle<RigidBody> last;
  const auto ground = arm.add("ground", Ground{});
  for (int i = 0; i < report.options().size(100); ++i) {
    const auto body =
        arm.add(fmt::format("body_{}", i), RigidBody::of(Inertia::box(1 + 0.1 * (i % 3), {0.4, 0.1, 0.2})));
    const double angle = 0.3 * std::sin(1.0 * i), x = 0.4 * i;
    arm.place(body, RigidBody::pose({x, 0.1 * std::cos(1.0 * i), 0}, {std::cos(angle), 0, 0, std::sin(angle)}));
    const Vec3<double> point(x - 0.2, 0, 0);
    const Axis axis(0, 1, i % 2);
    const std::string joint = fmt::format("joint_{}", i);
    if (i == 0)
      arm.connect(joint, at_world<Revolute>(point, axis), ground, body);
    else if (i % 5 == 1 || i % 5 == 3)
      arm.connect(joint, at_world<Weld>(point), last, body);
    else
      arm.connect(joint, at_world<Revolute>(point, axis), last, body);
    last = body;
  }
  const System system(arm);
  State s = system.state();
  for (Index i = 0; i < s.v.size(); ++i) s.v[i] = std::sin(static_cast<double>(i));
  Solver one(system), single(system, {.merge_welded = false});
  Solver(system).project_velocities(s);  // not one of these: its factor would serve the first solve
  const auto times = bench::race(
      report.options(), [&] { (void)one.solve(s); }, [&] { (void)single.solve(s); });
  const VectorXd difference = one.solve(s) - single.solve(s);
  if (one.merged() == 0) report.fail(name, "nothing was merged");
  report.ratio(report.name(name, 100), times,
               "single bodies, two of five joints welds; " +
                   report.agreement(difference.cwiseAbs().maxCoeff() / single.solve(s).cwiseAbs().maxCoeff()));
}

}  // namespace

int main(int count, char** arguments) {
  bench::Report report(bench::Options::from(count, arguments));
  growth(report);
  dense_formula(report);
  alarm_cost(report);
  threads(report);
  welded(report);
  bench::factorisations(report);
  return report.exit_code();
}
