// Nothing is lost, nothing is trusted blindly: files, checkpoints, names of any characters, and calls that are wrong.

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/matrix_market.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/states.h>
#include <mortise/core/file.h>
#include <mortise/core/function.h>
#include <mortise/core/json.h>
#include <mortise/core/memory.h>
#include <mortise/core/spline.h>
#include <mortise/core/text.h>
#include <mortise/engine/workers.h>
#include <mortise/forces/functor.h>
#include <mortise/integrators/checkpoint.h>
#include <mortise/integrators/simulate.h>
#include <mortise/integrators/sweep.h>
#include <mortise/joints/functor.h>
#include <mortise/joints/pin.h>
#include <mortise/solve/principles.h>
#include <mortise/solve/solver.h>

#include "markup.h"
#include "problems.h"
#include "table.h"

using namespace mortise;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / fmt::format("mortise_safety_{}", ::getpid());
  Folder() {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
};

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

// Files may have so many bytes and no more while it lives.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_ = {};
};

template <class F> std::string said(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// A rod on a pin, of two coordinates too many.
System rod(const char* name = "rod") {
  Assembly a("rods");
  a.set_gravity({0, -9.81, 0});
  const auto ground = a.add("ground", Ground{});
  const auto body = a.add(name, PlanarBody{.mass = 1, .inertia = 0.1});
  a.place(body, {0.5, 0, 0});
  a.connect("pin", Pin{.on_a = {0, 0}, .on_b = {-0.5, 0}}, ground, body);
  return System(a);
}

}  // namespace

TEST_CASE("files: written as a whole or not at all, links are followed, pipes are not waited for") {
  const Folder f;
  replace_file(f / "a", "one");
  CHECK(content(f / "a") == "one");
  {
    const FullDisk full(2);
    CHECK_THROWS_WITH_AS(replace_file(f / "a", "other"),
                         doctest::Contains("cannot be written as a whole: File too large"), FileError);
  }
  CHECK(content(f / "a") == "one");
  fs::create_symlink("a", f / "link");
  replace_file(f / "link", "two");
  CHECK(fs::is_symlink(f / "link"));
  CHECK(content(f / "a") == "two");
  CHECK_THROWS_AS(replace_file(f.path.string(), "x"), FileError);
  CHECK_THROWS_AS(replace_file(f / "none/a", "x"), FileError);
  CHECK_THROWS_AS(replace_file(f / std::string(300, 'n'), "x"), FileError);
  replace_file(f / std::string(255, 'n'), "long");  // the longest that there is
  int files = 0;
  for (const auto& e : fs::directory_iterator(f.path)) files += e.path().extension() == ".part" ? 100 : 1;
  CHECK(files == 3);

  CHECK(read_file(f / "a") == "two");
  CHECK_THROWS_WITH_AS(read_file(f / "a", 2), doctest::Contains("3 bytes"), FileError);
  REQUIRE(::mkfifo((f / "pipe").c_str(), 0600) == 0);
  CHECK_THROWS_WITH_AS(read_file(f / "pipe"), doctest::Contains("no plain file"), FileError);
  CHECK_THROWS_WITH_AS(read_matrix_market(f / "pipe"), doctest::Contains("no plain file"), InvalidModel);
  CHECK_THROWS_AS(read_file(f.path.string()), FileError);

  CHECK(same_file(f / "a", f / "link"));
  CHECK(same_file(f / "new", f / "./new"));
  CHECK(!same_file(f / "a", f / "new"));
  CHECK(!same_file("/dev/null", "/dev/null"));  // may be written twice
}

