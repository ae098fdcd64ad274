// Model files: what is read, what is written, what is refused, and the command.

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <tuple>

#include <fmt/format.h>

#include <mortise/bodies/subsystem.h>
#include <mortise/files/expression.h>
#include <mortise/files/model.h>
#include <mortise/solve/readings.h>
#include <mortise/solve/solve.h>

#include "models/command.h"
#include "models/twins.h"

using namespace mortise;
namespace fs = std::filesystem;

namespace {

const fs::path root = MORTISE_ROOT, examples = root / "examples/models", bad = root / "tests/models/bad";

std::string refusal(const std::string& text, const std::string& folder = ".") {
  try {
    parse_model(text, "m.toml", folder);
  } catch (const ModelError& error) {
    return error.what();
  }
  return "";
}

// The start, moved a little and set in motion, so that no term vanishes.
State shaken(const System& system, const State& start, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 0.05);
  State s = start;
  for (Index i = 0; i < s.q.size(); ++i) s.q[i] += normal(random), s.v[i] += 4 * normal(random);
  s.t += 0.3;
  system.require_state(s);
  return s;
}

double difference(const MatrixXd& a, const MatrixXd& b) {
  REQUIRE(a.rows() == b.rows());
  REQUIRE(a.cols() == b.cols());
  return a.size() == 0 ? 0 : (a - b).cwiseAbs().maxCoeff() / std::max(1.0, a.cwiseAbs().maxCoeff());
}

std::vector<std::string> names(const System& s) {
  std::vector<std::string> out = s.names()->names();
  for (const auto& c : s.constraints()) out.push_back(fmt::format("{} {}", c.name, c.rows));
  for (const auto& f : s.forces()) out.push_back(f.name);
  return out;
}

}  // namespace

TEST_CASE("models: files equal their twins in C++") {
  constexpr double tolerance = 1e-12;  // relative; the two differ by the order of a few additions
  CHECK(twins().size() >= 20);
  for (const auto& [name, make] : twins()) {
    CAPTURE(name);
    const Model model = read_model((examples / (name + ".toml")).string());
    const System ours(model.assembly), theirs(make());
    REQUIRE(names(ours) == names(theirs));
    CHECK(ours.gravity() == theirs.gravity());
    State start = model.start(ours);
    if (name != "twin_arms") CHECK(difference(start.q, theirs.state().q) < tolerance);
    for (const unsigned seed : {0u, 1u, 2u}) {
      const State s = shaken(ours, start, seed);
      const Evaluation a = ours.evaluate(s), b = theirs.evaluate(s);
      CHECK(difference(a.dense_M(), b.dense_M()) < tolerance);
      CHECK(difference(a.dense_A(), b.dense_A()) < tolerance);
      CHECK(difference(a.Q, b.Q) < tolerance);
      CHECK(difference(a.C, b.C) < tolerance);
      CHECK(difference(a.b, b.b) < tolerance);
      CHECK(difference(a.phi, b.phi) < tolerance);
      CHECK(std::abs(ours.energy(s).total() - theirs.energy(s).total()) <
            tolerance * std::max(1.0, std::abs(theirs.energy(s).total())));
    }
    // Accelerations, on the constraints.
    const State s = consistent(ours, start);
    CHECK(difference(solve(ours, s).a, solve(theirs, s).a) < 10 * tolerance);
  }
}

TEST_CASE("models: every kind of the catalogue stands in a file that is compared") {
  std::string all;
  for (const auto& [name, make] : twins())
    all += content(examples / (name + ".toml")) + content(examples / "parts/arm.toml");
  for (const char* what : {"bodies", "joints", "forces"}) {
    std::stringstream lines(mortise_command(fmt::format("list {}", what)).out);
    std::string line;
    int count = 0;
    while (std::getline(lines, line)) {
      const std::string kind = line.substr(0, line.find(' '));
      CHECK_MESSAGE((kind == "ground" || all.find("kind = \"" + kind + "\"") != std::string::npos), kind);
      ++count;
    }
    CHECK(count >= 8);
  }
}

TEST_CASE("models: what is written is read as the same, to the bit") {
  for (const auto& [name, make] : twins()) {
    CAPTURE(name);
    const Model model = read_model((examples / (name + ".toml")).string());
    const std::string text = write_model(model);
    const Model again = parse_model(text, name + ".toml");
    CHECK(write_model(again) == text);
    const System a(model.assembly), b(again.assembly);
    REQUIRE(names(a) == names(b));
    const State start = model.start(a);
    CHECK(start.q == again.start(b).q);
    CHECK(start.v == again.start(b).v);
    const State s = shaken(a, start, 5);
    const Evaluation x = a.evaluate(s), y = b.evaluate(s);
    CHECK(x.dense_M() == y.dense_M());
    CHECK(x.dense_A() == y.dense_A());
    CHECK(x.Q == y.Q);
    CHECK(x.C == y.C);
    CHECK(x.b == y.b);
    CHECK(x.phi == y.phi);
    const State on = consistent(a, start);
    CHECK(solve(a, on).a == solve(b, on).a);
  }
}

TEST_CASE("models: how a model is run is written, too") {
  const Model usual = parse_model("[bodies.p]\nkind = \"particle\"\n");
  CHECK(write_model(usual).find("[run]") == std::string::npos);

  Model model = usual;
  model.time = 1;
  model.run.duration = 2.5;
  model.run.integrator = "rk4";
  model.run.steps = {.tolerance = 1e-5, .step = 0.01, .largest = 0.1};
  model.run.sample = 0;
  model.run.record = {.sensors = false, .momentum = true};
  model.complete = true;
  const Model again = parse_model(write_model(model));
  CHECK(again.time == 1);
  CHECK(again.run.duration == 2.5);
  CHECK(again.run.integrator == "rk4");
  CHECK(again.run.steps.tolerance == 1e-5);
  CHECK(again.run.steps.step == 0.01);
  CHECK(again.run.steps.largest == 0.1);
  CHECK(again.run.sample == 0);
  const ReadingOptions& r = again.run.record;
  CHECK(std::tuple(r.coordinates, r.sensors, r.joints, r.reactions, r.forces, r.energy, r.momentum) ==
        std::tuple(false, false, true, false, false, true, true));
  CHECK(again.complete);
}

