// Rows that depend on each other: whom they concern, along which loop, and which change of joints would mend them.

#include <mortise/diagnosis/report.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <mortise/assembly/system_graph.h>
#include <mortise/core/components.h>
#include <mortise/core/decompositions.h>
#include <mortise/core/tolerances.h>
#include <mortise/core/words.h>
#include <mortise/engine/row_rates.h>

namespace mortise::report {
namespace {

using Set = SparseRank::Set;

constexpr double visible = tolerance::start_met;  // of the size of a row: by so much it is off, or contradicts others

// A joint that holds less than another: what it does not hold, by names of rows; "axis" is the translation along the
// joint's axis, "load" the direction in which its reaction is not unique, "tilt" the turn across the axis likewise.
struct Exchange {
  const char *from, *to;
  std::vector<const char*> drops;
};
const std::vector<Exchange>& exchanges() {
  static const std::vector<Exchange> list{
      {"revolute", "cylindrical", {"axis"}},
      {"revolute", "universal", {"tilt"}},
      {"revolute", "spherical", {"tilt_1", "tilt_2"}},
      {"revolute", "point_on_line", {"axis", "tilt_1", "tilt_2"}},
      {"cylindrical", "point_on_line", {"tilt_1", "tilt_2"}},
      {"prismatic", "cylindrical", {"twist"}},
      {"prismatic", "point_on_line", {"tilt_1", "tilt_2", "twist"}},
      {"universal", "spherical", {"twist"}},
      {"spherical", "point_on_line", {"load"}},
      {"weld", "revolute", {"turn_3"}},
      {"weld", "cylindrical", {"axis", "turn_3"}},
      {"weld", "spherical", {"turn_1", "turn_2", "turn_3"}},
      {"pin", "planar_point_on_line", {"load"}},
      {"planar_weld", "pin", {"turn"}},
      {"slider", "planar_point_on_line", {"turn"}},
  };
  return list;
}

// All rows of the sets that hang together by their joints, and Y: a column per set.
struct Group {
  std::vector<std::size_t> joints;
  std::map<std::size_t, MatrixXd> Y;  // by joint: rows x sets
  Index sets = 0;
};

// What a step takes from a joint: combinations of its rows, one per column.
struct Candidate {
  std::size_t joint;
  const Exchange* exchange;  // null: without the joint
  MatrixXd drops;
  std::vector<std::string> frees;
};

// About which axis in the world body B turns against A where a combination of these rows gives way.
std::optional<Vec3<double>> held_turn(const System& system, const Evaluation& e, const System::ConstraintInfo& c,
                                      const VectorXd& combination) {
  for (const std::size_t k : {std::size_t{1}, std::size_t{0}}) {
    const auto& b = system.bodies()[c.bodies[k]];
    if (b.size == 0 || !b.model->turns(3)) continue;
    MatrixXd W(3, b.size);  // of its rates
    for (Index j = 0; j < b.size; ++j) {
      const VectorXd v = VectorXd::Unit(b.size, j);
      b.model->angular_velocity(3, e.state.q.data() + b.first, v.data(), W.col(j).data());
    }
    const MatrixXd rates = W.transpose() * Ldlt(W * W.transpose()).solve(MatrixXd::Identity(3, 3));
    const VectorXd turn = (combination.transpose() * e.A(c.block + k) * rates).transpose();
    if (turn.norm() > 0) return Vec3<double>(turn.normalized());
  }
  return {};
}

constexpr double independent = tolerance::no_combination;

// Each of the combinations is redundant, and all together.
bool redundant(const MatrixXd& drops, const MatrixXd& Y, double size) {
  MatrixXd X = drops.transpose() * Y;
  if (X.cols() < X.rows()) return false;
  for (Index i = 0; i < X.rows(); ++i) {
    const double largest = X.row(i).cwiseAbs().maxCoeff();
    if (!(largest > independent * size)) return false;
    X.row(i) /= largest;
  }
  return Svd(X).count_above(independent) == X.rows();
}

std::optional<Candidate> candidate(const System& system, const Evaluation& e, std::size_t joint, const Exchange& x,
                                   const MatrixXd& Y) {
  const State& s = e.state;
  const auto& c = system.constraints()[joint];
  const auto rows = c.model->rows();
  Candidate out{joint, &x, MatrixXd(c.rows, 0), {}};
  const auto add = [&](const VectorXd& column, const std::string& words) {
    out.drops.conservativeResize(Eigen::NoChange, out.drops.cols() + 1);
    out.drops.rightCols(1) = column;
    out.frees.push_back(words);
  };
  const Index translations = std::min<Index>(c.rows, std::string_view(x.from) == "pin" ? 2 : 3);
  for (const std::string_view drop : x.drops) {
    if (drop == "axis") {
      const auto axis = c.model->axis(s, system.firsts(c.bodies));
      if (!axis) return {};
      VectorXd column = VectorXd::Zero(c.rows);
      column.head<3>() = *axis;
      add(column, "translation along its axis");
    } else if (drop == "load") {
      const Svd svd(Y.topRows(translations));
      VectorXd column = VectorXd::Zero(c.rows);
      column.head(translations) = svd.U.col(0);
      add(column, "translation along " + direction_in_words(svd.U.col(0)));
    } else if (drop == "tilt") {
      VectorXd column = VectorXd::Zero(c.rows);
      std::vector<Index> tilts;
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].name == "tilt_1" || rows[i].name == "tilt_2") tilts.push_back(static_cast<Index>(i));
      if (tilts.size() != 2) return {};
      column(tilts) = Svd(Y(tilts, Eigen::all)).U.col(0);
      const auto about = held_turn(system, e, c, column);
      if (!about) return {};
      add(column, "rotation about " + direction_in_words(*about));
    } else {
      const auto it = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.name == drop; });
      if (it == rows.end()) return {};
      add(VectorXd::Unit(c.rows, it - rows.begin()), it->removes);
    }
  }
  return out;
}

