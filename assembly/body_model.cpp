#include <algorithm>
#include <cmath>

#include <mortise/assembly/body_of.h>
#include <mortise/assembly/plain_constraint.h>
#include <mortise/assembly/row_pass.h>

namespace mortise {
namespace {

using TaylorMatrix = Mat<Taylor, dynamic>;

// Coordinates and velocities of one body as Taylor numbers.
TaylorVector lifted(const VectorXd& x, Index first, Index n) {
  TaylorVector out(n);
  for (Index i = 0; i < n; ++i) out[i] = Taylor(x[first + i]);
  return out;
}
auto entries(TaylorVector& x) {
  return [&](Index i) -> Taylor& { return x[i]; };
}

// Coordinates combined so that the mass is 1 or 0.
struct CoordinateMotion {
  MatrixXd T;
  Index massless = 0;
  MatrixXd references;  // |T^-1| |N0|
  VectorXd w;           // T^-1 q'
};

// A body's own constraint phi(q) = 0.
class OwnConstraint final : public PlainConstraint {
 public:
  explicit OwnConstraint(std::shared_ptr<const BodyPart> body) : body_(std::move(body)), rows_(body_->own_rows()) {}

  std::string kind() const override { return ""; }
  std::shared_ptr<const ConstraintModel> rebound(const Label&, BodyModels bodies) const override {
    return bodies[0]->own_constraint();
  }
  std::vector<Row> rows() const override {
    std::vector<Row> out;
    for (const RowInfo& r : rows_)
      out.push_back({std::string(r.name), std::string(r.removes), std::string(r.reaction), std::string(r.unit)});
    return out;
  }
  Index holonomic() const override { return static_cast<Index>(rows_.size()); }

  void evaluate(const State& s, Firsts first, VectorRef value, VectorRef b,
                std::span<Eigen::Map<MatrixXd>> A) const override {
    VectorXd rate(holonomic());
    MatrixXd block(holonomic(), body_->size());
    at(s, first[0], block, value, rate, b);
    A[0] = block;
  }
  void evaluate(const State& s, const Places& places, double* A, double* value, double* rate,
                double* b) const override {
    const Index m = holonomic(), k = body_->unknowns();
    MatrixXd block(m, body_->size());
    Eigen::Map<VectorXd> values(value, m), rates(rate, m), right(b, m);
    at(s, places.first[0], block, values, rates, right);
    std::fill(A, A + m * k, 0.0);
    VectorXd row, z(body_->size());
    body_->drift(places.motion[0], z.data());
    right -= block * z;
    for (Index i = 0; i < m; ++i) {
      row = block.row(i).transpose();
      body_->project(places.motion[0], row.data(), A + i * k);
    }
  }
  bool evaluate(const TaylorState& s, Firsts first, TaylorVector& rows) const override {
    body_->own_phi(s.q.data() + first[0], rows.data());
    return true;
  }
  RowSlopes slopes(const State& s, Firsts first, const double* lambda) const override {
    const Index n = body_->size(), m = holonomic();
    RowSlopes out{MatrixXd::Zero(n, n), MatrixXd::Zero(n, n), MatrixXd::Zero(m, n)};
    TaylorVector q = lifted(s.q, first[0], n), phi(m);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j) {
        q[i].d1 = q[j].slope = 1;
        body_->own_phi(q.data(), phi.data());
        for (Index k = 0; k < m; ++k) {
          out.value_dq(k, i) = phi[k].d1;
          out.force_dq(i, j) += lambda[k] * phi[k].slope1;
        }
        out.force_dq(j, i) = out.force_dq(i, j);
        q[i].d1 = q[j].slope = 0;
      }
    return out;
  }

 private:
  // The rows over coordinates:  A q'' = b.
  void at(const State& s, Index first, MatrixXd& A, VectorRef value, VectorRef rate, VectorRef b) const {
    const Index n = body_->size(), m = holonomic();
    TaylorVector q(n), phi(m);
    for (Index i = 0; i < n; ++i) q[i] = Taylor(s.q[first + i], s.v[first + i], 0);
    for (Index i = 0; i < n; ++i) {
      q[i].slope = 1;
      body_->own_phi(q.data(), phi.data());
      for (Index k = 0; k < m; ++k) {
        A(k, i) = phi[k].slope;
        value[k] = phi[k].v, rate[k] = phi[k].d1, b[k] = -phi[k].d2;
      }
      q[i].slope = 0;
    }
  }

  std::shared_ptr<const BodyPart> body_;
  std::vector<RowInfo> rows_;
};

}  // namespace

std::shared_ptr<const ConstraintModel> BodyPart::own_constraint() const {
  if (!facts_.own_rows) return nullptr;
  return std::make_shared<const OwnConstraint>(shared_from_this());
}

