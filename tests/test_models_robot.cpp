// Robots from URDF: against models written by hand, against recursive Newton-Euler, faults by line, loops, remarks.

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numbers>
#include <random>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/bodies/subsystem.h>
#include <mortise/core/file.h>
#include <mortise/diagnosis/rank_report.h>
#include <mortise/files/robot_description.h>
#include <mortise/integrators/start.h>
#include <mortise/joints/angle_coordinate.h>
#include <mortise/joints/displacement_coordinate.h>
#include <mortise/joints/revolute.h>
#include <mortise/solve/solve.h>

#include "dense.h"
#include "models/command.h"

using namespace mortise;
using files::Frame;
using files::Robot;
using files::RobotJoint;
using files::RobotLink;

namespace {

std::string inertial(double mass, const std::string& origin, double xx, double yy, double zz, double xy = 0) {
  return fmt::format(
      "<inertial>{}<mass value='{}'/><inertia ixx='{}' iyy='{}' izz='{}' ixy='{}' ixz='0' iyz='0'/></inertial>", origin,
      mass, xx, yy, zz, xy);
}

// Two rods, hinges about y, a tool welded to the second, a gripper of two fingers that mimic each other.
std::string arm() {
  return "<robot name='arm'>\n"
         "<link name='base'/>\n"
         "<link name='upper'>" +
         inertial(2, "<origin xyz='0 0 -0.3' rpy='0.1 0.2 0.3'/>", 0.1, 0.12, 0.04, 0.01) +
         "</link>\n"
         "<link name='lower'>" +
         inertial(1, "<origin xyz='0.05 0 -0.2'/>", 0.05, 0.05, 0.01) +
         "</link>\n"
         "<link name='tool'>" +
         inertial(0.5, "<origin xyz='0 0.01 0.02' rpy='0 0 1'/>", 0.002, 0.003, 0.004) +
         "</link>\n"
         "<link name='left'>" +
         inertial(0.1, "", 1e-4, 1e-4, 1e-4) +
         "</link>\n"
         "<link name='right'>" +
         inertial(0.1, "", 1e-4, 1e-4, 1e-4) +
         "</link>\n"
         "<joint name='shoulder' type='continuous'><parent link='base'/><child link='upper'/>"
         "<origin xyz='0 0 1' rpy='0.3 0 0.2'/><axis xyz='0 2 0'/></joint>\n"
         "<joint name='elbow' type='revolute'><parent link='upper'/><child link='lower'/>"
         "<origin xyz='0 0.1 -0.6' rpy='0 0.4 0'/><axis xyz='0 1 0.5'/>"
         "<limit lower='-2' upper='2' effort='10' velocity='3'/></joint>\n"
         "<joint name='mount' type='fixed'><parent link='lower'/><child link='tool'/>"
         "<origin xyz='0 0 -0.4' rpy='0 1 0.5'/></joint>\n"
         "<joint name='left_joint' type='prismatic'><parent link='tool'/><child link='left'/>"
         "<origin xyz='0 0.05 0'/><axis xyz='0 1 0'/><limit lower='0' upper='0.04' effort='1' velocity='1'/></joint>\n"
         "<joint name='right_joint' type='prismatic'><parent link='tool'/><child link='right'/>"
         "<origin xyz='0 -0.05 0'/><axis xyz='0 -1 0'/><limit lower='0' upper='0.04' effort='1' velocity='1'/>"
         "MIMIC</joint>\n"
         "</robot>\n";
}
std::string with(std::string text, const std::string& what, const std::string& instead) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), instead);
}
std::string tree() { return with(arm(), "MIMIC", ""); }

// ---- an independent computation: the torques of given joint accelerations, by recursive Newton-Euler in world axes
struct Way {
  Frame place;
  Vec3<double> v{0, 0, 0}, w{0, 0, 0};      // of the origin
  Vec3<double> a{0, 0, 0}, alpha{0, 0, 0};  // likewise
};
using Numbers = std::map<std::string, double>;

struct NewtonEuler {
  const Robot& robot;
  std::map<std::string, Way> ways;
  std::map<std::string, const RobotJoint*> above;  // of a link

  explicit NewtonEuler(const Robot& r) : robot(r) {
    for (const RobotJoint& j : r.joints) above[j.child] = &j;
  }

