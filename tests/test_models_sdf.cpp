// Robots from SDF: against the same from URDF, against closed forms; poses by frames, nested models, loops, faults.

#include <cmath>
#include <numbers>

#include <doctest/doctest.h>

#include <mortise/diagnosis/rank_report.h>
#include <mortise/files/robot_description.h>
#include <mortise/integrators/start.h>
#include <mortise/solve/solve.h>

#include "models/command.h"

using namespace mortise;
using files::Robot;
using files::RobotJoint;

namespace {

constexpr double round_off = 1e-12;
constexpr double g = 9.8;  // SDF's own

std::string inertial(double mass, double xx, double yy, double zz, const std::string& pose = "0 0 0 0 0 0") {
  return fmt::format(
      "<inertial><pose>{}</pose><mass>{}</mass><inertia><ixx>{}</ixx><iyy>{}</iyy><izz>{}</izz></inertia>"
      "</inertial>",
      pose, mass, xx, yy, zz);
}
std::string link(const std::string& name, const std::string& pose, const std::string& inside) {
  return fmt::format("<link name='{}'>{}{}</link>\n", name, pose, inside);
}
std::string joint(const std::string& name, const std::string& type, const std::string& parent, const std::string& child,
                  const std::string& inside) {
  return fmt::format("<joint name='{}' type='{}'><parent>{}</parent><child>{}</child>{}</joint>\n", name, type, parent,
                     child, inside);
}
std::string axis(const std::string& xyz, const std::string& more = "", const char* name = "axis") {
  return fmt::format("<{0}><xyz>{1}</xyz>{2}</{0}>", name, xyz, more);
}
std::string model(const std::string& inside, const std::string& more = "") {
  return "<sdf version='1.9'><model name='robot'" + more + ">\n" + inside + "</model></sdf>";
}
std::string all(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& l : lines) out += l + "\n";
  return out;
}

}  // namespace

TEST_CASE("SDF: an arm has the accelerations of the same arm in URDF, also where its poses are told in frames") {
  const std::string urdf =
      "<robot name='robot'><link name='base'/>"
      "<link name='upper'><inertial><origin xyz='0 0 -0.3' rpy='0.1 0.2 0.3'/><mass value='2'/>"
      "<inertia ixx='0.1' iyy='0.12' izz='0.04' ixy='0' ixz='0' iyz='0'/></inertial></link>"
      "<link name='lower'><inertial><origin xyz='0.05 0 -0.2'/><mass value='1'/>"
      "<inertia ixx='0.05' iyy='0.05' izz='0.01' ixy='0' ixz='0' iyz='0'/></inertial></link>"
      "<joint name='shoulder' type='continuous'><parent link='base'/><child link='upper'/>"
      "<origin xyz='0 0 1' rpy='0.3 0 0.2'/><axis xyz='0 2 0'/><dynamics damping='0.7' friction='0.1'/></joint>"
      "<joint name='slide' type='prismatic'><parent link='upper'/><child link='lower'/>"
      "<origin xyz='0 0.1 -0.6' rpy='0 0.4 0'/><axis xyz='0 1 0.5'/></joint></robot>";
  const std::string base = link("base", "", inertial(1, 1, 1, 1)) + joint("fix", "fixed", "world", "base", "");
  const std::string upper = inertial(2, 0.1, 0.12, 0.04, "0 0 -0.3 0.1 0.2 0.3"),
                    lower = inertial(1, 0.05, 0.05, 0.01, "0.05 0 -0.2 0 0 0");
  const std::string dynamics = "<dynamics><damping>0.7</damping><friction>0.1</friction></dynamics>";
  // As a converter writes it: joints placed in links, links in joints.
  const std::string by_joints = base + link("upper", "<pose relative_to='shoulder'/>", upper) +
                                link("lower", "<pose relative_to='slide'>0 0 0 0 0 0</pose>", lower) +
                                joint("shoulder", "revolute", "base", "upper",
                                      "<pose relative_to='base'>0 0 1 0.3 0 0.2</pose>" + axis("0 2 0", dynamics)) +
                                joint("slide", "prismatic", "upper", "lower",
                                      "<pose relative_to='upper'>0 0.1 -0.6 0 0.4 0</pose>" + axis("0 1 0.5"));
  // By frames, with an axis that is told in one of them, and angles in degrees.
  const std::string by_frames =
      base + "<frame name='mount' attached_to='base'><pose>0 0 1 0 0 0</pose></frame>" +
      "<frame name='turned' attached_to='mount'><pose degrees='true'>0 0 0 17.188733853924695 0 "
      "11.459155902616464</pose>"
      "</frame><frame name='plain' attached_to='upper'><pose relative_to='turned'>0 0.1 -0.6 0 0 0</pose></frame>" +
      link("upper", "<pose relative_to='turned'/>", upper) +
      link("lower", "<pose relative_to='plain'>0 0 0 0 0.4 0</pose>", lower) +
      joint("shoulder", "revolute", "base", "upper", axis("0 2 0", dynamics)) +
      joint("slide", "prismatic", "plain", "lower",
            fmt::format("<axis><xyz expressed_in='plain'>{} 1 {}</xyz></axis>", 0.5 * std::sin(0.4),
                        0.5 * std::cos(0.4)));
  const RobotOptions start{.joints = {{"shoulder", 0.6}, {"slide", 0.2}}};
  Model expected = parse_urdf(urdf, "arm.urdf", start);
  expected.assembly.set_gravity({0, 0, -g});
  expected.settings = {{"shoulder_angle.q'", 1.5}};
  for (const std::string& text : {by_joints, by_frames}) {
    Model m = parse_sdf(model(text), "arm.sdf", start);
    CHECK(m.remarks.empty());
    m.settings = expected.settings;
    const System one(expected.assembly), two(m.assembly);
    const State s = consistent(one, expected.start(one)), t = consistent(two, m.start(two));
    REQUIRE(s.q.size() == t.q.size());
    CHECK((s.q - t.q).norm() < round_off);
    const VectorXd a = solve(one, s).a;
    CHECK((a - solve(two, t).a).norm() < 1e-11 * a.norm());
  }
}

