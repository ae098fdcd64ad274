// A Scotch yoke, driven at a constant speed: the drive is a constraint that moves with time and does work.
//
//        A                  crank OA = r, without mass, turned by the drive: phi = w t
//    r /  |                 yoke: mass m, slides along x; its slot, upright, takes the pin A
//    O o==[yoke]==          Expected:  x = r cos(w t),  x'' = -w^2 x
//                           moment of the drive:  m x' x'' / w = m r^2 w^2 sin(w t) cos(w t);  its power: m x' x''

#include <cmath>

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/drive_planar_angle.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/planar_point_on_line.h>
#include <mortise/joints/slider.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;
  const double r = 0.05, m = 4, w = 10;

  Assembly assembly("scotch yoke");
  const auto ground = assembly.add("ground", Ground{});
  const auto crank = assembly.add("crank", PlanarBody{.mass = 0, .inertia = 0});
  const auto yoke = assembly.add("yoke", PlanarBody{.mass = m, .inertia = 0.1});
  assembly.connect("O", Pin{}, ground, crank);
  assembly.connect("drive", DrivePlanarAngle{.f = [=](const auto& t) { return w * t; }}, ground, crank);
  assembly.connect("guide", Slider{}, ground, yoke);
  assembly.connect("slot", PlanarPointOnLine{.on_b = {r, 0}, .axis_a = {0, 1}}, yoke, crank);
  const System system(assembly);

  State s = system.state();
  s.set("yoke.x", r);
  s.set("crank.theta'", w);
  fmt::print("{}", check_rank(system, system.evaluate(s)).text());

  fmt::print("{:>5} {:>10} {:>10} {:>10} {:>10}\n", "t", "x", "x''", "moment", "power");
  for (int i = 1; i <= 5; ++i) {
    s = simulate(system, s, {.duration = 0.05}).last;
    const Solution at = solve(system, s);
    const double x = r * std::cos(w * s.t), x_dot = -r * w * std::sin(w * s.t), x_dd = -w * w * x;
    fmt::print("{:5.2f} {:10.6f} {:10.5f} {:10.5f} {:10.5f}\n", s.t, s.get("yoke.x"), at.acceleration("yoke.x"),
               at.reaction("drive").lambda[0], at.reaction("drive").power);
    fmt::print("{:5} {:10.6f} {:10.5f} {:10.5f} {:10.5f}   by hand\n", "", x, x_dd, m * x_dot * x_dd / w,
               m * x_dot * x_dd);
  }
}
