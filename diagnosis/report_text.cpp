// The report as findings, as text and as JSON.

#include <mortise/diagnosis/rank_report.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include <mortise/core/json.h>
#include <mortise/core/words.h>

namespace mortise {
namespace {

constexpr std::size_t names_at_most = 8;  // of one list in a line of text
const std::vector<std::string> pose_remedies{"start from another pose",
                                             "change a length a little, if the mechanism may never lock"};

Index count(const auto& list) { return static_cast<Index>(list.size()); }

std::string listed(const std::vector<std::string>& words, const char* separator = ", ") {
  if (words.size() <= names_at_most) return joined(words, separator);
  return joined({words.begin(), words.begin() + names_at_most}, separator) +
         fmt::format("{}... {} more", separator, words.size() - names_at_most);
}

// Six digits, so that the last bits of a machine do not show; round-off is 0.
double rounded(double x) {
  if (!std::isfinite(x)) return x;
  return std::abs(x) < 2e-16 ? 0 : std::strtod(fmt::format("{:.6g}", x).c_str(), nullptr);
}
std::optional<double> rounded(const std::optional<double>& x) { return x ? std::optional(rounded(*x)) : x; }

enum class Colour { none, red, yellow, green, bold };
std::string painted(const std::string& text, Colour colour, const TextOptions& form) {
  constexpr const char* codes[] = {"", "\033[31m", "\033[33m", "\033[32m", "\033[1m"};
  return form.colour && colour != Colour::none ? codes[static_cast<int>(colour)] + text + "\033[0m" : text;
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

// "girder.n1" and "ux" of girder.n1.ux.
std::string stem(const std::string& coordinate) { return coordinate.substr(0, coordinate.rfind('.')); }
std::string suffix(const std::string& coordinate) { return coordinate.substr(coordinate.rfind('.') + 1); }

// Where there are many: free directions of one coordinate each that are told in one breath, since they differ by the
// body or node alone.  Else each by itself.
std::vector<std::vector<std::size_t>> alike_directions(const std::vector<FreeDirection>& free) {
  std::vector<std::vector<std::size_t>> out;
  std::map<std::pair<std::string, bool>, std::size_t> place;
  for (std::size_t i = 0; i < free.size(); ++i) {
    const FreeDirection& f = free[i];
    if (free.size() > names_at_most && f.parts.size() == 1 && f.balanced) {
      const std::pair key{suffix(f.parts.front().coordinate), f.parts.front().rows.empty()};
      if (const auto [it, fresh] = place.emplace(key, out.size()); !fresh) {
        out[it->second].push_back(i);
        continue;
      }
    }
    out.push_back({i});
  }
  return out;
}

std::string sentence(const FreeDirection& f) {
  return joined(f.motions, "; ") + "; no mass moves and no constraint resists";
}

std::string sentence(const RedundantRow& r) {
  const std::string rest = others(r).empty() ? "itself (it touches no coordinate)" : listed(others(r));
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

// Rows that are not met where they touch no coordinate.
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
  return std::count_if(rows.begin(), rows.end(), [](const RedundantRow& r) { return !r.consistent; });
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

}  // namespace

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
  return to.empty() ? "remove " + joint : fmt::format("{}: {} -> {}", joint, from, to);
}

std::string Mend::words() const {
  std::vector<std::string> out;
  for (const Step& s : steps) out.push_back(s.words());
  return joined(out, " and ");
}

namespace {
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
}  // namespace

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
  if (start) {
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
  for (const Locked& l : locked)
    if (!l.why.empty()) out.push_back({Verdict::locked, false, l.joints, 0, sentence(l), l.remedies});
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
                   pose_remedies});
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
  if (conflicting > 0)
    parts.push_back("CONFLICTING: " + counted(conflicting, "row") + " cannot hold together with the others");
  else if (start && !start->reachable)
    parts.push_back("CONFLICTING: no state near this one meets all constraints");
  for (const TurnedJoint& t : turned) parts.push_back(fmt::format("TURNED: {} by {:.4g} degrees", t.joint, t.angle));
  if (start && start->far) parts.push_back("START FAR AWAY: no state near meets all constraints");
  const bool stuck = std::any_of(locked.begin(), locked.end(), [](const Locked& l) { return !l.why.empty(); });
  if (stuck) parts.push_back("LOCKED: nothing can move");
  if (ok() && !stuck) parts.push_back("OK: the motion is determined");
  if (conflicting == 0 && !redundant.empty())
    parts.push_back(counted(count(redundant), "redundant row") + ", consistent");
  if (start && start->reachable && !start->far)
    parts.push_back("INCONSISTENT START: " + counted(count(start->gaps), "row") + " not met");
  if (singular || only_here()) parts.push_back("SINGULAR POSE");
  return joined(parts, "; ");
}

