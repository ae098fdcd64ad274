// Typed instances of spatial joints.

#include <mortise/bodies/ground.h>
#include <mortise/bodies/rigid_body_unknowns.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/spherical.h>

#include "instances.h"
#include "typed_joint.h"

namespace mortise {

template <> struct TypedJoints<Revolute> : TypedOnGroundAnd<Revolute, Ground, RigidBody> {};
template <> struct TypedJoints<Spherical> : TypedOnGroundAnd<Spherical, Ground, RigidBody> {};

template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Revolute&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Spherical&, BodyModels);

}  // namespace mortise
