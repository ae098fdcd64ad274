// Error against time of our integrators on four standard problems (those of the tests).

#include <chrono>

#include <fmt/format.h>

#include "../tests/problems.h"
#include "report.h"

int main(int count, char** arguments) {
  using namespace mortise;
  bench::Report report(bench::Options::from(count, arguments));
  if (!report.wants("work_precision")) return report.exit_code();
  const int times = report.options().quick ? 1 : 3;
  struct Setting {
    const char* integrator;
    std::vector<double> values;
    bool steps;  // of fixed size; else tolerances
  };
  std::vector<Setting> settings{{"dopri5", {1e-5, 1e-7, 1e-9, 1e-11}, false},
                                {"rk4", {0.02, 0.01, 0.005, 0.0025}, true},
                                {"gauss", {0.04, 0.02, 0.01, 0.005}, true},
                                {"generalized_alpha", {0.02, 0.01, 0.005, 0.0025}, true}};
  for (const std::string& name : stepper_names()) {
    if (name == "cvode_bdf") settings.push_back({"cvode_bdf", {1e-5, 1e-7, 1e-9}, false});
    if (name == "cvode_adams") settings.push_back({"cvode_adams", {1e-5, 1e-7, 1e-9}, false});
  }
  for (Problem p : {pendulum(), bricard(), rolling_disk(), spherical_chain()}) {
    while (p.expected.back().t > 2) p.expected.pop_back();
    const double duration = p.expected.back().t;
    fmt::print("\n  work and precision: {}, {} s\n  {:<20} {:>10} {:>12} {:>12} {:>10} {:>12}\n", p.assembly.name(),
               duration, "integrator", "setting", "error", "time [ms]", "steps", "evaluations");
    for (const Setting& s : settings)
      for (const double value : s.values) {
        SimulationOptions options{.duration = duration, .integrator = s.integrator, .sample = 0.05};
        (s.steps ? options.steps.step : options.steps.tolerance) = value;
        double seconds = 1e300, error = 0;
        Trajectory run;
        for (int k = 0; k < times; ++k) {
          const auto begin = std::chrono::steady_clock::now();
          run = p.run(options);
          seconds = std::min(seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        }
        error = run.finished ? p.error(run) : 1e300;
        fmt::print("  {:<20} {:>10g} {:>12.1e} {:>12.3f} {:>10} {:>12}\n", s.integrator, value, error, 1e3 * seconds,
                   run.steps, run.evaluations);
      }
  }
  return report.exit_code();
}
