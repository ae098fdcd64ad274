#include <mortise/diagnosis/hidden_constraint.h>

#include <algorithm>
#include <cmath>

#include <mortise/core/decompositions.h>
#include <mortise/core/tolerances.h>

namespace mortise {
namespace {

// Pivots serve as long as no entry of the basis they give, in scaled coordinates, is larger than this.
constexpr double largest_entry = 100;

bool serve(const FreeForces::Basis& basis, const VectorXd& d) {
  for (Index j = 0; j < basis.N.cols(); ++j)
    for (Index i = 0; i < basis.N.rows(); ++i)
      if (!(std::abs(basis.N(i, j)) * d[basis.p.free[static_cast<std::size_t>(j)]] <= largest_entry * d[i]))
        return false;
  return true;
}

// Rows first ... first + count - 1, resolved for as many free directions: their values become displacements, or
// velocities, along them.  Rows that say nearly the same there are only brought to size, so that the rank alarm sees
// it.
void resolve(const MatrixXd& N, Index first, Index count, HiddenConstraint::Rows& rows) {
  constexpr double well = tolerance::hidden_regular;
  if (count == 0) return;
  auto A = rows.A.middleRows(first, count);
  MatrixXd X = A.leftCols(N.rows()) * N, scale = MatrixXd::Identity(count, count);
  for (Index i = 0; i < count; ++i)
    if (const double size = A.row(i).cwiseAbs().maxCoeff(); size > 0) scale(i, i) /= size;
  X = scale * X;
  const PivotedLu lu(X);
  if (std::abs(lu.pivot(count - 1)) > well * std::abs(lu.pivot(0))) {
    std::vector<Index> columns;
    for (Index k = 0; k < count; ++k) columns.push_back(lu.column(k));
    std::sort(columns.begin(), columns.end());
    scale = Lu(X(Eigen::all, columns)).solve(scale);
  }
  // What is round-off of its terms is 0: the solver balances rows by their entries.
  constexpr double round_off = tolerance::hidden_entry;
  const MatrixXd terms = scale.cwiseAbs() * A.cwiseAbs();
  A = (scale * A).eval();
  A = (A.array().abs() <= round_off * terms.array()).select(0.0, A).eval();
  rows.dq.middleRows(first, count) = (scale * rows.dq.middleRows(first, count)).eval();
  for (VectorXd* x : {&rows.value, &rows.rate, &rows.b})
    x->segment(first, count) = (scale * x->segment(first, count)).eval();
}

}  // namespace

HiddenConstraint::Rows HiddenConstraint::at(const State& x) const {
  Raw r = raw(x);
  const auto velocity = static_cast<Index>(plan_.velocity.size()), position = r.N.cols() - velocity;
  resolve(r.N, 0, position, r.rows);
  resolve(r.N, position, velocity, r.rows);
  return std::move(r.rows);
}

std::optional<HiddenConstraint::Fold> HiddenConstraint::fold(const State& s, Firsts first) const {
  const Raw r = raw(plan_.forces->local(s, first));
  if (r.other_pivots) return std::nullopt;
  MatrixXd X = r.rows.A.leftCols(r.N.rows()) * r.N;
  for (Index i = 0; i < X.rows(); ++i)
    if (const double size = r.rows.A.row(i).cwiseAbs().maxCoeff(); size > 0) X.row(i) /= size;
  const Svd svd(X);
  Index largest = 0;
  const VectorXd direction = r.N * svd.V.col(svd.V.cols() - 1);
  direction.cwiseAbs().maxCoeff(&largest);
  return Fold{X.determinant(), plan_.forces->coordinates()[static_cast<std::size_t>(largest)]};
}

HiddenConstraint::Raw HiddenConstraint::raw(const State& x) const {
  const FreeForces& forces = *plan_.forces;
  const FreeForces::Numbers e = forces.numbers(x);
  FreeForces::Basis basis = forces.basis(e, plan_.pivots);
  std::vector<Index> R = plan_.velocity, F = plan_.position;
  const auto f = basis.N.cols(), r = static_cast<Index>(R.size());
  bool again = false;
  if (!serve(basis, plan_.scale.d)) {
    basis = forces.basis(e, forces.pivots(e, plan_.scale, f));
    again = true;
  }
  const FreeForces::Course course = forces.course(x, basis, r < f ? plan_.Z : MatrixXd(x.q.size(), 0));
  const FreeForces::Slopes slopes = forces.slopes(x, e, basis);

  Rows out{VectorXd(f), VectorXd(f), VectorXd(f), MatrixXd(f, x.q.size()), MatrixXd(f, x.q.size())};
  const Index p = f - r;
  if (r == 0) {
    out.value = course.h[0];
    out.rate = course.h[1];
    out.b = -course.h[2];
    out.dq = out.A = slopes.dq;
  } else {
    if (p > 0) {
      // L' = [I, -D_F D_R^-1]; R must serve as pivots of D.
      const auto scaled = [&](Index i) { return plan_.scale.d[basis.p.free[static_cast<std::size_t>(i)]]; };
      const auto factor = [&](const std::vector<Index>& rows) { return Lu(course.D[0](rows, Eigen::all)); };
      auto lu = factor(R);
      const auto over = [&](const std::vector<Index>& rows) -> MatrixXd {  // D_rows D_R^-1
        const MatrixXd D = course.D[0](rows, Eigen::all).transpose();
        return lu.solve_transposed(D).transpose();
      };
      MatrixXd X = over(F);
      for (Index j = 0; j < r && !again; ++j)
        for (Index i = 0; i < p; ++i)
          again = again || !(std::abs(X(i, j)) * scaled(F[static_cast<std::size_t>(i)]) <=
                             largest_entry * scaled(R[static_cast<std::size_t>(j)]));
      if (again) {
        MatrixXd D = course.D[0];
        for (Index i = 0; i < f; ++i) D.row(i) *= scaled(i);
        const PivotedLu full(D);
        R.clear(), F.clear();
        for (Index i = 0; i < f; ++i) (full.place_of_row(i) < r ? R : F).push_back(i);
        lu = factor(R);
        X = over(F);
      }
      const auto part = [](const VectorXd& h, const std::vector<Index>& rows) { return VectorXd(h(rows)); };
      const auto rows_of = [](const MatrixXd& D, const std::vector<Index>& rows) {
        return MatrixXd(D(rows, Eigen::all));
      };
      const auto& [h0, h1, h2] = course.h;
      const auto& [D0, D1, D2] = course.D;
      const VectorXd nu0 = lu.solve(part(h0, R)), nu1 = lu.solve(part(h1, R) - rows_of(D1, R) * nu0);
      const VectorXd nu2 = lu.solve(part(h2, R) - rows_of(D2, R) * nu0 - 2 * rows_of(D1, R) * nu1);
      const MatrixXd DF = rows_of(D0, F), DF1 = rows_of(D1, F);
      out.value.head(p) = part(h0, F) - DF * nu0;
      out.rate.head(p) = part(h1, F) - DF1 * nu0 - DF * nu1;
      out.b.head(p) = -(part(h2, F) - rows_of(D2, F) * nu0 - 2 * DF1 * nu1 - DF * nu2);
      const MatrixXd dq = forces.dq_shifted(x, e, basis, plan_.Z * nu0);
      out.dq.topRows(p) = out.A.topRows(p) = rows_of(dq, F) - X * rows_of(dq, R);
    }
    for (Index i = 0; i < r; ++i) {
      const Index row = R[static_cast<std::size_t>(i)];
      out.value[p + i] = out.rate[p + i] = course.h[0][row];
      out.b[p + i] = -course.h[1][row];
      out.A.row(p + i) = slopes.dv.row(row);
      out.dq.row(p + i) = slopes.dq.row(row);
    }
  }
  return {std::move(out), basis.N, again};
}

std::shared_ptr<const ConstraintModel> HiddenConstraint::rebound(const Label& label, BodyModels) const {
  label.fail<InvalidModel>("it was found for one system and cannot be put on other bodies",
                           "change the assembly, make a System of it and complete that");
}

void HiddenConstraint::evaluate(const State& s, Firsts first, VectorRef value, VectorRef b,
                                std::span<Eigen::Map<MatrixXd>> A) const {
  const Rows r = at(plan_.forces->local(s, first));
  value = r.value;
  b = r.b;
  for (std::size_t k = 0; k < A.size(); ++k) A[k] = r.A.middleCols(plan_.forces->first(k), A[k].cols());
}

ConstraintModel::RowSlopes HiddenConstraint::slopes(const State& s, Firsts first, const double*) const {
  const Rows r = at(plan_.forces->local(s, first));
  const Index n = r.dq.cols();
  return {MatrixXd::Zero(n, n), MatrixXd::Zero(n, n), r.dq};
}

// In the unknowns of the bodies, q'' = T y + z:  A T,  b - A z.
void HiddenConstraint::evaluate(const State& s, const Places& at_bodies, double* A, double* value, double* rate,
                                double* b) const {
  const auto& models = plan_.forces->models();
  const Rows r = at(plan_.forces->local(s, Firsts(at_bodies.first, models.size())));
  Index K = 0;
  for (const auto& m : models) K += m->unknowns();
  Eigen::Map<Eigen::Matrix<double, dynamic, dynamic, Eigen::RowMajor>> out(A, r.A.rows(), K);
  VectorXd rhs = r.b;
  Index column = 0;
  for (std::size_t k = 0; k < models.size(); ++k) {
    const auto size = static_cast<Index>(models[k]->coordinates().size());
    const auto block = r.A.middleCols(plan_.forces->first(k), size);
    VectorXd dq(size);
    for (Index i = 0; i < models[k]->unknowns(); ++i) {
      models[k]->spread(at_bodies.motion[k], VectorXd::Unit(models[k]->unknowns(), i).eval().data(), dq.data());
      out.col(column++) = block * dq;
    }
    models[k]->drift(at_bodies.motion[k], dq.data());
    rhs -= block * dq;
  }
  Eigen::Map<VectorXd>(value, r.value.size()) = r.value;
  Eigen::Map<VectorXd>(rate, r.rate.size()) = r.rate;
  Eigen::Map<VectorXd>(b, rhs.size()) = rhs;
}

}  // namespace mortise
