#pragma once
// Standard problems with values computed twice by independent means, and stiff ones: what runs are tested with.

#include <string>
#include <vector>

#include <mortise/integrators/simulate.h>

namespace mortise {

struct Problem {
  Assembly assembly;
  std::vector<std::pair<std::string, std::vector<double>>> start;
  std::vector<std::string> columns;
  struct Moment {
    double t;
    std::vector<double> values;
  };
  std::vector<Moment> expected;

  State state(const System& system) const {
    State s = system.state();
    for (const auto& [name, values] : start)
      s.set(name, Eigen::Map<const VectorXd>(values.data(), static_cast<Index>(values.size())));
    return s;
  }
  // The largest error of all observables at all times.
  double error(const Trajectory& run) const {
    double worst = 0;
    const VectorXd t = run.column("t");
    for (const Moment& m : expected) {
      Index k = 0;
      (t.array() - m.t).abs().minCoeff(&k);
      if (std::abs(t[k] - m.t) > 1e-12) return 1e300;
      for (std::size_t i = 0; i < columns.size(); ++i)
        worst = std::max(worst, std::abs(run.value(k, columns[i]) - m.values[i]));
    }
    return worst;
  }
  Trajectory run(const SimulationOptions& options) const {
    const System system(assembly);
    return simulate(system, state(system), options);
  }
};

Problem pendulum();                           // a point mass on a massless bar
Problem four_bars(int N, double uneven = 0);  // N windows, rank drops by N where they lie flat; uneven: masses
Problem bricard(double uneven = 0);           // six revolute joints, one row of thirty redundant; uneven: masses
Problem rolling_disk();
Problem sleigh();
Problem turntable();
Problem euler_top();
Problem lagrange_top(bool fast);
Problem double_pendulum();  // two point masses on massless links
Problem spherical_chain();  // two rods on spherical joints
// Of Andrews, seven bodies; with a stiff spring [N/m] and damper in the place of one pin, expected values are near.
Problem squeezer(double stiffness = 0, double damping = 0);
Problem wheel_on_slope();  // a unicycle, nonholonomic
// A pendulum on a bushing of stiffness k [N/m] and damping c [N s/m] instead of a pin.
Problem soft_pendulum(double k, double c);
Problem car_axis();
Problem governor(double k = 8e5, double c = 4e4);  // stiff springs and dampers that turn
Problem lumped_beam(int N, double EI = 10, double tau = 1e-4);

}  // namespace mortise
