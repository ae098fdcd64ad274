// Accelerations of robots beside MuJoCo's, joint by joint, at random states.
//
//   mortise_mujoco FILE...      files, or folders of them; those of the folder MORTISE_MODELS, too
//
// Prints the table of docs/ROBOT_FILES.md: the largest differences at ten states of each file.  Exit status 1 if one of
// accelerations is above 1e-9 of the largest acceleration there, or if less than three files could be compared.
// Contacts, limits, frictionloss and equalities are off on both sides; armature, damping, springs, gravity and
// actuators are on.  Mimic joints, which MuJoCo does not read from URDF, move freely.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>

#include <fmt/format.h>
#include <mujoco/mujoco.h>
#include <tinyxml2.h>

#include <mortise/bodies/rigid_body.h>
#include <mortise/core/file.h>
#include <mortise/core/rotation.h>
#include <mortise/files/robot_description.h>
#include <mortise/integrators/start.h>
#include <mortise/solve/solve.h>

using namespace mortise;
using files::Frame;
using files::Robot;
using files::RobotJoint;
using Kind = RobotJoint::Kind;
namespace fs = std::filesystem;

namespace {

constexpr double agreed = 1e-9;  // of the largest acceleration of the state

// ---- MuJoCo's side
struct Peer {
  std::unique_ptr<mjModel, void (*)(mjModel*)> model{nullptr, [](mjModel* m) { mj_deleteModel(m); }};
  std::unique_ptr<mjData, void (*)(mjData*)> data{nullptr, [](mjData* d) { mj_deleteData(d); }};
  std::string remark;  // what had to be left out for it
};

void drop(tinyxml2::XMLElement& parent, const char* name, bool below) {
  for (auto* c = parent.FirstChildElement(); c;) {
    auto* next = c->NextSiblingElement();
    if (c->Name() == std::string(name))
      parent.DeleteChild(c);
    else if (below)
      drop(*c, name, true);
    c = next;
  }
}
// Geoms of bodies whose inertia is given.
void drop_geoms(tinyxml2::XMLElement& x) {
  if (x.FirstChildElement("inertial")) drop(x, "geom", false);
  for (auto* c = x.FirstChildElement(); c; c = c->NextSiblingElement()) drop_geoms(*c);
}

// Written beside the file, since it may include others; under a name of its own, removed afterwards.
Peer load(const fs::path& file) {
  Peer peer;
  std::array<char, 1000> error{};
  const auto attempt = [&](const fs::path& path) {
    peer.model.reset(mj_loadXML(path.c_str(), nullptr, error.data(), static_cast<int>(error.size())));
    return peer.model != nullptr;
  };
  tinyxml2::XMLDocument document;
  if (document.LoadFile(file.c_str()) != tinyxml2::XML_SUCCESS) throw std::runtime_error("it is no XML");
  auto& root = *document.RootElement();
  const bool urdf = root.Name() == std::string("robot");
  if (urdf) {
    drop(root, "visual", true);
    drop(root, "collision", true);
    auto* extension = root.InsertNewChildElement("mujoco");
    auto* compiler = extension->InsertNewChildElement("compiler");
    compiler->SetAttribute("fusestatic", "false");
    compiler->SetAttribute("balanceinertia", "false");
  } else if (attempt(file)) {
    return peer;
  } else {
    peer.remark = "without geoms";
    drop_geoms(root);
    drop(root, "asset", false);
    drop(root, "contact", false);
    drop(root, "sensor", false);
    if (auto* option = root.FirstChildElement("option")) option->DeleteAttribute("integrator");
  }
  const fs::path changed = fs::temp_directory_path() / fmt::format("mortise_mujoco_{}.xml", std::rand());
  document.SaveFile(changed.c_str());
  const bool good = attempt(changed);
  fs::remove(changed);
  if (!good) throw std::runtime_error(fmt::format("MuJoCo: {}", error.data()));
  return peer;
}

// ---- ours
struct Motion {
  Frame place;
  Vec3<double> v{0, 0, 0}, w{0, 0, 0};  // of its origin, in the world
  Vec3<double> a{0, 0, 0}, alpha{0, 0, 0};
};

// A joint's coordinates and rates: as MuJoCo has them.
struct JointState {
  std::vector<double> q, v;
};

struct Joints {
  const Robot& robot;
  std::map<std::string, const RobotJoint*> above;
  std::map<std::string, std::size_t> index;
  std::vector<JointState> states;  // of the joints
  std::map<std::string, JointState> free;
  std::map<std::string, Motion> motions;

