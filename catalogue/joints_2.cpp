// Instances of joints.

#include <mortise/joints/planar_gear.h>
#include <mortise/joints/planar_joint.h>
#include <mortise/joints/planar_point_on_line.h>
#include <mortise/joints/planar_weld.h>
#include <mortise/joints/point_on_curve.h>
#include <mortise/joints/point_on_line.h>
#include <mortise/joints/point_on_plane.h>
#include <mortise/joints/prismatic.h>
#include <mortise/joints/rack_and_pinion.h>
#include <mortise/joints/rolling_disk.h>
#include <mortise/joints/rolling_sphere.h>
#include <mortise/joints/rolling_wheel.h>
#include <mortise/joints/rope.h>
#include <mortise/joints/screw.h>
#include <mortise/joints/slider.h>
#include <mortise/joints/spatial_knife_edge.h>
#include <mortise/joints/universal.h>
#include <mortise/joints/weld.h>

#include "instances.h"

namespace mortise {

template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const PlanarGear&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const PlanarJoint&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const PlanarPointOnLine&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const PlanarWeld&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const PointOnCurve<2>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const PointOnCurve<3>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const PointOnLine&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const PointOnPlane&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Prismatic&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const RackAndPinion&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const RollingDisk&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const RollingSphere&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const RollingWheel&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Rope<2>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Rope<3>&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Screw&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Slider&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const SpatialKnifeEdge&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Universal&, BodyModels);
template std::shared_ptr<const ConstraintModel> library_joint(const Label&, const Weld&, BodyModels);

}  // namespace mortise