TEST_CASE(
    "names: CSV reads back what was written, whatever the characters; terminals, JSON and SVG get none of them raw") {
  const std::string alphabet = "a,\"\n\r\t [];'\033\177\xC3\xA4\xEF\xBF\xBE";
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    std::set<std::string> names{"t"};
    Trajectory run;
    run.columns = {{"t", "s"}};
    while (run.columns.size() < 4) {
      std::string name;
      for (std::size_t n = 1 + random() % 6; n > 0; --n) name += alphabet[random() % alphabet.size()];
      if (!names.insert(name).second) continue;
      run.columns.push_back({name, random() % 2 ? "m" : ""});
    }
    run.values = {0, 1, 2, 3, 0.5, -1e-300, 1.0 / 3, 5};
    const RunTable back = parse_csv(run.csv(), "any.csv");
    REQUIRE(back.columns.size() == run.columns.size());
    for (std::size_t k = 0; k < back.columns.size(); ++k) {
      CHECK(back.columns[k].name == run.columns[k].name);
      CHECK(back.columns[k].unit == run.columns[k].unit);
    }
    CHECK(back.values == run.values);
  }
  CHECK(said([] { parse_csv("t,\"a\n0,1\n", "f.csv"); }).find("line 1: a quote is not closed") != std::string::npos);
  CHECK(said([] {
          parse_csv("t,\"a\"b\n0,1\n", "f.csv");
        }).find("line 1: there is more after the quote that closes 'a'") != std::string::npos);
  CHECK(said([] { parse_csv("t,\"a\nb\"\n0,1\n\n1,x\n", "f.csv"); }).find("line 5: 'x' in column 'a") !=
        std::string::npos);

  CHECK(printable("a\033[2J\x7F\xC2\x85\xFF\n\t\xC3\xA4") == "a\\x1b[2J\\x7f\\u0085\\xff\n\t\xC3\xA4");
  CHECK(Json("a\033\x7F\xC2\x85\xFF\xC3\xA4").text() == "\"a\\u001b\\u007f\\u0085\\ufffd\xC3\xA4\"\n");
  CHECK(escaped_markup("a\xEF\xBF\xBE\xEF\xBF\xBF\033<") == "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD&lt;");
}

TEST_CASE("checkpoint: a bit that was flipped, and values that cannot be, are refused") {
  const Folder f;
  const std::string file = f / "saved";
  const Problem p = pendulum();
  SimulationOptions options{.duration = 1, .sample = 0.1, .checkpoint = {file, 0.25, true}};
  const Trajectory whole = p.run(options);
  REQUIRE(whole.finished);
  const std::string saved = content(file);
  std::mt19937 random(19);
  const char* const longer = std::getenv("MORTISE_LONG");
  const int flips = 300 * (longer ? std::atoi(longer) : 1);
  int refused = 0;
  for (int i = 0; i < flips; ++i) {
    std::string damaged = saved;
    damaged[random() % damaged.size()] ^= static_cast<char>(1u << random() % 8);
    write(file, damaged);
    CHECK_THROWS_AS(p.run(options), FileError);
    ++refused;
  }
  CHECK(refused == flips);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, saved.size() / 2, saved.size() - 1}) {
    write(file, saved.substr(0, size));
    CHECK_THROWS_AS(p.run(options), FileError);
  }

  // Values that cannot be, under a fingerprint that is right.
  const std::string body = saved.substr(saved.find('\n') + 1);
  const auto with = [&](const std::string& key, const std::string& values) {
    const std::size_t at = body.find("numbers " + key + " "),
                      end = std::min(body.find("numbers ", at + 1), body.find("words ", at));
    REQUIRE(at != std::string::npos);
    const std::string text = body.substr(0, at) + "numbers " + key + " " + values + body.substr(end);
    write(file, fmt::format("mortise checkpoint 2 {} {:016x}\n{}", text.size(), fingerprint(text), text));
    return said([&] { p.run(options); });
  };
  CHECK(with("left_out", "1\n0x1.4p+2\n").find("5 in 'left_out' is no count below") != std::string::npos);
  CHECK(with("left_out", "1\n-0x1p+0\n").find("-1 in 'left_out'") != std::string::npos);
  CHECK(with("left_out", "1\n0x1p-1\n").find("0.5 in 'left_out'") != std::string::npos);
  CHECK(with("off", "1\n0x1p+40\n").find("in 'off'") != std::string::npos);
  CHECK(with("t", "1\n1e9\n").find("it is at t = 1000000000 s, and the run ends at 1 s") != std::string::npos);
  CHECK(with("t", "1\n0x1p-1\n").find("its samples and savings are not those up to t = 0.5 s") != std::string::npos);
  for (const char* key :
       {"t", "q", "v", "acceleration", "balance", "counts", "errors", "crossings", "values", "drift"}) {
    CHECK_MESSAGE(with(key, "1\nnan\n") != "", key);
    CHECK_MESSAGE(with(key, "1\ninf\n") != "", key);
    CHECK_MESSAGE(with(key, "0\n") != (std::string(key) == "crossings" ? "x" : ""), key);
    CHECK_MESSAGE(with(key, "3\n0x1p+0\n") != "", key);
  }
  CHECK(with("note_times", "7\n0\n0\n0\n0\n0\n0\n0\n").find("its notes are not whole") != std::string::npos);
  write(file, saved);
  CHECK(p.run(options).values == whole.values);
}

