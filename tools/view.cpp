#include "view.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <set>

#include "markup.h"
#include "page.h"
#include "plot.h"
#include "scene.h"

namespace mortise {
namespace {

using Motion = SceneBody::Motion;
using V = Vec3<double>;

// JSON, put together from parts that are JSON already.
std::string array(const std::vector<std::string>& items) { return fmt::format("[{}]", fmt::join(items, ",")); }
template <class T, class F> std::string array(const std::vector<T>& items, const F& f) {
  std::vector<std::string> out;
  for (const T& item : items) out.push_back(f(item));
  return array(out);
}
std::string object(const std::vector<std::pair<const char*, std::string>>& fields) {
  std::string out;
  for (const auto& [name, value] : fields) out += fmt::format("{}\"{}\":{}", out.empty() ? "" : ",", name, value);
  return fmt::format("{{{}}}", out);
}
std::string json(const V& v) { return fmt::format("[{},{},{}]", v[0], v[1], v[2]); }
std::string json(const Mat<double, 3>& axes) {
  const Eigen::Quaterniond u(axes);
  return fmt::format("[{},{},{},{}]", u.x(), u.y(), u.z(), u.w());
}
std::string json(bool x) { return x ? "true" : "false"; }
std::string json(const std::vector<std::string>& names) { return array(names, json_string); }

// Numbers as the bytes of doubles, the lowest first.
std::string packed(const std::vector<double>& x) {
  static_assert(std::endian::native == std::endian::little, "the page reads little-endian numbers");
  return fmt::format("\"{}\"", base64(x.data(), x.size() * sizeof(double)));
}

// path/to/body of path/to/body.coordinate
std::string owner(const std::string& name) {
  const auto slash = name.rfind('/');
  return name.substr(0, name.find('.', slash == name.npos ? 0 : slash));
}

const char* word(Motion m) {
  switch (m) {
    case Motion::fixed:
      return "\"fixed\"";
    case Motion::point:
      return "\"point\"";
    case Motion::planar:
      return "\"planar\"";
    case Motion::rigid:
      return "\"rigid\"";
    case Motion::elastic:
      return "\"elastic\"";
    default:
      return "\"unknown\"";
  }
}

std::string json(const Piece& p) {
  return object({{"type", json_string(p.type)},
                 {"size", json(p.size)},
                 {"at", json(p.at)},
                 {"turn", json(p.axes)},
                 {"corners", array(p.corners, [](const V& v) { return json(v); })},
                 {"mesh", fmt::format("{}", p.mesh)},
                 {"outline", json(p.outline)},
                 {"colour", json_string(p.colour)}});
}

std::vector<Piece> pieces_of(const Label& label, const ViewShape& s, double thickness) {
  const std::set<std::string> known{"box", "sphere", "cylinder", "rod", "line", "mesh", "none"};
  label.require(known.count(s.type) > 0, fmt::format("there is no shape '{}'", s.type),
                "give box, sphere, cylinder, rod, line, mesh or none");
  const bool finite = s.size.allFinite() && s.at.allFinite() && s.axis.allFinite() && s.rotation.allFinite() &&
                      std::all_of(s.points.begin(), s.points.end(), [](const V& p) { return p.allFinite(); });
  const Index sizes = s.type == "box" ? 3 : s.type == "cylinder" || s.type == "rod" ? 2 : 1;
  label.require(finite && (s.type == "mesh" || (s.size.head(sizes).array() > 0).all()),
                "a size of its shape is not positive, or a number of it is not finite",
                "give finite numbers, sizes > 0");
  label.require(s.axis.norm() > 0, "the axis of its shape has length 0", "give a direction");
  label.require(s.type != "line" || s.points.size() >= 2, fmt::format("its line has {} points", s.points.size()),
                "give at least 2");
  label.require(s.type != "mesh" || (s.mesh && !s.mesh->triangles.empty()), "its mesh has no triangles",
                "give points and triangles");
  std::vector<Piece> out;
  if (s.type == "line")
    for (std::size_t i = 0; i + 1 < s.points.size(); ++i)
      out.push_back(rod_between(s.points[i], s.points[i + 1], thickness));
  else if (s.type != "none")
    out.push_back({s.type, s.size, s.at,
                   s.rotation.norm() > 0
                       ? Eigen::AngleAxisd(s.rotation.norm(), s.rotation.normalized()).toRotationMatrix()
                   : s.axis == V::UnitZ() ? Mat<double, 3>::Identity()
                                          : frame_along(s.axis)});
  for (Piece& p : out) p.colour = s.colour;
  return out;
}

// Links between the nodes of an elastic body: where K couples them; for a reduced one the shortest tree.
std::vector<std::pair<Index, Index>> edges_of(const Structure& s) {
  const auto n = static_cast<Index>(s.nodes.size());
  std::vector<Index> node(s.coordinates.size(), -1);
  bool direct = s.K.rows() == static_cast<Index>(s.coordinates.size());
  for (Index row = 0; row < s.shape.rows(); ++row)
    for (decltype(s.shape)::InnerIterator it(s.shape, row); it; ++it) {
      Index& at = node[static_cast<std::size_t>(it.col())];
      if (at >= 0 && at != row / 3) direct = false;
      at = row / 3;
    }
  std::set<std::pair<Index, Index>> edges;
  if (direct) {
    for (Index j = 0; j < s.K.outerSize(); ++j)
      for (AnyMatrix::InnerIterator it(s.K, j); it; ++it) {
        const Index a = node[static_cast<std::size_t>(it.row())], b = node[static_cast<std::size_t>(it.col())];
        if (a >= 0 && b > a && it.value() != 0) edges.insert({a, b});
      }
  } else {
    std::vector<Index> tree{0};
    while (n > 0 && static_cast<Index>(tree.size()) < n) {
      std::pair<Index, Index> best{-1, -1};
      double nearest = 0;
      for (const Index a : tree)
        for (Index b = 0; b < n; ++b) {
          if (std::find(tree.begin(), tree.end(), b) != tree.end()) continue;
          const double d =
              (s.nodes[static_cast<std::size_t>(a)].position - s.nodes[static_cast<std::size_t>(b)].position).norm();
          if (best.first < 0 || d < nearest) best = {a, b}, nearest = d;
        }
      edges.insert(best);
      tree.push_back(best.second);
    }
  }
  return {edges.begin(), edges.end()};
}

// The data of a page.
class PageData {
 public:
  PageData(const System& system, const RunTable& run, const ViewOptions& options)
      : system_(system), run_(run), options_(options), scene_(scene_of(system, run)) {}

