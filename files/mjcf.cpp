// MJCF: bodies with their joints, defaults, equalities, actuators at rest.

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <numbers>
#include <set>

#include <mortise/bodies/inertia.h>
#include <mortise/core/rotation.h>
#include <mortise/core/words.h>
#include <mortise/files/mesh.h>
#include <mortise/files/robot_description.h>
#include <mortise/files/xml.h>

namespace mortise::files {
namespace {

using Text = std::string;

// Puts the elements of included files in the place of <include file="..."/>.
void include_files(Xml& x, const Text& folder, int depth, int& count) {
  for (std::size_t i = 0; i < x.children.size();) {
    Xml& c = x.children[i];
    if (!c.is("include")) {
      include_files(c, folder, depth, count);
      ++i;
      continue;
    }
    if (depth > 8) fail(c.where, "files are included more than 8 deep", "write it flatter");
    constexpr int most = 1000;
    if (++count > most) fail(c.where, fmt::format("more than {} files are included", most), "divide the model");
    const Text& file = c.require("file");
    const std::filesystem::path path = std::filesystem::path(folder) / file;
    if (std::filesystem::path(file).is_absolute() || std::filesystem::weakly_canonical(path)
                                                         .lexically_relative(std::filesystem::weakly_canonical(folder))
                                                         .string()
                                                         .starts_with(".."))  // by a link, too
      fail(c.where, fmt::format("'{}' lies outside of the folder of the model", file), "put it beside the model");
    Xml included = parse_xml(read_text(path.string(), path.string()), path.string());
    include_files(included, folder, depth + 1, count);
    std::vector<Xml> children = std::move(included.children);
    x.children.erase(x.children.begin() + static_cast<std::ptrdiff_t>(i));
    x.children.insert(x.children.begin() + static_cast<std::ptrdiff_t>(i), std::make_move_iterator(children.begin()),
                      std::make_move_iterator(children.end()));
    i += children.size();
  }
}

// Mass and inertia that geoms add up to.
struct Sum {
  double mass = 0;
  Vec3<double> moment{0, 0, 0};                   // mass times centre
  Mat<double, 3> about = Mat<double, 3>::Zero();  // inertia about the origin

  static Mat<double, 3> shifted(double m, const Vec3<double>& c) {
    return m * (c.squaredNorm() * Mat<double, 3>::Identity() - c * c.transpose());
  }
  void add(double m, const Frame& frame, const Vec3<double>& principal) {
    mass += m;
    moment += m * frame.at;
    about += frame.R * principal.asDiagonal() * frame.R.transpose() + shifted(m, frame.at);
  }
};

class Mjcf {
 public:
  Mjcf(const Xml& root, Text keyframe, Text folder)
      : root_(root), keyframe_(std::move(keyframe)), folder_(std::move(folder)) {
    robot_.where = root.where;
    const Text* name = root.find("model");
    robot_.name = name && !name->empty() ? *name : "robot";
    robot_.fixed_base = false;
  }

  Robot read() {
    for (const Xml* c : root_.all("compiler")) robot_.attempt({"compiler", ""}, [&] { compiler(*c); });
    for (const Xml* o : root_.all("option")) robot_.attempt({"option", ""}, [&] { option(*o); });
    for (const Xml* d : root_.all("default")) defaults(*d, "");
    for (const Xml* a : root_.all("asset")) assets(*a);
    for (const Xml* w : root_.all("worldbody")) {
      each(*w, "body", "", Frame(),
           [&](const Xml& b, const Text& around, const Frame& in) { body(b, "", Frame(), around, in); });
      for (const char* nothing : {"geom", "light", "camera", "site"})
        each(*w, nothing, "", Frame(), [](const Xml& c, const Text&, const Frame&) { c.ignore(); });
    }
    if (total_mass_ > 0) {
      double sum = 0;
      for (const RobotLink& l : robot_.links) sum += l.mass;
      for (RobotLink& l : robot_.links)
        if (sum > 0) l.mass *= total_mass_ / sum, l.inertia *= total_mass_ / sum;
    }
    for (const Xml* e : root_.all("equality"))
      for (const Xml* x : e->all()) robot_.attempt({"equality", name_or(*x, "")}, [&] { equality(*x); });
    for (const Xml* t : root_.all("tendon")) tendons(*t);
    for (const Xml* a : root_.all("actuator"))
      for (const Xml* x : a->all()) robot_.attempt({"actuator", name_or(*x, "")}, [&] { actuator(*x); });
    for (const Xml* k : root_.all("keyframe")) keyframes(*k);
    for (const char* nothing : {"asset", "visual", "statistic", "size"})  // pictures, and what needs no reading
      for (const Xml* x : root_.all(nothing)) x->ignore();
    for (const Text& what : root_.unread()) robot_.remarks.push_back("not read: " + what);
    if (!keyframe_.empty() && !keyframe_found_)
      fail(root_.where, fmt::format("there is no keyframe '{}'", keyframe_), "the file has none");
    if (unknown_mass_ > 0)
      robot_.remarks.push_back(fmt::format("the mass of {} would come of meshes that are not there: give <inertial>",
                                           counted(unknown_mass_, "link")));
    return std::move(robot_);
  }

