// Ranks of closed-loop robots in model files, padded with dummy masses and not, against dense singular values.  The
// files are those of robots/ in the folder that the environment variable MORTISE_CASES names; tests/test_one_rank.cpp
// has a generated robot of that size.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <Eigen/SVD>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <mortise/diagnosis/padding.h>
#include <mortise/diagnosis/rank_report.h>
#include <mortise/files/model.h>

using namespace mortise;

namespace {

Index dense_rank(MatrixXd A) {
  for (Index i = 0; i < A.rows(); ++i)
    if (const double length = A.row(i).norm(); length > 0) A.row(i) /= length;
  return (Eigen::BDCSVD<MatrixXd>(A).singularValues().array() > 1e-9).count();
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace

TEST_CASE("robots: ranks of closed-loop robots are those of dense singular values, padded and not") {
  const char* folder = std::getenv("MORTISE_CASES");
  if (!folder) {
    MESSAGE("SKIPPED: MORTISE_CASES names no folder with robots/*.toml");
    return;
  }
  int robots = 0;
  for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(folder) / "robots")) {
    if (file.path().extension() != ".toml") continue;
    const std::string name = file.path().stem().string();
    CAPTURE(name);
    ++robots;
    const std::string padded = text_of(file.path());
    std::string massless = padded;
    for (std::size_t at; (at = massless.find("mass = 1e-09")) != std::string::npos;)
      massless.replace(at, 12, "mass = 0.0");
    const Model model = parse_model(padded), twin = parse_model(massless);
    const System system(model.assembly), without(twin.assembly);
    const State s = model.start(system);
    const Evaluation e = system.evaluate(s);
    const Index rank = dense_rank(e.dense_A());
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
  CHECK(robots > 0);
}
