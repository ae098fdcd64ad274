// A door on two hinges: five rows too many, though they agree.  Expected: the loop, the reactions that nobody can know,
// and joints that hold the door as well without a row too many; one line once they are used.
#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/diagnosis/graph.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/point_on_line.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/spherical.h>

int main() {
  using namespace mortise;
  using V = Vec3<double>;
  const V low(0, 0, 0.2), high(0, 0, 1.8);
  const Axis up(V(0, 0, 1));

  Assembly doorway("doorway");
  doorway.set_gravity({0, 0, -9.81});
  const auto frame = doorway.add("frame", Ground{});
  const auto door = doorway.add("door", RigidBody{.mass = 20, .inertia = V(7, 8, 1).asDiagonal()});
  doorway.place(door, RigidBody::pose({0.4, 0, 1}, {1, 0, 0, 0}));
  doorway.connect("hinge_A", at_world<Revolute>(low, up), frame, door);
  doorway.connect("hinge_B", at_world<Revolute>(high, up), frame, door);
  const System system(doorway);
  const RankReport report = check_model(system);
  fmt::print("{}\n", report.text());
  for (const Mend& mend : report.mends) fmt::print("proposal: {}\n", mend.words());

  // The first proposal.
  doorway.remove("hinge_A");
  doorway.remove("hinge_B");
  doorway.connect("hinge_A", at_world<Spherical>(low), frame, door);
  doorway.connect("hinge_B", at_world<PointOnLine>(high, up), frame, door);
  const System mended(doorway);
  fmt::print("\n{}\n", check_model(mended).text());
  State s = mended.state();
  s.set("door'", RigidBody::rates(s.get_all("door"), {0, 0.4, 0}, {0, 0, 1}));
  const State later = simulate(mended, s, {.duration = 1}).last;
  fmt::print("pushed, it turns with 1 rad/s: by {:.6f} rad in 1 s\n\n",
             2 * std::atan2(later.get("door.u3"), later.get("door.u0")));

  fmt::print("for dot, culprits coloured:\n{}", graphviz(system, report));
}
