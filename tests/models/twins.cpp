#include "twins.h"

#include <numbers>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/lagrangian.h>
#include <mortise/bodies/parameter.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/bodies/states.h>
#include <mortise/bodies/structure.h>
#include <mortise/bodies/subsystem.h>
#include <mortise/core/spline.h>
#include <mortise/forces/applied.h>
#include <mortise/forces/bushing.h>
#include <mortise/forces/coordinate_spring.h>
#include <mortise/forces/dissipation.h>
#include <mortise/forces/drag.h>
#include <mortise/forces/functor.h>
#include <mortise/forces/motor.h>
#include <mortise/forces/nonlinear_spring.h>
#include <mortise/forces/spring.h>
#include <mortise/forces/torsion_spring.h>
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
#include <mortise/joints/friction.h>
#include <mortise/joints/gear.h>
#include <mortise/joints/gear_ratio.h>
#include <mortise/joints/knife_edge.h>
#include <mortise/joints/parallel_axes.h>
#include <mortise/joints/perpendicular_axes.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/planar_gear.h>
#include <mortise/joints/planar_joint.h>
#include <mortise/joints/planar_point_on_line.h>
#include <mortise/joints/planar_weld.h>
#include <mortise/joints/point_on_curve.h>
#include <mortise/joints/point_on_line.h>
#include <mortise/joints/point_on_plane.h>
#include <mortise/joints/point_on_surface.h>
#include <mortise/joints/prismatic.h>
#include <mortise/joints/rack_and_pinion.h>
#include <mortise/joints/rate.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/rolling_disk.h>
#include <mortise/joints/rolling_sphere.h>
#include <mortise/joints/rolling_wheel.h>
#include <mortise/joints/rope.h>
#include <mortise/joints/screw.h>
#include <mortise/joints/slider.h>
#include <mortise/joints/spatial_knife_edge.h>
#include <mortise/joints/spherical.h>
#include <mortise/joints/universal.h>
#include <mortise/joints/weld.h>

