// Robots: limits that a run passes, where joints start, controls, keyframes, parts that are added, meshes.

#include <cmath>
#include <cstring>
#include <numbers>

#include <doctest/doctest.h>

#include <mortise/files/limits.h>
#include <mortise/files/mesh.h>
#include <mortise/files/robot.h>
#include <mortise/integrators/start.h>
#include <mortise/solve/solve.h>

#include "models/command.h"

using namespace mortise;

namespace {

constexpr double round_off = 1e-12;

// A wheel of 0.1 kg m^2 about z, without gravity along its turn.
std::string wheel(const std::string& joint, const std::string& more = "") {
  return "<robot name='wheel'><link name='base'/><link name='disk'><inertial><mass value='1'/>"
         "<inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
         "<joint name='axle' type='revolute'><parent link='base'/><child link='disk'/><axis xyz='0 0 1'/>" +
         joint + "</joint>" + more + "</robot>";
}
std::string limits(double lower, double upper) {
  return fmt::format("<limit lower='{}' upper='{}' effort='1' velocity='1'/>", lower, upper);
}
double acceleration(const Model& m, const std::string& name) {
  const System system(m.assembly);
  return solve(system, m.start(system)).acceleration(name);
}
std::string notes(const Trajectory& run) {
  std::string out;
  for (const auto& n : run.notes) out += fmt::format("{:.6g} {}: {}\n", n.t, n.kind, n.text);
  return out;
}

}  // namespace

TEST_CASE("robots: a run tells which limits it passes, and when, beyond a turn too, and is the same to the last bit") {
  // At 4 rad/s the upper limit of 7 rad is passed after 1.75 s.
  Model m = parse_urdf(wheel(limits(-1, 7)), "wheel.urdf", {.joints = {{"axle'", 4}}});
  CHECK(m.limits.at("axle") == std::pair(-1.0, 7.0));
  const System system(m.assembly);
  const auto go = [&](const std::map<std::string, std::pair<double, double>>& given, double duration) {
    SimulationOptions how{.duration = duration};
    const LimitWatch watch(system, given);
    how.events.push_back(watch.event());
    Trajectory run = simulate(system, m.start(system), how);
    const bool told = watch.tell(run);
    CHECK(told == !run.notes.empty());
    return run;
  };
  const Trajectory run = go(m.limits, 2);
  CHECK(notes(run) == "1.75 limit: joint 'axle' passes its upper limit, 7 rad\n");
  CHECK(notes(go(m.limits, 1.7)) == "");
  CHECK(notes(go({{"axle", {1, 2}}}, 0.1)) == "0 limit: joint 'axle' starts at 0 rad, beyond its limits 1 and 2\n");
  const Trajectory plain = simulate(system, m.start(system), {.duration = 2});
  CHECK(plain.last.q == run.last.q);
}

TEST_CASE("robots: one that swings passes a limit again and again, which is told once") {
  const std::string text = wheel("<dynamics damping='0'/>" + limits(-0.3, 2), "");
  const Scratch folder;
  write(folder / "spring.toml",
        "[parameters]\nk = 10\n[forces.spring]\nkind = \"coordinate_force\"\nbodies = [\"axle_angle\"]\n"
        "coordinate = \"q\"\nf = \"-k * a.q\"\n");
  write(folder / "wheel.urdf", text);
  // 10 rad/s: turning points at +-0.5.
  const std::string files = fmt::format("'{0}' --with '{1}'", folder / "wheel.urdf", folder / "spring.toml");
  const Outcome out =
      mortise_command(fmt::format("run {} --set axle=0.5 --until 2 -o '{}'", files, folder / "run.csv"));
  CHECK(out.status == 1);
  CHECK(out.out.find("joint 'axle' passes its lower limit, -0.3 rad, for the first of 3 times") != std::string::npos);
  CHECK(mortise_command(fmt::format("run {} --set axle=0.2 --until 2", files)).status == 0);
  const Outcome converted =
      mortise_command(fmt::format("convert '{}' -o '{}'", folder / "wheel.urdf", folder / "wheel.toml"));
  CHECK(converted.status == 0);
  CHECK(content(folder / "wheel.toml").find("limits = [-0.3, 2]") != std::string::npos);
  CHECK(read_model(folder / "wheel.toml").limits.at("axle") == std::pair(-0.3, 2.0));
}