void apply(Group& g, const Candidate& c) {
  const MatrixXd& Y = g.Y.at(c.joint);
  const MatrixXd X = c.drops.transpose() * Y;
  const Svd svd(X);
  const MatrixXd keep = svd.null_space(c.drops.cols());  // what is left of the sets
  for (auto& [_, y] : g.Y) y = y * keep;
  g.sets = keep.cols();
}

double size(const Group& g) {
  double out = 0;
  for (const auto& [_, y] : g.Y) out = std::max(out, y.size() ? y.cwiseAbs().maxCoeff() : 0);
  return out;
}

// Steps as long as there is one: exchanges, or joints that can go altogether.
std::optional<Mend> mend(const System& system, const Evaluation& e, Group g, bool remove) {
  Mend out;
  const double largest = size(g);
  std::set<std::size_t> used;
  while (g.sets > 0) {
    std::optional<Candidate> best;
    for (auto it = g.joints.rbegin(); it != g.joints.rend(); ++it) {
      if (used.count(*it)) continue;
      const auto& c = system.constraints()[*it];
      const MatrixXd& Y = g.Y.at(*it);
      const auto consider = [&](std::optional<Candidate> x) {
        if (x && x->drops.cols() <= g.sets && (!best || x->drops.cols() > best->drops.cols()) &&
            redundant(x->drops, Y, largest))
          best = std::move(x);
      };
      if (remove)
        consider(Candidate{*it, nullptr, MatrixXd::Identity(c.rows, c.rows), {"all it holds"}});
      else
        for (const Exchange& x : exchanges())
          if (c.model->kind() == x.from) consider(candidate(system, e, *it, x, Y));
    }
    if (!best) return {};
    apply(g, *best);
    used.insert(best->joint);
    const auto& c = system.constraints()[best->joint];
    out.steps.push_back({c.name, c.model->kind(), best->exchange ? best->exchange->to : "", std::move(best->frees)});
  }
  std::sort(out.steps.begin(), out.steps.end(), [](const auto& a, const auto& b) { return a.joint < b.joint; });
  return out;
}

