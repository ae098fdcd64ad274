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
  const std::string body = body_of(leading);
  const auto& constraints = system.constraints();
  const bool independent =
      std::none_of(constraints.begin(), constraints.end(), [&](const auto& c) { return c.own && c.name == body; });
  const bool alone = f.parts.size() == 1 && independent;  // the motion is one coordinate, and not part of a quaternion
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

RankReport broken(const System& system, double t, std::vector<BrokenPart> parts, const RankOptions& options) {
  RankReport r;
  r.system = system.name();
  r.t = t;
  r.rank.options = options;
  r.rank.n = system.size();
  r.rank.m = system.rows();
  r.gruebler = r.rank.n - r.rank.m;
  r.broken = std::move(parts);
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
    return broken(system, e.state.t, report::broken_masses(system, e), options);
  }
}

namespace report {

// One part after the other, each by itself.
namespace {

class Collector {
 public:
  explicit Collector(std::vector<BrokenPart>& out) : out_(out) {}
  template <class F> void attempt(const std::string& kind, const std::string& name, const F& f) {
    try {
      f(Label{kind, name});
    } catch (const NotSymmetric& x) {
      add(Verdict::not_symmetric, kind, name, x);
    } catch (const InvalidMass& x) {
      add(Verdict::not_semidefinite, kind, name, x);
    } catch (const Error& x) {
      add(Verdict::not_finite, kind, name, x);
    } catch (const std::exception& x) {
      out_.push_back({Verdict::not_finite, kind, name, std::string("it throws: ") + x.what(),
                      "make it return numbers at this state"});
    }
  }

 private:
  void add(Verdict verdict, const std::string& kind, const std::string& name, const Error& error) {
    const ErrorParts& x = error.parts();  // of another part, if that one throws for this one
    const std::string fact = x.kind.empty() || (x.kind == kind && x.name == name)
                                 ? x.fact
                                 : fmt::format("{} '{}': {}", x.kind, x.name, x.fact);
    out_.push_back({verdict, kind, name, fact, x.remedy.empty() ? "check its formula at this state" : x.remedy});
  }
  std::vector<BrokenPart>& out_;
};

void require_finite(const Label& label, const VectorXd& x, const std::string& what, double t) {
  for (const double value : x)
    if (!std::isfinite(value))
      label.fail<NonFinite>(fmt::format("{} is {} at t = {}", what, value, t), "check its formula at this state");
}

}  // namespace

std::vector<BrokenPart> broken_masses(const System& system, const Evaluation& e) {
  std::vector<BrokenPart> out;
  Collector collect(out);
  for (std::size_t i = 0; i < system.bodies().size(); ++i) {
    const auto& b = system.bodies()[i];
    collect.attempt("body", b.name, [&](const Label& label) {
      require_symmetric(e.M(i), label, b.model->coordinates());
      (void)b.model->massless(e.state, b.first, e.M(i), label);
    });
  }
  return out;
}

std::vector<BrokenPart> broken_parts(const System& system, const State& s) {
  std::vector<BrokenPart> out;
  Collector collect(out);
  collect.attempt("state", system.name(), [&](const Label&) { system.require_state(s); });
  if (!out.empty()) return out;
  for (const auto& b : system.bodies())
    collect.attempt("body", b.name, [&](const Label& label) {
      const MatrixXd M = b.model->mass_matrix(s, b.first);
      if (M.rows() != b.size || M.cols() != b.size)
        label.fail<WrongSize>(fmt::format("M is {} x {} at t = {}", M.rows(), M.cols(), s.t),
                              fmt::format("give {0} x {0}, one row per coordinate", b.size));
      require_symmetric(M, label, b.model->coordinates());
      (void)b.model->massless(s, b.first, M, label);
      const VectorXd Q = b.model->force(s, b.first);
      if (Q.size() != b.size)
        label.fail<WrongSize>(fmt::format("Q has {} entries at t = {}", Q.size(), s.t),
                              fmt::format("give {}, one per coordinate", b.size));
      VectorXd weight = VectorXd::Zero(system.size());
      b.model->gravity(s, b.first, system.gravity(), weight);
      require_finite(label, Q + weight.segment(b.first, b.size), "its own force", s.t);
    });
  for (const auto& f : system.forces())
    collect.attempt("force", f.name, [&](const Label& label) {
      VectorXd Q = VectorXd::Zero(system.size());
      f.model->act(s, system.firsts(f.bodies), Q);
      require_finite(label, Q, "its force", s.t);
    });
  for (const auto& c : system.constraints())
    collect.attempt(c.own ? "body" : "joint", c.name, [&](const Label& label) {
      std::vector<MatrixXd> blocks;
      std::vector<Eigen::Map<MatrixXd>> A;
      for (const std::size_t k : c.bodies) blocks.emplace_back(c.rows, system.bodies()[k].size);
      for (MatrixXd& block : blocks) A.emplace_back(block.data(), block.rows(), block.cols());
      VectorXd value(c.rows), b(c.rows), C = VectorXd::Zero(system.size());
      c.model->evaluate(s, system.firsts(c.bodies), value, b, A);
      require_finite(label, value, "the value of a row", s.t);
      require_finite(label, b, "b of a row", s.t);
      for (const MatrixXd& block : blocks) require_finite(label, block.reshaped(), "a slope of a row", s.t);
      if (!c.model->ideal()) c.model->nonideal(s, system.firsts(c.bodies), C);
      require_finite(label, C, "its non-ideal law", s.t);
    });
  return out;
}

}  // namespace report

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
    return broken(system, s.t, report::broken_parts(system, s), options);
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
  report::look_around(system, *e, r, options);
  report::find_locked(system, *e, r, options);
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
