// The report as text.

#include <mortise/diagnosis/rank_report.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include <mortise/core/words.h>
#include <mortise/diagnosis/report_words.h>

namespace mortise {

using namespace report;

namespace {

enum class Colour { none, red, yellow, green, bold };
std::string painted(const std::string& text, Colour colour, const TextOptions& form) {
  constexpr const char* codes[] = {"", "\033[31m", "\033[33m", "\033[32m", "\033[1m"};
  return form.colour && colour != Colour::none ? codes[static_cast<int>(colour)] + text + "\033[0m" : text;
}
// Where there are many: free directions of one coordinate each that are told in one breath, since they differ by the
// body or node alone, or are coordinates of one body.  Else each by itself.
std::vector<std::vector<std::size_t>> alike_directions(const std::vector<FreeDirection>& free) {
  using Groups = std::vector<std::vector<std::size_t>>;
  Groups single;
  for (std::size_t i = 0; i < free.size(); ++i) single.push_back({i});
  if (free.size() <= names_at_most) return single;
  const auto merged = [&](const Groups& groups, const auto& what) {
    Groups out;
    std::map<std::pair<std::string, bool>, std::size_t> place;
    for (const auto& group : groups) {
      const FreeDirection& f = free[group.front()];
      if (group.size() == 1 && f.parts.size() == 1 && f.balanced) {
        const std::pair key{what(f.parts.front().coordinate), f.parts.front().rows.empty()};
        if (const auto [it, fresh] = place.emplace(key, out.size()); !fresh) {
          out[it->second].push_back(group.front());
          continue;
        }
      }
      out.push_back(group);
    }
    return out;
  };
  const Groups by_name = merged(merged(single, suffix), stem), by_body = merged(merged(single, stem), suffix);
  return by_body.size() < by_name.size() ? by_body : by_name;
}

// Findings of one kind: the first few in full, the others by their names.
class Told {
 public:
  explicit Told(const TextOptions& form) : most_(form.details ? static_cast<std::size_t>(-1) : names_at_most) {}
  bool in_full(const std::string& name) {
    if (count_++ < most_) return true;
    others_.push_back(name);
    return false;
  }
  std::string others(const std::string& kind, const std::string& what = "") const {
    return others_.empty() ? ""
                           : fmt::format("  {:<11} likewise {}{}; --details tells all\n", kind, listed(others_), what);
  }

