// Tables, plots and the page of a run; how bodies are drawn.  The page itself is tested in a browser, page_browser/.

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numbers>

#include <mortise/assembly/assembly.h>
#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/forces/nonlinear_spring.h>
#include <mortise/joints/friction.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/rolling_wheel.h>
#include <mortise/joints/rope.h>
#include <mortise/joints/slider.h>

#include "graph_picture.h"
#include "markup.h"
#include "plot.h"
#include "scene.h"
#include "view.h"

using namespace mortise;

namespace {

using V = Vec3<double>;
constexpr double pi = std::numbers::pi;
constexpr double round_off = 1e-14;  // of a few operations on numbers near 1

template <class F> std::string message(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + what.size())) ++n;
  return n;
}

RunTable example() { return parse_csv("t [s],a.x [m],a.y [m],w [rad/s],n\n0,1,2,0.5,7\n0.5,3,4,-1e-3,8\n", "run.csv"); }

// A massless rod on a pin with a particle that is not connected yet.
struct Unfinished {
  Assembly a{"unfinished"};
  Unfinished() {
    const auto ground = a.add("ground", Ground{});
    const auto rod = a.add("rod", PlanarBody{});
    a.add("tip", Particle<2>{.mass = 1});
    a.connect("hinge", Pin{}, ground, rod);
  }
};

}  // namespace

TEST_CASE("a table is read back as a trajectory wrote it, to the last bit") {
  Trajectory run;
  run.system = "s";
  run.columns = {{"t", "s"}, {"rod.theta''", "rad/s^2"}, {"u0", ""}};
  run.values = {0, 0.1, 1.0 / 3, 0.01, -1e-300, std::nextafter(1.0, 2.0)};
  const std::string path = (std::filesystem::temp_directory_path() / "mortise_test_view.csv").string();
  run.write_csv(path);
  const RunTable read = read_csv(path);
  std::filesystem::remove(path);
  REQUIRE(read.columns.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(read.columns[i].name == run.columns[i].name);
    CHECK(read.columns[i].unit == run.columns[i].unit);
  }
  CHECK(read.values == run.values);
  CHECK(read.samples() == 2);
  CHECK(read.column("rod.theta''")[1] == -1e-300);
  CHECK(table_of(run).values == run.values);
}

TEST_CASE("tables with spaces, a byte order mark and other line ends are read") {
  const RunTable run = parse_csv("\xEF\xBB\xBFt [s], a.x [m]\r\n0, 1\r\n\r\n1, 2\r\n", "run.csv");
  CHECK(run.columns[1].name == "a.x");
  CHECK(run.columns[1].unit == "m");
  CHECK(run.values == std::vector<double>{0, 1, 1, 2});
}

TEST_CASE("a bad table is refused with file, line and column") {
  const std::array<std::array<const char*, 2>, 12> bad{{
      {"", "file 'f.csv': line 1: it is empty; give a run as mortise writes it, \"t [s],rod.x [m],...\""},
      {"t [s],x\n", "file 'f.csv': line 1: it has names but no samples; let the run record samples"},
      {"x,t\n1,2\n",
       "file 'f.csv': line 1: the first column is 'x'; give a run as mortise writes it, \"t [s],rod.x "
       "[m],...\""},
      {"t,,x\n", "file 'f.csv': line 1: column 2 has no name; the first line names the columns"},
      {"t,x,x [m]\n", "file 'f.csv': line 1: two columns are named 'x'; give each a name of its own"},
      {"t,x\n0,1\n1\n",
       "file 'f.csv': line 3: it has 1 cells for 2 columns; give one number per column; the file may be "
       "cut off"},
      {"t,x\n0,1,2\n",
       "file 'f.csv': line 2: it has 3 cells for 2 columns; give one number per column; the file may "
       "be cut off"},
      {"t,x\n0,1m\n",
       "file 'f.csv': line 2: '1m' in column 'x' is no finite number; give numbers such as 1.5 or -2e-3"},
      {"t,x\n0,\n", "file 'f.csv': line 2: '' in column 'x' is no finite number; give numbers such as 1.5 or -2e-3"},
      {"t,x\n0,nan\n",
       "file 'f.csv': line 2: 'nan' in column 'x' is no finite number; give numbers such as 1.5 or "
       "-2e-3"},
      {"t,x\n0,1e999\n",
       "file 'f.csv': line 2: '1e999' in column 'x' is no finite number; give numbers such as 1.5 or "
       "-2e-3"},
      {"t,x\n1,1\n0.5,1\n", "file 'f.csv': line 3: t = 0.5 comes after t = 1; give samples in the order of time"},
  }};
  for (const auto& b : bad) CHECK(message([&] { parse_csv(b[0], "f.csv"); }) == b[1]);
  CHECK(message([] { read_csv("/no/such/file.csv"); }) ==
        "file '/no/such/file.csv': it cannot be opened; check its name, and whether it may be read");
  CHECK(message([] { example().column("a.z"); }).find("'run.csv' has none of this name; did you mean 'a.x'?") !=
        std::string::npos);
}

