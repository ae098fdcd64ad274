// The report beyond single models: large systems, poses, stages, and its forms.
// The corpus of broken models is in diagnosis/.

#include <algorithm>
#include <chrono>
#include <cmath>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/subsystem.h>
#include <mortise/core/scaling.h>
#include <mortise/diagnosis/graph.h>
#include <mortise/diagnosis/report.h>
#include <mortise/diagnosis/report_poses.h>
#include <mortise/diagnosis/report_stages.h>
#include <mortise/joints/coupling.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/functor.h>
#include <mortise/joints/pin.h>
#include <mortise/solve/solver.h>

#include "random_equations.h"

using namespace mortise;
using namespace mortise::testing;

namespace {

SparseEquations sparse(const Equations& e) {
  const std::vector<int> groups = e.groups.empty() ? separate_groups(e.M.rows()) : e.groups;
  std::vector<Massless> blocks;
  Index first = 0;
  for (const int size : e.blocks) {
    blocks.push_back(massless_directions(e.M.block(first, first, size, size), {"matrix", "M"}));
    first += size;
  }
  const Massless massless = e.massless       ? *e.massless
                            : blocks.empty() ? massless_directions(e.M, {"matrix", "M"})
                                             : stack(blocks);
  const VectorXd C = e.C.size() ? e.C : VectorXd(VectorXd::Zero(e.M.rows()));
  return {e.M.diagonal(),
          e.Q.cwiseAbs() + C.cwiseAbs(),
          e.A.sparseView(0, 0),
          e.b,
          e.b_size.size() ? e.b_size : VectorXd(e.b.cwiseAbs()),
          massless.N0.sparseView(0, 0),
          massless.pivot,
          groups};
}

// A chain of pinned rods; some parts are spoilt.
struct Chain {
  Assembly assembly{"chain"};
  Handle<Ground> ground = assembly.add("ground", Ground{});
  std::vector<Handle<PlanarBody>> rods;