 private:
  struct Asset {
    Text file;
    Vec3<double> scale{1, 1, 1};
    Enclosed enclosed = {};
    bool looked_at = false;
  };

  static Text name_or(const Xml& x, const Text& otherwise) {
    const Text* name = x.find("name");
    return name && !name->empty() ? *name : otherwise;
  }

  void compiler(const Xml& c) {
    if (const Text* a = c.find("angle")) degrees_ = *a != "radian";
    if (const Text* e = c.find("eulerseq")) {
      const bool known = e->size() == 3 && e->find_first_not_of("xyzXYZ") == Text::npos;
      if (!known) fail(c.where, fmt::format("eulerseq '{}' is no sequence of three axes", *e), "as xyz, or XYZ");
      sequence_ = *e;
    }
    bound_mass_ = c.number("boundmass", bound_mass_);
    bound_inertia_ = c.number("boundinertia", bound_inertia_);
    total_mass_ = c.number("settotalmass", total_mass_);
    if (const Text* b = c.find("balanceinertia")) balance_ = *b == "true";
    for (const char* folder : {"assetdir", "meshdir"})
      if (const Text* d = c.find(folder)) meshes_in_ = *d;
    if (const Text* s = c.find("strippath")) strip_path_ = *s == "true";
    if (const Text* i = c.find("inertiafromgeom")) from_geoms_ = *i;
    if (const Text* x = c.find("coordinate"); x && *x == "global")
      fail(c.where, "coordinate='global' is not read", "write local coordinates");
    for (const char* nothing : {"texturedir", "autolimits", "discardvisual", "usethread", "fusestatic", "convexhull",
                                "exactmeshinertia", "alignfree", "saveinertial"})
      (void)c.find(nothing);
  }
  void option(const Xml& o) {
    robot_.gravity = o.three("gravity", robot_.gravity);
    for (const Xml* f : o.all("flag"))
      if (const Text* g = f->find("gravity"); g && *g == "disable") robot_.gravity.setZero();
    for (const char* nothing : {"timestep", "integrator", "solver", "iterations", "tolerance", "cone", "impratio",
                                "jacobian", "ls_iterations", "ls_tolerance", "noslip_iterations", "noslip_tolerance",
                                "o_solref", "o_solimp", "o_margin", "mpr_iterations", "mpr_tolerance", "apirate"})
      (void)o.find(nothing);
    for (const Xml* f : o.all("flag")) f->ignore();
  }

  // Attributes of a class, its own after those of the class around it.
  void defaults(const Xml& d, const Text& above) {
    const Text* given = d.find("class");
    const Text name = given ? *given : above.empty() ? Text("main") : above;
    auto& here = classes_[name];
    if (!above.empty() && above != name)
      for (const auto& [element, attributes] : classes_[above])
        for (const auto& [key, a] : attributes) here[element].try_emplace(key, a);
    for (const Xml& c : d.children) {
      c.read = true;
      if (c.is("default")) continue;
      for (const Xml::Attribute& a : c.attributes) a.read = true, here[c.name][a.name] = {a.text, c.where};
    }
    for (const Xml* c : d.all("default")) defaults(*c, name);
  }
  struct Given {
    Text text;
    Where where;
  };
  // An attribute of the element, or of its class.
  std::optional<Given> get(const Xml& x, const Text& around, const char* attribute, const char* also = nullptr) {
    if (const Text* own = x.find(attribute)) return Given{*own, x.where};
    const Text* own_class = x.find("class");
    const Text& name = own_class ? *own_class : around.empty() ? main_ : around;
    const auto c = classes_.find(name);
    if (c == classes_.end()) {
      if (own_class) fail(x.where, fmt::format("there is no class '{}'", name), "define it in <default>");
      return std::nullopt;
    }
    for (const Text& element : {x.name, Text(also ? also : "")})
      if (const auto e = c->second.find(element); e != c->second.end())
        if (const auto a = e->second.find(attribute); a != e->second.end()) return a->second;
    return std::nullopt;
  }
  std::vector<double> numbers(const Xml& x, const Text& around, const char* attribute, std::vector<double> otherwise,
                              std::size_t least, const char* also = nullptr) {
    const auto given = get(x, around, attribute, also);
    if (!given) return otherwise;
    std::vector<double> out = numbers_in(given->where, fmt::format("{} of <{}>", attribute, x.name), given->text);
    if (out.size() < least)
      fail(x.where, fmt::format("{} of <{}> has {}", attribute, x.name, counted(std::ssize(out), "number")),
           fmt::format("give {}", least));
    return out;
  }
  double number(const Xml& x, const Text& around, const char* attribute, double otherwise, const char* also = nullptr) {
    return numbers(x, around, attribute, {otherwise}, 1, also)[0];
  }
  Vec3<double> three(const Xml& x, const Text& around, const char* attribute, const Vec3<double>& otherwise) {
    const std::vector<double> n = numbers(x, around, attribute, {otherwise[0], otherwise[1], otherwise[2]}, 3);
    return {n[0], n[1], n[2]};
  }
  double angle(double x) const { return degrees_ ? x * std::numbers::pi / 180 : x; }

