// From a robot's description to the values of a model file, and by these to the model.

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include <mortise/bodies/inertia.h>
#include <mortise/core/axis.h>
#include <mortise/core/rotation.h>
#include <mortise/core/words.h>
#include <mortise/files/robot_description.h>
#include <mortise/files/robot_loops.h>
#include <mortise/files/xml.h>

namespace mortise {
namespace files {

Frame Frame::turn(const Vec3<double>& axis, double angle) {
  return {{0, 0, 0}, rotation_matrix<double>(quaternion_from_axis_angle(axis, angle))};
}
Vec3<double> Frame::rotation_vector() const {
  const Eigen::AngleAxisd turn(R);
  return turn.angle() * turn.axis();
}
Frame Frame::from_rpy(const Vec3<double>& at, const Vec3<double>& rpy) {
  Frame f = turn({0, 0, 1}, rpy[2]) * turn({0, 1, 0}, rpy[1]) * turn({1, 0, 0}, rpy[0]);
  f.at = at;
  return f;
}

std::string colour_text(const std::vector<double>& rgb) {
  std::string hex = "#";
  for (std::size_t i = 0; i < 3; ++i)
    hex += fmt::format("{:02x}", static_cast<int>(255 * std::clamp(rgb.at(i), 0.0, 1.0) + 0.5));
  return hex;
}

namespace {

using Text = std::string;

// ---- values, each with the place that its part has in the file
struct Maker {
  Where where;

  Value number(double x) const {
    Value v;
    v.kind = Value::Kind::number;
    v.number = x;
    v.where = where;
    return v;
  }
  Value text(const Text& t) const {
    Value v;
    v.kind = Value::Kind::text;
    v.text = t;
    v.where = where;
    return v;
  }
  template <class Range, class Make> Value list(const Range& range, const Make& make) const {
    Value v;
    v.kind = Value::Kind::list;
    v.where = where;
    for (const auto& x : range) v.list.push_back(make(x));
    return v;
  }
  Value numbers(const VectorXd& x) const {
    return list(x, [&](double one) { return number(one); });
  }
  Value texts(const std::vector<Text>& x) const {
    return list(x, [&](const Text& one) { return text(one); });
  }
  Value table() const {
    Value v;
    v.where = where;
    return v;
  }
  void put(Value& table, const Text& key, Value value) const { table.table.push_back({key, where, std::move(value)}); }
  Value axis(const Vec3<double>& along, const Vec3<double>& towards) const {
    Value v = table();
    put(v, "along", numbers(along));
    put(v, "towards", numbers(towards));
    return v;
  }
};

Vec3<double> across(const Vec3<double>& axis) { return Axis(axis).across_1; }

// Names that are free of what paths and coordinates are made of, each given once.
class Names {
 public:
  Text add(const Text& wanted) {
    Text name = wanted.empty() ? "unnamed" : wanted;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '/' || c == '.' || c == '\''; }, '_');
    const Text plain = name;
    for (int k = 2; !taken_.insert(name).second; ++k) name = fmt::format("{}_{}", plain, k);
    return name;
  }

 private:
  std::set<Text> taken_;
};

bool of_speed(const Text& name) { return name.ends_with('\''); }

// Columns of a CSV file, the first one t, as functions of t: straight lines between the rows, level beyond them.
std::map<Text, Text> read_controls(const Text& path) {
  const auto file = std::make_shared<const Text>(path);
  std::vector<Text> names;
  std::vector<std::vector<double>> rows;
  const Text all = read_text(path, path);
  int line = 0;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\n', at), all.size());
    Text text = all.substr(at, end - at);
    at = end + 1;
    const Where where{file, ++line, 1};
    std::replace(text.begin(), text.end(), '\r', ' ');
    if (text.find_first_not_of(" \t") == Text::npos) continue;
    if (names.empty()) {
      for (std::size_t i = 0; i <= text.size();) {
        const std::size_t comma = std::min(text.find(',', i), text.size());
        Text name = text.substr(i, comma - i);
        const std::size_t first = name.find_first_not_of(" \t\""), last = name.find_last_not_of(" \t\"");
        names.push_back(first == Text::npos ? Text() : name.substr(first, last - first + 1));
        i = comma + 1;
      }
      if (names.size() < 2 || (names[0] != "t" && names[0] != "t [s]"))
        fail(where, "a table of controls begins with the names t, and those of actuators or joints", "write t,elbow");
      continue;
    }
    rows.push_back(numbers_in(where, "a row", text));
    if (rows.back().size() != names.size())
      fail(where, fmt::format("the row has {}", counted(std::ssize(rows.back()), "number")),
           fmt::format("give {}", names.size()));
    if (rows.size() > 1 && !(rows.back()[0] > rows[rows.size() - 2][0]))
      fail(where, "its time is not after the one before", "sort the rows");
    constexpr std::size_t most = 500;
    if (rows.size() > most) fail(where, fmt::format("the table has more than {} rows", most), "thin it out");
  }
  if (rows.empty()) fail({file, 1, 1}, "the table has no rows", "give some");
  std::map<Text, Text> out;
  for (std::size_t c = 1; c < names.size(); ++c) {
    Text f = fmt::format("{}", rows[0][c]);
    for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
      const double from = rows[i][0], to = rows[i + 1][0], slope = (rows[i + 1][c] - rows[i][c]) / (to - from);
      if (slope != 0) f += fmt::format(" + ({}) * (max({}, min({}, t)) - ({}))", slope, from, to, from);
    }
    out[names[c]] = f;
  }
  return out;
}

class Builder {
 public:
  // Of the files that add parts: the names of their parameters, and the bodies that they name.
  Builder(Robot& robot, const RobotOptions& options, std::set<Text> extra_parameters, std::set<Text> extra_bodies)
      : robot_(robot),
        options_(options),
        extra_parameters_(std::move(extra_parameters)),
        extra_bodies_(std::move(extra_bodies)) {
    root_.where = robot.where;
    const Maker make{robot.where};
    for (const char* section : {"bodies", "joints", "forces"}) make.put(root_, section, make.table());
  }

