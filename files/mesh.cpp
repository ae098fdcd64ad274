#include <mortise/files/mesh.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <numbers>

#include <mortise/files/robot_description.h>
#include <mortise/files/xml.h>

namespace mortise::files {
namespace {

using Text = std::string;
using Triangle = std::array<std::uint32_t, 3>;

constexpr std::size_t most_bytes = 100'000'000;

// Collects triangles; points that are the same to the last bit become one.
class Collector {
 public:
  explicit Collector(Mesh::Part& part) : part_(part) {}
  std::uint32_t point(const Vec3<double>& x) {
    const auto [it, fresh] = index_.try_emplace({x[0], x[1], x[2]}, static_cast<std::uint32_t>(part_.points.size()));
    if (fresh) part_.points.push_back(x);
    return it->second;
  }
  void triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    if (a != b && b != c && c != a) part_.triangles.push_back({a, b, c});
  }

 private:
  Mesh::Part& part_;
  std::map<std::array<double, 3>, std::uint32_t> index_;
};

float float_at(const Text& bytes, std::size_t at) {
  static_assert(std::endian::native == std::endian::little);
  float x = 0;
  std::memcpy(&x, bytes.data() + at, sizeof x);
  return x;
}

Vec3<double> finite(const Where& where, const Vec3<double>& x) {
  if (!x.allFinite()) fail(where, "a point of the mesh is not finite", "export it anew");
  return x;
}

// Words between blanks; text is read once.
class Words {
 public:
  Words(const Text& text, Where where) : text_(text), where_(std::move(where)) {}
  std::string_view next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
      where_.line += text_[at_++] == '\n';
    const std::size_t first = at_;
    while (at_ < text_.size() && !std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return std::string_view(text_).substr(first, at_ - first);
  }
  double number() {
    std::string_view word = next();
    if (word.starts_with('+')) word.remove_prefix(1);
    double x = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), x).ec != std::errc())
      fail(where_, fmt::format("'{}' is not a number", word), "export the mesh anew");
    return x;
  }
  const Where& where() const { return where_; }

 private:
  const Text& text_;
  Where where_;
  std::size_t at_ = 0;
};

Mesh stl(const Text& text, const Where& where) {
  Mesh mesh;
  Collector out(mesh.parts.emplace_back());
  constexpr std::size_t head = 84, size = 50;
  std::uint32_t count = 0;
  if (text.size() >= head) std::memcpy(&count, text.data() + 80, sizeof count);
  if (text.size() >= head && text.size() >= head + size * static_cast<std::size_t>(count) &&
      (count > 0 || !text.starts_with("solid"))) {
    for (std::size_t i = 0; i < count; ++i) {
      Triangle t{};
      for (std::size_t k = 0; k < 3; ++k) {
        const std::size_t at = head + size * i + 12 * (k + 1);
        t[k] = out.point(finite(where, {float_at(text, at), float_at(text, at + 4), float_at(text, at + 8)}));
      }
      out.triangle(t[0], t[1], t[2]);
    }
    return mesh;
  }
  if (!text.starts_with("solid"))
    fail(where, text.size() < head ? Text("this is no STL") : fmt::format("it ends before its {} triangles", count),
         "export it anew");
  Words words(text, where);
  std::vector<std::uint32_t> corners;
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word == "vertex") {
      const double x = words.number(), y = words.number(), z = words.number();
      corners.push_back(out.point(finite(words.where(), {x, y, z})));
    } else if (word == "endloop") {
      for (std::size_t k = 2; k < corners.size(); ++k) out.triangle(corners[0], corners[k - 1], corners[k]);
      corners.clear();
    }
  }
  return mesh;
}

// Colours of the materials of an OBJ, from the MTL beside it.
std::map<Text, Text> mtl(const std::filesystem::path& path) {
  std::map<Text, Text> out;
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return out;
  const Text text = read_text(path.string(), path.string());
  Words words(text, {std::make_shared<const Text>(path.string()), 1, 1});
  Text name;
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word == "newmtl") name = words.next();
    if (word == "Kd") {
      const double r = words.number(), g = words.number(), b = words.number();
      out[name] = colour_text({r, g, b});
    }
  }
  return out;
}

