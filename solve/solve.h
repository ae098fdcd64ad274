#pragma once
// Accelerations, constraint forces and reactions of a System at one state, by a Solver at every size.
//
// A system that is not determined gives no numbers: solve() throws UnderModelled with the rank report inside.
// Who wants a member of the family of motions all the same asks solve_family() [UP06].

#include <string>
#include <vector>

#include <Eigen/SparseCore>

#include <mortise/assembly/assembly.h>  // a program that solves makes its model, too
#include <mortise/diagnosis/rank_report.h>

namespace mortise {

struct Reaction {
  std::string joint;                  // or the body, for its own constraint
  VectorXd lambda;                    // one per row, meaning as in the joint's header
  Eigen::SparseVector<double> force;  // generalised force of this joint on all coordinates: A_k' lambda_k + its C
  bool unique;                        // false: redundant rows share the load, this is the split of least norm
  double power = 0;                   // [W] force . v: > 0 where the joint puts energy in, by its drive or its law C
};

struct Solution {
  VectorXd a;            // q''
  VectorXd Q;            // the given forces
  VectorXd Qc;           // the constraint force: M q'' = Q + Qc
  VectorXd Qc_ideal;     // what would act if all constraints were ideal
  VectorXd Qc_nonideal;  // what the non-ideal laws C add
  VectorXd lambda;
  std::vector<Reaction> reactions;
  std::vector<std::string> warnings;
  std::shared_ptr<const CoordinateTable> names;

  double acceleration(std::string_view coordinate) const { return a[names->find_one(coordinate)]; }
  const Reaction& reaction(std::string_view joint) const;  // throws InvalidModel if there is none
  std::string text() const;  // accelerations and constraint forces by coordinate, multipliers by joint
};

// Throws UnderModelled or ConflictingRows.  An evaluation counts as it stands, also where it was changed.  To solve one
// state after the other, use a Solver: it keeps its plan and its memory.
Solution solve(const System& system, const Evaluation& e, const RankOptions& options = {});
Solution solve(const System& system, const State& s, const RankOptions& options = {});

// All motions of a system that is not determined: smallest + any combination of the columns of N.
struct MotionFamily {
  VectorXd smallest;  // the member of least norm
  std::string norm;   // in which norm it is smallest
  MatrixXd N;         // orthonormal in that norm
  RankReport report;

  VectorXd member(const VectorXd& eta) const;  // eta: one per coordinate, any [UP06, Eq. 2.14]
};

// Throws ConflictingRows, or UnderModelled if a force acts along a free direction: then there is no motion at all.
MotionFamily solve_family(const System& system, const Evaluation& e, const RankOptions& options = {});

}  // namespace mortise