  // Positions, rates and accelerations of the joints; those that are not named are 0.
  void move(const Numbers& q, const Numbers& v, const Numbers& a) {
    ways.clear();
    for (const RobotLink& l : robot.links) way(l.name, q, v, a);
  }
  const Way& way(const std::string& link, const Numbers& q, const Numbers& v, const Numbers& a) {
    if (const auto it = ways.find(link); it != ways.end()) return it->second;
    const auto at = [](const Numbers& x, const std::string& name) {
      const auto it = x.find(name);
      return it == x.end() ? 0.0 : it->second;
    };
    Way out;
    if (const auto it = above.find(link); it != above.end()) {
      const RobotJoint& j = *it->second;
      const Way from = way(j.parent, q, v, a);
      const Frame joint = from.place * j.on_parent;
      const Vec3<double> z = joint.R * j.axis.normalized();
      const double x = at(q, j.name), dx = at(v, j.name), ddx = at(a, j.name);
      const bool slides = j.kind == RobotJoint::Kind::prismatic;
      const Frame moved =
          joint * (slides ? Frame{x * j.axis.normalized(), Mat<double, 3>::Identity()}
                          : Frame{{0, 0, 0}, Eigen::AngleAxisd(x, j.axis.normalized()).toRotationMatrix()});
      out.place = moved * j.on_child.inverse();
      // To the frame of the joint with the parent, from there to the link with the child.
      const Vec3<double> r = moved.at - from.place.at, p = out.place.at - moved.at;
      out.w = from.w, out.alpha = from.alpha;
      out.v = from.v + from.w.cross(r);
      out.a = from.a + from.alpha.cross(r) + from.w.cross(from.w.cross(r));
      if (slides) {
        out.v += dx * z;
        out.a += ddx * z + 2 * dx * from.w.cross(z);
      } else if (j.kind == RobotJoint::Kind::revolute) {
        out.w += dx * z;
        out.alpha += ddx * z + dx * from.w.cross(z);
      }
      out.v += out.w.cross(p);
      out.a += out.alpha.cross(p) + out.w.cross(out.w.cross(p));
    }
    return ways[link] = out;
  }
  // Of every joint that moves, about or along its axis.
  Numbers efforts(const Vec3<double>& gravity) const {
    std::map<std::string, std::pair<Vec3<double>, Vec3<double>>> load;  // force, moment about the origin of the world
    for (const RobotLink& l : robot.links) {
      const Way& x = ways.at(l.name);
      const Vec3<double> arm = x.place.R * l.centre, c = x.place.at + arm;
      const Vec3<double> acceleration = x.a + x.alpha.cross(arm) + x.w.cross(x.w.cross(arm));
      const Mat<double, 3> J = x.place.R * l.inertia * x.place.R.transpose();
      const Vec3<double> f = l.mass * (acceleration - gravity), m = J * x.alpha + x.w.cross(J * x.w) + c.cross(f);
      for (std::string name = l.name; !name.empty();) {
        auto& [force, moment] = load.try_emplace(name, Vec3<double>::Zero(), Vec3<double>::Zero()).first->second;
        force += f, moment += m;
        const auto it = above.find(name);
        name = it == above.end() ? "" : it->second->parent;
      }
    }
    Numbers out;
    for (const RobotJoint& j : robot.joints) {
      if (!j.has_coordinate()) continue;
      const Way& parent = ways.at(j.parent);
      const Frame joint = parent.place * j.on_parent;
      const Vec3<double> z = joint.R * j.axis.normalized();
      const auto& [f, m] = load.at(j.child);
      out[j.name] = j.kind == RobotJoint::Kind::prismatic ? z.dot(f) : z.dot(m - joint.at.cross(f));
    }
    return out;
  }
};

// The state of the model that goes with the rates of the joints.
State state_of(const System& system, const Model& model, const NewtonEuler& tree) {
  State s = model.start(system);
  for (const auto& [name, way] : tree.ways) {
    if (name.empty()) continue;  // the world
    const Vec<double, 7> q = s.get_all(name);
    s.v.segment<7>(s.names->find(name).first) = RigidBody::rates(q, way.v, way.place.R.transpose() * way.w);
  }
  return s;
}

Numbers random_numbers(const Robot& robot, unsigned seed, double size) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal(0, size);
  Numbers out;
  for (const RobotJoint& j : robot.joints) {
    const double x = normal(generator);
    if (j.has_coordinate()) out[j.name] = j.kind == RobotJoint::Kind::prismatic ? 0.1 * x : x;
  }
  return out;
}

// The accelerations of the joints, by coordinates that are added to the model for that.
Numbers joint_accelerations(Model& model, const Robot& robot, const Numbers& q, const NewtonEuler& at) {
  Assembly& a = model.assembly;
  std::map<std::string, std::string> names;
  for (const RobotJoint& j : robot.joints) {
    if (!j.has_coordinate()) continue;
    const std::string name = "test_" + j.name;
    names[j.name] = name;
    const auto parent = a.body<RigidBody>(j.parent), child = a.body<RigidBody>(j.child);
    const auto c = a.add(name, Subsystem{.coordinates = {"q"}, .M = MatrixXd::Zero(1, 1).eval()});
    a.place(c, VectorXd::Constant(1, q.at(j.name)));
    const Vec3<double> z = j.axis.normalized(), x = Axis(z).across_1;
    if (j.kind == RobotJoint::Kind::prismatic)
      a.connect(
          name + "_row",
          DisplacementCoordinate{.on_a = j.on_parent.at, .on_b = j.on_child.at, .axis_a = Axis(j.on_parent.R * z)},
          parent, child, c);
    else
      a.connect(name + "_row",
                AngleCoordinate{.axis_a = Axis(j.on_parent.R * z, j.on_parent.R * x), .axis_b = Axis(z, x)}, parent,
                child, c);
  }
  const System system(a);
  State s = state_of(system, model, at);
  s = consistent(system, s);
  const Solution solution = solve(system, s);
  Numbers out;
  for (const auto& [joint, name] : names) out[joint] = solution.acceleration(name + ".q");
  return out;
}

}  // namespace