std::string RankReport::text(const TextOptions& form) const {
  const Colour colour = !ok() ? Colour::red : well() ? Colour::green : Colour::yellow;
  const std::string head = fmt::format("rank check '{}'{}{} at t = {:g}   {}", system, scope.empty() ? "" : ", ", scope,
                                       t, painted(verdict(), colour, form));
  if (!broken.empty()) {
    std::string out = head + "\n";
    for (const BrokenPart& b : broken)
      out += fmt::format("  {} '{}': {}\n     remedy: {}\n", b.kind, painted(b.name, Colour::bold, form), b.fact,
                         b.remedy);
    return out;
  }
  const std::string counts =
      fmt::format("coordinates {} | rank M {} | rows {}, rank A {} | rank [M;A] {} of {} | Gruebler {}, true DOF {}",
                  rank.n, rank.rank_M, rank.m, rank.rank_A, rank.rank_MA, rank.n, gruebler, dof);
  const std::string remark =
      padded.empty() ? ""
                     : fmt::format(
                           "  remark      padded: the mass of {} changes no other body's motion; 0 does as well, "
                           "and unpad() or `unpad = true` takes it so\n",
                           some_of(padded));
  if (well())
    return head +
           fmt::format("; {}, rank M {}; {}; {} DOF{}\n", counted(rank.n, "coordinate"), rank.rank_M,
                       counted(rank.m, "row"), dof, locked.empty() ? "" : ": a structure, nothing can move") +
           remark;

  std::string out = head + "\n  " + counts + "\n";
  if (rank.kept || rank.dropped) {
    out += fmt::format("  scaled singular values of the massless part: {} | {}, ",
                       rank.kept ? small_in_words(*rank.kept) : "none",
                       rank.dropped ? small_in_words(*rank.dropped) : "none");
    if (rank.kept && rank.dropped)
      out += fmt::format("gap {:.0f} decades, ", std::log10(*rank.kept / std::max(*rank.dropped, 2e-16)));
    out += fmt::format("warned below {:.0e}, refused below {:.0e}\n", rank.options.doubtful, rank.options.determined);
  }
  const auto hidden = [&](const FreeDirection& f) {
    return std::any_of(implied.begin(), implied.end(),
                       [&](const Implied& x) { return x.completable && x.concerns(f); });
  };
  std::size_t number = 0;
  for (const auto& alike : alike_directions(free)) {
    const FreeDirection& f = free[alike.front()];
    const std::string first = std::to_string(number + 1);
    number += alike.size();
    if (alike.size() > 1) {
      std::vector<std::string> stems;
      for (const std::size_t i : alike) stems.push_back(stem(free[i].parts.front().coordinate));
      out += fmt::format("  {} {}: massless, {}\n", fmt::format("{}-{}", first, number),
                         painted(suffix(f.parts.front().coordinate) + " of " + listed(stems), Colour::bold, form),
                         f.parts.front().rows.empty() ? "held by nothing" : "not held by the rows that touch it");
      out += "     motion: " + sentence(f) + "; and so the others\n";
      out += "     remedies: " + joined(f.remedies, " | ") + "; and so the others\n";
      continue;
    }
    for (std::size_t k = 0; k < std::min(f.parts.size(), names_at_most); ++k) {
      const auto& p = f.parts[k];
      out += fmt::format("  {:<2} {} share {:.2f}   M_ii {:<8.3g} rows touching: {}\n", k == 0 ? first : "",
                         painted(fmt::format("{:<24}", p.coordinate), Colour::bold, form), p.share, p.mass,
                         p.rows.empty() ? "none" : listed(p.rows));
    }
    if (f.parts.size() > names_at_most)
      out += fmt::format("     ... {} more coordinates\n", f.parts.size() - names_at_most);
    out += "     motion: " + sentence(f) + "\n";
    if (!f.balanced)
      out += hidden(f)
                 ? fmt::format("     the forces along it differ by {:.4g} here; complete() starts where they balance\n",
                               std::abs(f.force))
                 : fmt::format("     a force of {:.4g} acts along it that nothing can balance: no motion exists\n",
                               f.force);
    out += "     remedies: " + joined(f.remedies, " | ") + "\n";
  }
  if (only_here()) out += "     " + sentence_of_pose(*this) + "\n";
  std::map<std::pair<HiddenKind, bool>, std::vector<std::string>> more;  // implied, of one kind, beyond the first few
  std::map<std::pair<HiddenKind, bool>, std::size_t> so_far;
  for (const Implied& i : implied) {
    const std::pair kind{i.kind, i.completable};
    if (++so_far[kind] > names_at_most && !i.coordinates.empty())
      more[kind].push_back(i.coordinates.front());
    else
      out += fmt::format("  implied     {:<20} {}{}\n", in_words(i.kind), sentence(i),
                         i.completable ? "; complete() adds it" : "");
  }
  for (const auto& [kind, coordinates] : more)
    out += fmt::format("  implied     {:<20} likewise for {}{}\n", in_words(kind.first), listed(coordinates),
                       kind.second ? "; complete() adds them" : "");
  for (std::size_t i = 0; i < redundant.size(); ++i) {
    const RedundantRow& r = redundant[i];
    const std::string row = painted(fmt::format("{:<20}", r.row), Colour::bold, form);
    out += fmt::format("  {} {} {}\n", r.consistent ? "redundant  " : "conflicting", row, sentence(r));
    if (r.consistent)
      out += others(r).empty() ? "     the row touches no coordinate\n"
                               : "     already implied by: " + listed(others(r)) + "\n";
    const bool told = i + 1 < redundant.size() && redundant[i + 1].loop == r.loop;
    if (!r.loop.empty() && !told) out += "     loop: " + listed(r.loop, " -> ") + "\n";
    if (!r.consistent) out += "     remedies: " + joined(remedies_of_conflict(*this), " | ") + "\n";
  }
  if (!redundant.empty()) {
    out += fmt::format("  rows count as redundant below a scaled singular value of {:.0e}, nearly so below {:.0e}\n",
                       rank.options.determined, rank.options.doubtful);
    if (ok() && !reactions_not_unique.empty())
      out += "     reactions not unique: " + listed(reactions_not_unique) +
             " (the split of least norm in scaled rows is returned; the motion is unique)\n";
    for (const Mend& m : mends)
      out += fmt::format("     would mend it (tried on the rows, DOF stays {}): {}\n", m.dof, m.words());
  }
  for (const TurnedJoint& t : turned)
    out += fmt::format("  turned      {} {}\n     remedies: {}\n",
                       painted(fmt::format("{:<20}", t.joint), Colour::bold, form), sentence(t),
                       joined(remedies(t), " | "));
  for (const Locked& l : locked) {
    if (l.why.empty()) continue;
    out += "  locked      " + sentence(l) + "\n";
    if (!l.loop.empty()) out += "     loop: " + listed(l.loop, " -> ") + "\n";
    if (!l.remedies.empty()) out += "     remedies (tried on the rows): " + listed(l.remedies, " | ") + "\n";
  }
  if (start) {
    out += "  start       " + sentence(*start) + "\n";
    if (!start->left.empty()) {
      out += "     no state near meets them all; at the best compromise " + off_by(start->left) + "\n";
      if (!still_rows(*start).empty()) out += "     " + sentence_of_still(*start) + "\n";
    }
    out += "     remedies: " + joined(remedies(*start, redundant), " | ") + "\n";
  }
  if (singular)
    out += fmt::format("  pose        {} gained at this pose only: {}\n     takes part: {}\n     remedies: {}\n",
                       counted(singular->gained, "degree") + " of freedom", joined(singular->motions, "; "),
                       listed(singular->coordinates), joined(pose_remedies, " | "));
  for (const std::string& w : warnings) out += "  " + painted("warning", Colour::yellow, form) + ": " + w + "\n";
  return out + remark;
}

