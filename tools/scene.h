#pragma once
// Scene: what of a system can be drawn, and how it moves with a run.  The page of view.h is made of it.

#include <optional>
#include <string>
#include <vector>

#include <mortise/assembly/system.h>
#include <mortise/bodies/structure.h>

#include "table.h"

namespace mortise {

struct BodyPose {
  Vec3<double> origin = Vec3<double>::Zero();
  Mat<double, 3> axes = Mat<double, 3>::Identity();  // of the body, in columns

  Vec3<double> operator*(const Vec3<double>& r) const { return origin + axes * r; }
};

// One piece of what a body looks like, in its frame.
struct Piece {
  std::string type;                                  // box, sphere, cylinder, rod, plate
  Vec3<double> size = Vec3<double>::Zero();          // [m] as in ViewShape; plate: diameter of its edge, -, thickness
  Vec3<double> at = Vec3<double>::Zero();            // [m]
  Mat<double, 3> axes = Mat<double, 3>::Identity();  // cylinder and rod lie along the third
  std::vector<Vec3<double>> corners = {};            // of a plate in the plane
  bool outline = false;
  std::string colour = {};
  std::size_t mesh = 0;  // of the page's, counted from 1; 0: none
};

struct SceneBody {
  enum class Motion { fixed, point, planar, rigid, elastic, unknown };

  std::string name, kind;
  Motion motion = Motion::unknown;
  std::vector<Index> columns;  // of the run, one per coordinate
  double mass = 0;
  const Structure* structure = nullptr;
  std::vector<Vec3<double>> marks;  // where joints and forces hold it, in its frame
  bool slides = false;              // on a line of the plane, without turning beside it
  std::vector<Piece> pieces;
};

struct Scene {
  std::vector<SceneBody> bodies;                                           // as in System::bodies()
  bool planar = false;                                                     // nothing leaves the plane z = 0
  double size = 1;                                                         // [m] extent at the start
  double thickness = 0.02;                                                 // [m] of links
  Vec3<double> least = Vec3<double>::Zero(), most = Vec3<double>::Zero();  // box around the whole motion
};

// Throws InvalidModel, naming the column, if the run has not recorded what moves a body.
Scene scene_of(const System& system, const RunTable& run);

// Where a body is at a sample; none for elastic and unknown ones.
std::optional<BodyPose> pose_at(const SceneBody& body, const RunTable& run, Index sample);
// Where its point r is; of an elastic body, r is the place of a node.  None where it has no such point.
std::optional<Vec3<double>> point_at(const SceneBody& body, const RunTable& run, Index sample, const Vec3<double>& r);

// A rod with round ends.
Piece rod_between(const Vec3<double>& from, const Vec3<double>& to, double diameter);

// A right-handed frame whose third axis points along z.
Mat<double, 3> frame_along(const Vec3<double>& z);

}  // namespace mortise
