// Andrews' squeezing mechanism: seven bodies, three loops, one degree of freedom; a benchmark for integrators.
//
//   O --K1-- F --K2-- E      three chains meet in E:  B --K3-- E,   A --K5-- G --K4-- E,   A --K7-- H --K6-- E
//
// K1 is driven by a torque; a spring runs from the fixed point C to D on K3.  No weight, no friction.
// Expected at the start (at rest):  K1'' = 14222.4439, K2'' = 3555.6110, all others 0 [Hairer and Wanner, Solving
// Ordinary Differential Equations II, Sec. VII.7], and the angle of K1 after 5 ms, computed independently to 15 digits.

#include <cmath>

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/forces/applied.h>
#include <mortise/forces/spring.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/pin.h>
#include <mortise/solve/solve.h>

int main() {
  using namespace mortise;
  using V = Vec2<double>;
  const V O(0, 0), A(-0.06934, -0.00227), B(-0.03635, 0.03273), C(0.014, 0.072), D(0.02, -0.018);
  const double k1 = -6.17138900142764496e-02, k3 = 4.55279819163070380e-01, k5 = 4.87364979543842550e-01,
               k4 = k5 + 2.22668390165885885e-01, k7 = 1.23054744454982119e+00, k6 = k7 - 2.22668390165885885e-01;
  const auto from = [](const V& p, double angle, const V& r) -> V { return p + Eigen::Rotation2Dd(angle) * r; };
  const V F = from(O, k1, {0.007, 0}), G = from(A, k5, {0.04, 0}), H = from(A, k7, {0, -0.04}),
          E = from(F, k1, {-0.028, 0});

  Assembly squeezer("squeezer");
  const auto ground = squeezer.add("ground", Ground{});
  const auto body = [&](const char* name, double m, double J, const V& centre, const V& at, double angle) {
    const auto added = squeezer.add(name, PlanarBody{.mass = m, .inertia = J, .centre = centre});
    squeezer.place(added, {at[0], at[1], angle});
    return added;
  };
  const auto K1 = body("K1", 0.04325, 2.194e-6, {0.00092, 0}, O, k1);
  const auto K2 = body("K2", 0.00365, 4.41e-7, {-0.0115, 0}, F, k1);
  const auto K3 = body("K3", 0.02373, 5.255e-6, {0.01043, -0.01874}, B, k3);
  const auto K4 = body("K4", 0.00706, 5.667e-7, {0, -0.00579}, G, k4);
  const auto K5 = body("K5", 0.0705, 1.169e-5, {0.02308, 0.00916}, A, k5);
  const auto K6 = body("K6", 0.00706, 5.667e-7, {0.00579, 0}, H, k6);
  const auto K7 = body("K7", 0.05498, 1.912e-5, {0.00449, -0.01228}, A, k7);
  const auto pin = [&](const char* name, const V& at, const auto& a, const auto& b) {
    squeezer.connect(name, at_world<Pin>(at), a, b);
  };
  pin("O", O, ground, K1), pin("F", F, K1, K2), pin("B", B, ground, K3), pin("A5", A, ground, K5);
  pin("A7", A, ground, K7), pin("G", G, K5, K4), pin("H", H, K7, K6);
  pin("E3", E, K2, K3), pin("E4", E, K2, K4), pin("E6", E, K2, K6);
  squeezer.apply("spring", Spring<2>{.on_a = C, .on_b = D, .stiffness = 4530, .length = 0.07785}, ground, K3);
  squeezer.apply("motor", AppliedTorque{[](const auto&, const auto&) { return 0.033; }}, K1);

  const System system(squeezer);
  State s = system.state();
  const Evaluation e = system.evaluate(s);
  fmt::print("{}", check_rank(system, e).text());
  const Solution start = solve(system, e);
  fmt::print("K1'' = {:.4f}   published {:.4f}\n", start.acceleration("K1.theta"), 1.42224439199541140e+04);
  fmt::print("K2'' =  {:.4f}   published  {:.4f}\n", start.acceleration("K2.theta"),
             1.42224439199541140e+04 - 1.06668329399655855e+04);
  s = simulate(system, s, {.duration = 0.005, .steps = {.tolerance = 1e-11}}).last;
  fmt::print("after 5 ms: K1 at {:.8f} rad   expected {:.8f}\n", s.get("K1.theta"), 2.11076385903266539e-01);
}
