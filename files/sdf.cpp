// SDF: models, nested in each other and in a world, their links, joints and frames.

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <numbers>
#include <numeric>
#include <set>

#include <mortise/core/rotation.h>
#include <mortise/core/words.h>
#include <mortise/files/robot_description.h>
#include <mortise/files/xml.h>

namespace mortise::files {
namespace {

using Text = std::string;
using Kind = RobotJoint::Kind;

Text text_of(const Xml& x) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  std::size_t first = 0, last = x.text.size();
  while (first < last && blank(x.text[first])) ++first;
  while (last > first && blank(x.text[last - 1])) --last;
  return x.text.substr(first, last - first);
}
bool is_true(const Text& t) { return t == "true" || t == "1" || t == "True" || t == "TRUE"; }
bool flag(const Xml& of, const char* child) {
  const Xml* x = of.child(child);
  return x && is_true(text_of(*x));
}
double number(const Xml& of, const char* child, double otherwise) {
  const Xml* x = of.child(child);
  return x ? x->text_number() : otherwise;
}
Vec3<double> three(const Xml& x) {
  const std::vector<double> n = x.text_numbers();
  if (n.size() != 3) fail(x.where, fmt::format("<{}> has {}", x.name, counted(std::ssize(n), "number")), "give three");
  return {n[0], n[1], n[2]};
}

// Of a <pose>, in the frame that it is relative to.
Frame frame_of(const Xml* pose) {
  if (!pose) return {};
  const std::vector<double> n = pose->text_numbers();
  const Text* format = pose->find("rotation_format");
  const Text* degrees = pose->find("degrees");
  if (n.empty()) return {};
  if (format && *format == "quat_xyzw") {
    if (n.size() != 7)
      fail(pose->where, fmt::format("<pose> has {}", counted(std::ssize(n), "number")), "give x y z, qx qy qz qw");
    const Quaternion<double> u(n[6], n[3], n[4], n[5]);
    if (!(u.norm() > 0)) fail(pose->where, "the quaternion of <pose> has length 0", "give a rotation");
    return {{n[0], n[1], n[2]}, rotation_matrix<double>(Quaternion<double>(u / u.norm()))};
  }
  if (n.size() != 6)
    fail(pose->where, fmt::format("<pose> has {}", counted(std::ssize(n), "number")), "give x y z roll pitch yaw");
  const double unit = degrees && is_true(*degrees) ? std::numbers::pi / 180 : 1;
  return Frame::from_rpy({n[0], n[1], n[2]}, unit * Vec3<double>(n[3], n[4], n[5]));
}

// A model, or the world: what its names stand for.
struct Scope {
  struct Entry {
    enum class Is { link, joint, frame, model } is;
    const Xml* x;
    Scope* inner = nullptr;  // of a model
    Frame place = {};        // in the frame of the scope, once it is known
    bool known = false, open = false;
  };
  const Xml* x = nullptr;
  Scope* outer = nullptr;
  Text name, prefix;  // "arm", "robot::arm::"
  bool world = false, still = false, merged = false;
  std::map<Text, Entry> entries;
  std::vector<std::unique_ptr<Scope>> models;
  std::vector<Text> first_links;
};

class Sdf {
 public:
  Sdf(Xml& root, Text folder, const std::vector<Text>& packages)
      : root_(root), folder_(std::move(folder)), packages_(packages) {
    robot_.where = root.where;
    robot_.name = "robot";
    robot_.fixed_base = false;
    robot_.gravity = {0, 0, -9.8};  // SDF's own where a file is silent
  }

