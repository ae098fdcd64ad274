// URDF: links, joints, loops.

#include <algorithm>
#include <filesystem>
#include <map>

#include <mortise/core/words.h>
#include <mortise/files/robot_description.h>
#include <mortise/files/urdf_loops.h>
#include <mortise/files/xml.h>

namespace mortise {
namespace files {
namespace {

using Text = std::string;

Frame origin(const Xml& of) {
  const Xml* o = of.child("origin");
  return o ? Frame::from_rpy(o->three("xyz", {0, 0, 0}), o->three("rpy", {0, 0, 0})) : Frame();
}

const Text& name_of(const Xml& x) {
  const Text& name = x.require("name");
  if (name.empty()) fail(x.where, fmt::format("the name of a <{}> is empty", x.name), "give every part a name");
  return name;
}

class Urdf {
 public:
  explicit Urdf(const Xml& root) : root_(root) {
    robot_.where = root.where;
    const Text* name = root.find("name");
    robot_.name = name && !name->empty() ? *name : "robot";
  }

  Robot read() {
    (void)root_.find("version");
    for (const Xml* m : root_.all("material")) material(*m);
    for (const Xml* l : root_.all("link")) part("link", *l, [&](const Text& n) { link(n, *l); });
    for (const Xml* j : root_.all("joint")) part("joint", *j, [&](const Text& n) { joint(n, *j); });
    for (const Xml* l : root_.all("loop")) part("loop", *l, [&](const Text& n) { loop(n, *l); });
    for (const Xml* g : root_.all("gazebo")) {
      g->read = false;  // but for its joints
      if (g->child("joint"))
        for (const Xml* j : g->all("joint")) part("joint", *j, [&](const Text& n) { loop_of_sdf(n, *j); });
      g->read = g->children.size() == g->all("joint").size() && !g->children.empty();
    }
    for (const Text& what : root_.unread()) robot_.remarks.push_back("not read: " + what);
    return std::move(robot_);
  }

 private:
  template <class F> void part(const char* kind, const Xml& x, const F& f) {
    const Text* name = x.find("name");
    robot_.attempt({kind, name ? *name : ""}, [&] { f(name_of(x)); });
  }

  void material(const Xml& m) {
    const Text* name = m.find("name");
    const Xml* colour = m.child("color");
    if (const Xml* texture = m.child("texture")) texture->ignore();
    if (!name || !colour) return;
    robot_.attempt({"material", *name}, [&] { colours_[*name] = colour_text(colour->numbers("rgba", 4)); });
  }

  void link(const Text& name, const Xml& x) {
    RobotLink l;
    l.name = name;
    l.where = x.where;
    // A link stays in the robot whatever is wrong with its numbers.
    robot_.attempt({"link", name}, [&] {
      const Xml* inertial = x.child("inertial");
      if (!inertial) return;
      const Frame frame = origin(*inertial);
      l.centre = frame.at;
      if (const Xml* m = inertial->child("mass")) l.mass = m->number("value");
      if (const Xml* i = inertial->child("inertia")) {
        const double xx = i->number("ixx", 0), xy = i->number("ixy", 0), xz = i->number("ixz", 0),
                     yy = i->number("iyy", 0), yz = i->number("iyz", 0), zz = i->number("izz", 0);
        Mat<double, 3> J;
        J << xx, xy, xz, xy, yy, yz, xz, yz, zz;
        l.inertia = frame.R == Mat<double, 3>::Identity() ? J : Mat<double, 3>(frame.R * J * frame.R.transpose());
        l.inertia = Mat<double, 3>(0.5 * (l.inertia + l.inertia.transpose()));
      }
    });
    for (const Xml* v : x.all("visual")) robot_.attempt({"link", name}, [&] { visual(l, *v); });
    for (const Xml* c : x.all("collision")) c->ignore();  // contacts are no joints
    robot_.links.push_back(std::move(l));
  }

