#pragma once
// Bodies far lighter than their neighbours, with rows that depend on each other and massless links: pivoted QR.
//
// A A' squares the ratio of the entries: with masses 1e12 apart, what holds a heavy body is 1e-12 of the entries there,
// as small as what a redundant row leaves.  A' itself shows both.  Its Householder QR decomposition with pivoting of
// columns and rows keeps each body's entries to round-off of their own, however light or heavy it is (Powell and Reid
// 1969, Cox and Higham 1998).  Columns whose entries are all below `redundant` of their bodies' largest depend on
// others.
//
//   A_s' P = Q_s [R_1 R_2]      rows that hold the massless unknowns, those of heavy bodies first, and the others
//   B = A_2' - A_1' G,  G = R_1^-1 R_2,    B P = Q [R; 0]
//   y_r = f_r + h + Q R^-T P'(b_2 - G'b_1 - B'(f_r + h)),    h = -A_1'R_1^-1 Q_s'f_s
//
// Forces of heavy bodies through a massless link do not mix with those of a light body on it, and y does not go through
// the forces, which may cancel to all digits on a light body.  Dense, by connected parts.

#include <vector>

#include <mortise/engine/plan.h>

#pragma GCC visibility push(hidden)
namespace mortise::engine {

class QrSolve {
 public:
  // A: the values of the plan's nodes.  implied: by rows, which are left out.  level: see above, `redundant`.
  QrSolve(const System& system, const Plan& plan, const double* A, const std::vector<bool>& implied, double level);

  bool ready() const { return ready_; }  // false: a part is too large, or its massless unknowns are not held
  double level() const { return level_; }
  // dy and dlambda for forces on massless unknowns and a right-hand side.
  void solve(const VectorXd& force, const VectorXd& rhs, VectorXd& dlambda, VectorXd& dy) const;

 private:
  struct Triangle {  // B = Q [R; 0] with rows and columns in another order
    MatrixXd B;      // R above the diagonal, Householder vectors from it on
    std::vector<int> row, column;
    VectorXd diagonal, tau;  // of R; of the Householder vectors
    Index rank = 0;
    void decompose(VectorXd size, VectorXd column_size, double redundant);
    void solve_R(Eigen::Ref<MatrixXd> x) const;
    void solve_R_transposed(VectorXd& x) const;
    void turn(VectorXd& x, bool back) const;
  };
  struct Part {  // connected bodies
    std::vector<int> massless, massive, row;
    VectorXd massless_scale, scale, rest_scale;  // of massless unknowns, of rows, of those that hold no massless ones
    Triangle hold, rest;
    MatrixXd G, A1, A2;
  };
  bool decompose(const Plan& plan, const double* values, const std::vector<int>& nodes,
                 const std::vector<bool>& implied, Part& part) const;

  std::vector<Part> parts_;
  double level_;
  bool ready_ = false;
};

}  // namespace mortise::engine
#pragma GCC visibility pop