  Robot read() {
    if (const Text* version = root_.find("version")) {
      double v = 0;
      if (std::from_chars(version->data(), version->data() + version->size(), v).ec == std::errc()) version_ = v;
    }
    include_files(root_, folder_, 0);
    Scope top;
    top.world = true;
    const Xml* world = root_.child("world");
    const std::vector<const Xml*> worlds = root_.all("world");
    for (std::size_t i = 1; i < worlds.size(); ++i) {
      worlds[i]->ignore();
      robot_.remarks.push_back(fmt::format("not read: the second world, in line {}", worlds[i]->where.line));
    }
    top.x = world ? world : &root_;
    if (world) {
      if (const Text* name = world->find("name"); name && !name->empty()) robot_.name = *name;
      if (const Xml* g = world->child("gravity")) robot_.attempt({"world", ""}, [&] { robot_.gravity = three(*g); });
      for (const char* nothing : {"physics", "scene", "light", "gui", "audio", "magnetic_field", "wind", "atmosphere",
                                  "spherical_coordinates", "state", "road", "population"})
        for (const Xml* x : world->all(nothing)) x->ignore();
    }
    for (const Xml* l : root_.all("light")) l->ignore();
    const std::vector<const Xml*> models = top.x->all("model");
    if (models.size() == 1)
      if (const Text* name = models[0]->find("name"); name && !name->empty()) robot_.name = *name;
    gather(top, models.size() > 1);
    parts(top);
    close_circles();
    if (without_inertial_ > 0)
      robot_.remarks.push_back(
          fmt::format("{} without <inertial> (first in line {}): 1 kg and 1 kg m^2 each, as SDF has it",
                      counted(without_inertial_, "link"), first_without_));
    for (const Text& what : root_.unread()) robot_.remarks.push_back("not read: " + what);
    return std::move(robot_);
  }

 private:
  // ---- files in files
  std::filesystem::path file_of(const Text& uri, const Text& folder) const {
    namespace fs = std::filesystem;
    Text path = uri;
    bool of_model = false;
    for (const char* scheme : {"model://", "package://", "file://"})
      if (path.starts_with(scheme)) path = path.substr(Text(scheme).size()), of_model = true;
    std::error_code none;
    std::vector<fs::path> places{fs::path(folder)};
    if (of_model) {
      places.push_back(fs::path(folder) / "..");
      places.insert(places.end(), packages_.begin(), packages_.end());
    }
    for (const fs::path& from : places) {
      fs::path at = fs::weakly_canonical(from / path, none);
      const fs::path inside = fs::weakly_canonical(from, none);
      if (fs::path(path).is_absolute() || at.lexically_relative(inside).string().starts_with("..")) continue;
      if (fs::is_directory(at, none)) {
        Text file = "model.sdf";
        if (const fs::path config = at / "model.config"; fs::is_regular_file(config, none)) {
          const Xml x = parse_xml(read_text(config.string(), config.string()), config.string());
          for (const Xml* s : x.all("sdf")) file = text_of(*s);  // the last is that of the newest version
        }
        at = fs::weakly_canonical(at / file, none);
        if (at.lexically_relative(inside).string().starts_with("..")) continue;
      }
      if (fs::is_regular_file(at, none)) return at;
    }
    return {};
  }
  // Puts the model of the file in the place of <include>, with the name and the pose that stand there.
  void include_files(Xml& x, const Text& folder, int depth) {
    for (Xml& c : x.children) {
      if (c.is("model") || c.is("world")) include_files(c, folder, depth);
      if (!c.is("include")) continue;
      constexpr int deepest = 8, most = 1000;
      if (depth > deepest)
        fail(c.where, fmt::format("files are included more than {} deep", deepest), "write it flatter");
      if (++included_ > most) fail(c.where, fmt::format("more than {} files are included", most), "divide the model");
      robot_.attempt({"include", ""}, [&] {
        const Xml* uri = c.child("uri");
        if (!uri) fail(c.where, "<include> has no <uri>", "name a file");
        const std::filesystem::path path = file_of(text_of(*uri), folder);
        if (path.empty()) {
          robot_.remarks.push_back(fmt::format("not read: <include> of '{}' (line {}), which is not in this folder",
                                               text_of(*uri), c.where.line));
          c.ignore();
          return;
        }
        Xml file = parse_xml(read_text(path.string(), path.string()), path.string());
        if (!file.is("sdf")) fail(c.where, fmt::format("'{}' is no SDF", path.string()), "include a model of SDF");
        auto model =
            std::find_if(file.children.begin(), file.children.end(), [](const Xml& m) { return m.is("model"); });
        if (model == file.children.end())
          fail(c.where, fmt::format("'{}' has no model", path.string()), "include a model of SDF");
        include_files(*model, path.parent_path().string(), depth + 1);
        Xml out = std::move(*model);
        std::erase_if(out.children, [&](const Xml& m) { return m.is("pose") && c.child("pose"); });
        for (Xml& m : c.children) {
          if (m.is("name")) {
            std::erase_if(out.attributes, [](const Xml::Attribute& a) { return a.name == "name"; });
            out.attributes.push_back({"name", text_of(m)});
          } else if (m.is("placement_frame")) {
            std::erase_if(out.attributes, [](const Xml::Attribute& a) { return a.name == "placement_frame"; });
            out.attributes.push_back({"placement_frame", text_of(m)});
          } else if (m.is("pose") || m.is("static")) {
            out.children.push_back(std::move(m));
          }
        }
        if (const Text* merge = c.find("merge")) out.attributes.push_back({"merge", *merge});
        c = std::move(out);
      });
    }
  }