Mesh obj(const Text& text, const Where& where, const std::filesystem::path& path) {
  Mesh mesh;
  std::map<Text, Text> colours;
  std::map<Text, std::pair<std::size_t, std::map<std::uint32_t, std::uint32_t>>> parts;  // by material: points of all
  std::vector<Vec3<double>> points;
  Text material;
  Where at = where;
  for (std::size_t i = 0; i < text.size(); ++at.line) {
    const std::size_t end = std::min(text.find('\n', i), text.size());
    const Text line = text.substr(i, end - i);
    i = end + 1;
    Words words(line, at);
    const std::string_view kind = words.next();
    if (kind == "v") {
      const double x = words.number(), y = words.number(), z = words.number();
      points.push_back(finite(at, {x, y, z}));
    } else if (kind == "mtllib") {
      const Text file(words.next());
      if (file.find("..") == Text::npos && file.find('/') == Text::npos) colours.merge(mtl(path.parent_path() / file));
    } else if (kind == "usemtl") {
      material = words.next();
    } else if (kind == "f") {
      const auto [it, fresh] = parts.try_emplace(material, mesh.parts.size(), std::map<std::uint32_t, std::uint32_t>());
      if (fresh) mesh.parts.emplace_back();
      Mesh::Part& part = mesh.parts[it->second.first];
      std::vector<std::uint32_t> corners;
      for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
        long k = 0;
        if (std::from_chars(word.data(), word.data() + word.size(), k).ec != std::errc())
          fail(at, fmt::format("'{}' is no corner", word), "export the mesh anew");
        const long count = std::ssize(points), index = k > 0 ? k - 1 : count + k;
        if (k == 0 || index < 0 || index >= count)
          fail(at, fmt::format("corner {} is none of its {} points", k, count), "export the mesh anew");
        const auto [point, new_point] = it->second.second.try_emplace(static_cast<std::uint32_t>(index),
                                                                      static_cast<std::uint32_t>(part.points.size()));
        if (new_point) part.points.push_back(points[static_cast<std::size_t>(index)]);
        corners.push_back(point->second);
      }
      for (std::size_t k = 2; k < corners.size(); ++k)
        part.triangles.push_back({corners[0], corners[k - 1], corners[k]});
    }
  }
  for (const auto& [name, part] : parts)
    if (const auto c = colours.find(name); c != colours.end()) mesh.parts[part.first].colour = c->second;
  return mesh;
}

// COLLADA: the geometries of the scene, each where its nodes put it.
class Dae {
 public:
  explicit Dae(const Xml& root) : root_(root) {
    gather(root, 0);
    const Xml* asset = root.child("asset");
    const Xml* u = asset ? asset->child("unit") : nullptr;
    const double unit = u ? u->number("meter", 1) : 1;  // its up_axis means nothing to robots
    world_ = unit * MatrixXd::Identity(4, 4);
    world_(3, 3) = 1;
  }

  Mesh read() {
    for (const Xml* library : root_.all("library_visual_scenes"))
      for (const Xml* scene : library->all("visual_scene"))
        for (const Xml* n : scene->all("node")) node(*n, world_, 0);
    if (mesh_.triangles() == 0)  // without a scene, as they stand
      for (const Xml* library : root_.all("library_geometries"))
        for (const Xml* g : library->all("geometry")) geometry(*g, world_, {});
    return std::move(mesh_);
  }

 private:
  using Matrix4 = Mat<double, 4>;

  void gather(const Xml& x, int depth) {
    if (const Text* id = x.find("id")) ids_.emplace(*id, &x);
    if (depth < 64)
      for (const Xml& c : x.children) gather(c, depth + 1);
  }
  const Xml* look(const Text* url) const {
    if (!url) return nullptr;
    const auto it = ids_.find(url->starts_with('#') ? url->substr(1) : *url);
    return it == ids_.end() ? nullptr : it->second;
  }

