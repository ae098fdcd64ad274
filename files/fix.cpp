// find_fixes: what an engineer would try, in that order, tried on copies of the file.

#include <mortise/files/fix.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <set>
#include <sstream>

#include <mortise/assembly/system_graph.h>
#include <mortise/core/view.h>
#include <mortise/core/words.h>
#include <mortise/files/edit.h>
#include <mortise/files/field_values.h>
#include <mortise/files/kinds.h>
#include <mortise/integrators/start.h>
#include <mortise/solve/solve.h>

namespace mortise {
namespace files {
namespace {

constexpr Index largest_model = 600;  // coordinates: each proposal is checked
constexpr std::size_t most_proposals = 40;
constexpr int most_together = 24;  // changes of one fix

// Numbers that somebody may have typed: without round-off.
double tidy(double x, double size) {
  if (std::abs(x) <= 1e-12 * size) return 0;
  const double unit = std::pow(10.0, 11 - std::floor(std::log10(std::abs(x))));
  const double rounded = std::round(x * unit) / unit;
  return std::isfinite(rounded) ? rounded : x;
}
template <class V> std::string tidy_text(const V& x) {
  V y = x;
  const double size = x.cwiseAbs().maxCoeff();
  for (Index i = 0; i < x.size(); ++i) y[i] = tidy(x[i], size);
  return numbers_text(y.data(), y.size());
}
double one_digit(double x) {
  const double unit = std::pow(10.0, std::floor(std::log10(x)));
  return tidy(std::round(x / unit) * unit, x);
}

// A value as a file has it.
std::string value_as_text(const Value& v) {
  if (v.is(Value::Kind::list)) return list_text(v.list, value_as_text);
  return v.is(Value::Kind::text) ? quoted(v.text) : number_text(v.number);
}

// "left/hinge" among the joints: {"subsystems", "left", "joints", "hinge"}.
Edit::Path path_of(const char* section, const std::string& name) {
  Edit::Path out;
  std::size_t begin = 0;
  for (std::size_t slash; (slash = name.find('/', begin)) != std::string::npos; begin = slash + 1) {
    out.emplace_back("subsystems");
    out.push_back(name.substr(begin, slash - begin));
  }
  out.emplace_back(section);
  out.push_back(name.substr(begin));
  return out;
}

const Value* at(const Value& root, const Edit::Path& path) {
  const Value* v = &root;
  for (const std::string& key : path)
    if (v) v = v->find(key);
  return v;
}

struct Proposal {
  std::string words;
  std::function<bool(Edit&)> apply;  // false where the text has no place for it
  bool same_dof = false;             // it must leave the mobility as it is
  int either = 0;                    // of those with the same number, if it is not 0, the first that helps is enough
  // How much it matters how much: the same with half of it, and the body that has it.
  std::function<bool(Edit&)> half = {};
  std::string body = "";
  bool least = false;             // among those beside it, the one that frees least comes first
  bool start_may_be_off = false;  // and near: no fault of another kind
};

// Joints that hold more than another; the last ones hold all.
struct Stronger {
  const char *from, *to;
};
constexpr Stronger stronger[] = {{"spherical", "universal"},
                                 {"pin", "planar_weld"},
                                 {"revolute", "weld"},
                                 {"cylindrical", "revolute"},
                                 {"cylindrical", "prismatic"},
                                 {"prismatic", "weld"},
                                 {"slider", "planar_weld"},
                                 {"planar_point_on_line", "slider"},
                                 {"planar_point_on_line", "pin"},
                                 {"point_on_line", "cylindrical"},
                                 {"point_on_line", "spherical"},
                                 {"universal", "weld"},
                                 {"spherical", "weld"}};

// Joints that hold a little less than another; a new line where one is needed.
struct Weaker {
  const char *from, *to;
  std::optional<Vec3<double>> along = {};
};
const Weaker weaker[] = {{"revolute", "cylindrical"},
                         {"revolute", "spherical"},
                         {"prismatic", "cylindrical"},
                         {"cylindrical", "point_on_line"},
                         {"universal", "spherical"},
                         {"slider", "planar_point_on_line"},
                         {"pin", "planar_point_on_line", Vec3<double>(1, 0, 0)},
                         {"pin", "planar_point_on_line", Vec3<double>(0, 1, 0)}};

class Proposals {
 public:
  Proposals(const Model& model, const RankReport& report) : system_(model.assembly), s_(model.start(system_)) {
    try {
      plain_ = parse_toml(write_model(model), "model.toml");
    } catch (const Error&) {  // formulas that have no text of their own
    }
    const bool flat_here = std::any_of(report.redundant.begin(), report.redundant.end(), [](const RedundantRow& r) {
      return r.flat == RedundantRow::Flat::here && !r.consistent && !r.removes.starts_with("rotation");
    });
    if (flat_here) elsewhere(report);
    for (const BrokenPart& b : report.broken)
      if (b.kind == "force" || b.kind == "joint") remove_part(b.kind, b.name);
    for (const Mend& m : report.mends) mend(m);
    for (const RedundantRow& r : report.redundant) redundant(r);
    for (const TurnedJoint& t : report.turned) fit(t.joint);
    if (report.start) start(*report.start);
    for (const Locked& l : report.locked) locked(l);
    if (std::any_of(report.implied.begin(), report.implied.end(), [](const Implied& i) { return i.completable; }))
      add({"add what the forces imply: [run] complete = true", [](Edit& e) {
             e.put({"run"}, "complete", "true");
             return true;
           }});
    if (report.singular || report.only_here()) elsewhere(report);
    for (const FreeDirection& f : report.free) free(f, report.only_here());
  }
  // Of a file that is no model: without the parts that are none.
  explicit Proposals(const std::vector<ModelFault>& faults) {
    for (const ModelFault& f : faults)
      if (f.kind == "force" || f.kind == "joint" || f.kind == "sensor") remove_part(f.kind, f.name);
  }

