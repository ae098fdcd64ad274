#include <mortise/assembly/rank_report.h>

#include <algorithm>
#include <cmath>

#include <mortise/core/words.h>

namespace mortise {
namespace {

std::string joined(const std::vector<std::string>& words, const char* separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

std::string counted(Index n, const std::string& thing) { return fmt::format("{} {}{}", n, thing, n == 1 ? "" : "s"); }

// Rows of the system that a selection of constraints has, in its order.
std::vector<Index> rows_of(const System& system, const System::Selection& parts) {
  std::vector<Index> rows;
  for (const std::size_t i : parts.constraints) {
    const auto& c = system.constraints()[i];
    for (Index r = c.row; r < c.row + c.rows; ++r) rows.push_back(r);
  }
  return rows;
}

FreeDirection describe(const System& system, const Evaluation& e, const System::Selection& parts, const Equations& eq,
                       const Rank& rank, Index k) {
  constexpr double visible = 1e-6;  // shares below this are not worth a line
  const std::vector<Index> rows = rows_of(system, parts);
  FreeDirection f;
  f.direction = VectorXd::Zero(system.size());
  Index i = 0;
  for (const std::size_t index : parts.bodies) {
    const System::BodyInfo& b = system.bodies()[index];
    for (Index local = 0; local < b.size; ++local, ++i) {
      f.direction[b.first + local] = rank.N(i, k);
      if (rank.shares(i, k) < visible) continue;
      FreeDirection::Part part{system.coordinate(b.first + local), rank.shares(i, k), eq.M(i, i), {}};
      for (Index r = 0; r < eq.A.rows(); ++r)
        if (eq.A(r, i) != 0) part.rows.push_back(system.row(rows[static_cast<std::size_t>(r)]).name);
      f.parts.push_back(std::move(part));
    }
    const std::string motion = b.model->describe(e.state, b.first, f.direction.segment(b.first, b.size));
    if (!motion.empty()) f.motions.push_back(b.name + " " + motion);
  }
  // Largest share first; among equals (to round-off) what has no mass of its own.
  std::stable_sort(f.parts.begin(), f.parts.end(), [](const auto& a, const auto& b) {
    const double difference = std::round(a.share / visible) - std::round(b.share / visible);
    return difference != 0 ? difference > 0 : a.mass == 0 && b.mass != 0;
  });
  const std::string& leading = f.parts.front().coordinate;
  const std::string body = leading.substr(0, leading.find('.'));
  const auto& constraints = system.constraints();
  const bool independent =
      std::none_of(constraints.begin(), constraints.end(), [&](const auto& c) { return c.own && c.name == body; });
  const bool alone = f.parts.size() == 1 && independent;  // the motion is one coordinate, and not part of a quaternion
  f.remedies.push_back(fmt::format("give {} mass or inertia in this motion", body));
  f.remedies.push_back(alone ? fmt::format("hold {} by a joint", leading) : "hold this motion by a joint");
  if (alone) f.remedies.push_back("drop the coordinate");

  const VectorXd Q = eq.Q + eq.C;
  f.force = rank.N.col(k).dot(Q);
  const double size = rank.N.col(k).cwiseAbs().dot(eq.Q.cwiseAbs() + eq.C.cwiseAbs());
  f.balanced = std::abs(f.force) <= rank.options.conflict * size;
  return f;
}

std::string text_of(const FreeDirection& f, std::size_t number) {
  std::string out;
  for (std::size_t i = 0; i < f.parts.size(); ++i) {
    const auto& p = f.parts[i];
    out += fmt::format("  {:<2} {:<24} share {:.2f}   M_ii {:<8.3g} rows touching: {}\n",
                       i == 0 ? std::to_string(number) : "", p.coordinate, p.share, p.mass,
                       p.rows.empty() ? "none" : joined(p.rows, ", "));
  }
  out += "     motion: " + joined(f.motions, "; ") + "; no mass moves and no constraint resists\n";
  if (!f.balanced)
    out += fmt::format("     a force of {:.4g} acts along it that nothing can balance: no motion exists\n", f.force);
  return out + "     remedies: " + joined(f.remedies, " | ") + "\n";
}

std::string text_of(const RedundantRow& r) {
  std::string others;
  for (const std::string& row : r.set)
    if (row != r.row) others += (others.empty() ? "" : ", ") + row;
  if (!r.consistent)
    return fmt::format("  conflicting {:<20} contradicts {} by {:.4g}: no motion satisfies them all\n", r.row,
                       others.empty() ? "itself (it touches no coordinate)" : others, r.gap) +
           "     remedies: remove one of them | correct it so that they agree\n";
  return fmt::format("  redundant   {:<20} {}; residual {}, consistent\n", r.row,
                     r.removes.empty() ? "is not needed" : "unnecessarily removes " + r.removes,
                     small_in_words(r.gap)) +
         (others.empty() ? "     the row touches no coordinate\n" : "     already implied by: " + others + "\n");
}

}  // namespace

RankReport check_rank(const System& system, const Evaluation& e, const RankOptions& options) {
  return check_rank(system, e, system.all(), options);
}

RankReport check_rank(const System& system, const Evaluation& e, const System::Selection& parts,
                      const RankOptions& options) {
  const Equations eq = system.equations(e, parts);
  const std::vector<Index> rows = rows_of(system, parts);
  const auto info = [&](Index i) { return system.row(rows[static_cast<std::size_t>(i)]); };
  RankReport r;
  r.system = system.name();
  r.t = e.state.t;
  r.rank = numerical_rank(eq, options);
  r.dof = r.rank.n - r.rank.rank_A;
  r.gruebler = r.rank.n - r.rank.m;
  for (Index k = 0; k < r.rank.N.cols(); ++k) r.free.push_back(describe(system, e, parts, eq, r.rank, k));
  for (const RowSet& set : r.rank.redundant) {
    RedundantRow row{info(set.row).name, info(set.row).removes, {}, set.gap, set.consistent};
    for (Index i = 0; i < r.rank.m; ++i)
      if (set.y[i] != 0) row.set.push_back(info(i).name);
    r.redundant.push_back(std::move(row));
  }
  for (Index i = 0; i < r.rank.m; ++i) {
    const std::string row = info(i).name;
    if (!r.rank.unique_reaction(i))
      r.reactions_not_unique.push_back(row.substr(0, row.rfind('.') + 1) + info(i).reaction);
  }
  if (r.rank.nearly.size() > 0) {
    constexpr double visible = 0.1;
    std::vector<std::string> nearly;
    for (Index i = 0; i < r.rank.m; ++i)
      if (r.rank.nearly[i] > visible) nearly.push_back(info(i).name);
    r.warnings.push_back(
        fmt::format("rows are nearly dependent (scaled singular value {:.1e}, warned below {:.0e}): {}",
                    *r.rank.smallest_row, options.nearly, joined(nearly, ", ")));
  }
  return r;
}

bool RankReport::consistent() const {
  return std::all_of(redundant.begin(), redundant.end(), [](const RedundantRow& r) { return r.consistent; });
}

std::string RankReport::verdict() const {
  std::vector<std::string> parts;
  if (!determined()) parts.push_back("UNDER-MODELLED: " + counted(static_cast<Index>(free.size()), "free direction"));
  const auto conflicting =
      std::count_if(redundant.begin(), redundant.end(), [](const RedundantRow& r) { return !r.consistent; });
  if (conflicting > 0)
    parts.push_back("CONFLICTING: " + counted(conflicting, "row") + " cannot hold together with the others");
  if (ok()) parts.push_back("OK: the motion is determined");
  if (consistent() && !redundant.empty())
    parts.push_back(counted(static_cast<Index>(redundant.size()), "redundant row") + ", consistent");
  return joined(parts, "; ");
}

std::string RankReport::text() const {
  const std::string head =
      fmt::format("rank check '{}'{}{} at t = {:g}   {}", system, scope.empty() ? "" : ", ", scope, t, verdict());
  const std::string counts =
      fmt::format("coordinates {} | rank M {} | rows {}, rank A {} | rank [M;A] {} of {} | Gruebler {}, true DOF {}",
                  rank.n, rank.rank_M, rank.m, rank.rank_A, rank.rank_MA, rank.n, gruebler, dof);
  if (ok() && redundant.empty() && warnings.empty())
    return head + fmt::format("; {}, rank M {}; {}; {} DOF\n", counted(rank.n, "coordinate"), rank.rank_M,
                              counted(rank.m, "row"), dof);

  std::string out = head + "\n  " + counts + "\n";
  if (rank.values.size() > 0) {
    const std::string threshold = fmt::format("threshold {:.0e}", rank.options.determined);
    out += fmt::format("  scaled singular values of the massless part: {} | {}, ",
                       rank.kept ? small_in_words(*rank.kept) : "none",
                       rank.dropped ? small_in_words(*rank.dropped) : "none");
    if (rank.kept && rank.dropped)
      out += fmt::format("gap {:.0f} decades, ", std::log10(*rank.kept / std::max(*rank.dropped, 2e-16)));
    out += threshold + "\n";
  }
  for (std::size_t i = 0; i < free.size(); ++i) out += text_of(free[i], i + 1);
  for (const Implied& i : implied)
    out += fmt::format("  implied     {:<20} {}{}\n", i.kind, i.equation.empty() ? "" : i.equation + "; ", i.sentence);
  for (const RedundantRow& r : redundant) out += text_of(r);
  if (ok() && !reactions_not_unique.empty())
    out += "     reactions not unique: " + joined(reactions_not_unique, ", ") +
           " (the split of least norm in scaled rows is returned; the motion is unique)\n";
  for (const std::string& w : warnings) out += "  warning: " + w + "\n";
  return out;
}

void require(const RankReport& report) {
  if (!report.determined()) throw UnderModelled(report);
  if (!report.consistent()) throw ConflictingRows(report);
}

}  // namespace mortise