TEST_CASE("robots: the accelerations of a tree need no effort in its joints, says recursive Newton-Euler") {
  const Robot robot = files::urdf_robot(tree(), "arm.urdf");
  REQUIRE(robot.faults.empty());
  for (unsigned seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    const Numbers q = random_numbers(robot, seed, 1), v = random_numbers(robot, seed + 100, 3);
    NewtonEuler check(robot);
    check.move(q, v, {});
    Model model = parse_urdf(tree(), "arm.urdf", {.joints = q});
    const Numbers a = joint_accelerations(model, robot, q, check);
    check.move(q, v, {});
    const Numbers without = check.efforts(robot.gravity);
    check.move(q, v, a);
    double size = 0, left = 0;
    for (const auto& [joint, effort] : check.efforts(robot.gravity)) {
      size = std::max(size, std::abs(without.at(joint)));
      left = std::max(left, std::abs(effort));
    }
    CHECK(size > 1);
    CHECK(left < 1e-11 * size);  // round-off
  }
}

TEST_CASE("robots: dampers, friction and mimic joints act on their joints") {
  const std::string damped =
      with(with(arm(), "<limit lower='-2'", "<dynamics damping='0.7' friction='0.3'/><limit lower='-2'"), "MIMIC",
           "<mimic joint='left_joint' multiplier='1' offset='0.01'/>");
  const Robot robot = files::urdf_robot(damped, "arm.urdf");
  Numbers q{{"shoulder", 0.3}, {"elbow", -0.4}, {"left_joint", 0.02}, {"right_joint", 0.03}};
  Numbers v{{"shoulder", 1.0}, {"elbow", 2.0}, {"left_joint", 0.1}, {"right_joint", 0.1}};
  NewtonEuler check(robot);
  check.move(q, v, {});
  Model model = parse_urdf(damped, "arm.urdf", {.joints = {{"shoulder", 0.3}, {"elbow", -0.4}, {"left_joint", 0.02}}});
  model.settings = {{"elbow_angle.q'", 2.0}, {"left_joint_position.q'", 0.1}, {"right_joint_position.q'", 0.1}};
  const Numbers a = joint_accelerations(model, robot, q, check);
  check.move(q, v, a);
  const Numbers effort = check.efforts(robot.gravity);
  constexpr double small = 1e-10;
  CHECK(std::abs(effort.at("shoulder")) < small);
  CHECK(effort.at("elbow") == doctest::Approx(-0.7 * 2.0 - 0.3 * std::tanh(2.0 / 0.05)).epsilon(small));
  CHECK(a.at("right_joint") == doctest::Approx(a.at("left_joint")).epsilon(small));
  CHECK(effort.at("right_joint") == doctest::Approx(-effort.at("left_joint")).epsilon(1e-8));
}

TEST_CASE("robots: the base stands still or moves freely") {
  for (const bool free : {false, true}) {
    const Model model = parse_urdf(tree(), "arm.urdf", {.free_base = free});
    const System system(model.assembly);
    const RankReport report = check_model(system, model.start(system));
    CHECK(report.determined() == !free);  // the base has no mass
    CHECK(report.dof == (free ? 4 + 6 : 4));
  }
}

TEST_CASE("robots: a hand-made pendulum moves as its closed form says") {
  const double m = 1.5, l = 0.4, J = 0.03;
  const std::string text = "<robot name='pendulum'><link name='world'/><link name='bob'>" +
                           inertial(m, fmt::format("<origin xyz='0 0 {}'/>", -l), J, J, 0.01) +
                           "</link><joint name='hinge' type='continuous'><parent link='world'/><child link='bob'/>"
                           "<axis xyz='1 0 0'/></joint></robot>";
  const double angle = 0.7;
  const Model model = parse_urdf(text, "pendulum.urdf", {.joints = {{"hinge", angle}}});
  const System system(model.assembly);
  const State s = model.start(system);
  CHECK(s.get("bob.u1") == doctest::Approx(std::sin(angle / 2)));
  const Solution solution = solve(system, s);
  const double expected = -m * 9.81 * l * std::sin(angle) / (J + m * l * l);
  // At rest u1'' = cos(angle / 2) angle'' / 2.
  CHECK(solution.acceleration("bob.u1") == doctest::Approx(std::cos(angle / 2) * expected / 2).epsilon(1e-12));
}