  std::vector<Proposal> list;

 private:
  void add(Proposal p) {
    if (list.size() >= most_proposals) return;
    for (const Proposal& other : list)
      if (other.words == p.words && other.either == 0) return;
    list.push_back(std::move(p));
  }

  std::optional<std::size_t> joint(const std::string& name) const {
    for (std::size_t i = 0; i < system_.constraints().size(); ++i)
      if (system_.constraints()[i].name == name && !system_.constraints()[i].own) return i;
    return {};
  }
  static const Kind* kind(const std::string& name) {
    for (const Kind& k : kinds().joints)
      if (k.name == name) return &k;
    return nullptr;
  }
  static bool has_field(const Kind& k, const std::string& name) {
    return std::any_of(k.fields.begin(), k.fields.end(), [&](const FieldInfo& f) { return f.name == name; });
  }

  // ---- where things are
  template <int D> Vec<double, D> world_point(std::size_t body, const Vec<double, D>& r) const {
    const detail::Access<double> access{system_.bodies()[body].model.get(), s_.q.data() + system_.bodies()[body].first,
                                        nullptr, nullptr};
    return BodyView<D, double>(access).point(r);
  }
  template <int D> Vec<double, D> world_direction(std::size_t body, const Vec<double, D>& d) const {
    const detail::Access<double> access{system_.bodies()[body].model.get(), s_.q.data() + system_.bodies()[body].first,
                                        nullptr, nullptr};
    return BodyView<D, double>(access).direction(d);
  }
  template <int D> Vec<double, D> local_direction(std::size_t body, const Vec<double, D>& d) const {
    const detail::Access<double> access{system_.bodies()[body].model.get(), s_.q.data() + system_.bodies()[body].first,
                                        nullptr, nullptr};
    return BodyView<D, double>(access).local_direction(d);
  }
  // at_world is meant at the places of the bodies: where they start elsewhere it says something else.
  bool stand_at_places(const std::vector<std::size_t>& bodies) const {
    const VectorXd q = system_.state().q;
    return std::all_of(bodies.begin(), bodies.end(), [&](std::size_t b) {
      const auto& body = system_.bodies()[b];
      return q.segment(body.first, body.size) == s_.q.segment(body.first, body.size);
    });
  }
  template <int D> std::optional<Vec<double, D>> field(std::size_t joint, const char* name) const {
    const Value* table = at(plain_, path_of("joints", system_.constraints()[joint].name));
    const Value* v = table ? table->find(name) : nullptr;
    if (v && v->is(Value::Kind::table)) v = v->find("along");
    if (!v || !v->is(Value::Kind::list) || v->list.size() != D) return {};
    Vec<double, D> out;
    for (int i = 0; i < D; ++i) {
      if (!v->list[static_cast<std::size_t>(i)].is_number()) return {};
      out[i] = v->list[static_cast<std::size_t>(i)].number;
    }
    return out;
  }

  // ---- changes
  static bool cut(Edit& e, const std::string& kind, const std::string& name) {
    return e.remove(path_of((kind + "s").c_str(), name), fmt::format("{} '{}' was removed", kind, name));
  }
  void remove_part(const std::string& kind, const std::string& name, bool same_dof = false, bool least = false) {
    Proposal p{fmt::format("remove {} '{}'", kind, name), [kind, name](Edit& e) { return cut(e, kind, name); }};
    p.same_dof = same_dof;
    p.least = least;
    add(std::move(p));
  }
  void remove_joint(const std::string& name, bool same_dof = false) { remove_part("joint", name, same_dof); }