Json RankReport::json() const {
  const auto list = [](const auto& items, const auto& each) {
    Json out = Json::array();
    for (const auto& item : items) out.push(each(item));
    return out;
  };
  Json out{{"schema", "mortise.report/1"},
           {"system", system},
           {"scope", scope},
           {"t", rounded(t)},
           {"ok", ok()},
           {"well", well()},
           {"verdict", verdict()}};
  out.add("counts", Json{{"coordinates", rank.n},
                         {"rank_M", rank.rank_M},
                         {"rows", rank.m},
                         {"rank_A", rank.rank_A},
                         {"rank_MA", rank.rank_MA},
                         {"gruebler", gruebler},
                         {"dof", dof}});
  out.add("thresholds", Json{{"determined_refused_below", rank.options.determined},
                             {"determined_warned_below", rank.options.doubtful},
                             {"redundant_below", rank.options.determined},
                             {"redundant_warned_below", rank.options.doubtful},
                             {"conflict_above", rank.options.conflict}});
  out.add("values", Json{{"kept", rounded(rank.kept)},
                         {"dropped", rounded(rank.dropped)},
                         {"smallest_row", rounded(rank.smallest_row)}});
  out.add("findings", list(findings(), [](const Finding& f) {
            return Json{{"verdict", name_of(f.verdict)}, {"refused", f.refused},   {"names", f.names},
                        {"number", rounded(f.number)},   {"sentence", f.sentence}, {"remedies", f.remedies}};
          }));
  out.add("free", list(free, [&](const FreeDirection& f) {
            return Json{{"parts", list(f.parts,
                                       [](const FreeDirection::Part& p) {
                                         return Json{{"coordinate", p.coordinate},
                                                     {"share", rounded(p.share)},
                                                     {"mass", rounded(p.mass)},
                                                     {"rows", p.rows}};
                                       })},
                        {"motions", f.motions},
                        {"force", rounded(f.force)},
                        {"balanced", f.balanced}};
          }));
  out.add("redundant", list(redundant, [](const RedundantRow& r) {
            return Json{{"row", r.row},
                        {"removes", r.removes},
                        {"set", r.set},
                        {"consistent", r.consistent},
                        {"level", name_of(r.level)},
                        {"gap", rounded(r.gap)},
                        {"joints", r.joints},
                        {"loop", r.loop},
                        {"reactions", r.reactions},
                        {"pair", Json::array({r.pair.first, r.pair.second})}};
          }));
  out.add("mends", list(mends, [&](const Mend& m) {
            return Json{
                {"steps", list(m.steps,
                               [](const Mend::Step& s) {
                                 return Json{{"joint", s.joint}, {"from", s.from}, {"to", s.to}, {"frees", s.frees}};
                               })},
                {"redundant", m.redundant},
                {"dof", m.dof}};
          }));
  out.add("implied", list(implied, [](const Implied& i) {
            return Json{{"kind", in_words(i.kind)},
                        {"equation", i.equation},
                        {"sentence", i.sentence},
                        {"coordinates", i.coordinates},
                        {"completable", i.completable}};
          }));
  const auto gap = [](const Start::Gap& g) {
    return Json{{"row", g.row}, {"value", rounded(g.value)}, {"velocity", g.velocity}, {"still", g.still}};
  };
  Json of_start, of_pose;  // null
  if (start)
    of_start = Json{{"gaps", list(start->gaps, gap)},
                    {"reachable", start->reachable},
                    {"farthest", start->farthest},
                    {"moved", rounded(start->moved)},
                    {"far", start->far},
                    {"left", list(start->left, gap)}};
  if (singular)
    of_pose =
        Json{{"gained", singular->gained}, {"coordinates", singular->coordinates}, {"motions", singular->motions}};
  out.add("start", std::move(of_start));
  out.add("turned", list(turned, [](const TurnedJoint& t) {
            return Json{{"joint", t.joint}, {"body", t.body}, {"degrees", rounded(t.angle)}};
          }));
  out.add("locked", list(locked, [](const Locked& l) {
            return Json{
                {"bodies", l.bodies}, {"joints", l.joints}, {"loop", l.loop}, {"why", l.why}, {"remedies", l.remedies}};
          }));
  out.add("free_near", free_near ? Json(*free_near) : Json());
  out.add("singular", std::move(of_pose));
  out.add("reactions_not_unique", reactions_not_unique);
  out.add("warnings", warnings);
  out.add("padded", padded);
  return out;
}

}  // namespace mortise
