#include "scene.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>

namespace mortise {
namespace {

using Motion = SceneBody::Motion;
using V = Vec3<double>;

template <class B> const B* as(const BodyModel& model) {
  const auto* made = dynamic_cast<const MadeFrom<B, BodyModel>*>(&model);
  return made ? &made->part() : nullptr;
}

Motion motion_of(const BodyModel& model) {
  if (as<Ground>(model)) return Motion::fixed;
  if (as<PlanarBody>(model)) return Motion::planar;
  if (as<RigidBody>(model)) return Motion::rigid;
  if (as<Particle<1>>(model) || as<Particle<2>>(model) || as<Particle<3>>(model)) return Motion::point;
  if (as<Structure>(model)) return Motion::elastic;
  return Motion::unknown;
}

bool leaves_plane(const BodyModel& model) {
  if (as<RigidBody>(model) || as<Particle<3>>(model)) return true;
  if (const auto* s = as<Structure>(model)) {
    for (const std::string& c : s->coordinates)
      if (c.ends_with(".uz") || c.ends_with(".rx") || c.ends_with(".ry")) return true;
    for (const auto& n : s->nodes)
      if (n.position[2] != 0) return true;
  }
  return false;
}

template <class Part> void mark(std::vector<SceneBody>& bodies, const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    const Sketch sketch = part.model->sketch();
    for (const Sketch::Mark& m : sketch.points) {
      if (m.body >= part.bodies.size()) continue;
      SceneBody& body = bodies[part.bodies[m.body]];
      body.marks.push_back(m.value);
      body.slides = body.slides || sketch.kind == "slider";
    }
  }
}

// Points that are apart by more than a share of their spread, in their order.
std::vector<V> distinct(std::vector<V> points) {
  double spread = 0;
  for (const V& p : points)
    for (const V& q : points) spread = std::max(spread, (p - q).norm());
  std::vector<V> out;
  for (const V& p : points)
    if (std::none_of(out.begin(), out.end(), [&](const V& q) { return (p - q).norm() <= 1e-6 * spread; }))
      out.push_back(p);
  return out;
}

double spread_of(const std::vector<V>& points) {
  double spread = 0;
  for (const V& p : points) spread = std::max(spread, (p - points.front()).norm());
  return spread;
}

Piece ball(const V& at, double diameter) { return {"sphere", V::Constant(diameter), at}; }

// A link through all its points: a plate in the plane, a rod between two, rods from their middle otherwise.
void add_link(std::vector<Piece>& out, const std::vector<V>& points, double thickness, bool planar) {
  if (points.size() < 2) return;
  if (planar) {
    out.push_back({"plate", {2 * thickness, 0, 0.7 * thickness}});
    out.back().corners = points;
  } else if (points.size() == 2) {
    out.push_back(rod_between(points[0], points[1], thickness));
  } else {
    V middle = V::Zero();
    for (const V& p : points) middle += p / static_cast<double>(points.size());
    for (const V& p : points)
      if ((p - middle).norm() > 0) out.push_back(rod_between(middle, p, thickness));
  }
}

void add_planar(SceneBody& body, const PlanarBody& b, double thickness) {
  const V centre(b.centre[0], b.centre[1], 0);
  std::vector<V> points = distinct(body.marks);
  const double length = b.mass > 0 ? std::sqrt(12 * b.inertia / b.mass) : 0;  // of a uniform rod
  if (points.size() >= 2) {
    if (b.mass > 0) points.push_back(centre);
  } else if (length > 0 && points.size() == 1 && (points[0] - centre).norm() > 1e-3 * length) {
    const V half = 0.5 * length * (centre - points[0]).normalized();  // seen from its only joint
    points = {points[0], centre - half, centre + half};
  } else if (length > 0) {
    const double edge = std::sqrt(6 * b.inertia / b.mass), radius = std::sqrt(2 * b.inertia / b.mass);
    if (body.slides)
      body.pieces.push_back({"box", {edge, edge, 0.7 * thickness}, centre});
    else
      body.pieces.push_back({"cylinder", {2 * radius, 0.7 * thickness, 0}, centre});
    return;
  } else if (points.size() == 1) {
    points.push_back(centre);
  }
  points = distinct(points);
  add_link(body.pieces, points, thickness, true);
  if (points.size() < 2 || (b.mass > 0 && b.inertia == 0)) body.pieces.push_back(ball(centre, 3 * thickness));
}

void add_rigid(SceneBody& body, const RigidBody& b, double thickness) {
  const std::vector<V> points = distinct(body.marks);
  const Eigen::SelfAdjointEigenSolver<Mat<double, 3>> principal(b.inertia);
  const V J = principal.eigenvalues();
  if (b.mass > 0 && J[2] > 0) {
    Mat<double, 3> axes = principal.eigenvectors();
    if (axes.determinant() < 0) axes.col(0) *= -1;
    // Jx = m (y^2 + z^2) / 12 and so on, solved for the edges.
    V edges;
    for (int k = 0; k < 3; ++k) edges[k] = std::sqrt(std::max(0.0, 6 * (J.sum() - 2 * J[k]) / b.mass));
    constexpr double thin = 0.06;  // a box with two edges below this share of the third is a rod
    const double longest = edges.maxCoeff();
    if (edges[1] <= thin * longest && edges[2] <= thin * longest)  // moments ascend, so edges descend
      body.pieces.push_back(rod_between(b.centre - 0.5 * longest * axes.col(0), b.centre + 0.5 * longest * axes.col(0),
                                        std::max(edges[1], thickness)));
    else
      body.pieces.push_back({"box", edges.cwiseMax(0.6 * thickness), b.centre, axes});
    const V inside = 0.5 * edges + V::Constant(0.6 * thickness);
    for (const V& p : points) {
      const V r = axes.transpose() * (p - b.centre);
      if ((r.cwiseAbs().array() > inside.array()).any())
        body.pieces.push_back(rod_between(b.centre, p, 0.6 * thickness));
    }
  } else {
    std::vector<V> all = points;
    if (b.mass > 0 || all.size() == 1) all = (all.push_back(b.centre), distinct(all));
    add_link(body.pieces, all, thickness, false);
    if (all.size() < 2 || b.mass > 0) body.pieces.push_back(ball(b.centre, 3 * thickness));
  }
}

// Wheels, disks and balls take their shape from the joint they roll by.
void add_rolling(std::vector<SceneBody>& bodies, const System& system, double thickness) {
  for (const auto& c : system.constraints()) {
    const Sketch s = c.model->sketch();
    const auto number = [&](std::string_view name) {
      for (const auto& [n, x] : s.numbers)
        if (n == name) return std::abs(x);
      return 0.0;
    };
    const auto on = [&](const std::vector<Sketch::Mark>& marks, std::size_t body, const V& otherwise) {
      for (const auto& m : marks)
        if (m.body == body) return m.value;
      return otherwise;
    };
    const auto disk = [&](std::size_t body, double radius, const V& axis) {
      SceneBody& b = bodies[c.bodies[body]];
      if (b.motion == Motion::fixed) return;
      b.pieces = {{"cylinder", {2 * radius, 0.8 * thickness, 0}, on(s.points, body, V::Zero()), frame_along(axis)}};
    };
    if (s.kind == "rolling_wheel") disk(1, number("radius"), V::UnitZ());
    if (s.kind == "rolling_disk") disk(1, number("radius"), on(s.axes, 1, V::UnitZ()));
    if (s.kind == "rolling_sphere")
      bodies[c.bodies[1]].pieces = {ball(on(s.points, 1, V::Zero()), 2 * number("radius"))};
    if (s.kind == "planar_gear" || s.kind == "belt") {
      disk(0, number("radius_a"), V::UnitZ());
      disk(1, number("radius_b"), V::UnitZ());
    }
  }
}

}  // namespace