  // Makes the joint one of another kind at the same place; along the axis in the world where one is needed.
  bool retype(Edit& e, std::size_t joint, const std::string& to, const std::optional<Vec3<double>>& axis,
              const std::optional<Vec3<double>>& tilt = {}) const {
    const auto& c = system_.constraints()[joint];
    const Kind* k = kind(to);
    const Edit::Path path = path_of("joints", c.name);
    const Value* plain = at(plain_, path);
    if (!k || !plain || c.bodies.size() != 2 || !e.set(path, "kind", quoted(to))) return false;
    const auto world = e.get(path, "at_world");
    e.drop(path, "axis_a");
    e.drop(path, "axis_b");
    if (!k->friction) e.drop(path, "friction");
    if (world && k->at_world > 0 && stand_at_places(c.bodies)) {
      const Value v = parse_toml("x = " + *world, "x");
      const Value* point = v.find("x")->find("point");
      if (!point) return false;
      std::string text = "{point = " + value_as_text(*point);
      if (k->at_world == 2) {
        const auto old = c.model->axis(s_, system_.firsts(c.bodies));
        if (const Value* given = v.find("x")->find("axis"); given && !axis)
          text += ", axis = " + value_as_text(*given);
        else if (k->dimension == 2)
          text += ", axis = " + tidy_text(Vec2<double>(axis ? axis->head<2>() : Vec2<double>(1, 0)));
        else
          text += ", axis = " + tidy_text(axis ? *axis : old ? *old : Vec3<double>(0, 0, 1));
      }
      return e.set(path, "at_world", text + "}");
    }
    if (world) {  // as fields of the two bodies
      e.drop(path, "at_world");
      for (const char* name : {"on_a", "on_b"})
        if (const Value* v = plain->find(name); v && !e.set(path, name, value_as_text(*v))) return false;
    }
    const auto local = [&](const char* name, std::size_t body, const Vec3<double>& along) {
      if (!has_field(*k, name)) return true;
      if (k->dimension == 2) return e.set(path, name, tidy_text(local_direction<2>(c.bodies[body], along.head<2>())));
      return e.set(path, name, tidy_text(local_direction<3>(c.bodies[body], along)));
    };
    if (to == "universal") {  // arms across the axis about which it shall not turn
      const auto old = c.model->axis(s_, system_.firsts(c.bodies));
      if (tilt && old) {  // its old axis, and across
        const Vec3<double> across = *tilt - tilt->dot(*old) / old->squaredNorm() * *old;
        return across.norm() > 0.1 && local("axis_a", 0, *old) && local("axis_b", 1, across.normalized());
      }
      const Vec3<double> n = axis ? axis->normalized() : Vec3<double>(0, 0, 1);
      const Vec3<double> arm = n.unitOrthogonal();
      return local("axis_a", 0, arm) && local("axis_b", 1, n.cross(arm));
    }
    Vec3<double> along = k->dimension == 2 ? Vec3<double>(1, 0, 0) : Vec3<double>(0, 0, 1);
    if (axis)
      along = *axis;
    else if (const auto old = c.model->axis(s_, system_.firsts(c.bodies)))
      along = *old;
    return local("axis_a", 0, along) && local("axis_b", 1, along);
  }
  static std::string retyped(const std::string& joint, const std::string& from, const std::string& to,
                             const std::optional<Vec3<double>>& axis) {
    return fmt::format("make joint '{}' a {}{} instead of a {}", joint, to,
                       axis ? " along " + direction_in_words(*axis) : "", from);
  }

  // "translation along (1, 0.5, 0)": the direction, of as many digits as a line needs.
  static std::optional<Vec3<double>> direction_of(const Mend::Step& step) {
    if (step.frees.empty()) return {};
    const std::string& words = step.frees.front();
    Vec3<double> d(0, 0, 0);
    if (const auto open = words.find('('); open != std::string::npos) {
      std::stringstream numbers(words.substr(open + 1));
      char comma;
      for (int i = 0; i < 3 && numbers >> d[i]; ++i) numbers >> comma;
    } else if (const auto at = std::string_view("xyz").find(words.back()); at != std::string_view::npos) {
      d[static_cast<Index>(at)] = 1;
    }
    return d.norm() > 0 ? std::optional(Vec3<double>(d.normalized())) : std::nullopt;
  }

