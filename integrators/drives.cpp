#include <mortise/integrators/drives.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>

namespace mortise {
namespace {

constexpr int instants = 4096, coarse = 64;

// Parts of the library that take functions of time, and all parts of users.
bool may_depend_on_time(std::string_view kind) {
  constexpr std::array<std::string_view, 8> functions{
      "", "rate", "motor", "applied_force", "applied_torque", "holonomic", "nonholonomic", "coordinate_force"};
  return kind.starts_with("drive") || std::find(functions.begin(), functions.end(), kind) != functions.end();
}

// Values and b of a joint's rows.
VectorXd rows_at(const System& system, const System::ConstraintInfo& c, const State& s) {
  VectorXd out(2 * c.rows);
  std::vector<MatrixXd> blocks;
  std::vector<Eigen::Map<MatrixXd>> A;
  std::vector<Index> first;
  for (const std::size_t k : c.bodies) {
    first.push_back(system.bodies()[k].first);
    blocks.emplace_back(c.rows, system.bodies()[k].size);
  }
  for (MatrixXd& m : blocks) A.emplace_back(m.data(), m.rows(), m.cols());
  c.model->evaluate(s, first, out.head(c.rows), out.tail(c.rows), A);
  return out;
}

VectorXd force_at(const System& system, const System::ForceInfo& f, const State& s) {
  VectorXd Q = VectorXd::Zero(system.size());
  f.model->act(s, system.firsts(f.bodies), Q);
  return Q;
}

}  // namespace

bool depends_on_time(const System& system, const System::ConstraintInfo& c, const State& s) {
  if (c.own) return false;
  if (may_depend_on_time(c.model->kind())) return true;
  State never = s;
  never.t = std::numeric_limits<double>::quiet_NaN();
  try {
    return !rows_at(system, c, never).allFinite();
  } catch (const Error&) {
    return true;
  }
}

std::vector<Beginning> beginnings(const System& system, const State& start, double end) {
  std::vector<Beginning> out;
  State s = start;
  s.v.setZero();
  const double duration = end - start.t;
  const auto look = [&](const std::function<VectorXd()>& values) {
    const auto at = [&](double t) {
      s.t = t;
      return values();
    };
    const auto time = [&](int k, int of) { return start.t + duration * k / of; };
    // One that changes all the time needs no closer look.
    VectorXd last = at(start.t);
    bool rests = false;
    for (int k = 1; k <= coarse && !rests; ++k) {
      const VectorXd now = at(time(k, coarse));
      rests = now == last;
      last = now;
    }
    if (!rests) return;
    last = at(start.t);
    bool resting = true;
    double t0 = start.t;
    for (int k = 1; k <= instants; ++k) {
      const double t1 = time(k, instants);
      const VectorXd now = at(t1);
      const bool changes = now != last;
      if (changes && resting) {
        double a = t0, b = t1;
        for (int i = 0; i < 60 && b - a > 1e-12 * duration; ++i) {
          const double m = 0.5 * (a + b);
          (at(m) == last ? a : b) = m;
        }
        out.push_back({a, t1 - a});
      } else if (changes && !out.empty()) {
        out.back().step = t1 - out.back().t;
      }
      resting = !changes;
      last = now;
      t0 = t1;
    }
  };
  const auto guarded = [&](const std::function<VectorXd()>& values) {
    const std::size_t before = out.size();
    try {
      look(values);
    } catch (const Error&) {  // told when the run comes there
      out.resize(before);
    }
  };
  for (std::size_t i = 0; i < system.constraints().size(); ++i) {
    const auto& c = system.constraints()[i];
    if (!c.own && !std::binary_search(s.off.begin(), s.off.end(), i) && may_depend_on_time(c.model->kind()))
      guarded([&] { return rows_at(system, c, s); });
  }
  for (const auto& f : system.forces())
    if (may_depend_on_time(f.model->kind())) guarded([&] { return force_at(system, f, s); });
  std::sort(out.begin(), out.end(), [](const Beginning& a, const Beginning& b) { return a.t < b.t; });
  constexpr double share = 0.1;
  for (Beginning& b : out) b.step *= share;
  return out;
}

}  // namespace mortise