TEST_CASE("checkpoint: other starts and other numbers are told by name; what cannot be saved does not end the run") {
  const Folder f;
  const std::string file = f / "saved";
  const System system = rod();
  State start = system.state();
  SimulationOptions options{.duration = 1, .sample = 0.1, .checkpoint = {file, 0.25, true}};
  REQUIRE(simulate(system, start, options).finished);
  start.set("rod.theta'", 1);
  CHECK(
      said([&] { simulate(system, start, options); }) ==
      "checkpoint '" + file +
          "': it is of another run: there start of rod.theta' = 0, here start of rod.theta' = 1; resume with the model "
          "and the options it was made with");
  start = system.state();
  options.checkpoint.identity = {{"law", "2"}};
  CHECK(said([&] { simulate(system, start, options); }).find("here law = 2") != std::string::npos);
  options.checkpoint.identity.clear();
  Assembly heavy("rods");
  heavy.set_gravity({0, -9.81, 0});
  const auto ground = heavy.add("ground", Ground{});
  const auto body = heavy.add("rod", PlanarBody{.mass = 2, .inertia = 0.2});  // it moves as the other one
  heavy.place(body, {0.5, 0, 0});
  heavy.connect("pin", Pin{.on_a = {0, 0}, .on_b = {-0.5, 0}}, ground, body);
  const System other(heavy);
  CHECK(said([&] { simulate(other, other.state(), options); }).find("there mass of body 'rod' = ") !=
        std::string::npos);

  fs::remove(file);
  Trajectory unsaved;
  {
    const FullDisk full(10);
    unsaved = simulate(system, start, options);
  }
  CHECK(unsaved.finished);
  REQUIRE(!unsaved.notes.empty());
  CHECK(unsaved.notes.back().kind == "checkpoint");
  CHECK(unsaved.notes.back().text.find("3 checkpoints from here on could not be saved, the last at t = 0.75 s: file '" +
                                       file + "': cannot be written as a whole: File too large") == 0);
  CHECK(unsaved.values == simulate(system, start, options).values);
}