  void mend(const Mend& m) {
    if (m.steps.size() == 1 && m.steps.front().to.empty()) return remove_joint(m.steps.front().joint, true);
    // Lines and axes that the joint had none of: one of these will do.
    static const std::vector<std::optional<Vec3<double>>> lines{std::nullopt, Vec3<double>(1, 0, 0),
                                                                Vec3<double>(0, 1, 0), Vec3<double>(0, 0, 1)};
    const auto needs_axis = [](const Mend::Step& step) {
      return !step.to.empty() && (step.from == "spherical" || step.from == "pin" || step.from == "weld");
    };
    ++either_;
    for (const std::optional<Vec3<double>>& axis : lines) {
      std::vector<std::string> words;
      const auto along = [axis, needs_axis](const Mend::Step& step) {
        return needs_axis(step) ? axis ? axis : direction_of(step) : std::nullopt;
      };
      for (const Mend::Step& step : m.steps)
        words.push_back(step.to.empty() ? fmt::format("remove joint '{}'", step.joint)
                                        : retyped(step.joint, step.from, step.to,
                                                  step.to == "universal" ? direction_of(step) : along(step)));
      add({joined(words, " and "),
           [this, m, along](Edit& e) {
             return std::all_of(m.steps.begin(), m.steps.end(), [&](const Mend::Step& step) {
               const auto i = joint(step.joint);
               return i && (step.to.empty() ? cut(e, "joint", step.joint)
                                            : retype(e, *i, step.to, along(step), direction_of(step)));
             });
           },
           true, either_});
    }
  }

  void redundant(const RedundantRow& r) {
    if (r.consistent && r.flat == RedundantRow::Flat::no) return;  // by mends
    for (auto j = r.joints.rbegin(); j != r.joints.rend(); ++j) fit(*j);
    for (auto j = r.joints.rbegin(); j != r.joints.rend(); ++j) remove_joint(*j);
    if (r.joints.empty()) remove_joint(r.row.substr(0, r.row.rfind('.')));
  }

  // The joint fits the places where its bodies stand.
  void fit(const std::string& name) {
    const auto i = joint(name);
    if (!i || system_.constraints()[*i].bodies.size() != 2) return;
    const auto& c = system_.constraints()[*i];
    const Kind* k = kind(c.model->kind());
    if (!k || k->at_world == 0 || !stand_at_places(c.bodies)) return;
    std::string world;
    const auto write = [&]<int D>(std::integral_constant<int, D>) {
      const auto on_a = field<D>(*i, "on_a"), axis_a = field<D>(*i, "axis_a");
      Vec<double, D> along = Vec<double, D>::Unit(D == 2 ? 0 : 2);
      if (axis_a) along = *axis_a;
      world = "{point = " + tidy_text(world_point<D>(c.bodies[0], on_a.value_or(Vec<double, D>::Zero())));
      if (k->at_world == 2) world += ", axis = " + tidy_text(world_direction<D>(c.bodies[0], along));
      world += "}";
    };
    if (k->dimension == 2) write(std::integral_constant<int, 2>{});
    if (k->dimension == 3) write(std::integral_constant<int, 3>{});
    if (world.empty()) return;
    add({fmt::format("fit joint '{}' to where its bodies stand: at_world = {}", name, world),
         [name, world](Edit& e) { return place_at(e, name, world); }});
  }

  void start(const Start& start) {
    if (start.reachable && !start.far) {
      try {
        start_at(consistent(system_, s_), "start where the constraints are met");
      } catch (const Error&) {  // there is none
      }
    }
    std::set<std::string> joints;
    for (const auto& g : start.left) joints.insert(g.row.substr(0, g.row.rfind('.')));
    for (const auto& g : start.gaps) joints.insert(g.row.substr(0, g.row.rfind('.')));
    if (!start.reachable || start.far) millimetres(joints);
    for (const std::string& name : joints) fit(name);
    if (!start.reachable || start.far)
      for (const std::string& name : joints)
        if (joint(name)) remove_joint(name);
  }