TEST_CASE("robots: limits that are none, and limits of joints that have none") {
  CHECK(parse_urdf(wheel(limits(0, 0))).limits.empty());
  const Model turned = parse_urdf(wheel(limits(1, -1)));
  CHECK(turned.limits.empty());
  CHECK(turned.remarks ==
        std::vector<std::string>{"joint 'axle': its lower limit 1 is above its upper one -1: not read"});
  CHECK_THROWS_WITH_AS(
      (void)parse_model("[bodies.a]\nkind = \"rigid_body\"\nmass = 1\ninertia = [1, 1, 1]\n"
                        "[joints.j]\nkind = \"weld\"\nbodies = [\"ground\", \"a\"]\nlimits = [0, 1]\n"),
      doctest::Contains("joint 'j' tells no angle and no displacement that could have limits"), ModelError);
}

TEST_CASE("robots: efforts on joints and tables of them") {
  const std::string text = wheel("");
  CHECK(acceleration(parse_urdf(text, "w.urdf", {.controls = {{"axle", 0.3}}}), "axle_angle.q") ==
        doctest::Approx(3).epsilon(round_off));
  const Scratch folder;
  write(folder / "push.csv", "t,axle\n0,0\n1,0.2\n1.5,0.2\n2,0\n");
  const Model m = parse_urdf(text, "w.urdf", {.control_table = folder / "push.csv"});
  const System system(m.assembly);
  for (const auto& [t, torque] : {std::pair(-1.0, 0.0), {0.25, 0.05}, {1.2, 0.2}, {1.75, 0.1}, {5.0, 0.0}}) {
    State s = m.start(system);
    s.t = t;
    CHECK(std::abs(solve(system, s).acceleration("axle_angle.q") - torque / 0.1) < 1e-12);
  }
  CHECK_THROWS_WITH_AS((void)parse_urdf(text, "w.urdf", {.controls = {{"axel", 1}}}),
                       doctest::Contains("no actuator or joint 'axel'; there is axle"), ModelError);
  write(folder / "push.csv", "t,axle\n0,0\n0,1\n");
  CHECK_THROWS_WITH_AS((void)parse_urdf(text, "w.urdf", {.control_table = folder / "push.csv"}),
                       doctest::Contains("push.csv:3:1: its time is not after the one before"), ModelError);
}

