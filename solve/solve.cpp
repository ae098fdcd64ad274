#include <mortise/solve/solve.h>

#include <algorithm>
#include <cmath>

#include <mortise/core/decompositions.h>
#include <mortise/core/fundamental.h>
#include <mortise/diagnosis/failure.h>
#include <mortise/diagnosis/report.h>
#include <mortise/engine/system_rank.h>
#include <mortise/solve/solver.h>

namespace mortise {

const Reaction& Solution::reaction(std::string_view joint) const {
  std::vector<std::string> known;
  for (const Reaction& r : reactions) {
    if (r.joint == joint) return r;
    known.push_back(r.joint);
  }
  Label{"joint", std::string(joint)}.fail<InvalidModel>(
      "there is none of this name",
      known.empty() ? "there are no joints" : fmt::format("did you mean '{}'?", nearest_name(joint, known)));
}

std::string Solution::text() const {
  const auto largest = [](const VectorXd& x) { return x.size() ? x.cwiseAbs().maxCoeff() : 0; };
  const auto clean = [](double x, double size) {
    return std::abs(x) <= 1e-12 * size ? 0 : x;
  };  // round-off prints as 0
  const double forces = std::max(largest(Q), largest(Qc)), size_of_lambda = std::max(forces, largest(lambda));
  std::string out = fmt::format("  {:<24} {:>14} {:>14}\n", "coordinate", "acceleration", "Qc");
  for (Index i = 0; i < a.size(); ++i)
    out += fmt::format("  {:<24} {:>14.6g} {:>14.6g}\n", names->name(i), clean(a[i], largest(a)), clean(Qc[i], forces));
  for (const Reaction& r : reactions) {
    std::vector<std::string> values;
    for (const double x : r.lambda) values.push_back(fmt::format("{:.6g}", clean(x, size_of_lambda)));
    out +=
        fmt::format("  {:<24} multipliers {}{}\n", r.joint, fmt::join(values, ", "), r.unique ? "" : "   (not unique)");
  }
  for (const std::string& w : warnings) out += "  warning: " + w + "\n";
  return out;
}

namespace {

// lambda of own rows that bodies meet by themselves: what is left over on their body.
void complete_lambda(const System& system, const Evaluation& e, const VectorXd& Qc, VectorXd& lambda) {
  VectorXd left = Qc - e.C;
  const auto each = [&](bool own, const auto& f) {
    for (const System::ConstraintInfo& c : system.constraints())
      for (std::size_t k = 0; k < c.bodies.size(); ++k)
        if (const auto& b = system.bodies()[c.bodies[k]]; (c.own && b.model->meets_own_rows()) == own)
          f(c, e.A(c.block + k), left.segment(b.first, b.size));
  };
  each(false,
       [&](const auto& c, const auto& A, auto&& force) { force -= A.transpose() * lambda.segment(c.row, c.rows); });
  each(true, [&](const auto& c, const auto& A, auto&& force) {
    lambda.segment(c.row, c.rows) = Ldlt(A * A.transpose()).solve(A * force);
  });
}

// Whether M and A of an evaluation are those of the system.  Laws that need their own reaction work on these alone.
bool is_own(const System& system, const Evaluation& e) {
  if (e.same_matrices(system.evaluate(e.state))) return true;
  for (const System::ConstraintInfo& c : system.constraints())
    Label{"joint", c.name}.require(!c.model->reacts(),
                                   "its friction needs its reaction, and M or A of this evaluation were changed",
                                   "change the bodies or joints, and evaluate them again");
  return false;
}

}  // namespace

Solution solve(const System& system, const Evaluation& given, const RankOptions& options) {
  const System numbers = is_own(system, given) ? system : system.fixed(given);
  Solver solver(numbers, {.rank = options});
  Evaluation e = given;
  const SparseRank rank = rank_of(numbers, e, options);
  if (!rank.N.empty()) require(check_rank(system, given, options));
  const VectorXd none = VectorXd::Zero(system.size());
  VectorXd a;
  try {
    a = solver.solve(e);
  } catch (const ReportedError&) {  // of the part that raised the alarm; here the whole is told
    require(check_rank(system, given, options));
    throw;
  }
  if (report::any_contradiction(numbers, e, solver.rate(), rank)) require(check_rank(system, given, options));
  Solution s{a, e.Q, none, none, none, solver.lambda(), {}, doubts(system, rank, options), system.names()};
  for (std::string& doubt : solver.doubtful_bodies()) s.warnings.push_back(std::move(doubt));
  e.C += solver.friction();
  const auto times_mass = [&](const VectorXd& x) {
    VectorXd Mx(x.size());
    for (std::size_t i = 0; i < system.bodies().size(); ++i) {
      const auto& b = system.bodies()[i];
      Mx.segment(b.first, b.size) = e.M(i) * x.segment(b.first, b.size);
    }
    return Mx;
  };
  complete_lambda(numbers, e, times_mass(s.a) - e.Q, s.lambda);
  std::vector<bool> unique(static_cast<std::size_t>(system.rows()), true);
  for (const SparseRank::Set& set : rank.redundant)
    for (const auto& [i, _] : set.y) unique[static_cast<std::size_t>(i)] = false;
  if (!e.C.isZero(0)) s.Qc_nonideal = times_mass(solver.response(e.C));
  s.Qc = e.C;  // and A'lambda, below: M q'' - Q would cancel where a light body is among heavy ones
  for (const System::ConstraintInfo& c : system.constraints()) {
    Reaction r{c.name, s.lambda.segment(c.row, c.rows), Eigen::SparseVector<double>(system.size()), true};
    VectorXd C = c.model->ideal() ? VectorXd() : system.nonideal(c, e.state);
    if (c.model->reacts()) {
      if (C.size() == 0) C.setZero(system.size());
      system.react(c, e.state, s.lambda, C);
    }
    for (std::size_t k = 0; k < c.bodies.size(); ++k) {
      const auto& b = system.bodies()[c.bodies[k]];
      VectorXd force = e.A(c.block + k).transpose() * r.lambda;
      s.Qc.segment(b.first, b.size) += force;
      if (C.size() > 0 && std::find(c.bodies.begin(), c.bodies.begin() + static_cast<Index>(k), c.bodies[k]) ==
                              c.bodies.begin() + static_cast<Index>(k))
        force += C.segment(b.first, b.size);
      for (Index i = 0; i < b.size; ++i) r.force.coeffRef(b.first + i) += force[i];
    }
    r.power = r.force.dot(e.state.v);
    for (Index i = c.row; i < c.row + c.rows; ++i) r.unique = r.unique && unique[static_cast<std::size_t>(i)];
    s.reactions.push_back(std::move(r));
  }
  s.Qc_ideal = s.Qc - s.Qc_nonideal;
  for (const auto& [what, x] : {std::pair{"a multiplier", &s.lambda}, {"a constraint force", &s.Qc_ideal}})
    if (!x->allFinite())
      Label{"solution of", system.name()}.fail<NonFinite>(
          fmt::format("{} at t = {:g} s is beyond what doubles can hold", what, e.state.t),
          "look for forces, masses or velocities that are far too large");
  return s;
}

Solution solve(const System& system, const State& s, const RankOptions& options) {
  return solve(system, system.evaluate(s), options);
}

VectorXd MotionFamily::member(const VectorXd& eta) const {
  if (eta.size() != N.rows())
    Label{"vector", "eta"}.fail<WrongSize>(fmt::format("has {} entries", eta.size()),
                                           fmt::format("give {}, one per coordinate", N.rows()));
  return smallest + N * (N.transpose() * eta);
}

MotionFamily solve_family(const System& system, const Evaluation& e, const RankOptions& options) {
  RankReport report = check_rank(system, e, options);
  if (!report.consistent()) throw ConflictingRows(std::move(report));
  if (std::any_of(report.free.begin(), report.free.end(), [](const FreeDirection& f) { return !f.balanced; }))
    throw UnderModelled(std::move(report));
  const Equations equations = system.equations(e);
  const Family family = udwadia_phohomsiri(equations, numerical_rank(equations, options));
  return {family.smallest.a, "the sum of squares of all accelerations, in the units of the model's coordinates",
          family.N, std::move(report)};
}

}  // namespace mortise