  std::vector<JointMotion> motions(double seconds) {
    names_.add("ground");
    name_parts();
    drop_broken_joints();
    starts();
    find_places();
    const std::clock_t begin = std::clock();
    std::vector<JointMotion> out;
    const RobotTree tree = tree_;
    const std::vector<RobotJoint> joints = robot_.joints;
    for (const std::size_t k : tree.order) {
      if (!joints[k].has_coordinate() || joints[k].mimic) continue;
      if (static_cast<double>(std::clock() - begin) > seconds * CLOCKS_PER_SEC) break;
      out.push_back(motion(k));
      tree_ = tree;
      robot_.joints = joints;
    }
    return out;
  }

  // What bodies are called in the model, in the order of the links.
  const std::vector<Text>& body_names() const { return body_name_; }

  Value values() {
    const Maker make{robot_.where};
    names_.add("ground");
    // Names of models are free of the same as those of parts.
    make.put(root_, "name", make.text(Names().add(robot_.name)));
    make.put(root_, "gravity", make.numbers(robot_.gravity));
    name_parts();
    drop_broken_joints();
    starts();
    find_places();
    for (std::size_t i = 0; i < robot_.links.size(); ++i) body(i);
    for (std::size_t k = 0; k < robot_.joints.size(); ++k) joint(k);
    for (std::size_t k = 0; k < robot_.joints.size(); ++k) acting(k);
    control_joints();
    for (std::size_t k = 0; k < robot_.joints.size(); ++k)
      if (!broken_[k] && robot_.joints[k].has_coordinate() && extra_bodies_.count(coordinate_name(k)))
        (void)coordinate(k);
    for (const RobotEffort& e : robot_.efforts) effort(e);
    for (const RobotRelation& r : robot_.relations) relation(r);
    return std::move(root_);
  }

 private:
  Value& section(const char* name) {
    for (auto& e : root_.table)
      if (e.key == name) return e.value;
    throw std::logic_error("no such section");
  }
  void add(const char* where, const Maker& make, const Text& name, Value value) {
    make.put(section(where), name, std::move(value));
  }

  void name_parts() {
    if (options_.free_base) std::erase_if(robot_.joints, [](const RobotJoint& j) { return j.base; });
    for (std::size_t i = 0; i < robot_.links.size(); ++i) {
      const RobotLink& link = robot_.links[i];
      if (!link_.emplace(link.name, i).second)
        robot_.faults.push_back({link.where.text(), fmt::format("there are two links '{}'", link.name),
                                 "give each a name of its own", "link", link.name});
      body_name_.push_back(names_.add(link.name));
      renamed("link", link.name, body_name_.back());
    }
    for (std::size_t k = 0; k < robot_.joints.size(); ++k) {
      const RobotJoint& j = robot_.joints[k];
      if (!joint_.emplace(j.name, k).second)
        robot_.faults.push_back({j.where.text(), fmt::format("there are two joints '{}'", j.name),
                                 "give each a name of its own", "joint", j.name});
      // A joint of the name of a link is common.
      joint_name_.push_back(names_.add(link_.count(j.name) ? j.name + "_joint" : j.name));
    }
    for (const auto& [given, x] : options_.joints) {
      if (extra_parameters_.count(given)) continue;
      const Text name = of_speed(given) ? given.substr(0, given.size() - 1) : given;
      const auto it = joint_.find(name);
      if (it != joint_.end() && robot_.joints[it->second].has_coordinate()) {
        (of_speed(given) ? speeds_ : starts_)[it->second] = x;
        continue;
      }
      std::vector<Text> known;
      for (const RobotJoint& j : robot_.joints)
        if (j.has_coordinate()) known.push_back(j.name);
      fail({std::make_shared<const Text>("parameters")}, fmt::format("the robot has no joint '{}' to set", name),
           suggestion(name, known));
    }
  }
  void renamed(const char* kind, const Text& from, const Text& to) {
    if (from != to) robot_.remarks.push_back(fmt::format("{} '{}' is called '{}' here", kind, from, to));
  }

  // Joints on links that are not there, and mimics of joints that are not there.
  void drop_broken_joints() {
    std::vector<Text> known;
    for (const RobotLink& l : robot_.links) known.push_back(l.name);
    for (RobotJoint& j : robot_.joints) {
      const auto fault = [&](const Text& fact, const Text& remedy) {
        robot_.faults.push_back({j.where.text(), fact, remedy, "joint", j.name});
      };
      bool good = true;
      for (const Text* link : {&j.parent, &j.child}) {
        if (link_.count(*link) || (link == &j.parent && link->empty())) continue;
        fault(fmt::format("joint '{}': there is no link '{}'", j.name, *link), suggestion(*link, known));
        good = false;
      }
      if (good && j.parent == j.child) {
        fault(fmt::format("joint '{}': it connects link '{}' with itself", j.name, j.child), "name two links");
        good = false;
      }
      if (j.axis.norm() == 0 && j.kind != RobotJoint::Kind::fixed && j.kind != RobotJoint::Kind::spherical &&
          j.kind != RobotJoint::Kind::floating) {
        fault(fmt::format("joint '{}': its axis has length 0", j.name), "give a direction");
        j.axis = {0, 0, 1};
      }
      if (j.mimic) {
        const auto it = joint_.find(j.mimic->joint);
        if (it == joint_.end() || !robot_.joints[it->second].has_coordinate() || j.mimic->joint == j.name) {
          std::vector<Text> moving;
          for (const RobotJoint& other : robot_.joints)
            if (other.has_coordinate() && other.name != j.name) moving.push_back(other.name);
          fault(it == joint_.end()
                    ? fmt::format("joint '{}': it mimics joint '{}', which is not there", j.name, j.mimic->joint)
                    : fmt::format("joint '{}': it mimics joint '{}', which {}", j.name, j.mimic->joint,
                                  j.mimic->joint == j.name ? "is itself" : "has no coordinate"),
                suggestion(j.mimic->joint, moving));
          j.mimic.reset();
        } else if (!j.has_coordinate()) {
          ++without_coordinate_;
          j.mimic.reset();
        }
      }
      broken_.push_back(!good);
    }
    if (without_coordinate_ > 0)
      robot_.remarks.push_back(
          fmt::format("not read: <mimic> of {} that cannot move", counted(without_coordinate_, "joint")));
  }

