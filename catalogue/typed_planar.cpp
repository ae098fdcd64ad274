// Typed instances of planar joints.

#include <mortise/bodies/ground.h>
#include <mortise/bodies/planar_body_unknowns.h>
#include <mortise/joints/pin.h>

#include "instances.h"
#include "typed_joint.h"

namespace mortise {

template <> struct TypedJoints<Pin> : TypedOnGroundAnd<Pin, Ground, PlanarBody> {};

template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Pin&, BodyModels);

}  // namespace mortise