// The shortest closed walk joint, body, joint, body, ... through the joint `main`, of joints of the set, by names;
// empty if there is none.
std::vector<std::string> loop_of(const System& system, const std::vector<std::size_t>& joints, std::size_t main) {
  const auto& bodies = system.bodies();
  std::string ground = "ground";
  for (const std::size_t i : joints)
    for (const std::size_t b : system.constraints()[i].bodies)
      if (bodies[b].size == 0) ground = bodies[b].name;
  std::vector<std::string> out;
  const SystemGraph::Walk walk = system.graph().loop(joints, main);
  for (std::size_t i = 0; i < walk.size(); i += 2) {
    out.push_back(system.constraints()[walk[i]].name);
    out.push_back(walk[i + 1] == SystemGraph::ground ? ground : bodies[walk[i + 1]].name);
  }
  return out;
}

}  // namespace

RedundantRow::Flat flatness(const System& system, const Evaluation& e, Index row) {
  using Flat = RedundantRow::Flat;
  constexpr double step = 1e-3;  // of the sizes of the coordinates
  constexpr int tries = 4;
  const std::size_t k = system.constraint_of(row);
  const auto& c = system.constraints()[k];
  if (std::binary_search(e.state.off.begin(), e.state.off.end(), k)) return Flat::no;
  if (c.bodies.size() == 2 && c.model->turned(e.state, system.firsts(c.bodies))) return Flat::no;  // it is turned
  const Index own = row - c.row;
  std::vector<MatrixXd> blocks;
  std::vector<Eigen::Map<MatrixXd>> A;
  for (const std::size_t b : c.bodies) blocks.emplace_back(c.rows, system.bodies()[b].size);
  for (MatrixXd& block : blocks) A.emplace_back(block.data(), block.rows(), block.cols());
  VectorXd value(c.rows), b(c.rows);
  const VectorXd d = sizes(system, e.state.q);
  bool everywhere = true, square = own < c.holonomic;
  double sign = 0;
  try {
    for (int i = 0; i < tries; ++i) {
      State near = e.state;
      double of_step[2];
      for (const int twice : {0, 1}) {
        for (const std::size_t body : c.bodies)
          for (Index j = system.bodies()[body].first; j < system.bodies()[body].first + system.bodies()[body].size; ++j)
            near.q[j] = e.state.q[j] + (1 + twice) * step * d[j] * std::cos(1 + 7.3 * i + 2.1 * static_cast<double>(j));
        c.model->evaluate(near, system.firsts(c.bodies), value, b, A);
        of_step[twice] = value[own] - e.phi[row];
        for (const auto& block : A)  // sin^2 + cos^2 leaves round-off
          everywhere = everywhere && block.row(own).isZero(tolerance::rounding);
      }
      // A square: met here, of one sign around, and four times as large at twice the way.
      sign = sign == 0 ? of_step[0] : sign;
      square = square && of_step[0] * sign > 0 && std::abs(of_step[1] / of_step[0] - 4) < 0.5 &&
               std::abs(e.phi[row]) <= tolerance::square_met * std::abs(of_step[0]);
    }
  } catch (const Error&) {  // it gives no numbers there
    return Flat::here;
  }
  return everywhere ? Flat::everywhere : square ? Flat::squared : Flat::here;
}

bool squared(const System& system, const Evaluation& e, const Set& set) {
  return set.y.size() == 1 && flatness(system, e, set.row) == RedundantRow::Flat::squared;
}

bool flat_and_unmet(const System& system, const Evaluation& e, const Set& set) {
  const auto& c = system.constraints()[system.constraint_of(set.row)];
  if (set.y.size() != 1 || set.row - c.row >= c.holonomic) return false;
  const double reach = sizes_of_rows(system, e, sizes(system, e.state.q))[set.row];
  return std::abs(e.phi[set.row]) > visible * reach && flatness(system, e, set.row) != RedundantRow::Flat::no;
}

