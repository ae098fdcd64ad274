#include <mortise/diagnosis/report_words.h>

#include <algorithm>

#include <mortise/core/words.h>

namespace mortise::report {
namespace {

std::string sentence_of_flat(const RedundantRow& r) {
  const std::string off = r.consistent ? "" : fmt::format(", and it is off by {:.4g}", r.gap);
  switch (r.flat) {
    case RedundantRow::Flat::everywhere:
      return "depends on no coordinate" + off + (r.consistent ? ": it holds nothing" : ": nothing can meet it");
    case RedundantRow::Flat::squared:
      return "is met, but touches no coordinate there, as a square does: its gradient is zero wherever it is met, and "
             "it "
             "holds nothing";
    default:
      return "touches no coordinate here, its gradient is zero" + off +
             (r.consistent ? ": it holds nothing at this pose" : ": no small motion brings it nearer");
  }
}
// Joints whose axes or frames are so far apart at the start that nothing brings them together.
std::string turned_rows(const Start& s) {
  constexpr double far = 45;  // [degrees]
  std::vector<std::string> out;
  for (const auto& g : s.gaps)
    if (const std::string joint = stem(g.row); g.apart > far) {
      const std::string words = fmt::format(
          "the axes of {} are {:.4g} degrees apart: correct its axis_a or axis_b, or "
          "turn one of its bodies at the start",
          joint, g.apart);
      if (std::find(out.begin(), out.end(), words) == out.end()) out.push_back(words);
    }
  return joined(out, "; ");
}

}  // namespace

std::string listed(const std::vector<std::string>& words, const char* separator) {
  if (words.size() <= names_at_most) return joined(words, separator);
  return joined({words.begin(), words.begin() + names_at_most}, separator) +
         fmt::format("{}... {} more", separator, words.size() - names_at_most);
}
Verdict verdict_of(const Implied& i) {
  switch (i.kind) {
    case HiddenKind::indeterminate:
      return Verdict::indeterminate;
    case HiddenKind::contradictory:
      return Verdict::contradictory;
    case HiddenKind::implicit_multiplier:
      return Verdict::implicit_multiplier;
    default:
      return Verdict::hidden_constraint;
  }
}

std::vector<std::string> remedies_of(const Implied& i) {
  const Verdict implied = verdict_of(i);
  if (i.completable) return {"add it: complete()", "give it mass"};
  if (implied == Verdict::hidden_constraint)
    return {"mend what is told of the same parts, then complete()", "give it mass"};
  if (implied == Verdict::contradictory) return {"give it mass", "hold it by a joint", "remove the force along it"};
  if (implied == Verdict::implicit_multiplier) return {"give it mass", "write what it enforces as a joint"};
  return {"give it mass", "hold it by a joint", "drop the coordinate"};
}

std::vector<std::string> others(const RedundantRow& r) {
  std::vector<std::string> out;
  for (const std::string& row : r.set)
    if (row != r.row) out.push_back(row);
  return out;
}

std::string stem(const std::string& coordinate) { return coordinate.substr(0, coordinate.rfind('.')); }
std::string suffix(const std::string& coordinate) { return coordinate.substr(coordinate.rfind('.') + 1); }
std::string sentence(const FreeDirection& f) {
  return joined(f.motions, "; ") + "; no mass moves and no constraint resists";
}

std::vector<std::string> remedies_of_flat(const RedundantRow& r) {
  const std::string joint = stem(r.row);
  switch (r.flat) {
    case RedundantRow::Flat::everywhere:
      return {fmt::format("write {} in the coordinates that it shall hold", r.row), "remove " + joint};
    case RedundantRow::Flat::squared:
      return {fmt::format("write without squares: one row of {} for each quantity that shall be zero", joint)};
    default:
      return {"start from another pose, where the row touches coordinates",
              fmt::format("correct the points or the formula of {}", joint)};
  }
}

std::string sentence(const RedundantRow& r) {
  if (r.flat != RedundantRow::Flat::no) return sentence_of_flat(r);
  const std::string rest = others(r).empty() ? "itself" : listed(others(r));
  if (!r.consistent)
    return fmt::format("contradicts {} by {:.4g}{}: no motion satisfies them all", rest, r.gap,
                       r.level == RedundantRow::Level::accelerations ? "" : fmt::format(" in {}", name_of(r.level)));
  return fmt::format("{}; residual {}, consistent",
                     r.removes.empty() ? "is not needed" : "unnecessarily removes " + r.removes, small_in_words(r.gap));
}

std::string sentence(const Implied& i) {
  if (i.equation.empty()) return i.sentence;
  return (verdict_of(i) == Verdict::hidden_constraint ? "" : "it would need ") + i.equation + "; " + i.sentence;
}

std::string off_by(const std::vector<Start::Gap>& gaps) {
  std::vector<std::string> off;
  for (const auto& g : gaps)
    off.push_back(fmt::format("{}{}{} by {:.4g}", g.row, g.velocity ? "'" : "", off.empty() ? " is off" : "", g.value));
  return listed(off);
}
std::string sentence(const Start& s) { return "the state does not meet the constraints: " + off_by(s.gaps); }

std::vector<std::string> still_rows(const Start& s) {
  std::vector<std::string> out;
  for (const auto& g : s.gaps)
    if (g.still) out.push_back(g.row);
  return out;
}
std::string sentence_of_still(const Start& s) {
  const auto rows = still_rows(s);
  return fmt::format("{} not met and {} no coordinate here: no small motion brings {} nearer",
                     listed(rows) + (rows.size() == 1 ? " is" : " are"), rows.size() == 1 ? "touches" : "touch",
                     rows.size() == 1 ? "it" : "them");
}

std::string sentence(const TurnedJoint& t) {
  return fmt::format(
      "the frames that {} holds together are {:.4g} degrees apart: its rows lead to half a turn, where "
      "they are met but hold nothing",
      t.joint, t.angle);
}
std::vector<std::string> remedies(const TurnedJoint& t) {
  return {fmt::format("turn {} at the start by {:.4g} degrees", t.body, t.angle),
          fmt::format("correct axis_a or axis_b of {}", t.joint)};
}

std::string sentence(const Locked& l) {
  return fmt::format("nothing of {} can move{}", listed(l.bodies), l.why.empty() ? "" : ", though " + l.why);
}

Index conflicts(const std::vector<RedundantRow>& rows) {
  return std::count_if(rows.begin(), rows.end(),
                       [](const RedundantRow& r) { return !r.consistent && r.flat == RedundantRow::Flat::no; });
}

std::vector<std::string> remedies(const Start& s, const std::vector<RedundantRow>& rows) {
  if (!s.reachable && conflicts(rows) > 0 && turned_rows(s).empty()) return {"mend the conflicting rows first"};
  if (const auto words = turned_rows(s); !s.reachable && !words.empty()) return {words};
  if (!s.reachable && !still_rows(s).empty())
    return {"start elsewhere, where the row touches coordinates", "correct the joint: its axes, points or formula"};
  if (!s.reachable)
    return {"change lengths or places of the joints named, so that they can hold together", "start nearer"};
  if (s.far)
    return {
        fmt::format("the nearest state that meets them lies far away: {} would move by {:.4g}", s.farthest, s.moved),
        "check the units (m, not mm) and the lengths", "start on the other side, or near the pose that is meant"};
  const std::string start = "start from the nearest state that does: simulate() finds it";
  return {s.farthest.empty() ? start : start + fmt::format(", {} moves most, by {:.4g}", s.farthest, s.moved)};
}
std::vector<std::string> remedies_of_conflict(const RankReport& r) {
  std::vector<std::string> out{"remove one of them", "correct it so that they agree"};
  if (const std::string words = r.start ? turned_rows(*r.start) : ""; !words.empty()) out.insert(out.begin(), words);
  return out;
}

std::string sentence_of_pose(const RankReport& r) {
  const std::string left =
      *r.free_near == 0 ? "nothing is" : counted(*r.free_near, "direction") + (*r.free_near == 1 ? " is" : " are");
  return fmt::format("only at this pose: near it {} free; the mechanism stands at a dead centre or a limit", left);
}
const std::vector<std::string>& pose_remedies() {
  static const std::vector<std::string> list{"start from another pose",
                                             "change a length a little, if the mechanism may never lock"};
  return list;
}

}  // namespace mortise::report