MatrixXd BodyPart::mass_matrix(const State& s, Index first) const { return mass_at(s.q.data() + first, s.t); }
VectorXd BodyPart::force(const State& s, Index first) const {
  return force_at(s.q.data() + first, s.v.data() + first, s.t);
}

std::optional<MatrixXd> BodyPart::mass_slopes(const State& s, Index first, const VectorXd& a) const {
  const Index n = size();
  if (facts_.constant_mass) return MatrixXd::Zero(n, n);
  if (!facts_.mass_varies) return std::nullopt;
  MatrixXd out(n, n);
  TaylorVector q = lifted(s.q, first, n);
  TaylorMatrix M;
  for_each_pair(
      n, entries(q), [&] { mass_at(q.data(), Taylor(s.t), M); },
      [&](Index k, double Taylor::*d) {
        for (Index i = 0; i < n; ++i) {
          double sum = 0;
          for (Index j = 0; j < n; ++j) sum += M(i, j).*d * a[j];
          out(i, k) = sum;
        }
      });
  return out;
}

std::optional<Slopes> BodyPart::force_slopes(const State& s, Index first) const {
  if (!facts_.force_varies) return std::nullopt;
  const Index n = size();
  Slopes out{MatrixXd(n, n), MatrixXd(n, n)};
  TaylorVector q = lifted(s.q, first, n), v = lifted(s.v, first, n), Q(n);
  const auto evaluate = [&] { force_at(q.data(), v.data(), Taylor(s.t), Q.data()); };
  const auto columns_of = [&](MatrixXd& J) {
    return [&](Index k, double Taylor::*d) {
      for (Index i = 0; i < n; ++i) J(i, k) = Q[i].*d;
    };
  };
  for_each_pair(n, entries(q), evaluate, columns_of(out.dq));
  for_each_pair(n, entries(v), evaluate, columns_of(out.dv));
  return out;
}

bool BodyPart::evaluate(const TaylorState& s, Index first, const Vec3<double>& g, TaylorMatrix& M,
                        TaylorVector& Q_out) const {
  const bool weighs = facts_.weighs && !g.isZero(0);
  if (!differentiable() || (weighs && !facts_.weight_varies)) return false;
  const Index n = size();
  const Taylor* q = s.q.data() + first;
  if (facts_.constant_mass) {
    const VectorXd zero = VectorXd::Zero(n);
    M = mass_at(zero.data(), 0.0).cast<Taylor>();
  } else {
    mass_at(q, s.t, M);
  }
  TaylorVector f(n);
  force_at(q, s.v.data() + first, s.t, f.data());
  for (Index i = 0; i < n; ++i) Q_out[first + i] += f[i];
  if (weighs) {  // g . d(first moment)/dq
    Vec<TaylorDual, dynamic> x(n);
    for (Index i = 0; i < n; ++i) x[i] = TaylorDual(q[i]);
    TaylorDual S[3];
    for (Index i = 0; i < n; ++i) {
      x[i] = TaylorDual(q[i], {Taylor(1)});
      const int d = moment_at(x.data(), S);
      for (int k = 0; k < d; ++k) Q_out[first + i] += g[k] * S[k].d[0];
      x[i] = TaylorDual(q[i]);
    }
  }
  return true;
}

std::optional<BodyModel::Stored> BodyPart::stored(const State& s, Index first) const {
  if (!facts_.potential) return std::nullopt;
  const Index n = size();
  TaylorVector q(n);  // along the motion
  for (Index i = 0; i < n; ++i) q[i] = Taylor(s.q[first + i], s.v[first + i], 0);
  const Taylor t(s.t, 1, 0), V = potential_at(q.data(), t);
  const auto v = s.v.segment(first, n);
  double power = v.dot(force(s, first));
  if (!facts_.constant_mass) {
    TaylorMatrix M;
    mass_at(q.data(), t, M);
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i) power += 0.5 * v[i] * M(i, j).d1 * v[j];
  }
  return Stored{V.v, V.d1, power};
}

Vec3<double> BodyPart::first_moment(const State& s, Index first) const {
  Vec3<double> S = Vec3<double>::Zero();
  if (facts_.weighs) moment_at(s.q.data() + first, S.data());
  return S;
}

Vec3<double> BodyPart::first_moment_rate(const State& s, Index first) const {
  Vec3<double> rate = Vec3<double>::Zero();
  if (!facts_.weighs) return rate;
  TaylorVector q = lifted(s.q, first, size());
  for (Index i = 0; i < size(); ++i) q[i].d1 = s.v[first + i];
  Taylor S[3];
  const int d = moment_at(q.data(), S);
  for (int k = 0; k < d; ++k) rate[k] = S[k].d1;
  return rate;
}

void BodyPart::gravity(const State& s, Index first, const Vec3<double>& g, VectorRef Q) const {
  if (!facts_.weighs) return;
  TaylorVector q = lifted(s.q, first, size());
  Taylor S[3];
  int d = 0;
  for_each_pair(
      size(), entries(q), [&] { d = moment_at(q.data(), S); },
      [&](Index i, double Taylor::*slope) {
        for (int k = 0; k < d; ++k) Q[first + i] += g[k] * (S[k].*slope);
      });
}