TEST_CASE("MJCF: keyframes give joints, balls and free bodies their places, speeds and controls") {
  const std::string text =
      "<mujoco><compiler angle='radian'/><worldbody>"
      "<body name='ship' pos='0 0 9'><freejoint/><inertial pos='0 0 0' mass='2' diaginertia='1 1 1'/>"
      "<body name='arm' pos='1 0 0'><joint name='hinge' axis='0 0 1' ref='0.1' pos='0.5 0 0'/>"
      "<inertial pos='0 0 0' mass='1' diaginertia='0.1 0.1 0.1'/></body></body>"
      "<body name='bob'><joint name='ball' type='ball' pos='0 0 1'/>"
      "<inertial pos='0 0 0' mass='1' diaginertia='0.1 0.1 0.1'/></body></worldbody>"
      "<actuator><motor name='m' joint='hinge' ctrlrange='-1 1'/></actuator><keyframe>"
      "<key name='home' qpos='1 2 3 1 0 0 0 0.4 0.5 0.5 0.5 0.5' qvel='1 0 0 0 0 2 3 0 0 5' ctrl='0.7'/>"
      "<key qpos='1'/></keyframe></mujoco>";
  const Model m = parse_mjcf(text, "k.xml", {.keyframe = "home"});
  CHECK(m.remarks.empty());
  const System system(m.assembly);
  const State s = m.start(system);
  const auto at = [&](const char* body) -> Vec3<double> { return s.get_all(body).head(3); };
  const auto v = [&](const char* body) -> Vec3<double> {
    return {s.get(std::string(body) + ".x'"), s.get(std::string(body) + ".y'"), s.get(std::string(body) + ".z'")};
  };
  CHECK((at("ship") - Vec3<double>(1, 2, 3)).norm() < round_off);
  // The arm turns by 0.3 about a point 1.5 m ahead of the ship.
  const Vec3<double> hinge(2.5, 2, 3), arm = hinge - 0.5 * Vec3<double>(std::cos(0.3), std::sin(0.3), 0);
  CHECK((at("arm") - arm).norm() < round_off);
  const Vec3<double> z(0, 0, 1), of_hinge = Vec3<double>(1, 0, 0) + 2 * z.cross(hinge - at("ship"));
  CHECK((v("arm") - of_hinge - 5 * z.cross(arm - hinge)).norm() < round_off);
  // A third of a turn about (1, 1, 1) brings z to x: the bob hangs from (0, 0, 1) along -x, and turns about its own z.
  CHECK((at("bob") - Vec3<double>(-1, 0, 1)).norm() < round_off);
  CHECK(v("bob").norm() < round_off);
  const State met = consistent(system, s);
  CHECK((met.q - s.q).norm() < 1e-10);
  CHECK((met.v - s.v).norm() < 1e-10);
  // The control, which the motor's range keeps.
  const double with = acceleration(m, "hinge_angle.q"),
               more = acceleration(parse_mjcf(text, "k.xml", {.controls = {{"m", 5}}, .keyframe = "home"}),
                                   "hinge_angle.q"),
               less = acceleration(parse_mjcf(text, "k.xml", {.controls = {{"m", 0.2}}, .keyframe = "home"}),
                                   "hinge_angle.q");
  CHECK((more - less) / 0.8 == doctest::Approx((with - less) / 0.5).epsilon(1e-9));
  CHECK_THROWS_WITH_AS((void)parse_mjcf(text, "k.xml", {.keyframe = "hom"}),
                       doctest::Contains("there is no keyframe 'hom'; there are home, 1"), ModelError);
  CHECK_THROWS_WITH_AS((void)parse_mjcf(text, "k.xml", {.keyframe = "1"}),
                       doctest::Contains("qpos of <key> has 1 number"), ModelError);
  CHECK(parse_mjcf(text, "k.xml").remarks ==
        std::vector<std::string>{"2 keyframes not asked for: home, 1; --keyframe NAME starts there"});
}

TEST_CASE("robots: parts of model files are added, under names of their own") {
  const Scratch folder;
  write(folder / "more.toml",
        "[parameters]\nm = 2\n[bodies.rider]\nkind = \"rigid_body\"\nmass = \"m\"\ninertia = [0.1, 0.1, 0.1]\n"
        "[joints.seat]\nkind = \"weld\"\nbodies = [\"disk\", \"rider\"]\n");
  const RobotOptions both{.joints = {{"axle", 0.2}, {"m", 3}}, .with = {folder / "more.toml"}};
  const Model m = parse_urdf(wheel(""), "w.urdf", both);
  CHECK(m.parameters.at("m") == 3);
  CHECK(System(m.assembly).mass() == 4);
  write(folder / "more.toml", "[bodies.disk]\nkind = \"rigid_body\"\nmass = 1\ninertia = [0.1, 0.1, 0.1]\n");
  CHECK_THROWS_WITH_AS((void)parse_urdf(wheel(""), "w.urdf", {.with = {folder / "more.toml"}}),
                       doctest::Contains("more.toml:1:9: the robot has body 'disk' already"), ModelError);
}