TEST_CASE("text is made safe for XML and for JSON inside a page") {
  CHECK(escaped_markup("a<b & \"c\"'") == "a&lt;b &amp; &quot;c&quot;&#39;");
  CHECK(json_string("</script>\"\\\n\x01") == "\"\\u003c/script\\u003e\\\"\\\\\\n\\u0001\"");
  CHECK(escaped_markup("\xC3\xA9\xE2\x82\xAC") == "\xC3\xA9\xE2\x82\xAC");
  CHECK(escaped_markup("x\xFF\xC3") == "x\xEF\xBF\xBD\xEF\xBF\xBD");                // no UTF-8
  CHECK(escaped_markup("\xED\xA0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
  CHECK(base64("", 0) == "");
  CHECK(base64("f", 1) == "Zg==");  // RFC 4648, Sec. 10
  CHECK(base64("fo", 2) == "Zm8=");
  CHECK(base64("foo", 3) == "Zm9v");
  CHECK(base64("foobar", 6) == "Zm9vYmFy");
}

TEST_CASE("columns are chosen by names and patterns, each once") {
  const RunTable run = example();
  CHECK(chosen_columns(run, {}) == std::vector<Index>{1, 2, 3, 4});
  CHECK(chosen_columns(run, {"w", "a.*", "a.x"}) == std::vector<Index>{3, 1, 2});
  CHECK(chosen_columns(run, {"*.y"}) == std::vector<Index>{2});
  CHECK(message([&] { chosen_columns(run, {"a.X"}); }).find("did you mean 'a.x'?") != std::string::npos);
  CHECK_THROWS_AS(chosen_columns(run, {"*b*"}), InvalidModel);
  CHECK_THROWS_AS(chosen_columns(run, {"*a*a*a*a*a*"}), InvalidModel);
  const RunTable rates = parse_csv("t,x,x',x''\n0,1,2,3\n", "r.csv");
  CHECK(chosen_columns(rates, {}) == std::vector<Index>{1});
}

TEST_CASE("a plot has one panel per unit, and its curves pass through the samples") {
  const std::string svg = plot_svg(example(), {}, {.title = "a <b>"});
  CHECK(svg.find("<title>a &lt;b&gt;</title>") != svg.npos);
  CHECK(count(svg, "class=\"frame\"") == 3);
  CHECK(count(svg, "<polyline") == 4);
  // Two samples of a.x at 1 and 3 m in the first panel, whose frame is  x, y, width, height;  a.y goes to 4 m.
  double x = 0, y = 0, w = 0, h = 0, x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  const auto frame = svg.find("class=\"frame\""), curve = svg.find("<polyline");
  REQUIRE(std::sscanf(svg.c_str() + frame, "class=\"frame\" x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"", &x, &y,
                      &w, &h) == 4);
  REQUIRE(std::sscanf(svg.c_str() + svg.find("points=", curve), "points=\"%lf,%lf %lf,%lf", &x1, &y1, &x2, &y2) == 4);
  constexpr double printed = 0.01;  // [px] to which coordinates are written
  const double low = 1 - 0.04 * 3, high = 4 + 0.04 * 3;
  CHECK(std::abs(x1 - x) <= printed);
  CHECK(std::abs(x2 - (x + w)) <= printed);
  CHECK(std::abs(y1 - (y + h * (high - 1) / (high - low))) <= printed);
  CHECK(std::abs(y2 - (y + h * (high - 3) / (high - low))) <= printed);
}

TEST_CASE("plots of constants, tiny ranges on large numbers and many samples are finite and small") {
  std::string text = "t [s],c [m],e [J],z [N]\n";
  for (int i = 0; i < 20000; ++i) text += fmt::format("{},5,{},0\n", 0.001 * i, 4.905 + 1e-9 * std::sin(0.1 * i));
  const std::string svg = plot_svg(parse_csv(text, "long.csv"), {});
  CHECK(svg.find("nan") == svg.npos);
  CHECK(svg.find("inf") == svg.npos);
  CHECK(svg.find("+ 4.905") != svg.npos);  // ticks of e are told from there
  CHECK(svg.size() < 250000);
  const std::string one = plot_svg(parse_csv("t,x\n2,3\n", "one.csv"), {});
  CHECK(one.find("nan") == one.npos);
}

TEST_CASE("a plot refuses what it cannot draw") {
  std::string head = "t", line = "0";
  for (int i = 0; i < 30; ++i) head += fmt::format(",c{} [m]", i), line += ",1";
  const RunTable many = parse_csv(head + "\n" + line + "\n", "many.csv");
  CHECK(message([&] { plot_svg(many, {}); }) ==
        "plot 'many.csv': 30 curves in the unit [m] are more than the 24 that can be told apart; choose fewer columns");
  CHECK(message([] { write_plot(example(), {}, "/tmp/x.jpg"); }) ==
        "file '/tmp/x.jpg': '.jpg' is no kind of picture it can be; give a name that ends in .svg or .png");
  CHECK_THROWS_AS(write_plot(example(), {}, "/no/such/folder/x.svg"), FileError);
}

TEST_CASE("gnuplot draws a PNG where it is installed, and is asked for where it is not") {
  const auto folder = std::filesystem::temp_directory_path() / "mortise_test_view it's";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "a.png").string();
  if (gnuplot_installed()) {
    write_plot(example(), {}, path, {.title = "it's $(x) `y`"});
    std::ifstream file(path, std::ios::binary);
    std::string start(8, '\0');
    file.read(start.data(), 8);
    CHECK(start == "\x89PNG\r\n\x1A\n");
    CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);  // nothing is left beside it
  } else {
    CHECK(message([&] { write_plot(example(), {}, path); }).find("install gnuplot-nox") != std::string::npos);
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("parts are sketched by their fields, also inside others") {
  const Sketch pin = sketch_of(Pin{.on_a = {1, 2}, .on_b = {3, 4}});
  CHECK(pin.kind == "pin");
  REQUIRE(pin.points.size() == 2);
  CHECK(pin.points[0].body == 0);
  CHECK(pin.points[1].body == 1);
  CHECK(pin.points[1].value == V(3, 4, 0));
  const Sketch rubbing = sketch_of(Coulomb(Revolute{.on_b = {0, 0, 5}, .axis_a = {0, 2, 0}}, {.coefficient = 0.1}));
  CHECK(rubbing.kind == "revolute");
  REQUIRE(rubbing.points.size() == 2);
  CHECK(rubbing.points[1].value == V(0, 0, 5));
  REQUIRE(rubbing.axes.size() == 2);
  CHECK(rubbing.axes[0].value == V(0, 1, 0));
  const Sketch spring = sketch_of(NonlinearSpring<3>{.ends = {.on_a = V(1, 0, 0), .on_b = V(0, 1, 0)}});
  CHECK(spring.kind == "nonlinear_spring");
  CHECK(spring.points.size() == 2);
  const Sketch rope = sketch_of(Rope<2>{.points = {{0, {0, 1}}, {1, {2, 0}}, {0, {4, 1}}}, .length = 5});
  REQUIRE(rope.points.size() == 3);
  CHECK(rope.points[1].body == 1);
  CHECK(rope.points[2].value == V(4, 1, 0));
  CHECK(sketch_of(Holonomic{[](const auto& a, const auto&) { return a.q[0]; }}).points.empty());
}

TEST_CASE("bodies stand where their coordinates say") {
  Assembly a("a");
  a.add("p", PlanarBody{.mass = 1, .inertia = 1});
  a.add("r", RigidBody{.mass = 1, .inertia = Mat<double, 3>::Identity()});
  a.add("x", Particle<1>{.mass = 1});
  const System system(a);
  State s = system.state();
  s.set("p", {1, 2, pi / 2});
  s.set("r", {1, 2, 3, std::cos(pi / 6), 0, 0, std::sin(pi / 6)});  // by 60 degrees about z
  s.set("x.x", -4);
  const RunTable run = table_of(system, s);
  const Scene scene = scene_of(system, run);
  CHECK_FALSE(scene.planar);
  const auto at = [&](std::size_t i, const V& r) { return *point_at(scene.bodies[i], run, 0, r); };
  CHECK((at(0, {1, 0, 0}) - V(1, 3, 0)).norm() <= round_off);
  CHECK((at(1, {2, 0, 1}) - V(2, 2 + std::sqrt(3.0), 4)).norm() <= round_off);
  CHECK((at(2, {0, 1, 0}) - V(-4, 1, 0)).norm() <= round_off);
}

TEST_CASE("a rigid body is drawn as the box of its inertia, a thin one as a rod") {
  Assembly a("a");
  const Mat<double, 3> turn = Eigen::AngleAxisd(0.7, V(1, 2, 3).normalized()).toRotationMatrix();
  a.add("box", RigidBody::of(Inertia::box(2, {0.3, 0.4, 1}).turned(turn).moved({1, 0, 0})));
  a.add("rod", RigidBody::of(Inertia::rod(2, 1.5, {0, 1, 0})));
  a.add("light", RigidBody{});
  const System system(a);
  const Scene scene = scene_of(system, table_of(system, system.state()));
  const Piece& box = scene.bodies[0].pieces.at(0);
  CHECK(box.type == "box");
  CHECK((box.at - V(1, 0, 0)).norm() <= round_off);
  CHECK((box.size - V(1, 0.4, 0.3)).norm() <= 1e-12);  // eigenvalues to round-off, and a root of their differences
  CHECK(std::abs(std::abs(box.axes.col(0).dot(turn.col(2))) - 1) <= 1e-12);
  CHECK_FALSE(box.outline);
  const Piece& rod = scene.bodies[1].pieces.at(0);
  CHECK(rod.type == "rod");
  CHECK(std::abs(rod.size[1] - rod.size[0] - 1.5) <= 1e-12);  // its round ends stand out
  CHECK(std::abs(std::abs(rod.axes.col(2)[1]) - 1) <= 1e-12);
  CHECK(scene.bodies[2].pieces.at(0).outline);
}

TEST_CASE("planar bodies are links between their joints, and disks, blocks or wheels without") {
  Assembly a("a");
  const auto ground = a.add("ground", Ground{});
  const auto link = a.add("link", PlanarBody{});
  const auto bar = a.add("bar", PlanarBody{.mass = 3, .inertia = 0.25});  // uniform, 1 m
  const auto disk = a.add("disk", PlanarBody{.mass = 2, .inertia = 0.09});
  const auto block = a.add("block", PlanarBody{.mass = 1, .inertia = 0.06});
  const auto wheel = a.add("wheel", PlanarBody{.mass = 1, .inertia = 0.1});
  a.connect("p1", Pin{}, ground, link);
  a.connect("p2", Pin{.on_a = {2, 0}, .on_b = {-0.5, 0}}, link, bar);
  a.connect("p3", Pin{}, ground, disk);
  a.connect("s", Slider{}, ground, block);
  a.connect("roll", RollingWheel{.radius = 0.4}, ground, wheel);
  const System system(a);
  const Scene scene = scene_of(system, table_of(system, system.state()));
  CHECK(scene.planar);
  const auto piece = [&](std::size_t i) -> const Piece& { return scene.bodies[i].pieces.at(0); };
  CHECK(piece(1).type == "plate");
  CHECK(piece(1).corners.size() == 2);
  CHECK(piece(1).outline);
  CHECK(piece(2).type == "plate");
  double reach = 0;
  for (const V& c : piece(2).corners) reach = std::max(reach, c[0]);
  CHECK(std::abs(reach - 0.5) <= round_off);  // as long as its inertia says
  CHECK(piece(3).type == "cylinder");
  CHECK(std::abs(piece(3).size[0] - 0.6) <= round_off);  // J = m r^2 / 2
  CHECK(piece(4).type == "box");
  CHECK(std::abs(piece(4).size[0] - 0.6) <= round_off);  // J = m a^2 / 6
  CHECK(piece(5).type == "cylinder");
  CHECK(piece(5).size[0] == 0.8);
}

TEST_CASE("a page holds the run, shapes and findings, whatever their names are") {
  const Unfinished model;
  const System system(model.a);
  ViewOptions options{.title = "</script><b>&"};
  options.shapes["rod"] = {{.type = "rod", .size = {0.1, 1, 0}, .colour = "</style>"}};
  show_report(options, system, check_rank(system, system.evaluate(system.state())));
  CHECK(options.verdict == "UNDER-MODELLED: 1 free direction");
  REQUIRE(options.highlights.size() == 1);
  CHECK(options.highlights[0].kind == "free");
  CHECK(options.highlights[0].bodies == std::vector<std::string>{"rod"});
  CHECK(options.highlights[0].text.find("rod turns about the point (0, 0)") == 0);
  const std::string page = view_page(system, table_of(system, system.state()), options);
  CHECK(page.find("<title>&lt;/script&gt;&lt;b&gt;&amp;</title>") != page.npos);
  CHECK(page.find("\"title\":\"\\u003c/script\\u003e\\u003cb\\u003e\\u0026\"") != page.npos);
  CHECK(page.find("</style>\"") == page.npos);
  CHECK(page.find("\"motion\":[{\"body\":1,\"change\":[") != page.npos);
  CHECK(page.find("The MIT License") != page.npos);  // of three.js
  CHECK(page.find("src=") == page.npos);             // nothing is loaded from elsewhere
  CHECK(page.find("href=") == page.npos);
}

TEST_CASE("redundant and conflicting rows are findings of their joints") {
  Assembly a("a");
  const auto ground = a.add("ground", Ground{});
  const auto rod = a.add("rod", PlanarBody{.mass = 1, .inertia = 1});
  a.connect("first", Pin{}, ground, rod);
  a.connect("second", Pin{}, ground, rod);
  const System system(a);
  ViewOptions options;
  show_report(options, system, check_rank(system, system.evaluate(system.state())));
  REQUIRE(options.highlights.size() == 2);
  for (const Highlight& h : options.highlights) {
    CHECK(h.kind == "redundant");
    REQUIRE(h.joints.size() == 1);
    CHECK(h.text.find("first, second") != std::string::npos);
  }
}

TEST_CASE("a start that does not meet the joints, and one that cannot, are findings") {
  const auto told = [](double x) {
    Assembly a("a");
    const auto ground = a.add("ground", Ground{});
    const auto rod = a.add("rod", PlanarBody{.mass = 1, .inertia = 1});
    a.place(rod, {0.25, 0, 0});
    a.connect("first", Pin{}, ground, rod);
    a.connect("second", Pin{.on_a = {x, 0}, .on_b = {1, 0}}, ground, rod);
    const System system(a);
    ViewOptions options;
    show_report(options, system, check_model(system, system.state()));
    return options.highlights.back();
  };
  CHECK(told(1).kind == "remark");
  CHECK(told(1).text.starts_with("start: the state does not meet the constraints: first.x is off by "));
  CHECK(told(2).kind == "conflicting");
  CHECK(told(2).joints == std::vector<std::string>{"first", "second"});
}

TEST_CASE("the graph of a model has the colours and texts of its findings, and forces") {
  Assembly a("a");
  const auto ground = a.add("ground", Ground{});
  const auto rod = a.add("rod", PlanarBody{});
  const auto tip = a.add("tip", Particle<2>{.mass = 1});
  a.connect("hinge", Pin{}, ground, rod);
  a.apply("<rubber>", NonlinearSpring<2>{}, rod, tip);
  const System system(a);
  const std::string svg = graph_picture(system, check_rank(system, system.evaluate(system.state())));
  CHECK(count(svg, "<svg ") == 1);
  CHECK(count(svg, "<line ") == 4);              // the hinge and the rubber have two bodies each
  CHECK(count(svg, "stroke=\"#d9780f\"") == 1);  // the rod alone is free
  for (const char* text : {">ground<", ">rod<", ">tip<", ">hinge<", ">&lt;rubber&gt;<", ">free direction<",
                           ">UNDER-MODELLED: 1 free direction<"})
    CHECK_MESSAGE(count(svg, text) == 1, text);
  CHECK(svg.find("rod turns about the point (0, 0)") != svg.npos);
}

TEST_CASE("a page refuses runs of other models, and shapes that cannot be") {
  const Unfinished model;
  const System system(model.a);
  const RunTable run = table_of(system, system.state());
  const RunTable other = parse_csv("t,rod.x,rod.y\n0,1,2\n", "other.csv");
  CHECK(message([&] { view_page(system, other); }) ==
        "column 'rod.theta': 'other.csv' has not recorded it, which moves body 'rod'; record coordinates, and give the "
        "model that was run");
  const auto with = [&](const std::string& body, const ViewShape& shape) {
    return message([&] { view_page(system, run, {.shapes = {{body, {shape}}}}); });
  };
  CHECK(with("rot", {}) == "body 'rot': a shape is given for it, but there is none of this name; did you mean 'rod'?");
  CHECK(with("rod", {.type = "cone"}) ==
        "body 'rod': there is no shape 'cone'; give box, sphere, cylinder, rod, line, mesh or none");
  CHECK(with("rod", {.size = {-1, 1, 1}}).find("sizes > 0") != std::string::npos);
  CHECK(with("rod", {.axis = {0, 0, 0}}).find("length 0") != std::string::npos);
  CHECK(with("rod", {.type = "line"}).find("its line has 0 points") != std::string::npos);
  CHECK(with("rod", {.type = "line", .points = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}}}) == "");
  CHECK(with("rod", {.at = {0, NAN, 0}}).find("not finite") != std::string::npos);
}

TEST_CASE("a page leaves out columns beyond its size, but never what moves bodies") {
  Assembly a("a");
  a.add("p", Particle<2>{.mass = 1});
  const System system(a);
  std::string text = "t [s],p.x [m],p.x' [m/s],p.y [m],e [J]\n";
  for (int i = 0; i < 10; ++i) text += fmt::format("{},1,2,3,4\n", i);
  const RunTable run = parse_csv(text, "run.csv");
  const auto names = [&](std::size_t numbers) {
    const std::string page = view_page(system, run, {.numbers = numbers});
    std::string found;
    for (const char* name : {"t", "p.x", "p.x'", "p.y", "e"})
      if (page.find(fmt::format("{{\"name\":\"{}\",\"unit\"", name)) != page.npos) found += std::string(name) + " ";
    return found;
  };
  CHECK(names(1000) == "t p.x p.x' p.y e ");
  CHECK(names(40) == "t p.x p.y e ");
  CHECK(names(0) == "t p.x p.y ");
  // Numbers stand there to the bit: 1.0 ten times, little-endian.
  const std::array<double, 10> ones{1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  CHECK(view_page(system, run).find(base64(ones.data(), sizeof ones)) != std::string::npos);
}
