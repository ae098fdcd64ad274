// Whole runs beside MuJoCo: the four-bar through its flat poses and Bricard's mechanism, closed trees of hinges, and
// the chain of 20 rods as a recursive tree.
//
// MuJoCo's loops are closed softly: time constants of twice the step, which is as short as it takes them, as stiff as
// solimp 0.9999 makes them.  Several steps and integrators are tried; the fastest setting that is right counts.

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

// A model in MuJoCo's words, and what is looked at in it.
struct Model {
  std::string bodies, loops, gravity;
  double duration = 10;
  std::function<void(mjData&)> start;
  std::function<double(const mjData&)> branch_error = [](const mjData&) { return 0.0; };
  std::function<std::vector<double>(const mjModel&, const mjData&)> end;
};

constexpr const char* stiff = R"(solimp="0.9999 0.9999 0.001 0.5 2")";

bench::RunResult run(const Model& m, double step, const char* integrator) {
  const std::string xml =
      fmt::format(R"(<mujoco><option gravity="{}" timestep="{:.17g}" integrator="{}"><flag energy="enable"/></option>)"
                  R"(<default><equality solref="{:.17g} 1" {}/></default>)"
                  "<worldbody>{}</worldbody><equality>{}</equality></mujoco>",
                  m.gravity, step, integrator, 2 * step, stiff, m.bodies, m.loops);
  const auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  mj_makeEmptyFileVFS(files.get(), "model.xml", static_cast<int>(xml.size()));
  std::memcpy(files->filedata[0], xml.data(), xml.size());
  char error[1000] = "";
  const std::unique_ptr<mjModel, Delete> model(mj_loadXML("model.xml", files.get(), error, sizeof error));
  mj_deleteVFS(files.get());
  if (!model) throw std::runtime_error(fmt::format("MuJoCo refuses the model: {}", error));
  const std::unique_ptr<mjData, Delete> data(mj_makeData(model.get()));
  m.start(*data);
  mj_forward(model.get(), data.get());
  const double start = data->energy[0] + data->energy[1];
  bench::RunResult out;
  out.setting = fmt::format("{}, {:g} s", integrator, step);
  out.energy_error = 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto steps = std::lround(m.duration / step);
  for (long k = 0; k < steps; ++k) {
    mj_step(model.get(), data.get());
    out.energy_error = std::max(out.energy_error, std::abs(data->energy[0] + data->energy[1] - start));
    out.branch_error = std::max(out.branch_error, m.branch_error(*data));
    if (!(out.energy_error < 1e3)) break;
  }
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  mj_forward(model.get(), data.get());
  out.end = m.end(*model, *data);
  return out;
}

std::vector<double> place(const mjModel& model, const mjData& data, const char* site) {
  const int id = mj_name2id(&model, mjOBJ_SITE, site);
  return {data.site_xpos[3 * id], data.site_xpos[3 * id + 1], data.site_xpos[3 * id + 2]};
}

Model four_bars(int windows) {
  const std::string up = fmt::format(R"(mass="1" diaginertia="{0:.17g} 0.001 {0:.17g}")", 1.0 / 12.0);
  const std::string across = fmt::format(R"(mass="1" diaginertia="0.001 {0:.17g} {0:.17g}")", 1.0 / 12.0);
  Model m;
  m.gravity = fmt::format("0 {} 0", -bench::gravity);
  for (int i = 0; i <= windows; ++i) {
    m.bodies += fmt::format(R"(<body name="rod{0}" pos="{0} 0 0"><joint type="hinge" axis="0 0 1"/>)", i) +
                fmt::format(R"(<inertial pos="0 0.5 0" {}/>)", up);
    if (i < windows) {
      m.bodies += fmt::format(R"(<body name="coupler{}" pos="0 1 0"><joint type="hinge" axis="0 0 1"/>)", i) +
                  fmt::format(R"(<inertial pos="0.5 0 0" {}/></body>)", across);
      m.loops += fmt::format(R"(<connect body1="coupler{}" body2="rod{}" anchor="1 0 0"/>)", i, i + 1);
    }
    m.bodies += "</body>";
  }
  m.start = [=](mjData& d) {
    for (int i = 0; i <= windows; ++i) {
      d.qvel[2 * i] = -1;
      if (i < windows) d.qvel[2 * i + 1] = 1;
    }
  };
  m.branch_error = [=](const mjData& d) {
    double most = 0;
    for (int i = 0; i < windows; ++i) most = std::max(most, std::abs(std::sin(d.qpos[2 * i] + d.qpos[2 * i + 1])));
    return most;
  };
  m.end = [](const mjModel&, const mjData& d) { return std::vector{-std::sin(d.qpos[0]), std::cos(d.qpos[0])}; };
  return m;
}