namespace {

using namespace mortise;
constexpr double pi = std::numbers::pi, degree = pi / 180;
using V2 = Vec2<double>;
using V3 = Vec3<double>;

Vec<double, 7> at(const V3& p, const V3& axis = {0, 0, 1}, double angle = 0) {
  return RigidBody::pose(p, quaternion_from_axis_angle(axis, angle));
}
RigidBody solid(const Inertia& i) { return RigidBody::of(i); }
PlanarBody flat(const Inertia& i) { return PlanarBody::of(i); }

// In the order of the files: bodies, then a ground that is not written, when the first joint asks for it.
Assembly pendulum() {
  Assembly a("pendulum");
  a.set_gravity({0, -9.81, 0});
  const auto rod = a.add("rod", PlanarBody{.mass = 2, .inertia = 2.0 / 12});
  a.place(rod, {0.5, 0, 0});
  const auto ground = a.add("ground", Ground{});
  a.connect("pin", Pin{.on_b = {-0.5, 0}}, ground, rod);
  return a;
}

Assembly massless_rod() {
  Assembly a("massless_rod");
  a.set_gravity({0, -9.81, 0});
  const auto rod = a.add("rod", PlanarBody{});
  const auto tip = a.add("tip", Particle<2>{.mass = 1});
  a.place(rod, {0, 0, -0.5});
  a.place(tip, {std::cos(0.5), -std::sin(0.5)});
  const auto ground = a.add("ground", Ground{});
  a.connect("hinge", Pin{}, ground, rod);
  a.connect("end", Pin{.on_a = {1, 0}}, rod, tip);
  return a;
}

Assembly four_bar() {
  Assembly a("four_bar");
  a.set_gravity({0, -9.81, 0});
  const auto crank = a.add("crank", flat(Inertia::rod(1, 1)));
  const auto coupler = a.add("coupler", flat(Inertia::rod(3, 3)));
  const auto rocker = a.add("rocker", flat(Inertia::rod(2.5, 2.5)));
  a.place(crank, {0.5 * std::cos(1.0), 0.5 * std::sin(1.0), 1});
  a.place(coupler, {2, 1.4, 0.4});
  a.place(rocker, {3.4, 1.2, 1.7});
  const auto ground = a.add("ground", Ground{});
  a.connect("A", Pin{.on_b = {-0.5, 0}}, ground, crank);
  a.connect("B", Pin{.on_a = {0.5, 0}, .on_b = {-1.5, 0}}, crank, coupler);
  a.connect("C", Pin{.on_a = {1.5, 0}, .on_b = {1.25, 0}}, coupler, rocker);
  a.connect("D", Pin{.on_a = {-1.25, 0}, .on_b = {3.5, 0}}, rocker, ground);
  a.apply("motor",
          Motor{.about = PlanarTurn{},
                .torque = [](const auto&, const auto& speed, const auto&) { return 20.0 - 2.0 * speed; }},
          ground, crank);
  a.apply("return", TorsionSpring<PlanarTurn>{.stiffness = 5, .damping = 0.1, .rest = 100 * degree}, ground, rocker);
  return a;
}

Assembly slider_crank() {
  Assembly a("slider_crank");
  a.set_gravity({0, -9.81, 0});
  const double r = 0.2, l = 0.6, speed = 4 * pi, x = std::sqrt(l * l - r * r);
  const auto crank = a.add("crank", flat(Inertia::rod(1, r)));
  const auto rod = a.add("rod", flat(Inertia::rod(2, l)));
  const auto slide = a.add("slide", PlanarBody{.mass = 3, .inertia = 0.01});
  a.place(crank, {0, r / 2, pi / 2});
  a.place(rod, {x / 2, r / 2, -std::asin(r / l)});
  a.place(slide, {x, 0, 0});
  const auto ground = a.add("ground", Ground{});
  a.connect("axle", Pin{.on_b = {-r / 2, 0}}, ground, crank);
  a.connect("big_end", Pin{.on_a = {r / 2, 0}, .on_b = {-l / 2, 0}}, crank, rod);
  a.connect("small_end", Pin{.on_a = {l / 2, 0}}, rod, slide);
  a.connect("rail", Coulomb{Slider{}, {.coefficient = 0.1}}, ground, slide);
  a.connect("drive", DrivePlanarAngle{.f = [=](const auto& t) { return pi / 2 + speed * t; }}, ground, crank);
  a.apply("spring", Spring<2>{.on_b = {1.5, 0}, .stiffness = 2000, .damping = 5, .length = 0.9}, slide, ground);
  return a;
}

Assembly gear_train() {
  Assembly a("gear_train");
  const auto first = a.add("first", flat(Inertia::disk(1, 0.1)));
  const auto second = a.add("second", flat(Inertia::disk(4, 0.2)));
  const auto third = a.add("third", flat(Inertia::disk(1, 0.1)));
  a.place(second, {0.3, 0, 0});
  a.place(third, {0.3, 1, 0});
  const auto ground = a.add("ground", Ground{});
  a.connect("axle_1", Pin{}, ground, first);
  a.connect("axle_2", Pin{.on_a = {0.3, 0}}, ground, second);
  a.connect("axle_3", Viscous{Pin{.on_a = {0.3, 1}}, {.coefficient = 2, .radius = 0.02}}, ground, third);
  a.connect("teeth", PlanarGear{.radius_a = 0.1, .radius_b = 0.2}, first, second);
  a.connect("belt", Belt{.radius_a = 0.2, .radius_b = 0.1}, second, third);
  return a;
}

Assembly wheel_on_incline() {
  Assembly a("wheel_on_incline");
  a.set_gravity({0, -9.81, 0});
  const double slope = 20 * degree, c = std::cos(slope), s = std::sin(slope);
  const auto wheel = a.add("wheel", flat(Inertia::disk(2, 0.3)));
  const auto block = a.add("block", Particle<2>{.mass = 1});
  a.place(wheel, {-0.3 * s, 0.3 * c, 0});
  a.place(block, {-c, s});
  const auto ground = a.add("ground", Ground{});
  const PlanarAxis line{c, -s};
  a.connect("rolling", RollingWheel{.axis_a = line, .radius = 0.3}, ground, wheel);
  a.connect("sliding", Coulomb{PlanarPointOnLine{.axis_a = line}, {.coefficient = 0.1}}, ground, block);
  a.connect("link", Distance<2>{.length = std::sqrt(1.09 + 0.6 * std::sin(2 * slope))}, wheel, block);
  a.apply("air", Drag<2>{.factor = 0.2, .wind = {-1, 0}}, wheel);
  return a;
}

Assembly sleigh() {
  Assembly a("sleigh");
  const auto body = a.add("sleigh", PlanarBody{.mass = 2, .inertia = 0.5, .centre = {0.3, 0}});
  a.connect("blade", KnifeEdge{}, body);
  a.apply("push",
          AppliedForce{.at = V2(-0.5, 0),
                       .force =
                           [](const auto&, const auto& t) {
                             using std::exp;
                             return vec(3.0 * exp(-t), 0.0);
                           },
                       .in_body_axes = true},
          body);
  a.apply("steer", AppliedTorque{[](const auto& b, const auto& t) {
            using std::sin;
            return 0.4 * sin(2.0 * t) - 0.2 * b.speed("theta");
          }},
          body);
  return a;
}

Assembly hoist() {
  Assembly a("hoist");
  a.set_gravity({0, -9.81, 0});
  const auto pulley = a.add("pulley", PlanarBody{.mass = 1, .inertia = 0.02});
  const auto load = a.add("load", PlanarBody{.mass = 5, .inertia = 0.1});
  const auto weight = a.add("weight", Particle<2>{.mass = 3});
  const auto hook = a.add("hook", Particle<2>{.mass = 0.5});
  a.place(pulley, {0, -2, 0});
  a.place(load, {0, -2.5, 0});
  a.place(weight, {1, -1});
  a.place(hook, {3, 0});
  const auto ground = a.add("ground", Ground{});
  Rope<2> rope{.points = {{0, {-0.1, 0}}, {1, {0, 0}}, {0, {1, 0}}, {2, {0, 0}}},
               .length = std::sqrt(4.01) + std::sqrt(5.0) + 1};
  a.connect("rope", rope, ground, pulley, weight);
  a.connect("rail", Slider{.axis_a = {0, 1}, .axis_b = {0, 1}}, ground, pulley);
  a.connect("hanger", PlanarWeld{.on_a = {0, -0.5}}, pulley, load);
  a.connect("guide", PlanarPointOnLine{.on_a = {1, 0}, .axis_a = {0, 1}}, ground, weight);
  a.connect("path", DrivePoint<2>{.path = {Spline({0, 1, 2}, {3, 3.5, 3}), Function([](const auto& t) {
                                             using std::sin;
                                             return 0.2 * sin(2.0 * t);
                                           })}},
            ground, hook);
  return a;
}

Assembly actuators() {
  Assembly a("actuators");
  const auto platform = a.add("platform", PlanarBody{.mass = 10, .inertia = 2});
  a.place(platform, {0, 1, 0});
  const auto ground = a.add("ground", Ground{});
  a.connect("left",
            DriveDistance<2>{.on_a = {-1, 0},
                             .on_b = {-1, 0},
                             .f =
                                 [](const auto& t) {
                                   using std::sin;
                                   return 1.0 + 0.1 * sin(3.0 * t);
                                 }},
            ground, platform);
  a.connect("right", DriveDistance<2>{.on_a = {1, 0}, .on_b = {1, 0}, .f = Table({0, 100}, {1, 2})}, ground, platform);
  a.connect("middle", DriveCoordinate{.coordinate = "x"}, platform);
  return a;
}

Assembly lagrange_top() {
  Assembly a("lagrange_top");
  a.set_gravity({0, 0, -9.81});
  RigidBody top{.mass = 1};
  top.inertia.diagonal() << 0.004, 0.004, 0.002;
  const auto body = a.add("top", top);
  a.place(body, at({0, -0.2 * std::sin(0.5), 0.2 * std::cos(0.5)}, {1, 0, 0}, 0.5));
  const auto ground = a.add("ground", Ground{});
  a.connect("tip", Spherical{.on_b = {0, 0, -0.2}}, ground, body);
  return a;
}

Assembly robot_arm() {
  Assembly a("robot_arm");
  a.set_gravity({0, 0, -9.81});
  const auto upper = a.add("upper", solid(Inertia::box(4, {1, 0.1, 0.1})));
  const auto lower = a.add("lower", solid(Inertia::cylinder(2, 0.05, 0.8, {1, 0, 0})));
  a.place(upper, at({0.5, 0, 0}));
  a.place(lower, at({1.4, 0, 0}));
  const auto ground = a.add("ground", Ground{});
  a.connect("shoulder", Revolute{.on_b = {-0.5, 0, 0}, .axis_a = {0, 1, 0}, .axis_b = {0, 1, 0}}, ground, upper);
  a.connect("elbow",
            Viscous{Revolute{.on_a = {0.5, 0, 0}, .on_b = {-0.4, 0, 0}, .axis_a = {0, 1, 1}, .axis_b = {0, 1, 1}},
                    {.coefficient = 10, .radius = 0.03}},
            upper, lower);
  a.apply("motor",
          Motor{.about = AxisTurn{.axis_a = {0, 1, 0}, .axis_b = {0, 1, 0}},
                .torque =
                    [](const auto& angle, const auto& speed, const auto&) {
                      using std::sin;
                      return -40.0 - 3.0 * speed + 2.0 * sin(angle);
                    }},
          ground, upper);
  a.apply("spring",
          TorsionSpring<AxisTurn>{.about = {.axis_a = {0, 1, 1}, .axis_b = {0, 1, 1}}, .stiffness = 30, .damping = 0.5},
          upper, lower);
  return a;
}

Assembly shafts() {
  Assembly a("shafts");
  const RigidBody shaft = solid(Inertia::cylinder(1, 0.05, 1, {1, 0, 0}));
  const auto first = a.add("first", shaft), second = a.add("second", shaft), third = a.add("third", shaft);
  const double c = std::cos(0.3), s = std::sin(0.3);
  a.place(second, at({0.5 + 0.5 * c, 0.5 * s, 0}, {0, 0, 1}, 0.3));
  a.place(third, at({1 + c, s, 0}));
  const auto ground = a.add("ground", Ground{});
  const Axis x{1, 0, 0};
  a.connect("bearing", Revolute{.axis_a = x, .axis_b = x}, ground, first);
  a.connect("drive",
            DriveAngle{.axis_a = x,
                       .axis_b = x,
                       .f =
                           [](const auto& t) {
                             using std::sin;
                             return 5.0 * t + 0.1 * sin(t);
                           }},
            ground, first);
  a.connect("cross", Universal{.on_a = {0.5, 0, 0}, .on_b = {-0.5, 0, 0}, .axis_a = {0, 1, 0}, .axis_b = {0, 0, 1}},
            first, second);
  a.connect("rzeppa", ConstantVelocity{.on_a = {0.5, 0, 0}, .on_b = {-0.5, 0, 0}, .axis_a = x, .axis_b = x}, second,
            third);
  a.connect("sleeve", Cylindrical{.on_a = {1 + c, s, 0}, .axis_a = x, .axis_b = x}, ground, third);
  return a;
}

Assembly screw_press() {
  Assembly a("screw_press");
  a.set_gravity({0, 0, -9.81});
  const auto screw = a.add("screw", solid(Inertia::cylinder(3, 0.05, 0.5)));
  const auto plate = a.add("plate", solid(Inertia::box(5, {0.5, 0.5, 0.05})));
  const auto bolt = a.add("bolt", Particle<3>{.mass = 0.2});
  a.place(plate, at({0, 0, -0.3}));
  a.place(bolt, {0.2, 0.2, -0.3});
  const auto ground = a.add("ground", Ground{});
  a.connect("thread", Screw{.pitch = 0.01}, ground, screw);
  a.connect("guide", Coulomb{Prismatic{}, {.coefficient = 0.05}}, ground, plate);
  a.connect("push", PointOnPlane{.on_a = {0, 0, 0.025}, .on_b = {0, 0, -0.275}}, plate, screw);
  a.connect("fixed", Spherical{.on_a = {0.2, 0.2, 0}}, plate, bolt);
  a.apply("spring", Spring<3>{.on_a = {0, 0, -1}, .stiffness = 1000, .length = 0.8}, ground, plate);
  return a;
}

Assembly gears_in_space() {
  Assembly a("gears_in_space");
  const Axis x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};
  const auto housing = a.add("housing", solid(Inertia::box(20, {1, 1, 1})));
  const auto pinion = a.add("pinion", solid(Inertia::cylinder(1, 0.1, 0.1, x)));
  const auto crown = a.add("crown", solid(Inertia::cylinder(2, 0.2, 0.1, z)));
  const auto left = a.add("left", solid(Inertia::cylinder(1, 0.1, 0.5, z)));
  const auto right = a.add("right", solid(Inertia::cylinder(1, 0.1, 0.5, z)));
  const auto roller = a.add("roller", solid(Inertia::cylinder(1, 0.1, 0.1, y)));
  const auto rack = a.add("rack", solid(Inertia::box(2, {1, 0.05, 0.05})));
  const auto rotor = a.add("rotor", Subsystem{.coordinates = {"q"}, .M = MatrixXd::Constant(1, 1, 0.02).eval()});
  const auto travel = a.add("travel", Subsystem{.coordinates = {"q"}, .M = MatrixXd::Zero(1, 1).eval()});
  const auto ground = a.add("ground", Ground{});
  a.connect("base", Weld{}, ground, housing);
  a.connect("shaft_1", Revolute{.axis_a = x, .axis_b = x}, housing, pinion);
  a.connect("shaft_2", Revolute{}, housing, crown);
  a.connect("shaft_3", Revolute{}, housing, left);
  a.connect("shaft_4", Revolute{}, housing, right);
  a.connect("shaft_5", Revolute{.axis_a = y, .axis_b = y}, housing, roller);
  a.connect("way", Prismatic{.axis_a = x, .axis_b = x}, housing, rack);
  a.connect("bevel", Gear{.teeth_a = 10, .teeth_b = 20, .axis_a = x, .carrier_a = x}, pinion, crown, housing);
  a.connect("cage", Differential{}, left, right, crown);
  a.connect("friction_wheels", GearRatio{.ratio = 0.7, .carrier_a = y, .carrier_b = z}, roller, crown, housing);
  a.connect("steering", RackAndPinion{.radius = 0.1, .axis_a = x, .carrier_a = x}, pinion, rack, housing);
  a.apply("torque", AppliedTorque{[](const auto&, const auto& t) {
            using std::cos;
            return vec(2.0, 0.0, 0.1 * cos(t));
          }},
          pinion);
  a.apply("load",
          AppliedForce{.at = V3(0, 0, 0),
                       .force = [](const auto& b, const auto&) { return vec(-3.0 - 0.5 * b.speed("x"), 0.0, 0.0); }},
          rack);
  a.connect("rotor_turn", AngleCoordinate{.axis_a = y, .axis_b = y}, housing, roller, rotor);
  a.connect("travel_slide", DisplacementCoordinate{.axis_a = x}, housing, rack, travel);
  return a;
}

