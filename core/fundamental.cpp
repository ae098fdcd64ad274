#include <mortise/core/fundamental.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <mortise/core/decompositions.h>
#include <mortise/core/scaling.h>

namespace mortise {
namespace {

// The system in scaled coordinates: M_s = D M D, A_s = T A D, ...
struct Scaled {
  Scaling scale;
  Rank rank;
  MatrixXd M, A;
  VectorXd Q, b, C;
  VectorXd b_terms;        // magnitude of what b is the sum of
  MatrixXd A_plus, P_row;  // A+ and A+A

  explicit Scaled(const Equations& e) : Scaled(e, numerical_rank(e)) {}
  Scaled(const Equations& e, Rank known) : rank(std::move(known)) {
    const Index n = rank.n;
    C = e.C.size() ? e.C : VectorXd::Zero(n);
    scale = scaling(e.M.diagonal(), e.A, e.groups.empty() ? separate_groups(n) : e.groups,
                    e.Q.cwiseAbs() + C.cwiseAbs(), e.b);
    M = scale.d.asDiagonal() * e.M * scale.d.asDiagonal();
    A = scale.t.asDiagonal() * e.A * scale.d.asDiagonal();
    Q = scale.d.cwiseProduct(e.Q);
    b = scale.t.cwiseProduct(e.b);
    b_terms = b.cwiseAbs();
    if (e.b_size.size()) b_terms = b_terms.cwiseMax(scale.t.cwiseProduct(e.b_size));
    C = scale.d.cwiseProduct(C);
    const Svd svd(A);
    A_plus = svd.pseudo_inverse(rank.rank_A);
    P_row = svd.row_space(rank.rank_A) * svd.row_space(rank.rank_A).transpose();
  }

  Index n() const { return M.rows(); }
  MatrixXd identity() const { return MatrixXd::Identity(n(), n()); }

  // Back to the user's coordinates.
  VectorXd acceleration(const VectorXd& x) const { return scale.d.cwiseProduct(x); }
  VectorXd force(const VectorXd& f) const { return f.cwiseQuotient(scale.d); }
  Motion motion(const VectorXd& x, const VectorXd& Qc, const VectorXd& nonideal) const {
    const VectorXd lambda = scale.t.cwiseProduct(A_plus.transpose() * (Qc - C));
    return {acceleration(x), force(Qc), force(Qc - nonideal), force(nonideal), lambda};
  }