  // ---- names
  void gather(Scope& s, bool prefixed) {
    const auto enter = [&](const Xml& x, Scope::Entry::Is is, Scope* inner) {
      const Text* name = x.find("name");
      if (!name || name->empty()) fail(x.where, fmt::format("<{}> has no name", x.name), "give every part a name");
      if (!s.entries.emplace(*name, Scope::Entry{is, &x, inner}).second)
        fail(x.where, fmt::format("there are two parts '{}' in one model", *name), "give each a name of its own");
    };
    using Is = Scope::Entry::Is;
    for (const Xml* l : s.x->all("link"))
      robot_.attempt({"link", ""}, [&] { enter(*l, Is::link, nullptr), s.first_links.push_back(*l->find("name")); });
    for (const Xml* j : s.x->all("joint")) robot_.attempt({"joint", ""}, [&] { enter(*j, Is::joint, nullptr); });
    for (const Xml* f : s.x->all("frame")) robot_.attempt({"frame", ""}, [&] { enter(*f, Is::frame, nullptr); });
    for (const Xml* m : s.x->all("model"))
      robot_.attempt({"model", ""}, [&] {
        auto inner = std::make_unique<Scope>();
        inner->x = m;
        inner->outer = &s;
        enter(*m, Is::model, inner.get());
        inner->name = *m->find("name");
        const Text* merge = m->find("merge");
        inner->merged = merge && is_true(*merge);
        inner->prefix = s.prefix + (prefixed && !inner->merged ? inner->name + "::" : "");
        inner->still = s.still || flag(*m, "static");
        for (const char* nothing : {"self_collide", "allow_auto_disable", "enable_wind"})
          for (const Xml* x : m->all(nothing)) x->ignore();
        gather(*inner, true);
        s.models.push_back(std::move(inner));
      });
  }
  // What a name stands for, and in which model; names of merged models are also those of the model around.
  std::pair<Scope*, Scope::Entry*> look(Scope& s, const Text& name) {
    if (const auto it = s.entries.find(name); it != s.entries.end()) return {&s, &it->second};
    if (const auto at = name.find("::"); at != Text::npos)
      if (const auto it = s.entries.find(name.substr(0, at)); it != s.entries.end() && it->second.inner)
        if (const auto found = look(*it->second.inner, name.substr(at + 2)); found.second) return found;
    for (const auto& m : s.models)
      if (m->merged)
        if (const auto found = look(*m, name); found.second) return found;
    return {nullptr, nullptr};
  }
  std::pair<Scope*, Scope::Entry*> require(Scope& s, const Text& name, const Where& where) {
    const auto found = look(s, name);
    if (found.second) return found;
    std::vector<Text> known;
    for (const auto& [n, e] : s.entries) known.push_back(n);
    fail(where, fmt::format("there is no link, joint, frame or model '{}'", name), suggestion(name, known));
  }

