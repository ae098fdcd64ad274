#include <mortise/analysis/channels.h>

#include <algorithm>

namespace mortise {
namespace {

// The slopes of quantity number k of a part over all coordinates, and their rates along the motion.
struct Gradient {
  VectorXd value, rate;
};

Gradient gradient(const System& system, const PartModel& part, const std::vector<std::size_t>& bodies, const State& s,
                  Index at, Index numbers) {
  const std::vector<Index> firsts = system.firsts(bodies);
  const Index n = system.size();
  const VectorXd still = VectorXd::Zero(n);
  VectorXd plus(numbers), minus(numbers);
  Gradient out{still, still};
  for (const std::size_t b : bodies)
    for (Index i = system.bodies()[b].first; i < system.bodies()[b].first + system.bodies()[b].size; ++i) {
      State moved = s;
      moved.v[i] = s.v[i] + 1;
      part.read(moved, still, firsts, plus.data());
      moved.v[i] = s.v[i] - 1;
      part.read(moved, still, firsts, minus.data());
      // y' = y_q v + y_t is linear in v, y'' at q'' = 0 is v'y_qq v + 2 y_qt v + y_tt.
      out.value[i] = (plus[at + 1] - minus[at + 1]) / 2;
      out.rate[i] = (plus[at + 2] - minus[at + 2]) / 4;
    }
  return out;
}

}  // namespace

std::string rate_unit(const std::string& unit) { return (unit.empty() ? "1" : unit) + "/s"; }

Channel channel(const System& system, const LinearMotion& motion, const std::string& name) {
  const Index k = motion.size();
  std::vector<std::string> known;
  for (Index i = 0; i < k; ++i) {
    const Variation& x = motion.variations[static_cast<std::size_t>(i)];
    if (x.name == name) return {name, x.unit, VectorXd::Unit(k, i), VectorXd::Zero(k)};
    known.push_back(x.name);
  }
  std::optional<Channel> found;
  const auto look = [&](const auto& parts) {
    for (const auto& p : parts) {
      Index at = 0, numbers = 0;
      const auto quantities = p.model->quantities();
      for (const Quantity& x : quantities) numbers += x.orders;
      for (const Quantity& x : quantities) {
        const std::string full = x.name.empty() ? p.name : p.name + "." + x.name;
        if (full == name) {
          if (x.orders < 3)
            Label{"quantity", name}.fail<InvalidModel>(
                "it depends on velocities, and has no slopes in positions alone",
                "take a position that joints or sensors tell, and its rate: name'");
          const Gradient g = gradient(system, *p.model, p.bodies, motion.state, at, numbers);
          found = Channel{name, x.unit, motion.E.transpose() * g.value,
                          motion.E1.transpose() * g.value + motion.E.transpose() * g.rate};
          return;
        }
        known.push_back(full);
        at += x.orders;
      }
    }
  };
  look(system.constraints());
  if (!found) look(system.sensors());
  if (!found) look(system.forces());
  if (!found)
    Label{"quantity", name}.fail<InvalidModel>(
        "the system has no coordinate, joint, force or sensor that tells it",
        known.empty() ? "give a system with bodies" : fmt::format("did you mean '{}'?", nearest_name(name, known)));
  return *found;
}

OutputRow output_row(const System& system, const LinearMotion& motion, const std::string& name) {
  const VectorXd none = VectorXd::Zero(motion.size());
  if (!name.ends_with('\'')) {
    const Channel c = channel(system, motion, name);
    return {c.unit, c.value, none};
  }
  const Channel c = channel(system, motion, name.substr(0, name.size() - 1));
  return {rate_unit(c.unit), c.rate, c.value};
}

}  // namespace mortise
