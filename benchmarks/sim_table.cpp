// Error against time of our integrators on standard problems and on stiff ones (those of the tests).

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
  if (!report.wants("work_precision")) return report.exit_code();
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
  // Stiff ones, at their ends.  What is expected there is found by dopri5, which takes many short steps; of the beam,
  // too many, by radau5.
  std::vector<const char*> stiff{"dopri5", "radau5", "generalized_alpha"};
  if (settings.back().integrator == std::string("cvode_adams")) stiff.push_back("cvode_bdf");
  const std::vector<std::pair<Problem, double>> problems{{governor(), 2},
                                                         {soft_pendulum(1e8, 2e4), 2},
                                                         {car_axis(), 3},
                                                         {lumped_beam(report.options().quick ? 20 : 100), 0.2},
                                                         {squeezer(1e8, 1e4), 0.02}};
  for (auto [p, duration] : problems) {
    const bool beam = p.assembly.name() == "lumped_beam";
    if (p.assembly.name() != "car_axis") {
      const Trajectory run = p.run({.duration = duration,
                                    .integrator = beam ? "radau5" : "dopri5",
                                    .steps = {.tolerance = 1e-11},
                                    .sample = duration});
      p.expected = {{duration, {}}};
      for (const std::string& column : p.columns) p.expected[0].values.push_back(run.last.get(column));
    }
    heading(p, duration);
    for (const char* method : stiff)
      for (const double tolerance : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8}) {
        const std::string name = method;
        if (!(name == "generalized_alpha" && tolerance < 1e-5) && !(name == "dopri5" && beam))
          line(p, {.duration = duration, .integrator = method, .steps = {.tolerance = tolerance}, .sample = duration},
               tolerance, times);
      }
  }
  return report.exit_code();
}
