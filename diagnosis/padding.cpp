#include <mortise/diagnosis/padding.h>

#include <algorithm>
#include <cmath>

#include <mortise/core/tolerances.h>
#include <mortise/core/words.h>
#include <mortise/engine/dynamics.h>
#include <mortise/engine/system_rank.h>

namespace mortise {
namespace {

// States on the constraints near one; none where they are not found.
std::vector<State> nearby(const System& system, const State& s) {
  constexpr int count = 2;
  constexpr double away = 0.03;  // of the largest coordinate
  std::vector<State> out;
  Dynamics dynamics(system);
  const double size = s.q.size() ? std::max(tolerance::least_size, s.q.cwiseAbs().maxCoeff()) : 0;
  for (int k = 1; k <= count; ++k) {
    State near = s;
    for (Index i = 0; i < near.q.size(); ++i)
      near.q[i] += away * size * std::sin(12.9898 * static_cast<double>(i + 1) + 78.233 * k);
    near.v.setZero();
    if (!dynamics.project_positions(near)) out.push_back(near);
  }
  return out;
}

}  // namespace

std::vector<std::size_t> padded_bodies(const System& system, const State& s, const RankOptions& options) {
  double heaviest = 0;
  for (const auto& b : system.bodies()) heaviest = std::max(heaviest, b.model->mass());
  std::vector<std::size_t> padded;
  for (std::size_t i = 0; i < system.bodies().size(); ++i) {
    const auto& b = system.bodies()[i];
    if (b.model->mass() > 0 && b.model->mass() <= tolerance::padded_mass * heaviest &&
        b.model->without_mass({"body", b.name}))
      padded.push_back(i);
  }
  if (padded.empty()) return {};
  try {
    Dynamics with(system, options);
    if (with.solve(s)) return {};
    const VectorXd& before = with.accelerations();
    const double largest = before.size() ? before.cwiseAbs().maxCoeff() : 0;
    std::vector<State> states = nearby(system, s);
    states.insert(states.begin(), s);
    while (!padded.empty()) {
      const System trial = system.massless(padded);
      // Bodies that would be free.
      std::vector<bool> needed(system.bodies().size(), false);
      bool some = false;
      for (const State& at : states)
        for (const SparseList& direction : rank_of(trial, trial.evaluate(at), options).N)
          for (const SparseEntry& x : direction)
            for (const std::size_t i : padded) {
              const auto& b = system.bodies()[i];
              if (x.i >= b.first && x.i < b.first + b.size) needed[i] = some = true;
            }
      if (some) {
        std::erase_if(padded, [&](std::size_t i) { return needed[i]; });
        continue;
      }
      Dynamics without(trial, options);
      if (without.solve(s)) return {};
      const VectorXd& after = without.accelerations();
      double change = 0;
      for (std::size_t i = 0; i < system.bodies().size(); ++i) {
        const auto& b = system.bodies()[i];
        if (b.size > 0 && !std::binary_search(padded.begin(), padded.end(), i))
          change = std::max(change, (after - before).segment(b.first, b.size).cwiseAbs().maxCoeff());
      }
      if (change <= tolerance::padded_same * largest) return padded;
      // Too much is gone: the heavier half stays.
      std::vector<std::size_t> by_mass = padded;
      std::sort(by_mass.begin(), by_mass.end(), [&](std::size_t a, std::size_t b) {
        return system.bodies()[a].model->mass() < system.bodies()[b].model->mass();
      });
      by_mass.resize(by_mass.size() / 2);
      padded = std::move(by_mass);
      std::sort(padded.begin(), padded.end());
    }
  } catch (const Error&) {  // no motion with their masses or without: nothing is known of them
    return {};
  }
  return {};
}

std::string Unpadded::text() const {
  if (bodies.empty()) return "";
  return fmt::format("massless, since their masses change nothing: {}\n", some_of(bodies));
}

Unpadded unpad(const System& system, const State& s, const RankOptions& options) {
  const std::vector<std::size_t> padded = padded_bodies(system, s, options);
  Unpadded out{padded.empty() ? system : system.massless(padded), {}};
  for (const std::size_t i : padded) out.bodies.push_back(system.bodies()[i].name);
  return out;
}

}  // namespace mortise
