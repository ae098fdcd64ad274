#include <mortise/diagnosis/report_words.h>

#include <algorithm>

#include <mortise/core/words.h>

namespace mortise::report {
namespace {

constexpr double half_turn = 95;  // [degrees] and more: that is where the rows lead

// Of its gap, where the row tells what it holds.
std::string unit_of(const RedundantRow& r) {
  const std::string unit = r.removes.starts_with("translation") ? " m"
                           : r.removes.starts_with("rotation")  ? " rad"
                                                                : "";
  if (unit.empty()) return "";
  return unit + (r.level == RedundantRow::Level::positions    ? ""
                 : r.level == RedundantRow::Level::velocities ? "/s"
                                                              : "/s^2");
}

// Of joints that hold directions parallel or perpendicular: these are a right angle off.
bool right_angle_off(const RedundantRow& r) {
  return r.removes.starts_with("rotation") && r.flat == RedundantRow::Flat::here && r.gap > 0.99;
}

std::string sentence_of_flat(const RedundantRow& r) {
  if (right_angle_off(r))
    return fmt::format("cannot be met from here: the directions that {} holds are 90 degrees off", stem(r.row));
  const std::string off = r.consistent ? "" : fmt::format(", and it is off by {:.4g}{}", r.gap, unit_of(r));
  switch (r.flat) {
    case RedundantRow::Flat::everywhere:
      return "depends on no coordinate" + off + (r.consistent ? ": it holds nothing" : ": nothing can meet it");
    case RedundantRow::Flat::squared:
      return "is met, but touches no coordinate there, as a square does: its gradient is zero wherever it is met, and "
             "it holds nothing";
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
  if (right_angle_off(r))
    return {fmt::format("correct axis_a or axis_b of {}", joint), "turn one of its bodies at the start"};
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
  if (!r.consistent && others(r).empty())
    return fmt::format("is off by {:.4g}{} and touches no coordinate here: no small motion brings it nearer", r.gap, unit_of(r));
  const std::string rest = listed(others(r));
  if (!r.consistent)
    return fmt::format("contradicts {} by {:.4g}{}{}: no motion satisfies them all", rest, r.gap, unit_of(r),
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
  for (const auto& g : gaps) {
    const std::string by =
        g.apart > half_turn ? fmt::format("{:.4g} degrees", g.apart) : fmt::format("{:.4g}", g.value);
    off.push_back(fmt::format("{}{}{} by {}", g.row, g.velocity ? "'" : "", off.empty() ? " is off" : "", by));
  }
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
  return fmt::format("the frames that {} holds together are {:.4g} degrees apart: its rows lead to half a turn, {}",
                     t.joint, t.angle, "where they are met but hold nothing");
}
std::vector<std::string> remedies(const TurnedJoint& t) {
  return {fmt::format("turn {} at the start by {:.4g} degrees", t.body, t.angle),
          fmt::format("correct axis_a or axis_b of {}", t.joint)};
}

std::string sentence(const Locked& l) {
  return fmt::format("{} cannot move{}{}", listed(l.bodies), l.bodies.size() > 1 ? " against each other" : "",
                     l.why.empty() ? "" : ", though " + l.why);
}

bool told_by_rows(const RankReport& r) {
  return r.start && std::all_of(r.start->gaps.begin(), r.start->gaps.end(), [&](const Start::Gap& g) {
           return std::any_of(r.redundant.begin(), r.redundant.end(), [&](const RedundantRow& x) {
             return !x.consistent && x.set.size() == 1 && x.row == g.row;
           });
         });
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
  if (!s.reachable && s.far)
    return {"check the units (m, not mm) of lengths and points of the joints named", "start nearer"};
  if (!s.reachable)
    return {"change lengths or places of the joints named, so that they can hold together", "start nearer"};
  const bool half_a_turn = std::any_of(s.gaps.begin(), s.gaps.end(), [](const auto& g) { return g.apart > half_turn; });
  if (const auto words = turned_rows(s); (s.far || half_a_turn) && !words.empty()) return {words};
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
