#include <mortise/core/axis.h>

namespace mortise {

Axis::Axis() : Axis(0, 0, 1) {}
Axis::Axis(double x, double y, double z) : Axis(Vec3<double>(x, y, z)) {}
Axis::Axis(const Vec3<double>& d) : along(d.stableNormalized()) {
  across_1 = along.unitOrthogonal();
  across_2 = along.cross(across_1);
}
Axis::Axis(const Vec3<double>& d, const Vec3<double>& towards) : along(d.stableNormalized()) {
  across_1 = (towards - along.dot(towards) * along).stableNormalized();
  across_2 = along.cross(across_1);
}

PlanarAxis::PlanarAxis() : PlanarAxis(1, 0) {}
PlanarAxis::PlanarAxis(double x, double y) : PlanarAxis(Vec2<double>(x, y)) {}
PlanarAxis::PlanarAxis(const Vec2<double>& d) : along(d.stableNormalized()), across(-along[1], along[0]) {}

}  // namespace mortise