  // A q'' = b and M q'' = Q + Qc, component by component against the terms they are the sum of; the forces as a whole
  // count for the round-off they leave.
  void require_solved(const VectorXd& x, const VectorXd& Qc) const {
    constexpr double round_off = 1e-9;
    const double tolerance = rank.options.conflict;
    if (!rank.consistent()) {
      double gap = 0;
      for (const RowSet& set : rank.redundant) gap = std::max(gap, set.consistent ? 0 : set.gap);
      Label{"rows", "A q'' = b"}.fail<NoMotion>(
          fmt::format("contradict each other by {:.4g}, more than {:.0e} of their terms", gap, tolerance),
          "remove or correct the conflicting rows, or weigh them by weighted_least_squares");
    }
    const double forces = n() ? (Q.cwiseAbs() + C.cwiseAbs() + (M * x).cwiseAbs()).maxCoeff() : 0;
    const auto check = [&](const VectorXd& residual, const VectorXd& terms, const char* name) {
      for (Index i = 0; i < residual.size(); ++i)
        if (const double allowed = tolerance * terms[i] + round_off * forces; !(std::abs(residual[i]) <= allowed))
          Label{"equations", name}.fail<NoMotion>(
              fmt::format("are not met in component {}: scaled residual {:.1e} > {:.1e}", i, std::abs(residual[i]),
                          allowed),
              "the system is too badly conditioned for double precision; check its rank, masses and units");
    };
    check(A * x - b, A.cwiseAbs() * x.cwiseAbs() + b_terms, "A q'' = b");
    check(M * x - Q - Qc, M.cwiseAbs() * x.cwiseAbs() + Q.cwiseAbs() + Qc.cwiseAbs(), "M q'' = Q + Qc");
  }
  void require_determined() const {
    if (!rank.determined())
      Label{"matrix", "[M; A]"}.fail<NotDetermined>(
          fmt::format("has rank {} of {} (balanced singular value {:.1e} <= {:.0e})", rank.rank_MA, rank.n,
                      *rank.dropped, rank.options.determined),
          "add mass or rows, or ask udwadia_phohomsiri for the family of motions");
  }
  SquareRoot root_of_M(const char* form) const {
    SquareRoot root(M);
    const double tolerance = 64 * static_cast<double>(n()) * std::numeric_limits<double>::epsilon();
    if (rank.rank_M < n() || root.smallest <= tolerance * root.largest)
      Label{"matrix", "M"}.fail<SingularMass>(
          fmt::format("is singular: rank {} of {}, but {} needs M > 0", rank.rank_M, n(), form),
          "use udwadia_schutte, udwadia_mogharabin or udwadia_phohomsiri");
    return root;
  }
};

}  // namespace

Motion udwadia_kalaba(const Equations& e) {
  const Scaled s(e);
  const auto M = s.root_of_M("udwadia_kalaba");
  const MatrixXd B = s.A * M.inverse_root, B_plus = Svd(B).pseudo_inverse(s.rank.rank_A);
  const VectorXd a = M.inverse_root * (M.inverse_root * s.Q);
  const VectorXd ideal = M.root * (B_plus * (s.b - s.A * a));
  const VectorXd z = M.inverse_root * s.C;
  const VectorXd nonideal = M.root * (z - B_plus * (B * z));
  const VectorXd x = a + M.inverse_root * (M.inverse_root * (ideal + nonideal));
  s.require_solved(x, ideal + nonideal);
  return s.motion(x, ideal + nonideal, nonideal);
}

Motion extended_dalembert(const Equations& e) {
  const Scaled s(e);
  const auto M = s.root_of_M("extended_dalembert");
  const MatrixXd B = s.A * M.inverse_root, V = Svd(B).null_space(s.rank.rank_A);
  const MatrixXd D = B.transpose() * B, E = V * V.transpose();
  const Cholesky J(D + E);
  const VectorXd as = M.inverse_root * s.Q, cs = M.inverse_root * s.C;
  const VectorXd x = M.inverse_root * J.solve(B.transpose() * s.b + E * (as + cs));
  // Qc = M^1/2 J [B'b - D a_s] + M^1/2 J E M^-1/2 C                                              [UKH97, Eq. 21]
  const VectorXd ideal = M.root * J.solve(B.transpose() * s.b - D * as), nonideal = M.root * J.solve(E * cs);
  s.require_solved(x, ideal + nonideal);
  return s.motion(x, ideal + nonideal, nonideal);
}

Compromise weighted_least_squares(const Equations& e, const MatrixXd& W) {
  const Scaled s(e);
  const Index n = s.n(), m = s.rank.m;
  const auto M = s.root_of_M("weighted_least_squares");
  if (e.C.size() > 0 && !e.C.isZero(0))
    Label{"vector", "C"}.fail<InvalidModel>(fmt::format("is not zero (largest entry {})", e.C.cwiseAbs().maxCoeff()),
                                            "weighted_least_squares knows ideal constraints only; leave C empty");
  const Label label{"weights", "W"};
  if (W.rows() != m || W.cols() != m)
    label.fail<WrongSize>(fmt::format("is {} x {}", W.rows(), W.cols()), fmt::format("give a {} x {} matrix", m, m));
  if (!W.allFinite()) label.fail<NonFinite>("has an entry that is NaN or Inf", "give finite weights");
  if (const double skew = m > 0 ? (W - W.transpose()).cwiseAbs().maxCoeff() : 0; skew > 1e-12 * W.cwiseAbs().sum())
    label.fail<InvalidModel>(fmt::format("is not symmetric: entries differ by {}", skew), "give a symmetric matrix");
  MatrixXd W_root = W;  // a Cholesky factor: |W^1/2 (L r - s)| is minimised
  if (m > 0) {
    const Cholesky cholesky(W);
    if (!cholesky.positive()) label.fail<InvalidModel>("is not positive definite", "every weight must be > 0");
    W_root = cholesky.upper();
  }

  // Coordinates are scaled; the rows stay in the user's units, to which the weights belong.
  const MatrixXd B = s.A * M.inverse_root, V = Svd(B).null_space(s.rank.rank_A);
  const Index k = V.cols();
  MatrixXd L = MatrixXd::Zero(n + m + k, 2 * n);
  VectorXd rhs = VectorXd::Zero(n + m + k);
  L.topLeftCorner(n, n).setIdentity();
  L.topRightCorner(n, n) = -MatrixXd::Identity(n, n);
  L.bottomRightCorner(k, n) = V.transpose();
  rhs.head(n) = M.inverse_root * s.Q;
  if (m > 0) {
    L.block(n, 0, m, n) = W_root * s.scale.t.cwiseInverse().asDiagonal() * B;
    rhs.segment(n, m) = W_root * e.b;
  }
  const VectorXd r = n > 0 ? PivotedQr(L).solve(rhs) : VectorXd();
  const VectorXd a = s.acceleration(M.inverse_root * r.head(n));
  return {a, s.force(M.root * r.tail(n)), e.b - e.A * a};
}

VectorXd Family::member(const VectorXd& eta) const {
  if (eta.size() != N.rows())
    Label{"vector", "eta"}.fail<WrongSize>(fmt::format("has {} entries", eta.size()),
                                           fmt::format("give {}, one per coordinate", N.rows()));
  return smallest.a + N * (N.transpose() * eta);
}

Family udwadia_phohomsiri(const Equations& e) { return udwadia_phohomsiri(e, numerical_rank(e)); }

Family udwadia_phohomsiri(const Equations& e, const Rank& rank) {
  const Scaled s(e, rank);
  const Index n = s.n(), m = s.rank.m;
  const MatrixXd P = s.identity() - s.P_row;
  MatrixXd Mbar(n + m, n);
  Mbar << P * s.M, s.A;
  const MatrixXd Mbar_plus = Svd(Mbar).pseudo_inverse(s.rank.rank_MA);
  const auto solve = [&](const VectorXd& force, const VectorXd& b) -> VectorXd {
    VectorXd rhs(n + m);
    rhs << P * force, b;  // (I - A+A) force: what it leaves out, Mbar+ maps to 0
    const VectorXd x = Mbar_plus * rhs;
    return x + Mbar_plus * (rhs - Mbar * x);  // once refined: the SVD knows small singular values only absolutely
  };
  const VectorXd x = solve(s.Q + s.C, s.b);

  // Is Eq. 2.12 satisfied?  Its upper rows:  (I - A+A)(M x - Q - C) = 0.
  s.require_solved(x, s.M * x - s.Q);
  const VectorXd f = s.Q + s.C;
  const double size = s.Q.norm() + s.C.norm() + (s.M * x).norm(), conflict = s.rank.options.conflict;
  const double residual = size > 0 ? (P * (s.M * x - f)).norm() / size : 0;
  if (!(residual <= conflict))
    Label{"equations", "M q'' = Q + Qc"}.fail<NoMotion>(
        fmt::format("a force acts along a massless direction that no row holds: scaled residual {:.1e} > {:.0e}",
                    residual, conflict),
        "give that direction mass, hold it by a row, or remove the force");

  // Least |q''| in the user's coordinates: take out what lies in null [M; A].
  // Twice, for orthogonality.
  Family family;
  family.N = s.rank.N;
  for (int pass = 0; pass < 2; ++pass) orthonormalise(family.N);
  const VectorXd nonideal = s.M * solve(s.C, VectorXd::Zero(m));
  family.smallest = s.motion(x, s.M * x - s.Q, nonideal);
  family.smallest.a -= family.N * (family.N.transpose() * family.smallest.a);
  return family;
}

Motion udwadia_schutte(const Equations& e, const Augmentation& augmentation) {
  return udwadia_schutte(e, augmentation, numerical_rank(e));
}

Motion udwadia_schutte(const Equations& e, const Augmentation& augmentation, const Rank& rank) {
  const double alpha2 = augmentation.alpha * augmentation.alpha;
  if (!(alpha2 > 0) || !std::isfinite(alpha2))
    Label{"number", "alpha"}.fail<InvalidModel>(fmt::format("is {}", augmentation.alpha), "give a finite alpha != 0");
  if (augmentation.z.size() != 0 && augmentation.z.size() != e.A.rows())
    Label{"vector", "z"}.fail<WrongSize>(fmt::format("has {} entries", augmentation.z.size()),
                                         fmt::format("give {} (one per row of A), or none", e.A.rows()));
  if (!augmentation.z.allFinite())
    Label{"vector", "z"}.fail<NonFinite>("has an entry that is NaN or Inf", "give finite numbers");
  const Scaled s(e, rank);
  s.require_determined();
  const VectorXd zb = alpha2 * s.b;
  const VectorXd z = augmentation.z.size() ? VectorXd(s.scale.t.cwiseProduct(augmentation.z)) : zb;
  const SquareRoot MA(s.M + alpha2 * s.P_row);
  if (!(MA.smallest > 0))
    Label{"matrix", "M_A"}.fail<NotDetermined>(
        fmt::format("M + alpha^2 A+A is not positive definite in double precision: smallest eigenvalue {:.1e}",
                    MA.smallest),
        "the masses differ too widely for this form");
  const MatrixXd B = s.A * MA.inverse_root, B_plus = Svd(B).pseudo_inverse(s.rank.rank_A);
  const auto ideal = [&](const VectorXd& Qz, const VectorXd& b) -> VectorXd {
    return MA.root * (B_plus * (b - B * (MA.inverse_root * Qz)));
  };
  const auto accelerated = [&](const VectorXd& f) -> VectorXd { return MA.inverse_root * (MA.inverse_root * f); };
  const VectorXd Qz = s.Q + s.A_plus * z, c = MA.inverse_root * s.C;
  const VectorXd nonideal = MA.root * (c - B_plus * (B * c));
  const VectorXd Qc_auxiliary = ideal(Qz, s.b) + nonideal;  // Eq. 65
  VectorXd x = accelerated(Qz + Qc_auxiliary);              // Eq. 66
  VectorXd Qc = Qc_auxiliary + s.A_plus * (z - zb);         // Eq. 71
  // Refined on the true residuals, which the same equation maps to corrections.
  for (int sweep = 0; sweep < 3; ++sweep) {
    const VectorXd r1 = s.Q + Qc - s.M * x, r2 = s.b - s.A * x, rz = r1 + alpha2 * (s.A_plus * r2);
    const VectorXd correction = ideal(rz, r2);
    x += accelerated(rz + correction);
    Qc += correction;
  }
  s.require_solved(x, Qc);
  return s.motion(x, Qc, nonideal);
}

ProjectedMotion udwadia_mogharabin(const Equations& e) {
  const Scaled s(e);
  s.require_determined();
  const MatrixXd V2 = Svd(s.A).null_space(s.rank.rank_A);
  // M_s+ = V2 (V2' M V2)^-1 V2'
  const Ldlt reduced(V2.transpose() * s.M * V2);
  const auto Ms_plus = [&](const VectorXd& f) -> VectorXd {
    return V2.cols() ? VectorXd(V2 * reduced.solve(V2.transpose() * f)) : VectorXd::Zero(s.n());
  };
  const VectorXd held = s.A_plus * s.b, Delta = s.Q + s.C - s.M * held;
  const VectorXd moved = Ms_plus(Delta), x = moved + held, Qc = s.M * moved - Delta + s.C;
  s.require_solved(x, Qc);
  ProjectedMotion p;
  static_cast<Motion&>(p) = s.motion(x, Qc, s.M * Ms_plus(s.C));

  // null(A) in the user's coordinates is D null(A_s), made orthonormal.
  const MatrixXd N = s.scale.d.asDiagonal() * V2;
  const VectorXd C = e.C.size() ? e.C : VectorXd::Zero(s.n());
  const MatrixXd basis = N.cols() ? PivotedQr(N).basis(N.cols()) : N;
  p.a_null = basis * (basis.transpose() * p.a);
  p.a_complement = p.a - p.a_null;
  p.Qc_null = basis * (basis.transpose() * C);  // (I - A+A) C, Eq. 34
  p.Qc_complement = p.Qc - p.Qc_null;
  return p;
}

}  // namespace mortise
