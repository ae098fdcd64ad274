#pragma once
// Bodies, constraints and forces behind one virtual call per block.  What is made of users' types, which is little, is
// in body_of.h, joint_of.h, force_of.h and sensor_of.h.
// Models are immutable and know no numbering: the first coordinate of each body comes as an argument, so one model
// serves every copy of a subsystem.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <mortise/core/geometry.h>
#include <mortise/core/marker.h>
#include <mortise/core/massless.h>
#include <mortise/core/rigid_mass.h>
#include <mortise/core/sketch.h>
#include <mortise/core/state.h>
#include <mortise/core/taylor.h>
#include <mortise/core/types.h>

namespace mortise {

using MatrixRef = Eigen::Ref<MatrixXd>;
using VectorRef = Eigen::Ref<VectorXd>;
using Firsts = std::span<const Index>;  // first coordinate of each body a part acts on

// Slopes of one part, stacked over the coordinates it touches.
struct Slopes {
  MatrixXd dq, dv;
};

// A state that moves, and varies in one direction (core/taylor.h).
using TaylorVector = Vec<Taylor, dynamic>;
struct TaylorState {
  TaylorVector q, v;
  Taylor t;
};

// Where a part finds its bodies: their first coordinates in the state and their motions (BodyModel::move).
struct Places {
  const Index* first;
  const void* const* motion;
};

// Energy that a part stores, and its rate along the motion.
struct StoredEnergy {
  double value = 0, rate = 0;  // [J], [W]
};

// A number that a part tells, with one or two of its rates.
struct Quantity {
  std::string name, unit;  // "" for the only one of its part
  bool angle;              // known up to whole turns
  int orders;              // 3: value, rate and second rate; 2: it depends on velocities, so value and rate
};

// What joints, forces and sensors share: they act on bodies, and may tell numbers.
class PartModel {
 public:
  virtual ~PartModel() = default;

  virtual std::string kind() const = 0;  // "pin"; "" for a type that tells no summary
  virtual Sketch sketch() const = 0;     // for pictures
  virtual std::vector<Quantity> quantities() const = 0;
  // All orders of all quantities, one after the other, along the motion with q'' = a.
  virtual void read(const State& s, const VectorXd& a, Firsts first, double* out) const = 0;
  // When it changes its ways by the clock, as far as it knows (core/breakpoints.h).
  virtual std::vector<double> breakpoints(double /*from*/, double /*to*/) const { return {}; }
};

// A model that was made from a P, and can be made again from another one.
template <class P, class Model> class MadeFrom {
 public:
  virtual ~MadeFrom() = default;
  virtual const P& part() const = 0;
  virtual std::shared_ptr<const Model> changed(const Label& label, P part) const = 0;  // on the same bodies
};

using BodyModels = std::span<const std::shared_ptr<const class BodyModel>>;

class ConstraintModel : public PartModel {
 public:
  // The same part on other bodies of the same types.
  virtual std::shared_ptr<const ConstraintModel> rebound(const Label& label, BodyModels bodies) const = 0;

  struct Row {
    std::string name, removes, reaction, unit;
  };
  virtual std::vector<Row> rows() const = 0;
  virtual std::optional<Vec3<double>> axis(const State&, Firsts) const { return {}; }  // its axis_a, in the world
  // Of a joint that holds axes together, or whole frames: the angle [rad] between them, in [0, pi].
  struct Turned {
    double angle;
    bool frames;  // beyond a right angle the rows lead to half a turn, and hold nothing there
  };
  virtual std::optional<Turned> turned(const State&, Firsts) const { return {}; }
  virtual Index holonomic() const = 0;  // the first rows; the others are nonholonomic

  // Of a joint that lets two bodies move as one: the frame on each that the other's coincides with where the rows are
  // met.
  struct WeldedFrames {
    RigidFrame a, b;
  };
  virtual std::optional<WeldedFrames> welded_frames() const { return {}; }

