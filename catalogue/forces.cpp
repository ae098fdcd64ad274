// Instances of forces and sensors.

#include <mortise/forces/bushing.h>
#include <mortise/forces/coordinate_spring.h>
#include <mortise/forces/drag.h>
#include <mortise/forces/motor.h>
#include <mortise/forces/nonlinear_spring.h>
#include <mortise/forces/spring.h>
#include <mortise/forces/torsion_spring.h>
#include <mortise/sensors/angle_sensor.h>
#include <mortise/sensors/angular_velocity_sensor.h>
#include <mortise/sensors/distance_sensor.h>
#include <mortise/sensors/euler_sensor.h>
#include <mortise/sensors/orientation_sensor.h>
#include <mortise/sensors/point_sensor.h>

#include "instances.h"

namespace mortise {

template std::shared_ptr<const ForceModel> library_force(const Label&, const Bushing&, BodyModels);
template std::shared_ptr<const ForceModel> library_force(const Label&, const CoordinateSpring&, BodyModels);
template std::shared_ptr<const ForceModel> library_force(const Label&, const Drag<2>&, BodyModels);
template std::shared_ptr<const ForceModel> library_force(const Label&, const Drag<3>&, BodyModels);
template std::shared_ptr<const ForceModel> library_force(const Label&, const Motor<PlanarTurn>&, BodyModels);
template std::shared_ptr<const ForceModel> library_force(const Label&, const Motor<AxisTurn>&, BodyModels);
template std::shared_ptr<const ForceModel> library_force(const Label&, const NonlinearSpring<1>&, BodyModels);
template std::shared_ptr<const ForceModel> library_force(const Label&, const NonlinearSpring<2>&, BodyModels);
template std::shared_ptr<const ForceModel> library_force(const Label&, const NonlinearSpring<3>&, BodyModels);
template std::shared_ptr<const ForceModel> library_force(const Label&, const Spring<1>&, BodyModels);
template std::shared_ptr<const ForceModel> library_force(const Label&, const Spring<2>&, BodyModels);
template std::shared_ptr<const ForceModel> library_force(const Label&, const Spring<3>&, BodyModels);
template std::shared_ptr<const ForceModel> library_force(const Label&, const TorsionSpring<PlanarTurn>&, BodyModels);
template std::shared_ptr<const ForceModel> library_force(const Label&, const TorsionSpring<AxisTurn>&, BodyModels);

template std::shared_ptr<const SensorModel> library_sensor(const Label&, const AngleSensor&, BodyModels);
template std::shared_ptr<const SensorModel> library_sensor(const Label&, const DistanceSensor<2>&, BodyModels);
template std::shared_ptr<const SensorModel> library_sensor(const Label&, const DistanceSensor<3>&, BodyModels);
template std::shared_ptr<const SensorModel> library_sensor(const Label&, const AngularVelocitySensor&, BodyModels);
template std::shared_ptr<const SensorModel> library_sensor(const Label&, const EulerSensor&, BodyModels);
template std::shared_ptr<const SensorModel> library_sensor(const Label&, const OrientationSensor&, BodyModels);
template std::shared_ptr<const SensorModel> library_sensor(const Label&, const PointSensor<2>&, BodyModels);
template std::shared_ptr<const SensorModel> library_sensor(const Label&, const PointSensor<3>&, BodyModels);

}  // namespace mortise