TEST_CASE("misuse: numbers, sizes, states and systems that are none are told by name") {
  const System system = rod(), other = rod("bar");
  CHECK(said([&] { (void)system.coordinate(-1); }) ==
        "coordinate '-1': there is none of this number; give one from 0 to 2");
  CHECK_THROWS_AS((void)system.coordinate(3), InvalidModel);
  CHECK_THROWS_AS((void)system.row(-1), InvalidModel);
  CHECK_THROWS_AS((void)system.row(2), InvalidModel);
  CHECK_THROWS_AS((void)system.body_of(3), InvalidModel);
  CHECK_THROWS_AS((void)system.constraint_of(-1), InvalidModel);
  CHECK_THROWS_AS((void)system.massless({7}), InvalidModel);

  CHECK(said([&] { (void)system.evaluate(other.state()); }) ==
        "state 'rods': it is of another system: coordinate 1 is bar.x there and rod.x here; take it from this system's "
        "state()");
  CHECK_THROWS_AS((void)simulate(system, other.state(), {.duration = 1}), InvalidModel);
  CHECK((system.evaluate(rod().state()).phi.cwiseAbs().maxCoeff() == 0));  // the same model
  State bare = system.state();
  bare.names = nullptr;
  CHECK_NOTHROW((void)system.evaluate(bare));

  Solver solver(system);
  CHECK(said([&] { (void)solver.response(VectorXd::Zero(3)); }) ==
        "solver of 'rods': a response was asked for before any state was solved; call solve() first");
  CHECK_THROWS_AS((void)solver.lambda(), InvalidModel);
  CHECK_THROWS_AS((void)solver.momentum(), InvalidModel);
  CHECK_THROWS_AS((void)solver.gap(), InvalidModel);
  CHECK_THROWS_AS((void)solver.phi(), InvalidModel);
  CHECK_THROWS_AS((void)solver.rate(), InvalidModel);
  CHECK_THROWS_AS((void)solver.independence(), InvalidModel);
  CHECK_THROWS_AS((void)solver.dependent_rows(), InvalidModel);
  CHECK(solver.doubtful_bodies().empty());
  const State s = system.state();
  (void)solver.solve(s);
  CHECK_THROWS_WITH_AS((void)solver.response(VectorXd::Zero(4)), doctest::Contains("the force has 4 entries; give 3"),
                       WrongSize);
  CHECK_THROWS_AS((void)solver.response(VectorXd::Constant(3, NAN)), NonFinite);
  CHECK_THROWS_WITH_AS((void)solver.shift_positions(s, VectorXd::Zero(1)),
                       doctest::Contains("the change of rows has 1 entries; give 2"), WrongSize);
  CHECK_THROWS_AS((void)solver.shift_velocities(s, VectorXd::Zero(9)), WrongSize);
  CHECK_THROWS_AS((void)solver.gaps(other.state()), InvalidModel);
  State small = s;
  small.q.resize(1);
  CHECK_THROWS_AS(solver.normalise(small), WrongSize);
  CHECK_THROWS_WITH_AS(solver.leave_out({5}), doctest::Contains("row 5"), InvalidModel);
  CHECK_THROWS_AS(solver.leave_out({-1}), InvalidModel);
  CHECK_THROWS_AS(solver.leave_out({0, 0}), InvalidModel);
  Evaluation e = system.evaluate(s);
  e.Q.resize(1);
  CHECK_THROWS_WITH_AS((void)solver.solve(e), doctest::Contains("its Q has 1 entries; leave it the 3"), WrongSize);
  CHECK_THROWS_AS(system.evaluate(s, e), WrongSize);
  CHECK_THROWS_AS((void)solver.solve(other.evaluate(other.state())), InvalidModel);

  System from = rod();
  const VectorXd before = Solver(from).solve(s);
  Solver orphan(from);
  const System to = std::move(from);
  CHECK(from.size() == 0);
  CHECK(from.rows() == 0);
  CHECK(from.state().q.size() == 0);
  CHECK_THROWS_AS((void)from.coordinate(0), InvalidModel);
  CHECK_THROWS_WITH_AS((void)from.evaluate(s), doctest::Contains("was moved from"), InvalidModel);
  CHECK_THROWS_AS((void)simulate(from, from.state(), {.duration = 1}), InvalidModel);
  CHECK_THROWS_AS((void)orphan.solve(s), InvalidModel);
  CHECK(Solver(to).solve(s) == before);
  from = rod();
  CHECK(Solver(from).solve(s) == before);
}