Model chain_of(const bench::Chain& chain) {
  const auto& J = bench::Chain::inertia;
  Model m;
  m.gravity = fmt::format("0 0 {}", -bench::gravity);
  m.duration = 1;
  for (int i = 0; i < chain.size(); ++i)
    m.bodies += fmt::format(R"(<body pos="0 {} 0"><joint type="ball"/><inertial pos="0 -0.5 0" mass="{}" )", i ? -1 : 0,
                            bench::Chain::mass) +
                fmt::format(R"(diaginertia="{:.17g} {:.17g} {:.17g}"/>)", J[0], J[1], J[2]);
  m.bodies += R"(<site name="end" pos="0 -0.5 0"/>)";
  for (int i = 0; i < chain.size(); ++i) m.bodies += "</body>";
  m.start = [chain](mjData& d) {
    for (int i = 0; i < chain.size(); ++i) {
      const auto& rod = chain.rods[static_cast<std::size_t>(i)];
      for (std::size_t k = 0; k < 4; ++k) d.qpos[4 * i + static_cast<int>(k)] = rod.relative_u[k];
      for (std::size_t k = 0; k < 3; ++k) d.qvel[3 * i + static_cast<int>(k)] = rod.relative_w[k];
    }
  };
  m.end = [](const mjModel& model, const mjData& d) { return place(model, d, "end"); };
  return m;
}

// Five hinges make a chain; two points on the axis of the sixth close it.
Model bricard() {
  const std::array<bench::Vec3, 6> corner{{{0, 0, 0}, {1, 0, 0}, {1, -1, 0}, {1, -1, 1}, {0, -1, 1}, {0, 0, 1}}};
  const std::array<const char*, 3> axis{"0 1 0", "0 0 1", "1 0 0"};
  Model m;
  m.gravity = fmt::format("0 {} 0", -bench::gravity);
  bench::Vec3 above{};
  for (std::size_t k = 0; k < 5; ++k) {
    bench::Vec3 from, half, J;
    for (std::size_t i = 0; i < 3; ++i) {
      from[i] = corner[k][i] - above[i];
      half[i] = (corner[k + 1][i] - corner[k][i]) / 2;
      J[i] = std::abs(half[i]) > 0.25 ? 0.02 / 12 : 1.01 / 12;
    }
    above = corner[k];
    m.bodies += fmt::format(R"(<body name="rod{}" pos="{} {} {}"><joint type="hinge" axis="{}"/>)", k, from[0], from[1],
                            from[2], axis[k % 3]) +
                fmt::format(R"(<inertial pos="{} {} {}" mass="1" )", half[0], half[1], half[2]) +
                fmt::format(R"(diaginertia="{:.17g} {:.17g} {:.17g}"/>)", J[0], J[1], J[2]);
    if (k == 1) m.bodies += fmt::format(R"(<site name="P3" pos="{} {} {}"/>)", 2 * half[0], 2 * half[1], 2 * half[2]);
  }
  m.bodies += "</body></body></body></body></body>";
  for (const char* anchor : {"0 1 0", "1 1 0"})
    m.loops += fmt::format(R"(<connect body1="rod4" anchor="{}"/>)", anchor);
  m.start = [](mjData&) {};
  m.end = [](const mjModel& model, const mjData& d) { return place(model, d, "P3"); };
  return m;
}

bench::Runs settings(const Model& model, std::initializer_list<double> steps) {
  bench::Runs runs;
  for (const char* integrator : {"Euler", "implicit", "RK4"})
    for (const double step : steps) runs.emplace_back([=] { return run(model, step, integrator); });
  return runs;
}

}  // namespace

int main(int count, char** arguments) {
  bench::Report report(bench::Options::from(count, arguments));
  for (const int windows : {10, 40}) {
    const std::string name = fmt::format("sim_fourbar_{}", windows);
    if (!report.wants(name)) continue;
    const int n = report.options().size(windows);
    bench::contest(
        report, report.name(name, windows), "mujoco", "MuJoCo, closed tree of hinges", bench::right_four_bar(n),
        [=](double tolerance) { return bench::MortiseRuns::four_bar(n, tolerance); },
        settings(four_bars(n), {3e-2, 2.5e-2, 2e-2, 1e-2, 5e-3, 2e-3, 1e-3}));
  }
  if (report.wants("sim_chain_20")) {
    const auto chain = bench::spherical_chain(report.options().size(20));
    bench::contest(
        report, report.name("sim_chain_20", 20), "mujoco", "MuJoCo, tree of balls", bench::right_chain(chain),
        [=](double tolerance) { return bench::MortiseRuns::chain(chain, 1, tolerance); },
        settings(chain_of(chain), {1e-3, 2e-4, 5e-5}));
  }
  if (report.wants("sim_bricard"))
    bench::contest(report, "sim_bricard", "mujoco", "MuJoCo, closed tree of hinges", bench::right_bricard,
                   bench::MortiseRuns::bricard, settings(bricard(), {1e-2, 5e-3, 2e-3, 1e-3, 5e-4}));
  return report.exit_code();
}
