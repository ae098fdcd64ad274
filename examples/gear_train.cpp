// A pinion drives the sun of a planetary gear, whose ring stands still and whose carrier has no mass.
//
//   pinion    wheel + sun    planet on the carrier     ring (ground)
//    (o)======(----O----)========( o )===============|
//     R1       R2    Rs            Rp                  Rr = Rs + 2 Rp
//
// Turns per turn of the sun: pinion -R2/R1, planet -Rs/(2 Rp), carrier Rs/(2 (Rs + Rp)); the planet's axle moves by
// Rs/2.  Expected, with a torque tau on the pinion and J as seen from the sun:
//   sun'' = -(R2/R1) tau / J,   J = J1 (R2/R1)^2 + Js + Jp (Rs/(2 Rp))^2 + mp (Rs/2)^2

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/forces/applied.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/planar_gear.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;
  const double R1 = 0.02, R2 = 0.08, Rs = 0.03, Rp = 0.045, Rr = Rs + 2 * Rp;
  const double J1 = 2e-5, Js = 4e-3, Jp = 1e-4, mp = 0.5, tau = 0.6;

  Assembly gears("gears");
  const auto ring = gears.add("ring", Ground{});
  const auto pinion = gears.add("pinion", PlanarBody{.mass = 0.1, .inertia = J1});
  const auto sun = gears.add("sun", PlanarBody{.mass = 2, .inertia = Js});
  const auto planet = gears.add("planet", PlanarBody{.mass = mp, .inertia = Jp});
  const auto carrier = gears.add("carrier", PlanarBody{.mass = 0, .inertia = 0});
  gears.place(pinion, {-(R1 + R2), 0, 0});
  gears.place(planet, {Rs + Rp, 0, 0});
  gears.connect("pinion_axle", Pin{.on_a = {-(R1 + R2), 0}}, ring, pinion);
  gears.connect("sun_axle", Pin{}, ring, sun);
  gears.connect("carrier_axle", Pin{}, ring, carrier);
  gears.connect("planet_axle", Pin{.on_a = {Rs + Rp, 0}}, carrier, planet);
  gears.connect("pinion_mesh", PlanarGear{.radius_a = R1, .radius_b = R2}, pinion, sun);
  gears.connect("sun_mesh", PlanarGear{.radius_a = Rs, .radius_b = Rp}, sun, planet, carrier);
  gears.connect("ring_mesh", PlanarGear{.radius_a = Rp, .radius_b = -Rr}, planet, ring, carrier);
  gears.apply("motor", AppliedTorque{[=](const auto&, const auto&) { return tau; }}, pinion);

  const System system(gears);
  const Evaluation e = system.evaluate(system.state());
  fmt::print("{}", check_rank(system, e).text());
  const Solution s = solve(system, e);

  const double i1 = -R2 / R1, ip = -Rs / (2 * Rp), ic = Rs / (2 * (Rs + Rp));
  const double J = J1 * i1 * i1 + Js + Jp * ip * ip + mp * Rs * Rs / 4, sun_dd = i1 * tau / J;
  fmt::print("{:<10} {:>12} {:>12}\n", "", "theta''", "by hand");
  const auto show = [&](const char* name, double expected) {
    fmt::print("{:<10} {:12.6f} {:12.6f}\n", name, s.acceleration(fmt::format("{}.theta", name)), expected);
  };
  show("pinion", i1 * sun_dd);
  show("sun", sun_dd);
  show("planet", ip * sun_dd);
  show("carrier", ic * sun_dd);
  // The pinion:  J1 pinion'' = tau + R1 F
  fmt::print("tooth force at the pinion {:.6f} N, by hand {:.6f} N\n", s.reaction("pinion_mesh").lambda[0],
             (J1 * i1 * sun_dd - tau) / R1);
  const State later = simulate(system, system.state(), {.duration = 1}).last;
  fmt::print("after 1 s the sun has turned by {:.4f} rad, by hand {:.4f} rad\n", later.get("sun.theta"), sun_dd / 2);
}
