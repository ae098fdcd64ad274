// Which massless bodies have free directions, and which of these directions forces couple.

#include <algorithm>
#include <map>
#include <set>

#include <mortise/core/components.h>
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

  Components joined_bodies(bodies.size());
  const auto join = [&](Components& unions, const std::vector<std::size_t>& some, const auto& counts) {
    std::size_t first = bodies.size();
    for (const std::size_t k : some)
      if (counts(k)) first == bodies.size() ? void(first = k) : unions.join(first, k);
  };
  for (const auto& c : constraints) join(joined_bodies, c.bodies, light);
  std::map<std::size_t, Selection> clusters;
  for (std::size_t i = 0; i < bodies.size(); ++i)
    if (light(i)) clusters[joined_bodies.representative(i)].massless.push_back(i);
  const auto assign = [&](const auto& parts, const auto& cluster_of, auto& to,
                          std::vector<std::size_t> Selection::*list) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      for (const std::size_t k : parts[i].bodies)
        if (const auto it = cluster_of(k); it != to.end()) {
          (it->second.*list).push_back(i);
          break;
        }
  };
  const auto cluster_of = [&](std::size_t k) {
    return light(k) ? clusters.find(joined_bodies.representative(k)) : clusters.end();
  };
  assign(constraints, cluster_of, clusters, &Selection::constraints);

  // Which clusters are free?  The columns of massive bodies do not matter: no free direction moves them.
  std::set<std::size_t> free;
  for (const auto& [root, cluster] : clusters) {
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
    if (!numerical_rank(eq, options).determined()) free.insert(root);
  }

  Components coupled = joined_bodies;
  const auto is_free = [&](std::size_t k) { return light(k) && free.count(joined_bodies.representative(k)) > 0; };
  for (const auto& f : forces) join(coupled, f.bodies, is_free);
  std::map<std::size_t, Selection> groups;
  for (std::size_t i = 0; i < bodies.size(); ++i)
    if (is_free(i)) groups[coupled.representative(i)].massless.push_back(i);
  const auto group_of = [&](std::size_t k) {
    return is_free(k) ? groups.find(coupled.representative(k)) : groups.end();
  };
  assign(constraints, group_of, groups, &Selection::constraints);
  assign(forces, group_of, groups, &Selection::forces);
  for (auto& [root, group] : groups)
    group.completed = std::erase_if(group.constraints, [&](std::size_t i) {
                        return dynamic_cast<const HiddenConstraint*>(constraints[i].model.get()) != nullptr;
                      }) > 0;
  std::vector<Selection> out;
  for (auto& [root, group] : groups) out.push_back(std::move(group));
  return out;
}

}  // namespace mortise