  Mat<double, 3> orientation(const Xml& x, const Text& around) {
    const auto direction = [&](const Vec3<double>& d, const char* what) -> Vec3<double> {
      if (!(d.norm() > 0)) fail(x.where, fmt::format("{} of <{}> has length 0", what, x.name), "give a direction");
      return d.normalized();
    };
    if (get(x, around, "quat")) {
      const std::vector<double> q = numbers(x, around, "quat", {}, 4);
      const Quaternion<double> u(q[0], q[1], q[2], q[3]);
      if (!(u.norm() > 0)) fail(x.where, fmt::format("quat of <{}> has length 0", x.name), "give a rotation");
      return rotation_matrix<double>(Quaternion<double>(u / u.norm()));
    }
    if (get(x, around, "axisangle")) {
      const std::vector<double> a = numbers(x, around, "axisangle", {}, 4);
      return Frame::turn(direction({a[0], a[1], a[2]}, "axisangle"), angle(a[3])).R;
    }
    if (get(x, around, "euler")) {
      const Vec3<double> e = three(x, around, "euler", {0, 0, 0});
      Mat<double, 3> R = Mat<double, 3>::Identity();
      for (int i = 0; i < 3; ++i) {
        const char c = sequence_[static_cast<std::size_t>(i)];
        Vec3<double> axis = Vec3<double>::Zero();
        axis[std::tolower(c) - 'x'] = 1;
        const Mat<double, 3> turn = Frame::turn(axis, angle(e[i])).R;
        R = std::islower(static_cast<unsigned char>(c)) ? Mat<double, 3>(R * turn) : Mat<double, 3>(turn * R);
      }
      return R;
    }
    if (get(x, around, "xyaxes")) {
      const std::vector<double> a = numbers(x, around, "xyaxes", {}, 6);
      const Vec3<double> X = direction({a[0], a[1], a[2]}, "xyaxes");
      Vec3<double> Y(a[3], a[4], a[5]);
      Y = direction(Y - X.dot(Y) * X, "xyaxes");
      Mat<double, 3> R;
      R << X, Y, X.cross(Y);
      return R;
    }
    if (get(x, around, "zaxis")) {  // by the shortest turn
      const Vec3<double> z = direction(three(x, around, "zaxis", {0, 0, 1}), "zaxis"), axis(-z[1], z[0], 0);
      if (axis.norm() < 1e-12) return z[2] > 0 ? Frame().R : Frame::turn({1, 0, 0}, std::numbers::pi).R;
      return Frame::turn(axis.normalized(), std::atan2(axis.norm(), z[2])).R;
    }
    return Mat<double, 3>::Identity();
  }
  Frame frame(const Xml& x, const Text& around) { return {three(x, around, "pos", {0, 0, 0}), orientation(x, around)}; }

  // What of this kind stands in the element, or in a <frame> of it, with the class and the frame around.
  template <class F> void each(const Xml& x, const Text& kind, const Text& around, const Frame& in, const F& f) {
    for (const Xml& c : x.children)
      if (c.is(kind)) {
        c.read = true;
        f(c, around, in);
      } else if (c.is("frame")) {
        c.read = true;
        (void)c.find("name");
        const Text* own = c.find("childclass");
        robot_.attempt({"frame", name_or(c, "")}, [&] { each(c, kind, own ? *own : around, in * frame(c, ""), f); });
      }
  }

  // ---- meshes and materials
  void assets(const Xml& a) {
    for (const Xml* m : a.all("mesh"))
      robot_.attempt({"mesh", name_or(*m, "")}, [&] {
        const Text* given = m->find("file");
        if (!given) return;  // by its points
        namespace fs = std::filesystem;
        const fs::path file = strip_path_ ? fs::path(*given).filename() : fs::path(*given);
        Asset asset;
        asset.file = file.is_absolute() ? file.string() : (fs::path(meshes_in_) / file).lexically_normal().string();
        asset.scale = three(*m, "", "scale", {1, 1, 1});
        assets_[name_or(*m, file.stem().string())] = asset;
      });
    for (const Xml* m : a.all("material"))
      robot_.attempt({"material", name_or(*m, "")}, [&] {
        if (get(*m, "", "rgba")) materials_[name_or(*m, "")] = colour_text(numbers(*m, "", "rgba", {}, 3));
      });
  }
  // What a mesh encloses; null if its file cannot be read.
  const Enclosed* enclosed_by(Asset& asset) {
    if (!asset.looked_at) {
      asset.looked_at = true;
      const Text path = mesh_file(asset.file, (std::filesystem::path(folder_) / "model").string(), {});
      try {
        if (!path.empty()) asset.enclosed = enclosed(read_mesh(path), asset.scale);
      } catch (const ModelError&) {  // as if it were not there
      }
    }
    return asset.enclosed.volume > 0 ? &asset.enclosed : nullptr;
  }

