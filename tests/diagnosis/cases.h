#pragma once
// The corpus: models that are broken in one way or another, each with what the report must say and what mends it, and
// healthy ones that look like them.  One short function each; reading the list is a tour of the subject
// (docs/DIAGNOSIS_CASES.md is made from it by `mortise_diagnosis --page`).

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <mortise/assembly/assembly.h>
#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/diagnosis/rank_report.h>
#include <mortise/joints/coupling.h>
#include <mortise/joints/cylindrical.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/drive_coordinate.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/planar_point_on_line.h>
#include <mortise/joints/point_on_line.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/spherical.h>
#include <mortise/joints/weld.h>

namespace mortise::diagnosis {

struct Case {
  std::string name;                            // "massless_leaf"
  std::string about;                           // one sentence
  std::optional<Verdict> verdict;              // none: the model is healthy
  std::vector<std::string> culprits;           // each is named by a finding of this verdict
  std::string remedy;                          // a remedy told for it contains these words
  std::function<Assembly(bool mended)> model;  // as it is, and with the remedy applied
  std::function<void(State&)> start = {};      // where the places of the bodies are not enough
  std::vector<Verdict> also = {};              // other verdicts that are right, too
  std::string implied = "";                    // kind and equation of what the report says the model implies
};

// All of them, in the order of the sections and within them as they stand in their files.
struct Section {
  std::string title;
  std::vector<Case> cases;
};
std::vector<Section> sections();

std::vector<Case> under_modelled_cases();
std::vector<Case> redundant_cases();
std::vector<Case> conflicting_cases();
std::vector<Case> hidden_cases();
std::vector<Case> other_cases();
std::vector<Case> turned_cases();
std::vector<Case> flat_cases();
std::vector<Case> healthy_cases();
std::vector<Case> structures();  // healthy, too

using V2 = Vec2<double>;
using V3 = Vec3<double>;

// An assembly in the plane with a ground; joints are given where they are in the world.
struct Plane : Assembly {
  Handle<Ground> ground;
  explicit Plane(const std::string& name) : Assembly(name), ground(add("ground", Ground{})) {}

  Handle<PlanarBody> body(const std::string& n, double mass, double inertia, double x = 0, double y = 0,
                          double th = 0) {
    const auto b = add(n, PlanarBody{.mass = mass, .inertia = inertia});
    place(b, {x, y, th});
    return b;
  }
  Handle<Particle<2>> particle(const std::string& n, double mass, double x, double y) {
    const auto p = add(n, Particle<2>{.mass = mass});
    place(p, {x, y});
    return p;
  }
  void pin(const std::string& n, const auto& a, const auto& b, double x, double y) {
    connect(n, at_world<Pin>(V2(x, y)), a, b);
  }
  void rod(const std::string& n, const auto& a, V2 from, const auto& b, V2 to) {
    connect(n, at_world<Distance<2>>(from, to), a, b);
  }
  void drive(const std::string& n, const auto& a, const std::string& coordinate, Function f) {
    connect(n, DriveCoordinate{.coordinate = coordinate, .f = std::move(f)}, a);
  }
};

struct Space : Assembly {
  Handle<Ground> ground;
  explicit Space(const std::string& name) : Assembly(name), ground(add("ground", Ground{})) {}

  Handle<RigidBody> body(const std::string& n, double mass, V3 inertia, V3 at = {0, 0, 0}) {
    const auto b = add(n, RigidBody{.mass = mass, .inertia = inertia.asDiagonal()});
    place(b, RigidBody::pose(at, {1, 0, 0, 0}));
    return b;
  }
  void revolute(const std::string& n, const auto& a, const auto& b, V3 at, V3 axis) {
    connect(n, at_world<Revolute>(at, Axis(axis)), a, b);
  }
  void spherical(const std::string& n, const auto& a, const auto& b, V3 at) {
    connect(n, at_world<Spherical>(at), a, b);
  }
  void weld(const std::string& n, const auto& a, const auto& b, V3 at) { connect(n, at_world<Weld>(at), a, b); }
};

// Relations between coordinates of particles on one line.
struct Line : Assembly {
  explicit Line(const std::string& name) : Assembly(name) {}
  Handle<Particle<1>> particle(const std::string& n, double mass) { return add(n, Particle<1>{.mass = mass}); }
  void couple(const std::string& n, const auto& a, double fa, const auto& b, double fb, double constant = 0) {
    connect(n, Coupling{.terms = {{0, "x", fa}, {1, "x", fb}}, .constant = constant}, a, b);
  }
};

}  // namespace mortise::diagnosis