// Off the constraints dependent rows disagree a little, by squares of the gaps: a conflict is as large as they are.
// Rows that nearly depend on each other disagree by what they leave of the motion: the others allow it, they do not.
std::optional<Contradiction> contradiction(const System& system, const Evaluation& e, const VectorXd& rate,
                                           const VectorXd& reach, const Set& set) {
  constexpr double clearly = 0.1;
  if (squared(system, e, set)) return Contradiction{RedundantRow::Level::positions, std::abs(e.phi[set.row])};
  bool holonomic = true;
  double phi = 0, phi_terms = 0, size = 0, speed = 0, speed_terms = 0;
  std::map<Index, double> left;  // y'A
  for (const auto& [i, y] : set.y) {
    const std::size_t k = system.constraint_of(i);
    const auto& c = system.constraints()[k];
    if (std::binary_search(e.state.off.begin(), e.state.off.end(), k)) continue;
    const bool position = i - c.row < c.holonomic;
    holonomic = holonomic && position;
    if (position) phi += y * e.phi[i], phi_terms += std::abs(y * e.phi[i]);
    size += std::abs(y) * reach[i];
    const double v = position ? rate[i] : e.phi[i];
    speed += y * v;
    speed_terms += std::abs(y * v);
    for (std::size_t b = 0; b < c.bodies.size(); ++b) {
      const auto& body = system.bodies()[c.bodies[b]];
      for (Index j = 0; j < body.size; ++j) left[body.first + j] += y * e.A(c.block + b)(i - c.row, j);
    }
  }
  if (holonomic && std::abs(phi) > clearly * phi_terms && std::abs(phi) > visible * size)
    return Contradiction{RedundantRow::Level::positions, std::abs(phi)};
  if (phi_terms > visible * size) return {};
  double allowed =
      visible * size * std::max(tolerance::least_size, e.state.v.size() ? e.state.v.cwiseAbs().maxCoeff() : 0);
  for (const auto& [j, slope] : left) allowed += 2 * std::abs(slope * e.state.v[j]);
  if (std::abs(speed) > clearly * speed_terms && std::abs(speed) > allowed)
    return Contradiction{RedundantRow::Level::velocities, std::abs(speed)};
  return {};
}

bool met(const System& system, const Evaluation& e, const VectorXd& rate) {
  const VectorXd reach = sizes_of_rows(system, e, sizes(system, e.state.q));
  const double fast = std::max(tolerance::least_size, e.state.v.size() ? e.state.v.cwiseAbs().maxCoeff() : 0);
  for (const auto& c : system.constraints())
    for (Index i = c.row; i < c.row + c.rows; ++i) {
      const bool position = i - c.row < c.holonomic;
      if (position && std::abs(e.phi[i]) > visible * reach[i]) return false;
      if (std::abs(position ? rate[i] : e.phi[i]) > visible * reach[i] * fast) return false;
    }
  return true;
}

bool any_contradiction(const System& system, const Evaluation& e, const VectorXd& rate, const SparseRank& rank) {
  const VectorXd reach = sizes_of_rows(system, e, sizes(system, e.state.q));
  return std::any_of(rank.redundant.begin(), rank.redundant.end(),
                     [&](const Set& set) { return !set.consistent || contradiction(system, e, rate, reach, set); });
}