  std::string text() {
    apply_shapes();
    std::vector<std::string> bodies, joints, forces, sensors;
    for (std::size_t i = 0; i < scene_.bodies.size(); ++i) bodies.push_back(body(i));
    for (const auto& c : system_.constraints())
      if (!c.own) joints.push_back(part(c));
    for (const auto& f : system_.forces()) forces.push_back(part(f));
    for (const auto& s : system_.sensors()) sensors.push_back(part(s));
    std::vector<std::string> highlights;
    for (const Highlight& h : options_.highlights) highlights.push_back(highlight(h));
    std::vector<Index> plotted = options_.plots.empty() ? std::vector<Index>{} : chosen_columns(run_, options_.plots);
    const std::vector<Index> kept = kept_columns(plotted);
    std::vector<Index> place(run_.columns.size(), -1);
    for (std::size_t i = 0; i < kept.size(); ++i) place[static_cast<std::size_t>(kept[i])] = static_cast<Index>(i);
    std::erase_if(plotted, [&](Index c) { return place[static_cast<std::size_t>(c)] < 0; });
    const auto at = [&](Index c) { return fmt::format("{}", place[static_cast<std::size_t>(c)]); };
    for (std::size_t i = 0; i < bodies.size(); ++i)
      bodies[i].insert(1, fmt::format("\"columns\":{},", array(scene_.bodies[i].columns, at)));
    return object({{"title", json_string(title())},
                   {"source", json_string(run_.source)},
                   {"planar", json(scene_.planar)},
                   {"gravity", json(system_.gravity())},
                   {"size", fmt::format("{}", scene_.size)},
                   {"thickness", fmt::format("{}", scene_.thickness)},
                   {"least", json(scene_.least)},
                   {"most", json(scene_.most)},
                   {"samples", fmt::format("{}", run_.samples())},
                   {"columns", array(kept, [&](Index c) { return column(c); })},
                   {"left_out", fmt::format("{}", run_.columns.size() - kept.size())},
                   {"tracks", array(tracks_)},
                   {"meshes", array(meshes_)},
                   {"sliders", array(options_.sliders, [&](const ViewSlider& s) { return slider(s); })},
                   {"bodies", array(bodies)},
                   {"joints", array(joints)},
                   {"forces", array(forces)},
                   {"sensors", array(sensors)},
                   {"verdict", json_string(options_.verdict)},
                   {"report", json_string(options_.report)},
                   {"highlights", array(highlights)},
                   {"plots", array(plotted, at)},
                   {"identity", identity()}});
  }
  std::string title() const { return options_.title.empty() ? system_.name() : options_.title; }

