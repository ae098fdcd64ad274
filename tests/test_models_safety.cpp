// The command loses nothing and takes nothing for what it is not: files, checkpoints, sweeps.

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "models/command.h"

namespace {

const fs::path examples = fs::path(MORTISE_ROOT) / "examples/models";

// A particle on a line, thrown with v0.
std::string thrown(double v0 = 1, const std::string& more = "") {
  return fmt::format(R"([bodies.p]
kind = "particle"
dimension = 1
mass = 1
velocity = [{}]
[run]
until = 1
sample = 0.1
{})",
                     v0, more);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("command: no file that is read is written over, nor one output by another") {
  const Scratch s;
  const std::string model = thrown();
  const auto refused = [&](const std::string& arguments, const std::string& kept, const std::string& message) {
    const std::string before = content(kept);
    const Outcome o = mortise_command(arguments);
    CHECK_MESSAGE(o.status == 4, arguments);
    CHECK_MESSAGE(contains(o.err, message), o.err);
    CHECK_MESSAGE(content(kept) == before, arguments);
  };
  const std::string q = s / "q.toml", svg = s / "q.svg", run = s / "run.svg";
  write(q, model);
  write(svg, model);
  REQUIRE(mortise_command(fmt::format("run {} -o {}", q, run)).status == 0);
  const std::string over = "would write over it, and it is read; give another name, or --force if that is meant";
  refused(fmt::format("run {0} -o {0}", q), q, "file '" + q + "': -o " + over);
  refused(fmt::format("run {0} --checkpoint {0}", q), q, "--checkpoint " + over);
  refused(fmt::format("run {0} --resume {0}", q), q, "--resume " + over);
  refused(fmt::format("view --model {0} -o {0}", q), q, over);
  refused(fmt::format("view {1} --model {0} -o {1}", q, run), run, over);
  refused(fmt::format("check {0} --graph {0}", svg), svg, "--graph " + over);
  refused(fmt::format("plot {0} -o {0}", run), run, over);
  // By another name: a link of either kind, another way.
  fs::create_symlink("q.toml", s / "soft");
  fs::create_hard_link(q, s / "hard");
  for (const char* other : {"soft", "hard", "./../*/q.toml"}) {
    std::string name = s / other;
    if (contains(name, "*")) name = s / ("../" + s.path.filename().string() + "/q.toml");
    refused(fmt::format("run {} -o {}", q, name), q, over);
  }
  // A file that the model includes.
  write(s / "whole.toml", "[subsystems.a]\nfile = \"q.toml\"\n");
  refused(fmt::format("run {} -o {}", s / "whole.toml", q), q, over);
  // Two outputs, also where none is yet.
  const Outcome both = mortise_command(fmt::format("run {} -o {} --checkpoint {}", q, s / "x", s / "./x"));
  CHECK(both.status == 4);
  CHECK(contains(both.err, "it is given for -o and for --checkpoint; give two names"));
  CHECK(!fs::exists(s / "x"));
  // In the folder of a sweep.
  fs::create_directory(s.path / "out");
  write(s / "out/summary.csv", thrown(1, "[parameters]\nL = 1\n"));
  refused(fmt::format("sweep {} --vary L=1:2:2 -o {}", s / "out/summary.csv", s / "out"), s / "out/summary.csv", over);
  // Where it is meant.
  CHECK(mortise_command(fmt::format("plot {0} -o {0} --force", run)).status == 0);
  CHECK(content(run).starts_with("<svg"));
}

TEST_CASE("command: a link is followed, and stays; nothing else is left in the folder") {
  const Scratch s;
  fs::create_directory(s.path / "far");
  write(s / "q.toml", thrown());
  write(s / "far/there.csv", "old");
  fs::permissions(s / "far/there.csv", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("far/there.csv", s / "a.csv");
  fs::create_symlink("far/new.csv", s / "b.csv");  // nothing is there yet
  for (const char* name : {"a.csv", "b.csv"}) {
    CHECK(mortise_command(fmt::format("run {} -o {}", s / "q.toml", s / name)).status == 0);
    CHECK(fs::is_symlink(s / name));
    CHECK(content(s / name).starts_with("t [s],p.x [m]"));
  }
  CHECK(fs::status(s / "far/there.csv").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  fs::create_symlink("loop", s / "loop");
  CHECK(mortise_command(fmt::format("run {} -o {}", s / "q.toml", s / "loop")).status == 4);
  for (const auto& entry : fs::recursive_directory_iterator(s.path))
    CHECK_MESSAGE(entry.path().extension() != ".part", entry.path());
}

TEST_CASE("command: what cannot be written is told, and is status 4; a reader that has seen enough is no fault") {
  const Scratch s;
  write(s / "q.toml", thrown());
  const std::string q = s / "q.toml";
  for (const std::string& arguments :
       {"check " + q, "check --json " + q, "accelerations " + q, "accelerations --json " + q, "run " + q,
        std::string("list joints"), std::string("reference"), std::string("--help"), std::string("--version"),
        std::string("check --help")}) {
    const std::string err = s / "err";
    const int raw = std::system(fmt::format("{} {} > /dev/full 2> {}", MORTISE_COMMAND, arguments, err).c_str());
    CHECK_MESSAGE(WEXITSTATUS(raw) == 4, arguments);
    CHECK_MESSAGE(contains(content(err), "standard output: cannot be written: No space left on device"), arguments);
  }
  CHECK(mortise_command(fmt::format("run {} --quiet -o /dev/full", q)).status == 4);
  write(s / "line", fmt::format("set -o pipefail; {} reference 2>{} | head -1; echo $?", MORTISE_COMMAND, s / "err"));
  REQUIRE(std::system(fmt::format("bash {} > {}", s / "line", s / "out").c_str()) == 0);
  CHECK(content(s / "out").ends_with("\n0\n"));
  CHECK(content(s / "err").empty());
}

TEST_CASE("command: a checkpoint that cannot be saved is a remark, and tried again") {
  const Scratch s;
  write(s / "q.toml", thrown());
  REQUIRE(mortise_command(fmt::format("run {} -o {}", s / "q.toml", s / "whole.csv")).status == 0);
  fs::create_directory(s.path / "locked");
  const Outcome o =
      mortise_command(fmt::format("run {} -o {} --checkpoint /dev/full --every 0.25", s / "q.toml", s / "a.csv"));
  CHECK(o.status == 1);
  CHECK_MESSAGE(contains(o.out,
                         "checkpoint: 3 checkpoints from here on could not be saved, the last at t = 0.75 s: file "
                         "'/dev/full': cannot be written as a whole: No space left on device"),
                o.out);
  // The samples are those of a run that saves.
  CHECK(
      mortise_command(fmt::format("run {} -o {} --checkpoint {} --every 0.25", s / "q.toml", s / "b.csv", s / "b.run"))
          .status == 0);
  CHECK(content(s / "a.csv") == content(s / "b.csv"));
}

TEST_CASE("command: a run goes on only from its own checkpoint, and a bit that was flipped is seen") {
  const Scratch s;
  const std::string q = s / "q.toml", saved = s / "q.run", csv = s / "a.csv";
  const std::string line = fmt::format("run {} --every 0.25 -o {} --resume {}", q, csv, saved);
  write(q, thrown(1));
  REQUIRE(mortise_command(line).status == 0);
  const std::string whole = content(csv), checkpoint = content(saved);
  CHECK(mortise_command(line).status == 0);  // from t = 0.75
  CHECK(content(csv) == whole);

  const auto refused = [&](const std::string& text, const std::string& message) {
    write(q, text);
    fs::remove(csv);
    const Outcome o = mortise_command(line);
    CHECK(o.status == 4);
    CHECK_MESSAGE(contains(o.err, message), o.err);
    CHECK(!fs::exists(csv));
  };
  refused(thrown(3), "it is of another run: there [start] = ");  // the section that says it
  refused(thrown(1, "tolerance = 1e-6"), "there tolerance = 1e-08, here tolerance = 1e-06");
  refused(
      thrown(1) +
          "\n[forces.f]\nkind = \"coordinate_force\"\nbodies = [\"p\"]\ncoordinate = \"x\"\nf = \"max(0, t - 9)\"\n",
      "it is of another run: ");  // nothing of it is seen in the numbers
  write(q, thrown(1));
  CHECK(mortise_command(line + " --until 0.5").status == 4);
  CHECK(contains(mortise_command(line + " --until 0.5").err, "it is at t = 0.75 s, and the run ends at 0.5 s"));

  std::mt19937 random(19);
  int flips = 0;
  for (int i = 0; i < 40; ++i, ++flips) {
    std::string damaged = checkpoint;
    damaged[random() % damaged.size()] ^= static_cast<char>(1u << random() % 8);
    write(saved, damaged);
    CHECK(mortise_command(line).status == 4);
  }
  CHECK(flips == 40);
}

TEST_CASE("command: sweep takes only equal runs, remakes what is not whole, and tells what may be made later") {
  const Scratch s;
  const std::string m = s / "m.toml", out = s / "out";
  const auto model = [](const std::string& mass, const std::string& run = "") {
    return fmt::format(
        "[parameters]\nm = 1\n[bodies.p]\nkind = \"particle\"\ndimension = 1\nmass = \"{}\"\nvelocity = "
        "[1]\n[run]\nuntil = 0.5\nsample = 0.1\n{}",
        mass, run);
  };
  const std::string line = fmt::format("sweep {} --vary m=1:3:3 -o {}", m, out);
  write(m, model("m"));
  REQUIRE(mortise_command(line).status == 0);
  const std::string summary = content(out + "/summary.csv"), csv = content(out + "/run_00001.csv"),
                    row = content(out + "/run_00001.row");
  SUBCASE("other models") {
    // Equal at the first point; other settings of the run.
    for (const std::string& other :
         {model("m^2"), model("m", "integrator = \"rk4\"\nstep = 0.01"), model("m", "tolerance = 1e-5")}) {
      write(m, other);
      const Outcome o = mortise_command(line);
      CHECK(o.status == 64);
      CHECK_MESSAGE(contains(o.err, "it has runs of this model before it was changed"), o.err);
    }
  }
  SUBCASE("what is not whole is made again") {
    const auto again = [&] {
      const Outcome o = mortise_command(line);
      CHECK(o.status == 0);
      CHECK_MESSAGE(contains(o.out, "3 of them here, 1 to be made"), o.out);
      CHECK(content(out + "/summary.csv") == summary);
      CHECK(content(out + "/run_00001.csv") == csv);
      CHECK(content(out + "/run_00001.row") == row);
    };
    write(out + "/run_00001.row", "");
    again();
    fs::remove(out + "/run_00001.csv");
    again();
    std::mt19937 random(7);
    for (int i = 0; i < 10; ++i) {
      std::string damaged = i % 2 ? csv : row;
      damaged[random() % damaged.size()] ^= static_cast<char>(1u << random() % 8);
      write(out + (i % 2 ? "/run_00001.csv" : "/run_00001.row"), damaged);
      again();
    }
  }
  SUBCASE("failures of the model are recorded, those of the disk are not") {
    fs::remove_all(out);
    write(m, model("2 - m"));  // no mass at m = 2, a negative one at m = 3
    const Outcome first = mortise_command(line);
    CHECK(first.status == 3);
    CHECK(contains(content(out + "/summary.csv"), "\n2,3,failed,"));
    CHECK(contains(content(out + "/run_00002.txt"), "negative"));
    CHECK(contains(mortise_command(line).out, "0 to be made"));
    CHECK(contains(mortise_command(line + " --retry").out, "2 to be made"));

    fs::remove_all(out);
    write(m, model("m"));
    REQUIRE(mortise_command(line).status == 0);
    for (int k = 0; k < 3; ++k)
      for (const char* end : {"csv", "row"}) fs::remove(fmt::format("{}/run_{:05}.{}", out, k, end));
    write(s / "full", fmt::format("set -o pipefail; (trap '' XFSZ; ulimit -f 0; exec {} {} 2>&1) | cat > {}",
                                  MORTISE_COMMAND, line, s / "said"));
    CHECK(WEXITSTATUS(std::system(fmt::format("bash {}", s / "full").c_str())) == 4);
    CHECK_MESSAGE(contains(content(s / "said"), "3 could not be made, and are made by the same line again; run "),
                  content(s / "said"));
    CHECK(contains(content(s / "said"), "cannot be written as a whole: File too large"));
    CHECK(!fs::exists(out + "/run_00000.row"));
    const Outcome then = mortise_command(line);
    CHECK(then.status == 0);
    CHECK(content(out + "/summary.csv") == summary);
  }
}

TEST_CASE("command: two sweeps of one folder at the same time share the work") {
  const Scratch s;
  fs::copy_file(examples / "pendulum.toml", s / "m.toml");
  const std::string arguments = fmt::format("sweep {} --vary L=1:2:12 --until 2 --threads 1", s / "m.toml");
  REQUIRE(mortise_command(fmt::format("{} -o {}", arguments, s / "alone")).status == 0);
  Outcome a, b;
  std::thread other([&] { a = mortise_command(fmt::format("{} -o {}", arguments, s / "both")); });
  b = mortise_command(fmt::format("{} -o {}", arguments, s / "both"));
  other.join();
  CHECK_MESSAGE(a.status == 0, a.err);
  CHECK_MESSAGE(b.status == 0, b.err);
  CHECK(content(s / "both/summary.csv") == content(s / "alone/summary.csv"));
  for (int k = 0; k < 12; ++k) {
    const std::string name = fmt::format("run_{:05}.csv", k);
    CHECK(content(s / ("both/" + name)) == content(s / ("alone/" + name)));
  }
}

TEST_CASE("command: names of any characters come through CSV, and none reaches the terminal") {
  const Scratch s;
  const std::string name = "a, \\\"b\\\"\\n\\u001b[31mred\\u007f \\uFFFE \\u0085[m]";
  write(s / "m.toml", fmt::format("[bodies.\"{}\"]\nkind = \"particle\"\ndimension = 1\nmass = 1\nvelocity = "
                                  "[1]\n[run]\nuntil = 0.5\nsample = 0.1\n",
                                  name));
  const std::string m = s / "m.toml";
  const auto clean = [](const std::string& text) {
    return std::none_of(text.begin(), text.end(),
                        [](char c) { return (c >= 0 && c < ' ' && c != '\n') || c == 0x7F; }) &&
           !contains(text, "\xC2\x85");
  };
  for (const std::string& arguments :
       {"check " + m, "check --json " + m, "accelerations " + m, "run " + m + " -o " + (s / "r.csv"),
        "plot " + (s / "r.csv") + " -o " + (s / "r.svg"),
        "view " + (s / "r.csv") + " --model " + m + " -o " + (s / "r.html"), "check " + m + " --graph " + (s / "g.svg"),
        "check " + m + " --graph " + (s / "g.dot")}) {
    const Outcome o = mortise_command(arguments);
    CHECK_MESSAGE(o.status <= 1, o.err);
    CHECK_MESSAGE(clean(o.out + o.err), arguments);
  }
  CHECK(contains(mortise_command("check " + m + " --at 0.2").out + mortise_command("accelerations " + m).out,
                 "\\x1b[31mred"));
  for (const char* picture : {"r.svg", "g.svg", "g.dot", "r.html"})
    CHECK_MESSAGE(!contains(content(s / picture), "\033"), picture);
  for (const char* picture : {"r.svg", "g.svg"})
    CHECK_MESSAGE(!contains(content(s / picture), "\xEF\xBF\xBE"), picture);
  CHECK(mortise_command("plot " + (s / "r.csv") + " 'nothing\033[2J' -o " + (s / "x.svg")).status == 64);
  CHECK(clean(mortise_command("plot " + (s / "r.csv") + " 'nothing\033[2J' -o " + (s / "x.svg")).err));
}

TEST_CASE("command: nothing is waited for in vain") {
  const Scratch s;
  write(s / "q.toml", thrown());
  const std::string q = s / "q.toml";
  for (const char* options : {"--step 1e-300", "--sample 1e-300", "--every 1e-300 --checkpoint x.run", "--step 1e-20",
                              "--integrator rk4 --step 1e-300"}) {
    const Outcome o = mortise_command(fmt::format("run {} {}", q, options));
    CHECK_MESSAGE((o.status == 4 || o.status == 64), options);
    CHECK_MESSAGE(!o.err.empty(), options);
  }
  write(s / "late.toml", thrown() + "[start]\nt = 1e18\n");
  CHECK(mortise_command(fmt::format("run {} --until 1.1e18 --sample 1e17", s / "late.toml")).status != 0);
  // A pipe that nobody writes to.
  REQUIRE(std::system(fmt::format("mkfifo {}", s / "pipe.mtx").c_str()) == 0);
  write(s / "pipe.toml", "[bodies.s]\nkind = \"structure\"\nM = \"pipe.mtx\"\ncoordinates = [\"n.ux\"]\n");
  const Outcome o = mortise_command(fmt::format("check {}", s / "pipe.toml"));
  CHECK(o.status == 4);
  CHECK_MESSAGE(contains(o.err, "this is no plain file"), o.err);
  REQUIRE(std::system(fmt::format("mkfifo {}", s / "pipe.run").c_str()) == 0);
  CHECK(mortise_command(fmt::format("run {} --resume {}", q, s / "pipe.run")).status == 4);
  // CSV files are read from pipes, too, but not from those that nobody writes to.
  REQUIRE(std::system(fmt::format("mkfifo {}", s / "pipe.csv").c_str()) == 0);
  CHECK(contains(mortise_command(fmt::format("plot {} -o {}", s / "pipe.csv", s / "p.svg")).err, "it is empty"));
  write(s / "line", fmt::format("{0} run {1} -o {2}/r.csv && {0} plot <(sleep 0.2; cat {2}/r.csv) -o {2}/p.svg",
                                MORTISE_COMMAND, q, s.path.string()));
  CHECK(std::system(fmt::format("bash {} > /dev/null", s / "line").c_str()) == 0);
  CHECK(fs::exists(s / "p.svg"));
}

TEST_CASE(
    "command: a run is shown with its own model only; the CSV file stays a plain table, the page tells whose it is") {
  const Scratch s;
  const std::string q = s / "q.toml", csv = s / "q.csv", page = s / "q.html";
  const auto model = [](const std::string& more, double mass = 1) {
    return fmt::format(
        "gravity = [0, -9.81, 0]\n[parameters]\nL = 1\n[bodies.rod]\nkind = \"planar_body\"\nmass = {}\ninertia = "
        "0.1\nplace = {{x = \"L/2\"}}\n[joints.pin]\nkind = \"pin\"\nbodies = [\"ground\", \"rod\"]\non_b = "
        "[\"-L/2\", 0]\n[run]\nuntil = 0.2\n{}",
        mass, more);
  };
  write(q, model(""));
  REQUIRE(mortise_command(fmt::format("run {} -o {}", q, csv)).status == 0);
  CHECK(!fs::exists(csv + ".identity"));
  CHECK(content(csv).starts_with("t [s],rod.x [m]"));
  const std::string view = fmt::format("view {} --model {} -o {}", csv, q, page);
  REQUIRE(mortise_command(view).status == 0);
  CHECK(contains(content(page), "\"identity\":{\"version\":"));
  CHECK(contains(content(page), "\"[bodies.rod]\":\""));
  // Other numbers, a force more, another length; seen without any side file.
  const auto refused = [&](const std::string& line, const std::string& message) {
    fs::remove(page);
    const Outcome o = mortise_command(line);
    CHECK(o.status == 4);
    CHECK_MESSAGE(contains(o.err, "run '" + csv + "': it is of another model: " + message), o.err);
    CHECK(!fs::exists(page));
  };
  refused(view + " --set L=2", "rod.");
  write(q, model("", 2));
  refused(view, "rod.y''");
  const std::string brake =
      "[forces.brake]\nkind = \"coordinate_force\"\nbodies = [\"rod\"]\ncoordinate = \"theta\"\nf = ";
  write(q, model("") + brake + "\"-3\"\n");
  refused(view, "rod.y''");
  CHECK(mortise_command(view + " --force").status == 0);

  // With the side file: also what does not act at the start.
  const std::string run = fmt::format("run {} -o {} --identity", q, csv);
  write(q, model(""));
  REQUIRE(mortise_command(run + " --tolerance 1e-6").status == 0);
  CHECK(mortise_command(view).status == 0);
  write(q, model("tolerance = 1e-5"));  // how it was computed changes nothing that is shown
  CHECK(mortise_command(view).status == 0);
  write(q, model("") + brake + "\"-3 * max(0, t - 0.1)\"\n");
  refused(view, "[forces.brake] is missing there");
  REQUIRE(mortise_command(run).status == 0);
  write(q, model("") + brake + "\"-4 * max(0, t - 0.1)\"\n");
  refused(view, "[forces.brake] is another one here");
  write(q, model(""));
  refused(view, "[forces.brake] is missing here");
  // The two files belong together.
  const std::string identity = content(csv + ".identity"), table = content(csv);
  write(csv, table + "0.3" +
                 std::string(static_cast<std::size_t>(
                                 std::count(table.begin(), table.begin() + static_cast<long>(table.find('\n')), ',')),
                             ',') +
                 "\n");
  CHECK(mortise_command(view).status == 4);
  write(csv, table);
  std::string damaged = identity;
  damaged[damaged.size() / 2] ^= 1;
  write(csv + ".identity", damaged);
  CHECK(contains(mortise_command(view).err, "it is not whole, or was changed"));
  CHECK(mortise_command(fmt::format("run {} --identity", q)).status == 64);
  CHECK(mortise_command(fmt::format("run {} --identity -o {}", csv + ".identity", csv)).status == 4);
}

TEST_CASE("command: what does not fit into memory is told with the figure, and written nowhere") {
  const Scratch s;
  std::string many = "[run]\nuntil = 1\n";
  for (int i = 0; i < 20000; ++i)
    many += fmt::format("[bodies.p{}]\nkind = \"particle\"\ndimension = 3\nmass = 1\n", i);
  write(s / "many.toml", many);
  write(s / "line", fmt::format("ulimit -v 4000000; exec {} accelerations --json {} > {} 2> {}", MORTISE_COMMAND,
                                s / "many.toml", s / "out", s / "err"));
#if !defined(__SANITIZE_ADDRESS__)
  CHECK(WEXITSTATUS(std::system(fmt::format("bash {}", s / "line").c_str())) == 4);
  CHECK_MESSAGE(contains(content(s / "err"), "M as a dense matrix of 60000 coordinates needs 28.8 GB of memory, and "),
                content(s / "err"));
  CHECK(content(s / "out").empty());
#endif
  std::string names;
  for (int i = 0; i < 300000; ++i) names += fmt::format("\"x{}\",", i);
  write(s / "large.toml", "[bodies.all]\nkind = \"subsystem\"\ncoordinates = [" + names + "]\n");
  const Outcome large = mortise_command(fmt::format("check {}", s / "large.toml"));
  CHECK(large.status == 4);
  CHECK_MESSAGE(contains(large.err, "its mass matrix of 300000 coordinates needs 720 GB of memory, and "), large.err);
  const Outcome o = mortise_command(fmt::format("run {} --until 1e9 -o {}", s / "many.toml", s / "a.csv"));
  CHECK(o.status == 64);
  CHECK_MESSAGE(contains(o.err, "more than fits into memory"), o.err);
  CHECK(!fs::exists(s / "a.csv"));
}

TEST_CASE("command: a file with many wrong names is refused in seconds, with guesses") {
  const Scratch s;
  std::string wrong;
  for (int i = 0; i < 50000; ++i)
    wrong += fmt::format("[bodies.p{}]\nkind = \"particle\"\ndimension = 1\nmass = 1\n", i);
  for (int i = 0; i < 2000; ++i)
    wrong += fmt::format("[joints.j{0}]\nkind = \"pin\"\nbodies = [\"p{0}0x\", \"p{0}\"]\n", i);
  write(s / "wrong.toml", wrong);
  const auto begin = std::chrono::steady_clock::now();
  const Outcome o = mortise_command(fmt::format("check {}", s / "wrong.toml"));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60));  // also under sanitizers
  CHECK(o.status == 4);
  CHECK(contains(o.err, "has no body 'p00x'; did you mean 'p0'?"));
  CHECK(contains(o.err, "... and "));
}