TEST_CASE("SDF: a screw advances by its pitch, in both ways of giving it") {
  const double m = 2, J = 0.05, pitch = 0.3, h = pitch / (2 * std::numbers::pi);
  for (const std::string& given : {fmt::format("<screw_thread_pitch>{}</screw_thread_pitch>", pitch),
                                   fmt::format("<thread_pitch>{}</thread_pitch>", -1 / h)}) {
    const Model nut = parse_sdf(
        model(link("nut", "", inertial(m, J, J, J)) + joint("thread", "screw", "world", "nut", axis("0 0 1") + given)),
        "nut.sdf", {.joints = {{"thread", 2 * std::numbers::pi + 0.4}}});
    const System system(nut.assembly);
    const State s = nut.start(system);
    CHECK(s.get("nut.z") == doctest::Approx(h * (2 * std::numbers::pi + 0.4)).epsilon(round_off));
    CHECK(solve(system, s).acceleration("nut.z") ==
          doctest::Approx(-h * h * m * g / (J + m * h * h)).epsilon(round_off));
  }
}

TEST_CASE("SDF: a gearbox holds the ratio of two turns about axes of its reference body") {
  // The first wheel carries a weight aside; the second one, about a crossing axis, has the moment J2 about it.
  const double m = 1.5, l = 0.2, J1 = 0.1, J2 = 0.03, ratio = 3;
  const std::string text =
      link("frame", "", inertial(1, 1, 1, 1)) + joint("fix", "fixed", "world", "frame", "") +
      link("one", "", inertial(m, J1, J1, J1, fmt::format("{} 0 0 0 0 0", l))) +
      link("two", "<pose>0 0 1 0 0 0</pose>", inertial(1, J2, J2, J2)) +
      joint("axle_1", "revolute", "frame", "one", axis("0 1 0")) +
      joint("axle_2", "revolute", "frame", "two", axis("1 0 0")) +
      joint("gears", "gearbox", "one", "two",
            axis("0 1 0") + axis("1 0 0", "", "axis2") +
                fmt::format("<gearbox_ratio>{}</gearbox_ratio><gearbox_reference_body>frame</gearbox_reference_body>",
                            ratio));
  const Model gears = parse_sdf(model(text), "gears.sdf");
  CHECK(gears.remarks.empty());
  const System system(gears.assembly);
  const State s = gears.start(system);
  const RankReport report = check_model(system, s);
  CHECK(report.determined());
  CHECK(report.dof == 1);
  const Solution solution = solve(system, s);
  const double a = m * g * l / (J1 + m * l * l + ratio * ratio * J2);  // turning towards -z is positive about y
  CHECK(solution.acceleration("gears_angle.q") == doctest::Approx(a).epsilon(round_off));
  CHECK(solution.acceleration("gears_2_angle.q") == doctest::Approx(-ratio * a).epsilon(round_off));
  CHECK(solution.acceleration("two.u1") == doctest::Approx(-ratio * a / 2).epsilon(round_off));
}

