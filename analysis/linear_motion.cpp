#include <mortise/analysis/linear_motion.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <mortise/core/rotation.h>
#include <mortise/engine/tangent.h>
#include <mortise/solve/solver.h>

namespace mortise {
namespace {

using Entries = Tangent::Entries;
using Matrix = LinearMotion::Matrix;

Matrix matrix(Index rows, Index columns, const Entries& entries) {
  Matrix out(rows, columns);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

bool varies_by_turns(const BodyModel& body) {
  const auto mass = body.rigid_mass();
  return mass && mass->dimension == 3 && body.size() == 7 && body.own_constraint();
}

// u of a small turn about axis k of the world: 1/2 e_k u, linear in u.
Quaternion<double> half_turn(int k, const Quaternion<double>& u) {
  Quaternion<double> e = Quaternion<double>::Zero();
  e[1 + k] = 0.5;
  return quaternion_product<double>(e, u);
}

void add_rigid(const System::BodyInfo& b, const State& s, const VectorXd& a, Index column, Entries& E, Entries& E1,
               Entries& E2) {
  const RigidMass mass = *b.model->rigid_mass();
  // The arm from the centre of mass to the origin, with its rates.
  std::array<Taylor, 7> q;
  for (Index i = 0; i < 7; ++i) {
    auto& x = q[static_cast<std::size_t>(i)] = Taylor(s.q[b.first + i], s.v[b.first + i], 0);
    x.d2 = a[b.first + i];
  }
  std::array<Taylor, 3> arm{Taylor(0), Taylor(0), Taylor(0)};
  if (mass.mass > 0) {
    const std::array<double, 3> centre{-mass.centre[0], -mass.centre[1], -mass.centre[2]};
    b.model->locate(Ask::direction, centre, q.data(), arm.data());
  }
  const auto add = [&](Entries& to, const VectorXd& x, auto part, bool identity) {
    const Vec3<double> r(part(arm[0]), part(arm[1]), part(arm[2]));
    for (int k = 0; k < 3; ++k) {
      if (identity) to.emplace_back(b.first + k, column + k, 1.0);
      const Vec3<double> moved = Vec3<double>::Unit(k).cross(r);
      const Quaternion<double> u = half_turn(k, x.segment<4>(b.first + 3));
      for (int i = 0; i < 3; ++i) to.emplace_back(b.first + i, column + 3 + k, moved[i]);
      for (int i = 0; i < 4; ++i) to.emplace_back(b.first + 3 + i, column + 3 + k, u[i]);
    }
  };
  add(
      E, s.q, [](const Taylor& x) { return x.v; }, true);
  add(
      E1, s.v, [](const Taylor& x) { return x.d1; }, false);
  add(
      E2, a, [](const Taylor& x) { return x.d2; }, false);
}

// Slope of f along x at 0, by differences of order eight.
VectorXd slope_of(const std::function<VectorXd(double)>& f, double step) {
  constexpr std::array weight{4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
  VectorXd out;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const double h = static_cast<double>(i + 1) * step;
    const VectorXd d = weight[i] / step * (f(h) - f(-h));
    out = i == 0 ? d : VectorXd(out + d);
  }
  return out;
}

// Slopes of the rows of one constraint in one of its coordinates: of the first rate at fixed v, of the second one at
// fixed v and a, and of the second one in the velocity.
struct RateSlopes {
  VectorXd first, second, second_in_v;
};

class RowsOf {
 public:
  RowsOf(const State& s, const VectorXd& a) : s_(s), a_(a) {
    moving_ = {TaylorVector(s.q.size()), TaylorVector(s.q.size()), Taylor(s.t, 1, 0)};
    for (Index i = 0; i < s.q.size(); ++i) reset(i);
  }

  RateSlopes slopes(const System& system, const System::ConstraintInfo& c, Index i) {
    const std::vector<Index> firsts = system.firsts(c.bodies);
    RateSlopes out{VectorXd(c.rows), VectorXd(c.rows), VectorXd(c.rows)};
    TaylorVector rows(c.rows);
    moving_.q[i].slope = 1;
    if (!c.model->evaluate(moving_, firsts, rows)) {
      reset(i);
      return by_differences(system, c, i);
    }
    for (Index k = 0; k < c.rows; ++k) {
      const bool holonomic = k < c.holonomic;
      out.first[k] = holonomic ? rows[k].slope1 : rows[k].slope;
      out.second[k] = holonomic ? rows[k].slope2 : rows[k].slope1;
    }
    reset(i);
    moving_.q[i].slope1 = 1, moving_.v[i].slope = 1;
    (void)c.model->evaluate(moving_, firsts, rows);
    for (Index k = 0; k < c.rows; ++k) out.second_in_v[k] = k < c.holonomic ? rows[k].slope2 : rows[k].slope1;
    reset(i);
    return out;
  }

 private:
  void reset(Index i) {
    moving_.q[i] = Taylor(s_.q[i], s_.v[i], 0);
    moving_.q[i].d2 = a_[i];
    moving_.v[i] = Taylor(s_.v[i], a_[i], 0);
  }
  RateSlopes by_differences(const System& system, const System::ConstraintInfo& c, Index i) const {
    const std::vector<Index> firsts = system.firsts(c.bodies);
    std::vector<Index> sizes;
    Index columns = 0;
    for (const std::size_t b : c.bodies) sizes.push_back(system.bodies()[b].size), columns += sizes.back();
    // A x and A q'' - b at a state
    const auto at = [&](const State& s, const VectorXd& x, bool with_b) {
      MatrixXd A(c.rows, columns);
      std::vector<Eigen::Map<MatrixXd>> blocks;
      Index column = 0;
      for (const Index n : sizes) {
        blocks.emplace_back(A.data() + column * c.rows, c.rows, n);
        column += n;
      }
      VectorXd value(c.rows), b(c.rows);
      c.model->evaluate(s, firsts, value, b, blocks);
      VectorXd out = with_b ? VectorXd(-b) : VectorXd::Zero(c.rows).eval();
      for (std::size_t k = 0; k < blocks.size(); ++k) out += blocks[k] * x.segment(firsts[k], sizes[k]);
      return out;
    };
    const auto shifted = [&](double State::*time, Eigen::VectorXd State::*of, double h) {
      State s = s_;
      if (of != nullptr) (s.*of)[i] += h;
      if (time != nullptr) s.*time += h;
      return s;
    };
    const double in_q = 1e-2 * std::max(1.0, std::abs(s_.q[i])), in_v = 1e-2 * std::max(1.0, std::abs(s_.v[i]));
    RateSlopes out;
    out.second = slope_of([&](double h) { return at(shifted(nullptr, &State::q, h), a_, true); }, in_q);
    out.second_in_v = slope_of([&](double h) { return at(shifted(nullptr, &State::v, h), a_, true); }, in_v);
    // phi'_q = (A v)_q + A_t;  psi_q is what is left of psi's own slopes
    out.first =
        slope_of([&](double h) { return at(shifted(nullptr, &State::q, h), s_.v, false); }, in_q) +
        slope_of([&](double h) { return at(shifted(&State::t, nullptr, h), VectorXd::Unit(a_.size(), i), false); },
                 1e-2);
    if (c.holonomic < c.rows) {
      const VectorXd none = VectorXd::Zero(c.rows);
      const auto own = c.model->slopes(s_, firsts, none.data());
      Index column = 0;
      for (std::size_t k = 0; k < c.bodies.size(); ++k) {
        if (i >= firsts[k] && i < firsts[k] + sizes[k])
          out.first.tail(c.rows - c.holonomic) = own.value_dq.col(column + i - firsts[k]).tail(c.rows - c.holonomic);
        column += sizes[k];
      }
    }
    return out;
  }

  const State& s_;
  const VectorXd& a_;
  TaylorState moving_;
};

}  // namespace

LinearMotion linear_motion(const System& system, const State& s) {
  LinearMotion out;
  out.state = s;
  Solver solver(system);
  out.a = solver.solve(s);
  out.lambda = solver.lambda();
  const VectorXd& a = out.a;
  const Index n = system.size();
  const Evaluation e = system.evaluate(s);

  Entries E, E1, E2;
  int groups = 0;
  for (std::size_t i = 0; i < system.bodies().size(); ++i) {
    const auto& b = system.bodies()[i];
    const Index column = out.size();
    if (varies_by_turns(*b.model)) {
      for (const char* x : {"x", "y", "z"}) out.variations.push_back({b.name + "." + x, "m", i, groups});
      for (const char* x : {"rx", "ry", "rz"}) out.variations.push_back({b.name + "." + x, "rad", i, groups + 1});
      groups += 2;
      add_rigid(b, s, a, column, E, E1, E2);
      continue;
    }
    const auto names = b.model->coordinates(), units = b.model->units();
    const auto own = b.model->groups();
    for (std::size_t k = 0; k < names.size(); ++k) {
      out.variations.push_back({b.name + "." + names[k], units[k], i, groups + own[k]});
      E.emplace_back(b.first + static_cast<Index>(k), column + static_cast<Index>(k), 1.0);
    }
    groups += own.empty() ? 0 : 1 + *std::max_element(own.begin(), own.end());
  }
  const Index k = out.size();
  out.E = matrix(n, k, E), out.E1 = matrix(n, k, E1), out.E2 = matrix(n, k, E2);

  // The solver tells 0 for rows that a body meets by itself; here each carries what keeps the body's equations.
  VectorXd left = -e.Q - e.C;
  for (std::size_t i = 0; i < system.bodies().size(); ++i) {
    const auto& b = system.bodies()[i];
    left.segment(b.first, b.size) += e.M(i) * a.segment(b.first, b.size);
  }
  const auto bodies_of = [&](const System::ConstraintInfo& c, auto f) {
    for (std::size_t j = 0; j < c.bodies.size(); ++j)
      f(e.A(c.block + j), system.bodies()[c.bodies[j]].first, system.bodies()[c.bodies[j]].size);
  };
  for (const auto& c : system.constraints())
    bodies_of(c, [&](const auto& A, Index first, Index size) {
      left.segment(first, size) -= A.transpose() * out.lambda.segment(c.row, c.rows);
    });
  for (const auto& c : system.constraints())
    if (c.own && varies_by_turns(*system.bodies()[c.bodies[0]].model))
      bodies_of(c, [&](const auto& A, Index first, Index size) {
        out.lambda[c.row] += A.row(0).dot(left.segment(first, size)) / A.row(0).squaredNorm();
      });

  const Tangent t = tangent(system, e, a, out.lambda);
  const Matrix M = matrix(n, n, t.M), D = matrix(n, n, t.force_dv), K = matrix(n, n, t.force_dq);
  const Matrix ET = out.E.transpose();
  out.M = ET * (M * out.E);
  out.D = ET * Matrix(2 * (M * out.E1) + D * out.E);
  out.K = ET * Matrix(M * out.E2 + D * out.E1 + K * out.E);

  Entries A, N, G, H;
  std::vector<std::vector<Index>> order(2);
  RowsOf rows(s, a);
  for (std::size_t i = 0; i < system.constraints().size(); ++i) {
    const auto& c = system.constraints()[i];
    if (std::binary_search(s.off.begin(), s.off.end(), i)) continue;
    if (c.own && varies_by_turns(*system.bodies()[c.bodies[0]].model)) continue;  // turns keep the quaternion unit
    for (Index r = 0; r < c.rows; ++r) order[r < c.holonomic ? 0 : 1].push_back(c.row + r);
    std::size_t j = 0;
    bodies_of(c, [&](const auto& block, Index first, Index size) {
      ++j;
      for (Index x = first; x < first + size; ++x) {
        const RateSlopes slopes = rows.slopes(system, c, x);
        for (Index r = 0; r < c.rows; ++r) {
          A.emplace_back(c.row + r, x, block(r, x - first));
          N.emplace_back(c.row + r, x, slopes.first[r]);
          G.emplace_back(c.row + r, x, slopes.second_in_v[r]);
          H.emplace_back(c.row + r, x, slopes.second[r]);
        }
      }
    });
  }
  out.holonomic = static_cast<Index>(order[0].size());
  out.rows = order[0];
  out.rows.insert(out.rows.end(), order[1].begin(), order[1].end());
  std::vector<Index> place(static_cast<std::size_t>(system.rows()), -1);
  for (std::size_t r = 0; r < out.rows.size(); ++r)
    place[static_cast<std::size_t>(out.rows[r])] = static_cast<Index>(r);
  const auto placed = [&](const Entries& x) {
    Entries moved;
    for (const auto& entry : x)
      moved.emplace_back(static_cast<int>(place[static_cast<std::size_t>(entry.row())]), entry.col(), entry.value());
    return matrix(static_cast<Index>(out.rows.size()), n, moved);
  };
  const Matrix Aq = placed(A), Nq = placed(N), Gq = placed(G), Hq = placed(H);
  out.A = Aq * out.E;
  out.N = Matrix(Aq * out.E1) + Matrix(Nq * out.E);
  out.G = Matrix(2 * (Aq * out.E1)) + Matrix(Gq * out.E);
  out.H = Matrix(Aq * out.E2) + Matrix(Gq * out.E1) + Matrix(Hq * out.E);
  // Round-off of accelerations is no motion.
  double force = 0;
  for (Index i = 0; i < n; ++i) force = std::max(force, std::abs(e.Q[i]) + std::abs(e.C[i]));
  const VectorXd inertial = M * a;
  out.at_rest = s.v.isZero(0) && inertial.lpNorm<Eigen::Infinity>() <= 1e-7 * std::max(force, 1e-300);
  return out;
}

}  // namespace mortise
