// Long runs: a million steps leave nothing behind in memory.

#include <malloc.h>

#include <cstdlib>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/pin.h>

using namespace mortise;

// Of the address sanitizer, where that is there.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes() __attribute__((weak));

namespace {

std::size_t bytes_in_use() {
  if (__sanitizer_get_current_allocated_bytes) return __sanitizer_get_current_allocated_bytes();
  const struct mallinfo2 m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

}  // namespace

TEST_CASE("soak: many steps need no more memory than few") {
  const char* const longer = std::getenv("MORTISE_LONG");
  const int steps = longer ? 1000000 : 10000;
  Assembly a("pendulums");
  a.set_gravity({0, -9.81, 0});
  const auto ground = a.add("ground", Ground{});
  const auto first = a.add("first", PlanarBody{.mass = 1, .inertia = 0.1}),
             second = a.add("second", PlanarBody{.mass = 1, .inertia = 0.1});
  a.place(first, {0.5, 0, 0});
  a.place(second, {1.5, 0, 0});
  a.connect("pin", Pin{.on_b = {-0.5, 0}}, ground, first);
  a.connect("elbow", Pin{.on_a = {0.5, 0}, .on_b = {-0.5, 0}}, first, second);
  const System system(a);
  for (const auto& [integrator, share] : std::vector<std::pair<std::string, int>>{
           {"dopri5", 1}, {"rk4", 1}, {"radau5", 5}, {"gauss", 5}, {"generalized_alpha", 5}}) {
    CAPTURE(integrator);
    const int most = steps / share;
    int done = 0;
    std::size_t early = 0, late = 0;
    SimulationOptions options{.duration = 1e9, .integrator = integrator, .sample = 0};
    options.steps.step = integrator == "dopri5" || integrator == "radau5" ? 0 : 1e-3;
    options.sample = options.duration;  // none on the way
    options.progress = [&](double, double) {
      ++done;
      if (done == most / 10) early = bytes_in_use();
      if (done == most) late = bytes_in_use();
      return done < most;
    };
    const Trajectory run = simulate(system, system.state(), options);
    CHECK_MESSAGE(done == most, run.stopped);
    CHECK(early > 0);
    constexpr std::size_t nothing = 4096;
    CAPTURE(early);
    CHECK(late <= early + nothing);
  }
}