TEST_CASE("SDF: balls, universal joints and two hinges in a row let turn what they should") {
  const double m = 1.5, l = 0.4, J = 0.03;
  const std::string bob = link("bob", fmt::format("<pose>{} 0 0 0 0 0</pose>", l), inertial(m, J, J, J));
  const std::string at_origin = fmt::format("<pose>{} 0 0 0 0 0</pose>", -l);
  const double fall = -m * g * l * l / (J + m * l * l);
  for (const auto& [type, axes, dof] : {std::tuple{"ball", std::string(), 3},
                                        {"universal", axis("0 0 1") + axis("0 1 0", "", "axis2"), 2},
                                        {"revolute2", axis("0 0 1") + axis("0 1 0.5", "", "axis2"), 2},
                                        {"revolute", axis("0 1 0"), 1},
                                        {"fixed", std::string(), 0}}) {
    CAPTURE(type);
    const Model pendulum = parse_sdf(model(bob + joint("j", type, "world", "bob", at_origin + axes)));
    const System system(pendulum.assembly);
    const State s = pendulum.start(system);
    const RankReport report = check_model(system, s);
    CHECK(report.determined());
    CHECK(report.dof == dof);
    const Solution solution = solve(system, s);
    CHECK(solution.acceleration("bob.z") == doctest::Approx(dof == 0 ? 0 : fall).epsilon(round_off));
  }
  // The second angle of a universal joint has a spring, a damper, and a name to set it by.
  const std::string spring =
      "<dynamics><spring_stiffness>7</spring_stiffness><spring_reference>0.1</spring_reference></dynamics>";
  const Model sprung = parse_sdf(
      model(bob + joint("j", "universal", "world", "bob", at_origin + axis("0 0 1") + axis("0 1 0", spring, "axis2"))),
      "u.sdf", {.joints = {{"j_2", -0.5}}});
  const System system(sprung.assembly);
  const double effort = m * g * l * std::cos(-0.5) - 7 * (-0.5 - 0.1);
  CHECK(solve(system, sprung.start(system)).acceleration("j_2_angle.q") ==
        doctest::Approx(effort / (J + m * l * l)).epsilon(round_off));
}

TEST_CASE("SDF: a joint to the world as its child turns the same way") {
  const std::string bob = link("bob", "<pose>0.4 0 0 0 0 0</pose>", inertial(1, 0.1, 0.1, 0.1));
  const auto z = [&](const char* parent, const char* child, const char* pose, double angle) {
    const Model m = parse_sdf(model(bob + joint("j", "revolute", parent, child, pose + axis("0 1 0"))), "r.sdf",
                              {.joints = {{"j", angle}}});
    const System system(m.assembly);
    return m.start(system).get("bob.z");
  };
  const double down = z("world", "bob", "<pose>-0.4 0 0 0 0 0</pose>", 0.3);
  CHECK(down == doctest::Approx(-0.4 * std::sin(0.3)).epsilon(round_off));
  CHECK(z("bob", "world", "<pose relative_to='world'/>", 0.3) == doctest::Approx(-down).epsilon(round_off));
}

