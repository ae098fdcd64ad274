#pragma once
// HiddenConstraint: the rows h = 0 of a group of free directions, as a constraint on all bodies that enter h.
//
// Position-level rows come first, as holonomic ones; then velocity-level rows, as nonholonomic ones.  Each is divided
// by its largest slope, so that its value is a coordinate or a velocity.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mortise/assembly/plain_constraint.h>
#include <mortise/diagnosis/free_forces.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class HiddenConstraint final : public PlainConstraint {
 public:
  struct Plan {
    std::shared_ptr<const FreeForces> forces;
    FreeForces::Pivots pivots;
    Scaling scale;
    std::vector<Index> velocity, position;  // rows of h
    MatrixXd Z;                             // n x velocity rows: directions of v that D is taken along
    std::vector<Row> rows;                  // names, position-level rows first
  };
  explicit HiddenConstraint(Plan plan) : plan_(std::move(plan)) {}

  struct Rows {
    VectorXd value, rate, b;
    MatrixXd A, dq;  // over the coordinates of FreeForces; dq: slopes of the values
  };
  Rows at(const State& local) const;

  // The determinant of [K; D] along the free directions, of rows that are brought to size: 0 at a fold, where what is
  // free cannot follow.  The direction in which it would go on its own, by the name of its largest coordinate.  None
  // where other directions must be taken as the free ones.
  struct Fold {
    double determinant;
    std::string coordinate;
  };
  std::optional<Fold> fold(const State& s, Firsts first) const;

  std::string kind() const override { return "implied"; }
  std::shared_ptr<const ConstraintModel> rebound(const Label& label, BodyModels) const override;
  std::vector<Row> rows() const override { return plan_.rows; }
  Index holonomic() const override { return static_cast<Index>(plan_.position.size()); }
  void evaluate(const State& s, Firsts first, VectorRef value, VectorRef b,
                std::span<Eigen::Map<MatrixXd>> A) const override;
  void evaluate(const State& s, const Places& at, double* A, double* value, double* rate, double* b) const override;
  // Its multipliers are 0, and so is A'lambda.
  RowSlopes slopes(const State& s, Firsts first, const double* lambda) const override;

 private:
  struct Raw {
    Rows rows;
    MatrixXd N;
    bool other_pivots = false;  // than those of the plan
  };
  Raw raw(const State& local) const;  // before rows are resolved for the free directions

  Plan plan_;
};

}  // namespace mortise
#pragma GCC visibility pop
