#include "quad_reference.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/eigen.hpp>

#include <mortise/core/decompositions.h>
#include <mortise/core/scaling.h>

#include "random_mechanisms.h"

namespace mortise::testing {
namespace {

using Quad = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>, boost::multiprecision::et_off>;

// P M P with P = I - U U', U the columns of N orthonormalised.
std::vector<std::vector<Quad>> without_null_directions(const MatrixXd& M, const MatrixXd& N) {
  const auto n = static_cast<std::size_t>(M.rows());
  const auto at = [](const MatrixXd& X, std::size_t i, std::size_t j) {
    return Quad(X(static_cast<Index>(i), static_cast<Index>(j)));
  };
  std::vector<std::vector<Quad>> X(n, std::vector<Quad>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) X[i][j] = (at(M, i, j) + at(M, j, i)) / 2;
  std::vector<std::vector<Quad>> U;
  for (std::size_t k = 0; k < static_cast<std::size_t>(N.cols()); ++k) {
    std::vector<Quad> u(n);
    for (std::size_t i = 0; i < n; ++i) u[i] = at(N, i, k);
    const auto dot = [&](const auto& x, const auto& y) {
      Quad sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += x[i] * y[i];
      return sum;
    };
    for (int pass = 0; pass < 2; ++pass)
      for (const auto& w : U) {
        const Quad s = dot(w, u);
        for (std::size_t i = 0; i < n; ++i) u[i] -= s * w[i];
      }
    const Quad length = sqrt(dot(u, u));
    for (Quad& x : u) x /= length;
    // X <- (I - u u') X (I - u u')
    std::vector<Quad> Xu(n);
    for (std::size_t i = 0; i < n; ++i) Xu[i] = dot(X[i], u);
    const Quad uXu = dot(u, Xu);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) X[i][j] += uXu * u[i] * u[j] - Xu[i] * u[j] - u[i] * Xu[j];
    U.push_back(std::move(u));
  }
  return X;
}

// Rows that span those of A, the strongest first: each is kept if those before leave more than `threshold` of it.
struct HeavyRows {
  std::vector<Index> kept, left_out;
  double smallest = 1;  // share left of a row that is kept
  double largest = 0;   // ... that is left out

  HeavyRows(const MatrixXd& A, const VectorXd& strength, double threshold) {
    std::vector<Index> order(static_cast<std::size_t>(A.rows()));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return strength[a] > strength[b]; });
    std::vector<LongVector> basis;
    for (const Index i : order) {
      LongVector x = A.row(i).transpose().cast<long double>();
      const long double all = x.norm();
      for (int pass = 0; pass < 2; ++pass)
        for (const LongVector& u : basis) x -= u.dot(x) * u;
      const double left = all > 0 ? static_cast<double>(x.norm() / all) : 0;
      (left > threshold ? kept : left_out).push_back(i);
      if (left <= threshold) {
        largest = std::max(largest, left);
        continue;
      }
      smallest = std::min(smallest, left);
      basis.push_back(x.normalized());
    }
  }
};

}  // namespace

namespace {

Equations equations(const System& system, const Evaluation& e) {
  Equations eq = system.equations(e);
  for (const System::BodyInfo& b : system.bodies()) eq.blocks.push_back(static_cast<int>(b.size));
  return eq;
}

}  // namespace

Reference quad_reference(const System& system, const Evaluation& e) { return quad_reference(equations(system, e)); }
Reference quad_reference(const System& system, const Evaluation& e, Index rank_A) {
  return quad_reference(equations(system, e), rank_A);
}