 private:
  std::size_t most_, count_ = 0;
  std::vector<std::string> others_;
};

// What the ranks are judged by.
std::string singular_values(const RankReport& r) {
  std::string out;
  const Rank& rank = r.rank;
  if (rank.kept || rank.dropped) {
    out += fmt::format("  scaled singular values of the massless part: {} | {}, ",
                       rank.kept ? small_in_words(*rank.kept) : "none",
                       rank.dropped ? small_in_words(*rank.dropped) : "none");
    if (rank.kept && rank.dropped)
      out += fmt::format("gap {:.0f} decades, ", std::log10(*rank.kept / std::max(*rank.dropped, 2e-16)));
    out += fmt::format("warned below {:.0e}, refused below {:.0e}\n", rank.options.doubtful, rank.options.determined);
  }
  if (!r.redundant.empty())
    out += fmt::format("  rows count as redundant below a scaled singular value of {:.0e}, nearly so below {:.0e}\n",
                       rank.options.determined, rank.options.doubtful);
  return out;
}

std::string body_of(const std::string& coordinate) { return coordinate.substr(0, coordinate.find('.')); }
bool of_quaternion(const std::string& coordinate) {
  const std::string own = suffix(coordinate);
  return own == "u0" || own == "u1" || own == "u2" || own == "u3";
}

// What the model implies about a free direction and that is told with it, in place of a line of its own.
std::map<std::size_t, const Implied*> told_with_free(const RankReport& report) {
  std::map<std::size_t, const Implied*> out;
  std::set<std::size_t> alike;  // told in one breath
  for (const auto& group : alike_directions(report.free))
    if (group.size() > 1) alike.insert(group.begin(), group.end());
  for (const Implied& i : report.implied) {
    if (i.kind != HiddenKind::indeterminate && i.kind != HiddenKind::contradictory) continue;
    for (std::size_t k = 0; k < report.free.size(); ++k)
      if (!alike.count(k) && !out.count(k) && i.concerns(report.free[k])) {
        out[k] = &i;
        break;
      }
  }
  return out;
}

// Which forces: "gravity", "motor and spring"; "" where none is known.
std::string forces_of(const Implied* i) {
  if (!i) return "";
  std::vector<std::string> out;
  std::stringstream words(i->equation.substr(0, i->equation.find(" along ")));
  constexpr std::string_view ending = ".force";
  for (std::string word; words >> word;)
    if (word.ends_with(ending)) out.push_back(word.substr(0, word.size() - ending.size()));
  return joined(out, " and ");
}

std::string text_of_free(const RankReport& report, const TextOptions& form) {
  const auto told = told_with_free(report);
  const auto hidden = [&](const FreeDirection& f) {
    return std::any_of(report.implied.begin(), report.implied.end(),
                       [&](const Implied& x) { return x.completable && x.concerns(f); });
  };
  std::string out;
  std::size_t number = 0;
  Told free(form);
  for (const auto& alike : alike_directions(report.free)) {
    const FreeDirection& f = report.free[alike.front()];
    const std::string first = std::to_string(number + 1);
    number += alike.size();
    if (!free.in_full(f.parts.front().coordinate)) continue;
    if (alike.size() > 1) {
      std::vector<std::string> stems, suffixes;
      for (const std::size_t i : alike) {
        stems.push_back(stem(report.free[i].parts.front().coordinate));
        suffixes.push_back(suffix(report.free[i].parts.front().coordinate));
      }
      const std::string coordinates =
          stems[0] == stems[1] ? listed(suffixes) + " of " + stems[0] : suffixes[0] + " of " + listed(stems);
      out += fmt::format("  {} {}: massless, {}\n", fmt::format("{}-{}", first, number),
                         painted(coordinates, Colour::bold, form),
                         f.parts.front().rows.empty() ? "held by nothing" : "not held by the rows that touch it");
      out += "     motion: " + sentence(f) + "; and so the others\n";
      out += "     remedies: " + joined(f.remedies, " | ") + "; and so the others\n";
      continue;
    }
    // Of motions that are told by bodies, not by one coordinate.
    const bool several = f.parts.size() > 1;
    std::vector<std::string> names, rows;
    for (const auto& p : f.parts) {
      const std::string name = several || of_quaternion(p.coordinate) ? body_of(p.coordinate) : p.coordinate;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      for (const std::string& row : p.rows)
        if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
    }
    out += fmt::format("  {:<2} {}: {}\n", first, painted(listed(names), Colour::bold, form), sentence(f));
    out += fmt::format("     {}\n", rows.empty() ? "no row touches it" : "touched by " + listed(rows));
    if (form.details)
      for (const auto& p : f.parts)
        out += fmt::format("     {:<24} share {:.2f}   M_ii {:<8.3g} rows touching: {}\n", p.coordinate, p.share,
                           p.mass, p.rows.empty() ? "none" : listed(p.rows));
    const Implied* with = told.count(alike.front()) ? told.at(alike.front()) : nullptr;
    const std::string unit = f.unit.empty() ? "" : " " + f.unit, by = forces_of(with);
    if (!f.balanced)
      out +=
          hidden(f)
              ? fmt::format("     the forces along it differ by {:.4g}{} here; complete() starts where they balance\n",
                            std::abs(f.force), unit)
              : fmt::format("     a {} of {:.4g}{}{} acts along it that nothing can balance: no motion exists\n",
                            f.unit == "N m" ? "torque" : "force", f.force, unit, by.empty() ? "" : ", of " + by + ",");
    else if (with && with->kind == HiddenKind::indeterminate)
      out += "     no force acts along it, here or elsewhere: nothing decides it\n";
    else if (with)
      out += fmt::format("     a force{} along it is 0 here but not at other states: no motion exists\n",
                         by.empty() ? "" : " of " + by);
    out += "     remedies: " + joined(f.remedies, " | ") + "\n";
  }
  return out + free.others("free");
}

// Redundant rows of one joint that the same others hold are told in one breath.
bool alike_rows(const RedundantRow& a, const RedundantRow& b) {
  return a.consistent && b.consistent && a.flat == b.flat && a.flat == RedundantRow::Flat::no &&
         stem(a.row) == stem(b.row) && a.joints == b.joints;
}

std::string text_of_alike(const std::vector<RedundantRow>& rows, const TextOptions& form) {
  const RedundantRow& first = rows.front();
  const std::string joint = stem(first.row);
  std::vector<std::string> names, removed, holders;
  for (const RedundantRow& r : rows) {
    names.push_back(r.row);
    if (!r.removes.empty()) removed.push_back(r.removes);
    for (const std::string& row : others(r))
      if (const std::string s = stem(row); s != joint && std::find(holders.begin(), holders.end(), s) == holders.end())
        holders.push_back(s);
  }
  if (holders.empty()) holders = {joint + " itself"};
  const bool repeats = holders.size() == 1 && first.joints.size() == 2;
  std::string out =
      fmt::format("  redundant   {}: {}\n", painted(listed(names), Colour::bold, form),
                  repeats ? fmt::format("{} repeats {}, {}", joint, holders[0], counted(count(rows), "row"))
                          : fmt::format("{} hold{} {} already", listed(holders), holders.size() == 1 ? "s" : "",
                                        removed.empty() ? "this" : listed(removed)));
  if (form.details)
    for (const RedundantRow& r : rows)
      out += fmt::format("     {:<20} {}\n     implied by: {}\n", r.row, sentence(r), listed(others(r)));
  if (!first.loop.empty()) out += "     loop: " + listed(first.loop, " -> ") + "\n";
  return out;
}

std::string text_of_rows(const RankReport& report, const TextOptions& form) {
  std::string out;
  Told flat(form), conflicting(form), redundant(form), mends(form);
  Index others = 0;
  const auto& all = report.redundant;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const RedundantRow& r = all[i];
    const std::string row = painted(r.row, Colour::bold, form);
    if (r.flat != RedundantRow::Flat::no) {
      if (flat.in_full(r.row))
        out += fmt::format("  flat row    {} {}\n     remedies: {}\n", row, sentence(r),
                           joined(remedies_of_flat(r), " | "));
    } else if (!r.consistent) {
      if (!conflicting.in_full(r.row)) continue;
      out += fmt::format("  conflicting {} {}\n", row, sentence(r));
      const bool told = i + 1 < all.size() && all[i + 1].loop == r.loop;
      if (!r.loop.empty() && !told) out += "     loop: " + listed(r.loop, " -> ") + "\n";
      out += "     remedies: " + joined(remedies_of_conflict(report), " | ") + "\n";
    } else {
      std::vector<RedundantRow> alike{r};
      while (i + 1 < all.size() && alike_rows(r, all[i + 1])) alike.push_back(all[++i]);
      if (redundant.in_full(stem(r.row)))
        out += text_of_alike(alike, form);
      else
        others += count(alike);
    }
  }
  out += flat.others("flat row") + conflicting.others("conflicting") +
         redundant.others("redundant", fmt::format(", {}", counted(others, "row")));
  if (report.ok() && !report.reactions_not_unique.empty())
    out += "     reactions not unique: " + listed(report.reactions_not_unique) +
           " (the split of least norm in scaled rows is returned; the motion is unique)\n";
  for (const Mend& m : report.mends)
    if (mends.in_full(m.words()))
      out += fmt::format("     remedy (tried on the rows, DOF stays {}): {}\n", m.dof, m.words());
  return out + mends.others("   remedy");
}

}  // namespace