  explicit Joints(const Robot& r) : robot(r), states(r.joints.size()) {
    for (std::size_t k = 0; k < r.joints.size(); ++k)
      above[r.joints[k].child] = &r.joints[k], index[r.joints[k].child] = k;
  }

  static Mat<double, 3> turned(const std::vector<double>& q, std::size_t at) {
    return Eigen::Quaterniond(q[at], q[at + 1], q[at + 2], q[at + 3]).toRotationMatrix();
  }
  const Motion& of(const files::RobotLink& link) {
    if (const auto it = motions.find(link.name); it != motions.end()) return it->second;
    Motion out;
    const auto it = above.find(link.name);
    if (it == above.end()) {
      out.place = link.place;
      if (const auto f = free.find(link.name); f != free.end()) {
        const JointState& s = f->second;
        out.place = {{s.q[0], s.q[1], s.q[2]}, turned(s.q, 3)};
        out.v = {s.v[0], s.v[1], s.v[2]};
        out.w = out.place.R * Vec3<double>(s.v[3], s.v[4], s.v[5]);
      }
      return motions[link.name] = out;
    }
    const RobotJoint& j = *it->second;
    const JointState& s = states[index.at(link.name)];
    Motion from;
    if (!j.parent.empty())
      for (const files::RobotLink& l : robot.links)
        if (l.name == j.parent) from = of(l);
    const Frame joint = from.place * j.on_parent;
    Frame moved;
    Vec3<double> slide{0, 0, 0}, spin{0, 0, 0};  // in the frame of the joint
    const Vec3<double> z = j.axis.norm() > 0 ? Vec3<double>(j.axis.normalized()) : Vec3<double>(0, 0, 1);
    if (j.kind == Kind::revolute) {
      moved.R = Eigen::AngleAxisd(s.q[0], z).toRotationMatrix();
      spin = s.v[0] * z;
    } else if (j.kind == Kind::prismatic) {
      moved.at = s.q[0] * z;
      slide = s.v[0] * z;
    } else if (j.kind == Kind::spherical) {
      moved.R = turned(s.q, 0);
      spin = moved.R * Vec3<double>(s.v[0], s.v[1], s.v[2]);  // MuJoCo has it in the frame of the child
    }
    const Frame at = joint * moved;
    out.place = at * j.on_child.inverse();
    out.w = from.w + joint.R * spin;
    out.v = from.v + from.w.cross(at.at - from.place.at) + joint.R * slide + out.w.cross(out.place.at - at.at);
    return motions[link.name] = out;
  }

