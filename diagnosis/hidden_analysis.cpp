#include <mortise/diagnosis/hidden_analysis.h>

#include <algorithm>
#include <cmath>

#include <mortise/core/decompositions.h>
#include <mortise/core/row_rank.h>
#include <mortise/core/tolerances.h>

namespace mortise {
namespace {

// The rank of X judged against P >= |X|, what its entries are sums of.
struct Judged {
  Balance balance;
  MatrixXd balanced;
  RowRank rows;
  Index rank;
  Judged(const MatrixXd& X, const MatrixXd& P, double zero)
      : balance(mortise::balance(SparseRows(P.sparseView(0, 0)), separate_groups(P.cols()))),
        balanced(balance.r.asDiagonal() * X * balance.c.asDiagonal()),
        rows(row_rank(balanced.sparseView(0, 0), zero, zero)),
        rank(rows.rank) {}
  MatrixXd left_null() const {  // short vectors y, y'X = 0
    MatrixXd Y = MatrixXd::Zero(balance.r.size(), static_cast<Index>(rows.sets.size()));
    for (std::size_t k = 0; k < rows.sets.size(); ++k)
      for (const SparseEntry& e : rows.sets[k].y) Y(e.i, static_cast<Index>(k)) = balance.r[e.i] * e.value;
    return Y;
  }
};

// Rows and columns of X that make a regular block of the rank found.
struct Block {
  std::vector<Index> rows, columns, other_rows;
  explicit Block(const Judged& j) {
    const Index n = j.balanced.rows();
    if (j.rank == 0) {
      for (Index i = 0; i < n; ++i) other_rows.push_back(i);
      return;
    }
    const PivotedLu lu(j.balanced);
    for (Index i = 0; i < n; ++i) (lu.place_of_row(i) < j.rank ? rows : other_rows).push_back(i);
    for (Index k = 0; k < j.rank; ++k) columns.push_back(lu.column(k));
    std::sort(columns.begin(), columns.end());
  }
};

}  // namespace

HiddenAnalysis::HiddenAnalysis(const FreeForces& forces, const State& x, const FreeForces::Pivots& pivots,
                               const HiddenOptions& o)
    : e(forces.numbers(x)), basis(forces.basis(e, pivots)), s(forces.slopes(x, e, basis)) {
  const Index ns = forces.massless_size(), f = basis.N.cols();
  const MatrixXd &N = basis.N, size = N.cwiseAbs();
  D = s.dv.leftCols(ns) * N;
  const MatrixXd PD = s.dv_size.leftCols(ns) * size;
  const MatrixXd K = s.dq.leftCols(ns) * N, PK = s.dq_size.leftCols(ns) * size;
  const Judged of_D(D, PD, o.zero);
  const Block block(of_D);
  velocity = block.rows;
  position = block.other_rows;
  columns = block.columns;
  const auto p = static_cast<Index>(position.size());
  L = MatrixXd::Zero(f, p);
  for (Index i = 0; i < p; ++i) L(position[static_cast<std::size_t>(i)], i) = 1;
  if (!velocity.empty() && p > 0) {
    const MatrixXd DR = D(velocity, columns), DF = D(position, columns);
    L(velocity, Eigen::all) = -PivotedLu(DR.transpose()).solve(DF.transpose());
  }
  X = L.transpose() * K;
  const MatrixXd PX = L.cwiseAbs().transpose() * PK;
  const Judged of_X(X, PX, o.zero);
  position_rank = of_X.rank;
  const MatrixXd V = L.transpose() * s.dv, PV = L.cwiseAbs().transpose() * s.dv_size;
  mixed = ((V.array().abs() > o.zero * PV.array()) && PV.array() > 0).any();
  MatrixXd all(f, f), P(f, f);
  all << MatrixXd(D(velocity, Eigen::all)), X;
  P << MatrixXd(PD(velocity, Eigen::all)), PX;
  regular = Judged(all, P, o.zero).rank == f;

  if (position_rank == p) return;
  State rest = x;  // for what changes with time alone
  rest.v.setZero();
  const FreeForces::Course course = forces.course(rest, basis, MatrixXd(x.q.size(), 0));
  const MatrixXd combinations = L * of_X.left_null();
  // Motions that the rows here allow: beside these a force may change without anybody seeing it.
  const Svd rows(e.A);
  const MatrixXd allowed = rows.null_space(rows.count_above(tolerance::no_motion * (rows.s.size() ? rows.s[0] : 0)));
  const auto along = [&](const MatrixXd& slopes, const MatrixXd& motions) {
    MatrixXd out(slopes.rows(), slopes.cols() - ns + motions.cols());
    out << slopes.leftCols(ns) * motions, slopes.rightCols(slopes.cols() - ns);
    return out;
  };
  for (Index k = 0; k < combinations.cols(); ++k) {
    const VectorXd c = combinations.col(k);
    const auto vanishes = [&](const MatrixXd& y, const MatrixXd& terms) {
      return ((y.array().abs() <= o.zero * terms.array()) || y.array() == 0).all();
    };
    const MatrixXd row = c.transpose(), terms = row.cwiseAbs();
    Stray stray;
    stray.c = c;
    stray.zero = vanishes(row * s.h, terms * s.h_size);
    stray.constant = vanishes(along(row * s.dq, allowed), along(terms * s.dq_size, allowed.cwiseAbs())) &&
                     vanishes(along(row * s.dv, allowed), along(terms * s.dv_size, allowed.cwiseAbs())) &&
                     (row * course.h[1])(0) == 0;
    const VectorXd y = N * c, y_size = size * c.cwiseAbs();
    // On others: components of a force on a rigid body turn with the body itself.
    VectorXd others = VectorXd::Ones(e.Fq.rows());
    for (std::size_t body = 0; body < forces.models().size(); ++body) {
      const Index first = forces.first(body), count = static_cast<Index>(forces.models()[body]->units().size());
      if (forces.models()[body]->frame() >= 0 && first + count <= ns && !y.segment(first, count).isZero(0))
        others.segment(first, count).setZero();
    }
    const auto acts = [&](const MatrixXd& slopes, const MatrixXd& size_of_slopes) {
      return !vanishes(others.cwiseProduct(slopes.leftCols(ns) * y),
                       others.cwiseProduct(size_of_slopes.leftCols(ns) * y_size));
    };
    stray.influences = acts(e.Fq, e.Fq_size) || acts(e.Fv, e.Fv_size);
    strays.push_back(std::move(stray));
  }
}

HiddenAnalysis::Move HiddenAnalysis::towards_balance() const {
  Move out{VectorXd::Zero(basis.N.cols()), VectorXd::Zero(basis.N.cols())};
  if (!velocity.empty()) {
    const VectorXd v = PivotedLu(D(velocity, columns)).solve(VectorXd(s.h(velocity)));
    for (std::size_t i = 0; i < columns.size(); ++i) out.v[columns[i]] = -v[static_cast<Index>(i)];
  }
  if (!position.empty()) {
    const Balance b = balance(X.cwiseAbs(), separate_groups(X.cols()));
    const LeastSquares rows(b.r.asDiagonal() * X * b.c.asDiagonal(), tolerance::soft);
    out.q = -(b.c.asDiagonal() * rows.solve(b.r.asDiagonal() * (L.transpose() * s.h)));
  }
  out.q = basis.N * out.q;
  out.v = basis.N * out.v;
  return out;
}

}  // namespace mortise