TEST_CASE("misuse: blocks, parts and vectors of others, and what was moved from") {
  const System system = rod(), other = [] {
    Assembly a("free");
    a.add("p", Particle<3>{.mass = 1});
    a.connect("rail", Holonomic{[](const auto& b, const auto& t) { return b.coordinate("x") + 0.0 * t; }},
              a.body<Particle<3>>("p"));
    return System(a);
  }();
  const State s = system.state();
  Evaluation e = system.evaluate(s);
  CHECK(said([&] { (void)e.M(7); }) == "block '7': M has none of this number; give one from 0 to 1");
  CHECK_THROWS_AS((void)e.A(99), InvalidModel);
  Evaluation to = std::move(e);
  CHECK(said([&] { (void)e.M(0); }).find("it may have been moved from") != std::string::npos);
  CHECK(e.dense_M().size() == 0);
  CHECK_THROWS_AS((void)Solver(system).solve(e), InvalidModel);
  CHECK(to.dense_M() == system.evaluate(s).dense_M());
  e = std::move(to);
  CHECK(to.dense_A().size() == 0);

  VectorXd C = VectorXd::Zero(3);
  const auto& pin = system.constraints().back();
  const auto copy = pin;
  CHECK_NOTHROW((void)system.nonideal(copy, s));
  CHECK_THROWS_WITH_AS((void)system.nonideal(other.constraints()[0], s),
                       doctest::Contains("joint 'rail': it belongs to another system"), InvalidModel);
  CHECK_THROWS_AS(system.react(other.constraints()[0], s, VectorXd::Zero(2), C), InvalidModel);
  CHECK_THROWS_WITH_AS(system.react(pin, s, VectorXd::Zero(1), C),
                       doctest::Contains("1 multipliers and 3 forces were given; give 2 and 3"), WrongSize);
  VectorXd small(1);
  CHECK_THROWS_AS(system.react(pin, s, VectorXd::Zero(2), small), WrongSize);
  CHECK_THROWS_AS((void)system.nonideal(pin, other.state()), InvalidModel);
  CHECK_THROWS_AS((void)system.firsts({0, 5}), InvalidModel);
  CHECK_THROWS_AS((void)system.equations(e, {{9}, {}}), InvalidModel);
  CHECK_THROWS_WITH_AS((void)system.equations(e, {{1, 1}, {}}), doctest::Contains("chosen twice"), InvalidModel);
  CHECK_THROWS_WITH_AS((void)system.equations(e, {{}, {0}}), doctest::Contains("which is not chosen"), InvalidModel);
  CHECK_THROWS_AS((void)system.equations(e, {{}, {77}}), InvalidModel);
  CHECK_THROWS_AS((void)system.with_bodies({{1, nullptr}}), InvalidModel);
  CHECK_THROWS_WITH_AS((void)system.with_bodies({{1, other.bodies()[0].model}}), doctest::Contains("other coordinates"),
                       InvalidModel);
  auto lost = pin;
  lost.bodies = {8};
  CHECK_THROWS_AS((void)system.with({lost}), InvalidModel);
  lost.model = nullptr;
  CHECK_THROWS_AS((void)system.with({lost}), InvalidModel);

  Solver first(system), second = std::move(first);
  for (const auto& use : std::vector<std::function<void()>>{
           [&] { (void)first.solve(s); }, [&] { (void)first.lambda(); }, [&] { (void)first.energy(s); },
           [&] { (void)first.phi(); }, [&] { (void)first.unique(); }, [&] { (void)first.warnings(); },
           [&] { (void)first.doubtful_bodies(); }, [&] { (void)first.gaps(s); }, [&] { (void)first.merged(); },
           [&] { first.leave_out({}); }, [&] { (void)first.leave_out_dependent(s); }, [&] { first.hold_welds(s); },
           [&] { first.stabilise(1); }, [&] { (void)first.factorisations(); }, [&] { (void)first.independence(s); },
           [&] { (void)first.shift_positions(s, VectorXd::Zero(2)); }})
    CHECK(said(use) == "solver of 'rods': it was moved from; use the one it was moved to");
  State moved = s;
  CHECK_THROWS_AS(first.project_positions(moved), InvalidModel);
  CHECK_THROWS_AS(first.normalise(moved), InvalidModel);
  CHECK(second.solve(s).size() == 3);
  CHECK_THROWS_AS(second.stabilise(-1), InvalidModel);
  CHECK_THROWS_AS(second.stabilise(NAN), InvalidModel);
  // What belongs to the state last solved stays that of it, whatever is asked of the solver in between.
  State tilted = s;
  tilted.set("rod", {0.4, 0.3, 0.6});
  second.project_positions(tilted);
  const VectorXd at_s = second.solve(s), lambda = second.lambda(), answer = second.response(VectorXd::Ones(3));
  CHECK(second.response(VectorXd::Ones(3)) == answer);
  CHECK(second.lambda() == lambda);
  (void)second.shift_positions(tilted, VectorXd::Ones(2));
  CHECK(second.response(VectorXd::Ones(3)) == answer);
  (void)second.energy(tilted);
  CHECK(second.momentum().linear == [&] {
    Solver fresh(system);
    (void)fresh.solve(s);
    return fresh.momentum().linear;
  }());
  second.project_positions(tilted);
  CHECK(second.lambda() == lambda);
  State broken = s;
  broken.q[0] = NAN;
  CHECK_THROWS_AS((void)second.solve(broken), NonFinite);
  CHECK(second.response(VectorXd::Ones(3)) == answer);
  // A system that becomes another one under its solver.
  System changes = rod();
  Solver old(changes);
  (void)old.solve(s);
  changes = other;
  for (const State& at : {s, other.state(), State{}}) CHECK_THROWS_AS((void)old.solve(at), InvalidModel);
  CHECK_THROWS_AS((void)old.lambda(), InvalidModel);

  const Solution found = solve(system, s);
  const Evaluation foreign = other.evaluate(other.state());
  CHECK_THROWS_AS((void)unconstrained(system, foreign, found), InvalidModel);
  CHECK_THROWS_AS((void)gauss(system, foreign, found, found.a), InvalidModel);
  CHECK_THROWS_AS((void)projections(system, foreign, found), InvalidModel);
  CHECK_THROWS_AS((void)gauss(system, e, solve(other, other.state()), found.a), WrongSize);
  const Rank rank = numerical_rank(system.equations(e));
  CHECK_THROWS_AS((void)rank.unique_reaction(2), InvalidModel);
  CHECK_THROWS_AS((void)udwadia_phohomsiri(other.equations(foreign), rank), WrongSize);

  CHECK_THROWS_WITH_AS(Json(3).push(1), doctest::Contains("json '3': a value is pushed into it"), InvalidModel);
  CHECK_THROWS_AS(Json::array().add("x", 1), InvalidModel);
  Function f = 2.0;
  const Function g = std::move(f);
  CHECK(g(0.0) == 2);
  CHECK_THROWS_AS((void)f(0.0), InvalidModel);

  Table table({0, 1}, {0, 2});
  Spline spline({0, 1, 2}, {0, 1, 0});
  const Table kept = std::move(table);
  const Spline bent = std::move(spline);
  CHECK(kept(0.5) == 1);
  CHECK_THROWS_WITH_AS((void)table(0.5), doctest::Contains("was moved from"), InvalidModel);
  const auto ask = [](const Spline& x) { return x(0.5); };
  double (*volatile asked)(const Spline&) = ask;  // not inlined: gcc 12 warns of what stands behind the check
  CHECK_THROWS_WITH_AS((void)asked(spline), doctest::Contains("was moved from"), InvalidModel);
}

