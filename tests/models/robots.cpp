// Closed-loop robots in model files, padded with dummy masses and not: ranks against dense singular values, and runs.
// The files are those of robots/ in the folder that the environment variable MORTISE_CASES names;
// tests/test_one_rank.cpp has a generated robot of that size.

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <tuple>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <mortise/diagnosis/padding.h>
#include <mortise/diagnosis/rank_report.h>
#include <mortise/files/model.h>
#include <mortise/integrators/simulate.h>

#include "../dense.h"

using namespace mortise;

namespace {

// The same with frames of no mass.
std::string without_padding(std::string text) {
  for (std::size_t at; (at = text.find("mass = 1e-09")) != std::string::npos;) text.replace(at, 12, "mass = 0.0");
  return text;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// The files of the folder that MORTISE_CASES names; none without one.
std::vector<std::filesystem::path> robots() {
  std::vector<std::filesystem::path> out;
  const char* folder = std::getenv("MORTISE_CASES");
  if (!folder) {
    MESSAGE("SKIPPED: MORTISE_CASES names no folder with robots/*.toml");
    return out;
  }
  for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(folder) / "robots"))
    if (file.path().extension() == ".toml") out.push_back(file.path());
  CHECK(!out.empty());
  return out;
}

}  // namespace

TEST_CASE("robots: ranks of closed-loop robots are those of dense singular values, padded and not") {
  for (const std::filesystem::path& file : robots()) {
    const std::string name = file.stem().string();
    CAPTURE(name);
    const std::string padded = text_of(file);
    const Model model = parse_model(padded), twin = parse_model(without_padding(padded));
    const System system(model.assembly), without(twin.assembly);
    const State s = model.start(system);
    const Evaluation e = system.evaluate(s);
    const Index rank = testing::dense_rank(e.dense_A());
    const RankReport report = check_rank(system, e);
    CHECK(report.rank.rank_A == rank);
    CHECK(report.dof == system.size() - rank);
    CHECK(report.determined());
    if (name == "kangaroo_like_2legs") CHECK(report.dof == 13);
    const RankReport unpadded = check_rank(without, without.evaluate(twin.start(without)));
    CHECK(unpadded.rank.rank_A == rank);
    const Unpadded light = unpad(system, s);
    const RankReport by_request = check_rank(light.system, light.system.evaluate(s));
    CHECK(by_request.rank.rank_A == rank);
    CHECK(by_request.determined());
    MESSAGE(fmt::format("{}: rank A {} of {} rows, {} coordinates, DOF {}; {} bodies padded; without their mass {}",
                        name, rank, system.rows(), system.size(), report.dof, light.bodies.size(), unpadded.verdict()));
  }
}

TEST_CASE("robots: closed-loop robots run for a second, padded, without padding and unpadded, and keep their energy") {
  for (const std::filesystem::path& file : robots()) {
    const std::string name = file.stem().string(), text = text_of(file);
    const Model model = parse_model(text), twin = parse_model(without_padding(text));
    const System padded(model.assembly), massless(twin.assembly);
    const Unpadded light = unpad(padded, model.start(padded));
    for (const auto& [kind, system, start] : {std::tuple{"padded", &padded, model.start(padded)},
                                              {"without padding", &massless, twin.start(massless)},
                                              {"unpadded", &light.system, model.start(padded)}}) {
      CAPTURE(name);
      CAPTURE(kind);
      State pushed = start;
      // One of them rests otherwise: all its freedoms are idle turns.
      for (Index i = 0; i < pushed.v.size(); ++i) pushed.v[i] = 0.1 * std::sin(static_cast<double>(i));
      const std::clock_t begin = std::clock();
      const Trajectory run = simulate(*system, pushed, {.duration = 1, .record = {}});
      const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
      CAPTURE(run.text());
      CHECK(run.to_tolerance());
      const double largest = run.column("energy.kinetic").maxCoeff();
      CHECK(run.energy_error <= 1e-6 * largest);
      CHECK(seconds < 60);
      MESSAGE(fmt::format("{}, {}: {} steps, {:.2f} s, balance {:.1e} J of {:.1e} J", name, kind, run.steps, seconds,
                          run.energy_error, largest));
    }
  }
}
