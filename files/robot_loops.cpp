#include <mortise/files/robot_loops.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <set>

#include <mortise/core/axis.h>

namespace mortise::files {
namespace {

using Kind = RobotJoint::Kind;

// One way in which a joint moves: it turns about an axis or slides along it, in the joint's frame on the parent.
struct Freedom {
  std::size_t joint;
  Vec3<double> axis;
  bool turns;
};

std::vector<Freedom> freedoms(const Robot& robot, const RobotTree& tree, const std::vector<bool>& held) {
  std::vector<Freedom> out;
  for (const std::size_t k : tree.order) {
    const RobotJoint& j = robot.joints[k];
    if (held[k] || j.mimic) continue;
    const Vec3<double> z = j.axis.norm() > 0 ? Vec3<double>(j.axis.normalized()) : Vec3<double>(0, 0, 1);
    switch (j.kind) {
      case Kind::revolute:
        out.push_back({k, z, true});
        break;
      case Kind::prismatic:
        out.push_back({k, z, false});
        break;
      case Kind::cylindrical:
        out.push_back({k, z, true});
        out.push_back({k, z, false});
        break;
      case Kind::spherical:
        for (int i = 0; i < 3; ++i) out.push_back({k, Vec3<double>::Unit(i), true});
        break;
      case Kind::planar:
        out.push_back({k, z, true});
        out.push_back({k, Axis(z).across_1, false});
        out.push_back({k, Axis(z).across_2, false});
        break;
      default:  // universal and screw joints stay where they are
        break;
    }
  }
  return out;
}

class Closer {
 public:
  Closer(Robot& robot, RobotTree& tree, std::vector<std::size_t> loops, const std::vector<bool>& held)
      : robot_(robot), tree_(tree), loops_(std::move(loops)), freedoms_(freedoms(robot, tree, held)) {
    for (std::size_t k = 0; k < robot.joints.size(); ++k) index_[robot.joints[k].name] = k;
    size_ = 1e-3;
    for (const RobotJoint& j : robot.joints) size_ = std::max({size_, j.on_parent.at.norm(), j.on_child.at.norm()});
    std::erase_if(freedoms_, [&](const Freedom& f) { return !on_loops(f); });
  }

  // Those that move these loops.
  std::set<std::size_t> joints() const {
    std::set<std::size_t> out;
    for (const Freedom& f : freedoms_) out.insert(f.joint);
    return out;
  }

  ClosedLoops close() {
    ClosedLoops out;
    const RobotTree given = tree_;
    const std::vector<RobotJoint> joints = robot_.joints;
    constexpr double met = 1e-9;  // of the size: the gap below which the joints' own rows hold what is left
    double best = gaps().norm();
    if (best <= met) return out;
    RobotTree best_tree = tree_;
    std::vector<RobotJoint> best_joints = joints;
    std::mt19937 generator(1);
    std::normal_distribution<double> normal(0, 0.3);
    constexpr int starts = 12;
    for (int start = 0; start < starts && best > met; ++start) {
      tree_ = given;
      robot_.joints = joints;
      if (start > 0) {
        VectorXd nearby(std::ssize(freedoms_));
        for (double& x : nearby) x = normal(generator);
        move(nearby);
      }
      const double left = descend(met);
      constexpr double clearly = 0.99;  // the first of equal ones is the nearest
      if (left < clearly * best) best = left, best_tree = tree_, best_joints = robot_.joints;
    }
    tree_ = std::move(best_tree);
    robot_.joints = std::move(best_joints);
    for (const Freedom& f : freedoms_)
      if (RobotJoint& j = robot_.joints[f.joint]; j.kind == Kind::revolute && followers(f.joint).empty())
        j.start = std::remainder(j.start, 2 * std::numbers::pi);
    for (std::size_t k = 0; k < joints.size(); ++k) {
      const double moved = std::abs(robot_.joints[k].start - joints[k].start);
      if (moved > out.moved) out.moved = moved, out.joint = k;
    }
    if (best <= met) return out;
    out.open = loops_;
    const VectorXd r = gaps();
    Index n = 0;
    for (const std::size_t k : loops_) {
      if (const double gap = size_ * r.segment<3>(n).norm(); gap >= out.gap) out.gap = gap, out.widest = k;
      n += rows(robot_.joints[k]);
    }
    return out;
  }

