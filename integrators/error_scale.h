#pragma once
// What an error in a coordinate or a velocity is small against, and how large the largest is.
//
//   coordinates   how far the body has gone from the start; what it has turned counts by the lever arms of its joints
//   velocities    its largest so far, and at least the measure of its coordinates times its largest rate
//
// Each body has its own measure, and the norm of an error is the largest over the bodies: a small fast part among a
// thousand idle ones counts as it does alone.  What is below a share of the sizes of its connected part, or of what the
// forces on the body would do if they did not balance each other, may be round-off and counts by these:
//
//   lengths        1e-6 of the extent of the part and of its lever arms, 1e-6 m if it has none
//   angles         1e-6, and the same for what has no unit
//   velocities     what changes these by so much in a step
//   accelerations  1e-6 of  (|Q| + |A'||lambda|) / M  at the start
//
// (more for tolerances below 1e-9).  So steps do not change with the origin and the units of length, time and mass.

#include <utility>
#include <vector>

#include <mortise/integrators/flow.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class ErrorScale {
 public:
  // The solver of the flow is at s.
  void begin(Flow& flow, const State& s, double tolerance);
  void include(const VectorXd& q, const VectorXd& v);
  // The largest over the bodies of the root mean square of their errors, made in a step of length h.
  double norm(const VectorXd& dq, const VectorXd& dv, double h) const;
  std::size_t worst_body(const VectorXd& dq, const VectorXd& dv, double h) const;
  // What these are relative to, of each coordinate and of each velocity.
  std::pair<VectorXd, VectorXd> sizes() const;
  // Of each coordinate: how large the model is along it, or how far something has gone; without any of that, how far
  // away from 0 it is.
  VectorXd extents() const;
  // A time in which the motion that begins with these changes little.
  double time_scale(const VectorXd& v, const VectorXd& a) const;

 private:
  struct Kind {        // the coordinates of one unit in one body
    int unit;          // of the connected part
    double lever = 0;  // [m] of one that is no length, in a body that has lengths too
    double push = 0;   // what the forces do to it
    double way = 0, speed = 0, q = 0, v = 0, least = 0;
  };
  struct Unit {  // in a connected part
    double size = 0, far = 0, way = 0, speed = 0;
    bool guessed = false;  // the size
  };
  struct Body {
    Index first, size;
    int kind, kinds;
    int length;  // its kind that is one; -1: none
  };
  void measure();
  double of_body(const Body& b, const VectorXd& dq, const VectorXd& dv, double h) const;

  std::vector<Body> bodies_;
  std::vector<std::size_t> which_;  // in the system
  std::vector<Kind> kinds_;
  std::vector<Unit> units_;
  std::vector<int> kind_;  // of each coordinate
  VectorXd start_;
  double share_ = 0, round_off_ = 0;
};

}  // namespace mortise
#pragma GCC visibility pop