  void node(const Xml& n, const Matrix4& outside, int depth) {
    constexpr int deepest = 32, most = 100'000;
    if (depth > deepest || ++nodes_ > most) return;
    Matrix4 here = outside;
    for (const Xml& c : n.children) {
      if (c.is("matrix")) {
        const std::vector<double> x = c.text_numbers();
        if (x.size() == 16) here = here * Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>>(x.data());
      } else if (c.is("translate") || c.is("scale") || c.is("rotate")) {
        const std::vector<double> x = c.text_numbers();
        Matrix4 m = Matrix4::Identity();
        if (c.is("translate") && x.size() == 3) m.block<3, 1>(0, 3) << x[0], x[1], x[2];
        if (c.is("scale") && x.size() == 3) m.diagonal() << x[0], x[1], x[2], 1;
        if (c.is("rotate") && x.size() == 4 && Vec3<double>(x[0], x[1], x[2]).norm() > 0)
          m.block<3, 3>(0, 0) =
              Frame::turn(Vec3<double>(x[0], x[1], x[2]).normalized(), x[3] * std::numbers::pi / 180).R;
        here = here * m;
      }
    }
    for (const Xml* i : n.all("instance_geometry"))
      if (const Xml* g = look(i->find("url"))) geometry(*g, here, materials(*i));
    for (const Xml* i : n.all("instance_node"))
      if (const Xml* other = look(i->find("url"))) node(*other, here, depth + 1);
    for (const Xml* c : n.all("node")) node(*c, here, depth + 1);
  }

  // From the symbols of a geometry's materials to colours.
  std::map<Text, Text> materials(const Xml& instance) const {
    std::map<Text, Text> out;
    const Xml* bind = instance.child("bind_material");
    const Xml* common = bind ? bind->child("technique_common") : nullptr;
    if (!common) return out;
    for (const Xml* m : common->all("instance_material")) {
      const Text* symbol = m->find("symbol");
      if (const Text c = colour(look(m->find("target"))); symbol && !c.empty()) out[*symbol] = c;
    }
    return out;
  }
  Text colour(const Xml* material) const {
    if (!material) return {};
    const Xml* instance = material->child("instance_effect");
    const Xml* effect = instance ? look(instance->find("url")) : nullptr;
    const Xml* profile = effect ? effect->child("profile_COMMON") : nullptr;
    const Xml* technique = profile ? profile->child("technique") : nullptr;
    if (!technique) return {};
    for (const Xml& shading : technique->children)
      if (const Xml* diffuse = shading.child("diffuse"))
        if (const Xml* c = diffuse->child("color"))
          if (const std::vector<double> x = c->text_numbers(); x.size() >= 3) return colour_text(x);
    return {};
  }

