#include <mortise/bodies/inertia.h>

#include <algorithm>
#include <cmath>

namespace mortise {
namespace {

struct Size {
  const char* name;
  double value;
  const char* unit;
};

void require_sizes(const std::string& solid, std::initializer_list<Size> sizes) {
  for (const Size& s : sizes)
    Label{"solid", solid}.require(std::isfinite(s.value) && s.value >= 0,
                                  fmt::format("{} = {} {}", s.name, s.value, s.unit),
                                  "give a finite number >= 0 (0 is allowed)");
}

// J = along z z' + across (I - z z')
Mat<double, 3> round(const std::string& solid, const Axis& axis, double along, double across) {
  Label{"solid", solid}.require(axis.along.allFinite() && axis.along.norm() > 0.5, "its axis has length 0",
                                "give a direction; any length > 0 will do");
  const Mat<double, 3> zz = axis.along * axis.along.transpose();
  return along * zz + across * (Mat<double, 3>::Identity() - zz);
}

Mat<double, 3> steiner(double mass, const Vec3<double>& d) {
  return mass * (d.squaredNorm() * Mat<double, 3>::Identity() - d * d.transpose());
}

}  // namespace

Inertia Inertia::box(double mass, const Vec3<double>& edges) {
  require_sizes("box", {{"mass", mass, "kg"}, {"x", edges[0], "m"}, {"y", edges[1], "m"}, {"z", edges[2], "m"}});
  const Vec3<double> squares = edges.cwiseAbs2();
  return {mass, (mass / 12 * (Vec3<double>::Constant(squares.sum()) - squares)).asDiagonal(), Vec3<double>::Zero()};
}

Inertia Inertia::rod(double mass, double length, const Axis& axis) {
  require_sizes("rod", {{"mass", mass, "kg"}, {"length", length, "m"}});
  return {mass, round("rod", axis, 0, mass * length * length / 12), Vec3<double>::Zero()};
}

Inertia Inertia::cylinder(double mass, double radius, double length, const Axis& axis) {
  require_sizes("cylinder", {{"mass", mass, "kg"}, {"radius", radius, "m"}, {"length", length, "m"}});
  const double r2 = radius * radius;
  return {mass, round("cylinder", axis, mass * r2 / 2, mass * (3 * r2 + length * length) / 12), Vec3<double>::Zero()};
}

Inertia Inertia::disk(double mass, double radius, const Axis& axis) {
  require_sizes("disk", {{"mass", mass, "kg"}, {"radius", radius, "m"}});
  return {mass, round("disk", axis, mass * radius * radius / 2, mass * radius * radius / 4), Vec3<double>::Zero()};
}

Inertia Inertia::sphere(double mass, double radius) {
  require_sizes("sphere", {{"mass", mass, "kg"}, {"radius", radius, "m"}});
  return {mass, 0.4 * mass * radius * radius * Mat<double, 3>::Identity(), Vec3<double>::Zero()};
}

Inertia Inertia::tube(double mass, double inner_radius, double outer_radius, double length, const Axis& axis) {
  require_sizes("tube", {{"mass", mass, "kg"},
                         {"inner radius", inner_radius, "m"},
                         {"outer radius", outer_radius, "m"},
                         {"length", length, "m"}});
  Label{"solid", "tube"}.require(
      inner_radius <= outer_radius,
      fmt::format("inner radius {} m is above outer radius {} m", inner_radius, outer_radius),
      "give the inner radius first");
  const double r2 = inner_radius * inner_radius + outer_radius * outer_radius;
  return {mass, round("tube", axis, mass * r2 / 2, mass * (3 * r2 + length * length) / 12), Vec3<double>::Zero()};
}

Inertia Inertia::points(const std::vector<Point>& set) {
  Inertia all;
  for (const Point& p : set) {
    require_sizes("point set", {{"mass", p.mass, "kg"}});
    Label{"solid", "point set"}.require(p.at.allFinite(), "a point is not finite", "give finite numbers");
    all.mass += p.mass;
    all.centre += p.mass * p.at;
  }
  if (all.mass > 0) all.centre /= all.mass;
  for (const Point& p : set) all.moments += steiner(p.mass, p.at - all.centre);
  return all;
}

Mat<double, 3> Inertia::about(const Vec3<double>& p) const { return moments + steiner(mass, centre - p); }

Inertia Inertia::sum(const Inertia& a, const Inertia& b, double sign) {
  Inertia all{a.mass + sign * b.mass, a.moments + sign * b.moments, a.centre};
  Label{"solid", "difference"}.require(all.mass >= 0,
                                       fmt::format("a part of {} kg is taken from {} kg", b.mass, a.mass),
                                       "take out no more than there is");
  if (all.mass > 0) all.centre = (a.mass * a.centre + sign * b.mass * b.centre) / all.mass;
  all.moments += steiner(a.mass, a.centre - all.centre) + sign * steiner(b.mass, b.centre - all.centre);
  return all;
}

void require_triangle(const Label& label, const Vec3<double>& principal) {
  constexpr double rounded = 1e-5;  // moments are often given to a few digits
  constexpr double zero = 1e-14;    // of the largest: neglected
  Vec3<double> J = principal;
  std::sort(J.begin(), J.end());
  label.require(J[0] <= zero * J[2] || J[0] + J[1] >= (1 - rounded) * J[2],
                fmt::format("principal moments {:.6g}, {:.6g} and {:.6g} kg m^2 are those of no body: the largest is "
                            "above the sum of the others",
                            J[0], J[1], J[2]),
                "give moments about the centre of mass with J1 + J2 >= J3; set to 0 what is neglected");
}

Inertia Inertia::moved(const Vec3<double>& by) const { return {mass, moments, centre + by}; }
Inertia Inertia::turned(const Mat<double, 3>& R) const { return {mass, R * moments * R.transpose(), R * centre}; }

}  // namespace mortise