  // ---- bodies
  // `parent` is "" for the world; `outside` is the frame of the parent in the world, where nothing has moved.
  // `in` is the frame in which it is written, seen from its parent.
  void body(const Xml& x, const Text& parent, const Frame& outside, const Text& around, const Frame& in) {
    Text name = name_or(x, fmt::format("body_{}", ++unnamed_));
    const Text* own = x.find("childclass");
    const Text inside = own ? *own : around;
    Frame here;
    robot_.attempt({"body", name}, [&] { here = in * frame(x, ""); });
    RobotLink link;
    link.name = name;
    link.where = x.where;
    link.place = outside * here;
    world_.emplace(name, link.place);
    robot_.attempt({"body", name}, [&] { mass_of(x, inside, link); });
    robot_.links.push_back(link);
    robot_.attempt({"body", name}, [&] { joints(x, name, parent, here, inside); });
    each(x, "body", inside, Frame(),
         [&](const Xml& b, const Text& within, const Frame& frame) { body(b, name, outside * here, within, frame); });
    for (const char* nothing : {"site", "camera", "light"})
      each(x, nothing, inside, Frame(), [](const Xml& n, const Text&, const Frame&) { n.ignore(); });
  }

  void mass_of(const Xml& x, const Text& around, RobotLink& link) {
    Sum sum;
    bool unknown = false;
    const Xml* inertial = x.child("inertial");
    const bool counted = (!inertial || from_geoms_ == "true") && from_geoms_ != "false";
    each(x, "geom", around, Frame(), [&](const Xml& g, const Text& inside, const Frame& in) {
      g.ignore();
      if (counted) return geom(g, inside, in, sum, unknown, link);
      try {  // a picture only
        geom(g, inside, in, sum, unknown, link);
      } catch (const ModelError&) {
      }
    });
    if (counted && unknown) ++unknown_mass_;
    if (inertial && from_geoms_ != "true") {
      const Frame f = frame(*inertial, "");
      link.mass = inertial->number("mass");
      link.centre = f.at;
      if (inertial->find("fullinertia")) {
        const std::vector<double> i = inertial->numbers("fullinertia", 6);
        Mat<double, 3> J;
        J << i[0], i[3], i[4], i[3], i[1], i[5], i[4], i[5], i[2];
        link.inertia = f.R * J * f.R.transpose();
      } else {
        const Vec3<double> d = inertial->three("diaginertia", {0, 0, 0});
        link.inertia = f.R * d.asDiagonal() * f.R.transpose();
      }
    } else if (counted && sum.mass > 0) {
      link.mass = sum.mass;
      link.centre = sum.moment / sum.mass;
      link.inertia = sum.about - Sum::shifted(sum.mass, link.centre);
    }
    bound(link);
    link.inertia = Mat<double, 3>(0.5 * (link.inertia + link.inertia.transpose()));
  }

  // As <compiler> asks for.
  void bound(RobotLink& link) const {
    link.mass = std::max(link.mass, bound_mass_);
    if (bound_inertia_ <= 0 && !balance_) return;
    const Eigen::SelfAdjointEigenSolver<Mat<double, 3>> principal(link.inertia);
    Vec3<double> J = principal.eigenvalues().cwiseMax(bound_inertia_);
    if (balance_ && J[0] + J[1] < J[2]) J.setConstant(J.mean());
    if (J != principal.eigenvalues())
      link.inertia = principal.eigenvectors() * J.asDiagonal() * principal.eigenvectors().transpose();
  }

  Text colour(const Xml& g, const Text& around) {
    if (get(g, around, "rgba")) return colour_text(numbers(g, around, "rgba", {}, 3));
    const auto material = get(g, around, "material");
    const auto it = material ? materials_.find(material->text) : materials_.end();
    return it == materials_.end() ? "" : it->second;
  }

