#pragma once
// Trees of DART: a body hung by a joint, and the chain.
//
// Debian builds DART for any processor of its kind, and Eigen's alignment is part of its interface: what includes this
// must not be compiled with -march=native.

#include <cmath>

#include <fmt/format.h>
#include <dart/dynamics/BallJoint.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/Skeleton.hpp>

#include "mechanisms.h"

namespace bench {

inline Eigen::Vector3d vector(const Vec3& r) { return {r[0], r[1], r[2]}; }

// Its frame lies at its centre of mass, where DART takes the potential energy.  `on_...`: where the joint is.
template <class Joint>
dart::dynamics::BodyNode* hang(dart::dynamics::Skeleton& skeleton, dart::dynamics::BodyNode* parent,
                               const Eigen::Vector3d& on_parent, const Eigen::Vector3d& on_body, double mass,
                               const Eigen::Vector3d& inertia, typename Joint::Properties joint = {}) {
  const auto n = skeleton.getNumBodyNodes();
  joint.mName = fmt::format("joint{}", n);
  joint.mT_ParentBodyToJoint.translation() = on_parent;
  joint.mT_ChildBodyToJoint.translation() = on_body;
  dart::dynamics::BodyNode::Properties body;
  body.mName = fmt::format("body{}", n);
  body.mInertia = dart::dynamics::Inertia(mass, Eigen::Vector3d::Zero(), inertia.asDiagonal());
  return skeleton.createJointAndBodyNodePair<Joint>(parent, joint, body).second;
}

struct DartChain {
  dart::dynamics::SkeletonPtr skeleton = dart::dynamics::Skeleton::create("chain");
  Eigen::VectorXd q, u;

  explicit DartChain(const Chain& chain) {
    skeleton->setGravity({0, 0, -gravity});
    dart::dynamics::BodyNode* above = nullptr;
    for (int i = 0; i < chain.size(); ++i)
      above = hang<dart::dynamics::BallJoint>(*skeleton, above, vector(above ? Chain::bottom : Vec3{}),
                                              vector(Chain::top), Chain::mass, vector(Chain::inertia));
    q.resize(static_cast<Eigen::Index>(skeleton->getNumDofs()));
    u.resize(q.size());
    Eigen::Index first = 0;
    for (const auto& rod : chain.rods) {
      q.segment<3>(first) = rotation_vector(rod.relative_u);
      u.segment<3>(first) = vector(rod.relative_w);
      first += 3;
    }
  }

  // Setting positions and velocities makes DART forget all that depends on them.
  void start() {
    skeleton->setPositions(q);
    skeleton->setVelocities(u);
  }

 private:
  // Angle times axis, exact near half a turn too.
  static Eigen::Vector3d rotation_vector(const Quaternion& u) {
    const Eigen::Vector3d e(u[1], u[2], u[3]);
    const double sine = e.norm();
    return sine > 0 ? Eigen::Vector3d(2 * std::atan2(sine, u[0]) / sine * e) : Eigen::Vector3d(2 * e);
  }
};

}  // namespace bench
