#pragma once
// System: an assembly, flattened and numbered.  Immutable, and shareable between threads.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <mortise/assembly/evaluation.h>
#include <mortise/assembly/models.h>
#include <mortise/core/rank.h>

namespace mortise {

class Assembly;
class SystemGraph;

struct Energy {
  double kinetic = 0;
  double potential = 0;  // of gravity, and of all bodies and forces that have one
  double total() const { return kinetic + potential; }
};

// What one named force does at one state; also a body that stores energy by itself (a spring inside), under its name.
// With constraints that do no work,  d/dt (kinetic + potential) = sum of input:  negative where energy is lost.
struct Contribution {
  std::string name;
  VectorXd Q;
  double power = 0;                 // [W] Q . v; of a body: without the velocity terms of its M(q)
  std::optional<double> potential;  // [J] where it has one
  double input = 0;                 // [W] power + d potential/dt
};

// The numbers of a Contribution alone.
struct Work {
  double power = 0;
  std::optional<double> potential = {};
  double input = 0;
};

// Exact slopes of the terms of  M q'' = Q + C + A'lambda.
struct Derivatives {
  MatrixXd dMa_dq;        // of M(q) a for a fixed a
  MatrixXd dQ_dq, dQ_dv;  // of the given forces
  MatrixXd dC_dq, dC_dv;  // of the non-ideal constraint forces
  MatrixXd dR_dq, dR_dv;  // of the reactions A'lambda for a fixed lambda
};

class System {
 public:
  // Throws InvalidModel if nested assemblies disagree about gravity.
  explicit System(const Assembly& assembly);
  System(const System&);      // these are compiled once, in the library
  System(System&&) noexcept;  // what is moved from has no bodies
  System& operator=(const System&);
  System& operator=(System&&) noexcept;
  ~System();

  struct BodyInfo {
    std::string name;
    Index first, size;
    std::shared_ptr<const BodyModel> model;
  };
  struct ConstraintInfo {
    std::string name;  // of the joint, or of the body for its own constraint
    bool own;          // a body's own constraint
    Index row, rows, holonomic;
    std::vector<std::size_t> bodies;  // indices into bodies()
    std::size_t block;                // its first block in Layout::A
    std::shared_ptr<const ConstraintModel> model;
  };
  struct ForceInfo {
    std::string name;
    std::vector<std::size_t> bodies;
    std::shared_ptr<const ForceModel> model;
  };
  struct SensorInfo {
    std::string name;
    std::vector<std::size_t> bodies;
    std::shared_ptr<const SensorModel> model;
  };
  struct RowName {
    std::string name, removes, reaction, unit;  // hinge.y, translation along y, fy, N
  };

  // The same system with more constraints, which come last; of each: name, bodies and model.  States fit both.
  System with(std::vector<ConstraintInfo> more) const;

  // The same system with these bodies massless, by their indices, ascending.  Throws InvalidModel, naming a body whose
  // type does not tell its mass.
  System massless(const std::vector<std::size_t>& bodies) const;

  // The same system with other models for some bodies, of the same types, by their indices; parts are bound to them.
  System with_bodies(const std::map<std::size_t, std::shared_ptr<const BodyModel>>& models) const;

  // The numbers M, A, b of an evaluation as a system: the same names and states, whatever the parts would say.
  System fixed(const Evaluation& e) const;

  const std::string& name() const { return name_; }
  Index size() const { return layout_->n; }  // coordinates
  Index rows() const { return layout_->m; }
  const std::vector<BodyInfo>& bodies() const { return bodies_; }
  const std::vector<ConstraintInfo>& constraints() const { return constraints_; }
  const std::vector<ForceInfo>& forces() const { return forces_; }
  const std::vector<SensorInfo>& sensors() const { return sensors_; }
  const Vec3<double>& gravity() const { return gravity_; }
  std::string coordinate(Index i) const { return names_->name(i); }
  RowName row(Index i) const;                   // these throw InvalidModel for numbers that are none
  std::size_t body_of(Index coordinate) const;  // indices into bodies() and constraints()
  std::size_t constraint_of(Index row) const;
  const SystemGraph& graph() const { return *graph_; }  // assembly/system_graph.h
  const std::shared_ptr<const CoordinateTable>& names() const { return names_; }

  // Every body where it was placed, or at its neutral coordinates; at rest, t = 0.
  State state() const;
  // Throws WrongSize or NonFinite, naming the coordinate, if s is no state of this system; InvalidModel if another one
  // with other coordinates made it.  A state of the same model with other parameters fits.
  void require_state(const State& s) const;
  // Throws InvalidModel if another system made it, WrongSize if its vectors were given another size.
  void require_own(const Evaluation& e) const;

  // Joints can be switched off and on in a state, and keep their rows: these are then 0 = 0, and nothing acts.
  // Throw InvalidModel with the nearest name if there is no such joint.
  void switch_off(State& s, std::string_view joint) const;
  void switch_on(State& s, std::string_view joint) const;
  std::size_t joint(std::string_view name) const;  // its index in constraints()

  Evaluation blank() const;  // zeros, to be filled
  Evaluation evaluate(const State& s) const;
  void evaluate(const State& s, Evaluation& e) const;

  std::vector<Index> firsts(const std::vector<std::size_t>& bodies) const;  // their first coordinates

  Energy energy(const State& s) const;
  std::vector<Contribution> contributions(const State& s) const;
  double mass() const;                                // [kg] of the bodies that tell it
  Vec3<double> centre_of_mass(const State& s) const;  // of these; throws InvalidModel if their mass is 0
  // Throws NoDerivative, naming the part, if one is written for double only; those are listed beforehand by:
  std::vector<std::string> without_derivatives() const;
  // lambda by rows, as Solver::lambda() tells it; none: the reactions count as 0.
  Derivatives derivatives(const State& s, const VectorXd& a, const VectorXd& lambda = {}) const;

  // By rows of one constraint: of what b is the sum, which may cancel to round-off.
  VectorXd size_of_b(const Evaluation& e, const ConstraintInfo& c) const;

  // C of one constraint alone, and what its law adds that needs its own reaction, for multipliers of all rows.
  VectorXd nonideal(const ConstraintInfo& c, const State& s) const;
  void react(const ConstraintInfo& c, const State& s, const VectorXd& lambda, VectorXd& C) const;

  // Some bodies and constraints, by their indices; constraints touch no other bodies with coordinates than these.
  struct Selection {
    std::vector<std::size_t> bodies, constraints;
  };
  Selection all() const;
  // The plain matrices of an evaluation, for all or for some parts.
  Equations equations(const Evaluation& e) const { return equations(e, all()); }
  Equations equations(const Evaluation& e, const Selection& parts) const;

 private:
  void flatten(const Assembly& assembly, const std::string& prefix,
               std::unordered_map<std::string, std::size_t>& index);
  void number_rows();
  void make_graph();
  void leave_empty() noexcept;
  MatrixXd mass_matrix(const BodyInfo& b, const State& s) const;  // checked
  std::string name_;
  Vec3<double> gravity_ = Vec3<double>::Zero();
  std::vector<BodyInfo> bodies_;
  std::vector<std::pair<std::size_t, VectorXd>> places_;  // of bodies that were placed
  std::vector<ConstraintInfo> constraints_;
  std::vector<ForceInfo> forces_;
  std::vector<SensorInfo> sensors_;
  std::vector<int> groups_;
  std::shared_ptr<const CoordinateTable> names_;
  std::shared_ptr<const Layout> layout_;
  std::shared_ptr<const SystemGraph> graph_;
};

}  // namespace mortise
