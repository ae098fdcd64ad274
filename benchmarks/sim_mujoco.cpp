// Whole runs beside MuJoCo: the four-bar through its flat poses, 10 s.
//
// MuJoCo's constraints are soft: time constants from twice the step on, which is as short as it takes them, and several
// steps and integrators are tried; the fastest setting that is right counts.

#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <mujoco/mujoco.h>

#include "sim_runs.h"

namespace {

struct Delete {
  void operator()(mjModel* model) const { mj_deleteModel(model); }
  void operator()(mjData* data) const { mj_deleteData(data); }
};

std::string model_of(int windows, double step, const char* integrator) {
  const std::string up = fmt::format(R"(mass="1" diaginertia="{0:.17g} 0.001 {0:.17g}")", 1.0 / 12.0);
  const std::string across = fmt::format(R"(mass="1" diaginertia="0.001 {0:.17g} {0:.17g}")", 1.0 / 12.0);
  std::string bodies, loops;
  for (int i = 0; i <= windows; ++i) {
    bodies += fmt::format(R"(<body name="rod{0}" pos="{0} 0 0"><joint type="hinge" axis="0 0 1"/>)", i) +
              fmt::format(R"(<inertial pos="0 0.5 0" {}/>)", up);
    if (i < windows) {
      bodies += fmt::format(R"(<body name="coupler{}" pos="0 1 0"><joint type="hinge" axis="0 0 1"/>)", i) +
                fmt::format(R"(<inertial pos="0.5 0 0" {}/></body>)", across);
      loops += fmt::format(R"(<connect body1="coupler{}" body2="rod{}" anchor="1 0 0" )", i, i + 1) +
               fmt::format(R"(solref="{:.17g} 1" solimp="0.9999 0.9999 0.001 0.5 2"/>)", 2 * step);
    }
    bodies += "</body>\n";
  }
  return fmt::format(
      R"(<mujoco><option gravity="0 {} 0" timestep="{:.17g}" integrator="{}"><flag energy="enable"/></option>)"
      "\n<worldbody>\n{}</worldbody>\n<equality>{}</equality></mujoco>",
      -bench::gravity, step, integrator, bodies, loops);
}

bench::RunResult run(int windows, double step, const char* integrator) {
  const std::string xml = model_of(windows, step, integrator);
  const auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  mj_makeEmptyFileVFS(files.get(), "four_bar.xml", static_cast<int>(xml.size()));
  std::memcpy(files->filedata[0], xml.data(), xml.size());
  char error[1000] = "";
  const std::unique_ptr<mjModel, Delete> model(mj_loadXML("four_bar.xml", files.get(), error, sizeof error));
  mj_deleteVFS(files.get());
  if (!model) throw std::runtime_error(fmt::format("MuJoCo refuses the model: {}", error));
  const std::unique_ptr<mjData, Delete> data(mj_makeData(model.get()));
  for (int i = 0; i <= windows; ++i) {
    data->qvel[2 * i] = -1;
    if (i < windows) data->qvel[2 * i + 1] = 1;
  }
  mj_forward(model.get(), data.get());
  const double start = data->energy[0] + data->energy[1];
  bench::RunResult out;
  out.setting = fmt::format("{}, {:g} s", integrator, step);
  out.energy_error = 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto steps = std::lround(10 / step);
  for (long k = 0; k < steps; ++k) {
    mj_step(model.get(), data.get());
    out.energy_error = std::max(out.energy_error, std::abs(data->energy[0] + data->energy[1] - start));
    for (int i = 0; i < windows; ++i)
      out.branch_error = std::max(out.branch_error, std::abs(std::sin(data->qpos[2 * i] + data->qpos[2 * i + 1])));
    if (!(out.energy_error < 1e3)) break;
  }
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  out.end = {-std::sin(data->qpos[0]), std::cos(data->qpos[0])};
  return out;
}

}  // namespace

int main(int count, char** arguments) {
  bench::Report report(bench::Options::from(count, arguments));
  for (const int windows : {10, 40}) {
    const std::string name = fmt::format("sim_fourbar_{}", windows);
    if (!report.wants(name)) continue;
    const int n = report.options().size(windows), times = report.options().quick ? 2 : 5;
    const bench::Right right{0.1, 1e-2, 1e-2, bench::four_bar_end(n)};
    std::vector<std::function<bench::RunResult()>> ours, theirs;
    for (const double tolerance : {1e-5, 1e-6, 1e-7, 1e-8})
      ours.emplace_back([=] { return bench::MortiseRuns::four_bar(n, tolerance); });
    for (const char* integrator : {"RK4", "implicit", "Euler"})
      for (const double step : {2e-3, 1e-3, 5e-4, 2e-4, 1e-4})
        theirs.emplace_back([=] { return run(n, step, integrator); });
    bench::compare(report, report.name(name, windows), bench::fastest(right, ours, times),
                   bench::fastest(right, theirs, times), "MuJoCo", right);
  }
  return report.exit_code();
}