 private:
  // The gap that is left.
  double descend(double met) {
    double damping = 1e-3;
    VectorXd r = gaps();
    constexpr int most = 300;
    for (int i = 0; i < most; ++i) {
      if (r.norm() <= 1e-3 * met) break;
      const MatrixXd J = slopes();
      const VectorXd downhill = J.transpose() * r;
      if (downhill.norm() <= 1e-15) break;
      const RobotTree before = tree_;
      const std::vector<RobotJoint> joints = robot_.joints;
      MatrixXd N = J.transpose() * J;
      N.diagonal().array() += damping;
      VectorXd step = -N.llt().solve(downhill);
      constexpr double largest = 0.3;  // [rad] or [m]: far steps land on other branches
      if (const double most_moved = step.cwiseAbs().maxCoeff(); most_moved > largest) step *= largest / most_moved;
      move(step);
      const VectorXd now = gaps();
      if (now.norm() < r.norm()) {
        r = now;
        damping = std::max(damping / 4, 1e-14);
      } else {
        tree_ = before;
        robot_.joints = joints;
        damping *= 8;
        if (damping > 1e8) break;
      }
    }
    return r.norm();
  }

  static Index rows(const RobotJoint& j) { return j.kind == Kind::spherical ? 3 : 6; }

  // Positions over the size, and rotation vectors; of hinges without the turn about the axis, of slides without the
  // way.
  VectorXd gaps() const {
    const std::vector<Frame> at = places(robot_, tree_);
    Index n = 0;
    for (const std::size_t k : loops_) n += rows(robot_.joints[k]);
    VectorXd r(n);
    n = 0;
    for (const std::size_t k : loops_) {
      const RobotJoint& j = robot_.joints[k];
      const auto [a, b] = ends(k, at);
      Vec3<double> p = (b.at - a.at) / size_, turn = Frame{{0, 0, 0}, b.R * a.R.transpose()}.rotation_vector();
      allow(j, a, p, turn);
      r.segment<3>(n) = p;
      if (rows(j) == 6) r.segment<3>(n + 3) = turn;
      n += rows(j);
    }
    return r;
  }
  // What the loop's own joint allows is no gap.
  static void allow(const RobotJoint& j, const Frame& a, Vec3<double>& p, Vec3<double>& turn) {
    const Vec3<double> z = a.R * (j.axis.norm() > 0 ? Vec3<double>(j.axis.normalized()) : Vec3<double>(0, 0, 1));
    if (j.kind == Kind::revolute || j.kind == Kind::cylindrical || j.kind == Kind::planar) turn -= z.dot(turn) * z;
    if (j.kind == Kind::prismatic || j.kind == Kind::cylindrical) p -= z.dot(p) * z;
    if (j.kind == Kind::planar) p = z.dot(p) * z;
  }
  std::pair<Frame, Frame> ends(std::size_t k, const std::vector<Frame>& at) const {
    const RobotJoint& j = robot_.joints[k];
    const Frame outside = tree_.parent[k] == RobotTree::world ? Frame() : at[tree_.parent[k]];
    return {outside * j.on_parent, at[tree_.child[k]] * j.on_child};
  }

  MatrixXd slopes() const {
    const std::vector<Frame> at = places(robot_, tree_);
    Index n = 0;
    for (const std::size_t k : loops_) n += rows(robot_.joints[k]);
    MatrixXd J = MatrixXd::Zero(n, std::ssize(freedoms_));
    n = 0;
    for (const std::size_t k : loops_) {
      const RobotJoint& j = robot_.joints[k];
      const auto [a, b] = ends(k, at);
      for (Index f = 0; f < J.cols(); ++f) {
        const Freedom& freedom = freedoms_[static_cast<std::size_t>(f)];
        Vec3<double> p = Vec3<double>::Zero(), turn = Vec3<double>::Zero();
        const auto add = [&](std::size_t joint, const Vec3<double>& axis, bool turns, double factor) {
          const RobotJoint& moving = robot_.joints[joint];
          const Frame outside =
              (tree_.parent[joint] == RobotTree::world ? Frame() : at[tree_.parent[joint]]) * moving.on_parent;
          const Vec3<double> z = factor * (outside.R * axis), o = outside.at + outside.R * tree_.motion[joint].at;
          for (const auto& [link, point, sign] :
               {std::tuple(tree_.child[k], b.at, 1.0), std::tuple(tree_.parent[k], a.at, -1.0)})
            if (link != RobotTree::world && carries(joint, link)) {
              p += sign * (turns ? Vec3<double>(z.cross(point - o)) : z) / size_;
              if (turns) turn += sign * z;
            }
        };
        add(freedom.joint, freedom.axis, freedom.turns, 1);
        for (const auto& [follower, factor] : followers(freedom.joint)) {
          const RobotJoint& m = robot_.joints[follower];
          add(follower, m.axis.normalized(), m.turns(), factor);
        }
        allow(j, a, p, turn);
        J.block<3, 1>(n, f) = p;
        if (rows(j) == 6) J.block<3, 1>(n + 3, f) = turn;
      }
      n += rows(j);
    }
    return J;
  }
  // Whether it moves one end of a loop and not the other.
  bool on_loops(const Freedom& f) const {
    std::vector<std::pair<std::size_t, double>> moving = followers(f.joint);
    moving.emplace_back(f.joint, 1);
    for (const std::size_t k : loops_)
      for (const auto& [joint, factor] : moving) {
        const bool parent = tree_.parent[k] != RobotTree::world && carries(joint, tree_.parent[k]);
        if (parent != carries(joint, tree_.child[k])) return true;
      }
    return false;
  }
  bool carries(std::size_t joint, std::size_t link) const {
    while (tree_.above[link]) {
      if (*tree_.above[link] == joint) return true;
      link = tree_.parent[*tree_.above[link]];
      if (link == RobotTree::world) return false;
    }
    return false;
  }
  // Joints that mimic this one, also by way of others.
  std::vector<std::pair<std::size_t, double>> followers(std::size_t leader) const {
    std::vector<std::pair<std::size_t, double>> out;
    if (!robot_.joints[leader].has_coordinate()) return out;
    for (const std::size_t k : tree_.order) {
      double factor = 1;
      std::size_t i = k;
      for (std::size_t steps = 0; robot_.joints[i].mimic && steps < robot_.joints.size(); ++steps) {
        factor *= robot_.joints[i].mimic->factor;
        i = index_.at(robot_.joints[i].mimic->joint);
      }
      if (i == leader && k != leader) out.emplace_back(k, factor);
    }
    return out;
  }