  // ---- where they are
  static Text relative_to(const Xml* pose, const Text& otherwise) {
    if (!pose) return otherwise;
    for (const char* attribute : {"relative_to", "frame"})  // `frame` until SDF 1.6
      if (const Text* to = pose->find(attribute); to && !to->empty()) return *to;
    return otherwise;
  }
  static Text child_of(const Xml& joint) { return end_of(joint, "child"); }
  static Text end_of(const Xml& joint, const char* which) {
    const Xml* e = joint.child(which);
    if (!e)
      fail(joint.where, fmt::format("<joint> has no <{}>", which), fmt::format("give <{}>LINK</{}>", which, which));
    const Text* link = e->find("link");  // until SDF 1.2
    return link ? *link : text_of(*e);
  }
  // What the pose of an entry is told in: another name of the scope.
  Text base_of(const Scope::Entry& e) const {
    const Xml* pose = e.x->child("pose");
    switch (e.is) {
      case Scope::Entry::Is::joint:
        return relative_to(pose, child_of(*e.x));
      case Scope::Entry::Is::frame: {
        const Text* to = e.x->find("attached_to");
        return relative_to(pose, to && !to->empty() ? *to : "__model__");
      }
      default:
        return relative_to(pose, "__model__");
    }
  }
  // In the frame of the model, one after the other along what their poses are told in.
  Frame place(Scope& s, const Text& name, const Where& where) {
    if (name.empty() || name == "__model__") return {};
    if (name == "world" || name == "__root__") return world_place(s).inverse();
    const auto [home, entry] = require(s, name, where);
    if (home != &s) return model_place(s, *home) * place_in(*home, *entry);
    return place_in(s, *entry);
  }
  Frame place_in(Scope& s, Scope::Entry& wanted) {
    std::vector<Scope::Entry*> chain{&wanted};
    const auto release = [&](bool known) {  // what is wrong is told once
      for (Scope::Entry* e : chain) e->open = false, e->known = e->known || known;
    };
    Frame base;
    try {
      while (!chain.back()->known) {
        Scope::Entry& e = *chain.back();
        if (e.open) fail(e.x->where, "its pose is told in itself, by way of others", "break the circle");
        e.open = true;
        const Text name = base_of(e);
        if (const auto it = s.entries.find(name); it != s.entries.end()) {
          if (it->second.open) fail(e.x->where, "its pose is told in itself, by way of others", "break the circle");
          chain.push_back(&it->second);
        } else {
          base = place(s, name, e.x->where);
          break;
        }
      }
      if (chain.back()->known) base = chain.back()->place;
      for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
        Scope::Entry& e = **it;
        if (!e.known) {
          e.place = base * frame_of(e.x->child("pose"));
          if (e.inner)
            if (const Text* placed = e.x->find("placement_frame"); placed && !placed->empty())
              e.place = e.place * place(*e.inner, *placed, e.x->where).inverse();
          e.known = true;
        }
        base = e.place;
      }
    } catch (...) {
      release(true);
      throw;
    }
    release(false);
    return wanted.place;
  }
  // Of a model in one that holds it.
  Frame model_place(Scope& outer, Scope& inner) {
    if (&outer == &inner) return {};
    return model_place(outer, *inner.outer) * place_in(*inner.outer, inner.outer->entries.at(inner.name));
  }
  Frame world_place(Scope& s) {
    return s.outer ? world_place(*s.outer) * place_in(*s.outer, s.outer->entries.at(s.name)) : Frame();
  }
  // The link that a name moves with: its name with its prefix, and where it is in the world.
  struct Holder {
    Text name;  // "" is the world
    Frame place = {};
  };
  Holder holder_of(Scope& s, Text name, const Where& where) {
    Scope* at = &s;
    for (int steps = 0; steps < 1000; ++steps) {
      if (name == "world" || name == "__root__") return {};
      if (name.empty() || name == "__model__") {
        if (at->world) return {};
        const Text* canonical = at->x->find("canonical_link");
        if (canonical && !canonical->empty()) {
          name = *canonical;
        } else if (!at->first_links.empty()) {
          name = at->first_links.front();
        } else if (!at->models.empty()) {
          at = at->models.front().get();
          name = "__model__";
          continue;
        } else {
          fail(where, fmt::format("model '{}' has no link", at->name), "add one");
        }
      }
      const auto [home, e] = require(*at, name, where);
      at = home;
      switch (e->is) {
        case Scope::Entry::Is::link:
          return {home->prefix + *e->x->find("name"), world_place(*home) * place_in(*home, *e)};
        case Scope::Entry::Is::joint:
          name = child_of(*e->x);
          break;
        case Scope::Entry::Is::frame: {
          const Text* to = e->x->find("attached_to");
          name = to ? *to : "__model__";
          break;
        }
        case Scope::Entry::Is::model:
          at = e->inner;
          name = "__model__";
          break;
      }
    }
    fail(where, fmt::format("'{}' is attached to itself, by way of others", name), "break the circle");
  }

  // ---- parts
  void parts(Scope& s) {
    Frame here;
    robot_.attempt({"model", s.name}, [&] { here = world_place(s); });
    for (const Xml* l : s.x->all("link"))
      if (const Text* name = l->find("name"); name && !name->empty()) link(s, here, s.prefix + *name, *l);
    for (const Xml* j : s.x->all("joint"))
      if (const Text* name = j->find("name"); name && !name->empty())
        robot_.attempt({"joint", s.prefix + *name}, [&] { joint(s, s.prefix + *name, *j); });
    for (const auto& m : s.models) parts(*m);
  }

