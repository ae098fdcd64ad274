// The report as findings, and its verdict in one line.

#include <mortise/diagnosis/rank_report.h>

#include <algorithm>
#include <cctype>

#include <mortise/core/words.h>
#include <mortise/diagnosis/report_words.h>

namespace mortise {

using namespace report;

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::under_modelled:
      return "under-modelled";
    case Verdict::over_constrained:
      return "over-constrained";
    case Verdict::conflicting:
      return "conflicting";
    case Verdict::hidden_constraint:
      return "hidden constraint";
    case Verdict::indeterminate:
      return "indeterminate";
    case Verdict::contradictory:
      return "contradictory";
    case Verdict::implicit_multiplier:
      return "implicit multiplier";
    case Verdict::inconsistent_start:
      return "inconsistent start";
    case Verdict::turned:
      return "turned";
    case Verdict::locked:
      return "locked";
    case Verdict::singular_pose:
      return "singular pose";
    case Verdict::not_semidefinite:
      return "mass not positive semi-definite";
    case Verdict::not_symmetric:
      return "mass not symmetric";
    case Verdict::not_finite:
      return "not finite";
    case Verdict::flat_row:
      return "flat row";
    case Verdict::invalid:
      return "invalid";
  }
  return "";
}

std::string_view name_of(RedundantRow::Level level) {
  switch (level) {
    case RedundantRow::Level::positions:
      return "positions";
    case RedundantRow::Level::velocities:
      return "velocities";
    case RedundantRow::Level::accelerations:
      break;
  }
  return "accelerations";
}

std::string Mend::Step::words() const {
  if (to.empty()) return "remove " + joint;
  // The direction that has to be given to the new joint, where that is not the axis of the old one.
  const std::string_view motion = to == "universal" ? "rotation" : "translation";
  std::string way;
  if (to == "universal" || to == "point_on_line" || to == "planar_point_on_line")
    for (const std::string& f : frees)
      if (way.empty() && f.starts_with(motion) && !f.ends_with("its axis")) way = ", which gives way in " + f;
  return fmt::format("{}: {} -> {}{}", joint, from, to, way);
}

std::string Mend::words() const {
  std::vector<std::string> out;
  for (const Step& s : steps) out.push_back(s.words());
  return joined(out, " and ");
}
std::vector<Finding> RankReport::findings() const {
  std::vector<Finding> out;
  for (const BrokenPart& b : broken) out.push_back({b.verdict, true, {b.name}, 0, b.text(), {b.remedy}});
  for (const FreeDirection& f : free) {
    Finding x{Verdict::under_modelled, true, {}, rank.dropped.value_or(0), sentence(f), f.remedies};
    for (const auto& p : f.parts) x.names.push_back(p.coordinate);
    out.push_back(std::move(x));
  }
  for (const Implied& i : implied) out.push_back({verdict_of(i), true, i.coordinates, 0, sentence(i), remedies_of(i)});
  for (const RedundantRow& r : redundant) {
    if (r.flat != RedundantRow::Flat::no) {
      out.push_back({Verdict::flat_row, !r.consistent, {r.row}, r.gap, r.row + " " + sentence(r), remedies_of_flat(r)});
      continue;
    }
    Finding x{r.consistent ? Verdict::over_constrained : Verdict::conflicting,
              !r.consistent,
              {r.row},
              r.gap,
              r.row + " " + sentence(r),
              {}};
    for (const std::string& row : others(r)) x.names.push_back(row);
    if (!r.consistent) x.remedies = remedies_of_conflict(*this);
    for (const Mend& m : mends)
      if (std::any_of(m.steps.begin(), m.steps.end(), [&](const auto& s) {
            return std::find(r.joints.begin(), r.joints.end(), s.joint) != r.joints.end();
          }))
        x.remedies.push_back(m.words());
    if (x.remedies.empty())
      x.remedies.push_back(singular ? "keep it: the row is needed away from this pose"
                                    : "leave the row out (Solver::leave_out); the others hold it");
    out.push_back(std::move(x));
  }
  if (start && !told_by_rows(*this)) {
    Finding x{Verdict::inconsistent_start, start->far,       {},
              start->gaps.front().value,   sentence(*start), remedies(*start, redundant)};
    for (const auto& g : start->gaps) x.names.push_back(g.row);
    if (start->reachable || start->left.empty()) {
      out.push_back(std::move(x));
    } else {
      x.verdict = Verdict::conflicting, x.refused = true, x.names.clear();
      for (const auto& g : start->left) x.names.push_back(g.row);
      x.number = start->left.front().value;
      x.sentence = still_rows(*start).empty() ? fmt::format("no state near this one meets {} together", listed(x.names))
                                              : sentence_of_still(*start);
      out.push_back(std::move(x));
    }
  }
  for (const TurnedJoint& t : turned)
    out.push_back({Verdict::turned, true, {t.joint, t.body}, t.angle, sentence(t), remedies(t)});
  for (const Locked& l : locked) {
    if (l.why.empty()) continue;
    Finding x{Verdict::locked, false, l.joints, 0, sentence(l), l.remedies};
    x.names.insert(x.names.end(), l.bodies.begin(), l.bodies.end());
    out.push_back(std::move(x));
  }
  if (only_here())
    out.push_back({Verdict::singular_pose,
                   true,
                   {free.front().parts.front().coordinate},
                   static_cast<double>(*free_near),
                   sentence_of_pose(*this),
                   {"start from another pose"}});
  if (singular)
    out.push_back({Verdict::singular_pose, false, singular->coordinates, static_cast<double>(singular->gained),
                   fmt::format("at this pose the mechanism has {} more than near it: {}",
                               counted(singular->gained, "degree") + " of freedom", joined(singular->motions, "; ")),
                   pose_remedies()});
  return out;
}

