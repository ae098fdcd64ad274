#pragma once
// What an error in a coordinate or a velocity is small against.
//
//   coordinates   the longest way from the start that one of the same unit has gone; those that tell no unit count with
//                 their group in their body
//   velocities    the largest of the same unit, and at least the measure of the coordinates times the largest rate
//
// So steps do not change with the origin and the units of length and time, for ways longer and velocities larger than 1e-6
// of these.

#include <utility>
#include <vector>

#include <mortise/assembly/system.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class ErrorScale {
 public:
  void begin(const System& system, const State& s);
  void include(const VectorXd& q, const VectorXd& v);
  // The root mean square of the errors relative to these.
  double norm(const VectorXd& dq, const VectorXd& dv) const;
  // These, of each coordinate and of each velocity.
  std::pair<VectorXd, VectorXd> sizes() const;

 private:
  std::vector<int> kind_;   // of each coordinate
  VectorXd start_, q_, v_;  // q at the start; the largest of each kind
  double rate_ = 0;
};

}  // namespace mortise
#pragma GCC visibility pop