  // Lengths of joints that are many times those of the model: taken for millimetres, of each joint and of all together.
  void millimetres(const std::set<std::string>& joints) {
    constexpr double many = 30;
    double size = 0, smallest = std::numeric_limits<double>::infinity();
    for (const auto& b : system_.bodies()) {
      const auto units = b.model->units();
      for (Index i = 0; i < b.size; ++i)
        if (units[static_cast<std::size_t>(i)] == "m") size = std::max(size, std::abs(s_.q[b.first + i]));
    }
    struct Change {
      Edit::Path path;
      std::string key, value;
    };
    std::vector<std::pair<std::string, std::vector<Change>>> found;
    const auto each_length = [&](const std::string& name, const auto& f) {
      const Value* table = at(plain_, path_of("joints", name));
      if (!table || !table->find("kind")) return;
      const Kind* k = kind(table->find("kind")->text);
      if (!k) return;
      for (const FieldInfo& info : k->fields)
        if (const Value* v = table->find(info.name); v && info.unit == "m") f(std::string(info.name), *v);
    };
    const auto largest = [](const Value& v) {
      double out = v.is_number() ? std::abs(v.number) : 0;
      if (v.is(Value::Kind::text)) out = std::abs(std::strtod(v.text.c_str(), nullptr));  // "1170 + 100*t"
      for (const Value& x : v.list) out = std::max(out, x.is_number() ? std::abs(x.number) : 0);
      return out;
    };
    for (const auto& c : system_.constraints())
      if (!c.own)
        each_length(c.name, [&](const std::string&, const Value& v) {
          if (const double x = largest(v); x > 0) smallest = std::min(smallest, x);
        });
    if (!(size > 0)) size = smallest;
    for (const std::string& name : joints) {
      std::vector<Change> changes;
      each_length(name, [&](const std::string& key, const Value& v) {
        if (!(largest(v) > many * size)) return;
        Value small = v;
        small.number = tidy(v.number / 1000, v.number / 1000);
        for (Value& x : small.list) x.number = tidy(x.number / 1000, x.number / 1000);
        const std::string text = v.is(Value::Kind::text) ? quoted(fmt::format("({}) / 1000", v.text))
                                 : v.is_number()         ? number_text(small.number)
                                                         : value_as_text(small);
        changes.push_back({path_of("joints", name), key, text});
      });
      if (!changes.empty()) found.emplace_back(name, std::move(changes));
    }
    const auto propose = [&](const std::vector<std::pair<std::string, std::vector<Change>>>& some) {
      std::vector<std::string> words;
      for (const auto& [name, changes] : some) {
        std::vector<std::string> fields;
        for (const Change& x : changes) fields.push_back(fmt::format("{} = {}", x.key, x.value));
        words.push_back(fmt::format("take lengths of joint '{}' for millimetres: {}", name, joined(fields, ", ")));
      }
      Proposal p{joined(words, " and "), [some](Edit& e) {
                   return std::all_of(some.begin(), some.end(), [&](const auto& x) {
                     return std::all_of(x.second.begin(), x.second.end(), [&](const Change& c) {
                       return e.get(c.path, c.key) && e.set(c.path, c.key, c.value);
                     });
                   });
                 }};
      p.start_may_be_off = true;
      add(std::move(p));
    };
    if (found.size() > 1) propose(found);
    for (const auto& x : found) propose({x});
  }

  void locked(const Locked& l) {
    if (l.why.empty()) return;
    for (const auto& x : l.skew) {
      const auto odd = joint(x.joint), other = joint(x.other);
      if (!odd || !other) continue;
      const auto& c = system_.constraints()[*other];
      const auto axis = c.model->axis(s_, system_.firsts(c.bodies));
      const std::string to = system_.constraints()[*odd].model->kind();
      if (in_line(x, *odd, *other)) continue;
      if (axis)
        add({fmt::format("make the axis of joint '{}' parallel to that of '{}'", x.joint, x.other),
             [this, odd, to, axis](Edit& e) { return retype(e, *odd, to, axis); }});
    }
    for (auto name = l.joints.rbegin(); name != l.joints.rend(); ++name) remove_part("joint", *name, false, true);
    for (const std::string& name : l.joints)
      if (const auto i = joint(name))
        for (const Weaker& x : weaker) {
          if (system_.constraints()[*i].model->kind() != x.from) continue;
          add({retyped(name, x.from, x.to, x.along),
               [this, i, x](Edit& e) { return retype(e, *i, x.to, x.along); },
               false,
               0,
               {},
               "",
               true});
        }
  }

  // Hinges whose axes are parallel, but not in line: brings one of them there.
  bool in_line(const Locked::Skew& x, std::size_t odd, std::size_t other) {
    constexpr double parallel = 1e-5;  // [rad]
    const auto &a = system_.constraints()[odd], &b = system_.constraints()[other];
    const auto own = a.model->axis(s_, system_.firsts(a.bodies)), axis = b.model->axis(s_, system_.firsts(b.bodies));
    if (!own || !axis || own->normalized().cross(axis->normalized()).norm() > parallel) return false;
    if (!stand_at_places(a.bodies)) return true;
    const auto place = [&](std::size_t joint) {
      return world_point<3>(system_.constraints()[joint].bodies[0],
                            field<3>(joint, "on_a").value_or(Vec3<double>::Zero()));
    };
    const Vec3<double> along = axis->normalized(), from = place(other);
    const Vec3<double> point = from + (place(odd) - from).dot(along) * along;
    const std::string world = fmt::format("{{point = {}, axis = {}}}", tidy_text(point), tidy_text(along));
    add({fmt::format("bring joint '{}' in line with '{}': at_world = {}", x.joint, x.other, world),
         [name = x.joint, world](Edit& e) { return place_at(e, name, world); }});
    return true;
  }
  static bool place_at(Edit& e, const std::string& joint, const std::string& world) {
    const Edit::Path path = path_of("joints", joint);
    for (const char* key : {"on_a", "on_b", "axis_a", "axis_b"}) e.drop(path, key);
    return e.set(path, "at_world", world);
  }