  void geometry(const Xml& g, const Matrix4& here, const std::map<Text, Text>& colours) {
    const Xml* mesh = g.child("mesh");
    if (!mesh) return;
    const bool mirrored = here.block<3, 3>(0, 0).determinant() < 0;
    for (const char* kind : {"triangles", "polylist", "polygons", "trifans", "tristrips"})
      for (const Xml* list : mesh->all(kind)) {
        const Xml *position = nullptr, *source = nullptr;
        std::size_t offset = 0, stride = 0;
        for (const Xml* input : list->all("input")) {
          const auto at = static_cast<std::size_t>(std::clamp(input->number("offset", 0), 0.0, 64.0));
          stride = std::max(stride, at + 1);
          const Text* semantic = input->find("semantic");
          if (semantic && *semantic == "VERTEX") offset = at, position = look(input->find("source"));
        }
        if (position)
          for (const Xml* input : position->all("input"))
            if (const Text* semantic = input->find("semantic"); semantic && *semantic == "POSITION")
              source = look(input->find("source"));
        const Xml* numbers = source ? source->child("float_array") : nullptr;
        if (!numbers) continue;
        const auto [at, fresh] = arrays_.try_emplace(numbers);
        if (fresh) at->second = numbers->text_numbers();
        const std::vector<double>& x = at->second;
        mesh_.parts.emplace_back();
        Mesh::Part& part = mesh_.parts.back();
        if (const Text* m = list->find("material"))
          if (const auto c = colours.find(*m); c != colours.end()) part.colour = c->second;
        std::map<std::size_t, std::uint32_t> known;
        const auto corner = [&](double k) -> std::uint32_t {
          if (!(k >= 0) || 3 * (k + 1) > static_cast<double>(x.size()))
            fail(list->where, fmt::format("corner {} is none of its {} points", k, x.size() / 3), "export it anew");
          const auto i = static_cast<std::size_t>(k);
          const auto [it, new_point] = known.try_emplace(i, static_cast<std::uint32_t>(part.points.size()));
          if (new_point)
            part.points.push_back((here * Vec<double, 4>(x[3 * i], x[3 * i + 1], x[3 * i + 2], 1)).head<3>());
          return it->second;
        };
        const auto polygon = [&](const std::vector<double>& p, std::size_t first, std::size_t count) {
          for (std::size_t k = 2; k < count; ++k) {
            Triangle t{corner(p[(first)*stride + offset]), corner(p[(first + k - 1) * stride + offset]),
                       corner(p[(first + k) * stride + offset])};
            if (mirrored) std::swap(t[1], t[2]);
            part.triangles.push_back(t);
          }
        };
        const Xml* counts = list->child("vcount");
        for (const Xml* p : list->all("p")) {
          const std::vector<double> n = p->text_numbers();
          const std::size_t corners = stride == 0 ? 0 : n.size() / stride;
          std::size_t first = 0;
          if (counts) {
            for (const double c : counts->text_numbers()) {
              const auto count = static_cast<std::size_t>(std::clamp(c, 0.0, 1e6));
              if (first + count > corners) break;
              polygon(n, first, count);
              first += count;
            }
          } else if (list->is("polygons") || list->is("trifans")) {
            polygon(n, 0, corners);
          } else if (list->is("tristrips")) {
            for (; first + 3 <= corners; ++first) polygon(n, first, 3);
          } else {
            for (; first + 3 <= corners; first += 3) polygon(n, first, 3);
          }
        }
      }
  }

  const Xml& root_;
  std::map<Text, const Xml*> ids_;
  std::map<const Xml*, std::vector<double>> arrays_;
  Matrix4 world_;
  Mesh mesh_;
  int nodes_ = 0;
};

}  // namespace

std::size_t Mesh::triangles() const {
  std::size_t out = 0;
  for (const Part& p : parts) out += p.triangles.size();
  return out;
}

std::string mesh_file(const std::string& named, const std::string& robot, const std::vector<std::string>& packages) {
  namespace fs = std::filesystem;
  std::error_code none;
  const auto there = [&](const fs::path& p) { return fs::is_regular_file(p, none); };
  const fs::path folder = fs::absolute(fs::path(robot), none).parent_path();
  const auto scheme = named.find("://");
  if (scheme == Text::npos) {
    const fs::path path = fs::path(named).is_absolute() ? fs::path(named) : folder / named;
    return there(path) ? path.string() : "";
  }
  const Text rest = named.substr(scheme + 3);
  if (named.starts_with("file://")) return there(rest) ? rest : "";
  const auto slash = rest.find('/');
  const Text package = rest.substr(0, slash), inside = slash == Text::npos ? "" : rest.substr(slash + 1);
  std::vector<fs::path> folders;
  for (const Text& p : packages) folders.emplace_back(fs::absolute(p, none));
  constexpr int above = 6;
  fs::path at = folder;
  for (int i = 0; i < above && at.has_relative_path(); ++i, at = at.parent_path()) folders.push_back(at);
  for (const fs::path& f : folders) {
    if (there(f / rest)) return (f / rest).string();
    if (f.filename() == package && there(f / inside)) return (f / inside).string();
  }
  return "";
}

