// Rigid groups in the engine: whether their welds are met, and what the welds carry.

#include <algorithm>

#include <mortise/core/decompositions.h>
#include <mortise/engine/engine.h>
#include <mortise/engine/engine_kernels.h>

namespace mortise {

using engine::at;

MotionsApart Engine::apart(const State& s) {
  if (!is_at(s)) move(s);
  MotionsApart out;
  for (const RigidGroups::Group& g : groups_->groups()) {
    const MotionsApart off = apart(g);
    out.positions = std::max(out.positions, off.positions);
    out.velocities = std::max(out.velocities, off.velocities);
  }
  return out;
}

void Engine::find_weld_rows() {
  if (!groups_) return;
  constexpr int rows = 6, columns = 12;
  double A[rows * columns], b[rows];
  for (const RigidGroups::Group& g : groups_->groups())
    for (const RigidGroups::Member& m : g.members) {
      if (m.parent < 0 && !g.held) continue;
      const auto& c = system_.constraints()[m.weld];
      const std::size_t place = slots_->joint_place[m.weld];
      c.model->evaluate(evaluated_.at, see(place), A, value_.data() + c.row, rate_.data() + c.row, b);
    }
}

// Along the tree of welds: each carries what the bodies beyond it need,  A'lambda = sum (M q'' - Q - C - A'lambda of
// the other joints), here as a force on the unknowns of the whole.
void Engine::find_weld_reactions() {
  if (!groups_) return;
  constexpr int most = 6;
  const auto& bodies = groups_->original().bodies();
  // What acts on each body of a group; on others it does not matter.
  MatrixXd force = MatrixXd::Zero(most, static_cast<Index>(bodies.size()));
  const auto in_group = [&](const std::vector<std::size_t>& on) {
    return std::any_of(on.begin(), on.end(), [&](std::size_t b) { return groups_->group_of(b) != RigidGroups::none; });
  };
  std::vector<double> elsewhere;
  std::vector<double*> to;
  const auto aim = [&](const std::vector<std::size_t>& on) {
    to.clear();
    for (const std::size_t b : on) {
      if (slots_->bodies[b].model->unknowns() > static_cast<Index>(elsewhere.size()))
        elsewhere.resize(at(slots_->bodies[b].model->unknowns()));
      to.push_back(nullptr);
    }
    for (std::size_t k = 0; k < on.size(); ++k)
      to[k] = groups_->group_of(on[k]) == RigidGroups::none ? elsewhere.data()
                                                            : force.col(static_cast<Index>(on[k])).data();
    return to.data();
  };
  for (std::size_t i = 0; i < system_.forces().size(); ++i) {
    const auto& f = system_.forces()[i];
    if (!in_group(f.bodies)) continue;
    const std::size_t place = slots_->force_place[i];
    try {
      (void)f.model->act(evaluated_.at, see(place), aim(f.bodies));
    } catch (...) {
      rethrow_named("force", f.name);
    }
  }
  for (std::size_t i = 0; i < slots_->constraints.size(); ++i) {
    const auto& c = system_.constraints()[slots_->constraints[i]];
    if (!in_group(c.bodies)) continue;
    const Node& n = plan_->nodes[i];
    const std::size_t place = slots_->joint_place[slots_->constraints[i]];
    const bool acts = !std::binary_search(evaluated_.at.off.begin(), evaluated_.at.off.end(), slots_->constraints[i]);
    int column = 0;
    for (const std::size_t b : c.bodies) {
      const auto k = static_cast<int>(slots_->bodies[b].model->unknowns());
      if (groups_->group_of(b) != RigidGroups::none && slots_->bodies[b].root != Slots::Body::held)
        for (int r = 0; r < n.rows; ++r)
          for (int j = 0; j < k; ++j)
            force(j, static_cast<Index>(b)) += A_[at(n.A + Index{r} * n.columns + column + j)] * lambda_[n.row + r];
      column += k;
    }
    if (!acts) continue;
    if (const bool held =
            std::any_of(plan_->held.begin(), plan_->held.end(), [&](const Plan::Held& g) { return at(g.node) == i; });
        held) {
      // The columns of what is held were cleared: once more.
      std::vector<double> A(at(Index{n.rows} * n.columns)), value(at(n.rows)), rate(value), b(value);
      slots_->joints[i]->evaluate(evaluated_.at, see(place), A.data(), value.data(), rate.data(), b.data());
      column = 0;
      for (const std::size_t body : c.bodies) {
        const auto k = static_cast<int>(slots_->bodies[body].model->unknowns());
        if (slots_->bodies[body].root == Slots::Body::held && groups_->group_of(body) != RigidGroups::none)
          for (int r = 0; r < n.rows; ++r)
            for (int j = 0; j < k; ++j)
              force(j, static_cast<Index>(body)) += A[at(Index{r} * n.columns + column + j)] * lambda_[n.row + r];
        column += k;
      }
    }
    if (!c.model->ideal()) c.model->nonideal(evaluated_.at, see(place), aim(c.bodies));
    if (c.model->reacts()) c.model->react(evaluated_.at, see(place), lambda_.data() + c.row, aim(c.bodies));
  }
  VectorXd a, Q;
  accelerations(a);
  for (const RigidGroups::Group& g : groups_->groups()) {
    for (const RigidGroups::Member& m : g.members) {
      // M q'' - Q of the body by itself.
      const auto& b = bodies[m.body];
      Q.setZero(groups_->original().size());
      b.model->gravity(evaluated_.at, b.first, system_.gravity(), Q);
      const VectorXd need = b.model->mass_matrix(evaluated_.at, b.first) * a.segment(b.first, b.size) -
                            b.model->force(evaluated_.at, b.first) - Q.segment(b.first, b.size);
      auto w = force.col(static_cast<Index>(m.body));
      w = -w;
      slots_->bodies[m.body].model->project(motions_[m.body], need.data(), w.data());
    }
    for (std::size_t k = g.members.size(); k-- > 0;) {
      const RigidGroups::Member& m = g.members[k];
      if (m.parent < 0 && !g.held) continue;
      const auto& c = system_.constraints()[m.weld];
      const auto rows = c.rows;
      const auto w = force.col(static_cast<Index>(m.body)).head(rows);
      const std::size_t place = slots_->joint_place[m.weld];
      const Index columns = rows * (m.parent < 0 ? 1 : 2);
      std::vector<double> A(at(rows * columns));
      double value[most], rate[most], right[most];
      c.model->evaluate(evaluated_.at, see(place), A.data(), value, rate, right);
      MatrixXd side(rows, rows);
      const Index first = m.first || m.parent < 0 ? 0 : rows;
      for (Index r = 0; r < rows; ++r)
        for (Index j = 0; j < rows; ++j) side(r, j) = A[at(r * columns + first + j)];
      lambda_.segment(c.row, rows) = Lu(side.transpose()).solve(w);
      if (m.parent >= 0) force.col(static_cast<Index>(g.members[at(m.parent)].body)).head(rows) += w;
    }
  }
}

}  // namespace mortise
