// Writes runs and their pages into a folder, for the test in a browser and to be looked at:
//
//   showcases <folder>      pendulum, windows, bricard, vehicle, boom, unfinished: <name>.csv, .svg and .html

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/bodies/structure.h>
#include <mortise/diagnosis/rank_report.h>
#include <mortise/forces/coordinate_spring.h>
#include <mortise/forces/spring.h>
#include <mortise/integrators/simulate.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/point_on_line.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/slider.h>
#include <mortise/joints/spherical.h>
#include <mortise/sensors/point_sensor.h>

#include "plot.h"
#include "view.h"

using namespace mortise;

namespace {

std::string folder;

void show(const Assembly& assembly, State s, double duration, ViewOptions options,
          const std::vector<std::string>& plotted) {
  const System system(assembly);
  s.names = system.names();
  show_report(options, system, check_rank(system, system.evaluate(s)));
  const std::string name = folder + "/" + assembly.name();
  const Trajectory run = simulate(system, s, {.duration = duration, .steps = {.tolerance = 1e-8}, .sample = 0.01});
  run.write_csv(name + ".csv");
  const RunTable table = read_csv(name + ".csv");
  options.plots = plotted;
  write_view(system, table, name + ".html", options);
  write_plot(table, plotted, name + ".svg");
  fmt::print("{}.html\n", name);
}

// A massless rod with a particle at its end, and a spring beside it.
void pendulum() {
  Assembly a("pendulum");
  a.set_gravity({0, -9.81, 0});
  const auto ground = a.add("ground", Ground{});
  const auto rod = a.add("rod", PlanarBody{});
  const auto tip = a.add("tip", Particle<2>{.mass = 1});
  a.place(tip, {1, 0});
  a.connect("hinge", Pin{}, ground, rod);
  a.connect("end", Pin{.on_a = {1, 0}}, rod, tip);
  a.apply("spring", Spring<2>{.on_a = {0.9, -0.9}, .on_b = {0.5, 0}, .stiffness = 12, .damping = 0.2, .length = 0.7},
          ground, rod);
  show(a, System(a).state(), 6, {.title = "Pendulum with a massless rod"}, {"tip.x", "tip.y", "rod.theta", "energy.*"});
}

// The same before the rod is held: a report with a free direction, standing still.
void unfinished() {
  Assembly a("unfinished");
  a.set_gravity({0, -9.81, 0});
  const auto ground = a.add("ground", Ground{});
  const auto rod = a.add("rod", PlanarBody{});
  const auto tip = a.add("tip", Particle<2>{.mass = 1});
  a.place(rod, {0, 0, -0.5});
  a.place(tip, {1, -0.2});
  a.connect("hinge", Pin{}, ground, rod);
  const System system(a);
  ViewOptions options{.title = "Pendulum, not connected yet"};
  options.shapes["rod"] = {{.type = "rod", .size = {0.05, 1, 0}, .at = {0.5, 0, 0}, .axis = {1, 0, 0}}};
  show_report(options, system, check_rank(system, system.evaluate(system.state())));
  write_view(system, table_of(system, system.state()), folder + "/unfinished.html", options);
  fmt::print("{}/unfinished.html\n", folder);
}

// A row of four-bar windows: planar loops.
void windows() {
  constexpr int N = 4;
  Assembly a("windows");
  a.set_gravity({0, -9.81, 0});
  const auto ground = a.add("ground", Ground{});
  const PlanarBody bar{.mass = 1, .inertia = 1.0 / 12};
  std::vector<Handle<PlanarBody>> upright;
  for (int i = 0; i <= N; ++i) {
    const std::string n = std::to_string(i);
    upright.push_back(a.add("upright" + n, bar));
    a.place(upright.back(), {double(i), 0.5, 0});
    a.connect("foot" + n, at_world<Pin>(Vec2<double>(i, 0)), ground, upright.back());
    if (i == 0) continue;
    const auto coupler = a.add("coupler" + n, bar);
    a.place(coupler, {i - 0.5, 1, 0});
    a.connect("left" + n, at_world<Pin>(Vec2<double>(i - 1, 1)), upright[std::size_t(i) - 1], coupler);
    a.connect("right" + n, at_world<Pin>(Vec2<double>(i, 1)), coupler, upright.back());
  }
  const System system(a);
  State s = system.state();
  for (const auto& body : system.bodies())
    if (body.size > 0)
      s.v.segment<3>(body.first) = body.name[0] == 'u' ? Vec3<double>(0.5, 0, -1) : Vec3<double>(1, 0, 0);
  show(a, s, 4, {.title = "Row of four-bar windows"}, {"upright0.x", "coupler1.y", "upright*.theta", "energy.*"});
}

// Five rods and six hinges with one redundant row.
void bricard() {
  using V = Vec3<double>;
  const std::vector<V> corner{V(0, 0, 0), V(1, 0, 0), V(1, -1, 0), V(1, -1, 1), V(0, -1, 1), V(0, 0, 1)};
  const std::vector<V> axes{V(0, 1, 0), V(0, 0, 1), V(1, 0, 0)};
  Assembly a("bricard");
  a.set_gravity({0, -9.81, 0});
  const auto ground = a.add("ground", Ground{});
  std::vector<Handle<RigidBody>> rod;
  for (std::size_t k = 0; k < 5; ++k) {
    const V along = corner[k + 1] - corner[k], edges = V(0.1, 0.1, 0.1) + 0.9 * along.cwiseAbs();
    rod.push_back(a.add("rod" + std::to_string(k + 1), RigidBody::of(Inertia::box(1, edges))));
    a.place(rod[k], RigidBody::pose((corner[k] + corner[k + 1]) / 2, {1, 0, 0, 0}));
  }
  for (std::size_t k = 0; k < 6; ++k) {
    const auto hinge = at_world<Revolute>(corner[k], Axis(axes[k % 3]));
    const std::string name = "hinge" + std::to_string(k + 1);
    if (k == 0)
      a.connect(name, hinge, ground, rod[0]);
    else if (k < 5)
      a.connect(name, hinge, rod[k - 1], rod[k]);
    else
      a.connect(name, hinge, rod[4], ground);
  }
  a.measure("P3", PointSensor<3>{.at = {0, -0.5, 0}}, rod[1]);
  show(a, System(a).state(), 5, {.title = "Bricard's mechanism"}, {"P3.x", "P3.y", "P3.z", "energy.*"});
}

// A car on four suspensions, dropped with one wheel higher.
void vehicle() {
  const double M = 1200, m = 40, k = 2.5e4, kt = 2e5, g = 9.81, x = 1.3, y = 0.75, height = 0.3, spring = 0.4;
  Assembly corner("corner");
  const auto mount = corner.add("mount", Particle<3>{});
  const auto hub = corner.add("hub", Particle<3>{.mass = m});
  corner.apply("spring", Spring<3>{.stiffness = k, .damping = 900, .length = spring + M * g / 4 / k}, mount, hub);
  corner.apply("tyre", CoordinateSpring{.terms = {{0, "z", 1}}, .stiffness = kt, .rest = height + (M / 4 + m) * g / kt},
               hub);
  Assembly car("vehicle");
  car.set_gravity({0, 0, -g});
  const auto chassis = car.add("chassis", RigidBody{.mass = M, .inertia = Vec3<double>(500, 1800, 2000).asDiagonal()});
  car.place(chassis, RigidBody::pose({0, 0, height}, {1, 0, 0, 0}));
  ViewOptions options{.title = "Car on four suspensions"};
  options.shapes["chassis"] = {{.type = "box", .size = {3.4, 1.25, 0.3}, .at = {0, 0, 0.45}, .colour = "#4c86c6"}};
  for (const double sx : {1.0, -1.0})
    for (const double sy : {1.0, -1.0}) {
      const std::string name = std::string(sx > 0 ? "front_" : "rear_") + (sy > 0 ? "left" : "right");
      const auto wheel = car.add(name, corner);
      const Vec3<double> at(sx * x, sy * y, height), top = at + Vec3<double>(0, 0, spring);
      car.place(wheel[hub], at);
      car.place(wheel[mount], top);
      car.connect(name + "_mount", at_world<Spherical>(top), chassis, wheel[mount]);
      car.connect(name + "_guide", at_world<PointOnLine>(at, Axis(0, 0, 1)), chassis, wheel[hub]);
      options.shapes[name + "/hub"] = {
          {.type = "cylinder", .size = {0.6, 0.2, 0}, .axis = {0, 1, 0}, .colour = "#3a3f47"}};
    }
  State s = System(car).state();
  s.set("front_left/hub.z", height + 0.12);
  s.set("rear_right/hub.z", height + 0.06);
  show(car, s, 2, options, {"chassis.z", "*/hub.z", "energy.*"});
}

// A slider that hangs on an elastic boom: tracks of nodes, and a rail.
void boom() {
  constexpr Index n = 6;  // nodes along x, the first one clamped; each moves along y
  MatrixXd M = MatrixXd::Identity(n, n) * 0.2, K = MatrixXd::Zero(n, n);
  Structure::Given given;
  for (Index i = 0; i < n; ++i) {
    const std::string name = fmt::format("n{}", i + 1);
    given.dofs.push_back({name, "uy"});
    given.nodes.push_back({name, {0.3 * double(i + 1), 0, 0}});
    VectorXd bend = VectorXd::Zero(n);  // curvature at node i - 1, with the clamped end before the first
    bend[i] = 1;
    if (i > 0) bend[i - 1] = -2;
    if (i > 1) bend[i - 2] = 1;
    K += 900 * bend * bend.transpose();
    if (i > 0) K(i, i) += 20, K(i - 1, i - 1) += 20, K(i, i - 1) -= 20, K(i - 1, i) -= 20;
  }
  given.M = M;
  given.K = K;
  Assembly a("boom");
  a.set_gravity({0, -9.81, 0});
  const auto ground = a.add("ground", Ground{});
  const auto beam = a.add("beam", Structure(given));
  const auto block = a.add("block", PlanarBody{.mass = 0.5, .inertia = 0.002});
  a.place(block, {1.8, -0.8, 0});
  a.connect("guide", at_world<Slider>(Vec2<double>(1.8, -0.8), PlanarAxis(0, 1)), ground, block);
  a.apply("hanger", Spring<2>{.on_a = {1.8, 0}, .stiffness = 60, .length = 0.7}, beam, block);
  show(a, System(a).state(), 4, {.title = "Block on an elastic boom"}, {"block.y", "beam.n6.uy"});
}

}  // namespace

int main(int argc, char** argv) {
  folder = argc > 1 ? argv[1] : ".";
  std::filesystem::create_directories(folder);
  try {
    pendulum();
    unfinished();
    windows();
    bricard();
    vehicle();
    boom();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