  // Where the joints stand: as asked for, the followers as their leaders tell.
  void starts() {
    for (const auto& [k, x] : starts_) robot_.joints[k].start = x;
    for (const auto& [k, x] : speeds_) robot_.joints[k].speed = x;
    std::vector<int> state(robot_.joints.size());  // 1: being found, 2: found
    const std::function<void(std::size_t)> find = [&](std::size_t k) {
      RobotJoint& j = robot_.joints[k];
      if (state[k] == 2) return;
      if (state[k] == 1) {
        robot_.faults.push_back({j.where.text(), fmt::format("joint '{}' mimics itself by way of others", j.name),
                                 "break the circle", "joint", j.name});
        j.mimic.reset();
        return;
      }
      state[k] = 1;
      if (j.mimic) {
        find(joint_.at(j.mimic->joint));
        if (j.mimic) {
          const RobotJoint& leader = robot_.joints[joint_.at(j.mimic->joint)];
          j.start = j.mimic->factor * leader.start + j.mimic->offset;
          j.speed = j.mimic->factor * leader.speed;
        }
      }
      state[k] = 2;
    };
    for (std::size_t k = 0; k < robot_.joints.size(); ++k) find(k);
  }

  // One joint along its range, from where it stands to both sides.
  JointMotion motion(std::size_t k) {
    const RobotTree tree = tree_;
    const std::vector<RobotJoint> joints = robot_.joints;
    const RobotJoint& j = joints[k];
    constexpr double no_limit = 10;  // [rad] or [m], or one that tells nothing
    double reach = std::numbers::pi;
    if (!j.turns()) {
      reach = 0.1;
      for (const RobotJoint& other : joints) reach = std::max(reach, other.on_parent.at.norm());
    }
    double lower = j.start - reach, upper = j.start + reach;
    if (j.limits && j.limits->first > -no_limit) lower = std::min(j.start, j.limits->first);
    if (j.limits && j.limits->second < no_limit) upper = std::max(j.start, j.limits->second);
    held_[k] = true;
    constexpr int steps = 40;
    std::vector<std::pair<double, std::vector<Frame>>> all{{j.start, places(robot_, tree_)}};
    for (const double end : {lower, upper}) {
      tree_ = tree;
      robot_.joints = joints;
      const double way = end - joints[k].start;
      const int count = static_cast<int>(std::ceil(steps * std::abs(way) / std::max(upper - lower, 1e-300)));
      for (int i = 1; i <= count; ++i) {
        robot_.joints[k].start = joints[k].start + way * i / count;
        for (std::size_t m = 0; m < joints.size(); ++m) follow(m);
        for (const std::size_t m : tree_.order)
          if (m == k || robot_.joints[m].mimic) tree_.motion[m] = moved(robot_.joints[m]);
        if (!loops_.empty() && !close_loops(robot_, tree_, loops_, held_).open.empty()) break;
        all.emplace_back(robot_.joints[k].start, places(robot_, tree_));
      }
    }
    held_[k] = false;
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    JointMotion out;
    out.joint = joint_name_[k];
    out.unit = j.turns() ? "rad" : "m";
    out.start = j.start;
    constexpr double moves = 1e-7;
    for (std::size_t i = 0; i < robot_.links.size(); ++i) {
      const Frame& first = all.front().second[i];
      if (std::any_of(all.begin(), all.end(), [&](const auto& p) {
            return (p.second[i].at - first.at).norm() + (p.second[i].R - first.R).norm() > moves;
          }))
        out.bodies.push_back(body_name_[i]);
    }
    std::map<Text, std::size_t> index;
    for (std::size_t i = 0; i < body_name_.size(); ++i) index[body_name_[i]] = i;
    for (const auto& [x, at] : all) {
      out.positions.push_back(x);
      std::vector<float>& poses = out.poses.emplace_back();
      for (const Text& body : out.bodies) {
        const Frame& f = at[index.at(body)];
        const Eigen::Quaterniond u(f.R);
        for (const double number : {f.at[0], f.at[1], f.at[2], u.w(), u.x(), u.y(), u.z()})
          poses.push_back(static_cast<float>(number));
      }
    }
    return out;
  }
  // Puts one that mimics others where these have it.
  void follow(std::size_t k) {
    double factor = 1, offset = 0;
    std::size_t i = k;
    for (std::size_t steps = 0; robot_.joints[i].mimic && steps < robot_.joints.size(); ++steps) {
      const RobotJoint::Mimic& m = *robot_.joints[i].mimic;
      offset += factor * m.offset;
      factor *= m.factor;
      i = joint_.at(m.joint);
    }
    if (i != k) robot_.joints[k].start = offset + factor * robot_.joints[i].start;
  }

  static Frame moved(const RobotJoint& j) {
    switch (j.kind) {
      case RobotJoint::Kind::revolute:
      case RobotJoint::Kind::cylindrical:
        return Frame::turn(j.axis.normalized(), j.start);
      case RobotJoint::Kind::prismatic:
        return {j.start * j.axis.normalized(), Mat<double, 3>::Identity()};
      case RobotJoint::Kind::screw: {
        Frame f = Frame::turn(j.axis.normalized(), j.start);
        f.at = j.pitch / (2 * std::numbers::pi) * j.start * j.axis.normalized();
        return f;
      }
      default:
        return {};
    }
  }

