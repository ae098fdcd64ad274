#include <mortise/core/rigid_mass.h>

#include <mortise/core/decompositions.h>
#include <mortise/core/tolerances.h>

namespace mortise {

PrincipalMass PrincipalMass::seen_from(const RigidFrame& frame) const {
  const RigidFrame back = frame.inverse();
  return {dimension, mass, back.origin + back.axes * centre, moments, back.axes * axes};
}

PrincipalMass principal(const RigidMass& m) {
  PrincipalMass out{m.dimension, m.mass, m.centre, m.inertia.diagonal()};
  if (m.dimension == 2) return out;
  // The frame's own axes where these are principal ones, with what has no inertia last.
  const double most = out.moments.maxCoeff();
  const bool descending =
      out.moments[1] > tolerance::no_inertia * most || out.moments[2] <= tolerance::no_inertia * most;
  if (!m.inertia.isDiagonal(0) || out.moments[0] <= tolerance::no_inertia * most || !descending) {
    const SymmetricEigen found(m.inertia);
    out.moments = found.values.reverse();
    out.axes = found.vectors.rowwise().reverse();
    if (out.axes.determinant() < 0) out.axes.col(0) *= -1;
  }
  for (double& J : out.moments)
    if (!(J > tolerance::no_inertia * out.moments.maxCoeff())) J = 0;
  return out;
}

RigidMass welded(const std::vector<PlacedMass>& parts) {
  RigidMass out{parts.front().mass.dimension};
  const auto centre = [](const PlacedMass& p) -> Vec3<double> { return p.frame.origin + p.frame.axes * p.mass.centre; };
  for (const PlacedMass& p : parts) {
    out.mass += p.mass.mass;
    out.centre += p.mass.mass * centre(p);
  }
  out.centre = out.mass > 0 ? (out.centre / out.mass).eval() : centre(parts.front());
  for (const PlacedMass& p : parts) {
    Vec3<double> d = centre(p) - out.centre;
    const double size = p.frame.origin.norm() + p.mass.centre.norm() + out.centre.norm();
    if (d.norm() <= 4 * tolerance::no_arm * size) d.setZero();
    out.inertia += p.frame.axes * p.mass.inertia * p.frame.axes.transpose() +
                   p.mass.mass * (d.squaredNorm() * Mat<double, 3>::Identity() - d * d.transpose());
  }
  out.inertia = (0.5 * (out.inertia + out.inertia.transpose())).eval();
  return out;
}

}  // namespace mortise
