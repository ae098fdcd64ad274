#pragma once
// Random mechanisms, as plans: plain structs of bodies, joints and forces.  A plan is built into a System in any order,
// with any names and in any units.
//
// Poses come first; a joint's point and axis are chosen in the world and expressed in both frames, so that phi = 0 to
// round-off.  Velocities are random, then projected onto the constraints: rows that depend on others then agree about
// b. Number k is the same mechanism every time.

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <mortise/assembly/assembly.h>
#include <mortise/assembly/system.h>
#include <mortise/core/rotation.h>
#include <mortise/joints/coupling.h>

#include "random_equations.h"

namespace mortise::testing {

enum class Kind { ground, particle2, particle3, planar, rigid, pair };

struct BodyPlan {
  Kind kind;
  double mass = 0;
  Mat<double, 3> inertia = Mat<double, 3>::Zero();  // a planar body's is (2, 2)
  Vec3<double> centre{0, 0, 0};
  MatrixXd M = {};  // of a pair, and its force
  VectorXd Q = {};
  VectorXd q = {}, v = {};

  bool in_space() const { return kind == Kind::rigid || kind == Kind::particle3; }
  bool turns() const { return kind == Kind::rigid || kind == Kind::planar; }
  bool is_length(Index k) const { return !turns() || k < (kind == Kind::planar ? 2 : 3); }
  Vec3<double> position() const {
    Vec3<double> p(0, 0, 0);
    if (kind != Kind::ground && kind != Kind::pair) p.head(in_space() ? 3 : 2) = q.head(in_space() ? 3 : 2);
    return p;
  }
  Vec3<double> local_direction(const Vec3<double>& d) const {
    if (kind == Kind::rigid) return rotation_matrix<double>(q.tail<4>()).transpose() * d;
    if (kind == Kind::planar) {
      const double c = std::cos(q[2]), s = std::sin(q[2]);
      return {c * d[0] + s * d[1], c * d[1] - s * d[0], d[2]};
    }
    return d;
  }
  Vec3<double> local(const Vec3<double>& p) const { return local_direction(p - position()); }
};

struct JointPlan {
  enum Type { pin, spherical, revolute, distance, coupling, skate, same_speed } type;
  std::size_t a, b;  // a == b for a skate
  Vec3<double> on_a{0, 0, 0}, on_b{0, 0, 0}, axis_a{0, 0, 1}, axis_b{0, 0, 1};
  double length = 0;    // of a distance; constant of a coupling; ratio of speeds
  double rate = 0;      // of a distance or coupling; speed of a skate
  double friction = 0;  // > 0: non-ideal
  std::vector<Coupling::Term> terms = {};
};

struct ForcePlan {
  enum Type { spring, drive } type;
  std::size_t a, b;
  Vec3<double> on_a{0, 0, 0}, on_b{0, 0, 0}, force{0, 0, 0};
  double stiffness = 0, length = 0, frequency = 0;
};

struct Mechanism {
  std::string name;
  std::vector<BodyPlan> bodies;
  std::vector<JointPlan> joints;
  std::vector<ForcePlan> forces;
  Vec3<double> gravity{0, 0, 0};
  double t = 0;
};

// What 1 m, 1 kg and 1 s are called.
struct Units {
  double length = 1, mass = 1, time = 1;
  double of(int l, int m, int t) const { return std::pow(length, l) * std::pow(mass, m) * std::pow(time, t); }
};

struct MechanismOptions {
  double decades = -1;    // of masses; < 0: drawn, up to 9
  bool extremes = false;  // masses are the smallest or the largest, nothing between
  double massless = 0.3;  // chance that a connection goes through massless parts
  double doubled = 0;     // chance that a joint is there twice
  double nearly = 0;      // chance that it is then only nearly the same: 1e-3 to 1e-12 off
  double moving = 0.3;    // chance that a distance, a coupling or a skate moves with time
  bool large = true;      // a few have up to 25 bodies, hubs up to 40
};

inline constexpr std::array kinds{"tree in space", "chain in space", "plane tree", "plane chain",  "loop in space",
                                  "plane loop",    "parallel axes",  "grid",       "hub in space", "plane hub",
                                  "door",          "parallelogram",  "pairs",      "doubled",      "components"};

// Number `seed`; its kind is kinds[seed % kinds.size()].
Mechanism random_mechanism(unsigned seed, const MechanismOptions& options = {});

struct Model {
  System system;
  State state;
  std::vector<Index> first;  // coordinate of each body of the plan
};

struct BuildOptions {
  Units units = {};
  std::string prefix = "";    // of the names of all parts
  Random* shuffle = nullptr;  // the order of adding
};

Model build(const Mechanism& m, const BuildOptions& o = {});
Assembly assemble(const Mechanism& m, const BuildOptions& o = {});

// Accelerations of a model, in the order and the units of the plan.
VectorXd in_plan(const Mechanism& m, const Model& model, const Units& u, const VectorXd& a);

// Rows that span those of A: Gaussian elimination with full pivoting, pivots up to `threshold` counting as 0.
using Long = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using LongVector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

struct IndependentRows {
  std::vector<Index> kept, left_out;
  long double smallest = std::numeric_limits<long double>::infinity();  // pivot kept

  Index count() const { return static_cast<Index>(kept.size()); }
  IndependentRows(const MatrixXd& A, long double threshold);
};

}  // namespace mortise::testing