  explicit Chain(int n) {
    for (int i = 0; i < n; ++i) {
      rods.push_back(assembly.add("rod" + std::to_string(i), PlanarBody{.mass = 1, .inertia = 0.1}));
      assembly.place(rods.back(), {i + 0.5, 0.0, 0.0});
      const Pin pin{.on_a = {i ? 0.5 : 0.0, 0}, .on_b = {-0.5, 0}};
      if (i == 0)
        assembly.connect("pin0", pin, ground, rods[0]);
      else
        assembly.connect("pin" + std::to_string(i), pin, rods[static_cast<std::size_t>(i) - 1], rods.back());
    }
  }
  void add_leaf(std::size_t i) {
    const auto leaf = assembly.add(fmt::format("leaf{}", i), PlanarBody{});
    assembly.place(leaf, assembly.place(rods[i].path));
    assembly.connect(fmt::format("stem{}", i), Pin{}, rods[i], leaf);
  }
  void repeat_pin(std::size_t i) {
    assembly.connect(fmt::format("again{}", i), Pin{.on_a = {0.5, 0}, .on_b = {-0.5, 0}}, rods[i - 1], rods[i]);
  }
};

// Cranks of length 1, two apart, and the coupler between their ends.
Assembly parallelogram(double angle) {
  Assembly m("parallelogram");
  const auto ground = m.add("ground", Ground{});
  const auto left = m.add("left", PlanarBody{.mass = 1, .inertia = 1}),
             right = m.add("right", PlanarBody{.mass = 1, .inertia = 1});
  const auto coupler = m.add("coupler", PlanarBody{.mass = 1, .inertia = 1});
  m.connect("A", Pin{}, ground, left);
  m.connect("B", Pin{.on_a = {1, 0}}, left, coupler);
  m.connect("C", Pin{.on_a = {2, 0}, .on_b = {1, 0}}, coupler, right);
  m.connect("D", Pin{.on_a = {2, 0}}, ground, right);
  m.place(left, {0, 0, angle});
  m.place(right, {2, 0, angle});
  m.place(coupler, {std::cos(angle), std::sin(angle), 0});
  return m;
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

TEST_CASE("ranks by bounds, as of large parts, are those of singular values") {
  int deficient = 0, redundant = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const RandomEquations s = random_equations(seed, {.thinnest = 0});
    const SparseRank r = sparse_rank(sparse(s.e), {}, 0);
    const Rank whole = in_dense_form(sparse_rank(sparse(s.e), {}, 1000), {});
    CHECK(r.kept.has_value() == whole.kept.has_value());
    if (r.kept) CHECK(*r.kept == doctest::Approx(*whole.kept).epsilon(0.05));
    CHECK(r.smallest_row.has_value() == whole.smallest_row.has_value());
    if (r.smallest_row) CHECK(*r.smallest_row == doctest::Approx(*whole.smallest_row).epsilon(0.05));
    REQUIRE(r.rank_M == s.rank_M);
    REQUIRE(r.rank_A == s.rank_A);
    REQUIRE(r.rank_MA == s.rank_MA);
    REQUIRE(r.N.size() == static_cast<std::size_t>(s.F.cols()));
    for (const auto& N : r.N) {
      VectorXd x = VectorXd::Zero(s.e.M.rows());
      for (const auto& [i, value] : N) x[i] = value * s.S[i];
      x.normalize();
      CHECK((s.M * x).norm() < 1e-8);
      if (s.A.rows() > 0) CHECK((s.A * x).norm() < 1e-8);
    }
    for (const auto& set : r.redundant) {
      VectorXd y = VectorXd::Zero(s.A.rows());
      for (const auto& [i, value] : set.y) y[i] = value * s.R[i];
      CHECK((s.A.transpose() * y.normalized()).norm() < 1e-8);
      CHECK(set.consistent);
    }
    deficient += !r.N.empty();
    redundant += !r.redundant.empty();
  }
  CHECK(deficient > 30);
  CHECK(redundant > 30);
}

TEST_CASE("a large chain: all faults at once, by name, and one line where there are none") {
  Chain healthy(400);
  const System well(healthy.assembly);
  CHECK(
      check_model(well).text() ==
      "rank check 'chain' at t = 0   OK: the motion is determined; 1200 coordinates, rank M 1200; 800 rows; 400 DOF\n");
  Chain chain(400);
  for (const std::size_t i : {17u, 200u, 399u}) chain.add_leaf(i);
  for (const std::size_t i : {50u, 200u}) chain.repeat_pin(i);
  const System system(chain.assembly);
  const RankReport r = check_rank(system, system.evaluate(system.state()));
  REQUIRE(r.free.size() == 3);
  CHECK(r.free[0].parts[0].coordinate == "leaf17.theta");
  CHECK(r.free[1].parts[0].coordinate == "leaf200.theta");
  CHECK(r.free[2].parts[0].coordinate == "leaf399.theta");
  REQUIRE(r.redundant.size() == 4);
  CHECK(r.redundant[0].loop == std::vector<std::string>{"pin50", "rod49", "again50", "rod50"});
  CHECK(r.dof == 403);  // 400 rods and 3 leaves turn
  CHECK(r.rank.rank_MA == r.rank.n - 3);
  Solver solver(system);
  CHECK_THROWS_AS(solver.solve(system.state()), UnderModelled);
}

TEST_CASE("many findings of one kind: the first few in full, the others by name, all with details") {
  // Forty joints twice: forty lines of joints, loops and remedies each would hide everything else.
  Chain chain(60);
  for (std::size_t i = 10; i < 50; ++i) chain.repeat_pin(i);
  const System system(chain.assembly);
  const RankReport r = check_model(system, system.state());
  REQUIRE(r.redundant.size() == 80);
  REQUIRE(r.mends.size() >= 40);
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  CAPTURE(r.text());
  CHECK(r.text().find("redundant   again10.x, again10.y: again10 repeats pin10, 2 rows") != std::string::npos);
  CHECK(r.text().find("redundant   likewise again18, again19") != std::string::npos);
  CHECK(r.text().find("... 24 more, 64 rows; --details tells all") != std::string::npos);
  CHECK(lines(r.text()) < 35);
  const std::string all = r.text({.details = true});
  for (std::size_t i = 10; i < 50; ++i)
    CHECK(all.find(fmt::format("again{0} repeats pin{0}, 2 rows", i)) != std::string::npos);
  // Coordinates of one body that nothing holds.
  Assembly loose("loose");
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back(fmt::format("x{}", i));
  loose.add("s", Subsystem<>{.coordinates = names, .M = MatrixXd::Zero(40, 40)});
  const System free(loose);
  const RankReport f = check_rank(free, free.evaluate(free.state()));
  REQUIRE(f.free.size() == 40);
  CAPTURE(f.text());
  CHECK(f.text().find("  1-40 x0, x1, x2, x3, x4, x5, x6, x7, ... 32 more of s: massless, held by nothing") !=
        std::string::npos);
  CHECK(lines(f.text()) < 8);
}

namespace {

// The model beside particles, so that it has `size` coordinates.
System of_size(Assembly a, Index size) {
  const Index more = size - System(a).size();
  for (Index i = 0; i < more; ++i) a.add(fmt::format("idle{}", i), Particle<1>{.mass = 1});
  System out(a);
  REQUIRE(out.size() == size);
  return out;
}

}  // namespace

TEST_CASE("on both sides of 200 coordinates verdicts are the same; what is told beside them gets less") {
  for (const Index size : {200, 201}) {
    CAPTURE(size);
    const bool dense = size <= report::dense_at_most;
    // A singular pose: its freedom counts on both sides, its motion is told on one.
    const System flat = of_size(parallelogram(0), size);
    const RankReport pose = check_model(flat, flat.state());
    REQUIRE(pose.singular);
    CHECK(pose.singular->gained == 1);
    CHECK(pose.singular->motions.empty() != dense);
    const PoseReport poses = check_poses(flat, {flat.state()});
    CHECK(poses.poses.front().dof == pose.dof);
    const System bent = of_size(parallelogram(0.5), size);
    if (dense)
      CHECK(check_sweep(bent, bent.state(), "left.theta", 0.5, 0.4, 2).ok());
    else
      CHECK_THROWS_WITH_AS(check_sweep(bent, bent.state(), "left.theta", 0.5, 0.4, 2),
                           doctest::Contains("201 coordinates; sweeps are for 200"), InvalidModel);
    // A start that cannot be met: refused on both sides, what is left of it told on one.
    Assembly apart("apart");
    const auto ground = apart.add("ground", Ground{});
    const auto bead = apart.add("bead", Particle<2>{.mass = 1});
    apart.place(bead, {1, 0.5});
    apart.connect("one", Distance<2>{.length = 1}, ground, bead);
    apart.connect("two", Distance<2>{.on_a = {3, 0}, .length = 1}, ground, bead);
    const System unmet = of_size(apart, size);
    const RankReport start = check_model(unmet, unmet.state());
    REQUIRE(start.start);
    CHECK(!start.start->reachable);
    CHECK(!start.consistent());
    CHECK(start.start->left.empty() != dense);
    // A massless part that is free at this pose alone: told on both sides, since its mechanism is small.
    Assembly lever("lever");
    const auto block = lever.add("block", Particle<1>{.mass = 1}), slide = lever.add("slide", Particle<1>{.mass = 0}),
               arm = lever.add("arm", Particle<1>{.mass = 1});
    lever.connect("lever", Holonomic{[](const auto& x, const auto& s, const auto& theta, const auto&) {
                    using T = std::decay_t<decltype(x.coordinate("x"))>;
                    return Vec<T, 1>(x.coordinate("x") - s.coordinate("x") * theta.coordinate("x"));
                  }},
                  block, slide, arm);
    const System dead = of_size(lever, size);
    const RankReport free = check_model(dead, dead.state());
    CHECK(free.free.size() == 1);
    CHECK(free.only_here());
  }
}

TEST_CASE("on both sides of 60 joints that are redundant together: the same sets, changes of joints tried on one") {
  for (const int joints : {60, 61}) {
    CAPTURE(joints);
    Assembly a("bundle");
    const auto ground = a.add("ground", Ground{});
    const auto disc = a.add("disc", PlanarBody{.mass = 1, .inertia = 0.1});
    for (int i = 0; i < joints; ++i) a.connect(fmt::format("pin{}", i), Pin{}, ground, disc);
    const System system(a);
    const RankReport r = check_rank(system, system.evaluate(system.state()));
    CHECK(r.redundant.size() == static_cast<std::size_t>(2 * (joints - 1)));
    CHECK(r.dof == 1);
    CHECK(r.mends.empty() == (joints > 60));
  }
}

TEST_CASE("a cluster of a thousand massless bodies is judged too") {
  Assembly m("frame");
  const auto ground = m.add("ground", Ground{});
  Handle<PlanarBody> last;
  for (int i = 0; i < 700; ++i) {  // massless rods, each locked to the last by two pins: only the end of them is loose
    const auto rod = m.add("rod" + std::to_string(i), PlanarBody{});
    m.place(rod, {double(i), 0, 0});
    if (i == 0) {
      m.connect("root", Pin{}, ground, rod);
      m.connect("lock", Coupling{.terms = {{0, "theta", 1}}}, rod);
    } else {
      m.connect("pin" + std::to_string(i), Pin{.on_a = {1, 0}}, last, rod);
      if (i < 699)
        m.connect("angle" + std::to_string(i), Coupling{.terms = {{0, "theta", 1}, {1, "theta", -1}}}, last, rod);
    }
    last = rod;
  }
  const System system(m);
  const RankReport r = check_rank(system, system.evaluate(system.state()));
  REQUIRE(r.free.size() == 1);
  CHECK(r.free[0].parts[0].coordinate == "rod699.theta");
  CHECK(r.redundant.empty());
  Solver solver(system);
  CHECK_THROWS_AS(solver.solve(system.state()), UnderModelled);
}

TEST_SUITE("long") {
  TEST_CASE("100 000 bodies: exact names, at the cost of at most 30 + 3k acceleration solves for k findings") {
    Chain chain(100'000);
    for (std::size_t i = 0; i < 10; ++i) chain.add_leaf(9'999 + i * 10'000);
    for (std::size_t i = 0; i < 10; ++i) chain.repeat_pin(5'000 + i * 10'000);
    const System system(chain.assembly);
    const State state = system.state();
    const double start = seconds();
    const RankReport r = check_rank(system, system.evaluate(state));
    const double cost = seconds() - start;
    REQUIRE(r.free.size() == 10);
    REQUIRE(r.redundant.size() == 20);
    for (std::size_t i = 0; i < 10; ++i) {
      CHECK(r.free[i].parts[0].coordinate == fmt::format("leaf{}.theta", 9'999 + i * 10'000));
      CHECK(r.redundant[2 * i].row.rfind(fmt::format("again{}.", 5'000 + i * 10'000), 0) == 0);
    }
    Chain plain(100'000);  // the same without the faults can be solved
    const System healthy(plain.assembly);
    Solver solver(healthy);
    const State s = healthy.state();
    (void)solver.solve(s);
    const double before = seconds();
    for (int i = 0; i < 5; ++i) (void)solver.solve(s);
    const double solve = (seconds() - before) / 5;
    MESSAGE("report " << cost << " s, one solve " << solve << " s: " << cost / solve << " solves for 30 findings");
    CHECK(cost <= (30 + 3 * 30) * solve);
  }
}

TEST_CASE("poses: a sweep finds the singular pose and names the freedom gained") {
  const System system(parallelogram(0.5));
  const PoseReport sweep = check_sweep(system, system.state(), "left.theta", 0.5, -0.45, 20);
  CAPTURE(sweep.text());
  CHECK(sweep.poses.size() == 20);
  CHECK(sweep.dof == 1);
  REQUIRE(sweep.singular.size() == 1);
  CHECK(std::abs(sweep.singular[0].at) < 1e-6);
  REQUIRE(sweep.singular[0].report.singular);
  CHECK(sweep.singular[0].report.singular->gained == 1);
  CHECK(sweep.text().find("SINGULAR") != std::string::npos);
  const PoseReport clear = check_sweep(system, system.state(), "left.theta", 0.5, 1.5, 10);
  CHECK(clear.ok());
  CHECK(clear.text() ==
        "poses of 'parallelogram' while left.theta is swept: 10 poses from 0.5 to 1.5, 1 DOF; no "
        "singular pose\n");
  const System flat(parallelogram(0)), bent(parallelogram(1));
  const PoseReport poses = check_poses(bent, {bent.state(), [&] {
                                                State s = bent.state();
                                                s.q = flat.state().q;
                                                return s;
                                              }()});
  CHECK(poses.singular.size() == 1);
  CHECK_THROWS_AS(check_sweep(system, system.state(), "left.theta", 0, 0, 5), InvalidModel);
  CHECK_THROWS_AS(check_sweep(system, system.state(), "nobody.theta", 0, 1, 5), InvalidModel);
}

TEST_CASE("poses: a pose of a sweep at which a massless part is free is told, though all rows are independent") {
  // X = s theta: s, without mass, is held by X but where theta = 0.
  Assembly a("lever");
  const auto block = a.add("block", Particle<1>{.mass = 1}), slide = a.add("slide", Particle<1>{.mass = 0}),
             arm = a.add("arm", Particle<1>{.mass = 1});
  a.connect("lever", Holonomic{[](const auto& x, const auto& s, const auto& theta, const auto&) {
              using T = std::decay_t<decltype(x.coordinate("x"))>;
              return Vec<T, 1>(x.coordinate("x") - s.coordinate("x") * theta.coordinate("x"));
            }},
            block, slide, arm);
  const System system(a);
  for (const int count : {3, 21}) {
    CAPTURE(count);
    State start = system.state();
    start.set("arm.x", -1);
    start.set("slide.x", 0.5);
    start.set("block.x", -0.5);
    const PoseReport r = check_sweep(system, start, "arm.x", -1, 1, count);
    CAPTURE(r.text());
    REQUIRE(r.singular.size() == 1);
    CHECK(!r.ok());
    CHECK(std::abs(r.singular[0].at) < 1e-8);
    CHECK(r.text().find("slide.x is free") != std::string::npos);
  }
}

TEST_CASE("stages: a subsystem that is free by itself is held once it is connected") {
  Assembly arm("arm");
  const auto upper = arm.add("upper", PlanarBody{.mass = 1, .inertia = 1}), tip = arm.add("tip", PlanarBody{});
  arm.connect("wrist", Pin{}, upper, tip);
  Assembly robot("robot");
  const auto left = robot.add("left", arm);
  const auto load = robot.add("load", PlanarBody{.mass = 1, .inertia = 1});
  robot.place(load, {1, 0, 0});
  robot.connect("grip", Pin{.on_a = {1, 0}}, left[tip], load);
  const StageReport stages = check_stages(robot);
  REQUIRE(stages.stages.size() == 2);
  CHECK(stages.stages[0].path == "left");
  CHECK(stages.stages[0].report.has(Verdict::under_modelled));
  CHECK(stages.ok());
  CHECK(stages.text().find("'left' by itself: UNDER-MODELLED: 1 free direction; INDETERMINATE: 1 direction   (held "
                           "once it is connected)\n") == 0);
}

TEST_CASE("forms: JSON, colours and pictures tell the same facts, to the byte") {
  Chain chain(2);
  chain.repeat_pin(1);
  chain.add_leaf(0);
  const System system(chain.assembly);
  const RankReport r = check_model(system);
  CHECK(r.text() == check_model(system).text());
  const std::string json = r.json().one_line();
  CHECK(json == check_model(system).json().one_line());
  CHECK(json.rfind("{\"schema\": \"mortise.report/1\", \"system\": \"chain\", ", 0) == 0);
  CHECK(json.find("\"verdict\": \"under-modelled\", \"refused\": true, \"names\": [\"leaf0.theta\"]") !=
        std::string::npos);
  CHECK(json.find("\"loop\": [\"pin1\", \"rod0\", \"again1\", \"rod1\"]") != std::string::npos);
  std::string plain = r.text({.colour = true});
  CHECK(plain != r.text());
  for (std::size_t i = plain.find('\033'); i != std::string::npos; i = plain.find('\033'))
    plain.erase(i, plain.find('m', i) - i + 1);
  CHECK(plain == r.text());
  const std::string picture = graphviz(system, r);
  CHECK(picture.find("\"leaf0\" [shape=box, style=filled, fillcolor=\"red\"]") != std::string::npos);
  CHECK(picture.find("\"again1\" [shape=ellipse, style=filled, fillcolor=\"orange\"]") != std::string::npos);
  CHECK(picture.find("\"rod0\" -- \"again1\" [penwidth=3, color=orange]") != std::string::npos);
  CHECK(picture.find("\"ground\" -- \"pin0\";") != std::string::npos);
  CHECK(Json({{"a \"b\"\n", Json::array({1, 2.5, true, Json(), "x"})}, {"n", std::nan("")}}).one_line() ==
        "{\"a \\\"b\\\"\\u000a\": [1, 2.5, true, null, \"x\"], \"n\": \"nan\"}");
}

TEST_CASE("both thresholds are told") {
  Chain chain(1);
  chain.add_leaf(0);
  const System system(chain.assembly);
  CHECK(check_model(system).text({.details = true}).find("warned below 1e-06, refused below 1e-09") !=
        std::string::npos);
}