TEST_CASE("models: assemblies made in C++ are written and read back to the bit; functors are refused by name") {
  int written = 0, refused = 0;
  for (const auto& [name, make] : twins()) {
    CAPTURE(name);
    const Assembly twin = make();
    std::string text;
    try {
      text = write_model(twin);
    } catch (const InvalidModel& error) {
      const std::string what = error.what();
      CHECK(what.find("C++") != std::string::npos);
      CHECK((what.starts_with("joint '") || what.starts_with("force '") || what.starts_with("body '")));
      ++refused;
      continue;
    }
    ++written;
    const System a(twin), b(parse_model(text, name + ".toml").assembly);
    REQUIRE(names(a) == names(b));
    CHECK(a.state().q == b.state().q);
    const State s = shaken(a, a.state(), 7);
    const Evaluation x = a.evaluate(s), y = b.evaluate(s);
    CHECK(x.dense_M() == y.dense_M());
    CHECK(x.dense_A() == y.dense_A());
    CHECK(x.Q == y.Q);
    CHECK(x.b == y.b);
    CHECK(x.phi == y.phi);
  }
  CHECK(written >= 8);
  CHECK(refused >= 5);
  try {
    write_model(twins().at("controller")());
    FAIL("a functor was written");
  } catch (const InvalidModel& error) {
    CHECK(
        std::string(error.what()) ==
        "joint 'law': it is a functor or a type of C++ that model files do not know; take a part of the catalogue, or "
        "a formula");
  }
}

TEST_CASE("models: bad files are refused with file, line, column, what was expected and the nearest name") {
  std::stringstream lines(content(bad / "expected.txt"));
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    const auto arrow = line.find(" => ");
    REQUIRE(arrow != std::string::npos);
    const std::string name = line.substr(0, arrow);
    CAPTURE(name);
    std::string said;
    const fs::path before = fs::current_path();
    fs::current_path(bad);
    try {
      read_model(name);
    } catch (const ModelError& error) {
      said = error.what();
    }
    fs::current_path(before);
    CHECK(said == line.substr(arrow + 4));
    ++count;
  }
  CHECK(count >= 40);
  for (const auto& file : fs::directory_iterator(bad))
    if (file.path().extension() == ".toml")
      CHECK_MESSAGE(content(bad / "expected.txt").find(file.path().filename().string() + " => ") != std::string::npos,
                    file.path());
}

TEST_CASE("models: all faults of a file are told at once, by part and place, and the rest can be judged") {
  const std::string text = R"(gravity = [0, 0, -9.81]
[bodies.flat]
kind = "rigid_body"
mass = 1
inertia = [1, 1, 5]
[bodies.heavy]
kind = "planar_body"
mass = -1
[bodies.odd]
kind = "no_such_body"
[bodies.turned]
kind = "rigid_body"
mass = 1
inertia = [1, 1, 1]
place = [0, 0, 0, 1, 1, 0, 0]
[bodies.leaf]
kind = "planar_body"
mass = 0
inertia = 0
[joints.on_odd]
kind = "pin"
bodies = ["odd", "heavy"]
[joints.pin]
kind = "pin"
bodies = ["ground", "leaf"]
[joints.short]
kind = "pin"
bodies = ["ground"]
[forces.unknown]
kind = "sprng"
bodies = ["leaf", "heavy"]
[start]
"odd.x" = 1
"leaf.thta" = 1
)";
  try {
    (void)parse_model(text, "faults.toml");
    FAIL("it was taken");
  } catch (const ModelError& error) {
    CAPTURE(error.what());
    std::vector<std::string> names;
    for (const ModelFault& f : error.faults()) {
      names.push_back(f.kind + " " + f.name);
      CHECK(f.place.starts_with("faults.toml:"));
      CHECK(std::string(error.what()).find(f.text()) != std::string::npos);
    }
    // Nothing is said of the joint on a body that could not be made, nor of its start: the fault is that body's.
    CHECK(names == std::vector<std::string>{"body flat", "body heavy", "body odd", "body turned", "joint short",
                                            "force unknown", " "});
    CHECK(error.judged() ==
          "with a plain body of 1 kg in place of flat, heavy and without body 'odd', the place of 'turned', joint "
          "'on_odd', joint 'short', force 'unknown'");
    REQUIRE(error.rest());
    const System system(error.rest()->assembly);
    const RankReport report = check_model(system, error.rest()->start(system));
    CAPTURE(report.text());
    REQUIRE(report.free.size() == 1);
    CHECK(report.free[0].parts[0].coordinate == "leaf.theta");
  }
}

TEST_CASE("models: an integrator that this build lacks is known all the same") {
  const auto said = [](const char* name) { return refusal(fmt::format("[run]\nintegrator = \"{}\"\n", name)); };
  CHECK(said("cvode_bdg") == "m.toml:2:14: there is no integrator 'cvode_bdg'; did you mean 'cvode_bdf'?");
  const bool there = stepper_names() == all_stepper_names();
  for (const char* name : {"cvode_bdf", "cvode_adams"}) {
    const std::string missing = fmt::format(
        "m.toml:2:14: integrator '{}': this build of mortise has no CVODE; build it where SUNDIALS is installed "
        "(libsundials-dev), or take one of {}",
        name, fmt::join(stepper_names(), ", "));
    CHECK(said(name) == (there ? "" : missing));
  }
}