VectorXd distrust(const System& system, const Evaluation& e, const Reference& reference, std::optional<Index> rank_A) {
  constexpr int draws = 2;
  Random random(7);
  VectorXd moved = VectorXd::Zero(system.size());
  for (int draw = 0; draw < draws; ++draw) {
    Equations eq = equations(system, e);
    const auto change = [&](double& x) { x *= 1 + random.uniform(-1, 1) * 1e-15; };
    for (double& x : eq.A.reshaped()) change(x);
    for (double& x : eq.Q) change(x);
    for (double& x : eq.b) change(x);
    for (Index i = 0; i < eq.M.rows(); ++i)
      for (Index j = 0; j <= i; ++j) change(eq.M(i, j)), eq.M(j, i) = eq.M(i, j);
    const Reference other = quad_reference(eq, rank_A);
    if (!other.found) return VectorXd::Constant(system.size(), std::numeric_limits<double>::infinity());
    moved = moved.cwiseMax((other.a - reference.a).cwiseAbs());
  }
  return moved;
}

Reference quad_reference(const Equations& given, std::optional<Index> rank_A) {
  constexpr double dependent = 1e-11, doubtful = 1e-7;
  constexpr int rounds = 60;
  Equations eq = given;
  const Index n = eq.M.rows(), m = eq.A.rows();
  if (eq.C.size() == 0) eq.C.setZero(n);
  if (eq.groups.empty()) eq.groups = separate_groups(n);
  if (eq.blocks.empty()) eq.blocks.push_back(static_cast<int>(n));
  const Scaling s = scaling(eq.M.diagonal(), eq.A, eq.groups, eq.Q.cwiseAbs() + eq.C.cwiseAbs(), eq.b);
  Reference out;
  out.d = s.d;
  out.floor = 1e-3 * s.d.cwiseProduct(eq.Q + eq.C).norm();
  out.plain_floor = 1e-3 * s.d.cwiseAbs2().cwiseProduct(eq.Q + eq.C).cwiseAbs().maxCoeff();

  // The rows to keep.  Whether rows depend on each other does not depend on masses; which ones are kept should: those
  // of heavy bodies, whose forces would else go through light ones, with the round-off of A.
  const Balance f = balance(eq.A, eq.groups);
  const MatrixXd balanced = f.r.asDiagonal() * eq.A * f.c.asDiagonal();
  const VectorXd strength = s.t.cwiseQuotient(f.r);
  if (!rank_A && IndependentRows(balanced, dependent).smallest < doubtful) return out;
  HeavyRows rows(balanced, strength, dependent);
  if (!rank_A && rows.smallest < doubtful) return out;
  if (rank_A)  // the row that the others leave least of goes first
    for (double share = 1e-15; share < 1e-6 && static_cast<Index>(rows.kept.size()) != *rank_A; share *= 2)
      rows = HeavyRows(balanced, strength, share);
  if (rank_A && static_cast<Index>(rows.kept.size()) != *rank_A) return out;
  const Index rank = static_cast<Index>(rows.kept.size()), size = n + rank;
  out.dependent = m - rank;
  out.left = rows.largest;

  // K by rows, without zeros.
  std::vector<std::vector<std::pair<Index, Quad>>> K(static_cast<std::size_t>(size));
  const auto put = [&](Index i, Index j, const Quad& x) {
    if (x != 0) K[static_cast<std::size_t>(i)].emplace_back(j, x);
  };
  Index first = 0;
  for (const int size_of_block : eq.blocks) {
    const Index k = size_of_block;
    const VectorXd d = s.d.segment(first, k);
    const MatrixXd M = eq.M.block(first, first, k, k);
    std::vector<Index> columns;
    if (eq.massless)
      for (Index j = 0; j < eq.massless->N0.cols(); ++j)
        if (!eq.massless->N0.col(j).segment(first, k).isZero(0)) columns.push_back(j);
    const MatrixXd N = eq.massless ? MatrixXd(eq.massless->N0.middleRows(first, k)(Eigen::all, columns))
                                   : massless_directions(M, {"matrix", "M"}).N0;
    const auto X = without_null_directions(d.asDiagonal() * M * d.asDiagonal(), d.cwiseInverse().asDiagonal() * N);
    for (Index i = 0; i < k; ++i)
      for (Index j = 0; j < k; ++j)
        put(first + i, first + j, X[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]);
    first += k;
  }
  std::vector<Quad> right(static_cast<std::size_t>(size));
  for (Index j = 0; j < n; ++j) right[static_cast<std::size_t>(j)] = Quad(s.d[j]) * (Quad(eq.Q[j]) + Quad(eq.C[j]));
  for (Index k = 0; k < rank; ++k) {
    const Index row = rows.kept[static_cast<std::size_t>(k)];
    right[static_cast<std::size_t>(n + k)] = Quad(s.t[row]) * Quad(eq.b[row]);
    for (Index j = 0; j < n; ++j) {
      const Quad x = Quad(s.t[row]) * Quad(eq.A(row, j)) * Quad(s.d[j]);
      put(n + k, j, x);
      put(j, n + k, x);
    }
  }
  Long rounded = Long::Zero(size, size);
  for (Index i = 0; i < size; ++i)
    for (const auto& [j, x] : K[static_cast<std::size_t>(i)]) rounded(i, j) = x.convert_to<long double>();

  // Solved and refined.  With no pivot left out: solve() would set what belongs to small ones to 0, and the refinement
  // would never notice.
  std::vector<Quad> x;
  const auto refined = [&](const auto& lu, auto scalar) {
    using Real = decltype(scalar);
    if (size > 0 && lu.matrixLU().diagonal().cwiseAbs().minCoeff() == 0) return false;
    x.assign(static_cast<std::size_t>(size), Quad(0));
    std::vector<Quad> r = right;
    for (int round = 0; round < rounds; ++round) {
      Eigen::Matrix<Real, Eigen::Dynamic, 1> residual(size);
      for (Index i = 0; i < size; ++i) residual[i] = static_cast<Real>(r[static_cast<std::size_t>(i)]);
      const Eigen::Matrix<Real, Eigen::Dynamic, 1> step = lu.solve(residual);
      long double length = 0, change = 0;
      for (Index i = 0; i < size; ++i) {
        Quad& xi = x[static_cast<std::size_t>(i)];
        xi += step[i];
        length = std::hypot(length, static_cast<long double>(xi));
        change = std::hypot(change, static_cast<long double>(step[i]));
      }
      if (!std::isfinite(length)) return false;
      if (change <= 1e-25L * length) return true;
      for (std::size_t i = 0; i < r.size(); ++i) {
        r[i] = right[i];
        for (const auto& [j, k] : K[i]) r[i] -= k * x[static_cast<std::size_t>(j)];
      }
    }
    return false;
  };
  Eigen::FullPivLU<Long> lu(rounded);
  lu.setThreshold(0);
  out.found = refined(lu, 1.0L);
  if (!out.found) {  // kappa above 1e19
    Eigen::Matrix<Quad, Eigen::Dynamic, Eigen::Dynamic> whole =
        Eigen::Matrix<Quad, Eigen::Dynamic, Eigen::Dynamic>::Zero(size, size);
    for (Index i = 0; i < size; ++i)
      for (const auto& [j, x_ij] : K[static_cast<std::size_t>(i)]) whole(i, j) = x_ij;
    Eigen::FullPivLU<decltype(whole)> exact(whole);
    exact.setThreshold(Quad(0));
    out.found = refined(exact, Quad(0));
  }
  if (!out.found) return out;
  out.a.resize(n);
  for (Index j = 0; j < n; ++j) out.a[j] = (Quad(s.d[j]) * x[static_cast<std::size_t>(j)]).convert_to<double>();
  for (const Index row : rows.left_out) {
    Quad gap = eq.b[row];
    for (Index j = 0; j < n; ++j) gap -= Quad(eq.A(row, j)) * Quad(s.d[j]) * x[static_cast<std::size_t>(j)];
    const double scaled = std::abs((Quad(s.t[row]) * gap).convert_to<double>());
    out.gap = std::max(out.gap, ratio(scaled, out.a.cwiseQuotient(s.d).norm() + out.floor));
  }

  // K is symmetric: by power iteration on K and on its inverse.
  const auto largest = [&](const auto& apply) {
    LongVector y =
        LongVector::NullaryExpr(size, [](Index i) { return 1 + std::sin(7.0L * static_cast<long double>(i)); });
    for (int round = 0; round < 40; ++round) y = apply(LongVector(y.normalized()));
    return y.norm();
  };
  out.kappa = static_cast<double>(largest([&](const LongVector& y) -> LongVector { return rounded * y; }) *
                                  largest([&](const LongVector& y) -> LongVector { return lu.solve(y); }));
  return out;
}