  // From the world along the tree of joints; a joint whose child has its place already closes a loop.
  void find_places() {
    const std::size_t n = robot_.links.size(), m = robot_.joints.size();
    RobotTree tree;
    tree.above.resize(n);
    tree.parent.assign(m, RobotTree::world);
    tree.child.assign(m, RobotTree::world);
    tree.motion.resize(m);
    for (const RobotLink& link : robot_.links) tree.root.push_back(link.place);
    std::vector<std::vector<std::size_t>> out(n);
    std::vector<std::size_t> from_world, loops;
    for (std::size_t k = 0; k < m; ++k) {
      RobotJoint& j = robot_.joints[k];
      if (broken_[k] || j.kind == RobotJoint::Kind::measured) continue;
      if (!j.parent.empty()) tree.parent[k] = link_.at(j.parent);
      tree.child[k] = link_.at(j.child);
      tree.motion[k] = j.kind == RobotJoint::Kind::spherical ? j.turned : moved(j);
      if (!j.loop && tree.above[tree.child[k]]) {
        j.loop = true;
        robot_.remarks.push_back(
            fmt::format("link '{}' is the child of two joints: '{}' closes a loop", j.child, j.name));
      }
      if (j.loop) {
        loops.push_back(k);
        continue;
      }
      tree.above[tree.child[k]] = k;
      (j.parent.empty() ? from_world : out[tree.parent[k]]).push_back(k);
    }
    std::vector<bool> placed(n, false);
    const auto spread = [&](std::size_t first) {
      std::vector<std::size_t> open{first};
      placed[first] = true;
      while (!open.empty()) {
        const std::size_t i = open.back();
        open.pop_back();
        for (const std::size_t k : out[i]) {
          if (placed[tree.child[k]]) continue;  // in a circle
          tree.order.push_back(k);
          placed[tree.child[k]] = true;
          open.push_back(tree.child[k]);
        }
      }
    };
    for (const std::size_t k : from_world) tree.order.push_back(k), spread(tree.child[k]);
    std::vector<std::size_t> roots;
    for (std::size_t i = 0; i < n; ++i)
      if (!tree.above[i]) roots.push_back(i), spread(i);
    for (std::size_t i = 0; i < n; ++i)
      if (!placed[i]) {
        robot_.faults.push_back(
            {robot_.links[i].where.text(),
             fmt::format("link '{}': it and its parents go round in a circle", robot_.links[i].name),
             "one link of a robot has no parent", "link", robot_.links[i].name});
        loops.clear();
        tree.above[i].reset();
        spread(i);
      }
    meet(tree, loops);
    std::vector<bool> held(m, false);
    for (const auto& [k, x] : starts_) held[k] = true;
    const ClosedLoops closed = close_with_balls(tree, loops, held);
    if (closed.moved > 0)
      robot_.remarks.push_back(fmt::format("its loops were closed: of its joints '{}' moved most, by {:.4g} {}",
                                           robot_.joints[closed.joint].name, closed.moved,
                                           robot_.joints[closed.joint].turns() ? "rad" : "m"));
    place_ = places(robot_, tree);
    move(tree);
    if (!closed.open.empty()) take_as_closed(closed, tree);
    tree_ = tree;
    loops_ = loops;
    held_ = held;
    for (std::size_t k = 0; k < m; ++k)
      if (!broken_[k] && robot_.joints[k].kind == RobotJoint::Kind::measured) measure(robot_.joints[k]);
    bases(roots);
  }
  // The parent's side of joints that are told by where their child is when nothing has moved.
  void meet(const RobotTree& tree, const std::vector<std::size_t>& loops) {
    if (std::none_of(loops.begin(), loops.end(), [&](std::size_t k) { return robot_.joints[k].meets; })) return;
    RobotTree still = tree;
    std::fill(still.motion.begin(), still.motion.end(), Frame());
    const std::vector<Frame> at = places(robot_, still);
    for (const std::size_t k : loops) {
      RobotJoint& j = robot_.joints[k];
      const Frame outside = tree.parent[k] == RobotTree::world ? Frame() : at[tree.parent[k]];
      if (j.meets) j.on_parent = outside.inverse() * at[tree.child[k]] * j.on_child;
    }
  }
  // The velocities of links, along the tree of joints.
  void move(const RobotTree& tree) {
    std::vector<Vec3<double>> linear, angular;  // of the origins, in the world
    for (std::size_t i = 0; i < robot_.links.size(); ++i) {
      linear.push_back(robot_.links[i].velocity);
      angular.push_back(place_[i].R * robot_.links[i].spin);
    }
    for (const std::size_t k : tree.order) {
      const RobotJoint& j = robot_.joints[k];
      const bool world = tree.parent[k] == RobotTree::world;
      const Frame outside = world ? Frame() : place_[tree.parent[k]], joint = outside * j.on_parent;
      const Frame child = place_[tree.child[k]], anchor = child * j.on_child;
      Vec3<double> v{0, 0, 0}, w{0, 0, 0};
      if (!world) {
        w = angular[tree.parent[k]];
        v = linear[tree.parent[k]] + w.cross(anchor.at - outside.at);
      }
      if (j.kind == RobotJoint::Kind::spherical) w += anchor.R * j.spin;
      if (j.has_coordinate() && j.speed != 0) {
        const Vec3<double> z = joint.R * j.axis.normalized();
        if (j.turns()) w += j.speed * z;
        if (j.kind == RobotJoint::Kind::prismatic) v += j.speed * z;
        if (j.kind == RobotJoint::Kind::screw) v += j.speed * j.pitch / (2 * std::numbers::pi) * z;
      }
      linear[tree.child[k]] = v + w.cross(child.at - anchor.at);
      angular[tree.child[k]] = w;
    }
    linear_ = std::move(linear);
    angular_ = std::move(angular);
  }
  // Where it stands, of the turns the one that is nearest to where it was told to.
  void measure(RobotJoint& j) const {
    const Frame outside = (j.parent.empty() ? Frame() : place_[link_.at(j.parent)]) * j.on_parent;
    const Mat<double, 3> R = outside.R.transpose() * (place_[link_.at(j.child)] * j.on_child).R;
    const Axis axis(j.axis);
    const Vec3<double> x = R * axis.across_1;
    const double angle = std::atan2(axis.across_2.dot(x), axis.across_1.dot(x));
    j.start += std::remainder(angle - j.start, 2 * std::numbers::pi);
  }
  // Some collections write balls as hinges that only their names tell: where the loops do not close with hinges, and do
  // with balls, these are meant.
  ClosedLoops close_with_balls(RobotTree& tree, const std::vector<std::size_t>& loops, const std::vector<bool>& held) {
    const RobotTree before = tree;
    const std::vector<RobotJoint> joints = robot_.joints;
    ClosedLoops closed = close_loops(robot_, tree, loops, held);
    if (closed.open.empty()) return closed;
    RobotTree tree_with = before;
    std::vector<Text> balls;
    std::vector<RobotJoint> joints_with = joints;
    for (std::size_t k = 0; k < joints.size(); ++k) {
      Text name = joints[k].name;
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
      if (broken_[k] || held[k] || joints[k].loop || joints[k].mimic || joints[k].kind != RobotJoint::Kind::revolute ||
          name.find("spherical") == Text::npos)
        continue;
      joints_with[k].kind = RobotJoint::Kind::spherical;
      balls.push_back(joints[k].name);
    }
    if (balls.empty()) return closed;
    std::swap(robot_.joints, joints_with);  // as they were closed with hinges
    ClosedLoops with = close_loops(robot_, tree_with, loops, held);
    if (!with.open.empty()) {
      std::swap(robot_.joints, joints_with);
      return closed;
    }
    tree = std::move(tree_with);
    robot_.remarks.push_back(fmt::format("its loops close only with {} as {}, which the file has as {}: taken so",
                                         some_of(balls), balls.size() == 1 ? "a spherical joint" : "spherical joints",
                                         balls.size() == 1 ? "a hinge" : "hinges"));
    return with;
  }