TEST_CASE("robots: all faults at once, with their lines, beside the rank of the rest") {
  std::string text = with(tree(), "<mass value='2'/>", "<mass value='two'/>");
  text = with(text, "<child link='lower'/>", "<child link='lowwer'/>");
  text = with(text, "name='shoulder' type='continuous'", "name='shoulder' type='contiguous'");
  text = with(text, "<mass value='0.5'/><inertia ixx='0.002'", "<mass value='0.5'/><inertia ixx='0.2'");
  try {
    (void)parse_urdf(text, "arm.urdf");
    FAIL("no fault was found");
  } catch (const ModelError& error) {
    const std::string all = error.what();
    CHECK(all.find("arm.urdf:3:1: mass of <mass>") == std::string::npos);
    CHECK(all.find("value of <mass>: 'two' is not a number") != std::string::npos);
    CHECK(all.find("there is no link 'lowwer'; ") != std::string::npos);
    CHECK(all.find("joint 'shoulder': there is no type 'contiguous'; did you mean 'continuous'?") != std::string::npos);
    CHECK(all.find("tool") != std::string::npos);
    CHECK(error.faults().size() == 4);
    for (const ModelFault& f : error.faults()) {
      CHECK(f.place.starts_with("arm.urdf:"));
      CHECK(!f.name.empty());
    }
    REQUIRE(error.rest());
    CHECK(System(error.rest()->assembly).size() > 0);
  }
}

TEST_CASE("robots: names are kept, and changed only where they must be") {
  std::string text = tree();
  for (std::size_t at = 0; (at = text.find("'tool'", at)) != std::string::npos;) text.replace(at, 6, "'tool/0.1'");
  text = with(text, "joint name='elbow'", "joint name='upper'");
  const Model model = parse_urdf(text, "arm.urdf");
  CHECK(model.assembly.model("tool_0_1"));
  CHECK(model.assembly.model("upper"));
  const System system(model.assembly);
  bool found = false;
  for (const auto& c : system.constraints()) found = found || c.name == "upper_joint";
  CHECK(found);
  REQUIRE(!model.remarks.empty());
  CHECK(model.remarks.front() == "link 'tool/0.1' is called 'tool_0_1' here");
}

TEST_CASE("robots: what was not read is listed") {
  const std::string text =
      with(tree(), "</robot>",
           "<gazebo reference='tool'/><gazebo/><transmission name='t'><type>x</type></transmission></robot>");
  const Model model = parse_urdf(text, "arm.urdf");
  std::string all;
  for (const std::string& r : model.remarks) all += r + "\n";
  CHECK(all.find("not read: <gazebo> (2 times, first in line 13)") != std::string::npos);
  CHECK(all.find("not read: <transmission> (line 13)") != std::string::npos);
}