  void link(Scope& s, const Frame& here, const Text& name, const Xml& x) {
    RobotLink l;
    l.name = name;
    l.where = x.where;
    robot_.attempt({"link", name}, [&] { l.place = here * place(s, *x.find("name"), x.where); });
    robot_.attempt({"link", name}, [&] { inertia(l, x); });
    for (const Xml* v : x.all("visual")) robot_.attempt({"link", name}, [&] { visual(l, *v); });
    for (const char* nothing : {"collision", "velocity_decay", "self_collide", "enable_wind", "must_be_base_link",
                                "light", "audio_sink", "audio_source"})
      for (const Xml* c : x.all(nothing)) c->ignore();
    if (const Xml* g = x.child("gravity")) l.weightless = !is_true(text_of(*g));
    if (flag(x, "kinematic"))
      robot_.remarks.push_back(fmt::format("link '{}' is kinematic: here it moves by forces, as the others", name));
    if (s.still) {
      RobotJoint weld;
      weld.name = name + "_weld";
      weld.where = x.where;
      weld.child = name;
      weld.on_parent = l.place;
      weld.base = true;
      robot_.joints.push_back(std::move(weld));
    }
    robot_.links.push_back(std::move(l));
  }

  void inertia(RobotLink& l, const Xml& x) {
    l.mass = 1;
    l.inertia.setIdentity();
    const Xml* inertial = x.child("inertial");
    if (!inertial) {
      if (without_inertial_++ == 0) first_without_ = x.where.line;
      return;
    }
    const Frame frame = frame_of(inertial->child("pose"));
    if (const Xml* pose = inertial->child("pose")) (void)pose->find("frame"), (void)pose->find("relative_to");
    l.centre = frame.at;
    l.mass = number(*inertial, "mass", 1);
    if (const Text* automatic = inertial->find("auto"); automatic && is_true(*automatic))
      robot_.remarks.push_back(
          fmt::format("link '{}': its inertia would come of its collisions, which are not read: "
                      "give <mass> and <inertia>",
                      l.name));
    if (const Xml* i = inertial->child("inertia")) {
      const double xx = number(*i, "ixx", 1), xy = number(*i, "ixy", 0), xz = number(*i, "ixz", 0),
                   yy = number(*i, "iyy", 1), yz = number(*i, "iyz", 0), zz = number(*i, "izz", 1);
      l.inertia << xx, xy, xz, xy, yy, yz, xz, yz, zz;
    }
    if (frame.R != Mat<double, 3>::Identity()) l.inertia = Mat<double, 3>(frame.R * l.inertia * frame.R.transpose());
    l.inertia = Mat<double, 3>(0.5 * (l.inertia + l.inertia.transpose()));
  }

  void visual(RobotLink& l, const Xml& v) {
    const Frame frame = frame_of(v.child("pose"));
    Shape s;
    s.at = frame.at;
    s.axis = frame.R.col(2);
    s.rotation = frame.rotation_vector();
    if (const Xml* m = v.child("material")) {
      m->ignore();
      for (const char* light : {"diffuse", "ambient"})
        if (const Xml* c = m->child(light); c && s.colour.empty())
          if (const std::vector<double> n = c->text_numbers(); n.size() >= 3) s.colour = colour_text(n);
    }
    for (const char* nothing : {"plugin", "cast_shadows", "transparency", "laser_retro", "visibility_flags", "meta"})
      for (const Xml* x : v.all(nothing)) x->ignore();
    const Xml* geometry = v.child("geometry");
    (void)v.find("name");
    if (!geometry) return;
    geometry->ignore();
    const auto radius_and_length = [&](const Xml& x) {
      s.kind = Shape::Kind::cylinder;
      s.radius = number(x, "radius", 0.5);
      s.length = number(x, "length", 1);
    };
    if (const Xml* box = geometry->child("box")) {
      const Xml* size = box->child("size");
      s.kind = Shape::Kind::box;
      s.size = size ? three(*size) : Vec3<double>(1, 1, 1);
    } else if (const Xml* cylinder = geometry->child("cylinder")) {
      radius_and_length(*cylinder);
    } else if (const Xml* capsule = geometry->child("capsule")) {
      radius_and_length(*capsule);
    } else if (const Xml* sphere = geometry->child("sphere")) {
      s.kind = Shape::Kind::sphere;
      s.radius = number(*sphere, "radius", 1);
    } else if (const Xml* mesh = geometry->child("mesh")) {
      const Xml *uri = mesh->child("uri"), *scale = mesh->child("scale");
      if (!uri) return;
      s.kind = Shape::Kind::mesh;
      s.file = text_of(*uri);
      if (scale) s.scale = three(*scale);
    } else {
      return;
    }
    l.shapes.push_back(std::move(s));
  }

