// Bricard's mechanism: five rods and six hinges that by Gruebler's count could not move.
//
//   The rods are edges of a cube, from      (0,0,0) -x-> (1,0,0) -y-> (1,-1,0) = P3 -z-> (1,-1,1) -x-> (0,-1,1) -y->
//   corner to corner:                       (0,0,1);  hinges in all six corners, about y, z, x, y, z, x
//
// Rods: 1 m, 1 kg, square section of 0.1 m; weight along -y.  One of the 30 rows of the hinges is redundant: 1 DOF. The
// report names it.  Off the constraints, as within a step, redundant rows contradict each other: simulate() leaves one
// out, and the others hold it.
// Expected: P3 along its motion, computed independently in two ways.

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/revolute.h>
#include <mortise/sensors/point_sensor.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;
  using V = Vec3<double>;
  const std::array<V, 6> corner{V(0, 0, 0), V(1, 0, 0), V(1, -1, 0), V(1, -1, 1), V(0, -1, 1), V(0, 0, 1)};
  const std::array<V, 3> axes{V(0, 1, 0), V(0, 0, 1), V(1, 0, 0)};

  Assembly bricard("bricard");
  bricard.set_gravity({0, -9.81, 0});
  const auto ground = bricard.add("ground", Ground{});
  std::vector<Handle<RigidBody>> rod;
  for (std::size_t k = 0; k < 5; ++k) {
    const V along = corner[k + 1] - corner[k], edges = V(0.1, 0.1, 0.1) + 0.9 * along.cwiseAbs();
    rod.push_back(bricard.add("rod" + std::to_string(k + 1), RigidBody::of(Inertia::box(1, edges))));
    bricard.place(rod[k], RigidBody::pose((corner[k] + corner[k + 1]) / 2, {1, 0, 0, 0}));
  }
  for (std::size_t k = 0; k < 6; ++k) {
    const auto hinge = at_world<Revolute>(corner[k], Axis(axes[k % 3]));
    const std::string name = "hinge" + std::to_string(k + 1);
    if (k == 0)
      bricard.connect(name, hinge, ground, rod[0]);
    else if (k < 5)
      bricard.connect(name, hinge, rod[k - 1], rod[k]);
    else
      bricard.connect(name, hinge, rod[4], ground);
  }
  bricard.measure("P3", PointSensor<3>{.at = {0, -0.5, 0}}, rod[1]);
  const System system(bricard);
  const std::string report = check_rank(system, system.evaluate(system.state())).text();
  fmt::print("{}\n", report.substr(0, report.find("     loop")));

  const Trajectory run =
      simulate(system, system.state(), {.duration = 10, .steps = {.tolerance = 1e-10}, .sample = 0.5});
  const Mat<double, 4, 4> reference{{0.5, 7.74717808039233440e-01, -9.79815047655668989e-01, -1.99906158953442723e-01},
                                    {1, 2.74481319264623039e-01, -8.86707938734672018e-01, -4.62330002687376039e-01},
                                    {2.5, -9.99983185292791075e-01, -9.99999999858635188e-01, -1.68145658417357160e-05},
                                    {10, 9.99730987303835352e-01, -9.99999963825817275e-01, -2.68976512249299543e-04}};
  fmt::print("{:>4} {:>11} {:>11} {:>11}   {:>11} {:>11} {:>11}\n", "t", "P3 x", "y", "z", "expected x", "y", "z");
  for (int i = 0; i < 4; ++i) {
    const auto k = static_cast<Index>(std::lround(2 * reference(i, 0)));
    fmt::print("{:4.1f} {:11.7f} {:11.7f} {:11.7f}   {:11.7f} {:11.7f} {:11.7f}\n", run.value(k, "t"),
               run.value(k, "P3.x"), run.value(k, "P3.y"), run.value(k, "P3.z"), reference(i, 1), reference(i, 2),
               reference(i, 3));
  }
  for (const auto& note : run.notes) fmt::print("{}: {}\n", note.kind, note.text);
  const bool kept = system.evaluate(run.last).phi.cwiseAbs().maxCoeff() < 1e-12;
  fmt::print("energy kept to 1e-6 J: {}; all 30 rows to 1e-12: {}\n", run.energy_error < 1e-6, kept);
}
