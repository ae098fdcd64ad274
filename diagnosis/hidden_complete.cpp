// The rows that a model implies, added to it, and a state on them.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <mortise/assembly/plain_constraint.h>
#include <mortise/core/tolerances.h>
#include <mortise/diagnosis/failure.h>
#include <mortise/diagnosis/hidden_group.h>

namespace mortise {
namespace {

// A coordinate of a body goes on as it moves:  phi = q - q0 - v0 (t - t0).
class HeldCoordinate final : public PlainConstraint {
 public:
  HeldCoordinate(const System::BodyInfo& body, Index coordinate, const State& s)
      : body_(body.model),
        coordinate_(coordinate),
        q0_(s.q[body.first + coordinate]),
        v0_(s.v[body.first + coordinate]),
        t0_(s.t) {}

  std::string kind() const override { return "held"; }
  std::shared_ptr<const ConstraintModel> rebound(const Label& label, BodyModels) const override {
    label.fail<InvalidModel>("it holds a coordinate of one system", "hold it there again");
  }
  std::vector<Row> rows() const override { return {{"held", "a coordinate", "force", ""}}; }
  Index holonomic() const override { return 1; }
  void evaluate(const State& s, Firsts first, VectorRef value, VectorRef b,
                std::span<Eigen::Map<MatrixXd>> A) const override {
    value[0] = off(s, first[0]);
    b[0] = 0;
    A[0].setZero();
    A[0](0, coordinate_) = 1;
  }
  void evaluate(const State& s, const Places& at, double* A, double* value, double* rate, double* b) const override {
    const Index n = body_->unknowns();
    VectorXd dq(static_cast<Index>(body_->coordinates().size()));
    for (Index i = 0; i < n; ++i) {
      body_->spread(at.motion[0], VectorXd::Unit(n, i).eval().data(), dq.data());
      A[i] = dq[coordinate_];
    }
    body_->drift(at.motion[0], dq.data());
    *value = off(s, at.first[0]);
    *rate = s.v[at.first[0] + coordinate_] - v0_;
    *b = -dq[coordinate_];
  }
  RowSlopes slopes(const State&, Firsts, const double*) const override {
    const auto n = static_cast<Index>(body_->coordinates().size());
    return {MatrixXd::Zero(n, n), MatrixXd::Zero(n, n), VectorXd::Unit(n, coordinate_).transpose()};
  }

 private:
  double off(const State& s, Index first) const { return s.q[first + coordinate_] - q0_ - v0_ * (s.t - t0_); }

