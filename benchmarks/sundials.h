#pragma once
// Runs of CVODE and IDA of SUNDIALS on models of ours, with the sparse solver KLU and our Jacobian.
//
//   cvode   q' = v, v' = a(q, v, t), a by our solver; BDF.  (I / gamma - J) x = r by the sparse matrix of MotionSlopes.
//   ida     q' = v, M v' = Q + C + A'lambda, A v' = b, by evaluations of the system alone; lambda is not in the error.
//           Its Jacobian is the same matrix, once q is eliminated.
//
// Both are judged by the sizes that our methods use (integrators/error_scale.h), take Jacobians anew when they ask for
// them, and meet the constraints as they are differentiated: nothing is projected.

#include <string>

#include <mortise/assembly/system.h>
#include <mortise/core/state.h>

namespace bench {

struct PeerRun {
  bool finished = false;
  std::string stopped;  // why
  mortise::State last;
  long steps = 0, evaluations = 0, jacobians = 0;
};

PeerRun run_cvode(const mortise::System& system, const mortise::State& start, double duration, double tolerance);
PeerRun run_ida(const mortise::System& system, const mortise::State& start, double duration, double tolerance);

}  // namespace bench
