#pragma once
// Inertia: mass, moments about the centre of mass and centre of mass of solids, in the frame of one body.
//
//   const Inertia hammer = Inertia::rod(0.2, 0.3, {1, 0, 0}) + Inertia::box(1, {0.1, 0.03, 0.03}).moved({0.15, 0, 0});
//   assembly.add("hammer", RigidBody::of(hammer));
//
// Every solid is uniform, with its centre of mass at the origin; box and tube lie as said, moved() and turned() place
// them.  About a point p the moments are  J + m (|d|^2 I - d d'),  d = centre - p  (parallel axes).
// Sizes and masses may be zero; what is negative or not finite throws InvalidModel.

#include <vector>

#include <mortise/core/axis.h>
#include <mortise/core/errors.h>
#include <mortise/core/types.h>

namespace mortise {

struct Inertia {
  double mass = 0;                                  // [kg]
  Mat<double, 3> moments = Mat<double, 3>::Zero();  // [kg m^2] about the centre of mass
  Vec3<double> centre = Vec3<double>::Zero();       // [m]

  // Edges along x, y, z.  Jx = m (y^2 + z^2) / 12
  static Inertia box(double mass, const Vec3<double>& edges);
  // Thin, along `axis`.  J across the axis = m l^2 / 12, along it 0
  static Inertia rod(double mass, double length, const Axis& axis = {1, 0, 0});
  // Solid, round `axis`.  J along the axis = m r^2 / 2, across it m (3 r^2 + l^2) / 12
  static Inertia cylinder(double mass, double radius, double length, const Axis& axis = {0, 0, 1});
  // Thin, normal to `axis`: a cylinder of length 0.
  static Inertia disk(double mass, double radius, const Axis& axis = {0, 0, 1});
  // Solid.  J = 2/5 m r^2
  static Inertia sphere(double mass, double radius);
  // A cylinder with a round hole.  J along the axis = m (r^2 + R^2) / 2, across it m (3 (r^2 + R^2) + l^2) / 12
  static Inertia tube(double mass, double inner_radius, double outer_radius, double length,
                      const Axis& axis = {0, 0, 1});
  struct Point {
    double mass;
    Vec3<double> at;
  };
  static Inertia points(const std::vector<Point>& set);

  Mat<double, 3> about(const Vec3<double>& p) const;
  Inertia moved(const Vec3<double>& by) const;
  Inertia turned(const Mat<double, 3>& R) const;

  // Both together, as one rigid body.
  friend Inertia operator+(const Inertia& a, const Inertia& b) { return sum(a, b, 1); }
  // a without the part b, which must lie inside it: a hole.
  friend Inertia operator-(const Inertia& a, const Inertia& b) { return sum(a, b, -1); }

 private:
  static Inertia sum(const Inertia& a, const Inertia& b, double sign);
};

// Throws InvalidModel if one of three principal moments is above the sum of the other two by more than 1e-5 of it: no
// distribution of mass has such moments.  A moment of 0 stands for one that is neglected, and passes.
void require_triangle(const Label& label, const Vec3<double>& principal);

}  // namespace mortise