QuadSvd::QuadSvd(const MatrixXd& X) {
  constexpr int sweeps = 60;
  const auto n = static_cast<std::size_t>(X.cols()), m = static_cast<std::size_t>(X.rows());
  using Column = std::vector<Quad>;
  const auto dot = [](const Column& a, const Column& b) {
    Quad sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  const MatrixXd start = Svd(X).V;
  std::vector<Column> v(n, Column(n)), x(n, Column(m));
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) v[j][i] = start(static_cast<Index>(i), static_cast<Index>(j));
    for (std::size_t k = 0; k < j; ++k) {
      const Quad s = dot(v[k], v[j]);
      for (std::size_t i = 0; i < n; ++i) v[j][i] -= s * v[k][i];
    }
    const Quad length = sqrt(dot(v[j], v[j]));
    for (Quad& y : v[j]) y /= length;
  }
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t k = 0; k < n; ++k)
      if (const Quad s = X(static_cast<Index>(i), static_cast<Index>(k)); s != 0)
        for (std::size_t j = 0; j < n; ++j) x[j][i] += s * v[j][k];
  Column square(n);
  for (std::size_t j = 0; j < n; ++j) square[j] = dot(x[j], x[j]);
  const Quad largest = n > 0 ? *std::max_element(square.begin(), square.end()) : Quad(0);
  const Quad negligible = largest * Quad(1e-56), angle = 1e-20;  // of what is 0 in quad; a value is right to angle^2
  bool turned = true;
  for (int sweep = 0; sweep < sweeps && turned; ++sweep) {
    turned = false;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        if (square[p] <= negligible || square[q] <= negligible) continue;
        const Quad pq = dot(x[p], x[q]);
        if (pq * pq <= angle * angle * square[p] * square[q]) continue;
        turned = true;
        const Quad zeta = (square[q] - square[p]) / (2 * pq);
        const Quad t = (zeta >= 0 ? Quad(1) : Quad(-1)) / (abs(zeta) + sqrt(1 + zeta * zeta));
        const Quad c = 1 / sqrt(1 + t * t), s = c * t;
        const auto rotate = [&](Column& a, Column& b) {
          for (std::size_t i = 0; i < a.size(); ++i) {
            const Quad y = a[i];
            a[i] = c * y - s * b[i];
            b[i] = s * y + c * b[i];
          }
        };
        rotate(x[p], x[q]);
        rotate(v[p], v[q]);
        square[p] = dot(x[p], x[p]);
        square[q] = dot(x[q], x[q]);
      }
  }
  if (turned) throw std::logic_error("the singular values in quadruple precision do not converge");
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return square[a] > square[b]; });
  values.resize(X.cols());
  V.resize(X.cols(), X.cols());
  for (Index j = 0; j < X.cols(); ++j) {
    const std::size_t from = order[static_cast<std::size_t>(j)];
    values[j] = sqrt(square[from]).convert_to<double>();
    for (Index i = 0; i < X.cols(); ++i) V(i, j) = v[from][static_cast<std::size_t>(i)].convert_to<double>();
  }
}

}  // namespace mortise::testing
