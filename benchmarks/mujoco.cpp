// Beside MuJoCo: the four-bar, a tree of hinges with its windows closed by "connect".
//
// MuJoCo's constraints are soft springs by design.  Here they are as stiff as its solver takes them.

#include <cstring>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <mujoco/mujoco.h>

#include "mechanisms.h"
#include "mortise_side.h"
#include "report.h"

namespace {

// At qpos = 0 the rods stand upright, and MuJoCo takes the points that it connects from there.
std::string model_of(const bench::FourBar& four_bar) {
  const std::string inertia = fmt::format(R"(mass="1" diaginertia="{0:.17g} 0.001 {0:.17g}")", 1.0 / 12.0);
  const std::string inertia_across = fmt::format(R"(mass="1" diaginertia="0.001 {0:.17g} {0:.17g}")", 1.0 / 12.0);
  std::string bodies, loops;
  for (int i = 0; i <= four_bar.windows; ++i) {
    bodies += fmt::format(
        R"(<body name="rod{0}" pos="{0} 0 0"><joint type="hinge" axis="0 0 1"/><inertial pos="0 0.5 0" {1}/>)", i,
        inertia);
    if (i < four_bar.windows) {
      bodies += fmt::format(
          R"(<body name="coupler{}" pos="0 1 0"><joint type="hinge" axis="0 0 1"/><inertial pos="0.5 0 0" {}/></body>)",
          i, inertia_across);
      loops += fmt::format(R"(<connect body1="coupler{}" body2="rod{}" anchor="1 0 0" )", i, i + 1) +
               R"(solimp="0.9999 0.9999 0.001 0.5 2"/>)";
    }
    bodies += "</body>\n";
  }
  return fmt::format(
      "<mujoco><option gravity=\"0 {} 0\"/>\n<worldbody>\n{}</worldbody>\n<equality>{}</equality></mujoco>",
      -bench::gravity, bodies, loops);
}

struct Delete {
  void operator()(mjModel* model) const { mj_deleteModel(model); }
  void operator()(mjData* data) const { mj_deleteData(data); }
};

struct MujocoFourBar {
  int windows;
  std::unique_ptr<mjModel, Delete> model;
  std::unique_ptr<mjData, Delete> data;
  std::vector<double> q, u;

  explicit MujocoFourBar(const bench::FourBar& four_bar) : windows(four_bar.windows) {
    const std::string xml = model_of(four_bar);
    const auto files = std::make_unique<mjVFS>();
    mj_defaultVFS(files.get());
    mj_makeEmptyFileVFS(files.get(), "four_bar.xml", static_cast<int>(xml.size()));
    std::memcpy(files->filedata[0], xml.data(), xml.size());
    char error[1000] = "";
    model.reset(mj_loadXML("four_bar.xml", files.get(), error, sizeof error));
    mj_deleteVFS(files.get());
    if (!model) throw std::runtime_error(fmt::format("MuJoCo refuses the model: {}", error));
    data.reset(mj_makeData(model.get()));
    q.resize(static_cast<std::size_t>(model->nq));
    u.resize(static_cast<std::size_t>(model->nv));
    const double upright = four_bar.theta - bench::FourBar::upright;
    for (int i = 0; i <= windows; ++i) {
      q[rod(i)] = upright, u[rod(i)] = four_bar.rate;
      if (i < windows) q[rod(i) + 1] = -upright, u[rod(i) + 1] = -four_bar.rate;
    }
  }
  // Rods and couplers alternate.
  static std::size_t rod(int i) { return 2 * static_cast<std::size_t>(i); }

  // What is timed.
  void solve() {
    std::copy(q.begin(), q.end(), data->qpos);
    std::copy(u.begin(), u.end(), data->qvel);
    mj_forward(model.get(), data.get());
  }
  // A coupler's hinge measures against its rod.
  std::vector<double> accelerations() const {
    std::vector<double> out;
    for (int i = 0; i <= windows; ++i) out.push_back(data->qacc[rod(i)]);
    for (int i = 0; i < windows; ++i) out.push_back(data->qacc[rod(i)] + data->qacc[rod(i) + 1]);
    return out;
  }
};

void four_bar(bench::Report& report, int windows) {
  const std::string name = fmt::format("fourbar_{}", windows);
  if (!report.wants(name)) return;
  bench::FourBar numbers;
  numbers.windows = report.options().size(windows);
  bench::MortiseSide ours(numbers);
  MujocoFourBar theirs(numbers);
  const auto times = bench::race(
      report.options(), [&] { ours.solve(); }, [&] { theirs.solve(); });

  std::vector<double> closed_form(2 * static_cast<std::size_t>(numbers.windows) + 1, 0);
  std::fill_n(closed_form.begin(), numbers.windows + 1, numbers.theta_acceleration());
  const double our_error = bench::difference(ours.accelerations(), closed_form);
  const double their_error = bench::difference(theirs.accelerations(), closed_form);
  report.ratio(report.name(name, windows), times,
               fmt::format("MuJoCo, closed tree of hinges, soft: off by {:.1e}; ours and closed form {}", their_error,
                           report.agreement(our_error)));
  report.figure("deviation_mujoco_" + report.name(name, windows), their_error);
}

}  // namespace

int main(int count, char** arguments) {
  bench::Report report(bench::Options::from(count, arguments));
  for (const int windows : {10, 40, 100}) four_bar(report, windows);
  return report.exit_code();
}
