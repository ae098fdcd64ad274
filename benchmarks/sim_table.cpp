// Error against time of all our integrators on standard problems (those of the tests).

#include <ctime>

#include <fmt/format.h>

#include "../tests/problems.h"
#include "report.h"

namespace {

using namespace mortise;

void heading(const Problem& p, double duration) {
  fmt::print("\n  work and precision: {}, {} s\n  {:<20} {:>10} {:>12} {:>12} {:>10} {:>12}\n", p.assembly.name(),
             duration, "integrator", "setting", "error", "CPU [ms]", "steps", "evaluations");
}

// The best of some runs, by the time of the processor.
void line(const Problem& p, const SimulationOptions& options, double setting, int times) {
  double seconds = 1e300;
  Trajectory run;
  for (int k = 0; k < times; ++k) {
    const std::clock_t begin = std::clock();
    run = p.run(options);
    seconds = std::min(seconds, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  fmt::print("  {:<20} {:>10g} {:>12.1e} {:>12.3f} {:>10} {:>12}\n", options.integrator, setting,
             run.finished ? p.error(run) : 1e300, 1e3 * seconds, run.steps, run.evaluations);
}

}  // namespace

int main(int count, char** arguments) {
  bench::Report report(bench::Options::from(count, arguments));
  if (!report.wants("sim_table")) return report.exit_code();
  const int times = report.options().quick ? 1 : 3;
  struct Setting {
    const char* integrator;
    std::vector<double> values;
    bool steps;  // of fixed size; else tolerances
  };
  std::vector<Setting> settings{{"dopri5", {1e-5, 1e-7, 1e-9, 1e-11}, false},
                                {"radau5", {1e-5, 1e-7, 1e-9}, false},
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
    heading(p, duration);
    for (const Setting& s : settings)
      for (const double value : s.values) {
        SimulationOptions options{.duration = duration, .integrator = s.integrator, .sample = 0.05};
        (s.steps ? options.steps.step : options.steps.tolerance) = value;
        line(p, options, value, times);
      }
  }
  return report.exit_code();
}