  // The rates' rates of a joint, from the accelerations of its links.
  VectorXd accelerations(const RobotJoint& j, const Motion& p, const Motion& c) const {
    const Mat<double, 3> Rp = p.place.R * j.on_parent.R;
    if (j.kind == Kind::prismatic) {
      // d = R_p'(x_c - x_p) along the axis; the joint's axes turn with the parent.
      const Vec3<double> r = (c.place * j.on_child).at - p.place.at;
      const Vec3<double> arm = (c.place * j.on_child).at - c.place.at;
      const Vec3<double> a = c.a + c.alpha.cross(arm) + c.w.cross(c.w.cross(arm)) - p.a;
      const Vec3<double> v = c.v + c.w.cross(arm) - p.v;
      const Vec3<double> relative = a - p.alpha.cross(r) - 2 * p.w.cross(v) + p.w.cross(p.w.cross(r));
      return VectorXd::Constant(1, (Rp * j.axis.normalized()).dot(relative));
    }
    const Vec3<double> w = c.w - p.w;
    if (j.kind == Kind::revolute)  // the axis turns with the parent
      return VectorXd::Constant(1, (Rp * j.axis.normalized()).dot(c.alpha - p.alpha - p.w.cross(w)));
    // The rate of what is seen in the frame of the child.
    return (c.place.R * j.on_child.R).transpose() * (c.alpha - p.alpha - c.w.cross(w));
  }
};

std::string name_of(const fs::path& file) {  // many are called robot.urdf
  return file.filename() == "robot.urdf" ? (file.parent_path().filename() / file.filename()).string()
                                         : file.filename().string();
}
std::string words(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

struct Row {
  std::string file, remark;
  Index dof = 0;
  double error = 0, places = 0, inertias = 0;  // of the largest acceleration; [m]; of the tensor
};

// MuJoCo turns tensors into principal axes by a solver that ends at 1e-7 of them: it gets those of the file to the last
// digit where it has read the same, and keeps its own where it has not.
void give_inertias(const Robot& robot, mjModel& m, Row& row) {
  for (const auto& l : robot.links) {
    const int b = mj_name2id(&m, mjOBJ_BODY, l.name.c_str());
    if (b <= 0 || !(l.inertia.norm() > 0)) continue;
    double *u = m.body_iquat + 4 * b, *J = m.body_inertia + 3 * b;
    const Mat<double, 3> R = Eigen::Quaterniond(u[0], u[1], u[2], u[3]).toRotationMatrix();
    const double apart = (R * Vec3<double>(J).asDiagonal() * R.transpose() - l.inertia).norm() / l.inertia.norm();
    row.inertias = std::max(row.inertias, apart);
    constexpr double the_same = 2e-6, round_off = 1e-14;
    if (apart > the_same || apart < round_off) continue;
    m.body_sameframe[b] = m.body_simple[b] = 0;  // it had taken the axes for those of the body
    const Eigen::SelfAdjointEigenSolver<Mat<double, 3>> principal(l.inertia);
    Mat<double, 3> axes = principal.eigenvectors();
    if (axes.determinant() < 0) axes.col(0) *= -1;
    const Eigen::Quaterniond q(axes);
    for (int i = 0; i < 3; ++i) J[i] = principal.eigenvalues()[i];
    u[0] = q.w(), u[1] = q.x(), u[2] = q.y(), u[3] = q.z();
  }
}

Row compare(const fs::path& file) {
  Row row;
  row.file = name_of(file);
  const Peer peer = load(file);
  row.remark = peer.remark;
  mjModel& m = *peer.model;
  m.opt.disableflags |= mjDSBL_CONTACT | mjDSBL_LIMIT | mjDSBL_FRICTIONLOSS | mjDSBL_EQUALITY;
  const std::unique_ptr<mjData, void (*)(mjData*)> data(mj_makeData(&m), [](mjData* d) { mj_deleteData(d); });
  mjData& d = *data;
  const std::string text = read_file(file.string());
  const bool urdf = file.extension() == ".urdf";
  Robot robot = urdf ? files::urdf_robot(text, file.string())
                     : files::mjcf_robot(text, file.string(), file.parent_path().string());
  std::erase_if(robot.joints, [](const RobotJoint& j) { return j.loop; });
  robot.relations.clear();
  for (RobotJoint& j : robot.joints) j.mimic.reset(), j.friction = 0;
  if (!robot.faults.empty())
    row.remark += fmt::format("{}{} faults", row.remark.empty() ? "" : ", ", robot.faults.size());

  // Which of MuJoCo's joints is which of ours: by name, in MJCF by order.
  std::vector<int> peer_of(robot.joints.size(), -1);
  std::map<std::string, int> free_of;
  std::vector<bool> used(static_cast<std::size_t>(m.njnt), false);
  int next = 0;
  const auto free_joint = [&](int k) { return m.jnt_type[k] == mjJNT_FREE; };
  const auto body_name = [&](int b) {
    const char* n = mj_id2name(&m, mjOBJ_BODY, b);
    return std::string(n ? n : "");
  };
  for (std::size_t i = 0; i < robot.joints.size(); ++i) {
    const RobotJoint& j = robot.joints[i];
    if (j.kind == Kind::fixed) continue;
    int k = urdf ? mj_name2id(&m, mjOBJ_JOINT, j.name.c_str()) : -1;
    if (!urdf) {
      while (next < m.njnt && free_joint(next)) ++next;
      k = next < m.njnt ? next++ : -1;
    }
    const int type = j.kind == Kind::revolute ? mjJNT_HINGE : j.kind == Kind::prismatic ? mjJNT_SLIDE : mjJNT_BALL;
    if (k < 0 || m.jnt_type[k] != type ||
        (j.kind != Kind::revolute && j.kind != Kind::prismatic && j.kind != Kind::spherical))
      throw std::runtime_error(fmt::format("joint '{}' is another one for MuJoCo", j.name));
    peer_of[i] = k;
    used[static_cast<std::size_t>(k)] = true;
  }
  int unnamed = 0;
  for (int k = 0; k < m.njnt; ++k) {
    if (!free_joint(k)) continue;
    used[static_cast<std::size_t>(k)] = true;
    std::string name = body_name(m.jnt_bodyid[k]);
    if (name.empty()) name = fmt::format("body_{}", ++unnamed);
    free_of[name] = k;
  }
  if (std::find(used.begin(), used.end(), false) != used.end())
    throw std::runtime_error("MuJoCo has joints that are not read");

  give_inertias(robot, m, row);
  std::mt19937 generator(1);
  std::normal_distribution<double> normal(0, 1);
  constexpr int states = 10;
  row.dof = m.nv;
  std::map<std::string, const files::RobotLink*> links;
  for (const auto& l : robot.links) links[l.name] = &l;
  const Model model = files::robot_model(robot, "", {});
  const System system(model.assembly);
  std::map<std::string, Index> firsts;
  for (const auto& b : system.bodies()) firsts[b.name] = b.first;
  const auto first_of = [&](std::string name) {
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '/' || c == '.'; }, '_');
    const auto it = firsts.find(name);
    if (it == firsts.end()) throw std::runtime_error(fmt::format("link '{}' is called otherwise", name));
    return it->second;
  };
  for (int sample = 0; sample < states; ++sample) {
    Joints joints(robot);
    const auto draw = [&](int k, JointState& s) {
      const int at = m.jnt_qposadr[k], dof = m.jnt_dofadr[k], type = m.jnt_type[k];
      const int nq = type == mjJNT_FREE   ? 7
                     : type == mjJNT_BALL ? 4
                                          : 1,
                nv = type == mjJNT_FREE   ? 6
                     : type == mjJNT_BALL ? 3
                                          : 1;
      for (int i = 0; i < nq; ++i) s.q.push_back((type == mjJNT_SLIDE ? 0.1 : 1) * normal(generator));
      for (int i = 0; i < nv; ++i) s.v.push_back(normal(generator));
      if (nq >= 4) {
        double size = 0;
        for (int i = nq - 4; i < nq; ++i) size += s.q[static_cast<std::size_t>(i)] * s.q[static_cast<std::size_t>(i)];
        for (int i = nq - 4; i < nq; ++i) s.q[static_cast<std::size_t>(i)] /= std::sqrt(size);
      }
      for (int i = 0; i < nq; ++i) d.qpos[at + i] = s.q[static_cast<std::size_t>(i)];
      if (nq == 1) d.qpos[at] += m.qpos0[at];  // ours count from where the body stands in the file
      for (int i = 0; i < nv; ++i) d.qvel[dof + i] = s.v[static_cast<std::size_t>(i)];
    };
    for (std::size_t i = 0; i < robot.joints.size(); ++i)
      if (peer_of[i] >= 0) draw(peer_of[i], joints.states[i]);
    for (const auto& [name, k] : free_of) draw(k, joints.free[name]);
    for (int i = 0; i < m.nu; ++i)
      d.ctrl[i] = m.actuator_ctrlrange[2 * i] < m.actuator_ctrlrange[2 * i + 1]
                      ? std::clamp(0.0, m.actuator_ctrlrange[2 * i], m.actuator_ctrlrange[2 * i + 1])
                      : 0;
    mj_forward(&m, &d);

    State s = model.start(system);
    for (const auto& l : robot.links) {
      const Motion& x = joints.of(l);
      const Index first = first_of(l.name);
      s.q.segment<7>(first) << x.place.at, quaternion_from_matrix(x.place.R);
      s.v.segment<7>(first) = RigidBody::rates(s.q.segment<7>(first), x.v, x.place.R.transpose() * x.w);
      const int b = mj_name2id(&m, mjOBJ_BODY, l.name.c_str());
      if (b > 0)
        for (int i = 0; i < 3; ++i) row.places = std::max(row.places, std::abs(d.xpos[3 * b + i] - x.place.at[i]));
    }
    for (std::size_t i = 0; i < robot.joints.size(); ++i)
      for (const char* ending : {"_angle", "_position", "_joint_angle", "_joint_position"})  // of a link's name, too
        if (const auto it = firsts.find(robot.joints[i].name + ending); it != firsts.end()) {
          s.q[it->second] = joints.states[i].q[0];
          s.v[it->second] = joints.states[i].v[0];
        }
    const Solution solution = solve(system, s);
    for (const auto& l : robot.links) {
      Motion& x = joints.motions.at(l.name);
      const Index first = first_of(l.name);
      const Vec<double, 4> u = s.q.segment<4>(first + 3), ddu = solution.a.segment<4>(first + 3);
      // w = 2 (vector part of conj(u) u') in the body; its rate has no term of u' u'.
      const Eigen::Quaterniond U(u[0], u[1], u[2], u[3]), A(ddu[0], ddu[1], ddu[2], ddu[3]);
      x.a = solution.a.segment<3>(first);
      x.alpha = x.place.R * (2 * (U.conjugate() * A).vec());
    }
    double size = 0, apart = 0;
    const auto against = [&](int k, const VectorXd& a) {
      for (Index i = 0; i < a.size(); ++i) {
        const double theirs = d.qacc[m.jnt_dofadr[k] + static_cast<int>(i)];
        size = std::max(size, std::abs(theirs));
        if (!(std::abs(theirs - a[i]) <= apart)) apart = std::abs(theirs - a[i]);
      }
    };
    const Motion world;
    for (std::size_t i = 0; i < robot.joints.size(); ++i) {
      const RobotJoint& j = robot.joints[i];
      if (peer_of[i] < 0) continue;
      against(peer_of[i], joints.accelerations(j, j.parent.empty() ? world : joints.motions.at(j.parent),
                                               joints.motions.at(j.child)));
    }
    for (const auto& [name, k] : free_of) {
      const Motion& x = joints.motions.at(name);
      VectorXd a(6);
      a << x.a, x.place.R.transpose() * x.alpha;
      against(k, a);
    }
    if (!(apart / std::max(size, 1.0) <= row.error)) row.error = apart / std::max(size, 1.0);
  }
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<fs::path> files;
  const auto add = [&](const fs::path& path) {
    if (!fs::is_directory(path)) return files.push_back(path);
    for (const auto& entry : fs::recursive_directory_iterator(path))
      if (const fs::path ending = entry.path().extension(); ending == ".xml" || ending == ".urdf")
        files.push_back(entry.path());
  };
  for (int i = 1; i < argc; ++i) add(argv[i]);
  if (const char* folder = std::getenv("MORTISE_MODELS")) add(folder);
  std::sort(files.begin(), files.end());
  fmt::print(
      "MuJoCo {}\n\n| file | degrees of freedom | places apart [m] | inertias apart | accelerations apart | remark |\n"
      "|---|---|---|---|---|---|\n",
      mj_versionString());
  int compared = 0;
  bool good = true;
  for (const fs::path& file : files) {
    try {
      const Row r = compare(file);
      good = good && r.error <= agreed;
      ++compared;
      fmt::print("| {} | {} | {:.1e} | {:.1e} | {:.1e} | {} |\n", name_of(file), r.dof, r.places, r.inertias, r.error,
                 r.remark);
    } catch (const std::exception& error) {
      fmt::print("| {} | | | | | {} |\n", name_of(file), words(error.what()));
    }
  }
  return good && compared >= 3 ? 0 : 1;
}
