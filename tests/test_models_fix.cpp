// Changes of model files: what is not meant stays as it is, and `check --fix` writes what it says.

#include <algorithm>

#include <mortise/files/edit.h>
#include <mortise/files/model.h>

#include "models/command.h"

using namespace mortise;
using files::Edit;

namespace {

const fs::path examples = fs::path(MORTISE_ROOT) / "examples/models";

std::vector<fs::path> example_models() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(examples))
    if (entry.path().extension() == ".toml") out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

int comments(const std::string& text) {  // lines of them
  std::stringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line);) count += line.starts_with('#');
  return count;
}

constexpr const char* hinged = R"(# A door.
[bodies.door]   # of oak
kind = "rigid_body"
mass = 20
inertia = [
  1, # about x
  2,
  "3 kg*m^2",
]

# The upper one, which is oiled.
[joints."hinge one"]
kind = "revolute"  # oiled
bodies = ["ground", "door"]
at_world = {point = [0, 0, 1], axis = [0, 0, 1]}

# The lower one.
[joints.lower]
kind = "revolute"
bodies = ["ground", "door"]
at_world = {point = [0, 0, "-1"], axis = [0, 0, 1]}
# The end.
)";

}  // namespace

TEST_CASE("edit: a value is replaced, added or dropped, and all else stays, comments included") {
  Edit e(hinged);
  std::string expected = hinged;
  const auto change = [&](const std::string& from, const std::string& to) {
    const auto at = expected.find(from);
    REQUIRE(at != std::string::npos);
    expected.replace(at, from.size(), to);
    CHECK(e.text() == expected);
  };
  REQUIRE(e.set({"joints", "hinge one"}, "kind", "\"cylindrical\""));
  change("\"revolute\"  # oiled", "\"cylindrical\"  # oiled");
  REQUIRE(e.set({"bodies", "door"}, "inertia", "[1, 1, 1]"));
  change("[\n  1, # about x\n  2,\n  \"3 kg*m^2\",\n]", "[1, 1, 1]");
  REQUIRE(e.set({"bodies", "door"}, "place", "[0, 0, 0, 1, 0, 0, 0]"));
  change("[1, 1, 1]\n", "[1, 1, 1]\nplace = [0, 0, 0, 1, 0, 0, 0]\n");
  REQUIRE(e.drop({"bodies", "door"}, "mass"));
  change("mass = 20\n", "");
  CHECK(e.get({"joints", "lower"}, "at_world") == "{point = [0, 0, \"-1\"], axis = [0, 0, 1]}");
  REQUIRE(e.remove({"joints", "lower"}, "gone"));
  change(
      "[joints.lower]\nkind = \"revolute\"\nbodies = [\"ground\", \"door\"]\nat_world = {point = [0, 0, \"-1\"], "
      "axis = [0, 0, 1]}\n",
      "# gone\n");
  CHECK(!e.set({"joints", "lower"}, "kind", "1"));
  CHECK(!e.remove({"joints", "none"}));
  e.put({"run"}, "complete", "true");
  expected += "\n[run]\ncomplete = true\n";
  CHECK(e.text() == expected);
}

TEST_CASE("edit: tables of every form of TOML are found, or refused") {
  for (const char* text : {"[joints.a]\nkind = \"pin\"\n", "[joints]\na.kind = \"pin\"\n", "joints.a.kind = \"pin\"\n",
                           "[joints]\n[joints.\"a\"]\nkind = 'pin'", "[ joints . 'a' ]\nkind=\"pin\"# pin\n"}) {
    CAPTURE(text);
    Edit e(text);
    REQUIRE(e.set({"joints", "a"}, "kind", "\"weld\""));
    CHECK(e.text().find("pin\"") == std::string::npos);
    CHECK(e.text().find("weld") != std::string::npos);
    REQUIRE(e.remove({"joints", "a"}));
    CHECK(e.text().find("weld") == std::string::npos);
  }
  Edit inside("joints = {a = {kind = \"pin\"}}\n");
  CHECK(!inside.set({"joints", "a"}, "kind", "\"weld\""));
  CHECK(!inside.remove({"joints", "a"}));
  CHECK(inside.text() == "joints = {a = {kind = \"pin\"}}\n");
  // What looks like a heading within a text or a list is none.
  Edit text("a = \"\"\"\n[joints.a]\nkind = 1\n\"\"\"\nb = [\n[1, 2],\n[3, 4]]\n[joints.b]\nkind = 2\n");
  CHECK(!text.remove({"joints", "a"}));
  CHECK(text.get({}, "b") == "[\n[1, 2],\n[3, 4]]");
  CHECK(text.get({"joints", "b"}, "kind") == "2");
}

TEST_CASE("edit: without any one of its joints an example is read, and lacks nothing else") {
  int removed = 0;
  for (const fs::path& path : example_models()) {
    CAPTURE(path.string());
    const std::string text = content(path);
    const Model whole = parse_model(text, path.string(), examples.string());
    const auto joints = whole.assembly.constraints();
    for (const auto& j : joints) {
      Edit e(text);
      CAPTURE(j.name);
      REQUIRE(e.remove({"joints", j.name}));
      CHECK(comments(e.text()) == comments(text));
      const Model rest = parse_model(e.text(), path.string(), examples.string());
      CHECK(rest.assembly.constraints().size() + 1 == joints.size());
      CHECK(rest.assembly.bodies().size() + 1 >= whole.assembly.bodies().size());  // the ground may be gone
      CHECK(rest.assembly.forces().size() == whole.assembly.forces().size());
      ++removed;
    }
  }
  CHECK(removed > 50);
}

TEST_CASE("command: check lists fixes, and --fix writes the one that is meant") {
  const Scratch s;
  const std::string door = s / "door.toml", fixed = s / "fixed.toml";
  write(door, hinged);
  const Outcome told = mortise_command("check " + door);
  CHECK(told.status == 1);
  CHECK(told.out.find("fixes, each applied to a copy and checked") != std::string::npos);
  CHECK(told.out.find("  1  remove joint 'lower' (all well, DOF 1)") != std::string::npos);
  const Outcome o = mortise_command(fmt::format("check {} --fix 1 -o {}", door, fixed));
  CHECK(o.status == 0);
  CHECK(o.out == fixed + ": remove joint 'lower'\n");
  CHECK(content(fixed).find("# of oak") != std::string::npos);
  CHECK(content(fixed).find("lower]") == std::string::npos);
  CHECK(mortise_command("check " + fixed).status == 0);
  CHECK(content(door) == hinged);

  CHECK(mortise_command(fmt::format("check {} --fix 1", door)).status == 64);
  CHECK(mortise_command(fmt::format("check {} -o {}", door, fixed)).status == 64);
  const Outcome beyond = mortise_command(fmt::format("check {} --fix 99 -o {}", door, fixed));
  CHECK(beyond.status == 64);
  CHECK(beyond.err.find("--fix 99: there are ") == 0);
  CHECK(mortise_command(fmt::format("check {} --fix 1 -o {}", fixed, s / "again.toml")).err ==
        "--fix 1: no change that was tried mends the model; follow the remedies\n");
  CHECK(mortise_command(fmt::format("check {0} --fix 1 -o {0}", door)).status == 4);  // it is read
  CHECK(content(door) == hinged);
}