Mesh read_mesh(const std::string& path) {
  const std::filesystem::path file(path);
  Text ending = file.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  const Where where{std::make_shared<const Text>(path), 1, 1};
  const Limits limits{.bytes = most_bytes};
  Mesh mesh;
  if (ending == ".stl")
    mesh = stl(read_text(path, path, limits), where);
  else if (ending == ".obj")
    mesh = obj(read_text(path, path, limits), where, file);
  else if (ending == ".dae")
    mesh = Dae(parse_xml(read_text(path, path, limits), path, limits)).read();
  else
    fail(where, fmt::format("meshes of the kind '{}' are not read", ending), "give STL, OBJ or DAE");
  std::erase_if(mesh.parts, [](const Mesh::Part& p) { return p.triangles.empty(); });
  if (mesh.parts.empty()) fail(where, "the mesh has no triangles", "export it anew");
  return mesh;
}

Mesh thinned(const Mesh& mesh, std::size_t triangles) {
  if (mesh.triangles() <= triangles) return mesh;
  Vec3<double> least = mesh.parts.front().points.front(), most = least;
  for (const Mesh::Part& p : mesh.parts)
    for (const Vec3<double>& x : p.points) least = least.cwiseMin(x), most = most.cwiseMax(x);
  const double size = std::max((most - least).maxCoeff(), 1e-300);
  const auto with = [&](double cells) {
    Mesh out;
    for (const Mesh::Part& p : mesh.parts) {
      Mesh::Part& to = out.parts.emplace_back();
      to.colour = p.colour;
      std::map<std::array<long, 3>, std::uint32_t> cell;
      std::vector<std::uint32_t> in;
      std::vector<double> weight;
      for (const Vec3<double>& x : p.points) {
        const Vec3<double> u = cells / size * (x - least);
        const auto [it, fresh] =
            cell.try_emplace({static_cast<long>(u[0]), static_cast<long>(u[1]), static_cast<long>(u[2])},
                             static_cast<std::uint32_t>(to.points.size()));
        if (fresh) to.points.push_back(Vec3<double>::Zero()), weight.push_back(0);
        to.points[it->second] += x;
        weight[it->second] += 1;
        in.push_back(it->second);
      }
      for (std::size_t i = 0; i < weight.size(); ++i) to.points[i] /= weight[i];
      for (const Triangle& t : p.triangles) {
        Triangle s{in[t[0]], in[t[1]], in[t[2]]};
        if (s[0] == s[1] || s[1] == s[2] || s[2] == s[0]) continue;
        std::rotate(s.begin(), std::min_element(s.begin(), s.end()), s.end());
        to.triangles.push_back(s);
      }
      std::sort(to.triangles.begin(), to.triangles.end());
      to.triangles.erase(std::unique(to.triangles.begin(), to.triangles.end()), to.triangles.end());
    }
    return out;
  };
  double low = 1, high = 4096;  // cells along the longest side
  constexpr int halvings = 10;
  for (int i = 0; i < halvings; ++i) {
    const double middle = std::sqrt(low * high);
    (with(middle).triangles() <= triangles ? low : high) = middle;
  }
  Mesh out = with(low);
  std::erase_if(out.parts, [](const Mesh::Part& p) { return p.triangles.empty(); });
  return out;
}

Enclosed enclosed(const Mesh& mesh, const Vec3<double>& scale) {
  Enclosed out;
  Mat<double, 3> second = Mat<double, 3>::Zero();  // integral of x x'
  for (const Mesh::Part& p : mesh.parts)
    for (const Triangle& t : p.triangles) {
      Mat<double, 3> corners;
      for (Index k = 0; k < 3; ++k) corners.col(k) = scale.cwiseProduct(p.points[t[static_cast<std::size_t>(k)]]);
      const double volume = corners.determinant() / 6;  // of the tetrahedron with the origin
      const Vec3<double> sum = corners.rowwise().sum();
      out.volume += volume;
      out.centre += volume / 4 * sum;
      second += volume / 20 * (sum * sum.transpose() + corners * corners.transpose());
    }
  const double sign = out.volume < 0 ? -1 : 1;  // turned inside out
  out.volume *= sign, out.centre *= sign, second *= sign;
  if (!(out.volume > 0)) return {};
  out.centre /= out.volume;
  second -= out.volume * out.centre * out.centre.transpose();
  out.inertia = second.trace() * Mat<double, 3>::Identity() - second;
  return out;
}

}  // namespace mortise::files
