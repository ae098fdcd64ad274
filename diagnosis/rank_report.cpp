#include <mortise/diagnosis/rank_report.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include <mortise/assembly/system_graph.h>
#include <mortise/core/tolerances.h>
#include <mortise/core/words.h>
#include <mortise/diagnosis/failure.h>
#include <mortise/diagnosis/hidden.h>
#include <mortise/diagnosis/padding.h>
#include <mortise/diagnosis/report.h>

namespace mortise {

using report::Parts;

namespace report {

VectorXd sizes(const System& system, const VectorXd& q) {
  VectorXd out(system.size());
  std::vector<Index> lengths;
  double largest = 0;
  for (const auto& b : system.bodies()) {
    const auto units = b.model->units();
    for (Index i = 0; i < b.size; ++i) {
      const double x = std::abs(q[b.first + i]);
      if (units[static_cast<std::size_t>(i)] == "m")
        lengths.push_back(b.first + i), largest = std::max(largest, x);
      else
        out[b.first + i] = std::max(1.0, x);
    }
  }
  for (const Index i : lengths) out[i] = largest > 0 ? largest : 1;  // no length tells more
  return out;
}

VectorXd sizes_of_rows(const System& system, const Evaluation& e, const VectorXd& sizes) {
  VectorXd out = VectorXd::Zero(system.rows());
  for (const auto& c : system.constraints())
    for (std::size_t k = 0; k < c.bodies.size(); ++k) {
      const auto& b = system.bodies()[c.bodies[k]];
      out.segment(c.row, c.rows) += e.A(c.block + k).cwiseAbs() * sizes.segment(b.first, b.size);
    }
  return out;
}

std::vector<std::string> motions(const System& system, const State& s, const SparseList& direction) {
  constexpr std::size_t told = 4;  // bodies by name
  std::map<std::size_t, VectorXd> moved;
  const auto& bodies = system.bodies();
  for (const auto& [i, x] : direction) {
    const std::size_t body = system.body_of(i);
    moved.try_emplace(body, VectorXd::Zero(bodies[body].size)).first->second[i - bodies[body].first] = x;
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> alike;  // what they do, and who
  for (const auto& [body, dq] : moved) {
    const std::string text = bodies[body].model->describe(s, bodies[body].first, dq);
    if (text.empty()) continue;
    const auto it = std::find_if(alike.begin(), alike.end(), [&](const auto& a) { return a.first == text; });
    (it == alike.end() ? alike.emplace_back(text, std::vector<std::string>()) : *it)
        .second.push_back(bodies[body].name);
  }
  std::vector<std::string> out;
  for (auto& [text, who] : alike) {
    if (who.size() == 1) {
      out.push_back(who[0] + " " + text);
      continue;
    }
    for (const std::string verb : {"turn", "move", "change"})
      if (text.rfind(verb + "s ", 0) == 0) text = verb + text.substr(verb.size() + 1);
    const std::size_t more = who.size() > told ? who.size() - told + 1 : 0;
    const std::string last = more ? fmt::format("{} more", more) : who.back();
    who.resize(more ? told - 1 : who.size() - 1);
    out.push_back(fmt::format("{} and {} {}", fmt::join(who, ", "), last, text));
  }
  return out;
}

}  // namespace report

namespace {

constexpr const char* drop = "drop the coordinate";

std::string body_of(const std::string& coordinate) { return coordinate.substr(0, coordinate.find('.')); }

// The force along a motion as a torque or force on the body that is named first, whatever its coordinates are: by its
// turn or its speed.
void make_physical(const System& system, const State& s, Index leading, FreeDirection& f) {
  const auto& b = system.bodies()[system.body_of(leading)];
  VectorXd dq = VectorXd::Zero(b.size);
  for (Eigen::SparseVector<double>::InnerIterator x(f.direction); x; ++x)
    if (x.index() >= b.first && x.index() < b.first + b.size) dq[x.index() - b.first] = x.value();
  if (b.model->frame() < 0) {  // it is not rigid: by its coordinate
    const std::string unit = b.model->units()[static_cast<std::size_t>(leading - b.first)];
    const double way = dq[leading - b.first];
    if ((unit != "m" && unit != "rad") || way == 0) return;
    f.force /= way;
    f.unit = unit == "m" ? "N" : "N m";
    return;
  }
  for (const int dimension : {2, 3}) {
    if (!b.model->has(Ask::point, dimension)) continue;
    const double zero[3] = {0, 0, 0}, *q = s.q.data() + b.first;
    double w[3] = {0, 0, 0}, v[3] = {0, 0, 0};
    if (b.model->turns(dimension)) b.model->angular_velocity(dimension, q, dq.data(), w);
    b.model->velocity(Ask::point, {zero, static_cast<std::size_t>(dimension)}, q, dq.data(), v);
    const double turn = std::hypot(w[0], w[1], w[2]), speed = std::hypot(v[0], v[1], v[2]);
    if (std::max(turn, speed) <= tolerance::no_motion * dq.cwiseAbs().maxCoeff()) return;
    const bool turns = turn > tolerance::no_motion * speed;
    f.force /= turns ? turn : speed;
    f.unit = turns ? "N m" : "N";
    return;
  }
}

FreeDirection describe(const System& system, const Evaluation& e, const SparseList& N, const SparseList& shares,
                       const RankOptions& options) {
  const auto& bodies = system.bodies();
  FreeDirection f;
  f.direction.resize(system.size());
  double size = 0;
  for (std::size_t k = 0; k < N.size(); ++k) {
    const Index i = N[k].i;
    const std::size_t body = system.body_of(i);
    const Index own = i - bodies[body].first;
    f.direction.insertBack(i) = N[k].value;
    f.force += N[k].value * (e.Q[i] + e.C[i]);
    size += std::abs(N[k].value) * (std::abs(e.Q[i]) + std::abs(e.C[i]));
    if (shares[k].value < tolerance::visible_share) continue;
    FreeDirection::Part part{system.coordinate(i), shares[k].value, e.M(body)(own, own), {}};
    const std::span<const unsigned> touching = system.graph().constraints_on(body);
    for (std::size_t c = 0; c < touching.size(); ++c) {
      if (c > 0 && touching[c] == touching[c - 1]) continue;
      const auto& constraint = system.constraints()[touching[c]];
      for (Index r = 0; r < constraint.rows; ++r) {
        double slope = 0;
        for (std::size_t x = 0; x < constraint.bodies.size(); ++x)
          if (constraint.bodies[x] == body) slope += e.A(constraint.block + x)(r, own);
        if (slope != 0) part.rows.push_back(system.row(constraint.row + r).name);
      }
    }
    f.parts.push_back(std::move(part));
  }
  f.motions = report::motions(system, e.state, N);
  f.balanced = std::abs(f.force) <= options.conflict * size;
  // Largest share first; among equals (to round-off) what has no mass of its own.  And of every body the largest before
  // the others, so that the first few names tell who moves.
  std::stable_sort(f.parts.begin(), f.parts.end(), [](const auto& a, const auto& b) {
    const double difference =
        std::round(a.share / tolerance::visible_share) - std::round(b.share / tolerance::visible_share);
    return difference != 0 ? difference > 0 : a.mass == 0 && b.mass != 0;
  });
  std::set<std::string> told;
  std::vector<FreeDirection::Part> first, others;
  for (auto& p : f.parts) (told.insert(body_of(p.coordinate)).second ? first : others).push_back(std::move(p));
  std::move(others.begin(), others.end(), std::back_inserter(first));
  f.parts = std::move(first);
  const std::string& leading = f.parts.front().coordinate;
  make_physical(system, e.state, system.names()->find(leading).first, f);
  const std::string body = body_of(leading);
  const auto& constraints = system.constraints();
  const bool independent =
      std::none_of(constraints.begin(), constraints.end(), [&](const auto& c) { return c.own && c.name == body; });
  const bool alone = f.parts.size() == 1 && independent;  // the motion is one coordinate, and not part of a quaternion
  if (bodies[system.body_of(N.front().i)].model->kind() == "states") {  // they never have mass
    f.remedies.push_back(fmt::format("give {} a law: a joint rate on {}", leading, body));
    f.remedies.push_back(drop);
    return f;
  }
  f.remedies.push_back(fmt::format("give {} mass or inertia in this motion", body));
  f.remedies.push_back(alone ? fmt::format("hold {} by a joint", leading) : "hold this motion by a joint");
  if (alone) f.remedies.push_back(drop);
  return f;
}

std::size_t bodies_of(const FreeDirection& f) {
  std::set<std::string> names;
  for (const auto& p : f.parts) names.insert(body_of(p.coordinate));
  return names.size();
}

RankReport fill(const System& system, const Evaluation& e, const SparseRank& found, const RankOptions& options) {
  RankReport r;
  r.system = system.name();
  r.t = e.state.t;
  r.rank.options = options;
  r.rank.n = found.n, r.rank.m = found.m;
  r.rank.rank_M = found.rank_M, r.rank.rank_A = found.rank_A, r.rank.rank_MA = found.rank_MA;
  r.rank.kept = found.kept, r.rank.dropped = found.dropped, r.rank.smallest_row = found.smallest_row;
  r.rank.values = found.values;
  for (const std::size_t i : e.state.off) r.rank.m -= system.constraints()[i].rows;  // they are not there
  r.dof = r.rank.n - r.rank.rank_A;
  r.gruebler = r.rank.n - r.rank.m;
  if (!found.N.empty()) {
    for (std::size_t k = 0; k < found.N.size(); ++k)
      r.free.push_back(describe(system, e, found.N[k], found.shares[k], options));
    // What moves by itself before what moves others along; else in the order of the coordinates.
    std::vector<std::tuple<std::size_t, Index, std::size_t>> order;
    for (std::size_t k = 0; k < r.free.size(); ++k)
      order.emplace_back(bodies_of(r.free[k]), system.names()->find(r.free[k].parts.front().coordinate).first, k);
    std::sort(order.begin(), order.end());
    std::vector<FreeDirection> sorted;
    for (const auto& [bodies, coordinate, k] : order) sorted.push_back(std::move(r.free[k]));
    r.free = std::move(sorted);
  }
  r.turned = turned_joints(system, e.state);
  report::explain_redundant(system, e, found, r);
  for (std::string& doubt : doubts(system, found, options)) r.warnings.push_back(std::move(doubt));
  return r;
}

// The report on what is sound, beside what is broken.
RankReport broken(const System& system, double t, report::Sound sound, const Parts& parts, const RankOptions& options) {
  RankReport r;
  try {
    if (sound.e) r = fill(system, *sound.e, rank_of(system, *sound.e, parts, options), options);
  } catch (const Error&) {  // a broken part was asked for more
    r = {};
    sound.judged.clear();
  }
  if (sound.judged.empty()) {
    r.system = system.name();
    r.t = t;
    r.rank.options = options;
    r.rank.n = system.size(), r.rank.m = system.rows();
    r.gruebler = r.rank.n - r.rank.m;
  }
  r.broken = std::move(sound.broken);
  r.judged = std::move(sound.judged);
  return r;
}

}  // namespace

RankReport check_rank(const System& system, const Evaluation& e, const RankOptions& options) {
  return check_rank(system, e, system.all(), options);
}

RankReport check_rank(const System& system, const Evaluation& e, const Parts& parts, const RankOptions& options) {
  try {
    return fill(system, e, rank_of(system, e, parts, options), options);
  } catch (const InvalidMass&) {
    return broken(system, e.state.t, report::without_broken_masses(system, e), parts, options);
  }
}

namespace {

void look_for_implied(const System& system, const State& s, const RankOptions& options, RankReport& r) {
  for (const HiddenRow& row : find_hidden(system, s, {.rank = options}).rows) {
    if (row.kind == HiddenKind::refused && r.free_near && !r.only_here())
      continue;  // it would speak of other states, and there it is the same
    if (row.kind == HiddenKind::refused)
      r.warnings.push_back(row.coordinates.empty() ? row.sentence : row.coordinates.front() + ": " + row.sentence);
    else
      r.implied.push_back({row.kind, row.equation, row.sentence, row.coordinates, row.completable});
  }
  for (FreeDirection& f : r.free)
    if (std::any_of(r.implied.begin(), r.implied.end(),
                    [&](const Implied& i) { return i.completable && i.concerns(f); })) {
      std::erase(f.remedies, drop);
      f.remedies.insert(f.remedies.begin(), "add what the forces along it imply: complete()");
    }
}

}  // namespace

RankReport check_model(const System& system, const RankOptions& options) {
  return check_model(system, system.state(), options);
}

RankReport check_model(const System& system, const State& s, const RankOptions& options) {
  std::optional<Evaluation> e;
  try {
    e = system.evaluate(s);
  } catch (const std::exception&) {
    return broken(system, s.t, report::without_broken_parts(system, s), system.all(), options);
  }
  RankReport r = check_rank(system, *e, options);
  if (!r.broken.empty()) return r;
  if (!r.free.empty()) {
    report::look_around_free(system, *e, r, options);
    if (r.only_here())
      for (FreeDirection& f : r.free) f.remedies.insert(f.remedies.begin(), "start from another pose");
    if (r.free_near != Index{0})
      look_for_implied(system, s, options, r);  // else what is implied here locks it elsewhere
  }
  report::look_at_start(system, *e, r);
  const auto flat = [&](const Start::Gap& g) {  // told already
    return std::any_of(r.redundant.begin(), r.redundant.end(), [&](const RedundantRow& x) {
      return x.flat != RedundantRow::Flat::no && !x.consistent && x.row == g.row;
    });
  };
  if (r.start && std::all_of(r.start->gaps.begin(), r.start->gaps.end(), flat)) r.start.reset();
  report::look_around(system, *e, r, options);
  report::find_locked(system, *e, r, options);
  r.broken = report::broken_energies(system, s);
  if (!r.broken.empty()) r.judged = "with the forces alone";
  for (std::string& w : report::springs_without_direction(system, s)) r.warnings.push_back(std::move(w));
  if (r.ok() && !r.start)
    for (const std::size_t i : padded_bodies(system, s, options)) r.padded.push_back(system.bodies()[i].name);
  return r;
}

bool Implied::concerns(const FreeDirection& f) const {
  return std::find(coordinates.begin(), coordinates.end(), f.parts.front().coordinate) != coordinates.end();
}

RankReport::RankReport() = default;
RankReport::RankReport(const RankReport&) = default;
RankReport::RankReport(RankReport&&) noexcept = default;
RankReport& RankReport::operator=(const RankReport&) = default;
RankReport& RankReport::operator=(RankReport&&) noexcept = default;
RankReport::~RankReport() = default;

ReportedError::ReportedError(RankReport r) : Error(r.text()), report_(std::make_shared<RankReport>(std::move(r))) {}

bool RankReport::consistent() const {
  return broken.empty() && turned.empty() && (!start || (start->reachable && !start->far)) &&
         std::all_of(redundant.begin(), redundant.end(), [](const RedundantRow& r) { return r.consistent; });
}

bool RankReport::well() const {
  return ok() && redundant.empty() && implied.empty() && !start && !singular && warnings.empty() &&
         std::all_of(locked.begin(), locked.end(), [](const Locked& l) { return l.why.empty(); });
}

void require(const RankReport& report) {
  for (const BrokenPart& b : report.broken) {
    if (b.verdict == Verdict::not_finite) throw NonFinite(b.kind, b.name, b.fact, b.remedy);
    throw InvalidMass(b.kind, b.name, b.fact, b.remedy);
  }
  if (!report.determined()) throw UnderModelled(report);
  if (!report.consistent()) throw ConflictingRows(report);
}

}  // namespace mortise