MatrixXd BodyPart::gravity_slopes(const State& s, Index first, const Vec3<double>& g) const {
  const Index n = size();
  MatrixXd out = MatrixXd::Zero(n, n);
  if (!facts_.weighs || g.isZero(0)) return out;
  TaylorVector q = lifted(s.q, first, n);
  Taylor S[3];
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) {
      q[i].d1 = q[j].slope = 1;
      const int d = moment_at(q.data(), S);
      for (int k = 0; k < d; ++k) out(i, j) += g[k] * S[k].slope1;
      out(j, i) = out(i, j);
      q[i].d1 = q[j].slope = 0;
    }
  return out;
}

std::size_t BodyPart::motion_size() const { return sizeof(CoordinateMotion); }
std::size_t BodyPart::motion_align() const { return alignof(CoordinateMotion); }
void* BodyPart::make_motion(void* where) const { return new (where) CoordinateMotion(); }
void BodyPart::destroy_motion(void* motion) const { static_cast<CoordinateMotion*>(motion)->~CoordinateMotion(); }

Index BodyPart::move(const State& s, Index first, const Vec3<double>& g, const std::string& name, void* motion,
                     double* f) const {
  const Label label{"body", name};
  const Index n = size();
  const MatrixXd M = mass_matrix(s, first);
  if (M.rows() != n || M.cols() != n)
    label.fail<WrongSize>(fmt::format("M is {} x {} at t = {}", M.rows(), M.cols(), s.t),
                          fmt::format("give {0} x {0}, one row per coordinate", n));
  const Massless split = massless_directions(M, label, coordinates());
  VectorXd Q = force(s, first);
  if (Q.size() != n)
    label.fail<WrongSize>(fmt::format("Q has {} entries at t = {}", Q.size(), s.t),
                          fmt::format("give {}, one per coordinate", n));
  if (facts_.weighs) {
    VectorXd weight = VectorXd::Zero(first + n);
    gravity(s, first, g, weight);
    Q += weight.tail(n);
  }
  CoordinateMotion& m = *static_cast<CoordinateMotion*>(motion);
  m.massless = split.N0.cols();
  m.T.resize(n, n);
  const MatrixXd R = split.R();
  m.T << R, split.N0;
  // T^-1 = [R'M; rows of the identity at the pivots of N0]
  const auto v = s.v.segment(first, n);
  m.w.resize(n);
  m.w.head(n - m.massless) = split.R_transposed_times(M * v);
  for (Index k = 0; k < m.massless; ++k) m.w[n - m.massless + k] = v[split.pivot[static_cast<std::size_t>(k)]];
  if (m.massless > 0) {
    m.references.setIdentity(n, m.massless);
    m.references.topRows(R.cols()) = (R.transpose() * M).cwiseAbs() * split.N0.cwiseAbs();
    m.references.bottomRows(m.massless).setIdentity();
  }
  Eigen::Map<VectorXd>(f, n) = m.T.transpose() * Q;
  return m.massless;
}

namespace {
const CoordinateMotion& as(const void* motion) { return *static_cast<const CoordinateMotion*>(motion); }
}  // namespace

void BodyPart::spread(const void* motion, const double* y, double* dq) const {
  Eigen::Map<VectorXd>(dq, size()) = as(motion).T * Eigen::Map<const VectorXd>(y, size());
}
void BodyPart::drift(const void*, double* z) const { std::fill(z, z + size(), 0.0); }
void BodyPart::velocities(const void* motion, double* w) const {
  const VectorXd& x = as(motion).w;
  std::copy(x.data(), x.data() + x.size(), w);
}
void BodyPart::accelerate(const void* motion, const double* y, double* a) const { spread(motion, y, a); }
void BodyPart::references(const void* motion, double* u) const {
  const MatrixXd& r = as(motion).references;
  std::copy(r.data(), r.data() + r.size(), u);
}
void BodyPart::coordinate_row(const void* motion, Index i, double* row, double& drift) const {
  for (Index k = 0; k < size(); ++k) row[k] = as(motion).T(i, k);
  drift = 0;
}
void BodyPart::project(const void* motion, const double* Q, double* y) const {
  Eigen::Map<VectorXd>(y, size()) += as(motion).T.transpose() * Eigen::Map<const VectorXd>(Q, size());
}

std::string BodyPart::describe(const State&, Index, const VectorXd& dq) const {
  const std::vector<std::string> names = coordinates();
  std::string text;
  for (Index i = 0; i < size(); ++i)
    if (dq[i] != 0) text += (text.empty() ? "changes " : ", ") + names[static_cast<std::size_t>(i)];
  return text;
}

}  // namespace mortise
