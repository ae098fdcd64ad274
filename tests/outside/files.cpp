// A model file read, checked, solved, run and written with an installed mortise; exit code 0 if all of it is right.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include <mortise/files/model.h>
#include <mortise/mortise.h>

namespace {

// A rod of length L that hangs on its end, held level.
const char* const pendulum = R"toml(name = "pendulum"
gravity = [0, -9.81, 0]

[parameters]
L = "80 cm"
m = 2

[bodies.rod]
kind = "planar_body"
mass = "m"
inertia = "m * L^2 / 12"
place = ["L/2", 0, 0]

[joints.pin]
kind = "pin"
bodies = ["ground", "rod"]
on_b = ["-L/2", 0]

[run]
until = 0.5
sample = 0.1
)toml";

int wrong = 0;
void expect(bool right, const std::string& what) {
  if (!right) ++wrong;
  fmt::print("{} {}\n", right ? "right:" : "WRONG:", what);
}

// Level, theta'' = -m g L/2 / (m L^2/3) = -3 g / (2 L).
double level(double L) { return -1.5 * 9.81 / L; }
double computed(const mortise::Model& model) {
  const mortise::System system(model.assembly);
  return solve(system, model.start(system)).acceleration("rod.theta");
}

}  // namespace

int main() {
  using namespace mortise;
  std::ofstream("pendulum.toml") << pendulum;
  const Model model = read_model("pendulum.toml");
  const System system(model.assembly);
  const State start = model.start(system);
  expect(check_model(system, start).ok(), "the report finds no fault");

  const double round_off = 1e-12;
  expect(std::abs(computed(model) - level(0.8)) < round_off, fmt::format("theta'' = {:.6f}", computed(model)));
  const Model longer = read_model("pendulum.toml", {{"L", 2}});
  expect(std::abs(computed(longer) - level(2)) < round_off,
         fmt::format("theta'' = {:.6f} for L = 2", computed(longer)));

  // Energy, from the start on: theta'^2 = -3 g sin(theta) / L.
  const State end = simulate(system, start, model.run).last;
  const double theta = end.get("rod.theta"), rate = end.get("rod.theta'");
  expect(std::abs(end.t - 0.5) < round_off, fmt::format("the run ends at t = {} s", end.t));
  const double of_run = 1e-6;  // the tolerance of one step is 1e-8
  expect(theta < -1 && std::abs(rate * rate + 3 * 9.81 * std::sin(theta) / 0.8) < of_run * rate * rate,
         fmt::format("theta' = {:.6f} at theta = {:.6f}", rate, theta));

  const std::string text = write_model(model);
  const Model again = parse_model(text, "again.toml");
  expect(write_model(again) == text, "written, read and written again it is the same text");
  expect(computed(again) == computed(model), "and the same model to the last bit");
  expect(again.run.duration == 0.5 && again.run.sample == 0.1, "which is run in the same way");

  try {
    std::string bad = pendulum;
    bad.replace(bad.find("mass = \"m\""), 4, "mas_");
    parse_model(bad, "bad.toml");
    expect(false, "a wrong key is refused");
  } catch (const ModelError& error) {
    const std::string said = error.what();
    expect(said.starts_with("bad.toml:10:") && said.find("mas_") != said.npos, "a wrong key is refused: " + said);
  }
  try {
    read_model("missing.toml");
    expect(false, "a file that is not there is refused");
  } catch (const Error& error) {  // which ModelError is, also across libraries
    expect(std::string(error.what()).find("missing.toml") != std::string::npos, error.what());
  }
  std::remove("pendulum.toml");
  return wrong == 0 ? 0 : 1;
}
