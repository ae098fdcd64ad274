// Which massless bodies have free directions, and which of these directions forces couple.

#include <algorithm>
#include <map>

#include <mortise/assembly/system_graph.h>
#include <mortise/diagnosis/free_forces.h>
#include <mortise/diagnosis/hidden_constraint.h>

namespace mortise {

std::vector<FreeForces::Selection> free_groups(const System& system, const State& s, const RankOptions& options) {
  using Selection = FreeForces::Selection;
  const Evaluation e = system.evaluate(s);
  const auto& bodies = system.bodies();
  const auto& constraints = system.constraints();
  const auto& forces = system.forces();
  std::vector<Massless> massless(bodies.size());
  for (std::size_t i = 0; i < bodies.size(); ++i)
    massless[i] = bodies[i].model->massless(s, bodies[i].first, e.M(i), {"body", bodies[i].name});
  const auto light = [&](std::size_t i) { return massless[i].N0.cols() > 0; };

  // Groups of bodies, and by body the group it is in.
  using Groups = std::vector<Selection>;
  const std::size_t none = bodies.size();
  const auto find = [&](const auto& in, SystemGraph::By by, Groups& groups) {
    std::vector<std::size_t> of(bodies.size(), none);
    for (auto& members : system.graph().groups(in, by)) {
      for (const std::size_t i : members) of[i] = groups.size();
      groups.push_back({std::move(members), {}, {}});
    }
    return of;
  };
  const auto assign = [&](const auto& parts, const std::vector<std::size_t>& group_of, Groups& to,
                          std::vector<std::size_t> Selection::*list) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      for (const std::size_t k : parts[i].bodies)
        if (group_of[k] != none) {
          (to[group_of[k]].*list).push_back(i);
          break;
        }
  };
  Groups clusters;
  const std::vector<std::size_t> cluster_of = find(light, SystemGraph::By::constraints, clusters);
  assign(constraints, cluster_of, clusters, &Selection::constraints);

  // Which clusters are free?  The columns of massive bodies do not matter: no free direction moves them.
  std::vector<bool> free;
  for (const Selection& cluster : clusters) {
    std::map<std::size_t, Index> first;
    Index n = 0, m = 0;
    for (const std::size_t i : cluster.massless) first[i] = n, n += bodies[i].size;
    for (const std::size_t i : cluster.constraints) m += constraints[i].rows;
    Equations eq{.M = MatrixXd::Zero(n, n), .Q = VectorXd::Zero(n), .A = MatrixXd::Zero(m, n), .b = VectorXd::Zero(m)};
    std::vector<Massless> parts;
    int groups = 0;
    for (const std::size_t i : cluster.massless) {
      const auto& b = bodies[i];
      eq.M.block(first[i], first[i], b.size, b.size) = e.M(i);
      eq.Q.segment(first[i], b.size) = e.Q.segment(b.first, b.size) + e.C.segment(b.first, b.size);
      parts.push_back(massless[i]);
      const int base = groups;
      for (const int g : b.model->groups()) eq.groups.push_back(base + g), groups = std::max(groups, base + g + 1);
    }
    Index row = 0;
    for (const std::size_t i : cluster.constraints) {
      const auto& c = constraints[i];
      for (std::size_t k = 0; k < c.bodies.size(); ++k)
        if (const auto it = first.find(c.bodies[k]); it != first.end())
          eq.A.block(row, it->second, c.rows, bodies[c.bodies[k]].size) += e.A(c.block + k);
      row += c.rows;
    }
    eq.massless = stack(parts);
    free.push_back(!numerical_rank(eq, options).determined());
  }

  const auto is_free = [&](std::size_t k) { return cluster_of[k] != none && free[cluster_of[k]]; };
  Groups groups;
  const std::vector<std::size_t> group_of = find(is_free, SystemGraph::By::constraints_and_forces, groups);
  assign(constraints, group_of, groups, &Selection::constraints);
  assign(forces, group_of, groups, &Selection::forces);
  for (Selection& group : groups)
    group.completed = std::erase_if(group.constraints, [&](std::size_t i) {
                        return dynamic_cast<const HiddenConstraint*>(constraints[i].model.get()) != nullptr;
                      }) > 0;
  return groups;
}

}  // namespace mortise