  // Values (phi, psi), b, and one block of A per body.
  virtual void evaluate(const State& s, Firsts first, VectorRef value, VectorRef b,
                        std::span<Eigen::Map<MatrixXd>> A) const = 0;

  // The same in the unknowns of the bodies: rows of A over the unknowns of all bodies, one after the other, row by row;
  // the values, their rates (psi itself for nonholonomic rows) and b, which is -d^2 phi/dt^2 with y = 0.
  virtual void evaluate(const State& s, const Places& at, double* A, double* value, double* rate, double* b) const = 0;
  virtual void nonideal(const State& s, const Places& at, double* const* f) const = 0;  // adds T'C, one f per body

  // A law that needs the joint's own reaction, such as dry friction: adds T'C or C for given multipliers of its rows.
  virtual bool reacts() const = 0;
  virtual void react(const State& s, const Places& at, const double* lambda, double* const* f) const = 0;
  virtual void react(const State& s, Firsts first, const double* lambda, VectorRef C) const = 0;

  // For given multipliers: slopes of A'lambda and of the values (phi, psi), stacked over the coordinates it touches.
  struct RowSlopes {
    MatrixXd force_dq, force_dv, value_dq;
  };
  virtual RowSlopes slopes(const State& s, Firsts first, const double* lambda) const = 0;

  virtual bool ideal() const = 0;           // no law C(q, v, t)
  virtual bool differentiable() const = 0;  // false: its law is written for double only
  virtual void nonideal(const State& s, Firsts first, VectorRef C) const = 0;             // adds to C
  virtual std::optional<Slopes> nonideal_slopes(const State& s, Firsts first) const = 0;  // none: double only

  // The values of all rows, and what its law adds to C, for a state that moves; false: double only.
  virtual bool evaluate(const TaylorState&, Firsts, TaylorVector&) const { return false; }
  virtual bool nonideal(const TaylorState&, Firsts, TaylorVector&) const { return ideal(); }
};

class ForceModel : public PartModel {
 public:
  virtual std::shared_ptr<const ForceModel> rebound(const Label& label, BodyModels bodies) const = 0;

  virtual bool differentiable() const = 0;
  virtual void act(const State& s, Firsts first, VectorRef Q) const = 0;  // adds to Q
  // Adds T'Q, one f per body; returns what it stores, 0 without a potential.
  virtual StoredEnergy act(const State& s, const Places& at, double* const* f) const = 0;
  virtual std::optional<Slopes> slopes(const State& s, Firsts first) const = 0;        // none: double only
  virtual bool act(const TaylorState&, Firsts, TaylorVector&) const { return false; }  // false: double only
  virtual bool stores() const = 0;                                                     // it has a potential
  virtual std::optional<double> potential(const State& s, Firsts first) const = 0;
  virtual double potential_rate(const State& s, Firsts first) const = 0;  // dV/dt along the motion; 0 without V
};

class SensorModel : public PartModel {
 public:
  virtual std::shared_ptr<const SensorModel> rebound(const Label& label, BodyModels bodies) const = 0;
};

class BodyModel : public Geometry {
 public:
  virtual std::vector<std::string> units() const = 0;  // of the coordinates, "" where not told
  virtual std::vector<int> groups() const = 0;         // numbered from 0 within the body
  virtual VectorXd neutral() const = 0;
  virtual std::shared_ptr<const ConstraintModel> own_constraint() const = 0;  // may be null

  virtual bool differentiable() const = 0;
  virtual MatrixXd mass_matrix(const State& s, Index first) const = 0;
  virtual VectorXd force(const State& s, Index first) const = 0;
  // d(M a)/dq for a given a, and the slopes of force; none: double only.
  virtual std::optional<MatrixXd> mass_slopes(const State& s, Index first, const VectorXd& a) const = 0;
  virtual std::optional<Slopes> force_slopes(const State& s, Index first) const = 0;
  // M, and force and weight added to Q, for a state that moves; false: double only.
  virtual bool evaluate(const TaylorState&, Index, const Vec3<double>&, Mat<Taylor, dynamic>&, TaylorVector&) const {
    return false;
  }