 private:
  SceneBody& find_body(const std::string& name, const char* what) {
    std::vector<std::string> known;
    for (SceneBody& b : scene_.bodies) {
      if (b.name == name) return b;
      known.push_back(b.name);
    }
    Label{"body", name}.fail<InvalidModel>(fmt::format("a {} is given for it, but there is none of this name", what),
                                           fmt::format("did you mean '{}'?", nearest_name(name, known)));
  }

  std::string identity() const {
    std::vector<std::string> out;
    for (const auto& [name, print] : options_.identity)
      out.push_back(fmt::format("{}:{}", json_string(name), json_string(print)));
    return fmt::format("{{{}}}", fmt::join(out, ","));
  }

  void apply_shapes() {
    std::map<const ViewMesh*, std::size_t> known;
    for (const auto& [name, shapes] : options_.shapes) {
      SceneBody& b = find_body(name, "shape");
      b.pieces.clear();
      for (const ViewShape& shape : shapes)
        for (Piece& p : pieces_of({"body", name}, shape, scene_.thickness)) {
          if (shape.mesh) {
            const auto [it, fresh] = known.try_emplace(shape.mesh.get(), known.size() + 1);
            if (fresh) meshes_.push_back(surface(*shape.mesh));
            p.mesh = it->second;
          }
          p.outline = b.mass == 0 && b.motion != Motion::fixed && p.type != "mesh";
          b.pieces.push_back(std::move(p));
        }
    }
  }

  std::string slider(const ViewSlider& s) {
    std::vector<std::string> bodies;
    for (const std::string& name : s.bodies)
      bodies.push_back(fmt::format("{}", &find_body(name, "slider") - scene_.bodies.data()));
    std::vector<float> poses;
    for (const auto& p : s.poses) poses.insert(poses.end(), p.begin(), p.end());
    return object({{"joint", json_string(s.joint)},
                   {"unit", json_string(s.unit)},
                   {"start", fmt::format("{}", s.start)},
                   {"positions", fmt::format("[{}]", fmt::join(s.positions, ","))},
                   {"bodies", array(bodies)},
                   {"poses", fmt::format("\"{}\"", base64(poses.data(), poses.size() * sizeof(float)))}});
  }

  // Points as 65536th parts of the box around them.
  static std::string surface(const ViewMesh& mesh) {
    V least = mesh.points.front(), most = least;
    for (const V& x : mesh.points) least = least.cwiseMin(x), most = most.cwiseMax(x);
    constexpr double parts = 65535;
    const V step = ((most - least) / parts).cwiseMax(1e-300);
    std::vector<std::uint16_t> points, small;
    for (const V& x : mesh.points)
      for (int k = 0; k < 3; ++k)
        points.push_back(static_cast<std::uint16_t>(std::lround((x[k] - least[k]) / step[k])));
    std::vector<std::uint32_t> corners;
    for (const auto& t : mesh.triangles) corners.insert(corners.end(), t.begin(), t.end());
    const bool wide = mesh.points.size() > static_cast<std::size_t>(parts);
    if (!wide)
      for (const std::uint32_t c : corners) small.push_back(static_cast<std::uint16_t>(c));
    return object({{"least", json(least)},
                   {"step", json(step)},
                   {"wide", json(wide)},
                   {"points", fmt::format("\"{}\"", base64(points.data(), points.size() * sizeof points[0]))},
                   {"corners", fmt::format("\"{}\"", wide ? base64(corners.data(), corners.size() * sizeof corners[0])
                                                          : base64(small.data(), small.size() * sizeof small[0]))}});
  }