  // Loops that no pose closes: rounded files, or more rows than joints.  Where joints were set, the check tells.
  void take_as_closed(const ClosedLoops& closed, const RobotTree& tree) {
    const Text left =
        fmt::format("{} {} not close: {:.3g} m are left at best, in '{}'", counted(std::ssize(closed.open), "loop"),
                    closed.open.size() == 1 ? "does" : "do", closed.gap, robot_.joints[closed.widest].name);
    if (!starts_.empty()) {
      robot_.remarks.push_back(left + "; set other joints");
      return;
    }
    robot_.remarks.push_back(left + "; taken as closed there");
    for (const std::size_t k : closed.open) {
      RobotJoint& j = robot_.joints[k];
      const Frame outside = tree.parent[k] == RobotTree::world ? Frame() : place_[tree.parent[k]];
      const Frame met = place_[tree.child[k]].inverse() * outside * j.on_parent;
      j.on_child.at = met.at;
      if (j.kind != RobotJoint::Kind::spherical) j.on_child.R = met.R;
    }
  }
  // The links without a parent stand in the world, or move freely.
  void bases(const std::vector<std::size_t>& roots) {
    if (options_.free_base || !robot_.fixed_base) return;
    for (const std::size_t i : roots) {
      RobotJoint base;
      base.name = roots.size() == 1 ? "base" : robot_.links[i].name + "_base";
      base.where = robot_.links[i].where;
      base.child = robot_.links[i].name;
      base.on_parent = place_[i];
      robot_.joints.push_back(base);
      joint_name_.push_back(names_.add(base.name));
      broken_.push_back(false);
    }
  }

  // The nearest tensor of a body: no moment is negative, and none above the sum of the others.
  void mend(RobotLink& link) {
    const Eigen::SelfAdjointEigenSolver<Mat<double, 3>> principal(link.inertia);
    const Vec3<double> given = principal.eigenvalues();
    Vec3<double> J = given.cwiseMax(0);
    try {
      require_triangle({"link", link.name}, J);
    } catch (const InvalidModel&) {
      const double lacking = (J[2] - J[0] - J[1]) / 2;
      J[0] += lacking, J[1] += lacking;
    }
    if (J == given) return;
    link.inertia = principal.eigenvectors() * J.asDiagonal() * principal.eigenvectors().transpose();
    robot_.remarks.push_back(
        fmt::format("link '{}': principal moments {:.4g}, {:.4g} and {:.4g} kg m^2 became {:.4g}, "
                    "{:.4g} and {:.4g}",
                    link.name, given[0], given[1], given[2], J[0], J[1], J[2]));
  }

  void body(std::size_t i) {
    if (options_.mend) mend(robot_.links[i]);
    const RobotLink& link = robot_.links[i];
    const Maker make{link.where};
    Value v = make.table();
    make.put(v, "kind", make.text("rigid_body"));
    make.put(v, "mass", make.number(link.mass));
    make.put(v, "centre", make.numbers(link.centre));
    std::vector<Vec3<double>> rows;
    for (Index r = 0; r < 3; ++r) rows.push_back(link.inertia.row(r).transpose());
    make.put(v, "inertia", make.list(rows, [&](const Vec3<double>& row) { return make.numbers(row); }));
    VectorXd q(7);
    q << place_[i].at, quaternion_from_matrix(place_[i].R);
    make.put(v, "place", make.numbers(q));
    if (linear_[i].norm() > 0 || angular_[i].norm() > 0) {
      Value velocity = make.table();
      make.put(velocity, "linear", make.numbers(linear_[i]));
      make.put(velocity, "angular", make.numbers(place_[i].R.transpose() * angular_[i]));
      make.put(v, "velocity", std::move(velocity));
    }
    add("bodies", make, body_name_[i], std::move(v));
    if (!link.weightless || link.mass == 0 || robot_.gravity.norm() == 0) return;
    Value lift = make.table();
    make.put(lift, "kind", make.text("applied_force"));
    make.put(lift, "bodies", make.texts({body_name_[i]}));
    make.put(lift, "at", make.numbers(link.centre));
    make.put(lift, "force", make.list(std::vector<Index>{0, 1, 2}, [&](Index r) {
      return make.text(fmt::format("{}", -link.mass * robot_.gravity[r]));
    }));
    add("forces", make, names_.add(body_name_[i] + "_no_gravity"), std::move(lift));
  }

  Text body_of(const Text& link) const { return link.empty() ? "ground" : body_name_[link_.at(link)]; }

  // The axis of the joint in the frames of the two links, with the same direction across.
  std::pair<Value, Value> axes(const Maker& make, const RobotJoint& j, const Vec3<double>& axis) const {
    const Vec3<double> x = across(axis);
    return {make.axis(j.on_parent.R * axis, j.on_parent.R * x), make.axis(j.on_child.R * axis, j.on_child.R * x)};
  }

  void joint(std::size_t k) {
    using Kind = RobotJoint::Kind;
    const RobotJoint& j = robot_.joints[k];
    if (broken_[k] || j.kind == Kind::floating || j.kind == Kind::measured) return;
    static const std::map<Kind, const char*> kinds{{Kind::fixed, "weld"},          {Kind::revolute, "revolute"},
                                                   {Kind::prismatic, "prismatic"}, {Kind::cylindrical, "cylindrical"},
                                                   {Kind::spherical, "spherical"}, {Kind::universal, "universal"},
                                                   {Kind::planar, "planar_joint"}, {Kind::screw, "screw"}};
    const Maker make{j.where};
    Value v = make.table();
    make.put(v, "kind", make.text(kinds.at(j.kind)));
    make.put(v, "bodies", make.texts({body_of(j.parent), body_of(j.child)}));
    make.put(v, "on_a", make.numbers(j.on_parent.at));
    make.put(v, "on_b", make.numbers(j.on_child.at));
    if (j.kind == Kind::universal) {
      make.put(v, "axis_a", make.numbers(j.on_parent.R * j.axis));
      make.put(v, "axis_b", make.numbers(j.on_child.R * j.axis_2));
    } else if (j.kind != Kind::spherical) {
      auto [a, b] = axes(make, j, j.kind == Kind::fixed ? Vec3<double>(0, 0, 1) : j.axis);
      make.put(v, "axis_a", std::move(a));
      make.put(v, "axis_b", std::move(b));
    }
    if (j.kind == Kind::screw) make.put(v, "pitch", make.number(j.pitch));
    if (j.limits && j.has_coordinate())
      make.put(v, "limits", make.numbers(Vec2<double>(j.limits->first, j.limits->second)));
    add("joints", make, joint_name_[k], std::move(v));
  }