void explain_redundant(const System& system, const Evaluation& e, const SparseRank& rank, RankReport& report) {
  if (rank.redundant.empty()) return;
  const VectorXd reach = sizes_of_rows(system, e, sizes(system, e.state.q));
  std::set<Index> shared;
  std::vector<std::vector<std::size_t>> joints_of_set;
  std::set<std::string> turned;  // joints that are told as such: their rows hold nothing
  for (const TurnedJoint& t : report.turned) turned.insert(t.joint);
  std::vector<Set> sets = rank.redundant;
  std::erase_if(sets, [&](const Set& set) {
    const std::size_t joint = system.constraint_of(set.row);
    const bool alone =
        std::all_of(set.y.begin(), set.y.end(), [&](const auto& y) { return system.constraint_of(y.i) == joint; });
    return (alone && turned.count(system.constraints()[joint].name) > 0) ||
           (set.y.size() == 1 && std::binary_search(e.state.off.begin(), e.state.off.end(), joint));
  });
  std::set<std::size_t> concerned;
  for (const Set& set : sets)
    for (const auto& [i, _] : set.y) concerned.insert(system.constraint_of(i));
  const VectorXd rate = row_rates(system, e.state, concerned);
  // Names are made when somebody asks: each once.
  std::map<Index, decltype(system.row(0))> named;
  const auto row_of = [&](Index i) -> const auto& {
    const auto it = named.find(i);
    return it != named.end() ? it->second : named.emplace(i, system.row(i)).first->second;
  };
  for (const Set& set : sets) {
    const auto& info = row_of(set.row);
    RedundantRow r;
    r.row = info.name, r.removes = info.removes, r.gap = set.gap, r.consistent = set.consistent;
    std::set<std::size_t> joints;
    std::vector<std::pair<double, Index>> weights;
    for (const auto& [i, y] : set.y) {
      const std::size_t k = system.constraint_of(i);
      const auto& c = system.constraints()[k];
      r.set.push_back(row_of(i).name);
      if (!c.own) joints.insert(k);
      if (set.y.size() > 1) shared.insert(i);
      weights.emplace_back(-std::abs(y) * reach[i], i);
      r.reactions.push_back(c.name + "." + row_of(i).reaction);
    }
    if (set.y.size() == 1) r.flat = flatness(system, e, set.row);
    if (r.consistent)
      if (const auto c = contradiction(system, e, rate, reach, set))
        r.consistent = false, r.level = c->level, r.gap = c->gap;
    std::sort(weights.begin(), weights.end());
    r.pair.first = info.name;
    for (const auto& [_, i] : weights)
      if (i != set.row && r.pair.second.empty()) r.pair.second = row_of(i).name;
    const std::vector<std::size_t> list(joints.begin(), joints.end());
    for (const std::size_t k : list) r.joints.push_back(system.constraints()[k].name);
    r.loop = loop_of(system, list, system.constraint_of(set.row));
    joints_of_set.push_back(list);
    report.redundant.push_back(std::move(r));
  }
  for (const Index i : shared) {
    const auto& c = system.constraints()[system.constraint_of(i)];
    report.reactions_not_unique.push_back(c.name + "." + row_of(i).reaction);
  }

  // Sets that share a joint are mended together; flat rows are told by themselves.
  std::map<std::size_t, std::size_t> owner;  // joint: set
  Components together(sets.size());
  for (std::size_t k = 0; k < joints_of_set.size(); ++k)
    for (const std::size_t j : joints_of_set[k]) together.join(owner.try_emplace(j, k).first->second, k);
  constexpr std::size_t tried_at_most = 60;  // joints in a group: beyond, nobody exchanges joints by hand
  for (const auto& members : together.parts()) {
    Group g;
    g.sets = static_cast<Index>(members.size());
    std::set<std::size_t> joints;
    for (const std::size_t k : members) joints.insert(joints_of_set[k].begin(), joints_of_set[k].end());
    const bool flat = std::any_of(members.begin(), members.end(), [&](std::size_t k) { return sets[k].y.size() == 1; });
    if (joints.size() > tried_at_most || flat) continue;
    g.joints.assign(joints.begin(), joints.end());
    for (const std::size_t j : g.joints) g.Y[j] = MatrixXd::Zero(system.constraints()[j].rows, g.sets);
    for (Index column = 0; column < g.sets; ++column)
      for (const auto& [i, y] : sets[members[static_cast<std::size_t>(column)]].y)
        if (const auto it = g.Y.find(system.constraint_of(i)); it != g.Y.end())
          it->second(i - system.constraints()[it->first].row, column) = y;
    // A joint that repeats another one goes before joints are exchanged.
    std::vector<Mend> found;
    for (const bool remove : {true, false})
      if (auto m = mend(system, e, g, remove)) {
        m->dof = report.dof;
        found.push_back(std::move(*m));
      }
    if (found.size() == 2 && found[0].steps.size() > 1) std::swap(found[0], found[1]);
    std::move(found.begin(), found.end(), std::back_inserter(report.mends));
  }
}

}  // namespace mortise::report