  void visual(RobotLink& l, const Xml& v) {
    (void)v.find("name");
    const Frame frame = origin(v);
    Shape s;
    s.at = frame.at;
    if (const Xml* m = v.child("material")) {
      material(*m);
      if (const Text* name = m->find("name"))
        if (const auto it = colours_.find(*name); it != colours_.end()) s.colour = it->second;
    }
    const Xml* geometry = v.child("geometry");
    if (!geometry) return;
    if (const Xml* box = geometry->child("box")) {
      const std::vector<double> size = box->numbers("size", 3);
      s.kind = Shape::Kind::box;
      s.size = {size[0], size[1], size[2]};
      s.rotation = frame.rotation_vector();
    } else if (const Xml* cylinder = geometry->child("cylinder")) {
      s.kind = Shape::Kind::cylinder;
      s.radius = cylinder->number("radius");
      s.length = cylinder->number("length");
      s.axis = frame.R.col(2);
    } else if (const Xml* sphere = geometry->child("sphere")) {
      s.kind = Shape::Kind::sphere;
      s.radius = sphere->number("radius");
    } else if (const Xml* mesh = geometry->child("mesh")) {
      s.kind = Shape::Kind::mesh;
      s.file = mesh->require("filename");
      s.scale = mesh->three("scale", {1, 1, 1});
      s.rotation = frame.rotation_vector();
    } else {
      geometry->ignore();
      return;
    }
    l.shapes.push_back(s);
  }

  static RobotJoint::Kind kind_of(const Text& name, const Xml& x) {
    using Kind = RobotJoint::Kind;
    static const std::map<Text, Kind, std::less<>> kinds{{"fixed", Kind::fixed},         {"revolute", Kind::revolute},
                                                         {"continuous", Kind::revolute}, {"prismatic", Kind::prismatic},
                                                         {"floating", Kind::floating},   {"planar", Kind::planar},
                                                         {"spherical", Kind::spherical}, {"ball", Kind::spherical}};
    const Text& type = x.require("type");
    if (const auto kind = kinds.find(type); kind != kinds.end()) return kind->second;
    std::vector<Text> known;
    for (const auto& k : kinds) known.push_back(k.first);
    fail(x.where, fmt::format("{} '{}': there is no type '{}'", x.name, name, type), suggestion(type, known));
  }

  void joint(const Text& name, const Xml& x) {
    RobotJoint j;
    j.name = name;
    j.where = x.where;
    j.kind = kind_of(name, x);
    const bool unlimited = *x.find("type") == "continuous";
    const auto end = [&](const char* which) -> Text {
      const Xml* e = x.child(which);
      if (!e)
        fail(x.where, fmt::format("joint '{}' has no <{}>", name, which),
             fmt::format("give <{} link=\"...\"/>", which));
      return e->require("link");
    };
    j.parent = end("parent");
    j.child = end("child");
    j.on_parent = origin(x);
    j.axis = {1, 0, 0};
    if (const Xml* axis = x.child("axis")) j.axis = axis->three("xyz", {1, 0, 0});
    if (const Xml* d = x.child("dynamics")) {
      j.damping = d->number("damping", 0);
      j.friction = d->number("friction", 0);
    }
    if (const Xml* m = x.child("mimic"))
      j.mimic = RobotJoint::Mimic{m->require("joint"), m->number("multiplier", 1), m->number("offset", 0)};
    if (const Xml* l = x.child("limit")) limits(j, *l, unlimited);
    for (const char* other : {"safety_controller", "calibration"})
      if (const Xml* o = x.child(other)) o->ignore();
    robot_.joints.push_back(std::move(j));
  }

  // Without lower and upper, or with 0 for both, as many write where they know none, there are none.
  void limits(RobotJoint& j, const Xml& l, bool unlimited) {
    for (const char* not_held : {"effort", "velocity"}) (void)l.find(not_held);
    const double lower = l.number("lower", 0), upper = l.number("upper", 0);
    if (unlimited || (lower == 0 && upper == 0)) return;
    if (lower <= upper)
      j.limits = {{lower, upper}};
    else
      robot_.remarks.push_back(
          fmt::format("joint '{}': its lower limit {} is above its upper one {}: not read", j.name, lower, upper));
  }