  void move(const VectorXd& by) {
    const auto turn = [&](std::size_t k, const Vec3<double>& axis, bool turns, double x) {
      Frame& m = tree_.motion[k];
      if (turns)
        m.R = Frame::turn(axis, x).R * m.R;
      else
        m.at += x * axis;
      if (robot_.joints[k].has_coordinate()) robot_.joints[k].start += x;
    };
    for (Index f = 0; f < by.size(); ++f) {
      const Freedom& freedom = freedoms_[static_cast<std::size_t>(f)];
      turn(freedom.joint, freedom.axis, freedom.turns, by[f]);
      for (const auto& [follower, factor] : followers(freedom.joint)) {
        const RobotJoint& m = robot_.joints[follower];
        turn(follower, m.axis.normalized(), m.turns(), factor * by[f]);
      }
    }
    for (const std::size_t k : tree_.order) {  // rotations stay orthonormal
      const RobotJoint& j = robot_.joints[k];
      if (j.kind == Kind::revolute)
        tree_.motion[k].R = Frame::turn(j.axis.normalized(), j.start).R;
      else
        tree_.motion[k].R = Eigen::Quaterniond(tree_.motion[k].R).normalized().toRotationMatrix();
    }
  }

  Robot& robot_;
  RobotTree& tree_;
  std::vector<std::size_t> loops_;
  std::vector<Freedom> freedoms_;
  std::map<std::string, std::size_t> index_;
  double size_;
};

}  // namespace

std::vector<Frame> places(const Robot& robot, const RobotTree& tree) {
  std::vector<Frame> out = tree.root;
  for (const std::size_t k : tree.order) {
    const RobotJoint& j = robot.joints[k];
    const Frame outside = tree.parent[k] == RobotTree::world ? Frame() : out[tree.parent[k]];
    out[tree.child[k]] = outside * j.on_parent * tree.motion[k] * j.on_child.inverse();
  }
  return out;
}

ClosedLoops close_loops(Robot& robot, RobotTree& tree, const std::vector<std::size_t>& loops,
                        const std::vector<bool>& held) {
  // Loops that share a joint that moves are closed together, those of other legs by themselves.
  std::map<std::size_t, std::vector<std::size_t>> groups;  // by the first loop of each
  std::map<std::size_t, std::size_t> group_of;             // of a joint that moves
  for (std::size_t i = 0; i < loops.size(); ++i) {
    groups[i] = {loops[i]};
    for (const std::size_t joint : Closer(robot, tree, {loops[i]}, held).joints()) {
      const std::size_t other = group_of.try_emplace(joint, i).first->second;
      if (other == i) continue;
      groups[i].insert(groups[i].end(), groups[other].begin(), groups[other].end());
      groups.erase(other);
      for (auto& [k, group] : group_of)
        if (group == other) group = i;
    }
  }
  ClosedLoops out;
  for (const auto& [first, group] : groups) {
    const ClosedLoops one = Closer(robot, tree, group, held).close();
    out.open.insert(out.open.end(), one.open.begin(), one.open.end());
    if (!one.open.empty() && one.gap >= out.gap) out.gap = one.gap, out.widest = one.widest;
    if (one.moved > out.moved) out.moved = one.moved, out.joint = one.joint;
  }
  return out;
}

}  // namespace mortise::files
