#pragma once
// What the papers say of a motion besides the motion itself, on request: solve() computes none of it.
//
//   const Solution s = solve(system, e);
//   unconstrained(system, e, s)             how far the constraints turn the system from its free motion [UK02], M > 0
//   auxiliary(system, e, s, {.alpha = 2})   the same for singular M, by an auxiliary system with M_A > 0 [US10]
//   gauss(system, e, s, x)                  Gauss' function, which q'' makes least among all x with A x = b; any M
//   projections(system, e, s)               q'' and Qc on null(A) and on its complement [UM23]
//
// e is the evaluation that was solved, and counts as it stands.  C includes the laws that need their own reaction, at
// the reactions of the solution.

#include <mortise/core/fundamental.h>
#include <mortise/solve/solve.h>

namespace mortise {

// Where M > 0.  Throws SingularMass, naming the body.
//   e = b - A a                 the extent to which the free motion does not satisfy the rows     [UK02, Eq. 13]
//   q'' - a = M^-1/2 B+ e + M^-1/2 (I - B+B) M^-1/2 C                                             [UK02, Eq. 14]
// e has the units of the rows.
struct Unconstrained {
  VectorXd a;          // M^-1 Q
  VectorXd e;          // by rows
  VectorXd deviation;  // q'' - a
  double gauss;        // (q'' - a)'M(q'' - a) [force x acceleration]: the least of all motions with A q'' = b, if C = 0
};
Unconstrained unconstrained(const System& system, const Evaluation& e, const Solution& s);

// Any M, [M; A] of full column rank: the same of the auxiliary system  M_A q'' = Q_z + Qc_Az  of [US10, Eq. 50-52],
// which moves as the given one does, whatever alpha != 0 and z.
// alpha^2 is added to masses and to moments of inertia alike: M_A, Q_z, a, e and the deviation depend on the units of
// the coordinates, and so does Qc, unless z = alpha^2 b.  M_A is dense: for up to some hundreds of coordinates.
// Throws NotDetermined if M_A is not positive definite in double precision.
struct Auxiliary : Augmented {  // alpha, z, M_A, Q_z
  VectorXd a;                   // a_Az = M_A^-1 Q_z                                               [US10, Eq. 51]
  VectorXd e;                   // b - A a_Az
  VectorXd deviation;           // q'' - a_Az = M_A^-1 Qc_Az                                       [US10, Eq. 66]
  VectorXd Qc;                  // Qc_Az = Qc + A+ (alpha^2 b - z): Qc itself for z = alpha^2 b    [US10, Eq. 67, 71]
};
Auxiliary auxiliary(const System& system, const Evaluation& e, const Solution& s,
                    const Augmentation& augmentation = {});

// G(x) = x'Mx/2 - x'(Q + C) [force x acceleration].  For M > 0 it is (x - a)'M(x - a)/2 with a = M^-1 (Q + C), but for
// a constant; it needs no M^-1.  For all x with A x = b:  G(x) - G(q'') = (x - q'')'M(x - q'')/2 >= 0, and > 0 for x !=
// q'' if [M; A] has full column rank.
double gauss(const System& system, const Evaluation& e, const Solution& s, const VectorXd& x);

// Orthogonal projections in the user's coordinates: they depend on their units, where lengths and angles are mixed.
// They are the motions of the same mechanism with a unit mass in every coordinate, found by a Solver at every size.
struct Projections {
  VectorXd a_null, a_complement;    // (I - A+A) q'' = M_s+ Delta,  A+A q'' = A+ b                 [UM23, Eq. 29-30]
  VectorXd Qc_null, Qc_complement;  // (I - A+A) Qc = (I - A+A) C,  A+A Qc                         [UM23, Eq. 33-34]
};
Projections projections(const System& system, const Evaluation& e, const Solution& s);

}  // namespace mortise
