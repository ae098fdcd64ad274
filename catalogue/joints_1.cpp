// Instances of joints.

#include <mortise/joints/angle_coordinate.h>
#include <mortise/joints/appell_hamel.h>
#include <mortise/joints/belt.h>
#include <mortise/joints/constant_velocity.h>
#include <mortise/joints/coupling.h>
#include <mortise/joints/cylindrical.h>
#include <mortise/joints/differential.h>
#include <mortise/joints/displacement_coordinate.h>
#include <mortise/joints/distance.h>
#include <mortise/joints/drive_angle.h>
#include <mortise/joints/drive_coordinate.h>
#include <mortise/joints/drive_distance.h>
#include <mortise/joints/drive_planar_angle.h>
#include <mortise/joints/drive_point.h>
#include <mortise/joints/gear.h>
#include <mortise/joints/gear_ratio.h>
#include <mortise/joints/knife_edge.h>
#include <mortise/joints/parallel_axes.h>
#include <mortise/joints/perpendicular_axes.h>

#include "instances.h"

namespace mortise {

template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const AngleCoordinate&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const AppellHamel&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Belt&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const ConstantVelocity&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Coupling&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Cylindrical&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Differential&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const DisplacementCoordinate&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Distance<1>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Distance<2>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Distance<3>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const DriveAngle&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const DriveCoordinate&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const DriveDistance<2>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const DriveDistance<3>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const DrivePlanarAngle&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const DrivePoint<2>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const DrivePoint<3>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Gear&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const GearRatio&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const KnifeEdge&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const ParallelAxes&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const PerpendicularAxes&, BodyModels);

}  // namespace mortise