  // Energy that the body's own force stores, where it has one.  power is that of its own force without the velocity
  // terms of M(q):  v'force + 1/2 v'M'v, so that kinetic energy changes by it; potential_rate is dV/dt.
  struct Stored {
    double potential, potential_rate, power;
  };
  virtual bool stores() const = 0;  // it has one
  virtual std::optional<Stored> stored(const State& s, Index first) const = 0;
  virtual double kinetic(const State& s, Index first) const = 0;  // [J] 1/2 v'M v

  virtual bool has_weight() const = 0;
  virtual double mass() const = 0;  // [kg] that its weight is of; 0 where not told
  // The same body massless; null where its type does not tell how (RigidBody::without_mass).
  virtual std::shared_ptr<const BodyModel> without_mass(const Label&) const { return nullptr; }
  // Of a body that is rigid, and nothing else.
  virtual std::optional<RigidMass> rigid_mass() const { return {}; }
  // The same body as a part of a rigid whole, which is given in its frame.  Its unknowns and its mass are those of the
  // whole, its coordinates and points its own.  Null where rigid_mass() tells nothing.
  virtual std::shared_ptr<const BodyModel> part_of(const PrincipalMass&) const { return nullptr; }
  // Parts of the same whole: how far its motions are apart that this and another one see, and the coordinates of this
  // one where the other sees such a motion.
  virtual MotionsApart apart(const void*, const BodyModel&, const void*) const { return {}; }
  virtual void follow(const BodyModel&, const void*, double*, double*) const {}
  virtual Vec3<double> first_moment(const State& s, Index first) const = 0;  // [kg m] of its mass; V = -g . of it
  virtual Vec3<double> first_moment_rate(const State& s, Index first) const = 0;
  virtual void gravity(const State& s, Index first, const Vec3<double>& g, VectorRef Q) const = 0;  // adds to Q
  virtual MatrixXd gravity_slopes(const State& s, Index first, const Vec3<double>& g) const = 0;

  // The body in its unknowns y:  q'' = T y + z  (core/marker.h).
  virtual Index unknowns() const = 0;
  virtual bool meets_own_rows() const = 0;  // z meets the own constraint, so that it needs no row
  virtual std::size_t motion_size() const = 0;
  virtual std::size_t motion_align() const = 0;
  virtual void* make_motion(void* where) const = 0;
  virtual void destroy_motion(void* motion) const = 0;
  // Writes the motion at s and f = T'(Q - M z); returns how many unknowns, the last, have no mass.
  virtual Index move(const State& s, Index first, const Vec3<double>& gravity, const std::string& name, void* motion,
                     double* f) const = 0;
  virtual void stand(const double* q, const double* v, void* motion) const = 0;    // what a frame's marks need of it
  virtual void spread(const void* motion, const double* y, double* dq) const = 0;  // T y
  // A row over the unknowns of a body with a frame, as one over its coordinates: it sees q'' - z only through y.
  virtual void gather(const void* motion, const double* row, double* row_q) const = 0;
  virtual void drift(const void* motion, double* z) const = 0;
  virtual void accelerate(const void* motion, const double* y, double* a) const = 0;  // T y + z
  // The velocities w conjugate to the unknowns:  q' = T w on its own constraint; kinetic energy is 1/2 |w|^2 over those
  // with mass.
  virtual void velocities(const void* motion, double* w) const = 0;
  virtual std::optional<Momentum> momentum(const void* motion) const = 0;  // none: it knows no positions
  virtual void normalise(double* q, double* v) const = 0;                  // to its own constraint, if it meets it
  // |T^-1| |N0|, unknowns x massless unknowns, column by column: what a slope along each massless unknown is a sum of.
  virtual void references(const void* motion, double* u) const = 0;
  virtual bool references_vary() const = 0;  // with the state

  virtual Massless massless(const State& s, Index first, const MatrixXd& M, const Label& label) const = 0;
  virtual std::string describe(const State& s, Index first, const VectorXd& dq) const = 0;  // "" where it does not move
};

}  // namespace mortise