  Text coordinate_name(std::size_t k) const {
    return joint_name_[k] + (robot_.joints[k].turns() ? "_angle" : "_position");
  }
  // A coordinate of the joint is needed by what acts on it; with its armature it is the rotor of a motor.
  const Text& coordinate(std::size_t k) {
    const auto [it, fresh] = coordinate_.emplace(k, "");
    if (!fresh) return it->second;
    const RobotJoint& j = robot_.joints[k];
    const Maker make{j.where};
    it->second = names_.add(coordinate_name(k));
    Value rotor = make.table();
    make.put(rotor, "kind", make.text("subsystem"));
    make.put(rotor, "coordinates", make.texts({"q"}));
    Value row = make.list(std::vector<double>{j.armature}, [&](double x) { return make.number(x); });
    make.put(rotor, "M", make.list(std::vector<int>{0}, [&](int) { return row; }));
    make.put(rotor, "place", make.numbers(VectorXd::Constant(1, j.start)));
    if (j.speed != 0) make.put(rotor, "velocity", make.numbers(VectorXd::Constant(1, j.speed)));
    add("bodies", make, it->second, std::move(rotor));
    Value v = make.table();
    make.put(v, "kind", make.text(j.turns() ? "angle_coordinate" : "displacement_coordinate"));
    make.put(v, "bodies", make.texts({body_of(j.parent), body_of(j.child), it->second}));
    auto [a, b] = axes(make, j, j.axis);
    make.put(v, "axis_a", std::move(a));
    if (j.turns()) {
      make.put(v, "axis_b", std::move(b));
    } else {
      make.put(v, "on_a", make.numbers(j.on_parent.at));
      make.put(v, "on_b", make.numbers(j.on_child.at));
    }
    add("joints", make, names_.add(joint_name_[k] + (j.turns() ? "_turn" : "_slide")), std::move(v));
    return it->second;
  }
  Value term(const Maker& make, int body, double factor) const {
    Value t = make.table();
    make.put(t, "body", make.number(body));
    t.table.back().value.kind = Value::Kind::integer;
    t.table.back().value.integer = body;
    make.put(t, "coordinate", make.text("q"));
    make.put(t, "factor", make.number(factor));
    return t;
  }

  void acting(std::size_t k) {
    const RobotJoint& j = robot_.joints[k];
    if (broken_[k]) return;
    const Maker make{j.where};
    if (j.kind == RobotJoint::Kind::spherical && j.damping != 0) {  // against all turns alike
      Value v = make.table();
      make.put(v, "kind", make.text("bushing"));
      make.put(v, "bodies", make.texts({body_of(j.parent), body_of(j.child)}));
      make.put(v, "on_a", make.numbers(j.on_parent.at));
      make.put(v, "on_b", make.numbers(j.on_child.at));
      make.put(v, "damping", make.numbers((Vec<double, 6>() << 0, 0, 0, j.damping, j.damping, j.damping).finished()));
      add("forces", make, names_.add(joint_name_[k] + "_damping"), std::move(v));
    }
    if (!j.has_coordinate()) {
      const bool damped = j.damping != 0 && j.kind != RobotJoint::Kind::spherical;
      std::vector<Text> left;
      for (const auto& [what, given] :
           {std::pair("damping", damped), std::pair("friction", j.friction != 0),
            std::pair("stiffness", j.stiffness != 0), std::pair("armature", j.armature != 0)})
        if (given) left.emplace_back(what);
      if (!left.empty())
        robot_.remarks.push_back(fmt::format("joint '{}' has no single coordinate: its {} {} left out", j.name,
                                             joined(left, " and "), left.size() == 1 ? "is" : "are"));
      return;
    }
    if (j.mimic) {
      const std::size_t leader = joint_.at(j.mimic->joint);
      if (broken_[leader]) return;
      const Text follower = coordinate(k);
      Value v = make.table();
      make.put(v, "kind", make.text("coupling"));
      make.put(v, "bodies", make.texts({follower, coordinate(leader)}));
      make.put(v, "terms",
               make.list(std::vector<std::pair<int, double>>{{0, 1}, {1, -j.mimic->factor}},
                         [&](const auto& t) { return term(make, t.first, t.second); }));
      make.put(v, "constant", make.number(-j.mimic->offset));
      add("joints", make, names_.add(joint_name_[k] + "_mimic"), std::move(v));
    }
    if (j.armature != 0) (void)coordinate(k);
    if (j.damping != 0 || j.stiffness != 0) {
      Value v = make.table();
      make.put(v, "kind", make.text("coordinate_spring"));
      make.put(v, "bodies", make.texts({coordinate(k)}));
      make.put(v, "terms", make.list(std::vector<int>{0}, [&](int b) { return term(make, b, 1); }));
      make.put(v, "stiffness", make.number(j.stiffness));
      make.put(v, "damping", make.number(j.damping));
      make.put(v, "rest", make.number(j.rest));
      add("forces", make, names_.add(joint_name_[k] + (j.stiffness != 0 ? "_spring" : "_damping")), std::move(v));
    }
    if (j.friction != 0) {
      Value v = make.table();
      make.put(v, "kind", make.text("coordinate_force"));
      make.put(v, "bodies", make.texts({coordinate(k)}));
      make.put(v, "coordinate", make.text("q"));
      make.put(v, "f", make.text(fmt::format("-{} * tanh(a.q' / {})", j.friction, j.turns() ? 0.05 : 0.005)));
      add("forces", make, names_.add(joint_name_[k] + "_friction"), std::move(v));
    }
  }

