// One piece of work, for counting its instructions: scripts/count_instructions runs this under callgrind, which counts
// inside of measured() alone.  Without arguments: the names.
//
// Instruction counts repeat where times do not, so they show a change of some per cent.

#include <functional>
#include <map>
#include <string>

#include <fmt/format.h>

#include <mortise/integrators/simulate.h>

#include "build.h"
#include "sim_runs.h"

extern "C" void measured(const std::function<void()>& work) { work(); }

namespace {

void (*volatile count)(const std::function<void()>&) = measured;  // so that it is neither inlined nor cloned

using mortise::Solver, mortise::State, mortise::System;

constexpr int times = 20;

struct Model {
  System system;
  State state;
  template <class Mechanism>
  explicit Model(const Mechanism& m) : system(bench::assembly_of(m)), state(bench::state_of(system, m)) {}
};

// What follows a first solve.
template <class Mechanism, class Work> void repeat(const Mechanism& mechanism, const Work& work) {
  const Model m(mechanism);
  Solver solver(m.system);
  (void)solver.solve(m.state);
  count([&] {
    for (int i = 0; i < times; ++i) work(m, solver);
  });
}

template <class Mechanism> void solves(const Mechanism& mechanism) {
  repeat(mechanism, [](const Model& m, Solver& solver) { (void)solver.solve(m.state); });
}

template <class Mechanism> void energies(const Mechanism& mechanism) {
  repeat(mechanism, [](const Model& m, Solver&) { (void)m.system.energy(m.state); });
}

template <class Mechanism> void contributions(const Mechanism& mechanism) {
  repeat(mechanism, [](const Model& m, Solver&) { (void)m.system.contributions(m.state); });
}

// A state that is on the constraints already.
template <class Mechanism> void projections(const Mechanism& mechanism) {
  Model m(mechanism);
  Solver solver(m.system);
  solver.project_positions(m.state);
  solver.project_velocities(m.state);
  count([&] {
    for (int i = 0; i < times; ++i) {
      State s = m.state;
      solver.project_positions(s);
      solver.project_velocities(s);
    }
  });
}

void run(const std::function<bench::RunResult()>& go) {
  bench::RunResult r;
  count([&] { r = go(); });
  fmt::print("evaluations {}\n", r.evaluations);
}

// Implicit steps of a fixed length, samples with energies and contributions.
template <class Mechanism> void implicit(const Mechanism& mechanism) {
  const Model m(mechanism);
  mortise::Trajectory out;
  count([&] {
    out = simulate(
        m.system, m.state,
        {.duration = 0.2, .integrator = "generalized_alpha", .steps = {.step = 0.005}, .sample = 0.01, .record = {}});
  });
  fmt::print("evaluations {}\n", out.evaluations);
}

}  // namespace

int main(int words, char** arguments) {
  using bench::MortiseRuns;
  constexpr double tolerance = 1e-6;
  const std::map<std::string, std::function<void()>> works{
      {"chain_100", [] { solves(bench::spherical_chain(100)); }},
      {"chain_1000", [] { solves(bench::spherical_chain(1000)); }},
      {"chain_revolute_1000", [] { solves(bench::revolute_chain(1000)); }},
      {"fourbar_40", [] { solves(bench::FourBar{.windows = 40}); }},
      {"energy_chain_100", [] { energies(bench::spherical_chain(100)); }},
      {"contributions_chain_100", [] { contributions(bench::spherical_chain(100)); }},
      {"project_chain_100", [] { projections(bench::spherical_chain(100)); }},
      {"project_fourbar_40", [] { projections(bench::FourBar{.windows = 40}); }},
      {"alpha_chain_20", [] { implicit(bench::spherical_chain(20)); }},
      {"sim_fourbar_10", [&] { run([&] { return MortiseRuns::four_bar(10, tolerance); }); }},
      {"sim_fourbar_40", [&] { run([&] { return MortiseRuns::four_bar(40, tolerance); }); }},
      {"sim_bricard", [&] { run([&] { return MortiseRuns::bricard(tolerance); }); }},
      {"sim_chain_20", [&] { run([&] { return MortiseRuns::chain(bench::spherical_chain(20), 1, tolerance); }); }},
  };
  const auto work = words == 2 ? works.find(arguments[1]) : works.end();
  if (work != works.end()) {
    work->second();
    return 0;
  }
  for (const auto& [name, what] : works) fmt::print("{}\n", name);
  return words == 1 ? 0 : 2;
}