Assembly rolling() {
  Assembly a("rolling");
  a.set_gravity({0, 0, -9.81});
  const auto disk = a.add("disk", solid(Inertia::disk(1, 0.3, {0, 1, 0})));
  const auto ball = a.add("ball", solid(Inertia::sphere(0.5, 0.1)));
  a.place(disk, at({0, 0, 0.3 * std::cos(0.1)}, {1, 0, 0}, 0.1));
  a.place(ball, at({2, 0, 0.1}));
  const auto ground = a.add("ground", Ground{});
  a.connect("contact", RollingDisk{.radius = 0.3}, ground, disk);
  a.connect("turntable", RollingSphere{.radius = 0.1, .on_a = {2.5, 0, 0}, .rate = pi / 3}, ground, ball);
  return a;
}

Assembly beads() {
  Assembly a("beads");
  a.set_gravity({0, 0, -9.81});
  const auto on_helix = a.add("on_helix", Particle<3>{.mass = 0.1});
  const auto s = a.add("s", Subsystem{.coordinates = {"s"}, .M = MatrixXd::Zero(1, 1).eval()});
  const auto on_sphere = a.add("on_sphere", Particle<3>{.mass = 0.2});
  const auto on_circle = a.add("on_circle", Particle<3>{.mass = 0.2});
  const auto on_line = a.add("on_line", Particle<3>{.mass = 0.3});
  const auto climber = a.add("climber", Particle<3>{.mass = 0.4});
  a.place(on_helix, {1, 0, 0});
  a.place(on_sphere, {0, 2, 0});
  a.place(on_circle, {2, 0, 0});
  a.place(on_line, {1, 1, 1});
  a.place(climber, {5, 0, 0});
  const auto ground = a.add("ground", Ground{});
  using std::abs, std::cos, std::sin, std::sqrt;
  a.connect("helix",
            PointOnCurve<3>{.curve = {[](const auto& u) { return cos(u); }, [](const auto& u) { return sin(u); },
                                      [](const auto& u) { return -0.1 * u; }}},
            ground, on_helix, s);
  a.connect("sphere", PointOnSurface{.g = [](const auto& r) { return r.norm() - 2.0; }}, ground, on_sphere);
  a.connect("circle", PointOnSurface{.g = [](const auto& r) { return vec(r[2], r.norm() - 2.0); }}, ground, on_circle);
  a.connect("line", PointOnLine{.axis_a = {1, 1, 1}}, ground, on_line);
  a.connect("climb", AppellHamel{.ratio = 0.5}, climber);
  a.apply("wind", Drag<3>{.factor = 0.05, .wind = {2, 0, 0}}, on_line);
  const auto energy = [](const auto& e) { return 2.0 * e * e + 5.0 * e * e * e * e; };
  const auto tension = [](const auto&, const auto& rate, const auto&) { return 0.3 * rate * abs(rate); };
  a.apply("rubber",
          NonlinearSpring<3, decltype(energy), decltype(tension)>{
              .ends = {}, .length = 1, .energy = energy, .tension = tension},
          on_sphere, on_circle);
  return a;
}