  std::size_t track(const SceneBody& b, const V& r) {
    std::vector<double> xyz;
    for (Index k = 0; k < run_.samples(); ++k) {
      const V p = point_at(b, run_, k, r).value_or(r);
      xyz.insert(xyz.end(), {p[0], p[1], p[2]});
    }
    tracks_.push_back(packed(xyz));
    return tracks_.size() - 1;
  }

  std::string body(std::size_t i) {
    const SceneBody& b = scene_.bodies[i];
    std::vector<std::string> nodes, edges;
    if (b.structure) {
      for (const auto& n : b.structure->nodes) nodes.push_back(fmt::format("{}", track(b, n.position)));
      for (const auto& [from, to] : edges_of(*b.structure)) edges.push_back(fmt::format("[{},{}]", from, to));
    }
    return object({{"name", json_string(b.name)},
                   {"kind", json_string(b.kind)},
                   {"motion", word(b.motion)},
                   {"mass", fmt::format("{}", b.mass)},
                   {"pieces", array(b.pieces, [](const Piece& p) { return json(p); })},
                   {"nodes", array(nodes)},
                   {"edges", array(edges)}});
  }

  template <class Info> std::string part(const Info& info) {
    const Sketch s = info.model->sketch();
    std::vector<std::string> points, axes, bodies, numbers;
    for (const Sketch::Mark& m : s.points) {
      if (m.body >= info.bodies.size()) continue;
      const SceneBody& b = scene_.bodies[info.bodies[m.body]];
      if (!point_at(b, run_, 0, m.value)) continue;
      points.push_back(b.motion == Motion::elastic
                           ? object({{"track", fmt::format("{}", track(b, m.value))}})
                           : object({{"body", fmt::format("{}", info.bodies[m.body])}, {"at", json(m.value)}}));
    }
    for (const Sketch::Mark& m : s.axes)
      if (m.body < info.bodies.size() && pose_at(scene_.bodies[info.bodies[m.body]], run_, 0))
        axes.push_back(object({{"body", fmt::format("{}", info.bodies[m.body])}, {"along", json(m.value)}}));
    for (const std::size_t b : info.bodies) bodies.push_back(fmt::format("{}", b));
    for (const auto& [name, x] : s.numbers)
      if (std::isfinite(x)) numbers.push_back(fmt::format("{}:{}", json_string(name), x));
    return object({{"name", json_string(info.name)},
                   {"kind", json_string(s.kind.empty() ? "given by a function" : s.kind)},
                   {"bodies", array(bodies)},
                   {"points", array(points)},
                   {"axes", array(axes)},
                   {"numbers", fmt::format("{{{}}}", fmt::join(numbers, ","))}});
  }

  std::string highlight(const Highlight& h) {
    for (const std::string& name : h.bodies) find_body(name, "highlight");
    std::vector<std::string> motion;
    if (h.direction.size() == system_.size() && h.direction.allFinite())
      for (std::size_t i = 0; i < scene_.bodies.size(); ++i) {
        const auto& b = system_.bodies()[i];
        const VectorXd dq = h.direction.segment(b.first, b.size);
        if (dq.size() == 0 || dq.isZero(0) || scene_.bodies[i].motion == Motion::unknown) continue;
        motion.push_back(object(
            {{"body", fmt::format("{}", i)}, {"change", fmt::format("[{}]", fmt::join(dq.begin(), dq.end(), ","))}}));
      }
    return object({{"kind", json_string(h.kind)},
                   {"text", json_string(h.text)},
                   {"bodies", json(h.bodies)},
                   {"joints", json(h.joints)},
                   {"motion", array(motion)}});
  }

  // The time, what moves bodies, what is plotted at first, then the others while there is room.
  std::vector<Index> kept_columns(const std::vector<Index>& plotted) const {
    std::set<Index> kept{0};
    for (const SceneBody& b : scene_.bodies)
      if (b.motion != Motion::elastic) kept.insert(b.columns.begin(), b.columns.end());
    kept.insert(plotted.begin(), plotted.end());
    const auto room = static_cast<Index>(options_.numbers) / std::max<Index>(1, run_.samples());
    const auto add = [&](bool rates) {
      for (Index c = 0; c < static_cast<Index>(run_.columns.size()); ++c)
        if (static_cast<Index>(kept.size()) < room &&
            run_.columns[static_cast<std::size_t>(c)].name.ends_with('\'') == rates)
          kept.insert(c);
    };
    add(false);
    add(true);
    return {kept.begin(), kept.end()};
  }