  void joint(Scope& s, const Text& name, const Xml& x) {
    static const std::map<Text, Kind, std::less<>> kinds{{"fixed", Kind::fixed},         {"revolute", Kind::revolute},
                                                         {"continuous", Kind::revolute}, {"hinge", Kind::revolute},
                                                         {"prismatic", Kind::prismatic}, {"ball", Kind::spherical},
                                                         {"screw", Kind::screw},         {"universal", Kind::universal},
                                                         {"revolute2", Kind::universal}, {"gearbox", Kind::measured}};
    const Text type = x.require("type");
    const auto kind = kinds.find(type);
    if (kind == kinds.end()) {
      std::vector<Text> known;
      for (const auto& k : kinds) known.push_back(k.first);
      fail(x.where, fmt::format("joint '{}': there is no type '{}'", name, type), suggestion(type, known));
    }
    for (const char* nothing : {"physics", "sensor"})
      for (const Xml* n : x.all(nothing)) n->ignore();
    if (s.still) return x.ignore();  // all its links stand still
    const Holder parent = holder_of(s, end_of(x, "parent"), x.where), child = holder_of(s, end_of(x, "child"), x.where);
    const Frame frame = world_place(s) * place(s, *x.find("name"), x.where);
    RobotJoint j;
    j.name = name;
    j.where = x.where;
    j.kind = kind->second;
    j.parent = parent.name;
    j.child = child.name;
    j.on_parent = parent.place.inverse() * frame;
    j.on_child = child.place.inverse() * frame;
    const Xml *one = x.child("axis"), *two = x.child("axis2");
    if (j.kind != Kind::fixed && j.kind != Kind::spherical) axis(s, frame, one, j);
    if (j.kind == Kind::measured) return gearbox(s, x, frame, two, std::move(j));
    if (j.kind == Kind::screw) {
      if (const Xml* p = x.child("screw_thread_pitch"))
        j.pitch = p->text_number();
      else if (const double given = number(x, "thread_pitch", 0); given != 0)
        j.pitch = -2 * std::numbers::pi / given;  // radians per metre of a left-handed thread
      else
        j.pitch = 1;
      (void)x.child("thread_pitch");
      if (j.pitch == 0) fail(x.where, fmt::format("joint '{}': its pitch is 0", name), "give another one");
    }
    if (j.kind != Kind::universal) return add(std::move(j));
    // Two hinges, with a link without mass between them.
    RobotLink between;
    between.name = name + "_between";
    between.where = x.where;
    between.place = frame;
    RobotJoint second = j;
    second.name = name + "_2";
    second.kind = j.kind = Kind::revolute;
    second.parent = j.child = between.name;
    second.on_parent = j.on_child = {};
    axis(s, frame, two, second);
    robot_.links.push_back(std::move(between));
    add(std::move(j));
    add(std::move(second));
  }
  // A joint has a link as its child: the world is a parent.
  void add(RobotJoint j) {
    if (j.child.empty() && !j.parent.empty()) {
      std::swap(j.parent, j.child);
      std::swap(j.on_parent, j.on_child);
      j.axis = -j.axis;
    }
    j.base = j.parent.empty() && j.kind == Kind::fixed;
    robot_.joints.push_back(std::move(j));
  }

