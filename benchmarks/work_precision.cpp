// Error against time on problems of constrained mechanics, stiff and not: our best method beside CVODE and IDA of
// SUNDIALS on the same models, with the sparse solver KLU and our Jacobian (sundials.h).

#include <ctime>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/joints/prismatic.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/spherical.h>
#include <mortise/joints/universal.h>

#include "../tests/problems.h"
#include "report.h"
#ifdef BENCH_SUNDIALS
#include "sundials.h"
#endif

namespace {

using namespace mortise;

// Of E. J. Haug, Computer Aided Kinematics and Dynamics of Mechanical Systems, 1989, 12.3: a crank that turns about x,
// a rod on a ball and a universal joint, a slider along x.  The crank points up at the start and turns with 6 rad/s.
Problem slider_crank_in_space() {
  using V = Vec3<double>;
  const double crank = 0.08, length = 0.3, speed = 6;
  const V centre(0, 0.1, 0.12), tip = centre + V(0, 0, crank);
  const V end(std::sqrt(length * length - tip[1] * tip[1] - tip[2] * tip[2]), 0, 0);
  Assembly a("slider_crank_in_space");
  a.set_gravity({0, 0, -9.81});
  const auto ground = a.add("ground", Ground{});
  const auto body = [&](const char* name, double m, const V& J, const V& at, const Eigen::Quaterniond& turned) {
    const auto added = a.add(name, RigidBody{.mass = m, .inertia = J.asDiagonal()});
    a.place(added, RigidBody::pose(at, {turned.w(), turned.x(), turned.y(), turned.z()}));
    return added;
  };
  const auto level = Eigen::Quaterniond::Identity();
  const auto wheel = body("crank", 0.12, {1e-4, 1e-5, 1e-4}, centre, level);
  const auto lying = Eigen::Quaterniond::FromTwoVectors(V::UnitY(), end - tip);
  const auto rod = body("rod", 0.5, {4e-3, 4e-4, 4e-3}, (tip + end) / 2, lying);
  const auto slider = body("slider", 2, {1e-4, 1e-4, 1e-4}, end, level);
  a.connect("axle", at_world<Revolute>(centre, Axis(V(1, 0, 0))), ground, wheel);
  a.connect("ball", at_world<Spherical>(tip), wheel, rod);
  const V across = (end - tip).cross(V::UnitX()).normalized();
  a.connect("cross", at_world<Universal>(end, Axis(across), Axis(V(1, 0, 0).cross(across))), rod, slider);
  a.connect("guide", Prismatic{.axis_a = {1, 0, 0}, .axis_b = {1, 0, 0}}, ground, slider);
  // Velocities that fit: the rod turns across itself, and about itself so that its arm of the cross stays on that of
  // the slider.
  const V tip_moves = V(speed, 0, 0).cross(tip - centre), along = end - tip;
  const V end_moves(tip_moves.dot(along) / along[0], 0, 0);
  V turn = along.cross(end_moves - tip_moves) / along.squaredNorm();
  turn -= turn[0] / along[0] * along;
  std::vector<std::pair<std::string, std::vector<double>>> start;
  const auto move = [&](const std::string& name, const V& at, const Eigen::Quaterniond& turned, const V& v,
                        const V& w) {
    const Vec<double, 7> pose = RigidBody::pose(at, {turned.w(), turned.x(), turned.y(), turned.z()});
    const Vec<double, 7> rates = RigidBody::rates(pose, v, turned.conjugate() * w);
    start.push_back({name, {rates.data(), rates.data() + 7}});
  };
  move("crank'", centre, level, {0, 0, 0}, {speed, 0, 0});
  move("rod'", (tip + end) / 2, lying, (tip_moves + end_moves) / 2, turn);
  move("slider'", end, level, end_moves, {0, 0, 0});
  return {a, start, {"slider.x", "rod.x", "rod.y", "rod.z"}, {}};
}

struct Case {
  std::string name, text;  // text: for the table
  Problem problem;
  double duration;
  const char* ours;       // the method that is compared
  const char* reference;  // what tells the end, at 1e-12
};

// The end of a run, and what it took.
struct Outcome {
  std::optional<State> last;  // none: it broke off
  long evaluations = 0, steps = 0, jacobians = -1;
};
struct Side {
  std::string name;
  bool ours;
  std::function<Outcome(double tolerance)> run;
};
struct Line {
  std::size_t side;
  double tolerance, error = 1e300, seconds = 1e300;
  Outcome outcome = {};
};

Outcome of(const Trajectory& run) {
  return {run.finished ? std::optional(run.last) : std::nullopt, static_cast<long>(run.evaluations),
          static_cast<long>(run.steps)};
}

// The largest over the columns, of what each has reached.
double error(const Problem& p, const State& s, const Trajectory& reference) {
  double out = 0;
  for (const std::string& c : p.columns)
    out = std::max(out, std::abs(s.get(c) - reference.last.get(c)) / reference.column(c).cwiseAbs().maxCoeff());
  return out;
}

void compare(const Case& c, bench::Report& report, int times) {
  const System system(c.problem.assembly);
  const State start = c.problem.state(system);
  const Trajectory reference = simulate(system, start,
                                        {.duration = c.duration,
                                         .integrator = c.reference,
                                         .steps = {.tolerance = 1e-12},
                                         .sample = c.duration / 20,
                                         .record = {.coordinates = true, .energy = false}});
  if (!reference.finished) return report.fail(c.name, reference.stopped);
  std::vector<Side> sides;
  std::vector<std::string> names{"dopri5", "radau5"};
  if (std::string(c.ours) == "radau5") names.erase(names.begin());  // stiff: dopri5 takes many short steps
  for (const std::string& name : names)
    sides.push_back({name, name == c.ours, [&, name](double tolerance) {
                       return of(simulate(system, start,
                                          {.duration = c.duration,
                                           .integrator = name,
                                           .steps = {.tolerance = tolerance},
                                           .sample = c.duration,
                                           .record = {.coordinates = true, .energy = false}}));
                     }});
#ifdef BENCH_SUNDIALS
  const auto peer = [](const bench::PeerRun& r) {
    return Outcome{r.finished ? std::optional(r.last) : std::nullopt, r.evaluations, r.steps, r.jacobians};
  };
  sides.push_back({"IDA", false, [&](double t) { return peer(bench::run_ida(system, start, c.duration, t)); }});
  sides.push_back({"CVODE", false, [&](double t) { return peer(bench::run_cvode(system, start, c.duration, t)); }});
#endif
  // Four tolerances in a decade, as far as errors fall.
  std::vector<Line> lines;
  for (std::size_t k = 0; k < sides.size(); ++k)
    for (int quarter = 4; quarter <= 48; ++quarter) {
      Line line{k, std::pow(10.0, -quarter / 4.0)};
      line.outcome = sides[k].run(line.tolerance);
      if (line.outcome.last) line.error = error(c.problem, *line.outcome.last, reference);
      lines.push_back(line);
      if (line.error < 2e-7) break;
    }
  for (int i = 0; i < times; ++i)
    for (Line& line : lines) {
      const std::clock_t begin = std::clock();
      (void)sides[line.side].run(line.tolerance);
      line.seconds = std::min(line.seconds, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
  // The fastest run of one side that has reached an error.
  const auto fastest = [&](std::size_t side, double reached) {
    const Line* best = nullptr;
    for (const Line& line : lines)
      if (line.side == side && line.error <= reached && (!best || line.seconds < best->seconds)) best = &line;
    return best;
  };
  fmt::print(
      "\n**{}**\n\n| error | method | tolerance | evaluations | Jacobians | steps | CPU [ms] "
      "|\n|---|---|---|---|---|---|---|\n",
      c.text);
  for (const double reached : {1e-3, 1e-4, 1e-5, 1e-6})
    for (std::size_t k = 0; k < sides.size(); ++k)
      if (const Line* const l = fastest(k, reached))
        fmt::print("| {:.0e} | {} | {:.1e} | {} | {} | {} | {:.2f} |\n", reached, sides[k].name, l->tolerance,
                   l->outcome.evaluations, l->outcome.jacobians < 0 ? "" : std::to_string(l->outcome.jacobians),
                   l->outcome.steps, 1e3 * l->seconds);
  fmt::print("\n");
  for (const double reached : {1e-4, 1e-6}) {
    double ours = 1e300, theirs = 1e300;
    std::string who;
    for (std::size_t k = 0; k < sides.size(); ++k) {
      const Line* const l = fastest(k, reached);
      if (!l) continue;
      if (sides[k].ours) ours = l->seconds;
      if (l->outcome.jacobians >= 0 && l->seconds < theirs) theirs = l->seconds, who = sides[k].name;
    }
    if (theirs < 1e300)
      report.ratio(fmt::format("work_{}_{:.0e}", c.name, reached), ours / theirs,
                   fmt::format("{} {:.2f} ms, {} {:.2f} ms", c.ours, 1e3 * ours, who, 1e3 * theirs));
  }
}

}  // namespace

int main(int count, char** arguments) {
  bench::Report report(bench::Options::from(count, arguments));
  const bool all = report.wants("work_precision");
  const int times = report.options().quick ? 1 : 5;
  const int segments = report.options().quick ? 20 : 100;
  const std::vector<Case> cases{
      {"squeezer", "Andrews' squeezer, 0.03 s", squeezer(), 0.03, "dopri5", "dopri5"},
      {"car_axis", "Car axis, 3 s", car_axis(), 3, "dopri5", "dopri5"},
      {"slider_crank", "Slider-crank in space, 2 s", slider_crank_in_space(), 2, "dopri5", "dopri5"},
      {"governor", "Flyball governor, springs of 8e5 N/m and dampers of 4e4 N s/m, 2 s", governor(), 2, "radau5",
       "dopri5"},
      {"beam", fmt::format("Beam of {} lumped elements, 0.2 s", segments), lumped_beam(segments), 0.2, "radau5",
       "radau5"},
      {"bushing", "Rod on a spring of 1e8 N/m and a damper of 2e4 N s/m, 2 s", soft_pendulum(1e8, 2e4), 2, "radau5",
       "radau5"},
      {"stiff_squeezer", "Andrews' squeezer with one pin of 1e8 N/m and 1e4 N s/m, 0.02 s", squeezer(1e8, 1e4), 0.02,
       "radau5", "dopri5"}};
  for (const Case& c : cases)
    if (all || report.wants("work_" + c.name)) compare(c, report, times);
  return report.exit_code();
}