TEST_CASE("robots: what is no robot is refused in a sentence") {
  const auto what = [](const std::string& text) -> std::string {
    try {
      (void)parse_urdf(text, "r.urdf");
    } catch (const ModelError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(what("") == "r.urdf:1:1: the file is empty; write a model");
  CHECK(what("<robot>").starts_with("r.urdf:1:1: "));
  CHECK(what("<model/>") == "r.urdf:1:1: <model> is no robot of URDF; its first element is <robot>");
  CHECK(what("<robot name='x'/>") == "r.urdf:1:1: robot 'x' has no link; add one");
  CHECK(what("<robot xmlns:xacro='x'><xacro:macro/></robot>") ==
        "r.urdf:1:1: this is xacro, which makes a robot's file; xacro FILE > robot.urdf");
  CHECK_THROWS_AS((void)parse_urdf(tree(), "arm.urdf", {.joints = {{"knee", 1}}}), ModelError);
}

TEST_CASE("robots: circles, two parents, mimics of each other are told") {
  const auto link = [](const char* name) {
    return fmt::format("<link name='{}'>{}</link>", name, inertial(1, "", 0.1, 0.1, 0.1));
  };
  const auto joint = [](const char* name, const char* parent, const char* child, const char* more = "") {
    return fmt::format(
        "<joint name='{}' type='continuous'><parent link='{}'/><child link='{}'/><axis xyz='0 0 1'/>{}</joint>", name,
        parent, child, more);
  };
  const auto text = [&](const std::string& joints) {
    return "<robot name='r'>" + link("a") + link("b") + link("c") + joints + "</robot>";
  };
  CHECK_THROWS_WITH_AS((void)parse_urdf(text(joint("1", "a", "b") + joint("2", "b", "a") + joint("3", "b", "c"))),
                       doctest::Contains("go round in a circle"), ModelError);
  const Model loop = parse_urdf(text(joint("1", "a", "b") + joint("2", "b", "c") + joint("3", "a", "c")));
  CHECK(loop.remarks == std::vector<std::string>{"link 'c' is the child of two joints: '3' closes a loop"});
  CHECK_THROWS_WITH_AS(
      (void)parse_urdf(text(joint("1", "a", "b", "<mimic joint='2'/>") + joint("2", "b", "c", "<mimic joint='1'/>"))),
      doctest::Contains("mimics itself by way of others"), ModelError);
}

TEST_CASE("robots: written as a model file they are the same model") {
  const std::string text = with(with(arm(), "MIMIC", "<mimic joint='left_joint' multiplier='1'/>"), "<limit lower='-2'",
                                "<dynamics damping='0.7' friction='0.3'/><limit lower='-2'");
  const Model model = parse_urdf(text, "arm.urdf", {.joints = {{"elbow", 0.5}}});
  const Model again = parse_model(write_model(model));
  const System one(model.assembly), two(again.assembly);
  const Solution first = solve(one, model.start(one)), second = solve(two, again.start(two));
  CHECK(first.a == second.a);
}

TEST_CASE("robots: loops of the file beside it are closed") {
  // A square of four links of 1 m in the plane y = 0, the last hinge as a loop of two frames.
  const auto link = [](const char* name) {
    return fmt::format("<link name='{}'>{}</link>", name, inertial(1, "<origin xyz='0.5 0 0'/>", 0.01, 0.1, 0.1));
  };
  const auto hinge = [](const char* name, const char* parent, const char* child, const char* at, double turn) {
    return fmt::format(
        "<joint name='{}' type='continuous'><parent link='{}'/><child link='{}'/><origin xyz='{}' rpy='0 {} 0'/>"
        "<axis xyz='0 1 0'/></joint>",
        name, parent, child, at, turn);
  };
  const double right = -std::acos(0.0);
  const std::string text = "<robot name='square'>" + link("ground_link") + link("a") + link("b") + link("c") +
                           "<link name='end'/>" + hinge("1", "ground_link", "a", "0 0 0", right) +
                           hinge("2", "a", "b", "1 0 0", -right) + hinge("3", "b", "c", "1 0 0", -right) +
                           hinge("4", "c", "end", "1 0 0", 0) + "</robot>";
  const Scratch folder;
  write(folder / "square.urdf", text);
  write(folder / "square.yaml", "# loops\nclosed_loop: [['end', corner]]\ntype: ['6d']\nname_mot: [m]\n");
  CHECK_THROWS_WITH_AS((void)read_model(folder / "square.urdf"),
                       doctest::Contains("square.yaml:2:1: there is no link or joint 'corner'"), ModelError);
  const std::string corner = with(text, "</robot>",
                                  "<link name='corner'/><joint name='f' type='fixed'><parent link='ground_link'/>"
                                  "<child link='corner'/><origin xyz='1 0 0'/></joint></robot>");
  write(folder / "square.urdf", corner);
  const Model model = read_model(folder / "square.urdf");
  const System system(model.assembly);
  State s = model.start(system);
  const RankReport report = check_model(system, s);
  CHECK(report.determined());
  CHECK(report.dof == 1);
  CHECK(!report.redundant.empty());
}

// ---- MJCF
TEST_CASE("MJCF: springs, dampers, armature and references of a hinge, in degrees") {
  const double m = 1.5, l = 0.4, J = 0.03, I = 0.2, k = 5, c = 0.6, deg = std::numbers::pi / 180;
  const std::string text = fmt::format(
      "<mujoco model='pendulum'><option gravity='0 0 -10'/><default><joint damping='{}' stiffness='{}'/>"
      "<default class='motor'><joint armature='{}'/></default></default>"
      "<worldbody><body name='bob' pos='0 0 1' childclass='motor'><joint name='hinge' axis='2 0 0' ref='20' "
      "springref='50'/>"
      "<inertial pos='0 0 {}' mass='{}' diaginertia='{} {} 0.01'/></body></worldbody></mujoco>",
      c, k, I, -l, m, J, J);
  const double angle = 0.7, speed = 2;
  Model model = parse_mjcf(text, "pendulum.xml", {.joints = {{"hinge", angle}}});
  CHECK(model.remarks.empty());
  model.settings = {{"hinge_angle.q'", speed}};
  const System system(model.assembly);
  const State s = consistent(system, model.start(system), {.held = {"bob", "hinge_angle"}});
  const double effort = -m * 10 * l * std::sin(angle) - k * (angle + 20 * deg - 50 * deg) - c * s.get("hinge_angle.q'");
  CHECK(solve(system, s).acceleration("hinge_angle.q") == doctest::Approx(effort / (J + m * l * l + I)).epsilon(1e-10));
}

TEST_CASE("MJCF: masses and moments of geoms") {
  const double r = 0.1, h = 0.6, density = 800, pi = std::numbers::pi;
  const auto link = [](const std::string& geom) {
    return files::mjcf_robot("<mujoco><worldbody><body name='b'>" + geom + "</body></worldbody></mujoco>", "g.xml", ".")
        .links.at(0);
  };
  constexpr double round_off = 1e-12;
  // A capsule is a cylinder between two halves of a ball, whose centres are 3 r / 8 from the faces and whose moments
  // about them 83/320 m r^2 across.
  const RobotLink capsule = link("<geom type='capsule' fromto='0 0 0 0 0 0.6' size='0.1' density='800'/>");
  const double mc = density * pi * r * r * h, mh = density * 2 * pi / 3 * r * r * r;
  CHECK(capsule.mass == doctest::Approx(mc + 2 * mh).epsilon(round_off));
  CHECK((capsule.centre - Vec3<double>(0, 0, h / 2)).norm() < round_off);
  const double arm = h / 2 + 3 * r / 8;
  CHECK(capsule.inertia(0, 0) ==
        doctest::Approx(mc * (r * r / 4 + h * h / 12) + 2 * mh * (83.0 / 320 * r * r + arm * arm)).epsilon(round_off));
  CHECK(capsule.inertia(2, 2) == doctest::Approx(mc * r * r / 2 + 2 * mh * 0.4 * r * r).epsilon(round_off));
  const RobotLink box = link("<geom type='box' size='0.1 0.2 0.3' mass='3' pos='1 0 0' euler='0 0 90'/>");
  CHECK(box.mass == 3);
  CHECK(box.inertia(0, 0) == doctest::Approx(3 * (0.01 + 0.09) / 3).epsilon(round_off));  // turned: y is x
  CHECK(box.inertia(1, 1) == doctest::Approx(3 * (0.04 + 0.09) / 3).epsilon(round_off));
  // Two halves of a box are the box.
  const RobotLink halves = link(
      "<geom type='box' size='0.1 0.2 0.15' pos='0 0 0.15'/><geom type='box' size='0.1 0.2 0.15' "
      "pos='0 0 -0.15'/>");
  const RobotLink whole = link("<geom type='box' size='0.1 0.2 0.3'/>");
  CHECK((halves.inertia - whole.inertia).norm() < round_off * whole.inertia.norm());
  CHECK(link("<geom type='ellipsoid' size='0.2 0.2 0.2'/>").inertia(0, 0) ==
        doctest::Approx(link("<geom size='0.2'/>").inertia(0, 0)).epsilon(round_off));
}

TEST_CASE("MJCF: the accelerations of a tree with several joints in a body need no effort") {
  const std::string text =
      "<mujoco><compiler angle='radian' eulerseq='zyx'/><worldbody>"
      "<body name='base'>"
      "<body name='cart' pos='0 0 1' euler='0.3 0.2 0.1'><joint name='x' type='slide' axis='1 0 0'/>"
      "<joint name='yaw' axis='0 0 1' pos='0.1 0 0'/><joint name='pitch' axis='0 1 0.2' pos='0 0 0.05'/>"
      "<inertial pos='0.1 0 0' mass='2' fullinertia='0.1 0.12 0.09 0.01 0 0.005'/>"
      "<body name='pole' pos='0 0.2 0.1' axisangle='1 1 0 0.5'><joint name='hinge' axis='1 0 0' pos='0 0 -0.1'/>"
      "<geom type='cylinder' size='0.02 0.5' pos='0 0 0.4'/></body></body></body></worldbody></mujoco>";
  const Robot robot = files::mjcf_robot(text, "cart.xml", ".");
  REQUIRE(robot.faults.empty());
  const Numbers q = random_numbers(robot, 7, 1), v = random_numbers(robot, 8, 2);
  NewtonEuler check(robot);
  check.move(q, v, {});
  Model model = parse_mjcf(text, "cart.xml", {.joints = q});
  const Numbers a = joint_accelerations(model, robot, q, check);
  check.move(q, v, a);
  for (const auto& [joint, effort] : check.efforts(robot.gravity)) {
    CAPTURE(joint);
    CHECK(std::abs(effort) < 1e-10);
  }
}

TEST_CASE("MJCF: equalities close loops and couple joints, actuators hold at 0") {
  // Two arms of 1 m at a distance of 1 m, a rod from one to the other: a parallelogram.
  const std::string text =
      "<mujoco><compiler angle='radian'/><worldbody>"
      "<body name='left'><joint name='l' axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0 0 1' size='0.02'/>"
      "<body name='rod' pos='0 0 1'><joint name='r' axis='0 1 0'/><geom type='capsule' fromto='0 0 0 1 0 0' "
      "size='0.02'/>"
      "</body></body>"
      "<body name='right' pos='1 0 0'><joint name='s' axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0 0 1' "
      "size='0.02'/>"
      "</body>"
      "<body name='wheel' pos='3 0 0'><joint name='w' axis='0 1 0'/><geom type='sphere' size='0.1'/></body>"
      "</worldbody><equality><connect body1='right' body2='rod' anchor='0 0 1'/>"
      "<joint joint1='w' joint2='l' polycoef='0.1 2 0.5 0 0'/></equality>"
      "<actuator><position name='servo' joint='l' kp='30' gear='2'/><motor joint='w'/></actuator></mujoco>";
  const Model model = parse_mjcf(text, "loop.xml", {.joints = {{"l", 0.0}}});
  const System system(model.assembly);
  const State s = consistent(system, model.start(system));
  const RankReport report = check_model(system, s);
  CHECK(report.determined());
  CHECK(report.dof == 1);
  CHECK(s.get("w_angle.q") == doctest::Approx(0.1 + 2 * s.get("l_angle.q") + 0.5 * std::pow(s.get("l_angle.q"), 2)));
  CHECK_THROWS_WITH_AS(
      (void)parse_mjcf("<mujoco><worldbody><body/></worldbody><equality><connect body1='x' anchor='0 0 0'/>"
                       "</equality></mujoco>"),
      doctest::Contains("there is no body 'x'"), ModelError);
}

TEST_CASE("MJCF: a servo exerts what its control, in its range, and its force range allow") {
  const auto acceleration = [](const std::string& servo, double angle) {
    const Model model = parse_mjcf(
        "<mujoco><compiler angle='radian'/><worldbody><body name='wheel'>"
        "<joint name='axle' axis='0 0 1'/>"
        "<inertial pos='0 0 0' mass='1' diaginertia='0.1 0.1 0.1'/></body></worldbody>"
        "<actuator>" +
            servo + "</actuator></mujoco>",
        "wheel.xml", {.joints = {{"axle", angle}}});
    const System system(model.assembly);
    return solve(system, model.start(system)).acceleration("axle_angle.q");
  };
  constexpr double round_off = 1e-12;
  const auto about = [](double x) { return doctest::Approx(x / 0.1).epsilon(round_off); };
  CHECK(acceleration("<position joint='axle' kp='20'/>", 0.3) == about(-6));
  CHECK(acceleration("<position joint='axle' kp='20' forcerange='-5 5'/>", 0.3) == about(-5));
  CHECK(acceleration("<position joint='axle' kp='20' ctrlrange='0.2 1'/>", 0.3) == about(-2));
  CHECK(acceleration("<position joint='axle' kp='20' gear='3' forcerange='-50 50'/>", 0.3) == about(-54));
  CHECK(acceleration("<general joint='axle' gainprm='10' biastype='affine' biasprm='1 -10 0' ctrlrange='1 2'/>", 0.3) ==
        about(8));
}

TEST_CASE("robots: a joint of SDF inside of <gazebo> closes a loop where the links stand") {
  // Three hinges in a row, and a fourth one back to the base, told by its place in the last link.
  std::string text = "<robot name='my.four/bar'><link name='base'/>";
  const auto hinge = [](const char* name, const char* parent, const char* child, const char* at) {
    return fmt::format(
        "<joint name='{}' type='continuous'><parent link='{}'/><child link='{}'/><origin xyz='{}'/>"
        "<axis xyz='0 1 0'/></joint>",
        name, parent, child, at);
  };
  for (const char* name : {"a", "b", "c"})
    text += fmt::format("<link name='{}'>{}</link>", name, inertial(1, "<origin xyz='0.3 0 0.2'/>", 0.1, 0.1, 0.1));
  text += hinge("1", "base", "a", "0 0 0") + hinge("2", "a", "b", "0 0 1") + hinge("3", "b", "c", "1 0 0.5") +
          "<gazebo><joint name='back' type='revolute'><parent>c</parent><child>base</child><pose>1 0 0.25 0 0 0</pose>"
          "<axis><xyz>0 1 0</xyz></axis></joint></gazebo></robot>";
  const Model model = parse_urdf(text, "four_bar.urdf", {.joints = {{"1", 0.2}}});
  CHECK(model.assembly.name() == "my_four_bar");
  const System system(model.assembly);
  const State s = model.start(system);
  const RankReport report = check_model(system, s);
  CHECK(report.determined());
  CHECK(report.dof == 1);
  CHECK((!report.start || report.start->reachable));
}

TEST_CASE("MJCF: frames around bodies, geoms and joints; bounds of the compiler") {
  const auto robot = [](const std::string& compiler, const std::string& inside) {
    return files::mjcf_robot("<mujoco><compiler " + compiler + "/><worldbody>" + inside + "</worldbody></mujoco>",
                             "f.xml", ".");
  };
  const Robot framed = robot("angle='radian'",
                             "<frame pos='1 0 0' euler='0 0 0.5'><frame pos='0 2 0'><body name='b' pos='0 0 3'>"
                             "<frame pos='0.1 0 0' euler='0.3 0 0'><joint name='j' axis='0 0 1' pos='0 0.2 0'/>"
                             "<geom type='box' size='0.1 0.2 0.3' pos='0 0 0.5'/></frame></body></frame></frame>");
  REQUIRE(framed.faults.empty());
  CHECK(framed.remarks.empty());
  const Frame turn = Frame::turn({0, 0, 1}, 0.5);
  CHECK((framed.links.at(0).place.at - (Vec3<double>(1, 0, 3) + turn.R * Vec3<double>(0, 2, 0))).norm() < 1e-12);
  const Mat<double, 3> tilt = Frame::turn({1, 0, 0}, 0.3).R;
  CHECK((framed.links.at(0).centre - (Vec3<double>(0.1, 0, 0) + tilt * Vec3<double>(0, 0, 0.5))).norm() < 1e-12);
  CHECK((framed.joints.at(0).axis - tilt.col(2)).norm() < 1e-12);
  CHECK((framed.joints.at(0).on_child.at - (Vec3<double>(0.1, 0, 0) + 0.2 * tilt.col(1))).norm() < 1e-12);
  const std::string light =
      "<body><inertial pos='0 0 0' mass='0.001' diaginertia='1e-6 1e-6 5e-6'/></body>"
      "<body><inertial pos='0 0 0' mass='1' diaginertia='0.1 0.1 0.1'/></body>";
  const Robot bounded = robot("boundmass='0.01' boundinertia='2e-6' balanceinertia='true'", light);
  CHECK(bounded.links.at(0).mass == 0.01);
  CHECK((bounded.links.at(0).inertia - 3e-6 * Mat<double, 3>::Identity()).norm() < 1e-18);
  const Robot scaled = robot("settotalmass='20.02'", light);
  CHECK(scaled.links.at(1).mass == doctest::Approx(20));
}

TEST_CASE("MJCF: masses and moments of meshes") {
  const Scratch folder;
  fs::create_directories(folder.path / "parts");
  // A tetrahedron with three edges of 1 along the axes: volume 1/6, centre (1/4, 1/4, 1/4), moment 3/80 m... about it.
  write(folder / "parts/tetra.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  write(folder / "m.xml",
        "<mujoco><compiler meshdir='parts'/><asset><mesh file='tetra.obj' scale='2 1 1'/><mesh name='no' file='no.stl'/>"
        "</asset><worldbody><body name='b'><freejoint/><geom type='mesh' mesh='tetra' density='600' pos='0 0 1'/>"
        "<geom type='mesh' mesh='no' mass='0'/></body><body name='c'><freejoint/><geom size='0.1'/>"
        "<geom type='mesh' mesh='no'/></body></worldbody></mujoco>");
  const Robot robot = files::mjcf_robot(read_file(folder / "m.xml"), folder / "m.xml", folder.path.string());
  const RobotLink& b = robot.links.at(0);
  const double m = 600 * 2 / 6.0;
  CHECK(b.mass == doctest::Approx(m));
  CHECK((b.centre - Vec3<double>(0.5, 0.25, 1.25)).norm() < 1e-12);
  // Moments of the second order of a corner of a cube: 3/80 m a^2 along an edge a, -m a b / 80 across.
  CHECK(b.inertia(0, 0) == doctest::Approx(m * 3 / 80 * (1 + 1)));
  CHECK(b.inertia(1, 1) == doctest::Approx(m * 3 / 80 * (4 + 1)));
  CHECK(b.inertia(0, 1) == doctest::Approx(m * 2 / 80));
  CHECK(b.shapes.size() == 2);
  CHECK(robot.remarks ==
        std::vector<std::string>{"the mass of 1 link would come of meshes that are not there: give <inertial>"});
}

TEST_CASE("robots: public files, where MORTISE_MODELS names their folder") {
  const char* folder = std::getenv("MORTISE_MODELS");
  if (!folder) {
    MESSAGE("SKIPPED: MORTISE_MODELS names no folder of robot files");
    return;
  }
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".urdf") continue;
    CAPTURE(entry.path().string());
    const Robot robot = files::urdf_robot(read_file(entry.path().string()), entry.path().filename().string());
    std::shared_ptr<const Model> model;
    try {
      model = std::make_shared<const Model>(read_model(entry.path().string()));
    } catch (const ModelError& error) {
      MESSAGE(std::string(error.what()));
      model = error.rest();
    }
    REQUIRE(model);
    const System system(model->assembly);
    const State s = model->start(system);
    // The rank of the scaled A by a dense decomposition: columns by the length of the robot, rows to length 1.
    const Evaluation e = system.evaluate(s);
    MatrixXd A = e.dense_A();
    for (Index i = 0; i < A.rows(); ++i)
      if (const double size = A.row(i).norm(); size > 0) A.row(i) /= size;
    const VectorXd values = testing::singular_values(A);
    const RankReport report = check_rank(system, e);
    CHECK(report.rank.rank_A == (values.array() > 1e-9 * values[0]).count());
    ++count;
  }
  CHECK(count > 0);
}
