// What several threads do at the same time: solvers of one system, one solver on several threads, sweeps, files that
// are read and written, workers that throw.  Results are those of one thread.  scripts/threads builds and runs it under
// the thread sanitizer.

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/core/file.h>
#include <mortise/diagnosis/rank_report.h>
#include <mortise/engine/workers.h>
#include <mortise/files/model.h>
#include <mortise/forces/functor.h>
#include <mortise/integrators/simulate.h>
#include <mortise/integrators/sweep.h>
#include <mortise/joints/pin.h>

using namespace mortise;

namespace {

constexpr int threads = 4;

// A chain of rods in the plane, of three coordinates each.
System chain(int links) {
  Assembly a("chain");
  a.set_gravity({0, -9.81, 0});
  const auto ground = a.add("ground", Ground{});
  Handle<PlanarBody> last;
  for (int i = 0; i < links; ++i) {
    const auto rod = a.add(fmt::format("rod{}", i), PlanarBody{.mass = 1 + 0.1 * i, .inertia = 0.1});
    a.place(rod, {0.5 + i, 0, 0});
    const Pin pin{.on_a = {i == 0 ? 0 : 0.5, 0}, .on_b = {-0.5, 0}};
    const std::string name = fmt::format("pin{}", i);
    i == 0 ? a.connect(name, pin, ground, rod) : a.connect(name, pin, last, rod);
    last = rod;
  }
  return System(a);
}

template <class F> void together(const F& f) {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back([&f, i] { f(i); });
  for (std::thread& t : all) t.join();
}

}  // namespace

TEST_CASE("threads: one solver on several of them gives the same to the last bit") {
  const System system = chain(1500);
  const State s = system.state();
  Solver one(system), several(system, {.threads = threads});
  for (int i = 0; i < 3; ++i) CHECK(several.solve(s) == one.solve(s));
  CHECK(several.response(VectorXd::Ones(system.size())) == one.response(VectorXd::Ones(system.size())));
}

TEST_CASE("threads: many solvers and checks of one system, and of copies that are made on the way") {
  const System system = chain(20);
  const State s = system.state();
  const VectorXd expected = Solver(system).solve(s);
  std::atomic<int> right = 0;
  together([&](int i) {
    for (int k = 0; k < 5; ++k) {
      const System copy = system;
      Solver solver(k % 2 ? copy : system);
      State off = s;
      off.v[i] = k;
      (void)solver.solve(off);
      right += solver.solve(s) == expected && check_model(system, s).ok();
    }
  });
  CHECK(right == threads * 5);
}

TEST_CASE("threads: a sweep, a run that throws in it, and a counter that does") {
  const System system = chain(3);
  const auto one = [&](std::size_t i) {
    if (i == 3) throw std::runtime_error("the third one");
    State s = system.state();
    s.v[0] = 0.1 * static_cast<double>(i);
    return simulate(system, s, {.duration = 0.05, .sample = 0.01});
  };
  const auto alone = sweep(12, one, 1), runs = sweep(12, one, threads);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    CHECK(runs[i].failed == (i == 3 ? "the third one" : ""));
    if (i != 3) CHECK(runs[i].trajectory->values == alone[i].trajectory->values);
  }
  CHECK_THROWS_WITH_AS((void)sweep(100, one, threads,
                                   [](std::size_t n) {
                                     if (n == 5) throw std::runtime_error("enough");
                                   }),
                       "enough", std::runtime_error);
}

TEST_CASE("threads: models are read and written side by side, files replaced by several") {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("mortise_threads_{}", ::getpid());
  std::filesystem::create_directories(folder);
  const std::string shared = (folder / "shared").string();
  std::atomic<int> right = 0;
  together([&](int i) {
    for (int k = 0; k < 5; ++k) {
      const Model m = parse_model(
          fmt::format("[bodies.p]\nkind = \"particle\"\ndimension = 1\nmass = \"{} kg\"\n[run]\nuntil = 0.1\n", i + 1));
      const std::string text = write_model(m);
      replace_file(shared, text);
      const std::string there = read_file(shared);  // that of one of them, whole
      right += write_model(parse_model(there)) == there;
    }
  });
  CHECK(right == threads * 5);
  std::filesystem::remove_all(folder);
}

TEST_CASE("threads: workers tell what one of them threw, once") {
  Workers workers(threads);
  std::vector<int> done(5000);
  workers.each(done.size(), [&](std::size_t i) { done[i] = static_cast<int>(i); });
  CHECK(done[4999] == 4999);
  for (int round = 0; round < 20; ++round) {
    const auto all_throw = [&](std::size_t) { throw std::runtime_error("no"); };
    if (workers.count() > 1) CHECK_THROWS_AS(workers.run(all_throw), std::runtime_error);
    std::atomic<int> calls = 0;
    workers.run([&](std::size_t) { ++calls; });  // nothing of the round before
    CHECK(calls == static_cast<int>(workers.count()));
  }
}
