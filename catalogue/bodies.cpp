// Instances of bodies.

#include <mortise/bodies/ground.h>
#include <mortise/bodies/parameter.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body_unknowns.h>
#include <mortise/bodies/rigid_body_unknowns.h>
#include <mortise/bodies/states.h>
#include <mortise/bodies/structure.h>

#include "instances.h"

namespace mortise {

template std::shared_ptr<const BodyModel> library_body(const Label&, const Ground&);
template std::shared_ptr<const BodyModel> library_body(const Label&, const Parameter&);
template std::shared_ptr<const BodyModel> library_body(const Label&, const Particle<1>&);
template std::shared_ptr<const BodyModel> library_body(const Label&, const Particle<2>&);
template std::shared_ptr<const BodyModel> library_body(const Label&, const Particle<3>&);
template std::shared_ptr<const BodyModel> library_body(const Label&, const PlanarBody&);
template std::shared_ptr<const BodyModel> library_body(const Label&, const RigidBody&);
template std::shared_ptr<const BodyModel> library_body(const Label&, const States&);
template std::shared_ptr<const BodyModel> library_body(const Label&, const Structure&);

}  // namespace mortise
