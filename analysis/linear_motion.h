#pragma once
// LinearMotion: how a System moves near one of its motions, to first order, as sparse matrices.
//
//   M eta'' + D eta' + K eta = B du + A' dlambda          eta: variations of the bodies, k of them
//   A eta = 0  (holonomic rows)     A eta' + N eta = 0     A eta'' + G eta' + H eta = 0
//
// A variation moves one coordinate by itself: dq = E eta.  Rigid bodies in space vary by their centre of mass (their
// origin where they have no mass) and by small turns about the world's axes, so that a spinning wheel varies with
// constant coefficients where its quaternion does not; everything else by its coordinates, E = I.  With E', E'' along
// the motion,
//
//   dq = E eta,   dv = E eta' + E' eta,   da = E eta'' + 2 E' eta' + E'' eta
//
// M, D, K: of r = M q'' - Q - C - A'lambda at fixed q'' and lambda (engine/tangent.h).  N, G, H: of the rows' first and
// second derivative in time along the motion, exact by Taylor numbers; by differences of order eight where a part has
// none (what complete() adds).

#include <string>
#include <vector>

#include <mortise/assembly/system.h>
#include <mortise/core/scaling.h>

#pragma GCC visibility push(hidden)
namespace mortise {

struct Variation {
  std::string name, unit;
  std::size_t body;
  int group;  // variations of one group share a scale
};

struct LinearMotion {
  using Matrix = Eigen::SparseMatrix<double>;
  State state;
  VectorXd a, lambda;
  std::vector<Variation> variations;
  Matrix E, E1, E2;         // coordinates x variations
  Matrix M, D, K;           // k x k
  Matrix A, N, G, H;        // rows x k: holonomic rows first
  std::vector<Index> rows;  // of the system
  Index holonomic = 0;
  bool at_rest = false;  // nothing moves, and no acceleration

  Index size() const { return static_cast<Index>(variations.size()); }
};

// Solves for the accelerations: throws as Solver::solve does, and NoDerivative naming the part.
LinearMotion linear_motion(const System& system, const State& s);

}  // namespace mortise
#pragma GCC visibility pop