Assembly table() {
  Assembly a("table");
  a.set_gravity({0, 0, -9.81});
  const auto puck = a.add("puck", solid(Inertia::disk(1, 0.2)));
  const auto gimbal = a.add("gimbal", solid(Inertia::box(2, {0.3, 0.2, 0.1})));
  const auto lamp = a.add("lamp", solid(Inertia::box(2, {0.3, 0.2, 0.1})));
  const auto skate = a.add("skate", solid(Inertia::box(1, {0.3, 0.1, 0.1})));
  const auto engine = a.add("engine", solid(Inertia::box(50, {1, 0.5, 0.5})));
  a.place(gimbal, at({1, 0, 0}));
  a.place(lamp, at({2, 0, 0}));
  a.place(skate, at({0, 2, 0}));
  a.place(engine, at({0, 4, 0}, {0, 0, 1}, 5 * degree));
  const auto ground = a.add("ground", Ground{});
  a.connect("top", Coulomb{PlanarJoint{}, {.coefficient = 0.2}}, ground, puck);
  a.connect("level", ParallelAxes{}, puck, gimbal);
  a.connect("upright", PerpendicularAxes{.axis_a = {1, 0, 0}, .axis_b = {0, 1, 0}}, ground, lamp);
  a.connect("ice", PlanarJoint{}, ground, skate);
  a.connect("blade", SpatialKnifeEdge{}, skate);
  Bushing mount{.on_a = {0, 4, 0}};
  mount.stiffness.diagonal() << 1e5, 1e5, 2e5, 1e3, 1e3, 1e3;
  mount.damping.diagonal() << 100, 100, 200, 1, 1, 1;
  a.apply("mount", mount, ground, engine);
  return a;
}