bool RankReport::has(Verdict verdict) const {
  const auto all = findings();
  return std::any_of(all.begin(), all.end(), [&](const Finding& f) { return f.verdict == verdict; });
}

std::string RankReport::verdict() const {
  std::vector<std::string> parts;
  for (const BrokenPart& b : broken) {
    std::string words(name_of(b.verdict));
    std::transform(words.begin(), words.end(), words.begin(),
                   [](char c) { return static_cast<char>(std::toupper(c)); });
    parts.push_back(fmt::format("{}: {} '{}'", words, b.kind, b.name));
  }
  if (!free.empty()) parts.push_back("UNDER-MODELLED: " + counted(count(free), "free direction"));
  for (const auto& [kind, words] :
       {std::pair{Verdict::hidden_constraint, "HIDDEN: {}"}, std::pair{Verdict::indeterminate, "INDETERMINATE: {}"},
        std::pair{Verdict::contradictory, "CONTRADICTORY: {}"},
        std::pair{Verdict::implicit_multiplier, "IMPLICIT MULTIPLIER: {}"}}) {
    const auto n = std::count_if(implied.begin(), implied.end(),
                                 [wanted = kind](const Implied& i) { return verdict_of(i) == wanted; });
    const char* thing = kind == Verdict::hidden_constraint ? "equation" : "direction";
    if (n > 0) parts.push_back(fmt::format(fmt::runtime(words), counted(n, thing)));
  }
  const Index conflicting = conflicts(redundant);
  for (const RedundantRow& r : redundant)
    if (r.flat != RedundantRow::Flat::no && !r.consistent) parts.push_back("FLAT ROW: " + r.row);
  if (conflicting > 0)
    parts.push_back("CONFLICTING: " + counted(conflicting, "row") + " cannot hold together with the others");
  else if (start && !start->reachable)
    parts.push_back("CONFLICTING: no state near this one meets all constraints");
  for (const TurnedJoint& t : turned) parts.push_back(fmt::format("TURNED: {} by {:.4g} degrees", t.joint, t.angle));
  if (start && start->far) parts.push_back("START FAR AWAY: no state near meets all constraints");
  std::vector<std::string> stuck;
  for (const Locked& l : locked)
    if (!l.why.empty()) stuck.insert(stuck.end(), l.bodies.begin(), l.bodies.end());
  if (!stuck.empty()) parts.push_back("LOCKED: " + (dof > 0 ? listed(stuck) + " cannot move" : "nothing can move"));
  if (ok() && stuck.empty()) parts.push_back("OK: the motion is determined");
  const auto agreeing = [&](bool flat) {
    return std::count_if(redundant.begin(), redundant.end(), [flat](const RedundantRow& r) {
      return r.consistent && (r.flat != RedundantRow::Flat::no) == flat;
    });
  };
  if (conflicting == 0 && agreeing(false) > 0)
    parts.push_back(counted(agreeing(false), "redundant row") + ", consistent");
  if (agreeing(true) > 0) parts.push_back(counted(agreeing(true), "row") + " without effect");
  if (start && start->reachable && !start->far)
    parts.push_back("INCONSISTENT START: " + counted(count(start->gaps), "row") + " not met");
  if (singular || only_here()) parts.push_back("SINGULAR POSE");
  return joined(parts, "; ");
}

}  // namespace mortise