  // A joint that closes a loop: <predecessor link="..."> and <successor link="...">, each with its <origin>.
  void loop(const Text& name, const Xml& x) {
    RobotJoint j;
    j.name = name;
    j.where = x.where;
    j.loop = true;
    j.kind = kind_of(name, x);
    const auto side = [&](const char* which, Text& link, Frame& frame) {
      const Xml* e = x.child(which);
      if (!e) fail(x.where, fmt::format("loop '{}' has no <{}>", name, which), "");
      link = e->require("link");
      frame = origin(*e);
    };
    side("predecessor", j.parent, j.on_parent);
    side("successor", j.child, j.on_child);
    j.axis = {1, 0, 0};
    if (const Xml* axis = x.child("axis")) j.axis = axis->three("xyz", {1, 0, 0});
    robot_.joints.push_back(std::move(j));
  }

  // A joint as SDF writes it, which simulators add to what the links are when nothing has moved: it closes a loop.
  void loop_of_sdf(const Text& name, const Xml& x) {
    RobotJoint j;
    j.name = name;
    j.where = x.where;
    j.loop = j.meets = true;
    j.kind = kind_of(name, x);
    const auto end = [&](const char* which) -> Text {
      const Xml* e = x.child(which);
      if (!e) fail(x.where, fmt::format("joint '{}' has no <{}>", name, which), fmt::format("give <{}>LINK", which));
      if (const Text* link = e->find("link")) return *link;
      const auto first = e->text.find_first_not_of(" \t\r\n"), last = e->text.find_last_not_of(" \t\r\n");
      return first == Text::npos ? Text() : e->text.substr(first, last - first + 1);
    };
    j.parent = end("parent");
    j.child = end("child");
    if (j.parent == "world" && !is_link("world")) j.parent.clear();
    if (const Xml* pose = x.child("pose")) {
      const std::vector<double> p = pose->text_numbers();
      if (p.size() != 6)
        fail(pose->where, fmt::format("<pose> has {}", counted(std::ssize(p), "number")), "give x y z roll pitch yaw");
      j.on_child = Frame::from_rpy({p[0], p[1], p[2]}, {p[3], p[4], p[5]});
    }
    if (const Xml* axis = x.child("axis"))
      if (const Xml* xyz = axis->child("xyz")) {
        const std::vector<double> a = xyz->text_numbers();
        if (a.size() != 3) fail(xyz->where, "<xyz> has no three numbers", "give three");
        j.axis = {a[0], a[1], a[2]};
        axis->ignore();
      }
    robot_.joints.push_back(std::move(j));
  }
  bool is_link(const Text& name) const {
    return std::any_of(robot_.links.begin(), robot_.links.end(), [&](const RobotLink& l) { return l.name == name; });
  }

  const Xml& root_;
  Robot robot_;
  std::map<Text, Text> colours_;
};

Robot robot_of(const Xml& root) {
  for (const Xml::Attribute& a : root.attributes)
    if (a.name == "xmlns:xacro" && std::any_of(root.children.begin(), root.children.end(),
                                               [](const Xml& c) { return c.name.starts_with("xacro:"); }))
      fail(root.where, "this is xacro, which makes a robot's file", "xacro FILE > robot.urdf");
  if (!root.is("robot"))
    fail(root.where, fmt::format("<{}> is no robot of URDF", root.name), "its first element is <robot>");
  return Urdf(root).read();
}

}  // namespace

Robot urdf_robot(const Text& text, const Text& name) { return robot_of(parse_xml(text, name)); }

Robot urdf_file(const Text& path) {
  namespace fs = std::filesystem;
  Robot robot = urdf_robot(read_text(path, path), path);
  const fs::path loops = fs::path(path).replace_extension(".yaml");
  std::error_code none;
  if (fs::is_regular_file(loops, none)) add_loops(robot, read_text(loops.string(), loops.string()), loops.string());
  return robot;
}

}  // namespace files

Model read_urdf(const std::string& path, const RobotOptions& options) {
  return files::robot_model(files::urdf_file(path), std::filesystem::weakly_canonical(path).string(), options);
}
Model parse_urdf(const std::string& text, const std::string& name, const RobotOptions& options) {
  return files::robot_model(files::urdf_robot(text, name), "", options);
}

}  // namespace mortise
