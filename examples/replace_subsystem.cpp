// A crane whose arm is a subsystem with a port: checked alone, connected, and exchanged for an elastic one.
//
//   /|============== o tip      arm: rigid, or an elastic beam clamped at the wall (rho A, EI, length L)
//   /|               |          tip: its port, a frame without mass at the end of the arm
//                    | rope     load: mass m on a rope of length 1
//                    O load
//
// Everything starts at rest, the beam straight.  Expected at this moment:
//   rigid arm     the load hangs still, and the rope carries m g
//   elastic arm   tip and load fall together:  (M + m e e') (uy, rz)'' = -g (rho A L (1/2, -L/12) + m e),  e = (1, 0),
//                 M of one beam element, at its free end; the rope carries m (g + uy'')

#include <cmath>

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/structure.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/coupling.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/planar_weld.h>
#include <mortise/sensors/point_sensor.h>
#include <mortise/solve/readings.h>

using namespace mortise;

namespace {

const double L = 4, rho_A = 25, EI = 8e5, m = 150, g = 9.81;

Assembly rigid_arm() {
  Assembly arm("rigid_arm");
  const auto wall = arm.add("wall", Ground{});
  const auto beam = arm.add("beam", PlanarBody{.mass = rho_A * L, .inertia = rho_A * std::pow(L, 3) / 12});
  const auto frame = arm.add("frame", PlanarBody{});
  arm.place(beam, {L / 2, 0, 0});
  arm.place(frame, {L, 0, 0});
  arm.connect("clamp", at_world<PlanarWeld>(Vec2<double>(0, 0)), wall, beam);
  arm.connect("mount", at_world<PlanarWeld>(Vec2<double>(L, 0)), beam, frame);
  arm.port("tip", frame);
  return arm;
}

Mat<double, 4> beam_mass() {  // of one element: uy, rz of its two ends
  Mat<double, 4> M;
  M << 156, 22 * L, 54, -13 * L, 22 * L, 4 * L * L, 13 * L, -3 * L * L, 54, 13 * L, 156, -22 * L, -13 * L, -3 * L * L,
      -22 * L, 4 * L * L;
  return rho_A * L / 420 * M;
}

Assembly elastic_arm() {
  Mat<double, 4> K;
  K << 12, 6 * L, -12, 6 * L, 6 * L, 4 * L * L, -6 * L, 2 * L * L, -12, -6 * L, 12, -6 * L, 6 * L, 2 * L * L, -6 * L,
      4 * L * L;
  Assembly arm("elastic_arm");
  const auto beam = arm.add("beam", Structure({.M = beam_mass(),
                                               .K = EI / std::pow(L, 3) * K,
                                               .dofs = {{"n0", "uy"}, {"n0", "rz"}, {"n1", "uy"}, {"n1", "rz"}}}));
  const auto frame = arm.add("frame", PlanarBody{});
  arm.place(frame, {L, 0, 0});
  for (const char* dof : {"uy", "rz"})
    arm.connect(fmt::format("clamp_{}", dof), Coupling{.terms = {{0, fmt::format("n0.{}", dof), 1}}}, beam);
  arm.connect("mount_x", Coupling{.terms = {{0, "x", 1}}, .constant = -L}, frame);
  arm.connect("mount_y", Coupling{.terms = {{0, "y", 1}, {1, "n1.uy", -1}}}, frame, beam);
  arm.connect("mount_turn", Coupling{.terms = {{0, "theta", 1}, {1, "n1.rz", -1}}}, frame, beam);
  arm.port("tip", frame);
  return arm;
}

void check(const Assembly& assembly) {
  const System system(assembly);
  fmt::print("{}", check_rank(system, system.evaluate(system.state())).text());
}

void show(const Assembly& crane, double falls) {
  check(crane);
  const System system(crane);
  Readings readings(system, {.reactions = true});
  readings.read(system.state());
  fmt::print("  load y'' {:9.6f} by hand {:9.6f}    rope carries {:11.6f} by hand {:11.6f}\n",
             std::round(1e9 * readings.value("load_at.y''")) / 1e9 + 0.0, falls, -readings.value("rope.thrust"),
             m * (g + falls));
  const Trajectory run = simulate(system, system.state(), {.duration = 0.5});
  fmt::print("  energy is {} for 0.5 s\n", run.finished && run.energy_error < 1e-3 ? "kept" : "NOT KEPT");
}

}  // namespace

int main() {
  check(rigid_arm());  // each arm alone
  check(elastic_arm());

  Assembly crane("crane");
  crane.set_gravity({0, -g, 0});
  crane.add("arm", rigid_arm());
  const auto load = crane.add("load", Particle<2>{.mass = m});
  crane.place(load, {L, -1});
  crane.connect("rope", Distance<2>{.length = 1}, crane.body<PlanarBody>("arm/tip"), load);
  crane.measure("load_at", PointSensor<2>{}, load);
  show(crane, 0);

  crane.replace("arm", elastic_arm());
  Mat<double, 2> M = beam_mass().bottomRightCorner<2, 2>();
  M(0, 0) += m;
  show(crane, M.inverse().row(0).dot(-g * Vec2<double>(rho_A * L / 2 + m, -rho_A * L * L / 12)));
}
