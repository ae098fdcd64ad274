// Beside Simbody: chains as its recursive tree and as free bodies with constraints, and the four-bar with closed loops.
//
// Debian builds Simbody without NDEBUG, and its headers must be compiled the same way.

#include <Simbody.h>

#include <fmt/format.h>

#include "mechanisms.h"
#include "mortise_side.h"
#include "report.h"

namespace {

using SimTK::MobilizedBody, SimTK::Transform;

SimTK::Vec3 vector(const bench::Vec3& r) { return {r[0], r[1], r[2]}; }
SimTK::Rotation rotation(const bench::Quaternion& u) {
  return SimTK::Rotation(SimTK::Quaternion(u[0], u[1], u[2], u[3]));
}

// A model of Simbody and the state in which it is measured.
struct Simbody {
  SimTK::MultibodySystem system;
  SimTK::SimbodyMatterSubsystem matter{system};
  SimTK::GeneralForceSubsystem forces{system};
  std::vector<MobilizedBody> bodies;
  SimTK::State state;
  SimTK::Vector q, u;

  void start() { state = system.realizeTopology(); }
  void keep() { q = state.getQ(), u = state.getU(); }  // once the state is set

  // What is timed.  Writing q and u makes Simbody forget all that depends on them.
  void solve() {
    state.updQ() = q;
    state.updU() = u;
    system.realize(state, SimTK::Stage::Acceleration);
  }
  std::vector<double> accelerations() const {
    std::vector<double> out;
    for (const auto& body : bodies) {
      const SimTK::Vec3 w = body.getBodyAngularAcceleration(state), x = body.getBodyOriginAcceleration(state);
      out.insert(out.end(), {w[0], w[1], w[2], x[0], x[1], x[2]});
    }
    return out;
  }
};

enum class Model { tree, free_bodies };

struct SimbodyChain : Simbody {
  SimbodyChain(const bench::Chain& chain, Model model) {
    SimTK::Force::UniformGravity(forces, matter, SimTK::Vec3(0, 0, -bench::gravity));
    const SimTK::Vec3 J = vector(bench::Chain::inertia), top = vector(bench::Chain::top);
    const SimTK::Body::Rigid rod(SimTK::MassProperties(bench::Chain::mass, SimTK::Vec3(0), SimTK::Inertia(J)));
    MobilizedBody above = matter.updGround();
    SimTK::Vec3 hook(0);
    for (const auto& r : chain.rods) {
      if (model == Model::free_bodies) {
        bodies.push_back(MobilizedBody::Free(matter.updGround(), rod));
        SimTK::Constraint::Ball(above, hook, bodies.back(), top);
      } else if (chain.revolute) {
        const SimTK::Rotation axis(SimTK::UnitVec3(vector(r.axis)), SimTK::ZAxis);  // a pin turns about its z axis
        bodies.push_back(MobilizedBody::Pin(above, Transform(axis, hook), rod, Transform(axis, top)));
      } else {
        bodies.push_back(MobilizedBody::Ball(above, Transform(hook), rod, Transform(top)));
      }
      above = bodies.back();
      hook = vector(bench::Chain::bottom);
    }
    start();
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const auto& r = chain.rods[i];
      if (model == Model::free_bodies) {
        bodies[i].setQToFitTransform(state, Transform(rotation(r.u), vector(r.x)));
        bodies[i].setUToFitVelocity(state, SimTK::SpatialVec(rotation(r.u) * vector(r.w), vector(r.v)));
      } else if (chain.revolute) {
        bodies[i].setOneQ(state, 0, r.angle);
        bodies[i].setOneU(state, 0, r.rate);
      } else {
        bodies[i].setQToFitRotation(state, rotation(r.relative_u));
        bodies[i].setUToFitAngularVelocity(state, rotation(r.relative_u) * vector(r.relative_w));
      }
    }
    keep();
  }
};