std::string RankReport::text(const TextOptions& form) const {
  const Colour colour = !ok() ? Colour::red : well() ? Colour::green : Colour::yellow;
  const std::string head = fmt::format("rank check '{}'{}{} at t = {:g}   {}", system, scope.empty() ? "" : ", ", scope,
                                       t, painted(verdict(), colour, form));
  std::string of_broken;
  for (const BrokenPart& b : broken)
    of_broken += fmt::format("  {}{} '{}': {}\n     remedy: {}\n", b.place.empty() ? "" : b.place + ": ", b.kind,
                             painted(b.name, Colour::bold, form), b.fact, b.remedy);
  if (!broken.empty() && judged.empty()) return head + "\n" + of_broken;
  if (!broken.empty())
    of_broken +=
        fmt::format("  the others, {}:{}\n", judged,
                    free.empty() && redundant.empty() && !start && turned.empty() && locked.empty() && warnings.empty()
                        ? " nothing else is wrong"
                        : "");
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

  std::string out = head + "\n" + of_broken + "  " + counts + "\n";
  if (form.details) out += singular_values(*this);
  out += text_of_free(*this, form);
  if (only_here()) out += "     " + sentence_of_pose(*this) + "\n";
  std::map<std::pair<HiddenKind, bool>, std::vector<std::string>> more;  // implied, of one kind, beyond the first few
  std::map<std::pair<HiddenKind, bool>, std::size_t> so_far;
  const auto with_free = told_with_free(*this);
  for (const Implied& i : implied) {
    if (std::any_of(with_free.begin(), with_free.end(), [&](const auto& x) { return x.second == &i; })) continue;
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
  out += text_of_rows(*this, form);
  Told joints(form), structures(form);
  for (const TurnedJoint& t : turned)
    if (joints.in_full(t.joint))
      out += fmt::format("  turned      {} {}\n     remedies: {}\n",
                         painted(fmt::format("{:<20}", t.joint), Colour::bold, form), sentence(t),
                         joined(remedies(t), " | "));
  out += joints.others("turned");
  for (const Locked& l : locked) {
    if (l.why.empty() || !structures.in_full(listed(l.bodies))) continue;
    out += "  locked      " + sentence(l) + "\n";
    if (!l.loop.empty()) out += "     loop: " + listed(l.loop, " -> ") + "\n";
    if (!l.remedies.empty()) out += "     remedies (tried on the rows): " + listed(l.remedies, " | ") + "\n";
  }
  out += structures.others("locked");
  if (start && !told_by_rows(*this)) {
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
                       listed(singular->coordinates), joined(pose_remedies(), " | "));
  for (const std::string& w : warnings) out += "  " + painted("warning", Colour::yellow, form) + ": " + w + "\n";
  return out + remark;
}

}  // namespace mortise
