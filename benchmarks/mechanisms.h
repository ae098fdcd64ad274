#pragma once
// The mechanisms that are measured, as plain numbers from which each side builds its own model.
//
// No Eigen here or in the other headers that a peer's program includes: its vectors differ with the compiler's flags.

#include <array>
#include <vector>

namespace bench {

using Vec3 = std::array<double, 3>;
using Quaternion = std::array<double, 4>;  // scalar first, body axes to world axes

inline constexpr double gravity = 9.81;  // [m/s^2]

// Rods of length 1 along their y axes, one hung from the other by joints at their ends, the first from the origin.
// Gravity acts along -z.
struct Chain {
  static constexpr double mass = 1;                             // [kg]
  static constexpr Vec3 inertia{1.0 / 12.0, 0.01, 1.0 / 12.0};  // [kg m^2] about the centre
  static constexpr Vec3 top{0, 0.5, 0}, bottom{0, -0.5, 0};     // [m]

  struct Rod {
    Quaternion u;           // orientation
    Vec3 w;                 // [rad/s] angular velocity in body axes
    Vec3 x, v;              // centre and its velocity
    Quaternion relative_u;  // orientation seen from the rod above
    Vec3 relative_w;        // angular velocity against the rod above, in the axes of this rod
    Vec3 axis;              // of the revolute joint above, in the axes of either rod
    double angle, rate;     // of the revolute joint above
    bool massless = false;  // no mass, and inertia about its own y axis alone
  };
  bool revolute = false;  // else spherical
  std::vector<Rod> rods;

  int size() const { return static_cast<int>(rods.size()); }
};

// Random orientations and angular velocities, always the same ones; positions and velocities fit the joints.
Chain spherical_chain(int n);
// Random angles and rates; the axes lie alternately along x and z.
Chain revolute_chain(int n);

// R(u) r, and R(u)' r
Vec3 rotate(const Quaternion& u, const Vec3& r);
Vec3 rotate_back(const Quaternion& u, const Vec3& r);

// N windows in the plane: N + 1 parallel rods stand on pins at (i, 0), N couplers join their tops.
// All rods and couplers have length 1, mass 1 and inertia 1/12.  Gravity acts along -y.
//
//   o-----o-----o       The usual initial state has the rods upright, turning at -1 rad/s.  There theta'' = 0,
//   |     |     |       which tells nothing; this is a moment later.
//   o     o     o
struct FourBar {
  static constexpr double upright = 3.14159265358979323846 / 2;
  int windows = 1;
  double theta = upright - 0.3;  // [rad] of all rods against the x axis
  double rate = -1;              // [rad/s]

  double theta_acceleration() const;  // in closed form
};

// max |a - b| / max |b|
double difference(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace bench
