// The report as JSON.

#include <mortise/diagnosis/rank_report.h>

#include <cmath>
#include <cstdlib>

#include <mortise/core/json.h>

namespace mortise {
namespace {

// Six digits, so that the last bits of a machine do not show; round-off is 0.
double rounded(double x) {
  if (!std::isfinite(x)) return x;
  return std::abs(x) < 2e-16 ? 0 : std::strtod(fmt::format("{:.6g}", x).c_str(), nullptr);
}
std::optional<double> rounded(const std::optional<double>& x) { return x ? std::optional(rounded(*x)) : x; }

}  // namespace

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
  out.add("judged", judged);
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
                        {"unit", f.unit},
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
                        {"pair", Json::array({r.pair.first, r.pair.second})},
                        {"flat", r.flat != RedundantRow::Flat::no}};
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