  // The joint of this name, if it has a coordinate; what is said of others is left out, and that is told.
  std::optional<std::size_t> with_coordinate(const Text& joint, const Text& part, const Where& where) {
    const auto it = joint_.find(joint);
    if (it == joint_.end()) {
      std::vector<Text> known;
      for (const auto& j : joint_) known.push_back(j.first);
      robot_.faults.push_back({where.text(), fmt::format("{}: there is no joint '{}'", part, joint),
                               suggestion(joint, known), "joint", joint});
      return std::nullopt;
    }
    if (broken_[it->second]) return std::nullopt;
    if (robot_.joints[it->second].has_coordinate()) return it->second;
    robot_.remarks.push_back(fmt::format("{} is left out: joint '{}' has no single coordinate", part, joint));
    return std::nullopt;
  }

  // What is asked for by the names of joints, as by actuators of these names.
  void control_joints() {
    std::set<Text> known;
    for (const RobotEffort& e : robot_.efforts)
      if (e.gain != 0) known.insert(e.name);
    const auto named = [&](const Text& name) {
      if (known.count(name)) return;
      const auto it = joint_.find(name);
      if (it == joint_.end() || !robot_.joints[it->second].has_coordinate()) {
        std::vector<Text> names(known.begin(), known.end());
        for (const RobotJoint& j : robot_.joints)
          if (j.has_coordinate()) names.push_back(j.name);
        fail({std::make_shared<const Text>("controls")}, fmt::format("the robot has no actuator or joint '{}'", name),
             suggestion(name, names));
      }
      known.insert(name);
      RobotEffort e{name, robot_.joints[it->second].where, {{name, 1}}};
      e.gain = 1;
      robot_.efforts.push_back(std::move(e));
    };
    for (const auto& [name, x] : options_.controls) named(name);
    if (!options_.control_table.empty()) table_ = read_controls(options_.control_table);
    for (const auto& [name, f] : table_) named(name);
  }
  // What it exerts beside its spring and damper, as a formula; "" if nothing.
  Text exerted(const RobotEffort& e) const {
    const auto kept = [&](double x) { return e.controls ? std::clamp(x, e.controls->first, e.controls->second) : x; };
    if (e.gain != 0)
      if (const auto it = table_.find(e.name); it != table_.end()) {
        const Text f = e.controls
                           ? fmt::format("max({}, min({}, {}))", e.controls->first, e.controls->second, it->second)
                           : it->second;
        return fmt::format("{} + ({}) * ({})", e.constant, e.gain, f);
      }
    const auto given = options_.controls.find(e.name);
    const double x = e.constant + e.gain * kept(given == options_.controls.end() ? e.control : given->second);
    return x == 0 ? Text() : fmt::format("{}", x);
  }

  void effort(const RobotEffort& e) {
    const Maker make{e.where};
    const Text constant = exerted(e);
    if (constant.empty() && e.stiffness == 0 && e.damping == 0) return;
    std::vector<Text> bodies;
    std::vector<double> factors;
    for (const auto& [joint, factor] : e.terms) {
      const auto k = with_coordinate(joint, e.name, e.where);
      if (!k) return;
      bodies.push_back(coordinate(*k));
      factors.push_back(factor);
    }
    if (e.range) return limited(e, make, constant.empty() ? "0" : constant, bodies, factors);
    if (e.stiffness != 0 || e.damping != 0) {
      Value v = make.table();
      make.put(v, "kind", make.text("coordinate_spring"));
      make.put(v, "bodies", make.texts(bodies));
      Value terms = make.list(std::vector<int>{}, [&](int) { return make.table(); });
      for (std::size_t i = 0; i < bodies.size(); ++i) terms.list.push_back(term(make, static_cast<int>(i), factors[i]));
      make.put(v, "terms", std::move(terms));
      make.put(v, "stiffness", make.number(e.stiffness));
      make.put(v, "damping", make.number(e.damping));
      make.put(v, "rest", make.number(e.rest));
      add("forces", make, names_.add(e.name), std::move(v));
    }
    if (!constant.empty())
      for (std::size_t i = 0; i < bodies.size(); ++i) {
        Value v = make.table();
        make.put(v, "kind", make.text("coordinate_force"));
        make.put(v, "bodies", make.texts({bodies[i]}));
        make.put(v, "coordinate", make.text("q"));
        make.put(v, "f", make.text(fmt::format("({}) * ({})", factors[i], constant)));
        add("forces", make, names_.add(e.name), std::move(v));
      }
  }

  // An effort that ends at its range: a formula for each joint, which is the first of its bodies.
  void limited(const RobotEffort& e, const Maker& make, const Text& constant, const std::vector<Text>& bodies,
               const std::vector<double>& factors) {
    constexpr std::size_t most = 3;  // bodies of a formula
    if (bodies.size() > most) {
      robot_.remarks.push_back(fmt::format("'{}' is left out: it has a range and more than {} joints", e.name, most));
      return;
    }
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      std::vector<Text> order{bodies[i]};
      Text L = fmt::format("({}) * a.q", factors[i]), rate = fmt::format("({}) * a.q'", factors[i]);
      for (std::size_t k = 0; k < bodies.size(); ++k) {
        if (k == i) continue;
        const char letter = static_cast<char>('a' + order.size());
        L += fmt::format(" + ({}) * {}.q", factors[k], letter);
        rate += fmt::format(" + ({}) * {}.q'", factors[k], letter);
        order.push_back(bodies[k]);
      }
      Value v = make.table();
      make.put(v, "kind", make.text("coordinate_force"));
      make.put(v, "bodies", make.texts(order));
      make.put(v, "coordinate", make.text("q"));
      make.put(
          v, "f",
          make.text(fmt::format("({}) * max({}, min({}, {} - ({}) * ({} - ({})) - ({}) * ({})))", factors[i],
                                e.range->first, e.range->second, constant, e.stiffness, L, e.rest, e.damping, rate)));
      add("forces", make, names_.add(e.name), std::move(v));
    }
  }

  void relation(const RobotRelation& r) {
    const Maker make{r.where};
    const auto first = with_coordinate(r.joint, r.name, r.where);
    if (!first) return;
    std::vector<Text> bodies{coordinate(*first)};
    if (!r.other.empty()) {
      const auto second = with_coordinate(r.other, r.name, r.where);
      if (!second) return;
      bodies.push_back(coordinate(*second));
    }
    Text f = fmt::format("a.q - ({}", r.c.empty() ? 0 : r.c[0]);
    for (std::size_t i = 1; i < r.c.size() && bodies.size() > 1; ++i)
      if (r.c[i] != 0) f += fmt::format(" + ({}) * b.q^{}", r.c[i], i);
    Value v = make.table();
    make.put(v, "kind", make.text("holonomic"));
    make.put(v, "bodies", make.texts(bodies));
    make.put(v, "f", make.text(f + ")"));
    add("joints", make, names_.add(r.name), std::move(v));
  }

  Robot& robot_;
  const RobotOptions& options_;
  Value root_;
  Names names_;
  std::map<Text, std::size_t> link_, joint_;
  std::vector<Text> body_name_, joint_name_;
  std::vector<bool> broken_;
  std::vector<Frame> place_;
  RobotTree tree_;                                 // as it stands at the start
  std::vector<std::size_t> loops_;                 // joints
  std::vector<bool> held_;                         // joints that were set
  std::map<std::size_t, double> starts_, speeds_;  // of joints, as asked for
  std::vector<Vec3<double>> linear_, angular_;     // velocities of the links, in the world
  std::set<Text> extra_parameters_, extra_bodies_;
  std::map<Text, Text> table_;  // controls by time: formulas
  std::map<std::size_t, Text> coordinate_;
  int without_coordinate_ = 0;  // joints that cannot follow others
};

}  // namespace