TEST_CASE("SDF: models in models, placed by their frames, and joints between them") {
  const std::string wheel =
      "<model name='wheel' placement_frame='hub'><pose relative_to='arm_end'>0 0 0.1 0 0 0</pose>"
      "<link name='disk'><pose>1 2 3 0 0 0</pose>" +
      inertial(1, 0.1, 0.1, 0.1) +
      "</link><frame name='hub' attached_to='disk'><pose>0 0 0.5 0 0 0</pose></frame></model>";
  const std::string text =
      "<sdf version='1.9'><world name='hall'><gravity>0 0 -2</gravity>"
      "<model name='robot'><pose>0 0 10 0 0 1.5707963267948966</pose>" +
      link("arm", "<pose>1 0 0 0 0 0</pose>", inertial(1, 0.1, 0.1, 0.1)) +
      "<frame name='arm_end' attached_to='arm'><pose>1 0 0 0 0 0</pose></frame>" + wheel +
      joint("axle", "revolute", "arm", "wheel::disk", axis("0 0 1")) + "</model>" +
      "<model name='post'><static>true</static>" + link("stone", "", inertial(5, 1, 1, 1)) +
      "</model><joint name='tie' type='fixed'><parent>post::stone</parent>"
      "<child>robot::arm</child></joint></world></sdf>";
  const Model hall = parse_sdf(text, "hall.world");
  CHECK(all(hall.remarks) == "");
  const System system(hall.assembly);
  const State s = hall.start(system);
  const auto at = [&](const std::string& body) -> Vec3<double> { return s.get_all(body).head(3); };
  // The model is turned left: its x is the world's y.
  CHECK((at("robot::arm") - Vec3<double>(0, 1, 10)).norm() < round_off);
  CHECK((at("robot::wheel::disk") - Vec3<double>(0, 2, 9.6)).norm() < round_off);
  CHECK((at("post::stone")).norm() < round_off);
  const RankReport report = check_model(system, s);
  CHECK(report.dof == 1);
  CHECK(hall.assembly.gravity()->z() == -2);
}

TEST_CASE("SDF: loops are read as they stand, also where every link is a child") {
  const std::string one = inertial(1, 0.1, 0.1, 0.1);
  const std::string hinge = axis("0 1 0");
  const std::string links = link("a", "", one) + link("b", "<pose>0 0 1 0 0 0</pose>", one) +
                            link("c", "<pose>1 0 1 0 0 0</pose>", one) + link("d", "<pose>1 0 0 0 0 0</pose>", one);
  const std::string circle = joint("1", "revolute", "a", "b", hinge) + joint("2", "revolute", "b", "c", hinge) +
                             joint("3", "revolute", "c", "d", hinge) + joint("4", "revolute", "d", "a", hinge);
  for (const auto& [base, dof] : {std::pair{std::string(), 7}, {joint("0", "fixed", "world", "a", ""), 1}}) {
    const Model square = parse_sdf(model(links + circle + base));
    CHECK(all(square.remarks) == "");
    const System system(square.assembly);
    const RankReport report = check_model(system, square.start(system));
    CHECK(report.determined());
    CHECK(report.dof == dof);
  }
  const Model turned =
      parse_sdf(model(links + circle + joint("0", "fixed", "world", "a", "")), "s.sdf", {.joints = {{"1", 0.3}}});
  const System system(turned.assembly);
  const RankReport report = check_model(system, turned.start(system));
  CHECK((!report.start || report.start->reachable));
}