TEST_CASE("limits: memory is refused with the figure before it is asked for; names, nesting and guesses end") {
  CHECK(free_memory() > 0);
  CHECK(memory_text(3.21e9) == "3.21 GB");
  CHECK_NOTHROW(require_memory({"system", "s"}, "nothing", 1e6, "none"));
  CHECK(said([] {
          require_memory({"system", "s"}, "its matrix", 1e18, "take less");
        }).find("system 's': its matrix needs 1e+06 TB of memory, and ") == 0);
  {
    Assembly many("many");
    constexpr int count = 200000;
    for (int i = 0; i < count; ++i) many.add(std::to_string(i), Particle<3>{.mass = 1});
    const System system(many);
    const Evaluation e = system.evaluate(system.state());
    CHECK_THROWS_WITH_AS((void)e.dense_M(),
                         doctest::Contains("M as a dense matrix of 600000 coordinates needs 2.88 TB"), TooLarge);
    CHECK_THROWS_AS((void)system.derivatives(system.state(), VectorXd::Zero(3 * count)), TooLarge);
    CHECK_THROWS_AS((void)system.equations(e), TooLarge);
  }
  Assembly large("large");
  std::vector<std::string> names(1000000);
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = fmt::format("x{}", i);
  CHECK_THROWS_WITH_AS(large.add("all", States{.coordinates = names}),
                       doctest::Contains("its mass matrix, a block of 1000000 coordinates, needs 8 TB"), TooLarge);
  CHECK_THROWS_AS((void)sweep(std::size_t{1} << 60, [](std::size_t) { return Trajectory{}; }), TooLarge);

  CHECK_NOTHROW(large.add(std::string(1000, 'n'), Particle<2>{.mass = 1}));
  const std::string told = said([&] { large.add(std::string(100000, 'n'), Particle<2>{.mass = 1}); });
  CHECK(told.find("...': the name has 100000 characters; give one of at most 1000") != std::string::npos);
  CHECK(told.size() < 200);
  Assembly nested("inner");
  nested.add("p", Particle<2>{.mass = 1});
  for (int depth = 1; depth < 100; ++depth) {
    Assembly outer("outer");
    outer.add("in", nested);
    nested = outer;
  }
  CHECK(System(nested).size() == 2);
  Assembly outer("outer");
  CHECK_THROWS_WITH_AS(outer.add("in", nested), doctest::Contains("nested 101 deep; nest them at most 100 deep"),
                       InvalidModel);

  const auto begin = std::chrono::steady_clock::now();
  CHECK(nearest_name("x77777O", names) != "");
  CHECK(nearest_name(std::string(10000000, 'a'), {"b", "a"}) == "a");
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  CHECK(nearest_name("rodd", {"bar", "rod", "road"}) == "rod");
}

