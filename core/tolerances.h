#pragma once
// The numerical thresholds of the library: one name for each meaning, with what it is a share of and why it is so
// large.
//
// Those that users set are options (RankOptions, SimulateOptions, ...), with their reasons there.  Thresholds that
// belong to one formula of an integrator, such as the safety factor of a step, stand beside it.

#include <limits>

#pragma GCC visibility push(hidden)
namespace mortise::tolerance {

inline constexpr double eps = std::numeric_limits<double>::epsilon();  // 2.2e-16
inline constexpr double tiny = 1e-300;  // added to divisors that may be 0: below any size of a model

// ---- Masses -------------------------------------------------------------------------------------

// Entries M_ij and M_ji, of sqrt(M_ii M_jj) and the two: a matrix that is meant to be symmetric is so to round-off.
inline constexpr double symmetric = 1e-12;
// Pivots of M, of the diagonal: M may be off by eps, so that below this more than half of the digits are lost.
inline constexpr double doubtful_mass = 1e-8;
// Moments of inertia, of the largest: a sum over a few bodies is 0 to this.
inline constexpr double no_inertia = 1e-14;
// Moments between these shares of the largest may be 0 or not: bodies are not merged then (engine/rigid_groups.h).
inline constexpr double clearly_no_inertia = 1e-15, clearly_inertia = 1e-11;
// Inertia about a point, of mass |centre|^2: below, it is lost in the sum.
inline constexpr double visible_inertia = 1e-6;
// Differences of two places, of the places: must not pass for an arm.
inline constexpr double no_arm = 1e-15;

// ---- Pivots and ranks ---------------------------------------------------------------------------

// A pivot must beat another by this to be taken before it: equal ones go by their order, whatever their round-off, so
// that the choice does not depend on units.
inline constexpr double clearly_larger = 1 + 1e-9;
// Pivots of sparse elimination in quadruple precision, of the largest entry of their row: less is not needed to keep
// the fill low, and 32 digits forgive the growth.
inline constexpr double stable_pivot = 0.05;
// Entries of A, of the largest in their row: cos(90 deg) = 6e-17 beside 1 is no reason to scale anything.
inline constexpr double no_entry = 4e-16;
// Pivots of A A' + D, of the square of their row: below, rows may depend on each other, and D is needed.
inline constexpr double doubtful_pivot = 1e-9;
// D, of the diagonal of A A': above its round-off, and as small as that allows, since it costs corrections.
inline constexpr double penalty = 1e-14;
// Diagonal of R of the balanced massless columns: below, the rank verdict is asked.  As RankOptions::doubtful.
inline constexpr double rank_alarm = 1e-6;
// Entries of a row along massless unknowns, of the largest, both relative to the row's entries along the others: a row
// with less is not enlarged for it, since that would drown the rows it is combined with.  Round-off of 0 is such.
inline constexpr double hardly_massless = 1e-4;
// Columns of the pivoted QR of A', of their bodies' entries: round-off.  Which rows others imply is judged elsewhere.
inline constexpr double dependent_row = 1e-13;
// The same for rows that are off the constraints, by more than a step leaves them off.
inline constexpr double nearly_dependent_row = 1e-4;
// Factors with which rows are combined, of the largest: round-off of 0, in QR (by their sizes), in sets of dependent
// rows, and in those that the factor shows, which has lost half of the digits.
inline constexpr double no_factor = 1e-13, no_factor_of_set = 1e-12, no_factor_by_pivots = 1e-7;
// Factors of a row in a set of dependent ones, of the largest, balanced: with less it is not left out in place of
// another, since what remains is as much nearer to being dependent.
inline constexpr double clear_part = 0.1;
// Largest entries of balanced rows and columns, off 1.
inline constexpr double balanced = 1e-4;
// Ranks of large parts (core/row_rank.h), of the largest diagonal entry of X X': what is added to it, above its
// round-off; and pivots that may belong to singular values below 1e-4.  Squares of singular values of which the shift
// is more than this share are found by the vectors alone.
inline constexpr double gram_shift = 1e-13, gram_pivot = 1e-8, gram_hides = 1e-4;
// Entries of a vector y with y'X = 0, of its largest: round-off, where it was found to all digits; what those who read
// the sets are told; and what the factor shows of y, which has lost half of the digits and more to the shift.
inline constexpr double no_part = 1e-13, told_part = 1e-9, rough_part = 1e-6;
// The smallest over the largest entry of bodies' rows, which go with the roots of masses: below, the norm over all
// bodies shows the light ones too little.
inline constexpr double light = 1e-4;

// ---- Convergence of accelerations ---------------------------------------------------------------

// Corrections, of the whole: what they should leave; and where they may stop shrinking.
inline constexpr double round_off = 1e-15, converged = 1e-12;
// For rates of convergence that are not uniform.
inline constexpr double uneven_rate = 1e-4;
// Residual of a row, of the terms it is the sum of: as good as none; and what one more correction will make so.
inline constexpr double row_solved = 4e-15, row_nearly_solved = 1e-10;
// The same of a row in shares of the terms in its joint, and of a force in shares of its own.  On a light body between
// heavy ones forces cancel: 100 times more is left.
inline constexpr double row_of_joint = 1e-13, force_balanced = 1e-11;
// An entry of A, or a force, is the result of several operations; what is left of a force may be this much round-off.
inline constexpr double rounding = 4 * eps, force_noise = 64 * eps;
// Share of a body's motion that may be round-off; of more it is told.  Slower bodies than `still` of the fastest are
// measured by that.
inline constexpr double known = 1e-9, still = 1e-3;
// Motion that round-off of the forces alone brings about: more is not known.
inline constexpr double lost = 1e-6;
// Corrections, of the motion, that are too small to answer a residual: rows contradict each other.
inline constexpr double no_answer = 1e-3;
// GMRES: shares of the first residual, and of the matrix, at which its space has nothing more to give; what it may
// leave.
inline constexpr double krylov_residual = 1e-13, krylov_space = 1e-14, krylov_solved = 10 * round_off;
// Quadruple precision: residuals, of the terms of an equation; unknowns, of the largest; forces that cancel.
inline constexpr double quad_round_off = 1e-28, quad_nothing = 1e-32, quad_cancelled = 1e-31;
// Corrections of the published forms in long double, of the sum: below its round-off.
inline constexpr double long_round_off = 1e-21;
// Residuals of the published forms, of all forces: what kappa eps may leave where rows agree.
inline constexpr double forms_solved = 1e-9;
// Share of a body's acceleration that a published form may leave unknown.
inline constexpr double forms_known = 1e-8;
// Friction laws and multipliers agree, of the largest multiplier; and where they may stop.
inline constexpr double friction_agrees = 1e-13, friction_stuck = 1e-10;
// y'b of dependent rows, of the accelerations in them and of the forces there: round-off.
inline constexpr double same_b = 1e-12, same_b_of_forces = 1e-18;

// ---- Constraints and projection, of the largest coordinate or velocity --------------------------

// What is within `on_constraints` stays as it is: the sum of a few products.  Redundant rows contradict
// each other off the constraints: steps come as near as `projected`, and no farther than `nearly_projected`.
inline constexpr double on_constraints = 4e-15, projected = 1e-12, nearly_projected = 1e-9;
// Welded bodies are merged where their welds are met to this (sums of a few products); put there if they are farther
// off than round-off.
inline constexpr double weld_met = 1e-13, weld_round_off = 8e-15;
// Beyond, welds are met with the bodies turned by half a turn.
inline constexpr double weld_far = 1e-6;
// R'R - 1 of a matrix that is given as a rotation: typed by hand with few digits.
inline constexpr double rotation = 1e-6;

// ---- Reports ------------------------------------------------------------------------------------

// Shares of a direction, of its largest: below, they are not worth a line.
inline constexpr double visible_share = 1e-6;
// Rows at a start, of their sizes: met; and rows of this size, of what they are off, touch no coordinate.
inline constexpr double start_met = 1e-9, touches_nothing = 1e-9;
// Motions: singular values of balanced rows without motion, turns beside speeds; velocities of two bodies in the same
// motion, of the fastest.
inline constexpr double no_motion = 1e-9, same_motion = 1e-7;
// [m/s], [rad/s], [m], [rad]: as slow and as small as models are taken to be at least, where something is relative.
inline constexpr double least_size = 1e-3;
// Combinations of rows that joints would lose, of the largest entry: below, they are not redundant.
inline constexpr double no_combination = 1e-6;
// Squares at a row's place, of what they are a step away: met.
inline constexpr double square_met = 1e-6;
// Pivots of what hidden rows decide, of the largest: regular.  Their entries, of the terms they are the sums of: 0.
inline constexpr double hidden_regular = 1e-10, hidden_entry = 1e-12;
// Reactions of added hidden rows, of the largest force: none.  Round-off leaves 1e-12 and less.
inline constexpr double no_reaction = 1e-8;
// Rows at the best compromise of a start that cannot be met, of their sizes: met.
inline constexpr double compromise_met = 1e-6;
// Entries of hidden rows at two states, of the largest: the same formula holds at both.
inline constexpr double same_formula = 1e-10;
// Singular values, of the largest, of rows that only say the same again, off balance.
inline constexpr double soft = 1e-6;
// A body may be padded if it has this share of the heaviest one's mass, and is if accelerations without it are the same
// to the other share.
inline constexpr double padded_mass = 1e-4, padded_same = 1e-6;

}  // namespace mortise::tolerance
#pragma GCC visibility pop