TEST_CASE("SDF: defaults, what gravity does not act on, the ratio of two joints") {
  const std::string text =
      link("a", "", "") + link("b", "<pose>1 0 0 0 0 0</pose>", "<gravity>false</gravity>" + inertial(2, 1, 1, 1)) +
      link("c", "<pose>0 1 0 0 0 0</pose>", inertial(2, 1, 1, 1)) +
      joint("x", "prismatic", "world", "a", axis("1 0 0")) +
      joint("y", "prismatic", "world", "c",
            axis("0 0 1",
                 "<mimic joint='x'><multiplier>2</multiplier><reference>0.5</reference><offset>0.1</offset>"
                 "</mimic>"));
  const Model m = parse_sdf(model(text), "m.sdf", {.joints = {{"x", 0.7}}});
  CHECK(all(m.remarks) == "1 link without <inertial> (first in line 2): 1 kg and 1 kg m^2 each, as SDF has it\n");
  const System system(m.assembly);
  const State s = m.start(system);
  CHECK(s.get("c.z") == doctest::Approx(2 * (0.7 - 0.5) + 0.1).epsilon(round_off));
  const Solution solution = solve(system, s);
  CHECK(std::abs(solution.acceleration("b.z")) < round_off);
  CHECK(solution.acceleration("a.x") == doctest::Approx(-2 * 2 * g / (1 + 4 * 2)).epsilon(round_off));
}

TEST_CASE("SDF: all faults at once, with their lines") {
  const std::string text =
      model(link("a", "<pose>1 2 three 0 0 0</pose>", inertial(1, 1, 1, 1)) + link("b", "<pose relative_to='c'/>", "") +
            link("c", "<pose relative_to='b'/>", "") + joint("one", "revolte", "a", "b", "") +
            joint("two", "revolute", "a", "bb", "") + joint("three", "revolute", "a", "c", ""));
  try {
    (void)parse_sdf(text, "bad.sdf");
    FAIL("no fault was found");
  } catch (const ModelError& error) {
    const std::string told = error.what();
    for (const char* expected :
         {"bad.sdf:2:1: <pose>: 'three' is not a number", "its pose is told in itself, by way of others",
          "bad.sdf:5:1: joint 'one': there is no type 'revolte'; did you mean 'revolute'?",
          "bad.sdf:6:1: there is no link, joint, frame or model 'bb'"}) {
      CAPTURE(told);
      CHECK(told.find(expected) != std::string::npos);
    }
    CHECK(error.rest());
  }
  CHECK_THROWS_WITH_AS((void)parse_sdf("<sdf version='1.6'><world name='w'/></sdf>"), doctest::Contains("has no link"),
                       ModelError);
  CHECK_THROWS_WITH_AS((void)parse_sdf("<robot/>"),
                       "robot.sdf:1:1: <robot> is no model of SDF; its first element is <sdf>", ModelError);
}

TEST_CASE("SDF: models of other files beside it are taken in, and what is not there is told") {
  const Scratch folder;
  fs::create_directories(folder.path / "wheel");
  write(folder / "wheel/model.sdf",
        "<sdf version='1.9'><model name='w'><link name='disk'>" + inertial(1, 1, 1, 1) + "</link></model></sdf>");
  write(folder / "wheel/model.config", "<model><sdf version='1.9'>model.sdf</sdf></model>");
  write(folder / "cart.sdf",
        model(link("body", "", inertial(1, 1, 1, 1)) +
              "<include><uri>model://wheel</uri><name>left</name><pose>0 1 0 0 0 0</pose></include>"
              "<include><uri>model://wheel</uri><name>right</name><pose>0 -1 0 0 0 0</pose></include>"
              "<include><uri>model://nothing</uri></include>" +
              joint("l", "revolute", "body", "left::disk", axis("0 1 0")) +
              joint("r", "revolute", "body", "right::disk", axis("0 1 0"))));
  const Model cart = read_model(folder / "cart.sdf");
  CHECK(all(cart.remarks) == "not read: <include> of 'model://nothing' (line 3), which is not in this folder\n");
  const System system(cart.assembly);
  CHECK(cart.start(system).get("right::disk.y") == -1);
  CHECK(check_model(system, cart.start(system)).dof == 8);
  write(folder / "wheel/model.sdf",
        "<sdf version='1.9'><model name='w'><include><uri>model://wheel</uri></include>"
        "<include><uri>model://wheel</uri></include></model></sdf>");
  CHECK_THROWS_WITH_AS((void)read_model(folder / "cart.sdf"), doctest::Contains("files are included"), ModelError);
}
