// Where the time of a step goes, from the state to the accelerations: each phase of the engine by itself, best of many.

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include <fmt/format.h>

#include <mortise/engine/engine.h>

#include "build.h"
#include "report.h"

namespace {

constexpr std::array phases{"evaluate", "factor", "solve", "accelerations"};

template <class Mechanism>
void profile(const bench::Report& report, const std::string& name, const Mechanism& mechanism, int units,
             const std::string& unit) {
  if (!report.wants(name)) return;
  using Clock = std::chrono::steady_clock;
  const mortise::System system(bench::assembly_of(mechanism));
  const mortise::State state = bench::state_of(system, mechanism);
  mortise::Engine engine(system);
  mortise::VectorXd a;
  std::array<double, phases.size()> best;
  best.fill(1e300);
  const double seconds = report.options().seconds();
  const auto begin = Clock::now();
  while (std::chrono::duration<double>(Clock::now() - begin).count() < seconds / 4) {
    std::array<Clock::time_point, phases.size() + 1> at;
    at[0] = Clock::now();
    engine.evaluate(state);
    at[1] = Clock::now();
    engine.factor();
    at[2] = Clock::now();
    (void)engine.solve();
    at[3] = Clock::now();
    engine.accelerations(a);
    at[4] = Clock::now();
    for (std::size_t i = 0; i < phases.size(); ++i)
      best[i] = std::min(best[i], std::chrono::duration<double, std::nano>(at[i + 1] - at[i]).count() / units);
  }
  double sum = 0;
  for (const double ns : best) sum += ns;
  fmt::print("  {:<24} {:7.1f} ns per {:<7}", name, sum, unit);
  for (std::size_t i = 0; i < phases.size(); ++i)
    fmt::print("  {} {:.1f} ({:.0f} %)", phases[i], best[i], 100 * best[i] / sum);
  fmt::print("\n");
  for (std::size_t i = 0; i < phases.size(); ++i) fmt::print("figure {}_{} {:.4g}\n", name, phases[i], best[i]);
}

}  // namespace

int main(int count, char** arguments) {
  const bench::Report report(bench::Options::from(count, arguments));
  const auto size = [&](int n) { return report.options().size(n); };
  profile(report, "profile_spherical", bench::spherical_chain(size(1000)), size(1000), "body");
  profile(report, "profile_revolute", bench::revolute_chain(size(1000)), size(1000), "body");
  profile(report, "profile_fourbar", bench::FourBar{.windows = size(40)}, size(40), "window");
  return report.exit_code();
}
