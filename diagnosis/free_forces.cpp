#include <mortise/diagnosis/free_forces.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include <mortise/core/scaling.h>

namespace mortise {

FreeForces::FreeForces(const System& system, const Selection& parts) : gravity_(system.gravity()), held_(parts.held) {
  std::unordered_map<std::size_t, std::size_t> here;
  const auto add = [&](std::size_t k) {
    if (!here.emplace(k, in_system_.size()).second) return;
    const auto& b = system.bodies()[k];
    in_system_.push_back(k);
    models_.push_back(b.model);
    body_names_.push_back(b.name);
    first_.push_back(n_);
    size_.push_back(b.size);
    in_state_.push_back(b.first);
    for (Index i = 0; i < b.size; ++i) names_.push_back(system.coordinate(b.first + i));
    n_ += b.size;
  };
  for (const std::size_t k : parts.massless) add(k);
  massless_ = in_system_.size();
  ns_ = n_;
  const auto attach = [&](const auto& from, const std::vector<std::size_t>& which, auto& to) {
    for (const std::size_t i : which) {
      const auto& part = from[i];
      auto& a = to.emplace_back();
      a.name = part.name;
      a.model = part.model;
      for (const std::size_t k : part.bodies) {
        add(k);
        a.bodies.push_back(here[k]);
        a.firsts.push_back(first_[here[k]]);
      }
      for (const std::size_t k : std::set<std::size_t>(a.bodies.begin(), a.bodies.end()))
        for (Index c = 0; c < size_[k]; ++c) a.coordinates.push_back(first_[k] + c);
    }
  };
  attach(system.constraints(), parts.constraints, joints_);
  attach(system.forces(), parts.forces, forces_);
  for (Joint& j : joints_) {
    j.row = ns_ + m_;
    j.rows = static_cast<Index>(j.model->rows().size());
    j.holonomic = j.model->holonomic();
    m_ += j.rows;
  }
  m_ += static_cast<Index>(held_.size());
}

std::vector<Index> FreeForces::firsts() const { return in_state_; }

State FreeForces::local(const State& s, Firsts first) const {
  State x{VectorXd(n_), VectorXd(n_), s.t, nullptr};
  for (std::size_t k = 0; k < size_.size(); ++k) {
    x.q.segment(first_[k], size_[k]) = s.q.segment(first[k], size_[k]);
    x.v.segment(first_[k], size_[k]) = s.v.segment(first[k], size_[k]);
  }
  return x;
}

std::vector<std::string> FreeForces::without_derivatives() const {
  std::vector<std::string> out;
  State neutral{VectorXd::Zero(n_), VectorXd::Zero(n_), 0, nullptr};
  for (std::size_t k = 0; k < size_.size(); ++k) neutral.q.segment(first_[k], size_[k]) = models_[k]->neutral();
  const TaylorState x = still(neutral);
  TaylorVector Q = TaylorVector::Zero(n_), rows;
  Mat<Taylor, dynamic> M;
  for (std::size_t k = 0; k < massless_; ++k)
    if (!models_[k]->differentiable() || !models_[k]->evaluate(x, first_[k], gravity_, M, Q))
      out.push_back(body_names_[k]);
  for (const auto& f : forces_)
    if (!f.model->differentiable() || !f.model->act(x, f.firsts, Q)) out.push_back(f.name);
  for (const Joint& j : joints_) {
    rows.setZero(j.rows);
    if (j.model->reacts()) continue;  // told apart
    if (!j.model->evaluate(x, j.firsts, rows) || !j.model->nonideal(x, j.firsts, Q)) out.push_back(j.name);
  }
  return out;
}

std::vector<std::string> FreeForces::reacting() const {
  std::vector<std::string> out;
  for (const Joint& j : joints_)
    if (j.model->reacts()) out.push_back(j.name);
  return out;
}

FreeForces::Numbers FreeForces::numbers(const State& x) const {
  Numbers e;
  e.M = MatrixXd::Zero(ns_, ns_);
  e.A = MatrixXd::Zero(m_, ns_);
  e.F = e.F_size = VectorXd::Zero(n_);
  e.Fq = e.Fv = e.Fq_size = e.Fv_size = MatrixXd::Zero(n_, n_);

  // What a part applies and its slopes are stacked over its bodies.
  const auto add = [&](const std::string& name, const VectorXd& F, const MatrixXd& Fq, const MatrixXd& Fv,
                       const std::vector<std::size_t>& bodies) {
    Part p{name, {}, {}, Fq, Fv.size() > 0 ? Fv : MatrixXd::Zero(Fq.rows(), Fq.cols())};
    for (const std::size_t k : bodies)
      for (Index i = 0; i < size_[k]; ++i) p.coordinates.push_back(first_[k] + i);
    p.F = F(p.coordinates);
    e.F += F;
    e.F_size += F.cwiseAbs();
    for (std::size_t j = 0; j < p.coordinates.size(); ++j)
      for (std::size_t i = 0; i < p.coordinates.size(); ++i) {
        const Index row = p.coordinates[i], column = p.coordinates[j];
        const double q = p.Fq(static_cast<Index>(i), static_cast<Index>(j));
        const double v = p.Fv(static_cast<Index>(i), static_cast<Index>(j));
        e.Fq(row, column) += q;
        e.Fv(row, column) += v;
        e.Fq_size(row, column) += std::abs(q);
        e.Fv_size(row, column) += std::abs(v);
      }
    e.parts.push_back(std::move(p));
  };
  for (std::size_t k = 0; k < massless_; ++k) {
    const BodyModel& b = *models_[k];
    e.M.block(first_[k], first_[k], size_[k], size_[k]) = b.mass_matrix(x, first_[k]);
    VectorXd F = VectorXd::Zero(n_);
    F.segment(first_[k], size_[k]) = b.force(x, first_[k]);
    const auto slopes = b.force_slopes(x, first_[k]);
    add(body_names_[k], F, slopes->dq, slopes->dv, {k});
    if (!b.has_weight() || gravity_.isZero(0)) continue;
    F.setZero();
    b.gravity(x, first_[k], gravity_, F);
    add("gravity", F, b.gravity_slopes(x, first_[k], gravity_), {}, {k});
  }
  for (const auto& f : forces_) {
    VectorXd F = VectorXd::Zero(n_);
    f.model->act(x, f.firsts, F);
    const auto slopes = f.model->slopes(x, f.firsts);
    add(f.name, F, slopes->dq, slopes->dv, f.bodies);
  }
  for (const Joint& j : joints_) {
    VectorXd value(j.rows), b(j.rows);
    std::vector<MatrixXd> blocks;
    std::vector<Eigen::Map<MatrixXd>> maps;
    for (const std::size_t k : j.bodies) blocks.emplace_back(j.rows, size_[k]);
    for (MatrixXd& block : blocks) maps.emplace_back(block.data(), block.rows(), block.cols());
    j.model->evaluate(x, j.firsts, value, b, maps);
    for (std::size_t i = 0; i < j.bodies.size(); ++i)
      if (j.bodies[i] < massless_) e.A.block(j.row - ns_, j.firsts[i], j.rows, size_[j.bodies[i]]) += blocks[i];
    if (j.model->ideal() || j.model->reacts()) continue;
    VectorXd C = VectorXd::Zero(n_);
    j.model->nonideal(x, j.firsts, C);
    const auto slopes = j.model->nonideal_slopes(x, j.firsts);
    add(j.name, C, slopes->dq, slopes->dv, j.bodies);
  }
  for (std::size_t i = 0; i < held_.size(); ++i) e.A(m_ - 1 - static_cast<Index>(i), held_[i]) = 1;
  e.B.resize(ns_ + m_, ns_);
  e.B << e.M, e.A;
  return e;
}

Equations FreeForces::equations(const State& x, const Numbers& e) const {
  Equations out{.M = e.M, .Q = e.F.head(ns_), .A = e.A, .b = VectorXd::Zero(m_)};
  std::vector<Massless> massless;
  int groups = 0;
  for (std::size_t k = 0; k < massless_; ++k) {
    const MatrixXd M = e.M.block(first_[k], first_[k], size_[k], size_[k]);
    massless.push_back(models_[k]->massless(x, first_[k], M, {"body", body_names_[k]}));
    const int base = groups;
    for (const int g : models_[k]->groups()) {
      out.groups.push_back(base + g);
      groups = std::max(groups, base + g + 1);
    }
  }
  out.massless = stack(massless);
  return out;
}

FreeForces::Pivots FreeForces::pivots(const Numbers& e, const Scaling& scale, Index f) const {
  MatrixXd B = e.B * scale.d.asDiagonal();
  B.topRows(ns_) = scale.d.asDiagonal() * B.topRows(ns_);
  B.bottomRows(m_) = scale.t.asDiagonal() * B.bottomRows(m_);
  const PivotedLu lu(B);
  Pivots p;
  std::vector<Index> at(static_cast<std::size_t>(B.rows()));
  for (Index i = 0; i < B.rows(); ++i) at[static_cast<std::size_t>(lu.place_of_row(i))] = i;
  for (Index i = 0; i < ns_ - f; ++i) {
    p.rows.push_back(at[static_cast<std::size_t>(i)]);
    p.columns.push_back(lu.column(i));
  }
  for (Index i = ns_ - f; i < ns_; ++i) p.free.push_back(lu.column(i));
  std::sort(p.rows.begin(), p.rows.end());
  std::sort(p.columns.begin(), p.columns.end());
  std::sort(p.free.begin(), p.free.end());
  return p;
}

FreeForces::Basis FreeForces::basis(const Numbers& e, const Pivots& p) const {
  const auto f = static_cast<Index>(p.free.size());
  Basis out{p, {}, MatrixXd::Zero(ns_, f)};
  for (Index k = 0; k < f; ++k) out.N(p.free[static_cast<std::size_t>(k)], k) = 1;
  if (p.rows.empty()) return out;
  out.lu = Lu(e.B(p.rows, p.columns));
  out.N(p.columns, Eigen::all) = -out.lu.solve(MatrixXd(e.B(p.rows, p.free)));
  return out;
}

VectorXd FreeForces::Basis::multipliers(const VectorXd& F) const {
  return p.rows.empty() ? VectorXd() : VectorXd(lu.solve_transposed(F(p.columns)));
}

TaylorState FreeForces::still(const State& x) const {
  TaylorState out{TaylorVector(n_), TaylorVector(n_), Taylor(x.t)};
  for (Index i = 0; i < n_; ++i) {
    out.q[i] = Taylor(x.q[i]);
    out.v[i] = Taylor(x.v[i]);
  }
  return out;
}

TaylorVector FreeForces::forces(const TaylorState& x) const {
  TaylorVector F = TaylorVector::Zero(n_);
  Mat<Taylor, dynamic> M;
  for (std::size_t k = 0; k < massless_; ++k) models_[k]->evaluate(x, first_[k], gravity_, M, F);
  for (const auto& f : forces_) f.model->act(x, f.firsts, F);
  for (const Joint& j : joints_)
    if (!j.model->ideal()) j.model->nonideal(x, j.firsts, F);
  return F;
}

void FreeForces::vary(const Joint& joint, TaylorState& moving, const VectorXd& e, TaylorVector& rows) const {
  const auto along = [&](TaylorVector& x, bool on) {
    for (const Index i : joint.coordinates) {
      Taylor y = x[i];
      y.slope = on ? e[i] : 0;
      x[i] = y;
    }
  };
  rows.resize(joint.rows);
  if (joint.holonomic > 0) {
    along(moving.q, true);
    joint.model->evaluate(moving, joint.firsts, rows);
    along(moving.q, false);
  }
  if (joint.holonomic < joint.rows) {
    TaylorVector all(joint.rows);
    along(moving.v, true);
    joint.model->evaluate(moving, joint.firsts, all);
    along(moving.v, false);
    for (Index i = joint.holonomic; i < joint.rows; ++i) rows[i] = all[i];
  }
}

FreeForces::Bend FreeForces::bend(const State& x, const MatrixXd& N, const VectorXd& mu, bool sizes) const {
  const MatrixXd zero = MatrixXd::Zero(N.cols(), n_);
  Bend out{zero, zero, zero, zero};
  for (std::size_t k = 0; k < massless_; ++k) {
    const VectorXd a = mu.segment(first_[k], size_[k]);
    if (a.isZero(0)) continue;
    const MatrixXd slopes = *models_[k]->mass_slopes(x, first_[k], a);
    const MatrixXd Nt = N.middleRows(first_[k], size_[k]).transpose();
    out.dq.middleCols(first_[k], size_[k]) += Nt * slopes;
    out.dq_size.middleCols(first_[k], size_[k]) += Nt.cwiseAbs() * slopes.cwiseAbs();
  }
  TaylorState moving = still(x);
  TaylorVector rows;
  for (const Joint& j : joints_) {
    const VectorXd lambda = mu.segment(j.row, j.rows);
    if (lambda.isZero(0)) continue;
    for (Index c = 0; c < N.cols(); ++c) {
      VectorXd e = VectorXd::Zero(n_);
      e.head(ns_) = N.col(c);
      std::vector<Index> moved;
      for (const Index i : j.coordinates)
        if (e[i] != 0) moved.push_back(i);
      if (moved.empty()) continue;
      const auto slope = [&](TaylorVector& s, Index i, double& size) {
        const double value = s[i].v;
        s[i] = Taylor(value, 1, 0);
        double sum = 0;
        vary(j, moving, e, rows);
        for (Index r = 0; r < j.rows; ++r) sum += lambda[r] * rows[r].slope1;
        if (sizes)
          for (const Index k : moved) {
            vary(j, moving, e[k] * VectorXd::Unit(n_, k), rows);
            for (Index r = 0; r < j.rows; ++r) size += std::abs(lambda[r] * rows[r].slope1);
          }
        s[i] = Taylor(value);
        return sum;
      };
      for (const Index i : j.coordinates) {
        out.dq(c, i) += slope(moving.q, i, out.dq_size(c, i));
        if (j.holonomic < j.rows) out.dv(c, i) += slope(moving.v, i, out.dv_size(c, i));
      }
    }
  }
  return out;
}

namespace {
VectorXd by_rows(const std::vector<Index>& rows, const VectorXd& mu, Index all) {
  VectorXd out = VectorXd::Zero(all);
  for (std::size_t i = 0; i < rows.size(); ++i) out[rows[i]] = mu[static_cast<Index>(i)];
  return out;
}
}  // namespace

FreeForces::Slopes FreeForces::slopes(const State& x, const Numbers& e, const Basis& basis) const {
  const auto& N = basis.N;
  const VectorXd mu = basis.multipliers(e.F.head(ns_));
  Slopes out;
  out.h = N.transpose() * e.F.head(ns_);
  out.h_size = N.cwiseAbs().transpose() * e.F_size.head(ns_);
  const Bend bent = bend(x, N, by_rows(basis.p.rows, mu, ns_ + m_), true);
  const MatrixXd Nt = N.transpose(), size = Nt.cwiseAbs();
  out.dq = Nt * e.Fq.topRows(ns_) - bent.dq;
  out.dv = Nt * e.Fv.topRows(ns_) - bent.dv;
  out.dq_size = size * e.Fq_size.topRows(ns_) + bent.dq_size;
  out.dv_size = size * e.Fv_size.topRows(ns_) + bent.dv_size;
  const auto clean = [&](auto& value, auto& of) {
    value = (of.array() > noise_).select(value, 0).eval();
    of = (of.array() > noise_).select(of, 0).eval();
  };
  clean(out.h, out.h_size);
  clean(out.dq, out.dq_size);
  clean(out.dv, out.dv_size);
  return out;
}

FreeForces::Course FreeForces::course(const State& x, const Basis& basis, const MatrixXd& Z) const {
  TaylorState moving{TaylorVector(n_), TaylorVector(n_), Taylor(x.t, 1, 0)};
  for (Index i = 0; i < n_; ++i) {
    moving.q[i] = Taylor(x.q[i], x.v[i], 0);
    moving.v[i] = Taylor(x.v[i]);
  }
  // B' and B'' on the pivot rows, all columns.
  MatrixXd B1 = MatrixXd::Zero(ns_ + m_, ns_), B2 = B1;
  TaylorVector unused = TaylorVector::Zero(n_), rows;
  Mat<Taylor, dynamic> M;
  for (std::size_t k = 0; k < massless_; ++k) {
    models_[k]->evaluate(moving, first_[k], gravity_, M, unused);
    for (Index j = 0; j < size_[k]; ++j)
      for (Index i = 0; i < size_[k]; ++i) {
        B1(first_[k] + i, first_[k] + j) = M(i, j).d1;
        B2(first_[k] + i, first_[k] + j) = M(i, j).d2;
      }
  }
  VectorXd e = VectorXd::Zero(n_);
  for (const Joint& j : joints_)
    for (const Index i : j.coordinates) {
      if (i >= ns_) continue;
      e[i] = 1;
      vary(j, moving, e, rows);
      e[i] = 0;
      for (Index r = 0; r < j.rows; ++r) {
        B1(j.row + r, i) = rows[r].slope1;
        B2(j.row + r, i) = rows[r].slope2;
      }
    }
  const auto& p = basis.p;
  const MatrixXd P1 = B1(p.rows, Eigen::all), P2 = B2(p.rows, Eigen::all), Nt = basis.N.transpose();
  // N'G and its derivatives for G, G', G''.
  const auto free_part = [&](const VectorXd& G, const VectorXd& G1, const VectorXd& G2) {
    const VectorXd mu = basis.multipliers(G), r1 = p.rows.empty() ? G1 : VectorXd(G1 - P1.transpose() * mu);
    const VectorXd mu1 = basis.multipliers(r1);
    const VectorXd r2 = p.rows.empty() ? G2 : VectorXd(G2 - P2.transpose() * mu - 2 * P1.transpose() * mu1);
    return std::array<VectorXd, 3>{Nt * G, Nt * r1, Nt * r2};
  };
  const auto gather = [&](const TaylorVector& F, double Taylor::*part) {
    VectorXd out(ns_);
    for (Index i = 0; i < ns_; ++i) out[i] = F[i].*part;
    return out;
  };
  Course out;
  for (MatrixXd& D : out.D) D.resize(basis.N.cols(), Z.cols());
  TaylorVector F = forces(moving);
  const auto h = free_part(gather(F, &Taylor::v), gather(F, &Taylor::d1), gather(F, &Taylor::d2));
  for (std::size_t k = 0; k < 3; ++k) out.h[k] = h[k];
  for (Index c = 0; c < Z.cols(); ++c) {
    for (Index i = 0; i < n_; ++i) moving.v[i] = Taylor(x.v[i], 0, Z(i, c));
    F = forces(moving);
    const auto D = free_part(gather(F, &Taylor::slope), gather(F, &Taylor::slope1), gather(F, &Taylor::slope2));
    for (std::size_t k = 0; k < 3; ++k) out.D[k].col(c) = D[k];
  }
  return out;
}

MatrixXd FreeForces::dq_shifted(const State& x, const Numbers& e, const Basis& basis, const VectorXd& w) const {
  // F - dF/dv w and its slopes
  TaylorState moving = still(x);
  for (Index i = 0; i < n_; ++i) moving.v[i] = Taylor(x.v[i], 0, w[i]);
  VectorXd F = e.F.head(ns_) - e.Fv.topRows(ns_) * w;
  MatrixXd Fq = e.Fq.topRows(ns_);
  for (Index k = 0; k < n_; ++k) {
    moving.q[k] = Taylor(x.q[k], 1, 0);
    const TaylorVector f = forces(moving);
    moving.q[k] = Taylor(x.q[k]);
    for (Index i = 0; i < ns_; ++i) Fq(i, k) -= f[i].slope1;
  }
  const Bend bent = bend(x, basis.N, by_rows(basis.p.rows, basis.multipliers(F), ns_ + m_), false);
  return basis.N.transpose() * Fq - bent.dq;
}

}  // namespace mortise
