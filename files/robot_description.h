#pragma once
// A robot as robot files describe it: links and joints between frames of links, in SI units.  The readers of the
// formats make one; robot_model() makes the model of it, by the same way that model files go.

#include <optional>
#include <string>
#include <vector>

#include <mortise/core/types.h>
#include <mortise/files/robot.h>
#include <mortise/files/value.h>

namespace mortise::files {

// A frame seen from another one: x_outside = at + R x_inside.
struct Frame {
  Vec3<double> at{0, 0, 0};
  Mat<double, 3> R = Mat<double, 3>::Identity();

  Frame operator*(const Frame& inner) const { return {at + R * inner.at, R * inner.R}; }
  Frame inverse() const { return {-(R.transpose() * at), R.transpose()}; }
  static Frame from_rpy(const Vec3<double>& at, const Vec3<double>& rpy);  // fixed axes x, y, z in this order
  Vec3<double> operator*(const Vec3<double>& inside) const { return at + R * inside; }
  Vec3<double> rotation_vector() const;
  static Frame turn(const Vec3<double>& axis, double angle);
};

struct RobotLink {
  std::string name;
  Where where;
  double mass = 0;
  Vec3<double> centre{0, 0, 0};
  Mat<double, 3> inertia = Mat<double, 3>::Zero();  // about the centre, in the axes of the link
  bool weightless = false;                          // gravity does not act on it
  std::vector<Shape> shapes;
  Frame place;                                    // in the world, of a link that no joint places
  Vec3<double> velocity{0, 0, 0}, spin{0, 0, 0};  // of such a link: of its origin in the world, in its own axes
};

// A measured one leaves the links free: it is the turn of its child about an axis that both have in common.
struct RobotJoint {
  enum class Kind { fixed, revolute, prismatic, cylindrical, spherical, universal, planar, screw, floating, measured };
  struct Mimic {
    std::string joint;
    double factor = 1, offset = 0;
  };

  std::string name;
  Where where;
  Kind kind = Kind::fixed;
  std::string parent, child;  // links; parent "" is the world
  Frame on_parent, on_child;  // of the joint, in the frames of the links; where nothing has moved they coincide
  Vec3<double> axis{0, 0, 1}, axis_2{0, 1, 0};  // in the frame of the joint
  double pitch = 0;                             // [m] per turn
  bool loop = false;                            // it does not place its child
  bool meets = false;                           // on_parent follows: where nothing has moved it is on_child's place
  bool base = false;                            // it is left out where the base is to be free
  double damping = 0, friction = 0;             // [N m s/rad] or [N s/m], [N m] or [N]
  double stiffness = 0, rest = 0, armature = 0;
  std::optional<Mimic> mimic;
  double start = 0, speed = 0;                      // [rad] or [m], and its rate
  Frame turned;                                     // of a ball, at the start
  Vec3<double> spin{0, 0, 0};                       // of a ball: of the child, in its frame of the joint
  std::optional<std::pair<double, double>> limits;  // [rad] or [m]

  bool has_coordinate() const {
    return kind == Kind::revolute || kind == Kind::prismatic || kind == Kind::cylindrical || kind == Kind::screw ||
           kind == Kind::measured;
  }
  bool turns() const { return kind != Kind::prismatic; }  // its coordinate is an angle
};

// A spring, damper or actuator on L = sum of factor times joint coordinate:
// effort on L = constant + gain control - stiffness (L - rest) - damping L', within the range where one is given.
struct RobotEffort {
  std::string name;
  Where where;
  std::vector<std::pair<std::string, double>> terms;  // joint, factor
  double constant = 0, stiffness = 0, rest = 0, damping = 0;
  std::optional<std::pair<double, double>> range = {};
  double gain = 0, control = 0;  // of an actuator; its control lies within controls
  std::optional<std::pair<double, double>> controls = {};
};

// Coordinate of one joint = c0 + c1 x + c2 x^2 + ..., x the coordinate of another one, or 0 where there is none.
struct RobotRelation {
  std::string name;
  Where where;
  std::string joint, other;
  std::vector<double> c;
};

struct Robot {
  std::string name;
  Where where;
  Vec3<double> gravity{0, 0, -9.81};
  std::vector<RobotLink> links;
  std::vector<RobotJoint> joints;
  std::vector<RobotEffort> efforts;
  std::vector<RobotRelation> relations;
  bool fixed_base = true;          // links that no joint places stand still
  std::vector<ModelFault> faults;  // found by the reader
  std::vector<std::string> remarks;

  // Keeps what goes wrong with a part, so that the others can be read; whether nothing did.
  template <class F> bool attempt(const Label& part, const F& f) {
    try {
      f();
      return true;
    } catch (const ModelError& error) {
      for (ModelFault fault : error.faults()) {
        if (fault.name.empty()) fault.kind = part.kind, fault.name = part.name;
        faults.push_back(std::move(fault));
      }
      return false;
    }
  }
};

// What a file of URDF tells, faults included.  Throws ModelError for what is no URDF at all.
Robot urdf_robot(const std::string& text, const std::string& name);

// The same of a file, and of the loops beside it.
Robot urdf_file(const std::string& path);

// The same of MJCF; files it includes are looked for in the folder.
Robot mjcf_robot(const std::string& text, const std::string& name, const std::string& folder,
                 const std::string& keyframe = "");

// The same of SDF; likewise.
Robot sdf_robot(const std::string& text, const std::string& name, const std::string& folder,
                const std::vector<std::string>& packages = {});

std::string colour_text(const std::vector<double>& rgb);  // "#rrggbb", of numbers from 0 to 1

// Throws ModelError for all that is wrong, with the rest.
Model robot_model(Robot robot, const std::string& path, const RobotOptions& options);

// The model that a tree of values tells (reader.cpp).  `faults` were found before, and are told with what is found.
Model load_values(const Value& root, const std::string& name, const std::string& path, std::vector<ModelFault> faults,
                  const std::map<std::string, double>& parameters = {});

}  // namespace mortise::files
