#include <mortise/assembly/solve.h>

#include <algorithm>
#include <cmath>

#include <mortise/core/fundamental.h>

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

Solution solve(const System& system, const Evaluation& e, const RankOptions& options) {
  const RankReport report = check_rank(system, e, options);
  require(report);
  const Motion motion = udwadia_schutte(system.equations(e), {}, report.rank);
  Solution s{motion.a,      e.Q, motion.Qc,       motion.Qc_ideal, motion.Qc_nonideal,
             motion.lambda, {},  report.warnings, system.names()};
  for (const System::ConstraintInfo& c : system.constraints()) {
    Reaction r{c.name, motion.lambda.segment(c.row, c.rows), VectorXd::Zero(system.size()), true};
    for (std::size_t k = 0; k < c.bodies.size(); ++k) {
      const auto& b = system.bodies()[c.bodies[k]];
      r.force.segment(b.first, b.size) += e.A(c.block + k).transpose() * r.lambda;
    }
    if (!c.model->ideal()) r.force += system.nonideal(c, e.state);
    for (Index i = c.row; i < c.row + c.rows; ++i) r.unique = r.unique && report.rank.unique_reaction(i);
    s.reactions.push_back(std::move(r));
  }
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
  const Family family = udwadia_phohomsiri(system.equations(e), report.rank);
  return {family.smallest.a, "the sum of squares of all accelerations, in the units of the model's coordinates",
          family.N, std::move(report)};
}

}  // namespace mortise
