#include <mortise/assembly/assembly.h>
#include <mortise/diagnosis/report_stages.h>

namespace mortise {
namespace {

void visit(const Assembly& assembly, const std::string& path, int depth, const State& whole, const RankOptions& options,
           std::vector<Stage>& out) {
  for (const auto& nested : assembly.nested())
    visit(nested.part, path.empty() ? nested.name : path + "/" + nested.name, depth + 1, whole, options, out);
  const System system(assembly);
  State s = system.state();
  s.t = whole.t;
  const std::string prefix = path.empty() ? "" : path + "/";
  for (const auto& b : system.bodies()) {
    if (b.size == 0) continue;
    const auto range = whole.names->find(prefix + b.name);
    s.q.segment(b.first, b.size) = whole.q.segment(range.first, range.size);
    s.v.segment(b.first, b.size) = whole.v.segment(range.first, range.size);
  }
  out.push_back({path, depth, check_model(system, s, options)});
}

}  // namespace

StageReport check_stages(const Assembly& assembly, const State& s, const RankOptions& options) {
  StageReport out;
  visit(assembly, "", 0, s, options, out.stages);
  return out;
}

StageReport check_stages(const Assembly& assembly, const RankOptions& options) {
  return check_stages(assembly, System(assembly).state(), options);
}

std::string StageReport::text(const TextOptions& form) const {
  std::string out;
  for (const Stage& s : stages) {
    if (s.path.empty()) continue;
    const char* held = !s.report.ok() && ok() ? "   (held once it is connected)" : "";
    out += fmt::format("{:{}}'{}' by itself: {}{}\n", "", 2 * (s.depth - 1), s.path, s.report.verdict(), held);
  }
  return out + whole().text(form);
}

Json StageReport::json() const {
  Json list = Json::array();
  for (const Stage& s : stages) list.push(Json{{"path", s.path}, {"depth", s.depth}, {"report", s.report.json()}});
  return Json{{"schema", "mortise.stages/1"}, {"ok", ok()}, {"stages", list}};
}

}  // namespace mortise