  // <axis> or <axis2>: the direction, what acts along it, how far it may go.
  void axis(Scope& s, const Frame& frame, const Xml* a, RobotJoint& j) {
    if (!a) fail(j.where, fmt::format("joint '{}' has no axis", j.name), "give <axis><xyz>0 0 1</xyz></axis>");
    j.axis = {0, 0, 1};
    const Xml* given = a->child("xyz");
    if (given) j.axis = three(*given);
    const Text* in = given ? given->find("expressed_in") : nullptr;
    const Xml* of_model = a->child("use_parent_model_frame");
    if (in && !in->empty())
      j.axis = frame.R.transpose() * (world_place(s) * place(s, *in, given->where)).R * j.axis;
    else if (of_model ? is_true(text_of(*of_model)) : version_ < 1.5)
      j.axis = frame.R.transpose() * world_place(s).R * j.axis;
    if (const Xml* d = a->child("dynamics")) {
      j.damping = number(*d, "damping", 0);
      j.friction = number(*d, "friction", 0);
      j.stiffness = number(*d, "spring_stiffness", 0);
      j.rest = number(*d, "spring_reference", 0);
    }
    if (const Xml* l = a->child("limit")) {
      constexpr double none = 1e16;  // as SDF writes no limit
      const double lower = number(*l, "lower", -none), upper = number(*l, "upper", none);
      if (lower > -none || upper < none) j.limits = {{lower, upper}};
      l->ignore();
    }
    if (const Xml* m = a->child("mimic")) {
      const Text* which = m->find("axis");
      const double factor = number(*m, "multiplier", 1);
      j.mimic = RobotJoint::Mimic{s.prefix + m->require("joint") + (which && *which == "axis2" ? "_2" : ""), factor,
                                  number(*m, "offset", 0) - factor * number(*m, "reference", 0)};
    }
    j.start = number(*a, "initial_position", 0);
  }

  // The turns of two links about axes of a third one, which other joints let them make, are in a fixed ratio.
  void gearbox(Scope& s, const Xml& x, const Frame& frame, const Xml* second_axis, RobotJoint first) {
    const Xml* body = x.child("gearbox_reference_body");
    if (!body) fail(x.where, fmt::format("joint '{}' has no <gearbox_reference_body>", first.name), "name a link");
    const Holder carrier = holder_of(s, text_of(*body), body->where);
    const double ratio = number(x, "gearbox_ratio", 1);
    RobotJoint second = first;
    second.axis = first.axis;
    second.name = first.name + "_2";
    axis(s, frame, second_axis, second);
    first.child = first.parent;
    first.on_child = first.on_parent;
    first.parent = second.parent = carrier.name;
    first.on_parent = second.on_parent = carrier.place.inverse() * frame;
    robot_.relations.push_back({first.name + "_ratio", x.where, second.name, first.name, {0, -ratio}});
    add(std::move(first));
    add(std::move(second));
  }

  // Joints that place no link, because another one does already, or because they come back to where they began: SDF
  // has no root, so these close loops.
  void close_circles() {
    std::map<Text, std::size_t> number;
    for (const RobotLink& l : robot_.links) number.emplace(l.name, number.size());
    std::vector<std::size_t> tree(number.size());  // of every link: another one of its tree, or itself
    std::iota(tree.begin(), tree.end(), std::size_t{0});
    const auto root = [&](std::size_t i) {
      while (tree[i] != i) i = tree[i] = tree[tree[i]];
      return i;
    };
    for (const bool of_world : {true, false}) {
      for (RobotJoint& j : robot_.joints) {
        if (j.kind == Kind::measured || j.parent.empty() != of_world || j.child.empty()) continue;
        const std::size_t child = number.at(j.child);
        j.loop = placed_.count(j.child) > 0 || (!of_world && root(number.at(j.parent)) == root(child));
        if (j.loop) continue;
        placed_.insert(j.child);
        if (!of_world) tree[root(child)] = root(number.at(j.parent));
      }
    }
  }

  Xml& root_;
  Text folder_;
  const std::vector<Text>& packages_;
  Robot robot_;
  double version_ = 1.7;
  std::set<Text> placed_;  // links, by joints
  int included_ = 0, without_inertial_ = 0, first_without_ = 0;
};

}  // namespace

Robot sdf_robot(const Text& text, const Text& name, const Text& folder, const std::vector<Text>& packages) {
  Xml root = parse_xml(text, name);
  if (!root.is("sdf") && !root.is("gazebo"))  // as it was called until SDF 1.2
    fail(root.where, fmt::format("<{}> is no model of SDF", root.name), "its first element is <sdf>");
  return Sdf(root, folder.empty() ? "." : folder, packages).read();
}

}  // namespace mortise::files
