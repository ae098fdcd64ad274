#include <mortise/core/tolerances.h>
#include <mortise/engine/rigid_groups.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mortise {
namespace {

struct WeldEdge {
  std::size_t weld, other;
  bool first;  // the body it is an edge of comes first in the weld
};

bool fixed(const System& system, std::size_t body) { return system.bodies()[body].size == 0; }

// The frame of a body that does not move, in the world.
RigidFrame place_of(const BodyModel& ground, int dimension) {
  RigidFrame f;
  for (int k = -1; k < dimension; ++k) {
    Vec3<double> r = Vec3<double>::Zero(), world = Vec3<double>::Zero();
    if (k >= 0) r[k] = 1;
    ground.locate(k < 0 ? Ask::point : Ask::direction, {r.data(), static_cast<std::size_t>(dimension)},
                  static_cast<const double*>(nullptr), world.data());
    if (k < 0)
      f.origin = world;
    else
      f.axes.col(k) = world;
  }
  return f;
}

// 2 or 3 where this joint can merge two bodies, or one with the ground; else 0.
int dimension_of(const System& system, const System::ConstraintInfo& c) {
  if (c.own || c.bodies.size() != 2 || c.bodies[0] == c.bodies[1] || !c.model->welded_frames() || !c.model->ideal() ||
      c.model->reacts() || c.holonomic != c.rows)
    return 0;
  int dimension = 0;
  for (const std::size_t b : c.bodies) {
    if (fixed(system, b)) continue;
    const auto mass = system.bodies()[b].model->rigid_mass();
    if (!mass || (dimension != 0 && mass->dimension != dimension)) return 0;
    dimension = mass->dimension;
  }
  return c.rows == (dimension == 2 ? 3 : 6) ? dimension : 0;
}

// Whether it can be told which axes of a whole have inertia: moments are 0 to round-off, or far from it.
bool clear(const RigidMass& m, const PrincipalMass& p) {
  if (m.dimension == 2) return true;
  const double most = p.moments.maxCoeff();
  for (int k = 0; k < 3; ++k)
    if (const double J = p.axes.col(k).dot(m.inertia * p.axes.col(k));
        J > tolerance::clearly_no_inertia * most && J < tolerance::clearly_inertia * most)
      return false;
  return true;
}

}  // namespace

// Memory for a motion, and the model whose it is.
class RigidGroups::Motion {
 public:
  explicit Motion(std::shared_ptr<const BodyModel> model)
      : model_(std::move(model)), bytes_(model_->motion_size() + model_->motion_align()) {
    const auto base = reinterpret_cast<std::uintptr_t>(bytes_.data()), a = model_->motion_align();
    at_ = model_->make_motion(reinterpret_cast<void*>((base + a - 1) / a * a));
  }
  Motion(const Motion&) = delete;
  Motion& operator=(const Motion&) = delete;
  ~Motion() { model_->destroy_motion(at_); }
  const BodyModel& model() const { return *model_; }
  void* at() const { return at_; }

 private:
  std::shared_ptr<const BodyModel> model_;
  std::vector<unsigned char> bytes_;
  void* at_;
};

RigidGroups::~RigidGroups() = default;

