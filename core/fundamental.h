#pragma once
// The five published forms of the equation of motion, on plain matrices.  All give the same motion where they apply.
//
//   form                        needs                        returns besides the motion
//   udwadia_kalaba    [UK02]    M > 0
//   extended_dalembert [UKH97]  M > 0
//   udwadia_phohomsiri [UP06]   nothing                      the family of all motions
//   udwadia_schutte   [US10]    [M; A] of full column rank   (alpha and z are free and change nothing)
//   udwadia_mogharabin [UM23]   [M; A] of full column rank   projections on null(A) and its complement
//
// Each is evaluated in scaled coordinates (scaling.h) and mapped back, so the result does not depend on units.  Then it
// is refined: the form maps the residuals of  M q'' = Q + C + A' lambda,  A q'' = b  to a correction, residuals and
// sums being in long double.  So light bodies among heavy ones are as right as the others (weighted_least_squares
// apart). A may have any rank; rows that conflict are refused (NoMotion), save by weighted_least_squares, which is made
// for them.

#include <mortise/core/rank.h>
#include <mortise/core/types.h>

namespace mortise {

struct Motion {
  VectorXd a;            // accelerations q''
  VectorXd Qc;           // constraint force: M q'' = Q + Qc, as C + A' lambda
  VectorXd Qc_ideal;     // the part that would act if C were 0
  VectorXd Qc_nonideal;  // the part due to C: M M_s+ C, which in general is not C
  VectorXd lambda;       // A' lambda = Qc - C, of least norm in the scaled rows; see Rank::unique_reaction
};

// q'' = a + M^-1/2 B+ (b - A a) + M^-1/2 (I - B+B) M^-1/2 C,   B = A M^-1/2,  a = M^-1 Q        [UK02, Eq. 32]
Motion udwadia_kalaba(const Equations& e);

// q'' = M^-1/2 J [B'b + VV' M^-1/2 (Q + C)],   J = (B'B + VV')^-1,  V a basis of null(B)        [UKH97, Eq. 20]
// (the term with C is our extension).  J is applied by a QR decomposition of [B; V'], which does not square the
// condition of B.
Motion extended_dalembert(const Equations& e);

// r = (L'WL)^-1 L'W s for measured rows that contradict each other: the weights say whom to believe [UKH97, Eq. 37-38].
//   r = (M^1/2 q'', M^-1/2 Qc),   L r = s:   the equation of motion (Eq. 17), the rows A q'' = b (Eq. 18),
//   and no virtual work of Qc (Eq. 19).  M > 0, C = 0.
// W, m x m and positive definite, weighs the rows.  Weights of the other two would change nothing: Qc can always meet
// them.
struct Compromise {
  VectorXd a, Qc;
  VectorXd row_residual;  // b - A q'': by how much each row was not believed
};
Compromise weighted_least_squares(const Equations& e, const MatrixXd& W);

// q'' = Mbar+ [Q + C; b] + (I - Mbar+ Mbar) eta,   Mbar = [(I - A+A) M; A]                      [UP06, Eq. 2.14]
// Throws NoMotion where Eq. 2.12 has no solution: the formula would return a least-squares fit.
struct Family {
  Motion smallest;  // the member of least |q''| in the user's coordinates (it depends on their units); its split of Qc
                    // has a meaning only if N'C = 0
  MatrixXd N;       // orthonormal basis of null [M; A]; no columns: the motion is unique

  VectorXd member(const VectorXd& eta) const;  // eta: n, any
};
Family udwadia_phohomsiri(const Equations& e);
Family udwadia_phohomsiri(const Equations& e, const Rank& rank);  // of e, known already

// [UK02] with M_A = M + alpha^2 A+A and Q_z = Q + A+ z                                          [US10, Eq. 49-52]
// The constraint force is the auxiliary system's, which is Qc itself for z = alpha^2 b (Eq. 67), and by Eq. 71
// otherwise. Throws NotDetermined if [M; A] lacks column rank.
struct Augmentation {
  double alpha = 1;  // != 0; of the scaled system in udwadia_schutte, of the user's in augmented
  VectorXd z = {};   // m, any; empty means alpha^2 b
};
Motion udwadia_schutte(const Equations& e, const Augmentation& augmentation = {});
Motion udwadia_schutte(const Equations& e, const Augmentation& augmentation, const Rank& rank);  // of e, known already

// The auxiliary system of [US10, Eq. 50-51] written out, in the user's coordinates.  alpha^2 has the unit of M there,
// so that M_A, Q_z and a_Az depend on the units of the coordinates; what follows from them does not. M_A > 0 iff [M; A]
// has full column rank [US10, Lemma 1].
struct Augmented {
  double alpha = 1;
  VectorXd z;           // m
  MatrixXd M_A;         // M + alpha^2 A+A, dense by its nature
  VectorXd Q_z;         // Q + A+ z
  VectorXd A_plus_b;    // A+ b
  double smallest = 0;  // eigenvalue of M_A with a unit diagonal: 0 but for round-off if [M; A] lacks column rank
};
Augmented augmented(const Equations& e, const Augmentation& augmentation = {});

// q'' = M_s+ Delta + A+ b,   M_s = (I-A+A) M (I-A+A),  Delta = Q + C - M A+ b                    [UM23, Eq. 24]
// Qc  = (M M_s+ - I) Delta + C                                                                  [UM23, Eq. 32]
// The projections are orthogonal in the user's coordinates (they depend on their units):
// on null(A) and on its complement                                                              [UM23, Eq. 29-34]
struct ProjectedMotion : Motion {
  VectorXd a_null, a_complement, Qc_null, Qc_complement;
};
ProjectedMotion udwadia_mogharabin(const Equations& e);

}  // namespace mortise