Piece rod_between(const V& from, const V& to, double diameter) {
  return {"rod", {diameter, (to - from).norm() + diameter, 0}, 0.5 * (from + to), frame_along(to - from)};
}

Mat<double, 3> frame_along(const V& z) {
  Mat<double, 3> R;
  const double length = z.norm();
  R.col(2) = length > 0 ? V(z / length) : V::UnitZ();
  R.col(0) = R.col(2).unitOrthogonal();
  R.col(1) = R.col(2).cross(R.col(0));
  return R;
}

std::optional<BodyPose> pose_at(const SceneBody& body, const RunTable& run, Index sample) {
  BodyPose pose;
  const auto q = [&](std::size_t i) { return run.value(sample, body.columns[i]); };
  if (body.motion == Motion::point) {
    for (std::size_t i = 0; i < body.columns.size(); ++i) pose.origin[static_cast<Index>(i)] = q(i);
  } else if (body.motion == Motion::planar) {
    pose.origin = {q(0), q(1), 0};
    const double c = std::cos(q(2)), s = std::sin(q(2));
    pose.axes << c, -s, 0, s, c, 0, 0, 0, 1;
  } else if (body.motion == Motion::rigid) {
    pose.origin = {q(0), q(1), q(2)};
    pose.axes = Eigen::Quaterniond(q(3), q(4), q(5), q(6)).normalized().toRotationMatrix();
  } else if (body.motion != Motion::fixed) {
    return std::nullopt;
  }
  return pose;
}