RigidGroups::RigidGroups(const System& system, const std::vector<std::size_t>& without)
    : original_(system), group_of_(system.bodies().size(), none), merged_(system.constraints().size(), false) {
  const auto& bodies = system.bodies();
  const auto& constraints = system.constraints();
  std::vector<std::vector<WeldEdge>> edges(bodies.size());
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const auto& c = constraints[i];
    if (dimension_of(system, c) == 0 || std::binary_search(without.begin(), without.end(), i)) continue;
    edges[c.bodies[0]].push_back({i, c.bodies[1], true});
    edges[c.bodies[1]].push_back({i, c.bodies[0], false});
  }
  // Connected by welds, and whether these form a tree.
  std::vector<bool> seen(bodies.size(), false);
  std::vector<Group> found;
  for (std::size_t start = 0; start < bodies.size(); ++start) {
    if (seen[start] || edges[start].empty() || fixed(system, start)) continue;
    std::vector<std::size_t> queue{start};
    seen[start] = true;
    std::size_t ends = 0, holds = 0, root = start;
    const WeldEdge* hold = nullptr;
    for (std::size_t k = 0; k < queue.size(); ++k) {
      const std::size_t b = queue[k];
      if (bodies[b].model->mass() > bodies[root].model->mass()) root = b;
      for (const WeldEdge& e : edges[b]) {
        if (fixed(system, e.other)) {
          ++holds;
          hold = &e;
          continue;
        }
        ++ends;
        if (!seen[e.other]) seen[e.other] = true, queue.push_back(e.other);
      }
    }
    if (ends / 2 + holds != queue.size() - (holds > 0 ? 0 : 1) || queue.size() + holds < 2) continue;
    Group g{holds > 0, {}, nullptr};
    if (hold) {
      const auto& c = constraints[hold->weld];
      root = c.bodies[hold->first ? 0 : 1];
      g.members.push_back({root, -1, hold->weld, hold->first});
    } else {
      g.members.push_back({root, -1, 0, false});
    }
    for (std::size_t k = 0; k < g.members.size(); ++k) {
      const Member m = g.members[k];
      for (const WeldEdge& e : edges[m.body]) {
        if (fixed(system, e.other) || (m.parent >= 0 && e.weld == m.weld)) continue;
        g.members.push_back({e.other, static_cast<int>(k), e.weld, !e.first});
      }
    }
    found.push_back(std::move(g));
  }
  // No other joint within a group, or between what is held.
  std::vector<bool> good(found.size(), true);
  std::vector<bool> tree(constraints.size(), false);
  for (std::size_t k = 0; k < found.size(); ++k)
    for (const Member& m : found[k].members) {
      group_of_[m.body] = static_cast<int>(k);
      if (m.parent >= 0 || found[k].held) tree[m.weld] = true;
    }
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const auto& c = constraints[i];
    if (c.own || tree[i]) continue;
    std::vector<int> on;
    bool all_held = true;
    for (const std::size_t b : c.bodies) {
      if (fixed(system, b)) continue;
      on.push_back(group_of_[b]);
      all_held = all_held && group_of_[b] >= 0 && found[static_cast<std::size_t>(group_of_[b])].held;
    }
    for (std::size_t x = 0; x < on.size(); ++x)
      for (std::size_t y = 0; y < on.size(); ++y)
        if (on[x] >= 0 && (all_held || (x != y && on[x] == on[y]))) good[static_cast<std::size_t>(on[x])] = false;
  }
  std::fill(group_of_.begin(), group_of_.end(), none);
  // The masses of the wholes.
  std::map<std::size_t, std::shared_ptr<const BodyModel>> models;
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (!good[k]) continue;
    Group& g = found[k];
    std::vector<PlacedMass> parts;
    for (const Member& m : g.members) {
      PlacedMass p{*bodies[m.body].model->rigid_mass(), {}};
      if (m.parent >= 0 || g.held) {
        const auto& c = constraints[m.weld];
        const auto frames = *c.model->welded_frames();
        const RigidFrame parent = m.parent >= 0 ? parts[static_cast<std::size_t>(m.parent)].frame
                                                : place_of(*bodies[c.bodies[m.first ? 1 : 0]].model, p.mass.dimension);
        p.frame = parent.then(m.first ? frames.b : frames.a).then((m.first ? frames.a : frames.b).inverse());
      }
      parts.push_back(p);
    }
    const RigidMass mass = welded(parts);
    const PrincipalMass whole = principal(mass);
    if (!clear(mass, whole)) continue;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::size_t b = g.members[i].body;
      models[b] = bodies[b].model->part_of(whole.seen_from(parts[i].frame));
      group_of_[b] = static_cast<int>(groups_.size());
    }
    if (g.held) {
      g.at_rest = bodies[g.members[0].body].model->part_of(whole);
      references_.push_back(std::make_unique<Motion>(g.at_rest));
      const VectorXd q = g.at_rest->neutral(), v = VectorXd::Zero(q.size());
      g.at_rest->stand(q.data(), v.data(), references_.back()->at());
    } else {
      references_.push_back(std::make_unique<Motion>(models[g.members[0].body]));
    }
    for (const Member& m : g.members)
      if (m.parent >= 0 || g.held) merged_[m.weld] = true;
    groups_.push_back(std::move(g));
  }
  if (!groups_.empty()) system_ = std::make_unique<System>(system.with_bodies(models));
}

MotionsApart RigidGroups::apart(const Group& g, const std::vector<void*>& motion) const {
  MotionsApart out;
  const Motion& rest = reference(g);
  const std::size_t root = g.members[0].body;
  const void* with = g.held ? rest.at() : motion[root];
  for (std::size_t k = g.held ? 0 : 1; k < g.members.size(); ++k) {
    const std::size_t b = g.members[k].body;
    const MotionsApart off = system_->bodies()[b].model->apart(motion[b], rest.model(), with);
    out.positions = std::max(out.positions, off.positions);
    out.velocities = std::max(out.velocities, off.velocities);
  }
  return out;
}

void RigidGroups::follow(State& s) const {
  constexpr Index most = 7;  // coordinates of a rigid body
  for (const Group& g : groups_) {
    const Motion& whole = reference(g);
    if (!g.held) {
      const Index first = original_.bodies()[g.members[0].body].first;
      whole.model().stand(s.q.data() + first, s.v.data() + first, whole.at());
    }
    for (std::size_t k = g.held ? 0 : 1; k < g.members.size(); ++k) {
      const auto& b = system_->bodies()[g.members[k].body];
      double q[most], v[most];
      std::copy_n(s.q.data() + b.first, b.size, q);
      std::copy_n(s.v.data() + b.first, b.size, v);
      b.model->follow(whole.model(), whole.at(), q, v);
      const auto place = [&](const double* from, double* to) {
        double size = 1, off = 0;
        for (Index i = 0; i < b.size; ++i)
          size = std::max(size, std::abs(from[i])), off = std::max(off, std::abs(from[i] - to[i]));
        if (!(off <= tolerance::weld_round_off * size)) std::copy_n(from, b.size, to);
      };
      place(q, s.q.data() + b.first);
      place(v, s.v.data() + b.first);
    }
  }
}

}  // namespace mortise
