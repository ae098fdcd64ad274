// Instances of joints with friction.

#include <mortise/joints/cylindrical.h>
#include <mortise/joints/friction.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/planar_joint.h>
#include <mortise/joints/planar_point_on_line.h>
#include <mortise/joints/point_on_line.h>
#include <mortise/joints/point_on_plane.h>
#include <mortise/joints/prismatic.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/slider.h>
#include <mortise/joints/spherical.h>

#include "instances.h"

namespace mortise {

template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Coulomb<Cylindrical>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Viscous<Cylindrical>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Coulomb<Pin>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Viscous<Pin>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Coulomb<PlanarJoint>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Viscous<PlanarJoint>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Coulomb<PlanarPointOnLine>&,
                                                              BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Viscous<PlanarPointOnLine>&,
                                                              BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Coulomb<PointOnLine>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Viscous<PointOnLine>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Coulomb<PointOnPlane>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Viscous<PointOnPlane>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Coulomb<Prismatic>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Viscous<Prismatic>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Coulomb<Revolute>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Viscous<Revolute>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Coulomb<Slider>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Viscous<Slider>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Coulomb<Spherical>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Viscous<Spherical>&, BodyModels);

}  // namespace mortise