TEST_CASE("models: hostile files are refused in bounded time and memory") {
  const Scratch scratch;
  SUBCASE("100 MB") {
    const std::string path = scratch / "large.toml";
    write(path, "");
    fs::resize_file(path, 100'000'000);
    CHECK_THROWS_WITH_AS(read_model(path), doctest::Contains("100000000 bytes"), ModelError);
  }
  SUBCASE("deep lists, deep tables and deep brackets") {
    CHECK(refusal("a = " + std::string(100'000, '[')).find("m.toml:1:") == 0);
    std::string dotted = "a";
    for (int i = 0; i < 20'000; ++i) dotted += ".a";
    CHECK(refusal(dotted + " = 1").find("nested more than") != std::string::npos);
    CHECK(refusal("[parameters]\nx = \"" + std::string(5'000, '(') + "\"").find("nested more than 64 deep") !=
          std::string::npos);
    CHECK(refusal("[parameters]\nx = \"" + std::string(5'000, '-') + "1\"").find("nested more than 64 deep") !=
          std::string::npos);
    CHECK(refusal("[parameters]\nx = \"1" + std::string(20'000, ' ') + "\"").find("20001 characters") !=
          std::string::npos);
  }
  SUBCASE("huge and special numbers") {
    for (const char* x :
         {"1e400", "inf", "-inf", "nan", "\"1e400\"", "\"1/0\"", "\"10^400\"", "\"sqrt(-1)\"", "99999999999999999999"})
      CHECK_MESSAGE(refusal(fmt::format("[parameters]\nx = {}", x)).starts_with("m.toml:2:"), x);
  }
  SUBCASE("circles of files") {
    write(scratch / "a.toml", "[subsystems.b]\nfile = \"b.toml\"\n");
    write(scratch / "b.toml", "[subsystems.a]\nfile = \"a.toml\"\n");
    CHECK_THROWS_WITH_AS(read_model(scratch / "a.toml"), doctest::Contains("'a.toml' includes itself"), ModelError);
  }
  SUBCASE("files that multiply") {
    for (int i = 0; i < 20; ++i) {
      std::string text;
      for (int k = 0; k < 10; ++k) text += fmt::format("[subsystems.s{}]\nfile = \"f{}.toml\"\n", k, i + 1);
      write(scratch / fmt::format("f{}.toml", i), text);
    }
    write(scratch / "f20.toml", "");
    CHECK_THROWS_WITH_AS(read_model(scratch / "f0.toml"), doctest::Contains("more than 10000 subsystems"), ModelError);
  }
  SUBCASE("paths that leave the folder") {
    fs::create_directories(scratch.path / "inner");
    write(scratch / "secret.toml", "");
    fs::create_symlink("../secret.toml", scratch.path / "inner/link.toml");
    for (const char* path : {"../secret.toml", "/etc/passwd", "x/../../secret.toml", "link.toml"}) {
      write(scratch / "inner/m.toml", fmt::format("[subsystems.s]\nfile = \"{}\"\n", path));
      CHECK_THROWS_WITH_AS(read_model(scratch / "inner/m.toml"), doctest::Contains("leads out of the model's folder"),
                           ModelError);
    }
  }
  SUBCASE("what is no file") {
    CHECK_THROWS_AS(read_model(scratch.path.string()), ModelError);
    CHECK_THROWS_AS(read_model("/dev/zero"), ModelError);
    CHECK_THROWS_AS(read_model(scratch / "none.toml"), ModelError);
  }
}

TEST_CASE("models: expressions mean what they say, and their text reads back") {
  const auto value = [](const std::string& text) {
    return parse_model(fmt::format("[parameters]\na = 3\nx = '{}'", text)).parameters.at("x");
  };
  CHECK(value("2 + 3 * 4 ^ 2 ^ 0.5") == 2 + 3 * std::pow(4.0, std::pow(2.0, 0.5)));
  CHECK(value("-a^2") == -9);
  CHECK(value("2^-1") == 0.5);
  CHECK(value("-(a - 1) * -2") == 4);
  CHECK(value("8 / 4 / 2") == 1);
  CHECK(value("1 - 2 - 3") == -4);
  CHECK(value("atan2(1, -1) + min(2, a) + max(2, a)") == std::atan2(1.0, -1.0) + 5);
  CHECK(value("sin(pi/6) + cos(0) + tan(0) + sqrt(9) + abs(-2) + exp(0) + log(1)") ==
        doctest::Approx(7.5).epsilon(1e-15));
  CHECK(value("12 mm") == 12 * 1e-3);
  CHECK(value("30 deg") == 30 * (std::acos(-1.0) / 180));
  CHECK(value("2 * a kN/m") == 6000);
  CHECK(value("5 kg m^2") == 5);
  CHECK(value("90 km/h") == doctest::Approx(25).epsilon(1e-15));
}

TEST_CASE("models: start, run settings, shapes and parameters") {
  const Model m = parse_model(R"(
gravity = [0, -9.81, 0]
[parameters]
L = 2
[bodies.rod]
kind = "planar_body"
mass = 1
place = {x = "L", theta = "90 deg"}
velocity = {theta = "1 rpm"}
shape = {box = ["L", 0.1, 0.1], at = [0.5, 0, 0], colour = "#ff8800"}
[start]
t = 2
"rod.y" = 0.25
[run]
until = 5
integrator = "rk4"
step = "1 ms"
sample = 0.1
record = ["coordinates", "momentum"]
)",
                              "rod.toml", ".", {{"L", 3}});
  const System system(m.assembly);
  const State s = m.start(system);
  CHECK(m.assembly.name() == "rod");
  CHECK(s.t == 2);
  CHECK(s.get("rod.x") == 3);
  CHECK(s.get("rod.y") == 0.25);
  CHECK(s.get("rod.theta") == doctest::Approx(std::acos(0.0)));
  CHECK(s.get("rod.theta'") == doctest::Approx(std::acos(-1.0) / 30));
  CHECK(m.run.duration == 3);
  CHECK(m.run.integrator == "rk4");
  CHECK(m.run.steps.step == 1e-3);
  CHECK(m.run.record.momentum);
  CHECK(!m.run.record.energy);
  CHECK(m.shapes.at("rod").front().size == Vec3<double>(3, 0.1, 0.1));
  CHECK(m.shapes.at("rod").front().colour == "#ff8800");
  CHECK_THROWS_WITH_AS(parse_model("[parameters]\nlength = 1", "m.toml", ".", {{"lenght", 3}}),
                       doctest::Contains("no parameter 'lenght'"), ModelError);
}

TEST_CASE("models: sensors tell what they measure") {
  const auto reading = [](const char* name, const char* column) {
    const Model m = read_model((examples / name).string());
    const System system(m.assembly);
    Readings readings(system);
    readings.read(consistent(system, m.start(system)));
    return readings.value(column);
  };
  CHECK(reading("pendulum.toml", "tip.x") == 1);
  CHECK(reading("pendulum.toml", "tip.y''") == doctest::Approx(-1.5 * 9.81).epsilon(1e-12));
  CHECK(reading("wheel_on_incline.toml", "apart") ==
        doctest::Approx(std::sqrt(1.09 + 0.6 * std::sin(2 * 20 * std::acos(-1.0) / 180))).epsilon(1e-9));
  CHECK(std::abs(reading("robot_arm.toml", "bend")) < 1e-12);
  CHECK(reading("lagrange_top.toml", "head.z") == doctest::Approx(0.25 * std::cos(0.5)).epsilon(1e-12));
  CHECK(reading("lagrange_top.toml", "turn.x") == doctest::Approx(std::sin(0.25)).epsilon(1e-12));
  CHECK(reading("lagrange_top.toml", "angles.second") == doctest::Approx(0.5).epsilon(1e-12));
  const double along = reading("lagrange_top.toml", "gyro.z");
  CHECK(along == doctest::Approx(std::cos(0.5) * reading("lagrange_top.toml", "spin.z") -
                                 std::sin(0.5) * reading("lagrange_top.toml", "spin.y"))
                     .epsilon(1e-12));
  CHECK(along > 100);
  CHECK(reading("controller.toml", "power") == 0);  // at rest
}

TEST_CASE("models: a joint given in the world equals the one given in its bodies") {
  const std::string bodies = R"(
[bodies.rod]
kind = "planar_body"
mass = 1
inertia = 1
place = [1, 2, 0.7]
)";
  const auto pin = [&](const std::string& given) {
    const Model m = parse_model(bodies + "[joints.pin]\nkind = \"pin\"\nbodies = [\"ground\", \"rod\"]\n" + given);
    const System s(m.assembly);
    return s.evaluate(s.state());
  };
  const Evaluation e = pin("at_world = {point = [3, 1]}");
  CHECK(e.phi.norm() < 1e-14);
  CHECK(e.dense_A() == pin("on_a = [3, 1]\non_b = ['cos(0.7) * 2 - sin(0.7)', '-sin(0.7) * 2 - cos(0.7)']").dense_A());
}

TEST_CASE("models: the balance of energy counts the forces of a subsystem") {
  const Model m = read_model((examples / "energies.toml").string());
  const System system(m.assembly);
  const Trajectory run = simulate(system, m.start(system), m.run);
  CHECK(run.finished);
  CHECK(run.energy_error < 1e-6);  // [J] of some 5 J, at the tolerance of steps; they put in 0.016 J
  // M(q) = 1 + q^2, Q = -q v:  T changes by v Q + 1/2 v M' v per second.
  Assembly a("own");
  const auto mass = [](const auto& q, const auto&) {
    Mat<std::decay_t<decltype(q[0])>, dynamic> M(1, 1);
    M(0, 0) = 1.0 + q[0] * q[0];
    return M;
  };
  const auto force = [](const auto& q, const auto& v, const auto&) { return (-q.cwiseProduct(v)).eval(); };
  a.add("user", Subsystem{.coordinates = {"q"}, .M = mass, .Q = force});
  const System own(a);
  State s = own.state();
  s.set("user.q", 0.5);
  s.set("user.q'", 3);
  const auto c = own.contributions(s);
  REQUIRE(c.size() == 1);
  CHECK(c[0].input == doctest::Approx(3 * (-0.5 * 3) + 0.5 * 3 * (2 * 0.5 * 3) * 3).epsilon(1e-14));
  CHECK(own.energy(s).potential == 0);
}

// ---- the command

TEST_CASE("command: check tells the verdict by text, JSON and exit status") {
  const auto check = [](const std::string& name, const std::string& more = "") {
    return mortise_command(fmt::format("check {} {}", (examples / name).string(), more));
  };
  const Outcome ok = check("pendulum.toml");
  CHECK(ok.status == 0);
  CHECK(ok.out ==
        "rank check 'pendulum' at t = 0   OK: the motion is determined; 3 coordinates, rank M 3; 2 rows; 1 DOF\n");
  const Outcome loose = check("loose_rod.toml");
  CHECK(loose.status == 2);
  CHECK(loose.out.find("UNDER-MODELLED: 1 free direction") != std::string::npos);
  CHECK(loose.out.find("rod turns about the point (0, 0)") != std::string::npos);
  const Outcome json = check("loose_rod.toml", "--json");
  CHECK(json.status == 2);
  CHECK(json.out.find("\"coordinate\": \"rod.theta\"") != std::string::npos);
  CHECK(json.out.find("\"status\": 2") != std::string::npos);
  CHECK(check("pendulum.toml", "--at 0.5").out.find("at t = 0.5   OK") != std::string::npos);
  CHECK(check("pendulum.toml", "--at -1").status == 64);
  CHECK(check("pendulum.toml", "--set L=x").status == 64);
  CHECK(check("pendulum.toml", "--set L").status == 64);
  CHECK(check("massless_node.toml").out.find("with --complete what is implied is added") != std::string::npos);
  CHECK(loose.out.find("--complete") == std::string::npos);  // nothing is implied there
  CHECK(check("pendulum.toml", "--set M=1").err.find("there are L, m") != std::string::npos);

  const Scratch scratch;
  const std::string bar = R"(
[bodies.a]
kind = "planar_body"
mass = 1
inertia = 1
[joints.p]
kind = "pin"
bodies = ["ground", "a"]
[joints.q]
kind = "pin"
bodies = ["ground", "a"]
on_a = [%, 0]
on_b = [1, 0]
)";
  const auto with = [&](const std::string& x) {
    std::string text = bar;
    text.replace(text.find('%'), 1, x);
    write(scratch / "bar.toml", text);
    return mortise_command(fmt::format("check {}", scratch / "bar.toml"));
  };
  CHECK(with("1").status == 1);  // one row too much
  CHECK(with("1").out.find("redundant") != std::string::npos);
  CHECK(with("2").status == 3);  // the two pins cannot both be held
  CHECK(mortise_command("check /nowhere/none.toml").status == 4);
  write(scratch / "empty.toml", "");
  const Outcome empty = mortise_command(fmt::format("check {}", scratch / "empty.toml"));
  CHECK(empty.status == 4);
  CHECK(empty.err == "model 'empty': nothing in it can move; add bodies, under [bodies.NAME]\n");
}

TEST_CASE("command: check draws the graph") {
  const Scratch scratch;
  const auto drawn = [&](const std::string& name, const std::string& file) {
    return mortise_command(fmt::format("check {} --graph {}", (examples / name).string(), file));
  };
  CHECK(drawn("four_bar.toml", scratch / "a.svg").status == 1);  // its start is rough
  const std::string text = content(scratch / "a.svg");
  CHECK(text.find("<svg") != std::string::npos);
  for (const char* name : {">ground<", ">crank<", ">coupler<", ">rocker<", ">A<", ">D<", ">motor<", "start: the state"})
    CHECK_MESSAGE(text.find(name) != std::string::npos, name);
  CHECK(drawn("linkage.toml", scratch / "b.dot").status == 2);
  CHECK(content(scratch / "b.dot").starts_with("graph \"linkage\" {"));
  CHECK(drawn("linkage.toml", scratch / "b.png").status == 64);
  CHECK(drawn("linkage.toml", "/nowhere/b.svg").err ==
        "file '/nowhere/b.svg': there is no folder '/nowhere'; make it, or give another name\n");
}

TEST_CASE("command: accelerations are those of the closed form, with the matrices as JSON") {
  const Outcome o = mortise_command(fmt::format("accelerations {} --json", (examples / "pendulum.toml").string()));
  CHECK(o.status == 0);
  const auto at = o.out.find("\"accelerations\": [");
  REQUIRE(at != std::string::npos);
  double x, y, theta;
  REQUIRE(std::sscanf(o.out.c_str() + at, "\"accelerations\": [%lf, %lf, %lf]", &x, &y, &theta) == 3);
  CHECK(theta == doctest::Approx(-1.5 * 9.81).epsilon(1e-12));
  for (const char* key :
       {"\"M\"", "\"Q\"", "\"C\"", "\"A\"", "\"b\"", "\"rank\"", "\"Qc\"", "\"reactions\"", "\"pin\""})
    CHECK_MESSAGE(o.out.find(key) != std::string::npos, key);
  CHECK(mortise_command(fmt::format("accelerations {} --json", (examples / "loose_rod.toml").string())).status == 2);
  const std::string node = (examples / "massless_node.toml").string();
  CHECK(mortise_command(fmt::format("accelerations {}", node)).status == 2);
  CHECK(mortise_command(fmt::format("accelerations {} --complete", node)).status == 1);
}

TEST_CASE("command: run writes the motion, resumes to the bit and tells how it went") {
  const fs::path folder = fs::temp_directory_path() / fmt::format("mortise_run_{}", ::getpid());
  fs::create_directories(folder);
  const std::string model = (examples / "pendulum.toml").string();
  const auto file = [&](const char* name) { return (folder / name).string(); };
  const Outcome whole = mortise_command(
      fmt::format("run {} --until 2 -o {} --checkpoint {} --every 0.5", model, file("a.csv"), file("a.run")));
  CHECK(whole.status == 0);
  CHECK(whole.out.find("run of 'pendulum' to t = 2 s") != std::string::npos);
  CHECK(whole.out.find("energy balanced to") != std::string::npos);
  CHECK(content(file("a.csv")).starts_with("t [s],rod.x [m],"));
  CHECK(mortise_command(
            fmt::format("run {} --until 2 -o {} --resume {} --every 0.5", model, file("b.csv"), file("a.run")))
            .status == 0);
  CHECK(content(file("b.csv")) == content(file("a.csv")));
  CHECK(mortise_command(fmt::format("run {} --until 1 --integrator rk4 --step 0.001", model))
            .out.find("1000 steps of rk4") != std::string::npos);
  // It may end later than the run that was saved; a model that was changed is refused.
  CHECK(mortise_command(
            fmt::format("run {} --until 2.5 -o {} --resume {} --every 0.5", model, file("b.csv"), file("a.run")))
            .status == 0);
  CHECK(content(file("b.csv")).starts_with(content(file("a.csv"))));
  const Outcome other =
      mortise_command(fmt::format("run {} --until 3 --set L=2 --resume {} --every 0.5", model, file("a.run")));
  CHECK(other.status == 4);
  CHECK(other.err.find("it is of another run: there [bodies.rod] = ") != std::string::npos);
  CHECK(mortise_command(fmt::format("run {} --until 0.2 --resume {}", model, file("none.run")))
            .out.find("none.run is not there: the run begins at its start\n") != std::string::npos);
  // What cannot be is told before anything is computed.
  for (const auto& [options, status, message] : std::vector<std::tuple<std::string, int, std::string>>{
           {"-o /nowhere/x.csv", 4, "file '/nowhere/x.csv': there is no folder '/nowhere'"},
           {"-o " + folder.string(), 4, "it is a folder; give the name of a file"},
           {"--checkpoint /nowhere/x.run", 4, "there is no folder '/nowhere'"},
           {"--integrator rk5", 64, "--integrator rk5: there is no integrator of this name; there are dopri5, rk4"},
           {"--until 0", 64, "--until 0: this is not after the start at 0 s"},
           {"--until nan", 64, "--until nan"},
           {"--until 1e12", 64, "more than fits into memory; give an earlier --until or a longer --sample"},
           {"--tolerance 0", 64, "--tolerance: 0 is not possible; give a number > 0"},
           {"--step x", 64, "--step: x is not possible; give a number > 0"}}) {
    const Outcome o = mortise_command(fmt::format("run {} {}", model, options));
    CHECK_MESSAGE(o.status == status, options);
    CHECK_MESSAGE(o.err.find(message) != std::string::npos, o.err);
  }
  const Outcome implied = mortise_command(fmt::format("run {}", (examples / "massless_node.toml").string()));
  CHECK(implied.status == 2);
  CHECK(implied.err.find("with --complete it can be run") != std::string::npos);
  // Beside something that nothing decides, what is implied is added all the same, and the rest is named.
  write(file("ghost.toml"),
        content((examples / "massless_node.toml").string()) + "\n[bodies.ghost]\nkind = \"particle\"\ndimension = 1\n");
  const Outcome apart = mortise_command(fmt::format("check {}", file("ghost.toml")));
  CHECK(apart.status == 2);
  CHECK(apart.out.find("\nwith --complete what is implied is added to the model; the rest stays free\n") !=
        std::string::npos);
  const Outcome rest = mortise_command(fmt::format("check --complete {}", file("ghost.toml")));
  CHECK(rest.status == 2);
  CHECK(rest.out.find("2 rows added: implied_1.node.x, implied_1.node.y\n") != std::string::npos);
  CHECK(rest.out.find("  not decided: ghost.x, indeterminate\n") != std::string::npos);
  CHECK(rest.out.find("UNDER-MODELLED: 1 free direction; INDETERMINATE: 1 direction\n") != std::string::npos);
  CHECK(mortise_command(fmt::format("run --complete {}", file("ghost.toml"))).status == 2);
  // A pipe is written to, not replaced by a file.
  const std::string pipe = file("pipe");
  REQUIRE(std::system(fmt::format("mkfifo {0} && (cat {0} > {1} &) && {2} run {3} --until 2 --quiet --every 0.5 "
                                  "--checkpoint {4} -o {0} && sleep 0.2",
                                  pipe, file("piped.csv"), MORTISE_COMMAND, model, file("p.run"))
                          .c_str()) == 0);
  CHECK(fs::is_fifo(pipe));
  CHECK(content(file("piped.csv")) == content(file("a.csv")));
  // Ctrl-C ends a run that would take long, and keeps what there is.
  const Scratch scratch;
  const std::string stopped = fmt::format(
      "{} run {} --until 1e6 --sample 1 --every 1 -o {} --checkpoint {} 2>{} >{} & sleep 1; kill -INT $!; wait $!",
      MORTISE_COMMAND, model, scratch / "c.csv", scratch / "c.run", scratch / "err", scratch / "out");
  write(scratch / "line", "set -m\n" + stopped);  // by job control, as in a terminal: others ignore SIGINT
  const int raw = std::system(fmt::format("bash {}", scratch / "line").c_str());
  CHECK(WIFEXITED(raw));
  CHECK(WEXITSTATUS(raw) == 130);
  CHECK(content(scratch / "err").find("goes on from its last saving") != std::string::npos);
  CHECK(content(scratch / "c.csv").starts_with("t [s],rod.x [m],"));
  CHECK(mortise_command(fmt::format("run {} --until 1", (examples / "loose_rod.toml").string())).status == 2);
  fs::remove_all(folder);
}

TEST_CASE("models: formulas of time tell when they switch") {
  const auto switches = [](const char* text, double to = 10) {
    const files::Names names{[](std::string_view name) -> std::optional<files::Meaning> {
                               if (name == "t") return files::Meaning{std::nullopt, 0};
                               if (name == "x") return files::Meaning{std::nullopt, 1};
                               return std::nullopt;
                             },
                             [] {
                               return std::vector<std::string>{"t", "x"};
                             }};
    return files::Expression::parse(text, names).switches(0, 0, to);
  };
  const auto same = [](const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == doctest::Approx(b[i]).epsilon(1e-14));
  };
  same(switches("sin(3 * t)"), {});
  same(switches("max(0, t - 2.5)"), {2.5});
  same(switches("abs(2 * t - 6) / 2"), {3});
  // A triangle of 2 us, however long the run.
  same(switches("max(0, 1 - abs((t - 2) * 1e6))"), {2 - 1e-6, 2, 2 + 1e-6});
  same(switches("max(0, 1 - abs((t - 2) * 1e6))", 1e5), {2 - 1e-6, 2, 2 + 1e-6});
  same(switches("min(max(t, 1), 4)^2"), {1, 4});
  same(switches("abs(sin(t))", 7), {std::acos(-1.0), 2 * std::acos(-1.0)});
  same(switches("max(x, t) + abs(x)"), {});  // not by the clock alone
  same(switches("min(t, 20)"), {});          // not in the run
}

TEST_CASE(
    "command: short pulses of drives and forces in a file are seen, and what a run is worth shows in its status") {
  const Scratch scratch;
  const auto run = [&](const std::string& text, const std::string& options = "") {
    write(scratch / "m.toml", text);
    return mortise_command(fmt::format("run {} {} -o {}", scratch / "m.toml", options, scratch / "m.csv"));
  };
  // 3 N s in 1 ms, once in 100 s, on 2 kg.
  const Outcome push = run(R"(
[bodies.mass]
kind = "particle"
dimension = 1
mass = 2
[forces.push]
kind = "coordinate_force"
bodies = ["mass"]
coordinate = "x"
f = "max(0, 1 - abs((t - 37.3) * 1000)) * 3000"
[run]
until = 100
sample = 100)");
  CHECK(push.status == 0);
  const std::string csv = content(scratch / "m.csv");
  const std::string last = csv.substr(csv.rfind('\n', csv.size() - 2) + 1);
  CHECK(std::stod(last.substr(last.find(',') + 1)) == doctest::Approx(1.5 * 62.7).epsilon(1e-9));
  // The method of order 4 at the edge of its stability loses all energy; stiff forces let the default crawl.
  const std::string oscillator = R"(
[bodies.mass]
kind = "particle"
dimension = 1
mass = 1
place = [1]
[forces.k]
kind = "coordinate_spring"
bodies = ["mass"]
terms = [{body = 0, coordinate = "x", factor = 1}]
stiffness = "k"
[parameters]
k = 100
[run]
until = 100)";
  CHECK(run(oscillator, "--integrator rk4 --step 0.01").status == 0);
  const Outcome lost = run(oscillator, "--integrator rk4 --step 0.2");
  CHECK(lost.status == 3);
  CHECK(lost.out.find("meaningless: the balance is off by") != std::string::npos);
  const Outcome crawls = run(oscillator, "--set k=1e26");
  CHECK(crawls.status == 3);
  // A damper so stiff that round-off of its velocity, which no step can show, eats part of the energy.
  const std::string damper = R"(
[bodies.held]
kind = "particle"
mass = 1
place = [1, 0, 0]
[bodies.free]
kind = "particle"
mass = 1
velocity = [1, 0, 0]
[forces.damper]
kind = "spring"
bodies = ["ground", "held"]
stiffness = 1
damping = 1e11
length = 1
[run]
until = 1e-6)";
  const Outcome leaks = run("gravity = [0, -9.81, 0]\n" + damper, "");
  CHECK(leaks.status == 1);
  CHECK(leaks.out.find("energy: the balance is off by") != std::string::npos);
  CHECK(leaks.out.find("a run by radau5 shows what is right") != std::string::npos);
  CHECK(run("gravity = [0, -9.81, 0]\n" + damper, "--integrator radau5").status == 0);
  // Samples of a driven mechanism within long steps are no fault.
  CHECK(
      mortise_command(fmt::format("run {} -o {}", (examples / "actuators.toml").string(), scratch / "m.csv")).status ==
      0);
  // A start that has to be moved by more than a hundredth.
  const Outcome moved = run(R"(
[bodies.rod]
kind = "planar_body"
mass = 1
inertia = 1
place = [0.6, 0, 0]
[joints.pin]
kind = "pin"
bodies = ["ground", "rod"]
on_b = [-0.5, 0]
[run]
until = 1)");
  CHECK(moved.status == 1);
  CHECK(moved.out.find("start: moved onto the constraints, most of all rod.x from 0.6 to") != std::string::npos);
}

TEST_CASE("command: sweep covers its grid, goes on where it stopped and shares the work") {
  const fs::path folder = fs::temp_directory_path() / fmt::format("mortise_sweep_{}", ::getpid());
  fs::remove_all(folder);
  const std::string line = fmt::format("sweep {} --vary L=1:2:3 --vary m=1:3:2 --until 0.2 -o {}",
                                       (examples / "pendulum.toml").string(), folder.string());
  CHECK(mortise_command(line + " --share 1/2").out.find("6 runs, 3 of them here, 3 to be made") != std::string::npos);
  const Outcome rest = mortise_command(line);
  CHECK(rest.status == 0);
  CHECK(rest.out.find("6 runs, 6 of them here, 3 to be made") != std::string::npos);
  const std::string summary = content(folder / "summary.csv");
  CHECK(summary.starts_with("run,L,m,outcome,t [s],steps,energy error [J],drift,notes\n0,1,1,finished,0.2,"));
  CHECK(summary.find("\n5,2,3,finished,") != std::string::npos);
  CHECK(content(folder / "run_00003.csv").starts_with("t [s]"));
  CHECK(mortise_command(line).out.find("0 to be made") != std::string::npos);
  CHECK(mortise_command(line + " --vary x=1:2").status == 64);
  CHECK(mortise_command(line + " --vary L=1:2:4").err.find("--vary L: this parameter is given twice") == 0);
  CHECK(mortise_command(line + " --set L=3").status == 64);
  CHECK(mortise_command(line + " --share 2/2").status == 64);
  std::string longer = line;  // lines of one sweep are not those of another
  longer.replace(longer.find("--until 0.2"), 11, "--until 0.3");
  const Outcome other = mortise_command(longer);
  CHECK(other.status == 64);
  CHECK(other.err.find("--vary L=1:2:3 --vary m=1:3:2 --until 0.2`; give another folder") != std::string::npos);
  fs::remove_all(folder);
}

TEST_CASE("command: sweep as an array of jobs, as its help shows it") {
  const Scratch scratch;
  fs::copy_file(examples / "pendulum.toml", scratch / "model.toml");
  // The text between the quotes of --wrap, for fewer and shorter runs.
  const std::string help = mortise_command("sweep --help").out;
  const auto from = help.find("--wrap '") + 8, to = help.find('\'', from);
  REQUIRE(to != std::string::npos);
  std::string wrapped = help.substr(from, to - from);
  REQUIRE(wrapped.find("--vary L=1:2:1000") != std::string::npos);
  REQUIRE(wrapped.ends_with("--share $SLURM_ARRAY_TASK_ID/10"));
  wrapped.replace(wrapped.find("L=1:2:1000"), 10, "L=1:2:13 --until 0.1");
  write(scratch / "job", wrapped + "\n");
  write(scratch / "jobs",
        fmt::format("cd {} && PATH={}:$PATH\nfor i in 0 1 2 3 4 5 6 7 8 9; do\n"
                    "  SLURM_ARRAY_TASK_ID=$i sh job > log.$i 2>&1 || echo $i >> failed &\ndone; wait\n",
                    scratch.path.string(), fs::path(MORTISE_COMMAND).parent_path().string()));
  REQUIRE(std::system(fmt::format("bash {}", scratch / "jobs").c_str()) == 0);
  CHECK(!fs::exists(scratch / "failed"));
  CHECK(!fs::exists(scratch / "out/summary.csv"));
  const Outcome all = mortise_command(
      fmt::format("sweep {} --vary L=1:2:13 --until 0.1 -o {}", scratch / "model.toml", scratch / "out"));
  CHECK(all.status == 0);
  CHECK(all.out.find("13 runs, 13 of them here, 0 to be made") == 0);
  const std::string summary = content(scratch / "out/summary.csv");
  CHECK(std::count(summary.begin(), summary.end(), '\n') == 14);
  // A model that was changed since.
  write(scratch / "model.toml", content(scratch / "model.toml") + "\n[bodies.more]\nkind = \"particle\"\nmass = 1\n");
  CHECK(mortise_command(
            fmt::format("sweep {} --vary L=1:2:13 --until 0.1 -o {}", scratch / "model.toml", scratch / "out"))
            .err.find("it has runs of this model before it was changed") != std::string::npos);
}

TEST_CASE("command: plot and view tell which file or column is wrong") {
  const Scratch scratch;
  const std::string model = (examples / "pendulum.toml").string(), run = scratch / "run.csv";
  REQUIRE(mortise_command(fmt::format("run {} --until 0.1 -o {}", model, run)).status == 0);
  CHECK(mortise_command(fmt::format("plot {} rod.theta -o {}", run, scratch / "a.svg")).status == 0);
  CHECK(content(scratch / "a.svg").find("rod.theta") != std::string::npos);
  CHECK(mortise_command(fmt::format("view {} --model {} -o {}", run, model, scratch / "a.html")).status == 0);
  CHECK(content(scratch / "a.html").find("\"rod.theta\"") != std::string::npos);
  write(scratch / "empty.csv", "");
  for (const auto& [arguments, status, message] : std::vector<std::tuple<std::string, int, std::string>>{
           {fmt::format("plot {} rod.thet -o {}", run, scratch / "b.svg"), 64, "did you mean 'rod.theta'?"},
           {fmt::format("plot {} 'x*' -o {}", run, scratch / "b.svg"), 64,
            "none that is like this; there are rod.x, rod.x'"},
           {fmt::format("plot {} -o {}", scratch / "none.csv", scratch / "b.svg"), 4, "it cannot be opened"},
           {fmt::format("plot {} -o {}", scratch / "empty.csv", scratch / "b.svg"), 4, "it is empty"},
           {fmt::format("plot {} -o {}", scratch.path.string(), scratch / "b.svg"), 4, "it cannot be read"},
           {fmt::format("plot {} -o {}", run, scratch / "b.jpg"), 4, "give a name that ends in .svg or .png"},
           {fmt::format("plot {} -o /nowhere/b.svg", run), 4, "cannot be written"},
           {fmt::format("view {} --model {} -o {}", run, (examples / "four_bar.toml").string(), scratch / "b.html"), 4,
            "column 'crank.x': "},
           {fmt::format("view {} --model {} -o /nowhere/b.html", run, model), 4, "cannot be written"},
           {fmt::format("view {} -o b.html", run), 64, "--model is required"}}) {
    const Outcome o = mortise_command(arguments);
    CHECK_MESSAGE(o.status == status, arguments);
    CHECK_MESSAGE(o.err.find(message) != std::string::npos, o.err);
  }
}

TEST_CASE("command: new, list, help, version and wrong usage") {
  const fs::path folder = fs::temp_directory_path() / fmt::format("mortise_new_{}", ::getpid());
  fs::create_directories(folder);
  std::stringstream lines(mortise_command("list models").out);
  std::string name;
  int count = 0;
  while (std::getline(lines, name)) {
    const std::string path = (folder / (name + ".toml")).string();
    CHECK(mortise_command(fmt::format("new {} -o {}", name, path)).status == 0);
    CHECK(content(path) == content(examples / (name + ".toml")));
    const int status = mortise_command("check " + path).status;
    CHECK_MESSAGE((name == "loose_rod" || name == "massless_node" || name == "linkage" ? status == 2 : status <= 1),
                  name);
    ++count;
  }
  CHECK(count >= 20);
  CHECK(mortise_command(fmt::format("new pendulum -o {}", (folder / "pendulum.toml").string())).status == 64);
  CHECK(mortise_command("new pendulm").err.find("did you mean 'pendulum'?") != std::string::npos);
  fs::remove_all(folder);

  CHECK(mortise_command("list joints").out.find("revolute") != std::string::npos);
  CHECK(mortise_command("list integrators").out.find("dopri5") != std::string::npos);
  CHECK(mortise_command("--version").out.starts_with("mortise "));
  for (const char* c : {"", "check ", "accelerations ", "run ", "sweep ", "new ", "list "})
    CHECK(mortise_command(fmt::format("{}--help", c)).status == 0);
  CHECK(mortise_command("chek x").err ==
        "mortise: there is no command 'chek'; did you mean 'check'? `mortise --help` lists all\n");
  for (const char* wrong : {"", "chek x", "check", "run x --tolerance -1", "list widgets", "check a b", "sweep x -o y"})
    CHECK_MESSAGE(mortise_command(wrong).status == 64, wrong);
}