  // A pose near this one: along what is free here, or somewhere.
  void elsewhere(const RankReport& report) {
    constexpr double step = 0.05;  // [rad], or of a length
    ++either_;
    for (const double reach : {step, 10 * step, 40 * step})
      for (const bool along : {true, false}) {
        if (along && report.free.empty()) continue;
        State s = s_;
        if (along) {
          const VectorXd d = report.free.front().direction;
          s.q += reach / d.cwiseAbs().maxCoeff() * d;
        } else {
          const double least = reach > step ? 1 : 0.1;
          for (Index i = 0; i < s.q.size(); ++i)
            s.q[i] += reach * std::max(least, std::abs(s.q[i])) * std::sin(1.0 + 2.0 * static_cast<double>(i));
        }
        try {
          start_at(consistent(system_, s), reach > step ? "start elsewhere" : "start a little away from this pose",
                   either_);
        } catch (const Error&) {  // there is none
        }
      }
  }
  void start_at(const State& on, const std::string& words, int either = 0) {
    std::vector<std::pair<std::string, double>> moved;
    const double size = std::max(1.0, s_.q.cwiseAbs().maxCoeff()), speed = std::max(1.0, s_.v.cwiseAbs().maxCoeff());
    for (Index i = 0; i < s_.q.size(); ++i) {
      if (std::abs(on.q[i] - s_.q[i]) > 1e-12 * size) moved.emplace_back(system_.coordinate(i), on.q[i]);
      if (std::abs(on.v[i] - s_.v[i]) > 1e-12 * speed) moved.emplace_back(system_.coordinate(i) + "'", on.v[i]);
    }
    add({fmt::format("{}: [start] with {}", words, counted(std::ssize(moved), "value")),
         [moved](Edit& e) {
           for (const auto& [name, x] : moved) e.put({"start"}, name, number_text(x));
           return true;
         },
         false, either});
  }

  void free(const FreeDirection& f, bool only_here) {
    Eigen::SparseVector<double>::InnerIterator first(f.direction);
    if (!first || f.parts.empty()) return;
    const std::string& name = f.parts.front().coordinate;
    const std::size_t body = system_.body_of(system_.names()->find(name).first);
    const auto& b = system_.bodies()[body];
    VectorXd dq = VectorXd::Zero(b.size);
    for (Eigen::SparseVector<double>::InnerIterator x(f.direction); x; ++x)
      if (x.index() >= b.first && x.index() < b.first + b.size) dq[x.index() - b.first] = x.value();
    std::optional<Vec3<double>> turn;
    if (b.model->turns(3)) {
      Vec3<double> w;
      b.model->angular_velocity(3, s_.q.data() + b.first, dq.data(), w.data());
      if (w.norm() > 1e-9 * dq.norm()) turn = w.normalized();
    }
    std::set<std::size_t> joints;
    for (const unsigned i : system_.graph().constraints_on(body))
      if (!system_.constraints()[i].own) joints.insert(i);
    if (!f.balanced) give_mass(body, joints);  // what is pushed shall move
    for (const Stronger& x : stronger)
      for (const std::size_t i : joints) {
        const auto& c = system_.constraints()[i];
        if (only_here || c.model->kind() != x.from) continue;
        const auto axis = std::string_view(x.to) == "universal" ? turn : std::nullopt;
        add({retyped(c.name, x.from, x.to, {}),
             [this, i, to = std::string(x.to), axis](Edit& e) { return retype(e, i, to, axis); }});
      }
    give_mass(body, joints);
    if (joints.size() <= 1) remove_body(body, joints);
    if (!only_here) hold(f);
  }

  // By the coordinate that moves most; not of turns in space, which have none of their own, nor what has a law.
  void hold(const FreeDirection& f) {
    const std::string& name = f.parts.front().coordinate;
    const Index i = system_.names()->find(name).first;
    const auto& b = system_.bodies()[system_.body_of(i)];
    if (b.model->frame() >= 0 || b.model->kind() == "states") return;
    const std::string coordinate = name.substr(b.name.size() + 1);
    const std::size_t own = b.name.rfind('/') + 1;  // 0 where it is in no subsystem
    std::string joint = fmt::format("{}hold_{}_{}", b.name.substr(0, own), b.name.substr(own), coordinate);
    std::replace(joint.begin(), joint.end(), '.', '_');
    if (this->joint(joint)) return;
    const std::string body = b.name.substr(own), at = number_text(s_.q[i]);
    add({fmt::format("hold {} at {} by a joint 'drive_coordinate'", name, at), [=](Edit& e) {
           const Edit::Path path = path_of("joints", joint);
           e.put(path, "kind", quoted("drive_coordinate"));
           return e.set(path, "bodies", "[" + quoted(body) + "]") && e.set(path, "coordinate", quoted(coordinate)) &&
                  e.set(path, "f", at);
         }});
  }