  std::string column(Index c) const {
    const VectorXd x = run_.column(c);
    const auto& info = run_.columns[static_cast<std::size_t>(c)];
    return object(
        {{"name", json_string(info.name)}, {"unit", json_string(info.unit)}, {"data", packed({x.begin(), x.end()})}});
  }

  const System& system_;
  const RunTable& run_;
  const ViewOptions& options_;
  Scene scene_;
  std::vector<std::string> tracks_, meshes_;
};

void replace_once(std::string& text, std::string_view what, const std::string& by) {
  const auto at = text.find(what);
  if (at == text.npos)
    Label{"page", std::string(what)}.fail<InvalidModel>("the page has no such place", "make tools/page/dist anew");
  text.replace(at, what.size(), by);
}

}  // namespace

void show_report(ViewOptions& options, const System& system, const RankReport& report) {
  options.verdict = report.verdict();
  options.report = report.text();
  const auto owners = [&](const std::vector<std::string>& rows) {
    std::set<std::string> known, out;
    for (const auto& c : system.constraints())
      if (!c.own) known.insert(c.name);
    for (const std::string& row : rows)
      if (known.count(owner(row)) > 0) out.insert(owner(row));
    return std::vector<std::string>(out.begin(), out.end());
  };
  for (const FreeDirection& f : report.free) {
    Highlight h{"free",
                fmt::format("{}; no mass moves and no constraint resists", fmt::join(f.motions, ", ")),
                {},
                {},
                f.direction};
    if (!f.remedies.empty()) h.text += fmt::format(".  Remedies: {}", fmt::join(f.remedies, " | "));
    std::set<std::string> bodies;
    for (const auto& p : f.parts) bodies.insert(owner(p.coordinate));
    h.bodies.assign(bodies.begin(), bodies.end());
    options.highlights.push_back(std::move(h));
  }
  for (const Implied& i : report.implied)
    options.highlights.push_back(
        {"remark", i.equation.empty() ? i.sentence : fmt::format("{}: {}", i.equation, i.sentence)});
  for (const RedundantRow& r : report.redundant) {
    Highlight h{r.consistent ? "redundant" : "conflicting",
                fmt::format("{} ({}) {}", r.row, r.removes,
                            r.consistent ? "is already held by other rows"
                                         : fmt::format("contradicts other rows by {:.3g}", r.gap))};
    h.joints = owners({r.row});
    const std::vector<std::string> others = owners(r.set);
    if (!others.empty()) h.text += fmt::format(", of {}", fmt::join(others, ", "));
    options.highlights.push_back(std::move(h));
  }
  for (const BrokenPart& b : report.broken) {
    Highlight h{"conflicting", b.text()};
    if (b.kind == "body") h.bodies = {b.name};
    if (b.kind == "joint") h.joints = {b.name};
    options.highlights.push_back(std::move(h));
  }
  if (report.start && !report.start->reachable) {
    std::vector<std::string> rows;
    for (const Start::Gap& g : report.start->left) rows.push_back(g.row);
    options.highlights.push_back({"conflicting",
                                  fmt::format("no state near this one meets {} together", fmt::join(rows, ", ")),
                                  {},
                                  owners(rows)});
  } else if (report.start) {
    for (const Finding& f : report.findings())
      if (f.verdict == Verdict::inconsistent_start)
        options.highlights.push_back(
            {"remark", fmt::format("start: {}; the run begins at the nearest state that does", f.sentence)});
  }
  for (const std::string& w : report.warnings) options.highlights.push_back({"remark", w});
}

std::string view_page(const System& system, const RunTable& run, const ViewOptions& options) {
  PageData data(system, run, options);
  std::string page(page_template());
  const std::string json = data.text();
  replace_once(page, "<!-- mortise: title -->", escaped_markup(data.title()));
  replace_once(page, "<!-- mortise: data -->", json);
  return page;
}

void write_view(const System& system, const RunTable& run, const std::string& path, const ViewOptions& options) {
  replace_file(path, view_page(system, run, options));
}

}  // namespace mortise