Assembly beam() {
  Assembly a("beam");
  a.set_gravity({0, 0, -9.81});
  MatrixXd M(4, 4), K(4, 4);
  M << 2, 0, 0.5, 0, 0, 2, 0, 0, 0.5, 0, 1, 0, 0, 0, 0, 1;
  K << 800, 0, -300, 0, 0, 5000, 0, -5000, -300, 0, 200, 0, 0, -5000, 0, 5000;
  const auto beam = a.add("beam", Structure({.M = M,
                                             .C = MatrixXd::Identity(4, 4).eval(),
                                             .K = K,
                                             .dofs = {{"n1", "uz"}, {"n1", "ux"}, {"n2", "uz"}, {"n2", "ux"}},
                                             .nodes = {{"n1", {1, 0, 0}}, {"n2", {2, 0, 0}}}}));
  const auto ball = a.add("ball", solid(Inertia::sphere(1, 0.1)));
  const auto weight = a.add("weight", Particle<1>{.mass = 0.5});
  a.place(ball, at({2, 0, -0.5}));
  a.connect("link", Distance<3>{.on_a = {2, 0, 0}, .length = 0.5}, beam, ball);
  a.connect("coupling", Coupling{.terms = {{0, "n1.ux", 1}, {1, "x", -2}}}, beam, weight);
  a.apply("hold", CoordinateSpring{.terms = {{0, "n1.ux", 1}}, .stiffness = 100, .damping = 1}, beam);
  return a;
}

