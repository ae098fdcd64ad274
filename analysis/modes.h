#pragma once
// modes: how a System vibrates near a state of rest or a steady motion, and whether it is stable.
//
//   const Modes found = modes(system, state);
//   fmt::print("{}", found.text());           "2: 1.318 Hz, damping 0.021: 71 % front_hub.z, 24 % chassis.ry"
//
// Modes are those of linearise(): massless parts, redundant and nonholonomic rows give none of their own.  Rigid-body
// modes, which nothing draws back, are counted and taken out before the others are computed.

#include <complex>
#include <string>
#include <vector>

#include <mortise/analysis/linearise.h>

namespace mortise {

struct Mode {
  std::complex<double> eigenvalue;  // [1/s]; of a pair, the one with imaginary part > 0
  double frequency = 0;             // [Hz] of the oscillation, 0 of what creeps or grows without one
  double damping = 0;               // share of critical damping, negative where it grows; 1 or -1 without oscillation
  Eigen::VectorXcd shape;           // by variations, the largest in its scale is 1
  struct Share {
    std::string name;  // of a variation
    double share;      // of the kinetic energy
  };
  std::vector<Share> shares;  // descending, those above 1 %
  bool grows() const { return eigenvalue.real() > 0; }
  std::string text() const;
};

struct Modes {
  std::string system;
  std::vector<std::string> variations;
  std::vector<Mode> modes;  // by frequency, those without one first
  MatrixXd rigid;           // shapes of rigid-body modes, variations x modes
  Index zero = 0;           // eigenvalues that are 0: two for each rigid-body mode that can drift

  bool stable() const;  // none grows
  std::string text() const;
  std::string csv() const;
};

Modes modes(const System& system, const State& s);
Modes modes(const LinearModel& model);

}  // namespace mortise
