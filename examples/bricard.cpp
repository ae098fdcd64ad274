// Bricard's mechanism: five rods and six hinges that by Gruebler's count could not move.
//
//   The rods are edges of a cube, from      (0,0,0) -x-> (1,0,0) -y-> (1,-1,0) = P3 -z-> (1,-1,1) -x-> (0,-1,1) -y->
//   corner to corner:                       (0,0,1);  hinges in all six corners, about y, z, x, y, z, x
//
// Rods: 1 m, 1 kg, square section of 0.1 m; weight along -y.  One of the 30 rows of the hinges is redundant: 1 DOF. The
// report names it.  Off the constraints, as within a step, redundant rows contradict each other: without that one the
// mechanism is the same, and can be integrated.
// Expected: P3 along its motion, computed independently in two ways.

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <mortise/assembly/solve.h>
#include <mortise/assembly/solver.h>
#include <mortise/bodies/ground.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/integrators/rk4.h>
#include <mortise/joints/perpendicular_axes.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/spherical.h>

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
  const System whole(bricard);
  const std::string report = check_rank(whole, whole.evaluate(whole.state())).text();
  fmt::print("{}\n", report.substr(0, report.find("     already")));

  bricard.remove("hinge6");
  bricard.connect("point6", at_world<Spherical>(corner[5]), rod[4], ground);
  bricard.connect("tilt6", PerpendicularAxes{.axis_a = {1, 0, 0}, .axis_b = Axis(1, 0, 0).across_1}, rod[4], ground);
  const System system(bricard);
  State s = system.state();
  fmt::print("{}\n", check_rank(system, system.evaluate(s)).text());

  const Mat<double, 2, 3> reference{{7.74717808039233440e-01, -9.79815047655668989e-01, -1.99906158953442723e-01},
                                    {2.74481319264623039e-01, -8.86707938734672018e-01, -4.62330002687376039e-01}};
  fmt::print("{:>4} {:>11} {:>11} {:>11}   {:>11} {:>11} {:>11}\n", "t", "P3 x", "y", "z", "expected x", "y", "z");
  Solver solver(system);
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 100; ++k) s = rk4_step(solver, s, 0.005);
    const V P3 = RigidBody{}.point<double>(s.get_all("rod2"), {0, -0.5, 0});
    fmt::print("{:4.1f} {:11.7f} {:11.7f} {:11.7f}   {:11.7f} {:11.7f} {:11.7f}\n", s.t, P3[0], P3[1], P3[2],
               reference(i, 0), reference(i, 1), reference(i, 2));
  }
  const bool kept = whole.evaluate(s).phi.cwiseAbs().maxCoeff() < 1e-9;
  fmt::print("all 30 rows, also the one left out, {} to 1e-9\n", kept ? "kept" : "NOT kept");
}
