#pragma once
// The mass of rigid bodies, alone and welded together.
//
//   m = sum m_i,   c = sum m_i c_i / m,   J = sum (R_i J_i R_i' + m_i (|d_i|^2 I - d_i d_i')),   d_i = c_i - c
//
// In the plane the third component of points is 0, and of the inertia only that about z counts.

#include <vector>

#include <mortise/core/types.h>

namespace mortise {

// A frame as another one sees it.
struct RigidFrame {
  Vec3<double> origin = Vec3<double>::Zero();
  Mat<double, 3> axes = Mat<double, 3>::Identity();

  RigidFrame then(const RigidFrame& next) const {  // of `next`, seen by this frame
    return {origin + axes * next.origin, axes * next.axes};
  }
  RigidFrame inverse() const { return {-(axes.transpose() * origin), axes.transpose()}; }
};

// In a frame: the mass, the centre of mass, the inertia about it.
struct RigidMass {
  int dimension;  // 2 or 3
  double mass = 0;
  Vec3<double> centre = Vec3<double>::Zero();
  Mat<double, 3> inertia = Mat<double, 3>::Zero();
};

// The same by principal axes, in the columns of `axes`: those with inertia first.  Moments below 1e-14 of the largest are
// 0.  In the plane the axes are those of one frame, whichever it is, and only moments[2] counts.
struct PrincipalMass {
  int dimension;
  double mass = 0;
  Vec3<double> centre = Vec3<double>::Zero();
  Vec3<double> moments = Vec3<double>::Zero();
  Mat<double, 3> axes = Mat<double, 3>::Identity();

  PrincipalMass seen_from(const RigidFrame& frame) const;  // which stands in the frame of this
};
PrincipalMass principal(const RigidMass& m);

// Bodies welded together, each with its frame as the whole sees it; one at least.
struct PlacedMass {
  RigidMass mass;
  RigidFrame frame;
};
RigidMass welded(const std::vector<PlacedMass>& parts);

}  // namespace mortise
