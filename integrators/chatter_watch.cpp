#include <mortise/integrators/chatter_watch.h>

#include <algorithm>
#include <cmath>

namespace mortise {
namespace {

// How much the slopes of a joint's rows, or a force, differ between two states, as a share of themselves.
double change(const System& system, const System::ConstraintInfo& c, const State& s0, const State& s1) {
  double difference = 0, size = 0;
  std::vector<std::vector<MatrixXd>> blocks(2);
  for (std::size_t k = 0; k < 2; ++k) {
    std::vector<Eigen::Map<MatrixXd>> A;
    for (const std::size_t b : c.bodies) blocks[k].emplace_back(c.rows, system.bodies()[b].size);
    for (MatrixXd& m : blocks[k]) A.emplace_back(m.data(), m.rows(), m.cols());
    VectorXd value(c.rows), b(c.rows);
    c.model->evaluate(k ? s1 : s0, system.firsts(c.bodies), value, b, A);
  }
  for (std::size_t i = 0; i < c.bodies.size(); ++i) {
    if (blocks[0][i].size() == 0) continue;
    difference = std::max(difference, (blocks[1][i] - blocks[0][i]).cwiseAbs().maxCoeff());
    size = std::max(size, blocks[0][i].cwiseAbs().maxCoeff());
  }
  return size > 0 ? difference / size : 0;
}
double change(const System& system, const System::ForceInfo& f, const State& s0, const State& s1) {
  VectorXd Q0 = VectorXd::Zero(system.size()), Q1 = Q0;
  f.model->act(s0, system.firsts(f.bodies), Q0);
  f.model->act(s1, system.firsts(f.bodies), Q1);
  const double size = std::max(Q0.cwiseAbs().maxCoeff(), Q1.cwiseAbs().maxCoeff());
  return size > 0 ? (Q1 - Q0).cwiseAbs().maxCoeff() / size : 0;
}

}  // namespace

void ChatterWatch::look(Flow& flow, const State& from, const State& now) {
  constexpr double brief = 1e-6;  // of the duration
  constexpr double jump = 0.1;    // of itself
  constexpr double leak = 0.25, most = 1000;
  const System& system = flow.system();
  std::size_t body = system.bodies().size();
  if (now.t - from.t < brief * duration_) {
    const VectorXd& a = flow.solver().accelerations(now);
    for (std::size_t i = 0; i < system.bodies().size() && last_.size() > 0; ++i) {
      const auto& b = system.bodies()[i];
      if (b.size == 0) continue;
      const VectorXd before = last_.segment(b.first, b.size), after = a.segment(b.first, b.size);
      if ((after - before).norm() > jump * (after.norm() + before.norm())) body = i;
    }
    last_ = a;
  } else {
    last_.resize(0);
  }
  if (body == system.bodies().size()) {
    flips_ = std::max(0.0, flips_ - leak);
    return;
  }
  if (++flips_ < most) return;
  flips_ = 0;
  double largest = jump;
  std::string part;
  for (const auto& c : system.constraints())
    if (const double x = c.own ? 0 : change(system, c, from, now); x > largest)
      largest = x, part = "joint '" + c.name + "'";
  for (const auto& f : system.forces())
    if (const double x = change(system, f, from, now); x > largest) largest = x, part = "force '" + f.name + "'";
  if (part.empty()) return;
  Label{"run of", system.name()}.fail<NotConverged>(
      fmt::format(
          "at t = {:.6g} s body '{}' is thrown back and forth within {:.1e} s again and again: {} jumps there by "
          "{:.2g} of itself",
          now.t, system.bodies()[body].name, now.t - from.t, part, largest),
      "stop the run there by an event, or give a law without a jump");
}

}  // namespace mortise
