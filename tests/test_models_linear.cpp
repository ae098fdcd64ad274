// mortise equilibrium, linearise and modes: the closed forms of a pendulum, parameters as inputs and over a range,
// files.

#include <cmath>
#include <cstdio>
#include <numbers>

#include <doctest/doctest.h>

#include <mortise/core/file.h>

#include "models/command.h"

using namespace mortise;

namespace {

const std::string pendulum = std::string(MORTISE_ROOT) + "/examples/models/pendulum.toml";

// The number after the first `name` in the text, or NaN.
double number_after(const std::string& text, const std::string& name) {
  const auto at = text.find(name);
  double x = std::nan("");
  if (at != std::string::npos) (void)std::sscanf(text.c_str() + at + name.size(), "%lf", &x);
  return x;
}

}  // namespace

TEST_CASE("command: where a pendulum rests, its mode there, and over its length") {
  const Outcome rest = mortise_command("equilibrium " + pendulum);
  CHECK(rest.status == 0);
  CHECK(rest.out.starts_with("at rest, stable\n"));
  CHECK(number_after(rest.out, "rod.theta = ") == doctest::Approx(-std::numbers::pi / 2).epsilon(1e-9));
  CHECK(number_after(mortise_command("equilibrium --json " + pendulum).out, "\"rod.theta\": ") ==
        doctest::Approx(-std::numbers::pi / 2).epsilon(1e-12));

  // The road under it moves: where it rests now is told all the same.
  const Outcome vehicle = mortise_command("equilibrium " + std::string(MORTISE_ROOT) + "/examples/models/vehicle.toml");
  CHECK(vehicle.status == 1);
  CHECK(vehicle.out.starts_with("at rest, not known whether stably\n"));

  const auto frequency = [](double length) { return std::sqrt(1.5 * 9.81 / length) / (2 * std::numbers::pi); };
  const Outcome one = mortise_command("modes --rest " + pendulum);
  CHECK(one.status == 0);
  CHECK(number_after(one.out, "\n  1: ") == doctest::Approx(frequency(1)).epsilon(1e-5));
  const Scratch scratch;
  const std::string csv = scratch / "modes.csv";
  CHECK(mortise_command("modes --rest " + pendulum + " --vary L=1:4:2 -o " + csv).status == 0);
  const std::string table = read_file(csv);
  CHECK(table.starts_with("L,mode,real [1/s],imaginary [1/s],frequency [Hz],damping\n"));
  double f = 0;
  REQUIRE(std::sscanf(table.c_str() + table.find("\n4,"), "\n4,1,%*f,%*f,%lf", &f) == 1);
  CHECK(f == doctest::Approx(frequency(4)).epsilon(1e-9));

  // theta'' = -3/2 g/L theta
  const std::string m = scratch / "pendulum.m";
  const Outcome linear = mortise_command("linearise " + pendulum +
                                         " --rest --inputs pin.angle --outputs tip.x,tip.y --states rod.theta -o " + m);
  CHECK(linear.status == 0);
  CHECK(linear.out.find("rod.theta' [rad/s]") != std::string::npos);
  const std::string script = read_file(m);
  double k = 0;
  REQUIRE(std::sscanf(script.c_str() + script.find("A = ["), "A = [%*f %*f; %lf", &k) == 1);
  CHECK(k == doctest::Approx(-1.5 * 9.81).epsilon(1e-9));
  // A parameter of the file as an input.
  const Outcome level = mortise_command("linearise " + pendulum + " --instant --json --inputs L --states rod.theta");
  CHECK(level.status == 0);
  CHECK(level.out.find("\"inputs\": [\"L\"]") != std::string::npos);
  CHECK(mortise_command("linearise " + pendulum).err.find("no steady motion") != std::string::npos);
  CHECK(mortise_command("linearise --rest " + pendulum + " -o x.txt").status == 64);
  CHECK(mortise_command("modes --rest " + pendulum + " -o " + pendulum).status == 4);
  CHECK(mortise_command("modes --rest --held rod.thet " + pendulum).err.find("did you mean 'rod.theta'") !=
        std::string::npos);
  for (const char* c : {"equilibrium", "linearise", "modes"})
    CHECK(mortise_command(fmt::format("{} --help", c)).status == 0);
}