Assembly controller() {
  Assembly a("controller");
  const auto cart = a.add("cart", Particle<1>{.mass = 2});
  const auto trailer = a.add("trailer", Particle<1>{.mass = 1});
  const auto integral = a.add("integral", States{.coordinates = {"e"}});
  a.add("wear", Parameter{.value = 0.1});
  a.place(trailer, Vec<double, 1>(-1));
  a.connect("law", Rate{[](const auto&, const auto& c, const auto&) { return 1.0 - c.coordinate("x"); }}, integral,
            cart);
  a.apply("motor", Force{[](auto& c, auto& i, const auto&) {
            c.apply_to("x", 20.0 * (1.0 - c.coordinate("x")) + 5.0 * i.coordinate("e") - 8.0 * c.speed("x"));
          }},
          cart, integral);
  a.apply("rubber", Potential{[](const auto& c, const auto& b, const auto&) {
            const auto e = c.coordinate("x") - b.coordinate("x") - 1.0;
            return 10.0 * e * e + 50.0 * e * e * e * e;
          }},
          cart, trailer);
  a.apply("air", Dissipation{[](const auto& b, const auto&) {
            using std::abs;
            const auto u = abs(b.speed("x"));
            return 0.5 * u * u * u;
          }},
          trailer);
  return a;
}