// Rods and couplers are a tree of pins; point constraints close each window.
struct SimbodyFourBar : Simbody {
  explicit SimbodyFourBar(const bench::FourBar& four_bar) {
    SimTK::Force::UniformGravity(forces, matter, SimTK::Vec3(0, -bench::gravity, 0));
    const SimTK::Inertia J(1e-3, 1.0 / 12.0, 1.0 / 12.0);
    const SimTK::Body::Rigid bar(SimTK::MassProperties(1, SimTK::Vec3(0), J));
    const SimTK::Vec3 left(-0.5, 0, 0), right(0.5, 0, 0);
    for (int i = 0; i <= four_bar.windows; ++i)
      bodies.push_back(MobilizedBody::Pin(matter.updGround(), Transform(SimTK::Vec3(i, 0, 0)), bar, Transform(left)));
    for (std::size_t i = 0; i < static_cast<std::size_t>(four_bar.windows); ++i) {
      bodies.push_back(MobilizedBody::Pin(bodies[i], Transform(right), bar, Transform(left)));
      // Two planes through the top of the next rod.  A ball would have a third, redundant row and be slower.
      const SimTK::UnitVec3 x(SimTK::XAxis), y(SimTK::YAxis);
      SimTK::Constraint::PointInPlane(bodies[i + 1], x, right[0], bodies.back(), right);
      SimTK::Constraint::PointInPlane(bodies[i + 1], y, right[1], bodies.back(), right);
    }
    start();
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const bool rod = i <= static_cast<std::size_t>(four_bar.windows);
      bodies[i].setOneQ(state, 0, rod ? four_bar.theta : -four_bar.theta);
      bodies[i].setOneU(state, 0, rod ? four_bar.rate : -four_bar.rate);
    }
    keep();
  }
  std::vector<double> accelerations() const {
    std::vector<double> out;
    for (const auto& body : bodies) out.push_back(body.getBodyAngularAcceleration(state)[2]);
    return out;
  }
};

void chain(bench::Report& report, const std::string& name, int size, bool revolute, Model model,
           const std::string& peer) {
  if (!report.wants(name)) return;
  const int n = report.options().size(size);
  const auto numbers = revolute ? bench::revolute_chain(n) : bench::spherical_chain(n);
  bench::MortiseSide ours(numbers);
  SimbodyChain theirs(numbers, model);
  const auto times = bench::race(
      report.options(), [&] { ours.solve(); }, [&] { theirs.solve(); });
  const std::string shown = report.name(name, size);
  const double difference = bench::difference(ours.accelerations(), theirs.accelerations());
  report.ratio(shown, times, peer + "; " + report.agreement(difference));
  report.figure("us_per_body_" + shown, times.ours / n);
  report.figure("us_per_body_simbody_" + shown, times.theirs / n);
}

void four_bar(bench::Report& report, const std::string& name, int windows) {
  if (!report.wants(name)) return;
  bench::FourBar numbers;
  numbers.windows = report.options().size(windows);
  bench::MortiseSide ours(numbers);
  SimbodyFourBar theirs(numbers);
  const auto times = bench::race(
      report.options(), [&] { ours.solve(); }, [&] { theirs.solve(); });
  const double difference = bench::difference(ours.accelerations(), theirs.accelerations());
  report.ratio(report.name(name, windows), times, "Simbody, closed tree of pins; " + report.agreement(difference));
}

}  // namespace

int main(int count, char** arguments) {
  bench::Report report(bench::Options::from(count, arguments));
  for (const int n : {100, 1000, 10000})
    chain(report, fmt::format("chain_{}", n), n, false, Model::tree, "Simbody, tree of balls");
  chain(report, "chain_revolute_1000", 1000, true, Model::tree, "Simbody, tree of pins");
  chain(report, "chain_maximal_100", 100, false, Model::free_bodies, "Simbody, free bodies with ball constraints");
  four_bar(report, "fourbar_40_simbody", 40);
  return report.exit_code();
}