  void give_mass(std::size_t body, const std::set<std::size_t>& joints) {
    const std::string& name = system_.bodies()[body].name;
    const Edit::Path path = path_of("bodies", name);
    const Value* plain = at(plain_, path);
    if (!plain || !plain->find("kind")) return;
    const std::string kind = plain->find("kind")->text;
    const bool rigid = kind == "rigid_body", planar = kind == "planar_body";
    if (!rigid && !planar && kind != "particle") return;
    std::vector<double> masses;
    collect_masses(plain_, masses);
    std::sort(masses.begin(), masses.end());
    const double mass = masses.empty() ? 1 : one_digit(0.01 * masses[masses.size() / 2]);
    double arm = 0;
    for (const std::size_t i : joints)
      for (const char* key : {"on_a", "on_b"}) {
        if (const auto r = field<3>(i, key)) arm = std::max(arm, r->norm());
        if (const auto r = field<2>(i, key)) arm = std::max(arm, r->norm());
      }
    const double inertia = one_digit(mass * (arm > 0 ? arm * arm / 3 : 1));
    const auto positive = [&](const char* key) {
      const Value* v = plain->find(key);
      return v && v->is_number() && v->number > 0;
    };
    std::vector<std::pair<std::string, double>> fields;
    if (!positive("mass")) fields.emplace_back("mass", mass);
    if (rigid || (planar && !positive("inertia"))) fields.emplace_back("inertia", inertia);
    const auto value = [rigid](const std::string& key, double x) {
      return rigid && key == "inertia" ? fmt::format("[{0}, {0}, {0}]", number_text(x)) : number_text(x);
    };
    std::vector<std::string> words;
    for (const auto& [key, x] : fields) words.push_back(key + " = " + value(key, x));
    const auto with = [path, fields, value](Edit& e, double part) {
      return std::all_of(fields.begin(), fields.end(),
                         [&](const auto& f) { return e.set(path, f.first, value(f.first, part * f.second)); });
    };
    add({fmt::format("give body '{}' {}", name, joined(words, ", ")), [with](Edit& e) { return with(e, 1); }, false, 0,
         [with](Edit& e) { return with(e, 0.5); }, name});
  }
  static void collect_masses(const Value& table, std::vector<double>& out) {
    if (const Value* bodies = table.find("bodies"))
      for (const auto& e : bodies->table)
        if (const Value* m = e.value.find("mass"); m && m->is_number() && m->number > 0) out.push_back(m->number);
    if (const Value* inner = table.find("subsystems"))
      for (const auto& e : inner->table) collect_masses(e.value, out);
  }

  void remove_body(std::size_t body, const std::set<std::size_t>& joints) {
    const std::string& name = system_.bodies()[body].name;
    std::vector<Edit::Path> gone{path_of("bodies", name)};
    std::string with;
    for (const std::size_t i : joints) {
      gone.push_back(path_of("joints", system_.constraints()[i].name));
      with = fmt::format(" with joint '{}'", system_.constraints()[i].name);
    }
    for (const auto& x : system_.forces())
      if (std::count(x.bodies.begin(), x.bodies.end(), body)) gone.push_back(path_of("forces", x.name));
    for (const auto& x : system_.sensors())
      if (std::count(x.bodies.begin(), x.bodies.end(), body)) gone.push_back(path_of("sensors", x.name));
    add({fmt::format("remove body '{}'{}", name, with), [gone, name](Edit& e) {
           bool first = true;
           for (const Edit::Path& path : gone) {
             if (!e.remove(path, first ? fmt::format("body '{}' was removed", name) : "")) return false;
             first = false;
           }
           return true;
         }});
  }