Assembly energies() {
  Assembly a("energies");
  const double M = 2, m = 1, l = 0.5, g = 9.81;
  const auto cart = a.add(
      "cart", Lagrangian{.coordinates = {"x", "theta"}, .energies = [=](const auto& q, const auto& v, const auto&) {
                           using std::cos;
                           return Energies{(M + m) / 2 * v[0] * v[0] + m * l * v[0] * v[1] * cos(q[1]) +
                                               m * l * l / 2 * v[1] * v[1],
                                           -m * g * l * cos(q[1])};
                         }});
  MatrixXd mass(2, 2);
  mass << 1, 0.2, 0.2, 1;
  const auto follower = a.add(
      "follower", Subsystem{.coordinates = {"y", "z"}, .M = mass, .Q = [](const auto& q, const auto& v, const auto& t) {
                              using std::sin;
                              using T = Scalar<decltype(q)>;
                              Vec<T, dynamic> Q(2);
                              Q << T(-5.0 * q[0] - 0.1 * v[0]), T(-3.0 * q[1] + sin(t));
                              return Q;
                            }});
  VectorXd q(2);
  q << 0, 40 * degree;
  a.place(cart, q);
  a.connect("cam", Holonomic{[](const auto& c, const auto& f, const auto&) {
              using std::sin;
              return f.coordinate("y") - 0.1 * sin(3.0 * c.coordinate("x"));
            }},
            cart, follower);
  a.connect("ratchet", Nonholonomic{[](const auto& f, const auto&) { return f.speed("z") - 0.5 * f.speed("y"); }},
            follower);
  return a;
}

