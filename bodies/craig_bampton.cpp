#include <mortise/bodies/craig_bampton.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include <Eigen/SparseCholesky>

#include <mortise/core/decompositions.h>

namespace mortise {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

constexpr double massless_share = 1e-13;  // of the largest 1/w^2: a motion without mass
constexpr double held = 1e-12;            // of a diagonal of K_ii: the pivot of a dof that nothing holds
constexpr Index small_interior = 600;

struct Modes {
  VectorXd mu;   // 1/w^2, descending
  MatrixXd Phi;  // Phi' K Phi = I
  bool all;      // that have mass; else only the first few
};

// M x = mu K x with K = L L':  L^-1 M L^-T y = mu y,  x = L^-T y.  M may be singular: mu = 0.
Modes all_modes(const MatrixXd& M, const MatrixXd& K) {
  const Cholesky cholesky(K);
  const MatrixXd A = cholesky.over_lower(cholesky.over_lower(M).transpose());
  const SymmetricEigen eigen(0.5 * (A + A.transpose()));
  const VectorXd mu = eigen.values.reverse();
  const MatrixXd Y = eigen.vectors.rowwise().reverse();
  const Index k = mu.size() == 0 ? 0 : (mu.array() > massless_share * std::max(mu[0], 0.0)).count();
  return {mu.head(k), cholesky.over_upper(Y.leftCols(k)), true};
}

// The first of them by subspace iteration X <- K^-1 M X, with the small problem solved exactly in each turn.
Modes first_modes(const Sparse& M, const Sparse& K, const Eigen::SimplicialLDLT<Sparse>& inverse, Index count) {
  constexpr int most_turns = 500;
  constexpr double accurate = 1e-10;  // of the residual M x - mu K x beside mu K x
  const Index size = std::min(M.rows(), std::max(2 * count, count + 8));
  std::mt19937 generator(1);
  std::normal_distribution<double> normal;
  MatrixXd X = MatrixXd::NullaryExpr(M.rows(), size, [&] { return normal(generator); });
  for (int turn = 0; turn < most_turns; ++turn) {
    const MatrixXd MX = M * X;
    MatrixXd Y = inverse.solve(MX);
    const PivotedQr qr(Y);  // fewer columns where M has a smaller rank
    Y = qr.basis(qr.rank());
    const Modes small = all_modes(Y.transpose() * (M * Y), Y.transpose() * (K * Y));
    X = Y * small.Phi;
    const Index wanted = std::min(count, small.mu.size());
    const MatrixXd KX = K * X.leftCols(wanted),
                   residual = M * X.leftCols(wanted) - KX * small.mu.head(wanted).asDiagonal();
    bool converged = true;
    for (Index k = 0; k < wanted; ++k)
      converged = converged && residual.col(k).norm() <= accurate * small.mu[k] * KX.col(k).norm();
    if (converged) return {small.mu.head(wanted), X.leftCols(wanted), false};
  }
  Label{"structure", "interior"}.fail<NotConverged>(
      fmt::format("its {} slowest modes were not found in {} turns", count, most_turns),
      "ask for a few more or fewer modes, or keep more interface dofs");
}

Sparse block(const AnyMatrix& A, const std::vector<Index>& place_row, const std::vector<Index>& place_column,
             Index rows, Index columns) {
  std::vector<Eigen::Triplet<double>> entries;
  for (Index j = 0; j < A.outerSize(); ++j)
    for (AnyMatrix::InnerIterator it(A, j); it; ++it)
      if (const Index i = place_row[std::size_t(it.row())], k = place_column[std::size_t(j)]; i >= 0 && k >= 0)
        entries.emplace_back(static_cast<int>(i), static_cast<int>(k), it.value());
  Sparse out(rows, columns);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

}  // namespace

CraigBampton craig_bampton(const Structure& s, const std::vector<std::string>& interface_dofs, Index modes) {
  const Label label{"structure", "reduction"};
  s.validate(label);
  label.require(s.K.size() > 0, "it has no stiffness", "give K: the interior follows the interface by it");
  label.require(modes >= 0, fmt::format("{} modes are asked for", modes), "give a number >= 0");
  const auto n = static_cast<Index>(s.coordinates.size());
  std::vector<Index> in_b(std::size_t(n), -1), in_i(std::size_t(n), -1), b, interior;
  for (const std::string& name : interface_dofs) {
    const auto it = std::find(s.coordinates.begin(), s.coordinates.end(), name);
    label.require(it != s.coordinates.end(), fmt::format("it has no dof '{}' for the interface", name),
                  "check the name, node.direction");
    const auto i = it - s.coordinates.begin();
    label.require(in_b[std::size_t(i)] < 0, fmt::format("dof '{}' is named twice for the interface", name),
                  "name it once");
    in_b[std::size_t(i)] = static_cast<Index>(b.size());
    b.push_back(i);
  }
  for (Index i = 0; i < n; ++i)
    if (in_b[std::size_t(i)] < 0) {
      in_i[std::size_t(i)] = static_cast<Index>(interior.size());
      interior.push_back(i);
    }
  const auto nb = static_cast<Index>(b.size()), ni = static_cast<Index>(interior.size());

  const Sparse Kii = block(s.K, in_i, in_i, ni, ni), Kib = block(s.K, in_i, in_b, ni, nb);
  const Sparse Kbb = block(s.K, in_b, in_b, nb, nb), Mii = block(s.M, in_i, in_i, ni, ni);
  Eigen::SimplicialLDLT<Sparse> inverse;
  if (ni > 0) {
    inverse.compute(Kii);
    const VectorXd D = inverse.vectorD();
    for (Index k = 0; k < ni; ++k) {  // pivots stand in the permuted order; it stops at the first that is 0
      const Index i = inverse.permutationPinv().size() > 0 ? inverse.permutationPinv().indices()[k] : k;
      label.require(D[k] > held * Kii.coeff(i, i),
                    fmt::format("with the interface held, dof '{}' is still free: K of the interior is singular there",
                                s.coordinates[std::size_t(interior[std::size_t(i)])]),
                    "add dofs to the interface, or hold the structure by its stiffness");
    }
  }

  Modes found{VectorXd(0), MatrixXd(ni, 0), ni == 0};
  if (ni > 0 && (modes > 0 || ni <= small_interior))
    found = ni <= small_interior || 4 * modes > ni ? all_modes(Mii, Kii) : first_modes(Mii, Kii, inverse, modes);
  label.require(modes <= found.mu.size(),
                fmt::format("{} modes are asked for, but its {} interior dofs have only {} with mass", modes, ni,
                            found.mu.size()),
                "ask for fewer modes");

  CraigBampton out{s, VectorXd(modes), ni, found.all ? ni - found.mu.size() : -1, 0};
  const auto hertz = [](double mu) { return 1 / (2 * std::numbers::pi * std::sqrt(mu)); };
  for (Index k = 0; k < modes; ++k) out.frequencies[k] = hertz(found.mu[k]);
  if (out.condensed < 0)
    out.next = std::numeric_limits<double>::quiet_NaN();
  else if (modes < found.mu.size())
    out.next = hertz(found.mu[modes]);

  MatrixXd T = MatrixXd::Zero(n, nb + modes);
  for (Index k = 0; k < nb; ++k) T(b[std::size_t(k)], k) = 1;
  if (ni > 0) {
    const MatrixXd Psi = nb > 0 ? MatrixXd(-inverse.solve(MatrixXd(Kib))) : MatrixXd(ni, 0);
    const VectorXd scale = found.mu.head(modes).cwiseSqrt().cwiseInverse();  // to mass 1
    for (Index i = 0; i < ni; ++i) {
      T.row(interior[std::size_t(i)]).head(nb) = Psi.row(i);
      T.row(interior[std::size_t(i)]).tail(modes) = found.Phi.row(i).head(modes).cwiseProduct(scale.transpose());
    }
  }
  // Modes do not couple in K, and have mass 1 and stiffness w^2.
  MatrixXd M = T.transpose() * (s.M * T), K = MatrixXd::Zero(nb + modes, nb + modes);
  M = (0.5 * (M + M.transpose())).eval();
  M.bottomRightCorner(modes, modes).setIdentity();
  const MatrixXd Kr = MatrixXd(Kbb) + Kib.transpose() * T(interior, Eigen::seqN(0, nb));
  K.topLeftCorner(nb, nb) = 0.5 * (Kr + Kr.transpose());
  for (Index k = 0; k < modes; ++k) K(nb + k, nb + k) = 1 / found.mu[k];
  Structure& r = out.structure;
  r.M = M;
  r.K = K;
  if (s.C.size() > 0) r.C = MatrixXd(T.transpose() * (s.C * T));
  r.shape = AnyMatrix(MatrixXd(s.shape * T));
  r.weight = T.transpose() * s.weight;
  r.coordinates = interface_dofs;
  r.units.clear();
  r.groups.clear();
  std::vector<int> seen;
  for (const Index i : b) {  // numbered anew from 0
    r.units.push_back(s.units[std::size_t(i)]);
    const auto it = std::find(seen.begin(), seen.end(), s.groups[std::size_t(i)]);
    r.groups.push_back(static_cast<int>(it - seen.begin()));
    if (it == seen.end()) seen.push_back(s.groups[std::size_t(i)]);
  }
  for (Index k = 0; k < modes; ++k) {
    r.coordinates.push_back(fmt::format("mode{}", k + 1));
    r.units.emplace_back();
    r.groups.push_back(static_cast<int>(seen.size()) + static_cast<int>(k));
  }
  return out;
}

std::string CraigBampton::text() const {
  const Index modes = frequencies.size();
  std::string out = fmt::format("{} modes for {} interior dofs", modes, interior);
  if (modes > 0) out += fmt::format(", up to {:.4g} Hz", frequencies[modes - 1]);
  if (next > 0) out += fmt::format("; the first left out has {:.4g} Hz", next);
  if (condensed > 0) out += fmt::format("; {} directions without mass condensed", condensed);
  return out;
}

}  // namespace mortise