namespace {

// Sections that are there already grow by what is new in them.
void add_parts(Value& to, const Value& from) {
  for (const Value::Entry& section : from.table) {
    const auto there =
        std::find_if(to.table.begin(), to.table.end(), [&](const auto& e) { return e.key == section.key; });
    if (there == to.table.end()) {
      to.table.push_back(section);
      continue;
    }
    if (!section.value.is(Value::Kind::table)) {  // gravity
      there->value = section.value;
      continue;
    }
    for (const Value::Entry& e : section.value.table) {
      if (there->value.find(e.key))
        fail(e.where,
             fmt::format("the robot has {} '{}' already",
                         section.key == "bodies" ? "body" : section.key.substr(0, section.key.size() - 1), e.key),
             "give another name");
      there->value.table.push_back(e);
    }
  }
}

}  // namespace

Model robot_model(Robot robot, const std::string& path, const RobotOptions& options) {
  if (robot.links.empty()) fail(robot.where, fmt::format("robot '{}' has no link", robot.name), "add one");
  // Files that add parts: their parameters are those of the model.
  std::vector<Value> extras;
  std::set<std::string> extra_parameters, extra_bodies;
  for (const std::string& extra : options.with) {
    extras.push_back(read_toml(extra, extra));
    if (const Value* p = extras.back().find("parameters"))
      for (const auto& e : p->table) extra_parameters.insert(e.key);
    for (const char* section : {"joints", "forces", "sensors"})
      if (const Value* s = extras.back().find(section))
        for (const auto& e : s->table)
          if (const Value* bodies = e.value.find("bodies"))
            for (const Value& name : bodies->list) extra_bodies.insert(name.text);
  }
  Builder builder(robot, options, extra_parameters, extra_bodies);
  Value values = builder.values();
  for (const Value& extra : extras) add_parts(values, extra);
  std::map<std::string, double> parameters;
  for (const auto& [name, x] : options.joints)
    if (extra_parameters.count(name)) parameters[name] = x;
  const auto finished = [&](Model model) {
    model.remarks = robot.remarks;
    for (const std::string& extra : options.with)
      model.files.push_back(std::filesystem::weakly_canonical(extra).string());
    if (!options.control_table.empty())
      model.files.push_back(std::filesystem::weakly_canonical(options.control_table).string());
    for (std::size_t i = 0; i < robot.links.size(); ++i)
      if (!robot.links[i].shapes.empty()) model.shapes[builder.body_names()[i]] = robot.links[i].shapes;
    return model;
  };
  try {
    return finished(load_values(values, robot.name, path, robot.faults, parameters));
  } catch (const ModelError& error) {
    if (!error.rest()) throw;
    throw ModelError(error.faults(), std::make_shared<const Model>(finished(*error.rest())), error.judged());
  }
}

}  // namespace files

Model read_mjcf(const std::string& path, const RobotOptions& options) {
  const std::filesystem::path file(path);
  return files::robot_model(
      files::mjcf_robot(files::read_text(path, path), path, file.parent_path().string(), options.keyframe),
      std::filesystem::weakly_canonical(file).string(), options);
}
Model parse_mjcf(const std::string& text, const std::string& name, const RobotOptions& options) {
  return files::robot_model(files::mjcf_robot(text, name, ".", options.keyframe), "", options);
}

Model read_sdf(const std::string& path, const RobotOptions& options) {
  const std::filesystem::path file(path);
  return files::robot_model(
      files::sdf_robot(files::read_text(path, path), path, file.parent_path().string(), options.packages),
      std::filesystem::weakly_canonical(file).string(), options);
}
Model parse_sdf(const std::string& text, const std::string& name, const RobotOptions& options) {
  return files::robot_model(files::sdf_robot(text, name, ".", options.packages), "", options);
}

bool is_robot_file(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending == ".urdf" || ending == ".xacro" || ending == ".xml" || ending == ".mjcf" || ending == ".sdf" ||
         ending == ".world";
}

std::vector<JointMotion> joint_motions(const std::string& path, const RobotOptions& options, double seconds) {
  const std::string text = files::read_text(path, path), folder = std::filesystem::path(path).parent_path().string();
  const files::Xml root = files::parse_xml(text, path);
  files::Robot robot = root.is("mujoco") ? files::mjcf_robot(text, path, folder, options.keyframe)
                       : root.is("sdf")  ? files::sdf_robot(text, path, folder, options.packages)
                                         : files::urdf_file(path);
  return files::Builder(robot, options, {}, {}).motions(seconds);
}

Model read_robot(const std::string& path, const RobotOptions& options) {
  const files::Xml root = files::parse_xml(files::read_text(path, path), path);
  if (root.is("mujoco")) return read_mjcf(path, options);
  if (root.is("sdf") || root.is("gazebo")) return read_sdf(path, options);
  return read_urdf(path, options);
}

}  // namespace mortise