std::optional<V> point_at(const SceneBody& body, const RunTable& run, Index sample, const V& r) {
  if (body.motion == Motion::elastic) {
    VectorXd q(static_cast<Index>(body.columns.size()));
    for (std::size_t i = 0; i < body.columns.size(); ++i) q[static_cast<Index>(i)] = run.value(sample, body.columns[i]);
    try {
      return body.structure->point(q, r);
    } catch (const InvalidModel&) {  // no node is there
      return std::nullopt;
    }
  }
  const auto pose = pose_at(body, run, sample);
  if (!pose) return std::nullopt;
  return *pose * r;
}

Scene scene_of(const System& system, const RunTable& run) {
  Scene scene;
  scene.planar = true;
  for (const auto& b : system.bodies()) {
    SceneBody body;
    body.name = b.name;
    body.kind = b.model->kind().empty() ? "body" : b.model->kind();
    if (as<Ground>(*b.model)) body.kind = "ground";
    body.motion = motion_of(*b.model);
    body.mass = b.model->mass();
    body.structure = as<Structure>(*b.model);
    if (body.motion != Motion::unknown)
      for (Index i = 0; i < b.size; ++i) {
        const std::string name = system.coordinate(b.first + i);
        const Index column = run.find(name);
        if (column < 0)
          Label{"column", name}.fail<InvalidModel>(
              fmt::format("'{}' has not recorded it, which moves body '{}'", run.source, b.name),
              "record coordinates, and give the model that was run");
        body.columns.push_back(column);
      }
    scene.planar = scene.planar && !leaves_plane(*b.model);
    scene.bodies.push_back(std::move(body));
  }
  mark(scene.bodies, system.constraints());
  mark(scene.bodies, system.forces());

  // Extents: of the start, of links, and of the whole motion at up to 200 samples.
  const auto look = [&](Index sample, V& least, V& most, bool& any) {
    for (const SceneBody& b : scene.bodies) {
      std::vector<V> points = b.marks;
      if (b.motion != Motion::fixed && b.motion != Motion::elastic) points.push_back(V::Zero());
      if (b.structure)
        for (const auto& n : b.structure->nodes) points.push_back(n.position);
      for (const V& r : points)
        if (const auto p = point_at(b, run, sample, r)) {
          least = any ? V(least.cwiseMin(*p)) : *p;
          most = any ? V(most.cwiseMax(*p)) : *p;
          any = true;
        }
    }
  };
  V least = V::Zero(), most = V::Zero();
  bool any = false, some = false;
  look(0, least, most, any);
  std::vector<double> links;
  for (const SceneBody& b : scene.bodies) {
    if (b.motion == Motion::planar || b.motion == Motion::rigid)
      if (const double l = b.marks.empty() ? 0 : spread_of(b.marks); l > 0) links.push_back(l);
    if (b.structure && !b.structure->nodes.empty()) {
      std::vector<V> nodes;
      for (const auto& n : b.structure->nodes) nodes.push_back(n.position);
      links.push_back(spread_of(nodes));
    }
    if (const auto& model = system.bodies()[static_cast<std::size_t>(&b - scene.bodies.data())].model; b.mass > 0) {
      if (const auto* p = as<PlanarBody>(*model); p && p->inertia > 0)
        links.push_back(std::sqrt(12 * p->inertia / p->mass));
      if (const auto* r = as<RigidBody>(*model); r && r->inertia.trace() > 0)
        links.push_back(std::sqrt(6 * r->inertia.trace() / r->mass));
    }
  }
  scene.size = (most - least).norm();
  for (const double l : links) scene.size = std::max(scene.size, l);
  if (!(scene.size > 0)) scene.size = 1;
  std::sort(links.begin(), links.end());
  const double link = links.empty() ? scene.size : links[links.size() / 2];
  scene.thickness = std::clamp(0.05 * link, 0.003 * scene.size, (scene.planar ? 0.03 : 0.022) * scene.size);
  const Index stride = std::max<Index>(1, run.samples() / 200);
  for (Index k = 0; k < run.samples(); k += stride) look(k, scene.least, scene.most, some);

  for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
    SceneBody& b = scene.bodies[i];
    const BodyModel& model = *system.bodies()[i].model;
    if (const auto* p = as<PlanarBody>(model)) add_planar(b, *p, scene.thickness);
    if (const auto* r = as<RigidBody>(model)) add_rigid(b, *r, scene.thickness);
  }
  add_rolling(scene.bodies, system, scene.thickness);
  double heaviest = 0;
  for (const SceneBody& b : scene.bodies)
    if (b.motion == Motion::point) heaviest = std::max(heaviest, b.mass);
  for (SceneBody& b : scene.bodies) {
    if (b.motion == Motion::point)
      b.pieces.push_back(ball(V::Zero(), scene.thickness * (b.mass > 0 ? 2 + 1.5 * std::cbrt(b.mass / heaviest) : 2)));
    if (b.mass == 0)
      for (Piece& p : b.pieces) p.outline = true;
  }
  return scene;
}

}  // namespace mortise