  System system_ = System(Assembly("none"));
  State s_;
  int either_ = 0;
  Value plain_;  // of the model written anew: all numbers, no formulas
};

// What is wrong, the worst first.
struct Badness {
  std::size_t refused = 0, faults = 0, redundant = 0;
  std::set<Verdict> kinds;  // but for redundant rows
  auto amounts() const { return std::tuple(refused, faults, redundant); }
  bool none() const { return refused + faults + redundant == 0; }
};
Badness badness(const RankReport& report) {
  Badness out;
  for (const Finding& f : report.findings()) {
    out.refused += f.refused;
    const bool redundant = f.verdict == Verdict::over_constrained;
    ++(redundant ? out.redundant : out.faults);
    if (!redundant) out.kinds.insert(f.verdict);
  }
  return out;
}

// A start that is brought onto the constraints.
std::size_t starts_off(const RankReport& report) {
  return report.start && report.start->reachable && !report.start->far ? 1 : 0;
}

std::size_t locked_in_vain(const RankReport& report) {
  return static_cast<std::size_t>(
      std::count_if(report.locked.begin(), report.locked.end(), [](const Locked& l) { return !l.why.empty(); }));
}

using Judge = std::function<RankReport(const Model&)>;

// By how much the accelerations of the others change between two models: in words.
std::string effect(const Model& one, const Model& half, const std::string& body) {
  const auto accelerations = [&](const Model& m) {
    const System system(m.assembly);
    VectorXd a = solve(system, system.evaluate(consistent(system, m.start(system)))).a;
    for (const auto& b : system.bodies())
      if (b.name == body) a.segment(b.first, b.size).setZero();
    return a;
  };
  const VectorXd a = accelerations(one), b = accelerations(half);
  constexpr double standstill = 1e-6;  // [m/s^2 or rad/s^2]
  const double size = a.cwiseAbs().maxCoeff(), share = size > standstill ? (a - b).cwiseAbs().maxCoeff() / size : 0;
  return share < 1e-6  ? "; half of it moves the others alike"
         : share < 0.1 ? fmt::format("; half of it changes the others' accelerations by {:.2g} %", 100 * share)
                       : fmt::format("; half of it changes the others' accelerations by {:.0f} %", 100 * share);
}

// Single changes that make it better, and nothing worse; in the order of a user's choice.  All, or the first one found.
std::vector<Fix> single(const ModelText& file, const RankReport& report, const Judge& judge, bool first = false) {
  std::optional<Model> model;
  std::optional<Proposals> proposals;
  try {
    model = parse_model(file.text, file.name, file.folder, file.parameters);
    proposals.emplace(*model, report);
  } catch (const ModelError& error) {
    proposals.emplace(error.faults());
  }
  const Badness before = badness(report);
  // Refused and other faults, place in the list, what it frees, starts that are off.
  using Key = std::tuple<std::size_t, std::size_t, std::size_t, Index, std::size_t>;
  std::vector<std::pair<Key, Fix>> found;
  std::set<std::string> texts;
  std::set<int> done;
  std::size_t place = 0;
  for (const Proposal& p : proposals->list) {
    if (first && !found.empty()) break;
    if (!p.least) ++place;
    if (done.count(p.either)) continue;
    for (const bool rewritten : {false, true}) {
      if (rewritten && !model) continue;
      try {
        Fix fix{p.words, "", rewritten, {}};
        const std::string& base = rewritten ? write_model(*model) : file.text;
        const auto parameters = rewritten ? std::map<std::string, double>{} : file.parameters;
        Edit edit(base);
        if (!p.apply(edit)) continue;
        fix.text = edit.text();
        const Model changed = parse_model(fix.text, file.name, file.folder, parameters);
        fix.report = judge(changed);
        const Badness after = badness(fix.report);
        std::set<Verdict> kinds = after.kinds;
        if (p.start_may_be_off && starts_off(fix.report) > 0) kinds.erase(Verdict::inconsistent_start);
        const bool same_kinds = std::includes(before.kinds.begin(), before.kinds.end(), kinds.begin(), kinds.end());
        // What was locked must move then: to take away what tells that it should is no mend.
        const bool moves =
            locked_in_vain(fix.report) >= locked_in_vain(report) || fix.report.locked.size() < report.locked.size();
        if (after.amounts() < before.amounts() && same_kinds && moves &&
            (!p.same_dof || fix.report.dof == report.dof) && texts.insert(fix.text).second) {
          if (Edit less(base); p.half && after.refused == 0 && p.half(less))
            fix.words += effect(changed, parse_model(less.text(), file.name, file.folder, parameters), p.body);
          if (p.either) done.insert(p.either);
          const std::size_t off = starts_off(fix.report);
          found.emplace_back(Key{after.refused, after.faults - off, place, p.least ? fix.report.dof : 0, off},
                             std::move(fix));
        }
        break;
      } catch (const Error&) {  // no model, or one that cannot be judged; perhaps only for how the file is written
      }
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Fix> out;
  for (auto& [_, fix] : found) out.push_back(std::move(fix));
  return out;
}

}  // namespace
}  // namespace files

std::vector<Fix> find_fixes(const ModelText& file, const RankReport& report,
                            const std::function<RankReport(const Model&)>& judge) {
  using namespace files;
  if (report.findings().empty() || report.rank.n > largest_model) return {};
  std::vector<Fix> out = single(file, report, judge);
  if (out.empty() || std::any_of(out.begin(), out.end(), [](const Fix& f) { return badness(f.report).none(); }))
    return out;
  // One after the other.
  Fix together = out.front();
  for (int k = 1; k < most_together && !badness(together.report).none(); ++k) {
    ModelText now = file;
    now.text = together.text;
    if (together.rewritten) now.parameters.clear();
    std::vector<Fix> more = single(now, together.report, judge, true);
    if (more.empty()) break;
    more.front().words = together.words + " and " + more.front().words;
    more.front().rewritten = together.rewritten || more.front().rewritten;
    together = std::move(more.front());
  }
  if (badness(together.report).amounts() < badness(out.front().report).amounts())
    out.insert(out.begin(), std::move(together));
  return out;
}

}  // namespace mortise