TEST_CASE("misuse: what functors throw is told by their names, the run is kept and the solver can be used again") {
  static std::atomic<bool> angry = false;  // the functors of a test, which are copied, see it
  for (const char* what : {"force", "joint", "number"}) {
    CAPTURE(what);
    const std::string kind = what;
    Assembly a("moody");
    const auto p = a.add("p", Particle<2>{.mass = 1});
    a.apply("wind", Force{[=](auto& b, const auto& t) {
              if (kind == "force" && (angry || t > 0.5)) throw std::domain_error("no wind");
              if (kind == "number" && t > 0.5) throw 7;
              b.apply_to("x", 1.0 * t);
            }},
            p);
    a.connect("rail", Holonomic{[=](const auto& b, const auto& t) {
                if (kind == "joint" && (angry || t > 0.5)) throw std::domain_error("no rail");
                return b.coordinate("y") + 0.0 * t;
              }},
              p);
    const System system(a);
    const Trajectory run = simulate(system, system.state(), {.duration = 1, .sample = 0.1});
    CHECK(!run.finished);
    CHECK(run.samples() >= 5);
    CHECK(run.last.t > 0.4);
    const std::string expected = kind == "force"   ? "force 'wind': it threw 'no wind'"
                                 : kind == "joint" ? "joint 'rail': it threw 'no rail'"
                                                   : "force 'wind': it threw something that is no std::exception";
    CHECK_MESSAGE(run.stopped.find(expected) == 0, run.stopped);
    if (kind == "number") continue;

    State s = system.state();
    Solver solver(system);
    s.t = 0.25;
    const VectorXd right = solver.solve(s);
    State later = s;
    later.t = 0.3;
    angry = true;
    CHECK_THROWS_AS((void)solver.solve(later), FunctorFailed);
    CHECK_THROWS_AS((void)system.evaluate(later), FunctorFailed);
    angry = false;
    CHECK(solver.solve(later)[0] == doctest::Approx(0.3).epsilon(1e-14));
    CHECK(solver.solve(s) == right);
  }
  // Events and their changes.
  const System system = rod();
  const Trajectory run = simulate(
      system, system.state(),
      {.duration = 1,
       .events = {{"bell", [](const State& s) { return s.t > 0.5 ? throw std::out_of_range("rung") : 1.0; }}}});
  CHECK(!run.finished);
  CHECK(run.stopped.find("event 'bell': it threw 'rung'") == 0);
}

TEST_CASE(
    "workers: an exception of one thread is not kept for the next call, and threads that cannot be are not needed") {
  Workers workers(3);
  CHECK_THROWS_AS(workers.run([](std::size_t) { throw std::runtime_error("all"); }), std::runtime_error);
  std::atomic<int> count{0};
  CHECK_NOTHROW(workers.run([&](std::size_t) { ++count; }));
  CHECK(count == 3);

  rlimit before = {};
  getrlimit(RLIMIT_AS, &before);
  const rlimit now{std::size_t{1} << 20, before.rlim_max};  // no room for a stack
#if !defined(__SANITIZE_ADDRESS__)
  setrlimit(RLIMIT_AS, &now);
  std::size_t threads = 0;
  {
    Workers few(4);
    threads = few.count();
    std::atomic<int> parts{0};
    few.run([&](std::size_t) { ++parts; });
    CHECK(static_cast<std::size_t>(parts) == threads);
  }
  setrlimit(RLIMIT_AS, &before);
  CHECK(threads == 1);
#else
  (void)now;
#endif
}