  void geom(const Xml& g, const Text& around, const Frame& in, Sum& sum, bool& unknown, RobotLink& link) {
    const auto type_given = get(g, around, "type");
    const Text type = type_given ? type_given->text : get(g, around, "mesh") ? "mesh" : "sphere";
    if (type == "plane") return;
    Frame f = in * frame(g, around);
    constexpr double drawn_below = 3;  // the group from which MuJoCo hides geoms
    const bool drawn = number(g, around, "group", 0) < drawn_below;
    if (type == "mesh" || type == "hfield" || type == "sdf") {
      const auto name = get(g, around, "mesh");
      const auto asset = name ? assets_.find(name->text) : assets_.end();
      const bool weightless = (get(g, around, "mass") && number(g, around, "mass", 0) == 0) ||
                              (!get(g, around, "mass") && number(g, around, "density", 1000) == 0);
      if (asset != assets_.end() && drawn) {
        Shape shape;
        shape.kind = Shape::Kind::mesh;
        shape.file = asset->second.file;
        shape.scale = asset->second.scale;
        shape.at = f.at;
        shape.rotation = f.rotation_vector();
        shape.colour = colour(g, around);
        link.shapes.push_back(shape);
      }
      if (weightless) return;
      const Enclosed* solid = asset == assets_.end() ? nullptr : enclosed_by(asset->second);
      if (!solid) {
        unknown = true;
        return;
      }
      const double mass =
          get(g, around, "mass") ? number(g, around, "mass", 0) : number(g, around, "density", 1000) * solid->volume;
      const Eigen::SelfAdjointEigenSolver<Mat<double, 3>> principal(solid->inertia);
      Mat<double, 3> axes = principal.eigenvectors();
      if (axes.determinant() < 0) axes.col(0) *= -1;
      sum.add(mass, f * Frame{solid->centre, axes}, mass / solid->volume * principal.eigenvalues());
      return;
    }
    std::vector<double> size = numbers(g, around, "size", {}, 1);
    if (get(g, around, "fromto")) {
      const std::vector<double> e = numbers(g, around, "fromto", {}, 6);
      const Vec3<double> from(e[0], e[1], e[2]), to(e[3], e[4], e[5]);
      const Vec3<double> z = in.R * (from - to);
      if (!(z.norm() > 0)) fail(g.where, "fromto of <geom> has length 0", "give two points");
      const Vec3<double> axis = Vec3<double>(0, 0, 1).cross(z.normalized());
      f.at = in.at + in.R * (0.5 * (from + to));
      f.R =
          axis.norm() < 1e-12 ? Frame().R : Frame::turn(axis.normalized(), std::atan2(axis.norm(), z[2] / z.norm())).R;
      size.resize(1);
      for (int i = 0; i < 2; ++i) size.push_back(0.5 * z.norm());
    }
    const std::size_t wanted = type == "sphere" ? 1 : type == "capsule" || type == "cylinder" ? 2 : 3;
    if (size.size() < wanted)
      fail(g.where, fmt::format("size of <geom> has {}", counted(std::ssize(size), "number")),
           fmt::format("a {} has {}", type, wanted));
    for (std::size_t i = 0; i < wanted; ++i)
      if (!(size[i] > 0)) fail(g.where, fmt::format("size of <geom> is {}", size[i]), "give lengths > 0");
    const double r = size[0], pi = std::numbers::pi;
    double volume = 0;
    Vec3<double> unit{0, 0, 0};  // principal moments of 1 kg
    Shape shape;
    shape.at = f.at;
    if (type == "sphere") {
      volume = 4 * pi / 3 * r * r * r;
      unit.setConstant(0.4 * r * r);
      shape.kind = Shape::Kind::sphere, shape.radius = r;
    } else if (type == "ellipsoid") {
      const double a = r * r, b = size[1] * size[1], c = size[2] * size[2];
      volume = 4 * pi / 3 * r * size[1] * size[2];
      unit = {(b + c) / 5, (a + c) / 5, (a + b) / 5};
      shape.kind = Shape::Kind::sphere, shape.radius = std::cbrt(r * size[1] * size[2]);
    } else if (type == "box") {
      const double a = r * r, b = size[1] * size[1], c = size[2] * size[2];
      volume = 8 * r * size[1] * size[2];
      unit = {(b + c) / 3, (a + c) / 3, (a + b) / 3};
      shape.kind = Shape::Kind::box;
      shape.size = {2 * r, 2 * size[1], 2 * size[2]};
      shape.rotation = f.rotation_vector();
    } else if (type == "cylinder" || type == "capsule") {
      const double h = 2 * size[1], cylinder = pi * r * r * h, ball = type == "capsule" ? 4 * pi / 3 * r * r * r : 0;
      volume = cylinder + ball;
      const double mc = cylinder / volume, mb = ball / volume;
      const double across = mc * (3 * r * r + h * h) / 12 + mb * (0.4 * r * r + 0.375 * r * h + 0.25 * h * h);
      unit = {across, across, mc * 0.5 * r * r + mb * 0.4 * r * r};
      shape.kind = Shape::Kind::cylinder, shape.radius = r, shape.length = h, shape.axis = f.R.col(2);
    } else {
      fail(g.where, fmt::format("there is no geom of type '{}'", type),
           suggestion(type, {"sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "plane"}));
    }
    shape.colour = colour(g, around);
    if (drawn) link.shapes.push_back(shape);
    const double mass =
        get(g, around, "mass") ? number(g, around, "mass", 0) : number(g, around, "density", 1000) * volume;
    sum.add(mass, f, mass * unit);
  }

  void joints(const Xml& x, const Text& name, const Text& parent, const Frame& here, const Text& around_body) {
    std::vector<RobotJoint> chain;
    bool free = false;
    for (const Xml* f : x.all("freejoint")) f->ignore(), free = true;
    each(x, "joint", around_body, Frame(), [&](const Xml& c, const Text& around, const Frame& in) {
      const Text otherwise = chain.empty() ? name + "_joint" : fmt::format("{}_joint_{}", name, chain.size() + 1);
      robot_.attempt({"joint", name_or(c, otherwise)}, [&] {
        const auto type = get(c, around, "type");
        if (type && type->text == "free") {
          c.ignore();
          free = true;
        } else {
          chain.push_back(joint(c, name_or(c, otherwise), type ? type->text : "hinge", around));
          chain.back().on_child.at = in * chain.back().on_child.at;
          chain.back().axis = in.R * chain.back().axis;
        }
      });
      for (const char* nothing : {"range",
                                  "limited",
                                  "class",
                                  "solreflimit",
                                  "solimplimit",
                                  "solreffriction",
                                  "solimpfriction",
                                  "group",
                                  "user",
                                  "margin",
                                  "actuatorfrcrange",
                                  "actuatorfrclimited",
                                  "stiffness",
                                  "damping",
                                  "armature",
                                  "springref",
                                  "frictionloss",
                                  "ref",
                                  "pos",
                                  "axis"})
        (void)c.find(nothing);
    });
    if (free) {
      places_.push_back({Place::Is::free, name, robot_.links.size() - 1});
      if (!parent.empty())
        fail(x.where, fmt::format("body '{}' has a free joint inside of body '{}'", name, parent),
             "only bodies of <worldbody> move freely");
      return;
    }
    if (chain.empty()) {
      RobotJoint weld;
      weld.name = name + "_weld";
      weld.where = x.where;
      weld.base = parent.empty();
      chain.push_back(weld);
    }
    // Several joints of one body: links without mass between them, all in the frame of the body.
    Text before = parent;
    for (std::size_t i = 0; i < chain.size(); ++i) {
      RobotJoint& j = chain[i];
      if (j.kind != RobotJoint::Kind::fixed)
        places_.push_back({j.kind == RobotJoint::Kind::spherical ? Place::Is::ball : Place::Is::number, j.name,
                           robot_.joints.size()});
      const Frame anchor = j.on_child;
      j.parent = before;
      j.on_parent = i == 0 ? here * anchor : anchor;
      if (i + 1 < chain.size()) {
        RobotLink between;
        between.name = j.child = before = fmt::format("{}_behind_{}", name, j.name);
        between.where = j.where;
        robot_.links.push_back(between);
      } else {
        j.child = name;
      }
      robot_.joints.push_back(std::move(j));
    }
  }

  RobotJoint joint(const Xml& c, const Text& name, const Text& type, const Text& around) {
    using Kind = RobotJoint::Kind;
    RobotJoint j;
    j.name = name;
    j.where = c.where;
    if (type == "hinge")
      j.kind = Kind::revolute;
    else if (type == "slide")
      j.kind = Kind::prismatic;
    else if (type == "ball")
      j.kind = Kind::spherical;
    else
      fail(c.where, fmt::format("joint '{}': there is no type '{}'", name, type),
           suggestion(type, {"hinge", "slide", "ball", "free"}));
    const auto measure = [&](double v) { return j.kind == Kind::revolute ? angle(v) : v; };
    j.on_child.at = three(c, around, "pos", {0, 0, 0});
    j.axis = three(c, around, "axis", {0, 0, 1});
    j.damping = number(c, around, "damping", 0);
    j.stiffness = number(c, around, "stiffness", 0);
    j.armature = number(c, around, "armature", 0);
    j.friction = number(c, around, "frictionloss", 0);
    const double ref = measure(number(c, around, "ref", 0));
    reference_[name] = ref;
    if (const auto limited = get(c, around, "limited"); !limited || limited->text != "false")
      if (const std::vector<double> r = numbers(c, around, "range", {0, 0}, 2); r[0] < r[1])
        j.limits = {{measure(r[0]) - ref, measure(r[1]) - ref}};
    springs_[name] = j.rest = measure(number(c, around, "springref", 0)) - ref;
    return j;
  }

  // ---- what connects them besides
  const Frame& placed(const Xml& x, const Text& name) {
    static const Frame world;
    if (name.empty() || name == "world") return world;
    const auto it = world_.find(name);
    if (it != world_.end()) return it->second;
    std::vector<Text> known;
    for (const auto& b : world_) known.push_back(b.first);
    fail(x.where, fmt::format("there is no body '{}'", name), suggestion(name, known));
  }

  void equality(const Xml& x) {
    const Text name = name_or(x, fmt::format("equality_{}", ++equalities_));
    x.read = true;
    for (const char* nothing : {"solref", "solimp", "class", "name"}) (void)x.find(nothing);
    if (const auto active = get(x, "", "active", "equality"); active && active->text == "false") {
      x.ignore();
      robot_.remarks.push_back(fmt::format("equality '{}' is not active, and left out", name));
      return;
    }
    if (x.is("connect") || x.is("weld")) {
      if (x.find("site1")) {
        x.ignore();
        robot_.remarks.push_back(fmt::format("equality '{}' is left out: it is given by sites", name));
        return;
      }
      RobotJoint j;
      j.name = name;
      j.where = x.where;
      j.loop = true;
      const Text first = x.require("body1"), *second = x.find("body2");
      j.kind = x.is("connect") ? RobotJoint::Kind::spherical : RobotJoint::Kind::fixed;
      const Frame &one = placed(x, first), &two = placed(x, second ? *second : "");
      // The frame of the joint is that of the first body, where nothing has moved; a weld may say otherwise.
      Frame anchor{x.is("connect") ? x.three("anchor", {0, 0, 0}) : Vec3<double>(0, 0, 0), Mat<double, 3>::Identity()};
      j.on_parent = anchor;
      j.on_child = two.inverse() * one * anchor;
      if (x.is("weld")) {
        (void)x.find("torquescale"), (void)x.find("anchor");
        if (x.find("relpose")) {
          const std::vector<double> p = x.numbers("relpose", 7);
          const Quaternion<double> u(p[3], p[4], p[5], p[6]);
          if (u.norm() > 0)  // the pose of body2 in the frame of body1
            j.on_child = Frame{{p[0], p[1], p[2]}, rotation_matrix<double>(Quaternion<double>(u / u.norm()))}.inverse();
        }
      }
      j.parent = first == "world" ? "" : first;
      j.child = second && *second != "world" ? *second : "";
      if (j.child.empty()) {
        std::swap(j.parent, j.child);
        std::swap(j.on_parent, j.on_child);
      }
      robot_.joints.push_back(std::move(j));
    } else if (x.is("joint")) {
      RobotRelation r;
      r.name = name;
      r.where = x.where;
      r.joint = x.require("joint1");
      if (const Text* other = x.find("joint2")) r.other = *other;
      r.c = {0, 1, 0, 0, 0};
      if (x.find("polycoef")) r.c = *x.numbers("polycoef");
      robot_.relations.push_back(std::move(r));
    } else {
      x.ignore();
      robot_.remarks.push_back(fmt::format("equality '{}' is left out: <{}> is not read", name, x.name));
    }
  }

  void tendons(const Xml& t) {
    for (const Xml* x : t.all("fixed")) {
      robot_.attempt({"tendon", name_or(*x, "")}, [&] {
        const Text name = name_or(*x, fmt::format("tendon_{}", tendons_.size() + 1));
        auto& terms = tendons_[name];
        for (const Xml* j : x->all("joint")) terms.emplace_back(j->require("joint"), j->number("coef", 1));
        RobotEffort e{name, x->where, terms};
        e.stiffness = number(*x, "", "stiffness", 0, "tendon");
        e.damping = number(*x, "", "damping", 0, "tendon");
        // A length that is not given is that where the joints stand at their springs' references.
        const std::vector<double> given = numbers(*x, "", "springlength", {-1}, 1, "tendon");
        if (given.size() > 1 && given[1] != given[0])
          robot_.remarks.push_back(fmt::format("tendon '{}': of its springlength only the first number is read", name));
        if (given[0] >= 0) e.rest = given[0];
        for (const auto& [joint, factor] : terms)
          e.rest += factor * (given[0] < 0 ? springs_[joint] : -reference_[joint]);
        for (const char* nothing : {"range", "limited", "class", "solreflimit", "solimplimit", "rgba", "width"})
          (void)x->find(nothing);
        if (e.stiffness != 0 || e.damping != 0) robot_.efforts.push_back(std::move(e));
      });
    }
  }

  // What it exerts; a control is 0, or the number of its range that is nearest to 0, unless one is given.
  void actuator(const Xml& x) {
    const Text name = name_or(x, fmt::format("actuator_{}", ++actuators_));
    actuated_.emplace_back();
    x.read = true;
    RobotEffort e{name, x.where, {}};
    const Text *joint = x.find("joint"), *tendon = x.find("tendon");
    const std::vector<double> gears = numbers(x, "", "gear", {1}, 1, "general");
    const double gear = gears[0];
    if (joint) {
      e.terms = {{*joint, gear}};
    } else if (tendon && tendons_.count(*tendon)) {
      for (const auto& [j, factor] : tendons_[*tendon]) e.terms.emplace_back(j, gear * factor);
    } else {
      x.ignore();
      robot_.remarks.push_back(
          fmt::format("actuator '{}' is left out: it acts on neither a joint nor a fixed tendon", name));
      return;
    }
    for (const char* nothing :
         {"ctrlrange", "ctrllimited", "forcerange", "forcelimited", "class", "name", "user", "group", "kp", "kv",
          "biastype", "biasprm", "gainprm", "gaintype", "dyntype", "dynprm", "inheritrange"})
      (void)x.find(nothing);
    double gain = 1;
    if (x.is("position")) {
      e.stiffness = gain = number(x, "", "kp", 1, "general");
      e.damping = number(x, "", "kv", 0, "general");
    } else if (x.is("velocity")) {
      e.damping = gain = number(x, "", "kv", 1, "general");
    } else if (x.is("general")) {
      gain = numbers(x, "", "gainprm", {1}, 1)[0];
      if (const auto bias = get(x, "", "biastype"); bias && bias->text == "affine") {
        std::vector<double> b = numbers(x, "", "biasprm", {0, 0, 0}, 1);
        b.resize(3);
        e.constant = b[0], e.stiffness = -b[1], e.damping = -b[2];
      }
    } else if (!x.is("motor")) {
      robot_.remarks.push_back(fmt::format("actuator '{}' is left out: <{}> is not read", name, x.name));
      return;
    }
    e.gain = gain;
    if (get(x, "", "ctrlrange", "general")) {
      const std::vector<double> r = numbers(x, "", "ctrlrange", {}, 2, "general");
      if (r[0] < r[1]) e.controls = {r[0], r[1]};
    }
    if (get(x, "", "forcerange", "general")) {
      const std::vector<double> r = numbers(x, "", "forcerange", {}, 2, "general");
      if (r[0] < r[1]) e.range = {r[0], r[1]};
    }
    if (e.stiffness < 0 || e.damping < 0) {
      robot_.remarks.push_back(fmt::format("actuator '{}' is left out: its stiffness or damping is negative", name));
      return;
    }
    for (const auto& [j, factor] : e.terms) e.rest -= factor * reference_[j];
    actuated_.back() = robot_.efforts.size();
    robot_.efforts.push_back(std::move(e));
  }

  // ---- where it starts, by a <key>: qpos and qvel in the order of the joints, ctrl in that of the actuators
  void keyframes(const Xml& x) {
    std::vector<Text> names;
    const Xml* chosen = nullptr;
    for (const Xml* k : x.all("key")) {
      k->ignore();
      const Text* name = k->find("name");
      if (!keyframe_.empty() && ((name && *name == keyframe_) || fmt::format("{}", names.size()) == keyframe_))
        chosen = k;
      names.push_back(name ? *name : fmt::format("{}", names.size()));
    }
    if (keyframe_.empty()) {
      if (!names.empty())
        robot_.remarks.push_back(fmt::format("{} not asked for: {}; --keyframe NAME starts there",
                                             counted(std::ssize(names), "keyframe"), some_of(names)));
      return;
    }
    if (!chosen) fail(x.where, fmt::format("there is no keyframe '{}'", keyframe_), suggestion(keyframe_, names));
    keyframe_found_ = true;
    robot_.attempt({"keyframe", keyframe_}, [&] {
      std::size_t positions = 0, speeds = 0;
      for (const Place& p : places_) {
        positions += p.is == Place::Is::free ? 7 : p.is == Place::Is::ball ? 4 : 1;
        speeds += p.is == Place::Is::free ? 6 : p.is == Place::Is::ball ? 3 : 1;
      }
      const auto given = [&](const char* attribute, std::size_t count) {
        const auto n = chosen->numbers(attribute);
        if (n && n->size() != count)
          fail(chosen->where, fmt::format("{} of <key> has {}", attribute, counted(std::ssize(*n), "number")),
               fmt::format("the model has {}", count));
        return n;
      };
      if (const auto q = given("qpos", positions)) put_positions(*q);
      if (const auto v = given("qvel", speeds)) put_speeds(*v);
      if (const auto u = given("ctrl", actuated_.size()))
        for (std::size_t i = 0; i < actuated_.size(); ++i)
          if (actuated_[i]) robot_.efforts[*actuated_[i]].control = (*u)[i];
      if (chosen->find("act")) robot_.remarks.push_back("not read: act of <key>");
    });
  }
  static Mat<double, 3> turn_of(const double* q) {
    const Quaternion<double> u(q[0], q[1], q[2], q[3]);
    return u.norm() > 0 ? rotation_matrix<double>(Quaternion<double>(u / u.norm())) : Mat<double, 3>::Identity();
  }
  void put_positions(const std::vector<double>& q) {
    const double* x = q.data();
    for (const Place& p : places_) {
      if (p.is == Place::Is::free) {
        robot_.links[p.index].place = {{x[0], x[1], x[2]}, turn_of(x + 3)};
        x += 7;
      } else if (p.is == Place::Is::ball) {
        robot_.joints[p.index].turned.R = turn_of(x);
        x += 4;
      } else {
        robot_.joints[p.index].start = *x++ - reference_[p.name];
      }
    }
  }
  void put_speeds(const std::vector<double>& v) {
    const double* x = v.data();
    for (const Place& p : places_) {
      if (p.is == Place::Is::free) {
        robot_.links[p.index].velocity = {x[0], x[1], x[2]};
        robot_.links[p.index].spin = {x[3], x[4], x[5]};
        x += 6;
      } else if (p.is == Place::Is::ball) {
        robot_.joints[p.index].spin = {x[0], x[1], x[2]};
        x += 3;
      } else {
        robot_.joints[p.index].speed = *x++;
      }
    }
  }

  const Xml& root_;
  Text keyframe_, folder_;
  bool keyframe_found_ = false;
  struct Place {
    enum class Is { free, ball, number } is;
    Text name;
    std::size_t index;  // of the link, if it is free, or of the joint
  };
  std::map<Text, Asset> assets_;
  std::map<Text, Text> materials_;  // colours
  Text meshes_in_;
  bool strip_path_ = false, balance_ = false;
  double bound_mass_ = 0, bound_inertia_ = 0, total_mass_ = 0;
  std::vector<Place> places_;                         // in the order of qpos
  std::vector<std::optional<std::size_t>> actuated_;  // of the actuators, in their order: the effort
  Robot robot_;
  bool degrees_ = true;
  Text sequence_ = "xyz", from_geoms_ = "auto", main_ = "main";
  std::map<Text, std::map<Text, std::map<Text, Given>>> classes_;  // class, element, attribute
  std::map<Text, Frame> world_;                                    // bodies, where nothing has moved
  std::map<Text, double> reference_;                               // of joints: their coordinate there
  std::map<Text, double> springs_;                                 // of joints: where their springs rest, from there
  std::map<Text, std::vector<std::pair<Text, double>>> tendons_;
  int unnamed_ = 0, equalities_ = 0, actuators_ = 0, unknown_mass_ = 0;
};

}  // namespace

Robot mjcf_robot(const Text& text, const Text& name, const Text& folder, const Text& keyframe) {
  Xml root = parse_xml(text, name);
  if (!root.is("mujoco"))
    fail(root.where, fmt::format("<{}> is no model of MJCF", root.name), "its first element is <mujoco>");
  int included = 0;
  include_files(root, folder.empty() ? "." : folder, 0, included);
  return Mjcf(root, keyframe, folder.empty() ? "." : folder).read();
}

}  // namespace mortise::files
