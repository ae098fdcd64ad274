// What the check costs: the rank verdict and its words, in solves of the same chain, for chains without findings and
// with joints that are there twice.  The aim is 30 + 3 k solves for k findings; other findings than there are make it
// fail.

#include <algorithm>
#include <ctime>
#include <string>

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/diagnosis/rank_report.h>
#include <mortise/joints/spherical.h>

#include "build.h"
#include "report.h"

namespace {

// [s] of the processor, so that what else the machine does counts for neither.
template <class F> double best_time(double seconds, const F& f) {
  const auto now = [] {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  double best = 1e300;
  const double begin = now();
  do {
    const double start = now();
    f();
    best = std::min(best, now() - start);
  } while (now() - begin < seconds);
  return best;
}

void measure(bench::Report& report, int bodies, int doubled) {
  const std::string name = fmt::format("check_{}_{}", 7 * bodies, 3 * doubled);
  if (!report.wants(name)) return;
  const bench::Chain chain = bench::spherical_chain(bodies);
  mortise::Assembly assembly = bench::assembly_of(chain);
  const double solve = [&] {
    const mortise::System system(assembly);
    const mortise::State state = bench::state_of(system, chain);
    mortise::Solver solver(system);
    (void)solver.solve(state);
    return best_time(0.5, [&] { (void)solver.solve(state); });
  }();
  // A joint of the chain once more, at even distances: three rows that others imply.
  const mortise::Vec3<double> top(bench::Chain::top.data()), bottom(bench::Chain::bottom.data());
  for (int k = 0; k < doubled; ++k) {
    const int i = 1 + k * (bodies - 1) / doubled;
    const auto rod = [&](int number) {
      const std::string path = fmt::format("rod{}", number);
      return mortise::Handle<mortise::RigidBody>{path, assembly.model(path)};
    };
    assembly.connect(fmt::format("again{}", k), mortise::Spherical{.on_a = bottom, .on_b = top}, rod(i - 1), rod(i));
  }
  const mortise::System system(assembly);
  const mortise::Evaluation e = system.evaluate(bench::state_of(system, chain));
  std::size_t findings = 0;
  const double check = best_time(0.5, [&] {
    const mortise::RankReport found = mortise::check_rank(system, e);
    findings = found.redundant.size() + found.free.size();
  });
  const double solves = check / solve, aim = 30 + 3 * static_cast<double>(findings);
  report.figure(
      name, solves,
      fmt::format("solves for {} findings, {:.0f} are the aim; a solve takes {:.3g} ms", findings, aim, 1e3 * solve));
  if (findings != static_cast<std::size_t>(3 * doubled))
    report.fail(name, fmt::format("{} findings where there are {}", findings, 3 * doubled));
}

}  // namespace

int main(int count, char** arguments) {
  bench::Report report(bench::Options::from(count, arguments));
  const int largest = report.options().quick ? 14286 : 142858;  // 1e5, 1e6 coordinates
  for (const int bodies : {15, 1429, 14286, 142858})
    for (const int doubled : {0, 1, 10})
      if (bodies <= largest && bodies <= report.options().size(bodies)) measure(report, bodies, doubled);
  return report.exit_code();
}