TEST_CASE("meshes: STL of both kinds, OBJ and COLLADA tell the same body") {
  // A box of 1 x 2 x 3 with a corner in the origin, as twelve triangles.
  const std::vector<Vec3<double>> p{{0, 0, 0}, {1, 0, 0}, {1, 2, 0}, {0, 2, 0},
                                    {0, 0, 3}, {1, 0, 3}, {1, 2, 3}, {0, 2, 3}};
  const std::vector<std::array<std::size_t, 4>> faces{{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                                      {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
  std::string ascii = "solid box\n", binary(84, '\0'), obj = "mtllib box.mtl\nusemtl red\n", points, corners, counts;
  for (const auto& x : p) {
    obj += fmt::format("v {} {} {}\n", x[0], x[1], x[2]);
    points += fmt::format("{} {} {} ", x[0], x[1], x[2]);
  }
  std::uint32_t count = 0;
  for (const auto& f : faces) {
    obj += fmt::format("f {}//1 {} -{} {}/2/3\n", f[0] + 1, f[1] + 1, 8 - f[2], f[3] + 1);
    corners += fmt::format("{} {} {} {} ", f[0], f[1], f[2], f[3]);
    counts += "4 ";
    for (const auto& t : {std::array{f[0], f[1], f[2]}, std::array{f[0], f[2], f[3]}}) {
      ++count;
      ascii += "facet normal 0 0 0\nouter loop\n";
      std::array<float, 12> numbers{};
      for (std::size_t k = 0; k < 3; ++k) {
        ascii += fmt::format("vertex {} {} {}\n", p[t[k]][0], p[t[k]][1], p[t[k]][2]);
        for (Index i = 0; i < 3; ++i)
          numbers[3 * (k + 1) + static_cast<std::size_t>(i)] = static_cast<float>(p[t[k]][i]);
      }
      ascii += "endloop\nendfacet\n";
      binary.append(reinterpret_cast<const char*>(numbers.data()), sizeof numbers);
      binary += std::string(2, '\0');
    }
  }
  std::memcpy(binary.data() + 80, &count, sizeof count);
  // In centimetres, moved and turned by nodes, which a matrix undoes.
  const std::string dae =
      "<COLLADA><asset><unit meter='0.01'/></asset><library_effects><effect id='e'><profile_COMMON><technique>"
      "<phong><diffuse><color>1 0 0 1</color></diffuse></phong></technique></profile_COMMON></effect></library_effects>"
      "<library_materials><material id='m'><instance_effect url='#e'/></material></library_materials>"
      "<library_geometries><geometry id='g'><mesh><source id='s'><float_array>" +
      points +
      "</float_array></source><vertices id='v'><input semantic='POSITION' source='#s'/></vertices>"
      "<polylist material='x'><input semantic='VERTEX' source='#v' offset='0'/><vcount>" +
      counts + "</vcount><p>" + corners +
      "</p></polylist></mesh></geometry></library_geometries><library_visual_scenes><visual_scene>"
      "<node><rotate>0 0 1 90</rotate><node><matrix>0 100 0 0 -100 0 0 0 0 0 100 0 0 0 0 1</matrix>"
      "<instance_geometry url='#g'><bind_material><technique_common><instance_material symbol='x' target='#m'/>"
      "</technique_common></bind_material></instance_geometry></node></node></visual_scene></library_visual_scenes>"
      "</COLLADA>";
  const Scratch folder;
  write(folder / "a.stl", ascii + "endsolid\n");
  write(folder / "b.STL", binary);
  write(folder / "c.obj", obj);
  write(folder / "box.mtl", "newmtl red\nKd 1 0 0\n");
  write(folder / "d.dae", dae);
  for (const char* name : {"a.stl", "b.STL", "c.obj", "d.dae"}) {
    CAPTURE(name);
    const files::Mesh mesh = files::read_mesh(folder / name);
    CHECK(mesh.triangles() == 12);
    CHECK(mesh.parts.at(0).points.size() == 8);
    CHECK(mesh.parts.at(0).colour == (name[0] == 'c' || name[0] == 'd' ? "#ff0000" : ""));
    const files::Enclosed body = files::enclosed(mesh, {2, 1, 1});
    CHECK(body.volume == doctest::Approx(12));
    CHECK((body.centre - Vec3<double>(1, 1, 1.5)).norm() < 1e-6);
    CHECK(body.inertia(0, 0) == doctest::Approx(12 * (4 + 9) / 12.0));
    CHECK(body.inertia(2, 2) == doctest::Approx(12 * (4 + 4) / 12.0));
    CHECK(std::abs(body.inertia(0, 1)) < 1e-6);
  }
  for (const auto& [name, text, what] : {std::tuple("x.stl", "solid nothing", "the mesh has no triangles"),
                                         {"x.stl", "", "this is no STL"},
                                         {"x.obj", "v 0 0 0\nf 1 2 3", "corner 2 is none of its 1 points"},
                                         {"x.obj", "v 0 0 nan\n", "is not finite"},
                                         {"x.dae", "<COLLADA", "x.dae:1"},
                                         {"x.blend", "", "meshes of the kind '.blend' are not read"}}) {
    write(folder / name, text);
    CAPTURE(what);
    CHECK_THROWS_WITH_AS((void)files::read_mesh(folder / name), doctest::Contains(what), ModelError);
  }
  write(folder / "x.stl", binary.substr(0, 300));
  CHECK_THROWS_WITH_AS((void)files::read_mesh(folder / "x.stl"), doctest::Contains("ends before its 12 triangles"),
                       ModelError);
}

TEST_CASE("meshes: a surface of many triangles is thinned out, and stays where it was") {
  files::Mesh ball;
  auto& part = ball.parts.emplace_back();
  constexpr std::uint32_t n = 100;
  for (std::uint32_t i = 0; i <= n; ++i)
    for (std::uint32_t k = 0; k < n; ++k) {
      const double a = std::numbers::pi * i / n, b = 2 * std::numbers::pi * k / n;
      part.points.emplace_back(std::sin(a) * std::cos(b), std::sin(a) * std::sin(b), std::cos(a));
      if (i == n) continue;
      const std::uint32_t next = (k + 1) % n;
      part.triangles.push_back({i * n + k, (i + 1) * n + k, (i + 1) * n + next});
      part.triangles.push_back({i * n + k, (i + 1) * n + next, i * n + next});
    }
  const files::Mesh thin = files::thinned(ball, 2000);
  CHECK(thin.triangles() <= 2000);
  CHECK(thin.triangles() > 1000);
  const double volume = files::enclosed(thin, {1, 1, 1}).volume;
  CHECK(volume == doctest::Approx(4 * std::numbers::pi / 3).epsilon(0.05));
  CHECK(files::thinned(ball, 1'000'000).triangles() == ball.triangles());
}

TEST_CASE("robots: the page of one holds its meshes, once each, by package") {
  const Scratch folder;
  fs::create_directories(folder.path / "pack" / "meshes");
  write(folder / "pack/meshes/tri.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  const std::string visual = "<visual><geometry><mesh filename='package://pack/meshes/{}.obj'/></geometry></visual>";
  std::string text = wheel("");
  const auto at = text.find("<inertial>");
  text.insert(at, fmt::format(fmt::runtime(visual + visual + visual), "tri", "tri", "gone"));
  fs::create_directories(folder.path / "robot");
  write(folder / "robot/wheel.urdf", text);
  const std::string common =
      fmt::format("view --model '{}' -o '{}'", folder / "robot/wheel.urdf", folder / "page.html");
  const auto count = [&] {
    const std::string page = content(folder / "page.html");
    std::size_t n = 0;
    for (std::size_t i = 0; (i = page.find("\"corners\":\"", i)) != std::string::npos; ++i) ++n;
    return n;
  };
  const Outcome out = mortise_command(common + fmt::format(" --package-path '{}'", folder.path.string()));
  CHECK(out.status == 0);
  CHECK(out.err.find("1 file of meshes not found, such as 'package://pack/meshes/gone.obj'") != std::string::npos);
  CHECK(count() == 1);
}

TEST_CASE("robots: links with moments of no body are told, and a fix gives them the nearest ones") {
  const Scratch folder;
  std::string text = wheel("");
  const auto at = text.find("izz='0.1'");
  write(folder / "wheel.urdf", text.replace(at, 9, "izz='0.5'"));
  const Outcome told = mortise_command(fmt::format("check '{}'", folder / "wheel.urdf"));
  CHECK(told.status == 4);
  CHECK(told.out.find("1  give link 'disk' the nearest moments that a body can have (all well, DOF 1)") !=
        std::string::npos);
  const Outcome mended =
      mortise_command(fmt::format("check '{}' --fix 1 -o '{}'", folder / "wheel.urdf", folder / "wheel.toml"));
  CHECK(mended.status == 0);
  CHECK(mortise_command(fmt::format("check '{}'", folder / "wheel.toml")).status == 0);
  const Model m = parse_urdf(text, "wheel.urdf", {.mend = true});
  CHECK(m.remarks ==
        std::vector<std::string>{"link 'disk': principal moments 0.1, 0.1 and 0.5 kg m^2 became 0.25, 0.25 and 0.5"});
}

TEST_CASE("robots: a joint goes along its range, and loops and mimics follow") {
  // A parallelogram of 1 m: its coupler keeps its direction, the other arm turns as the first one.
  const auto hinge = [](const char* name, const char* parent, const char* child, const char* at,
                        const char* more = "") {
    return fmt::format(
        "<joint name='{}' type='revolute'><parent link='{}'/><child link='{}'/><origin xyz='{}'/><axis xyz='0 1 0'/>{}"
        "</joint>",
        name, parent, child, at, more);
  };
  std::string text = "<robot name='loop'>";
  for (const char* name : {"base", "left", "rod", "right", "flag"}) text += fmt::format("<link name='{}'/>", name);
  text += hinge("a", "base", "left", "0 0 0", "<limit lower='-1' upper='0.5' effort='1' velocity='1'/>") +
          hinge("b", "left", "rod", "0 0 1") + hinge("c", "base", "right", "1 0 0") +
          hinge("f", "base", "flag", "0 0 2", "<mimic joint='a' multiplier='-2'/>") +
          "<loop name='d' type='revolute'><predecessor link='rod'><origin xyz='1 0 0'/></predecessor>"
          "<successor link='right'><origin xyz='0 0 1'/></successor><axis xyz='0 1 0'/></loop></robot>";
  const Scratch folder;
  write(folder / "loop.urdf", text);
  const std::vector<JointMotion> all = joint_motions(folder / "loop.urdf");
  REQUIRE(all.size() == 3);  // the flag follows
  const JointMotion& a = all[0].joint == "a" ? all[0] : all[1].joint == "a" ? all[1] : all[2];
  CHECK(a.positions.front() == doctest::Approx(-1));
  CHECK(a.positions.back() == doctest::Approx(0.5));
  CHECK(a.positions.size() > 30);
  REQUIRE(a.bodies == std::vector<std::string>{"left", "rod", "right", "flag"});
  for (std::size_t i = 0; i < a.positions.size(); ++i) {
    const std::vector<float>& p = a.poses[i];
    const double x = a.positions[i];
    CHECK(p[7] == doctest::Approx(std::sin(x)).epsilon(1e-5));                           // the rod's end
    CHECK(std::abs(p[12]) < 1e-5);                                                       // it does not turn
    CHECK(std::abs(p[19]) == doctest::Approx(std::abs(std::sin(x / 2))).epsilon(1e-5));  // the right arm
    CHECK(std::abs(p[26]) == doctest::Approx(std::abs(std::sin(x))).epsilon(1e-5));      // the flag, twice as far
  }
  CHECK(mortise_command(fmt::format("view --model '{0}' -o '{0}.html'", folder / "loop.urdf")).status == 0);
  CHECK(content(folder / "loop.urdf.html").find("\"sliders\":[{\"joint\":\"a\",\"unit\":\"rad\"") != std::string::npos);
}