Assembly twin_arms() {
  Assembly a("twin_arms");
  a.set_gravity({0, -9.81, 0});
  const auto arm = [](double length, double mass) {
    Assembly part("arm");
    const auto link = part.add("link", flat(Inertia::rod(mass, length)));
    part.place(link, {length / 2, 0, 0});
    part.port("end", link);
    return part;
  };
  const double L = 1.5;
  a.add("left", arm(L, 1));
  a.add("right", arm(2 * L, 3));
  Assembly clock("clock");
  const auto hand = clock.add("hand", PlanarBody{.mass = 0.15, .inertia = 0.01});
  clock.connect("axle", Pin{}, clock.add("ground", Ground{}), hand);
  a.add("clock", clock);
  const auto ground = a.add("ground", Ground{});
  a.connect("left_hinge", Pin{.on_b = {-L / 2, 0}}, ground, a.body<PlanarBody>("left/link"));
  a.connect("right_hinge", Pin{.on_a = {0, -1}, .on_b = {-L, 0}}, ground, a.body<PlanarBody>("right/link"));
  a.connect("bar", Distance<2>{.on_a = {L / 2, 0}, .on_b = {L, 0}, .length = 2}, a.body<PlanarBody>("left/end"),
            a.body<PlanarBody>("right/end"));
  return a;
}

Assembly vehicle() {
  Assembly a("vehicle");
  a.set_gravity({0, -9.81, 0});
  const auto chassis = a.add("chassis", flat(Inertia::box(600, {3, 0.8, 1})));
  const auto front = a.add("front", PlanarBody{.mass = 30, .inertia = 1});
  const auto rear = a.add("rear", PlanarBody{.mass = 30, .inertia = 1});
  a.place(chassis, {0, 0.8, 0});
  a.place(front, {1.3, 0.3, 0});
  a.place(rear, {-1.3, 0.3, 0});
  const PlanarAxis up{0, 1};
  a.connect("front_strut", Slider{.on_a = {1.3, -0.5}, .axis_a = up, .axis_b = up}, chassis, front);
  a.connect("rear_strut", Slider{.on_a = {-1.3, -0.5}, .axis_a = up, .axis_b = up}, chassis, rear);
  a.connect("lane", DriveCoordinate{.coordinate = "x"}, chassis);
  const auto spring = [](double x) {
    return Spring<2>{.on_a = {x, 0.3}, .stiffness = 30000, .damping = 2000, .length = 0.9};
  };
  a.apply("front_spring", spring(1.3), chassis, front);
  a.apply("rear_spring", spring(-1.3), chassis, rear);
  const auto tyre = [](double phase) {
    return Potential{[phase](const auto& w, const auto& t) {
      using std::sin;
      const auto e = w.coordinate("y") - 0.3 - 0.02 * sin(6.0 * t - phase);
      return 1e5 * e * e;
    }};
  };
  a.apply("front_tyre", tyre(0), front);
  a.apply("rear_tyre", tyre(1), rear);
  return a;
}

}  // namespace

const std::map<std::string, Assembly (*)()>& twins() {
  static const std::map<std::string, Assembly (*)()> all{
      {"pendulum", pendulum},
      {"massless_rod", massless_rod},
      {"four_bar", four_bar},
      {"slider_crank", slider_crank},
      {"gear_train", gear_train},
      {"wheel_on_incline", wheel_on_incline},
      {"sleigh", sleigh},
      {"hoist", hoist},
      {"actuators", actuators},
      {"lagrange_top", lagrange_top},
      {"robot_arm", robot_arm},
      {"shafts", shafts},
      {"screw_press", screw_press},
      {"gears_in_space", gears_in_space},
      {"rolling", rolling},
      {"beads", beads},
      {"table", table},
      {"beam", beam},
      {"controller", controller},
      {"energies", energies},
      {"twin_arms", twin_arms},
      {"vehicle", vehicle},
  };
  return all;
}