  std::shared_ptr<const BodyModel> body_;
  Index coordinate_;
  double q0_, v0_, t0_;
};

// One coordinate of each direction that is left free, as it is in s; that which the report names, if it serves.
std::vector<System::ConstraintInfo> hold_free(const System& system, const State& s, const HiddenReport& told,
                                              const RankOptions& options) {
  std::set<std::string> named;
  for (const HiddenRow& row : told.rows)
    if (!row.completable) named.insert(row.coordinates.front());
  const RankReport report = check_rank(system, system.evaluate(s), options);
  std::map<std::string, int> directions;  // that move a coordinate
  for (const FreeDirection& f : report.free)
    for (const auto& p : f.parts) ++directions[p.coordinate];
  std::vector<System::ConstraintInfo> out;
  for (const FreeDirection& f : report.free) {
    const FreeDirection::Part* own = nullptr;  // each direction has coordinates that no other one moves
    const auto weight = [&](const FreeDirection::Part& p) { return p.share + (named.count(p.coordinate) ? 1 : 0); };
    for (const auto& p : f.parts)
      if (directions[p.coordinate] == 1 && (!own || weight(p) > weight(*own))) own = &p;
    if (!own) continue;
    const Index i = system.names()->find(own->coordinate).first;
    const std::size_t k = system.body_of(i);
    const System::BodyInfo& body = system.bodies()[k];
    out.push_back({"held " + own->coordinate,
                   false,
                   0,
                   0,
                   0,
                   {k},
                   0,
                   std::make_shared<const HeldCoordinate>(body, i - body.first, s)});
  }
  return out;
}

// Initial values that are free: coordinates less independent holonomic rows, velocities less independent rows.
std::pair<Index, Index> free_values(const System& system, const State& s, const HiddenOptions& options) {
  const Evaluation e = system.evaluate(s);
  std::vector<Index> of_velocities;
  for (const auto& c : system.constraints())
    for (Index i = c.row + c.holonomic; i < c.row + c.rows; ++i) of_velocities.push_back(i);
  return {system.size() - rank_without(system, e, of_velocities, options.rank).rank_A,
          system.size() - rank_of(system, e, options.rank).rank_A};
}

}  // namespace

Completed complete(const System& system, const State& s, const HiddenOptions& options) {
  const auto [report, groups] = HiddenSearch(system, s, options);
  if (!report.determined() && groups.empty()) throw NotCompletable(report, report.text());
  const auto refuse = [&found = report](HiddenKind kind, const std::string& sentence) {
    HiddenReport r = found;
    for (HiddenRow& row : r.rows)
      if (row.completable) row.kind = kind, row.sentence = sentence, row.completable = false;
    const std::string text = r.text();
    throw NotCompletable(std::move(r), text);
  };

  std::set<std::string> names;
  for (const auto& c : system.constraints()) names.insert(c.name);
  std::vector<System::ConstraintInfo> added;
  int number = 0;
  for (const HiddenGroup& g : groups) {
    std::string name;
    do name = fmt::format("implied_{}", ++number);
    while (names.count(name));
    added.push_back(g.constraint(name));
  }
  Completed out{system.with(added), s, report, {}};
  for (std::size_t k = system.constraints().size(); k < out.system.constraints().size(); ++k) {
    const auto& c = out.system.constraints()[k];
    for (Index i = c.row; i < c.row + c.rows; ++i) out.rows.push_back(out.system.row(i).name);
  }
  std::tie(out.positions_before, out.velocities_before) = free_values(system, s, options);
  if (added.empty()) {
    out.positions = out.positions_before, out.velocities = out.velocities_before;
    return out;
  }

  const System posed = out.determined() ? out.system : out.system.with(hold_free(out.system, s, report, options.rank));
  Dynamics dynamics(posed, options.rank);
  Failure failure = dynamics.project_positions(out.state);
  if (!failure) failure = dynamics.project_velocities(out.state);
  if (failure)
    refuse(HiddenKind::contradictory,
           fmt::format("h = 0 cannot be reached from this state, so that no motion starts here ({}); start nearer to a "
                       "balance of these forces",
                       in_words(posed, failure)));
  failure = dynamics.solve(out.state);
  if (failure) require(posed, failure, posed.evaluate(out.state), options.rank);
  const VectorXd lambda = dynamics.lambda().segment(system.rows(), out.system.rows() - system.rows());
  double force = 0;
  const Evaluation e = out.system.evaluate(out.state);
  for (const VectorXd& part : {e.Q, e.C}) force = std::max(force, part.size() ? part.cwiseAbs().maxCoeff() : 0);
  for (const HiddenRow& row : report.rows) {  // forces may all be 0 in balance
    force = std::max(force, std::abs(row.value));
    for (Eigen::SparseVector<double>::InnerIterator i(row.dq); i; ++i)
      force = std::max(force, std::abs(i.value() * out.state.q[i.index()]));
    for (Eigen::SparseVector<double>::InnerIterator i(row.dv); i; ++i)
      force = std::max(force, std::abs(i.value() * out.state.v[i.index()]));
  }
  out.reaction = force > 0 ? lambda.cwiseAbs().maxCoeff() / force : lambda.cwiseAbs().maxCoeff();
  if (!(out.reaction <= tolerance::no_reaction))
    refuse(HiddenKind::refused,
           fmt::format("the added rows would carry a reaction, {:.1e} of the largest force, which nothing gives",
                       out.reaction));
  std::tie(out.positions, out.velocities) = free_values(out.system, out.state, options);
  return out;
}

std::string Completed::text() const {
  if (rows.empty()) return fmt::format("completed '{}': nothing is missing\n", system.name());
  const auto counted = [](Index n, const char* one, const char* more) {
    return fmt::format("{} {}", n, n == 1 ? one : more);
  };
  std::string out = fmt::format(
      "completed '{}': {} added: {}\n  states {}: {} and {} are free at the start ({} and {} before)\n"
      "  reactions of what was added: {} of the largest force\n",
      system.name(), counted(static_cast<Index>(rows.size()), "row", "rows"), fmt::join(rows, ", "),
      positions + velocities, counted(positions, "coordinate", "coordinates"),
      counted(velocities, "velocity", "velocities"), positions_before, velocities_before,
      reaction < 1e-12 ? "none, <1e-12" : fmt::format("{:.0e}", reaction));
  for (const HiddenRow& row : report.rows)
    if (!row.completable)
      out += fmt::format("  not decided: {}, {}\n    {}\n", row.coordinates.front(), in_words(row.kind), row.sentence);
  return out;
}

}  // namespace mortise
