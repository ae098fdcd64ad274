#pragma once
// The parts of the library that are compiled into it: using one costs a call, not an instance.
//
// A part that is listed here has its instance in catalogue/.  A part that takes a functor of the user's of bodies is
// not listed; it is compiled where it is used, as users' own parts are.  Functors of numbers are held behind one type
// (core/functor.h), and the parts that take them are listed.

#include <memory>

#include <mortise/assembly/models.h>
#include <mortise/core/functor.h>

namespace mortise {

struct AngleCoordinate;
struct AppellHamel;
struct Belt;
struct ConstantVelocity;
struct Coupling;
struct Cylindrical;
struct Differential;
struct DisplacementCoordinate;
template <int D> struct Distance;
struct DriveAngle;
struct DriveCoordinate;
template <int D> struct DriveDistance;
struct DrivePlanarAngle;
template <int D> struct DrivePoint;
struct Gear;
struct GearRatio;
struct KnifeEdge;
struct ParallelAxes;
struct PerpendicularAxes;
struct Pin;
struct PlanarGear;
struct PlanarJoint;
struct PlanarPointOnLine;
struct PlanarWeld;
template <int D> struct PointOnCurve;
struct PointOnLine;
struct PointOnPlane;
struct Prismatic;
struct RackAndPinion;
struct Revolute;
struct RollingDisk;
struct RollingSphere;
struct RollingWheel;
template <int D> struct Rope;
struct Screw;
struct Slider;
struct SpatialKnifeEdge;
struct Spherical;
struct Universal;
struct Weld;
template <class J> struct Coulomb;
template <class J> struct Viscous;

struct Bushing;
struct CoordinateSpring;
template <int D> struct Drag;
template <class Turn, class F> struct Motor;
template <int D, class E, class F> struct NonlinearSpring;
template <int D> struct Spring;
template <class Turn> struct TorsionSpring;
struct AxisTurn;
struct PlanarTurn;

struct AngleSensor;
struct AngularVelocitySensor;
template <int D> struct DistanceSensor;
struct EulerSensor;
struct OrientationSensor;
template <int D> struct PointSensor;

struct Ground;
struct Parameter;
template <int D> struct Particle;
struct PlanarBody;
struct RigidBody;
struct States;
struct Structure;

namespace detail {

template <class... P> struct List {};
template <class P, class L> inline constexpr bool listed = false;
template <class P, class... Q> inline constexpr bool listed<P, List<Q...>> = (std::is_same_v<P, Q> || ...);

using LibraryJoints =
    List<AngleCoordinate, AppellHamel, Belt, ConstantVelocity, Coupling, Cylindrical, Differential,
         DisplacementCoordinate, Distance<1>, Distance<2>, Distance<3>, DriveAngle, DriveCoordinate, DriveDistance<2>,
         DriveDistance<3>, DrivePlanarAngle, DrivePoint<2>, DrivePoint<3>, Gear, GearRatio, KnifeEdge, ParallelAxes,
         PerpendicularAxes, Pin, PlanarGear, PlanarJoint, PlanarPointOnLine, PlanarWeld, PointOnCurve<2>,
         PointOnCurve<3>, PointOnLine, PointOnPlane, Prismatic, RackAndPinion, Revolute, RollingDisk, RollingSphere,
         RollingWheel, Rope<2>, Rope<3>, Screw, Slider, SpatialKnifeEdge, Spherical, Universal, Weld>;
using LibraryForces = List<Bushing, CoordinateSpring, Drag<2>, Drag<3>, Motor<AxisTurn, TorqueLaw>,
                           Motor<PlanarTurn, TorqueLaw>, NonlinearSpring<1, EnergyLaw, TensionLaw>,
                           NonlinearSpring<2, EnergyLaw, TensionLaw>, NonlinearSpring<3, EnergyLaw, TensionLaw>,
                           Spring<1>, Spring<2>, Spring<3>, TorsionSpring<AxisTurn>, TorsionSpring<PlanarTurn>>;
using LibrarySensors = List<AngleSensor, AngularVelocitySensor, DistanceSensor<2>, DistanceSensor<3>, EulerSensor,
                            OrientationSensor, PointSensor<2>, PointSensor<3>>;
using LibraryBodies =
    List<Ground, Parameter, Particle<1>, Particle<2>, Particle<3>, PlanarBody, RigidBody, States, Structure>;

template <class J> inline constexpr bool library_joint = listed<J, LibraryJoints>;
template <class J> inline constexpr bool library_joint<Coulomb<J>> = listed<J, LibraryJoints>;
template <class J> inline constexpr bool library_joint<Viscous<J>> = listed<J, LibraryJoints>;
template <class F> inline constexpr bool library_force = listed<F, LibraryForces>;
template <class S> inline constexpr bool library_sensor = listed<S, LibrarySensors>;
template <class B> inline constexpr bool library_body = listed<B, LibraryBodies>;

// Instances are there for up to so many bodies, where a part takes any number of them.
inline constexpr std::size_t library_bodies = 4;

}  // namespace detail

// Compiled in catalogue/; throw InvalidModel if the part does not act on so many bodies.
template <class J>
std::shared_ptr<const ConstraintModel> library_joint(const Label& label, const J& joint, BodyModels bodies);
template <class F>
std::shared_ptr<const ForceModel> library_force(const Label& label, const F& force, BodyModels bodies);
template <class S>
std::shared_ptr<const SensorModel> library_sensor(const Label& label, const S& sensor, BodyModels bodies);
template <class B> std::shared_ptr<const BodyModel> library_body(const Label& label, const B& body);

}  // namespace mortise
